//! Floating point, as a user sees it: proved and refuted bit by bit.

use crate::scene::Scene;
use expect_test::{Expect, expect};

const PRELUDE: &str = "#include <assert.h>
#include <math.h>
extern float __VERIFIER_nondet_float(void);
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
";

/// The answers.
#[track_caller]
fn check(text: &str, expected: Expect) {
    let scene = Scene::file("x.c", format!("{PRELUDE}{text}\n"));
    let output = scene.output("check -q --time-limit 120 x.c");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let answers = told.lines().filter(|line| {
        let starts = ["PROVED", "VIOLATED", "UNKNOWN"];
        starts.iter().any(|start| line.starts_with(start))
    });
    let answers: String = answers.map(|line| format!("{line}\n")).collect();
    expected.assert_eq(&answers);
}

/// Quotients by powers of two are exact; NaNs compare as nothing else does.
#[test]
fn arithmetic_is_exact() {
    check(
        r#"int main(void) {
  float x = __VERIFIER_nondet_float();
  if (x == 1.0f) assert(x / 2 == 0.5f);
  if (x != x) assert(!(x < 1) && !(x >= 1));
  assert(x < 1 || x >= 1);
}"#,
        expect![[r#"
            PROVED x.c:8: assertion x / 2 == 0.5f (in main)
            PROVED x.c:9: assertion !(x < 1) && !(x >= 1) (in main)
            VIOLATED x.c:10: assertion x < 1 || x >= 1 (in main)
        "#]],
    );
}

/// Bits of a float are its bytes.
#[test]
fn a_float_is_its_bytes() {
    check(
        r#"union number { float value; unsigned bits; };
int main(void) {
  union number x;
  x.value = __VERIFIER_nondet_float();
  __VERIFIER_assume(x.value > 0);
  x.value = -x.value;
  assert(x.bits >> 31 == 1);
}"#,
        expect![[r#"
            PROVED x.c:12: assertion x.bits >> 31 == 1 (in main)
        "#]],
    );
}

/// A filter keeps the bounds of its inputs, however long it runs; one that amplifies does not.
#[test]
fn filters_have_bounds() {
    let filter = |factor: &str| {
        format!(
            r#"int main(void) {{
  float y = 0;
  while (__VERIFIER_nondet_int()) {{
    float x = __VERIFIER_nondet_float();
    __VERIFIER_assume(x >= -10 && x <= 10);
    y = {factor} * y + {factor} * x;
    assert(y >= -10 && y <= 10);
  }}
}}"#
        )
    };
    check(
        &filter("0.5f"),
        expect![[r#"
            PROVED x.c:12: assertion y >= -10 && y <= 10 (in main)
        "#]],
    );
    check(
        &filter("2.0f"),
        expect![[r#"
            VIOLATED x.c:12: assertion y >= -10 && y <= 10 (in main)
        "#]],
    );
}

/// The range of a polynomial.
#[test]
fn polynomials_have_ranges() {
    check(
        r#"int main(void) {
  float x = __VERIFIER_nondet_float();
  __VERIFIER_assume(x >= 0 && x < 1);
  float y = 1 + 0.5f * x - 0.125f * x * x + 0.0625f * x * x * x;
  assert(y < 1.4376f);
  assert(y < 1.43f);
}"#,
        expect![[r#"
            PROVED x.c:10: assertion y < 1.4376f (in main)
            VIOLATED x.c:11: assertion y < 1.43f (in main)
        "#]],
    );
}

/// The mode of rounding is a part of the state.
#[test]
fn modes_of_rounding() {
    check(
        r#"#include <fenv.h>
int main(void) {
  float x = __VERIFIER_nondet_float();
  __VERIFIER_assume(x > 0.5f && x < 2.0f);
  int modes[4] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  int k = __VERIFIER_nondet_int() & 3;
  assert(fesetround(modes[k]) == 0 && fegetround() == modes[k]);
  assert(rint(2.5) == (k == 2 ? 3.0 : 2.0));
  assert(lrint(-2.5) == (k == 1 ? -3 : -2));
  fesetround(FE_UPWARD);
  float up = x / 3;
  fesetround(FE_DOWNWARD);
  float down = x / 3;
  assert(down <= up);
  assert(down == up);
  assert(fesetround(1) != 0 && fegetround() == FE_DOWNWARD);
}"#,
        expect![[r#"
            PROVED x.c:12: assertion fesetround(modes[k]) == 0 && fegetround() == modes[k] (in main)
            PROVED x.c:13: assertion rint(2.5) == (k == 2 ? 3.0 : 2.0) (in main)
            PROVED x.c:14: assertion lrint(-2.5) == (k == 1 ? -3 : -2) (in main)
            PROVED x.c:19: assertion down <= up (in main)
            VIOLATED x.c:20: assertion down == up (in main)
            PROVED x.c:21: assertion fesetround(1) != 0 && fegetround() == FE_DOWNWARD (in main)
        "#]],
    );
}

/// One rounding at the end.
#[test]
fn fused_operations() {
    check(
        r#"int main(void) {
  float x = __VERIFIER_nondet_float();
  __VERIFIER_assume(x == 1.0f + 0x1p-23f);
  assert(fmaf(x, x, -(x * x)) == 0x1p-46f);
}"#,
        expect![[r#"
            PROVED x.c:9: assertion fmaf(x, x, -(x * x)) == 0x1p-46f (in main)
        "#]],
    );
}

/// Numbers of half the size.
#[test]
fn halves() {
    check(
        r#"int main(void) {
  _Float16 h = 2048;
  assert(h + (_Float16)1 == h);
  int m = __VERIFIER_nondet_int() & 2047;
  assert((int)(_Float16)m == m);
}"#,
        expect![[r#"
            PROVED x.c:8: assertion h + (_Float16)1 == h (in main)
            PROVED x.c:10: assertion (int)(_Float16)m == m (in main)
        "#]],
    );
}

/// Remainders to the nearest, and numbers that only a fused operation can have.
#[test]
fn exact_operations() {
    check(
        r#"int main(void) {
  int quotient;
  assert(remainder(5.0, 3.0) == -1.0 && remainderf(5.0f, 2.0f) == 1.0f);
  assert(remquo(-7.25, 1.0, &quotient) == -0.25 && quotient == -7);
  assert(fma(1e308, 10, -INFINITY) < 0);
  assert(fmal(1 + 0x1p-23L, 2, 1) == 3.0L + 0x1p-22L);
}"#,
        expect![[r#"
            PROVED x.c:8: assertion remainder(5.0, 3.0) == -1.0 && remainderf(5.0f, 2.0f) == 1.0f (in main)
            PROVED x.c:9: assertion remquo(-7.25, 1.0, &quotient) == -0.25 && quotient == -7 (in main)
            PROVED x.c:10: assertion fma(1e308, 10, -INFINITY) < 0 (in main)
            PROVED x.c:11: assertion fmal(1 + 0x1p-23L, 2, 1) == 3.0L + 0x1p-22L (in main)
        "#]],
    );
}

/// Remainders of `long double`, whose exponents have fifteen bits, are computed bit by bit, too.
#[test]
fn remainders_of_the_widest_floats() {
    let text = |other: &str| {
        format!(
            "int main(void) {{
               long double x = 7.5L;
               if (__VERIFIER_nondet_int() > 3) x = {other};
               assert(fmodl(x, 2.0L) == 1.5L);
             }}"
        )
    };
    check(
        &text("9.5L"),
        expect![[r#"
            PROVED x.c:9: assertion fmodl(x, 2.0L) == 1.5L (in main)
        "#]],
    );
    check(
        &text("10.5L"),
        expect![[r#"
            VIOLATED x.c:9: assertion fmodl(x, 2.0L) == 1.5L (in main)
        "#]],
    );
}
