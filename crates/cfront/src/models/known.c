// What the front end knows by itself where it is called by name. These are for calls by a pointer.

//@
void *malloc(size_t size) {
  return __builtin_malloc(size);
}

//@
void free(void *p) {
  __builtin_free(p);
}
void cfree(void *p) {
  __builtin_free(p);
}

//@
void __VERIFIER_assume(int condition) {
  if (!condition)
    __builtin_abort();
}
void __CPROVER_assume(int condition) {
  if (!condition)
    __builtin_abort();
}

//@
void __VERIFIER_nondet_memory(void *p, size_t size) {
  for (size_t i = 0; i < size; i++)
    ((char *)p)[i] = __VERIFIER_nondet_char();
}
