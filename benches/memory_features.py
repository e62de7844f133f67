"""What `memory_programs` knows to put into programs: one function a feature."""

FEATURES = {}


def feature(function):
    FEATURES[function.__name__] = function
    return function


# Records and bytes.

def change(p, things):
    """One random change of some objects."""
    thing = p.random.choice(things)
    kind = thing.kind
    roll = p.number(0, 99)
    if roll < 25:
        lvalue, _ = p.path(thing)
        p.do(f"{lvalue} {p.pick('=', '=', '+=', '^=')} {p.value()};")
    elif roll < 33:
        p.do(f"({thing.address})[{p.index(kind.size)}] = {p.value()};")
    elif roll < 45:
        inner = p.scalar_kind(p.scalar())
        offset = p.aligned(kind, inner)
        if offset is not None:
            p.do(f"{p.at(thing, offset, inner.scalar)} = {p.value()};")
    elif roll < 60:
        other = p.random.choice(things)
        size = p.number(1, min(kind.size, other.kind.size))
        function = "memmove" if other is thing or p.chance(40) else "memcpy"
        to, source = p.number(0, kind.size - size), p.number(0, other.kind.size - size)
        p.do(f"{function}({thing.address} + {to}, {other.address} + {source}, {size});")
    elif roll < 68:
        size = p.number(1, kind.size)
        p.do(f"memset({thing.address} + {p.number(0, kind.size - size)}, {p.pick(0, 1, 255, p.value())}, {size});")
    elif roll < 80:
        whole(p, thing, p.random.choice([t for t in things if t is not thing] or things))
    elif roll < 88:
        function = p.name("set")
        inner = p.scalar_kind(p.scalar())
        offset = p.aligned(kind, inner)
        if offset is not None:
            p.top.append(f"static void {function}({inner.scalar} *q, int v) {{ *q = v; }}")
            p.do(f"{function}(({inner.scalar} *)({thing.address} + {offset}), {p.value()});")
    else:
        inner = p.scalar_kind(p.scalar())
        count, i = kind.size // inner.size, p.name("i")
        if count and inner.align <= kind.align:
            first = p.number(0, count - 1)
            last = p.number(first, min(count, first + 4))
            p.do(f"for (int {i} = {first}; {i} < {last}; {i}++) "
                 f"(({inner.scalar} *)({thing.address}))[{i}] = {p.value()} + {i};")


def whole(p, to, source):
    """A record is copied as a whole, seen as a record of some type."""
    if to is source:
        return
    smaller = min(to.kind.size, source.kind.size)
    fits = [k for k in (to.kind, source.kind) if k.members and k.size <= smaller
            and k.align <= min(to.kind.align, source.kind.align)]
    if not fits:
        return
    kind = p.random.choice(fits)
    if p.chance(40):
        kind = p.twin(kind)
    if kind.size > smaller or kind.align > min(to.kind.align, source.kind.align):
        return
    read, write = f"*({kind.name} *)({source.address})", f"*({kind.name} *)({to.address})"
    how = p.number(0, 3)
    if how == 0:
        p.do(f"{write} = {read};")
    elif how == 1:
        function = p.name("same")
        p.top.append(f"static {kind.name} {function}({kind.name} x) {{ return x; }}")
        p.do(f"{write} = {function}({read});")
    elif how == 2:
        function = p.name("put")
        p.top.append(f"static void {function}({kind.name} *q, {kind.name} x) {{ *q = x; }}")
        p.do(f"{function}(({kind.name} *)({to.address}), {read});")
    else:
        name = p.name("t")
        p.do(f"{kind.name} {name} = {read}; {write} = {name};")


def look(p, thing):
    """Something of an object is observed."""
    roll = p.number(0, 9)
    if roll < 5:
        p.see(p.path(thing)[0])
    elif roll < 7:
        p.see(f"({thing.address})[{p.index(thing.kind.size)}]")
    else:
        inner = p.scalar_kind(p.scalar())
        offset = p.aligned(thing.kind, inner)
        p.see(p.at(thing, offset, inner.scalar) if offset is not None else p.path(thing)[0])


@feature
def records(p):
    """Objects of random types, changed by members, bytes, parts and wholes."""
    first = p.record(depth=p.number(0, 2))
    kinds = [first, p.pick(first, p.twin(first), p.record(depth=1), p.array(p.scalar_kind(p.scalar()), p.number(1, 5)))]
    things = [p.object(kind) for kind in kinds]
    for _ in range(p.number(2, 5)):
        change(p, things)
    for _ in range(p.number(1, 3)):
        look(p, p.random.choice(things))


