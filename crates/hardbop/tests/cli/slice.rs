//! `hardbop slice`, and slices in `hardbop check`.

use crate::scene::Scene;
use expect_test::expect;
use std::fmt::Write as _;

const PRELUDE: &str = "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n";

const DRIVER: &str = "int held, packets, errors;
static void lock(void) { if (held) reach_error(); held = 1; }
static void unlock(void) { held = 0; }
static int checksum(int n) { int sum = 0; while (n > 0) { sum += n; n--; } return sum; }
static void count(int n) { packets += checksum(n); if (packets > 100) errors++; }
int main(void) {
  int n = __VERIFIER_nondet_int();
  count(n);
  if (n > 3) {
    lock();
    count(n);
    unlock();
  }
  return errors;
}
";

fn driver() -> Scene {
    Scene::file("x.c", format!("{PRELUDE}{DRIVER}"))
}

#[test]
fn lines_that_matter_are_shown_with_why() {
    driver().check(
        "slice x.c",
        expect![[r#"
        x.c: in lock
             4 static void lock(void) { if (held) reach_error(); held = 1; }
                 // violates: call of `reach_error`; writes held, read at line 4
        x.c: in unlock
             5 static void unlock(void) { held = 0; }
                 // writes held, read at line 4
        x.c: in main
             9   int n = __VERIFIER_nondet_int();
                 // writes main::n, read at line 11
            11   if (n > 3) {
                 // decides whether line 12 is reached
            12     lock();
                 // calls lock
            14     unlock();
                 // calls unlock
        9 of 23 statements, 3 of 5 functions, 2 of 11 variables can matter
        [exit 0]
    "#]],
    );
}

#[test]
fn values_alone_are_less() {
    driver().check(
        "slice x.c --depth 0",
        expect![[r#"
        x.c: in lock
             4 static void lock(void) { if (held) reach_error(); held = 1; }
                 // violates: call of `reach_error`; writes held, read at line 4
        x.c: in unlock
             5 static void unlock(void) { held = 0; }
                 // writes held, read at line 4
        x.c: in main
            12     lock();
                 // calls lock
            14     unlock();
                 // calls unlock
        6 of 23 statements, 3 of 5 functions, 1 of 11 variables can matter
        [exit 0]
    "#]],
    );
}

#[test]
fn a_rule_has_a_slice() {
    let value = Scene::examples().json("slice driver/driver.c driver/os.c --rule driver/lock.rule");
    assert_eq!(value["slices"][0]["rule"], "lock");
    let statements = &value["slices"][0]["statements"];
    assert!(statements["kept"].as_u64() < statements["all"].as_u64());
}

#[test]
fn a_line_without_a_check_has_no_slice() {
    driver().check(
        "slice x.c --check-line 1",
        expect![[r#"
        [stderr]
        error: there is no such check
        [exit 2]
    "#]],
    );
}

/// A field of every check.
fn of_checks(json: &serde_json::Value, field: &str) -> Vec<serde_json::Value> {
    let checks = json["checks"].as_array().unwrap().iter();
    checks.map(|check| check[field].clone()).collect()
}

/// A program of many procedures of which two matter, for what two variables have to do with each other.
fn large(last: &str) -> String {
    let mut text = format!("{PRELUDE}int held, turn;\nint data[64];\n");
    for index in 0..90 {
        let before = if index > 0 {
            format!("part{}(n - 1);", index - 1)
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "static void part{index}(int n) {{ int i; for (i = 0; i < n; i++) {{ \
             if (data[i & 63] > {index}) data[(i + 1) & 63] = data[i & 63] - {index}; \
             else if (n == {index}) data[0]++; }} {before} }}"
        );
    }
    let _ = write!(
        text,
        "static void lock(void) {{ if (held != turn) reach_error(); held = turn + 1; }}
static void unlock(void) {{ if (held != turn + 1) reach_error(); held = turn; }}
int main(void) {{
  int n = __VERIFIER_nondet_int();
  held = turn = __VERIFIER_nondet_int() & 255;
  while (__VERIFIER_nondet_int()) {{ lock(); part89(n); unlock(); part70(n); }}
  {last}
  return 0;
}}
"
    );
    text
}

#[test]
fn a_large_program_is_proved_by_its_slice_and_certified() {
    let scene = Scene::file("x.c", large(""));
    let json = scene.json("check x.c --certificate x.cert");
    let engines = of_checks(&json, "engine");
    assert_eq!(engines, ["slice", "slice"]);
    scene.check(
        "certify x.c x.cert",
        expect![[r#"
            PROVED x.c:95: call of `reach_error`
              invariants, checked again: 2 questions to z3
            PROVED x.c:96: call of `reach_error`
              invariants, checked again: 2 questions to z3
            [exit 0]
        "#]],
    );
}

#[test]
fn a_violation_of_a_slice_is_replayed_on_the_program() {
    let scene = Scene::file("x.c", large("if (n == 12345) unlock();"));
    let json = scene.json("check x.c");
    let outcomes = of_checks(&json, "answer");
    assert_eq!(outcomes, ["PROVED", "VIOLATED"]);
}
