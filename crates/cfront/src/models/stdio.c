// stdio.h and the reading and writing of unistd.h: what is written has no effect on the program,
// what is read is an input.

//@
//= printing has no effect on the program
int printf(const char *format, ...) {
  int written;
  MAY_FAIL(1);
  return written;
}
int fprintf(FILE *stream, const char *format, ...) {
  int written;
  MAY_FAIL(1);
  return written;
}
int dprintf(int file, const char *format, ...) {
  int written;
  MAY_FAIL(1);
  return written;
}
int vprintf(const char *format, va_list arguments) {
  int written;
  MAY_FAIL(1);
  return written;
}
int vfprintf(FILE *stream, const char *format, va_list arguments) {
  int written;
  MAY_FAIL(1);
  return written;
}
int vdprintf(int file, const char *format, va_list arguments) {
  int written;
  MAY_FAIL(1);
  return written;
}
int __printf_chk(int flag, const char *format, ...) {
  int written;
  MAY_FAIL(1);
  return written;
}
int __fprintf_chk(FILE *stream, int flag, const char *format, ...) {
  int written;
  MAY_FAIL(1);
  return written;
}

//@
//= printing has no effect on the program
int puts(const char *s) {
  int result;
  MAY_FAIL(1);
  return result;
}
int fputs(const char *s, FILE *stream) {
  int result;
  MAY_FAIL(1);
  return result;
}
int putchar(int c) {
  int result;
  MAY_FAIL(1);
  return result;
}
int putc(int c, FILE *stream) {
  int result;
  MAY_FAIL(1);
  return result;
}
int fputc(int c, FILE *stream) {
  int result;
  MAY_FAIL(1);
  return result;
}
int putchar_unlocked(int c) {
  int result;
  MAY_FAIL(1);
  return result;
}
int putc_unlocked(int c, FILE *stream) {
  int result;
  MAY_FAIL(1);
  return result;
}
int _IO_putc(int c, FILE *stream) {
  int result;
  MAY_FAIL(1);
  return result;
}
void perror(const char *s) {
  MAY_FAIL(1);
}
size_t fwrite(const void *p, size_t size, size_t count, FILE *stream) {
  size_t done;
  __VERIFIER_assume(done <= count);
  MAY_FAIL(1);
  return done;
}
int fflush(FILE *stream) {
  int result;
  MAY_FAIL(1);
  return result;
}

// Functions whose names begin with `__hardbop_trusted_` are not checked: what they read was read
// before, by `__hardbop_check_string`, which is called only where accesses are checked, and what
// they write is written by the functions that they call.

//@
void __hardbop_check_string(const char *s) {
  while (*s != 0)
    s++;
}

//@
void __hardbop_store_number(void *to, int size, long long value) {
  if (size == 0)
    *(int *)to = (int)value;
  else if (size == 1)
    *(long *)to = (long)value;
  else if (size >= 2)
    *(long long *)to = value;
  else if (size == -1)
    *(short *)to = (short)value;
  else
    *(signed char *)to = (signed char)value;
}

