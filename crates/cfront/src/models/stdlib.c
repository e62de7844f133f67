// stdlib.h.

//@
void *calloc(size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) {
    FAILS();
    return 0;
  }
  void *p = malloc(total);
  if (p != 0)
    memset(p, 0, total);
  return p;
}

//@
//= realloc always moves the object
void *realloc(void *p, size_t size) {
  if (p == 0)
    return malloc(size);
  if (size == 0) {
    free(p);
    return 0;
  }
  void *moved = malloc(size);
  if (moved == 0)
    return 0;
  size_t old = __hardbop_object_size(p);
  memcpy(moved, p, old < size ? old : size);
  free(p);
  return moved;
}

//@
void *realloc(void *p, size_t size);
void *reallocarray(void *p, size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) {
    FAILS();
    return 0;
  }
  return realloc(p, total);
}

//@
//= alignment beyond that of malloc is not modelled
void *aligned_alloc(size_t align, size_t size) {
  if (align == 0 || (align & (align - 1)) != 0) {
    FAILS();
    return 0;
  }
  return malloc(size);
}
void *memalign(size_t align, size_t size) {
  MAY_FAIL(align == 0 || (align & (align - 1)) != 0);
  return malloc(size);
}

//@
//= alignment beyond that of malloc is not modelled
int posix_memalign(void **result, size_t align, size_t size) {
  if (align % sizeof(void *) != 0 || align == 0 || (align & (align - 1)) != 0)
    return 22;
  void *p = malloc(size);
  if (p == 0)
    return 12;
  *result = p;
  return 0;
}

//@
int abs(int x) {
  return x < 0 ? -x : x;
}

//@
long labs(long x) {
  return x < 0 ? -x : x;
}

//@
long long llabs(long long x) {
  return x < 0 ? -x : x;
}
__INTMAX_TYPE__ imaxabs(__INTMAX_TYPE__ x) {
  return x < 0 ? -x : x;
}

//@
typedef struct { int quot; int rem; } div_t;
div_t div(int a, int b) {
  div_t result;
  result.quot = a / b;
  result.rem = a % b;
  return result;
}

//@
typedef struct { long quot; long rem; } ldiv_t;
ldiv_t ldiv(long a, long b) {
  ldiv_t result;
  result.quot = a / b;
  result.rem = a % b;
  return result;
}

//@
typedef struct { long long quot; long long rem; } lldiv_t;
lldiv_t lldiv(long long a, long long b) {
  lldiv_t result;
  result.quot = a / b;
  result.rem = a % b;
  return result;
}

//@
long strtol(const char *s, char **end, int base);
int atoi(const char *s) {
  return (int)strtol(s, 0, 10);
}

//@
long strtol(const char *s, char **end, int base);
long atol(const char *s) {
  return strtol(s, 0, 10);
}

//@
long long strtoll(const char *s, char **end, int base);
long long atoll(const char *s) {
  return strtoll(s, 0, 10);
}

