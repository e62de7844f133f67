#include <assert.h>

#define N 1000

extern int nondet_int(void);

int main(void) {
    int a[N];
    for (int i = 0; i < N; i++)
        a[i] = nondet_int();
    for (int i = 0; i < N; i++) {
        int least = i;
        for (int k = i + 1; k < N; k++)
            if (a[k] < a[least])
                least = k;
        int t = a[i];
        a[i] = a[least];
        a[least] = t;
    }
    for (int x = 0; x < N; x++)
        for (int y = x + 1; y < N; y++)
            assert(a[x] <= a[y]);
    return 0;
}
