//! Recursive functions whose results are told apart by their arguments.

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_engine::Task;
use hardbop_gate::Outcome;
use hardbop_houdini::{Arguments, Elements, Houdini};
use hardbop_model::{Model, Prepared};
use hardbop_portfolio::{Found, Listener, Plan};
use hardbop_test_support::inputs::loaded;

const PRELUDE: &str = "extern int __VERIFIER_nondet_int(void);
extern void __assert_fail(const char *, const char *, unsigned, const char *);
#define assert(e) do { if (!(e)) __assert_fail(#e, \"\", 0, \"\"); } while (0)
#line 1
";

struct Deaf;

impl Listener for Deaf {
    fn event(&mut self, _: &'static str, _: hardbop_engine::Event) {}

    fn late(&mut self, _: &Found) {}
}

/// Whether the only check of a program is proved.
fn is_proved(text: &str, arguments: Arguments) -> bool {
    let program = &loaded(&format!("{PRELUDE}{text}")).program;
    let checks: Vec<CheckId> = (0..program.checks.len() as u32).map(CheckId).collect();
    assert_eq!(checks.len(), 1);
    let budget = Budget::unlimited();
    let prepared = Prepared::new(program, &Budget::unlimited()).unwrap();
    let task = Task {
        model: &Model::new(program, &prepared),
        checks: &checks,
        budget: &budget,
    };
    let plan = Plan::alone(Houdini {
        arguments,
        elements: Elements::Left,
        ..Houdini::default()
    });
    let found = hardbop_portfolio::check(&plan, &task, &mut Deaf);
    matches!(found.report.outcomes[&checks[0]], Outcome::Proved(_))
}

/// What no relation for all arguments says is said for each of the first ones.
#[test]
fn sums_of_squares_are_a_table() {
    let text = "int squares(int n) { if (n <= 0) return 0; return squares(n - 1) + n * n; }
int main(void) {
  int n = __VERIFIER_nondet_int();
  if (n > 20) return 0;
  int sum = squares(n);
  assert(n < 5 || sum >= 55);
}";
    assert!(is_proved(text, Arguments::ToldApart));
    assert!(!is_proved(text, Arguments::Together));
}

/// A global that grows by a number of its own for each argument.
#[test]
fn calls_that_count_themselves_are_a_table() {
    let text = "int calls;
void tree(int depth) { calls++; if (depth > 0) { tree(depth - 1); tree(depth - 1); } }
int main(void) {
  int depth = __VERIFIER_nondet_int();
  if (depth < 0 || depth > 9) return 0;
  tree(depth);
  assert(calls == (2 << depth) - 1);
}";
    assert!(is_proved(text, Arguments::ToldApart));
}

/// Two arguments: one is told apart, and for each of its numbers the result is another relation of
/// the other.
#[test]
fn one_argument_says_how_the_other_counts() {
    let text = "int times(int m, int n) { if (m == 0) return 0; return times(m - 1, n) + n; }
int main(void) {
  int m = __VERIFIER_nondet_int(), n = __VERIFIER_nondet_int();
  if (m < 0 || m > 6 || n < 0 || n > 1000) return 0;
  assert(m != 3 || times(m, n) == 3 * n);
}";
    assert!(is_proved(text, Arguments::ToldApart));
}

/// What is given as 32 bits comes back as 64.
#[test]
fn widths_are_related() {
    let text = "long long sum(long long m, long long n) {
  if (n <= 0) return m;
  return sum(m + 1, n - 1);
}
int main(void) {
  int m = __VERIFIER_nondet_int(), n = __VERIFIER_nondet_int();
  if (n < 0) return 0;
  long long all = sum(m, n);
  assert(all >= m);
}";
    assert!(is_proved(text, Arguments::Together));
}

/// Wrong tables are nobody's proof.
#[test]
fn what_fails_for_one_argument_is_not_proved() {
    let text = "int squares(int n) { if (n <= 0) return 0; return squares(n - 1) + n * n; }
int main(void) {
  int n = __VERIFIER_nondet_int();
  if (n > 20) return 0;
  assert(squares(n) != 140);
}";
    assert!(!is_proved(text, Arguments::ToldApart));
}
