// stdio.h and the reading and writing of unistd.h: what is written has no effect on the program,
// what is read is an input.

//@
//= printing has no effect on the program
int printf(const char *format, ...) {
  int written;
  return written;
}
int fprintf(FILE *stream, const char *format, ...) {
  int written;
  return written;
}
int dprintf(int file, const char *format, ...) {
  int written;
  return written;
}
int vprintf(const char *format, va_list arguments) {
  int written;
  return written;
}
int vfprintf(FILE *stream, const char *format, va_list arguments) {
  int written;
  return written;
}
int vdprintf(int file, const char *format, va_list arguments) {
  int written;
  return written;
}
int __printf_chk(int flag, const char *format, ...) {
  int written;
  return written;
}
int __fprintf_chk(FILE *stream, int flag, const char *format, ...) {
  int written;
  return written;
}

//@
//= printing has no effect on the program
int puts(const char *s) {
  int result;
  return result;
}
int fputs(const char *s, FILE *stream) {
  int result;
  return result;
}
int putchar(int c) {
  int result;
  return result;
}
int putc(int c, FILE *stream) {
  int result;
  return result;
}
int fputc(int c, FILE *stream) {
  int result;
  return result;
}
int putchar_unlocked(int c) {
  int result;
  return result;
}
int putc_unlocked(int c, FILE *stream) {
  int result;
  return result;
}
int _IO_putc(int c, FILE *stream) {
  int result;
  return result;
}
void perror(const char *s) {
}
size_t fwrite(const void *p, size_t size, size_t count, FILE *stream) {
  size_t done;
  __VERIFIER_assume(done <= count);
  return done;
}
int fflush(FILE *stream) {
  int result;
  return result;
}

//@
// A text of any length that fits into the buffer, or as much of it as `size` allows.
int __hardbop_print(char *s, size_t size) {
  int length = __VERIFIER_nondet_int();
  __VERIFIER_assume(length >= 0);
  if (size > 0) {
    size_t kept = (size_t)length < size ? (size_t)length : size - 1;
    __VERIFIER_nondet_memory(s, kept);
    s[kept] = 0;
  }
  return length;
}

//@
//= sprintf writes any text that fits into the object
int __hardbop_print(char *s, size_t size);
int sprintf(char *s, const char *format, ...) {
  size_t room = __hardbop_object_size(s);
  int length = __hardbop_print(s, room);
  __VERIFIER_assume((size_t)length < room);
  return length;
}
int vsprintf(char *s, const char *format, va_list arguments) {
  size_t room = __hardbop_object_size(s);
  int length = __hardbop_print(s, room);
  __VERIFIER_assume((size_t)length < room);
  return length;
}

//@
//= snprintf writes any text
int __hardbop_print(char *s, size_t size);
int snprintf(char *s, size_t size, const char *format, ...) {
  return __hardbop_print(s, size);
}
int vsnprintf(char *s, size_t size, const char *format, va_list arguments) {
  return __hardbop_print(s, size);
}
int __snprintf_chk(char *s, size_t size, int flag, size_t room, const char *format, ...) {
  return __hardbop_print(s, size);
}
int __vsnprintf_chk(char *s, size_t size, int flag, size_t room, const char *format,
                    va_list arguments) {
  return __hardbop_print(s, size);
}

//@
//= asprintf writes any text
int __hardbop_print(char *s, size_t size);
int asprintf(char **result, const char *format, ...) {
  size_t size = __VERIFIER_nondet_uint();
  __VERIFIER_assume(size > 0);
  char *text = malloc(size);
  if (text == 0)
    return -1;
  int length = __hardbop_print(text, size);
  __VERIFIER_assume((size_t)length < size);
  *result = text;
  return length;
}
int vasprintf(char **result, const char *format, va_list arguments) {
  size_t size = __VERIFIER_nondet_uint();
  __VERIFIER_assume(size > 0);
  char *text = malloc(size);
  if (text == 0)
    return -1;
  int length = __hardbop_print(text, size);
  __VERIFIER_assume((size_t)length < size);
  *result = text;
  return length;
}

