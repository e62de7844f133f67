//! Objects that the program did not make: runs follow pointers from outside, and into variables and
//! memory that nothing was written to.

use crate::scene::Scene;
use expect_test::{Expect, expect};
use std::process::Command;

const PRELUDE: &str = "extern void reach_error(void);
extern void *__VERIFIER_nondet_pointer(void);
struct node { int value; struct node *next; int (*twice)(int); };
";

#[track_caller]
fn check(program: &str, options: &str, expected: Expect) {
    let scene = Scene::file("x.c", format!("{PRELUDE}{program}\n"));
    scene.check(&format!("check x.c -q {options}"), expected);
}

#[test]
fn what_a_function_without_a_body_returns_can_be_followed() {
    check(
        "struct node *get(void);
int main(void) {
  struct node *p = get();
  if (p && p->value == 5 && p->next->value == 6)
    reach_error();
  return 0;
}",
        "",
        expect![[r#"
            VIOLATED x.c:8: call of `reach_error` (in main)
              6  struct node *p = get();                         p = 0x600000000000
              7  if (p && p->value == 5 && p->next->value == 6)  p = 0x600000000000, p->value = 5, p->next->value = 6, p->next = 0x600000004000
              8  call of `reach_error`
            assuming that `get`, first called at x.c:6, returns anything and changes nothing
            [exit 1]
        "#]],
    );
}

#[test]
fn an_input_can_be_followed_and_written() {
    check(
        "int twice(int n) { return 2 * n; }
int main(void) {
  struct node *p = __VERIFIER_nondet_pointer();
  p->value = 3;
  p->twice = twice;
  if (p->twice(p->value) == 6)
    reach_error();
  return 0;
}",
        "",
        expect![[r#"
            VIOLATED x.c:10: call of `reach_error` (in main)
               6  struct node *p = __VERIFIER_nondet_pointer();  __VERIFIER_nondet_pointer() = 0x600000000000, p = 0x600000000000
               7  p->value = 3;                                  p->value = 3
               8  p->twice = twice;                              p->twice = 0x10000
               9  if (p->twice(p->value) == 6)                   n = 3
               4      int twice(int n) { return 2 * n; }         returns 6
               9  if (p->twice(p->value) == 6)
              10  call of `reach_error`
              x.c:6: input __VERIFIER_nondet_pointer() = 0x600000000000
            [exit 1]
        "#]],
    );
}

#[test]
fn a_variable_that_no_file_defines_can_be_followed() {
    check(
        "extern struct node *list;
int main(void) {
  if (list->next->value == 5)
    reach_error();
  return 0;
}",
        "",
        expect![[r#"
            VIOLATED x.c:7: call of `reach_error` (in main)
              6  if (list->next->value == 5)  list->next->value = 5, list->next = 0x600000000000, list = 0x600000004000
              7  call of `reach_error`
            assuming that `list`, declared at x.c:4, starts with any value
            assuming that pointers from outside, first used at x.c:6, point to no object of the program
            [exit 1]
        "#]],
    );
}

/// A driver's environment often hands on locals that it never initialises.
#[test]
fn a_local_without_a_value_can_be_anything() {
    check(
        "void probe(struct node *device, int mode) {
  if (mode == 7 && device->value == 5)
    reach_error();
}
int main(void) {
  struct node *device;
  int mode;
  probe(device, mode);
  return 0;
}",
        "",
        expect![[r#"
            VIOLATED x.c:6: call of `reach_error` (in probe)
              11  probe(device, mode);                      device = 0x600000000000, mode = 7
               5      if (mode == 7 && device->value == 5)  mode = 7, device->value = 5, device = 0x600000000000
               6      call of `reach_error`
            [exit 1]
        "#]],
    );
    check(
        "int start(void) {
  int state;
  return state;
}
int main(void) {
  int first = start(), second = start();
  if (first == 1 && second == 2)
    reach_error();
  return 0;
}",
        "",
        expect![[r#"
            VIOLATED x.c:11: call of `reach_error` (in main)
               9  int first = start(), second = start();
               6      return state;                       returns 1
               9  int first = start(), second = start();  first = 1
               6      return state;                       returns 2
               9  int first = start(), second = start();  second = 2
              10  if (first == 1 && second == 2)          first = 1, second = 2
              11  call of `reach_error`
            [exit 1]
        "#]],
    );
}

#[test]
fn two_reads_see_the_same() {
    check(
        "int main(void) {
  struct node *p = __VERIFIER_nondet_pointer();
  int value = p->value;
  if (p->value != value)
    reach_error();
  p->value = 4;
  if (p->value != 4)
    reach_error();
  return 0;
}",
        "",
        expect![[r#"
            PROVED x.c:8: call of `reach_error` (in main)
            PROVED x.c:11: call of `reach_error` (in main)
            2 checks: 2 proved, 0 violated, 0 unknown
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:6
            [exit 0]
        "#]],
    );
}

/// Asked whether pointers are right, the same programs are wrong.
#[test]
fn whoever_asks_about_pointers_hears_of_them() {
    check(
        "int main(void) {
  struct node *p = __VERIFIER_nondet_pointer();
  if (p && p->value == 5)
    reach_error();
  return 0;
}",
        "--check pointer",
        expect![[r#"
            PROVED x.c:6: null pointer in p->value (in main)
            VIOLATED x.c:6: invalid access in p->value (in main)
              5  struct node *p = __VERIFIER_nondet_pointer();  __VERIFIER_nondet_pointer() = 0x1, p = 0x1
              6  if (p && p->value == 5)                        p = 0x1
              6  invalid access in p->value
              the pointer is 0x1, which is in no object
              x.c:5: input __VERIFIER_nondet_pointer() = 0x1
            PROVED x.c:7: call of `reach_error` (in main)
            3 checks: 2 proved, 1 violated, 0 unknown
            [exit 1]
        "#]],
    );
}

/// Whoever handed an object in may have allocated it.
#[test]
fn an_object_from_outside_may_be_freed_once() {
    check(
        "void free(void *);
struct node *get(void);
int main(void) {
  struct node *p = get();
  if (!p)
    return 0;
  free(p);
  reach_error();
  return 0;
}",
        "",
        expect![[r#"
            VIOLATED x.c:11: call of `reach_error` (in main)
               7  struct node *p = get();  p = 0x600000000800
               8  if (!p)                  p = 0x600000000800
              10  free(p);
              11  call of `reach_error`
            assuming that `get`, first called at x.c:7, returns anything and changes nothing
            [exit 1]
        "#]],
    );
    check(
        "void free(void *);
struct node *get(void);
int main(void) {
  struct node *p = get();
  if (!p)
    return 0;
  free(p);
  if (p->value == 1)
    reach_error();
  return 0;
}",
        "",
        expect![[r#"
            UNKNOWN x.c:12: call of `reach_error` (in main)
              because the run that was found does not replay: it ends in Dangling
            assuming that `get`, first called at x.c:7, returns anything and changes nothing
            [exit 3]
        "#]],
    );
}

/// The harness puts the objects where the run's pointers lead to, so a real program fails, too.
#[test]
fn a_harness_has_the_objects() {
    harness_fails(
        "struct node *get(void);
int main(void) {
  struct node *p = get();
  if (p && p->value == 5 && p->next && p->next->value == 6)
    reach_error();
  return 0;
}
",
        expect![[r#"
            hardbop: x.c:8: reach_error is called
        "#]],
    );
    harness_fails(
        "void free(void *);
struct node *get(void);
int main(void) {
  struct node *p = get();
  if (p && p->value == 5) {
    free(p);
    reach_error();
  }
  return 0;
}
",
        expect![[r#"
            hardbop: x.c:10: reach_error is called
        "#]],
    );
}

/// Compiles the harness of a violation with the program, and runs it.
fn harness_fails(text: &str, expected: Expect) {
    let scene = Scene::file("x.c", format!("{PRELUDE}{text}"));
    scene.output("check x.c -q --harness failing.c");
    let compiled = Command::new("cc")
        .current_dir(scene.path())
        .args(["x.c", "failing.c", "-o", "failing"])
        .status();
    assert!(compiled.expect("a C compiler").success());
    let run = Command::new(scene.path().join("failing")).output();
    let told = run.expect("the harness runs").stderr;
    expected.assert_eq(&String::from_utf8_lossy(&told));
}
