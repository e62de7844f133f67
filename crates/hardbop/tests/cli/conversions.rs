//! Arithmetic that changes values: unsigned wrap-around, conversions; and memory that runs out.

use crate::scene::Scene;
use expect_test::{Expect, expect};

#[track_caller]
fn check(text: &str, options: &str, expected: Expect) {
    let text = format!(
        "extern int __VERIFIER_nondet_int(void);\nextern unsigned __VERIFIER_nondet_uint(void);\n\
         extern double __VERIFIER_nondet_double(void);\n{text}\n"
    );
    Scene::file("x.c", text).check(&format!("check x.c --no-trace {options}"), expected);
}

#[test]
fn unsigned_arithmetic_wraps_around() {
    let text = "int main(void) {
  unsigned a = __VERIFIER_nondet_uint(), b = 0;
  if (a < 1000) b = a + 1;
  if (a > 0) b += a - 1;
  for (unsigned i = 0; i < 10; i++) b = i;
  return -b == 0;
}";
    check(
        text,
        "--check unsigned",
        expect![[r#"
            PROVED x.c:6: unsigned wrap-around in a + 1 (in main)
            PROVED x.c:7: unsigned wrap-around in a - 1 (in main)
            PROVED x.c:7: unsigned wrap-around in b += a - 1 (in main)
            PROVED x.c:8: unsigned wrap-around in i++ (in main)
            VIOLATED x.c:9: unsigned wrap-around in -b (in main)
              x.c:5: input __VERIFIER_nondet_uint() = 4294967295
            5 checks: 4 proved, 1 violated, 0 unknown
            [exit 1]
        "#]],
    );
}

#[test]
fn implicit_conversions_keep_the_value_or_not() {
    let text = "unsigned char whole = 200;
int main(void) {
  int x = __VERIFIER_nondet_int();
  short s = x;
  unsigned u = s;
  unsigned char c = (unsigned char)x;
  c += 1;
  if (x >= -128 && x < 128) {
    signed char fits = x;
    return fits + c + u;
  }
  return 0;
}";
    check(
        text,
        "--check conversion",
        expect![[r#"
            VIOLATED x.c:7: value changed by the conversion of x (in main)
              x.c:6: input __VERIFIER_nondet_int() = -98304
            VIOLATED x.c:8: value changed by the conversion of s (in main)
              x.c:6: input __VERIFIER_nondet_int() = -1
            VIOLATED x.c:10: value changed by the conversion of c += 1 (in main)
              x.c:6: input __VERIFIER_nondet_int() = 255
            PROVED x.c:12: value changed by the conversion of x (in main)
            PROVED x.c:13: value changed by the conversion of fits + c (in main)
            PROVED x.c:13: value changed by the conversion of fits + c + u (in main)
            6 checks: 3 proved, 3 violated, 0 unknown
            [exit 1]
        "#]],
    );
}

#[test]
fn floating_point_numbers_that_do_not_fit() {
    let text = "int main(void) {
  double d = __VERIFIER_nondet_double();
  int all = (int)d;
  if (d > -2147483649.0 && d < 2147483648.0) return (int)d;
  unsigned char small = d > -1 && d < 256 ? d : 0;
  float f = 2147483520.0f;
  return (int)f + (int)-2147483648.0f + small;
}";
    check(
        text,
        "--check float-cast",
        expect![[r#"
            VIOLATED x.c:6: value does not fit in the conversion of (int)d (in main)
              x.c:5: input __VERIFIER_nondet_double() = NaN
            PROVED x.c:7: value does not fit in the conversion of (int)d (in main)
            PROVED x.c:8: value does not fit in the conversion of d > -1 && d < 256 ? d : 0 (in main)
            PROVED x.c:10: value does not fit in the conversion of (int)f (in main)
            PROVED x.c:10: value does not fit in the conversion of (int)-2147483648.0f (in main)
            5 checks: 4 proved, 1 violated, 0 unknown
            [exit 1]
        "#]],
    );
}

#[test]
fn one_word_asks_for_all_that_is_undefined() {
    let text = "int main(void) {
  int a[2] = {1, 2}, i = __VERIFIER_nondet_int();
  if (i < 0 || i > 2) return 0;
  return 10 / a[i];
}";
    check(
        text,
        "--check undefined",
        expect![[r#"
            PROVED x.c:7: pointer moved out of its object in a[i] (in main)
            VIOLATED x.c:7: index out of bounds in a[i] (in main)
              object: `int a[2]` of 8 bytes, declared at x.c:5
              the index is 2
                int  | 0 | 1 |  2
                                ^
              x.c:5: input __VERIFIER_nondet_int() = 2
            PROVED x.c:7: division by zero in 10 / a[i] (in main)
            PROVED x.c:7: signed overflow in 10 / a[i] (in main)
            4 checks: 3 proved, 1 violated, 0 unknown
            [exit 1]
        "#]],
    );
    let tidy = "int main(void) { unsigned x = __VERIFIER_nondet_uint(); return x % 7 == 3; }";
    check(
        tidy,
        "--check all",
        expect![[r#"
        nothing to check: the program has no assertion and no error call
        [exit 0]
    "#]],
    );
}

#[test]
fn memory_may_run_out() {
    let text = "#include <stdlib.h>
int main(void) {
  int *p = malloc(sizeof *p);
  *p = 1;
  free(p);
  return 0;
}";
    check(
        text,
        "--check pointer,bounds,free",
        expect![[r#"
            PROVED x.c:7: null pointer in *p (in main)
            PROVED x.c:7: invalid access in *p (in main)
            PROVED x.c:8: invalid free in free(p) (in main)
            3 checks: 3 proved, 0 violated, 0 unknown
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            [exit 0]
        "#]],
    );
    check(
        text,
        "--check pointer,bounds,free --malloc-may-fail",
        expect![[r#"
            VIOLATED x.c:7: null pointer in *p (in main)
            PROVED x.c:7: invalid access in *p (in main)
            PROVED x.c:8: invalid free in free(p) (in main)
            3 checks: 2 proved, 1 violated, 0 unknown
            [exit 1]
        "#]],
    );
    let careful = text.replace("*p = 1;", "if (p) *p = 1;");
    check(
        &careful,
        "--check pointer,bounds,free,cleanup --malloc-may-fail",
        expect![[r#"
            PROVED x.c:7: null pointer in *p (in main)
            PROVED x.c:7: invalid access in *p (in main)
            PROVED x.c:8: invalid free in free(p) (in main)
            PROVED x.c:5: memory left at the end of the program (in main)
            4 checks: 4 proved, 0 violated, 0 unknown
            [exit 0]
        "#]],
    );
}

#[test]
fn what_the_library_keeps_is_not_the_programs_to_free() {
    let text = "#include <stdlib.h>
#include <stdio.h>
int main(void) {
  char *home = getenv(\"HOME\");
  FILE *f = fopen(\"x\", \"r\");
  if (f) fclose(f);
  return home != 0;
}";
    check(
        text,
        "--check leak,cleanup",
        expect![[r#"
        nothing to check: the program has no assertion and no error call
        assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        assuming that files may hold anything, and what is written to one is not read back
        assuming that the environment may hold any value for any name, and another one each time
        [exit 0]
    "#]],
    );
}
