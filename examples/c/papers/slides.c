// The table of the SLAM slides: three assignments under k = 0 and p < q.
int main(void) {
  int k, p, q;
  k = 0;
  p = q;
  k = k + 1;
  return 0;
}
