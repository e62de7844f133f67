//! `hardbop bmc`.

use crate::scene::{Scene, picture};
use expect_test::{Expect, expect};

const PRELUDE: &str = "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n";

#[track_caller]
fn check(text: &str, options: &str, expected: Expect) {
    Scene::file("x.c", format!("{PRELUDE}{text}")).check(&format!("bmc x.c {options}"), expected);
}

/// Figure 1 of the paper: the choices have nothing to do with x.
const FOO: &str = "int main(void) {
  int x = 5, y = 8, z = 20;
  if (__VERIFIER_nondet_int()) y = y - 1; else y = y + 1;
  x = 2 * x;
  if (__VERIFIER_nondet_int()) z = z - 1; else z = z + 1;
  if (x > 10) reach_error();
  return 0;
}
";

#[test]
fn one_path_is_enough() {
    check(
        FOO,
        "",
        expect![[r#"
        PROVED x.c:8: call of `reach_error` (in main)
        explored 1 of 4 paths, pruned 3
        [exit 0]
    "#]],
    );
}

#[test]
fn without_learning_every_path_is_run() {
    check(
        FOO,
        "--no-learning",
        expect![[r#"
        PROVED x.c:8: call of `reach_error` (in main)
        explored 4 of 4 paths, pruned 0
        [exit 0]
    "#]],
    );
}

/// Figure 2: one side of the second choice matters.
const FOO2: &str = "int main(void) {
  int x = 5, y = 8, z = 10;
  if (__VERIFIER_nondet_int()) y = y - 1; else y = y + 1;
  x = 2 * x;
  if (__VERIFIER_nondet_int()) z = z - 1; else { z = z + 1; x = x + 1; }
  if (x > 10) reach_error();
  return 0;
}
";

#[test]
fn a_violation_has_its_run() {
    check(
        FOO2,
        "--order depth-first --one-by-one",
        expect![[r#"
            VIOLATED x.c:8: call of `reach_error` (in main)
              4  int x = 5, y = 8, z = 10;   x = 5
              6  x = 2 * x;                  x = 10
              7  if (__VERIFIER_nondet_int()) z = z - 1; else { z = z + 1; x = x + 1; }  __VERIFIER_nondet_int() = 0, x = 11
              8  if (x > 10) reach_error();  x = 11
              8  call of `reach_error`
              x.c:5: input __VERIFIER_nondet_int() = 1
              x.c:7: input __VERIFIER_nondet_int() = 0
            explored 2 of 4 paths, pruned 1
            [exit 1]
        "#]],
    );
}

#[test]
fn a_violation_as_edges() {
    check(
        FOO2,
        "--random 3 --trace --one-by-one",
        expect![[r#"
            VIOLATED x.c:8: call of `reach_error` (in main)
              x.c:4: x = 5;
              x.c:4: y = 8;
              x.c:4: z = 10;
              x.c:5: t#1 = input __VERIFIER_nondet_int();
              x.c:5: assume(t#1);
              x.c:5: y = y - 1;
              x.c:6: x = 2 * x;
              x.c:7: t#2 = input __VERIFIER_nondet_int();
              x.c:7: assume(!t#2);
              x.c:7: z = z + 1;
              x.c:7: x = x + 1;
              x.c:8: assume(x > 10);
              x.c:5: input __VERIFIER_nondet_int() = 1
              x.c:7: input __VERIFIER_nondet_int() = 0
            explored 2 of 4 paths, pruned 1
            [exit 1]
        "#]],
    );
}

#[test]
fn a_proof_is_its_clauses() {
    let text = FOO2.replace("x > 10", "x > 20");
    check(
        &text,
        "--order depth-first --clauses --one-by-one",
        expect![[r#"
        PROVED x.c:8: call of `reach_error` (in main)
        no run meets an error that does all of this:
          x.c:7: assume(t#2); (node 8)
        no run meets an error that does all of this:
          x.c:7: assume(!t#2); (node 8)
        explored 2 of 4 paths, pruned 2
        [exit 0]
    "#]],
    );
}

const LOOP: &str = "int main(void) {
  int n = 0;
  while (__VERIFIER_nondet_int()) n = n + 1;
  if (n == 5) reach_error();
  return 0;
}
";

#[test]
fn beyond_the_bound_nothing_is_claimed() {
    check(
        LOOP,
        "--depth 3 --one-by-one",
        expect![[r#"
        UNKNOWN x.c:6: call of `reach_error` (in main)
          because nothing was found up to bound 3, and some runs go beyond it
        explored 5 of 16 paths, pruned 11
        [exit 3]
    "#]],
    );
}

#[test]
fn within_the_bound_it_is_found() {
    check(
        LOOP,
        "--depth 5 --no-trace --one-by-one",
        expect![[r#"
            VIOLATED x.c:6: call of `reach_error` (in main)
              x.c:5: input __VERIFIER_nondet_int() = 1
              x.c:5: input __VERIFIER_nondet_int() = 1
              x.c:5: input __VERIFIER_nondet_int() = 1
              x.c:5: input __VERIFIER_nondet_int() = 1
              x.c:5: input __VERIFIER_nondet_int() = 1
              x.c:5: input __VERIFIER_nondet_int() = 0
            explored 6 of 64 paths, pruned 57
            [exit 1]
        "#]],
    );
}

/// Where the first run is not enough, and took questions, all paths are followed at once: the same
/// answers.
#[test]
fn all_paths_together() {
    let asking = |text: &str| text.replace("nondet_int())", "nondet_int() > 7)");
    let shown = |options: &str| {
        let scene = Scene::file("x.c", format!("{PRELUDE}{}", asking(LOOP)));
        picture(&scene.output(&format!("bmc x.c --no-trace --stats {options}")))
    };
    let bounded = shown("--depth 3");
    assert!(
        bounded.contains("nothing was found up to bound 3"),
        "{bounded}"
    );
    assert!(bounded.contains("steps together"), "{bounded}");
    let found = shown("--depth 5");
    assert!(found.starts_with("VIOLATED x.c:6: "), "{found}");
    assert!(found.contains("steps together"), "{found}");
    let alone = shown("--depth 5 --one-by-one");
    assert!(alone.starts_with("VIOLATED x.c:6: "), "{alone}");
    assert!(!alone.contains("together"), "{alone}");
    let text = asking(FOO2).replace("x > 10", "x > 20");
    let scene = Scene::file("x.c", format!("{PRELUDE}{text}"));
    let proved = picture(&scene.output("bmc x.c --clauses"));
    assert!(proved.starts_with("PROVED x.c:8: "), "{proved}");
    assert!(proved.contains("no run meets an error\n"), "{proved}");
}

#[test]
fn many_paths_are_counted_exactly() {
    let mut text = "int main(void) {\n  int x = 0;\n".to_owned();
    for _ in 0..80 {
        text.push_str("  if (__VERIFIER_nondet_int()) x = 1;\n");
    }
    text.push_str("  if (x > 1) reach_error();\n  return 0;\n}\n");
    check(
        &text,
        "--one-by-one",
        expect![[r#"
            PROVED x.c:85: call of `reach_error` (in main)
            explored 81 of 1208925819614629174706176 paths, pruned 1208925819614629174706095
            [exit 0]
        "#]],
    );
}

#[test]
fn statistics() {
    let scene = Scene::file("x.c", format!("{PRELUDE}{FOO2}"));
    let shown =
        picture(&scene.output("bmc x.c --order depth-first --one-by-one --no-trace --stats"));
    let line = shown.lines().find(|line| line.contains("explored"));
    let line = line.unwrap_or_else(|| panic!("no statistics:\n{shown}"));
    // The time and the number of questions are the machine's and the solver's.
    assert!(
        line.starts_with(
            "4 paths, 2 explored, 1 pruned, 0 repeated, 0 cut off, 2 choices, 1 clauses, "
        ),
        "{line}"
    );
}

#[test]
fn as_json() {
    let scene = Scene::file("x.c", format!("{PRELUDE}{FOO}"));
    let value = scene.json("bmc x.c");
    assert_eq!(value["command"], "bmc");
    assert_eq!(value["exit_code"], 0);
    assert_eq!(value["depth"], 64);
    assert_eq!(value["checks"][0]["answer"], "PROVED");
    assert_eq!(value["clauses"], serde_json::json!([[]]));
    assert_eq!(value["statistics"]["paths"], "4");
    assert_eq!(value["statistics"]["explored"], 1);
    assert_eq!(value["statistics"]["pruned"], "3");
}

#[test]
fn several_jobs_give_the_same_answer() {
    let scene = Scene::file("x.c", format!("{PRELUDE}{FOO2}"));
    let shown = picture(&scene.output("bmc x.c --jobs 2 --no-trace"));
    assert!(shown.starts_with("VIOLATED x.c:8: "), "{shown}");
    assert!(shown.ends_with("[exit 1]\n"), "{shown}");
}

#[test]
fn a_time_limit_leaves_what_is_known() {
    check(
        LOOP,
        "--time-limit 0 --depth 1000000",
        expect![[r#"
        UNKNOWN x.c:6: call of `reach_error` (in main)
          because the time limit passed
        explored 0 of 1 path, pruned 0
        [exit 3]
    "#]],
    );
}

#[test]
fn a_memory_limit_leaves_what_is_known() {
    check(
        LOOP,
        "--memory-limit 1",
        expect![[r#"
        UNKNOWN x.c:6: call of `reach_error` (in main)
          because the memory limit was reached
        explored 0 of 1 path, pruned 0
        [exit 3]
    "#]],
    );
}

#[test]
fn bad_arguments() {
    check(
        LOOP,
        "--random 1 --order guided",
        expect![[r#"
        [stderr]
        error: the argument '--random <SEED>' cannot be used with '--order <ORDER>'

        Usage: hardbop bmc --random <SEED> <FILE.c>...

        For more information, try '--help'.
        [exit 2]
    "#]],
    );
    check(
        LOOP,
        "--jobs 0",
        expect![[r#"
        [stderr]
        error: invalid value '0' for '--jobs <N>': 0 is not in 1..=256

        For more information, try '--help'.
        [exit 2]
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
