//! What is proved of all nodes of linked structures, and what is not.

use hardbop_cfront::program::CheckKind;
use hardbop_cfront::types::DataModel;
use hardbop_houdini::Nodes;
use hardbop_test_support::desk::left_open;
use hardbop_test_support::inputs::loaded_with;

const PRELUDE: &str = "extern int __VERIFIER_nondet_int(void);
extern void __assert_fail(const char *, const char *, unsigned, const char *);
#define assert(e) do { if (!(e)) __assert_fail(#e, \"\", 0, \"\"); } while (0)
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t);
void free(void *);
struct node { int v; struct node *next, *prev; };
int any(void) { return __VERIFIER_nondet_int(); }
struct node *make(int v) {
    struct node *made = malloc(sizeof *made);
    if (!made) for (;;);
    made->v = v;
    made->next = made->prev = 0;
    return made;
}
#line 1
";

/// What memory safety asks for, but for what is lost.
const MEMORY: [CheckKind; 3] = [CheckKind::Pointer, CheckKind::Bounds, CheckKind::Free];

/// How many of the assertions are not proved.
fn open(text: &str) -> usize {
    open_with(&[], text)
}

/// How many of the assertions and of these checks are not proved.
fn open_with(checks: &[CheckKind], text: &str) -> usize {
    open_after(u64::MAX, checks, text)
}

/// The same after so many questions about clauses of one size: what is wrong is looked for long.
fn open_after(questions: u64, checks: &[CheckKind], text: &str) -> usize {
    let text = format!("{PRELUDE}{text}");
    let program = &loaded_with(&text, DataModel::Ilp32, checks).program;
    let nodes = Nodes {
        questions,
        ..Nodes::default()
    };
    left_open(program, &nodes).len()
}

#[track_caller]
fn proved(text: &str) {
    assert_eq!(open(text), 0);
}

#[test]
fn all_nodes_hold_what_was_stored_in_them() {
    let list = |stored: i32| {
        format!(
            "int main(void) {{
                struct node *head = 0, *p;
                while (any()) {{
                    p = make({stored});
                    p->next = head;
                    head = p;
                }}
                for (p = head; p; p = p->next) assert(p->v == 1);
                return 0;
            }}"
        )
    };
    proved(&list(1));
    assert_eq!(open(&list(2)), 1);
}

#[test]
fn nodes_are_appended_behind_the_last_one() {
    proved(
        "int main(void) {
            struct node *head = make(1), *last = head, *p;
            while (any()) {
                p = make(1);
                last->next = p;
                last = p;
            }
            last->v = 2;
            for (p = head; p->v == 1; p = p->next);
            assert(p->v == 2);
            return 0;
        }",
    );
}

#[test]
fn what_nodes_hold_depends_on_a_flag() {
    proved(
        "int main(void) {
            int flag = any();
            struct node *head = make(9), *p = head;
            while (any()) {
                p->v = flag ? 1 : 2;
                p->next = make(9);
                p = p->next;
            }
            for (p = head; p->v != 9; p = p->next)
                assert(p->v == (flag ? 1 : 2));
            return 0;
        }",
    );
}

#[test]
fn ones_and_twos_take_turns() {
    proved(
        "int main(void) {
            int odd = 1;
            struct node *head = make(9), *p = head;
            while (any()) {
                p->v = odd ? 1 : 2;
                odd = !odd;
                p->next = make(9);
                p = p->next;
            }
            p->v = 9;
            odd = 1;
            for (p = head; p->v != 9; p = p->next) {
                assert(p->v == (odd ? 1 : 2));
                odd = !odd;
            }
            return 0;
        }",
    );
}

#[test]
fn two_lists_of_one_kind_are_told_apart_by_what_they_hold() {
    proved(
        "int main(void) {
            struct node *low = 0, *high = 0, *p;
            while (any()) {
                p = make(any());
                if (p->v < 10) { p->next = low; low = p; }
                else { p->next = high; high = p; }
            }
            for (p = low; p; p = p->next) assert(p->v < 10);
            for (p = high; p; p = p->next) assert(p->v >= 10);
            return 0;
        }",
    );
}

