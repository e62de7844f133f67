// "Leaping Loops in the Presence of Abstraction", Figure 8: nested loops, leapt at once.
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);

int main(void) {
  int n = __VERIFIER_nondet_int();
  __VERIFIER_assume(n >= 1000);
  int y, x = 0;
  while (x < n) {
    x++;
    y = 0;
    while (y < n) y++;
  }
  if (y == n) reach_error();
  return 0;
}
