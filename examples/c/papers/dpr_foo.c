// "Dynamic Path Reduction for Software Model Checking", Figure 1.
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void) {
  int x = 5, y = 8, z = 20;
  if (__VERIFIER_nondet_int())
    y = y - 1;
  else
    y = y + 1;
  x = 2 * x;
  if (__VERIFIER_nondet_int())
    z = z - 1;
  else
    z = z + 1;
  if (x > 10)
    reach_error();
  return 0;
}
