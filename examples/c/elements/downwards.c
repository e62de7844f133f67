#include <assert.h>

int a[100000];

int main(void) {
    for (int i = 99999; i >= 0; i--)
        a[i] = i + 2;
    for (int i = 0; i < 100000; i++)
        assert(a[i] == i + 2);
    return 0;
}
