//! Programs whose calls are kept: what is known of each function is enough for its checks, and what
//! is claimed of the program is refused where it does not hold.

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::program::CheckKind;
use hardbop_cfront::types::DataModel;
use hardbop_engine::claim::{Calls, Invariants};
use hardbop_engine::{Claim, Engine, Task};
use hardbop_model::{Model, Prepared};
use hardbop_portfolio::Functions;
use hardbop_test_support::answers::said;
use hardbop_test_support::desk::{Keeping, left_open};
use hardbop_test_support::inputs;

const PRELUDE: &str = "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);\n";

fn check(text: &str, expected: &[&str]) {
    let text = format!("{PRELUDE}{text}");
    assert_eq!(said(&Functions::default(), &text), expected, "{text}");
}

const UNKNOWN: &str = "the invariants that were guessed do not exclude it";

#[test]
fn a_contract_is_what_all_calls_have_in_common() {
    let text = "static int limited(int n) { if (n < 0) return 0; return n > 9 ? 9 : n; }
        int main(void) {
          int a = limited(__VERIFIER_nondet_int()), b = limited(7);
          if (a + b > 18) reach_error();
          if (a + b > 17) reach_error();
          return 0;
        }";
    check(text, &["proved", UNKNOWN]);
}

#[test]
fn a_call_changes_what_the_function_may_change() {
    let text = "int calm, busy;
        static void work(void) { busy = __VERIFIER_nondet_int(); }
        int main(void) {
          calm = 3; busy = 3;
          work();
          if (calm != 3) reach_error();
          if (busy != 3) reach_error();
          return 0;
        }";
    check(text, &["proved", UNKNOWN]);
}

#[test]
fn a_pointer_to_a_local_of_a_caller_is_followed() {
    let text = "static void set(int *to) { if (to == 0) reach_error(); *to = 1; }
        int main(void) { int x, *p = 0; set(&x); if (x) p = &x; if (x > 5) set(p); return 0; }";
    check(text, &["proved"]);
}

#[test]
fn recursion_is_followed_too() {
    let text = "static int depth;
        static void down(int n) {
          if (n < 0 || n > 20) reach_error();
          if (n > 0) down(n - 1);
        }
        int main(void) { down(20); return 0; }";
    check(text, &["proved"]);
}

#[test]
fn an_index_that_may_leave_its_array_ends_nothing_else() {
    let text = "struct s { int a[4]; int b; } s; int calm;
        int main(void) {
          s.a[__VERIFIER_nondet_int()] = 1;
          if (calm) reach_error();
          if (s.b) reach_error();
          return 0;
        }";
    check(text, &["proved", UNKNOWN]);
}

#[test]
fn what_a_constant_table_holds_is_known_of_what_is_read_there() {
    let text = "static const signed char after[3][2] = { { 1, 2 }, { 2, 0 }, { 0, 1 } };
        int main(void) {
          int state = 0;
          while (__VERIFIER_nondet_int()) {
            int input = __VERIFIER_nondet_int();
            if (input < 0 || input > 1) break;
            state = after[state][input];
            if (state < 0 || state > 2) reach_error();
            if (state > 1) reach_error();
          }
          return 0;
        }";
    check(text, &["proved", UNKNOWN]);
}

#[test]
fn what_is_written_to_some_element_may_be_in_any() {
    let text = "static int table[4];
        int main(void) {
          while (__VERIFIER_nondet_int()) table[__VERIFIER_nondet_int() & 3] = 5;
          if (table[1] < 0 || table[1] > 5) reach_error();
          if (table[1] > 4) reach_error();
          return 0;
        }";
    check(text, &["proved", UNKNOWN]);
}

#[test]
fn a_string_is_read_no_further_than_to_its_zero() {
    let text = "static int length(const char *s) {
          const char *p = s;
          while (*p) p++;
          return p - s;
        }
        int main(void) {
          char text[8];
          for (int i = 0; i < 7; i++) text[i] = __VERIFIER_nondet_int();
          text[7] = 0;
          if (length(text) > 7) reach_error();
          if (length(text) > 6) reach_error();
          return 0;
        }";
    check(text, &["proved", UNKNOWN]);
}

#[test]
fn nothing_is_known_of_a_string_whose_zero_may_be_written() {
    let text = "int main(void) {
          char text[8];
          for (int i = 0; i < 7; i++) text[i] = __VERIFIER_nondet_int();
          text[7] = 0;
          text[__VERIFIER_nondet_int() & 7] = __VERIFIER_nondet_int();
          if (text[7]) reach_error();
          return 0;
        }";
    check(text, &[UNKNOWN]);
}

/// How many checks of pointers are left open.
fn open_pointers(text: &str) -> usize {
    let program = &inputs::loaded_with(text, DataModel::Lp64, &[CheckKind::Pointer]).program;
    left_open(program, &Functions::default()).len()
}

