//! Generates random C programs that have one meaning only.
//!
//! Signed overflow wraps (gcc gets `-fwrapv`); divisors are never zero, shift amounts are in
//! range, indices are in bounds, floats are converted to integers only where they fit. Within
//! one full expression an object that is written is not touched again, unless a sequence point
//! lies between.

use crate::random::Random;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Which machine the program is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    /// 32 bits.
    Ilp32,
    /// 64 bits.
    Lp64,
}

/// Integers or floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    Int,
    Float,
}

/// Something that can be read, and maybe written.
#[derive(Clone, Debug)]
struct Item {
    /// The text before and after an index, or the whole text.
    text: String,
    /// For an array, the number of elements.
    length: Option<usize>,
    class: Class,
    writable: bool,
    /// Whether its address can be taken.
    addressable: bool,
    /// What it shares its storage with.
    group: usize,
}

/// A function that has no side effect.
#[derive(Clone)]
struct Pure {
    name: String,
    parameters: Vec<Class>,
    result: Class,
}

/// What was read and written in the full expression so far.
#[derive(Clone, Default)]
struct Touched {
    read: BTreeSet<usize>,
    written: BTreeSet<usize>,
}

/// The program so far.
pub struct Generator {
    random: Random,
    model: Model,
    out: String,
    names: usize,
    groups: usize,
    indent: usize,
}

/// The items and functions that are in scope.
#[derive(Clone, Default)]
struct Scope {
    items: Vec<Item>,
    functions: Vec<Pure>,
    /// Global records: type, name, a function that changes a copy, the field that it changes.
    records: Vec<(String, String, String, Item)>,
    /// Whether `break` and `continue` may be used.
    in_loop: bool,
}

const PRELUDE: &str = r#"typedef __SIZE_TYPE__ size_t;
int printf(const char *, ...);
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
void *malloc(size_t);
void free(void *);
size_t strlen(const char *);
#define TOINT(T, lo, hi, x) ({ __typeof__(x) v_ = (x); v_ > (lo) && v_ < (hi) ? (T)v_ : (T)3; })
typedef unsigned long long word;
static word mix(word cs, word x) { return (cs ^ (x + 0x9e3779b97f4a7c15ull + (cs << 6) + (cs >> 2))) * 0x100000001b3ull; }
static word mixd(word cs, double x) { word w = 1; if (x == x) memcpy(&w, &x, sizeof x); return mix(cs, w); }
static word mixf(word cs, float x) { unsigned w = 1; if (x == x) memcpy(&w, &x, sizeof x); return mix(cs, w); }
static double vary(int n, ...) {
  __builtin_va_list ap, copy; double sum = 0;
  __builtin_va_start(ap, n); __builtin_va_copy(copy, ap);
  sum += __builtin_va_arg(ap, int); sum += __builtin_va_arg(ap, double) * 3; sum -= __builtin_va_arg(ap, long long);
  sum += __builtin_va_arg(copy, int) & 15; __builtin_va_end(ap); __builtin_va_end(copy);
  return sum;
}
static word mixl(word cs, long double x) { word w[2] = { 1, 0 }; if (x == x) memcpy(w, &x, 10); return mix(mix(cs, w[0]), w[1]); }
"#;

/// A file of several programs that do not depend on each other. Program `i` leaves its checksum
/// in `results[i]`, and `main` prints them all.
pub fn file(seed: u64, programs: usize, model: Model) -> String {
    let mut text = String::from(PRELUDE);
    writeln!(text, "word results[{programs}];").unwrap();
    for i in 0..programs {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(i as u64);
        let mut generator = Generator {
            random: Random(seed),
            model,
            out: String::new(),
            names: 0,
            groups: 0,
            indent: 0,
        };
        generator.program(i);
        // Names are told apart by the program that they belong to.
        text.push_str(&generator.out);
    }
    text.push_str("int main(void) {\n");
    for i in 0..programs {
        writeln!(text, "  results[{i}] = program_{i}();").unwrap();
    }
    writeln!(
        text,
        "  for (int i = 0; i < {programs}; i++) printf(\"%llu\\n\", results[i]);\n  return 0;\n}}"
    )
    .unwrap();
    text
}

impl Generator {
    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn name(&mut self, prefix: &str, program: usize) -> String {
        self.names += 1;
        format!("{prefix}{}_{program}", self.names)
    }

    fn group(&mut self) -> usize {
        self.groups += 1;
        self.groups
    }

