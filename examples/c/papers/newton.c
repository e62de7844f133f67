// "Generating Abstract Explanations of Spurious Counterexamples in C Programs", Figure 1: no
// values make both conditions at the end true.
extern void reach_error(void);

int main(void) {
  int a, b, c;
  if (b > 0) {
    c = 2 * b;
    a = b;
    a = a - 1;
    if (a < b) {
      if (c == a)
        reach_error();
    }
  }
  return 0;
}
