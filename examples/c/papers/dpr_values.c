// "Dynamic Path Reduction for Software Model Checking", Figure 4: w stays 0 whatever is chosen,
// although everything flows into it.
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void) {
  int x = 10, y = 5, z = 3, w = 0;
  if (__VERIFIER_nondet_int())
    y = y + 1;
  if (__VERIFIER_nondet_int())
    z = y;
  if (__VERIFIER_nondet_int())
    y = z + x;
  w = w * y;
  if (w != 0)
    reach_error();
  return 0;
}
