// math.h, for each type: REAL stands for it and $ for the suffix of its functions. What has a
// closed meaning is exact; of the rest, the range, the sign and the special values are known. The
// last argument is kept with its result, so that `f(x) == f(x)`.

//@
REAL fabs$(REAL x) {
  return __builtin_fabs$(x);
}

//@
REAL sqrt$(REAL x) {
  MAY_FAIL(x < 0);
  return __builtin_sqrt$(x);
}

//@
REAL floor$(REAL x) {
  return __builtin_floor$(x);
}

//@
REAL ceil$(REAL x) {
  return __builtin_ceil$(x);
}

//@
REAL trunc$(REAL x) {
  return __builtin_trunc$(x);
}

//@
REAL round$(REAL x) {
  return __builtin_round$(x);
}

//@
REAL rint$(REAL x) {
  return __builtin_rint$(x);
}

//@
REAL nearbyint$(REAL x) {
  return __builtin_nearbyint$(x);
}

//@
REAL __builtin_fmod$(REAL, REAL);

REAL fmod$(REAL x, REAL y) {
  MAY_FAIL(__builtin_isinf(x) || y == 0);
  return __builtin_fmod$(x, y);
}

//@
REAL copysign$(REAL x, REAL y) {
  return __builtin_copysign$(x, y);
}

//@
int isnan$(REAL x) {
  return __builtin_isnan(x);
}

//@
int isinf$(REAL x) {
  return __builtin_isinf_sign(x);
}

//@
int finite$(REAL x) {
  return __builtin_isfinite(x);
}

//@
int __isnan$(REAL x) {
  return __builtin_isnan(x);
}

//@
int __isinf$(REAL x) {
  return __builtin_isinf_sign(x);
}

//@
int __finite$(REAL x) {
  return __builtin_isfinite(x);
}

//@
int __signbit$(REAL x) {
  return __builtin_signbit(x);
}

//@
int __fpclassify$(REAL x) {
  return __builtin_fpclassify(0, 1, 4, 3, 2, x);
}

//@
int __iseqsig$(REAL x, REAL y) {
  return x == y;
}

//@
int __hardbop_signals$(REAL x) {
  // The first bit of the fraction says that a NaN is quiet.
  union {
    REAL number;
    unsigned char bytes[sizeof(REAL)];
  } whole;
  whole.number = x;
  int quiet = whole.bytes[sizeof x == 4 ? 2 : sizeof x == 8 ? 6 : 7] & (sizeof x == 8 ? 0x08 : 0x40);
  return __builtin_isnan(x) && !quiet;
}

//@
int __hardbop_signals$(REAL);

int __issignaling$(REAL x) {
  return __hardbop_signals$(x);
}

//@
int __hardbop_signals$(REAL);

REAL fmax$(REAL x, REAL y) {
  // A signalling NaN makes it a NaN, another one does not; of two zeros it may be either.
  if (__hardbop_signals$(x) || __hardbop_signals$(y) || __builtin_isnan(x) && __builtin_isnan(y))
    return x + y;
  if (__builtin_isnan(x) || __builtin_isnan(y))
    return __builtin_isnan(x) ? y : x;
  if (x == 0 && y == 0)
    return __VERIFIER_nondet_int() ? x : y;
  return x < y ? y : x;
}

//@
int __hardbop_signals$(REAL);

REAL fmin$(REAL x, REAL y) {
  if (__hardbop_signals$(x) || __hardbop_signals$(y) || __builtin_isnan(x) && __builtin_isnan(y))
    return x + y;
  if (__builtin_isnan(x) || __builtin_isnan(y))
    return __builtin_isnan(x) ? y : x;
  if (x == 0 && y == 0)
    return __VERIFIER_nondet_int() ? x : y;
  return y < x ? y : x;
}

//@
REAL fdim$(REAL x, REAL y) {
  MAY_FAIL(1);
  if (__builtin_isnan(x) || __builtin_isnan(y))
    return x + y;
  return x > y ? x - y : 0;
}

//@
REAL nan$(const char *tag) {
  if (*tag == 0)
    return __builtin_nan$("");
  // The tag tells which one.
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(__builtin_isnan(result));
  return result;
}

//@
REAL modf$(REAL x, REAL *whole) {
  *whole = __builtin_trunc$(x);
  if (__builtin_isinf(x))
    return __builtin_copysign$(0, x);
  return __builtin_copysign$(x - *whole, x);
}

