#include <assert.h>

extern int nondet_int(void);

/* The same sum twice, whatever the elements are. */
int main(void) {
    int a[1000], n = nondet_int(), i;
    unsigned s = 0, t = 0;
    if (n < 0 || n > 1000)
        return 0;
    for (i = 0; i < n; i++)
        a[i] = nondet_int();
    for (i = 0; i < n; i++)
        s += a[i];
    for (i = 0; i < n; i++)
        t += a[i];
    assert(s == t);
    return 0;
}
