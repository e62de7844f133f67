#include <assert.h>

extern unsigned nondet_uint(void);

int a[1000], b[1000];

int main(void) {
    unsigned n = nondet_uint();
    if (n > 1000)
        return 0;
    for (unsigned i = 0; i < n; i++)
        b[i] = a[i] + 1;
    unsigned k = nondet_uint();
    if (k < n)
        assert(b[k] == a[k] + 1);
    return 0;
}
