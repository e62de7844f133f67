"""Random small C programs about memory, each with one meaning only: `prove-against-run` needs them.

A program is a few *features* on shared inputs. It is kept as lists of self-contained pieces, so that
it can be reduced by leaving pieces out. Records have no hidden padding, objects are initialised where they
are declared, pointers are aligned: what gcc -O0 -fwrapv -fno-strict-aliasing computes is what the program means.
"""

import random

PRELUDE = """#include <assert.h>
typedef __SIZE_TYPE__ size_t;
typedef unsigned long word;
typedef unsigned char byte;
void *memcpy(void *, const void *, size_t); void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t); int memcmp(const void *, const void *, size_t);
void *malloc(size_t); void *calloc(size_t, size_t); void *realloc(void *, size_t); void free(void *);
size_t strlen(const char *); char *strcpy(char *, const char *); char *strncpy(char *, const char *, size_t);
char *strcat(char *, const char *); int strcmp(const char *, const char *); int strncmp(const char *, const char *, size_t);
char *strchr(const char *, int); char *strrchr(const char *, int); void *memchr(const void *, int, size_t);
extern int __VERIFIER_nondet_int(void); extern unsigned char __VERIFIER_nondet_uchar(void);
extern void __VERIFIER_assume(int);"""


class Machine:
    """Sizes and alignments of a data model."""

    def __init__(self, model):
        self.word = 8 if model == "lp64" else 4
        self.size = {"char": 1, "byte": 1, "signed char": 1, "short": 2, "unsigned short": 2, "int": 4, "unsigned": 4,
                     "long": self.word, "word": self.word, "long long": 8, "unsigned long long": 8,
                     "float": 4, "double": 8}

    def align(self, scalar):
        return min(self.size[scalar], self.word)


class Kind:
    """A type: a scalar, an array or a record, with its layout."""

    def __init__(self, size, align, scalar=None, item=None, length=0, name=None, members=(), union=False):
        self.size, self.align, self.scalar, self.item, self.length = size, align, scalar, item, length
        self.name, self.members, self.union = name, members, union

    def declare(self, name):
        """The declaration of a variable or member."""
        if self.item:
            return self.item.declare(f"{name}[{self.length}]")
        return f"{self.scalar or self.name} {name}"


class Object:
    """A variable or heap object: how it is named, and where its bytes begin."""

    def __init__(self, kind, lvalue, address):
        self.kind, self.lvalue, self.address = kind, lvalue, address


