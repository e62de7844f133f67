//! What the environment does: no execution vanishes, no answer of the library is made up
//! silently, and choices that C leaves open are said.

use crate::scene::Scene;
use expect_test::{Expect, expect};

/// The answers and what they rest on, without the paths of violations.
#[track_caller]
fn check(text: &str, options: &str, expected: Expect) {
    let prelude = "#include <assert.h>\n#include <stdlib.h>\n#include <stdio.h>\n\
                   #include <string.h>\n#include <signal.h>\n\
                   extern int __VERIFIER_nondet_int(void);\n\
                   extern unsigned long __VERIFIER_nondet_ulong(void);\n";
    let scene = Scene::file("x.c", format!("{prelude}{text}"));
    let output = scene.output(&format!("check x.c -q --no-trace {options}"));
    let told = String::from_utf8(output.stdout).expect("the answer is text");
    let lines = told.lines().filter(|line| !line.contains(": input "));
    let picture: String = lines.map(|line| format!("{line}\n")).collect();
    expected.assert_eq(&picture);
}

#[test]
fn memory_that_no_machine_has_is_refused() {
    check(
        "int main(void) {
  unsigned long n = __VERIFIER_nondet_ulong();
  char *p = malloc(n);
  assert(p != 0 || n >= 1UL << 63);
  assert(n < 1UL << 63);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn a_negative_size_is_a_large_one() {
    check(
        "int main(void) {
  char *p = malloc(-1);
  assert(p == 0);
  assert(0);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn products_that_overflow_are_refused() {
    check(
        "int main(void) {
  unsigned long n = __VERIFIER_nondet_ulong();
  assert(calloc(n, 16) != 0);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn arrays_fit_on_the_stack() {
    check(
        "int main(void) {
  unsigned long n = __VERIFIER_nondet_ulong();
  char a[n];
  assert(n < 1UL << 63);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn destructors_run_after_exit() {
    check(
        "int x;
__attribute__((destructor)) void last(void) { assert(x == 0); }
int main(void) {
  x = 1;
  exit(0);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn handlers_run_after_exit_and_quick_exit() {
    check(
        "int x, y;
void f(void) { assert(x == 0); }
void g(void) { assert(y == 0); }
int main(void) {
  atexit(f);
  at_quick_exit(g);
  x = y = 1;
  if (__VERIFIER_nondet_int()) exit(0);
  quick_exit(0);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn nothing_runs_after_abort() {
    check(
        "int x;
void f(void) { assert(x == 0); }
int main(void) {
  atexit(f);
  x = 1;
  if (__VERIFIER_nondet_int()) _Exit(0);
  abort();
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn a_function_may_be_called_trap() {
    check(
        "void trap(void);
void unreachable(void);
int main(void) {
  trap();
  unreachable();
  assert(0);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn what_the_program_says_is_unreachable() {
    check(
        "int main(void) {
  int x = __VERIFIER_nondet_int();
  if (x > 3) __builtin_unreachable();
  assert(x <= 3);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn handlers_of_signals_run() {
    check(
        "int x;
void h(int s) { x = s; }
int main(void) {
  signal(SIGINT, h);
  raise(SIGINT);
  assert(x == 0);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn other_ways_to_handle_signals_are_not_supported() {
    check(
        "int sigaction(int, const void *, void *);
int main(void) {
  sigaction(2, 0, 0);
  assert(1);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn threads_by_a_pointer_are_not_supported() {
    check(
        "int pthread_create(void *, const void *, void *(*)(void *), void *);
int (*start)(void *, const void *, void *(*)(void *), void *) = pthread_create;
int x;
void *work(void *p) { x = 1; return p; }
int main(void) {
  start(0, 0, work, 0);
  assert(x == 0);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn callbacks_are_not_called() {
    check(
        "int x;
void h(void) { x = 1; }
void reg(void (*)(void));
int main(void) {
  reg(h);
  assert(x == 0);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn a_bad_base() {
    check(
        "int main(void) {
  char *end = 0;
  assert(strtol(\"12\", &end, 1) == 0 && end == 0);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn known_texts_have_no_false_alarms() {
    check(
        "int main(void) {
  int v = 0;
  assert(sscanf(\"42\", \"%d\", &v) == 1);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn a_guess_is_named_in_the_first_line() {
    check(
        "int main(void) {
  srand(1);
  int a = rand();
  srand(1);
  assert(a == rand());
  assert(a >= 0);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn a_guess_that_does_not_matter_is_not_named() {
    check(
        "int main(void) {
  int a = rand(), x = __VERIFIER_nondet_int();
  assert(x != 7);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn numbers_that_are_not_followed_are_guesses() {
    check(
        "int main(void) {
  assert(atof(\"0x1p3\") == 8);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn divisions_end_executions() {
    check(
        "int main(void) {
  int d = __VERIFIER_nondet_int();
  int r = 10 / d;
  assert(d != 0);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn divisions_that_are_asked_about_do_not() {
    check(
        "int main(void) {
  int d = __VERIFIER_nondet_int();
  int r = 10 / d;
  assert(d != 0);
  return 0;
}
",
        "--check div-by-zero",
        expect![[""]],
    );
}

#[test]
fn accesses_end_executions() {
    check(
        "int a[4];
int main(void) {
  int i = __VERIFIER_nondet_int();
  a[i] = 1;
  assert(i >= 0);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn addresses_used_again() {
    check(
        "int main(void) {
  char *p = malloc(8);
  unsigned long a = (unsigned long)p;
  free(p);
  assert((unsigned long)malloc(8) != a);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn literals_may_be_one() {
    check(
        "int main(void) {
  const char *p = \"abc\", *q = \"abc\";
  assert(p != q);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn orders_of_objects() {
    check(
        "int a, b;
int main(void) {
  assert(&a < &b);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn orders_of_arguments() {
    check(
        "int x;
int f(void) { x = 1; return 1; }
int g(void) { x = 2; return 2; }
int add(int a, int b) { return a + b; }
int main(void) {
  add(f(), g());
  assert(x == 2);
  return 0;
}
",
        "",
        expect![[""]],
    );
}

#[test]
fn ordinary_programs_rest_on_nothing() {
    check(
        "int max(int a, int b) { return a > b ? a : b; }
void set(int *p, int v) { *p = v; }
int main(void) {
  int a[3] = {1, 2, 3}, x;
  set(&x, max(a[0], a[1]) + max(a[1], a[2]));
  assert(x == 5);
  return 0;
}
",
        "",
        expect![[""]],
    );
}