@feature
def parts_of_arrays(p):
    """Ranges that begin or end inside of elements."""
    kind = p.array(p.scalar_kind(p.pick("int", "short", "long", "long long", "unsigned")), p.number(2, 4))
    things = [p.object(kind), p.object(kind)]
    a, b = things
    p.do(f"{p.path(b)[0]} = {p.value()}; {p.path(b)[0]} = {p.value()};")
    size = p.number(1, kind.size)
    to, source = p.number(0, kind.size - size), p.number(0, kind.size - size)
    p.do(p.pick(f"memcpy({a.address} + {to}, {b.address} + {source}, {size});",
                f"memmove({a.address} + {to}, {b.address} + {source}, {size});",
                f"memmove({b.address} + {to}, {b.address} + {source}, {size});",
                f"memset({b.address} + {to}, {p.pick(1, 255, p.value())}, {size});"))
    look(p, a)
    look(p, b)
    if p.chance(40):
        p.see(f"memcmp({a.address}, {b.address}, {p.number(1, kind.size)}) == 0")


@feature
def twins(p):
    """A record written as one type and read as another one of the same layout."""
    count = p.number(2, 4)
    item = p.scalar_kind(p.pick("int", "short", "long", "char"))
    one = p.record(members=[p.array(item, count)] if p.chance(50) else [p.array(item, count - 1), item], union=False)
    two = p.record(members=[item] * count, union=False)
    kinds = [one, two]
    p.random.shuffle(kinds)
    things = [p.object(k) for k in kinds]
    if p.chance(30):
        both = p.record(members=kinds, union=True)
        things.append(p.object(both))
    p.do(f"{p.path(things[0])[0]} = {p.value()}; {p.path(things[1])[0]} = {p.value()};")
    for _ in range(p.number(1, 2)):
        pair = p.random.sample(things, 2)
        whole(p, *pair)
    for _ in range(2):
        look(p, p.random.choice(things))


@feature
def past_a_member(p):
    """A pointer to a member leads past it, inside of the object."""
    item = p.scalar_kind(p.pick("int", "short", "char", "byte", "long"))
    lengths = [p.pick(1, 1, 2, 3, 4), p.pick(1, 2, 3)]
    members = [p.array(item, lengths[0]), p.pick(item, p.array(item, lengths[1]))]
    if p.chance(40):
        members.insert(p.number(0, 2), item)
    kind = p.record(members=members, union=False)
    thing = p.object(p.pick(kind, kind, p.array(kind, 2)))
    inside = f"{thing.lvalue}[0]" if thing.kind.item else thing.lvalue
    member = p.random.choice([(n, o, m) for n, o, m in kind.members if m.item and m.item.scalar == item.scalar])
    first = member[1] // item.size
    total = thing.kind.size // item.size
    pointer, at = p.name("q"), p.number(0, total - 1) - first
    p.do(f"{item.scalar} *{pointer} = {inside}.{member[0]};")
    p.do(f"{pointer}[{at}] = {p.value()};")
    if p.chance(50):
        p.do(f"{p.path(thing)[0]} = {p.value()};")
    p.see(f"{pointer}[{p.number(0, total - 1) - first}]")
    look(p, thing)


@feature
def rows(p):
    """A two-dimensional array, also indexed across its rows."""
    item, rows, columns = p.pick("int", "short", "byte"), p.number(2, 3), p.number(1, 4)
    thing = p.object(p.array(p.array(p.scalar_kind(item), columns), rows))
    flat, total = p.name("q"), rows * columns
    p.do(f"{item} *{flat} = {p.pick(f'&{thing.lvalue}[0][0]', f'{thing.lvalue}[0]', f'({item} *){thing.lvalue}')};")
    for _ in range(p.number(1, 2)):
        row = p.name("r")
        p.do(p.pick(f"{flat}[{p.index(total)}] = {p.value()};",
                    f"{p.path(thing)[0]} = {p.value()};",
                    f"{item} (*{row})[{columns}] = {thing.lvalue} + {p.index(rows)}; (*{row})[{p.index(columns)}] = {p.value()};",
                    f"memset({thing.lvalue}[{p.index(rows)}], {p.pick(1, 255)}, sizeof {thing.lvalue}[0]);"))
    p.see(f"{flat}[{p.index(total)}]")
    look(p, thing)


