#include <assert.h>

int main(void) {
    int a[1000], b[1000];
    for (int i = 0; i < 1000; i++)
        b[i] = a[i];
    int low = 0, high = 999;
    while (low < high) {
        int t = a[low];
        a[low] = a[high];
        a[high] = t;
        low++;
        high--;
    }
    for (int i = 0; i < 1000; i++)
        assert(a[i] == b[999 - i]);
    return 0;
}