//@
//= `%f`, `%e`, `%g`, `%a`, `%p`, `%m` and wide characters are printed as any text
size_t __hardbop_put_character(char *s, size_t size, size_t at, char c);
size_t __hardbop_put_many(char *s, size_t size, size_t at, char c, int count);
size_t __hardbop_guess_text(char *s, size_t size, size_t at, size_t room);
size_t __hardbop_put_text(char *s, size_t size, size_t at, const char *text, int count);
int __hardbop_text_length(const char *text, int most);
void __hardbop_end_text(char *s, size_t at);
void __hardbop_store_number(void *to, int size, long long value);
void __hardbop_check_string(const char *s);
int __hardbop_trusted_format(char *s, size_t size, size_t room, const char *f, va_list arguments);
// Writes a text and gives its length. Of what does not fit into `size` bytes only the length
// counts; `room` is what may be written at all where the text is a guess.
size_t __hardbop_put_character(char *s, size_t size, size_t at, char c) {
  if (at + 1 < size)
    s[at] = c;
  return at + 1;
}
size_t __hardbop_put_many(char *s, size_t size, size_t at, char c, int count) {
  while (count > 0) {
    at = __hardbop_put_character(s, size, at, c);
    count--;
  }
  return at;
}
size_t __hardbop_put_text(char *s, size_t size, size_t at, const char *text, int count) {
  for (int i = 0; i < count; i++)
    at = __hardbop_put_character(s, size, at, text[i]);
  return at;
}
void __hardbop_end_text(char *s, size_t at) {
  s[at] = 0;
}
int __hardbop_text_length(const char *text, int most) {
  int count = 0;
  while ((most < 0 || count < most) && text[count] != 0)
    count++;
  return count;
}
size_t __hardbop_guess_text(char *s, size_t size, size_t at, size_t room) {
  size_t length = __VERIFIER_nondet_ulong();
  __VERIFIER_assume(length < 0x7fffffff && at < room && length < room - at);
  size_t end = at + length;
  size_t last = end < size ? end : size - 1;
  if (at < last && size > 0)
    __VERIFIER_nondet_memory(s + at, last - at);
  return end;
}
int __hardbop_trusted_format(char *s, size_t size, size_t room, const char *f, va_list arguments) {
  __hardbop_check_string(f);
  size_t at = 0;
  while (*f != 0) {
    char kind = *f;
    f++;
    if (kind != '%') {
      at = __hardbop_put_character(s, size, at, kind);
      continue;
    }
    int left = 0, zero = 0, plus = 0, space = 0, alternate = 0;
    while (*f == '-' || *f == '0' || *f == '+' || *f == ' ' || *f == '#') {
      if (*f == '-')
        left = 1;
      else if (*f == '0')
        zero = 1;
      else if (*f == '+')
        plus = 1;
      else if (*f == ' ')
        space = 1;
      else
        alternate = 1;
      f++;
    }
    int width = 0, precision = -1, length = 0;
    if (*f == '*') {
      width = va_arg(arguments, int);
      f++;
      if (width < 0) {
        left = 1;
        width = -width;
      }
    }
    while (*f >= '0' && *f <= '9') {
      width = width * 10 + (*f - '0');
      f++;
    }
    if (*f == '.') {
      f++;
      precision = 0;
      if (*f == '*') {
        precision = va_arg(arguments, int);
        f++;
      }
      while (*f >= '0' && *f <= '9') {
        precision = precision * 10 + (*f - '0');
        f++;
      }
    }
    while (*f == 'h' || *f == 'l' || *f == 'L' || *f == 'j' || *f == 'z' || *f == 't' ||
           *f == 'q') {
      if (*f == 'h')
        length--;
      else if (*f == 'l')
        length++;
      else if (*f == 'j' || *f == 'q' || *f == 'L')
        length = 2;
      else
        length = 1;
      f++;
    }
    kind = *f;
    if (kind == 0)
      break;
    f++;
    if (kind == '%') {
      at = __hardbop_put_character(s, size, at, kind);
    } else if (kind == 'n') {
      __hardbop_store_number(va_arg(arguments, void *), length, (long long)at);
    } else if (kind == 'c' && length == 0) {
      char c = (char)va_arg(arguments, int);
      if (!left)
        at = __hardbop_put_many(s, size, at, ' ', width - 1);
      at = __hardbop_put_character(s, size, at, c);
      if (left)
        at = __hardbop_put_many(s, size, at, ' ', width - 1);
    } else if (kind == 's' && length == 0) {
      const char *text = va_arg(arguments, const char *);
      if (text == 0)
        text = precision >= 0 && precision < 6 ? "" : "(null)";
      int count = __hardbop_text_length(text, precision);
      if (!left)
        at = __hardbop_put_many(s, size, at, ' ', width - count);
      at = __hardbop_put_text(s, size, at, text, count);
      if (left)
        at = __hardbop_put_many(s, size, at, ' ', width - count);
    } else if (kind == 'd' || kind == 'i' || kind == 'u' || kind == 'x' || kind == 'X' ||
               kind == 'o') {
      unsigned long long value;
      char sign = 0;
      if (kind == 'd' || kind == 'i') {
        long long number;
        if (length == 1)
          number = va_arg(arguments, long);
        else if (length >= 2)
          number = va_arg(arguments, long long);
        else
          number = va_arg(arguments, int);
        if (length == -1)
          number = (short)number;
        else if (length < -1)
          number = (signed char)number;
        value = number < 0 ? 0 - (unsigned long long)number : (unsigned long long)number;
        sign = number < 0 ? '-' : plus ? '+' : space ? ' ' : 0;
      } else {
        if (length == 1)
          value = va_arg(arguments, unsigned long);
        else if (length >= 2)
          value = va_arg(arguments, unsigned long long);
        else
          value = va_arg(arguments, unsigned int);
        if (length == -1)
          value = (unsigned short)value;
        else if (length < -1)
          value = (unsigned char)value;
      }
      unsigned base = kind == 'o' ? 8 : kind == 'x' || kind == 'X' ? 16 : 10;
      int prefix = alternate && base == 16 && value != 0 ? 2 : 0;
      char digits[24];
      int count = 0;
      while (value != 0) {
        int digit = (int)(value % base);
        digits[count] = (char)(digit < 10 ? '0' + digit : (kind == 'X' ? 'A' : 'a') + digit - 10);
        count++;
        value = value / base;
      }
      int zeros = precision > count ? precision - count : 0;
      if (precision < 0 && count == 0)
        zeros = 1;
      if (alternate && base == 8 && zeros == 0)
        zeros = 1;
      int used = prefix + (sign != 0 ? 1 : 0) + count;
      if (precision < 0 && zero && !left && width - used > zeros)
        zeros = width - used;
      used += zeros;
      if (!left)
        at = __hardbop_put_many(s, size, at, ' ', width - used);
      if (sign != 0)
        at = __hardbop_put_character(s, size, at, sign);
      if (prefix != 0) {
        at = __hardbop_put_character(s, size, at, '0');
        at = __hardbop_put_character(s, size, at, kind);
      }
      at = __hardbop_put_many(s, size, at, '0', zeros);
      for (int i = count; i > 0; i--)
        at = __hardbop_put_character(s, size, at, digits[i - 1]);
      if (left)
        at = __hardbop_put_many(s, size, at, ' ', width - used);
    } else {
      if (kind == 'f' || kind == 'F' || kind == 'e' || kind == 'E' || kind == 'g' ||
          kind == 'G' || kind == 'a' || kind == 'A') {
        double passed;
        if (length >= 2)
          passed = (double)va_arg(arguments, long double);
        else
          passed = va_arg(arguments, double);
      } else if (kind == 'c') {
        unsigned passed = va_arg(arguments, unsigned int);
      } else if (kind != 'm') {
        void *passed = va_arg(arguments, void *);
      }
      at = __hardbop_guess_text(s, size, at, room);
    }
  }
  if (size > 0)
    __hardbop_end_text(s, at < size ? at : size - 1);
  return (int)at;
}
int sprintf(char *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = __hardbop_trusted_format(s, ~(size_t)0, __hardbop_object_size(s), format, arguments);
  va_end(arguments);
  return length;
}
int vsprintf(char *s, const char *format, va_list arguments) {
  return __hardbop_trusted_format(s, ~(size_t)0, __hardbop_object_size(s), format, arguments);
}
int __sprintf_chk(char *s, int flag, size_t room, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = __hardbop_trusted_format(s, ~(size_t)0, __hardbop_object_size(s), format, arguments);
  va_end(arguments);
  return length;
}
int __vsprintf_chk(char *s, int flag, size_t room, const char *format, va_list arguments) {
  return __hardbop_trusted_format(s, ~(size_t)0, __hardbop_object_size(s), format, arguments);
}
int snprintf(char *s, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = __hardbop_trusted_format(s, size, ~(size_t)0, format, arguments);
  va_end(arguments);
  return length;
}
int vsnprintf(char *s, size_t size, const char *format, va_list arguments) {
  return __hardbop_trusted_format(s, size, ~(size_t)0, format, arguments);
}
int __snprintf_chk(char *s, size_t size, int flag, size_t room, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = __hardbop_trusted_format(s, size, ~(size_t)0, format, arguments);
  va_end(arguments);
  return length;
}
int __vsnprintf_chk(char *s, size_t size, int flag, size_t room, const char *format,
                    va_list arguments) {
  return __hardbop_trusted_format(s, size, ~(size_t)0, format, arguments);
}