@feature
def unions(p):
    """Members of a union are written and read as others."""
    members = [p.scalar_kind("int"), p.scalar_kind("float"), p.array(p.scalar_kind("byte"), p.number(4, 9)),
               p.scalar_kind("double"), p.array(p.scalar_kind("short"), p.number(2, 4)), p.scalar_kind("long long")]
    kind = p.record(members=p.random.sample(members, p.number(2, 4)), union=True)
    if p.chance(40):
        kind = p.record(members=[p.scalar_kind("int"), kind], union=False)
    thing = p.object(kind)
    for _ in range(p.number(1, 3)):
        lvalue, scalar = p.path(thing)
        p.do(f"{lvalue} = {'(short)' if scalar in ('float', 'double') else ''}{p.value()};")
    if p.chance(40):
        other = p.object(kind)
        p.do(f"{other.lvalue} = {thing.lvalue};")
        thing = other
    for _ in range(2):
        lvalue, scalar = p.path(thing)
        p.see(f"{lvalue} > {p.number(-9, 9)}" if scalar in ("float", "double") else lvalue)


@feature
def bit_fields(p):
    """Bit-fields of one unit, alone, copied and seen as bytes."""
    widths, left = [], 32
    while left:
        width = min(left, p.number(1, 14))
        widths.append(width)
        left -= width
    fields = [f"{p.pick('unsigned', 'int')} f{i} : {w};" for i, w in enumerate(widths)]
    name, thing = p.name("B"), p.name("b")
    p.top.append(f"struct {name} {{ {' '.join(fields)} }};")
    before = p.pick("", "int before; ")
    p.top.append(f"union {name}u {{ struct {name} b; unsigned all; byte bytes[4]; }};")
    p.top.append(f"struct {name}s {{ {before}struct {name} b; int after; }};")
    inside = p.pick("union", "struct")
    if inside == "union":
        p.do(f"union {name}u {thing} = {{.all = {p.value()}}};")
    else:
        p.do(f"struct {name}s {thing} = {{0}};")
    field = lambda: f"{thing}.b.f{p.number(0, len(widths) - 1)}"
    for _ in range(p.number(1, 3)):
        p.do(f"{field()} {p.pick('=', '=', '+=', '|=', '-=')} {p.value()};")
    if p.chance(40):
        q = p.name("q")
        p.do(f"struct {name} *{q} = &{thing}.b; {q}->f0 = {p.value()};")
    if p.chance(30):
        other = p.name("b")
        kind = f"{'union' if inside == 'union' else 'struct'} {name}{inside[0]}"
        p.do(f"{kind} {other} = {thing}; {other}.b.f0++; {thing} = {other};")
    p.see(field())
    p.see(f"{thing}.{p.pick('all', f'bytes[{p.index(4)}]')}" if inside == "union"
          else f"((byte *)&{thing}.b)[{p.index(4)}]")
    if inside == "struct":
        p.see(f"{thing}.after")


# Pointers that travel.

