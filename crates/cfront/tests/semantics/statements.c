/* A program that checks itself: it calls reach_error where the meaning of C is missed. */
extern void abort(void);
void reach_error(void) { abort(); }
#define T(e) do { if (!(e)) reach_error(); } while (0)

static int log_, calls;
static int note(int n) { log_ = log_ * 10 + n; calls++; return n; }
struct pair { int a, b; };
struct bits { signed s : 3; unsigned u : 5; _Bool f : 1; long long l : 40; };
union both { unsigned u; unsigned char c[4]; float f; };
static struct pair make(int a, int b) { struct pair p = { a, b }; return p; }
static int sum(int n, ...) { __builtin_va_list l, m; int s = 0; __builtin_va_start(l, n); __builtin_va_copy(m, l); while (n--) s += __builtin_va_arg(l, int); s += 100 * __builtin_va_arg(m, int); __builtin_va_end(l); __builtin_va_end(m); return s; }
static int old(a, c, f) int a; char c; float f; { return a + c + (f > 2.4f && f < 2.6f); }
static int rec(int n) { int local = n; int *p = &local; return n ? rec(n - 1) + *p : 0; }
static int duff(int n) { int k = 0; switch (n % 4) { case 0: do { k++; case 3: k++; case 2: k++; case 1: k++; } while ((n -= 4) > 0); } return k; }
static int classify(int x) { switch (x) { case 1: case 2: return 1; case 10 ... 20: return 2; case -5: return 3; default: return 4; case 100: break; } return 5; }
static int counter(void) { static int n = 5; return n++; }
static int vla(int n, int m, int a[n][m]) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s += a[i][j]; return s + (int)sizeof(a[0]); }
static int twice(int x) { return 2 * x; } static int minus(int x) { return -x; }
static int (*const table[])(int) = { twice, minus };
static int done_; static void done(int *p) { done_ = done_ * 10 + *p; }
static int cleanups(int way) { for (int i = 1; i < 4; i++) { int x __attribute__((cleanup(done))) = i; if (way == 1 && i == 2) break; if (way == 2 && i == 2) return x + 10; if (way == 3 && i == 1) continue; if (way == 4) goto out; } out: return 0; }
static struct { int n; short v[]; } flexible = { 2, { 30, 40 } };
static char text[] = "abc", wide[2][4] = { "xy", { 'z' } }, *inside = &text[1];
static int designated[] = { [3] = 7, 8, [0 ... 1] = 5, [1] = 6 };

