//! Further loops: in procedures, in recursion, several in one, with phases; loops that cannot be
//! leapt; runs that are too long to be replayed.

use crate::support::{picture, run};
use expect_test::{Expect, expect};
use hardbop_leap::{Endings, Options};
use hardbop_test_support::inputs::load;

const PRELUDE: &str = "extern int __VERIFIER_nondet_int(void); \
extern void __VERIFIER_assume(int); extern void reach_error(void);\n";

#[track_caller]
fn check(text: &str, expected: Expect) {
    let (program, points_to) = load(&format!("{PRELUDE}{text}"));
    let options = Options {
        endings: Endings::Find,
        chains: 8,
        ..Options::default()
    };
    let report = run(&program, &points_to, &options, 120);
    expected.assert_eq(&picture(&program, &report));
}

#[test]
fn a_loop_in_a_procedure() {
    check(
        "int count(int n) { int i = 0; while (i < n) i++; return i; }
int main(void) {
  if (count(2000000000) == 2000000000) reach_error();
  return 0;
}",
        expect![[r#"
            line 4: violated by a run too long to replay
              loop at line 2: Theorem 2
                state iteration <=u 2000000000 && i == iteration
                entry i == 0
                exit  i == 2000000000
            the loop at line 2 ends on all its states
        "#]],
    );
}

#[test]
fn going_down_a_recursion_is_a_loop() {
    check(
        "void down(int n, int depth) {
  if (n == 0) { if (depth == 50000) reach_error(); return; }
  down(n - 1, depth + 1);
}
int main(void) {
  int n = __VERIFIER_nondet_int();
  __VERIFIER_assume(n > 100);
  down(n, 0);
  return 0;
}",
        expect![[r#"
            line 3: violated
              loop at line 3: Theorem 2
                state n >= 0 && depth >= 1 && n != 0 && input == n + depth
                entry depth == 1
                exit  n == 1
        "#]],
    );
}

#[test]
fn the_returns_of_a_recursion_are_a_loop_too() {
    check(
        "int twice(int n) { if (n <= 0) return 0; return twice(n - 1) + 2; }
int main(void) {
  int n = __VERIFIER_nondet_int();
  __VERIFIER_assume(n > 3000);
  if (twice(n) == 60010) reach_error();
  return 0;
}",
        expect![[r#"
            line 6: violated
              loop at line 2: Theorem 2
                state n > 0 && input == n + depth of twice && n <= input - 1
                entry depth of twice == 1
                exit  n == 1
              loop at line 2: Theorem 2
                state depth of twice >u 1 && depth of twice <=u depth of twice@exit + 1 && result# == (depth of twice - (depth of twice@exit + 1)) * -2
                entry result# == 0
                exit  depth of twice == 2
        "#]],
    );
}

#[test]
fn functions_that_call_each_other_are_a_loop() {
    check(
        "int odd(int n);
int even(int n) { if (n == 0) return 1; return odd(n - 1); }
int odd(int n) { if (n == 0) return 0; return even(n - 1); }
int main(void) {
  int n = __VERIFIER_nondet_int();
  __VERIFIER_assume(n > 5000 && n < 50000);
  if (even(n) == 0) reach_error();
  return 0;
}",
        expect![[r#"
            line 8: violated
              loop at line 3: Theorem 2
                state n >= 0 && n != 0 && n != 1 && n <= input - 2 && n == input - 2 + (depth of even - 1) * -2
                entry depth of even == 1
                exit  n >= 2 && n <= 3
              loop at line 3: Theorem 2
                state depth of even >u 1 && depth of even <=u depth of even@exit + 1
                entry depth of even >u 1 && depth of even <=u depth of even@exit + 1 && depth of even == depth of even@exit + 1
                exit  depth of even == 2
        "#]],
    );
}

#[test]
fn a_part_of_the_entry_port_is_enough() {
    // From an odd number the loop never ends.
    check(
        "int main(void) {
  unsigned n = __VERIFIER_nondet_int(), x = n;
  __VERIFIER_assume(n > 100000);
  while (x != 0) x -= 2;
  reach_error();
  return 0;
}",
        expect![[r#"
            line 6: violated
              loop at line 5: Theorem 2
                state x <=u input && x != 0 && (x - input) % 2 == 0
                entry x != 0 && (x - input) % 2 == 0 && x <=u input && x == input
                exit  x == 2
        "#]],
    );
}

#[test]
fn two_loops_in_a_third() {
    check(
        "int main(void) {
  int x = 0, y = 0, z = 0;
  while (x < 1000000) {
    y = 0;
    while (y < 1000) y++;
    z = 0;
    while (z < 500) z++;
    x++;
  }
  if (y == 1000 && z == 500) reach_error();
  return 0;
}",
        expect![[r#"
            line 11: violated by a run too long to replay
              loop at line 6: Theorem 2
                state iteration <=u 1000 && y == iteration
                entry y == 0
                exit  y == 1000
              loop at line 8: Theorem 2
                state iteration <=u 500 && z == iteration
                entry z == 0
                exit  z == 500
              loop at line 4, 6, 8: Theorem 2
                state round <=u 999999 && iteration == 0 && x == round + 1 && y == 1000 && z == 500
                state round <u 999999 && iteration <=u 1000 && x == round + 1 && y == iteration
                state round <u 999999 && iteration <=u 500 && x == round + 1 && y == 1000 && z == iteration
                entry x == 1 && y == 1000 && z == 500
                exit  x == 1000000 && y == 1000 && z == 500
        "#]],
    );
}

#[test]
fn phases_are_leapt_one_after_the_other() {
    check(
        "int main(void) {
  unsigned x = 0, y = 0;
  while (x < 2000000000) {
    if (x < 1000000000) y++;
    else y--;
    x++;
  }
  if (y == 0) reach_error();
  return 0;
}",
        expect![[r#"
            line 9: violated by a run too long to replay
              loop at line 4: Theorem 2
                state iteration <=u 1000000000 && x == iteration && y == iteration
                entry x == 0 && y == 0
                exit  x == 1000000000 && y == 1000000000
              loop at line 4: Theorem 2
                state iteration <=u 1000000000 && x == iteration + 1000000000 && y == 1000000000 - iteration
                entry x == 1000000000 && y == 1000000000
                exit  x == 2000000000 && y == 0
            the loop at line 4 ends on all its states
        "#]],
    );
}

#[test]
fn a_loop_that_runs_round_the_numbers_ends() {
    check(
        "int main(void) {
  unsigned n = __VERIFIER_nondet_int(), x = __VERIFIER_nondet_int();
  while (x != n) x++;
  reach_error();
  return 0;
}",
        expect![[r#"
            line 5: violated
            the loop at line 4 ends on all its states
        "#]],
    );
}

#[test]
fn what_never_ends_is_not_leapt() {
    check(
        "int main(void) {
  unsigned x = 1;
  while (x != 0) x += 2;
  reach_error();
  return 0;
}",
        expect![[r#"
            line 5: unknown: NoLeap
        "#]],
    );
}

#[test]
fn a_wrong_guess_about_the_exit_is_not_believed() {
    // The loop ends at an even number, so the odd one is never seen.
    check(
        "int main(void) {
  unsigned x = 0;
  while (x < 1000000001) x += 2;
  if (x & 1) reach_error();
  return 0;
}",
        expect![[r#"
            line 5: unknown: NoLeap
            the loop at line 4 ends on all its states
        "#]],
    );
}

#[test]
fn memory_is_only_believed_when_replayed() {
    check(
        "int main(void) {
  int a[1024];
  int i;
  for (i = 0; i < 1024; i++) a[i] = __VERIFIER_nondet_int();
  for (i = 0; i < 1024 && a[i] != 0; i++) ;
  if (i > 512) reach_error();
  return 0;
}",
        expect![[r#"
            line 7: violated
              loop at line 6: Theorem 2
                state iteration <=u 1024 && i == iteration
                entry i == 0
                exit  i == 1024
        "#]],
    );
}

#[test]
fn an_access_out_of_bounds_ends_the_run() {
    check(
        "int main(void) {
  int a[10];
  int i;
  for (i = 0; i < 100000000; i++) a[i] = 0;
  reach_error();
  return 0;
}",
        expect![[r#"
            line 6: unknown: NotConcrete
        "#]],
    );
}

#[test]
fn a_value_may_be_widened_on_its_way_to_the_loop() {
    let text = "extern signed char __VERIFIER_nondet_char(void);
int main(void) {
  signed char c = __VERIFIER_nondet_char();
  __VERIFIER_assume(c == 5);
  int x = c;
  while (x < 1000000) x++;
  if (x == 1000000) reach_error();
  return 0;
}";
    let (program, points_to) = load(&format!("{PRELUDE}{text}"));
    let report = run(&program, &points_to, &Options::default(), 120);
    let told = picture(&program, &report);
    let leapt = "line 8: violated\n  loop at line 7: Theorem";
    assert!(told.starts_with(leapt), "{told}");
}
