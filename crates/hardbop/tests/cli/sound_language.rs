//! Language, linking and library: programs of which wrong answers were given once, and their
//! neighbours. What is right was found out by compiling and running them.

use crate::scene::Scene;
use expect_test::{Expect, expect};

const PRELUDE: &str = "#include <assert.h>
#include <stdlib.h>
#include <string.h>
extern int __VERIFIER_nondet_int(void);
";

/// The answers, each with its reason if it is unknown, or the error.
fn answers(scene: &Scene, arguments: &str) -> String {
    let output = scene.output(&format!("check -q --time-limit 60 {arguments}"));
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let told = stdout.lines().chain(stderr.lines()).filter(|line| {
        let starts = [
            "PROVED",
            "VIOLATED",
            "UNKNOWN",
            "nothing",
            "error",
            "  because",
            "assuming",
        ];
        starts.iter().any(|start| line.starts_with(start))
    });
    told.map(|line| format!("{line}\n")).collect()
}

#[track_caller]
fn check(text: &str, options: &str, expected: Expect) {
    let scene = Scene::file("x.c", format!("{PRELUDE}{text}\n"));
    expected.assert_eq(&answers(&scene, &format!("x.c {options}")));
}

/// In either order, the same answers.
#[track_caller]
fn link(first: &str, second: &str, expected: Expect) {
    let scene =
        Scene::file("a.c", format!("{first}\n")).and_file("b.c", format!("{PRELUDE}{second}\n"));
    let answer = answers(&scene, "a.c b.c");
    assert_eq!(answer, answers(&scene, "b.c a.c"));
    expected.assert_eq(&answer);
}