//@
REAL frexp$(REAL x, int *exponent) {
  *exponent = 0;
  if (x == 0 || !__builtin_isfinite(x))
    return x;
  while (x >= 1 || x <= -1) {
    x = x / 2;
    (*exponent)++;
  }
  while (x < 0.5f && x > -0.5f) {
    x = x * 2;
    (*exponent)--;
  }
  return x;
}

//@
long lrint$(REAL x) {
  MAY_FAIL(!(x > -0x7fffffff && x < 0x7fffffff));
  REAL whole = __builtin_rint$(x);
  if (whole >= -(REAL)__LONG_MAX__ - 1 && whole < -(-(REAL)__LONG_MAX__ - 1))
    return (long)whole;
  return __VERIFIER_nondet_long();
}

//@
long long llrint$(REAL x) {
  MAY_FAIL(!(x > -0x7fffffff && x < 0x7fffffff));
  REAL whole = __builtin_rint$(x);
  if (whole >= -(REAL)__LONG_LONG_MAX__ - 1 && whole < -(-(REAL)__LONG_LONG_MAX__ - 1))
    return (long long)whole;
  return __VERIFIER_nondet_longlong();
}

//@
long lround$(REAL x) {
  MAY_FAIL(!(x > -0x7fffffff && x < 0x7fffffff));
  REAL whole = __builtin_round$(x);
  if (whole >= -(REAL)__LONG_MAX__ - 1 && whole < -(-(REAL)__LONG_MAX__ - 1))
    return (long)whole;
  return __VERIFIER_nondet_long();
}

//@
long long llround$(REAL x) {
  MAY_FAIL(!(x > -0x7fffffff && x < 0x7fffffff));
  REAL whole = __builtin_round$(x);
  if (whole >= -(REAL)__LONG_LONG_MAX__ - 1 && whole < -(-(REAL)__LONG_LONG_MAX__ - 1))
    return (long long)whole;
  return __VERIFIER_nondet_longlong();
}

