#include <assert.h>

#define N 1000

extern int nondet_int(void);

int set[N], size;

int has(int x) {
    for (int i = 0; i < size; i++)
        if (set[i] == x)
            return 1;
    return 0;
}

int main(void) {
    for (int i = 0; i < N; i++) {
        int x = nondet_int();
        if (!has(x))
            set[size++] = x;
    }
    for (int x = 0; x < size; x++)
        for (int y = x + 1; y < size; y++)
            assert(set[x] != set[y]);
    return 0;
}
