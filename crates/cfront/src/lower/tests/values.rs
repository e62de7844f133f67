//! Values: conversions, increments, records, pointers, floats, builtins.

use super::check;
use expect_test::expect;

/// Promotions, usual arithmetic conversions, assignments to narrower types.
#[test]
fn conversions_are_explicit() {
    check(
        r#"
int main(void) {
  char c = 200; unsigned char uc = -1; short s = c; unsigned u = c; long long ll = u; _Bool b = ll;
  float f = 1; double d = f; long double ld = d;
  u = c + uc; ll = u * s; b = d; c = b; f = ll / 3; u = f; s <<= 2; uc += 1.5; b++; b--;
  ll = u < c; u = 1 ? -1 : u;
  return (int)d;
}
"#,
        expect![[r#"
            int main()
              char c;
              unsigned char uc;
              short s;
              unsigned int u;
              long ll;
              _Bool b;
              float f;
              double d;
              long double ld;
              0 -> 1  c = -56;
              1 -> 2  uc = 255U;
              2 -> 3  s = (short)c;
              3 -> 4  u = (unsigned int)c;
              4 -> 5  ll = (long)u;
              5 -> 6  b = (_Bool)ll;
              6 -> 7  f = (float)1;
              7 -> 8  d = (double)f;
              8 -> 9  ld = (long double)d;
              9 -> 10  u = (unsigned int)((int)c + (int)uc);
              10 -> 11  ll = (long)(u * (unsigned int)s);
              11 -> 12  b = (_Bool)d;
              12 -> 13  c = (char)b;
              13 -> 14  f = (float)(ll / 3L);
              14 -> 15  u = (unsigned int)f;
              15 -> 16  s = (short)((int)s << 2);
              16 -> 17  uc = (unsigned char)((double)uc + 1.5);
              17 -> 18  b = (_Bool)((int)b + 1);
              18 -> 19  b = (_Bool)((int)b - 1);
              19 -> 20  ll = (long)(u < (unsigned int)c);
              20 -> 21  u = 4294967295U;
              21 -> 22  result# = (int)d;
              22: exit
        "#]],
    );
}

/// Pre and post increments of variables, elements, members, pointers, bit-fields.
#[test]
fn increments() {
    check(
        r#"
struct s { unsigned f : 3; int n; } v, *p = &v;
int main(void) {
  int i = 0, a[4]; char c = 0; int *q = a;
  i = ++c; i = c++; i = a[i++]; i = p->f++; i = --p->f; i = *q++; i = (*q)++; p->n--; a[a[0]] = a[1] = 5;
  return i;
}
"#,
        expect![[r#"
            struct s { // size 8, align 4
              unsigned int f : 3; // bit 0
              int n; // at 4
            };
            struct s v = {};
            struct s *p = {[0] = &v};

            int main()
              int i;
              int a[4];
              char c;
              int *q;
              char t#1;
              int t#2;
              unsigned int t#3;
              struct s *t#4;
              int *t#5;
              int t#6;
              long t#7;
              0 -> 1  i = 0;
              1 -> 2  declare a;
              2 -> 3  c = 0;
              3 -> 4  q = a;
              4 -> 5  c = (char)((int)c + 1);
              5 -> 6  i = (int)c;
              6 -> 7  t#1 = c;
              7 -> 8  c = (char)((int)t#1 + 1);
              8 -> 9  i = (int)t#1;
              9 -> 10  t#2 = i;
              10 -> 11  i = t#2 + 1;
              11 -> 12  i = a[(long)t#2];
              12 -> 13  t#3 = p->f;
              13 -> 14  p->f = t#3 + 1U;
              14 -> 15  i = (int)t#3;
              15 -> 16  t#4 = p;
              16 -> 17  t#4->f = p->f - 1U;
              17 -> 18  i = (int)t#4->f;
              18 -> 19  t#5 = q;
              19 -> 20  q = t#5 + 1L;
              20 -> 21  i = *t#5;
              21 -> 22  t#6 = *q;
              22 -> 23  *q = t#6 + 1;
              23 -> 24  i = t#6;
              24 -> 25  p->n = p->n - 1;
              25 -> 26  t#7 = (long)a[0L];
              26 -> 27  a[1L] = 5;
              27 -> 28  a[t#7] = a[1L];
              28 -> 29  result# = i;
              29: exit
        "#]],
    );
}

/// Copies, members of returned records, nested and anonymous members, arrays of records.
#[test]
fn records() {
    check(
        r#"
struct in { int a, b; }; struct out { struct in i; union { int u; float f; }; struct in v[2]; };
struct in make(int a) { struct in r = { a }; return r; }
int take(struct in x) { return x.a; }
int main(void) {
  struct out o = { { 1 }, .u = 3, .v[1].b = 4 }, *p = &o, c;
  c = o; p->v[0] = p->i; p->f = 1; c.i = make(2); c.u = make(3).b; c.i = c.u ? o.i : make(4);
  take(o.i); take(make(5)); (c = o).u; 
  return (&o.v[1])->a + p->u + (p + 1)->v[c.u].a;
}
"#,
        expect![[r#"
            struct in { // size 8, align 4
              int a; // at 0
              int b; // at 4
            };
            struct out { // size 28, align 4
              struct in i; // at 0
              union <anonymous>; // at 8
              struct in v[2]; // at 12
            };
            union <anonymous> { // size 4, align 4
              int u; // at 0
              float f; // at 0
            };

            struct in make(int a)
              struct in r;
              0 -> 1  declare r;
              1 -> 2  r.b = 0;
              2 -> 3  r.a = a;
              3 -> 4  result# = r;
              4: exit

            int take(struct in x)
              0 -> 1  result# = x.a;
              1: exit

            int main()
              struct out o;
              struct out *p;
              struct out c;
              struct in t#1;
              struct in t#2;
              struct in t#3;
              0 -> 1  declare o;
              1 -> 2  o.i.b = 0;
              2 -> 3  o.v[0L].a = 0;
              3 -> 4  o.v[0L].b = 0;
              4 -> 5  o.v[1L].a = 0;
              5 -> 6  o.i.a = 1;
              6 -> 7  o.<1>.u = 3;
              7 -> 8  o.v[1L].b = 4;
              8 -> 9  p = &o;
              9 -> 10  declare c;
              10 -> 11  c = o;
              11 -> 12  p->v[0L] = p->i;
              12 -> 13  p-><1>.f = (float)1;
              13 -> 14  c.i = make(2);
              14 -> 15  t#1 = make(3);
              15 -> 16  c.<1>.u = t#1.b;
              16 -> 17  assume(c.<1>.u);
              16 -> 26  assume(!c.<1>.u);
              17 -> 18  t#2 = o.i;
              18 -> 19  c.i = t#2;
              19 -> 20  take(o.i);
              20 -> 21  t#3 = make(5);
              21 -> 22  take(t#3);
              22 -> 23  c = o;
              23 -> 24  assume((unsigned long)(long)c.<1>.u < 2UL);
              23 -> 25  assume(!((unsigned long)(long)c.<1>.u < 2UL));
              24 -> 27  result# = o.v[1L].a + p-><1>.u + (p + 1L)->v[(long)c.<1>.u].a;
              25 -> 24  unsupported: an index outside of an array that is a part of an object;
              26 -> 18  t#2 = make(4);
              27: exit
        "#]],
    );
}

/// Reads extend by the type's sign, writes cut.
#[test]
fn bit_fields() {
    check(
        r#"
struct b { signed int s : 3; unsigned u : 5; _Bool f : 1; long l : 40; int : 0; unsigned char c : 2; } x = { -1, 31, 1, -2, 3 };
int main(void) { struct b y = { .u = 9, .c = 1 }; y.s = x.s + 1; y.u += x.l; y.f = y.u; y.s++; return y.l << 3 | y.c; }
"#,
        expect![[r#"
            struct b { // size 16, align 8
              int s : 3; // bit 0
              unsigned int u : 5; // bit 3
              _Bool f : 1; // bit 8
              long l : 40; // bit 9
              unsigned char c : 2; // bit 64
            };
            struct b x = {[0] = -1 : 3, [0.3] = 31U : 5, [1] = 1 : 1, [1.1] = -2L : 40, [8] = 3U : 2};

            int main()
              struct b y;
              0 -> 1  declare y;
              1 -> 2  y.s = 0;
              2 -> 3  y.f = 0;
              3 -> 4  y.l = 0L;
              4 -> 5  y.u = 9U;
              5 -> 6  y.c = 1U;
              6 -> 7  y.s = x.s + 1;
              7 -> 8  y.u = (unsigned int)((long)y.u + x.l);
              8 -> 9  y.f = (_Bool)y.u;
              9 -> 10  y.s = y.s + 1;
              10 -> 11  result# = (int)((_BitInt(40))y.l << 3 | (_BitInt(40))(int)y.c);
              11: exit
        "#]],
    );
}

/// Indices stay indices where the array is known; pointers move by elements.
#[test]
fn arrays_and_pointers() {
    check(
        r#"
int m[3][4]; struct s { int a[5]; } v, *q = &v; extern int x[];
int main(void) {
  int i = 1, j = 2, *p = m[1], (*r)[4] = m; char *c = (char *)p; long d;
  m[i][j] = 1; p[i] = 2; 2[p] = 3; *p = 4; *(p + i) = 5; *(m[0] + 1) = 6; r[i][j] = 7; (*r)[2] = 8; q->a[i] = 9; x[i] = 10;
  p = &m[i][0]; p += 2; p -= i; d = p - m[0]; i = p < c; c = 0; i = c == 0; i = !c; p = &p[-1]; r++; d = &r[1] - &m[0];
  return *&i + (&v)->a[0] + *"abc";
}
"#,
        expect![[r#"
            struct s { // size 20, align 4
              int a[5]; // at 0
            };
            int m[3][4] = {};
            struct s v = {};
            struct s *q = {[0] = &v};
            int x[] = anything;
            literal char "abc"[4] = {[0] = "abc"};

            int main()
              int i;
              int j;
              int *p;
              int (*r)[4];
              char *c;
              long d;
              0 -> 1  declare i;
              1 -> 2  i = 1;
              2 -> 3  j = 2;
              3 -> 4  p = m[1L];
              4 -> 5  r = m;
              5 -> 6  c = (char *)p;
              6 -> 7  assume((unsigned long)(long)j < 4UL);
              6 -> 33  assume(!((unsigned long)(long)j < 4UL));
              7 -> 8  m[(long)i][(long)j] = 1;
              8 -> 9  *(p + (long)i) = 2;
              9 -> 10  *(p + 2L) = 3;
              10 -> 11  *p = 4;
              11 -> 12  *(p + (long)i) = 5;
              12 -> 13  m[0L][1L] = 6;
              13 -> 14  assume((unsigned long)(long)j < 4UL);
              13 -> 32  assume(!((unsigned long)(long)j < 4UL));
              14 -> 15  (*(r + (long)i))[(long)j] = 7;
              15 -> 16  (*r)[2L] = 8;
              16 -> 17  assume((unsigned long)(long)i < 5UL);
              16 -> 31  assume(!((unsigned long)(long)i < 5UL));
              17 -> 18  q->a[(long)i] = 9;
              18 -> 19  x[(long)i] = 10;
              19 -> 20  p = &m[(long)i][0L];
              20 -> 21  p = p + 2L;
              21 -> 22  p = p + -(long)i;
              22 -> 23  d = p - m[0L];
              23 -> 24  i = p < (int *)c;
              24 -> 25  c = NULL;
              25 -> 26  i = c == NULL;
              26 -> 27  i = !c;
              27 -> 28  p = p + -1L;
              28 -> 29  r = r + 1L;
              29 -> 30  d = r + 1L - &m[0L];
              30 -> 34  result# = i + v.a[0L] + (int)"abc"[0L];
              31 -> 17  unsupported: an index outside of an array that is a part of an object;
              32 -> 14  unsupported: an index outside of an array that is a part of an object;
              33 -> 7  unsupported: an index outside of an array that is a part of an object;
              34: exit
        "#]],
    );
}

/// Constants are exact bits; tests and sign operations are operators.
#[test]
fn floating_point() {
    check(
        r#"
double sqrt(double); double fmod(double, double); float floorf(float); double fabs(double);
int main(void) {
  float f = 0.1f; double d = 0.1; long double l = 1.0L; d = -f * 2 + sqrt(d) + fmod(d, 3) + fabs(d); f = floorf(f); f++;
  return __builtin_isnan(d) + __builtin_isinf(f) + (d < 1.5) + !d + (d ? 1 : 2) + __builtin_signbit(d) + (int)1e3;
}
"#,
        expect![[r#"
            int main()
              float f;
              double d;
              long double l;
              0 -> 1  f = 0.1f;
              1 -> 2  d = 0.1;
              2 -> 3  l = x87:0x3fff8000000000000000;
              3 -> 4  d = (double)(-f * (float)2) + sqrt(d) + fmod(d, (double)3) + fabs(d);
              4 -> 5  f = floor(f);
              5 -> 6  f = f + 1.0f;
              6 -> 7  result# = isnan(d) + isinf(f) + (d < 1.5) + !d + (d ? 1 : 2) + signbit(d) + (int)1000.0;
              7: exit
        "#]],
    );
}

/// Bit counts, byte swaps, overflow tests, object sizes, atomics.
#[test]
fn builtins() {
    check(
        r#"
int main(void) {
  unsigned u = 5; int i = 3, r; long l; unsigned char c;
  i = __builtin_clz(u) + __builtin_ctzl(l) + __builtin_popcountll(7) + __builtin_ffs(i) + __builtin_parity(u) + __builtin_clrsb(i);
  u = __builtin_bswap32(u); i = __builtin_add_overflow(i, l, &r) + __builtin_mul_overflow_p(i, 2, c) + __builtin_constant_p(i);
  l = __builtin_object_size(&i, 0) + __builtin_offsetof(struct { int a, b; }, b);
  i = __atomic_fetch_add(&i, 2, 5) + __sync_bool_compare_and_swap(&u, 1, 2); __sync_synchronize(); __builtin_prefetch(&i);
  if (__builtin_expect(!!i, 1)) __builtin_trap();
  i = abs(i) + __builtin_choose_expr(1, 2, 3) + __builtin_types_compatible_p(int, long);
  __builtin_unreachable();
}
"#,
        expect![[r#"
            int main()
              unsigned int u;
              int i;
              int r;
              long l;
              unsigned char c;
              int t#1;
              int t#2;
              unsigned int t#3;
              int t#4;
              0 -> 1  declare u;
              1 -> 2  u = 5U;
              2 -> 3  declare i;
              3 -> 4  i = 3;
              4 -> 5  declare r;
              5 -> 6  i = (int)leading_zeros(u) + (int)trailing_zeros((unsigned long)l) + 3 + (i ? trailing_zeros(i) + 1 : 0) + (int)(popcount(u) & 1U) + (leading_zeros(i ^ i >> 31) - 1);
              6 -> 7  u = bswap(u);
              7 -> 8  t#1 = overflows<int>(i + l);
              8 -> 9  r = (int)((unsigned int)i + (unsigned int)l);
              9 -> 10  i = (int)(_Bool)t#1 + (int)(_Bool)overflows<unsigned char>(i * 2) + 0;
              10 -> 11  l = 8L;
              11 -> 12  t#2 = i;
              12 -> 13  i = (int)((unsigned int)t#2 + 2U);
              13 -> 14  t#3 = u;
              14 -> 15  t#4 = t#3 == 1U;
              15 -> 16  assume(t#4);
              15 -> 17  assume(!t#4);
              16 -> 17  u = 2U;
              17 -> 18  i = t#2 + (int)(_Bool)t#4;
              18 -> 19  assume(i);
              18 -> 20  assume(!i);
              19: halt
              20 -> 21  i = (i < 0 ? -i : i) + 2 + 0;
              21: halt
              22: exit
        "#]],
    );
}
