#include <assert.h>

int main(void) {
    int a[1000], b[1000];
    for (int i = 0; i < 1000; i++)
        b[999 - i] = a[i];
    for (int i = 0; i < 1000; i++)
        assert(b[999 - i] == a[i]);
    return 0;
}