//@
//= scanf reads any values, and texts that fit into their objects
static int scan(const char *f, va_list arguments) {
  int fields = 0;
  int wanted = __VERIFIER_nondet_int();
  __VERIFIER_assume(wanted >= -1);
  while (*f != 0 && fields < wanted) {
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
    if (kind == 's' || kind == '[') {
      char *s = va_arg(arguments, char *);
      size_t room = __hardbop_object_size(s);
      size_t n = __VERIFIER_nondet_ulong();
      __VERIFIER_assume(n < room && (width == 0 || n <= width));
      __VERIFIER_nondet_memory(s, n);
      s[n] = 0;
      fields++;
    } else if (kind == 'c') {
      char *s = va_arg(arguments, char *);
      __VERIFIER_nondet_memory(s, width == 0 ? 1 : width);
      fields++;
    } else if (kind == 'n') {
      *va_arg(arguments, int *) = __VERIFIER_nondet_int();
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
int sscanf(const char *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int fields = scan(format, arguments);
  va_end(arguments);
  return fields;
}
int __isoc99_sscanf(const char *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int fields = scan(format, arguments);
  va_end(arguments);
  return fields;
}
int __isoc23_sscanf(const char *s, const char *format, ...) {
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
int vsscanf(const char *s, const char *format, va_list arguments) {
  return scan(format, arguments);
}

//@
//= files may hold anything, and what is written to one is not read back
int *__errno_location(void);
static FILE *open_stream(void) {
  if (__VERIFIER_nondet_int() == 0) {
    *__errno_location() = __VERIFIER_nondet_int();
    return 0;
  }
  FILE *stream = malloc(8);
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
  return __VERIFIER_nondet_int() == 0 ? 0 : -1;
}
int pclose(FILE *stream) {
  return __VERIFIER_nondet_int();
}
int fseek(FILE *stream, long offset, int from) {
  return __VERIFIER_nondet_int() == 0 ? 0 : -1;
}
int fseeko(FILE *stream, long offset, int from) {
  return __VERIFIER_nondet_int() == 0 ? 0 : -1;
}
long ftell(FILE *stream) {
  long at = __VERIFIER_nondet_long();
  __VERIFIER_assume(at >= -1);
  return at;
}
void rewind(FILE *stream) {
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
  int file = __VERIFIER_nondet_int();
  __VERIFIER_assume(file >= -1);
  return file;
}
int ungetc(int c, FILE *stream) {
  return __VERIFIER_nondet_int() == 0 ? c : -1;
}
void setbuf(FILE *stream, char *buffer) {
}
int setvbuf(FILE *stream, char *buffer, int mode, size_t size) {
  return __VERIFIER_nondet_int();
}
int remove(const char *name) {
  return __VERIFIER_nondet_int() == 0 ? 0 : -1;
}
int rename(const char *from, const char *to) {
  return __VERIFIER_nondet_int() == 0 ? 0 : -1;
}

//@
int getchar(void) {
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
  if (size <= 0 || __VERIFIER_nondet_int() == 0)
    return 0;
  int n = __VERIFIER_nondet_int();
  __VERIFIER_assume(n >= 0 && n < size);
  __VERIFIER_nondet_memory(s, n);
  s[n] = 0;
  return s;
}

//@
//= gets reads lines that fit into the object
char *gets(char *s) {
  if (__VERIFIER_nondet_int() == 0)
    return 0;
  size_t n = __VERIFIER_nondet_ulong();
  __VERIFIER_assume(n < __hardbop_object_size(s));
  __VERIFIER_nondet_memory(s, n);
  s[n] = 0;
  return s;
}

//@
//= getline always makes a new buffer
static ssize_t read_line(char **line, size_t *size) {
  if (__VERIFIER_nondet_int() == 0)
    return -1;
  ssize_t n = __VERIFIER_nondet_long();
  __VERIFIER_assume(n > 0 && n < __PTRDIFF_MAX__);
  char *text = malloc((size_t)n + 1);
  __VERIFIER_assume(text != 0);
  __VERIFIER_nondet_memory(text, n);
  text[n] = 0;
  if (*line != 0)
    free(*line);
  *line = text;
  *size = (size_t)n + 1;
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
  return done;
}

//@
//= files may hold anything, and what is written to one is not read back
int *__errno_location(void);
static int outcome(void) {
  if (__VERIFIER_nondet_int() == 0)
    return 0;
  *__errno_location() = __VERIFIER_nondet_int();
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
int *__errno_location(void);
ssize_t read(int file, void *p, size_t size) {
  ssize_t n = __VERIFIER_nondet_long();
  __VERIFIER_assume(n >= -1 && (n < 0 || (size_t)n <= size));
  if (n < 0)
    *__errno_location() = __VERIFIER_nondet_int();
  else
    __VERIFIER_nondet_memory(p, n);
  return n;
}
ssize_t recv(int file, void *p, size_t size, int flags) {
  return read(file, p, size);
}

//@
int *__errno_location(void);
ssize_t write(int file, const void *p, size_t size) {
  ssize_t n = __VERIFIER_nondet_long();
  __VERIFIER_assume(n >= -1 && (n < 0 || (size_t)n <= size));
  if (n < 0)
    *__errno_location() = __VERIFIER_nondet_int();
  return n;
}
ssize_t send(int file, const void *p, size_t size, int flags) {
  return write(file, p, size);
}
