//! Statements: loops, branches, jumps, the order of evaluation.

use super::check;
use expect_test::expect;

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