class Program:
    """A program in pieces."""

    def __init__(self, seed, model, exhaustive):
        self.random = random.Random(seed)
        self.seed, self.model, self.exhaustive = seed, model, exhaustive
        self.machine = Machine(model)
        self.top, self.body, self.seen, self.inputs, self.features = [], [], [], [], []
        self.names = 0

    # What features are made of.

    def name(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def number(self, low, high):
        return self.random.randint(low, high)

    def input(self):
        """An input: a value that the program is told to assume, or one of few."""
        most = 2 if self.exhaustive else 3
        if len(self.inputs) < most and (not self.inputs or self.chance(40)):
            domain = list(range(4)) if self.exhaustive else [self.pick(
                self.number(1, 9), self.number(-100, 300), self.number(-2**31, 2**31 - 1))]
            self.inputs.append((f"in{len(self.inputs)}", domain))
        return self.random.choice(self.inputs)[0]

    def value(self):
        """An integer, mostly one that depends on an input."""
        if self.chance(25):
            return str(self.pick(self.number(1, 9), self.number(-300, 300), self.number(0, 2**31 - 1)))
        one = self.input()
        return self.pick(one, one, f"({one} + {self.number(1, 90)})", f"({one} ^ {self.number(1, 4000)})",
                         f"({one} * {self.number(2, 70000)})", f"(-{one})", f"({one} << {self.number(1, 24)})")

    def index(self, below):
        """An index below a bound."""
        if below > 1 and self.chance(35):
            return f"(({self.input()} & 0xffff) % {below})"
        return str(self.number(0, below - 1))

    def do(self, text):
        self.body.append(text)

    def see(self, text):
        self.seen.append(text)

    def scalar(self, floats=False):
        kinds = ["char", "byte", "short", "unsigned short", "int", "unsigned", "int", "long", "word",
                 "long long", "unsigned long long"]
        return self.random.choice(kinds + ["float", "double"] * floats)

    def scalar_kind(self, name):
        return Kind(self.machine.size[name], self.machine.align(name), scalar=name)

    def array(self, item, length):
        return Kind(item.size * length, item.align, item=item, length=length)

    def kind(self, depth):
        """A type for a member."""
        roll = self.number(0, 99)
        if depth and roll < 20:
            return self.record(depth - 1)
        if depth and roll < 50:
            return self.array(self.kind(depth - 1), self.pick(1, 2, 2, 3, 4))
        return self.scalar_kind(self.scalar())

    def record(self, depth=1, members=None, union=None):
        """A record without hidden padding, declared at the top."""
        union = self.chance(20) if union is None else union
        members = members or [self.kind(depth) for _ in range(self.number(1 if depth else 2, 3))]
        placed, offset, align = [], 0, max(m.align for m in members)
        if union:
            size = max(m.size for m in members)
            size = -(-size // align) * align
            placed = [(f"m{i}", 0, m) for i, m in enumerate(members)]
            if all(m.size < size for m in members):
                placed.append(("all", 0, self.array(self.scalar_kind("byte"), size)))
            offset = size
        else:
            for i, member in enumerate(members + [None]):
                wanted = member.align if member else align
                gap = -offset % wanted
                if gap:
                    placed.append((f"gap{i}", offset, self.array(self.scalar_kind("byte"), gap)))
                    offset += gap
                if member:
                    placed.append((f"m{i}", offset, member))
                    offset += member.size
        name = self.name("U" if union else "S")
        word = "union" if union else "struct"
        inside = " ".join(m.declare(n) + ";" for n, _, m in placed)
        self.top.append(f"{word} {name} {{ {inside} }};")
        return Kind(offset, align, name=f"{word} {name}", members=tuple(placed), union=union)

    def twin(self, kind):
        """Another record with the same layout: runs of equal scalars become arrays or members."""
        flat = []

        def walk(kind):
            if kind.scalar:
                flat.append(kind.scalar)
            elif kind.item:
                for _ in range(kind.length):
                    walk(kind.item)
            elif kind.union:
                walk(next(m for _, _, m in kind.members if m.size == kind.size))
            else:
                for _, _, member in kind.members:
                    walk(member)

        walk(kind)
        members = []
        while flat:
            run = 1
            while run < len(flat) and flat[run] == flat[0]:
                run += 1
            take = self.number(1, run)
            item = self.scalar_kind(flat[0])
            members.append(self.array(item, take) if take > 1 or self.chance(30) else item)
            del flat[:take]
        record = self.record(members=members, union=False)
        return record if record.size == kind.size else kind

    def object(self, kind, initial=None):
        """An object of a type, with storage of some sort, and zero if it is not initialised."""
        name = self.name("o")
        thing = Object(kind, name, f"(byte *)&{name}")
        where = self.pick("global", "global", "static", "local", "local", "heap")
        if where == "heap" and not initial:
            # The pointer is to the whole, so that sizes are right however it is used.
            self.do(f"{kind.declare(f'(*{name})')} = " + self.pick(
                f"calloc(1, {kind.size});", f"malloc({kind.size}); memset({name}, 0, {kind.size});"))
            return Object(kind, f"(*{name})", f"(byte *){name}")
        start = f" = {initial}" if initial else ""
        if where == "global":
            self.top.append(f"{self.pick('', 'static ')}{kind.declare(name)}{start};")
        elif where == "static":
            self.do(f"static {kind.declare(name)}{start};")
        else:
            self.do(f"{kind.declare(name)}{start or self.zeroed(kind, name)};")
        return thing

    def zeroed(self, kind, name):
        if kind.scalar:
            return " = 0"
        return self.pick(" = {0}", f"; memset(&{name}, 0, sizeof {name})")

    def path(self, thing):
        """A random scalar inside of an object: its lvalue and type."""
        lvalue, kind = thing.lvalue, thing.kind
        while not kind.scalar:
            if kind.item:
                lvalue, kind = f"{lvalue}[{self.index(kind.length)}]", kind.item
            else:
                member, _, inner = self.random.choice(kind.members)
                lvalue, kind = f"{lvalue}.{member}", inner
        return lvalue, kind.scalar

    def at(self, thing, offset, scalar):
        """A scalar at an offset of an object, by a cast."""
        return f"*({scalar} *)({thing.address} + {offset})"

    def aligned(self, kind, inner):
        """An offset of an object at which something of another type fits, or None."""
        if inner.size > kind.size or inner.align > kind.align:
            return None
        return self.number(0, (kind.size - inner.size) // inner.align) * inner.align

    # The whole.

    def text(self, ending):
        """The program, with an ending that uses the values `v0`, `v1`... that it observes."""
        lines = [f"/* seed {self.seed}, {self.model}: {', '.join(self.features)} */", PRELUDE]
        lines += self.top
        lines.append("int main(void) {")
        for name, domain in self.inputs:
            if self.exhaustive:
                lines.append(f"byte {name} = __VERIFIER_nondet_uchar(); __VERIFIER_assume({name} <= {max(domain)});")
            else:
                lines.append(f"int {name} = __VERIFIER_nondet_int(); __VERIFIER_assume({name} == {literal(domain[0])});")
        lines += self.body
        lines += [f"long long v{i} = (long long)({text});" for i, text in enumerate(self.seen)]
        return "\n".join(lines + ending + ["return 0; }", ""])


def literal(value):
    return "(-2147483647 - 1)" if value == -2**31 else str(value)


def generate(seed, features, model="lp64", exhaustive=False):
    """The program of a seed, with some of these features: functions by their names."""
    program = Program(seed, model, exhaustive)
    chosen = sorted(features)
    for _ in range(program.pick(1, 1, 1, 2)):
        name = program.random.choice(chosen)
        program.features.append(name)
        features[name](program)
    program.input()
    return program
