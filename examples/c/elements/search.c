#include <assert.h>

extern int nondet_int(void);

int a[1000];

int main(void) {
    int n = nondet_int(), x = nondet_int();
    if (n < 0 || n > 1000)
        return 0;
    for (int i = 0; i < n; i++) {
        a[i] = nondet_int();
        if (i > 0 && a[i - 1] > a[i])
            return 0;
    }
    int low = 0, high = n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (a[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    for (int i = 0; i < low; i++)
        assert(a[i] < x);
    for (int i = low; i < n; i++)
        assert(a[i] >= x);
    return 0;
}
