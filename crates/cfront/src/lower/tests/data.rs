//! Objects: initialisers, lengths that vary, memory.

use super::check;
use expect_test::expect;

/// Globals as data: designators, ranges, strings, addresses, nested literals, flexible members.
#[test]
fn static_data() {
    check(
        r#"
struct p { int x, y; }; struct l { struct l *next; const char *name; struct p at[2]; double d; };
int a[] = { 1, [4] = 5, [2 ... 3] = 9, [4] = 6 }; char s[] = "abc", t[2][4] = { "xy", { 'z' } }, *q = &s[1], *w = "abc" + 1;
struct l first = { .name = "one", .at[1].y = 2 }, second = { &first, 0, { { 1, 2 }, { 3 } }, 1.5 };
struct p *pp = &second.at[1], *lit = &(struct p){ 7, 8 }; int *ip = (int *)&second.at[0].y, (*fn)(void); unsigned long off = (unsigned long)&((struct l *)0)->at;
struct f { int n; short v[]; } fl = { 2, { 3, 4 } }; int main(void); int (*mp)(void) = main; _Bool b = 4; float f = 0.1f; long big = -1; extern int e; int *ep = &e; int tent; int tent;
int main(void) { static int k = sizeof fl + sizeof(s); return fl.v[1] + k + *ep; }
"#,
        expect![[r#"
            struct l { // size 40, align 8
              struct l *next; // at 0
              char *name; // at 8
              struct p at[2]; // at 16
              double d; // at 32
            };
            struct p { // size 8, align 4
              int x; // at 0
              int y; // at 4
            };
            struct f { // size 4, align 4
              int n; // at 0
              short v[]; // at 4
            };
            struct f { // size 8, align 4
              int n; // at 0
              short v[2]; // at 4
            };
            int a[5] = {[0] = 1, [8] = 9, [12] = 9, [16] = 6};
            char s[4] = {[0] = "abc"};
            char t[2][4] = {[0] = "xy", [4] = 122};
            char *q = {[0] = &s[1L]};
            char *w = {[0] = &"abc"[1L]};
            literal char "abc"[4] = {[0] = "abc"};
            struct l first = {[8] = "one", [28] = 2};
            literal char "one"[4] = {[0] = "one"};
            struct l second = {[0] = &first, [16] = 1, [20] = 2, [24] = 3, [32] = 1.5};
            struct p *pp = {[0] = &second.at[1L]};
            struct p *lit = {[0] = &literal#};
            literal struct p literal# = {[0] = 7, [4] = 8};
            int *ip = {[0] = &second.at[0L].y};
            int (*fn)() = {};
            unsigned long off = {[0] = 16UL};
            struct f fl = {[0] = 2, [4] = 3, [6] = 4};
            static int k = {[0] = 8};
            int *ep = {[0] = &e};
            int e = anything;
            int (*mp)() = {[0] = main};
            _Bool b = {[0] = 1};
            float f = {[0] = 0.1f};
            long big = {[0] = -1L};
            int tent = {};

            int main()
              0 -> 1  result# = (int)fl.v[1L] + k + *ep;
              1: exit
        "#]],
    );
}

/// What is not mentioned is zero; big objects are filled as a whole.
#[test]
fn automatic_initialisers() {
    check(
        r#"
struct p { int x; char c[3]; struct { short u, v; } q; };
int main(void) {
  struct p a = { .q.v = 1 }, b[2] = { [1] = { 5, "hi" } }; int big[1000] = { 1, 2 }; char s[4] = "ab", l[300] = "long"; int z[2][2] = { { 1 }, { 2, 3 } };
  int *p = (int[]){ 1, 2 }; struct p c = a; int sc = { 4 };
  return p[1];
}
"#,
        expect![[r#"
            struct p { // size 12, align 4
              int x; // at 0
              char c[3]; // at 4
              struct <anonymous> q; // at 8
            };
            struct <anonymous> { // size 4, align 2
              short u; // at 0
              short v; // at 2
            };

            int main()
              struct p a;
              struct p b[2];
              int big[1000];
              char s[4];
              char l[300];
              int z[2][2];
              int *p;
              int literal#[2];
              struct p c;
              int sc;
              0 -> 1  declare a;
              1 -> 2  a.x = 0;
              2 -> 3  a.c[0L] = 0;
              3 -> 4  a.c[1L] = 0;
              4 -> 5  a.c[2L] = 0;
              5 -> 6  a.q.u = 0;
              6 -> 7  a.q.v = 1;
              7 -> 8  declare b;
              8 -> 9  b[0L].x = 0;
              9 -> 10  b[0L].c[0L] = 0;
              10 -> 11  b[0L].c[1L] = 0;
              11 -> 12  b[0L].c[2L] = 0;
              12 -> 13  b[0L].q.u = 0;
              13 -> 14  b[0L].q.v = 0;
              14 -> 15  b[1L].q.u = 0;
              15 -> 16  b[1L].q.v = 0;
              16 -> 17  b[1L].x = 5;
              17 -> 18  b[1L].c[0L] = 104;
              18 -> 19  b[1L].c[1L] = 105;
              19 -> 20  b[1L].c[2L] = 0;
              20 -> 21  declare big;
              21 -> 22  memset(&big, 0, 4000UL);
              22 -> 23  big[0L] = 1;
              23 -> 24  big[1L] = 2;
              24 -> 25  declare s;
              25 -> 26  s[3L] = 0;
              26 -> 27  s[0L] = 97;
              27 -> 28  s[1L] = 98;
              28 -> 29  s[2L] = 0;
              29 -> 30  declare l;
              30 -> 31  memset(&l, 0, 300UL);
              31 -> 32  l[0L] = 108;
              32 -> 33  l[1L] = 111;
              33 -> 34  l[2L] = 110;
              34 -> 35  l[3L] = 103;
              35 -> 36  l[4L] = 0;
              36 -> 37  declare z;
              37 -> 38  z[0L][1L] = 0;
              38 -> 39  z[0L][0L] = 1;
              39 -> 40  z[1L][0L] = 2;
              40 -> 41  z[1L][1L] = 3;
              41 -> 42  declare literal#;
              42 -> 43  literal#[0L] = 1;
              43 -> 44  literal#[1L] = 2;
              44 -> 45  p = literal#;
              45 -> 46  declare c;
              46 -> 47  c = a;
              47 -> 48  sc = 4;
              48 -> 49  result# = *(p + 1L);
              49: exit
        "#]],
    );
}

/// A hidden pointer; lengths are evaluated once.
#[test]
fn variable_length_arrays() {
    check(
        r#"
int sum(int n, int m, int a[n][m]) { return a[1][2] + (int)sizeof(a[0]); }
int main(void) {
  int n = 3; int a[n][n + 1]; typedef char row[n]; row r; n = 9;
  a[1][n] = 4; r[2] = 1; int (*p)[n] = 0; p++;
  for (int i = 0; i < 2; i++) { int b[n + i]; b[i] = sizeof b; }
  char *s = __builtin_alloca(n);
  return sizeof a + sizeof(row) + sum(n, n + 1, a);
}
"#,
        expect![[r#"
            int sum(int n, int m, int (*a)[])
              int t#1;
              int t#2;
              0 -> 1  t#1 = n;
              1 -> 2  t#2 = m;
              2 -> 3  result# = *((int *)(a + 1L * (long)((unsigned long)t#2 * 4UL) *1) + 2L) + (int)((unsigned long)t#2 * 4UL);
              3: exit

            int main()
              int n;
              int t#1;
              int t#2;
              int (*a#)[][];
              unsigned long t#3;
              int t#4;
              char (*r#)[];
              unsigned long t#5;
              int t#6;
              int (*p)[];
              int i;
              int t#7;
              int (*b#)[];
              unsigned long t#8;
              char *s;
              void *t#9;
              unsigned long t#10;
              int t#11;
              0 -> 1  n = 3;
              1 -> 2  t#1 = n;
              2 -> 3  t#2 = n + 1;
              3 -> 4  t#3 = (unsigned long)t#1 * ((unsigned long)t#2 * 4UL);
              4 -> 5  assume(t#3 > 140737488355327UL);
              4 -> 6  assume(!(t#3 > 140737488355327UL));
              5: halt
              6 -> 7  a# = alloca(t#3);
              7 -> 8  t#4 = n;
              8 -> 9  t#5 = (unsigned long)t#4 * 1UL;
              9 -> 10  assume(t#5 > 140737488355327UL);
              9 -> 11  assume(!(t#5 > 140737488355327UL));
              10: halt
              11 -> 12  r# = alloca(t#5);
              12 -> 13  n = 9;
              13 -> 14  *((int *)((int (*)[])a# + 1L * (long)((unsigned long)t#2 * 4UL) *1) + (long)n) = 4;
              14 -> 15  *((char *)r# + 2L) = 1;
              15 -> 16  t#6 = n;
              16 -> 17  p = NULL;
              17 -> 18  p = p + 1L * (long)((unsigned long)t#6 * 4UL) *1;
              18 -> 19  i = 0;
              19: loop
              19 -> 20  assume(i < 2);
              19 -> 27  assume(!(i < 2));
              20 -> 21  t#7 = n + i;
              21 -> 22  t#8 = (unsigned long)t#7 * 4UL;
              22 -> 23  assume(t#8 > 140737488355327UL);
              22 -> 24  assume(!(t#8 > 140737488355327UL));
              23: halt
              24 -> 25  b# = alloca(t#8);
              25 -> 26  *((int *)b# + (long)i) = (int)((unsigned long)t#7 * 4UL);
              26 -> 19  i = i + 1;
              27 -> 28  t#10 = (unsigned long)n;
              28 -> 29  assume(t#10 > 140737488355327UL);
              28 -> 30  assume(!(t#10 > 140737488355327UL));
              29: halt
              30 -> 31  t#9 = alloca(t#10);
              31 -> 32  s = (char *)t#9;
              32 -> 33  t#11 = sum(n, n + 1, (int (*)[])a#);
              33 -> 34  result# = (int)((unsigned long)t#1 * ((unsigned long)t#2 * 4UL) + (unsigned long)t#4 * 1UL + (unsigned long)t#11);
              34: exit
        "#]],
    );
}

/// `malloc` and its family are operations of their own.
#[test]
fn memory() {
    check(
        r#"
typedef unsigned long size_t; void *malloc(size_t); void *calloc(size_t, size_t); void free(void *); void *memcpy(void *, const void *, size_t); void *memset(void *, int, size_t);
struct n { struct n *next; };
int main(void) {
  struct n *a = malloc(sizeof *a), *b = calloc(3, sizeof(struct n)), *c; size_t k = (size_t)a; c = calloc(k, k);
  a->next = memcpy(b, a, sizeof *a); memset(c, 0, k); __builtin_memcpy(a, b, 8); free(a); free(0);
  return 0;
}
"#,
        expect![[r#"
            struct n { // size 8, align 8
              struct n *next; // at 0
            };

            int main()
              struct n *a;
              void *t#1;
              struct n *b;
              void *t#2;
              struct n *c;
              unsigned long k;
              unsigned long t#3;
              void *t#4;
              0 -> 1  t#1 = malloc(8UL);
              1 -> 2  a = (struct n *)t#1;
              2 -> 3  t#2 = malloc(24UL);
              3 -> 4  memset(t#2, 0, 24UL);
              4 -> 5  b = (struct n *)t#2;
              5 -> 6  k = (unsigned long)a;
              6 -> 7  t#3 = overflows<unsigned long>(k * k) ? 18446744073709551615UL : k * k;
              7 -> 8  assume(t#3 > 140737488355327UL);
              7 -> 19  assume(!(t#3 > 140737488355327UL));
              8 -> 9  t#4 = NULL;
              9 -> 10  assume(t#4);
              9 -> 11  assume(!t#4);
              10 -> 11  memset(t#4, 0, t#3);
              11 -> 12  c = (struct n *)t#4;
              12 -> 13  memmove((void *)b, (void *)a, 8UL);
              13 -> 14  a->next = b;
              14 -> 15  memset((void *)c, 0, k);
              15 -> 16  memmove((void *)a, (void *)b, 8UL);
              16 -> 17  free((void *)a);
              17 -> 18  free(NULL);
              18 -> 20  result# = 0;
              19 -> 9  t#4 = malloc(t#3);
              20: exit
        "#]],
    );
}