/// What is put in the nodes says nothing: the lists have nodes of different allocations.
#[test]
fn two_lists_of_one_kind_are_told_apart_by_their_allocations() {
    let lists = |second: &str| {
        format!(
            "int main(void) {{
                struct node *small = 0, *large = 0, *p;
                while (any()) {{
                    if (any()) {{ p = make(any()); p->next = small; small = p; }}
                    else {{ p = make(9); p->next = {second}; {second} = p; }}
                }}
                for (p = small; p; p = p->next) p->v = 1;
                for (p = large; p; p = p->next) assert(p->v == 9);
                return 0;
            }}"
        )
    };
    proved(&lists("large"));
    assert_eq!(open(&lists("large").replace("p->v == 9", "p->v == 8")), 1);
}

#[test]
fn kinds_of_nodes_have_facts_of_their_own() {
    proved(
        "struct row { struct row *below; struct node *first; };
        int main(void) {
            struct row *rows = 0, *r;
            while (any()) {
                r = malloc(sizeof *r);
                if (!r) return 0;
                r->first = make(3);
                r->below = rows;
                rows = r;
            }
            for (r = rows; r; r = r->below) assert(r->first->v == 3);
            return 0;
        }",
    );
}

/// Which node points to which is told by where pointers were written last: no other node points to
/// the one that is freed.
#[test]
fn lists_are_freed_while_they_are_walked() {
    let list = |last: &str| {
        format!(
            "int main(void) {{
                struct node *head = 0, *p;
                while (any()) {{
                    p = make(1);
                    p->next = head;
                    head = p;
                }}
                while (head) {{
                    assert(head->v == 1);
                    p = head->next;
                    free(head);
                    {last}
                    head = p;
                }}
                return 0;
            }}"
        )
    };
    assert_eq!(open_with(&MEMORY, &list("")), 0);
    assert_ne!(open_with(&MEMORY, &list("head->v = 2;")), 0);
}

#[test]
fn back_pointers_agree() {
    let list = |back: &str| {
        format!(
            "int main(void) {{
                struct node *head = make(0), *p;
                while (any()) {{
                    p = make(0);
                    p->next = head;
                    head->prev = {back};
                    head = p;
                }}
                for (p = head; p; p = p->next)
                    if (p->next) assert(p->next->prev == p);
                return 0;
            }}"
        )
    };
    proved(&list("p"));
    assert_eq!(open(&list("head")), 1);
}

#[test]
fn rings_are_walked_and_freed() {
    let ring = |from: &str| {
        format!(
            "int main(void) {{
                struct node *head = make(1), *p, *t;
                head->next = head;
                while (any()) {{
                    p = make(1);
                    p->next = head->next;
                    head->next = p;
                }}
                for (p = head->next; p != head; p = t) {{
                    assert(p->v == 1);
                    t = p->next;
                    free(p);
                }}
                free({from});
                return 0;
            }}"
        )
    };
    assert_eq!(open_with(&MEMORY, &ring("head")), 0);
    assert_ne!(open_with(&MEMORY, &ring("head->next")), 0);
}

#[test]
fn numbers_that_fall_make_sorted_lists() {
    let list = |change: &str| {
        format!(
            "int main(void) {{
                struct node *head = 0, *p;
                int least = 1000;
                while (least > 0 && any()) {{
                    p = make(least);
                    p->next = head;
                    head = p;
                    least {change} any() & 3;
                }}
                for (p = head; p; p = p->next)
                    if (p->next) assert(p->v <= p->next->v);
                return 0;
            }}"
        )
    };
    proved(&list("-="));
    assert_eq!(open(&list("^=")), 1);
}

/// What is asked of a value before it is stored holds of all that was.
#[test]
fn values_are_stored_if_they_are_small() {
    let list = |most: u32| {
        format!(
            "int main(void) {{
                struct node *head = 0, *p;
                while (any()) {{
                    int v = any();
                    if (v > 0 && v < 10) {{
                        p = make(v);
                        p->next = head;
                        head = p;
                    }}
                }}
                for (p = head; p; p = p->next) assert(p->v < {most});
                return 0;
            }}"
        )
    };
    proved(&list(10));
    assert_eq!(open(&list(9)), 1);
}

