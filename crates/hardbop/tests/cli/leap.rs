//! `hardbop leap`.

use crate::scene::Scene;
use expect_test::{Expect, expect};

#[track_caller]
fn check(text: &str, options: &str, expected: Expect) {
    let prelude = "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n";
    Scene::file("x.c", format!("{prelude}{text}")).check(&format!("leap x.c {options}"), expected);
}

const LONG: &str = "int main(void) {
  int n = __VERIFIER_nondet_int(), x = 0;
  if (n < 1000000) return 0;
  while (x < n) x++;
  if (x == n) reach_error();
  return 0;
}
";

#[test]
fn a_violation_is_replayed_and_explained() {
    check(LONG, "", expect![[r#""#]]);
}

#[test]
fn a_run_too_long_to_replay_says_so() {
    check(
        "int main(void) {
  int x = 2000000000, y = 0;
  while (x > 0) { x--; y++; }
  if (y == 2000000000) reach_error();
  return 0;
}
",
        "",
        expect![[r#""#]],
    );
}

#[test]
fn what_is_not_violated_stays_unknown() {
    check(
        "int main(void) {
  int x = 0;
  while (x < 1000000) x++;
  if (x != 1000000) reach_error();
  return 0;
}
",
        "",
        expect![[r#""#]],
    );
}

#[test]
fn nothing_to_check() {
    check("int main(void) { return 0; }\n", "", expect![[r#""#]]);
}

#[test]
fn predicates_may_be_given() {
    let text =
        format!("extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n{LONG}");
    Scene::file("x.c", text)
        .and_file("x.pred", "main: x >= 0, x <= n\n")
        .check("leap x.c --pred x.pred --no-endings", expect![[r#""#]]);
}

#[test]
fn a_loop_that_does_not_exist_cannot_be_suggested() {
    check(LONG, "--loop 400", expect![[r#""#]]);
}

#[test]
fn for_machines() {
    check(LONG, "--json --no-endings", expect![[r#""#]]);
}

#[test]
fn the_time_limit_is_kept() {
    check(LONG, "--time-limit 0", expect![[r#""#]]);
}