//@
//= strtod reads any number where a text is not a decimal number of few digits
int *__errno_location(void);
size_t strlen(const char *s);
const char *__hardbop_trusted_decimal(const char *, const char *, unsigned long long *, int *);
double __hardbop_guess_double(void);
const char *__hardbop_guess_end(const char *s);
int __hardbop_trusted_special(const char *p);
int __hardbop_trusted_sign(const char **text);
void __hardbop_check_string(const char *s);
double strtod(const char *s, char **end);
// The digits of a decimal number without its point, and the power of ten to multiply them with.
// Gives where the number ends; null where the text is of another kind.
const char *__hardbop_trusted_decimal(const char *s, const char *p, unsigned long long *value,
                              int *power) {
  int any = 0, many = 0;
  unsigned long long digits = 0;
  int scale = 0;
  for (int fraction = 0;; p++) {
    if (*p == '.' && !fraction) {
      fraction = 1;
      continue;
    }
    if (*p < '0' || *p > '9')
      break;
    any = 1;
    if (digits > 99999999999999ULL)
      many = 1;
    else
      digits = digits * 10 + (*p - '0');
    if (fraction && scale > -1000)
      scale--;
  }
  if (!any) {
    *value = 0;
    *power = 0;
    return s;
  }
  if (*p == 'e' || *p == 'E') {
    const char *q = p + 1;
    int negative = *q == '-', exponent = 0;
    if (*q == '-' || *q == '+')
      q++;
    if (*q >= '0' && *q <= '9') {
      while (*q >= '0' && *q <= '9') {
        if (exponent < 10000)
          exponent = exponent * 10 + (*q - '0');
        q++;
      }
      scale += negative ? -exponent : exponent;
      p = q;
    }
  }
  *value = digits;
  *power = many ? 10000 : scale;
  return p;
}
double __hardbop_guess_double(void) {
  if (__VERIFIER_nondet_int() == 0)
    *__errno_location() = 34;
  return __VERIFIER_nondet_double();
}
const char *__hardbop_guess_end(const char *s) {
  size_t used = __VERIFIER_nondet_ulong();
  __VERIFIER_assume(used <= strlen(s));
  return s + used;
}
int __hardbop_trusted_sign(const char **text) {
  const char *p = *text;
  while (*p == ' ' || (*p >= '\t' && *p <= '\r'))
    p++;
  int negative = *p == '-';
  if (*p == '-' || *p == '+')
    p++;
  *text = p;
  return negative;
}
int __hardbop_trusted_special(const char *p) {
  return *p == 'i' || *p == 'I' || *p == 'n' || *p == 'N' ||
         (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'));
}
double strtod(const char *s, char **end) {
  const char *p = s;
  unsigned long long value;
  int power;
  __hardbop_check_string(s);
  int negative = __hardbop_trusted_sign(&p);
  if (__hardbop_trusted_special(p)) {
    if (end != 0)
      *end = (char *)__hardbop_guess_end(s);
    return __hardbop_guess_double();
  }
  p = __hardbop_trusted_decimal(s, p, &value, &power);
  if (end != 0)
    *end = (char *)p;
  if (p == s)
    return 0;
  if (power < -22 || power > 22)
    return __hardbop_guess_double();
  // Both are numbers of the type, so there is one rounding.
  double scale = 1, number = (double)value;
  for (int i = 0; i < (power < 0 ? -power : power); i++)
    scale = scale * 10;
  number = power < 0 ? number / scale : number * scale;
  return negative ? -number : number;
}
float strtof(const char *s, char **end) {
  const char *p = s;
  unsigned long long value;
  int power;
  __hardbop_check_string(s);
  int negative = __hardbop_trusted_sign(&p);
  if (__hardbop_trusted_special(p)) {
    if (end != 0)
      *end = (char *)__hardbop_guess_end(s);
    return (float)__hardbop_guess_double();
  }
  p = __hardbop_trusted_decimal(s, p, &value, &power);
  if (end != 0)
    *end = (char *)p;
  if (p == s)
    return 0;
  if (power < -10 || power > 10 || value > 9999999)
    return (float)__hardbop_guess_double();
  float scale = 1, number = (float)value;
  for (int i = 0; i < (power < 0 ? -power : power); i++)
    scale = scale * 10;
  number = power < 0 ? number / scale : number * scale;
  return negative ? -number : number;
}
double atof(const char *s) {
  return strtod(s, 0);
}

//@
int rand(void) {
  int x = __VERIFIER_nondet_int();
  __VERIFIER_assume(x >= 0);
  return x;
}
int rand_r(unsigned int *seed) {
  *seed = __VERIFIER_nondet_uint();
  return rand();
}
long random(void) {
  return rand();
}

//@
void srand(unsigned int seed) {
}
void srandom(unsigned int seed) {
}
void srand48(long seed) {
}

//@
double drand48(void) {
  double x = __VERIFIER_nondet_double();
  __VERIFIER_assume(x >= 0.0 && x < 1.0);
  return x;
}

//@
long lrand48(void) {
  long x = __VERIFIER_nondet_int();
  __VERIFIER_assume(x >= 0);
  return x;
}
long mrand48(void) {
  return __VERIFIER_nondet_int();
}

//@
//= the environment may hold any value for any name, and another one each time
char *getenv(const char *name) {
  if (__VERIFIER_nondet_int() == 0)
    return 0;
  size_t n = __VERIFIER_nondet_ulong();
  __VERIFIER_assume(n <= (size_t)__PTRDIFF_MAX__ - 1);
  char *value = __hardbop_own_memory(n + 1);
  __VERIFIER_assume(value != 0);
  __VERIFIER_nondet_memory(value, n);
  value[n] = 0;
  return value;
}
char *secure_getenv(const char *name) {
  return getenv(name);
}

//@
//= qsort keeps the order of equal elements
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
  char *first = base;
  if (count < 2 || size == 0)
    return;
  char *kept = malloc(size);
  __VERIFIER_assume(kept != 0);
  for (size_t i = 1; i < count; i++) {
    size_t k = i;
    memcpy(kept, first + i * size, size);
    while (k > 0 && compare(first + (k - 1) * size, kept) > 0) {
      memcpy(first + k * size, first + (k - 1) * size, size);
      k--;
    }
    memcpy(first + k * size, kept, size);
  }
  free(kept);
}

