//! What is proved of all nodes of linked structures, and what is not.

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_engine::{Answer, Claim, Desk, Engine, Event, Task};
use hardbop_gate::Gate;
use hardbop_houdini::Nodes;
use hardbop_model::{Model, Prepared};
use hardbop_test_support::inputs::loaded;

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

/// Hands claims to the gate.
struct AtTheGate<'a>(Gate<'a>);

impl Desk for AtTheGate<'_> {
    fn event(&mut self, _: Event) {}

    fn submit(&mut self, claim: Claim) -> Answer {
        match self.0.check(claim) {
            Ok(_) => Answer::Accepted,
            Err(reason) => Answer::Refused(reason),
        }
    }
}

/// How many of the assertions are not proved.
fn open(text: &str) -> usize {
    let program = &loaded(&format!("{PRELUDE}{text}")).program;
    let checks: Vec<CheckId> = (0..program.checks.len() as u32).map(CheckId).collect();
    let budget = Budget::unlimited();
    let prepared = Prepared::new(program, &budget).unwrap();
    let model = Model::new(program, &prepared);
    let task = Task {
        model: &model,
        checks: &checks,
        budget: &budget,
    };
    let mut desk = AtTheGate(Gate::new(&model, budget.clone()));
    Nodes::default().check(&task, &mut desk).open.len()
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
