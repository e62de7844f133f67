// Two loops one in the other: the counter is a polynomial of degree two.
extern void reach_error(void);

int main(void) {
  unsigned n = 2000000000, x, y;
  unsigned long long c = 0;
  for (x = 0; x < n; x++)
    for (y = 0; y < x; y++) c++;
  if (c == 1999999999000000000ull) reach_error();
  return 0;
}