static void expressions(void) {
  int i = 5, j, a[5] = { 1, 2, 3 }, *p = a; unsigned u = 3; char c; unsigned char uc; short s; long long ll; _Bool b;
  T(a[3] == 0 && a[4] == 0);
  T(i++ == 5 && i == 6 && ++i == 7 && i-- == 7 && --i == 5);
  j = i++ + 2 * (i = 3, i + 1); T(j == 5 + 8);
  c = 200; T(c == -56); uc = 300; T(uc == 44); s = 0x18000; T(s == -32768); b = 256; T(b == 1); b = 0.5; T(b); b--; T(!b); b--; T(b);
  T((unsigned)-1 > 0 && u - 4 > 0); T(-1 < (int)u); T(!(-1 < u));
  T(-7 / 2 == -3 && -7 % 2 == -1 && 7 % -2 == 1); T((-7 >> 1) == -4 && (0xfffffff9u >> 1) == 0x7ffffffc);
  ll = 1; ll <<= 40; T(ll == 0x10000000000 && (int)(ll >> 38) == 4); T((int)(char)0x1ff == -1);
  c = 100; c += 100; T(c == -56); i = 7; i /= 0.5; T(i == 14); i = 10; i -= 2.5; T(i == 7); u = 1; u <<= 31; T(u == 0x80000000u);
  i = 0; T((i || note(0)) == 0 && calls == 1); T((1 || note(1)) && calls == 1); T(!(0 && note(1)) && calls == 1);
  i = 3; T((i ?: note(9)) == 3 && calls == 1); T((note(0) ?: 4) == 4 && calls == 2); calls = 0;
  log_ = 0; (void)(note(1) + note(2) * note(3)); T(calls == 3);
  p = a + 1; T(*p++ == 2 && *p == 3 && p - a == 2 && p[-1] == 2 && 1[a] == 2 && &a[4] - p == 2); T(*--p == 2); *p++ += 5; T(a[1] == 7 && p == &a[2]);
  T(sizeof a == 20 && sizeof(char) == 1 && sizeof 'a' == 4 && sizeof(struct pair) == 8 && sizeof(a[0] + 1LL) == 8);
  T(({ int t = 3; t * 2; }) == 6); T((i = 1, ({ if (i) goto over; 5; })) == 5); over:
  T(i == 1); T((1 ? -1 : 1u) > 0); T(__builtin_popcount(0xf0) == 4 && __builtin_clz(1) == 31 && __builtin_ctz(8) == 3 && __builtin_ffs(0) == 0 && __builtin_ffs(12) == 3 && __builtin_parity(7) == 1 && __builtin_clrsb(-1) == 31);
  T(__builtin_bswap32(0x01020304) == 0x04030201 && __builtin_bswap16(0x0102) == 0x0201);
  T(__builtin_add_overflow(2147483647, 1, &j) && j == -2147483647 - 1); T(!__builtin_mul_overflow(3, 4, &ll) && ll == 12); T(__builtin_sub_overflow(0u, 1u, &u) && u == 4294967295u); T(__builtin_add_overflow(200, 100, &uc) && uc == 44);
  j = 4; T(__sync_fetch_and_add(&j, 3) == 4 && j == 7 && __sync_add_and_fetch(&j, 1) == 8 && __sync_bool_compare_and_swap(&j, 8, 2) && j == 2 && __atomic_exchange_n(&j, 9, 5) == 2 && __atomic_load_n(&j, 5) == 9);
  double d = 0.1; float f = 0.1f; T(d != f && (float)d == f && (int)2.9 == 2 && (int)-2.9 == -2 && 1 / 2.0 == 0.5 && d + 0.2 != 0.3); T((unsigned char)(f * 100) == 10); d++; T(d > 1.09 && -d < 0 && !!d);
#ifdef __SIZEOF_INT128__
  __int128 w = (__int128)1 << 100; T((int)(w >> 98) == 4 && w > 0 && (unsigned __int128)-1 / 3 > (unsigned __int128)w);
#endif
}

static void objects(void) {
  struct pair p = { .b = 2 }, q[2] = { { 1 }, [1].b = 4 }, *r = q; struct bits x = { -1, 31, 1, -2 }; union both v = { 0x01020304 };
  T(p.a == 0 && q[0].b == 0 && q[1].a == 0 && q[1].b == 4); T(x.s == -1 && x.u == 31 && x.f == 1 && x.l == -2);
  x.u += 2; T(x.u == 1); T((x.s = 5) == -3 && x.s == -3); x.s++; T(x.s == -2); x.l = 1LL << 39; T(x.l < 0); x.f = 4; T(x.f == 1); T(x.u++ == 1 && x.u == 2);
  T(v.c[0] == 4 && v.c[3] == 1); v.f = 1.0f; T(v.u == 0x3f800000); v.c[3] = 0; T(v.u == 0x00800000);
  T(make(3, 4).b == 4); p = make(5, 6); T(p.a == 5 && p.b == 6); *r = p; T(q[0].b == 6); p = 1 ? q[1] : make(0, 0); T(p.b == 4); T((p = q[0]).a == 5); r[1] = *r; T(q[1].a == 5);
  r = &(struct pair){ 7, 8 }; T(r->a + r->b == 15); T(((int[]){ 1, 2, 3 })[1] == 2);
  T(flexible.v[1] == 40 && inside[1] == 'c' && wide[0][2] == 0 && wide[1][0] == 'z' && wide[1][1] == 0 && "abc"[2] == 'c' && sizeof "abc" == 4 && text[3] == 0);
  T(sizeof designated == 20 && designated[0] == 5 && designated[1] == 6 && designated[2] == 0 && designated[3] == 7 && designated[4] == 8);
  char copy[6] = "hi"; T(copy[1] == 'i' && copy[2] == 0 && copy[5] == 0); __builtin_memcpy(copy, "world", 6); T(copy[4] == 'd'); __builtin_memset(copy, 'x', 2); T(copy[0] == 'x' && copy[1] == 'x' && copy[2] == 'r');
  int m[2][3] = { { 1, 2, 3 }, { 4 } }, n = 2; T(m[1][0] == 4 && m[1][2] == 0 && *(*(m + 1)) == 4 && (&m[0][0])[3] == 4); int dyn[n][n + 1]; for (int i = 0; i < n; i++) for (int j = 0; j < n + 1; j++) dyn[i][j] = i + j; n = 9; T(vla(2, 3, dyn) == 0 + 1 + 2 + 1 + 2 + 3 + 12 && sizeof dyn == 24);
  typedef char row[n]; n = 1; row buffer; T(sizeof buffer == 9); int (*pa)[3] = m; pa++; T((*pa)[0] == 4);
  volatile int vo = 3; vo += vo; T(vo == 6); enum { A, B = 5, C } e = C; T(e == 6 && A == 0);
}

