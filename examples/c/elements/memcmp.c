#include <assert.h>
#include <stdlib.h>
#include <string.h>

extern unsigned nondet_uint(void);
extern char nondet_char(void);

/* Where `memcmp` finds no difference, there is none. */
int main(void) {
    unsigned n = nondet_uint();
    if (n > 100000000)
        return 0;
    char *a = malloc(n), *b = malloc(n);
    for (unsigned i = 0; i < n; i++) {
        a[i] = nondet_char();
        b[i] = nondet_char();
    }
    if (memcmp(a, b, n) == 0)
        for (unsigned i = 0; i < n; i++)
            assert(a[i] == b[i]);
    return 0;
}
