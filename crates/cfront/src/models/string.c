// string.h: exact. What it has in common with wchar.h is in text.c.
//
// A line `//@` begins a section. Of a section only those functions are read that a program needs,
// with the static functions that they mention and with the lines before them that end in `;`.
// A line `//=` says what the section assumes.

//@
char *stpcpy(char *to, const char *from) {
  size_t i = 0;
  while (from[i] != 0) {
    __hardbop_disjoint(to, from, i + 1);
    to[i] = from[i];
    i++;
  }
  __hardbop_disjoint(to, from, i + 1);
  to[i] = 0;
  return to + i;
}

//@
char *stpncpy(char *to, const char *from, size_t n) {
  size_t i = 0;
  while (i < n && from[i] != 0) {
    __hardbop_disjoint(to, from, i + 1);
    to[i] = from[i];
    i++;
  }
  char *end = to + i;
  while (i < n) {
    to[i] = 0;
    i++;
  }
  return end;
}

//@
int strcmp(const char *a, const char *b) {
  size_t i = 0;
  while (a[i] != 0 && a[i] == b[i])
    i++;
  return (unsigned char)a[i] - (unsigned char)b[i];
}

//@
int strncmp(const char *a, const char *b, size_t n) {
  size_t i = 0;
  while (i < n && a[i] != 0 && a[i] == b[i])
    i++;
  if (i == n)
    return 0;
  return (unsigned char)a[i] - (unsigned char)b[i];
}

//@
char *strchr(const char *s, int c);
char *index(const char *s, int c) {
  return strchr(s, c);
}

//@
char *strrchr(const char *s, int c);
char *rindex(const char *s, int c) {
  return strrchr(s, c);
}

//@
//= the locale is "C"
int strcmp(const char *a, const char *b);
int strcoll(const char *a, const char *b) {
  return strcmp(a, b);
}

//@
//= the locale is "C"
int tolower(int c);
int strcasecmp(const char *a, const char *b) {
  size_t i = 0;
  while (a[i] != 0 && tolower((unsigned char)a[i]) == tolower((unsigned char)b[i]))
    i++;
  return tolower((unsigned char)a[i]) - tolower((unsigned char)b[i]);
}

//@
//= the locale is "C"
int tolower(int c);
int strncasecmp(const char *a, const char *b, size_t n) {
  size_t i = 0;
  while (i < n && a[i] != 0 && tolower((unsigned char)a[i]) == tolower((unsigned char)b[i]))
    i++;
  if (i == n)
    return 0;
  return tolower((unsigned char)a[i]) - tolower((unsigned char)b[i]);
}

//@
//= the locale is "C"
int tolower(int c);
char *strcasestr(const char *s, const char *part) {
  for (;;) {
    size_t i = 0;
    while (part[i] != 0 && tolower((unsigned char)s[i]) == tolower((unsigned char)part[i]))
      i++;
    if (part[i] == 0)
      return (char *)s;
    if (*s == 0)
      return 0;
    s++;
  }
}

//@
char *strtok_r(char *s, const char *separators, char **rest);
char *strtok(char *s, const char *separators) {
  static char *rest;
  return strtok_r(s, separators, &rest);
}

//@
size_t strcspn(const char *s, const char *reject);
char *strsep(char **rest, const char *separators) {
  char *s = *rest;
  if (s == 0)
    return 0;
  char *end = s + strcspn(s, separators);
  if (*end != 0) {
    *end = 0;
    *rest = end + 1;
  } else {
    *rest = 0;
  }
  return s;
}

//@
size_t strnlen(const char *s, size_t most);
char *strndup(const char *s, size_t most) {
  size_t n = strnlen(s, most);
  char *copy = malloc(n + 1);
  if (copy != 0) {
    memcpy(copy, s, n);
    copy[n] = 0;
  }
  return copy;
}
char *__strndup(const char *s, size_t most) {
  return strndup(s, most);
}

//@
int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *x = a;
  const unsigned char *y = b;
  for (size_t i = 0; i < n; i++)
    if (x[i] != y[i])
      return x[i] - y[i];
  return 0;
}
int bcmp(const void *a, const void *b, size_t n) {
  return memcmp(a, b, n);
}

//@
void *memchr(const void *p, int c, size_t n) {
  const unsigned char *s = p;
  for (size_t i = 0; i < n; i++)
    if (s[i] == (unsigned char)c)
      return (void *)(s + i);
  return 0;
}

//@
void *memrchr(const void *p, int c, size_t n) {
  const unsigned char *s = p;
  while (n > 0) {
    n--;
    if (s[n] == (unsigned char)c)
      return (void *)(s + n);
  }
  return 0;
}

//@
void *rawmemchr(const void *p, int c) {
  const unsigned char *s = p;
  while (*s != (unsigned char)c)
    s++;
  return (void *)s;
}

//@
void *memmem(const void *p, size_t n, const void *part, size_t m) {
  const unsigned char *s = p;
  const unsigned char *t = part;
  if (m > n)
    return 0;
  for (size_t i = 0; i <= n - m; i++) {
    size_t k = 0;
    while (k < m && s[i + k] == t[k])
      k++;
    if (k == m)
      return (void *)(s + i);
  }
  return 0;
}

//@
void *memccpy(void *to, const void *from, int c, size_t n) {
  unsigned char *t = to;
  const unsigned char *f = from;
  for (size_t i = 0; i < n; i++) {
    t[i] = f[i];
    if (f[i] == (unsigned char)c)
      return t + i + 1;
  }
  return 0;
}

//@
void *mempcpy(void *to, const void *from, size_t n) {
  memcpy(to, from, n);
  return (char *)to + n;
}
void *__mempcpy(void *to, const void *from, size_t n) {
  memcpy(to, from, n);
  return (char *)to + n;
}

//@
void bcopy(const void *from, void *to, size_t n) {
  memmove(to, from, n);
}

//@
void bzero(void *p, size_t n) {
  memset(p, 0, n);
}
void explicit_bzero(void *p, size_t n) {
  memset(p, 0, n);
}

//@
int ffs(int x) {
  return __builtin_ffs(x);
}

//@
//= messages for errors and signals are any text
static char *last_message;
static char *any_text(void) {
  size_t n = __VERIFIER_nondet_ulong();
  __VERIFIER_assume(n <= (size_t)__PTRDIFF_MAX__ - 1);
  // Where the last one was, there may be another one now.
  if (last_message != 0 && __VERIFIER_nondet_int() == 0) {
    __VERIFIER_assume(n < __hardbop_object_size(last_message));
    __VERIFIER_nondet_memory(last_message, n);
    last_message[n] = 0;
    return last_message;
  }
  char *text = __hardbop_own_memory(n + 1);
  __VERIFIER_assume(text != 0);
  __VERIFIER_nondet_memory(text, n);
  text[n] = 0;
  last_message = text;
  return text;
}
char *strerror(int number) {
  MAY_FAIL(1);
  return any_text();
}
char *strsignal(int number) {
  return any_text();
}

// The front end knows what these do; they are called where a rule listens to them.

//@
void *memcpy(void *to, const void *from, size_t size) {
  return __builtin_memcpy(to, from, size);
}

//@
void *memmove(void *to, const void *from, size_t size) {
  return __builtin_memmove(to, from, size);
}

//@
void *memset(void *to, int byte, size_t size) {
  return __builtin_memset(to, byte, size);
}
