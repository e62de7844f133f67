// The driver whose abstractions are examples/bp/driver.bp and examples/bp/driver_coarse.bp.

#include <assert.h>

extern int __VERIFIER_nondet_int(void);

static int locked;

static void acquire(void) {
    assert(!locked);
    locked = 1;
}

static void release(void) {
    assert(locked);
    locked = 0;
}

int main(void) {
    unsigned packets = 0, old;
    do {
        acquire();
        old = packets;
        if (__VERIFIER_nondet_int()) {
            release();
            packets = packets + 1;
        }
    } while (packets != old);
    release();
    return 0;
}
