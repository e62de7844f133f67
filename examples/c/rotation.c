// Five numbers go round, of which no neighbours add up to 7.
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);

int main(void) {
  unsigned a = __VERIFIER_nondet_uint();
  unsigned b = __VERIFIER_nondet_uint();
  unsigned c = __VERIFIER_nondet_uint();
  unsigned d = __VERIFIER_nondet_uint();
  unsigned e = __VERIFIER_nondet_uint();
  if (a + b == 7 || b + c == 7 || c + d == 7 || d + e == 7 || e + a == 7)
    return 0;
  while (1) {
    unsigned first = a;
    assert(a + b != 7);
    a = b;
    b = c;
    c = d;
    d = e;
    e = first;
  }
}
