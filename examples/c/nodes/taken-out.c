// All nodes with a value are taken out, by a pointer to the pointer that leads to them.
#include <stdlib.h>
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
struct node { int value; struct node *next; };
int main(void) {
    struct node *list = NULL;
    while (__VERIFIER_nondet_int()) {
        struct node *p = malloc(sizeof *p);
        p->value = __VERIFIER_nondet_int();
        p->next = list;
        list = p;
    }
    int x = __VERIFIER_nondet_int();
    struct node **link = &list;
    while (*link != NULL) {
        struct node *p = *link;
        if (p->value == x) { *link = p->next; free(p); }
        else link = &p->next;
    }
    for (struct node *p = list; p != NULL; p = p->next)
        assert(p->value != x);
    while (list != NULL) {
        struct node *next = list->next;
        free(list);
        list = next;
    }
    return 0;
}
