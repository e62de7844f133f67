// Keys are put into a binary search tree, and one is looked for.
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
struct node { int key; struct node *left, *right; };
int main(void) {
    struct node *root = NULL;
    while (__VERIFIER_nondet_int()) {
        struct node *p = malloc(sizeof *p);
        p->key = __VERIFIER_nondet_int();
        p->left = p->right = NULL;
        if (root == NULL) {
            root = p;
            continue;
        }
        struct node *at = root;
        for (;;) {
            if (p->key < at->key) {
                if (at->left == NULL) {
                    at->left = p;
                    break;
                }
                at = at->left;
            } else {
                if (at->right == NULL) {
                    at->right = p;
                    break;
                }
                at = at->right;
            }
        }
    }
    int wanted = __VERIFIER_nondet_int();
    struct node *at = root;
    while (at != NULL && at->key != wanted)
        at = wanted < at->key ? at->left : at->right;
    return at != NULL;
}
