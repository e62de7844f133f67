//! Paths of violations on the terminal.

use crate::support::{program, violated};
use expect_test::{Expect, expect};
use hardbop_report::rows::Detail;
use hardbop_report::terminal::{Listing, Plain, Show, text};

#[track_caller]
fn check(source: &str, inputs: &str, detail: Detail, expected: Expect) {
    let program = program(source);
    let results = violated(&program, inputs);
    let show = Show {
        listing: Listing::Whole,
        path: Some(detail),
        invariants: false,
        predicates: false,
        statistics: false,
    };
    expected.assert_eq(&text(&results, show, &Plain));
}

const COUNT: &str = "
int add(int a, int b) {
  return a + b;
}
int main(void) {
  int n = __VERIFIER_nondet_int();
  int sum = 0, noise = 0;
  for (int i = 0; i < n; i++) {
    noise = noise * 3 + 1;
    sum = add(sum, i);
  }
  if (sum == 45)
    reach_error();
  return 0;
}
";

#[test]
fn what_matters_is_shown_and_long_loops_are_folded() {
    check(
        COUNT,
        "10",
        Detail::Relevant,
        expect![[r#"
        VIOLATED x.c:13: call of `reach_error` (in main)
           6  int n = __VERIFIER_nondet_int();  n = 10
           7  int sum = 0, noise = 0;           sum = 0
           8  for (int i = 0; i < n; i++) {     i = 0, n = 10
          10  sum = add(sum, i);                a = 0, b = 0
           3      return a + b;                 returns 0
          10  sum = add(sum, i);                sum = 0
           8  for (int i = 0; i < n; i++) {     i = 1
              ... 8 more iterations
           8  for (int i = 0; i < n; i++) {     i = 9, n = 10
          10  sum = add(sum, i);                a = 36, b = 9
           3      return a + b;                 returns 45
          10  sum = add(sum, i);                sum = 45
          12  if (sum == 45)                    sum = 45
          13  call of `reach_error`
          x.c:6: input __VERIFIER_nondet_int() = 10
    "#]],
    );
}

#[test]
fn all_steps_can_be_shown() {
    check(
        COUNT.replace("45", "1").as_str(),
        "2",
        Detail::Full,
        expect![[r#"
            VIOLATED x.c:13: call of `reach_error` (in main)
               6  int n = __VERIFIER_nondet_int();  n = 2
               7  int sum = 0, noise = 0;           sum = 0, noise = 0
               8  for (int i = 0; i < n; i++) {     i = 0, n = 2
               9  noise = noise * 3 + 1;            noise = 1
              10  sum = add(sum, i);                a = 0, b = 0
               3      return a + b;                 returns 0
              10  sum = add(sum, i);                sum = 0
               8  for (int i = 0; i < n; i++) {     i = 1, n = 2
               9  noise = noise * 3 + 1;            noise = 4
              10  sum = add(sum, i);                a = 0, b = 1
               3      return a + b;                 returns 1
              10  sum = add(sum, i);                sum = 1
               8  for (int i = 0; i < n; i++) {     i = 2, n = 2
              12  if (sum == 1)                     sum = 1
              13  call of `reach_error`
              x.c:6: input __VERIFIER_nondet_int() = 2
        "#]],
    );
}

#[test]
fn values_flow_through_memory() {
    check(
        "
struct list { int value; struct list *next; };
struct list first, second;
int table[4];
void put(int *where, int what) { *where = what; }
int main(void) {
  int i = __VERIFIER_nondet_int();
  int unused = 7;
  first.next = &second;
  table[3] = unused;
  if (i < 0 || i > 3) return 0;
  put(&table[i], 9);
  first.next->value = table[2];
  if (second.value == 9) reach_error();
  return 0;
}
",
        "2",
        Detail::Relevant,
        expect![[r#"
            VIOLATED x.c:14: call of `reach_error` (in main)
               7  int i = __VERIFIER_nondet_int();                       i = 2
               9  first.next = &second;                                  first.next = &second
              11  if (i < 0 || i > 3) return 0;                          i = 2
              12  put(&table[i], 9);                                     where = &table[2], what = 9
               5      void put(int *where, int what) { *where = what; }  *where = 9
              13  first.next->value = table[2];                          first.next->value = 9
              14  if (second.value == 9) reach_error();                  second.value = 9
              14  call of `reach_error`
              x.c:7: input __VERIFIER_nondet_int() = 2
        "#]],
    );
}

#[test]
fn a_branch_that_would_have_written_matters() {
    check(
        "
int main(void) {
  int x = __VERIFIER_nondet_int();
  int locked = 0, other = 0;
  if (x > 5)
    locked = 1;
  if (x > 6)
    other = 1;
  if (!locked)
    reach_error();
  return 0;
}
",
        "3",
        Detail::Relevant,
        expect![[r#"
            VIOLATED x.c:10: call of `reach_error` (in main)
               3  int x = __VERIFIER_nondet_int();  x = 3
               4  int locked = 0, other = 0;        locked = 0
               5  if (x > 5)                        x = 3
               9  if (!locked)                      locked = 0
              10  call of `reach_error`
              x.c:3: input __VERIFIER_nondet_int() = 3
        "#]],
    );
}

#[test]
fn deep_recursion_is_folded() {
    check(
        "
int down(int n) {
  if (n == 0) {
    reach_error();
    return 0;
  }
  return down(n - 1);
}
int main(void) {
  return down(__VERIFIER_nondet_int());
}
",
        "30",
        Detail::Relevant,
        expect![[r#"
            VIOLATED x.c:4: call of `reach_error` (in down)
              10  return down(__VERIFIER_nondet_int());  __VERIFIER_nondet_int() = 30, n = 30
               7      return down(n - 1);                n = 29
               7          return down(n - 1);            n = 28
               7              return down(n - 1);        n = 27
                                  ... 26 more calls of down
               7                                                  [30] return down(n - 1);  n = 0
               3                                                  [31] if (n == 0) {  n = 0
               4                                                  [31] call of `reach_error`
              x.c:10: input __VERIFIER_nondet_int() = 30
        "#]],
    );
}

#[test]
fn loops_in_loops_fold_from_the_outside() {
    check(
        "
int main(void) {
  int total = 0;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      total += j;
  if (total > 50) reach_error();
  return 0;
}
",
        "",
        Detail::Relevant,
        expect![[r#"
            VIOLATED x.c:7: call of `reach_error` (in main)
              3  int total = 0;                  total = 0
              4  for (int i = 0; i < 6; i++)     i = 0
              5  for (int j = 0; j < 6; j++)     j = 0
              6  total += j;                     total = 0
              5  for (int j = 0; j < 6; j++)     j = 1
                 ... 4 more iterations
              5  for (int j = 0; j < 6; j++)     j = 5
              6  total += j;                     total = 15
              5  for (int j = 0; j < 6; j++)     j = 6
              4  for (int i = 0; i < 6; i++)     i = 1
                 ... 4 more iterations
              4  for (int i = 0; i < 6; i++)     i = 5
              5  for (int j = 0; j < 6; j++)     j = 0
              6  total += j;                     total = 75
              5  for (int j = 0; j < 6; j++)     j = 1
                 ... 4 more iterations
              5  for (int j = 0; j < 6; j++)     j = 5
              6  total += j;                     total = 90
              5  for (int j = 0; j < 6; j++)     j = 6
              7  if (total > 50) reach_error();  total = 90
              7  call of `reach_error`
        "#]],
    );
}

#[test]
fn library_functions_are_one_step() {
    check(
        "
#include <string.h>
#include <stdlib.h>
int main(void) {
  char *text = malloc(8);
  strcpy(text, \"abc\");
  if (strlen(text) == 3) reach_error();
  return 0;
}
",
        "",
        Detail::Relevant,
        expect![[r#"
            VIOLATED x.c:7: call of `reach_error` (in main)
              5  char *text = malloc(8);                text = 0x130000
              6  strcpy(text, "abc");
              7  if (strlen(text) == 3) reach_error();  strlen() = 3
              7  call of `reach_error`
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        "#]],
    );
}
