//! Further arguments (`...`): what is passed is what is read, in order, by whoever has the list.

use crate::scene::Scene;
use expect_test::{Expect, expect};

const PRELUDE: &str = "#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
extern int __VERIFIER_nondet_int(void);
";

/// The answers without what they assume, each with its reason if it is unknown.
#[track_caller]
fn check(text: &str, options: &str, expected: Expect) {
    let scene = Scene::file("x.c", format!("{PRELUDE}{text}\n"));
    let output = scene.output(&format!("check -q --list --time-limit 60 x.c {options}"));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let starts = ["PROVED x", "VIOLATED", "UNKNOWN", "  because", "  object"];
    let told = told
        .lines()
        .filter(|line| starts.iter().any(|start| line.starts_with(start)));
    expected.assert_eq(&told.map(|line| format!("{line}\n")).collect::<String>());
}

const SUM: &str = "int sum(int n, ...) { va_list l; va_start(l, n); int s = 0;
  while (n-- > 0) s += va_arg(l, int);
  va_end(l); return s; }";

/// Whatever was passed is known, be it an input or not.
#[test]
fn what_is_passed_is_read() {
    let main = |claim: &str| {
        format!(
            "{SUM}
int main(void) {{ int x = __VERIFIER_nondet_int(); if (x < 0 || x > 100) return 0;
  assert({claim}); }}"
        )
    };
    check(
        &main("sum(3, 1, x, 3) == x + 4"),
        "",
        expect![[r#"
            PROVED x.c:9: assertion sum(3, 1, x, 3) == x + 4 (in main)
        "#]],
    );
    check(
        &main("sum(3, 1, x, 3) < 104"),
        "",
        expect![[r#"
            VIOLATED x.c:9: assertion sum(3, 1, x, 3) < 104 (in main)
        "#]],
    );
}

/// Numbers, records and pointers; a copy of a list, a list that is handed on, a call by a pointer
/// and one inside of another.
#[test]
fn lists_are_copied_and_handed_on() {
    check(
        r#"struct pair { int a; char b[8]; };
static int pick(int which, va_list l) { va_list c; va_copy(c, l);
  int number = va_arg(c, int); double real = va_arg(c, double);
  struct pair pair = va_arg(c, struct pair); char *text = va_arg(c, char *);
  va_end(c);
  return which == 0 ? number : which == 1 ? (int)real : which == 2 ? pair.b[1] : text[0]; }
static int any(int which, ...) { va_list l; va_start(l, which); int r = pick(which, l);
  assert(va_arg(l, int) == 7); va_end(l); return r; }
static int deep(int n, ...) { va_list l; va_start(l, n); int a = va_arg(l, int);
  if (n > 0) deep(n - 1, a + 1, n);
  int b = va_arg(l, int); va_end(l); return 10 * a + b; }
int main(void) { int w = __VERIFIER_nondet_int(); int (*f)(int, ...) = any;
  struct pair pair = { 1, "no" };
  int r = f(w, 7, 3.5, pair, "x");
  assert(r == (w == 0 ? 7 : w == 1 ? 3 : w == 2 ? 'o' : 'x'));
  assert(deep(2, w & 3, 5) == 10 * (w & 3) + 5); }"#,
        "",
        expect![[r#"
            PROVED x.c:12: assertion va_arg(l, int) == 7 (in any)
            PROVED x.c:19: assertion r == (w == 0 ? 7 : w == 1 ? 3 : w == 2 ? 'o' : 'x') (in main)
            PROVED x.c:20: assertion deep(2, w & 3, 5) == 10 * (w & 3) + 5 (in main)
        "#]],
    );
}

/// What the library prints to a text and reads from one is what the program passed.
#[test]
fn texts_are_printed_and_read() {
    check(
        r#"static char line[16];
static void say(const char *format, ...) { va_list l; va_start(l, format);
  vsnprintf(line, sizeof line, format, l); va_end(l); }
int main(void) { int x = __VERIFIER_nondet_int() & 7;
  say("%s=%d", "x", x);
  assert(line[0] == 'x' && line[1] == '=' && line[2] == '0' + x && line[3] == 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:10: assertion line[0] == 'x' && line[1] == '=' && line[2] == '0' + x && line[3] == 0 (in main)
        "#]],
    );
    check(
        r#"int main(void) { int a = 0, b = __VERIFIER_nondet_int();
  assert(sscanf("12 34", "%d %d", &a, &b) == 2 && a == 12 && b == 34);
  assert(sscanf("12 x", "%d %d", &a, &b) == 1 && b == 34); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion sscanf("12 34", "%d %d", &a, &b) == 2 && a == 12 && b == 34 (in main)
            PROVED x.c:7: assertion sscanf("12 x", "%d %d", &a, &b) == 1 && b == 34 (in main)
        "#]],
    );
}

/// More than was passed is a wrong access.
#[test]
fn more_is_asked_for_than_was_passed() {
    let text = format!(
        "{SUM}
int main(void) {{ int n = __VERIFIER_nondet_int(); if (n < 0 || n > 3) return 0;
  int s = sum(n, 1, 2); assert(s <= 3); }}"
    );
    check(
        &text,
        "--check bounds",
        expect![[r#"
            VIOLATED x.c:6: no further argument for va_arg(l, int) (in sum)
            PROVED x.c:6: an argument of another type for va_arg(l, int) (in sum)
            PROVED x.c:9: assertion s <= 3 (in main)
        "#]],
    );
}

/// What is read where something else was passed depends on the machine: `5` is no `long`. The lower
/// bytes of a number may be asked for.
#[test]
fn something_else_is_asked_for_than_was_passed() {
    let text = |passed: &str, asked: &str| {
        format!(
            "static long first(int n, ...) {{ va_list l; va_start(l, n);
  long v = (long)va_arg(l, {asked}); va_end(l); return v; }}
int main(void) {{ int x; assert(first(1, {passed}) == 5); return x = 0; }}"
        )
    };
    let unknown = |passed: &str, asked: &str, reason: &str| {
        let expected = format!(
            "UNKNOWN x.c:7: assertion first(1, {passed}) == 5 (in main)
  because `va_arg` where no argument of its type was passed at x.c:6 {reason}\n"
        );
        let scene = Scene::file("x.c", format!("{PRELUDE}{}\n", text(passed, asked)));
        let output = scene.output("check -q --time-limit 60 x.c");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(told.starts_with(&expected), "{told}");
    };
    let reached = "is not supported and can be reached";
    unknown("5", "long", reached);
    unknown("&x", "long", reached);
    unknown("5.0", "long", reached);
    unknown("5", "char *", reached);
    check(
        &text("5", "long"),
        "--check bounds",
        expect![[r#"
            PROVED x.c:6: no further argument for va_arg(l, long) (in first)
            VIOLATED x.c:6: an argument of another type for va_arg(l, long) (in first)
            PROVED x.c:7: assertion first(1, 5) == 5 (in main)
        "#]],
    );
    check(
        &text("5L", "unsigned"),
        "",
        expect![[r#"
            PROVED x.c:7: assertion first(1, 5L) == 5 (in main)
        "#]],
    );
}

/// Nobody knows what the function that the program begins with is passed.
#[test]
fn the_entry_is_passed_what_nobody_knows() {
    check(
        &format!(
            "{SUM}\nint f(int n, ...) {{ va_list l; va_start(l, n);
  int v = va_arg(l, int); va_end(l); assert(v == 0); return n; }}"
        ),
        "--entry f",
        expect![[r#"
            UNKNOWN x.c:9: assertion v == 0 (in f)
              because further arguments of the function that the program begins with at x.c:8 is not supported and can be reached
        "#]],
    );
}

/// A pointer without a prototype does not say which arguments are further ones; a list that is left
/// from another call is not taken for theirs.
#[test]
fn a_call_without_a_prototype_passes_no_list() {
    check(
        &format!(
            "{SUM}
int main(void) {{ sum(1, 9); int (*f)() = (int (*)())sum; assert(f(1, 5) == 5); }}"
        ),
        "",
        expect![[r#"
            UNKNOWN x.c:8: assertion f(1, 5) == 5 (in main)
              because a call of `sum` through a pointer of another type at x.c:8 is not supported and can be reached
        "#]],
    );
}

/// gcc translates these to a trap: nothing smaller than an `int` is passed.
#[test]
fn nothing_smaller_than_an_int_is_passed() {
    let text = "static int first(int n, ...) { va_list l; va_start(l, n);
  int v = va_arg(l, char); va_end(l); return v; }
int main(void) { assert(first(1, 5) != 5); }";
    check(
        text,
        "",
        expect![[r#"
        UNKNOWN x.c:7: assertion first(1, 5) != 5 (in main)
          because `va_arg` where no argument of its type was passed at x.c:6 is not supported and can be reached
    "#]],
    );
    check(
        text,
        "--check bounds",
        expect![[r#"
        PROVED x.c:6: no further argument for va_arg(l, char) (in first)
        VIOLATED x.c:6: an argument of another type for va_arg(l, char) (in first)
        PROVED x.c:7: assertion first(1, 5) != 5 (in main)
    "#]],
    );
}

/// Records of one size are passed in different registers.
#[test]
fn a_record_is_asked_for_as_another_one() {
    let text = |passed: &str, asked: &str| {
        format!(
            "struct real {{ double d; }}; struct number {{ long l; }}; struct same {{ unsigned a, b; }};
static int first(int n, ...) {{ va_list l; va_start(l, n);
  struct {asked} v = va_arg(l, struct {asked}); va_end(l); return *(char *)&v; }}
int main(void) {{ struct {passed} x = {{ 5 }}; assert(first(1, x) == 5); }}"
        )
    };
    check(
        &text("number", "real"),
        "",
        expect![[r#"
        UNKNOWN x.c:8: assertion first(1, x) == 5 (in main)
          because `va_arg` where no argument of its type was passed at x.c:7 is not supported and can be reached
    "#]],
    );
    check(
        &text("number", "same"),
        "",
        expect![[r#"
        PROVED x.c:8: assertion first(1, x) == 5 (in main)
    "#]],
    );
}

/// A list that is somebody else's has to be there.
#[test]
fn a_list_that_is_not_there_is_a_wrong_access() {
    let text = "static int next(va_list *l) { return va_arg(*l, int); }
static int first(int n, ...) { va_list l; va_start(l, n);
  int r = next(n ? 0 : &l); va_end(l); return r; }
int main(void) { return first(__VERIFIER_nondet_int(), 2); }";
    check(
        text,
        "--check pointer",
        expect![[r#"
        VIOLATED x.c:5: null pointer in va_arg(*l, int) (in next)
        PROVED x.c:5: invalid access in va_arg(*l, int) (in next)
        PROVED x.c:5: no further argument for va_arg(*l, int) (in next)
        PROVED x.c:5: an argument of another type for va_arg(*l, int) (in next)
    "#]],
    );
}
