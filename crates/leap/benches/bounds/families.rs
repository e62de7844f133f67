//! The loops of the benchmark, as data: families of programs of a few lines with `N` for the bound.
//!
//! Every loop has a condition that holds after it for every bound, and another one that does not:
//! the same program with that one is its twin, whose call is never reached.

/// A loop.
#[derive(Clone, Copy)]
pub struct Loop {
    /// The family that it belongs to.
    pub family: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// What the number that stands for `N` ends with.
    pub suffix: &'static str,
    /// What comes before `main`.
    pub before: &'static str,
    /// The body of `main` before the check.
    pub body: &'static str,
    /// What holds at the end, or can be made to.
    pub reached: &'static str,
    /// What never does.
    pub never: &'static str,
}

impl Loop {
    /// The bounds that it is tried with: from a hundred on, and beyond 32 bits where it can.
    pub fn bounds(&self) -> &'static [u64] {
        match self.suffix {
            "ull" | "ll" => &[100, 1_000_000, (1 << 31) - 1, 1_000_000_000_000_000],
            _ => &[100, 10_000, 1_000_000, (1 << 31) - 1],
        }
    }

    /// The program for a bound: the one that fails, or its twin.
    pub fn program(&self, bound: u64, fails: bool) -> String {
        let goal = if fails { self.reached } else { self.never };
        let (before, body) = (self.before, self.body);
        let text =
            format!("{before}\nint main(void) {{ {body} if ({goal}) reach_error(); return 0; }}\n");
        let text = replaced(&text, &format!("{bound}{}", self.suffix));
        format!(
            "extern int __VERIFIER_nondet_int(void); extern void __VERIFIER_assume(int);\n\
             extern void reach_error(void);\n{text}"
        )
    }
}

/// The text with a number for every word `N`.
fn replaced(text: &str, number: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    let part = |c: char| c.is_alphanumeric() || c == '_';
    while let Some(c) = rest.next() {
        let alone = !part(before) && rest.peek().is_none_or(|&next| !part(next));
        match c == 'N' && alone {
            true => out.push_str(number),
            false => out.push(c),
        }
        before = c;
    }
    out
}

const fn one(
    family: &'static str,
    name: &'static str,
    suffix: &'static str,
    body: &'static str,
    reached: &'static str,
    never: &'static str,
) -> Loop {
    with(family, name, suffix, "", body, reached, never)
}

const fn with(
    family: &'static str,
    name: &'static str,
    suffix: &'static str,
    before: &'static str,
    body: &'static str,
    reached: &'static str,
    never: &'static str,
) -> Loop {
    Loop {
        family,
        name,
        suffix,
        before,
        body,
        reached,
        never,
    }
}

