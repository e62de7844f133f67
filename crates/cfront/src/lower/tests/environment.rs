//! What the program meets: inputs, errors, checks, what is undefined or not supported.

use super::{check, check_with};
use crate::options::{LowerOptions, Undefined};
use crate::program::CheckKind;
use expect_test::expect;

/// Inputs, assumptions, assertions, errors, the end of the program.
#[test]
fn the_environment() {
    check(
        r#"
extern int __VERIFIER_nondet_int(void); extern unsigned char __VERIFIER_nondet_uchar(void); void __VERIFIER_assume(int); void __VERIFIER_assert(int); void reach_error(void) { __assert_fail("0", "x.c", 3, "reach_error"); }
void __assert_fail(const char *, const char *, unsigned, const char *) __attribute__((noreturn)); void abort(void); void exit(int); void __VERIFIER_nondet_memory(void *, unsigned long);
int main(void) {
  int x = __VERIFIER_nondet_int(), y; char b[4]; y = __VERIFIER_nondet_uchar();
  __VERIFIER_assume(x > 0 && y != 3); __VERIFIER_nondet_memory(b, sizeof b);
  __VERIFIER_assert(x != y);
  (x < 5) ? (void)0 : __assert_fail("x < 5", "x.c", 7, "main");
  if (x == 4) reach_error();
  if (y) abort(); else exit(x++);
}
"#,
        expect![[r#"
            void reach_error()
              0 -> 1  skip;
              1: error: assertion 0
              2: exit

            int main()
              int x;
              int y;
              char b[4];
              unsigned char t#1;
              0 -> 1  x = input __VERIFIER_nondet_int();
              1 -> 2  declare b;
              2 -> 3  t#1 = input __VERIFIER_nondet_uchar();
              3 -> 4  y = (int)t#1;
              4 -> 5  assume(x > 0);
              4 -> 17  assume(!(x > 0));
              5 -> 6  assume(y != 3);
              5 -> 17  assume(!(y != 3));
              6 -> 7  memory((void *)b, 4UL) = input;
              7 -> 8  assume(x != y);
              7 -> 16  assume(!(x != y));
              8 -> 9  assume(x < 5);
              8 -> 15  assume(!(x < 5));
              9 -> 10  assume(x == 4);
              9 -> 11  assume(!(x == 4));
              10: error: call of `reach_error`
              11 -> 12  assume(y);
              11 -> 13  assume(!y);
              12: halt
              13 -> 14  x = x + 1;
              14: halt
              15: error: assertion x < 5
              16: error: assertion x != y
              17: halt
              18: exit
        "#]],
    );
}

/// What is not supported is an edge; the rest of the program stands.
#[test]
fn unsupported_constructs() {
    check(
        r#"
typedef int v4 __attribute__((vector_size(16)));
int jump(int x) { void *t[] = { &&a, &&b }; goto *t[x]; a: return 1; b: return 2; }
int setjmp(void *);
int main(void) { double _Complex z = 1.0; v4 v = { 1 }; int e[5]; v = v + v; z = z * z; if (setjmp(e)) return 1; return jump(0); }
"#,
        expect![[r#"
            warning: function `setjmp` is not defined
             --> a.c:5:93
              |
            5 | ...v4 v = { 1 }; int e[5]; v = v + v; z = z * z; if (setjmp(e)) return 1; return jump(0); }
              |                                                      ^^^^^^^^^ it is taken to return anything
            static unsigned char a = {};
            static unsigned char b = {};

            int jump(int x)
              void *t[2];
              void *t#1;
              0 -> 1  declare t;
              1 -> 2  t[0L] = (void *)&a;
              2 -> 3  t[1L] = (void *)&b;
              3 -> 4  t#1 = t[(long)x];
              4: loop
              4 -> 5  assume(t#1 == (void *)&a);
              4 -> 6  assume(!(t#1 == (void *)&a));
              5: label a
              5 -> 10  result# = 1;
              6 -> 7  assume(t#1 == (void *)&b);
              6 -> 8  assume(!(t#1 == (void *)&b));
              7: label b
              7 -> 10  result# = 2;
              8 -> 9  unsupported: a computed goto to what is no label of the function;
              9: halt
              10: exit

            int main()
              double z[2];
              int v[4];
              int e[5];
              int t#1;
              0 -> 1  declare z;
              1 -> 2  unsupported: a vector or a complex number;
              2 -> 3  declare v;
              3 -> 4  unsupported: a vector or a complex number;
              4 -> 5  declare e;
              5 -> 6  unsupported: an expression of this kind;
              6 -> 7  unsupported: an expression of this kind;
              7 -> 8  t#1 = setjmp((void *)e);
              8 -> 9  assume(t#1);
              8 -> 10  assume(!t#1);
              9 -> 11  result# = 1;
              10 -> 11  result# = jump(0);
              11: exit

            int setjmp(void *p#) // undefined
              0 -> 1  result# = anything;
              1: exit
        "#]],
    );
}

/// Its outputs are unknown afterwards.
#[test]
fn inline_assembly() {
    check(
        r#"
int main(void) { int x = 1, y; __asm__ volatile ("" : : : "memory"); __asm__ ("addl %1, %0" : "=r"(y), "+m"(x) : "r"(x + 1)); return x + y; }
"#,
        expect![[r#"
            warning: inline assembly is taken to write anything to its outputs, and nothing else
             --> a.c:2:70
              |
            2 | ...t x = 1, y; __asm__ volatile ("" : : : "memory"); __asm__ ("addl %1, %0" : "=r"(y), "+m"(x) : "r"(x ...
              |                                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
            int main()
              int x;
              int y;
              int t#1;
              int t#2;
              0 -> 1  x = 1;
              1 -> 2  t#1 = x + 1;
              2 -> 3  t#2 = x;
              3 -> 4  y = anything;
              4 -> 5  x = anything;
              5 -> 6  result# = x + y;
              6: exit
        "#]],
    );
}

/// Each check that was asked for is a guarded edge before the operation.
#[test]
fn requested_checks() {
    let kinds = [
        CheckKind::DivisionByZero,
        CheckKind::Overflow,
        CheckKind::Pointer,
        CheckKind::Bounds,
        CheckKind::Free,
    ];
    let options = LowerOptions {
        checks: kinds.into(),
        ..LowerOptions::default()
    };
    check_with(
        r#"
void free(void *);
int main(void) {
  int a = 1, b[3], *p = b; unsigned u = 2; long l;
  a = a / u; a = a + 1; u = u + 1; a = -a; a++; l = a << 3; u = u >> a; a = a % -1; b[a] = *p; p[1] = 2 && b[2]; free(p);
  return 1 + 2;
}
"#,
        &options,
        expect![[r#"
            int main()
              int a;
              int b[3];
              int *p;
              unsigned int u;
              long l;
              int t#1;
              0 -> 1  a = 1;
              1 -> 2  declare b;
              2 -> 3  p = b;
              3 -> 4  u = 2U;
              4 -> 5  assume(u == 0U);
              4 -> 6  assume(!(u == 0U));
              5: error: division by zero in a / u
              6 -> 7  a = (int)((unsigned int)a / u);
              7 -> 8  assume(overflows<int>(a + 1));
              7 -> 9  assume(!overflows<int>(a + 1));
              8: error: signed overflow in a + 1
              9 -> 10  a = a + 1;
              10 -> 11  u = u + 1U;
              11 -> 12  assume(overflows<int>(0 - a));
              11 -> 13  assume(!overflows<int>(0 - a));
              12: error: signed overflow in -a
              13 -> 14  a = -a;
              14 -> 15  assume(overflows<int>(a + 1));
              14 -> 16  assume(!overflows<int>(a + 1));
              15: error: signed overflow in a++
              16 -> 17  a = a + 1;
              17 -> 18  assume(a < 0);
              17 -> 19  assume(!(a < 0));
              18: error: left shift of a negative number in a << 3
              19 -> 20  assume(overflows<int>(a << 3));
              19 -> 21  assume(!overflows<int>(a << 3));
              20: error: signed overflow in a << 3
              21 -> 22  l = (long)(a << 3);
              22 -> 23  assume((unsigned int)a >= 32U);
              22 -> 24  assume(!((unsigned int)a >= 32U));
              23: error: shift by a wrong amount in u >> a
              24 -> 25  u = u >> a;
              25 -> 26  assume(overflows<int>(a / -1));
              25 -> 27  assume(!overflows<int>(a / -1));
              26: error: signed overflow in a % -1
              27 -> 28  a = a % -1;
              28 -> 29  assume((unsigned long)(long)a < 3UL);
              28 -> 46  assume(!((unsigned long)(long)a < 3UL));
              29 -> 30  assume(p == NULL);
              29 -> 31  assume(!(p == NULL));
              30: error: null pointer in *p
              31 -> 32  assume(valid_access(p, 4UL));
              31 -> 45  assume(!valid_access(p, 4UL));
              32 -> 33  b[(long)a] = *p;
              33 -> 34  assume(p == NULL);
              33 -> 35  assume(!(p == NULL));
              34: error: null pointer in p[1]
              35 -> 36  assume(valid_access(p + 1L, 4UL));
              35 -> 44  assume(!valid_access(p + 1L, 4UL));
              36 -> 37  assume(b[2L]);
              36 -> 43  assume(!b[2L]);
              37 -> 38  t#1 = 1;
              38 -> 39  *(p + 1L) = t#1;
              39 -> 40  assume(valid_free((void *)p));
              39 -> 42  assume(!valid_free((void *)p));
              40 -> 41  free((void *)p);
              41 -> 47  result# = 3;
              42: error: invalid free in free(p)
              43 -> 38  t#1 = 0;
              44: error: invalid access in p[1]
              45: error: invalid access in *p
              46: error: index out of bounds in b[a]
              47: exit
        "#]],
    );
}

/// An error label is a check when its name was given.
#[test]
fn error_labels() {
    let options = LowerOptions {
        error_labels: ["ERROR".to_owned()].into(),
        ..LowerOptions::default()
    };
    check_with(
        "int main(void) { int x = 1; if (x) goto ERROR; return 0; ERROR: x = 2; OTHER: return x; }",
        &options,
        expect![[r#"
            int main()
              int x;
              0 -> 1  x = 1;
              1 -> 2  assume(x);
              1 -> 4  assume(!x);
              2: label ERROR
              2 -> 3  skip;
              3: error: label `ERROR` is reached
              4 -> 5  result# = 0;
              5: exit
        "#]],
    );
}

/// With `--undefined havoc`, undefined functions write what they can reach.
#[test]
fn undefined_functions_that_change_memory() {
    let options = LowerOptions {
        undefined: Undefined::Havoc,
        ..LowerOptions::default()
    };
    check_with(
        "int g; static int s; int f(int *p, int n); struct r { int a; } h(void);
         int main(void) { int x; struct r r = h(); return f(&x, 2) + s + r.a; }",
        &options,
        expect![[r#"
            warning: function `h` is not defined
             --> a.c:2:47
              |
            2 |          int main(void) { int x; struct r r = h(); return f(&x, 2) + s + r.a; }
              |                                               ^^^ it is taken to change memory and return anything
            warning: function `f` is not defined
             --> a.c:2:59
              |
            2 |          int main(void) { int x; struct r r = h(); return f(&x, 2) + s + r.a; }
              |                                                           ^^^^^^^^ it is taken to change memory and return anything
            struct r { // size 4, align 4
              int a; // at 0
            };
            int g = {};
            int s = {};

            int main()
              int x;
              struct r r;
              int t#1;
              0 -> 1  declare x;
              1 -> 2  declare r;
              2 -> 3  r = h();
              3 -> 4  t#1 = f(&x, 2);
              4 -> 5  result# = t#1 + s + r.a;
              5: exit

            struct r h() // undefined
              0 -> 1  memory(&g) = anything;
              1 -> 2  result# = anything;
              2: exit

            int f(int *p#, int p#) // undefined
              0 -> 1  memory(p#) = anything;
              1 -> 2  memory(&g) = anything;
              2 -> 3  result# = anything;
              3: exit
        "#]],
    );
}
