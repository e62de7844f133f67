// "Dynamic Path Reduction for Software Model Checking", Figure 2: one assignment more, and the
// second choice matters.
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void) {
  int x = 5, y = 8, z = 10;
  if (__VERIFIER_nondet_int())
    y = y - 1;
  else
    y = y + 1;
  x = 2 * x;
  if (__VERIFIER_nondet_int())
    z = z - 1;
  else {
    z = z + 1;
    x = x + 1;
  }
  if (x > LIMIT)
    reach_error();
  return 0;
}