    fn int_type(&mut self) -> &'static str {
        const TYPES: [&str; 17] = [
            "char",
            "signed char",
            "unsigned char",
            "short",
            "unsigned short",
            "int",
            "int",
            "unsigned",
            "long",
            "unsigned long",
            "long long",
            "unsigned long long",
            "_Bool",
            "int",
            "unsigned int",
            "__int128",
            "unsigned __int128",
        ];
        let wide = self.model == Model::Lp64 && self.random.percent(30);
        TYPES[self.random.below(if wide { 17 } else { 15 })]
    }

    fn float_type(&mut self) -> &'static str {
        self.random
            .pick(&["float", "double", "double", "long double"])
    }

    fn scalar_type(&mut self) -> (&'static str, Class) {
        if self.random.percent(15) {
            (self.float_type(), Class::Float)
        } else {
            (self.int_type(), Class::Int)
        }
    }

    fn int_literal(&mut self) -> String {
        const LITERALS: [&str; 34] = [
            "0",
            "1",
            "2",
            "3",
            "7",
            "10",
            "(-1)",
            "(-2)",
            "(-7)",
            "127",
            "128",
            "(-128)",
            "255",
            "256",
            "0x7fff",
            "0x8000",
            "0xffff",
            "0x10000",
            "2147483647",
            "(-2147483647-1)",
            "0x80000000",
            "0xffffffffu",
            "4294967296ll",
            "0x7fffffffffffffffll",
            "(-9223372036854775807ll-1)",
            "0xffffffffffffffffull",
            "1ul",
            "3l",
            "0u",
            "'a'",
            "'\\377'",
            "'\\n'",
            "017",
            "sizeof(long)",
        ];
        match self.random.below(4) {
            0 => format!("{}", self.random.below(1000)),
            1 => format!("{}ull", self.random.bits()),
            _ => LITERALS[self.random.below(LITERALS.len())].to_string(),
        }
    }

    fn float_literal(&mut self) -> String {
        const LITERALS: [&str; 14] = [
            "0.0",
            "1.0",
            "-1.5",
            "0.1f",
            "3.25f",
            "1e10",
            "1e-5f",
            "2.5L",
            "0.1L",
            "1e300",
            "16777217.0",
            "9007199254740993.0L",
            "-0.0",
            "1e38f",
        ];
        format!("({})", LITERALS[self.random.below(LITERALS.len())])
    }

    fn item(
        &mut self,
        scope: &Scope,
        touched: &Touched,
        wanted: impl Fn(&Item) -> bool,
    ) -> Option<Item> {
        let allowed = |item: &&Item| !touched.written.contains(&item.group) && wanted(item);
        let found: Vec<&Item> = scope.items.iter().filter(allowed).collect();
        if found.is_empty() {
            return None;
        }
        Some(found[self.random.below(found.len())].clone())
    }

    /// The text of an item, its index filled in.
    fn access(
        &mut self,
        item: &Item,
        scope: &Scope,
        touched: &mut Touched,
        depth: usize,
    ) -> String {
        match item.length {
            None => item.text.clone(),
            Some(length) => {
                let index = if self.random.percent(50) || depth == 0 {
                    self.random.below(length).to_string()
                } else {
                    // The lengths are powers of two.
                    format!("({}) & {}", self.int(scope, touched, depth - 1), length - 1)
                };
                item.text.replace('@', &index)
            }
        }
    }

    fn read(&mut self, class: Class, scope: &Scope, touched: &mut Touched, depth: usize) -> String {
        match self.item(scope, touched, |item| item.class == class) {
            Some(item) => {
                touched.read.insert(item.group);
                self.access(&item, scope, touched, depth)
            }
            None if class == Class::Int => self.int_literal(),
            None => self.float_literal(),
        }
    }

    /// Something that may be written in this full expression.
    fn target(
        &mut self,
        class: Class,
        scope: &Scope,
        touched: &mut Touched,
        depth: usize,
    ) -> Option<String> {
        let read = touched.read.clone();
        let item = self.item(scope, touched, |item| {
            item.class == class && item.writable && !read.contains(&item.group)
        })?;
        touched.written.insert(item.group);
        Some(self.access(&item, scope, touched, depth))
    }

    /// An expression of integer type. Objects that it writes are added to what is touched;
    /// objects that it reads too, so that nothing else in the full expression writes them.
    fn int(&mut self, scope: &Scope, touched: &mut Touched, depth: usize) -> String {
        if depth == 0 || self.random.percent(15) {
            return match self.random.percent(70) {
                true => self.read(Class::Int, scope, touched, 0),
                false => self.int_literal(),
            };
        }
        let d = depth - 1;
        match self.random.below(30) {
            0..=9 => {
                let op = self.random.pick(&["+", "-", "*", "&", "|", "^", "+", "-"]);
                let (a, b) = (self.int(scope, touched, d), self.int(scope, touched, d));
                format!("({a} {op} {b})")
            }
            10 | 11 => {
                let op = self.random.pick(&["/", "%"]);
                let sign = self.random.pick(&["", "-"]);
                let (a, b) = (self.int(scope, touched, d), self.int(scope, touched, d));
                format!("({a} {op} {sign}((({b}) & 63) + 2))")
            }
            12 | 13 => {
                let op = self.random.pick(&["<<", ">>"]);
                let (a, b) = (self.int(scope, touched, d), self.int(scope, touched, d));
                match self.random.below(3) {
                    0 => format!("((long long)({a}) {op} (({b}) & 63))"),
                    1 => format!("((unsigned long long)({a}) {op} (({b}) & 63))"),
                    _ => format!("(({a}) {op} (({b}) & 31))"),
                }
            }
            14..=16 => {
                let op = self.random.pick(&["==", "!=", "<", "<=", ">", ">="]);
                if self.random.percent(20) {
                    let (a, b) = (self.float(scope, touched, d), self.float(scope, touched, d));
                    return format!("({a} {op} {b})");
                }
                let (a, b) = (self.int(scope, touched, d), self.int(scope, touched, d));
                format!("({a} {op} {b})")
            }
            17 | 18 => {
                let op = self.random.pick(&["&&", "||"]);
                let (a, b) = (self.int(scope, touched, d), self.int(scope, touched, d));
                format!("({a} {op} {b})")
            }
            19 => {
                let op = self.random.pick(&["-", "~", "!", "+"]);
                format!("({op}({}))", self.int(scope, touched, d))
            }
            20 | 21 => {
                let ty = self.int_type();
                format!("(({ty})({}))", self.int(scope, touched, d))
            }
            22 | 23 => {
                let condition = self.int(scope, touched, d);
                let (a, b) = (self.int(scope, touched, d), self.int(scope, touched, d));
                if self.random.percent(15) {
                    return format!("(({condition}) ?: ({b}))");
                }
                format!("(({condition}) ? ({a}) : ({b}))")
            }
            24 => {
                let (ty, low, high) = match self.random.below(6) {
                    0 => ("int", "-2e9", "2e9"),
                    1 => ("unsigned char", "-0.5", "255.5"),
                    2 => ("long long", "-9e18", "9e18"),
                    3 => ("unsigned long long", "-0.9", "1.8e19"),
                    4 => ("short", "-32768.5", "32767.5"),
                    _ => ("unsigned", "-0.9", "4.2e9"),
                };
                format!(
                    "TOINT({ty}, {low}, {high}, {})",
                    self.float(scope, touched, d)
                )
            }
            25 | 26 => self.call(Class::Int, scope, touched, d),
            27 => self.effect(Class::Int, scope, touched, d),
            28 => {
                let a = self.int(scope, touched, d);
                let b = self.int(scope, touched, d);
                format!("(({a}), ({b}))")
            }
            _ => self.read(Class::Int, scope, touched, depth),
        }
    }

    fn float(&mut self, scope: &Scope, touched: &mut Touched, depth: usize) -> String {
        if depth == 0 || self.random.percent(15) {
            return match self.random.percent(60) {
                true => self.read(Class::Float, scope, touched, 0),
                false => self.float_literal(),
            };
        }
        let d = depth - 1;
        match self.random.below(12) {
            0..=4 => {
                let op = self.random.pick(&["+", "-", "*", "/", "+"]);
                let (a, b) = (self.float(scope, touched, d), self.float(scope, touched, d));
                format!("({a} {op} {b})")
            }
            5 | 6 => {
                let ty = self.float_type();
                format!("(({ty})({}))", self.int(scope, touched, d))
            }
            7 => {
                let ty = self.float_type();
                format!("(({ty})({}))", self.float(scope, touched, d))
            }
            8 => format!("(-({}))", self.float(scope, touched, d)),
            9 => {
                let condition = self.int(scope, touched, d);
                let (a, b) = (self.float(scope, touched, d), self.float(scope, touched, d));
                format!("(({condition}) ? ({a}) : ({b}))")
            }
            10 => self.call(Class::Float, scope, touched, d),
            _ => self.effect(Class::Float, scope, touched, d),
        }
    }

    fn expr(&mut self, class: Class, scope: &Scope, touched: &mut Touched, depth: usize) -> String {
        match class {
            Class::Int => self.int(scope, touched, depth),
            Class::Float => self.float(scope, touched, depth),
        }
    }

    fn call(&mut self, class: Class, scope: &Scope, touched: &mut Touched, depth: usize) -> String {
        let found: Vec<Pure> = scope
            .functions
            .iter()
            .filter(|f| f.result == class)
            .cloned()
            .collect();
        if found.is_empty() {
            return self.expr(class, scope, touched, depth);
        }
        let function = &found[self.random.below(found.len())];
        let arguments: Vec<String> = function
            .parameters
            .iter()
            .map(|&class| self.argument(class, scope, touched, depth.min(2)))
            .collect();
        format!("{}({})", function.name, arguments.join(", "))
    }

    /// An argument. A float is never passed where it would not fit.
    fn argument(
        &mut self,
        class: Class,
        scope: &Scope,
        touched: &mut Touched,
        depth: usize,
    ) -> String {
        // A comma operator needs its own parentheses here, which `int` gives it.
        self.expr(class, scope, touched, depth)
    }

    /// An expression that writes something, alone or with a sequence point behind it.
    fn effect(
        &mut self,
        class: Class,
        scope: &Scope,
        touched: &mut Touched,
        depth: usize,
    ) -> String {
        let Some(target) = self.target(class, scope, touched, 0) else {
            return self.expr(class, scope, touched, depth);
        };
        let assigned = match self.random.below(6) {
            0 => format!("{target}++"),
            1 => format!("--{target}"),
            2 => format!("{target}--"),
            3 => format!("++{target}"),
            _ => {
                let value = self.expr(class, scope, touched, depth);
                let op = match class {
                    Class::Int => self
                        .random
                        .pick(&["=", "+=", "-=", "*=", "&=", "|=", "^=", "="]),
                    Class::Float => self.random.pick(&["=", "+=", "-=", "*="]),
                };
                format!("({target} {op} {value})")
            }
        };
        let other = self.expr(class, scope, touched, depth.min(1));
        match (self.random.below(6), class) {
            (0, _) => format!("({assigned}, {target})"),
            (1, Class::Int) => format!("({assigned} && {target} > {other})"),
            (2, _) => format!("({assigned} ? {target} : {other})"),
            _ => format!("({assigned})"),
        }
    }

    /// A statement that assigns, and mixes what it assigned into the checksum.
    fn assignment(&mut self, scope: &Scope) {
        let class = if self.random.percent(20) {
            Class::Float
        } else {
            Class::Int
        };
        let mut touched = Touched::default();
        let Some(item) = self.item(scope, &touched, |i| i.class == class && i.writable) else {
            return;
        };
        touched.written.insert(item.group);
        let target = self.access(&item, scope, &mut touched, 2);
        // The target is found and its new value computed in any order, so neither may have an
        // effect on the other; what the target reads counts as touched.
        let statement = match (self.random.below(10), class) {
            (0, _) => format!("{target}++;"),
            (1, _) => format!("--{target};"),
            (2, Class::Int) => {
                let op = self.random.pick(&["<<=", ">>="]);
                let value = self.int(scope, &mut touched, 2);
                // Narrow types are promoted to at least 32 bits; `_Bool` and bit-fields too.
                format!("{target} {op} ({value}) & 31;")
            }
            (3, Class::Int) => {
                let op = self.random.pick(&["/=", "%="]);
                let value = self.int(scope, &mut touched, 2);
                format!("{target} {op} (({value}) & 31) + 1;")
            }
            (4 | 5, _) => {
                let op = match class {
                    Class::Int => self.random.pick(&["+=", "-=", "*=", "&=", "|=", "^="]),
                    Class::Float => self.random.pick(&["+=", "-=", "*=", "/="]),
                };
                let value = self.expr(class, scope, &mut touched, 3);
                format!("{target} {op} {value};")
            }
            _ => {
                // A plain assignment may read what it writes.
                touched.written.remove(&item.group);
                touched.read.insert(item.group);
                let value = self.expr(class, scope, &mut touched, 4);
                format!("{target} = {value};")
            }
        };
        self.line(&statement);
        self.mix(&item);
    }

    fn mix(&mut self, item: &Item) {
        let text = match item.length {
            None => item.text.clone(),
            Some(length) => item
                .text
                .replace('@', &self.random.below(length).to_string()),
        };
        self.mix_text(item.class, &text);
    }

    fn mix_text(&mut self, class: Class, text: &str) {
        let line = match class {
            Class::Int => format!("cs = mix(cs, (word)({text}));"),
            Class::Float => {
                let how = self.random.pick(&["mixd", "mixf", "mixl"]);
                format!("cs = {how}(cs, {text});")
            }
        };
        self.line(&line);
    }

    fn block(&mut self, scope: &Scope, program: usize, statements: usize, depth: usize) {
        self.indent += 1;
        let mut scope = scope.clone();
        for _ in 0..statements {
            self.statement(&mut scope, program, depth);
        }
        self.indent -= 1;
    }

    fn statement(&mut self, scope: &mut Scope, program: usize, depth: usize) {
        if depth == 0 {
            return self.assignment(scope);
        }
        match self.random.below(24) {
            0 | 1 => {
                let condition = self.int(scope, &mut Touched::default(), 3);
                self.line(&format!("if ({condition}) {{"));
                self.block(scope, program, 2, depth - 1);
                if self.random.percent(60) {
                    self.line("} else {");
                    self.block(scope, program, 2, depth - 1);
                }
                self.line("}");
            }
            2 | 3 => self.counting_loop(scope, program, depth),
            4 | 5 => self.switch(scope, program, depth),
            6 => {
                let label = self.name("label", program);
                let condition = self.int(scope, &mut Touched::default(), 2);
                self.line(&format!("if ({condition}) goto {label}; {{"));
                self.block(scope, program, 2, depth - 1);
                self.line(&format!("}} {label}: ;"));
            }
            7..=9 => self.declaration(scope, program),
            10 if scope.in_loop => {
                let condition = self.int(scope, &mut Touched::default(), 2);
                let jump = self.random.pick(&["break", "continue"]);
                self.line(&format!("if ({condition}) {jump};"));
            }
            11 => {
                let class = if self.random.percent(20) {
                    Class::Float
                } else {
                    Class::Int
                };
                let effect = self.effect(class, scope, &mut Touched::default(), 2);
                self.line(&format!("{effect};"));
            }
            12 => {
                let class = if self.random.percent(20) {
                    Class::Float
                } else {
                    Class::Int
                };
                let value = self.expr(class, scope, &mut Touched::default(), 4);
                self.mix_text(class, &value);
            }
            _ => self.assignment(scope),
        }
    }

    fn counting_loop(&mut self, scope: &Scope, program: usize, depth: usize) {
        let counter = self.name("i", program);
        let count = 1 + self.random.below(5);
        let group = self.group();
        let mut inner = scope.clone();
        inner.in_loop = true;
        inner.items.push(Item {
            text: counter.clone(),
            length: None,
            class: Class::Int,
            writable: false,
            addressable: false,
            group,
        });
        match self.random.below(3) {
            0 => {
                let ty = self
                    .random
                    .pick(&["int", "unsigned char", "long", "unsigned"]);
                self.line(&format!(
                    "for ({ty} {counter} = 0; {counter} < {count}; {counter}++) {{"
                ));
                self.block(&inner, program, 2, depth - 1);
                self.line("}");
            }
            1 => {
                self.line(&format!("{{ int {counter} = {count};"));
                self.line(&format!("while ({counter}-- > 0) {{"));
                self.block(&inner, program, 2, depth - 1);
                self.line("} }");
            }
            _ => {
                self.line(&format!("{{ short {counter} = 0;"));
                self.line("do {");
                self.block(&inner, program, 2, depth - 1);
                self.line(&format!("}} while (++{counter} < {count}); }}"));
            }
        }
    }

    fn switch(&mut self, scope: &Scope, program: usize, depth: usize) {
        let value = self.int(scope, &mut Touched::default(), 3);
        let ty = self
            .random
            .pick(&["int", "unsigned", "long long", "unsigned char", "short"]);
        let mut inner = scope.clone();
        // A `continue` in a switch belongs to the loop, a `break` does not.
        inner.in_loop = false;
        self.line(&format!("switch (({ty})({value}) % 8) {{"));
        for case in 0..1 + self.random.below(5) {
            match self.random.below(6) {
                0 => self.line(&format!(
                    "case {} ... {}: {{",
                    8 + case * 10,
                    12 + case * 10
                )),
                _ if ty.starts_with("un") => self.line(&format!("case {case}: {{")),
                1 => self.line(&format!("case -{}: {{", case + 1)),
                _ => self.line(&format!("case {case}: {{")),
            }
            self.block(&inner, program, 1, depth - 1);
            let end = self.random.pick(&["} break;", "} break;", "}"]);
            self.line(end);
        }
        if self.random.percent(70) {
            self.line("default: {");
            self.block(&inner, program, 1, depth - 1);
            self.line("}");
        }
        self.line("}");
    }

    /// A local of some kind, with an initial value.
    fn declaration(&mut self, scope: &mut Scope, program: usize) {
        let (ty, class) = self.scalar_type();
        let name = self.name("v", program);
        let group = self.group();
        let plain = |text: String, addressable| Item {
            text,
            length: None,
            class,
            writable: true,
            addressable,
            group,
        };
        match self.random.below(8) {
            0 => {
                let first = self.expr(class, scope, &mut Touched::default(), 2);
                let second = self.expr(class, scope, &mut Touched::default(), 2);
                self.line(&format!("{ty} {name}[4] = {{ {first}, [2] = {second} }};"));
                let mut item = plain(format!("{name}[@]"), true);
                item.length = Some(4);
                scope.items.push(item);
            }
            1 => {
                // A pointer to something, read and written through it from now on.
                let touched = Touched::default();
                let Some(target) = self.item(scope, &touched, |i| {
                    i.addressable && i.writable && i.length.is_none()
                }) else {
                    return;
                };
                self.line(&format!(
                    "__typeof__(&{}) {name} = &{};",
                    target.text, target.text
                ));
                let text = self
                    .random
                    .pick(&["*@", "@[0]", "*(@ + 1 - 1)"])
                    .replace('@', &name);
                let text = format!("({text})");
                scope.items.push(Item {
                    text,
                    addressable: false,
                    ..target
                });
            }
            2 => {
                let Some(target) = self.item(scope, &Touched::default(), |i| {
                    i.addressable && i.length.is_some()
                }) else {
                    return;
                };
                let Some(length) = target.length else { return };
                let at = self.random.below(length);
                let element = target.text.replace('@', &at.to_string());
                self.line(&format!("__typeof__(&{element}) {name} = &{element};"));
                self.line(&format!(
                    "cs = mix(cs, (word)({name} - &{}));",
                    target.text.replace('@', "0")
                ));
                scope.items.push(Item {
                    text: format!("({name}[(int)(@) - {at}])"),
                    addressable: false,
                    ..target
                });
            }
            3 => {
                let length = self.int(scope, &mut Touched::default(), 2);
                let value = self.expr(class, scope, &mut Touched::default(), 2);
                self.line(&format!("{ty} {name}[((({length}) & 3) + 4)];"));
                self.line(&format!(
                    "cs = mix(cs, sizeof {name}); for (int k = 0; k < 4; k++) {name}[k] = {value};"
                ));
                let mut item = plain(format!("{name}[@]"), true);
                item.length = Some(4);
                scope.items.push(item);
            }
            4 => {
                self.line(&format!("static {ty} {name} = 5;"));
                scope.items.push(plain(name, true));
            }
            _ => {
                let value = self.expr(class, scope, &mut Touched::default(), 3);
                self.line(&format!("{ty} {name} = {value};"));
                scope.items.push(plain(name, true));
            }
        }
    }

    /// A struct or union with an instance of it, as items.
    fn record(&mut self, program: usize, scope: &mut Scope, local: bool) {
        let tag = self.name("S", program);
        let name = self.name("s", program);
        let group = self.group();
        let union = self.random.percent(15);
        let mut fields = Vec::new();
        let mut text = String::new();
        for i in 0..2 + self.random.below(5) {
            let (ty, class) = match union {
                // Floats and `_Bool` in unions would be read as what they are not.
                true => match self.int_type() {
                    "_Bool" => ("int", Class::Int),
                    ty => (ty, Class::Int),
                },
                false => self.scalar_type(),
            };
            let field = format!("f{i}");
            if class == Class::Int && !ty.contains("128") && self.random.percent(45) {
                let most = match ty {
                    "_Bool" => 1,
                    t if t.contains("char") => 8,
                    t if t.contains("short") => 16,
                    t if t.contains("long long") => 64,
                    "long" | "unsigned long" if self.model == Model::Lp64 => 64,
                    _ => 32,
                };
                let width = 1 + self.random.below(most);
                write!(text, " {ty} {field} : {width};").unwrap();
                if self.random.percent(10) {
                    write!(text, " {ty} : {};", self.random.below(most + 1)).unwrap();
                }
                fields.push((format!(".{field}"), None, class, false));
            } else if self.random.percent(20) {
                write!(text, " {ty} {field}[2];").unwrap();
                fields.push((format!(".{field}[@]"), Some(2), class, true));
            } else if self.random.percent(15) {
                write!(
                    text,
                    " struct {{ {ty} x; unsigned y : 3; int z : 7; }} {field};"
                )
                .unwrap();
                fields.push((format!(".{field}.x"), None, class, true));
                fields.push((format!(".{field}.y"), None, Class::Int, false));
                fields.push((format!(".{field}.z"), None, Class::Int, false));
            } else if self.random.percent(10) {
                write!(text, " struct {{ {ty} {field}; char g{i}; }};").unwrap();
                fields.push((format!(".{field}"), None, class, true));
                fields.push((format!(".g{i}"), None, Class::Int, true));
            } else {
                write!(text, " {ty} {field};").unwrap();
                fields.push((format!(".{field}"), None, class, true));
            }
        }
        let keyword = if union { "union" } else { "struct" };
        // In a packed record no pointer to a member is made.
        let packed = self.random.percent(20);
        let attribute = if packed {
            "__attribute__((packed)) "
        } else {
            ""
        };
        let storage = if local {
            ""
        } else {
            self.random.pick(&["static ", ""])
        };
        let (first, second) = (self.random.below(100), self.random.below(100));
        let initial = match self.random.below(3) {
            _ if union => format!("{{ {first} }}"),
            0 => "{ 0 }".to_string(),
            1 => format!("{{ {first} }}"),
            _ => format!("{{ .f1 = {{ {second} }}, .f0 = {{ {first} }} }}"),
        };
        // Braces around a scalar are allowed, around two of them too in an aggregate.
        self.line(&format!("{keyword} {attribute}{tag} {{{text} }};"));
        self.line(&format!("{storage}{keyword} {tag} {name} = {initial};"));
        if union && local {
            // What lies beyond the first member is not initialised.
            self.line(&format!("memset(&{name}, 0, sizeof {name});"));
        }
        let mut pointer = None;
        if self.random.percent(40) {
            let p = self.name("p", program);
            self.line(&format!("{storage}{keyword} {tag} *{p} = &{name};"));
            pointer = Some(p);
        }
        for (access, length, class, addressable) in fields {
            let through = pointer.as_ref().filter(|_| self.random.percent(50));
            let text = match through {
                Some(p) => format!("{p}->{}", &access[1..]),
                None => format!("{name}{access}"),
            };
            scope.items.push(Item {
                text,
                length,
                class,
                writable: true,
                addressable: addressable && !packed,
                group,
            });
        }
        let field = scope
            .items
            .iter()
            .find(|i| i.length.is_none() && i.text.starts_with(&format!("{name}.")));
        if let (Some(field), false) = (field.cloned(), local) {
            let change = self.name("w", program);
            let access = &field.text[name.len()..];
            let one = if field.class == Class::Int {
                "1"
            } else {
                "0.5"
            };
            let declared = format!("{keyword} {tag}");
            self.line(&format!(
                "static {declared} {change}({declared} q) {{ q{access} += {one}; return q; }}"
            ));
            scope.records.push((declared, name, change, field));
        }
    }

    fn global(&mut self, program: usize, scope: &mut Scope) {
        let (ty, class) = self.scalar_type();
        let name = self.name("g", program);
        let group = self.group();
        let storage = self
            .random
            .pick(&["static ", "", "volatile ", "static volatile "]);
        let literal = |g: &mut Generator| match class {
            Class::Int => g.int_literal(),
            Class::Float => g.float_literal(),
        };
        let (text, length) = match self.random.below(5) {
            0 => {
                let (a, b) = (literal(self), literal(self));
                self.line(&format!(
                    "{storage}{ty} {name}[8] = {{ {a}, {b}, [5] = {b} }};"
                ));
                (format!("{name}[@]"), Some(8))
            }
            1 => {
                let a = literal(self);
                let row = self.random.below(2);
                self.line(&format!(
                    "{storage}{ty} {name}[2][4] = {{ [{row}] = {{ 1, {a} }} }};"
                ));
                (format!("{name}[{row}][@]"), Some(4))
            }
            2 if class == Class::Int => {
                self.line(&format!("{storage}char {name}[8] = \"ab\\xffz\";"));
                (format!("{name}[@]"), Some(8))
            }
            _ => {
                let a = literal(self);
                self.line(&format!("{storage}{ty} {name} = {a};"));
                (name, None)
            }
        };
        let addressable = !storage.contains("volatile");
        scope.items.push(Item {
            text,
            length,
            class,
            writable: true,
            addressable,
            group,
        });
    }

    /// A function without side effects, which may call itself.
    fn pure_function(&mut self, program: usize, scope: &Scope) -> Pure {
        let name = self.name("f", program);
        let (result_type, result) = self.scalar_type();
        let mut inner = Scope {
            functions: scope.functions.clone(),
            ..Scope::default()
        };
        let mut parameters = Vec::new();
        let mut list = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let (ty, class) = self.scalar_type();
            let parameter = self.name("a", program);
            list.push(format!("{ty} {parameter}"));
            parameters.push(class);
            let group = self.group();
            inner.items.push(Item {
                text: parameter,
                length: None,
                class,
                writable: true,
                addressable: true,
                group,
            });
        }
        let recursive = self.random.percent(25);
        if recursive {
            list.push("int fuel".to_string());
        }
        let full = if recursive {
            format!("{name}r")
        } else {
            name.clone()
        };
        self.line(&format!(
            "static {result_type} {full}({}) {{",
            list.join(", ")
        ));
        self.line("  word cs = 1;");
        self.block(&inner, program, 3, 1);
        if recursive {
            let mut touched = Touched::default();
            let arguments: Vec<String> = parameters
                .iter()
                .map(|&class| self.expr(class, &inner, &mut touched, 1))
                .collect();
            self.line(&format!(
                "  if (fuel > 0) cs = mix(cs, {full}({}, fuel - 1) > 0);",
                arguments.join(", ")
            ));
        }
        let value = self.expr(result, &inner, &mut Touched::default(), 3);
        match result {
            Class::Int => self.line(&format!("  return {value} ^ cs;")),
            Class::Float => self.line(&format!("  return {value} + (int)(cs & 255);")),
        }
        self.line("}");
        if recursive {
            let passed: Vec<String> = list[..list.len() - 1]
                .iter()
                .map(|p| last_word(p).to_string())
                .collect();
            self.line(&format!(
                "static {result_type} {name}({}) {{ return {full}({}, 3); }}",
                list[..list.len() - 1].join(", "),
                passed.join(", ")
            ));
        }
        Pure {
            name,
            parameters,
            result,
        }
    }

    /// Records passed, returned, copied and pointed to; function pointers; variadic functions.
    fn special(&mut self, program: usize, scope: &Scope) {
        match self.random.below(6) {
            0 | 1 if !scope.records.is_empty() => {
                let (declared, name, change, field) =
                    scope.records[self.random.below(scope.records.len())].clone();
                let copy = self.name("c", program);
                let access = &field.text[name.len()..];
                self.line(&format!("{declared} {copy} = {name};"));
                self.line(&format!("{name} = {change}({copy});"));
                self.mix(&field);
                self.mix_text(field.class, &format!("{change}({copy}){access}"));
                self.line(&format!("memcpy(&{name}, &{copy}, sizeof {name});"));
                self.mix(&field);
                self.line(&format!("cs = mix(cs, sizeof {name});"));
            }
            2 => {
                let same: Vec<&Pure> = scope
                    .functions
                    .iter()
                    .filter(|f| {
                        f.result == Class::Int && f.parameters.iter().all(|p| *p == Class::Int)
                    })
                    .collect();
                let Some(f) = same.first() else { return };
                let pointer = self.name("fp", program);
                self.line(&format!("__typeof__({}) *{pointer} = {};", f.name, f.name));
                let arguments = vec!["cs & 63"; f.parameters.len()].join(", ");
                self.line(&format!("cs = mix(cs, (word){pointer}({arguments}));"));
                self.line(&format!("cs = mix(cs, (word)(*{pointer})({arguments}));"));
            }
            3 => {
                let mut touched = Touched::default();
                let a = self.int(scope, &mut touched, 2);
                let b = self.float(scope, &mut touched, 2);
                let c = self.int(scope, &mut touched, 2);
                self.line(&format!(
                    "cs = mixd(cs, vary(3, (int)({a}), (double)({b}), (long long)({c})));"
                ));
            }
            4 => {
                let p = self.name("h", program);
                let n = 1 + self.random.below(7);
                let value = self.int(scope, &mut Touched::default(), 2);
                self.line(&format!(
                    "{{ int *{p} = malloc({n} * sizeof(int)); memset({p}, 0x5a, {n} * sizeof *{p});"
                ));
                let at = self.random.below(n);
                self.line(&format!("  {p}[{at}] += {value};"));
                self.line(&format!(
                    "  for (int k = 0; k < {n}; k++) cs = mix(cs, {p}[k]); free({p}); }}"
                ));
            }
            _ => {
                let value = self.int(scope, &mut Touched::default(), 3);
                let t = self.name("e", program);
                self.line(&format!(
                    "enum {{ A{t} = -3, B{t}, C{t} = 70000 }}; cs = mix(cs, ({value}) * B{t} + C{t} + (int)A{t});"
                ));
            }
        }
    }

    fn program(&mut self, program: usize) {
        let mut scope = Scope::default();
        for _ in 0..2 + self.random.below(4) {
            self.global(program, &mut scope);
        }
        for _ in 0..self.random.below(3) {
            self.record(program, &mut scope, false);
        }
        for _ in 0..self.random.below(3) {
            let function = self.pure_function(program, &scope);
            scope.functions.push(function);
        }
        self.line(&format!("static word program_{program}(void) {{"));
        self.indent += 1;
        self.line("word cs = 0;");
        for _ in 0..self.random.below(2) {
            self.record(program, &mut scope, true);
        }
        for _ in 0..6 + self.random.below(8) {
            if self.random.percent(15) {
                self.special(program, &scope);
            } else {
                self.statement(&mut scope, program, 3);
            }
        }
        let items = scope.items.clone();
        for item in items.iter().take(12) {
            self.mix(item);
        }
        self.line("return cs;");
        self.indent -= 1;
        self.line("}");
    }
}

fn last_word(text: &str) -> &str {
    text.rsplit(' ').next().unwrap_or(text)
}
