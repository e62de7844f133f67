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
  assert(p != 0 || n >= 1UL << 47);
  assert(n < 1UL << 63);
  return 0;
}
",
        "",
        expect![[r#"
            PROVED x.c:11: assertion p != 0 || n >= 1UL << 47 (in main)
            VIOLATED x.c:12: assertion n < 1UL << 63 (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        "#]],
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
        expect![[r#"
            PROVED x.c:10: assertion p == 0 (in main)
            VIOLATED x.c:11: assertion 0 (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        "#]],
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
        expect![[r#"
            VIOLATED x.c:10: assertion calloc(n, 16) != 0 (in main)
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        "#]],
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
        expect![[r#"
            PROVED x.c:11: assertion n < 1UL << 63 (in main)
            assuming that sizes of variable-length arrays and of `alloca` are not negative and fit on the stack
        "#]],
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
        expect![[r#"
            VIOLATED x.c:9: assertion x == 0 (in last)
        "#]],
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
        expect![[r#"
            VIOLATED x.c:9: assertion x == 0 (in f)
            VIOLATED x.c:10: assertion y == 0 (in g)
            2 checks: 0 proved, 2 violated, 0 unknown
            assuming that at most 32 functions are registered with at_quick_exit
            assuming that at most 32 functions are registered with atexit
        "#]],
    );
}

#[test]
fn handlers_run_if_a_function_that_does_not_return_exits() {
    check(
        "int x;
_Noreturn void die(void);
void f(void) { assert(x == 0); }
int main(void) {
  atexit(f);
  x = 1;
  die();
}
",
        "",
        expect![[r#"
            VIOLATED x.c:10: assertion x == 0 (in f)
            assuming that at most 32 functions are registered with atexit
            assuming that `die`, first called at x.c:14, does not return and changes nothing
        "#]],
    );
}

#[test]
fn many_large_requests_do_not_make_executions_vanish() {
    check(
        "int main(void) {
  for (int i = 0; i < 10; i++) {
    char *p = malloc(1UL << 62);
    if (i == 8) assert(p != 0);
  }
  return 0;
}
",
        "",
        expect![[r#"
            VIOLATED x.c:11: assertion p != 0 (in main)
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        "#]],
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
        expect![[r#"
            PROVED x.c:9: assertion x == 0 (in f)
            assuming that at most 32 functions are registered with atexit
        "#]],
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
        expect![[r#"
            VIOLATED x.c:13: assertion 0 (in main)
            assuming that `trap`, first called at x.c:11, returns anything and changes nothing
            assuming that `unreachable`, first called at x.c:12, returns anything and changes nothing
        "#]],
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
        expect![[r#"
            PROVED x.c:11: assertion x <= 3 (in main)
            assuming that `__builtin_unreachable()` is never reached
        "#]],
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
        expect![[r#"
            VIOLATED x.c:13: assertion x == 0 (in main)
            assuming that signals come from `raise`, `kill` and `abort` only
        "#]],
    );
}

#[test]
fn other_ways_to_handle_signals_are_not_supported() {
    check(
        "int sigaction(int, const void *, void *);
int main(void) {
  int x = __VERIFIER_nondet_int();
  sigaction(2, 0, 0);
  assert(x != x + 1);
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
        expect![[r#"
            UNKNOWN x.c:14: assertion x == 0 (in main)
              because `pthread_create`: only sequential programs are understood at x.c:8 is not supported and can be reached
        "#]],
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
        expect![[r#"
            PROVED x.c:13: assertion x == 0 (in main)
            assuming that `reg`, first called at x.c:12, returns anything and changes nothing
            assuming that `reg`, called at x.c:12, calls none of the functions that it is given
        "#]],
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
        expect![[r#"
            PROVED x.c:10: assertion strtol("12", &end, 1) == 0 && end == 0 (in main)
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:10
        "#]],
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
        expect![[r#"
            PROVED x.c:10: assertion sscanf("42", "%d", &v) == 1 (in main)
            assuming that `%p` reads any pointer
            assuming that strtod reads any number where a text is not a decimal number of few digits
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:10
        "#]],
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
        expect![[r#"
            VIOLATED x.c:12: assertion a == rand() (in main), if `rand` can do what it does in this run
            PROVED x.c:13: assertion a >= 0 (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
        "#]],
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
        expect![[r#"
            VIOLATED x.c:10: assertion x != 7 (in main)
        "#]],
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
        expect![[r#"
            VIOLATED x.c:9: assertion atof("0x1p3") == 8 (in main), if `atof` can do what it does in this run
            assuming that strtod reads any number where a text is not a decimal number of few digits
        "#]],
    );
}

/// What is said of a program that uses files.
fn with_files(body: &str) -> String {
    let declared = "int pipe(int *); int open(const char *, int, ...); long lseek(int, long, int);
long read(int, void *, unsigned long); long write(int, const void *, unsigned long);
long send(int, const void *, unsigned long, int); long recv(int, void *, unsigned long, int);";
    let includes = "#include <assert.h>\n#include <stdio.h>\n";
    let text = format!("{includes}{declared}\nint main(void) {{ {body} }}\n");
    let output = Scene::file("x.c", text).output("check x.c -q --no-trace --engine unroll");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A run that reads what it may have written itself shows nothing.
#[test]
fn files_that_were_written_are_not_made_up() {
    for body in [
        r#"FILE *f = tmpfile(); if (!f) return 0; fputc(1, f); rewind(f); assert(fgetc(f) == 1);"#,
        r#"FILE *f = fopen("a", "w+"); if (!f) return 0; assert(fgetc(f) == -1);"#,
        r#"FILE *f = fopen("a", "w"), *g = fopen("./a", "r"); if (f && g) assert(fgetc(g) == -1);"#,
        r#"freopen("a", "w", stdout); putchar(1); freopen("a", "r", stdin); assert(getchar() == 1);"#,
        r#"int c = getchar(); if (ungetc(c, stdin) == c) assert(getchar() == c);"#,
        r#"int p[2]; char c = 1; pipe(p); if (write(p[1], &c, 1) == 1 && read(p[0], &c, 1) == 1) assert(c == 1);"#,
        r#"char c = 1; int f = open("a", 2); if (write(f, &c, 1) == 1 && read(f, &c, 1) == 1) assert(c == 1);"#,
    ] {
        let told = with_files(body);
        let expected = "the run that was found reads a file that it may have written itself";
        assert!(told.contains(expected), "{body}\n{told}");
    }
}

#[test]
fn other_files_may_hold_anything() {
    for body in [
        r#"FILE *f = fopen("a", "w"), *g = fopen("b", "r"); if (f && g) assert(fgetc(g) == -1);"#,
        r#"FILE *f = fopen("a", "w"); assert(getc(stdin) == -1);"#,
        r#"FILE *f = fopen("a", "r"); if (!f) return 0; int c = fgetc(f); fopen("a", "w"); assert(c == -1);"#,
        r#"char c = 1; int f = open("a", 0); if (read(f, &c, 1) == 1) assert(c == 1);"#,
        r#"char c = 1; send(4, &c, 1, 0); if (recv(4, &c, 1, 0) == 1) assert(c == 1);"#,
    ] {
        let told = with_files(body);
        assert!(told.starts_with("VIOLATED"), "{body}\n{told}");
    }
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
        expect![[r#"
            PROVED x.c:11: assertion d != 0 (in main)
            assuming that no execution divides by zero: not asked about (`--check div-by-zero`), first at x.c:10
        "#]],
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
        expect![[r#"
            VIOLATED x.c:10: division by zero in 10 / d (in main)
            PROVED x.c:11: assertion d != 0 (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
        "#]],
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
        expect![[r#"
            UNKNOWN x.c:12: assertion i >= 0 (in main)
              because the run that was found does not replay: it ends in OutOfBounds
        "#]],
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
        expect![[r#"
            UNKNOWN x.c:12: assertion (unsigned long)malloc(8) != a (in main)
              because it depends on where memory is allocated: it is proved where no object lies where one was that is gone, and a run violates it in which memory that was freed is used again
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:12
            assuming that objects that come after others have gone lie where Hardbop puts them: addresses are compared at x.c:12
        "#]],
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
        expect![[r#"
            PROVED x.c:10: assertion p != q (in main)
            assuming that different literals are different objects: their addresses are compared at x.c:10
        "#]],
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
        expect![[r#"
            PROVED x.c:10: assertion &a < &b (in main)
            assuming that different objects lie in one order and at fixed distances: addresses are compared at x.c:10
        "#]],
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
        expect![[r#"
            PROVED x.c:14: assertion x == 2 (in main)
            assuming that what C lets be evaluated in any order is evaluated in one: it may matter at x.c:13
        "#]],
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
        expect![[r#"
            PROVED x.c:13: assertion x == 5 (in main)
        "#]],
    );
}

#[test]
fn what_the_system_writes_is_written() {
    check(
        "#include <unistd.h>
#include <sys/stat.h>
int main(void) {
  int ends[2] = {-1, -1};
  struct stat about;
  char where[8] = \"\";
  about.st_size = 0;
  if (pipe(ends) != 0) return 1;
  assert(ends[0] >= 0);
  if (ends[0] > 7) assert(ends[1] == -1);
  if (stat(\"x\", &about) == 0) assert(about.st_size == 0);
  if (getcwd(where, sizeof where)) assert(where[0] == 0);
  return 0;
}
",
        "",
        expect![[r#"
            PROVED x.c:16: assertion ends[0] >= 0 (in main)
            VIOLATED x.c:17: assertion ends[1] == -1 (in main)
            VIOLATED x.c:18: assertion about.st_size == 0 (in main), if `stat` can do what it does in this run
            VIOLATED x.c:19: assertion where[0] == 0 (in main)
            4 checks: 1 proved, 3 violated, 0 unknown
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:15
        "#]],
    );
}
