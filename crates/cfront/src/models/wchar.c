// wchar.h and wctype.h: what wide characters have of their own. Their texts are in text.c.

//@
size_t wcslen(const wchar_t *s);
wchar_t *wcscpy(wchar_t *to, const wchar_t *from);
wchar_t *wcpcpy(wchar_t *to, const wchar_t *from) {
  return wcscpy(to, from) + wcslen(from);
}

//@
size_t wcsnlen(const wchar_t *s, size_t most);
wchar_t *wcsncpy(wchar_t *to, const wchar_t *from, size_t n);
wchar_t *wcpncpy(wchar_t *to, const wchar_t *from, size_t n) {
  size_t length = wcsnlen(from, n);
  return wcsncpy(to, from, n) + length;
}

//@
int wcscmp(const wchar_t *a, const wchar_t *b) {
  size_t i = 0;
  while (a[i] != 0 && a[i] == b[i])
    i++;
  return a[i] < b[i] ? -1 : a[i] > b[i];
}

//@
int wcsncmp(const wchar_t *a, const wchar_t *b, size_t n) {
  size_t i = 0;
  while (i < n && a[i] != 0 && a[i] == b[i])
    i++;
  if (i == n)
    return 0;
  return a[i] < b[i] ? -1 : a[i] > b[i];
}

//@
//= the locale is "C"
int wcscmp(const wchar_t *a, const wchar_t *b);
int wcscoll(const wchar_t *a, const wchar_t *b) {
  return wcscmp(a, b);
}

//@
//= the locale is "C"
unsigned int towlower(unsigned int c);
int wcscasecmp(const wchar_t *a, const wchar_t *b) {
  size_t i = 0;
  while (a[i] != 0 && towlower(a[i]) == towlower(b[i]))
    i++;
  wchar_t x = towlower(a[i]), y = towlower(b[i]);
  return x < y ? -1 : x > y;
}

//@
//= the locale is "C"
unsigned int towlower(unsigned int c);
int wcsncasecmp(const wchar_t *a, const wchar_t *b, size_t n) {
  size_t i = 0;
  while (i < n && a[i] != 0 && towlower(a[i]) == towlower(b[i]))
    i++;
  if (i == n)
    return 0;
  wchar_t x = towlower(a[i]), y = towlower(b[i]);
  return x < y ? -1 : x > y;
}

//@
wchar_t *wcstok_r(wchar_t *s, const wchar_t *separators, wchar_t **rest);
wchar_t *wcstok(wchar_t *s, const wchar_t *separators, wchar_t **rest) {
  return wcstok_r(s, separators, rest);
}

//@
wchar_t *wmemcpy(wchar_t *to, const wchar_t *from, size_t n) {
  return memcpy(to, from, n * sizeof(wchar_t));
}
wchar_t *wmempcpy(wchar_t *to, const wchar_t *from, size_t n) {
  return (wchar_t *)memcpy(to, from, n * sizeof(wchar_t)) + n;
}
wchar_t *wmemmove(wchar_t *to, const wchar_t *from, size_t n) {
  return memmove(to, from, n * sizeof(wchar_t));
}

//@
wchar_t *wmemset(wchar_t *to, wchar_t c, size_t n) {
  for (size_t i = 0; i < n; i++)
    to[i] = c;
  return to;
}

//@
int wmemcmp(const wchar_t *a, const wchar_t *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return 0;
}

//@
wchar_t *wmemchr(const wchar_t *s, wchar_t c, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (s[i] == c)
      return (wchar_t *)(s + i);
  return 0;
}

// In the "C" locale a character below 128 is one byte. Of the others, a library may know some.