#[test]
fn one_object_that_all_nodes_share() {
    let text = "struct shared { int v; };
        struct user { int x; struct shared *of; struct user *next; };
        int main(void) {
            struct shared *m = malloc(sizeof *m);
            m->v = 100;
            struct user *head = malloc(sizeof *head);
            head->x = 1; head->of = m; head->next = head;
            while (any()) {
                int x = any();
                if (x > 0 && x < 10) {
                    struct user *n = malloc(sizeof *n);
                    n->x = x; n->of = m; n->next = head->next;
                    head->next = n;
                }
            }
            struct user *at = head;
            while (any()) {
                if (at->of->v <= 100) at->of->v += at->x;
                else at->of->v -= at->x;
                at = at->next;
                assert(m->v > 90 && m->v < 110);
            }
        }";
    assert_eq!(open(text), 0);
    assert_eq!(open(&text.replace("< 110", "< 109")), 1);
}

/// Which list a node was moved to is told by the statement that linked it last.
#[test]
fn one_list_is_split_in_two() {
    let lists = |asserted: &str| {
        format!(
            "int main(void) {{
                struct node *all = 0, *low = 0, *high = 0, *p;
                while (any()) {{ p = make(any()); p->next = all; all = p; }}
                while (all) {{
                    p = all;
                    all = p->next;
                    if (p->v < 0) {{ p->next = low; low = p; }}
                    else {{ p->next = high; high = p; }}
                }}
                for (p = low; p; p = p->next) assert(p->v < 0);
                for (p = high; p; p = p->next) assert(p->v {asserted});
                return 0;
            }}"
        )
    };
    proved(&lists(">= 0"));
    assert_eq!(open(&lists("> 0")), 1);
}

/// A cursor may be the address of a variable or of a field of a node.
#[test]
fn nodes_are_inserted_where_they_belong() {
    let list = |order: &str| {
        format!(
            "struct one {{ int v; struct one *next; }};
            int main(void) {{
                struct one *head = 0, *p;
                while (any()) {{
                    int v = any();
                    struct one **at = &head;
                    while (*at && (*at)->v {order} v) at = &(*at)->next;
                    p = malloc(sizeof *p);
                    p->v = v;
                    p->next = *at;
                    *at = p;
                }}
                for (p = head; p && p->next; p = p->next) assert(p->v <= p->next->v);
                return 0;
            }}"
        )
    };
    proved(&list("<"));
    assert_eq!(open(&list(">")), 1);
}

/// What lies before the cursor was visited, and is as the loop left it.
#[test]
fn nodes_are_taken_out_where_they_are() {
    let list = |kept: &str| {
        format!(
            "struct one {{ int v; struct one *next; }};
            int main(void) {{
                struct one *head = 0, *p;
                while (any()) {{
                    p = malloc(sizeof *p);
                    p->v = any();
                    p->next = head;
                    head = p;
                }}
                struct one **at = &head;
                while (*at) {{
                    p = *at;
                    if (p->v < 0) {{ *at = p->next; free(p); }}
                    else at = &p->next;
                }}
                for (; head; head = head->next) assert(head->v {kept});
                return 0;
            }}"
        )
    };
    proved(&list(">= 0"));
    assert_eq!(open(&list("> 0")), 1);
}

#[test]
fn as_many_nodes_are_found_as_were_made() {
    let list = |counted: &str| {
        format!(
            "struct one {{ struct one *next; }};
            int main(void) {{
                struct one *head = 0, *p;
                unsigned made = 0, found = 0;
                while (any()) {{
                    p = malloc(sizeof *p);
                    p->next = head;
                    head = p;
                    made++;
                }}
                for (p = head; p; p = p->next) {counted};
                assert(made == found);
                return 0;
            }}"
        )
    };
    proved(&list("found++"));
    assert_eq!(open(&list("if (any()) found++")), 1);
}

