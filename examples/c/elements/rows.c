#include <assert.h>

int a[1000][1000];

int main(void) {
    int i, j;
    for (i = 0; i < 1000; i++)
        for (j = 0; j < 1000; j++)
            a[i][j] = 3;
    for (i = 0; i < 1000; i++)
        for (j = 0; j < 1000; j++)
            assert(a[i][j] == 3);
    return 0;
}
