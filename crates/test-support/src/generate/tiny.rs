//! Generates tiny C programs, each about a few of the things that C has: words of all sizes that
//! wrap, shifts, arrays, pointers, records, unions, bit-fields, recursion, calls of calls and
//! through pointers, loops short and long, `switch`, `goto`, assumptions.
//!
//! Nothing is undefined: signed arithmetic wraps, divisors and shift amounts are made to fit,
//! indices are taken modulo the length, every loop and every recursion ends. The inputs of a
//! program have at most `BITS` bits together.
//!
//! A check that compares with random numbers is always or never violated. So a program is made
//! twice: first it returns the value that the check is about, and the values of all runs are
//! collected; then the check says something that just holds, or just does not.

use crate::random::Random;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The bits of all inputs together.
const BITS: u32 = 8;

const TYPES: [&str; 9] = [
    "unsigned char",
    "signed char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "int",
    "long",
    "unsigned long",
];

const EDGES: [&str; 10] = [
    "127",
    "128",
    "255",
    "-1",
    "-128",
    "32767",
    "65535u",
    "2147483647",
    "(-2147483647 - 1)",
    "4294967295u",
];

/// What can be used at a place of the program.
#[derive(Clone, Default)]
struct Scope {
    /// What can be read.
    read: Vec<String>,
    /// What can be written.
    written: Vec<String>,
    /// Functions of two words that can be called.
    functions: Vec<String>,
    /// Statements that can be used as they are.
    statements: Vec<String>,
    /// How many statements deep.
    depth: u32,
    /// How often the place may be passed in one run; inputs cost as much.
    passes: u32,
}

/// A program without its last check.
pub struct Sketch {
    random: Random,
    text: String,
    /// What the check is about.
    value: String,
}

/// Where the check goes, and where checks on the way go.
const HOLE: &str = "@CHECK@";
const INNER: &str = "@INNER@";

impl Sketch {
    /// The program that returns the value.
    pub fn observed(&self) -> String {
        let text = self
            .text
            .replace(HOLE, &format!("return (int)({});", self.value));
        // Nothing is checked on the way, so that all values are seen.
        text.replace(INNER, "#define CHECK(c) do { (void)(c); } while (0)")
    }

    /// The program with a check that fits the values that were seen.
    pub fn checked(mut self, seen: &BTreeSet<i32>) -> String {
        let value = format!("(int)({})", self.value);
        let values: Vec<i32> = seen.iter().copied().collect();
        let any = values.get(self.random.below(values.len().max(1) as u64) as usize);
        let any = any.copied().unwrap_or_default();
        let (least, most) = match (values.first(), values.last()) {
            (Some(&least), Some(&most)) => (least, most),
            _ => (0, 0),
        };
        let number = |value: i32| match value {
            i32::MIN => "(-2147483647 - 1)".to_owned(),
            value => value.to_string(),
        };
        let condition = match self.random.below(8) {
            0 | 1 => format!("{value} <= {}", number(most)),
            2 => format!("{value} < {}", number(most)),
            3 => format!("{value} >= {}", number(least)),
            4 => format!("{value} > {}", number(least)),
            5 => format!("{value} != {}", number(any)),
            6 => format!("{value} != {}", number(any ^ 1)),
            _ => {
                // A bit that is the same in all values.
                let same = values.iter().fold(!0, |same, value| same & !(value ^ any));
                let bit = 1 << self.random.below(4);
                let mask = if same & bit != 0 { bit } else { same & 15 };
                format!("({value} & {mask}) == {}", number(any & mask))
            }
        };
        let text = self.text.replace(HOLE, &format!("CHECK({condition});"));
        text.replace(
            INNER,
            "#define CHECK(c) do { if (!(c)) __assert_fail(#c, \"\", 0, \"\"); } while (0)",
        )
    }
}

/// The program of a seed.
pub fn sketch(seed: u64) -> Sketch {
    let mut tiny = Tiny {
        random: Random(seed),
        bits: BITS,
        names: 0,
        labels: 0,
    };
    let (text, value) = tiny.program();
    Sketch {
        random: tiny.random,
        text,
        value,
    }
}

struct Tiny {
    random: Random,
    /// What is left of the inputs' bits.
    bits: u32,
    names: usize,
    labels: usize,
}