//@
//= asprintf writes any text
int __hardbop_guess_asprintf(char **result);
int __hardbop_guess_asprintf(char **result) {
  size_t size = __VERIFIER_nondet_uint();
  __VERIFIER_assume(size > 0 && size <= 0x7fffffff);
  char *text = malloc(size);
  if (text == 0)
    return -1;
  MAY_FAIL(1);
  __VERIFIER_nondet_memory(text, size - 1);
  text[size - 1] = 0;
  *result = text;
  return (int)(size - 1);
}
int asprintf(char **result, const char *format, ...) {
  return __hardbop_guess_asprintf(result);
}
int vasprintf(char **result, const char *format, va_list arguments) {
  return __hardbop_guess_asprintf(result);
}

//@
//= scanf reads any values, and texts that fit into their objects
void __hardbop_store_number(void *to, int size, long long value);
static int scan(const char *f, va_list arguments) {
  int fields = 0;
  int wanted = __VERIFIER_nondet_int();
  __VERIFIER_assume(wanted >= -1);
  MAY_FAIL(1);
  // What is read ends where a field does not match; whether text behind the last one does is seen
  // by `%n` only.
  while (*f != 0 && wanted >= 0) {
    if (*f != '%') {
      f++;
      continue;
    }
    f++;
    int skip = 0;
    size_t width = 0;
    int size = 0;
    if (*f == '*') {
      skip = 1;
      f++;
    }
    while (*f >= '0' && *f <= '9') {
      width = width * 10 + (*f - '0');
      f++;
    }
    while (*f == 'h' || *f == 'l' || *f == 'L' || *f == 'j' || *f == 'z' || *f == 't' ||
           *f == 'q') {
      if (*f == 'h')
        size--;
      else if (*f == 'l')
        size++;
      else if (*f == 'j' || *f == 'q' || *f == 'L')
        size = 2;
      else
        size = 1;
      f++;
    }
    char kind = *f;
    if (kind == 0)
      break;
    f++;
    if (kind == '%')
      continue;
    if (kind == '[') {
      if (*f == '^')
        f++;
      if (*f == ']')
        f++;
      while (*f != 0 && *f != ']')
        f++;
      if (*f == ']')
        f++;
    }
    if (skip)
      continue;
    if (kind == 'n') {
      if (fields == wanted && __VERIFIER_nondet_int() == 0)
        break;
      int read = __VERIFIER_nondet_int();
      __VERIFIER_assume(read >= 0);
      __hardbop_store_number(va_arg(arguments, void *), size, read);
      continue;
    }
    if (fields == wanted)
      break;
    if (kind == 's' || kind == '[') {
      char *s = va_arg(arguments, char *);
      size_t room = __hardbop_object_size(s);
      size_t n = __VERIFIER_nondet_ulong();
      __VERIFIER_assume(n > 0 && n < room && (width == 0 || n <= width));
      __VERIFIER_nondet_memory(s, n);
      s[n] = 0;
      fields++;
    } else if (kind == 'c') {
      char *s = va_arg(arguments, char *);
      __VERIFIER_nondet_memory(s, width == 0 ? 1 : width);
      fields++;
    } else if (kind == 'e' || kind == 'f' || kind == 'g' || kind == 'a' || kind == 'E' ||
               kind == 'G') {
      if (size == 0)
        *va_arg(arguments, float *) = __VERIFIER_nondet_float();
      else if (size == 1)
        *va_arg(arguments, double *) = __VERIFIER_nondet_double();
      else
        __VERIFIER_nondet_memory(va_arg(arguments, long double *), sizeof(long double));
      fields++;
    } else if (kind == 'p') {
      *va_arg(arguments, void **) = (void *)__VERIFIER_nondet_ulong();
      fields++;
    } else {
      if (size == 0)
        *va_arg(arguments, int *) = __VERIFIER_nondet_int();
      else if (size == 1)
        *va_arg(arguments, long *) = __VERIFIER_nondet_long();
      else if (size >= 2)
        *va_arg(arguments, long long *) = __VERIFIER_nondet_longlong();
      else if (size == -1)
        *va_arg(arguments, short *) = __VERIFIER_nondet_short();
      else
        *va_arg(arguments, signed char *) = __VERIFIER_nondet_char();
      fields++;
    }
  }
  return wanted < fields ? -1 : fields;
}
int scanf(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int fields = scan(format, arguments);
  va_end(arguments);
  return fields;
}
int __isoc99_scanf(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int fields = scan(format, arguments);
  va_end(arguments);
  return fields;
}
int __isoc23_scanf(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int fields = scan(format, arguments);
  va_end(arguments);
  return fields;
}
int fscanf(FILE *stream, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int fields = scan(format, arguments);
  va_end(arguments);
  return fields;
}
int __isoc99_fscanf(FILE *stream, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int fields = scan(format, arguments);
  va_end(arguments);
  return fields;
}
int __isoc23_fscanf(FILE *stream, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int fields = scan(format, arguments);
  va_end(arguments);
  return fields;
}
int vscanf(const char *format, va_list arguments) {
  return scan(format, arguments);
}
int vfscanf(FILE *stream, const char *format, va_list arguments) {
  return scan(format, arguments);
}

