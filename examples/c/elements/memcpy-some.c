#include <assert.h>
#include <string.h>

extern unsigned nondet_uint(void);
extern int nondet_int(void);
int a[100000], b[100000];

/* As many elements as are asked for. */
int main(void) {
    unsigned n = nondet_uint();
    if (n > 100000)
        return 0;
    for (unsigned i = 0; i < n; i++)
        a[i] = nondet_int();
    memcpy(b, a, n * sizeof *a);
    for (unsigned i = 0; i < n; i++)
        assert(b[i] == a[i]);
    return 0;
}