/// Errors, assertions and inputs that are called by a pointer.
#[test]
fn a_call_by_a_pointer_is_checked_like_one_by_name() {
    check(
        r#"extern void reach_error(void);
int main(void) { void (*f)(void) = reach_error; f(); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: call of `reach_error` (in reach_error)
        "#]],
    );
    check(
        r#"void reach_error(void) {}
void (*table[2])(void) = { abort, reach_error };
int main(void) { int i = __VERIFIER_nondet_int(); if (i == 1) table[i](); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:5: call of `reach_error` (in reach_error)
        "#]],
    );
    check(
        r#"int main(void) {
  void (*f)(const char *, const char *, unsigned, const char *) = __assert_fail;
  f("x", "y", 3, "z");
}"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: call of `__assert_fail` (in __assert_fail)
        "#]],
    );
    check(
        r#"extern void __VERIFIER_assert(int);
int main(void) { void (*f)(int) = __VERIFIER_assert; f(__VERIFIER_nondet_int() > 0); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: call of `__VERIFIER_assert` (in __VERIFIER_assert)
        "#]],
    );
    check(
        r#"extern void __VERIFIER_assume(int);
int main(void) {
  void (*f)(int) = __VERIFIER_assume;
  int x = __VERIFIER_nondet_int();
  f(x > 0);
  assert(x > 0);
}"#,
        "",
        expect![[r#"
            PROVED x.c:10: assertion x > 0 (in main)
        "#]],
    );
    check(
        r#"int main(void) { int (*f)(void) = __VERIFIER_nondet_int; int x = f(); assert(x != 7); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:5: assertion x != 7 (in main)
        "#]],
    );
    check(
        r#"extern void reach_error(void);
int main(void) { atexit(reach_error); return 0; }"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: call of `reach_error` (in reach_error)
            assuming that at most 32 functions are registered with atexit
        "#]],
    );
    check(
        r#"void __attribute__((constructor)) reach_error(void) {}
int main(void) { return 0; }"#,
        "",
        expect![[r#"
            VIOLATED x.c:5: call of `reach_error` (in reach_error)
        "#]],
    );
}

#[test]
fn the_library_is_the_same_by_a_pointer() {
    check(
        r#"static struct hooks { void *(*alloc)(size_t); void (*release)(void *); } h = { malloc, free };
int main(void) {
  int *p = h.alloc(4);
  *p = 3;
  assert(*p == 3);
  h.release(p);
}"#,
        "",
        expect![[r#"
            PROVED x.c:9: assertion *p == 3 (in main)
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:8
            assuming that `free` is given null or live memory of the heap: not asked about (`--check free`), first at x.c:10
        "#]],
    );
    check(
        r#"int main(void) {
  void *(*copy)(void *, const void *, size_t) = memcpy;
  void *(*zeros)(size_t, size_t) = calloc;
  int a = 3, b = 0;
  copy(&b, &a, 4);
  assert(b == 3);
  int *p = zeros(1, 4);
  assert(*p == 0);
}"#,
        "",
        expect![[r#"
            PROVED x.c:10: assertion b == 3 (in main)
            PROVED x.c:12: assertion *p == 0 (in main)
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:9
        "#]],
    );
    check(
        r#"struct ops { void (*die)(int); } ops = { exit };
int main(void) { ops.die(3); assert(0); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion 0 (in main)
        "#]],
    );
    check(
        r#"#include <math.h>
int main(void) { double (*f)(double) = sqrt; assert(f(4.0) == 2.0); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion f(4.0) == 2.0 (in main)
        "#]],
    );
}

/// With `--check pointer`.
#[test]
fn a_pointer_that_is_called_is_a_functions() {
    check(
        r#"int main(void) { void (*f)(void) = 0; if (__VERIFIER_nondet_int()) f(); }"#,
        "--check pointer",
        expect![[r#"
            VIOLATED x.c:5: null or wild function pointer in f() (in main)
            assuming that a call through a pointer to a function outside of the program returns anything
        "#]],
    );
    check(
        r#"int main(void) { void (*f)(void) = (void (*)(void))12; f(); }"#,
        "--check pointer",
        expect![[r#"
            UNKNOWN x.c:5: null or wild function pointer in f() (in main)
              because a call through a pointer of which it is not known where it points at x.c:5 is not supported and can be reached
            assuming that a call through a pointer to a function outside of the program returns anything
        "#]],
    );
    check(
        r#"static void go(void) {}
int main(void) {
  void (*f)(void) = go;
  if (__VERIFIER_nondet_int()) f = (void (*)(void))((char *)f + 1);
  f();
}"#,
        "--check pointer",
        expect![[r#"
            VIOLATED x.c:9: null or wild function pointer in f() (in main)
        "#]],
    );
    check(
        r#"static void go(void) {}
static void stop(void) {}
int main(void) { void (*f)(void) = __VERIFIER_nondet_int() ? go : stop; f(); }"#,
        "--check pointer",
        expect![[r#"
            PROVED x.c:7: null or wild function pointer in f() (in main)
        "#]],
    );
}

/// C leaves such calls undefined; machines do not stop there.
#[test]
fn a_pointer_of_another_type_drops_no_function() {
    check(
        r#"int g;
int set(int v) { g = v; return 1; }
int main(void) { void (*f)(long) = (void (*)(long))set; f(5); assert(g == 0); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:7: assertion g == 0 (in main)
            assuming that a call through a pointer to a function outside of the program returns anything
        "#]],
    );
    check(
        r#"int g;
void set(void) { g = 1; }
void other(int x) {}
int main(void) {
  void (*f)(int) = __VERIFIER_nondet_int() ? (void (*)(int))set : other;
  f(5);
  assert(g == 0);
}"#,
        "",
        expect![[r#"
            UNKNOWN x.c:11: assertion g == 0 (in main)
              because a call of `set` through a pointer of another type at x.c:10 is not supported and can be reached
        "#]],
    );
    check(
        r#"int g;
void set(double d) { g = d; }
int main(void) { void (*f)(int) = (void (*)(int))set; f(5); assert(g == 0); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:7: assertion g == 0 (in main)
              because a call of `set` through a pointer of another type at x.c:7 is not supported and can be reached
            assuming that a call through a pointer to a function outside of the program returns anything
        "#]],
    );
}

#[test]
fn aliases_are_what_they_stand_for() {
    check(
        r#"int a = 1;
extern int b __attribute__((alias("a")));
int main(void) { b = 5; assert(a == 1); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:7: assertion a == 1 (in main)
        "#]],
    );
    check(
        r#"long a = 1;
extern int b __attribute__((alias("a")));
int main(void) { b = 5; assert(a == 5); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion a == 5 (in main)
        "#]],
    );
    check(
        r#"int g;
static void f(void) { g = 1; }
void h(void) __attribute__((alias("f")));
int main(void) { h(); assert(g == 0); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:8: assertion g == 0 (in main)
        "#]],
    );
    check(
        r#"static int one(void) { return 1; }
static void *choose(void) { return one; }
int f(void) __attribute__((ifunc("choose")));
int main(void) { assert(f() == 1); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:8: assertion f() == 1 (in main)
              because a function chosen by `ifunc` at x.c:8 is not supported and can be reached
        "#]],
    );
}

#[test]
fn labels_name_symbols() {
    check(
        r#"int real = 1;
extern int other asm("real");
int main(void) { other = 5; assert(real == 1); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:7: assertion real == 1 (in main)
        "#]],
    );
    check(
        r#"int real(void) { return 5; }
int other(void) asm("real");
int main(void) { assert(other() == 5); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion other() == 5 (in main)
        "#]],
    );
    check(
        r#"extern void fail(void) asm("reach_error");
int main(void) { fail(); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: call of `reach_error` (in main)
        "#]],
    );
}

#[test]
fn weak_names_may_be_absent() {
    check(
        r#"extern void f(void) __attribute__((weak));
int main(void) { if (f) f(); else assert(0); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: assertion 0 (in main)
            assuming that `f`, first called at x.c:6, returns anything and changes nothing
        "#]],
    );
    check(
        r#"extern void f(void) __attribute__((weak));
int main(void) { f(); }"#,
        "--check pointer",
        expect![[r#"
            VIOLATED x.c:6: null pointer in f() (in main)
            assuming that `f`, first called at x.c:6, returns anything and changes nothing
        "#]],
    );
    check(
        r#"extern int v __attribute__((weak));
int main(void) { assert(&v != 0); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: assertion &v != 0 (in main)
        "#]],
    );
    check(
        r#"static int r(void) __attribute__((weakref("missing")));
int main(void) { assert(r != 0); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: assertion r != 0 (in main)
        "#]],
    );
    check(
        r#"int target(void) { return 4; }
static int r(void) __attribute__((weakref("target")));
int main(void) { assert(r() == 4); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion r() == 4 (in main)
        "#]],
    );
    check(
        r#"extern void f(void) __attribute__((weak));
void (*p)(void) = f;
int main(void) { assert(p != 0); }"#,
        "",
        expect![[r#"
            error: not supported: the address of the weak `f`, which may be absent, in an initialiser
        "#]],
    );
}

#[test]
fn a_function_declared_in_a_block_is_that_of_the_file() {
    check(
        r#"int main(void) { int later(void); assert(later() == 3); }
int later(void) { return 3; }"#,
        "",
        expect![[r#"
            PROVED x.c:5: assertion later() == 3 (in main)
        "#]],
    );
    check(
        r#"static int v = 3;
int main(void) { extern int v; v++; assert(v == 3); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: assertion v == 3 (in main)
        "#]],
    );
}

/// Each is what gcc does, or has no answer.
#[test]
fn side_effects_in_types_happen() {
    check(
        r#"int main(void) { int i = 1, z[4]; (void)(int (*)[i++])z; assert(i == 1); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:5: assertion i == 1 (in main)
        "#]],
    );
    check(
        r#"int main(void) { int i = 1; unsigned long n = sizeof(int[i++]); assert(n == 4); assert(i == 2); }"#,
        "",
        expect![[r#"
            PROVED x.c:5: assertion n == 4 (in main)
            PROVED x.c:5: assertion i == 2 (in main)
        "#]],
    );
    check(
        r#"int main(void) {
  int i = 1, n = 2;
  int (*p)[n] = 0;
  unsigned long s = sizeof(*(i++, p));
  assert(i == 1);
}"#,
        "",
        expect![[r#"
            UNKNOWN x.c:9: assertion i == 1 (in main)
              because side effects in the operand of `sizeof` at x.c:8 is not supported and can be reached
        "#]],
    );
    check(
        r#"int main(void) { int i = 1; struct S { int a[i++]; }; assert(i == 1); }"#,
        "",
        expect![[r#"
            error: not supported: a length in a struct that is computed with side effects, or behind a pointer
        "#]],
    );
    check(
        r#"struct { unsigned b : 3; } s;
int main(void) { assert(sizeof(s.b = 1) == 4); }"#,
        "",
        expect![[r#"
            error: the size of what is assigned to a bit-field is not supported
        "#]],
    );
    check(
        r#"int main(void) { int i = 1, a[3]; assert(sizeof a[i++] == 4); assert(i == 1); }"#,
        "",
        expect![[r#"
            PROVED x.c:5: assertion i == 1 (in main)
        "#]],
    );
}

#[test]
fn mains_arguments_are_those_of_the_standard() {
    check(
        r#"int main(int argc, char **argv) {
  if (argc < 2) return 1;
  assert(argv[1] != 0);
  assert(argv[argc] == 0);
}"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion argv[1] != 0 (in main)
            PROVED x.c:8: assertion argv[argc] == 0 (in main)
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:7
        "#]],
    );
    check(
        r#"int main(int argc, char **argv) { assert(argc > 0); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:5: assertion argc > 0 (in main)
        "#]],
    );
    check(
        r#"int main(int argc, char **argv) { assert(argc < 2 || argv[1][0] != 'x'); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:5: assertion argc < 2 || argv[1][0] != 'x' (in main)
        "#]],
    );
    check(
        r#"int main(int argc, char **argv, char **envp) { assert(envp != 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:5: assertion envp != 0 (in main)
        "#]],
    );
}

#[test]
fn names_of_glibcs_headers_are_known() {
    check(
        r#"int __isinff(float), __isnan(double), __finite(double), __fpclassify(double), __isinf(double);
int main(void) {
  assert(__isinff(1.0f / 0.0f) == 1);
  assert(__isnan(0.0) == 0);
  assert(__finite(1.0));
  assert(__fpclassify(0.0) == 2);
  assert(__isinf(-1.0 / 0.0) == -1);
}"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion __isinff(1.0f / 0.0f) == 1 (in main)
            PROVED x.c:8: assertion __isnan(0.0) == 0 (in main)
            PROVED x.c:9: assertion __finite(1.0) (in main)
            PROVED x.c:10: assertion __fpclassify(0.0) == 2 (in main)
            PROVED x.c:11: assertion __isinf(-1.0 / 0.0) == -1 (in main)
        "#]],
    );
}

/// No value that no such function returns makes a violation.
#[test]
fn functions_of_mathematics_have_their_ranges() {
    // Proofs do not look into floating-point numbers; what counts is that there is no alarm.
    for text in [
        "int main(void) { float x = 2; assert(!isnan(sinf(x)) && expf(x) >= 1); }",
        "int main(void) { int e = 0; assert(frexp(8.0, &e) == 0.5 && e == 4); }",
        "int main(void) { double whole = 0; assert(modf(2.5, &whole) == 0.5 && whole == 2); }",
        "int main(void) { assert(fmax(1.0, 2.0) == 2.0 && lround(2.5) == 3); }",
    ] {
        let text = format!("{PRELUDE}#include <math.h>\n{text}\n");
        let told = answers(&Scene::file("x.c", text), "x.c");
        assert!(!told.contains("VIOLATED"), "{told}");
    }
    check(
        r#"#include <math.h>
int main(void) { assert(sin(0.0) == 0.0); assert(pow(3.0, 0.0) == 1.0); assert(log(1.0) == 0.0); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion sin(0.0) == 0.0 (in main)
            PROVED x.c:6: assertion pow(3.0, 0.0) == 1.0 (in main)
            PROVED x.c:6: assertion log(1.0) == 0.0 (in main)
            assuming that log and its like return any number of their range
            assuming that pow and its like return any number of their range
            assuming that sin and its like return any number of their range
        "#]],
    );
}

/// Weak and strong definitions, `inline` ones, aliases and labels in two units.
#[test]
fn units_are_linked_as_a_linker_does() {
    link(
        r#"int f(void) { return 2; }"#,
        r#"__attribute__((weak)) int f(void) { return 1; }
int main(void) { assert(f() == 2); }"#,
        expect![[r#"
            PROVED b.c:6: assertion f() == 2 (in main)
        "#]],
    );
    link(
        r#"int v = 2;"#,
        r#"__attribute__((weak)) int v = 1;
int main(void) { assert(v == 2); }"#,
        expect![[r#"
            PROVED b.c:6: assertion v == 2 (in main)
        "#]],
    );
    link(
        r#"int v;"#,
        r#"__attribute__((weak)) int v = 1;
int main(void) { assert(v == 0); }"#,
        expect![[r#"
            PROVED b.c:6: assertion v == 0 (in main)
        "#]],
    );
    link(
        r#"inline int sq(int x) { return x * x; }
extern inline int sq(int x);
int other(void) { return sq(2); }"#,
        r#"inline int sq(int x) { return x * x; }
int other(void);
int main(void) { assert(sq(3) == 9); assert(other() == 4); }"#,
        expect![[r#"
            PROVED b.c:7: assertion sq(3) == 9 (in main)
            PROVED b.c:7: assertion other() == 4 (in main)
        "#]],
    );
    link(
        r#"int real = 3;
extern int second __attribute__((alias("real")));
static int hidden(void) { return real; }
int shown(void) __attribute__((alias("hidden")));"#,
        r#"extern int second;
int shown(void);
int main(void) { second = 4; assert(shown() == 4); }"#,
        expect![[r#"
            PROVED b.c:7: assertion shown() == 4 (in main)
        "#]],
    );
    link(
        r#"int g(void) { return 1; }
int f(void) __attribute__((weak, alias("g")));"#,
        r#"int f(void) { return 2; }
int g(void);
int main(void) { assert(f() == 2); assert(g() == 1); }"#,
        expect![[r#"
            PROVED b.c:7: assertion f() == 2 (in main)
            PROVED b.c:7: assertion g() == 1 (in main)
        "#]],
    );
    link(
        r#"int inner(void) asm("outer");
int inner(void) { return 6; }
int data asm("more") = 8;"#,
        r#"int outer(void);
extern int more;
int inner(void) { return 7; }
int main(void) { assert(outer() == 6); assert(inner() == 7); assert(more == 8); }"#,
        expect![[r#"
            PROVED b.c:8: assertion outer() == 6 (in main)
            PROVED b.c:8: assertion inner() == 7 (in main)
            PROVED b.c:8: assertion more == 8 (in main)
        "#]],
    );
    link(
        r#"void exit(int);
void h(void) { exit(0); }"#,
        r#"void h(void) __attribute__((weak));
int main(void) { if (h) h(); assert(0); }"#,
        expect![[r#"
            PROVED b.c:6: assertion 0 (in main)
        "#]],
    );
}

/// In SV-COMP's `no-overflow`, bits that are shifted out are no overflow; `--check overflow` asks
/// about them. What comes after such a shift is looked at.
#[test]
fn a_left_shift_is_no_overflow_in_sv_comp() {
    let scene = Scene::file(
        "x.c",
        "int main(void) {\n  int x = -1;\n  x = x << 1;\n  int y = 2147483647;\n  y = y + 1;\n  return y + x;\n}\n",
    )
    .and_file("no-overflow.prp", "CHECK( init(main()), LTL(G ! overflow) )\n");
    let said = answers(&scene, "x.c --property no-overflow.prp");
    // One violation is the answer; whether more is known by then is not asked.
    assert!(
        said.starts_with("VIOLATED x.c:5: signed overflow in y + 1 (in main)\n"),
        "{said}"
    );
    expect![[r#"
        VIOLATED x.c:3: left shift of a negative number in x << 1 (in main)
        PROVED x.c:3: signed overflow in x << 1 (in main)
        PROVED x.c:5: signed overflow in y + 1 (in main)
        PROVED x.c:6: signed overflow in y + x (in main)
    "#]]
    .assert_eq(&answers(&scene, "x.c --check overflow"));
}

/// What is tied to an input, or is input and output, is handed on by an empty template.
#[test]
fn assembly_hands_on_what_is_tied_to_it() {
    check(
        r#"int main(void) {
  int x = 0, *r;
  asm volatile("" : "=r"(r) : "0"(&x) : "memory");
  *r = 1;
  assert(x == 0);
}"#,
        "",
        expect![[r#"
            VIOLATED x.c:9: assertion x == 0 (in main)
        "#]],
    );
    check(
        r#"int main(void) {
  int x = __VERIFIER_nondet_int(), y = x;
  asm volatile("" : "+r"(x));
  assert(x == y);
}"#,
        "",
        expect![[r#"
            PROVED x.c:8: assertion x == y (in main)
        "#]],
    );
}

/// What assembly is given is evaluated, even if it does nothing with it.
#[test]
fn assembly_evaluates_its_inputs() {
    check(
        r#"int main(void) {
  int x = 0;
  asm volatile("" : : "r"(x++));
  assert(x == 1);
}"#,
        "",
        expect![[r#"
            PROVED x.c:8: assertion x == 1 (in main)
        "#]],
    );
    check(
        r#"int main(void) {
  int *p = 0;
  asm volatile("" : : "r"(*p));
}"#,
        "--check pointer",
        expect![[r#"
            VIOLATED x.c:7: null pointer in *p (in main)
            PROVED x.c:7: invalid access in *p (in main)
        "#]],
    );
}

/// Also where the cast of an address is all that stands between the constant and who writes it.
#[test]
fn a_constant_is_written_by_a_cast_of_its_address() {
    check(
        r#"static const int k = 3;
static const struct { int a[2]; } s;
int main(void) {
  if (__VERIFIER_nondet_int()) *(int *)&k = 4;
  (*(int *)&s.a[1])++;
}"#,
        "--check constant",
        expect![[r#"
            VIOLATED x.c:8: write to a constant in *(int *)&k (in main)
            VIOLATED x.c:9: write to a constant in *(int *)&s.a[1] (in main)
        "#]],
    );
}

/// C11 6.5.16.2p3: with respect to a call, a compound assignment is one evaluation.
#[test]
fn a_call_comes_before_the_assignment_that_uses_it() {
    check(
        r#"unsigned x = 2;
unsigned f(void) { x |= 128; return 1; }
int main(void) { x |= f(); assert(x == 131); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion x == 131 (in main)
            assuming that what C lets be evaluated in any order is evaluated in one: it may matter at x.c:7
        "#]],
    );
}

#[test]
fn a_type_that_no_object_can_have_is_refused() {
    let text = "struct s { char a[1UL << 61]; };\nstruct s *p;\nint main(void) { return sizeof *p == 1; }\n";
    let output = Scene::file("x.c", text).output("check x.c -q");
    assert_eq!(output.status.code(), Some(2));
}