//@
//= `%p` reads any pointer
double strtod(const char *s, char **end);
float strtof(const char *s, char **end);
void *__hardbop_guess_pointer(void);
long double __hardbop_guess_long_double(void);
int __hardbop_is_blank(char c);
int __hardbop_trusted_in_set(const char *set, const char *end, char c);
int __hardbop_trusted_parse(const char *s, const char *f, va_list arguments);
void __hardbop_check_string(const char *s);
void __hardbop_store_number(void *to, int size, long long value);
void __hardbop_store_character(char *to, size_t at, char c);
void __hardbop_store_float(void *to, int size, double number, float single);
void __hardbop_store_pointer(void **to, void *value);
void __hardbop_store_character(char *to, size_t at, char c) {
  to[at] = c;
}
void __hardbop_store_float(void *to, int size, double number, float single) {
  if (size == 0)
    *(float *)to = single;
  else if (size == 1)
    *(double *)to = number;
  else
    *(long double *)to = __hardbop_guess_long_double();
}
long double __hardbop_guess_long_double(void) {
  return __VERIFIER_nondet_longdouble();
}
void __hardbop_store_pointer(void **to, void *value) {
  *to = value;
}
void *__hardbop_guess_pointer(void) {
  return (void *)__VERIFIER_nondet_ulong();
}
int __hardbop_is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
int __hardbop_trusted_in_set(const char *set, const char *end, char c) {
  int others = *set == '^';
  if (others)
    set++;
  const char *first = set;
  while (set < end) {
    if (*set == '-' && set > first && set + 1 < end) {
      if (set[-1] <= c && c <= set[1])
        return !others;
    } else if (*set == c) {
      return !others;
    }
    set++;
  }
  return others;
}
int __hardbop_trusted_parse(const char *s, const char *f, va_list arguments) {
  __hardbop_check_string(s);
  __hardbop_check_string(f);
  const char *p = s;
  int fields = 0;
  while (*f != 0) {
    if (__hardbop_is_blank(*f)) {
      while (__hardbop_is_blank(*p))
        p++;
      f++;
      continue;
    }
    if (*f != '%') {
      if (*p != *f)
        return *p == 0 && fields == 0 ? -1 : fields;
      p++;
      f++;
      continue;
    }
    f++;
    int skip = 0, size = 0;
    size_t width = 0;
    if (*f == '*') {
      skip = 1;
      f++;
    }
    while (*f >= '0' && *f <= '9') {
      width = width * 10 + (*f - '0');
      f++;
    }
    if (width == 0)
      width = ~(size_t)0;
    while (*f == 'h' || *f == 'l' || *f == 'L' || *f == 'j' || *f == 'z' || *f == 't' ||
           *f == 'q') {
      if (*f == 'h')
        size--;
      else if (*f == 'l')
        size++;
      else if (*f == 'j' || *f == 'q' || *f == 'L')
        size = 2;
      else
        size = 1;
      f++;
    }
    char kind = *f;
    if (kind == 0)
      break;
    f++;
    const char *set = f;
    if (kind == '[') {
      if (*f == '^')
        f++;
      if (*f == ']')
        f++;
      while (*f != 0 && *f != ']')
        f++;
    }
    const char *set_end = f;
    if (kind == '[' && *f == ']')
      f++;
    if (kind == 'n') {
      if (skip)
        continue;
      __hardbop_store_number(va_arg(arguments, void *), size, p - s);
      continue;
    }
    if (kind != 'c' && kind != '[')
      while (__hardbop_is_blank(*p))
        p++;
    if (*p == 0)
      return fields == 0 ? -1 : fields;
    if (kind == '%') {
      if (*p != '%')
        return fields;
      p++;
      continue;
    }
    if (kind == 'c') {
      if (width == ~(size_t)0)
        width = 1;
      char *to = skip ? 0 : va_arg(arguments, char *);
      for (size_t i = 0; i < width; i++) {
        if (*p == 0)
          break;
        if (!skip)
          __hardbop_store_character(to, i, *p);
        p++;
      }
    } else if (kind == 's' || kind == '[') {
      char *to = skip ? 0 : va_arg(arguments, char *);
      size_t n = 0;
      while (n < width && *p != 0 &&
             (kind == 's' ? !__hardbop_is_blank(*p) : __hardbop_trusted_in_set(set, set_end, *p))) {
        if (!skip)
          __hardbop_store_character(to, n, *p);
        n++;
        p++;
      }
      if (n == 0)
        return fields;
      if (!skip)
        __hardbop_store_character(to, n, 0);
    } else if (kind == 'e' || kind == 'f' || kind == 'g' || kind == 'a' || kind == 'E' ||
               kind == 'G') {
      char *end, text[64];
      const char *from = p;
      // No more than the width is looked at.
      if (width < sizeof text) {
        size_t n = 0;
        while (n < width && p[n] != 0) {
          text[n] = p[n];
          n++;
        }
        text[n] = 0;
        from = text;
      }
      double number = strtod(from, &end);
      if (end == from)
        return fields;
      size_t length = end - from;
      if (!skip)
        __hardbop_store_float(va_arg(arguments, void *), size, number, strtof(from, &end));
      p += length;
    } else if (kind == 'p') {
      while (*p != 0 && !__hardbop_is_blank(*p))
        p++;
      if (!skip)
        __hardbop_store_pointer(va_arg(arguments, void **), __hardbop_guess_pointer());
    } else {
      int negative = 0, any = 0, overflow = 0;
      unsigned base = kind == 'x' || kind == 'X' ? 16 : kind == 'o' ? 8 : kind == 'i' ? 0 : 10;
      unsigned long long value = 0;
      if (*p == '-' || *p == '+') {
        negative = *p == '-';
        p++;
        width--;
      }
      if (width > 0 && *p == '0') {
        any = 1;
        p++;
        width--;
        if (width > 0 && (*p == 'x' || *p == 'X') && (base == 0 || base == 16)) {
          base = 16;
          p++;
          width--;
        } else if (base == 0) {
          base = 8;
        }
      }
      if (base == 0)
        base = 10;
      while (width > 0) {
        int digit = *p >= '0' && *p <= '9'   ? *p - '0'
                    : *p >= 'a' && *p <= 'f' ? *p - 'a' + 10
                    : *p >= 'A' && *p <= 'F' ? *p - 'A' + 10
                                             : 99;
        if (digit >= (int)base)
          break;
        any = 1;
        if (value > (~0ULL - digit) / base)
          overflow = 1;
        value = value * base + digit;
        p++;
        width--;
      }
      if (!any)
        return fields;
      MAY_FAIL(overflow);
      unsigned long long most = size >= 2 ? ~0ULL : ~0UL;
      if (kind == 'd' || kind == 'i')
        most = most / 2 + (negative ? 1 : 0);
      if (overflow || value > most)
        value = most;
      else if (negative && kind != 'd' && kind != 'i')
        value = 0 - value;
      if (negative && (kind == 'd' || kind == 'i'))
        value = 0 - value;
      if (skip)
        continue;
      __hardbop_store_number(va_arg(arguments, void *), size, (long long)value);
    }
    if (!skip)
      fields++;
  }
  return fields;
}
int sscanf(const char *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int fields = __hardbop_trusted_parse(s, format, arguments);
  va_end(arguments);
  return fields;
}
int __isoc99_sscanf(const char *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int fields = __hardbop_trusted_parse(s, format, arguments);
  va_end(arguments);
  return fields;
}
int __isoc23_sscanf(const char *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int fields = __hardbop_trusted_parse(s, format, arguments);
  va_end(arguments);
  return fields;
}
int vsscanf(const char *s, const char *format, va_list arguments) {
  return __hardbop_trusted_parse(s, format, arguments);
}