//@
//= sin and its like return any number of their range
REAL sin$(REAL x) {
  MAY_FAIL(__builtin_isinf(x) || TINY(x));
  static REAL last_x, last_result;
  static int known;
  if (!__builtin_isfinite(x))
    return __builtin_nan$("");
  if (x == 0)
    return x;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(result >= -1 && result <= 1);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= cos and its like return any number of their range
REAL cos$(REAL x) {
  MAY_FAIL(__builtin_isinf(x));
  static REAL last_x, last_result;
  static int known;
  if (!__builtin_isfinite(x))
    return __builtin_nan$("");
  if (x == 0)
    return 1;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(result >= -1 && result <= 1);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= tan and its like return any number of their range
REAL tan$(REAL x) {
  MAY_FAIL(!(x > -1 && x < 1) || TINY(x));
  static REAL last_x, last_result;
  static int known;
  if (!__builtin_isfinite(x))
    return __builtin_nan$("");
  if (x == 0)
    return x;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(__builtin_isfinite(result));
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= asin and its like return any number of their range
REAL asin$(REAL x) {
  MAY_FAIL(!(x >= -1 && x <= 1) || TINY(x));
  static REAL last_x, last_result;
  static int known;
  if (!(x >= -1 && x <= 1))
    return __builtin_nan$("");
  if (x == 0)
    return x;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(result >= -1.5707964 && result <= 1.5707964);
  __VERIFIER_assume(x > 0 ? result >= 0 : result <= 0);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= acos and its like return any number of their range
REAL acos$(REAL x) {
  MAY_FAIL(!(x >= -1 && x <= 1));
  static REAL last_x, last_result;
  static int known;
  if (!(x >= -1 && x <= 1))
    return __builtin_nan$("");
  if (x == 1)
    return 0;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(result >= 0 && result <= 3.1415928);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= atan and its like return any number of their range
REAL atan$(REAL x) {
  MAY_FAIL(TINY(x));
  static REAL last_x, last_result;
  static int known;
  if (__builtin_isnan(x))
    return x;
  if (x == 0)
    return x;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(result >= -1.5707964 && result <= 1.5707964);
  __VERIFIER_assume(x > 0 ? result >= 0 : result <= 0);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= sinh and its like return any number of their range
REAL sinh$(REAL x) {
  MAY_FAIL(!(x > -37 && x < 37) || TINY(x));
  static REAL last_x, last_result;
  static int known;
  if (__builtin_isnan(x))
    return x;
  if (__builtin_isinf(x))
    return x;
  if (x == 0)
    return x;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(!__builtin_isnan(result));
  __VERIFIER_assume(x > 0 ? result >= 0 : result <= 0);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= cosh and its like return any number of their range
REAL cosh$(REAL x) {
  MAY_FAIL(!(x > -37 && x < 37));
  static REAL last_x, last_result;
  static int known;
  if (__builtin_isnan(x))
    return x;
  if (__builtin_isinf(x))
    return __builtin_inf$();
  if (x == 0)
    return 1;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(result >= 1);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= tanh and its like return any number of their range
REAL tanh$(REAL x) {
  MAY_FAIL(TINY(x));
  static REAL last_x, last_result;
  static int known;
  if (__builtin_isnan(x))
    return x;
  if (x == 0)
    return x;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(result >= -1 && result <= 1);
  __VERIFIER_assume(x > 0 ? result >= 0 : result <= 0);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= asinh and its like return any number of their range
REAL asinh$(REAL x) {
  MAY_FAIL(TINY(x));
  static REAL last_x, last_result;
  static int known;
  if (__builtin_isnan(x))
    return x;
  if (__builtin_isinf(x))
    return x;
  if (x == 0)
    return x;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(__builtin_isfinite(result));
  __VERIFIER_assume(x > 0 ? result >= 0 : result <= 0);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= acosh and its like return any number of their range
REAL acosh$(REAL x) {
  MAY_FAIL(!(x >= 1));
  static REAL last_x, last_result;
  static int known;
  if (!(x >= 1))
    return __builtin_nan$("");
  if (__builtin_isinf(x))
    return x;
  if (x == 1)
    return 0;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(result >= 0 && __builtin_isfinite(result));
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= atanh and its like return any number of their range
REAL atanh$(REAL x) {
  MAY_FAIL(!(x > -1 && x < 1) || TINY(x));
  static REAL last_x, last_result;
  static int known;
  if (!(x >= -1 && x <= 1))
    return __builtin_nan$("");
  if (x == 0)
    return x;
  if (x == 1)
    return __builtin_inf$();
  if (x == -1)
    return -__builtin_inf$();
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(__builtin_isfinite(result));
  __VERIFIER_assume(x > 0 ? result >= 0 : result <= 0);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= exp and its like return any number of their range
REAL exp$(REAL x) {
  MAY_FAIL(!(x > -37 && x < 37));
  static REAL last_x, last_result;
  static int known;
  if (__builtin_isnan(x))
    return x;
  if (__builtin_isinf(x))
    return x > 0 ? x : 0;
  if (x == 0)
    return 1;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(result >= 0);
  __VERIFIER_assume(x > 0 ? result >= 1 : result <= 1);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= exp2 and its like return any number of their range
REAL exp2$(REAL x) {
  MAY_FAIL(!(x > -37 && x < 37));
  static REAL last_x, last_result;
  static int known;
  if (__builtin_isnan(x))
    return x;
  if (__builtin_isinf(x))
    return x > 0 ? x : 0;
  if (x == 0)
    return 1;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(result >= 0);
  __VERIFIER_assume(x > 0 ? result >= 1 : result <= 1);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= exp10 and its like return any number of their range
REAL exp10$(REAL x) {
  MAY_FAIL(!(x > -37 && x < 37));
  static REAL last_x, last_result;
  static int known;
  if (__builtin_isnan(x))
    return x;
  if (__builtin_isinf(x))
    return x > 0 ? x : 0;
  if (x == 0)
    return 1;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(result >= 0);
  __VERIFIER_assume(x > 0 ? result >= 1 : result <= 1);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= expm1 and its like return any number of their range
REAL expm1$(REAL x) {
  MAY_FAIL(!(x < 37) || TINY(x));
  static REAL last_x, last_result;
  static int known;
  if (__builtin_isnan(x))
    return x;
  if (__builtin_isinf(x))
    return x > 0 ? x : -1;
  if (x == 0)
    return x;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(result >= -1);
  __VERIFIER_assume(x > 0 ? result >= 0 : result <= 0);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= log and its like return any number of their range
REAL log$(REAL x) {
  MAY_FAIL(!(x > 0));
  static REAL last_x, last_result;
  static int known;
  if (!(x >= 0))
    return __builtin_nan$("");
  if (x == 0)
    return -__builtin_inf$();
  if (__builtin_isinf(x))
    return x;
  if (x == 1)
    return 0;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(__builtin_isfinite(result));
  __VERIFIER_assume(x > 1 ? result >= 0 : result <= 0);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= log2 and its like return any number of their range
REAL log2$(REAL x) {
  MAY_FAIL(!(x > 0));
  static REAL last_x, last_result;
  static int known;
  if (!(x >= 0))
    return __builtin_nan$("");
  if (x == 0)
    return -__builtin_inf$();
  if (__builtin_isinf(x))
    return x;
  if (x == 1)
    return 0;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(__builtin_isfinite(result));
  __VERIFIER_assume(x > 1 ? result >= 0 : result <= 0);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= log10 and its like return any number of their range
REAL log10$(REAL x) {
  MAY_FAIL(!(x > 0));
  static REAL last_x, last_result;
  static int known;
  if (!(x >= 0))
    return __builtin_nan$("");
  if (x == 0)
    return -__builtin_inf$();
  if (__builtin_isinf(x))
    return x;
  if (x == 1)
    return 0;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(__builtin_isfinite(result));
  __VERIFIER_assume(x > 1 ? result >= 0 : result <= 0);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= log1p and its like return any number of their range
REAL log1p$(REAL x) {
  MAY_FAIL(!(x > -1) || TINY(x));
  static REAL last_x, last_result;
  static int known;
  if (!(x >= -1))
    return __builtin_nan$("");
  if (x == -1)
    return -__builtin_inf$();
  if (__builtin_isinf(x))
    return x;
  if (x == 0)
    return x;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(__builtin_isfinite(result));
  __VERIFIER_assume(x > 0 ? result >= 0 : result <= 0);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= cbrt and its like return any number of their range
REAL cbrt$(REAL x) {
  static REAL last_x, last_result;
  static int known;
  if (__builtin_isnan(x))
    return x;
  if (__builtin_isinf(x))
    return x;
  if (x == 0)
    return x;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(__builtin_isfinite(result));
  __VERIFIER_assume(x > 0 ? result >= 0 : result <= 0);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= erf and its like return any number of their range
REAL erf$(REAL x) {
  MAY_FAIL(TINY(x));
  static REAL last_x, last_result;
  static int known;
  if (__builtin_isnan(x))
    return x;
  if (x == 0)
    return x;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(result >= -1 && result <= 1);
  __VERIFIER_assume(x > 0 ? result >= 0 : result <= 0);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= erfc and its like return any number of their range
REAL erfc$(REAL x) {
  MAY_FAIL(!(x < 9));
  static REAL last_x, last_result;
  static int known;
  if (__builtin_isnan(x))
    return x;
  if (x == 0)
    return 1;
  if (known && x == last_x)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(result >= 0 && result <= 2);
  known = 1;
  last_x = x;
  last_result = result;
  return result;
}

//@
//= atan2 and its like return any number of their range
REAL atan2$(REAL x, REAL y) {
  MAY_FAIL(1);
  static REAL last_x, last_y, last_result;
  static int known;
  if (__builtin_isnan(x) || __builtin_isnan(y))
    return __builtin_nan$("");
  if (known && x == last_x && y == last_y && x != 0 && y != 0)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(result >= -3.1415928 && result <= 3.1415928);
  __VERIFIER_assume(!(x > 0) || result >= 0);
  __VERIFIER_assume(!(x < 0) || result <= 0);
  known = 1;
  last_x = x;
  last_y = y;
  last_result = result;
  return result;
}

//@
//= hypot and its like return any number of their range
REAL hypot$(REAL x, REAL y) {
  MAY_FAIL(1);
  static REAL last_x, last_y, last_result;
  static int known;
  // A signalling NaN makes it a NaN, whatever the other one is.
  if ((__builtin_isnan(x) || __builtin_isnan(y)) && __VERIFIER_nondet_int())
    return x + y;
  if (__builtin_isinf(x) || __builtin_isinf(y))
    return __builtin_inf$();
  if (__builtin_isnan(x) || __builtin_isnan(y))
    return __builtin_nan$("");
  if (known && x == last_x && y == last_y && x != 0 && y != 0)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(result >= 0);
  known = 1;
  last_x = x;
  last_y = y;
  last_result = result;
  return result;
}

//@
//= pow and its like return any number of their range
REAL pow$(REAL x, REAL y) {
  MAY_FAIL(1);
  static REAL last_x, last_y, last_result;
  static int known;
  // A signalling NaN makes it a NaN, whatever the other one is.
  if ((__builtin_isnan(x) || __builtin_isnan(y)) && __VERIFIER_nondet_int())
    return x + y;
  if (y == 0 || x == 1)
    return 1;
  if (__builtin_isnan(x) || __builtin_isnan(y))
    return __builtin_nan$("");
  if (y == 1)
    return x;
  if (x < 0 && __builtin_isfinite(x) && __builtin_isfinite(y) && __builtin_floor$(y) != y)
    return __builtin_nan$("");
  if (known && x == last_x && y == last_y && x != 0 && y != 0)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(!__builtin_isnan(result));
  // Of a zero with a sign, the power may have it, too.
  __VERIFIER_assume(x <= 0 || result >= 0);
  __VERIFIER_assume(!(x >= 1 && y > 0) || result >= 1);
  known = 1;
  last_x = x;
  last_y = y;
  last_result = result;
  return result;
}

//@
REAL __builtin_fma$(REAL, REAL, REAL);

REAL fma$(REAL x, REAL y, REAL z) {
  MAY_FAIL(1);
  return __builtin_fma$(x, y, z);
}

//@
REAL __builtin_fmod$(REAL, REAL);

REAL remquo$(REAL x, REAL y, int *quotient) {
  MAY_FAIL(__builtin_isinf(x) || y == 0);
  *quotient = 0;
  if (__builtin_isnan(x) || __builtin_isnan(y))
    return x + y;
  if (__builtin_isinf(x) || y == 0)
    return __builtin_nan$("");
  if (__builtin_isinf(y))
    return x;
  // All steps are exact, however results are rounded, and what is too large is seen as such.
  REAL size = __builtin_fabs$(x), by = __builtin_fabs$(y);
  REAL twofold = 2 * by, fourfold = 4 * by, eightfold = 8 * by;
  int count = 0;
  if (__builtin_isfinite(eightfold) && eightfold / 8 == by)
    size = __builtin_fmod$(size, eightfold);
  if (fourfold / 4 == by && size >= fourfold) {
    size -= fourfold;
    count += 4;
  }
  if (twofold / 2 == by && size >= twofold) {
    size -= twofold;
    count += 2;
  }
  if (size > by - size) {
    size -= by;
    count++;
    if (size >= by - size) {
      size -= by;
      count++;
    }
  }
  // Three bits of it are enough for C; glibc has sometimes given one more.
  if (count == 8 && __VERIFIER_nondet_int())
    count = 0;
  *quotient = __builtin_signbit(x) != __builtin_signbit(y) ? -count : count;
  if (size == 0)
    return __builtin_copysign$(0, x);
  return __builtin_signbit(x) ? -size : size;
}

//@
REAL __builtin_fmod$(REAL, REAL);

REAL remainder$(REAL x, REAL y) {
  MAY_FAIL(__builtin_isinf(x) || y == 0);
  if (__builtin_isnan(x) || __builtin_isnan(y))
    return x + y;
  if (__builtin_isinf(x) || y == 0)
    return __builtin_nan$("");
  if (__builtin_isinf(y))
    return x;
  // All steps are exact, however results are rounded.
  REAL size = __builtin_fabs$(x), by = __builtin_fabs$(y), twice = by + by;
  if (__builtin_isfinite(twice) && twice - by == by)
    size = __builtin_fmod$(size, twice);
  if (size > by - size) {
    size -= by;
    if (size >= by - size)
      size -= by;
  }
  if (size == 0)
    return __builtin_copysign$(0, x);
  return __builtin_signbit(x) ? -size : size;
}

//@
REAL remainder$(REAL, REAL);

REAL drem$(REAL x, REAL y) {
  return remainder$(x, y);
}

//@
//= nextafter and its like return any number of their range
REAL nextafter$(REAL x, REAL y) {
  MAY_FAIL(1);
  static REAL last_x, last_y, last_result;
  static int known;
  if (__builtin_isnan(x) || __builtin_isnan(y))
    return __builtin_nan$("");
  if (x == y)
    return y;
  if (known && x == last_x && y == last_y && x != 0 && y != 0)
    return last_result;
  REAL result = __VERIFIER_nondet_REAL();
  __VERIFIER_assume(x < y ? result > x && result <= y : result < x && result >= y);
  known = 1;
  last_x = x;
  last_y = y;
  last_result = result;
  return result;
}
