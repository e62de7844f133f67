//! `hardbop explain`.

use crate::scene::Scene;
use expect_test::{Expect, expect};

#[track_caller]
fn check(text: &str, options: &str, expected: Expect) {
    let prelude = "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n";
    Scene::file("x.c", format!("{prelude}{text}"))
        .check(&format!("explain x.c {options}"), expected);
}

/// The example of the Newton paper, with two assignments that do not matter.
const NEWTON: &str = "int main(void) {
  int a, b = __VERIFIER_nondet_int(), c, x, z;
  if (b > 0) {
    c = b + b;
    z = c;
    a = b;
    a = a - 1;
    x = b;
    if (a < b)
      if (c == a) reach_error();
  }
  return 0;
}
";

#[test]
fn a_path_that_cannot_be_run() {
    check(NEWTON, "--arith int", expect![[""]]);
}

#[test]
fn the_same_in_machine_words() {
    check(NEWTON, "--check-line 12", expect![[""]]);
}

#[test]
fn a_path_that_can_be_run() {
    check(
        "int twice(int n) { return n + n; }
int main(void) {
  int n = __VERIFIER_nondet_int();
  if (twice(n) == -84 && n > -50 && n < 0) reach_error();
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn a_line_without_a_check_is_an_error() {
    check(NEWTON, "--check-line 5", expect![[""]]);
}

#[test]
fn machines_get_the_tables() {
    check(
        "int lock;
int main(void) {
  lock = 1;
  if (!lock) reach_error();
  return 0;
}
",
        "--json",
        expect![[""]],
    );
}