//@
//= files may hold anything, and what is written to one is not read back
static FILE *open_stream(void) {
  if (__VERIFIER_nondet_int() == 0) {
    FAILS();
    return 0;
  }
  FILE *stream = __hardbop_own_memory(8);
  __VERIFIER_assume(stream != 0);
  return stream;
}
FILE *fopen(const char *name, const char *mode) {
  return open_stream();
}
FILE *fopen64(const char *name, const char *mode) {
  return open_stream();
}
FILE *fdopen(int file, const char *mode) {
  return open_stream();
}
FILE *freopen(const char *name, const char *mode, FILE *stream) {
  MAY_FAIL(1);
  return __VERIFIER_nondet_int() == 0 ? 0 : stream;
}
FILE *tmpfile(void) {
  return open_stream();
}
FILE *popen(const char *command, const char *mode) {
  return open_stream();
}

//@
//= files may hold anything, and what is written to one is not read back
int fclose(FILE *stream) {
  MAY_FAIL(1);
  return __VERIFIER_nondet_int() == 0 ? 0 : -1;
}
int pclose(FILE *stream) {
  MAY_FAIL(1);
  return __VERIFIER_nondet_int();
}
int fseek(FILE *stream, long offset, int from) {
  MAY_FAIL(1);
  return __VERIFIER_nondet_int() == 0 ? 0 : -1;
}
int fseeko(FILE *stream, long offset, int from) {
  MAY_FAIL(1);
  return __VERIFIER_nondet_int() == 0 ? 0 : -1;
}
long ftell(FILE *stream) {
  MAY_FAIL(1);
  long at = __VERIFIER_nondet_long();
  __VERIFIER_assume(at >= -1);
  return at;
}
void rewind(FILE *stream) {
  MAY_FAIL(1);
}
void clearerr(FILE *stream) {
}
int feof(FILE *stream) {
  return __VERIFIER_nondet_int();
}
int ferror(FILE *stream) {
  return __VERIFIER_nondet_int();
}
int fileno(FILE *stream) {
  MAY_FAIL(1);
  int file = __VERIFIER_nondet_int();
  __VERIFIER_assume(file >= -1);
  return file;
}
int ungetc(int c, FILE *stream) {
  MAY_FAIL(1);
  return __VERIFIER_nondet_int() == 0 ? c : -1;
}
int remove(const char *name) {
  MAY_FAIL(1);
  return __VERIFIER_nondet_int() == 0 ? 0 : -1;
}
int rename(const char *from, const char *to) {
  MAY_FAIL(1);
  return __VERIFIER_nondet_int() == 0 ? 0 : -1;
}

