#include <assert.h>

#define N 1000

extern int nondet_int(void);

int a[N];

int main(void) {
    for (int i = 0; i < N; i++) {
        a[i] = nondet_int();
        if (a[i] < 0 || a[i] > 2)
            return 0;
    }
    int low = 0, middle = 0, high = N - 1;
    while (middle <= high) {
        int x = a[middle];
        if (x == 0) {
            a[middle++] = a[low];
            a[low++] = x;
        } else if (x == 1) {
            middle++;
        } else {
            a[middle] = a[high];
            a[high--] = x;
        }
    }
    for (int i = 0; i < low; i++)
        assert(a[i] == 0);
    for (int i = low; i < middle; i++)
        assert(a[i] == 1);
    for (int i = middle; i < N; i++)
        assert(a[i] == 2);
    return 0;
}
