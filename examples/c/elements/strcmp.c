#include <assert.h>
#include <string.h>

extern char nondet_char(void);
char from[1000000], to[1000000];

/* A copy of a string is equal to it. */
int main(void) {
    for (int i = 0; i < 999999; i++)
        from[i] = nondet_char();
    from[999999] = 0;
    strcpy(to, from);
    assert(strcmp(to, from) == 0);
    return 0;
}
