// "Leaping Loops in the Presence of Abstraction", Figure 6: in every iteration one of two
// assignments is chosen.
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);

int main(void) {
  int n = __VERIFIER_nondet_int();
  __VERIFIER_assume(n >= 1000000 && n <= 2000000000);
  int x = 0, y = 0;
  x = 1;
  if (__VERIFIER_nondet_int()) y = 1;
  while (x < n) {
    if (x >= y + 2) {
      y = x;
    } else if (__VERIFIER_nondet_int()) {
      x = x + 1;
    } else {
      y = x + 1;
    }
  }
  if (x >= y) reach_error();
  return 0;
}
