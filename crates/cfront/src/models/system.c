// What the system writes into a program's memory: files, processes, clocks and names.

//@
static int call_outcome(void) {
  if (__VERIFIER_nondet_int() == 0)
    return 0;
  FAILS();
  return -1;
}
// A record whose layout is the system's: it may be as large as what it is put into.
static int record(void *p) {
  if (call_outcome() != 0)
    return -1;
  __VERIFIER_nondet_memory(p, __hardbop_object_size(p));
  return 0;
}
int pipe(int *ends) {
  if (call_outcome() != 0)
    return -1;
  ends[0] = __VERIFIER_nondet_int();
  ends[1] = __VERIFIER_nondet_int();
  __VERIFIER_assume(ends[0] >= 0 && ends[1] >= 0 && ends[0] != ends[1]);
  return 0;
}
int stat(const char *name, void *result) {
  return record(result);
}
int lstat(const char *name, void *result) {
  return record(result);
}
int fstat(int file, void *result) {
  return record(result);
}
int uname(void *result) {
  return record(result);
}
int getrlimit(int what, void *result) {
  return record(result);
}
int getrusage(int who, void *result) {
  return record(result);
}
int clock_getres(int clock, void *result) {
  return result == 0 ? call_outcome() : record(result);
}
int timespec_get(void *result, int base) {
  return record(result) == 0 ? base : 0;
}
int sigprocmask(int how, const void *set, void *old) {
  return old == 0 ? call_outcome() : record(old);
}
int gethostname(char *name, size_t size) {
  if (call_outcome() != 0)
    return -1;
  __VERIFIER_nondet_memory(name, size);
  return 0;
}
ssize_t pread(int file, void *p, size_t size, long from) {
  ssize_t n = __VERIFIER_nondet_long();
  __VERIFIER_assume(n >= -1 && (n < 0 || (size_t)n <= size));
  if (n < 0)
    FAILS();
  else
    __VERIFIER_nondet_memory(p, n);
  return n;
}
ssize_t readlink(const char *name, char *p, size_t size) {
  ssize_t n = __VERIFIER_nondet_long();
  __VERIFIER_assume(n >= -1 && (n < 0 || (size_t)n <= size));
  if (n < 0)
    FAILS();
  else
    __VERIFIER_nondet_memory(p, n);
  return n;
}
char *getcwd(char *p, size_t size) {
  size_t length = __VERIFIER_nondet_ulong();
  __VERIFIER_assume(length > 0);
  if (p == 0 && size == 0)
    size = 4096;
  if (length >= size) {
    FAILS();
    return 0;
  }
  if (p == 0)
    p = malloc(size);
  if (p == 0)
    return 0;
  __VERIFIER_nondet_memory(p, length);
  p[length] = 0;
  return p;
}
int waitpid(int process, int *status, int options) {
  int id = __VERIFIER_nondet_int();
  __VERIFIER_assume(id >= -1);
  if (id > 0 && status != 0)
    *status = __VERIFIER_nondet_int();
  if (id < 0)
    FAILS();
  return id;
}
int wait(int *status) {
  return waitpid(-1, status, 0);
}
