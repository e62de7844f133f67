//! Accesses and frees that are right are proved, and those that are not are found: which object a
//! pointer belongs to, and whether it lives.

use crate::scene::Scene;
use expect_test::{Expect, expect};

const HEAD: &str = "extern int __VERIFIER_nondet_int(void);
void *malloc(unsigned long); void free(void *);
";

/// The answers, those about null pointers left out.
#[track_caller]
fn check(text: &str, expected: Expect) {
    let scene = Scene::file("x.c", format!("{HEAD}{text}\n"));
    let output =
        scene.output("check x.c -q --no-trace --check pointer,bounds,free --time-limit 60");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = |line: &&str| {
        let answer = ["PROVED", "VIOLATED", "UNKNOWN"];
        answer.iter().any(|answer| line.starts_with(answer)) && !line.contains("null pointer")
    };
    let picture: String = text
        .lines()
        .filter(told)
        .map(|line| format!("{line}\n"))
        .collect();
    expected.assert_eq(&picture);
}

/// An object of a size that is computed, walked through by an index, then freed.
#[test]
fn an_array_on_the_heap() {
    check(
        "static void fill(int *a, int n) { for (int i = 0; i < n; i++) a[i] = 7; }
int main(void) {
  int n = __VERIFIER_nondet_int();
  if (n <= 0 || n > 100000) return 0;
  int *a = malloc(n * sizeof *a);
  if (!a) return 0;
  fill(a, n);
  free(a);
}",
        expect![[r#"
            PROVED x.c:3: invalid access in a[i] (in fill)
            PROVED x.c:10: invalid free in free(a) (in main)
        "#]],
    );
    check(
        "int main(void) {
  int n = __VERIFIER_nondet_int();
  if (n <= 0 || n > 1000) return 0;
  int *a = malloc(n * sizeof *a);
  for (int i = 0; i <= n; i++) a[i] = 1;
  free(a);
}",
        expect![[r#"
            VIOLATED x.c:7: invalid access in a[i] (in main)
            PROVED x.c:8: invalid free in free(a) (in main)
        "#]],
    );
}

/// A pointer that walks through an array up to another one.
#[test]
fn a_walk() {
    check(
        "int main(void) {
  int a[10], n = __VERIFIER_nondet_int();
  if (n < 0 || n > 10) return 0;
  for (int *p = a, *e = a + n; p < e; p++) *p = 0;
}",
        expect![[r#"
            PROVED x.c:6: invalid access in *p (in main)
        "#]],
    );
}

/// A new life of a local is another object: what pointed to the old one points nowhere.
#[test]
fn lives() {
    check(
        "int main(void) {
  for (int k = __VERIFIER_nondet_int(); k > 0; k--) { int x, *p = &x; *p = k; }
}",
        expect![[r#"
            PROVED x.c:4: invalid access in *p (in main)
        "#]],
    );
    check(
        "int main(void) {
  int *p = 0;
  for (int k = __VERIFIER_nondet_int(); k > 0; k--) { int x = 0; if (p) *p = k; p = &x; }
}",
        expect![[r#"
            VIOLATED x.c:5: invalid access in *p (in main)
        "#]],
    );
    check(
        "int *g;
static void f(void) { int x = 1; g = &x; }
int main(void) { f(); f(); if (__VERIFIER_nondet_int()) *g = 2; }",
        expect![[r#"
            VIOLATED x.c:5: invalid access in *g (in main)
        "#]],
    );
}

/// A pointer belongs to its object wherever it points to: the neighbour is not its own.
#[test]
fn neighbours() {
    check(
        "int a[4], b[4];
int main(void) {
  int *p = __VERIFIER_nondet_int() ? a : b;
  p[4] = 1;
}",
        expect![[r#"
            VIOLATED x.c:6: invalid access in p[4] (in main)
        "#]],
    );
    check(
        "struct pair { int *first, *second; };
int main(void) {
  int x, y[2];
  struct pair s = { &x, y }, t = s, *p = &t;
  if (__VERIFIER_nondet_int()) p->first = p->second + 1;
  *p->first = 1;
  p->second[1] = 2;
}",
        expect![[r#"
            PROVED 12 checks in main
        "#]],
    );
}

/// Once, from the start, and what is on the heap.
#[test]
fn frees() {
    check(
        "int main(void) {
  int *p = malloc(8), x;
  int *q = __VERIFIER_nondet_int() ? p : 0;
  free(q);
  if (!q) free(p);
}",
        expect![[r#"
            PROVED x.c:6: invalid free in free(q) (in main)
            PROVED x.c:7: invalid free in free(p) (in main)
        "#]],
    );
    check(
        "int main(void) {
  int *p = malloc(8), x;
  int *q = __VERIFIER_nondet_int() ? p : &x;
  free(q);
}",
        expect![[r#"
            VIOLATED x.c:6: invalid free in free(q) (in main)
        "#]],
    );
}

/// A list that is built and taken down.
#[test]
fn a_short_list() {
    check(
        "struct node { int v; struct node *next; };
static struct node *make(struct node *next) {
  struct node *n = malloc(sizeof *n);
  n->v = 1; n->next = next;
  return n;
}
int main(void) {
  struct node *list = make(0);
  if (__VERIFIER_nondet_int()) list = make(list);
  while (list) { struct node *next = list->next; free(list); list = next; }
}",
        expect![[r#"
            PROVED x.c:6: invalid access in n->v (in make)
            PROVED x.c:6: invalid access in n->next (in make)
            PROVED x.c:12: invalid access in list->next (in main)
            PROVED x.c:12: invalid free in free(list) (in main)
        "#]],
    );
}
