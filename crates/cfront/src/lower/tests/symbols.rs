//! Names as the linker sees them, and what is called by a pointer.

use super::check;
use crate::load::load_text;
use expect_test::{Expect, expect};

/// Lowers a program with its models and the targets of its calls.
#[track_caller]
fn check_loaded(text: &str, expect: Expect) {
    let loaded = load_text("a.c", text).expect("the program is good C");
    assert_eq!(crate::verify::verify(&loaded.program), Vec::<String>::new());
    expect.assert_eq(&crate::dump::dump(&loaded.program));
}

#[test]
fn aliases_and_labels() {
    check(
        r#"
int a; extern int b __attribute__((alias("a"))); extern int c asm("a");
static void f(void) {} void g(void) __attribute__((alias("f"))); void h(void) asm("f");
int main(void) { b = 1; c = 2; g(); h(); void (*p)(void) = g; p(); }
"#,
        expect![[r#"
            int a = {};

            void f()
              0 -> 1  skip;
              1: exit

            int main()
              void (*p)();
              0 -> 1  a = 1;
              1 -> 2  a = 2;
              2 -> 3  f();
              3 -> 4  f();
              4 -> 5  p = f;
              5 -> 6  (*p)();
              6 -> 7  result# = 0;
              7: exit
        "#]],
    );
}

#[test]
fn weak_names() {
    check(
        r#"
extern void f(void) __attribute__((weak)); extern int v __attribute__((weak));
static void r(void) __attribute__((weakref("missing")));
int main(void) { if (f) f(); if (&v) v = 1; r(); }
"#,
        expect![[r#"
            warning: function `f` is not defined
             --> a.c:4:5
              |
            4 | int main(void) { if (f) f(); if (&v) v = 1; r(); }
              |     ^^^^ it is taken to return anything
            warning: function `missing` is not defined
             --> a.c:4:45
              |
            4 | int main(void) { if (f) f(); if (&v) v = 1; r(); }
              |                                             ^^^ it is taken to return anything
            int f#present = anything;
            int v = anything;
            int v#present = anything;
            int missing#present = anything;

            int main()
              0 -> 1  assume(f#present ? f : NULL);
              0 -> 3  assume(!(f#present ? f : NULL));
              1 -> 2  assume(f#present);
              1 -> 9  assume(!f#present);
              2 -> 3  f();
              3 -> 4  assume(v#present ? &v : NULL);
              3 -> 5  assume(!(v#present ? &v : NULL));
              4 -> 5  *(v#present ? &v : NULL) = 1;
              5 -> 6  assume(missing#present);
              5 -> 8  assume(!missing#present);
              6 -> 7  missing();
              7 -> 10  result# = 0;
              8: halt
              9: halt
              10: exit

            void f() // undefined
              0 -> 1  skip;
              1: exit

            void missing() // undefined
              0 -> 1  skip;
              1: exit
        "#]],
    );
}

#[test]
fn pragmas_make_names_weak_and_rename_them() {
    check_loaded(
        "
#pragma weak absent
extern int absent(void); int real(void) { return 1; } extern int second(void); extern int third(void);
#pragma weak second = real
#pragma redefine_extname third real
int main(void) { return absent ? second() : third(); }
",
        expect![[r#"
            int absent#present = anything;

            int real()
              0 -> 1  result# = 1;
              1: exit

            int main()
              int t#1;
              int t#2;
              int t#3;
              0 -> 1  assume(absent#present ? absent : NULL);
              0 -> 4  assume(!(absent#present ? absent : NULL));
              1 -> 2  t#2 = real();
              2 -> 3  t#1 = t#2;
              3 -> 6  result# = t#1;
              4 -> 5  t#3 = real();
              5 -> 3  t#1 = t#3;
              6: exit

            int absent() // undefined
              0 -> 1  result# = anything;
              1: exit
        "#]],
    );
}

#[test]
fn declarations_in_blocks() {
    check(
        "int main(void) { int later(void); extern int v; return later() + v; } int v; int later(void) { return 1; }",
        expect![[r#"
            int v = {};

            int main()
              int t#1;
              0 -> 1  t#1 = later();
              1 -> 2  result# = t#1 + v;
              2: exit

            int later()
              0 -> 1  result# = 1;
              1: exit
        "#]],
    );
}

#[test]
fn errors_by_a_pointer() {
    check(
        r#"
void reach_error(void) {} void __assert_fail(const char *, const char *, unsigned, const char *);
void __VERIFIER_assert(int); int __VERIFIER_nondet_int(void); int f(void) __attribute__((ifunc("g")));
static void *g(void) { return 0; }
int main(void) {
  void (*a)(void) = reach_error; void (*b)(const char *, const char *, unsigned, const char *) = __assert_fail;
  void (*c)(int) = __VERIFIER_assert; int (*d)(void) = __VERIFIER_nondet_int; return f();
}
"#,
        expect![[r#"
            void reach_error()
              0 -> 1  skip;
              1: error: call of `reach_error`
              2: exit

            void * g()
              0 -> 1  result# = NULL;
              1: exit

            int main()
              void (*a)();
              void (*b)(char *, char *, unsigned int, char *);
              void (*c)(int);
              int (*d)();
              0 -> 1  a = reach_error;
              1 -> 2  b = __assert_fail;
              2 -> 3  c = __VERIFIER_assert;
              3 -> 4  d = __VERIFIER_nondet_int;
              4 -> 5  result# = f();
              5: exit

            void __assert_fail(char *p#, char *p#, unsigned int p#, char *p#) // undefined
              0 -> 1  skip;
              1: error: call of `__assert_fail`
              2: exit

            void __VERIFIER_assert(int p#) // undefined
              0 -> 2  assume(p#);
              0 -> 1  assume(!p#);
              1: error: call of `__VERIFIER_assert`
              2: exit

            int __VERIFIER_nondet_int() // undefined
              0 -> 1  result# = input __VERIFIER_nondet_int();
              1: exit

            int f() // undefined
              0 -> 1  unsupported: a function chosen by `ifunc`;
              1 -> 2  result# = anything;
              2: exit
        "#]],
    );
}

#[test]
fn calls_through_pointers_of_other_types() {
    check_loaded(
        "int g; int set(int v) { g = v; return 1; } void fill(double d) {}
int main(void) { void (*f)(long, int) = (void (*)(long, int))set; f(5, 6); void (*h)(int) = (void (*)(int))fill; h(1); }",
        expect![[r#"
            int g = {};

            int set(int v)
              0 -> 1  g = v;
              1 -> 2  result# = 1;
              2: exit

            void fill(double d)
              0 -> 1  skip;
              1: exit

            int main()
              void (*f)(long, int);
              void (*h)(int);
              0 -> 1  f = (void (*)(long, int))set;
              1 -> 2  call#3(f, 5L, 6);
              2 -> 3  h = (void (*)(int))fill;
              3 -> 4  call#4(h, 1);
              4 -> 5  result# = 0;
              5: exit

            void call#3(void (*p#)(long, int), long p#, int p#) // model
              0 -> 1  assume(p# == set);
              0 -> 3  assume(!(p# == set));
              1 -> 2  set((int)p#);
              2 -> 6  skip;
              3 -> 4  assume(p# == NULL);
              3 -> 5  assume(!(p# == NULL));
              4: halt
              5 -> 6  skip;
              6: exit

            void call#4(void (*p#)(int), int p#) // model
              0 -> 1  assume(p# == fill);
              0 -> 2  assume(!(p# == fill));
              1 -> 3  unsupported: a call of `fill` through a pointer of another type;
              2 -> 3  (*p#)(p#);
              3: exit
        "#]],
    );
}

#[test]
fn arguments_of_main() {
    check_loaded(
        "int main(int argc, char **argv) { return argv[0] == 0; }",
        expect![[r#"
            int main(int argc, char **argv)
              0 -> 1  result# = *argv == NULL;
              1: exit

            int __hardbop_start() // model
              int argc;
              char **argv;
              void *t#1;
              unsigned long t#2;
              int i;
              unsigned int length;
              char *text;
              void *t#3;
              unsigned long t#4;
              unsigned int at;
              char t#5;
              char **envp;
              0 -> 1  argc = input __VERIFIER_nondet_int();
              1 -> 2  assume(argc >= 0);
              1 -> 29  assume(!(argc >= 0));
              2 -> 3  assume(argc < 268435456);
              2 -> 29  assume(!(argc < 268435456));
              3 -> 4  t#2 = ((unsigned long)argc + 1UL) * 8UL;
              4 -> 5  assume(t#2 > 140737488355327UL);
              4 -> 6  assume(!(t#2 > 140737488355327UL));
              5: halt
              6 -> 7  t#1 = alloca(t#2);
              7 -> 8  argv = (char **)t#1;
              8 -> 9  i = 0;
              9: loop
              9 -> 10  assume(i < argc);
              9 -> 26  assume(!(i < argc));
              10 -> 11  length = input __VERIFIER_nondet_uint();
              11 -> 12  assume(length < 2147483647U);
              11 -> 25  assume(!(length < 2147483647U));
              12 -> 13  t#4 = (unsigned long)length + 1UL;
              13 -> 14  assume(t#4 > 140737488355327UL);
              13 -> 15  assume(!(t#4 > 140737488355327UL));
              14: halt
              15 -> 16  t#3 = alloca(t#4);
              16 -> 17  text = (char *)t#3;
              17 -> 18  at = 0U;
              18: loop
              18 -> 19  assume(at < length);
              18 -> 22  assume(!(at < length));
              19 -> 20  t#5 = input __VERIFIER_nondet_char();
              20 -> 21  *(text + (long)at) = t#5;
              21 -> 18  at = at + 1U;
              22 -> 23  *(text + (long)length) = 0;
              23 -> 24  *(argv + (long)i) = text;
              24 -> 9  i = i + 1;
              25: halt
              26 -> 27  *(argv + (long)argc) = NULL;
              27 -> 28  envp = NULL;
              28 -> 30  result# = main(argc, argv);
              29: halt
              30: exit
        "#]],
    );
    check_loaded(
        "int main(int argc, char **argv) { return argc; }",
        expect![[r#"
        int main(int argc, char **argv)
          0 -> 1  result# = argc;
          1: exit

        int __hardbop_start() // model
          int argc;
          char **argv;
          char **envp;
          0 -> 1  argc = input __VERIFIER_nondet_int();
          1 -> 2  assume(argc >= 0);
          1 -> 6  assume(!(argc >= 0));
          2 -> 3  assume(argc < 268435456);
          2 -> 6  assume(!(argc < 268435456));
          3 -> 4  argv = NULL;
          4 -> 5  envp = NULL;
          5 -> 7  result# = main(argc, argv);
          6: halt
          7: exit
    "#]],
    );
}
