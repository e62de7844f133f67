// TR 2000-14, Figure 6: no execution passes both calls. The paper's assert blocks where it does
// not hold, as __VERIFIER_assume does.
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);

int x, y;

void B(int b1, int b2) {
  __VERIFIER_assume(b1 < b2);  // [5]
}

int main(void) {
  x = __VERIFIER_nondet_int();
  y = __VERIFIER_nondet_int();
  B(x, y);                     // [1]
  B(y, x);                     // [3]
  reach_error();               // [4]
  return 0;
}
