//! Generates small C programs with choices, nested branches, loops, calls, pointers and arrays.
//!
//! Every input is used for its last two bits; every loop ends; nothing is undefined.

use crate::random::XorShift;
use std::fmt::Write;

/// What the generator asks for.
struct Choices(XorShift);

impl Choices {
    fn below(&mut self, limit: u64) -> u64 {
        (self.0.bits() >> 11) % limit
    }

    fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }
}

struct Generator {
    random: Choices,
    out: String,
    depth: usize,
    loops: usize,
    counters: usize,
    /// What can still be put out: statements, inputs.
    statements: i32,
    inputs: i32,
    /// Whether calls may be made here.
    calls: bool,
    /// Whether the function returns a value.
    value: bool,
}

const GLOBALS: [&str; 3] = ["g", "h", "k"];

/// The number of values of an input: programs look at its last two bits only.
pub const VALUES: u128 = 4;

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut random = Choices(XorShift(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1));
    for _ in 0..8 {
        random.below(2);
    }
    let mut generator = Generator {
        random,
        out: String::new(),
        depth: 0,
        loops: 0,
        counters: 0,
        statements: 0,
        inputs: 5,
        calls: false,
        value: true,
    };
    generator.whole();
    generator.out
}

impl Generator {
    fn line(&mut self, text: &str) {
        for _ in 0..=self.depth {
            self.out.push_str("    ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn whole(&mut self) {
        self.out.push_str(
            "extern unsigned char __VERIFIER_nondet_uchar(void);\n\
             extern void __VERIFIER_assume(int);\n\
             extern void __assert_fail(const char *, const char *, unsigned, const char *);\n\
             #define CHECK(c) do { if (!(c)) __assert_fail(#c, \"\", 0, \"\"); } while (0)\n\
             extern void exit(int);\n\
             int g = 1, h, k = 2;\n\
             int t[4] = { 1, 0, 2, 3 };\n\
             int *p = &g;\n\n\
             static int input(void) { return __VERIFIER_nondet_uchar() & 3; }\n\n",
        );
        let helpers = self.random.below(3);
        if helpers > 0 {
            self.out.push_str("static int f(int a, int b) {\n");
            self.body(5);
            self.line("return a & 7;");
            self.out.push_str("}\n\n");
        }
        if helpers > 1 {
            self.out.push_str(
                "static int r(int n, int b) {\n    int a = n & 3;\n    \
                 if (n <= 0 || n > 3) return b;\n",
            );
            self.body(3);
            self.line("return r(n - 1, (a + b) & 7);");
            self.out.push_str("}\n\n");
        } else {
            self.out
                .push_str("static int r(int a, int b) { return a ^ b; }\n\n");
        }
        if helpers == 0 {
            self.out
                .push_str("static int f(int a, int b) { g = a; return b; }\n\n");
        }
        self.out
            .push_str("int main(void) {\n    int a = 0, b = 1;\n");
        self.calls = true;
        let size = 6 + self.random.below(9) as i32;
        self.body(size);
        self.check();
        self.line("return 0;");
        self.out.push_str("}\n");
    }

    fn body(&mut self, statements: i32) {
        self.statements = statements;
        while self.statements > 0 {
            self.statement();
        }
    }

    fn variable(&mut self) -> &'static str {
        self.random
            .one_of(&["a", "b", "a", "b", GLOBALS[0], GLOBALS[1], GLOBALS[2]])
    }

    fn atom(&mut self) -> String {
        match self.random.below(8) {
            0 | 1 => self.random.below(4).to_string(),
            2 => "*p".to_owned(),
            3 => format!("t[{} & 3]", self.variable()),
            _ => self.variable().to_owned(),
        }
    }

    fn expression(&mut self) -> String {
        let (left, right) = (self.atom(), self.atom());
        match self.random.below(6) {
            0 => format!("({left} * {right}) & 7"),
            1 | 2 => format!("({left} + {right}) & 7"),
            3 => format!("({left} ^ {right}) & 7"),
            4 => format!("{left} == {right}"),
            _ => left,
        }
    }

    fn condition(&mut self) -> String {
        let (left, right) = (self.atom(), self.atom());
        let operator = self.random.one_of(&["<", "==", "!=", ">", "<="]);
        match self.random.below(6) {
            0 => format!("{left} {operator} {right} && {}", self.atom()),
            1 => format!("{left} {operator} {right} || {}", self.atom()),
            _ => format!("{left} {operator} {right}"),
        }
    }

    fn check(&mut self) {
        // Rarely violated conditions are the interesting ones.
        let text = match self.random.below(5) {
            0 => format!("CHECK({} <= 8);", self.variable()),
            1 => format!("CHECK(!({} && {}));", self.condition(), self.condition()),
            2 => format!("CHECK({} != {});", self.atom(), self.random.below(9)),
            3 => format!("CHECK({} + {} < 14);", self.atom(), self.atom()),
            _ => format!("CHECK({} || {});", self.condition(), self.condition()),
        };
        self.line(&text);
    }

    fn block(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        for _ in 0..=self.random.below(2) {
            self.statement();
        }
        self.depth -= 1;
        self.line("}");
    }

    fn choice(&mut self) -> String {
        if self.inputs > 0 {
            self.inputs -= 1;
            match self.random.below(3) {
                0 => format!("input() == {}", self.random.below(4)),
                1 => "input() & 1".to_owned(),
                _ => format!("input() < {}", self.atom()),
            }
        } else {
            self.condition()
        }
    }

    fn statement(&mut self) {
        self.statements -= 1;
        let deep = self.depth > 2 || self.statements < 0;
        match self.random.below(if deep { 9 } else { 20 }) {
            0..=2 => {
                let (to, value) = (self.variable(), self.expression());
                self.line(&format!("{to} = {value};"));
            }
            3 => {
                let (index, value) = (self.atom(), self.expression());
                self.line(&format!("t[({index}) & 3] = {value};"));
            }
            4 => {
                let text = match self.random.below(3) {
                    0 => "p = &h;".to_owned(),
                    1 => format!("p = &t[{} & 3];", self.variable()),
                    _ => format!("*p = {};", self.expression()),
                };
                self.line(&text);
            }
            5 if self.calls => {
                let callee = self.random.one_of(&["f", "r"]);
                let (to, x, y) = (self.variable(), self.expression(), self.expression());
                self.line(&format!("{to} = {callee}({x}, {y});"));
            }
            6 => self.check(),
            7 if self.loops > 0 => {
                let (condition, jump) =
                    (self.condition(), self.random.one_of(&["break", "continue"]));
                self.line(&format!("if ({condition}) {jump};"));
            }
            8 if self.inputs > 0 => {
                self.inputs -= 1;
                let to = self.variable();
                self.line(&format!("{to} = input();"));
            }
            9..=11 => {
                let choice = self.choice();
                self.block(&format!("if ({choice})"));
                if self.random.below(2) == 0 {
                    self.block("else");
                }
            }
            12 | 13 => {
                let condition = self.condition();
                self.block(&format!("if ({condition})"));
                if self.random.below(2) == 0 {
                    self.block("else");
                }
            }
            14 | 15 if self.loops < 2 => {
                let counter = self.counters;
                self.counters += 1;
                let bound = 1 + self.random.below(3);
                let stop = match self.random.below(3) {
                    0 => format!(" && ({})", self.condition()),
                    _ => String::new(),
                };
                let mut head = String::new();
                let _ = write!(
                    head,
                    "for (int i{counter} = 0; i{counter} < {bound}{stop}; i{counter}++)"
                );
                self.loops += 1;
                self.block(&head);
                self.loops -= 1;
            }
            16 => {
                let condition = self.condition();
                let end = match self.random.below(3) {
                    0 => "exit(0)".to_owned(),
                    1 if self.value => format!("return {}", self.atom()),
                    _ => format!("__VERIFIER_assume({})", self.condition()),
                };
                self.line(&format!("if ({condition}) {end};"));
            }
            17 => {
                let (on, more) = (self.choice(), self.variable());
                self.line(&format!("switch (({on}) + {more}) {{"));
                for case in 0..3 {
                    self.line(&format!("case {case}:"));
                    self.depth += 1;
                    let (to, value) = (self.variable(), self.expression());
                    self.line(&format!("{to} = {value};"));
                    if self.random.below(3) > 0 {
                        self.line("break;");
                    }
                    self.depth -= 1;
                }
                self.line("}");
            }
            _ => {
                let (to, value) = (self.variable(), self.expression());
                self.line(&format!("{to} = {value};"));
            }
        }
    }
}