//@
//= the locale is "C"
int __hardbop_guess_wide(wchar_t *to);
int __hardbop_guess_narrow(char *to);
static void set_wide(wchar_t *to, wchar_t c) {
  if (to != 0)
    *to = c;
}
int __hardbop_guess_wide(wchar_t *to) {
  if (__VERIFIER_nondet_int() == 0) {
    FAILS();
    return -1;
  }
  wchar_t c = __VERIFIER_nondet_int();
  __VERIFIER_assume(c != 0);
  set_wide(to, c);
  return 1;
}
int __hardbop_guess_narrow(char *to) {
  if (__VERIFIER_nondet_int() == 0) {
    FAILS();
    return -1;
  }
  char byte = __VERIFIER_nondet_char();
  __VERIFIER_assume(byte != 0);
  *to = byte;
  return 1;
}
// How many bytes a character has: -1 for none, -2 for a beginning of one.
static int wide(wchar_t *to, const char *s, size_t n) {
  if (n == 0)
    return -2;
  unsigned char byte = *s;
  if (byte < 128) {
    set_wide(to, byte);
    return byte != 0;
  }
  return __hardbop_guess_wide(to);
}
static int narrow(char *to, wchar_t c) {
  if (c >= 0 && c < 128) {
    *to = (char)c;
    return 1;
  }
  return __hardbop_guess_narrow(to);
}
int mbtowc(wchar_t *to, const char *s, size_t n) {
  if (s == 0)
    return 0;
  int bytes = wide(to, s, n);
  return bytes < 0 ? -1 : bytes;
}
int mblen(const char *s, size_t n) {
  return mbtowc(0, s, n);
}
size_t mbrtowc(wchar_t *to, const char *s, size_t n, void *state) {
  return s == 0 ? 0 : (size_t)wide(to, s, n);
}
size_t mbrlen(const char *s, size_t n, void *state) {
  return mbrtowc(0, s, n, state);
}
size_t mbstowcs(wchar_t *to, const char *s, size_t n) {
  size_t done = 0;
  while (to == 0 || done < n) {
    int bytes = wide(to == 0 ? 0 : to + done, s + done, 1);
    if (bytes < 0)
      return (size_t)-1;
    if (bytes == 0)
      break;
    done++;
  }
  return done;
}
int wctomb(char *to, wchar_t c) {
  return to == 0 ? 0 : narrow(to, c);
}
size_t wcrtomb(char *to, wchar_t c, void *state) {
  return to == 0 ? 1 : (size_t)narrow(to, c);
}
size_t wcstombs(char *to, const wchar_t *s, size_t n) {
  char byte;
  size_t done = 0;
  while (to == 0 || done < n) {
    if (narrow(to == 0 ? &byte : to + done, s[done]) < 0)
      return (size_t)-1;
    if (s[done] == 0)
      break;
    done++;
  }
  return done;
}
unsigned int btowc(int c) {
  if (c == -1 || c >= 0 && c < 128)
    return c;
  return __VERIFIER_nondet_uint();
}
int wctob(unsigned int c) {
  if (c < 128 || c == ~0u)
    return c;
  int byte = __VERIFIER_nondet_int();
  __VERIFIER_assume(byte >= -1 && byte < 256 && (byte < 0 || byte > 127));
  return byte;
}
int mbsinit(const void *state) {
  return 1;
}

//@
//= the locale is "C"
int isalnum(int);
int isalpha(int);
int isblank(int);
int iscntrl(int);
int isdigit(int);
int isgraph(int);
int islower(int);
int isprint(int);
int ispunct(int);
int isspace(int);
int isupper(int);
int isxdigit(int);
int iswalnum(unsigned int c) {
  return c < 128 ? isalnum(c) : 0;
}
int iswalpha(unsigned int c) {
  return c < 128 ? isalpha(c) : 0;
}
int iswblank(unsigned int c) {
  return c < 128 ? isblank(c) : 0;
}
int iswcntrl(unsigned int c) {
  return c < 128 ? iscntrl(c) : 0;
}
int iswdigit(unsigned int c) {
  return c < 128 ? isdigit(c) : 0;
}
int iswgraph(unsigned int c) {
  return c < 128 ? isgraph(c) : 0;
}
int iswlower(unsigned int c) {
  return c < 128 ? islower(c) : 0;
}
int iswprint(unsigned int c) {
  return c < 128 ? isprint(c) : 0;
}
int iswpunct(unsigned int c) {
  return c < 128 ? ispunct(c) : 0;
}
int iswspace(unsigned int c) {
  return c < 128 ? isspace(c) : 0;
}
int iswupper(unsigned int c) {
  return c < 128 ? isupper(c) : 0;
}
int iswxdigit(unsigned int c) {
  return c < 128 ? isxdigit(c) : 0;
}

//@
//= the locale is "C"
unsigned int towlower(unsigned int c) {
  return c >= 'A' && c <= 'Z' ? c + 32 : c;
}
unsigned int towupper(unsigned int c) {
  return c >= 'a' && c <= 'z' ? c - 32 : c;
}
