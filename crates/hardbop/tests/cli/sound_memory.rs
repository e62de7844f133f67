//! Memory: programs of which wrong answers were given once, and their neighbours. Each says what
//! happens when it is compiled by gcc and run; no engine may say otherwise.

use crate::scene::Scene;

/// What a compiled program does.
#[derive(Clone, Copy, PartialEq)]
enum Runs {
    /// For some inputs an assertion fails.
    Fail,
    /// No assertion fails.
    Hold,
}
use Runs::{Fail, Hold};

const PRELUDE: &str = "#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
extern int __VERIFIER_nondet_int(void);
extern void *__VERIFIER_nondet_pointer(void);
";

const ENGINES: [&str; 6] = ["auto", "houdini", "slam", "horn", "unroll", "dpr"];

#[track_caller]
fn check_with(options: &str, programs: &[(Runs, &str)]) {
    for (runs, text) in programs {
        let scene = Scene::file("x.c", format!("{PRELUDE}{text}\n"));
        for engine in ENGINES {
            let arguments = format!("check x.c -q --engine {engine} --time-limit 4 {options}");
            let output = scene.output(&arguments);
            let told = String::from_utf8_lossy(&output.stdout);
            let answer = told.split_whitespace().next().unwrap_or_default();
            let wrong = match runs {
                Fail => "PROVED",
                Hold => "VIOLATED",
            };
            assert!(
                ["PROVED", "VIOLATED", "UNKNOWN"].contains(&answer) && answer != wrong,
                "{engine}: {told}\n{text}"
            );
        }
    }
}

#[track_caller]
fn check(programs: &[(Runs, &str)]) {
    check_with("", programs);
}

#[test]
fn ranges_end_inside_of_elements() {
    check(&[
        (
            Fail,
            "int a[4], b[4];
int main(void) { b[1] = __VERIFIER_nondet_int(); memcpy(a, b, 6); assert(a[1] == 0); }",
        ),
        (
            Fail,
            "int a[4]; int main(void) { memset(a, 1, 6); assert(a[1] == 0); }",
        ),
        (
            Hold,
            "int a[4]; int main(void) { memset(a, 1, 6); assert(a[1] == 257 && a[2] == 0); }",
        ),
        (
            Fail,
            "int a[4]; int main(void) { memset((char *)a + 2, 1, 4); assert(a[0] == 0); }",
        ),
        (
            Fail,
            "struct s { short x; char y; int z; } a, b;
int main(void) { b.y = 1; memmove(&a, &b, 3); assert(a.y == 0); }",
        ),
        (
            Fail,
            "long a; int main(void) { char *p = (char *)&a; p[7] = 1; assert(a == 0); }",
        ),
    ]);
}

#[test]
fn records_with_arrays_are_seen_by_other_types() {
    check(&[
        (
            Fail,
            "struct A { int t[2]; }; struct B { int u, w; };
int main(void) { struct B *b = malloc(sizeof *b); b->w = 0;
  struct A x = {{1, __VERIFIER_nondet_int()}}; *(struct A *)b = x; assert(b->w == 0); }",
        ),
        (
            Fail,
            "union U { struct { int t[2]; } a; struct { int u, w; } b; };
int main(void) { union U x; x.b.w = 0; x.a.t[1] = 5; assert(x.b.w == 0); }",
        ),
        (
            Fail,
            "struct A { char t[8]; }; struct B { int u, w; };
static int f(struct A a) { struct B b; memcpy(&b, &a, sizeof b); return b.w; }
int main(void) { struct A a = {{0}}; a.t[5] = 1; assert(f(a) == 0); }",
        ),
        (
            Fail,
            "struct P { char c; int x; };
int main(void) { struct P p, q; unsigned char *b = (unsigned char *)&q;
  memset(&p, 7, sizeof p); memset(&q, 0, sizeof q); p.c = 0; q = p; assert(b[1] == 0); }",
        ),
    ]);
}

#[test]
fn members_are_left_inside_of_objects() {
    check(&[
        (
            Fail,
            "struct S { char buf[4]; char next; } s;
int main(void) { int i = __VERIFIER_nondet_int(); if (i < 0 || i > 4) return 0;
  s.buf[i] = 1; assert(s.next == 0); }",
        ),
        (
            Fail,
            "struct S { char buf[4]; int next; };
int main(void) { struct S s; s.next = 0; char *p = s.buf; p += 3; p += 1; *p = 1;
  assert(s.next == 0); }",
        ),
        (
            Fail,
            "struct S { int n; int d[1]; };
int main(void) { struct S *s = malloc(sizeof *s + 12); int i = 2; s->d[0] = 1; s->d[i] = 5;
  assert(s->d[2] != 5); }",
        ),
        (
            Fail,
            "struct S { int n; int d[]; };
int main(void) { struct S *s = malloc(sizeof *s + 12); int i = __VERIFIER_nondet_int();
  s->d[2] = 0; if (i < 0 || i > 2) return 0; s->d[i] = 5; assert(s->d[2] == 0); }",
        ),
        (
            Fail,
            "int a[3][4]; int main(void) { int i = __VERIFIER_nondet_int();
  if (i < 0 || i > 11) return 0; a[0][i] = 7; assert(a[2][3] == 0); }",
        ),
        (
            Fail,
            "int a[3][4]; int main(void) { int *p = &a[0][0], i = __VERIFIER_nondet_int();
  if (i < 0 || i > 11) return 0; p[i] = 7; assert(a[2][3] == 0); }",
        ),
        (
            Fail,
            "struct S { int t[2]; int z; } s;
int main(void) { int *p = &s.t[1]; p[1] = 3; assert(s.z == 0); }",
        ),
        (
            Fail,
            "struct S { int t[2]; int z; } s;
int main(void) { memset(&s.t[1], 1, 8); assert(s.z == 0); }",
        ),
        (
            Hold,
            "struct S { int t[4]; int z; } s;
int main(void) { for (int i = 0; i < 4; i++) s.t[i] = 1; assert(s.z == 0); }",
        ),
    ]);
}

