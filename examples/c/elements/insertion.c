#include <assert.h>

#define N 1000

extern int nondet_int(void);

int a[N];

int main(void) {
    for (int i = 0; i < N; i++)
        a[i] = nondet_int();
    for (int j = 1; j < N; j++) {
        int key = a[j], i = j - 1;
        while (i >= 0 && a[i] > key) {
            a[i + 1] = a[i];
            i--;
        }
        a[i + 1] = key;
    }
    for (int i = 1; i < N; i++)
        assert(a[i - 1] <= a[i]);
    return 0;
}