def carried(p, source):
    """A pointer goes through something that is not a pointer; gives the name that it arrives under."""
    n = p.name("")
    word = p.machine.word
    half, real = word * 4, "double" if word == 8 else "float"
    part = "unsigned" if word == 8 else "unsigned short"
    q, offset = f"q{n}", p.number(0, 5)
    ways = {
        "number": [f"word w{n} = (word){source}; void *{q} = (void *)w{n};"],
        "halves": [f"word w{n} = (word){source}; {part} lo{n} = w{n}, hi{n} = w{n} >> {half}; "
                   f"void *{q} = (void *)((word)hi{n} << {half} | lo{n});"],
        "real": [f"union {{ void *p; {real} d; }} u{n}, w{n}; u{n}.p = {source}; {real} d{n} = u{n}.d; w{n}.d = d{n}; "
                 f"void *{q} = w{n}.p;"],
        "union": [f"union {{ void *p; word w; byte b[{word}]; }} u{n}; u{n}.p = {source}; "
                  f"u{n}.b[{p.number(0, word - 1)}] ^= 0; word w{n} = u{n}.w; u{n}.w = w{n}; void *{q} = u{n}.p;"],
        "bytes": [f"void *s{n} = {source}, *{q} = 0; for (int i = 0; i < {word}; i++) ((byte *)&{q})[i] = ((byte *)&s{n})[i];"],
        "masked bytes": [f"void *s{n} = {source}, *{q} = 0; byte b{n}[{word}]; "
                         f"for (int i = 0; i < {word}; i++) b{n}[i] = ((byte *)&s{n})[i] ^ 0x5a; "
                         f"for (int i = 0; i < {word}; i++) ((byte *)&{q})[i] = b{n}[i] ^ 0x5a;"],
        "shifted bytes": [f"word s{n} = (word){source}, w{n} = 0; for (int i = {word - 1}; i >= 0; i--) "
                          f"w{n} = w{n} << 8 | (s{n} >> 8 * i & 255); void *{q} = (void *)w{n};"],
        "memcpy": [f"void *s{n} = {source}, *{q}; word w{n} = 0; memcpy(&w{n}, &s{n}, sizeof s{n}); memcpy(&{q}, &w{n}, sizeof {q});"],
        "memcpy of parts": [f"void *s{n} = {source}, *{q} = 0; memcpy(&{q}, &s{n}, 3); "
                            f"memmove((byte *)&{q} + 3, (byte *)&s{n} + 3, {word - 3});"],
        "unaligned buffer": [f"void *s{n} = {source}, *{q}; byte b{n}[{word + 5}]; memcpy(b{n} + {offset}, &s{n}, {word}); "
                             f"memcpy(&{q}, b{n} + {offset}, {word});"],
        "struct": [f"struct C{n} {{ int a; void *p; }};", f"static struct C{n} f{n}(struct C{n} x) {{ x.a++; return x; }}",
                   f"struct C{n} c{n} = {{1, {source}}}; void *{q} = f{n}(c{n}).p;"],
        "number in a struct": [f"struct C{n} {{ word w[2]; }};", f"static struct C{n} f{n}(void *x) "
                               f"{{ struct C{n} c = {{{{1, (word)x}}}}; return c; }}",
                               f"void *{q} = (void *)f{n}({source}).w[1];"],
        "variadic": [f"static void *f{n}(int k, ...) {{ __builtin_va_list l; __builtin_va_start(l, k); "
                     f"while (k--) __builtin_va_arg(l, int); void *r = __builtin_va_arg(l, void *); __builtin_va_end(l); return r; }}",
                     f"void *{q} = f{n}(1, 5, (void *){source});"],
        "variadic number": [f"static word f{n}(int k, ...) {{ __builtin_va_list l; __builtin_va_start(l, k); "
                            f"word r = __builtin_va_arg(l, word); __builtin_va_end(l); return r; }}",
                            f"void *{q} = (void *)f{n}(1, (word){source});"],
        "variadic struct": [f"struct C{n} {{ int a; void *p; }};",
                            f"static void *f{n}(int k, ...) {{ __builtin_va_list l; __builtin_va_start(l, k); "
                            f"struct C{n} r = __builtin_va_arg(l, struct C{n}); __builtin_va_end(l); return r.p; }}",
                            f"struct C{n} c{n} = {{1, {source}}}; void *{q} = f{n}(0, c{n});"],
        "table": [f"static void *t{n}[4];", f"t{n}[{p.index(4)}] = 0; t{n}[2] = {source}; void *{q} = t{n}[2];"],
        "table of numbers": [f"static word t{n}[3];", f"t{n}[1] = (word){source}; void *{q} = (void *)t{n}[1];"],
        "difference": [f"static int base{n};", f"word w{n} = (word){source} - (word)&base{n}; void *{q} = (void *)(w{n} + (word)&base{n});"],
        "mask": [f"word w{n} = (word){source} ^ 0x1234; void *{q} = (void *)(w{n} ^ 0x1234);"],
        "bit-fields": [f"struct C{n} {{ unsigned a : 9, b : 23; }};",
                       f"word w{n} = (word){source}; struct C{n} c{n} = {{w{n}, w{n} >> 9}}; "
                       f"void *{q} = (void *)(w{n} & ~(word)0xffffffff | (word)c{n}.b << 9 | c{n}.a);"],
        "heap": [f"void **h{n} = malloc(2 * sizeof *h{n}); h{n}[1] = {source}; "
                 f"{p.pick('', f'h{n} = realloc(h{n}, 4 * sizeof *h{n}); ')}void *{q} = h{n}[1];"],
        "list": [f"struct N{n} {{ struct N{n} *next; void *p; }};",
                 f"struct N{n} a{n} = {{0, {source}}}, b{n} = {{&a{n}, 0}}; void *{q} = b{n}.next->p;"],
        "literal": [f"struct C{n} {{ int a[3]; void *p; }};", f"void *{q} = ((struct C{n}){{{{1}}, {source}}}).p;"],
        "twin struct": [f"struct C{n} {{ void *p[2]; }}; struct D{n} {{ word a, b; }};",
                        f"struct C{n} c{n} = {{{{0, {source}}}}}; struct D{n} d{n} = *(struct D{n} *)&c{n}; void *{q} = (void *)d{n}.b;"],
        "variable array": [f"int n{n} = ({p.input()} & 1) + 2; void *a{n}[n{n}]; a{n}[n{n} - 1] = {source}; void *{q} = a{n}[n{n} - 1];"],
        "flexible member": [f"struct C{n} {{ int a; void *p[]; }};",
                            f"struct C{n} *c{n} = malloc(sizeof *c{n} + 2 * sizeof(void *)); c{n}->p[1] = {source}; void *{q} = c{n}->p[1];"],
        "recursion": [f"static void *f{n}(void **x, int k) {{ void *y = *x; return k ? f{n}(&y, k - 1) : *x; }}",
                      f"void *s{n} = {source}; void *{q} = f{n}(&s{n}, {p.number(0, 2)});"],
        "pointer to pointer": [f"static void f{n}(void *to, void **from) {{ *(void **)to = *from; }}",
                               f"void *s{n} = {source}, *{q} = 0; f{n}(&{q}, &s{n});"],
        "long long": [f"long long w{n} = (long long)(word){source}; void *{q} = (void *)(word)(w{n} * 2 / 2);"],
        "comparison": [f"void *s{n} = {source}; byte *{q} = (byte *)s{n}; int k{n} = 0; while ((word){q} % 4096 != (word)s{n} % 4096 && k{n} < 3) k{n}++;"],
        "struct of two, cut": [f"struct C{n} {{ void *p; word w; }};", f"struct C{n} c{n} = {{{source}, 7}}, d{n} = {{0, 0}}; "
                               f"memcpy(&d{n}, &c{n}, {word + 3}); void *{q} = d{n}.p;"],
    }
    way = p.random.choice(sorted(ways))
    pieces = ways[way]
    p.features.append(way)
    p.top += pieces[:-1]
    p.do(pieces[-1])
    return q


