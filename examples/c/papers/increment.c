// TR 2000-14, section 4.1: x := x + 1 under three predicates.
int x;

int main(void) {
  x = x + 1;
  return x;
}
