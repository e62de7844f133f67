//! Small random C programs with pointers, calls and recursion, and predicates over them.

use hardbop_boolean_program::Random;
use std::fmt::Write;

/// A program and predicates over it.
pub struct Case {
    /// The program's text.
    pub program: String,
    /// The predicates, in the format of `hardbop abstract`.
    pub predicates: String,
}

struct Generator {
    random: Random,
    /// The names of integers that can be written where the generator stands.
    places: Vec<&'static str>,
    pointers: Vec<&'static str>,
    /// What may be called here.
    calls: Vec<&'static str>,
    loops: u32,
}

const GLOBALS: [&str; 7] = ["g", "h", "a[1]", "s.u", "a[h & 1]", "sp->u", "un"];

/// The case of a seed.
pub fn case(seed: u64) -> Case {
    let mut generator = Generator {
        random: Random::new(seed),
        places: Vec::new(),
        pointers: Vec::new(),
        calls: Vec::new(),
        loops: 0,
    };
    let program = generator.program();
    let predicates = generator.predicates();
    Case {
        program,
        predicates,
    }
}

impl Generator {
    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.random.below(list.len())]
    }

    fn program(&mut self) -> String {
        let mut out = String::from(
            "extern int __VERIFIER_nondet_int(void);\n\
             extern void reach_error(void);\n\
             struct two { int u; char v; };\n\
             int g, h = 1;\nint a[3] = {0, 1, 2};\nstruct two s, s2;\nstruct two *sp = &s;\nunsigned un;\nint *gp = &g;\n",
        );
        self.scope(&["x", "y"], &["p"], &[]);
        let body = self.block(4, 1);
        let result = self.value(2);
        let _ = write!(
            out,
            "int f(int x, int *p) {{\n  int y = 0, i = 0;\n{body}  return {result};\n}}\n"
        );
        self.scope(&["n", "z"], &["q"], &["f(%, &)"]);
        let body = self.block(3, 1);
        let result = self.value(2);
        let inner = self.pick(&["q", "&z"]);
        let _ = write!(
            out,
            "int r(int n, int *q) {{\n  int z = n, i = 0;\n{body}  if (n > 0 && n < 3) z = r(n - 1, {inner});\n  return {result};\n}}\n"
        );
        self.scope(&["x"], &[], &[]);
        let body = self.block(2, 0);
        let _ = write!(out, "void w(int x) {{\n  int i = 0;\n{body}}}\n");
        self.scope(
            &["l", "k"],
            &["mp"],
            &["f(%, &)", "r(%, &)", "w(%)", "fp(%, &)"],
        );
        let body = self.block(6, 2);
        let _ = write!(
            out,
            "int main(void) {{\n  int l = 0, k = 2, i = 0;\n  int *mp = &l;\n  int (*fp)(int, int *) = g ? f : r;\n  if (__VERIFIER_nondet_int()) fp = r; else fp = f;\n{body}  if (g > 2) reach_error();\n  return l;\n}}\n"
        );
        out
    }

    fn scope(
        &mut self,
        places: &[&'static str],
        pointers: &[&'static str],
        calls: &[&'static str],
    ) {
        self.places = GLOBALS.iter().chain(places).copied().collect();
        self.pointers = ["gp"].iter().chain(pointers).copied().collect();
        self.calls = calls.to_vec();
    }

    fn block(&mut self, statements: usize, depth: u32) -> String {
        let mut out = String::new();
        for _ in 0..1 + self.random.below(statements) {
            let statement = self.statement(depth);
            let _ = writeln!(out, "  {statement}");
        }
        out
    }

    fn statement(&mut self, depth: u32) -> String {
        match self.random.below(if depth > 0 { 12 } else { 8 }) {
            0..=2 => {
                let places = self.places.clone();
                let (to, value) = (self.pick(&places), self.value(2));
                format!("{to} = {value};")
            }
            3 => {
                let pointers = self.pointers.clone();
                let (to, value) = (self.pick(&pointers), self.value(2));
                format!("*{to} = {value};")
            }
            4 => {
                let pointers = self.pointers.clone();
                let to = self.pick(&pointers);
                let from = self.address();
                format!("{to} = {from};")
            }
            5 => {
                let places = self.places.clone();
                format!("{} = __VERIFIER_nondet_int();", self.pick(&places))
            }
            6 | 7 if !self.calls.is_empty() => {
                let calls = self.calls.clone();
                let call = self.pick(&calls);
                let argument = self.value(1);
                let address = self.address();
                let call = call.replace('&', &address).replace('%', &argument);
                if call.starts_with('w') || self.random.coin() {
                    format!("{call};")
                } else {
                    let places = self.places.clone();
                    format!("{} = {call};", self.pick(&places))
                }
            }
            6 => {
                let places = self.places.clone();
                format!("{}++;", self.pick(&places))
            }
            7 => match self.random.below(4) {
                0 => "sp = &s2;".to_owned(),
                1 => "*sp = s;".to_owned(),
                2 => {
                    "{ static int calls; calls = calls + 1; if (calls > 2) h = calls; }".to_owned()
                }
                _ => format!("s.v = {};", self.value(1)),
            },
            8 | 9 => {
                let condition = self.condition();
                let then = self.block(2, depth - 1);
                let otherwise = self.block(2, depth - 1);
                format!("if ({condition}) {{\n{then}  }} else {{\n{otherwise}  }}")
            }
            10 if self.loops < 3 => {
                self.loops += 1;
                let body = self.block(2, depth - 1);
                format!("for (i = 0; i < 2; i++) {{\n{body}  }}")
            }
            10 => "switch (g) { case 0: h = 1; break; case 1: h = 2; default: h = 3; }".to_owned(),
            _ => {
                let condition = self.condition();
                let body = self.block(2, depth - 1);
                format!("if ({condition}) {{\n{body}  }}")
            }
        }
    }

    fn address(&mut self) -> String {
        let mut known = vec!["&g", "&h", "&a[2]", "&s.u"];
        if self.pointers.contains(&"mp") {
            known.extend(["&l", "&k"]);
        }
        known.extend(self.pointers.clone());
        self.pick(&known).to_owned()
    }

    fn atom(&mut self) -> String {
        match self.random.below(6) {
            0 | 1 => (self.random.below(5) as i64 - 1).to_string(),
            2 => {
                let pointers = self.pointers.clone();
                format!("*{}", self.pick(&pointers))
            }
            3 if self.random.below(4) == 0 => self.pick(&["s.v", "sp->v"]).to_owned(),
            _ => {
                let places = self.places.clone();
                self.pick(&places).to_owned()
            }
        }
    }

    fn value(&mut self, depth: u32) -> String {
        if depth == 0 || self.random.below(3) == 0 {
            return self.atom();
        }
        let left = self.value(depth - 1);
        let right = self.atom();
        let op = self.pick(&["+", "-", "*", "&", "+", "-", "|", "^"]);
        format!("({left} {op} {right})")
    }

    fn condition(&mut self) -> String {
        let left = self.value(1);
        let right = self.atom();
        let op = self.pick(&["==", "!=", "<", "<=", ">", ">="]);
        let one = format!("{left} {op} {right}");
        match self.random.below(5) {
            0 => format!("{one} && {}", self.atom()),
            1 => format!("!({one})"),
            _ => one,
        }
    }

    fn predicates(&mut self) -> String {
        let mut out = String::new();
        self.scope(&[], &[], &[]);
        self.line(&mut out, "global", 3, &[]);
        self.scope(&["x", "y"], &["p"], &[]);
        self.line(&mut out, "f", 3, &["$return", "old(x)", "old(g)"]);
        self.scope(&["n", "z"], &["q"], &[]);
        self.line(&mut out, "r", 3, &["$return", "old(n)", "old(*q)"]);
        self.scope(&["l", "k"], &["mp"], &[]);
        self.line(&mut out, "main", 4, &[]);
        out
    }

    fn line(&mut self, out: &mut String, scope: &str, most: usize, special: &[&'static str]) {
        for _ in 0..self.random.below(most + 1) {
            let predicate = match self.random.below(6) {
                0 => {
                    let pointers = self.pointers.clone();
                    let pointer = self.pick(&pointers);
                    let other = self.pick(&["&g", "&h", "gp"]);
                    format!("{pointer} == {other}")
                }
                1 | 2 if !special.is_empty() => {
                    let left = self.pick(special);
                    let right = self.atom();
                    let op = self.pick(&["==", "<=", ">"]);
                    format!("{left} {op} {right}")
                }
                _ => {
                    let left = self.atom();
                    let right = self.atom();
                    let op = self.pick(&["==", "<", "<=", ">", "!="]);
                    format!("{left} {op} {right}")
                }
            };
            let _ = writeln!(out, "{scope}: {predicate}");
        }
    }
}
