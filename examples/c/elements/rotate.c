#include <assert.h>

int main(void) {
    int a[1000], b[1000];
    for (int i = 0; i < 1000; i++)
        b[i] = a[i];
    int first = a[0];
    for (int i = 0; i < 999; i++)
        a[i] = a[i + 1];
    a[999] = first;
    for (int i = 0; i < 999; i++)
        assert(a[i] == b[i + 1]);
    assert(a[999] == b[0]);
    return 0;
}
