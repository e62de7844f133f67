//! What answers rest on is noted where a program has something that it can matter for, and only
//! there.

use expect_test::{Expect, expect};
use hardbop_cfront::load::load_text;
use hardbop_cfront::program::Assumption;

/// What is noted of the statements of `main`.
#[track_caller]
fn check(globals: &str, body: &str, expected: Expect) {
    let text = format!(
        "#include <stdlib.h>\n#include <stdint.h>\n#include <string.h>\n{globals}\n\
         int main(void) {{\n{body}\nreturn 0; }}"
    );
    let loaded = load_text("x.c", &text).expect("a good program");
    let mut picture = String::new();
    for assumption in &loaded.program.assumptions {
        match assumption {
            Assumption::Model { text } if text.starts_with("memory can always") => {}
            Assumption::Model { text } => picture.push_str(&format!("{text}\n")),
            Assumption::Ends { check, source } => {
                picture.push_str(&format!("ends: {} at {}\n", check.name(), source.line));
            }
            _ => {}
        }
    }
    expected.assert_eq(&picture);
}

#[test]
fn divisions() {
    check(
        "int a, b;",
        "a = a / b;",
        expect![[r#"
        ends: div-by-zero at 6
    "#]],
    );
    check("int a, b;", "a = a / 2; b %= 3;", expect![[""]]);
    check("double a, b;", "a = a / b;", expect![[""]]);
    check("int a; void f(int b) { a = 1 % b; }", "", expect![[""]]);
}

#[test]
fn accesses() {
    let set = "void set(int *p) { *p = 1; }";
    check(set, "int x; set(&x);", expect![[""]]);
    check(
        set,
        "int *x = 0; set(x);",
        expect![[r#"
        ends: pointer at 4
    "#]],
    );
    check("int a[4];", "a[3] = a[0];", expect![[""]]);
    check(
        "int a[4], i;",
        "a[i] = 0;",
        expect![[r#"
        ends: pointer at 6
    "#]],
    );
    check(
        "struct { int x, y; } s, *p;",
        "s.x = 1; p = &s; int *q = &p->y;",
        expect![[""]],
    );
    check(
        "struct { int x, y; } s, *p = &s;",
        "p->y = 1;",
        expect![[r#"
            ends: pointer at 6
        "#]],
    );
    check("", "char s[4]; memset(s, 0, sizeof s);", expect![[""]]);
    check(
        "unsigned n;",
        "char s[4]; memset(s, 0, n);",
        expect![[r#"
        ends: pointer at 6
    "#]],
    );
    check(
        "char *s;",
        "int n = strlen(s);",
        expect![[r#"
        ends: pointer at 6
    "#]],
    );
    check(
        "",
        "void *p = malloc(4); free(p);",
        expect![[r#"
        ends: free at 6
    "#]],
    );
}

#[test]
fn comparisons_of_addresses() {
    check(
        "int a[9];",
        "int *p = a; while (p != a + 9) p++;",
        expect![[""]],
    );
    check(
        "int a[9], b[9];",
        "int x = a + 9 == b;",
        expect![[r#"
        different objects lie in one order and at fixed distances: addresses are compared at x.c:6
    "#]],
    );
    check(
        "int a, b;",
        "int x = &a < &b;",
        expect![[r#"
        different objects lie in one order and at fixed distances: addresses are compared at x.c:6
    "#]],
    );
    check(
        "int a, b, *p = &a;",
        "if (p) p = &b; int x = p != 0;",
        expect![[""]],
    );
    check(
        "int a, b;",
        "long x = &a - &b;",
        expect![[r#"
        different objects lie in one order and at fixed distances: addresses are compared at x.c:6
    "#]],
    );
    check(
        "",
        "char *p = malloc(9); int x = p + 3 < p + 9;",
        expect![[""]],
    );
    check(
        "",
        "const char *p = \"ab\", *q = \"cab\"; int x = p == q;",
        expect![[r#"
            different literals are different objects: their addresses are compared at x.c:6
        "#]],
    );
    check(
        "struct pair { int a, b; };",
        "const struct pair *p = &(const struct pair){ 1, 2 }, *q = &(const struct pair){ 1, 2 }; int x = p == q;",
        expect![[r#"
            different literals are different objects: their addresses are compared at x.c:6
        "#]],
    );
    check(
        "",
        "const char *p = \"ab\", *q = \"cd\"; int x = p == q;",
        expect![[""]],
    );
}

#[test]
fn addresses_that_are_used_again() {
    check(
        "",
        "char *p = malloc(1); free(p); char *q = malloc(1); int x = p == q;",
        expect![[r#"
            objects that come after others have gone lie where Hardbop puts them: addresses are compared at x.c:6
            ends: free at 6
        "#]],
    );
    check(
        "",
        "char *p = malloc(1); char *q = malloc(1); int x = p == q;",
        expect![[""]],
    );
    // Locals, too: of one scope, of two, and of calls.
    #[track_caller]
    fn again(globals: &str, body: &str) {
        check(
            globals,
            body,
            expect![[r#"
                objects that come after others have gone lie where Hardbop puts them: addresses are compared at x.c:6
            "#]],
        );
    }
    again(
        "int *p, *q;",
        "for (int i = 0; i < 2; i++) { int l; q = p; p = &l; } int x = p == q;",
    );
    again(
        "",
        "int *p, *q; { int a; p = &a; } { int b; q = &b; int x = p == q; }",
    );
    again(
        "int *f(void) { int l; return &l; }",
        "int *p = f(); int *q = f(); int x = p == q;",
    );
    again(
        "void f(int **to) { int l; *to = &l; }",
        "int *p, *q; f(&p); f(&q); int x = p == q;",
    );
    // Nothing leads to a local that is gone.
    check(
        "int f(void) { int a[9], *p = a; while (p != a + 9) p++; return *a; }",
        "f(); f();",
        expect![[""]],
    );
    check(
        "int g(int *p, int *q) { return p == q; } int f(void) { int a; return g(&a, &a); }",
        "f(); f();",
        expect![[""]],
    );
}

#[test]
fn addresses_as_numbers() {
    check(
        "int a;",
        "int x = (uintptr_t)&a % 4;",
        expect![[r#"
            objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:6
        "#]],
    );
    check(
        "int a;",
        "uintptr_t u = (uintptr_t)&a; int *p = (int *)u; *p = 1;",
        expect![[r#"
            ends: pointer at 6
        "#]],
    );
    check(
        "int a, *p = &a;",
        "int x = (uintptr_t)p != 0;",
        expect![[""]],
    );
    check(
        "int a;",
        "unsigned x = (unsigned)(uintptr_t)&a;",
        expect![[r#"
            objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:6
        "#]],
    );
    check(
        "int a; union { int *p; uintptr_t u; } v;",
        "v.p = &a; int x = v.u > 9;",
        expect![[r#"
            objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:6
        "#]],
    );
}

/// A byte of an address is a number, whoever looks at it.
#[test]
fn parts_of_addresses() {
    check(
        "int a; int *table[2] = { &a, 0 };",
        "int x = ((unsigned char *)table)[0] & 0xf0;",
        expect![[r#"
            objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:6
        "#]],
    );
    check(
        "int a; int *table[2] = { &a, 0 };",
        "unsigned char *b = (unsigned char *)table; if (b[0]) a = 1;",
        expect![[r#"
            objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:6
            ends: pointer at 6
        "#]],
    );
    check(
        "int a; int *p = &a; unsigned halves[2];",
        "memcpy(halves, &p, sizeof p); int x = halves[0] == 64;",
        expect![[r#"
            objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:6
        "#]],
    );
    check(
        "int a, b; struct { int *p; } s = { &a }, t = { &b };",
        "int x = memcmp(&s, &t, sizeof s) < 0;",
        expect![[r#"
            objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:6
            ends: pointer at 6
        "#]],
    );
    check(
        "int a; int *p = &a; union { int *p; unsigned char b[8]; } u;",
        "u.p = &a; int x = u.b[0] == 64;",
        expect![[r#"
            objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:6
        "#]],
    );
    check(
        "int a;",
        "double d = (uintptr_t)&a;",
        expect![[r#"
            objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:6
        "#]],
    );
    check(
        "int a; unsigned char b[9];",
        "int x = b[(uintptr_t)&a];",
        expect![[r#"
            objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:6
            ends: pointer at 6
        "#]],
    );
    check(
        "void f(void) {}",
        "int x = (uintptr_t)f & 16;",
        expect![[r#"
            objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:6
        "#]],
    );
    check(
        "int a, *p = &a;",
        "_Bool b = p; int x = !(uintptr_t)p;",
        expect![[""]],
    );
    check(
        "int a[2], b[2] = { 1, 2 };",
        "memcpy(a, b, sizeof a); int x = a[0] + a[1] + (memcmp(a, b, sizeof a) != 0);",
        expect![[r#"
            ends: pointer at 6
        "#]],
    );
    check(
        "struct node { struct node *next; int value; } first, second = { &first, 3 };",
        "int x = second.next->value + second.value;",
        expect![[r#"
            ends: pointer at 6
        "#]],
    );
}

#[test]
fn addresses_beside_numbers() {
    check(
        "int a;",
        "int x = &a == (int *)0x601040;",
        expect![[r#"
            objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:6
        "#]],
    );
    check(
        "int a, *p = (int *)0x601040;",
        "int x = &a < p;",
        expect![[r#"
            objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:6
        "#]],
    );
    check(
        "int a, *p; void take(int *q) { p = q; }",
        "take((int *)(uintptr_t)rand()); int x = &a == p;",
        expect![[r#"
            objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:6
        "#]],
    );
    check("int a, *p;", "int x = &a == p;", expect![[""]]);
}

#[test]
fn orders_of_evaluation() {
    let functions = "int x; int f(void) { x = 1; return 1; } int g(void) { x = 2; return 2; }\n\
                     int square(int n) { return n * n; } int add(int a, int b) { return a + b; }";
    check(
        functions,
        "add(f(), g());",
        expect![[r#"
        what C lets be evaluated in any order is evaluated in one: it may matter at x.c:7
    "#]],
    );
    check(
        functions,
        "int y = f() - g();",
        expect![[r#"
        what C lets be evaluated in any order is evaluated in one: it may matter at x.c:7
    "#]],
    );
    check(
        functions,
        "int y = x + f();",
        expect![[r#"
        what C lets be evaluated in any order is evaluated in one: it may matter at x.c:7
    "#]],
    );
    check(functions, "int y = x + square(2);", expect![[""]]);
    check(functions, "add(square(2), square(3));", expect![[""]]);
    check(functions, "add(f(), square(3));", expect![[""]]);
    check(functions, "f(); g(); int y = f() && g();", expect![[""]]);
    check(
        functions,
        "int a[] = { f(), g() };",
        expect![[r#"
        what C lets be evaluated in any order is evaluated in one: it may matter at x.c:7
    "#]],
    );
    check(functions, "int a[] = { square(1), f(), 3 };", expect![[""]]);
    check(
        functions,
        "int i = 0, a[3]; a[i] = i++;",
        expect![[r#"
        what C lets be evaluated in any order is evaluated in one: it may matter at x.c:7
        ends: pointer at 7
    "#]],
    );
    check(
        functions,
        "int i = 0, j = 0; i = i + 1; j = i++ + 2; j += i--;",
        expect![[""]],
    );
    check(
        "int stop(void) { exit(0); } int fail(void) { __VERIFIER_error(); return 1; }\n\
           void __VERIFIER_error(void);",
        "int y = stop() + fail();",
        expect![[r#"
            what C lets be evaluated in any order is evaluated in one: it may matter at x.c:7
        "#]],
    );
}

#[test]
fn callbacks() {
    let functions = "void reg(void (*)(void)); void h(void) {}\n\
                     struct ops { void (*h)(void); } o = { h }; void add(struct ops *); void other(int *);";
    check(
        functions,
        "reg(h);",
        expect![[r#"
        `reg`, called at x.c:7, calls none of the functions that it is given
    "#]],
    );
    check(
        functions,
        "add(&o);",
        expect![[r#"
        `add`, called at x.c:7, calls none of the functions that it is given
    "#]],
    );
    check(functions, "int x; other(&x); reg(0);", expect![[""]]);
}

#[test]
fn pointers_from_outside() {
    let get = "int *get(void); int x; void set(int *p) { *p = 1; }";
    check(
        get,
        "int *p = get(); if (p) *p = 1;",
        expect![[r#"
            ends: pointer at 6
        "#]],
    );
    check(
        get,
        "int *p = get(); set(&x); if (p) *p = 1;",
        expect![[r#"
            pointers from outside, first used at x.c:6, point to no object of the program
            ends: pointer at 6
        "#]],
    );
    check(
        "long *more(void); int *get(void);",
        "int *p = get(); long *q = more(); *p = 1; *q = 2;",
        expect![[r#"
            pointers from outside to different types point to different objects, and so do `void` pointers in objects from outside
            ends: pointer at 6
        "#]],
    );
}
