//! Programs about floats, and about bytes that nobody can know, of which a wrong answer was once
//! given or nearly so.

use crate::scene::{Scene, picture};

const HEAD: &str = "#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern float __VERIFIER_nondet_float(void);
extern double __VERIFIER_nondet_double(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);
";

/// What is said of a program.
fn said(body: &str, options: &str) -> String {
    let scene = Scene::file("x.c", format!("{HEAD}{body}\n"));
    picture(&scene.output(&format!(
        "check x.c -q --no-trace --time-limit 60 {options}"
    )))
}

/// Asserts that something that can fail is not proved.
#[track_caller]
fn not_proved(body: &str) {
    let said = said(body, "");
    assert!(!said.contains("PROVED"), "{body}\n{said}");
}

/// Asserts that something that cannot fail is not violated.
#[track_caller]
fn not_violated(body: &str, options: &str) {
    let said = said(body, options);
    assert!(!said.contains("VIOLATED"), "{body}\n{said}");
}

#[test]
fn the_nan_of_an_operation_on_literals_may_be_any() {
    // Only an input that nobody guesses comes to the assertion: no run contradicts a proof.
    let rare =
        "unsigned k = __VERIFIER_nondet_uint(); if (k * 2654435761u != 0x12345679u) return 0;";
    for rest in [
        "float z = 0; float n = z / z; assert(!signbit(n));",
        "union { float f; unsigned i; } u; float z = 0; u.f = z / z; assert(u.i == 0x7fc00000u);",
        "double r = -1; assert(signbit(sqrt(r)) == 0);",
    ] {
        not_proved(&format!("int main(void) {{ {rare} {rest} }}"));
    }
}

#[test]
fn two_operations_on_the_same_operands_may_give_two_nans() {
    not_proved(
        "int main(void) {
          float x = __VERIFIER_nondet_float(), y = __VERIFIER_nondet_float(), p = x, q = y;
          int a = signbit(x + y) != 0, b = signbit(q + p) != 0;
          assert(a == b);
        }",
    );
}

#[test]
fn functions_of_zeros_with_signs_and_of_signalling_nans() {
    not_proved(
        "int main(void) {
          double x = __VERIFIER_nondet_double();
          __VERIFIER_assume(x == 0);
          assert(pow(x, -1.0) >= 0);
        }",
    );
    not_proved(
        "int main(void) {
          float x = __VERIFIER_nondet_float(), y = __VERIFIER_nondet_float();
          __VERIFIER_assume(x == 0 && y == 0);
          float m = fmaxf(x, y);
          assert(signbit(m) == 0 || (signbit(x) && signbit(y)));
        }",
    );
    not_proved(
        "int main(void) {
          float x = __VERIFIER_nondet_float();
          if (isnan(x)) assert(fmaxf(x, 1) == 1);
        }",
    );
    not_proved(
        "int main(void) {
          double n = nan(\"1\"); unsigned long u;
          memcpy(&u, &n, 8);
          assert(u == 0x7ff8000000000000UL);
        }",
    );
}

#[test]
fn a_quiet_nan_is_no_number_to_choose() {
    not_violated(
        "int main(void) {
          float none = __builtin_nanf(\"\"), x = __VERIFIER_nondet_float();
          assert(fmin(none, -1) == -1 && fmaxf(2, none) == 2);
          assert(fminl(none, 3) == 3 && isnan(fmax(none, none)));
          if (x == x) assert(fminf(x, x / 0 * 0) == x);
        }",
        "",
    );
    not_proved(
        "int main(void) {
          double x = __VERIFIER_nondet_double();
          if (isnan(x)) assert(fmin(1, x) == 1);
        }",
    );
}

#[test]
fn a_field_of_a_float_has_a_width() {
    not_proved(
        "int main(void) {
          float g = 0; int k = 0;
          int n = sscanf(\"12345\", \"%3f%d\", &g, &k);
          assert(n == 1);
        }",
    );
    let three = "int main(void) { float g = 0; sscanf(\"12345\", \"%3f\", &g); assert(g == 123); }";
    not_violated(three, "");
}

#[test]
fn integers_of_128_bits_have_the_numbers_that_they_have() {
    not_violated(
        "int main(void) {
          double d = __VERIFIER_nondet_double();
          if (d == 5) { unsigned __int128 u = (unsigned __int128)d; __int128 v = (__int128)d; }
        }",
        "--check float-cast",
    );
}

#[test]
fn bits_and_bytes_that_nobody_wrote_are_not_those_of_one_run() {
    not_proved(
        "struct S { unsigned a : 3, b : 5; };
        int main(void) {
          struct S *s = malloc(sizeof *s);
          s->a = 1;
          if (s->b) reach_error();
          free(s);
        }",
    );
    not_proved(
        "int main(void) {
          int *p = malloc(4); unsigned char b;
          memcpy(&b, &p, 1);
          if (b != 0) reach_error();
          free(p);
        }",
    );
    not_proved(
        "int main(void) {
          int x, *p = &x; void *v = &p; unsigned char *b = v;
          b[0] = 0;
          if (b[1] != 0) reach_error();
        }",
    );
    not_proved(
        "void g(void) {}
        int main(void) {
          void (*f)(void) = g; unsigned long n;
          memcpy(&n, &f, 8);
          if (n > 0x20000) reach_error();
        }",
    );
}

#[test]
fn a_trap_ends_a_program_too() {
    let text = "int *g; int main(void) { g = malloc(4); __builtin_trap(); }";
    let said = said(text, "--check cleanup");
    assert!(said.starts_with("VIOLATED"), "{said}");
}