// A buffer of the program's changes when something is printed or read.

//@
//= files may hold anything, and what is written to one is not read back
void __hardbop_buffer(void);
void setbuf(FILE *stream, char *buffer) {
  if (buffer != 0)
    __hardbop_buffer();
}
int setvbuf(FILE *stream, char *buffer, int mode, size_t size) {
  if (buffer != 0 && mode != 2)
    __hardbop_buffer();
  MAY_FAIL(1);
  return __VERIFIER_nondet_int();
}

//@
int getchar(void) {
  MAY_FAIL(1);
  int c = __VERIFIER_nondet_int();
  __VERIFIER_assume(c >= -1 && c <= 255);
  return c;
}
int getc(FILE *stream) {
  return getchar();
}
int fgetc(FILE *stream) {
  return getchar();
}
int getchar_unlocked(void) {
  return getchar();
}
int getc_unlocked(FILE *stream) {
  return getchar();
}
int _IO_getc(FILE *stream) {
  return getchar();
}

//@
char *fgets(char *s, int size, FILE *stream) {
  MAY_FAIL(1);
  if (size <= 0)
    return 0;
  int n = __VERIFIER_nondet_int();
  // Nothing is there any more.
  if (n < 0)
    return 0;
  __VERIFIER_assume(n < size);
  __VERIFIER_nondet_memory(s, n);
  // What was read before an error is anything.
  if (__VERIFIER_nondet_int() == 0)
    return 0;
  s[n] = 0;
  return s;
}

