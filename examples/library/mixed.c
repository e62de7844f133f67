#include <assert.h>

extern unsigned __VERIFIER_nondet_uint(void);

/* Mixes bits so that nobody finds an invariant; the two stay the same all the time. */
int main(void) {
  unsigned a = __VERIFIER_nondet_uint(), b = a, n = __VERIFIER_nondet_uint();
  for (unsigned i = 0; i < n; i++) {
    a = a * 1664525u + 1013904223u;
    b = b * 1664525u + 1013904223u;
    a ^= b >> 7;
    b ^= (a ^ (b >> 7)) >> 7;
  }
  assert(((a ^ b) & 0x80000000u) == 0);
  return 0;
}