/// What a function has taken is null or there, and its caller has looked.
#[test]
fn an_object_that_a_function_gives_back() {
    let program = |looks: &str| {
        format!(
            "extern unsigned __VERIFIER_nondet_uint(void);
            void *malloc(__SIZE_TYPE__);
            struct stack {{ int top, size; }};
            static struct stack *make(int size) {{
                struct stack *made = malloc(sizeof *made);
                if (!made || size < 0) return 0;
                made->top = 0;
                made->size = size;
                return made;
            }}
            static void push(struct stack *s) {{ if (s->top < s->size) s->top++; }}
            int main(void) {{
                struct stack *s = make(__VERIFIER_nondet_uint());
                if ({looks}) return 1;
                while (__VERIFIER_nondet_uint()) push(s);
                return 0;
            }}"
        )
    };
    assert_eq!(open_pointers(&program("!s")), 0);
    assert_ne!(open_pointers(&program("__VERIFIER_nondet_uint()")), 0);
}

/// Each formula of an accepted claim that says anything is needed by somebody: with what holds at
/// the entry of a function taken for true at its exit, and the other way round, nothing is accepted.
#[test]
fn claims_that_were_changed_are_refused() {
    let text = format!(
        "{PRELUDE}static int limited(int n) {{ return n & 7; }}
        int main(void) {{ int a = limited(__VERIFIER_nondet_int()); if (a > 7) reach_error(); return 0; }}"
    );
    let (program, points_to) = inputs::load(&text);
    let budget = Budget::unlimited();
    let prepared = Prepared::with_points_to(&program, points_to, &budget).unwrap();
    let model = Model::new(&program, &prepared);
    let checks: Vec<CheckId> = (0..program.checks.len() as u32).map(CheckId).collect();
    let task = Task {
        model: &model,
        checks: &checks,
        budget: &budget,
    };
    let mut desk = Keeping::new(&model, budget.clone());
    assert!(Functions::default().check(&task, &mut desk).open.is_empty());
    let claim = desk.invariants().pop().expect("it was accepted");
    assert_eq!(claim.calls, Calls::Kept);
    let accepts = |claim: Invariants| desk.gate.check(Claim::Invariants(claim)).is_ok();
    assert!(accepts(claim.clone()));
    let limited = program.function_named("limited").unwrap();
    let exit = program.function(limited).exit;
    let mut weaker = claim.clone();
    weaker.at.insert(exit, "true".to_owned());
    assert!(!accepts(weaker), "the caller needs what is given back");
    let mut stronger = claim.clone();
    let entry = program.function(limited).entry;
    stronger
        .at
        .insert(entry, "(= |limited::n| #x00000000)".to_owned());
    assert!(!accepts(stronger), "the caller gives anything");
    let mut unreached = claim.clone();
    unreached.at.remove(&exit);
    assert!(!accepts(unreached), "it comes back");
    // The same formulas at the same numbers, said of the program with its calls inlined.
    let other = Invariants {
        calls: Calls::Inlined,
        ..claim
    };
    assert!(!accepts(other), "locations are those of another program");
}

/// How many checks of accesses to memory are left open where calls are kept.
fn open_in_memory(text: &str) -> usize {
    let kinds = [CheckKind::Pointer, CheckKind::Bounds, CheckKind::Free];
    let text = format!("{PRELUDE}{ALLOCATES}{text}");
    let program = &inputs::loaded_with(&text, DataModel::Lp64, &kinds).program;
    left_open(program, &Functions::told()).len()
}

const ALLOCATES: &str = "void *malloc(__SIZE_TYPE__); void free(void *);
    struct item { int kind; struct item *next; };
    int seen[4];\n";

/// A callee that allocates and frees nothing leaves what its caller has.
#[test]
fn objects_live_on_over_calls_that_free_nothing() {
    let program = |kind: &str, after: &str| {
        format!(
            "static struct item *made(int kind) {{
               struct item *i = malloc(sizeof *i);
               if (!i) return 0;
               i->kind = kind & {kind};
               i->next = 0;
               return i;
             }}
             static void look(struct item *i) {{ if (i) seen[i->kind] = 1; }}
             int main(void) {{
               struct item *a = made(__VERIFIER_nondet_int());
               struct item *b = made(2);
               look(b);
               look(a);
               {after}
               return 0;
             }}"
        )
    };
    assert_eq!(open_in_memory(&program("3", "a->kind = 1; free(a);")), 0);
    assert_eq!(open_in_memory(&program("7", "a->kind = 1;")), 1);
    // Whether it is the other one that was freed is not known.
    assert_eq!(open_in_memory(&program("3", "free(a); b->kind = 1;")), 2);
    assert!(open_in_memory(&program("3", "free(a); a->kind = 1;")) > 0);
}
