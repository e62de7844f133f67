#include <assert.h>
#include <stdlib.h>
#include <string.h>

extern unsigned nondet_uint(void);

/* Numbers whose bytes are zero are zero. */
int main(void) {
    unsigned n = nondet_uint();
    if (n > 100000000)
        return 0;
    int *a = malloc(n * sizeof *a);
    memset(a, 0, n * sizeof *a);
    for (unsigned i = 0; i < n; i++)
        assert(a[i] == 0);
    return 0;
}
