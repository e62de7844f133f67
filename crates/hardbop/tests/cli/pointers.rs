//! Thirty small programs that use memory rightly, and are proved to: of every kind of pointer that
//! people write every day.

use crate::scene::Scene;

const PRELUDE: &str = "#include <stdlib.h>
#include <string.h>
extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_assume(int);
";

/// All checks of memory are proved.
#[track_caller]
fn proved(text: &str) {
    let scene = Scene::file("x.c", format!("{PRELUDE}{text}\n"));
    let value = scene.json("check x.c --check pointer,bounds,free");
    let checks = value["checks"].as_array().expect("checks");
    for check in checks {
        assert_eq!(check["answer"], "PROVED", "{check}");
    }
    assert_eq!(value["exit_code"], 0, "{value}");
    assert!(!checks.is_empty(), "there is something to check");
}

#[test]
fn an_object_of_the_heap() {
    proved("int main(void) { int *p = malloc(sizeof *p); *p = 1; return 0; }");
}

#[test]
fn an_object_that_is_freed() {
    proved("int main(void) { int *p = malloc(sizeof *p); *p = 1; free(p); return 0; }");
}

#[test]
fn a_string_is_copied() {
    proved("int main(void) { char b[8]; strcpy(b, \"hello\"); return b[4]; }");
}

#[test]
fn a_list_of_two_on_the_stack() {
    proved(
        "struct node { int v; struct node *next; };
int main(void) { struct node b = {2, 0}, a = {1, &b}; int s = 0;
    for (struct node *n = &a; n; n = n->next) s += n->v; return s; }",
    );
}

#[test]
fn a_pointer_walks_over_an_array() {
    proved(
        "int main(void) { int a[5] = {1, 2, 3, 4, 5}, s = 0; for (int *p = a; p < a + 5;
    p++) s += *p; return s; }",
    );
}

#[test]
fn a_pointer_walks_over_a_string() {
    proved(
        "int main(void) { char a[6] = \"hello\"; char *p = a; int n = 0; while (*p++) n++;
    return n; }",
    );
}

#[test]
fn a_member_by_a_pointer() {
    proved(
        "struct r { int a, b; };
static int get(struct r *r) { return r->b; }
int main(void) { struct r r = {1, 2}; return get(&r); }",
    );
}

#[test]
fn an_array_in_an_object_of_the_heap() {
    proved(
        "struct r { int a; char t[4]; };
int main(void) { struct r *r = malloc(sizeof *r); r->a = 3; r->t[r->a] = 1; free(r);
    return 0; }",
    );
}

#[test]
fn an_index_that_was_looked_at() {
    proved(
        "int a[10];
int main(void) { unsigned i = __VERIFIER_nondet_uint(); if (i < 10) a[i] = 1;
    return 0; }",
    );
}

#[test]
fn an_array_is_filled() {
    proved("int main(void) { int a[100]; for (int i = 0; i < 100; i++) a[i] = i; return a[99]; }");
}

#[test]
fn a_result_by_a_pointer() {
    proved(
        "static void set(int *out, int v) { *out = v; }
int main(void) { int x; set(&x, 3); return x; }",
    );
}

#[test]
fn two_variables_are_swapped() {
    proved(
        "static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
int main(void) { int x = 1, y = 2; swap(&x, &y); return x; }",
    );
}

#[test]
fn a_pointer_by_a_pointer() {
    proved(
        "static void make(int **out) { *out = malloc(sizeof **out); }
int main(void) { int *p; make(&p); *p = 1; free(p); return 0; }",
    );
}

#[test]
fn a_pointer_that_may_be_null() {
    proved(
        "static int get(int *p) { return p ? *p : 0; }
int main(void) { int x = 1; return get(__VERIFIER_nondet_int() ? &x : 0); }",
    );
}

#[test]
fn a_structure_is_copied() {
    proved(
        "struct r { int a[4]; };
int main(void) { struct r x = {{1}}, y; memcpy(&y, &x, sizeof y); return y.a[0]; }",
    );
}

#[test]
fn bytes_are_set() {
    proved(
        "int main(void) { char *p = malloc(16); memset(p, 0, 16); int r = p[15]; free(p);
    return r; }",
    );
}

#[test]
fn a_ring() {
    proved(
        "struct ring { unsigned at; int slots[8]; };
static void put(struct ring *r, int v) { r->slots[r->at] = v;
    r->at = (r->at + 1) % 8; }
int main(void) { struct ring r = {0}; while (__VERIFIER_nondet_int()) put(&r, 1);
    return 0; }",
    );
}

#[test]
fn a_list_of_two_on_the_heap() {
    proved(
        "struct node { int v; struct node *next; };
int main(void) { struct node *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    a->next = b; b->next = 0; a->next->v = 1; free(a->next); free(a); return 0; }",
    );
}

#[test]
fn a_stack_of_three() {
    proved(
        "struct node { struct node *next; };
int main(void) { struct node *top = 0; for (int i = 0; i < 3; i++) {
    struct node *n = malloc(sizeof *n); n->next = top; top = n; } while (top) {
    struct node *n = top; top = top->next; free(n); } return 0; }",
    );
}