@feature
def travelling_pointer(p):
    """A pointer arrives by detours; a write through it is seen at its target."""
    kind = p.pick(p.scalar_kind("int"), p.array(p.scalar_kind("int"), 3),
                  p.record(members=[p.scalar_kind("int"), p.array(p.scalar_kind("int"), 2)], union=False))
    thing = p.object(kind)
    target, _ = p.path(thing)
    q = f"&{target}"
    for _ in range(p.pick(1, 1, 2, 3)):
        q = carried(p, q)
    p.do(f"*(int *){q} = {p.value()};")
    p.see(target)
    if p.chance(40):
        p.do(f"{target} = {p.value()};")
        p.see(f"*(int *){q}")


@feature
def travelling_function(p):
    """A function's address arrives by detours and is called."""
    names = [p.name("f") for _ in range(p.number(1, 3))]
    state = p.name("g")
    p.top.append(f"static int {state};")
    p.top += [f"static int {name}(int x) {{ {state} += {i + 1}; return x {p.pick('+', '^', '*')} {i + 3}; }}"
              for i, name in enumerate(names)]
    way, result = p.number(0, 3), p.name("r")
    if way == 0:
        table = p.name("t")
        p.top.append(f"static int (*{p.pick('', 'const ')}{table}[])(int) = {{ {', '.join(names)} }};")
        p.do(f"int {result} = {table}[{p.index(len(names))}]({p.value()});")
    elif way == 1:
        record, h = p.name("H"), p.name("h")
        p.top.append(f"struct {record} {{ int a; struct {{ int (*call)(int); int arg; }} in[2]; }};")
        p.do(f"struct {record} {h} = {{1, {{{{{names[0]}, 2}}, {{.call = {names[-1]}, .arg = {p.value()}}}}}}};")
        p.do(f"int {result} = {h}.in[{p.index(2)}].call({h}.in[1].arg);")
    else:
        q = carried(p, f"(void *){p.random.choice(names)}")
        p.do(f"int {result} = ((int (*)(int)){q})({p.value()});")
    p.see(result)
    p.see(state)


@feature
def differences(p):
    """Differences and comparisons of pointers into one object."""
    item, length = p.pick("int", "short", "long", "byte"), p.number(2, 5)
    thing = p.object(p.array(p.scalar_kind(item), length))
    a, b = p.name("p"), p.name("q")
    p.do(f"{item} *{a} = {thing.lvalue} + {p.index(length)}, *{b} = &{thing.lvalue}[{p.index(length)}];")
    p.do(f"*({a} - ({a} - {b})) = {p.value()};")
    p.see(f"{a} - {b}")
    p.see(p.pick(f"{a} < {b}", f"(byte *){a} - (byte *){b}", f"{a} == {b}", f"*{b}", f"{b}[{a} - {b}]"))


