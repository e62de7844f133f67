#include <assert.h>
#include <stdlib.h>

extern int nondet_int(void);

static void clear(int *p, int *end) {
    while (p < end)
        *p++ = 0;
}

int main(void) {
    int n = nondet_int();
    if (n < 1 || n > 1000000)
        return 0;
    int *a = malloc(n * sizeof *a);
    if (!a)
        return 0;
    clear(a, a + n);
    for (int i = 0; i < n; i++)
        assert(a[i] == 0);
    return 0;
}
