#include <assert.h>

/* `strcpy` by hand: up to the terminator, both strings are the same. */
int main(void) {
    char from[100], to[100];
    int i = 0;
    from[99] = 0;
    while (from[i] != 0) {
        to[i] = from[i];
        i++;
    }
    to[i] = 0;
    for (int j = 0; j <= i; j++)
        assert(to[j] == from[j]);
    return 0;
}
