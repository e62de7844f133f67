// A matrix as an array of rows, each an object of its own. Every access is inside of its row, and
// every row is freed once.
#include <stdlib.h>

unsigned __VERIFIER_nondet_uint(void);

int main(void) {
  unsigned n = __VERIFIER_nondet_uint(), m = __VERIFIER_nondet_uint();
  if (n == 0 || n > 100 || m == 0 || m > 100)
    return 0;
  int **row = malloc(n * sizeof *row);
  for (unsigned i = 0; i < n; i++)
    row[i] = malloc(m * sizeof *row[i]);
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j < m; j++)
      row[i][j] = i == j;
  for (unsigned i = 0; i < n; i++)
    free(row[i]);
  free(row);
  return 0;
}
