//! C text in, the dump out: one test per construct.

use crate::builder::Builder;
use crate::options::{LowerOptions, Undefined};
use crate::parse::{Input, InputKind, NoFiles, ParseOptions, Preprocess, Texts, parse_unit};
use crate::program::{CheckKind, Origin, Program};
use crate::types::{DataModel, Types};
use expect_test::{Expect, expect};
use hardbop_diagnostics::{Style, render};

/// Parses and lowers some units; the messages come with it.
pub(crate) fn lower_texts(
    texts: &[&str],
    model: DataModel,
    options: &LowerOptions,
) -> (Option<Program>, String) {
    let mut read = Texts::new();
    let mut units = Vec::new();
    let mut said = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        let input = Input {
            name: format!("{}.c", char::from(b'a' + i as u8)),
            bytes: text.as_bytes().to_vec(),
            kind: InputKind::Preprocessed,
            preprocess: Preprocess::default(),
        };
        let (unit, diagnostics) =
            parse_unit(&input, &ParseOptions::new(model), &NoFiles, &mut read);
        said.extend(diagnostics);
        units.extend(unit);
    }
    let mut builder = Builder::new(Types::new(model), options.clone());
    for unit in &units {
        super::announce_unit(&mut builder, unit);
    }
    for unit in &units {
        said.extend(super::lower_unit(&mut builder, unit, Origin::User));
    }
    let (program, diagnostics) = builder.finish(read.sources.clone(), read.presumed_files.clone());
    said.extend(diagnostics);
    let said = said
        .iter()
        .map(|d| render(d, &read.sources, Style::Plain))
        .collect();
    (program, said)
}

/// Lowers a program and compares its dump, after whatever is said about it.
fn check(text: &str, expect: Expect) {
    check_with(text, &LowerOptions::default(), expect);
}

fn check_with(text: &str, options: &LowerOptions, expect: Expect) {
    let (program, said) = lower_texts(&[text], DataModel::Lp64, options);
    if let Some(program) = &program {
        assert_eq!(crate::verify::verify(program), Vec::<String>::new());
    }
    let dump = program.as_ref().map_or(String::new(), crate::dump::dump);
    expect.assert_eq(&format!("{said}{dump}"));
}

