#include <assert.h>

extern int nondet_int(void);

int a[1000];

int main(void) {
    int n = nondet_int();
    if (n < 0 || n > 1000)
        return 0;
    int *p = a + n;
    while (p > a)
        *--p = 4;
    for (int i = n; i-- > 0;)
        assert(a[i] == 4);
    return 0;
}
