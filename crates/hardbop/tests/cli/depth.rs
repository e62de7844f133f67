//! `hardbop check --depth`: answers up to a number of iterations.

use crate::scene::Scene;
use expect_test::{Expect, expect};

const PRELUDE: &str =
    "extern unsigned __VERIFIER_nondet_uint(void);\nextern void reach_error(void);\n";

/// Nobody finds an invariant of it in the time of a test.
const MIXED: &str = "int main(void) {
  unsigned a = __VERIFIER_nondet_uint(), n = __VERIFIER_nondet_uint(), b = a;
  for (unsigned i = 0; i < n; i++) {
    a = a * a * 1664525u + 1013904223u;
    b = b * b * 1664525u + 1013904223u;
    a ^= b >> 7;
    b ^= (a ^ (b >> 7)) >> 7;
  }
  if (a == 12345 && b == 54321 && n == 40) reach_error();
  return 0;
}
";

fn scene(text: &str) -> Scene {
    Scene::file("x.c", format!("{PRELUDE}{text}"))
}

#[track_caller]
fn check(text: &str, options: &str, expected: Expect) {
    scene(text).check(&format!("check x.c {options}"), expected);
}

#[test]
fn what_is_proved_needs_no_depth() {
    check(
        "int main(void) { unsigned i = 0; while (i < 10) i++; if (i != 10) reach_error(); }",
        "--depth 2",
        expect![[r#"
            PROVED x.c:3: call of `reach_error` (in main)
            [exit 0]
        "#]],
    );
}

/// It is neither proved nor unknown, and everybody is told.
#[test]
fn an_answer_up_to_a_depth_is_one_of_its_own() {
    let scene = scene(MIXED);
    let output = scene.output("check x.c --depth 2 --time-limit 8 --sarif s.json --junit j.xml");
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(
        said.starts_with(
            "BOUNDED x.c:11: call of `reach_error` (in main)\n  no violation up to 2 iterations of \
             each loop\n  not proved, because "
        ),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(4));
    let read = |name: &str| std::fs::read_to_string(scene.path().join(name)).expect("it is there");
    let sarif: serde_json::Value = serde_json::from_str(&read("s.json")).expect("JSON");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["kind"], "open");
    assert_eq!(result["properties"]["depth"], 2);
    let junit = read("j.xml");
    assert!(junit.contains("errors=\"0\" skipped=\"1\""), "{junit}");
    assert!(
        junit.contains("<skipped message=\"no violation up to 2 iterations"),
        "{junit}"
    );
    let value = scene.json("check x.c --depth 2 --time-limit 8");
    assert_eq!(value["exit_code"], 4);
    assert_eq!(value["checks"][0]["answer"], "BOUNDED");
    assert_eq!(value["checks"][0]["depth"], 2);
}

/// An engine that follows executions would follow these for ever: it looks at the depth and at
/// nothing else.
#[test]
fn a_named_engine_that_follows_executions_goes_to_the_depth_at_once() {
    for engine in ["sat", "unroll"] {
        let output = scene(MIXED).output(&format!("check x.c --engine {engine} --depth 2 -v"));
        let told = String::from_utf8(output.stderr).expect("text");
        let unrolling: Vec<&str> = told.lines().filter(|it| it.contains("unrolling")).collect();
        assert!(!unrolling.is_empty(), "{told}");
        assert!(
            unrolling.iter().all(|line| line.contains("depth 2:")),
            "{told}"
        );
        assert_eq!(output.status.code(), Some(4));
    }
}

/// A program whose loops are short is followed to its ends, which is more than a depth.
#[test]
fn a_named_engine_still_proves_what_it_can_follow_to_its_ends() {
    check(
        "int main(void) {
  int i = 0, n = 0;
  do { if (__VERIFIER_nondet_uint()) n++; i++; } while (i < 6);
  if (n > 6) reach_error();
}
",
        "--depth 2 --engine sat",
        expect![[r#"
            PROVED x.c:6: call of `reach_error` (in main)
            [exit 0]
        "#]],
    );
}

/// The loop body is run twice before the check fails: that is within two iterations, and beyond one.
#[test]
fn a_violation_within_the_depth_is_found_and_run() {
    check(
        "int main(void) {
  unsigned i = 0, key = 0;
  while (__VERIFIER_nondet_uint() != 7) { i++; key = key * 31 + i; }
  if (key == 33) reach_error();
}
",
        "--depth 2 --engine slam --no-trace",
        expect![[r#"
            VIOLATED x.c:6: call of `reach_error` (in main)
              x.c:5: input __VERIFIER_nondet_uint() = 0
              x.c:5: input __VERIFIER_nondet_uint() = 0
              x.c:5: input __VERIFIER_nondet_uint() = 7
            [exit 1]
        "#]],
    );
}

/// That every execution of a program that is cut off ends says nothing of the program.
#[test]
fn a_depth_says_nothing_of_ends() {
    let value = scene("int main(void) { while (1) ; }")
        .json("check x.c --check leak --depth 2 --time-limit 4");
    for check in value["checks"].as_array().expect("checks") {
        assert_ne!(check["answer"], "BOUNDED", "{check}");
    }
}

/// A list of as many nodes as an input says, marked by a flag that is an input, too: what is said
/// up to a depth holds wherever the nodes lie, and is known in a moment.
#[test]
fn lists_are_followed_up_to_a_depth() {
    let list = |last: &str| {
        format!(
            "void *malloc(unsigned long);
struct node {{ int mark; struct node *next; }};
int main(void) {{
  int flag = __VERIFIER_nondet_uint() != 0;
  struct node *first = malloc(sizeof *first), *at = first;
  while (__VERIFIER_nondet_uint()) {{
    at->mark = flag ? 7 : 9;
    struct node *new = malloc(sizeof *new);
    at->next = new;
    at = new;
  }}
  at->mark = {last};
  for (at = first; at->mark == (flag ? 7 : 9); at = at->next) ;
  if (at->mark != 11) reach_error();
  return 0;
}}
"
        )
    };
    let options = "--engine sat --depth 5 --time-limit 20 --data-model ilp32";
    check(
        &list("11"),
        options,
        expect![[r#"
            BOUNDED x.c:16: call of `reach_error` (in main)
              no violation up to 5 iterations of each loop
              not proved, because nothing was found in the first 0 steps, and some runs are longer
            assuming that memory can always be allocated: `malloc` returns null only for 2^31 bytes or more, and no execution fills the address space
            [exit 4]
        "#]],
    );
    check(
        &list("flag ? 11 : 12"),
        &format!("{options} --no-trace"),
        expect![[r#"
            VIOLATED x.c:16: call of `reach_error` (in main)
              x.c:6: input __VERIFIER_nondet_uint() = 0
              x.c:8: input __VERIFIER_nondet_uint() = 0
            UNKNOWN whether all executions were seen
              because nothing was found in the first 0 steps, and some runs are longer
            assuming that memory can always be allocated: `malloc` returns null only for 2^31 bytes or more, and no execution fills the address space
            [exit 1]
        "#]],
    );
}
