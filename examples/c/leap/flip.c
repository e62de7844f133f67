// "Leaping Loops in the Presence of Abstraction", Figure 10: no choice works every time; the sign
// of t has to schedule them.
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);

int main(void) {
  int n = __VERIFIER_nondet_int();
  __VERIFIER_assume(n >= 1000000 && n <= 2000000000);
  int x = 0, t = 1;
  while (x < n) {
    t = -t;
    if (__VERIFIER_nondet_int()) x = x + t;
    else x = x - t;
  }
  reach_error();
  return 0;
}
