// Figure 10 with a bound that nobody can count to: the strategy is a word of two choices.
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void) {
  int n = 1000000000, x = 0, t = 1;
  while (x < n) {
    t = -t;
    if (__VERIFIER_nondet_int()) x = x + t;
    else x = x - t;
  }
  reach_error();
  return 0;
}
