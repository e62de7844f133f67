//! Random programs that use every construct of the language and are free of errors.

use crate::random::Random;
use std::fmt::Write;

/// What a random program is to look like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The procedures, `main` included; at least one.
    pub procedures: usize,
    /// The global variables.
    pub globals: usize,
    /// The most variables declared in a procedure.
    pub locals: usize,
    /// The most parameters, and the most return values, of a procedure.
    pub formals: usize,
    /// The statements of each procedure, counting those inside of others.
    pub statements: usize,
    /// Whether procedures call themselves and each other in circles.
    pub recursion: Recursion,
}

/// Whether procedures call themselves and each other in circles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recursion {
    /// A procedure calls only later ones.
    None,
    /// Any procedure calls any other.
    Allowed,
}

struct Signature {
    name: String,
    formals: usize,
    returns: usize,
}

/// The program of a seed: the same text for the same seed and shape on every machine.
pub fn arbitrary(shape: Shape, seed: u64) -> String {
    let mut random = Random::new(seed);
    let signatures: Vec<_> = (0..shape.procedures.max(1))
        .map(|i| match i {
            0 => Signature {
                name: "main".to_owned(),
                formals: 0,
                returns: 0,
            },
            _ => Signature {
                name: format!("p{i}"),
                formals: random.below(shape.formals + 1),
                returns: random.below(shape.formals + 1),
            },
        })
        .collect();
    let globals: Vec<_> = (0..shape.globals).map(|i| format!("g{i}")).collect();
    let mut out = String::new();
    if !globals.is_empty() {
        let _ = writeln!(out, "decl {};", globals.join(", "));
    }
    if globals.len() > 1 && random.one_in(12) {
        let _ = writeln!(out, "enforce {} | {};", globals[0], globals[1]);
    }
    for index in 0..signatures.len() {
        let mut writer = Writer {
            shape,
            signatures: &signatures,
            index,
            variables: globals.clone(),
            labels: 1 + random.below(4),
            labels_set: 0,
            left: shape.statements.max(1),
            random: Random::new(random.bits()),
            out: String::new(),
        };
        writer.procedure();
        out.push_str(&writer.out);
    }
    out
}

struct Writer<'a> {
    shape: Shape,
    signatures: &'a [Signature],
    /// The procedure that is being written.
    index: usize,
    /// Those in scope.
    variables: Vec<String>,
    labels: usize,
    labels_set: usize,
    /// The statements still to be written.
    left: usize,
    random: Random,
    out: String,
}

