#include <assert.h>

extern char nondet_char(void);

char from[1000], to[1000];

int main(void) {
    for (int i = 0; i < 999; i++)
        from[i] = nondet_char();
    from[999] = 0;
    char *p = from, *q = to;
    while (*p)
        *q++ = *p++;
    *q = 0;
    for (int i = 0; from[i]; i++)
        assert(to[i] == from[i]);
    return 0;
}
