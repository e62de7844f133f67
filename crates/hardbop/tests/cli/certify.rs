//! `hardbop check --certificate` and `hardbop certify`.

use crate::scene::{Scene, root};
use expect_test::{Expect, expect};

const PRELUDE: &str = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);\n";

/// A loop with an invariant, a violation behind it.
const LOOP: &str = "int main(void) {
  int n = __VERIFIER_nondet_int(), x = 0, y = 0;
  while (x < n) { x++; y++; }
  if (x != y) reach_error();
  if (n == 7) reach_error();
  return 0;
}
";

/// A program with a certificate of it in `x.cert`, made with some options.
fn certified(text: &str, options: &str) -> Scene {
    let scene = Scene::file("x.c", format!("{PRELUDE}{text}"));
    scene.output(&format!("check x.c --certificate x.cert {options}"));
    scene
}

#[track_caller]
fn check(scene: &Scene, command: &str, expected: Expect) {
    scene.check(command, expected);
}

#[test]
fn what_was_decided_is_checked_again() {
    check(
        &certified(LOOP, ""),
        "certify x.c x.cert",
        expect![[r#"
        PROVED x.c:5: call of `reach_error`
          invariants, checked again: 1 question to z3
        VIOLATED x.c:6: call of `reach_error`
          a run, repeated by the interpreter
        [exit 1]
    "#]],
    );
}

/// Claims about the program as it is, with its calls.
#[test]
fn what_was_decided_without_a_pass_is_checked_again() {
    let calls = "static int g; static void more(void) { g++; }
int main(void) {
  int n = __VERIFIER_nondet_int();
  for (int i = 0; i < n; i++) { more(); if (g < 1) reach_error(); g = 0; }
  return 0;
}
";
    let scene = certified(calls, "--without inline --engine horn");
    check(
        &scene,
        "certify x.c x.cert",
        expect![[r#"
        PROVED x.c:5: call of `reach_error`
          invariants, checked again: 6 questions to z3
        [exit 0]
    "#]],
    );
    let written = std::fs::read_to_string(scene.path().join("x.cert")).unwrap();
    assert!(written.contains(r#""without": ["#), "{written}");
}

#[test]
fn another_solver_agrees() {
    if !root().join("third_party/cvc5").exists() {
        return;
    }
    let solver = root().join("scripts/smtlib-cvc5");
    let command = format!(
        "certify x.c x.cert --solver cvc5 --solver-command {}",
        solver.display()
    );
    check(
        &certified(LOOP, ""),
        &command,
        expect![[r#"
        PROVED x.c:5: call of `reach_error`
          invariants, checked again: 1 question to cvc5
        VIOLATED x.c:6: call of `reach_error`
          a run, repeated by the interpreter
        [exit 1]
    "#]],
    );
}

/// A SAT solver that nobody has to believe: its proofs are checked, and written down.
#[test]
fn circuits_come_with_proofs() {
    let scene = certified(LOOP, "");
    check(
        &scene,
        "certify x.c x.cert --solver circuits --proofs proofs",
        expect![[r#"
        PROVED x.c:5: call of `reach_error`
          invariants, checked again: 1 question to circuits
        VIOLATED x.c:6: call of `reach_error`
          a run, repeated by the interpreter
        [exit 1]
    "#]],
    );
    let clauses = std::fs::read_to_string(scene.path().join("proofs/00001.cnf")).unwrap();
    let proof = std::fs::read_to_string(scene.path().join("proofs/00001.drat")).unwrap();
    assert!(clauses.starts_with("p cnf "), "{clauses}");
    assert!(proof.ends_with("0\n"), "{proof}");
    check(
        &scene,
        "certify x.c x.cert --proofs proofs",
        expect![[r#"
            [stderr]
            error: only `--solver circuits` has proofs to write
            [exit 2]
        "#]],
    );
}

#[test]
fn every_kind_of_claim_is_checked_again() {
    let unrolled = "int main(void) {
  int n = __VERIFIER_nondet_int(), x = 0;
  for (int i = 0; i < 3; i++) x += n & 1;
  if (x == 2) reach_error();
  return 0;
}
";
    check(
        &certified(unrolled, "--engine unroll"),
        "certify x.c x.cert",
        expect![[r#"
            PROVED x.c:5: call of `reach_error`
              an exhausted unrolling, checked again: 1 question to z3
            [exit 0]
        "#]],
    );
    check(
        &certified(unrolled, "--engine dpr"),
        "certify x.c x.cert",
        expect![[r#"
            PROVED x.c:5: call of `reach_error`
              clauses over paths, checked again: 1 question to z3
            [exit 0]
        "#]],
    );
    let determined = "int main(void) { int x = 3; if (x == 4) reach_error(); return 0; }\n";
    check(
        &certified(determined, "--engine run"),
        "certify x.c x.cert",
        expect![[r#"
            PROVED x.c:2: call of `reach_error`
              the only run there is, checked again without a question
            [exit 0]
        "#]],
    );
}

/// A run of two billion steps is a violation all the same.
#[test]
fn a_violation_that_cannot_be_replayed_is_reported() {
    let long = "int main(void) {
  int x = 2000000000, y = 0;
  while (x > 0) { x -= 2; y++; }
  if (y == 1000000000) reach_error();
  return 0;
}
";
    let scene = Scene::file("x.c", format!("{PRELUDE}{long}"));
    check(
        &scene,
        "check x.c --engine leap --certificate x.cert --harness run.c",
        expect![[r#"
            VIOLATED x.c:5: call of `reach_error` (in main)
              a run of at least 3000000004 steps does, too long to be replayed: it leaps the loop at x.c:4, by must transitions that 2 questions confirm
            no violation with a run that can be repeated, so run.c is not written
            [exit 1]
        "#]],
    );
    check(
        &scene,
        "certify x.c x.cert",
        expect![[r#"
            VIOLATED x.c:5: call of `reach_error`
              a chain of must transitions, checked again: 2 questions to z3
            [exit 1]
        "#]],
    );
}

#[test]
fn a_certificate_is_for_one_program_and_its_options() {
    let scene = certified(LOOP, "");
    check(
        &scene,
        "certify x.c x.cert --data-model ilp32",
        expect![[r#"
            [stderr]
            error: `x.cert` is for other options (data model, checks, entry, macros)
            [exit 2]
        "#]],
    );
    let other = LOOP.replace("y++", "y += 2");
    let scene = scene.and_file("x.c", format!("{PRELUDE}{other}"));
    check(
        &scene,
        "certify x.c x.cert",
        expect![[r#"
        [stderr]
        error: `x.cert` is for another program
        [exit 2]
    "#]],
    );
}

/// Whoever changes a certificate is not believed.
#[test]
fn a_claim_that_does_not_stand_is_refused() {
    let scene = certified(LOOP, "--engine houdini");
    let path = scene.path().join("x.cert");
    let text = std::fs::read_to_string(&path).expect("it was written");
    let start = text.find("\"(and ").expect("there is an invariant");
    let end = start + 1 + text[start + 1..].find('"').expect("it ends") + 1;
    let changed = format!("{}\"true\"{}", &text[..start], &text[end..]);
    let scene = scene.and_file("x.cert", changed);
    check(
        &scene,
        "certify x.c x.cert",
        expect![[r#"
        REFUSED x.c:5: call of `reach_error`
          invariants: the invariants that were found do not hold in the exact meaning
        [exit 3]
    "#]],
    );
}

#[test]
fn what_is_no_certificate_is_refused() {
    let scene = Scene::file("x.c", "int main(void) { return 0; }\n")
        .and_file("not.json", "hello\n")
        .and_file("other.json", "{\"format\": \"something\"}\n");
    check(
        &scene,
        "certify x.c not.json",
        expect![[r#"
        [stderr]
        error: `not.json` is no certificate: expected value at line 1 column 1
        [exit 2]
    "#]],
    );
    check(
        &scene,
        "certify x.c other.json",
        expect![[r#"
        [stderr]
        error: `other.json` is no certificate: missing field `version` at line 1 column 23
        [exit 2]
    "#]],
    );
    check(
        &scene,
        "certify x.c missing.cert",
        expect![[r#"
        [stderr]
        error: cannot read `missing.cert`: there is no such file
        [exit 2]
    "#]],
    );
    check(
        &scene,
        "certify x.c",
        expect![[r#"
        [stderr]
        error: a program and a certificate are needed: `hardbop certify PROGRAM.c CERTIFICATE`
        [exit 2]
    "#]],
    );
}

#[test]
fn a_solver_that_is_not_there_is_named() {
    check(
        &certified(LOOP, ""),
        "certify x.c x.cert --solver bitwuzla --solver-command no-such-solver",
        expect![[r#"
            [stderr]
            error: cannot start `no-such-solver` (No such file or directory (os error 2)): install bitwuzla, or say how it is started with --solver-command
            [exit 2]
        "#]],
    );
}