# Calls.

@feature
def variadic(p):
    """Arguments of all sorts through `...`."""
    record = p.record(depth=1, union=False)
    thing = p.object(record)
    p.do(f"{p.path(thing)[0]} = {p.value()};")
    function, kinds, given, uses = p.name("f"), [], [], []
    for i in range(p.number(2, 4)):
        kind = p.pick("int", "long long", "word", "double", "int *", record.name)
        if kind == "int *":
            target = p.object(p.scalar_kind("int"))
            p.see(target.lvalue)
            given.append(f"&{target.lvalue}")
            uses.append(f"*__builtin_va_arg(l, int *) = {i + 3};")
        elif kind == record.name:
            given.append(thing.lvalue)
            uses.append(f"{{ {kind} x = __builtin_va_arg(l, {kind}); s += {first_path(record)}; }}")
        else:
            given.append(f"({kind})(short){p.value()}")
            uses.append(f"s = s * 3 + (long long)__builtin_va_arg(l, {kind});")
    use = " ".join(uses)
    if p.chance(40):
        inner = p.name("g")
        p.top.append(f"static long long {inner}(__builtin_va_list l) {{ long long s = 0; {use} return s; }}")
        use = f"s = {inner}(l);"
    p.top.append(f"static long long {function}(int n, ...) {{ long long s = n; __builtin_va_list l; "
                 f"__builtin_va_start(l, n); {use} __builtin_va_end(l); return s; }}")
    result = p.name("r")
    p.do(f"long long {result} = {function}({p.value()}, {', '.join(given)});")
    p.see(result)


def first_path(kind):
    """The first scalar of a record `x`, without inputs."""
    text = "x"
    while not kind.scalar:
        if kind.item:
            text, kind = f"{text}[{kind.length - 1}]", kind.item
        else:
            member, _, kind = kind.members[-1]
            text = f"{text}.{member}"
    return text


@feature
def by_value(p):
    """Records as arguments, results and compound literals are copies."""
    kind = p.record(depth=p.number(0, 2), union=False)
    thing, other = p.object(kind), p.object(kind)
    function = p.name("f")
    inside = first_path(kind)
    p.top.append(f"static {kind.name} {function}({kind.name} x, {kind.name} *q, int v) "
                 f"{{ {inside} += v; {p.pick('*q = x;', '', inside.replace('x', '(*q)', 1) + ' = v;')} return x; }}")
    p.do(f"{p.path(thing)[0]} = {p.value()};")
    p.do(p.pick(f"{other.lvalue} = {function}({thing.lvalue}, &{thing.lvalue}, {p.value()});",
                f"{other.lvalue} = {function}({thing.lvalue}, &{other.lvalue}, {p.value()});",
                f"{other.lvalue} = {function}(({kind.name}){{0}}, &{thing.lvalue}, {p.value()});",
                f"{thing.lvalue} = {function}({function}({thing.lvalue}, &{other.lvalue}, 1), &{other.lvalue}, {p.value()});"))
    look(p, thing)
    look(p, other)
    if p.chance(30):
        p.see(inside.replace("x", f"{function}({thing.lvalue}, &{other.lvalue}, {p.value()})", 1))


@feature
def recursion(p):
    """Every activation has its own locals, whose addresses are handed on."""
    function = p.name("f")
    depth = p.number(1, 3)
    p.top.append(p.pick(
        f"static int {function}(int *up, int n) {{ int here = *up + n; if (n) {{ int r = {function}(&here, n - 1); *up += here; return r; }} return *up; }}",
        f"static int {function}(int *up, int n) {{ int here[2] = {{n, *up}}; if (n) {{ {function}(here + (n & 1), n - 1); up[0] ^= here[0] + here[1]; }} else *up += 7; return *up; }}",
        f"struct {function}n {{ struct {function}n *up; int v; }}; static int {function}n(struct {function}n *up, int n) {{ struct {function}n me = {{up, n}}; "
        f"if (n) return {function}n(&me, n - 1); int s = 0; for (struct {function}n *q = &me; q; q = q->up) {{ s = s * 5 + q->v; q->v = 9; }} return s; }} "
        f"static int {function}(int *x, int n) {{ struct {function}n top = {{0, *x}}; int r = {function}n(&top, n); *x = top.v; return r; }}"))
    x = p.name("x")
    p.do(f"int {x} = {p.value()}; int r{x} = {function}(&{x}, {depth});")
    p.see(x)
    p.see(f"r{x}")


