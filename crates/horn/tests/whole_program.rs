//! Small programs: what is proved, and that a violation beside it does not matter.

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_engine::Task;
use hardbop_gate::{Outcome, alone};
use hardbop_horn::WholeProgram;
use hardbop_model::{Model, Prepared};
use hardbop_test_support::inputs::load;

/// Whether each check of a program is proved.
fn proved(text: &str) -> Vec<bool> {
    let (program, points_to) = load(text);
    let checks: Vec<CheckId> = (0..program.checks.len() as u32).map(CheckId).collect();
    let prepared = Prepared::with_points_to(&program, points_to, &Budget::unlimited()).unwrap();
    let task = Task {
        model: &Model::new(&program, &prepared),
        checks: &checks,
        budget: &Budget::unlimited(),
    };
    let report = alone(&WholeProgram::default(), &task, &mut |_| {});
    let outcomes = report.outcomes.values();
    outcomes
        .map(|outcome| matches!(outcome, Outcome::Proved(_)))
        .collect()
}

#[test]
fn an_invariant_of_a_loop_is_found() {
    let text = "void reach_error(void);
        int main(void) {
          int x = 0, y = 0;
          while (x < 100) { x++; y++; }
          if (x != y) reach_error();
          return 0;
        }";
    assert_eq!(proved(text), [true]);
}

#[test]
fn a_violation_leaves_the_other_checks() {
    let text = "void reach_error(void); int __VERIFIER_nondet_int(void);
        int main(void) {
          int x = __VERIFIER_nondet_int(), y = 0;
          if (x > 10) y = 1;
          if (y && x < 5) reach_error();
          if (y && x == 12) reach_error();
          return 0;
        }";
    assert_eq!(proved(text), [true, false]);
}