static int threaded(const char *code) { /* an interpreter with a table of labels, as some virtual machines have it */
  static const void *const ops[] = { &&stop, &&push, &&add, &&twice }; int stack[4], n = 0; const char *pc = code;
  goto *ops[(int)*pc++];
  push: { int value = *pc++; stack[n++] = value; goto *ops[(int)*pc++]; }
  add: { int sum = stack[n - 1] + stack[n - 2]; n--; stack[n - 1] = sum; } goto *ops[(int)*pc++];
  twice: stack[n - 1] *= 2; { void *next = *pc == 0 ? &&stop : (void *)ops[(int)*pc]; pc++; goto *next; }
  stop: return stack[n - 1];
}

static void control(void) {
  T(threaded((char[]){ 1, 5, 1, 7, 2, 3, 0 }) == 24 && threaded((char[]){ 1, 9, 0 }) == 9);
  int i, n = 0; for (i = 0; i < 10; i++) { if (i == 3) continue; if (i == 6) break; n += i; } T(n == 0 + 1 + 2 + 4 + 5 && i == 6);
  n = 0; do { n++; if (n == 2) continue; } while (n < 4); T(n == 4); while (n) { n--; if (n == 1) break; } T(n == 1);
  for (n = 0;;) if (++n > 5) break; T(n == 6); T(duff(1) == 1 && duff(5) == 5 && duff(8) == 8);
  T(classify(1) == 1 && classify(2) == 1 && classify(10) == 2 && classify(20) == 2 && classify(21) == 4 && classify(-5) == 3 && classify(100) == 5);
  n = 0; again: { int fresh; fresh = n; n++; if (fresh < 3) goto again; } T(n == 4); goto in; { int skipped = 9; in: skipped = 4; n += skipped; } T(n == 8);
  T(rec(4) == 10 && counter() == 5 && counter() == 6); T(sum(3, 1, 2, 3) == 106 && old(1, 'a', 2.5f) == 1 + 97 + 1);
  int (*fp)(int) = minus; T(table[0](4) == 8 && (*table[1])(4) == -4 && fp(3) == -3 && (n ? twice : fp)(2) == 4 && (&twice)(1) == 2);
  cleanups(1); T(done_ == 12); done_ = 0; T(cleanups(2) == 12 && done_ == 12); done_ = 0; cleanups(3); T(done_ == 123); done_ = 0; cleanups(4); T(done_ == 1);
  unsigned long long big = 0x123456789abcdefULL; switch (big) { case 0x9abcdefULL: reach_error(); case 0x123456789abcdefULL: n = 1; } T(n == 1); switch ((unsigned char)300) { case 44: n = 2; break; default: reach_error(); } T(n == 2);
  if (n == 2 && ({ int q = n; q > 1; }) || note(1)) n = 3; T(n == 3); if (!(n == 3 || note(1)) ) reach_error();
}

int main(void) { expressions(); objects(); control(); return 42; }
