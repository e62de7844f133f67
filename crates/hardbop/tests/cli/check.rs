//! `hardbop check`.

use crate::scene::Scene;
use expect_test::{Expect, expect};

#[track_caller]
fn check(text: &str, options: &str, expected: Expect) {
    let prelude = "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n";
    Scene::file("x.c", format!("{prelude}{text}")).check(&format!("check x.c {options}"), expected);
}

const BRANCHES: &str = "int main(void) {
  int x = __VERIFIER_nondet_int();
  int y = 0;
  if (x > 10) y = 1;
  if (y && x < 5) reach_error();
  if (y && x == 12) reach_error();
  return 0;
}
";

#[test]
fn every_check_has_its_answer() {
    check(
        BRANCHES,
        "",
        expect![[r#"
            PROVED x.c:7: call of `reach_error` (in main)
            VIOLATED x.c:8: call of `reach_error` (in main)
              4  int x = __VERIFIER_nondet_int();  x = 12
              6  if (x > 10) y = 1;                x = 12, y = 1
              8  if (y && x == 12) reach_error();  y = 1, x = 12
              8  call of `reach_error`
              x.c:4: input __VERIFIER_nondet_int() = 12
            2 checks: 1 proved, 1 violated, 0 unknown
            [exit 1]
        "#]],
    );
}

#[test]
fn one_violation_may_be_enough() {
    check(
        "int main(void) {
  int x = __VERIFIER_nondet_int();
  if (x == 1) reach_error();
  for (int i = 0; i < 1000000; i++) ;
  if (x == 11) reach_error();
  return 0;
}
",
        "--first --no-trace",
        expect![[r#"
            VIOLATED x.c:5: call of `reach_error` (in main)
              x.c:4: input __VERIFIER_nondet_int() = 1
            UNKNOWN x.c:7: call of `reach_error` (in main)
              because the search ended with the first violation (`--first`, `--property`)
            2 checks: 0 proved, 1 violated, 1 unknown
            [exit 1]
        "#]],
    );
}

/// The log with `-v`, without the times.
#[track_caller]
fn check_log(text: &str, options: &str, expected: Expect) {
    let prelude = "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n";
    let scene = Scene::file("x.c", format!("{prelude}{text}"));
    let output = scene.output(&format!("check x.c -v {options}"));
    let log = String::from_utf8(output.stderr).expect("the log is text");
    let mut last = 0.0;
    let mut picture = String::new();
    for line in log.lines() {
        let (seconds, told) = line.split_once(" s  ").expect("every line has its time");
        let seconds: f64 = seconds.trim().parse().expect("the time is a number");
        assert!(seconds >= last, "time goes on");
        last = seconds;
        picture.push_str(told);
        picture.push('\n');
    }
    expected.assert_eq(&picture);
}

#[test]
fn a_log_tells_what_engines_do() {
    check_log(
        BRANCHES,
        "--engine slam",
        expect![[r#"
            slam: starting
            slam: abstracting: 1 rounds, 0 predicates, 0 relations, 0 Horn queries, 2 checks open
            slam: checking the path through line 8: 1 rounds, 0 predicates, 5 relations, 0 Horn queries, 2 checks open
            slam: VIOLATED x.c:8: call of `reach_error` (in main)
            slam: abstracting: 2 rounds, 0 predicates, 5 relations, 0 Horn queries, 1 check open
            slam: certifying: 2 rounds, 0 predicates, 5 relations, 0 Horn queries, 1 check open
            slam: ended: decided 2 checks, 0 open
        "#]],
    );
}

#[test]
fn a_log_tells_which_engine_decides() {
    let text = "int main(void) { int x = 1; if (x) reach_error(); return 0; }\n";
    check_log(
        text,
        "--json",
        expect![[r#"
            run: starting
            run: running the program: 1 check open
            run: VIOLATED x.c:3: call of `reach_error` (in main)
            run: ended: decided 1 check, 0 open
        "#]],
    );
}

#[test]
fn a_proof_can_be_shown() {
    check(
        "int main(void) {
  int n = __VERIFIER_nondet_int(), i = 0;
  while (i < n) i++;
  if (n >= 0 && i != n) reach_error();
  return 0;
}
",
        "--invariants",
        expect![[r#"
            PROVED x.c:6: call of `reach_error` (in main)
            x.c:5: main: loop invariant i <= 0 || i <= n
            [exit 0]
        "#]],
    );
}

#[test]
fn a_proof_says_no_more_than_it_needs() {
    check(
        "int held;
void acquire(void) { if (held) reach_error(); held = 1; }
void release(void) { if (!held) reach_error(); held = 0; }
int main(void) {
  int packets = __VERIFIER_nondet_int(), seen;
  do {
    acquire();
    seen = packets;
    if (__VERIFIER_nondet_int()) { release(); packets++; }
  } while (packets != seen);
  release();
  return 0;
}
",
        "--invariants",
        expect![[r#"
            PROVED x.c:4: call of `reach_error` (in acquire)
            PROVED x.c:5: call of `reach_error` (in release)
            2 checks: 2 proved, 0 violated, 0 unknown
            x.c:6: main: requires held == 0
            x.c:9: main: loop invariant held == 0
            [exit 0]
        "#]],
    );
}

#[test]
fn asking_for_a_proof_changes_no_answer() {
    // All executions at once decide it; its invariants would be those of a whole sorting network.
    let text = "int main(void) {
  int a[3];
  for (int i = 0; i < 3; i++) a[i] = __VERIFIER_nondet_int();
  for (int i = 0; i < 3; i++)
    for (int j = 0; j + 1 < 3 - i; j++)
      if (a[j] > a[j + 1]) { int t = a[j]; a[j] = a[j + 1]; a[j + 1] = t; }
  if (a[0] > a[1] || a[1] > a[2]) reach_error();
  return 0;
}
";
    check(
        text,
        "-q",
        expect![[r#"
        PROVED x.c:9: call of `reach_error` (in main)
        assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:5
        [exit 0]
    "#]],
    );
    check(
        text,
        "-q --witness x.yml --time-limit 20",
        expect![[r#"
        PROVED x.c:9: call of `reach_error` (in main)
        assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:5
        [exit 0]
    "#]],
    );
}

#[test]
fn of_many_checks_those_come_first_that_matter() {
    check(
        "static int zero(int x) {
  if (x == 1) reach_error(); if (x == 2) reach_error(); if (x == 3) reach_error();
  if (x == 4) reach_error(); if (x == 5) reach_error(); if (x == 6) reach_error();
  if (x == 7) reach_error(); if (x == 8) reach_error(); if (x == 9) reach_error();
  return x;
}
static void unused(void) { reach_error(); }
int main(void) {
  int x = __VERIFIER_nondet_int();
  zero(x & 16);
  if (x == 77) reach_error();
  return 0;
}
",
        "",
        expect![[r#"
            VIOLATED x.c:13: call of `reach_error` (in main)
              11  int x = __VERIFIER_nondet_int();  x = 77
              13  if (x == 77) reach_error();       x = 77
              13  call of `reach_error`
              x.c:11: input __VERIFIER_nondet_int() = 77
            PROVED 9 checks in zero
            unreachable: 1 check in functions that `main` never calls
            11 checks: 9 proved, 1 violated, 0 unknown, 1 unreachable
            [exit 1]
        "#]],
    );
}

#[test]
fn assumptions_are_listed() {
    check(
        "int other(int);
int main(void) {
  if (other(1) == 7) reach_error();
  return 0;
}
",
        "",
        expect![[r#"
            VIOLATED x.c:5: call of `reach_error` (in main)
              5  if (other(1) == 7) reach_error();  other() = 7
              5  call of `reach_error`
            assuming that `other`, first called at x.c:5, returns anything and changes nothing
            [stderr]
            warning: function `other` is not defined
             --> x.c:5:7
              |
            5 |   if (other(1) == 7) reach_error();
              |       ^^^^^^^^ it is taken to return anything
            [exit 1]
        "#]],
    );
}

#[test]
fn nothing_to_check_is_said() {
    check(
        "int main(void) { return 0; }\n",
        "",
        expect![[r#"
        nothing to check: the program has no assertion and no error call
        [exit 0]
    "#]],
    );
}

#[test]
fn what_only_an_unsupported_construct_could_reach_is_not_proved() {
    check(
        "#include <setjmp.h>
jmp_buf buffer;
static void handler(void) { reach_error(); }
int main(void) {
  longjmp(buffer, 1);
  return 0;
}
",
        "-q",
        expect![[r#"
            UNKNOWN x.c:5: call of `reach_error` (in handler)
              because `longjmp` at x.c:7 is not supported and can be reached
            [exit 3]
        "#]],
    );
}

#[test]
fn what_is_not_supported_makes_unknown() {
    check(
        "int main(void) {
  double _Complex z = 1.0;
  reach_error();
  return 0;
}
",
        "",
        expect![[r#"
            UNKNOWN x.c:5: call of `reach_error` (in main)
              because a vector or a complex number at x.c:4 is not supported and can be reached
            [stderr]
            warning: not supported: a vector or a complex number
             --> x.c:4:19
              |
            4 |   double _Complex z = 1.0;
              |                   ^ executions that come here have no verdict
            [exit 3]
        "#]],
    );
}

#[test]
fn a_limit_ends_in_unknown() {
    check(
        BRANCHES,
        "--time-limit 0",
        expect![[r#"
            UNKNOWN x.c:7: call of `reach_error` (in main)
              because the time limit passed
            UNKNOWN x.c:8: call of `reach_error` (in main)
              because the time limit passed
            2 checks: 0 proved, 0 violated, 2 unknown
            [exit 3]
        "#]],
    );
}
