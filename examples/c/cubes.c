// Cubes by differences: nothing is multiplied on the way.
#include <assert.h>

int __VERIFIER_nondet_int(void);

int main(void) {
  int last = __VERIFIER_nondet_int();
  int n = 0, x = 0, y = 1, z = 6;
  while (n <= last) {
    n = n + 1;
    x = x + y;
    y = y + z;
    z = z + 6;
  }
  assert(x == n * n * n);
  return 0;
}
