// As in clear.c, but a node is looked at after it was freed.
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
struct node { int value; struct node *next; };
int main(void) {
    struct node *list = NULL;
    while (__VERIFIER_nondet_int()) {
        struct node *p = malloc(sizeof *p);
        p->next = list;
        list = p;
    }
    while (list != NULL) {
        free(list);
        list = list->next;
    }
    return 0;
}
