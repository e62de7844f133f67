// A list whose nodes have objects of their own is freed as a whole.
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
struct node { int *data; struct node *next; };
int main(void) {
    struct node *list = NULL;
    while (__VERIFIER_nondet_int()) {
        struct node *p = malloc(sizeof *p);
        p->data = malloc(sizeof *p->data);
        *p->data = 3;
        p->next = list;
        list = p;
    }
    while (list != NULL) {
        struct node *p = list;
        list = p->next;
        free(p->data);
        free(p);
    }
    return 0;
}