# Sizes that are known late, and the heap.

@feature
def variable_arrays(p):
    """Arrays whose length is an input."""
    n, a = p.name("n"), p.name("a")
    item = p.pick("int", "short", "byte", "long long")
    p.do(f"int {n} = ({p.input()} & 1) + {p.number(1, 2)};")
    if p.chance(50):
        p.do(f"{item} {a}[{n} + 1]; for (int i = 0; i <= {n}; i++) {a}[i] = {p.value()} + i;")
        p.do(p.pick(f"{a}[{n}] = {p.value()};", f"memset({a}, 1, sizeof {a} - 1);", f"{a}[{n} - 1] += {n};"))
        p.see(f"{a}[{n}{p.pick('', ' - 1')}]")
    else:
        function = p.name("f")
        p.top.append(f"static int {function}(int n, {item} m[][n]) {{ m[1][0] += 3; return m[1][n - 1] + sizeof *m; }}")
        p.do(f"{item} {a}[2][{n}]; for (int i = 0; i < 2 * {n}; i++) ((({item} *){a}))[i] = {p.value()} - i;")
        r = p.name("r")
        p.do(f"int {r} = {function}({n}, {a});")
        p.see(r)
        p.see(f"{a}[1][{n} - 1]")
    p.see(f"sizeof {a}")


@feature
def flexible_members(p):
    """A header with as many elements as were allocated."""
    item = p.pick("int", "short", "byte", "long")
    name, f, length = p.name("F"), p.name("f"), p.number(1, 4)
    p.top.append(f"struct {name} {{ int n; {p.pick('', 'short h[2]; ')}{item} data[]; }};")
    p.do(f"struct {name} *{f} = calloc(1, sizeof *{f} + {length} * sizeof({item}));")
    p.do(f"{f}->n = {length}; {f}->data[{p.index(length)}] = {p.value()};")
    if p.chance(50):
        g = p.name("g")
        p.do(f"struct {name} *{g} = calloc(1, sizeof *{g} + {length} * sizeof({item})); " + p.pick(
            f"memcpy({g}, {f}, sizeof *{f} + {length} * sizeof({item}));", f"*{g} = *{f};",
            f"memcpy({g}->data, {f}->data, {p.number(1, length * p.machine.size[item])});"))
        f = g
    if p.chance(40):
        p.do(f"((byte *){f}->data)[{p.index(length)}] = {p.value()};")
    p.see(f"{f}->data[{p.index(length)}]")
    p.see(f"{f}->n")


@feature
def lists(p):
    """Nodes on the heap, linked, turned round and freed."""
    name, head, count = p.name("L"), p.name("h"), p.number(1, 3)
    p.top.append(f"struct {name} {{ {p.pick('int v; struct ' + name + ' *next;', 'struct ' + name + ' *next; int v;')} }};")
    p.do(f"struct {name} *{head} = 0; for (int i = 0; i < {count}; i++) {{ struct {name} *n = malloc(sizeof *n); "
         f"n->v = {p.value()} + i; n->next = {head}; {head} = n; }}")
    change = p.number(0, 3)
    if change == 0:
        p.do(f"struct {name} *r{head} = 0; while ({head}) {{ struct {name} *n = {head}->next; {head}->next = r{head}; r{head} = {head}; {head} = n; }} {head} = r{head};")
    elif change == 1:
        p.do(f"for (struct {name} **q = &{head}; *q; q = &(*q)->next) if ((*q)->v & 1) {{ (*q)->v = {p.value()}; break; }}")
    elif change == 2:
        p.do(f"if ({head}->next) {{ struct {name} *n = {head}; {head} = n->next; free(n); }}")
    p.see(f"{head}->v")
    s = p.name("s")
    p.do(f"int {s} = 0; for (struct {name} *n = {head}; n; n = n->next) {s} = {s} * 3 + n->v;")
    p.see(s)


@feature
def reallocated(p):
    """A heap array grows and keeps what it held."""
    a, item = p.name("a"), p.pick("int", "byte", "short")
    p.do(f"{item} *{a} = malloc(2 * sizeof *{a}); {a}[0] = {p.value()}; {a}[1] = {p.value()};")
    p.do(f"{a} = realloc({a}, {p.number(3, 5)} * sizeof *{a}); {a}[2] = {p.value()};")
    p.see(f"{a}[{p.index(3)}]")
    if p.chance(50):
        b = p.name("b")
        p.do(f"{item} *{b} = malloc(2 * sizeof *{b}); {b}[0] = {b}[1] = {p.value()}; memcpy({a} + 1, {b}, sizeof *{b}); free({b});")
        p.see(f"{a}[1]")


