"""More of what programs are made of: corners of the language, and the standard library on known values."""

from memory_features import feature


@feature
def other_types(p):
    """Functions called through pointers whose type differs but passes the same."""
    f, t = p.name("f"), p.name("S")
    way = p.number(0, 4)
    if way == 0:
        p.top.append(f"struct {t}a {{ void *a, *b; }}; struct {t}b {{ int *a, *b; }};")
        p.top.append(f"static int {f}(struct {t}b s) {{ *s.a = 3; return *s.b + 1; }}")
        p.do(f"int x{f} = {p.value()}; int r{f} = ((int (*)(struct {t}a)){f})((struct {t}a){{&x{f}, &x{f}}});")
    elif way == 1:
        p.top.append(f"static int {f}(int *q, int v) {{ *q += v; return v; }}")
        p.do(f"int x{f} = {p.value()}; int r{f} = ((int (*)(void *, unsigned)){f})(&x{f}, {p.value()});")
    elif way == 2:
        p.top.append(f"static int {f}(const int *q) {{ return *q ^ 5; }}")
        p.top.append(f"static int apply{f}(int (*g)(const void *), const void *x) {{ return g(x); }}")
        p.do(f"int x{f} = {p.value()}; int r{f} = apply{f}((int (*)(const void *)){f}, &x{f});")
    elif way == 3:
        p.top.append(f"static int {f}(); static int {f}(int *q) {{ return (*q)++; }}")
        p.do(f"int x{f} = {p.value()}; int (*g{f})() = {f}; int r{f} = g{f}(&x{f});")
    else:
        p.top.append(f"static int *{f}(int *q) {{ *q += 2; return q; }}")
        p.do(f"int x{f} = {p.value()}; int r{f} = *(int *)((void *(*)(void *)){f})(&x{f}) + 1;")
    p.see(f"x{f}")
    p.see(f"r{f}")


@feature
def corners(p):
    """Side effects in unusual places, names for the same thing, and other corners of the language."""
    n, one, other = p.name("k"), p.value(), p.value()
    ways = [
        ([f"int {n} = 5; extern int {n}b __attribute__((alias(\"{n}\")));"], f"{n}b = {one};", [n]),
        ([f"int {n}(int x) {{ return x + 2; }} int {n}b(int) __attribute__((alias(\"{n}\")));"], "", [f"{n}b({one})"]),
        ([], f"int {n} = 1; struct {{ int a[++{n}]; int b; }} s{n}; s{n}.b = {one}; s{n}.a[1] = 4;", [n, f"s{n}.b", f"sizeof s{n}"]),
        ([f"struct B{n} {{ unsigned a : 3; int b : 7; }};"],
         f"struct B{n} b{n} = {{1, 2}}; int s{n} = sizeof(b{n}.a += 1);", [f"s{n}", f"b{n}.a", f"b{n}.a = {one}", f"b{n}.b = {other}"]),
        ([f"static int {n}x(void);"], f"int {n} = {n}x();", [n]),
        ([], f"int {n} = {one}; int m{n} = ({{ int t = {n}; {n} ^= 3; t + 1; }});", [n, f"m{n}"]),
        ([], f"int {n} = {one}, m{n} = {other}; *({n} > m{n} ? &{n} : &m{n}) = 7;", [n, f"m{n}"]),
        ([], f"int {n} = {one}; int m{n} = ({n} += 2, {n} * 3) , o{n} = {n}++ + 1;", [n, f"m{n}", f"o{n}"]),
        ([], f"int {n}[3] = {{{one}, 2, 3}}; int *m{n} = {n}; int o{n} = *m{n}++ + 1[m{n}]; *--m{n} += 4;", [f"{n}[0]", f"o{n}"]),
        ([], f"int {n} = {one}; int m{n} = _Generic({n}, int: sizeof({n}++), default: 9); char o{n} = {n}; o{n} += 200;", [n, f"m{n}", f"o{n}"]),
        ([], f"int {n} = {one}; __typeof__({n} + 0LL) m{n} = {n}; m{n} <<= 33;", [f"m{n}", f"sizeof m{n}"]),
        ([f"enum E{n} {{ A{n} = -2, B{n}, C{n} = 7, D{n} }};"], f"enum E{n} {n} = B{n} + ({one} & 1);", [n, f"D{n}"]),
        ([f"static int {n}f(int a, int b) {{ static int calls; calls += a; return calls * b; }}"],
         f"int {n} = {n}f({one}, 2); {n} += {n}f(1, {other});", [n]),
        ([], f"long long {n} = {one}; unsigned m{n} = {n}; short o{n} = {n}; _Bool b{n} = {n} & 6; {n} = {n} / 3 % 7;", [n, f"m{n}", f"o{n}", f"b{n}"]),
        ([f"static int {n} = 2; static int {n}f(int x) {{ {n} ^= x; return 1; }}"], f"{n} {p.pick('+=', '|=', '-=')} {n}f({one});", [n]),
        ([], f"int {n} = {one}, *m{n}; asm (\"\" : \"=r\" (m{n}) : \"0\" (&{n})); *m{n} = 3;", [n]),
        ([f"typedef int T{n}[2]; static int {n}f(T{n} a) {{ a[1] = 6; return sizeof a == sizeof(int *); }}"],
         f"T{n} {n} = {{{one}, {other}}}; int m{n} = {n}f({n});", [f"{n}[1]", f"m{n}"]),
    ]
    top, body, seen = p.random.choice(ways)
    p.top += top
    if top and top[0].startswith(f"static int {n}x"):
        p.top.append(f"static int {n}x(void) {{ int {n}y(void); return {n}y() + 1; }} int {n}y(void) {{ return 41; }}")
    if body:
        p.do(body)
    for text in seen:
        p.see(text)


