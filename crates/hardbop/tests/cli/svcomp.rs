//! Property files, task definitions and harnesses.

use crate::scene::Scene;
use expect_test::{Expect, expect};
use std::process::Command;

const UNREACH: &str = "CHECK( init(main()), LTL(G ! call(reach_error())) )\n";

const PROGRAM: &str = "extern int __VERIFIER_nondet_int(void);
extern void abort(void);
void reach_error(void) { abort(); }
int main(void) {
  long x = __VERIFIER_nondet_int();
  if (x == 101 && sizeof(long) == 4) reach_error();
  return 0;
}
";

fn task(data_model: &str, expected: &str) -> Scene {
    let definition = format!(
        "format_version: '2.0'\ninput_files: 'x.c'\nproperties:\n  \
         - property_file: termination.prp\n    expected_verdict: true\n  \
         - property_file: unreach-call.prp\n    expected_verdict: {expected}\n\
         options:\n  language: C\n  data_model: {data_model}\n"
    );
    Scene::file("x.c", PROGRAM)
        .and_file("unreach-call.prp", UNREACH)
        .and_file("termination.prp", "CHECK( init(main()), LTL(F end) )\n")
        .and_file("x.yml", definition)
}

#[test]
fn a_task_says_what_is_to_be_decided() {
    task("ILP32", "false").check("check x.yml", expect![[r#"
        VIOLATED x.c:6: call of `reach_error` (in main)
          5  long x = __VERIFIER_nondet_int();                  __VERIFIER_nondet_int() = 101, x = 101
          6  if (x == 101 && sizeof(long) == 4) reach_error();  x = 101
          6  call of `reach_error`
          x.c:5: input __VERIFIER_nondet_int() = 101
        result: false(unreach-call), expected: false
        [exit 1]
    "#]]);
    task("LP64", "true").check(
        "check x.yml",
        expect![[r#"
        nothing to check: the program has no assertion and no error call
        result: true, expected: true
        [exit 0]
    "#]],
    );
}

#[test]
fn an_answer_that_is_not_expected_is_pointed_out() {
    task("LP64", "false").check(
        "check x.yml",
        expect![[r#"
        nothing to check: the program has no assertion and no error call
        result: true, but expected: false
        [exit 0]
    "#]],
    );
}

#[test]
fn properties_choose_the_checks() {
    let text = "#include <assert.h>
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
  int x = __VERIFIER_nondet_int();
  assert(x > 0);
  if (x <= 0) reach_error();
  return x + 1;
}
";
    let scene = Scene::file("x.c", text)
        .and_file("unreach-call.prp", UNREACH)
        .and_file(
            "no-overflow.prp",
            "CHECK( init(main()), LTL(G ! overflow) )\n",
        );
    scene.check(
        "check x.c --property unreach-call.prp",
        expect![[r#"
        PROVED x.c:7: call of `reach_error` (in main)
        result: true
        [exit 0]
    "#]],
    );
    scene.check(
        "check x.c --property no-overflow.prp",
        expect![[r#"
        VIOLATED x.c:8: signed overflow in x + 1 (in main)
          5  int x = __VERIFIER_nondet_int();  x = 2147483647
          8  return x + 1;                     x = 2147483647
          8  signed overflow in x + 1
          x.c:5: input __VERIFIER_nondet_int() = 2147483647
        result: false(no-overflow)
        [exit 1]
    "#]],
    );
    let json = scene.json("check x.c --property no-overflow.prp");
    assert_eq!(json["result"], "false(no-overflow)");
}

/// That a function is never called which the program does not have is no answer.
#[test]
fn a_property_about_another_error_function_is_refused() {
    let text = "extern void __VERIFIER_error(void);
int main(void) {
  __VERIFIER_error();
}
";
    Scene::file("x.c", text)
        .and_file("unreach-call.prp", UNREACH)
        .check(
            "check x.c --property unreach-call.prp",
            expect![[r#"
                [stderr]
                warning: function `__VERIFIER_error` is not defined
                 --> x.c:3:3
                  |
                3 |   __VERIFIER_error();
                  |   ^^^^^^^^^^^^^^^^^^ it is taken to return anything
                error: the property is about calls of `reach_error`, which the program does not have; it has `__VERIFIER_error`: ask for `G ! call(__VERIFIER_error())`, or leave `--property` out
                [exit 2]
            "#]],
        );
}

#[test]
fn the_ends_of_executions_are_a_property() {
    let scene = task("LP64", "true");
    scene.check(
        "check x.yml --property termination.prp",
        expect![[r#"
        PROVED x.c:4: every execution ends (in main)
        result: true, expected: true
        [exit 0]
    "#]],
    );
    let endless = Scene::file("x.c", "int main(void) { unsigned i = 0; while (1) i++; }")
        .and_file("termination.prp", "CHECK( init(main()), LTL(F end) )\n");
    endless.check("check x.c --property termination.prp", expect![[r#"
        VIOLATED x.c:1: every execution ends (in main)
          an execution goes on for ever: from x.c:1 after 1 step on it can stay where anything holds at x.c:1
        result: false(termination)
        [exit 1]
    "#]]);
    endless.check(
        "check x.c --property termination.prp --witness w.yml",
        expect![[r#"
            VIOLATED x.c:1: every execution ends (in main)
              an execution goes on for ever: from x.c:1 after 1 step on it can stay where anything holds at x.c:1
            result: false(termination)
            witnesses about the ends of executions are not made, so w.yml is not written
            [exit 1]
        "#]],
    );
    let json = endless.json("check x.c --property termination.prp");
    assert_eq!(json["result"], "false(termination)");
    // What overflows has no meaning, so the execution ends there.
    let overflows = Scene::file(
        "x.c",
        "extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = __VERIFIER_nondet_int();
  while (x > 0) x = 2 * x + 1;
  return 0;
}
",
    )
    .and_file("termination.prp", "CHECK( init(main()), LTL(F end) )\n");
    overflows.check(
        "check x.c --property termination.prp",
        expect![[r#"
        PROVED x.c:2: every execution ends (in main)
          rank at x.c:4: -x
        assuming that an execution ends where signed arithmetic overflows, first at x.c:4
        result: true
        [exit 0]
    "#]],
    );
}

#[test]
fn what_cannot_be_decided_is_refused() {
    let scene =
        task("LP64", "true").and_file("races.prp", "CHECK( init(main()), LTL(G ! data-race) )\n");
    scene.check("check x.yml --property races.prp", expect![[r#"
        [stderr]
        error: `races.prp`: the property `data-race` is not checked; calls, labels, overflows, `valid-deref`, `valid-free`, `valid-memtrack`, `valid-memcleanup`, `def-behavior` and `termination` are
        [exit 2]
    "#]]);
    let both = "CHECK( init(main()), LTL(F end) )\nCHECK( init(main()), LTL(G ! overflow) )\n";
    let scene = task("LP64", "true").and_file("both.prp", both);
    scene.check(
        "check x.yml --property both.prp",
        expect![[r#"
        [stderr]
        error: `both.prp`: the property `termination` is decided by itself, not beside others
        [exit 2]
    "#]],
    );
    task("LP64", "true").check(
        "check x.yml --property none.prp",
        expect![[r#"
        [stderr]
        error: cannot read `none.prp`: there is no such file
        [exit 2]
    "#]],
    );
    task("LP63", "true").check(
        "check x.yml",
        expect![[r#"
        [stderr]
        error: this data model is not known
          --> x.yml:10:15
           |
        10 |   data_model: LP63
           |               ^^^^ expected `ILP32` or `LP64`
        [exit 2]
    "#]],
    );
    Scene::file("x.yml", "format_version: '2.0'\ninput_files: [").check(
        "check x.yml",
        expect![[r#"
            [stderr]
            error: this is not YAML: while parsing a node, did not find expected node content
             --> x.yml:2:15
              |
            2 | input_files: [
              |               ^
            [exit 2]
        "#]],
    );
    task("LP64", "true").check(
        "check x.yml x.c",
        expect![[r#"
        [stderr]
        error: `x.yml` is a task definition and names its files itself: give nothing else
        [exit 2]
    "#]],
    );
}

/// Checks a program, compiles the harness with it, runs that, and shows how it ends.
#[track_caller]
fn check_harness(text: &str, check_options: &str, gcc_options: &[&str], expected: Expect) {
    let scene = Scene::file("x.c", text);
    let found = scene.output(&format!(
        "check x.c --harness run.c --no-trace {check_options}"
    ));
    let mut picture = crate::scene::picture(&found);
    let compiled = Command::new("gcc")
        .current_dir(scene.path())
        .args(["-w", "-g", "x.c", "run.c", "-o", "failing"])
        .args(gcc_options)
        .output()
        .expect("gcc starts");
    let errors = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{errors}");
    let ran = Command::new(scene.path().join("failing"))
        .current_dir(scene.path())
        .output()
        .expect("the harness starts");
    assert!(!ran.status.success(), "the compiled program must fail");
    let said = String::from_utf8_lossy(&ran.stderr);
    let first = said.lines().next().unwrap_or_default();
    assert!(first.contains("x.c:"), "it must say where: {said}");
    picture.push_str(&format!("failing: {first}\n"));
    expected.assert_eq(&picture);
}

#[test]
fn a_harness_fails_where_the_run_does() {
    check_harness(
        "extern int __VERIFIER_nondet_int(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void reach_error(void);
extern void __VERIFIER_assume(int);
int main(void) {
  int x = __VERIFIER_nondet_int();
  __VERIFIER_assume(x < -5);
  unsigned char c = __VERIFIER_nondet_uchar();
  if (x * 2 == -84 && c == 200) reach_error();
  return 0;
}
",
        "",
        &[],
        expect![[r#"
            VIOLATED x.c:9: call of `reach_error` (in main)
              x.c:6: input __VERIFIER_nondet_int() = -42
              x.c:8: input __VERIFIER_nondet_uchar() = 200
            [exit 1]
            failing: hardbop: x.c:9: reach_error is called
        "#]],
    );
}

#[test]
fn a_harness_stands_in_for_what_is_not_defined() {
    check_harness(
        "#include <assert.h>
long read_sensor(int which);
char *read_name(void);
int start(void) {
  if (read_name() == 0)
    assert(read_sensor(1) != 5 || read_sensor(2) == 6);
  return 0;
}
",
        "--entry start --quiet",
        &[],
        expect![[r#"
            VIOLATED x.c:6: assertion read_sensor(1) != 5 || read_sensor(2) == 6 (in start)
            assuming that `read_name`, first called at x.c:5, returns anything and changes nothing
            assuming that `read_sensor`, first called at x.c:6, returns anything and changes nothing
            [exit 1]
            failing: failing: x.c:6: start: Assertion `read_sensor(1) != 5 || read_sensor(2) == 6' failed.
        "#]],
    );
}

#[test]
fn a_harness_fails_under_the_sanitizer() {
    check_harness(
        "extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = __VERIFIER_nondet_int();
  if (x < 1000) return 0;
  int y = x + 1;
  return y;
}
",
        "--check overflow",
        &[
            "-fsanitize=signed-integer-overflow",
            "-fno-sanitize-recover=all",
        ],
        expect![[r#"
            VIOLATED x.c:5: signed overflow in x + 1 (in main)
              x.c:3: input __VERIFIER_nondet_int() = 2147483647
            [exit 1]
            failing: x.c:5:7: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'
        "#]],
    );
}

#[test]
fn without_a_violation_there_is_no_harness() {
    Scene::file("x.c", "int main(void) { return 0; }\n").check(
        "check x.c --harness run.c",
        expect![[r#"
            nothing to check: the program has no assertion and no error call
            no violation, so run.c is not written
            [exit 0]
        "#]],
    );
}

/// One violation answers the question. With `--all`, each check has its answer.
#[test]
fn a_property_is_one_question() {
    let text = "extern int __VERIFIER_nondet_int(void);
extern void abort(void);
void reach_error(void) { abort(); }
int main(void) {
  int x = __VERIFIER_nondet_int();
  if (x == 0) reach_error();
  if (x == 1) { x = 2; if (x == 1) reach_error(); }
  for (int i = 0; i < x; i++) if (i == 100000) reach_error();
  return 0;
}
";
    let scene = Scene::file("x.c", text).and_file("unreach-call.prp", UNREACH);
    scene.check(
        "check x.c --property unreach-call.prp --no-trace",
        expect![[r#"
            VIOLATED x.c:6: call of `reach_error` (in main)
              x.c:5: input __VERIFIER_nondet_int() = 0
            PROVED x.c:7: call of `reach_error` (in main)
            UNKNOWN x.c:8: call of `reach_error` (in main)
              because the search ended with the first violation (`--first`, `--property`)
            3 checks: 1 proved, 1 violated, 1 unknown
            result: false(unreach-call)
            [exit 1]
        "#]],
    );
    scene.check(
        "check x.c --property unreach-call.prp --no-trace --all",
        expect![[r#"
            VIOLATED x.c:6: call of `reach_error` (in main)
              x.c:5: input __VERIFIER_nondet_int() = 0
            PROVED x.c:7: call of `reach_error` (in main)
            VIOLATED x.c:8: call of `reach_error` (in main)
              x.c:5: input __VERIFIER_nondet_int() = 100001
            3 checks: 1 proved, 2 violated, 0 unknown
            result: false(unreach-call)
            [exit 1]
        "#]],
    );
}

/// A shift by a wrong amount is no overflow, so the search goes on behind it.
#[test]
fn what_breaks_no_property_ends_no_search() {
    let text = "extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = __VERIFIER_nondet_int(), y = 1 << x;
  if (x == 5) y += x + __VERIFIER_nondet_int();
  return y;
}
";
    let overflow = "CHECK( init(main()), LTL(G ! overflow) )\n";
    let scene = Scene::file("x.c", text).and_file("no-overflow.prp", overflow);
    scene.check(
        "check x.c --property no-overflow.prp --no-trace",
        expect![[r#"
            VIOLATED x.c:3: shift by a wrong amount in 1 << x (in main)
              x.c:3: input __VERIFIER_nondet_int() = -1
            VIOLATED x.c:4: signed overflow in x + __VERIFIER_nondet_int() (in main)
              x.c:3: input __VERIFIER_nondet_int() = 5
              x.c:4: input __VERIFIER_nondet_int() = 2147483643
            VIOLATED x.c:4: signed overflow in y += x + __VERIFIER_nondet_int() (in main)
              x.c:3: input __VERIFIER_nondet_int() = 5
              x.c:4: input __VERIFIER_nondet_int() = 2147483631
            3 checks: 0 proved, 3 violated, 0 unknown
            result: false(no-overflow)
            [exit 1]
        "#]],
    );
}
