// The harmless part of unistd.h, signal.h, locale.h and pthread.h.

//@
// Who sleeps may be woken before the time.
unsigned int sleep(unsigned int seconds) {
  unsigned int left = __VERIFIER_nondet_uint();
  __VERIFIER_assume(left <= seconds);
  return left;
}
int usleep(unsigned int time) {
  if (__VERIFIER_nondet_int() == 0)
    return 0;
  FAILS();
  return -1;
}
int nanosleep(const void *time, void *rest) {
  if (__VERIFIER_nondet_int() == 0 && ((const long *)time)[1] >= 0 && ((const long *)time)[1] < 1000000000)
    return 0;
  if (rest != 0) {
    ((long *)rest)[0] = __VERIFIER_nondet_long();
    ((long *)rest)[1] = __VERIFIER_nondet_long();
    __VERIFIER_assume(((long *)rest)[0] >= 0 && ((long *)rest)[1] >= 0 && ((long *)rest)[1] < 1000000000);
  }
  FAILS();
  return -1;
}
int sched_yield(void) {
  return 0;
}

//@
// What was left of the time until an earlier alarm.
unsigned int alarm(unsigned int seconds) {
  static _Bool before;
  unsigned int left = __VERIFIER_nondet_uint();
  if (!before)
    left = 0;
  before = 1;
  return left;
}

//@
int getpid(void) {
  int id = __VERIFIER_nondet_int();
  __VERIFIER_assume(id > 0);
  return id;
}
int getppid(void) {
  int id = __VERIFIER_nondet_int();
  __VERIFIER_assume(id >= 0);
  return id;
}
unsigned int getuid(void) {
  return __VERIFIER_nondet_uint();
}
unsigned int geteuid(void) {
  return __VERIFIER_nondet_uint();
}
unsigned int getgid(void) {
  return __VERIFIER_nondet_uint();
}
unsigned int getegid(void) {
  return __VERIFIER_nondet_uint();
}

//@
//= the locale is "C"
char *setlocale(int category, const char *name) {
  static char answer[2] = "C";
  return name == 0 || __VERIFIER_nondet_int() != 0 ? answer : 0;
}

//@
//= the locale is "C"
struct __hardbop_lconv { const char *texts[10]; char numbers[14]; };
void *localeconv(void) {
  static const struct __hardbop_lconv answer = {{".", "", "", "", "", "", "", "", "", ""},
      {127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127}};
  return (void *)&answer;
}

//@
//= there is one thread, and it does not wait for itself
int pthread_mutex_init(void *mutex, const void *attributes) {
  return 0;
}
int pthread_mutex_destroy(void *mutex) {
  return 0;
}
int pthread_mutexattr_init(void *attributes) {
  return 0;
}
int pthread_mutexattr_settype(void *attributes, int type) {
  return 0;
}
int pthread_mutexattr_destroy(void *attributes) {
  return 0;
}
unsigned long pthread_self(void) {
  return 1;
}

//@
//= there is one thread, and it does not wait for itself
int pthread_mutex_lock(void *mutex) {
  return 0;
}
int pthread_mutex_unlock(void *mutex) {
  return 0;
}

// Before anybody calls `longjmp`, which is not supported, it returns 0.
//@
//= no function outside of the program calls `longjmp`, and nobody reads what `setjmp` writes
int setjmp(void *environment) {
  return 0;
}
int _setjmp(void *environment) {
  return 0;
}
int sigsetjmp(void *environment, int signals) {
  return 0;
}
int __sigsetjmp(void *environment, int signals) {
  return 0;
}