#[test]
fn nodes_hold_their_numbers() {
    let list = |first: &str| {
        format!(
            "struct one {{ int v; struct one *next; }};
            int main(void) {{
                struct one *head = 0, *p;
                int n = any() & 63, i;
                for (i = 0; i < n; i++) {{
                    p = malloc(sizeof *p);
                    p->v = i;
                    p->next = head;
                    head = p;
                }}
                for (i = {first}; head; head = head->next) {{ i--; assert(head->v == i); }}
                return 0;
            }}"
        )
    };
    proved(&list("n"));
    assert_eq!(open(&list("n + 1")), 1);
}

/// What is put into the list is compared where it is: in the node that a variable points to.
#[test]
fn nodes_are_compared_with_the_new_one() {
    let list = |order: &str| {
        format!(
            "struct one {{ int v; struct one *next; }};
            int main(void) {{
                struct one *head = 0, *p, *at;
                while (any()) {{
                    p = malloc(sizeof *p);
                    p->v = any();
                    if (!head || head->v >= p->v) {{ p->next = head; head = p; continue; }}
                    for (at = head; at->next && at->next->v {order} p->v; at = at->next);
                    p->next = at->next;
                    at->next = p;
                }}
                for (p = head; p && p->next; p = p->next) assert(p->v <= p->next->v);
                return 0;
            }}"
        )
    };
    assert_eq!(open_after(400, &[], &list("<")), 0);
    assert_eq!(open_after(400, &[], &list(">")), 1);
}

/// A mistake in either of the pointers leaves the other one to nobody.
#[test]
fn nodes_are_put_in_and_taken_out_anywhere() {
    let list = |back: &str| {
        format!(
            "struct one {{ struct one *next, *prev; }};
            int main(void) {{
                struct one *head = malloc(sizeof *head), *p, *at;
                head->next = head->prev = 0;
                while (any()) {{
                    for (at = head; at->next && any(); at = at->next);
                    p = malloc(sizeof *p);
                    p->next = at->next;
                    p->prev = at;
                    if (at->next) at->next->prev = p;
                    at->next = p;
                }}
                for (p = head->next; p && any(); p = p->next);
                if (p) {{
                    p->prev->next = p->next;
                    if (p->next) p->next->prev = {back};
                    free(p);
                }}
                for (p = head; p->next; p = p->next) assert(p->next->prev == p);
                return 0;
            }}"
        )
    };
    assert_eq!(open_after(700, &MEMORY, &list("p->prev")), 0);
    assert_ne!(open_after(700, &MEMORY, &list("p")), 0);
}

/// That a number is not negative is told by its range, which costs no question among many checks.
#[test]
fn queues_hold_numbers_of_a_range() {
    let list = |first: i32| {
        format!(
            "struct one {{ int v; struct one *next; }};
            int main(void) {{
                struct one *first = 0, *last = 0, *p;
                int n = any(), i;
                for (i = {first}; i < n; i++) {{
                    p = malloc(sizeof *p);
                    p->v = i;
                    p->next = 0;
                    if (!last) first = p;
                    else last->next = p;
                    last = p;
                }}
                for (p = first; p; p = p->next) assert(0 <= p->v && p->v < n);
                while (first) {{ p = first->next; free(first); first = p; }}
                return 0;
            }}"
        )
    };
    assert_eq!(open_after(250, &MEMORY, &list(0)), 0);
    assert_eq!(open_after(250, &MEMORY, &list(-1)), 1);
}

/// An array of pointers to nodes is no pointer to a node.
#[test]
fn tables_of_lists_are_declined() {
    let table = "struct entry { struct entry *next; int key; };
        struct entry *table[16];
        int main(void) {
            while (any()) {
                int key = any();
                struct entry *p = table[(unsigned)key % 16];
                while (p && p->key != key) p = p->next;
                if (!p) {
                    p = malloc(sizeof *p);
                    p->key = key;
                    p->next = table[(unsigned)key % 16];
                    table[(unsigned)key % 16] = p;
                }
            }
            return 0;
        }";
    assert_ne!(open_after(10, &MEMORY, table), 0);
}
