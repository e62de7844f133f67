// The midpoint of a range, as many a binary search has computed it.

#include <assert.h>

extern int __VERIFIER_nondet_int(void);

static int midpoint(int low, int high) {
    return (low + high) / 2;
}

int main(void) {
    int low = __VERIFIER_nondet_int();
    int high = __VERIFIER_nondet_int();
    if (low < 0 || high < low)
        return 0;
    int middle = midpoint(low, high);
    assert(low <= middle && middle <= high);
    return 0;
}
