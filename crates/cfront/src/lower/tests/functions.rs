//! Functions: pointers to them, further arguments, old definitions, several units.

use super::{check, lower_texts};
use crate::options::LowerOptions;
use crate::types::DataModel;
use expect_test::expect;

/// Calls by pointer, by dereferenced pointer, from tables.
#[test]
fn function_pointers() {
    check(
        r#"
int f(int x) { return x; } int g(int x) { return -x; }
int (*table[2])(int) = { f, &g };
int apply(int (*h)(int), int x) { return h(x) + (*h)(x) + (**h)(x); }
int main(void) { int (*p)(int) = g; int i = apply(f, 1); i = table[i & 1](i); return (i ? f : p)(3) + (&f)(2); }
"#,
        expect![[r#"
            int (*table[2])(int) = {[0] = f, [8] = g};

            int f(int x)
              0 -> 1  result# = x;
              1: exit

            int g(int x)
              0 -> 1  result# = -x;
              1: exit

            int apply(int (*h)(int), int x)
              int t#1;
              int t#2;
              int t#3;
              0 -> 1  t#1 = (*h)(x);
              1 -> 2  t#2 = (*h)(x);
              2 -> 3  t#3 = (*h)(x);
              3 -> 4  result# = t#1 + t#2 + t#3;
              4: exit

            int main()
              int (*p)(int);
              int i;
              int t#1;
              int t#2;
              0 -> 1  p = g;
              1 -> 2  i = apply(f, 1);
              2 -> 3  i = (*table[(long)(i & 1)])(i);
              3 -> 4  t#1 = (*(i ? f : p))(3);
              4 -> 5  t#2 = f(2);
              5 -> 6  result# = t#1 + t#2;
              6: exit
        "#]],
    );
}

/// `va_list` operations and calls with further arguments.
#[test]
fn variadic_functions() {
    check(
        r#"
typedef __builtin_va_list va_list;
int sum(int n, ...) { va_list ap, cp; int s = 0; __builtin_va_start(ap, n); __builtin_va_copy(cp, ap); while (n--) s += __builtin_va_arg(ap, int); __builtin_va_end(ap); return s + (int)__builtin_va_arg(cp, double); }
int vsum(va_list ap) { return *__builtin_va_arg(ap, int *); }
int main(void) { char c = 1; float f = 2; return sum(2, c, f); }
"#,
        expect![[r#"
            struct __va_list_tag { // size 24, align 8
              unsigned int gp_offset; // at 0
              unsigned int fp_offset; // at 4
              long *next#; // at 8
              void *reg_save_area; // at 16
            };
            long *further# = {};

            int sum(int n, ...)
              struct __va_list_tag ap[1];
              struct __va_list_tag cp[1];
              int s;
              long *t#1;
              int t#2;
              long *t#3;
              int t#4;
              int t#5;
              long *t#6;
              double t#7;
              0 -> 1  t#1 = further#;
              1 -> 2  declare ap;
              2 -> 3  declare cp;
              3 -> 4  s = 0;
              4 -> 5  ap[0L].next# = t#1;
              5 -> 6  cp[0L].next# = ap[0L].next#;
              6: loop
              6 -> 7  t#2 = n;
              7 -> 8  n = t#2 - 1;
              8 -> 9  assume(t#2);
              8 -> 15  assume(!t#2);
              9 -> 10  t#3 = ap[0L].next#;
              10 -> 11  assume(4L <= *t#3 && *t#3 <= 8L);
              10 -> 14  assume(!(4L <= *t#3 && *t#3 <= 8L));
              11 -> 12  ap[0L].next# = t#3 + 16L *1;
              12 -> 13  t#4 = (int)*(t#3 + 8L *1);
              13 -> 6  s = s + t#4;
              14 -> 11  unsupported: `va_arg` where no argument of its type was passed;
              15 -> 16  t#5 = s;
              16 -> 17  t#6 = cp[0L].next#;
              17 -> 18  assume(*t#6 == 520L);
              17 -> 21  assume(!(*t#6 == 520L));
              18 -> 19  cp[0L].next# = t#6 + 16L *1;
              19 -> 20  t#7 = *(double *)(t#6 + 8L *1);
              20 -> 22  result# = t#5 + (int)t#7;
              21 -> 18  unsupported: `va_arg` where no argument of its type was passed;
              22: exit

            int vsum(struct __va_list_tag *ap)
              long *t#1;
              int *t#2;
              0 -> 1  t#1 = ap->next#;
              1 -> 2  assume(*t#1 == 256L);
              1 -> 5  assume(!(*t#1 == 256L));
              2 -> 3  ap->next# = t#1 + 16L *1;
              3 -> 4  t#2 = *(int **)(t#1 + 8L *1);
              4 -> 6  result# = *t#2;
              5 -> 2  unsupported: `va_arg` where no argument of its type was passed;
              6: exit

            int main()
              char c;
              float f;
              long further#arguments[6];
              0 -> 1  c = 1;
              1 -> 2  f = (float)2;
              2 -> 3  declare further#arguments;
              3 -> 4  further#arguments[0L] = 4L;
              4 -> 5  further#arguments[1L] = (long)(int)c;
              5 -> 6  further#arguments[2L] = 520L;
              6 -> 7  *(double *)&further#arguments[3L] = (double)f;
              7 -> 8  further#arguments[4L] = 0L;
              8 -> 9  further# = &further#arguments[0L];
              9 -> 10  result# = sum(2);
              10 -> 11  end further#arguments;
              11: exit
        "#]],
    );
}

/// K&R definitions get their arguments promoted, and converted on the way in.
#[test]
fn old_style_definitions() {
    check(
        r#"
int f(a, c, x) int a; char c; float x; { return a + c + x; }
int main() { return f(1, 'c', 2.5f) + undeclared(3); }
"#,
        expect![[r#"
            warning: function `undeclared` is not defined
             --> a.c:3:39
              |
            3 | int main() { return f(1, 'c', 2.5f) + undeclared(3); }
              |                                       ^^^^^^^^^^^^^ it is taken to return anything
            int f(int a, int c#, double x#, ...)
              char c;
              float x;
              0 -> 1  c = (char)c#;
              1 -> 2  x = (float)x#;
              2 -> 3  result# = (int)((float)(a + (int)c) + x);
              3: exit

            int main(...)
              int t#1;
              int t#2;
              0 -> 1  t#1 = f(1, 99, (double)2.5f);
              1 -> 2  t#2 = undeclared(3);
              2 -> 3  result# = t#1 + t#2;
              3: exit

            int undeclared(...) // undefined
              0 -> 1  result# = anything;
              1: exit
        "#]],
    );
}

/// They run before `main`, in the order of their priorities.
#[test]
fn constructors() {
    check(
        r#"
int g; __attribute__((constructor)) static void late(void) { g = 2; } __attribute__((constructor(101))) static void early(void) { g = 1; }
int main(int argc, char **argv) { return g; }
"#,
        expect![[r#"
            int g = {};

            void late()
              0 -> 1  g = 2;
              1: exit

            void early()
              0 -> 1  g = 1;
              1: exit

            int main(int argc, char **argv)
              0 -> 1  result# = g;
              1: exit

            int main#start(int argc, char **argv)
              0 -> 1  early();
              1 -> 2  late();
              2 -> 3  result# = main(argc, argv);
              3: exit
        "#]],
    );
}

/// What has external linkage is one thing in all units; statics are told apart.
#[test]
fn units_are_linked() {
    let (program, said) = lower_texts(
        &[
            "struct s { int a; struct s *n; }; extern int arr[]; int shared; extern struct s *list; static int f(void) { return 1; } int g(void); int main(void) { return f() + g() + arr[1] + list->n->a + shared; }",
            "struct s { int a; struct s *n; }; int arr[3] = { 1, 2, 3 }; int shared = 4; static int f(void) { return 2; } static struct s one; struct s *list = &one; int g(void) { return f(); }",
        ],
        DataModel::Lp64,
        &LowerOptions::default(),
    );
    let program = program.expect("a program");
    assert_eq!(crate::verify::verify(&program), Vec::<String>::new());
    expect![[r#"
        struct s { // size 16, align 8
          int a; // at 0
          struct s *n; // at 8
        };
        int shared = {[0] = 4};
        int arr[3] = {[0] = 1, [4] = 2, [8] = 3};
        struct s *list = {[0] = &one};
        struct s one = {};

        int f()
          0 -> 1  result# = 1;
          1: exit

        int main()
          int t#1;
          int t#2;
          0 -> 1  t#1 = f();
          1 -> 2  t#2 = g();
          2 -> 3  result# = t#1 + t#2 + arr[1L] + list->n->a + shared;
          3: exit

        int g()
          0 -> 1  result# = f#2();
          1: exit

        int f#2()
          0 -> 1  result# = 2;
          1: exit
    "#]]
    .assert_eq(&format!("{said}{}", crate::dump::dump(&program)));
}

/// Two definitions of one name are an error with both places; two types are a warning.
#[test]
fn conflicts_between_units() {
    let (_, said) = lower_texts(
        &[
            "int f(int x) { return x; } int v = 1; extern long w; int main(void) { return w; }",
            "int f(int x) { return x + 1; } int v = 2; int w; double f2(void);",
        ],
        DataModel::Lp64,
        &LowerOptions::default(),
    );
    expect![[r#"
        error: function `f` is defined more than once
         --> b.c:1:5
          |
        1 | int f(int x) { return x + 1; } int v = 2; int w; double f2(void);
          |     ^ defined again here
        note: first defined here
         --> a.c:1:5
          |
        1 | int f(int x) { return x; } int v = 1; extern long w; int main(void) { return w; }
          |     ^
        error: variable `v` is defined more than once
         --> b.c:1:36
          |
        1 | int f(int x) { return x + 1; } int v = 2; int w; double f2(void);
          |                                    ^ defined again here
        note: first defined here
         --> a.c:1:32
          |
        1 | int f(int x) { return x; } int v = 1; extern long w; int main(void) { return w; }
          |                                ^
        error: conflicting types for variable `w`
         --> b.c:1:47
          |
        1 | int f(int x) { return x + 1; } int v = 2; int w; double f2(void);
          |                                               ^ declared here with another type
        note: first declared here
         --> a.c:1:51
          |
        1 | int f(int x) { return x; } int v = 1; extern long w; int main(void) { return w; }
          |                                                   ^
    "#]]
    .assert_eq(&said);
}
