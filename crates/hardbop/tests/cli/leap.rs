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
    check(
        LONG,
        "",
        expect![[r#"
        VIOLATED x.c:7: call of `reach_error` (in main)
          x.c:6: leapt forward, by Theorem 2
            abstract state: x < n && x >= 0
            entry port: x == 0
            exit port: x == n - 1
          x.c:4: input __VERIFIER_nondet_int() = 1000000
        x.c:6: this loop ends wherever it is entered (by x)
        [exit 1]
    "#]],
    );
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
        expect![[r#"
            VIOLATED(leap) x.c:6: call of `reach_error` (in main)
              because a run of at least 6000000004 steps reaches it, too long to be replayed; its chain of must transitions was checked again by 2 questions
              x.c:5: leapt forward, by Theorem 2 for iteration
                abstract state: iteration <=u 2000000000 && x == 2000000000 - iteration && y == iteration
                entry port: x == 2000000000 && y == 0
                exit port: x == 0 && y == 2000000000
            x.c:5: this loop ends wherever it is entered (by x)
            [exit 1]
        "#]],
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
        expect![[r#"
            UNKNOWN x.c:6: call of `reach_error` (in main)
              because no chain of leaps to it was found
            x.c:5: this loop ends wherever it is entered (by x)
            [exit 3]
        "#]],
    );
}

#[test]
fn nothing_to_check() {
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
fn predicates_may_be_given() {
    let text =
        format!("extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n{LONG}");
    Scene::file("x.c", text)
        .and_file("x.pred", "main: x >= 0, x <= n\n")
        .check(
            "leap x.c --pred x.pred --no-endings",
            expect![[r#"
            VIOLATED x.c:7: call of `reach_error` (in main)
              x.c:6: leapt forward, by Theorem 2
                abstract state: x < n && x >= 0
                entry port: x == 0
                exit port: x == n - 1
              x.c:4: input __VERIFIER_nondet_int() = 1000000
            [exit 1]
        "#]],
        );
}

#[test]
fn a_loop_that_does_not_exist_cannot_be_suggested() {
    check(
        LONG,
        "--loop 400",
        expect![[r#"
        [stderr]
        error: there is no code at line 400
        [exit 2]
    "#]],
    );
}

#[test]
fn for_machines() {
    let text =
        format!("extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n{LONG}");
    let value = Scene::file("x.c", text).json("leap x.c");
    expect![[r#"
        [
          {
            "answer": "VIOLATED",
            "evidence": "replay",
            "file": "x.c",
            "function": "main",
            "inputs": [
              {
                "file": "x.c",
                "function": "__VERIFIER_nondet_int",
                "line": 4,
                "value": "1000000"
              }
            ],
            "leaps": [
              {
                "choices": [],
                "entry": "x == 0",
                "exit": "x == n - 1",
                "file": "x.c",
                "line": 6,
                "states": [
                  {
                    "file": "x.c",
                    "formula": "x < n && x >= 0",
                    "line": 6
                  }
                ],
                "theorem": 2
              }
            ],
            "length": "2000005",
            "line": 7,
            "message": "call of `reach_error`"
          }
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&value["checks"]).unwrap());
    expect![[r#"[{"by":["x"],"file":"x.c","line":6}]"#]].assert_eq(&value["endings"].to_string());
}

#[test]
fn the_time_limit_is_kept() {
    check(
        LONG,
        "--time-limit 0",
        expect![[r#"
        UNKNOWN x.c:7: call of `reach_error` (in main)
          because the time limit passed
        [exit 3]
    "#]],
    );
}