/// A loop, a call in an expression, a short-circuit condition that leaves the loop.
#[test]
fn loops_calls_and_conditions() {
    check(
        r#"
int g;
int f(int x) { return x + 1; }
int main(void) {
  int i, s = 0;
  for (i = 0; i < 10; i++) { s += f(i); if (s > 3 && i != 2) break; }
  g = s;
}
"#,
        expect![[r#"
            int g = {};

            int f(int x)
              0 -> 1  result# = x + 1;
              1: exit

            int main()
              int i;
              int s;
              int t#1;
              0 -> 1  s = 0;
              1 -> 2  i = 0;
              2: loop
              2 -> 3  assume(i < 10);
              2 -> 7  assume(!(i < 10));
              3 -> 4  t#1 = f(i);
              4 -> 5  s = s + t#1;
              5 -> 6  assume(s > 3);
              5 -> 9  assume(!(s > 3));
              6 -> 7  assume(i != 2);
              6 -> 9  assume(!(i != 2));
              7 -> 8  g = s;
              8 -> 10  result# = 0;
              9 -> 2  i = i + 1;
              10: exit
        "#]],
    );
}

/// `continue` in a `do` loop goes to the test, in a `while` loop to the head.
#[test]
fn while_do_and_continue() {
    check(
        r#"
int main(void) {
  int i = 0;
  do { if (i == 3) continue; i += 2; } while (i < 9);
  while (i) { if (i == 4) continue; i--; }
  for (;;) { if (i++) return i; }
}
"#,
        expect![[r#"
            int main()
              int i;
              int t#1;
              0 -> 1  i = 0;
              1: loop
              1 -> 2  assume(i == 3);
              1 -> 10  assume(!(i == 3));
              2 -> 1  assume(i < 9);
              2 -> 3  assume(!(i < 9));
              3: loop
              3 -> 4  assume(i);
              3 -> 6  assume(!i);
              4 -> 3  assume(i == 4);
              4 -> 5  assume(!(i == 4));
              5 -> 3  i = i - 1;
              6: loop
              6 -> 7  t#1 = i;
              7 -> 8  i = t#1 + 1;
              8 -> 9  assume(t#1);
              8 -> 6  assume(!t#1);
              9 -> 11  result# = i;
              10 -> 2  i = i + 2;
              11: exit
        "#]],
    );
}

/// An operand is kept in a temporary only where something later can change it.
#[test]
fn evaluation_is_from_left_to_right() {
    check(
        r#"
int g; int h(void) { return ++g; }
int main(void) {
  int a = 1, b = 2, *p = &b, x[3];
  a = a + h();
  a = g + h();
  a = *p + h();
  a = b + (*p = 3);
  a = a + b++;
  x[a] = h();
  x[g] = h();
  g = x[b] + (b += 2);
  return h() - h();
}
"#,
        expect![[r#"
            int g = {};

            int h()
              0 -> 1  g = g + 1;
              1 -> 2  result# = g;
              2: exit

            int main()
              int a;
              int b;
              int *p;
              int x[3];
              int t#1;
              int t#2;
              int t#3;
              int t#4;
              int t#5;
              int t#6;
              int t#7;
              int t#8;
              long t#9;
              int t#10;
              int t#11;
              int t#12;
              int t#13;
              0 -> 1  a = 1;
              1 -> 2  declare b;
              2 -> 3  b = 2;
              3 -> 4  p = &b;
              4 -> 5  declare x;
              5 -> 6  t#1 = h();
              6 -> 7  a = a + t#1;
              7 -> 8  t#2 = g;
              8 -> 9  t#3 = h();
              9 -> 10  a = t#2 + t#3;
              10 -> 11  t#4 = *p;
              11 -> 12  t#5 = h();
              12 -> 13  a = t#4 + t#5;
              13 -> 14  t#6 = b;
              14 -> 15  *p = 3;
              15 -> 16  a = t#6 + 3;
              16 -> 17  t#7 = b;
              17 -> 18  b = t#7 + 1;
              18 -> 19  a = a + t#7;
              19 -> 20  t#8 = h();
              20 -> 21  x[(long)a] = t#8;
              21 -> 22  t#9 = (long)g;
              22 -> 23  t#10 = h();
              23 -> 24  x[t#9] = t#10;
              24 -> 25  t#11 = x[(long)b];
              25 -> 26  b = b + 2;
              26 -> 27  g = t#11 + b;
              27 -> 28  t#12 = h();
              28 -> 29  t#13 = h();
              29 -> 30  result# = t#12 - t#13;
              30: exit
        "#]],
    );
}

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

/// Pure operands stay expressions; what may trap or has effects becomes control flow.
#[test]
fn logic_in_values() {
    check(
        r#"
int f(void);
int main(void) {
  int a = 1, b = 0, *p = 0, x;
  x = a && b; x = a || !b; x = !a == b; x = p && *p; x = a ? b : 3; x = p ? *p : 0; x = a && f(); x = a ?: b; x = f() ?: 2;
  if (!(a || b) && (p ? *p : 1)) x = 0;
  if ((a, b)) x = 1;
  a ? f() : (void)0;
  a && f();
  return x / (a ? 2 : b);
}
"#,
        expect![[r#"
            warning: function `f` is not defined
             --> a.c:5:94
              |
            5 | ... p && *p; x = a ? b : 3; x = p ? *p : 0; x = a && f(); x = a ?: b; x = f() ?: 2;
              |                                                      ^^^ it is taken to return anything
            int main()
              int a;
              int b;
              int *p;
              int x;
              int t#1;
              int t#2;
              int t#3;
              int t#4;
              int t#5;
              int t#6;
              int t#7;
              0 -> 1  a = 1;
              1 -> 2  b = 0;
              2 -> 3  p = NULL;
              3 -> 4  x = a && b;
              4 -> 5  x = a || !b;
              5 -> 6  x = !a == b;
              6 -> 7  assume(p);
              6 -> 39  assume(!p);
              7 -> 8  assume(*p);
              7 -> 39  assume(!*p);
              8 -> 9  t#1 = 1;
              9 -> 10  x = t#1;
              10 -> 11  x = a ? b : 3;
              11 -> 12  assume(p);
              11 -> 38  assume(!p);
              12 -> 13  t#2 = *p;
              13 -> 14  x = t#2;
              14 -> 15  assume(a);
              14 -> 37  assume(!a);
              15 -> 16  t#4 = f();
              16 -> 17  assume(t#4);
              16 -> 37  assume(!t#4);
              17 -> 18  t#3 = 1;
              18 -> 19  x = t#3;
              19 -> 20  x = a ? a : b;
              20 -> 21  t#5 = f();
              21 -> 22  assume(t#5);
              21 -> 36  assume(!t#5);
              22 -> 23  t#6 = t#5;
              23 -> 24  x = t#6;
              24 -> 25  assume(a);
              24 -> 32  assume(!a);
              25 -> 26  assume(b);
              25 -> 27  assume(!b);
              26 -> 27  x = 1;
              27 -> 28  assume(a);
              27 -> 29  assume(!a);
              28 -> 29  f();
              29 -> 30  assume(a);
              29 -> 31  assume(!a);
              30 -> 31  t#7 = f();
              31 -> 40  result# = x / (a ? 2 : b);
              32 -> 25  assume(b);
              32 -> 33  assume(!b);
              33 -> 34  assume(p);
              33 -> 35  assume(!p);
              34 -> 35  assume(*p);
              34 -> 25  assume(!*p);
              35 -> 25  x = 0;
              36 -> 23  t#6 = 2;
              37 -> 18  t#3 = 0;
              38 -> 13  t#2 = 0;
              39 -> 9  t#1 = 0;
              40: exit

            int f() // undefined
              0 -> 1  result# = anything;
              1: exit
        "#]],
    );
}

/// Cases that share a statement, fall through, ranges, default in the middle, no default.
#[test]
fn switches() {
    check(
        r#"
int main(void) {
  int x = 0, y = 0; unsigned char c = 3; long l = -1;
  switch (x) { case 1: case 2: y = 1; break; default: y = 2; case -3: y = 3; break; case 10 ... 12: y = 4; }
  switch (c) { case 7: return 1; }
  switch (l + y) { case 0x100000000: y = 5; break; case -5 ... -2: y = 6; }
  switch (x++) { int z; case 1: z = 3; y = z; }
  switch (y) { }
  switch (3) { case 3: y = 1; break; case 4: y = 2; }
  return y;
}
"#,
        expect![[r#"
            int main()
              int x;
              int y;
              unsigned char c;
              long l;
              int t#1;
              int z;
              0 -> 1  x = 0;
              1 -> 2  y = 0;
              2 -> 3  c = 3U;
              3 -> 4  l = -1L;
              4 -> 5  assume(x == 1 || x == 2);
              4 -> 19  assume(x == -3);
              4 -> 20  assume((unsigned int)x - 10U <= 2U);
              4 -> 21  assume(!(x == 1 || x == 2 || (x == -3 || (unsigned int)x - 10U <= 2U)));
              5 -> 6  y = 1;
              6 -> 7  assume((int)c == 7);
              6 -> 8  assume(!((int)c == 7));
              7 -> 22  result# = 1;
              8 -> 9  assume(l + (long)y == 4294967296L);
              8 -> 18  assume((unsigned long)(l + (long)y) - 18446744073709551611UL <= 3UL);
              8 -> 10  assume(!(l + (long)y == 4294967296L || (unsigned long)(l + (long)y) - 18446744073709551611UL <= 3UL));
              9 -> 10  y = 5;
              10 -> 11  t#1 = x;
              11 -> 12  x = t#1 + 1;
              12 -> 13  assume(t#1 == 1);
              12 -> 16  assume(!(t#1 == 1));
              13 -> 14  declare z;
              14 -> 15  z = 3;
              15 -> 16  y = z;
              16 -> 17  y = 1;
              17 -> 22  result# = y;
              18 -> 10  y = 6;
              19 -> 6  y = 3;
              20 -> 6  y = 4;
              21 -> 19  y = 2;
              22: exit
        "#]],
    );
}

/// Jumps out of blocks end the lives of what pointers may point to; jumps into blocks begin them.
#[test]
fn gotos_and_scopes() {
    check(
        r#"
void use(int *);
int main(void) {
  int n = 0;
again:
  { int x; use(&x); if (x) goto out; { int y = 1; use(&y); if (y) goto again; } }
  if (n) goto inside;
  while (n < 3) { int z = n; use(&z); if (z) break; int w; inside: w = 1; use(&w); n++; }
out:
  return n;
}
"#,
        expect![[r#"
            warning: function `use` is not defined
             --> a.c:6:12
              |
            6 |   { int x; use(&x); if (x) goto out; { int y = 1; use(&y); if (y) goto again; } }
              |            ^^^^^^^ it is taken to return anything
            int main()
              int n;
              int x;
              int y;
              int z;
              int w;
              0 -> 1  n = 0;
              1: label again, loop
              1 -> 2  declare x;
              2 -> 3  use(&x);
              3 -> 4  assume(x);
              3 -> 6  assume(!x);
              4 -> 5  end x;
              5: label out
              5 -> 28  result# = n;
              6 -> 7  declare y;
              7 -> 8  y = 1;
              8 -> 9  use(&y);
              9 -> 10  assume(y);
              9 -> 12  assume(!y);
              10 -> 11  end y;
              11 -> 1  end x;
              12 -> 13  end y;
              13 -> 14  end x;
              14 -> 15  assume(n);
              14 -> 21  assume(!n);
              15 -> 16  declare z;
              16 -> 17  declare w;
              17: label inside
              17 -> 18  w = 1;
              18 -> 19  use(&w);
              19 -> 20  n = n + 1;
              20 -> 21  end z, w;
              21: loop
              21 -> 22  assume(n < 3);
              21 -> 5  assume(!(n < 3));
              22 -> 23  declare z;
              23 -> 24  z = n;
              24 -> 25  use(&z);
              25 -> 26  assume(z);
              25 -> 27  assume(!z);
              26 -> 5  end z;
              27 -> 17  declare w;
              28: exit

            void use(int *p#) // undefined
              0 -> 1  skip;
              1: exit
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
              16 -> 24  assume(!c.<1>.u);
              17 -> 18  t#2 = o.i;
              18 -> 19  c.i = t#2;
              19 -> 20  take(o.i);
              20 -> 21  t#3 = make(5);
              21 -> 22  take(t#3);
              22 -> 23  c = o;
              23 -> 25  result# = o.v[1L].a + p-><1>.u + (p + 1L)->v[(long)c.<1>.u].a;
              24 -> 18  t#2 = make(4);
              25: exit
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
              6 -> 7  m[(long)i][(long)j] = 1;
              7 -> 8  *(p + (long)i) = 2;
              8 -> 9  *(p + 2L) = 3;
              9 -> 10  *p = 4;
              10 -> 11  *(p + (long)i) = 5;
              11 -> 12  m[0L][1L] = 6;
              12 -> 13  (*(r + (long)i))[(long)j] = 7;
              13 -> 14  (*r)[2L] = 8;
              14 -> 15  q->a[(long)i] = 9;
              15 -> 16  x[(long)i] = 10;
              16 -> 17  p = &m[(long)i][0L];
              17 -> 18  p = p + 2L;
              18 -> 19  p = p + -(long)i;
              19 -> 20  d = p - m[0L];
              20 -> 21  i = p < (int *)c;
              21 -> 22  c = NULL;
              22 -> 23  i = c == NULL;
              23 -> 24  i = !c;
              24 -> 25  p = p + -1L;
              25 -> 26  r = r + 1L;
              26 -> 27  d = r + 1L - &m[0L];
              27 -> 28  result# = i + v.a[0L] + (int)"abc"[0L];
              28: exit
        "#]],
    );
}

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

/// `({ ... })` as a value, with jumps, nested, of a record.
#[test]
fn statement_expressions() {
    check(
        r#"
struct s { int a; };
int main(void) {
  int x = ({ int t = 3; t + 1; }) + ({ 2; });
  struct s r = ({ struct s q = { x }; q; });
  x = ({ if (x) goto end; 5; });
  ({ x++; });
  return ({ r; }).a;
end:
  return x;
}
"#,
        expect![[r#"
            struct s { // size 4, align 4
              int a; // at 0
            };

            int main()
              int x;
              int t#1;
              int t;
              int t#2;
              struct s r;
              struct s t#3;
              struct s q;
              int t#4;
              struct s t#5;
              0 -> 1  t = 3;
              1 -> 2  t#1 = t + 1;
              2 -> 3  t#2 = 2;
              3 -> 4  x = t#1 + t#2;
              4 -> 5  declare r;
              5 -> 6  declare q;
              6 -> 7  q.a = x;
              7 -> 8  t#3 = q;
              8 -> 9  r = t#3;
              9 -> 10  assume(x);
              9 -> 11  assume(!x);
              10: label end
              10 -> 16  result# = x;
              11 -> 12  t#4 = 5;
              12 -> 13  x = t#4;
              13 -> 14  x = x + 1;
              14 -> 15  t#5 = r;
              15 -> 16  result# = t#5.a;
              16: exit
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
              void *overflow_arg_area; // at 8
              void *reg_save_area; // at 16
            };

            int sum(int n, ...)
              struct __va_list_tag ap[1];
              struct __va_list_tag cp[1];
              int s;
              int t#1;
              int t#2;
              int t#3;
              int t#4;
              double t#5;
              0 -> 1  declare ap;
              1 -> 2  declare cp;
              2 -> 3  s = 0;
              3 -> 4  va_start(ap[0L]);
              4 -> 5  va_copy(cp[0L], ap[0L]);
              5: loop
              5 -> 6  t#1 = n;
              6 -> 7  n = t#1 - 1;
              7 -> 8  assume(t#1);
              7 -> 11  assume(!t#1);
              8 -> 9  t#2 = s;
              9 -> 10  t#3 = va_arg(ap[0L], int);
              10 -> 5  s = t#2 + t#3;
              11 -> 12  t#4 = s;
              12 -> 13  t#5 = va_arg(cp[0L], double);
              13 -> 14  result# = t#4 + (int)t#5;
              14: exit

            int vsum(struct __va_list_tag *ap)
              int *t#1;
              0 -> 1  t#1 = va_arg(*ap, int *);
              1 -> 2  result# = *t#1;
              2: exit

            int main()
              char c;
              float f;
              0 -> 1  c = 1;
              1 -> 2  f = (float)2;
              2 -> 3  result# = sum(2, (int)c, (double)f);
              3: exit
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
              int t#3;
              char (*r#)[];
              int t#4;
              int (*p)[];
              int i;
              int t#5;
              int (*b#)[];
              char *s;
              void *t#6;
              int t#7;
              0 -> 1  n = 3;
              1 -> 2  t#1 = n;
              2 -> 3  t#2 = n + 1;
              3 -> 4  a# = alloca((unsigned long)t#1 * ((unsigned long)t#2 * 4UL));
              4 -> 5  t#3 = n;
              5 -> 6  r# = alloca((unsigned long)t#3 * 1UL);
              6 -> 7  n = 9;
              7 -> 8  *((int *)((int (*)[])a# + 1L * (long)((unsigned long)t#2 * 4UL) *1) + (long)n) = 4;
              8 -> 9  *((char *)r# + 2L) = 1;
              9 -> 10  t#4 = n;
              10 -> 11  p = NULL;
              11 -> 12  p = p + 1L * (long)((unsigned long)t#4 * 4UL) *1;
              12 -> 13  i = 0;
              13: loop
              13 -> 14  assume(i < 2);
              13 -> 18  assume(!(i < 2));
              14 -> 15  t#5 = n + i;
              15 -> 16  b# = alloca((unsigned long)t#5 * 4UL);
              16 -> 17  *((int *)b# + (long)i) = (int)((unsigned long)t#5 * 4UL);
              17 -> 13  i = i + 1;
              18 -> 19  t#6 = alloca((unsigned long)n);
              19 -> 20  s = (char *)t#6;
              20 -> 21  t#7 = sum(n, n + 1, (int (*)[])a#);
              21 -> 22  result# = (int)((unsigned long)t#1 * ((unsigned long)t#2 * 4UL) + (unsigned long)t#3 * 1UL + (unsigned long)t#7);
              22: exit
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
              6 -> 7  t#3 = k * k;
              7 -> 8  assume(overflows<unsigned long>(k * k));
              7 -> 17  assume(!overflows<unsigned long>(k * k));
              8 -> 9  t#4 = NULL;
              9 -> 10  c = (struct n *)t#4;
              10 -> 11  memmove((void *)b, (void *)a, 8UL);
              11 -> 12  a->next = b;
              12 -> 13  memset((void *)c, 0, k);
              13 -> 14  memmove((void *)a, (void *)b, 8UL);
              14 -> 15  free((void *)a);
              15 -> 16  free(NULL);
              16 -> 19  result# = 0;
              17 -> 18  t#4 = malloc(t#3);
              18 -> 9  memset(t#4, 0, t#3);
              19: exit
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
            int jump(int x)
              void *t[2];
              void *t#1;
              void *t#2;
              0 -> 1  declare t;
              1 -> 2  unsupported: the address of a label;
              2 -> 3  t[0L] = t#1;
              3 -> 4  unsupported: the address of a label;
              4 -> 5  t[1L] = t#2;
              5 -> 6  unsupported: a computed goto;
              6: halt
              7: exit

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
              7 -> 8  unsupported: `setjmp`;
              8 -> 9  assume(t#1);
              8 -> 10  assume(!t#1);
              9 -> 11  result# = 1;
              10 -> 11  result# = jump(0);
              11: exit
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
              0 -> 1  x = 1;
              1 -> 2  y = anything;
              2 -> 3  x = anything;
              3 -> 4  result# = x + y;
              4: exit
        "#]],
    );
}

/// The handler runs whichever way the block is left.
#[test]
fn cleanup_attributes() {
    check(
        r#"
void done(int *p) { *p = 0; }
int main(void) { int r = 0; for (int i = 0; i < 2; i++) { int x __attribute__((cleanup(done))) = i; if (x) break; if (r) return x; } return r; }
"#,
        expect![[r#"
            void done(int *p)
              0 -> 1  *p = 0;
              1: exit

            int main()
              int r;
              int i;
              int x;
              0 -> 1  r = 0;
              1 -> 2  i = 0;
              2: loop
              2 -> 3  assume(i < 2);
              2 -> 8  assume(!(i < 2));
              3 -> 4  declare x;
              4 -> 5  x = i;
              5 -> 6  assume(x);
              5 -> 9  assume(!x);
              6 -> 7  done(&x);
              7 -> 8  end x;
              8 -> 16  result# = r;
              9 -> 10  assume(r);
              9 -> 13  assume(!r);
              10 -> 11  result# = x;
              11 -> 12  done(&x);
              12 -> 16  end x;
              13 -> 14  done(&x);
              14 -> 15  end x;
              15 -> 2  i = i + 1;
              16: exit
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
