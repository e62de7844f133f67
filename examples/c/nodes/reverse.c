// A list of any length is turned round in place: the nodes are the same, and each is found once.
#include <assert.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
struct node { int value; struct node *next; };
int main(void) {
    struct node *list = NULL;
    int n = __VERIFIER_nondet_int();
    for (int i = 0; i < n; i++) {
        struct node *p = malloc(sizeof *p);
        p->value = 7;
        p->next = list;
        list = p;
    }
    struct node *turned = NULL;
    while (list != NULL) {
        struct node *rest = list->next;
        list->next = turned;
        turned = list;
        list = rest;
    }
    for (struct node *p = turned; p != NULL; p = p->next)
        assert(p->value == 7);
    while (turned != NULL) {
        struct node *p = turned;
        turned = p->next;
        free(p);
    }
    return 0;
}
