//! Small programs: what is proved, and that a violation beside it does not matter.

use hardbop_horn::WholeProgram;
use hardbop_test_support::answers::said;

/// Whether each check of a program is proved.
fn proved(text: &str) -> Vec<bool> {
    let said = said(&WholeProgram::default(), text);
    said.iter().map(|answer| answer == "proved").collect()
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
