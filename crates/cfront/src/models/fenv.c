// fenv.h, with x86's numbers: how floating point is rounded. Flags of exceptions may be set or not.

//@
static int __hardbop_rounding;

int fegetround(void) {
  return __hardbop_rounding;
}
int fesetround(int mode) {
  if (mode & ~0xc00)
    return 1;
  __hardbop_rounding = mode;
  return 0;
}
int fegetenv(void *environment) {
  // The first word of it controls the x87, and two of its bits are the mode.
  __VERIFIER_nondet_memory(environment, sizeof(long) == 8 ? 32 : 28);
  unsigned short *control = environment;
  *control = *control & ~0xc00 | __hardbop_rounding;
  return 0;
}
int feholdexcept(void *environment) {
  return fegetenv(environment);
}
int fesetenv(const void *environment) {
  if (environment == (const void *)-1)
    __hardbop_rounding = 0;
  else
    __hardbop_rounding = *(const unsigned short *)environment & 0xc00;
  return 0;
}
int feupdateenv(const void *environment) {
  return fesetenv(environment);
}

//@
//= flags of floating-point exceptions may be set or not
int fetestexcept(int flags) {
  return __VERIFIER_nondet_int() & flags & 0x3d;
}
int feclearexcept(int flags) {
  return 0;
}
int feraiseexcept(int flags) {
  return 0;
}
int fegetexceptflag(unsigned short *set, int flags) {
  *set = __VERIFIER_nondet_int() & flags & 0x3d;
  return 0;
}
int fesetexceptflag(const unsigned short *set, int flags) {
  return 0;
}
