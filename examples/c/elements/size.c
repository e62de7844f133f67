#include <assert.h>

#ifndef N
#define N 1000
#endif

extern int nondet_int(void);
int a[N], b[N];

/* A loop over as many elements as one likes. */
int main(void) {
    for (int i = 0; i < N; i++)
        a[i] = nondet_int();
    for (int i = 0; i < N; i++)
        b[i] = a[i] + 1;
    for (int i = 0; i < N; i++)
        assert(b[i] == a[i] + 1);
    return 0;
}
