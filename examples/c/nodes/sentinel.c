// A ring with a sentinel: the last node leads back to it, so no pointer is ever null.
#include <assert.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
struct node { int value; struct node *next; };
int main(void) {
    struct node *head = malloc(sizeof *head);
    head->value = 0;
    head->next = head;
    while (__VERIFIER_nondet_int()) {
        struct node *p = malloc(sizeof *p);
        p->value = 1;
        p->next = head->next;
        head->next = p;
    }
    for (struct node *p = head->next; p != head; p = p->next)
        assert(p->value == 1);
    struct node *p = head->next;
    while (p != head) {
        struct node *next = p->next;
        free(p);
        p = next;
    }
    free(head);
    return 0;
}