//@
//= gets reads lines that fit into the object
char *gets(char *s) {
  MAY_FAIL(1);
  if (__VERIFIER_nondet_int() == 0)
    return 0;
  size_t n = __VERIFIER_nondet_ulong();
  __VERIFIER_assume(n < __hardbop_object_size(s));
  __VERIFIER_nondet_memory(s, n);
  // What was read before an error is anything.
  if (__VERIFIER_nondet_int() == 0)
    return 0;
  s[n] = 0;
  return s;
}

//@
//= getline moves a buffer that grows
static ssize_t read_line(char **line, size_t *size) {
  MAY_FAIL(1);
  ssize_t n = __VERIFIER_nondet_long();
  __VERIFIER_assume(n >= 0 && n < __PTRDIFF_MAX__);
  // A buffer is there even where nothing is read.
  if (*line == 0 || *size <= (size_t)n) {
    char *text = malloc((size_t)n + 1);
    if (text == 0)
      return -1;
    if (*line != 0)
      free(*line);
    *line = text;
    *size = (size_t)n + 1;
  }
  __VERIFIER_nondet_memory(*line, n);
  // Nothing is there any more, or there was an error.
  if (n == 0 || __VERIFIER_nondet_int() == 0)
    return -1;
  (*line)[n] = 0;
  return n;
}
ssize_t getline(char **line, size_t *size, FILE *stream) {
  return read_line(line, size);
}
ssize_t getdelim(char **line, size_t *size, int end, FILE *stream) {
  return read_line(line, size);
}
ssize_t __getdelim(char **line, size_t *size, int end, FILE *stream) {
  return read_line(line, size);
}

