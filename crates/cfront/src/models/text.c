// Texts of `char` and of `wchar_t`, exact: CHAR stands for the type and $ for how the names of its
// functions begin.

//@
size_t $len(const CHAR *s) {
  size_t n = 0;
  while (s[n] != 0)
    n++;
  return n;
}

//@
size_t $nlen(const CHAR *s, size_t most) {
  size_t n = 0;
  while (n < most && s[n] != 0)
    n++;
  return n;
}

//@
CHAR *$cpy(CHAR *to, const CHAR *from) {
  size_t i = 0;
  while (from[i] != 0) {
    __hardbop_disjoint(to, from, (i + 1) * sizeof(CHAR));
    to[i] = from[i];
    i++;
  }
  __hardbop_disjoint(to, from, (i + 1) * sizeof(CHAR));
  to[i] = 0;
  return to;
}

//@
CHAR *$ncpy(CHAR *to, const CHAR *from, size_t n) {
  size_t i = 0;
  while (i < n && from[i] != 0) {
    __hardbop_disjoint(to, from, (i + 1) * sizeof(CHAR));
    to[i] = from[i];
    i++;
  }
  while (i < n) {
    to[i] = 0;
    i++;
  }
  return to;
}

//@
size_t $len(const CHAR *s);
size_t $lcpy(CHAR *to, const CHAR *from, size_t n) {
  size_t i = 0;
  if (n > 0) {
    while (i < n - 1 && from[i] != 0) {
      to[i] = from[i];
      i++;
    }
    to[i] = 0;
  }
  return i + $len(from + i);
}

//@
CHAR *$cat(CHAR *to, const CHAR *from) {
  size_t end = 0;
  while (to[end] != 0)
    end++;
  size_t i = 0;
  while (from[i] != 0) {
    __hardbop_disjoint(to + end, from, (i + 1) * sizeof(CHAR));
    to[end + i] = from[i];
    i++;
  }
  __hardbop_disjoint(to + end, from, (i + 1) * sizeof(CHAR));
  to[end + i] = 0;
  return to;
}

//@
CHAR *$ncat(CHAR *to, const CHAR *from, size_t n) {
  size_t end = 0;
  while (to[end] != 0)
    end++;
  size_t i = 0;
  while (i < n && from[i] != 0) {
    __hardbop_disjoint(to + end, from, (i + 1) * sizeof(CHAR));
    to[end + i] = from[i];
    i++;
  }
  __hardbop_disjoint(to + end, from, (i + 1) * sizeof(CHAR));
  to[end + i] = 0;
  return to;
}

//@
size_t $len(const CHAR *s);
size_t $lcat(CHAR *to, const CHAR *from, size_t n) {
  size_t end = 0;
  while (end < n && to[end] != 0)
    end++;
  size_t i = 0;
  if (end < n) {
    while (end + i < n - 1 && from[i] != 0) {
      to[end + i] = from[i];
      i++;
    }
    to[end + i] = 0;
  }
  return end + i + $len(from + i);
}

//@
CHAR *$chr(const CHAR *s, int c) {
  while (*s != (CHAR)c) {
    if (*s == 0)
      return 0;
    s++;
  }
  return (CHAR *)s;
}

//@
CHAR *$chrnul(const CHAR *s, int c) {
  while (*s != 0 && *s != (CHAR)c)
    s++;
  return (CHAR *)s;
}

//@
CHAR *$rchr(const CHAR *s, int c) {
  const CHAR *last = 0;
  for (;;) {
    if (*s == (CHAR)c)
      last = s;
    if (*s == 0)
      return (CHAR *)last;
    s++;
  }
}

//@
size_t $spn(const CHAR *s, const CHAR *accept) {
  size_t n = 0;
  for (;;) {
    if (s[n] == 0)
      return n;
    size_t i = 0;
    while (accept[i] != 0 && accept[i] != s[n])
      i++;
    if (accept[i] == 0)
      return n;
    n++;
  }
}

//@
size_t $cspn(const CHAR *s, const CHAR *reject) {
  size_t n = 0;
  for (;;) {
    if (s[n] == 0)
      return n;
    size_t i = 0;
    while (reject[i] != 0 && reject[i] != s[n])
      i++;
    if (reject[i] != 0)
      return n;
    n++;
  }
}

//@
size_t $cspn(const CHAR *s, const CHAR *reject);
CHAR *$pbrk(const CHAR *s, const CHAR *accept) {
  s += $cspn(s, accept);
  return *s != 0 ? (CHAR *)s : 0;
}

//@
CHAR *$str(const CHAR *s, const CHAR *part) {
  for (;;) {
    size_t i = 0;
    while (part[i] != 0 && s[i] == part[i])
      i++;
    if (part[i] == 0)
      return (CHAR *)s;
    if (*s == 0)
      return 0;
    s++;
  }
}

//@
size_t $spn(const CHAR *s, const CHAR *accept);
size_t $cspn(const CHAR *s, const CHAR *reject);
CHAR *$tok_r(CHAR *s, const CHAR *separators, CHAR **rest) {
  if (s == 0)
    s = *rest;
  if (s == 0)
    return 0;
  s += $spn(s, separators);
  if (*s == 0) {
    *rest = s;
    return 0;
  }
  CHAR *end = s + $cspn(s, separators);
  if (*end != 0) {
    *end = 0;
    end++;
  }
  *rest = end;
  return s;
}
CHAR *__$tok_r(CHAR *s, const CHAR *separators, CHAR **rest) {
  return $tok_r(s, separators, rest);
}