@feature
def builtins(p):
    """What gcc knows by itself."""
    n, one, other = p.name("x"), p.value(), p.value()
    p.do(f"int {n} = {one}, y{n} = {other}, z{n} = 0;")
    seen = [f"__builtin_popcount({n})", f"__builtin_clz({n} | 1)", f"__builtin_ctz({n} | 64)", f"__builtin_bswap32({n})",
            f"__builtin_ffs({n})", f"__builtin_parity({n})", f"__builtin_expect({n} > 3, 1)", f"__builtin_abs({n} | 1)",
            f"__builtin_add_overflow({n}, y{n}, &z{n}) + z{n}", f"__builtin_mul_overflow({n}, y{n}, &z{n}) ^ z{n}",
            f"__builtin_sub_overflow({n}, y{n}, &z{n}) | z{n}", f"__builtin_choose_expr(1, {n}, y{n})",
            f"__builtin_bswap64({n})", f"__builtin_clzll(((unsigned long long){n} << 20) | 1)", f"__builtin_types_compatible_p(int, long)",
            f"__builtin_offsetof(struct {{ char c; int i; }}, i)", f"(unsigned char)__builtin_bswap16({n})"]
    for text in p.random.sample(seen, 2):
        p.see(text)


INTEGERS = ["char", "byte", "signed char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long", "long long",
            "unsigned long long", "_Bool"]


def expression(p, depth, leaves):
    """A random integer expression without traps; shifts are in range, divisors are not zero."""
    if depth == 0 or p.chance(10):
        return p.random.choice(leaves + [str(p.number(-9, 300)), "0x80000000", "-1", "65535u", "1L", "0xffULL"])
    a, b = expression(p, depth - 1, leaves), expression(p, depth - 1, leaves)
    return p.random.choice([
        f"({a} {p.pick('+', '-', '*', '&', '|', '^')} {b})", f"({a} {p.pick('+', '-', '*')} {b})",
        f"({a} {p.pick('<', '<=', '>', '>=', '==', '!=')} {b})", f"({a} {p.pick('&&', '||')} {b})",
        f"({p.random.choice(INTEGERS)})({a})", f"({p.pick('~', '-', '!')}({a}))", f"({a} {p.pick('<<', '>>')} {p.number(0, 7)})",
        f"(({a}) {p.pick('/', '%')} (({b}) & 7 | 1))", f"({a} ? {b} : {expression(p, depth - 1, leaves)})"])


@feature
def arithmetic(p):
    """Expressions of mixed types, stored in objects of mixed types."""
    leaves = [p.input() for _ in range(2)]
    for _ in range(p.number(2, 3)):
        name, kind = p.name("a"), p.random.choice(INTEGERS)
        p.do(f"{kind} {name} = {expression(p, p.number(1, 3), leaves)};")
        if p.chance(40):
            p.do(f"{name} {p.pick('+=', '-=', '*=', '^=', '>>=', '|=')} {p.number(0, 6)};")
        leaves.append(name)
    for name in leaves[2:]:
        p.see(name)