/// The loops.
#[rustfmt::skip]
pub const LOOPS: &[Loop] = &[
    one("up", "up", "u", "unsigned x = 0; while (x < N) x++;", "x == N", "x == N + 1"),
    one("up", "signed", "", "int x = 0; while (x < N) x++;", "x == N", "x < N"),
    one("up", "with the bound", "u", "unsigned x = 1, c = 0; while (x <= N) { x++; c++; }", "c == N", "c == N + 1"),
    one("up", "64 bits", "ull", "unsigned long long x = 0; while (x < N) x++;", "x == N", "x > N"),
    one("up", "until equal", "u", "unsigned x = 0; while (x != N) x++;", "x == N", "x < N"),
    one("up", "two counters", "ull", "unsigned long long x = 0, y = 5; while (x < N) { x++; y += 2; }", "y == 2 * N + 5", "y == 2 * N + 4"),
    one("up", "two loops", "u", "unsigned x = 0, y = 0; while (x < N) x++; while (y < x) y++;", "y == N", "y == N - 1"),

    one("down", "down", "u", "unsigned x = N; while (x > 0) x--;", "x == 0", "x == 1"),
    one("down", "below zero", "", "int x = N; while (x > -5) x--;", "x == -5", "x == -6"),
    one("down", "64 bits", "ll", "long long x = N; while (x > 0) x--;", "x == 0", "x < 0"),
    one("down", "and up", "u", "unsigned x = N, y = 0; while (x > 0) { x--; y++; }", "y == N", "y == N - 1"),
    one("down", "at least once", "u", "unsigned x = N, c = 0; do { x--; c++; } while (x);", "c == N", "c != N"),
    one("down", "to the other", "", "int x = N, y = 0; while (y < x) { x--; y++; }", "x - y <= 0 && x - y >= -1", "x > y"),

    one("strides", "by three", "u", "unsigned x = 0; while (x < N) x += 3;", "x >= N && x <= N + 2", "x > N + 2"),
    one("strides", "by three, exact end", "u", "unsigned x = 0, y = 0; while (x < N) { x += 3; y++; }", "3 * y == x", "3 * y == x + 1"),
    one("strides", "by seven, counted", "u", "unsigned x = 0, c = 0; while (x < N) { x += 7; c++; }", "c == (N + 6) / 7", "c == N / 7 + 2"),
    one("strides", "by a prime, 64 bits", "ull", "unsigned long long x = 0, c = 0; while (x < N) { x += 10007; c++; }", "c == (N + 10006) / 10007", "c == N / 10007 + 2"),
    one("strides", "remainder", "u", "unsigned a = N, b = 7; while (a >= b) a -= b;", "a == N % 7", "a == (N + 1) % 7"),
    one("strides", "quotient", "ull", "unsigned long long a = N, b = 10, q = 0; while (a >= b) { a -= b; q++; }", "q == N / 10 && a == N % 10", "q == N / 10 + 1"),
    one("strides", "data-dependent", "u", "unsigned x = 0; while (x < N) x += (x & 3) + 1;", "x >= N", "x > N + 3"),

    one("phases", "up and down", "u", "unsigned x = 0, y = 0; while (x < N) { if (x < N / 2) y++; else y--; x++; }", "y <= 1 || y + 1 == 0", "y == 2"),
    one("phases", "three", "u", "unsigned x = 0, y = 0; while (x < N) { if (x < N / 4) y++; else if (x < N / 2) y += 2; x++; }", "y == N / 4 + 2 * (N / 2 - N / 4)", "y == N / 4"),
    one("phases", "by a flag", "u", "unsigned x = 0, y = 0, f = 0; while (y < N) { if (!f) { x++; if (x == N) f = 1; } else y++; }", "x == N && f == 1", "x != N"),
    one("phases", "to and fro", "ll", "long long x = 0, d = 1, c = 0; do { x += d; c++; if (x == N) d = -1; } while (x != 0);", "c == 2 * N", "c == 2 * N - 1"),
    one("phases", "clamped", "u", "unsigned x = 0, y = 0; while (x < N) { if (y < 50) y++; x++; }", "y == 50", "y == 51"),
    one("phases", "one after the other", "u", "unsigned x = 0, a = 0, b = 0; while (x < N) { if (x < N / 3) a++; else b++; x++; }", "a == N / 3 && b == N - N / 3", "a + b != N"),

    one("periods", "a flag by xor", "u", "unsigned i = 0, f = 0; while (i < N) { f ^= 1; i++; }", "f == N % 2", "f != N % 2"),
    one("periods", "modulo four", "u", "unsigned i = 0, s = 0; while (i < N) { s = (s + 1) % 4; i++; }", "s == N % 4", "s == (N + 1) % 4"),
    one("periods", "set back at five", "u", "unsigned i = 0, s = 0; while (i < N) { s++; if (s == 5) s = 0; i++; }", "s == N % 5", "s == (N + 1) % 5"),
    one("periods", "rotation", "u", "unsigned i = 0, a = 0, b = 1, c = 2, t; while (i < N) { t = a; a = b; b = c; c = t; i++; }", "a == N % 3", "a == b"),
    one("periods", "states", "u", "unsigned i = 0, v = 0; int s = 0; while (i < N) { switch (s) { case 0: s = 2; break; case 1: s = 0; v++; break; default: s = 1; } i++; }", "v == N / 3", "v == N / 3 + 1"),
    one("periods", "a sign", "", "int i = 0, t = 1, x = 0; while (i < N) { t = -t; x += t; i++; }", "x == -(N % 2)", "x == 1"),
    one("periods", "two at once", "u", "unsigned i = 0, f = 0, s = 0; while (i < N) { f = !f; s = (s + 1) % 3; i++; }", "f == N % 2 && s == N % 3", "f == N % 2 && s == (N + 1) % 3"),
    one("periods", "modulo ten, 64 bits", "ull", "unsigned long long i = 0; unsigned s = 0, v = 0; while (i < N) { s = (s + 1) % 10; if (s == 7) v ^= 1; i++; }", "s == N % 10", "s == N % 10 + 1"),

    one("schedules", "figure 10", "", "int n = N, x = 0, t = 1; while (x < n) { t = -t; if (__VERIFIER_nondet_int()) x = x + t; else x = x - t; }", "x == n", "t != 1 && t != -1"),
    one("schedules", "the low bit", "u", "unsigned x = 0; while (x < N) { unsigned c = __VERIFIER_nondet_int(); if (c != (x & 1)) return 0; x++; }", "x == N", "x == N + 1"),
    one("schedules", "three in turn", "u", "unsigned x = 0, s = 0; while (x < N) { int c = __VERIFIER_nondet_int(); __VERIFIER_assume(c == (int)s); s = (s + 1) % 3; x++; }", "s == N % 3", "s == (N + 1) % 3"),
    one("schedules", "whose turn", "u", "unsigned x = 0, y = 0; int turn = 0; while (x < N) { if (__VERIFIER_nondet_int()) { if (turn) { y++; turn = 0; } else y = 0; } else { if (!turn) { turn = 1; x++; } } }", "x == N && y == N - 1", "y > N"),
    one("schedules", "balanced", "", "int x = 0, b = 0; while (x < N) { if (__VERIFIER_nondet_int()) b++; else b--; if (b > 1 || b < -1) return 0; x++; }", "x == N && b >= -1", "b == 2"),
    one("schedules", "64 bits", "ll", "long long x = 0, t = 1; while (x < N) { t = -t; if (__VERIFIER_nondet_int() > 5) x = x + t; else x = x - t; }", "x == N", "t != 1 && t != -1"),

    one("nested", "ten inside", "u", "unsigned x = 0, y = 0; while (x < N) { y = 0; while (y < 10) y++; x++; }", "y == 10", "y == 9"),
    one("nested", "product", "u", "unsigned x = 0, y; unsigned long long c = 0; while (x < N) { y = 0; while (y < 1000) { y++; c++; } x++; }", "c == 1000ull * N", "c == 1000ull * N + 1"),
    one("nested", "square", "u", "unsigned x, y; unsigned long long c = 0; for (x = 0; x < N; x++) for (y = 0; y < N; y++) c++;", "c == (unsigned long long)N * N", "c == (unsigned long long)N * N - 1"),
    one("nested", "triangle", "u", "unsigned x, y; unsigned long long c = 0; for (x = 0; x < N; x++) for (y = 0; y < x; y++) c++;", "c == (unsigned long long)N * (N - 1) / 2", "c == (unsigned long long)N * (N - 1) / 2 + 1"),
    one("nested", "two inside", "u", "unsigned x = 0, y = 0, z = 0; while (x < N) { y = 0; while (y < 1000) y++; z = 0; while (z < 500) z++; x++; }", "y == 1000 && z == 500", "y == z"),
    one("nested", "sum of the counter", "ull", "unsigned long long i, s = 0; for (i = 0; i < N; i++) s += i;", "s == ((N % 2) ? N * ((N - 1) / 2) : (N / 2) * (N - 1))", "s == ((N % 2) ? N * ((N - 1) / 2) : (N / 2) * (N - 1)) + 1"),
    one("nested", "three by four", "u", "unsigned x = 0, y, z; unsigned long long c = 0; while (x < N) { for (y = 0; y < 3; y++) for (z = 0; z < 4; z++) c++; x++; }", "c == 12ull * N", "c == 12ull * N + 1"),

    one("choices", "one to three", "u", "unsigned x = 0; while (x < N) { unsigned s = __VERIFIER_nondet_int(); __VERIFIER_assume(s >= 1 && s <= 3); x += s; }", "x == N", "x > N + 2"),
    one("choices", "two or three", "u", "unsigned x = 0; while (x < N) { if (__VERIFIER_nondet_int()) x += 2; else x += 3; }", "x == N", "x > N + 2"),
    one("choices", "half of them", "u", "unsigned i = 0, c = 0; while (i < N) { if (__VERIFIER_nondet_int()) c++; i++; }", "c == N / 2", "c > N"),
    one("choices", "one step to spare", "u", "unsigned x = 0, k = 0; while (x < N) { unsigned s = __VERIFIER_nondet_int(); __VERIFIER_assume(s >= 1 && s <= 3); x += s; k++; }", "x == N && k == (N + 1) / 2", "k > N"),
    one("choices", "jump", "u", "unsigned x = 2; while (x < N) { if (__VERIFIER_nondet_int()) x = 0; else x += 3; }", "x >= N && x <= N + 2", "x > N + 2"),
    one("choices", "all or nothing", "ull", "unsigned long long i = 0, c = 0; while (i < N) { if (__VERIFIER_nondet_int()) c++; else return 0; i++; }", "c == N", "c < N"),

    with("calls", "increment", "u", "unsigned next(unsigned x) { return x + 1; }", "unsigned x = 0; while (x < N) x = next(x);", "x == N", "x == N + 1"),
    with("calls", "a global", "u", "unsigned g; void step(void) { g += 2; }", "unsigned i = 0; while (i < N) { step(); i++; }", "g == 2 * N", "g == 2 * N + 1"),
    with("calls", "one in another", "u", "unsigned inner(unsigned x) { if (x & 1) return 3; return 1; } unsigned outer(unsigned x) { return inner(x) + 1; }", "unsigned i = 0, s = 0; while (i < N) { s += outer(i); i++; }", "s == N / 2 * 6 + N % 2 * 2", "s == 6 * N + 1"),
    with("calls", "a loop in it", "u", "unsigned count(unsigned n) { unsigned i = 0; while (i < n) i++; return i; }", "unsigned c = count(N);", "c == N", "c != N"),
    with("calls", "a small loop in it", "u", "unsigned four(void) { unsigned i = 0; while (i < 4) i++; return i; }", "unsigned i = 0; unsigned long long s = 0; while (i < N) { s += four(); i++; }", "s == 4ull * N", "s == 4ull * N + 1"),
    with("calls", "a static", "u", "unsigned ticks(void) { static unsigned t = 3; t++; return t; }", "unsigned i = 0, t = 0; while (i < N) { t = ticks(); i++; }", "t == N + 3", "t == N"),
    with("calls", "a large loop in it", "u", "unsigned long long g; void many(unsigned n) { unsigned i; for (i = 0; i < n; i++) g++; }", "unsigned i; for (i = 0; i < N; i++) many(500);", "g == 500ull * N", "g == 500ull * N + 1"),

    one("structs", "a flag", "u", "struct { unsigned f, i; } s = { 0, 0 }; while (s.i < N) { s.f = !s.f; s.i++; }", "s.f == N % 2", "s.f != N % 2"),
    one("structs", "counters", "u", "struct { unsigned a, b; } s; s.a = 0; s.b = 7; while (s.a < N) { s.a++; s.b += 3; }", "s.b == 3 * N + 7", "s.b == 3 * N + 8"),
    with("structs", "global", "u", "struct { int on; unsigned n; } state;", "while (state.n < N) { if (state.on) state.on = 0; else state.on = 1; state.n++; }", "state.on == (int)(N % 2)", "state.on == 2"),
    with("structs", "one in another", "u", "struct in { unsigned x; unsigned char t; }; struct out { struct in i; unsigned long long sum; };", "struct out o; o.i.x = 0; o.i.t = 0; o.sum = 0; while (o.i.x < N) { o.i.x++; o.i.t = o.i.t ^ 1; o.sum += 5; }", "o.sum == 5ull * N && o.i.t == N % 2", "o.sum == 5ull * N + 1"),
    with("structs", "of a machine", "u", "struct m { int state; unsigned ticks, turns; };", "struct m m; m.state = 0; m.ticks = 0; m.turns = 0; while (m.ticks < N) { m.ticks++; if (m.state == 2) { m.state = 0; m.turns++; } else m.state++; }", "m.turns == N / 3", "m.turns == N / 3 + 1"),
    with("structs", "copied", "u", "struct p { unsigned x, y; };", "struct p a, b; a.x = 0; a.y = 1; while (a.x < N) { b = a; b.x++; b.y ^= 1; a = b; }", "a.x == N && a.y != N % 2", "a.y == N % 2"),

    one("arrays", "written at i % 10", "u", "unsigned a[10]; unsigned i = 0; a[3] = 0; while (i < N) { a[i % 10] = i; i++; }", "a[3] == (N + 6) / 10 * 10 - 7", "a[3] == N"),
    one("arrays", "classes counted", "u", "unsigned c[3] = { 0, 0, 0 }; unsigned i = 0; while (i < N) { c[i % 3]++; i++; }", "c[0] == (N + 2) / 3 && c[1] == (N + 1) / 3", "c[0] < c[1]"),
    one("arrays", "a ring", "u", "unsigned r[4] = { 0, 0, 0, 0 }; unsigned at = 0, i = 0; while (i < N) { r[at] += 2; at++; if (at == 4) at = 0; i++; }", "r[0] == (N + 3) / 4 * 2", "r[0] == r[3] + 1"),
    one("arrays", "two cells", "u", "unsigned a[2] = { 0, 9 }; while (a[0] < N) { a[0]++; a[1] += 2; }", "a[1] == 2 * N + 9", "a[1] == 2 * N"),
    one("arrays", "flags", "u", "unsigned char f[8] = { 0, 0, 0, 0, 0, 0, 0, 0 }; unsigned i = 0; while (i < N) { f[i & 7] ^= 1; i++; }", "f[0] == (N + 7) / 8 % 2", "f[0] == 2"),
    one("arrays", "weights", "u", "unsigned w[4] = { 1, 2, 3, 4 }; unsigned i = 0; unsigned long long s = 0; while (i < N) { s += w[i % 4]; i++; }", "s == N / 4 * 10ull + N % 4 * (N % 4 + 1) / 2", "s == 10ull * N + 1"),
    with("arrays", "global, swapped", "u", "int v[2] = { 1, 2 };", "unsigned i = 0; while (i < N) { int t = v[0]; v[0] = v[1]; v[1] = t; i++; }", "v[0] == (int)(N % 2 + 1)", "v[0] == v[1]"),
];