impl Writer<'_> {
    fn procedure(&mut self) {
        let Signature {
            name,
            formals,
            returns,
        } = &self.signatures[self.index];
        let formals: Vec<_> = (0..*formals).map(|i| format!("f{i}")).collect();
        let kind = match returns {
            0 => "void".to_owned(),
            1 => "bool".to_owned(),
            n => format!("bool<{n}>"),
        };
        let _ = writeln!(self.out, "\n{kind} {name}({})\nbegin", formals.join(", "));
        self.variables.extend(formals);
        let locals = self.random.below(self.shape.locals + 1);
        if locals > 0 {
            let locals: Vec<_> = (0..locals).map(|i| format!("l{i}")).collect();
            let _ = writeln!(self.out, "  decl {};", locals.join(", "));
            self.variables.extend(locals);
        }
        if self.variables.len() > 1 && self.random.one_in(12) {
            let (a, b) = (self.variable(), self.variable());
            let _ = writeln!(self.out, "  enforce {a} | !{b};");
        }
        while self.left > 0 {
            self.statement(1);
        }
        while self.labels_set < self.labels {
            self.indent(1);
            self.label();
            self.out.push_str("skip;\n");
        }
        if *returns > 0 && !self.random.one_in(8) {
            self.indent(1);
            self.return_statement();
        }
        self.out.push_str("end\n");
    }

    fn indent(&mut self, depth: usize) {
        for _ in 0..depth {
            self.out.push_str("  ");
        }
    }

    fn label(&mut self) {
        let _ = write!(self.out, "L{}: ", self.labels_set);
        self.labels_set += 1;
    }

    /// Blocks are nested at most four deep, so that this recursion is bounded.
    fn block(&mut self, depth: usize) {
        for _ in 0..1 + self.random.below(3) {
            if self.left == 0 {
                break;
            }
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        self.left -= 1;
        self.indent(depth);
        if self.labels_set < self.labels && self.random.one_in(4) {
            self.label();
        }
        match self.random.below(26) {
            0 | 1 if depth < 4 => self.conditional(depth),
            2 if depth < 4 => {
                let condition = self.expression(2);
                let _ = writeln!(self.out, "while ({condition}) do");
                self.block(depth + 1);
                self.indent(depth);
                self.out.push_str("od\n");
            }
            3..=6 => self.call(),
            7 => {
                let targets = 1 + self.random.below(2);
                let targets: Vec<_> = (0..targets)
                    .map(|_| format!("L{}", self.random.below(self.labels)))
                    .collect();
                let _ = writeln!(self.out, "goto {};", targets.join(", "));
            }
            8 | 9 => {
                let e = self.expression(2);
                let _ = writeln!(self.out, "assert({e});");
            }
            10 => {
                let e = self.expression(2);
                let _ = writeln!(self.out, "assume({e});");
            }
            11 => self.rare(),
            12 => self.out.push_str("skip;\n"),
            _ => self.assignment(),
        }
    }

    fn rare(&mut self) {
        let e = self.expression(1);
        let v = (!self.variables.is_empty()).then(|| self.variable());
        match (self.random.below(5), v) {
            (0, _) => {
                let _ = writeln!(self.out, "abortif {e};");
            }
            (1, Some(v)) => {
                let _ = writeln!(self.out, "dead {v};");
            }
            (2, _) => {
                let _ = writeln!(self.out, "constrain({e});");
            }
            (3, _) => {
                let _ = writeln!(self.out, "print({e});");
            }
            _ => self.return_statement(),
        }
    }

    fn return_statement(&mut self) {
        let values = self.expressions(self.signatures[self.index].returns);
        let _ = writeln!(self.out, "return {values};");
    }

    fn conditional(&mut self, depth: usize) {
        let condition = self.expression(2);
        let _ = writeln!(self.out, "if ({condition}) then");
        self.block(depth + 1);
        if self.random.one_in(3) {
            let condition = self.expression(1);
            self.indent(depth);
            let _ = writeln!(self.out, "elsif ({condition}) then");
            self.block(depth + 1);
        }
        if self.random.coin() {
            self.indent(depth);
            self.out.push_str("else\n");
            self.block(depth + 1);
        }
        self.indent(depth);
        self.out.push_str("fi\n");
    }

    fn call(&mut self) {
        let first = match self.shape.recursion {
            Recursion::None => self.index + 1,
            Recursion::Allowed => 1,
        };
        if first >= self.signatures.len() {
            return self.assignment();
        }
        let callee = first + self.random.below(self.signatures.len() - first);
        let Signature {
            name,
            formals,
            returns,
        } = &self.signatures[callee];
        let arguments = self.expressions(*formals);
        if *returns > 0 && !self.random.one_in(4) {
            let mut targets = self.distinct(*returns);
            targets.resize(*returns, "_".to_owned());
            let _ = write!(self.out, "{} := ", targets.join(", "));
        }
        let _ = writeln!(self.out, "{name}({arguments});");
    }

    fn assignment(&mut self) {
        let count = 1 + self.random.below(3).min(self.random.below(3));
        let targets = self.distinct(count);
        if targets.is_empty() {
            self.out.push_str("skip;\n");
            return;
        }
        let values = self.expressions(targets.len());
        let _ = write!(self.out, "{} := {values}", targets.join(", "));
        if self.random.one_in(6) {
            let (a, b) = (self.variable(), self.variable());
            let target = &targets[self.random.below(targets.len())];
            let relation = match self.random.below(4) {
                0 => format!("'{target} => {a}"),
                1 => format!("('{target} | {a}) & ('{b} | !'{target})"),
                2 => format!("'{target} != '{a}"),
                _ => format!("'{target} | {a} | *"),
            };
            let _ = write!(self.out, " constrain {relation}");
        }
        self.out.push_str(";\n");
    }

    /// So many different variables, or as many as there are.
    fn distinct(&mut self, count: usize) -> Vec<String> {
        let mut all = self.variables.clone();
        let mut picked = Vec::new();
        while picked.len() < count && !all.is_empty() {
            picked.push(all.swap_remove(self.random.below(all.len())));
        }
        picked
    }

    fn variable(&mut self) -> String {
        self.variables[self.random.below(self.variables.len())].clone()
    }

    fn expressions(&mut self, count: usize) -> String {
        (0..count)
            .map(|_| self.expression(2))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// An expression at most `depth` operators deep.
    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.one_in(3) {
            return match self.random.below(8) {
                0 => "*".to_owned(),
                1 => if self.random.coin() { "1" } else { "0" }.to_owned(),
                _ if self.variables.is_empty() => "?".to_owned(),
                _ => self.variable(),
            };
        }
        let a = self.expression(depth - 1);
        let b = self.expression(depth - 1);
        match self.random.below(10) {
            0 | 1 => format!("!({a})"),
            2 | 3 => format!("({a} & {b})"),
            4 | 5 => format!("({a} | {b})"),
            6 => format!("({a} = {b})"),
            7 => format!("({a} ^ {b})"),
            8 => format!("({a} => {b})"),
            _ if self.random.coin() => format!("schoose[{a}, {b}]"),
            _ => format!("choose({a}, {b})"),
        }
    }
}