@feature
def control(p):
    """Loops with breaks, switches with ranges, jumps into and out of blocks, calls in conditions."""
    n, one = p.name("c"), p.input()
    a, b, c = p.number(1, 4), p.number(2, 5), p.number(0, 3)
    p.do(p.pick(
        f"int {n} = 0; for (int i = 0; i < {b}; i++) {{ if (i == ({one} & 3)) continue; {n} = {n} * 2 + i; if ({n} > {a * 3}) break; }}",
        f"int {n} = {one} & 7; switch ({n}) {{ case 0 ... {a}: {n} += 10; break; default: {n} = -{n}; case {a + 3}: {n}++; }}",
        f"int {n} = {one} & 3; do {{ if ({n} == {c}) goto in{n}; {n} += 2; in{n}: {n}++; }} while ({n} < {b * 2});",
        f"int {n} = 0, m{n} = {one} & 3; while (m{n}-- && ({n} += m{n}, {n} < {a})) {n} ^= {b};",
        f"int {n} = 1; switch ({one} & 3) {{ while ({n} < 9) {{ case {c}: {n} += 3; if ({n} == {b}) break; case {(c + 1) % 4}: {n}++; }} }}",
        f"int {n} = {one} & 15; {n} = {n} > 7 ? ({n} & 1 ? {n} - 1 : {n} + 1) : {n} < {a} || {n} == {b};",
        f"static int s{n} = {a}; int {n} = 0; for (int i = 0; i < 3; i++) {{ static int t = 2; t += i; int l = t; {n} += l * s{n}--; }}",
        f"int {n}[] = {{[0 ... 2] = {a}, [4] = {b}}}; int *m{n} = {n} + ({one} & 3); *m{n} += 5; int o{n} = {n}[3] * 100 + {n}[{c}]; {n}[0] = o{n};"))
    p.see(f"{n}[0]" if p.body[-1].startswith(f"int {n}[]") else n)


@feature
def lists_of_arguments(p):
    """Lists of further arguments that are copied, begun again, kept in records, handed on and passed in calls of calls."""
    f, g, one = p.name("f"), p.name("g"), p.input()
    count, again = p.number(2, 5), p.number(1, 2)
    p.top.append(f"struct L{f} {{ int left; __builtin_va_list l; }};")
    p.top.append(f"static long long {g}(struct L{f} *k) {{ long long s = 0; while (k->left > 0) {{ k->left--; s = s * 3 + __builtin_va_arg(k->l, int); }} "
                 f"return s; }}")
    read = p.pick(f"s += {g}(&k);",
                  f"k.left = n / 2; s += {g}(&k); k.left = n - n / 2; s = s * 5 + {g}(&k);",
                  f"__builtin_va_list c; __builtin_va_copy(c, k.l); s += {g}(&k); if (n > 0) s = s * 7 + __builtin_va_arg(c, int); __builtin_va_end(c);")
    p.top.append(f"static long long {f}(int n, ...) {{ long long s = n; for (int i = 0; i < {again}; i++) {{ struct L{f} k; k.left = n; "
                 f"__builtin_va_start(k.l, n); {read} __builtin_va_end(k.l); }} return s; }}")
    given = [p.pick(f"(char){p.value()}", f"(unsigned short){p.value()}", f"{p.value()}", f"(int){f}(1, {p.value()})", "(_Bool)" + p.value())
             for _ in range(count)]
    called = p.pick(f, f"(*({one} & 1 ? {f} : {f}other))")
    if called != f:
        p.top.append(f"static long long {f}other(int n, ...) {{ return n - 1; }}")
    p.do(f"long long r{f} = {called}({p.pick(count, p.index(count + 1))}, {', '.join(given)});")
    p.see(f"r{f}")


@feature
def initialisers(p):
    """Designators in any order, ranges, nested and elided braces, of locals, statics and literals."""
    n, a, b, c = p.name("s"), p.number(1, 99), p.number(1, 99), p.number(0, 2)
    p.top.append(f"struct P{n} {{ char c; int v[3]; struct {{ short x, y; }} q[2]; union {{ int i; byte b[4]; }} u; long long l : 33; }};")
    local = p.chance(60)
    value = p.value() if local else str(p.number(-99, 99))
    parts = [f".v = {{{value}, {a}}}", f".v[{c}] = {value}", f".q[1] = {{.y = {a}}}", f".q = {{{{{a}, {b}}}, {b}}}", f".u.b[{c}] = {a}", f".u = {{{value}}}",
             f".l = {value}", f".c = {b}", f".q[0].y = {a}, {b}", f".v = {{[0 ... {c}] = {b}}}"]
    chosen, used = [], set()
    for part in p.random.sample(parts, p.number(2, 4)):
        if part[1] not in used:
            used.add(part[1])
            chosen.append(part)
    text = ", ".join(chosen)
    p.do(p.pick(f"struct P{n} {n} = {{{text}}};", f"struct P{n} {n} = (struct P{n}){{{text}}};") if local
         else f"static struct P{n} {n} = {{{text}}};")
    if p.chance(40):
        p.do(f"{n}.v[{p.index(3)}] += {p.value()};")
    for seen in p.random.sample([f"{n}.v[{p.index(3)}]", f"{n}.q[{p.index(2)}].y", f"{n}.q[1].x", f"{n}.u.i", f"{n}.l", f"{n}.c", f"{n}.u.b[1]"], 3):
        p.see(seen)