//@
size_t $len(const CHAR *s);
CHAR *$dup(const CHAR *s) {
  size_t size = $len(s) + 1;
  CHAR *copy = malloc(size * sizeof(CHAR));
  if (copy != 0)
    memcpy(copy, s, size * sizeof(CHAR));
  return copy;
}
CHAR *__$dup(const CHAR *s) {
  return $dup(s);
}

//@
// Reads white space, a sign and digits. The value saturates: a second result says so.
int *__errno_location(void);
unsigned long long __hardbop_$digits(const CHAR *s, CHAR **end, int base, int *negative,
                                    int *overflow) {
  const CHAR *p = s;
  unsigned long long value = 0;
  int any = 0;
  *negative = 0;
  *overflow = 0;
  // Where it ends is not stored then, as in glibc.
  if (base < 0 || base == 1 || base > 36) {
    *__errno_location() = 22;
    return 0;
  }
  if (end != 0)
    *end = (CHAR *)s;
  while (*p == ' ' || (*p >= '\t' && *p <= '\r'))
    p++;
  if (*p == '-') {
    *negative = 1;
    p++;
  } else if (*p == '+') {
    p++;
  }
  if ((base == 0 || base == 16) && p[0] == '0' && (p[1] == 'x' || p[1] == 'X') &&
      ((p[2] >= '0' && p[2] <= '9') || (p[2] >= 'a' && p[2] <= 'f') ||
       (p[2] >= 'A' && p[2] <= 'F'))) {
    p += 2;
    base = 16;
  } else if (base == 0) {
    base = *p == '0' ? 8 : 10;
  }
  for (;;) {
    int digit;
    if (*p >= '0' && *p <= '9')
      digit = *p - '0';
    else if (*p >= 'a' && *p <= 'z')
      digit = *p - 'a' + 10;
    else if (*p >= 'A' && *p <= 'Z')
      digit = *p - 'A' + 10;
    else
      break;
    if (digit >= base)
      break;
    any = 1;
    if (value > (~0ULL - digit) / base)
      *overflow = 1;
    value = value * base + digit;
    p++;
  }
  if (any && end != 0)
    *end = (CHAR *)p;
  return value;
}

//@
int *__errno_location(void);
unsigned long long __hardbop_$digits(const CHAR *, CHAR **, int, int *, int *);
long $tol(const CHAR *s, CHAR **end, int base) {
  int negative, overflow;
  unsigned long long value = __hardbop_$digits(s, end, base, &negative, &overflow);
  unsigned long long most = (unsigned long long)__LONG_MAX__ + (negative ? 1 : 0);
  if (overflow || value > most) {
    *__errno_location() = 34;
    value = most;
  }
  return negative ? (long)(0 - value) : (long)value;
}
long __isoc23_$tol(const CHAR *s, CHAR **end, int base) {
  return $tol(s, end, base);
}
long __$tol_internal(const CHAR *s, CHAR **end, int base, int group) {
  return $tol(s, end, base);
}

//@
int *__errno_location(void);
unsigned long long __hardbop_$digits(const CHAR *, CHAR **, int, int *, int *);
long long $toll(const CHAR *s, CHAR **end, int base) {
  int negative, overflow;
  unsigned long long value = __hardbop_$digits(s, end, base, &negative, &overflow);
  unsigned long long most = (unsigned long long)__LONG_LONG_MAX__ + (negative ? 1 : 0);
  if (overflow || value > most) {
    *__errno_location() = 34;
    value = most;
  }
  return negative ? (long long)(0 - value) : (long long)value;
}
__INTMAX_TYPE__ $toimax(const CHAR *s, CHAR **end, int base) {
  return $toll(s, end, base);
}
long long $toq(const CHAR *s, CHAR **end, int base) {
  return $toll(s, end, base);
}
long long __isoc23_$toll(const CHAR *s, CHAR **end, int base) {
  return $toll(s, end, base);
}

//@
int *__errno_location(void);
unsigned long long __hardbop_$digits(const CHAR *, CHAR **, int, int *, int *);
unsigned long $toul(const CHAR *s, CHAR **end, int base) {
  int negative, overflow;
  unsigned long long value = __hardbop_$digits(s, end, base, &negative, &overflow);
  if (overflow || value > ~0UL) {
    *__errno_location() = 34;
    return ~0UL;
  }
  return negative ? (unsigned long)(0 - value) : (unsigned long)value;
}
unsigned long __isoc23_$toul(const CHAR *s, CHAR **end, int base) {
  return $toul(s, end, base);
}

//@
int *__errno_location(void);
unsigned long long __hardbop_$digits(const CHAR *, CHAR **, int, int *, int *);
unsigned long long $toull(const CHAR *s, CHAR **end, int base) {
  int negative, overflow;
  unsigned long long value = __hardbop_$digits(s, end, base, &negative, &overflow);
  if (overflow) {
    *__errno_location() = 34;
    return ~0ULL;
  }
  return negative ? 0 - value : value;
}
__UINTMAX_TYPE__ $toumax(const CHAR *s, CHAR **end, int base) {
  return $toull(s, end, base);
}
unsigned long long $touq(const CHAR *s, CHAR **end, int base) {
  return $toull(s, end, base);
}
unsigned long long __isoc23_$toull(const CHAR *s, CHAR **end, int base) {
  return $toull(s, end, base);
}
