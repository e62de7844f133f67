//! What the standard leaves undefined beyond overflows and wrong accesses: values that were never
//! initialised, misaligned accesses, pointers that leave their object, memory that overlaps,
//! operations that give no number; and what is behind a violation.

use crate::scene::Scene;
use expect_test::{Expect, expect};

fn check(text: &str, options: &str, expected: Expect) {
    let text = format!(
        "#include <assert.h>\n#include <stdlib.h>\n#include <string.h>\n\
         extern int __VERIFIER_nondet_int(void);\n{text}\n"
    );
    Scene::file("x.c", text).check(&format!("check x.c -q --no-trace {options}"), expected);
}

#[test]
fn a_struct_with_members_without_a_value_may_be_copied_but_not_decide() {
    check(
        "struct S { int a; int b; };
static struct S same(struct S s) { return s; }
int main(void) {
  struct S s, t;
  s.a = __VERIFIER_nondet_int();
  t = same(s);
  if (t.a > 3)
    return 1;
  if (t.b > 3)
    return 2;
  return 0;
}",
        "--check uninit",
        expect![[r#"
            PROVED x.c:11: uninitialised value used in t.a > 3 (in main)
            VIOLATED x.c:13: uninitialised value used in t.b > 3 (in main)
              x.c:9: input __VERIFIER_nondet_int() = 0
            2 checks: 1 proved, 1 violated, 0 unknown
            [exit 1]
        "#]],
    );
}

#[test]
fn a_variable_that_is_set_on_some_ways_only() {
    check(
        "int main(void) {
  int x, c = __VERIFIER_nondet_int();
  if (c)
    x = 1;
  if (c && x)
    c++;
  if (x)
    return 2;
  return 0;
}",
        "--check uninit",
        expect![[r#"
            PROVED x.c:9: uninitialised value used in x (in main)
            VIOLATED x.c:11: uninitialised value used in x (in main)
              x.c:6: input __VERIFIER_nondet_int() = 0
            2 checks: 1 proved, 1 violated, 0 unknown
            [exit 1]
        "#]],
    );
}

#[test]
fn an_array_that_a_loop_fills_has_values() {
    check(
        "int main(void) {
  int a[10], k = __VERIFIER_nondet_int();
  for (int i = 0; i < 10; i++)
    a[i] = i;
  if (k >= 0 && k < 10 && a[k] > 3)
    return 1;
  return 0;
}",
        "--check uninit",
        expect![[r#"
            PROVED x.c:9: uninitialised value used in a[k] > 3 (in main)
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:8
            [exit 0]
        "#]],
    );
}

#[test]
fn fresh_memory_has_no_value() {
    check(
        "int main(void) {
  int *p = malloc(2 * sizeof *p);
  p[0] = 1;
  if (p[1])
    p[0]++;
  free(p);
  return 0;
}",
        "--check uninit",
        expect![[r#"
            VIOLATED x.c:8: uninitialised value used in p[1] (in main)
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            [exit 1]
        "#]],
    );
}

#[test]
fn a_misaligned_access() {
    check(
        "int main(void) {
  char bytes[16];
  int i = __VERIFIER_nondet_int();
  if (i < 0 || i > 12)
    return 0;
  *(int *)(bytes + 4) = 1;
  *(short *)(bytes + 2 * (i / 2)) = 1;
  *(int *)(bytes + i) = 1;
  return 0;
}",
        "--check alignment",
        expect![[r#"
            PROVED x.c:10: misaligned access in *(int *)(bytes + 4) (in main)
            PROVED x.c:11: misaligned access in *(short *)(bytes + 2 * (i / 2)) (in main)
            VIOLATED x.c:12: misaligned access in *(int *)(bytes + i) (in main)
              object: `char bytes[16]` of 16 bytes, declared at x.c:6
              a pointer is at byte 1 of 16 bytes
              x.c:7: input __VERIFIER_nondet_int() = 1
            3 checks: 2 proved, 1 violated, 0 unknown
            assuming that objects of the heap lie at multiples of 16 bytes: an access that only this makes aligned is not seen
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:10
            [exit 1]
        "#]],
    );
}

#[test]
fn objects_are_no_more_aligned_than_c_asks() {
    check(
        "int main(void) {
  char c; long l; _Alignas(32) int i;
  assert((unsigned long)&l % 8 == 0);
  assert((unsigned long)&i % 32 == 0);
  if (__VERIFIER_nondet_int())
    assert((unsigned long)&l % 16 == 0);
  else
    assert((unsigned long)&c % 2 == 0);
  return 0;
}",
        "",
        expect![[r#"
            PROVED x.c:7: assertion (unsigned long)&l % 8 == 0 (in main)
            PROVED x.c:8: assertion (unsigned long)&i % 32 == 0 (in main)
            VIOLATED x.c:10: assertion (unsigned long)&l % 16 == 0 (in main)
              x.c:9: input __VERIFIER_nondet_int() = 1
            VIOLATED x.c:12: assertion (unsigned long)&c % 2 == 0 (in main)
              x.c:9: input __VERIFIER_nondet_int() = 0
            4 checks: 2 proved, 2 violated, 0 unknown
            assuming that objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:7
            [exit 1]
        "#]],
    );
}

#[test]
fn objects_of_recursive_functions_are_no_more_aligned_either() {
    check(
        "int f(int n) {
  char c; long l; _Alignas(64) char a;
  assert((unsigned long)&l % 8 == 0);
  assert((unsigned long)&a % 64 == 0);
  if (n == 123456)
    assert((unsigned long)&c % 2 == 0);
  return n > 0 && n < 3 ? f(n - 1) : 0;
}
int main(void) { return f(__VERIFIER_nondet_int()); }",
        "",
        expect![[r#"
            PROVED x.c:7: assertion (unsigned long)&l % 8 == 0 (in f)
            PROVED x.c:8: assertion (unsigned long)&a % 64 == 0 (in f)
            VIOLATED x.c:10: assertion (unsigned long)&c % 2 == 0 (in f)
              x.c:13: input __VERIFIER_nondet_int() = 123456
            3 checks: 2 proved, 1 violated, 0 unknown
            assuming that objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:7
            [exit 1]
        "#]],
    );
}

#[test]
fn the_object_of_a_compound_literal_lives_in_its_block() {
    check(
        "int main(void) {
  int *p = &(int){1}, *q;
  for (int i = 0; i < 2; i++) {
    q = &(int){i};
    *q += *p;
  }
  return *p + *q;
}",
        "--check pointer",
        expect![[r#"
            PROVED x.c:9: null pointer in *q (in main)
            PROVED x.c:9: invalid access in *q (in main)
            PROVED x.c:9: null pointer in *p (in main)
            PROVED x.c:9: invalid access in *p (in main)
            PROVED x.c:11: null pointer in *p (in main)
            PROVED x.c:11: invalid access in *p (in main)
            PROVED x.c:11: null pointer in *q (in main)
            VIOLATED x.c:11: invalid access in *q (in main)
              object: `int literal#` of 4 bytes, declared at x.c:8, gone at x.c:10
              the access of 4 bytes is at byte 0 of 4 bytes
            8 checks: 7 proved, 1 violated, 0 unknown
            assuming that pointers from outside, first used at x.c:9, point to no object of the program, apart from what they are compared with
            [exit 1]
        "#]],
    );
}

#[test]
fn an_address_that_is_computed_as_a_number() {
    check(
        "int main(void) {
  int a[3] = {0, 1, 2};
  unsigned long u = (unsigned long)a;
  u += 2 * sizeof(int);
  *(int *)u = 5;
  assert(a[2] == 5);
  if (__VERIFIER_nondet_int())
    *(int *)(u + 4) = 1;
  return 0;
}",
        "--check bounds,pointer",
        expect![[r#"
            PROVED x.c:9: null pointer in *(int *)u (in main)
            PROVED x.c:9: invalid access in *(int *)u (in main)
            PROVED x.c:10: assertion a[2] == 5 (in main)
            PROVED x.c:12: null pointer in *(int *)(u + 4) (in main)
            VIOLATED x.c:12: invalid access in *(int *)(u + 4) (in main)
              object: `int a[3]` of 12 bytes, declared at x.c:6
              the access of 4 bytes is at byte 12 of 12 bytes
                int  | 0 | 1 | 2 |  3
                                    ^
              x.c:11: input __VERIFIER_nondet_int() = 1
            5 checks: 4 proved, 1 violated, 0 unknown
            assuming that objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:8
            [exit 1]
        "#]],
    );
}

#[test]
fn a_pointer_may_point_behind_its_object_and_no_further() {
    check(
        "int main(void) {
  int a[4], n = __VERIFIER_nondet_int();
  int *end = a + 4, *p = &a[4];
  for (p = a; p != end; p++)
    *p = 0;
  if (n >= 0 && n <= 5)
    p = a + n;
  return 0;
}",
        "--check pointer-arithmetic",
        expect![[r#"
            PROVED x.c:7: pointer moved out of its object in a + 4 (in main)
            PROVED x.c:8: pointer moved out of its object in p++ (in main)
            VIOLATED x.c:11: pointer moved out of its object in a + n (in main)
              object: `int a[4]` of 16 bytes, declared at x.c:6
              the pointer is at byte 20 of 16 bytes
                int  | 0 | 1 | 2 | 3 |  5
                                        ^
              x.c:6: input __VERIFIER_nondet_int() = 5
            3 checks: 2 proved, 1 violated, 0 unknown
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:9
            [exit 1]
        "#]],
    );
}

#[test]
fn memory_that_overlaps_itself_is_moved_and_not_copied() {
    check(
        "int main(void) {
  char a[16] = \"abcdef\", b[16];
  memcpy(b, a, 16);
  memmove(a + 1, a, 8);
  memcpy(a + 8, a, 8);
  memcpy(a + 4, a, 8);
  return 0;
}",
        "--check overlap",
        expect![[r#"
            PROVED x.c:7: memory copied to where it overlaps itself in memcpy(b, a, 16) (in main)
            PROVED x.c:9: memory copied to where it overlaps itself in memcpy(a + 8, a, 8) (in main)
            VIOLATED x.c:10: memory copied to where it overlaps itself in memcpy(a + 4, a, 8) (in main)
              object: `char a[16]` of 16 bytes, declared at x.c:6
              a pointer is at byte 4 of 16 bytes
              another pointer is at byte 0 of 16 bytes
            3 checks: 2 proved, 1 violated, 0 unknown
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:8
            [exit 1]
        "#]],
    );
    check(
        "int main(void) {
  char a[16] = \"abcdef\";
  strcpy(a + 2, a);
  return 0;
}",
        "--check overlap",
        expect![[r#"
            VIOLATED <hardbop>/models/text.c:24: memory copied to where it overlaps itself (in strcpy)
              object: `char a[16]` of 16 bytes, declared at x.c:6
              a pointer is at byte 2 of 16 bytes
              another pointer is at byte 0 of 16 bytes
            PROVED <hardbop>/models/text.c:28: memory copied to where it overlaps itself (in strcpy)
            2 checks: 1 proved, 1 violated, 0 unknown
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:7
            [exit 1]
        "#]],
    );
}

#[test]
fn strings_without_an_end_and_moved_memory_are_wrong_accesses() {
    check(
        "int main(void) {
  char a[4] = \"abcd\";
  return strlen(a) > 3;
}",
        "--check bounds",
        expect![[r#"
            VIOLATED <hardbop>/models/text.c:7: invalid access in s[n] (in strlen)
              object: `char a[4]` of 4 bytes, declared at x.c:6
              the access of 1 byte is at byte 4 of 4 bytes
                char  | 0 | 1 | 2 | 3 |  4
                                         ^
            [exit 1]
        "#]],
    );
    check(
        "int main(void) {
  char *p = malloc(4), *q = realloc(p, 8);
  q[0] = 1;
  p[0] = 1;
  free(q);
  return 0;
}",
        "--check bounds",
        expect![[r#"
            PROVED x.c:7: invalid access in q[0] (in main)
            VIOLATED x.c:8: invalid access in p[0] (in main)
              object: 4 bytes allocated at x.c:6, freed at x.c:6
              the access of 1 byte is at byte 0 of 4 bytes
            PROVED <hardbop>/models/stdlib.c:29: invalid access in memcpy(moved, p, old < size ? old : size) (in realloc)
            PROVED <hardbop>/models/stdlib.c:29: invalid access in memcpy(moved, p, old < size ? old : size) (in realloc)
            4 checks: 3 proved, 1 violated, 0 unknown
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that realloc always moves the object
            assuming that `free` is given null or live memory of the heap: not asked about (`--check free`), first at x.c:6
            [exit 1]
        "#]],
    );
}

#[test]
fn an_operation_that_gives_no_number() {
    check(
        "extern double __VERIFIER_nondet_double(void);
int main(void) {
  double x = __VERIFIER_nondet_double(), y = 0;
  if (x > 0 && x < 10)
    y = 1 / x;
  y = x - x;
  return y > 1;
}",
        "--check nan",
        expect![[r#"
            PROVED x.c:9: no number in 1 / x (in main)
            VIOLATED x.c:10: no number in x - x (in main)
              x.c:7: input __VERIFIER_nondet_double() = -inf
            2 checks: 1 proved, 1 violated, 0 unknown
            [exit 1]
        "#]],
    );
}

#[test]
fn what_is_behind_a_violation_has_its_own_answer() {
    let text = "int main(void) {
  int x = __VERIFIER_nondet_int();
  assert(x > 0);
  assert(x > -5);
  return 0;
}";
    check(
        text,
        "",
        expect![[r#"
            VIOLATED x.c:7: assertion x > 0 (in main)
              x.c:6: input __VERIFIER_nondet_int() = 0
            PROVED x.c:8: assertion x > -5 (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
            [exit 1]
        "#]],
    );
    check(
        text,
        "--all",
        expect![[r#"
            VIOLATED x.c:7: assertion x > 0 (in main)
              x.c:6: input __VERIFIER_nondet_int() = 0
            VIOLATED x.c:8: assertion x > -5 (in main)
              x.c:6: input __VERIFIER_nondet_int() = -536870913
            2 checks: 0 proved, 2 violated, 0 unknown
            [exit 1]
        "#]],
    );
}

#[test]
fn memory_that_may_not_be_there_is_cleared_where_it_is() {
    check(
        "int main(void) {
  int *p = calloc(4, sizeof *p);
  if (p)
    assert(p[3] == 0);
  free(p);
  return 0;
}",
        "--malloc-may-fail --check pointer,bounds,free",
        expect![[r#"
            PROVED x.c:8: null pointer in assert(p[3] == 0) (in main)
            PROVED x.c:8: invalid access in assert(p[3] == 0) (in main)
            PROVED x.c:8: assertion p[3] == 0 (in main)
            PROVED x.c:9: invalid free in free(p) (in main)
            4 checks: 4 proved, 0 violated, 0 unknown
            [exit 0]
        "#]],
    );
}

#[test]
fn a_property_for_all_that_is_undefined() {
    let text = "int main(void) { int x; int a[2] = {1, 2}; if (a[1] == 2) return 0; return x; }\n";
    let scene = Scene::file("x.c", text)
        .and_file("def.prp", "CHECK( init(main()), LTL(G def-behavior) )\n");
    scene.check(
        "check x.c -q --no-trace --property def.prp",
        expect![[r#"
            PROVED x.c:1: uninitialised value used in a[1] == 2 (in main)
            assuming that nothing undefined happens of a kind that no check sees: writes to constants, accesses by a wrong type, side effects without an order, wrong arguments of library functions
            result: true
            [exit 0]
        "#]],
    );
    let text = "int main(void) { int x; if (x) return 1; return 0; }\n";
    let scene = Scene::file("x.c", text)
        .and_file("def.prp", "CHECK( init(main()), LTL(G def-behavior) )\n");
    scene.check(
        "check x.c -q --no-trace --property def.prp",
        expect![[r#"
            VIOLATED x.c:1: uninitialised value used in x (in main)
            assuming that nothing undefined happens of a kind that no check sees: writes to constants, accesses by a wrong type, side effects without an order, wrong arguments of library functions
            result: false(def-behavior)
            [exit 1]
        "#]],
    );
}

#[test]
fn bytes_of_an_address_are_numbers() {
    check(
        "int x, *table[2] = {&x, 0};
extern void reach_error(void);
int main(void) {
  if (((unsigned char *)table)[0] & 0xf0)
    reach_error();
  return 0;
}",
        "",
        expect![[r#"
            PROVED x.c:9: call of `reach_error` (in main)
            assuming that objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:8
            [exit 0]
        "#]],
    );
}

#[test]
fn the_one_run_is_believed_only_where_it_reads_what_it_wrote() {
    let text = |last: &str| {
        format!(
            "struct node {{ struct node *next; long value; }};
int main(void) {{
  struct node *first = malloc(sizeof *first);
  first->next = malloc(sizeof *first);
  first->next->value = 2;
  {last}
  free(first->next);
  free(first);
  return 0;
}}"
        )
    };
    check(
        &text("assert(first->next->value == 2);"),
        "--engine run",
        expect![[r#"
            PROVED x.c:10: assertion first->next->value == 2 (in main)
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:8
            assuming that `free` is given null or live memory of the heap: not asked about (`--check free`), first at x.c:11
            [exit 0]
        "#]],
    );
    check(
        &text("assert(first->value == 0);"),
        "--engine run",
        expect![[r#"
            VIOLATED x.c:10: assertion first->value == 0 (in main)
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            [exit 1]
        "#]],
    );
}

/// What a local of a function holds that nobody wrote is for the run to choose, where the function
/// is read as a part of its caller, too.
#[test]
fn a_local_that_nobody_wrote_has_the_value_that_a_run_needs() {
    let text = "void f(void) {
  int next, state = 1;
  while (state != 0) {
    if (state == 2 && next == 30)
      assert(0);
    state = (state + 1) % 3;
  }
}
int main(void) { f(); f(); return 0; }";
    let violated = || {
        expect![[r#"
            VIOLATED x.c:9: assertion 0 (in f)
            [exit 1]
        "#]]
    };
    for engine in ["sat", "unroll", "slam", "values", "pdr"] {
        check(text, &format!("--engine {engine}"), violated());
    }
}

/// A pointer that nobody wrote may lead anywhere, for proofs as for runs.
#[test]
fn a_pointer_that_nobody_wrote_leads_anywhere() {
    check(
        "int x = 1;
int main(void) {
  int *p;
  if (__VERIFIER_nondet_int())
    p = &x;
  assert(*p == 1);
  return 0;
}",
        "",
        expect![[r#"
            VIOLATED x.c:10: assertion *p == 1 (in main)
              x.c:8: input __VERIFIER_nondet_int() = 0
            [exit 1]
        "#]],
    );
}