LIBRARY = """int abs(int); long labs(long); int atoi(const char *); long strtol(const char *, char **, int);
unsigned long strtoul(const char *, char **, int); int sprintf(char *, const char *, ...); int snprintf(char *, size_t, const char *, ...);
int sscanf(const char *, const char *, ...); int isdigit(int); int isalpha(int); int toupper(int); int tolower(int); int isspace(int);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
void *bsearch(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));
size_t strspn(const char *, const char *); size_t strcspn(const char *, const char *); char *strstr(const char *, const char *);
char *strncat(char *, const char *, size_t); char *strdup(const char *); size_t strnlen(const char *, size_t); char *strpbrk(const char *, const char *);
char *strtok(char *, const char *); double fabs(double); double floor(double); double ceil(double); double sqrt(double); double fmod(double, double);"""


@feature
def library(p):
    """Functions of the standard library on texts and numbers that are known, or almost."""
    if LIBRARY not in p.top:
        p.top.append(LIBRARY)
    n, one = p.name("s"), p.input()
    number = p.pick(p.number(-999, 999), p.number(0, 99))
    text = f"{p.pick('', ' ', '0x')}{number}{p.pick('', 'abc', ' 7')}"
    way = p.number(0, 7)
    if way == 0:
        p.do(f"char {n}[16] = \"{text}\"; char *e{n}; long v{n} = strtol({n}, &e{n}, {p.pick(10, 16, 0, 8, 36)});")
        p.see(f"v{n}")
        p.see(f"e{n} - {n}")
    elif way == 1:
        p.do(f"char {n}[32]; int r{n} = sprintf({n}, \"%{p.pick('d', '5d', '-4d|', '03d', 'x', 'u')} %s\", {one} & 63, \"{p.pick('ab', '')}\");")
        p.see(f"r{n}")
        p.see(f"{n}[{p.number(0, 2)}]")
    elif way == 2:
        p.do(f"char {n}[4] = \"zzz\"; int r{n} = snprintf({n}, {p.number(1, 4)}, \"{p.pick('%d', 'a%dc')}\", {one});")
        p.see(f"r{n}")
        p.see(f"{n}[{p.number(0, 3)}]")
    elif way == 3:
        p.do(f"int {n} = -1, m{n} = -1; int r{n} = sscanf(\"{number} {p.number(0, 9)}\", \"%d %d\", &{n}, &m{n});")
        p.see(f"r{n}")
        p.see(p.pick(n, f"m{n}"))
    elif way == 4:
        p.see(p.random.choice([f"atoi(\"{text}\")", f"abs({one} | 1)", f"isdigit('0' + ({one} & 15)) != 0", f"toupper('a' + ({one} & 7))",
                               f"isalpha('Z' + ({one} & 3)) != 0", f"tolower('A' + ({one} & 7))", f"isspace({one} & 63) != 0"]))
    elif way == 5:
        p.top.append(f"static int {n}c(const void *a, const void *b) {{ int x = *(const int *)a, y = *(const int *)b; return (x > y) - (x < y); }}")
        p.do(f"int {n}[4] = {{3, {one}, 1, {p.value()}}}; qsort({n}, {p.number(2, 4)}, sizeof *{n}, {n}c);")
        p.see(f"{n}[{p.index(4)}]")
        p.see(f"{n}[0]")
    elif way == 6:
        p.do(f"char {n}[16] = \"ab,cd\"; {n}[{p.index(5)}] = 'a' + ({one} & 3);")
        p.see(p.random.choice([f"strspn({n}, \"abc\")", f"strcspn({n}, \",d\")", f"strstr({n}, \"cd\") ? strstr({n}, \"cd\") - {n} : -1",
                               f"strlen(strncat({n}, \"xyz\", 2))", f"strdup({n})[1]", f"strnlen({n}, 3)", f"strpbrk({n}, \",\") != 0",
                               f"strlen(strtok({n}, \",\"))"]))
    else:
        p.do(f"double {n} = ({one} & 1023) / 4.0;")
        p.see(p.random.choice([f"fabs(-{n}) * 4", f"floor({n})", f"ceil({n})", f"sqrt({n} * {n}) == {n}", f"fmod({n}, 2) * 4",
                               f"__builtin_isnan({n})", f"__builtin_isinf({n} / 0.0)", f"__builtin_signbit(-{n}) != 0", f"(int)({n} + 0.5f)"]))