//@
size_t fread(void *p, size_t size, size_t count, FILE *stream) {
  size_t done = __VERIFIER_nondet_ulong();
  __VERIFIER_assume(done <= count);
  __VERIFIER_nondet_memory(p, done * size);
  MAY_FAIL(1);
  // Of an element that is not there as a whole, a part may be.
  if (done < count && size > 1) {
    size_t part = __VERIFIER_nondet_ulong();
    __VERIFIER_assume(part < size);
    __VERIFIER_nondet_memory((char *)p + done * size, part);
  }
  return done;
}

//@
//= files may hold anything, and what is written to one is not read back
static int outcome(void) {
  if (__VERIFIER_nondet_int() == 0)
    return 0;
  FAILS();
  return -1;
}
static int descriptor(void) {
  if (outcome() != 0)
    return -1;
  int file = __VERIFIER_nondet_int();
  __VERIFIER_assume(file >= 0);
  return file;
}
int open(const char *name, int flags, ...) {
  return descriptor();
}
int open64(const char *name, int flags, ...) {
  return descriptor();
}
int creat(const char *name, unsigned int mode) {
  return descriptor();
}
int close(int file) {
  return outcome();
}
int access(const char *name, int mode) {
  return outcome();
}
int unlink(const char *name) {
  return outcome();
}
int isatty(int file) {
  MAY_FAIL(1);
  return __VERIFIER_nondet_int() != 0;
}
long lseek(int file, long offset, int from) {
  if (outcome() != 0)
    return -1;
  long at = __VERIFIER_nondet_long();
  __VERIFIER_assume(at >= 0);
  return at;
}
int dup(int file) {
  return descriptor();
}
int dup2(int from, int to) {
  return outcome() != 0 ? -1 : to;
}

//@
ssize_t read(int file, void *p, size_t size) {
  ssize_t n = __VERIFIER_nondet_long();
  __VERIFIER_assume(n >= -1 && (n < 0 || (size_t)n <= size));
  if (n < 0)
    FAILS();
  else
    __VERIFIER_nondet_memory(p, n);
  return n;
}
ssize_t recv(int file, void *p, size_t size, int flags) {
  return read(file, p, size);
}

//@
ssize_t write(int file, const void *p, size_t size) {
  ssize_t n = __VERIFIER_nondet_long();
  __VERIFIER_assume(n >= -1 && (n < 0 || (size_t)n <= size));
  if (n < 0)
    FAILS();
  return n;
}
ssize_t send(int file, const void *p, size_t size, int flags) {
  return write(file, p, size);
}
