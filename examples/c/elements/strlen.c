#include <assert.h>
#include <string.h>

extern char nondet_char(void);
char s[1000000];

/* The length of a string: its terminator is there, and none before. */
int main(void) {
    for (int i = 0; i < 999999; i++)
        s[i] = nondet_char();
    s[999999] = 0;
    unsigned n = strlen(s);
    assert(n < 1000000);
    assert(s[n] == 0);
    for (unsigned i = 0; i < n; i++)
        assert(s[i] != 0);
    return 0;
}
