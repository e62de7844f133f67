// "Leaping Loops in the Presence of Abstraction", Figure 1: three loops one after the other. The
// failing call is reached for every n; the assumption keeps n too large to unroll the loops.
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);

int main(void) {
  int n = __VERIFIER_nondet_int();
  __VERIFIER_assume(n >= 1000000 && n <= 600000000);
  int x = 0;
  while (x < n) x = x + 1;
  while (x < 2 * n) x = x + 2;
  while (x < 3 * n) x = x + 3;
  reach_error();
  return 0;
}
