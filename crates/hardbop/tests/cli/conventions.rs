//! What the page `docs/src/soundness.md` says, line by line in its order: each convention, each
//! assumption and what is not supported, with a program that shows it. The C library and what is
//! not supported have files of their own.

use crate::scene::Scene;
use expect_test::{Expect, expect};

const PRELUDE: &str = "#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
extern int __VERIFIER_nondet_int(void);
";

/// The answers and what they rest on, or the first line of the error; without runs and inputs.
#[track_caller]
pub(crate) fn check(text: &str, options: &str, expected: Expect) {
    let scene = Scene::file("x.c", format!("{PRELUDE}{text}\n"));
    let output = scene.output(&format!(
        "check x.c -q --no-trace --time-limit 60 {options}"
    ));
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let told = stdout.lines().filter(|line| !line.contains(": input "));
    let errors = stderr.lines().filter(|line| line.starts_with("error"));
    let picture: String = told.chain(errors).map(|line| format!("{line}\n")).collect();
    expected.assert_eq(&picture);
}

// The machine. Layouts are compared with gcc in the front end's own tests; orders are in
// `sound_environment::orders_of_arguments`, handlers of signals in `handlers_of_signals_run`.

/// `int` 32 bits, `long` and pointers 64 or 32, little endian, `char` signed.
#[test]
fn types_have_the_widths_of_gcc() {
    check(
        r#"int main(void) {
  int one = 1;
  if (sizeof(int) == 4 && sizeof(long) == 8 && sizeof(void *) == 8 && sizeof(__int128) == 16
      && (char)255 == -1)
    assert(*(char *)&one != 1);
}"#,
        "",
        expect![[r#"
            VIOLATED x.c:10: assertion *(char *)&one != 1 (in main)
        "#]],
    );
    check(
        r#"int main(void) { assert(sizeof(long) != 4 || sizeof(void *) != 4); }"#,
        "--data-model ilp32",
        expect![[r#"
            VIOLATED x.c:6: assertion sizeof(long) != 4 || sizeof(void *) != 4 (in main)
        "#]],
    );
}

/// Unless it is asked about.
#[test]
fn signed_arithmetic_wraps_around() {
    check(
        r#"int main(void) { int x = __VERIFIER_nondet_int(); if (x == 2147483647) assert(x + 1 < 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion x + 1 < 0 (in main)
        "#]],
    );
    check(
        r#"int main(void) { int x = __VERIFIER_nondet_int(); if (x == 2147483647) x = x + 1; }"#,
        "--check overflow",
        expect![[r#"
            VIOLATED x.c:6: signed overflow in x + 1 (in main)
        "#]],
    );
}

/// 0, or -1 of a negative number, unless it is asked about.
#[test]
fn shifts_by_too_much_give_nothing() {
    check(
        r#"int main(void) {
  int x = __VERIFIER_nondet_int(), n = __VERIFIER_nondet_int();
  if (n >= 0 && n < 32) return 0;
  assert((1 << n) == 0);
  assert((x >> n) == (x < 0 ? -1 : 0));
  assert(((unsigned)x >> n) == 0);
}"#,
        "",
        expect![[r#"
            PROVED x.c:9: assertion (1 << n) == 0 (in main)
            PROVED x.c:10: assertion (x >> n) == (x < 0 ? -1 : 0) (in main)
            PROVED x.c:11: assertion ((unsigned)x >> n) == 0 (in main)
            3 checks: 3 proved, 0 violated, 0 unknown
        "#]],
    );
    check(
        r#"int main(void) { int n = __VERIFIER_nondet_int(); if (n == 33) n = 1 << n; }"#,
        "--check overflow",
        expect![[r#"
            VIOLATED x.c:6: shift by a wrong amount in 1 << n (in main)
            PROVED x.c:6: signed overflow in 1 << n (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
        "#]],
    );
}

/// After what its operands write. With gcc too, but C does not say so.
#[test]
fn an_assignment_writes_last() {
    check(
        r#"int main(void) { int i = 0; i = i++; assert(i == 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion i == 0 (in main)
        "#]],
    );
}

/// Nor does another thread write.
#[test]
fn interrupts_do_not_happen_by_themselves() {
    check(
        r#"int x;
void handler(int number) { x = number; }
int main(void) { assert(x == 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:8: assertion x == 0 (in main)
        "#]],
    );
}

// Memory. Layouts of objects, large ones and those on the stack are in `sound_environment`:
// `addresses_used_again`, `literals_may_be_one`, `orders_of_objects`, `arrays_fit_on_the_stack`,
// `memory_that_no_machine_has_is_refused`.

/// Any value, the same at each reading; 0 in static storage.
#[test]
fn variables_without_an_initialiser() {
    check(
        r#"int main(void) { int x; int y = x; assert(x == y); assert(x == 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion x == y (in main)
            VIOLATED x.c:6: assertion x == 0 (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
        "#]],
    );
    check(
        r#"int x;
int main(void) { static int y; int *p = malloc(4); assert(x == 0 && y == 0); assert(*p == 7); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion x == 0 && y == 0 (in main)
            VIOLATED x.c:7: assertion *p == 7 (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:7
        "#]],
    );
}

/// After an initialiser of a smaller member, as in gcc before 15.
#[test]
fn the_rest_of_a_union_is_zero() {
    check(
        r#"union u { char c; int i; };
union u x = { 1 };
int main(void) { union u y = { .c = 2 }; assert(x.i == 1); assert(y.i == 2); }"#,
        "",
        expect![[r#"
            PROVED x.c:8: assertion x.i == 1 (in main)
            PROVED x.c:8: assertion y.i == 2 (in main)
            2 checks: 2 proved, 0 violated, 0 unknown
        "#]],
    );
}

/// And to `const` objects of static storage; nobody asks about it, and proofs go on behind it.
#[test]
fn writes_to_literals_end_executions() {
    check(
        r#"int main(void) { char *s = "abc"; s[0] = 'x'; assert(s[0] == 'x'); assert(0); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion s[0] == 'x' (in main)
            UNKNOWN x.c:6: assertion 0 (in main)
              because the run that was found does not replay: it ends in ReadOnly
            2 checks: 1 proved, 0 violated, 1 unknown
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:6
        "#]],
    );
    check(
        r#"const int k = 1;
int main(void) { *(int *)&k = 2; assert(k == 1); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:7: assertion k == 1 (in main)
              because the run that was found does not replay: it ends in ReadOnly
        "#]],
    );
    check(
        r#"static const struct { int a, b[2]; } t = { 1, { 2, 3 } };
int main(void) { memset((void *)&t, 0, sizeof t); assert(t.b[0] == 2); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:7: assertion t.b[0] == 2 (in main)
              because the run that was found does not replay: it ends in ReadOnly
        "#]],
    );
    check(
        r#"int main(void) { const int k = 1; char a[] = "abc"; *(int *)&k = 2; a[0] = 'x'; assert(k == 1); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: assertion k == 1 (in main)
        "#]],
    );
}

/// A violation is never found behind one. That the index was right is not proved from it. More is in
/// `sound_environment::accesses_end_executions` and `divisions_end_executions`.
#[test]
fn wrong_accesses_end_executions() {
    check(
        r#"int a[4];
int main(void) { int i = __VERIFIER_nondet_int(); a[i] = 1; assert(i >= 0 && i < 4); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:7: assertion i >= 0 && i < 4 (in main)
              because the run that was found does not replay: it ends in OutOfBounds
        "#]],
    );
    check(
        r#"int main(void) { int n = __VERIFIER_nondet_int(), *p = 0; if (n == 3) *p = 1; assert(n != 3); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion n != 3 (in main)
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:6
        "#]],
    );
    check(
        r#"int main(void) {
  int n = __VERIFIER_nondet_int(), *q = malloc(4);
  free(q);
  if (n == 4) *q = 1;
  assert(n != 4);
}"#,
        "",
        expect![[r#"
            UNKNOWN x.c:10: assertion n != 4 (in main)
              because the run that was found does not replay: it ends in Dangling
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        "#]],
    );
    check(
        r#"int main(void) { int n = __VERIFIER_nondet_int(); if (n == 5) free(&n); assert(n != 5); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:6: assertion n != 5 (in main)
              because the run that was found does not replay: it ends in BadFree
        "#]],
    );
}

/// And uses up no stack.
#[test]
fn endless_recursion_does_not_end() {
    check(
        r#"int f(int n) { return f(n) + 1; }
int main(void) { f(1); assert(0); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion 0 (in main)
        "#]],
    );
}

// Checks. Calls by pointers are in `sound_language`.

/// Whatever the body of an error function is.
#[test]
fn assertions_and_error_calls() {
    check(
        r#"void __VERIFIER_assert(int);
int main(void) { __VERIFIER_assert(__VERIFIER_nondet_int() != 1); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:7: assertion __VERIFIER_nondet_int() != 1 (in main)
        "#]],
    );
    check(
        r#"void __CPROVER_assert(int, const char *);
int main(void) { __CPROVER_assert(__VERIFIER_nondet_int() != 1, "one"); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:7: assertion __VERIFIER_nondet_int() != 1 (in main)
        "#]],
    );
    check(
        r#"void reach_error(void) { for (;;); }
int main(void) { if (__VERIFIER_nondet_int() == 1) reach_error(); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:7: call of `reach_error` (in main)
        "#]],
    );
    check(
        r#"extern void __VERIFIER_error(void);
int main(void) { if (__VERIFIER_nondet_int() == 1) __VERIFIER_error(); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:7: call of `__VERIFIER_error` (in main)
        "#]],
    );
    check(
        r#"int main(void) { if (__VERIFIER_nondet_int() == 1) goto L; return 0; L: return 1; }"#,
        "--error-label L",
        expect![[r#"
            VIOLATED x.c:6: label `L` is reached (in main)
        "#]],
    );
}

/// By 0, as a quotient and as a remainder.
#[test]
fn divisions() {
    check(
        r#"int main(void) { int x = __VERIFIER_nondet_int(); return x > 5 ? 7 / x : 7 % x; }"#,
        "--check div-by-zero",
        expect![[r#"
            PROVED x.c:6: division by zero in 7 / x (in main)
            VIOLATED x.c:6: division by zero in 7 % x (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
        "#]],
    );
}

/// Results that do not fit, quotients, amounts, left shifts. SV-COMP's are in
/// `sound_language::a_left_shift_is_no_overflow_in_sv_comp`.
#[test]
fn overflows() {
    check(
        r#"int main(void) {
  int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
  int z = __VERIFIER_nondet_int();
  if (y == -1 && z) x / y;
  if (y == -1 && !z) x % y;
  if (x == -1) x << 1;
  if (x == 1 << 30) x << 1;
}"#,
        "--check overflow",
        expect![[r#"
            VIOLATED x.c:9: signed overflow in x / y (in main)
            VIOLATED x.c:10: signed overflow in x % y (in main)
            VIOLATED x.c:11: left shift of a negative number in x << 1 (in main)
            PROVED x.c:11: signed overflow in x << 1 (in main)
            PROVED x.c:12: left shift of a negative number in x << 1 (in main)
            VIOLATED x.c:12: signed overflow in x << 1 (in main)
            6 checks: 2 proved, 4 violated, 0 unknown
        "#]],
    );
}

/// Null, no function, and what `bounds` finds if that is not asked for.
#[test]
fn pointers() {
    check(
        r#"int main(void) { int *p = __VERIFIER_nondet_int() ? malloc(4) : 0; *p = 1; }"#,
        "--check pointer",
        expect![[r#"
            VIOLATED x.c:6: null pointer in *p (in main)
            PROVED x.c:6: invalid access in *p (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        "#]],
    );
    check(
        r#"int main(void) { void (*f)(void) = 0; f(); }"#,
        "--check pointer",
        expect![[r#"
            VIOLATED x.c:6: null or wild function pointer in f() (in main)
            assuming that a call through a pointer to a function outside of the program returns anything
        "#]],
    );
    check(
        r#"int a[4];
int main(void) {
  int i = __VERIFIER_nondet_int();
  a[i] = 1;
  if (i == 2) a[i + 2] = 1;
}"#,
        "--check pointer",
        expect![[r#"
            VIOLATED x.c:9: index out of bounds in a[i] (in main)
              object: `int a[4]` of 16 bytes, declared at x.c:6
              the index is -1
                int  -1  | 0 | 1 | 2 | 3 |
                     ^^
            VIOLATED x.c:10: index out of bounds in a[i + 2] (in main)
              object: `int a[4]` of 16 bytes, declared at x.c:6
              the index is 4
                int  | 0 | 1 | 2 | 3 |  4
                                        ^
            2 checks: 0 proved, 2 violated, 0 unknown
        "#]],
    );
    check(
        r#"int main(void) { int *p = malloc(4); free(p); *p = 1; }"#,
        "--check pointer",
        expect![[r#"
            PROVED x.c:6: null pointer in *p (in main)
            VIOLATED x.c:6: invalid access in *p (in main)
              object: 4 bytes allocated at x.c:6, freed at x.c:6
              the access of 4 bytes is at byte 0 of 4 bytes
            2 checks: 1 proved, 1 violated, 0 unknown
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that `free` is given null or live memory of the heap: not asked about (`--check free`), first at x.c:6
        "#]],
    );
}

/// Of objects, and of arrays inside of them; where an array has no length, of the object.
#[test]
fn bounds() {
    check(
        r#"int a[4];
int main(void) { int i = __VERIFIER_nondet_int(); if (i >= 0 && i <= 4) a[i] = 1; }"#,
        "--check bounds",
        expect![[r#"
            VIOLATED x.c:7: index out of bounds in a[i] (in main)
              object: `int a[4]` of 16 bytes, declared at x.c:6
              the index is 4
                int  | 0 | 1 | 2 | 3 |  4
                                        ^
        "#]],
    );
    check(
        r#"int a[2][4];
int main(void) { a[0][5] = 1; }"#,
        "--check bounds",
        expect![[r#"
            VIOLATED x.c:7: index out of bounds in a[0][5] (in main)
        "#]],
    );
    check(
        r#"int x[0];
int main(void) { return x[-1]; }"#,
        "--check bounds,pointer",
        expect![[r#"
            VIOLATED x.c:7: invalid access in x[-1] (in main)
              object: `int x[]` of 0 bytes, declared at x.c:6
              the access of 4 bytes is at byte -4 of 0 bytes
                int  -1  |
                     ^^
        "#]],
    );
    check(
        r#"int x[0], b;
int main(void) { x[__VERIFIER_nondet_int()] = 1; assert(b == 0); }"#,
        "--check bounds,pointer",
        expect![[r#"
            VIOLATED x.c:7: invalid access in x[__VERIFIER_nondet_int()] (in main)
              object: `int x[]` of 0 bytes, declared at x.c:6
              the access of 4 bytes is at byte 0 of 0 bytes
                int  |  0
                        ^
            PROVED x.c:7: assertion b == 0 (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
        "#]],
    );
    check(
        r#"struct s { int n; int a[0]; int b[3]; } s;
int main(void) { s.a[2] = 3; s.a[3] = 2; }"#,
        "--check bounds",
        expect![[r#"
            PROVED x.c:7: invalid access in s.a[2] (in main)
            VIOLATED x.c:7: invalid access in s.a[3] (in main)
              object: `struct s s` of 16 bytes, declared at x.c:6
              the access of 4 bytes is at byte 16 of 16 bytes
            2 checks: 1 proved, 1 violated, 0 unknown
        "#]],
    );
    check(
        r#"struct s { int n; int a[]; } s = { 1, { 2, 3 } };
int main(void) { s.a[1] = 3; s.a[2] = 2; }"#,
        "--check bounds",
        expect![[r#"
            VIOLATED x.c:7: index out of bounds in s.a[2] (in main)
        "#]],
    );
    check(
        r#"int main(void) { int *p = malloc(8); free(p); p[1] = 1; }"#,
        "--check bounds",
        expect![[r#"
            VIOLATED x.c:6: invalid access in p[1] (in main)
              object: 8 bytes allocated at x.c:6, freed at x.c:6
              the access of 4 bytes is at byte 4 of 8 bytes
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        "#]],
    );
}

/// Of null, once, of the start of an object of the heap.
#[test]
fn frees() {
    check(
        r#"int main(void) { char *p = malloc(4); free(0); if (__VERIFIER_nondet_int()) free(p + 1); free(p); free(p); }"#,
        "--check free",
        expect![[r#"
            PROVED x.c:6: invalid free in free(0) (in main)
            VIOLATED x.c:6: invalid free in free(p + 1) (in main)
              object: 4 bytes allocated at x.c:6
              the pointer is at byte 1 of 4 bytes
            PROVED x.c:6: invalid free in free(p) (in main)
            VIOLATED x.c:6: invalid free in free(p) (in main)
              object: 4 bytes allocated at x.c:6, freed at x.c:6
              the pointer is at byte 0 of 4 bytes
            4 checks: 2 proved, 2 violated, 0 unknown
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        "#]],
    );
}

/// For all checks.
#[test]
fn a_violation_ends_the_execution() {
    check(
        r#"int main(void) { int x = __VERIFIER_nondet_int(); assert(x != 1); assert(x != 1); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: assertion x != 1 (in main)
            PROVED x.c:6: assertion x != 1 (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
        "#]],
    );
}

/// Leaks, uninitialised reads, overlaps, `restrict`, other types, inactive members, endless loops.
#[test]
fn what_is_not_checked() {
    check(
        r#"union u { int i; char c[4]; };
void set(int *restrict p, int *restrict q) { *p = 1; *q = 2; }
int main(void) {
  int x, *leaked = malloc(4);
  union u u = { 258 };
  set(&x, &x);
  assert(u.c[1] == 1 && x == 2);
  for (;;);
}"#,
        "--check free,overflow,div-by-zero",
        expect![[r#"
            PROVED x.c:12: assertion u.c[1] == 1 && x == 2 (in main)
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        "#]],
    );
}

/// Ranges that overlap are copied as by `memmove`; an object is read by any type.
#[test]
fn overlaps_and_aliases_are_not_checked() {
    check(
        r#"int main(void) { char a[] = "abcd"; memcpy(a + 1, a, 3); assert(a[1] == 'a' && a[2] == 'b' && a[3] == 'c'); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion a[1] == 'a' && a[2] == 'b' && a[3] == 'c' (in main)
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:6
        "#]],
    );
    check(
        r#"int f(int *i, short *s) { *i = 1; *s = 0; return *i; }
int main(void) { int x; assert(f(&x, (short *)&x) == 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion f(&x, (short *)&x) == 0 (in main)
        "#]],
    );
}

// Where executions start and end. `main` is in `sound_language::mains_arguments_are_those_of_the_standard`,
// handlers and destructors are in `sound_environment`.

/// May be anything.
#[test]
fn arguments_of_another_entry() {
    check(
        r#"int f(int n) { assert(n > 0 || n <= 0); assert(n != 4); return n; }"#,
        "--entry f",
        expect![[r#"
            PROVED x.c:6: assertion n > 0 || n <= 0 (in f)
            UNKNOWN x.c:6: assertion n != 4 (in f)
              because the run that was found does not replay: it returns
            2 checks: 1 proved, 0 violated, 1 unknown
        "#]],
    );
}

/// In order.
#[test]
fn constructors_run_before_main() {
    check(
        r#"int x;
__attribute__((constructor)) void begin(void) { x = 1; }
int main(void) { assert(x == 1); }"#,
        "",
        expect![[r#"
            PROVED x.c:8: assertion x == 1 (in main)
        "#]],
    );
}

/// Drop executions.
#[test]
fn assumptions_of_the_program() {
    check(
        r#"extern void __VERIFIER_assume(int);
int main(void) { int x = __VERIFIER_nondet_int(); __VERIFIER_assume(x > 3); assert(x > 2); assert(x > 4); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion x > 2 (in main)
            VIOLATED x.c:7: assertion x > 4 (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
        "#]],
    );
    check(
        r#"extern void __VERIFIER_assume(int);
int main(void) { int x = __VERIFIER_nondet_int(); __VERIFIER_assume(x > 3 && x < 3); assert(x == 77); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion x == 77 (in main)
        "#]],
    );
}

// Functions without a body. `fetch` is a session of the book; callbacks, guesses, weak names and
// pointers of other types are in `sound_environment` and `sound_language`, what they reach in
// `sound_memory::functions_without_a_body_reach_what_they_know`.

/// Or are null.
#[test]
fn results_point_to_objects_of_their_own() {
    check(
        r#"int *get(void);
int x;
int main(void) { int *p = get(); if (p) *p = 1; assert(x == 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:8: assertion x == 0 (in main)
            assuming that `get`, first called at x.c:8, returns anything and changes nothing
            assuming that pointers from outside, first used at x.c:8, point to no object of the program
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:8
        "#]],
    );
    check(
        r#"int *get(void);
int main(void) { assert(get() != 0); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:7: assertion get() != 0 (in main)
            assuming that `get`, first called at x.c:7, returns anything and changes nothing
        "#]],
    );
}

/// Also where a pointer may be one of the program's functions otherwise.
#[test]
fn functions_from_outside_are_the_programs_own() {
    check(
        "typedef int (*function)(int);
function from_outside(void);
int add5(int x) { return x + 5; }
int main(void) {
  function f = add5;
  if (__VERIFIER_nondet_int()) f = from_outside();
  assert(f(2) == 7);
}",
        "",
        expect![[r#"
            PROVED x.c:12: assertion f(2) == 7 (in main)
            assuming that `from_outside`, first called at x.c:11, returns anything and changes nothing
            assuming that a function pointer that comes from outside points to a function of its type that the program names
        "#]],
    );
}

/// Called by name or by a pointer; handlers may run.
#[test]
fn functions_that_do_not_return() {
    check(
        r#"_Noreturn void die(void);
int main(void) { int x = __VERIFIER_nondet_int(); if (x != 1) die(); assert(x == 1); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion x == 1 (in main)
            assuming that `die`, first called at x.c:7, does not return and changes nothing
        "#]],
    );
    check(
        r#"_Noreturn void die(void);
int main(void) { void (*f)(void) = die; f(); assert(0); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion 0 (in main)
            assuming that `die`, first called at x.c:7, does not return and changes nothing
        "#]],
    );
    check(
        r#"_Noreturn void die(void);
int x;
void handler(void) { assert(x == 0); }
int main(void) { void (*f)(void) = die; atexit(handler); x = 1; f(); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:8: assertion x == 0 (in handler)
            assuming that at most 32 functions are registered with atexit
            assuming that `die`, first called at x.c:9, does not return and changes nothing
        "#]],
    );
}

/// Start with any value.
#[test]
fn variables_that_no_file_defines() {
    check(
        r#"extern int e;
int main(void) { assert(e == 0); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:7: assertion e == 0 (in main)
            assuming that `e`, declared at x.c:6, starts with any value
        "#]],
    );
}

// Floating point and threads are sessions of the book.

/// Nor are other ways to become two.
#[test]
fn forks_are_not_supported() {
    check(
        r#"#include <unistd.h>
int x;
int main(void) { if (fork() == 0) x = 1; assert(x == 0); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:8: assertion x == 0 (in main)
              because `fork`: only sequential programs are understood at x.c:8 is not supported and can be reached
        "#]],
    );
}

/// By their names, whatever the header says of them.
#[test]
fn other_threads_are_not_supported() {
    check(
        r#"typedef unsigned long thrd_t;
int thrd_create(thrd_t *, int (*)(void *), void *);
int x;
int work(void *p) { x = 1; return 0; }
int main(void) { thrd_t t; thrd_create(&t, work, 0); assert(x == 0); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:10: assertion x == 0 (in main)
              because `thrd_create`: only sequential programs are understood at x.c:10 is not supported and can be reached
        "#]],
    );
    check(
        r#"int clone(int (*)(void *), void *, int, void *, ...);
int x;
int work(void *p) { x = 1; return 0; }
int main(void) { char stack[64]; clone(work, stack + 64, 256, 0); assert(x == 0); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:9: assertion x == 0 (in main)
              because `clone`: only sequential programs are understood at x.c:9 is not supported and can be reached
        "#]],
    );
}

/// Accesses.
#[test]
fn atomic_and_volatile_are_ordinary() {
    check(
        r#"int g;
volatile int v;
int main(void) {
  _Atomic int a = 1;
  v = 3;
  a++;
  assert(v == 3);
  assert(a == 2);
  assert(__sync_fetch_and_add(&g, 1) == 0);
}"#,
        "",
        expect![[r#"
            PROVED x.c:12: assertion v == 3 (in main)
            PROVED x.c:13: assertion a == 2 (in main)
            PROVED x.c:14: assertion __sync_fetch_and_add(&g, 1) == 0 (in main)
            3 checks: 3 proved, 0 violated, 0 unknown
        "#]],
    );
}

// Inline assembly. What is tied to an output is in `sound_language`.

/// And nothing else. A violation that rests on it says so.
#[test]
fn assembly_writes_anything_to_its_outputs() {
    check(
        r#"int main(void) { int x = 0; asm("mov $1, %0" : "=r"(x)); assert(x == 1); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: assertion x == 1 (in main), if the assembly at x.c:6 can do what it does in this run
            assuming that the assembly at x.c:6 writes only its outputs
        "#]],
    );
    check(
        r#"int main(void) { int x = 0, y = 1; asm("mov $1, %0" : "=r"(x)); assert(y != 1); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: assertion y != 1 (in main)
            assuming that the assembly at x.c:6 writes only its outputs
        "#]],
    );
    check(
        r#"int g;
int main(void) { asm("nop" ::: "memory"); assert(g == 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion g == 0 (in main)
            assuming that the assembly at x.c:7 writes only its outputs
        "#]],
    );
    check(
        r#"int g;
int main(void) { asm volatile("" ::: "memory"); assert(g == 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion g == 0 (in main)
        "#]],
    );
    check(
        r#"int main(void) { int x = __VERIFIER_nondet_int(); asm goto("" :::: out); assert(x == x); out: return 0; }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:6: assertion x == x (in main)
              because inline assembly that jumps at x.c:6 is not supported and can be reached
        "#]],
    );
    check(
        r#"asm(".globl other");
int g;
int main(void) { assert(g == 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:8: assertion g == 0 (in main)
            assuming that the assembly at x.c:6 writes only its outputs
        "#]],
    );
}

#[test]
fn where_locals_lie_that_come_after_others() {
    // The interpreter uses the place again, the logic does not: nobody's word counts.
    let call = "int *f(void) { int l; return &l; }\n";
    let differ = "int main(void) { int *a = f(), *b = f(); assert(a != b); return 0; }\n";
    check(
        &format!("{call}{differ}"),
        "",
        expect![[r#"
        PROVED x.c:7: assertion a != b (in main)
        assuming that objects that come after others have gone lie where Hardbop puts them: addresses are compared at x.c:7
    "#]],
    );
    check(
        "int main(void) {
  int *p = 0, *q = 0;
  for (int i = 0; i < 2; i++) { int l; q = p; p = &l; }
  assert(p != q);
  return 0;
}
",
        "",
        expect![[r#"
            UNKNOWN x.c:9: assertion p != q (in main)
              because the run that was found compares the address of a local that is gone, so it may go on in another way on another machine
            assuming that objects that come after others have gone lie where Hardbop puts them: addresses are compared at x.c:9
        "#]],
    );
}

#[test]
fn variables_that_the_outside_knows() {
    let main = "int *get(void);
int main(void) { int *p = get(); *p = 2; assert(x == 1); return 0; }
";
    check(
        &format!("int x = 1;\n{main}"),
        "",
        expect![[r#"
        PROVED x.c:8: assertion x == 1 (in main)
        assuming that `get`, first called at x.c:8, returns anything and changes nothing
        assuming that pointers from outside, first used at x.c:8, point to no object of the program
        assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:8
    "#]],
    );
    check(
        &format!("static int x = 1;\n{main}"),
        "",
        expect![[r#"
        PROVED x.c:8: assertion x == 1 (in main)
        assuming that `get`, first called at x.c:8, returns anything and changes nothing
        assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:8
    "#]],
    );
}
