//! Small programs with calls of every kind.

pub(super) const PROGRAMS: &[&str] = &[
    "int f(int a) { return a + 1; } int main(void) { return f(f(2)); }",
    "int g; void f(void) { g++; } int main(void) { f(); f(); return g; }",
    "int g; int h(int a) { return a * 2; } int f(int a, int b) { return h(a) - h(b); }
     int main(void) { g = f(1, 2); g += f(3, g); return g; }",
    "int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); } int id(int x) { return x; }
     int main(void) { return id(fact(id(4))); }",
    "int even(int n); int twice(int n) { int d = n + n; return d; }
     int odd(int n) { return n == 0 ? 0 : even(twice(n) - n - 1); }
     int even(int n) { return n == 0 ? 1 : odd(n - 1); }
     int main(void) { return even(4); }",
    "int a(int x) { return x + 1; } int b(int x) { return x + 2; } int c(int x) { return x + 3; }
     int (*t[3])(int) = { a, b, c }; int nondet(void);
     int main(void) { int i = nondet(); if (i < 0 || i > 2) return 0; return t[i](i); }",
    "void inc(int *p) { *p += 1; } void both(int *p, int *q) { inc(p); inc(q); }
     int main(void) { int x = 0, y = 0; both(&x, &y); both(&y, &x); return x + y; }",
    "void inc(int *p) { *p += 1; } int f(int a) { inc(&a); return a; }
     int main(void) { int s = 0; for (int i = 0; i < 3; i++) s += f(i); return s; }",
    "struct s { int a; long b[2]; }; struct s make(int a) { struct s r; r.a = a; r.b[1] = a; return r; }
     int sum(struct s s) { return s.a + (int)s.b[1]; }
     int main(void) { struct s x = make(1); return sum(x) + sum(make(2)); }",
    "struct s { int a; int b; }; struct s swap(struct s s) { int t = s.a; s.a = s.b; s.b = t; return s; }
     int main(void) { struct s x = { 1, 2 }; x = swap(swap(x)); return x.a; }",
    "void reach_error(void); void check(int c) { if (!c) reach_error(); }
     int main(void) { int i; for (i = 0; i < 4; i++) check(i < 4); check(i == 4); return 0; }",
    "#include <assert.h>
     int abs_(int x) { if (x < 0) return -x; return x; }
     int main(void) { assert(abs_(-3) == 3); assert(abs_(4) == 4); return 0; }",
    "int sum(int n) { int s = 0; while (n > 0) { s += n; n--; } return s; }
     int main(void) { int t = 0; do { t += sum(t); } while (t < 10 && t != 0); return t; }",
    "#include <stdlib.h>
     struct n { struct n *next; int v; };
     struct n *push(struct n *l, int v) { struct n *n = malloc(sizeof *n); n->v = v; n->next = l; return n; }
     int len(struct n *l) { int c = 0; for (; l; l = l->next) c++; return c; }
     int main(void) { struct n *l = 0; l = push(l, 1); l = push(l, 2); return len(l); }",
    "#include <stdlib.h>
     void die(int x) { if (x) exit(1); } int f(int x) { die(x); return x; }
     int main(void) { return f(0) + f(1); }",
    "int nothing(int a) { if (a) return 3; } int main(void) { int s = 0, i; for (i = 0; i < 2; i++) s += nothing(i); return s; }",
    "int g; int f(int a) { static int count; count += a; return count; }
     int main(void) { f(1); f(2); g = f(3); return g; }",
    "int add(int a, int b) { return a + b; } int sub(int a, int b) { return a - b; }
     int apply(int (*f)(int, int), int a, int b) { return f(a, b); }
     int main(void) { return apply(add, 1, 2) + apply(sub, 5, 3); }",
    "int f(int a) { int t[3]; t[0] = a; t[1] = a + 1; t[2] = t[0] + t[1]; return t[a & 1]; }
     int main(void) { int s = 0; for (int i = 0; i < 2; i++) s += f(i); return s; }",
    "double half(double x) { return x / 2.0; } int main(void) { double d = half(half(3.0)); return d < 1.0; }",
    "unsigned char cut(int x) { return x; } long wide(unsigned char c) { return c; }
     int main(void) { return (int)wide(cut(300)); }",
    "int *where; void leak(int x) { where = &x; } int main(void) { leak(1); leak(2); return where != 0; }",
    "int f(int x) { switch (x) { case 0: return 5; case 1: x++; case 2: x += 2; break; default: return -1; } return x; }
     int main(void) { return f(0) + f(1) + f(2) + f(3); }",
    "#include <stdarg.h>
     int last(int n, ...) { va_list l; va_start(l, n); int r = va_arg(l, int); va_end(l); return r; }
     int plain(int n, ...) { return n; } int g(int a) { return last(1, a) + plain(2, a, a); }
     int main(void) { return g(3); }",
    "int g; void even(int *p, int n); void odd(int *p, int n) { int here = *p; if (n) even(&here, n - 1); g += here; }
     int inner(int *p) { int keep = *p; return keep; }
     void even(int *p, int n) { int own = inner(p) + 1; if (n) odd(&own, n - 1); g += own; }
     int main(void) { int x = 0; even(&x, 3); return g; }",
    "extern int __VERIFIER_nondet_int(void); int input(void) { int v = __VERIFIER_nondet_int(); return v; }
     int main(void) { int a = input(), b = input(); return a > b ? a : b; }",
    "int fib(int n) { if (n < 2) return n; int a = fib(n - 1); int b = fib(n - 2); return a + b; }
     int wrap(int n) { int r = fib(n); return r; } int main(void) { return wrap(3) + wrap(4); }",
    "int min(int a, int b) { return a < b ? a : b; } int clamp(int x, int lo, int hi) { return -min(-lo, -min(x, hi)); }
     int main(void) { return clamp(5, 0, 3) + clamp(1, 0, 3); }",
    "union u { int i; float f; }; int bits(float f) { union u u; u.f = f; return u.i; }
     int main(void) { return bits(1.0f) == bits(2.0f); }",
    "void fill(int *a, int n, int v) { for (int i = 0; i < n; i++) a[i] = v; }
     int total(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
     int main(void) { int a[4]; fill(a, 4, 2); fill(a, 2, 3); return total(a, 4); }",
    "int g; int f(int a) { again: if (a > 0) { g += a; a--; goto again; } return g; } int main(void) { return f(2) + f(1); }",
    "void a(void); int n; void b(void) { if (n-- > 0) a(); } void a(void) { b(); } void leaf(void) { n = 2; }
     int main(void) { leaf(); a(); leaf(); return n; }",
    "int g; void stop(int a) { for (;;) g += a; } int f(int a) { if (a) stop(a); return 1; }
     int main(void) { f(0); stop(2); g = f(1); return g; }",
    "int one(int *p) { return *p; } int two(int *p) { *p = 2; return 1; } int nondet(void);
     int main(void) { int (*f)(int *) = nondet() ? one : two; int x = 0, s = 0;
       for (int i = 0; i < 2; i++) { int y = f(&x); s += f(&y); } return s; }",
];