impl Tiny {
    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn ty(&mut self) -> &'static str {
        self.random.pick(&TYPES)
    }

    fn program(&mut self) -> (String, String) {
        let mut globals = format!(
            "extern _Bool __VERIFIER_nondet_bool(void);\n\
             extern unsigned char __VERIFIER_nondet_uchar(void);\n\
             extern signed char __VERIFIER_nondet_char(void);\n\
             extern void __VERIFIER_assume(int);\n\
             extern void __assert_fail(const char *, const char *, unsigned, const char *);\n\
             {INNER}\n"
        );
        let mut scope = Scope {
            passes: 1,
            ..Scope::default()
        };
        let word = self.ty();
        let start = self.constant();
        let _ = writeln!(globals, "{} g = {start};", self.ty());
        scope.both("g");
        let features = 1 + self.random.below(3);
        let mut main = String::new();
        for _ in 0..features {
            match self.random.below(8) {
                0 => self.array(word, &mut globals, &mut scope),
                1 | 2 => self.pointers(word, &mut globals, &mut main, &mut scope),
                3 => self.record(&mut globals, &mut scope),
                4 => self.union(&mut globals, &mut scope),
                5 => self.recursive(&mut globals, &mut scope),
                _ => self.function(&mut globals, &mut scope),
            }
        }
        if self.random.one_in(6) {
            self.through_pointer(&mut globals, &mut main, &mut scope);
        }
        for name in ["x", "y"] {
            let first = match self.random.below(3) {
                0 => self.constant(),
                _ => self.input(1).unwrap_or_else(|| self.constant()),
            };
            let _ = writeln!(main, "    {} {name} = {first};", self.ty());
            scope.both(name);
        }
        for function in scope.functions.clone() {
            let (to, first) = (self.target(&scope), self.expression(&scope, 1));
            let second = self.atom(&scope);
            let _ = writeln!(main, "    {to} = {function}({first}, {second});");
        }
        for _ in 0..1 + self.random.below(4) {
            main.push_str(&self.statement(&scope));
        }
        let written = |text: &str| scope.written.iter().any(|place| text.contains(place));
        let value = loop {
            let value = self.expression(&scope, 2);
            if written(&value) {
                break value;
            }
        };
        let text = format!("{globals}int main(void) {{\n{main}    {HOLE}\n    return 0;\n}}\n");
        (text, value)
    }

    fn array(&mut self, word: &str, globals: &mut String, scope: &mut Scope) {
        let name = self.name("t");
        let length = 2 + self.random.below(3);
        let first = self.constant();
        let _ = writeln!(globals, "{word} {name}[{length}] = {{ {first}, 1 }};");
        let index = self.random.pick(&["g", "g + 1", "2"]);
        scope.both(&format!("{name}[(unsigned)({index}) % {length}]"));
        scope.both(&format!("{name}[{}]", self.random.below(length)));
    }

    fn pointers(&mut self, word: &str, globals: &mut String, main: &mut String, scope: &mut Scope) {
        let (one, many) = (self.name("o"), self.name("m"));
        let pointer = self.name("p");
        let first = self.constant();
        let _ = writeln!(globals, "{word} {one} = {first}, {many}[3] = {{ 2, 3 }};");
        let _ = writeln!(main, "    {word} *{pointer} = &{one};");
        let index = "(unsigned)(g) % 3";
        scope.both(&format!("(*{pointer})"));
        scope.both(&one);
        scope.both(&format!("{many}[{index}]"));
        scope.statements.push(format!("{pointer} = &{one};"));
        scope
            .statements
            .push(format!("{pointer} = &{many}[{index}];"));
        scope.statements.push(format!("{pointer} = {many} + 1;"));
        scope.statements.push(format!(
            "{pointer} = {pointer} == &{one} ? {many} : &{one};"
        ));
        if self.random.one_in(2) {
            let put = self.name("put");
            let mut inside = Scope::default();
            inside.read.extend(["(*to)".to_owned(), "v".to_owned()]);
            inside.both("g");
            let value = self.expression(&inside, 1);
            let _ = writeln!(
                globals,
                "static void {put}({word} *to, int v) {{ *to = {value}; }}"
            );
            for to in [&pointer, &format!("&{one}"), &format!("&{many}[1]")] {
                let given = self.random.pick(&["g", "1", "g - 3"]);
                scope.statements.push(format!("{put}({to}, {given});"));
            }
        }
        if self.random.one_in(3) {
            let twice = self.name("pp");
            let _ = writeln!(main, "    {word} **{twice} = &{pointer};");
            scope.both(&format!("(**{twice})"));
            scope.statements.push(format!("*{twice} = &{many}[2];"));
        }
    }

    fn record(&mut self, globals: &mut String, scope: &mut Scope) {
        let (tag, one, two) = (self.name("rec"), self.name("s"), self.name("w"));
        let (first, second) = (self.ty(), self.ty());
        let width = 1 + self.random.below(5);
        let sign = self.random.pick(&["unsigned", "signed"]);
        let _ = writeln!(
            globals,
            "struct {tag} {{ {first} x; {second} y; {sign} b : {width}; }} {one} = {{ 1, 2, 1 }}, {two};"
        );
        for record in [&one, &two] {
            for field in ["x", "y", "b"] {
                if self.random.one_in(2) {
                    scope.both(&format!("{record}.{field}"));
                }
            }
        }
        scope.both(&format!("{one}.b"));
        scope.statements.push(format!("{two} = {one};"));
        scope.statements.push(format!("{one} = {two};"));
        if self.random.one_in(2) {
            let bump = self.name("bump");
            let _ = writeln!(
                globals,
                "static struct {tag} {bump}(struct {tag} r) {{ r.x = r.x + r.b; return r; }}"
            );
            scope.statements.push(format!("{one} = {bump}({two});"));
            scope.statements.push(format!("{two} = {bump}({one});"));
        }
    }

    fn union(&mut self, globals: &mut String, scope: &mut Scope) {
        let name = self.name("u");
        let first = self.constant();
        let _ = writeln!(
            globals,
            "union {{ unsigned w; unsigned short h[2]; signed char c[4]; }} {name} = {{ {first} }};"
        );
        scope.both(&format!("{name}.w"));
        scope.both(&format!("{name}.h[{}]", self.random.below(2)));
        scope.both(&format!("{name}.c[{}]", self.random.below(4)));
    }

    fn function(&mut self, globals: &mut String, scope: &mut Scope) {
        let name = self.name("f");
        let (result, first, second) = (self.ty(), self.ty(), self.ty());
        let mut inside = Scope {
            read: scope.read.clone(),
            written: scope.written.clone(),
            functions: scope.functions.clone(),
            depth: 1 + self.random.below(2) as u32,
            ..Scope::default()
        };
        inside.read.retain(|text| !text.contains('*'));
        inside.written.retain(|text| !text.contains('*'));
        inside.both("a");
        inside.both("b");
        let mut body = String::new();
        for _ in 0..self.random.below(3) {
            body.push_str(&self.statement(&inside));
        }
        let value = self.expression(&inside, 2);
        let _ = writeln!(
            globals,
            "static {result} {name}({first} a, {second} b) {{\n{body}    return {value};\n}}"
        );
        scope.functions.push(name);
    }

    fn recursive(&mut self, globals: &mut String, scope: &mut Scope) {
        let name = self.name("r");
        let (result, second) = (self.ty(), self.ty());
        let mut inside = Scope::default();
        inside.both("b");
        inside.both("g");
        inside.read.push("n".to_owned());
        inside.depth = 2;
        let end = self.expression(&inside, 1);
        let step = self.expression(&inside, 1);
        let before = match self.random.below(3) {
            0 => self.statement(&inside),
            _ => String::new(),
        };
        let more = self.random.pick(&["+ 1", "+ b", "^ n", "- g", "* 3"]);
        let call = match self.random.below(4) {
            0 => format!("{name}_(n / 2, {step}) + {name}_(n - 1, b)"),
            1 => format!("{name}_(n - 1, {step})"),
            _ => format!("{name}_(n - 1, {step}) {more}"),
        };
        let most = 2 + self.random.below(2);
        let _ = writeln!(
            globals,
            "static {result} {name}_(unsigned n, {second} b) {{\n    if (n == 0 || n > {most}) return {end};\n{before}    return {call};\n}}\n\
             static {result} {name}(int n, {second} b) {{ return {name}_((unsigned)n & 3, b); }}"
        );
        scope.functions.push(name);
    }

    /// Two functions and a pointer to one of them.
    fn through_pointer(&mut self, globals: &mut String, main: &mut String, scope: &mut Scope) {
        let (one, two, pointer) = (self.name("h"), self.name("h"), self.name("fp"));
        let mut inside = Scope::default();
        inside.both("a");
        inside.both("b");
        inside.both("g");
        for name in [&one, &two] {
            let value = self.expression(&inside, 2);
            let _ = writeln!(
                globals,
                "static int {name}(int a, int b) {{ g ^= b; return {value}; }}"
            );
        }
        let _ = writeln!(main, "    int (*{pointer})(int, int) = {one};");
        let condition = self.condition(scope);
        let chosen = format!("{pointer} = {condition} ? {two} : {one};");
        scope.statements.push(chosen);
        scope.statements.push(format!("{pointer} = {two};"));
        scope.functions.push(pointer);
    }

    /// An input, if there are bits for it at a place that is passed so often.
    fn input(&mut self, passes: u32) -> Option<String> {
        let (bits, text) = match self.random.below(6) {
            0 if passes == 1 => (8, "__VERIFIER_nondet_char()"),
            1..=3 => (2, "(__VERIFIER_nondet_uchar() & 3)"),
            _ => (1, "__VERIFIER_nondet_bool()"),
        };
        let cost = bits * passes;
        if passes == 0 || cost > self.bits {
            return None;
        }
        self.bits -= cost;
        Some(text.to_owned())
    }

    fn constant(&mut self) -> String {
        if self.random.one_in(4) {
            self.random.pick(&EDGES).to_owned()
        } else {
            self.random.below(9).to_string()
        }
    }

    fn atom(&mut self, scope: &Scope) -> String {
        if scope.read.is_empty() || self.random.one_in(4) {
            return self.constant();
        }
        let at = self.random.below(scope.read.len() as u64) as usize;
        scope.read[at].clone()
    }

    fn expression(&mut self, scope: &Scope, depth: u32) -> String {
        if depth == 0 || self.random.one_in(5) {
            return self.atom(scope);
        }
        if !scope.functions.is_empty() && self.random.one_in(3) {
            let at = self.random.below(scope.functions.len() as u64) as usize;
            let name = scope.functions[at].clone();
            let first = self.expression(scope, depth - 1);
            let second = self.atom(scope);
            return format!("{name}({first}, {second})");
        }
        let left = self.expression(scope, depth - 1);
        let right = self.atom(scope);
        match self.random.below(16) {
            0..=2 => format!("({left} + {right})"),
            3 | 4 => format!("({left} - {right})"),
            5 => format!("({left} * {})", self.random.below(6)),
            6 => format!("({left} & {right})"),
            7 => format!("({left} ^ {right})"),
            8 => format!("({left} << ((unsigned)({right}) & 7))"),
            9 => format!("({left} >> ((unsigned)({right}) & 7))"),
            10 => format!("({left} / {})", 1 + self.random.below(5)),
            11 => format!("({left} % {})", 2 + self.random.below(5)),
            12 => format!("({})({left})", self.ty()),
            13 => {
                let condition = self.condition(scope);
                format!("({condition} ? {left} : {right})")
            }
            14 => format!("({left} {} {right})", self.random.pick(&["<", "=="])),
            _ => format!("{}({left})", self.random.pick(&["-", "~", "!"])),
        }
    }

    fn condition(&mut self, scope: &Scope) -> String {
        let operator = self.random.pick(&["<", "<=", "==", "!=", ">", ">="]);
        format!("({} {operator} {})", self.atom(scope), self.atom(scope))
    }

    fn statement(&mut self, scope: &Scope) -> String {
        let inner = Scope {
            depth: scope.depth + 1,
            ..scope.clone()
        };
        let choices = if scope.depth >= 2 { 8 } else { 16 };
        match self.random.below(choices) {
            0 if !scope.statements.is_empty() => {
                let at = self.random.below(scope.statements.len() as u64) as usize;
                format!("    {}\n", scope.statements[at])
            }
            1 => match self.input(scope.passes) {
                Some(input) => format!("    {} = {input};\n", self.target(scope)),
                None => self.assignment(scope),
            },
            2 => {
                let operator = self.random.pick(&["+=", "-=", "^=", "*=", "++", "--"]);
                let to = self.target(scope);
                match operator {
                    "++" | "--" => format!("    {to}{operator};\n"),
                    _ => format!("    {to} {operator} {};\n", self.atom(scope)),
                }
            }
            3 if self.random.one_in(3) => {
                let (left, right) = (self.condition(scope), self.condition(scope));
                format!("    CHECK({left} || {right});\n")
            }
            4 if self.random.one_in(3) => {
                format!("    __VERIFIER_assume({});\n", self.condition(scope))
            }
            8 | 9 => {
                let condition = match self.input(scope.passes) {
                    Some(input) if self.random.one_in(2) => format!("({input})"),
                    _ => self.condition(scope),
                };
                let then = self.statement(&inner);
                let mut text = format!("    if {condition} {{\n{then}    }}");
                if self.random.one_in(2) {
                    let otherwise = self.statement(&inner);
                    let _ = write!(text, " else {{\n{otherwise}    }}");
                }
                text + "\n"
            }
            10..=12 => self.repeated(&inner),
            13 => {
                let on = self.atom(scope);
                let (first, second) = (self.statement(&inner), self.statement(&inner));
                let end = self.random.pick(&["    break;\n", ""]);
                let other = self.assignment(scope);
                format!(
                    "    switch ((unsigned)({on}) % 3) {{\n    case 0:\n{first}{end}    \
                     case 2:\n{second}    break;\n    default:\n{other}    }}\n"
                )
            }
            14 => {
                self.labels += 1;
                let (label, counter) = (self.labels, self.name("k"));
                let again = 1 + self.random.below(3);
                let mut body = inner.clone();
                body.passes = 0;
                let body = self.statement(&body);
                format!(
                    "    {{\n    int {counter} = 0;\n    again{label}:;\n{body}    \
                     if ({counter}++ < {again}) goto again{label};\n    }}\n"
                )
            }
            _ => self.assignment(scope),
        }
    }

    fn target(&mut self, scope: &Scope) -> String {
        let at = self.random.below(scope.written.len() as u64) as usize;
        scope.written[at].clone()
    }

    fn assignment(&mut self, scope: &Scope) -> String {
        let value = self.expression(scope, 2);
        format!("    {} = {value};\n", self.target(scope))
    }

    /// A loop: short with anything in it, or long with little.
    fn repeated(&mut self, scope: &Scope) -> String {
        let counter = self.name("i");
        let mut inside = scope.clone();
        inside.read.push(counter.clone());
        let (bound, passes) = match self.random.below(4) {
            0 => (5 + self.random.below(40), 0),
            _ => {
                let bound = 1 + self.random.below(3);
                (bound, bound as u32)
            }
        };
        inside.passes = scope.passes * passes;
        inside.depth = scope.depth + if passes == 0 { 1 } else { 0 };
        let mut body = self.statement(&inside);
        if self.random.one_in(2) {
            body.push_str(&self.assignment(&inside));
        }
        if self.random.one_in(4) {
            let leave = self.random.pick(&["break", "continue"]);
            let _ = writeln!(body, "    if {} {leave};", self.condition(&inside));
        }
        let ty = self
            .random
            .pick(&["int", "unsigned", "unsigned char", "long"]);
        match self.random.below(3) {
            0 => format!(
                "    for ({ty} {counter} = 0; {counter} < {bound}; {counter}++) {{\n{body}    }}\n"
            ),
            1 => {
                let more = self.condition(scope);
                format!(
                    "    for ({ty} {counter} = {bound}; {counter} > 0 && !{more}; {counter}--) {{\n{body}    }}\n"
                )
            }
            // A `continue` goes to the condition, which counts.
            _ => format!(
                "    {{\n    {ty} {counter} = 0;\n    do {{\n{body}    }} while ({counter}++ < {bound} - 1);\n    }}\n"
            ),
        }
    }
}

impl Scope {
    fn both(&mut self, text: &str) {
        self.read.push(text.to_owned());
        self.written.push(text.to_owned());
    }
}