//@
//= bsearch compares by halving
void *bsearch(const void *key, const void *base, size_t count, size_t size,
              int (*compare)(const void *, const void *)) {
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const char *element = (const char *)base + middle * size;
    int order = compare(key, element);
    if (order == 0)
      return (void *)element;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return 0;
}

//@
int system(const char *command) {
  MAY_FAIL(1);
  return __VERIFIER_nondet_int();
}

//@
static int __hardbop_errno;
int *__errno_location(void) {
  return &__hardbop_errno;
}
// What a function does to it that fails, and one that may have failed. No function makes it 0.
void __hardbop_fails(void) {
  int number = __VERIFIER_nondet_int();
  __VERIFIER_assume(number > 0);
  __hardbop_errno = number;
}
void __hardbop_may_fail(void) {
  int number = __VERIFIER_nondet_int();
  if (number > 0)
    __hardbop_errno = number;
}

//@
//= at most 32 functions are registered with atexit
static void (*handlers[32])(void);
static int handler_count;
int atexit(void (*handler)(void)) {
  if (handler_count == 32)
    return -1;
  handlers[handler_count] = handler;
  handler_count++;
  return 0;
}
void __hardbop_run_handlers(void) {
  while (handler_count > 0) {
    handler_count--;
    handlers[handler_count]();
  }
}

//@
//= at most 32 functions are registered with at_quick_exit
static void (*quick_handlers[32])(void);
static int quick_count;
void _exit(int status);
int at_quick_exit(void (*handler)(void)) {
  if (quick_count == 32)
    return -1;
  quick_handlers[quick_count] = handler;
  quick_count++;
  return 0;
}
void quick_exit(int status) {
  while (quick_count > 0) {
    quick_count--;
    quick_handlers[quick_count]();
  }
  _exit(status);
}

// What runs at the end is known when all units are.

//@
void __hardbop_shutdown(void);
void _exit(int status);
void exit(int status) {
  __hardbop_shutdown();
  _exit(status);
}

// The front end knows what these do; they are called by pointers and where a rule listens to
// them.

//@
void abort(void) {
  __builtin_abort();
}

//@
void _exit(int status) {
  __builtin_abort();
}

//@
void _Exit(int status) {
  __builtin_abort();
}

//@
//= signals come from `raise`, `kill` and `abort` only
typedef void (*hardbop_handler)(int);
static hardbop_handler signal_handlers[65];
static _Bool signal_running[65];
static _Bool signal_pending[65];
void _exit(int status);
int *__errno_location(void);
void __hardbop_fault_handler(void);
hardbop_handler signal(int number, hardbop_handler handler) {
  if (number < 1 || number > 64 || number == 9 || number == 19) {
    *__errno_location() = 22;
    return (hardbop_handler)-1;
  }
  // A handler of ILL, BUS, FPE or SEGV runs where executions are taken to end.
  if ((number == 4 || number == 7 || number == 8 || number == 11) && handler != 0)
    __hardbop_fault_handler();
  hardbop_handler before = signal_handlers[number];
  signal_handlers[number] = handler;
  return before;
}
int raise(int number) {
  if (number < 1 || number > 64) {
    *__errno_location() = 22;
    return -1;
  }
  if (signal_handlers[number] == (hardbop_handler)1)
    return 0;
  if (signal_handlers[number] == 0) {
    // Ignored or stopped by default: CHLD, CONT, STOP, TSTP, TTIN, TTOU, URG, WINCH.
    if ((number >= 17 && number <= 23) || number == 28)
      return 0;
    _exit(128 + number);
  }
  signal_pending[number] = 1;
  if (signal_running[number])
    return 0;
  signal_running[number] = 1;
  while (signal_pending[number]) {
    signal_pending[number] = 0;
    signal_handlers[number](number);
  }
  signal_running[number] = 0;
  return 0;
}
int kill(int process, int number) {
  if (number < 0 || number > 64) {
    *__errno_location() = 22;
    return -1;
  }
  if (number != 0 && __VERIFIER_nondet_int() == 0)
    return raise(number);
  if (__VERIFIER_nondet_int() == 0)
    return 0;
  FAILS();
  return -1;
}
void __hardbop_abort(void) {
  if (signal_handlers[6] != 0 && signal_handlers[6] != (hardbop_handler)1)
    signal_handlers[6](6);
  _exit(134);
}