#[test]
fn a_matrix() {
    proved(
        "int main(void) { int m[3][4], s = 0; for (int i = 0; i < 3; i++) for (int j = 0;
    j < 4; j++) m[i][j] = i * j; for (int i = 0; i < 3; i++) s += m[i][3]; return s;
    }",
    );
}

#[test]
fn a_string_is_duplicated() {
    proved(
        "int main(void) { const char *s = \"abc\"; char *d = malloc(strlen(s) + 1);
    strcpy(d, s); int r = d[2]; free(d); return r; }",
    );
}

#[test]
fn a_function_is_called_back() {
    proved(
        "static int twice(int x) { return 2 * x; }
static int map(int *a, int n, int (*f)(int)) { for (int i = 0; i < n;
    i++) a[i] = f(i); return a[0]; }
int main(void) { int a[3]; return map(a, 3, twice); }",
    );
}

#[test]
fn a_table_of_strings() {
    proved(
        "static const char *const names[] = {\"zero\", \"one\", \"two\"};
int main(void) { unsigned i = __VERIFIER_nondet_uint() % 3; return names[i][0]; }",
    );
}

#[test]
fn from_a_member_to_its_structure() {
    proved(
        "struct inner { int x; }; struct outer { int before; struct inner in; };
int main(void) { struct outer o = {1, {2}}; struct inner *i = &o.in;
    struct outer *p = (struct outer *)((char *)i - __builtin_offsetof(struct outer, in));
    return p->before; }",
    );
}

#[test]
fn bytes_of_a_number() {
    proved(
        "union u { int i; unsigned char b[4]; };
int main(void) { union u u; u.i = 1; int s = 0; for (int i = 0; i < 4;
    i++) s += u.b[i]; return s; }",
    );
}

#[test]
fn a_binary_search() {
    proved(
        "int main(void) { int a[16]; for (int i = 0; i < 16; i++) a[i] = 2 * i;
    int key = __VERIFIER_nondet_int(), lo = 0, hi = 16; while (lo < hi) {
    int mid = lo + (hi - lo) / 2; if (a[mid] < key) lo = mid + 1; else hi = mid; }
    return lo; }",
    );
}

#[test]
fn four_numbers_are_sorted() {
    proved(
        "int main(void) { int a[4]; for (int i = 0; i < 4;
    i++) a[i] = __VERIFIER_nondet_int(); for (int i = 0; i < 4; i++) for (int j = 0;
    j + 1 < 4 - i; j++) if (a[j] > a[j + 1]) { int t = a[j]; a[j] = a[j + 1];
    a[j + 1] = t; } return a[0]; }",
    );
}

#[test]
fn an_array_grows() {
    proved(
        "int main(void) { int *p = malloc(4 * sizeof *p); p = realloc(p, 8 * sizeof *p);
    if (!p) return 0; p[7] = 1; free(p); return 0; }",
    );
}

#[test]
fn a_tree() {
    proved(
        "struct t { struct t *l, *r; int v; };
static int sum(struct t *t) { return t ? t->v + sum(t->l) + sum(t->r) : 0; }
int main(void) { struct t a = {0, 0, 1}, b = {0, 0, 2}, c = {&a, &b, 3};
    return sum(&c); }",
    );
}

#[test]
fn a_string_is_reversed() {
    proved(
        "int main(void) { char s[6] = \"hello\"; for (int i = 0, j = 4; i < j; i++, j--) {
    char t = s[i]; s[i] = s[j]; s[j] = t; } return s[0]; }",
    );
}

/// What `realloc` copies is as much as there was, and no more than there is room for.
#[test]
fn an_object_that_grows_and_shrinks() {
    proved(
        "int main(void) {
  int *p = malloc(2 * sizeof *p);
  p[0] = 10; p[1] = 20;
  p = realloc(p, 4 * sizeof *p);
  p[3] = 40;
  p = realloc(p, 8 * sizeof *p);
  p = realloc(p, sizeof *p);
  free(p);
  return 0;
}",
    );
}

#[test]
fn what_an_object_held_is_there_when_it_has_grown() {
    let text = "extern void reach_error(void);
int main(void) {
  int *p = malloc(2 * sizeof *p), *q = malloc(sizeof *q);
  p[0] = 10; p[1] = 20; *q = 5;
  int *r = realloc(p, 4 * sizeof *p);
  if (r[0] != 10 || r[1] != 20 || *q != 5) reach_error();
  if (r[3] == 7) reach_error();
  *p = 1;
  return 0;
}";
    let scene = Scene::file("x.c", format!("{PRELUDE}{text}\n"));
    let value = scene.json("check x.c --check pointer");
    let checks = value["checks"].as_array().expect("checks");
    let answer = |line: u64, message: &str| {
        let here = |check: &&serde_json::Value| {
            check["line"] == line
                && check["message"]
                    .as_str()
                    .is_some_and(|m| m.contains(message))
        };
        checks
            .iter()
            .find(here)
            .map(|check| check["answer"].clone())
    };
    assert_eq!(answer(11, "reach_error"), Some("PROVED".into()));
    // What it did not hold is anything, and where it was is nothing.
    assert_eq!(answer(12, "reach_error"), Some("VIOLATED".into()));
    assert_eq!(answer(13, "invalid access"), Some("VIOLATED".into()));
}
