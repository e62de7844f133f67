#include <assert.h>
#include <stdlib.h>
#include <string.h>

extern unsigned nondet_uint(void);

/* After `memset`, every element is what it was told, however many there are. */
int main(void) {
    unsigned n = nondet_uint();
    if (n > 100000000)
        return 0;
    char *a = malloc(n);
    memset(a, 7, n);
    for (unsigned i = 0; i < n; i++)
        assert(a[i] == 7);
    return 0;
}