#[test]
fn pointers_travel_as_something_else() {
    check(&[
        (
            Fail,
            "int x; int main(void) { unsigned long v = (unsigned long)&x;
  unsigned lo = v, hi = v >> 32; int *q = (int *)((unsigned long)hi << 32 | lo);
  *q = __VERIFIER_nondet_int(); assert(x == 0); }",
        ),
        (
            Fail,
            "int x; union U { double d; int *p; };
int main(void) { union U a, b; a.p = &x; double t = a.d; b.d = t; *b.p = 1; assert(x == 0); }",
        ),
        (
            Fail,
            "int x; int main(void) { int *p = &x, *q = 0;
  unsigned char *s = (unsigned char *)&p, *d = (unsigned char *)&q;
  for (int i = 0; i < 8; i++) d[i] = s[i] & 0xff; *q = 1; assert(x == 0); }",
        ),
        (
            Fail,
            "int x; struct P { int *p; int k; };
static void f(int n, ...) { va_list l; va_start(l, n); struct P s = va_arg(l, struct P);
  *s.p = 1; va_end(l); }
int main(void) { struct P s = { &x, 3 }; f(1, s); assert(x == 0); }",
        ),
        (
            Fail,
            "int x; int main(void) { int *p = &x; unsigned w[2]; memcpy(w, &p, 8);
  int *q; memcpy(&q, w, 8); *q = 1; assert(x == 0); }",
        ),
        (
            Fail,
            "int a[2]; int main(void) { long d = (char *)&a[1] - (char *)&a[0];
  int *p = (int *)((char *)a + d); *p = 1; assert(a[1] == 0); }",
        ),
        (
            Fail,
            "struct S { int *p; } s; int x;
int main(void) { struct S t = { &x }; char *a = (char *)&s, *b = (char *)&t;
  for (unsigned i = 0; i < sizeof s; i++) a[i] = b[i]; *s.p = 1; assert(x == 0); }",
        ),
        (
            Fail,
            "int x; int main(void) { long v = ~(long)&x; int *p = (int *)~v; *p = 1;
  assert(x == 0); }",
        ),
    ]);
}

#[test]
fn pointers_from_outside_may_be_those_that_they_are_compared_with() {
    check(&[(
        Fail,
        "int x; int main(void) { int *p = __VERIFIER_nondet_pointer();
  if (p == &x) { *p = 1; assert(x == 0); } }",
    )]);
    check_with(
        "--entry f",
        &[
            (
                Fail,
                "void f(int *p, int *q) { *p = 1; *q = 2; assert(*p == 1); }",
            ),
            (
                Fail,
                "struct S { int *a, *b; };
void f(struct S *s) { *s->a = 1; *s->b = 2; assert(*s->a == 1); }",
            ),
        ],
    );
}

#[test]
fn functions_without_a_body_reach_what_they_know() {
    let havoc = "--undefined havoc";
    check_with(
        havoc,
        &[
            (
                Fail,
                "void log_it(const char *f, ...); static int y;
int main(void) { log_it(\"%p\", &y); assert(y == 0); }",
            ),
            (
                Fail,
                "struct P { int *p; }; void g(struct P p);
int main(void) { int y = 0; struct P p = { &y }; g(p); assert(y == 0); }",
            ),
            (
                Fail,
                "void g(unsigned long p);
int main(void) { int y = 0; g((unsigned long)&y); assert(y == 0); }",
            ),
            (
                Fail,
                "int *g(int *p);
int main(void) { int y = 0; int *q = g(&y); *q = 1; assert(y == 0); }",
            ),
            (
                Fail,
                "void put(int **p, int *q);
int main(void) { int y = 0, z = 0; int *q = &z; put(&q, &y); *q = 1; assert(y == 0); }",
            ),
        ],
    );
}

#[test]
fn long_texts_keep_their_place() {
    let text = "a".repeat(5000);
    let program = format!(
        "struct S {{ int n; char t[5001]; }} s = {{ 1, \"{text}\" }};
int main(void) {{ assert(s.t[7] == 0); }}"
    );
    check(&[(Fail, &program)]);
}
