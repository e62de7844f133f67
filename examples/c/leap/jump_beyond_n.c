// "Leaping Loops in the Presence of Abstraction", Figure 9: only one of the two choices leads on,
// and x goes up and down on the way.
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);

int main(void) {
  int n = __VERIFIER_nondet_int();
  __VERIFIER_assume(n >= 1000000 && n <= 2000000000);
  int x = 0;
  while (x < n) {
    if (x % 2 == 1) {
      if (__VERIFIER_nondet_int()) x = x - 3;
      else x = x - 1;
    } else if (x % 4 == 0) {
      x = x + 5;
    } else {
      x = x + 1;
    }
  }
  reach_error();
  return 0;
}