# Texts and initial values.

@feature
def texts(p):
    """Functions of <string.h> on short texts with an unknown character."""
    a, b = p.name("a"), p.name("b")
    text = "".join(p.random.choice("abcxyz ") for _ in range(p.number(1, 5)))
    p.do(f"char {a}[16] = \"{text}\", {b}[16] = {{0}}; {a}[{p.index(len(text))}] = 'a' + ({p.input()} & 7);")
    for _ in range(p.number(1, 2)):
        p.do(p.pick(f"strcpy({b}, {a});", f"strcpy({b} + 1, {a});", f"strncpy({b}, {a}, {p.number(1, 7)});",
                    f"strcat({b}, {a});", f"memmove({a} + 1, {a}, {p.number(1, 6)});",
                    f"strcpy({b}, \"{text}\"); {b}[{p.index(len(text))}] = {p.pick(0, 99)};"))
    for _ in range(p.number(1, 2)):
        p.see(p.pick(f"strlen({b})", f"strlen({a})", f"strcmp({a}, {b}) < 0", f"strcmp({a}, {b}) == 0", f"strncmp({a}, {b}, 2) > 0",
                     f"strchr({a}, 'b') ? strchr({a}, 'b') - {a} : -1", f"strrchr({a}, 'a') ? strrchr({a}, 'a') - {a} : -1",
                     f"memchr({b}, 'c', 8) != 0", f"{b}[{p.index(8)}]", f"memcmp({a}, {b}, {p.number(1, 9)}) == 0"))


@feature
def initial(p):
    """Initialisers of static objects: designators, texts, addresses, long ones."""
    way = p.number(0, 4)
    name = p.name("c")
    if way == 0:
        length, offset = p.pick(40, 300, 5000), p.pick(0, 3, 8)
        text = "".join(p.random.choice("abcdefgh") for _ in range(length))
        p.top.append(f"static struct {{ char before[{max(offset, 1)}]; char text[{length + 1}]; int after; }} {name} = "
                     f"{{\"\", \"{text}\", 77}};")
        at = p.pick(0, p.number(0, length - 1), length - 1)
        p.see(f"{name}.text[{at} - ({p.input()} & 1) * ({at} > 0)]")
        p.see(f"{name}.after")
    elif way == 1:
        p.top.append(f"static int {name}a[5] = {{[3] = 7, 8, [1] = {p.number(1, 99)}}}; static int *{name} = &{name}a[2];")
        p.do(f"*{name} = {p.value()}; {name}++;")
        p.see(f"{name}[{p.pick(-2, -1, 0, 1)}]")
    elif way == 2:
        p.top.append(f"static struct {{ int k; const char *s; int t[2]; }} {name}[3] = {{[1] = {{2, \"two\", {{3, 4}}}}, {{5, \"six\", {{[1] = 6}}}}}};")
        p.see(f"{name}[({p.input()} & 1) + 1].s[{p.index(3)}]")
        p.see(f"{name}[{p.index(3)}].t[{p.index(2)}]")
    elif way == 3:
        p.top.append(f"static union {{ byte b[8]; int i[2]; short s; }} {name} = {p.pick('{{1, 2, 3, 4, 5}}', '{.i = {70000, 9}}', '{.s = 300}')};")
        p.do(f"{name}.b[{p.index(8)}] ^= {p.value()};")
        p.see(f"{name}.i[{p.index(2)}]")
    else:
        p.top.append(f"static struct {{ int a; int b[3]; }} {name}s = {{1, {{2, 3, 4}}}}; static byte *{name} = (byte *)&{name}s + {p.pick(4, 8, 5)};")
        p.do(f"*{name} = {p.value()};")
        p.see(f"{name}s.b[{p.index(3)}]")
        p.see(f"{name}[1]")


# Control.

@feature
def jumps(p):
    """A switch, a goto and a loop that decide where something is written."""
    thing = p.object(p.array(p.scalar_kind("int"), 4))
    a, i, again = thing.lvalue, p.name("i"), p.name("again")
    p.do(f"int {i} = 0; {again}: switch (({p.input()} + {i}) & 3) {{ case 0: {a}[0]++; case 1: {a}[{i} & 3] += 2; break; "
         f"case 2: {a}[{p.index(4)}] = {i}; break; default: *({a} + 3) ^= {p.value()}; }} if (++{i} < {p.number(1, 4)}) goto {again};")
    look(p, thing)
    look(p, thing)
