// What is appended at the end is taken from the front.
#include <assert.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
struct node { int value; struct node *next; };
int main(void) {
    struct node *first = NULL, *last = NULL;
    int n = __VERIFIER_nondet_int();
    for (int i = 0; i < n; i++) {
        struct node *p = malloc(sizeof *p);
        p->value = i;
        p->next = NULL;
        if (last == NULL)
            first = p;
        else
            last->next = p;
        last = p;
    }
    for (struct node *p = first; p != NULL; p = p->next)
        assert(0 <= p->value && p->value < n);
    while (first != NULL) {
        struct node *next = first->next;
        free(first);
        first = next;
    }
    return 0;
}
