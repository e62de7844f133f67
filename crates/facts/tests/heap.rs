//! What is known of objects on the heap: of all of a kind, and of the newest one by itself.

use hardbop_cfront::program::CheckKind;
use hardbop_cfront::types::DataModel;
use hardbop_facts::CheapFacts;
use hardbop_test_support::desk::left_open;
use hardbop_test_support::inputs::loaded_with;

const PRELUDE: &str = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t);
void *calloc(size_t, size_t);
void free(void *);
struct node { int kind; struct node *next; };
struct state { int mode; int count; };
struct device { int irq; struct state *private; };
#line 1
";

const NONE: [u32; 0] = [];

/// The lines of the checks that are left open, once for each.
fn open(text: &str) -> Vec<u32> {
    let text = format!("{PRELUDE}{text}");
    let mut lines = Vec::new();
    for model in [DataModel::Lp64, DataModel::Ilp32] {
        let kinds = [CheckKind::Pointer, CheckKind::Bounds, CheckKind::Free];
        let program = &loaded_with(&text, model, &kinds).program;
        let open = left_open(program, &CheapFacts::default());
        let open = open.keys();
        let open = open.map(|check| program.checks[check.index()].source.line);
        let mut open: Vec<u32> = open.collect();
        open.dedup();
        lines.push(open);
    }
    assert_eq!(lines[0], lines[1], "{text}");
    lines.swap_remove(0)
}

#[test]
fn what_is_filled_in_before_it_is_handed_on_is_known_of_all() {
    let program = |kind: &str| {
        format!(
            "int hits[5];
             int main(void) {{
               struct node *head = 0;
               while (__VERIFIER_nondet_int()) {{
                 struct node *p = malloc(sizeof *p);
                 if (!p) return 1;
                 int k = __VERIFIER_nondet_int();
                 p->kind = {kind};
                 p->next = head;
                 head = p;
               }}
               for (struct node *p = head; p; p = p->next)
                 hits[p->kind]++;
               return 0;
             }}"
        )
    };
    assert_eq!(open(&program("k >= 0 && k < 5 ? k : 0")), NONE);
    assert_eq!(open(&program("k >= 0 && k < 6 ? k : 0")), [13]);
    // What nobody wrote is anything.
    assert_eq!(open(&program("p->kind")), [13]);
}

#[test]
fn an_object_that_another_one_owns() {
    let program = |setting: &str| {
        format!(
            "int table[4];
             int main(void) {{
               struct device *d = calloc(1, sizeof *d);
               if (!d) return 1;
               struct state *s = malloc(sizeof *s);
               if (!s) return 1;
               s->mode = 1;
               {setting}
               while (__VERIFIER_nondet_int()) {{
                 if (d->private) table[d->private->mode] = 1;
                 d->irq++;
               }}
               return 0;
             }}"
        )
    };
    assert_eq!(open(&program("d->private = s;")), NONE);
    assert_eq!(open(&program("d->private = s; s->mode = 3;")), NONE);
    assert_eq!(
        open(&program("d->private = s; d->private->mode = 4;")),
        [10]
    );
    // A pointer to what was freed leads nowhere.
    assert_eq!(open(&program("d->private = s; free(s);")), [10]);
    assert_eq!(
        open(&program("d->private = malloc(4); d->private->mode = 0;")),
        NONE
    );
    assert_eq!(open(&program("d->private = malloc(2);")), [10]);
}

#[test]
fn what_is_freed_is_no_longer_there() {
    let program = |last: &str| {
        format!(
            "int main(void) {{
               struct state *s = malloc(sizeof *s), *t = s;
               if (!s) return 1;
               s->mode = 1;
               free(s);
               {last}
               return 0;
             }}"
        )
    };
    assert_eq!(open(&program("")), NONE);
    assert_eq!(open(&program("t->mode = 2;")), [6]);
    assert_eq!(open(&program("free(t);")), [6]);
    // The next object is another one.
    assert_eq!(
        open(&program(
            "s = malloc(sizeof *s); if (s) s->mode = 2; free(s);"
        )),
        NONE
    );
}

/// The newest object of a loop is another one in each round.
#[test]
fn what_is_older_does_not_become_what_is_new() {
    let text = "int table[3];
        int main(void) {
          struct state *old = 0;
          while (__VERIFIER_nondet_int()) {
            struct state *s = malloc(sizeof *s);
            if (!s) return 1;
            s->mode = 7;
            if (old) table[old->mode] = 1;
            s->mode = 2;
            if (old) table[old->mode] = 1;
            old = s;
          }
          return 0;
        }";
    assert_eq!(open(text), NONE);
    // Where the first of two accesses is wrong whenever it is made, nobody comes to the second.
    assert_eq!(open(&text.replace("s->mode = 2;", "")), [8]);
}
