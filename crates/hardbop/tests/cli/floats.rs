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
