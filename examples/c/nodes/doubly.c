// Nodes are put into a doubly linked list anywhere, and any of them is taken out again.
#include <assert.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
struct node { struct node *next, *prev; };
int main(void) {
    struct node *head = malloc(sizeof *head);
    head->next = head->prev = NULL;
    while (__VERIFIER_nondet_int()) {
        struct node *at = head;
        while (at->next != NULL && __VERIFIER_nondet_int())
            at = at->next;
        struct node *p = malloc(sizeof *p);
        p->next = at->next;
        p->prev = at;
        if (at->next != NULL)
            at->next->prev = p;
        at->next = p;
    }
    struct node *out = head->next;
    while (out != NULL && __VERIFIER_nondet_int())
        out = out->next;
    if (out != NULL) {
        out->prev->next = out->next;
        if (out->next != NULL)
            out->next->prev = out->prev;
        free(out);
    }
    for (struct node *p = head; p->next != NULL; p = p->next)
        assert(p->next->prev == p);
    while (head != NULL) {
        struct node *next = head->next;
        free(head);
        head = next;
    }
    return 0;
}
