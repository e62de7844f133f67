#include <assert.h>
#include <string.h>

int a[100000], b[100000];

/* `memcpy` of an array that was filled by a loop. */
int main(void) {
    for (int i = 0; i < 100000; i++)
        a[i] = i;
    memcpy(b, a, sizeof a);
    for (int i = 0; i < 100000; i++)
        assert(b[i] == i);
    return 0;
}
