// C2bp: the assignment through a pointer of section 4.3 and the conditional of section 4.4.
int y;

int foo(int *p, int x) {
  int r;
  if (*p <= x)
    *p = x;
  else
    *p = *p + x;
  r = 0;
  return r;
}

int main(void) {
  return foo(&y, y);
}
