#include <assert.h>

extern int __VERIFIER_nondet_int(void);

int a[100000];

int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 2 || n > 100000 || n % 2 != 0)
        return 0;
    for (int i = 1; i <= n / 2; i++) {
        a[2 * i - 2] = 4;
        a[2 * i - 1] = 5;
    }
    for (int i = 0; i < n; i++)
        assert(a[i] == 4 || a[i] == 5);
    return 0;
}
