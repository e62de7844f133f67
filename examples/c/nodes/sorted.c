// Each number is put where it belongs, so the list is sorted at all times.
#include <assert.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
struct node { int value; struct node *next; };
int main(void) {
    struct node *list = NULL;
    while (__VERIFIER_nondet_int()) {
        struct node *p = malloc(sizeof *p);
        p->value = __VERIFIER_nondet_int();
        if (list == NULL || list->value >= p->value) {
            p->next = list;
            list = p;
        } else {
            struct node *at = list;
            while (at->next != NULL && at->next->value < p->value)
                at = at->next;
            p->next = at->next;
            at->next = p;
        }
    }
    for (struct node *p = list; p != NULL && p->next != NULL; p = p->next)
        assert(p->value <= p->next->value);
    while (list != NULL) {
        struct node *next = list->next;
        free(list);
        list = next;
    }
    return 0;
}
