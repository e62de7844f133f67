#include <assert.h>

extern int nondet_int(void);

int main(void) {
    int a[1000], small[1000], large[1000];
    int n = nondet_int(), pivot = nondet_int();
    int s = 0, l = 0;
    if (n < 0 || n > 1000)
        return 0;
    for (int i = 0; i < n; i++) {
        if (a[i] < pivot)
            small[s++] = a[i];
        else
            large[l++] = a[i];
    }
    for (int i = 0; i < s; i++)
        assert(small[i] < pivot);
    for (int i = 0; i < l; i++)
        assert(large[i] >= pivot);
    return 0;
}
