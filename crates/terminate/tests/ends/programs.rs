//! What is found out about the ends of small programs, and how.

use crate::common::check;
use expect_test::expect;

#[test]
fn a_counter_falls() {
    check(
        "int main(void) {
           int n = __VERIFIER_nondet_int(), i = 0;
           while (i < n)
             i++;
           return 0;
         }",
        expect![[r#"
            PROVED
            line 3: n - i
        "#]],
    );
}

#[test]
fn nested_loops_have_tuples() {
    check(
        "int main(void) {
           int n = __VERIFIER_nondet_int(), m = __VERIFIER_nondet_int();
           for (int i = 0; i < n; i++)
             for (int j = 0; j < m; j++)
               ;
           return 0;
         }",
        expect![[r#"
            PROVED
            line 3: n - i
            line 4: n - i, m - j
        "#]],
    );
}

#[test]
fn what_is_set_anew_falls_behind_what_counts() {
    check(
        "int main(void) {
           int n = __VERIFIER_nondet_int(), m = __VERIFIER_nondet_int();
           while (n > 0) {
             if (m > 0) m--;
             else { n--; m = __VERIFIER_nondet_int(); }
           }
           return 0;
         }",
        expect![[r#"
            PROVED
            line 3: n, m
        "#]],
    );
}

#[test]
fn words_wrap_around() {
    check(
        "int main(void) {
           unsigned n = __VERIFIER_nondet_uint(), i = __VERIFIER_nondet_uint();
           while (i != n)
             i++;
           return 0;
         }",
        expect![[r#"
            PROVED
            line 3: n - i
        "#]],
    );
    check(
        "int main(void) {
           unsigned i = __VERIFIER_nondet_uint();
           while (i != 7)
             i += 2;
           return 0;
         }",
        expect![[r#"
            VIOLATED
            1 steps, then
            i != 7 && (i & 1) == 0
        "#]],
    );
}

#[test]
fn recursion_falls() {
    check(
        "int f(int n) { if (n <= 0) return 0; return f(n - 1) + f(n - 2); }
         int main(void) {
           int n = __VERIFIER_nondet_int();
           if (n < 1000) f(n);
           return 0;
         }",
        expect![[r#"
            PROVED
            line 1: n
        "#]],
    );
    check(
        "void f(int n) { if (n != 0) f(n - 1); }
         int main(void) { f(__VERIFIER_nondet_int()); return 0; }",
        expect![[r#"
            PROVED
            line 1: n
        "#]],
    );
}

#[test]
fn functions_that_call_each_other_fall_together() {
    check(
        "void f(unsigned n);
         void g(unsigned n) { if (n > 2) f(n - 1); }
         void f(unsigned n) { if (n > 1) g(n - 1); }
         int main(void) { f(__VERIFIER_nondet_uint()); return 0; }",
        expect![[r#"
            PROVED
            line 3: n
            line 2: n
        "#]],
    );
}

#[test]
fn what_happens_in_phases_falls_in_phases() {
    check(
        "int main(void) {
           long x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
           do {
             x -= y;
             y += 1;
           } while (x > 0);
           return 0;
         }",
        expect![[r#"
            PROVED
            line 4: x < 0 ? -x : 0, -y
        "#]],
    );
}

#[test]
fn a_state_comes_again() {
    check(
        "int main(void) {
           unsigned i = 0;
           while (__VERIFIER_nondet_int() && i < 1000)
             i++;
           if (i > 30)
             for (;;)
               ;
           return 0;
         }",
        expect![[r#"
            VIOLATED
            189 steps, then 1
        "#]],
    );
    check(
        "int main(void) {
           int x = __VERIFIER_nondet_int();
           while (x != 0) {
             if (x > 10) x = 10;
             if (x < 0) x = x + 2;
             else x = x - 3;
           }
           return 0;
         }",
        expect![[r#"
            UNKNOWN: nothing was found that falls with every step of the loop at test.c:3
        "#]],
    );
}

#[test]
fn a_set_need_not_be_left() {
    check(
        "int main(void) {
           unsigned i = 0;
           while (1)
             i++;
         }",
        expect![[r#"
            VIOLATED
            1 steps, then
            true
        "#]],
    );
    check(
        "int main(void) {
           unsigned i = 0;
           while (__VERIFIER_nondet_int())
             i++;
           return 0;
         }",
        expect![[r#"
            VIOLATED
            1 steps, then
            true
        "#]],
    );
    check(
        "int main(void) {
           int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
           while (x > 0)
             x = (x + y) & 0xffff | 1;
           return 0;
         }",
        expect![[r#"
            VIOLATED
            4 steps, then 2
        "#]],
    );
}

#[test]
fn calls_are_nested_without_an_end() {
    check(
        "void f(unsigned n) { f(n + 1); }
         int main(void) { f(__VERIFIER_nondet_uint()); return 0; }",
        expect![[r#"
            VIOLATED
            2 steps, then
            true
        "#]],
    );
    check(
        "void g(int n);
         void f(int n) { if (n != 3) g(n - 2); }
         void g(int n) { f(n); }
         int main(void) { f(__VERIFIER_nondet_int()); return 0; }",
        expect![[r#"
            VIOLATED
            2 steps, then
            (n & 1) == 0
            n != 3 && (n & 1) == 0
            n != 3 && (n & 1) == 0
        "#]],
    );
    check(
        "void f(unsigned n) { if (n & 1) f(n / 2); else if (n) f(n - 1); }
         int main(void) { f(__VERIFIER_nondet_uint()); return 0; }",
        expect![[r#"
            PROVED
            line 1: n
        "#]],
    );
}

#[test]
fn a_state_machine_goes_on() {
    check(
        "int main(void) {
           int state = 3;
           unsigned steps = 0;
           while (1) {
             steps++;
             switch (state) {
             case 3: state = __VERIFIER_nondet_int() ? 7 : 5; break;
             case 5: if (__VERIFIER_nondet_int()) state = 7; else state = 2; break;
             case 7: state = 2; break;
             case 2: return 0;
             default: abort();
             }
           }
         }",
        expect![[r#"
            PROVED
            line 5: state == 3 ? 3 : state == 5 ? 2 : state == 7 ? 1 : state == 2 ? 0 : 4
        "#]],
    );
}

#[test]
fn words_come_nearer_to_what_they_are_compared_with() {
    check(
        "int main(void) {
           int x = __VERIFIER_nondet_int(), more = 1;
           while (more) {
             if (x > 10) x--;
             else if (x < 5) x++;
             else more = 0;
           }
           return 0;
         }",
        expect![[r#"
            PROVED
            line 3: x < 0 ? -x : 0, x > 10 ? x - 10 : 0, 10 - x, -more
        "#]],
    );
}

#[test]
fn words_jump_over_zero() {
    check(
        "int main(void) {
           int x = __VERIFIER_nondet_int();
           while (x != 0) {
             if (x > 0) x = -x + 1;
             else x = -x - 1;
           }
           return 0;
         }",
        expect![[r#"
            PROVED
            line 3: x < 0 ? -x : x
        "#]],
    );
}

#[test]
fn a_set_is_entered_by_large_numbers() {
    check(
        "int main(void) {
           unsigned x = __VERIFIER_nondet_uint(), least = 23;
           while (x >= least) {
             x = x + least;
             if (x < least) x = least;
           }
           return 0;
         }",
        expect![[r#"
            VIOLATED
            2 steps, then
            least <=u x && x != 0 && least == 23 && least >=u 23 && least <=u 23 && least != 0 && (least & 1) == 1
        "#]],
    );
}
