//! Syntax to canonical text.
//!
//! Mixed operators get parentheses, so that the text reads the same in every dialect; comments
//! and single blank lines stay. Formatting a formatted text changes nothing.

use crate::ast::{Ast, Expr, Item, Kind, List, Name, Procedure, ReturnType, Statement};
use crate::dialect::{Dialect, Operator};
use crate::lexer::Comment;
use crate::program::ExprId;
use std::fmt::Write;

/// Deeper blocks are not indented further: the text would grow with the square of the depth.
const DEEPEST_INDENT: usize = 40;

/// The canonical text of a file that parsed without errors; `text` is what it was parsed from.
pub fn format(ast: &Ast, text: &str, dialect: Dialect) -> String {
    let mut printer = Printer {
        ast,
        text,
        dialect,
        comments: &ast.comments,
        out: String::with_capacity(text.len()),
        depth: 0,
        last_end: 0,
        line: Line::None,
        first: false,
        work: Vec::new(),
    };
    printer.file();
    printer.out
}

/// What the last line of the output is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    /// There is none.
    None,
    /// A comment may still follow on it.
    Open,
    /// It ends in `//`.
    Closed,
}

/// Whether a blank line comes before a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blank {
    /// Where the original has one.
    AsWritten,
    Always,
    Never,
}

/// A piece of an expression that is still to be written.
enum Piece {
    Text(&'static str),
    Whole(ExprId),
    /// With parentheses if it is a binary operator.
    Operand(ExprId),
}

struct Printer<'a> {
    ast: &'a Ast,
    text: &'a str,
    dialect: Dialect,
    comments: &'a [Comment],
    out: String,
    depth: usize,
    /// Where, in the original, the last thing that was written ends.
    last_end: u32,
    line: Line,
    /// Whether the next line is the first of a block.
    first: bool,
    work: Vec<Piece>,
}

impl Printer<'_> {
    fn file(&mut self) {
        let mut after_procedure = false;
        for item in &self.ast.items {
            let is_procedure = matches!(item, Item::Procedure(_));
            let blank = match is_procedure || after_procedure {
                true => Blank::Always,
                false => Blank::AsWritten,
            };
            after_procedure = is_procedure;
            match item {
                Item::Global { names, span } => {
                    self.start(span.start, span.end, blank);
                    self.out.push_str("decl ");
                    self.names(*names);
                    self.end(";", span.end);
                }
                Item::Enforce { condition, span } => {
                    self.start(span.start, span.end, blank);
                    self.out.push_str("enforce ");
                    self.expr(*condition);
                    self.end(";", span.end);
                }
                Item::Procedure(procedure) => self.procedure(procedure, blank),
            }
        }
        self.comments_before(u32::MAX, Blank::AsWritten);
        if self.line != Line::None {
            self.out.push('\n');
        }
    }

    fn procedure(&mut self, procedure: &Procedure, blank: Blank) {
        self.start(procedure.span.start, procedure.name.end, blank);
        match procedure.returns {
            ReturnType::Untyped => {}
            ReturnType::Void => self.out.push_str("void "),
            ReturnType::Bool | ReturnType::Bools(1) => self.out.push_str("bool "),
            ReturnType::Bools(count) => {
                let _ = write!(self.out, "bool<{count}> ");
            }
        }
        self.name(procedure.name);
        self.out.push('(');
        self.names(procedure.formals);
        self.end(") begin", procedure.name.end);
        self.first = true;
        self.depth = 1;
        for statement in &self.ast.statements[procedure.statements.range()] {
            self.statement(statement);
        }
        self.comments_before(procedure.end.start, Blank::AsWritten);
        self.depth = 0;
        self.start(procedure.end.start, procedure.end.end, Blank::Never);
        self.end("end", procedure.end.end);
    }

    fn statement(&mut self, statement: &Statement) {
        let closes = matches!(
            statement.kind,
            Kind::Elsif(_) | Kind::Else | Kind::Fi | Kind::Od
        );
        let labels = self.ast.names(statement.labels);
        let start = labels.first().map_or(statement.start, |label| label.start);
        if closes {
            // Comments at the end of a branch belong to it.
            self.comments_before(start, Blank::AsWritten);
            self.depth -= 1;
        }
        let blank = if closes {
            Blank::Never
        } else {
            Blank::AsWritten
        };
        self.start(start, statement.end, blank);
        for &label in labels {
            self.name(label);
            self.out.push_str(": ");
        }
        let after_block = if self.dialect == Dialect::Boppo {
            ";"
        } else {
            ""
        };
        let mut close = ";";
        match statement.kind {
            Kind::Skip => self.out.push_str("skip"),
            Kind::Print(values) => self.call("print", values),
            Kind::Goto(targets) => {
                self.out.push_str("goto ");
                self.names(targets);
            }
            Kind::Return(values) => {
                self.out.push_str("return");
                if !values.is_empty() {
                    self.out.push(' ');
                    self.exprs(values);
                }
            }
            Kind::Assign {
                targets,
                values,
                constrain,
            } => {
                self.names(targets);
                self.out.push_str(" := ");
                self.exprs(values);
                if let Some(relation) = constrain {
                    self.out.push_str(" constrain ");
                    self.expr(relation);
                }
            }
            Kind::Call {
                results,
                callee,
                arguments,
            } => {
                if !results.is_empty() {
                    self.names(results);
                    self.out.push_str(" := ");
                }
                self.name(self.ast.name_lists[callee as usize]);
                self.call("", arguments);
            }
            Kind::If(condition) => close = self.head("if", condition, " then"),
            Kind::Elsif(condition) => close = self.head("elsif", condition, " then"),
            Kind::While(condition) => close = self.head("while", condition, " do"),
            Kind::Else => close = "else",
            Kind::Fi => {
                self.out.push_str("fi");
                close = after_block;
            }
            Kind::Od => {
                self.out.push_str("od");
                close = after_block;
            }
            Kind::Assert(condition) => self.condition("assert", condition),
            Kind::Assume(condition) => self.condition("assume", condition),
            Kind::Constrain(condition) => self.condition("constrain", condition),
            Kind::AbortIf(condition) => {
                self.out.push_str("abortif ");
                self.expr(condition);
            }
            Kind::Enforce(condition) => {
                self.out.push_str("enforce ");
                self.expr(condition);
            }
            Kind::Dead(names) => {
                self.out.push_str("dead ");
                self.names(names);
            }
            Kind::Decl(names) => {
                self.out.push_str("decl ");
                self.names(names);
            }
        }
        self.end(close, statement.end);
        let opens = matches!(
            statement.kind,
            Kind::If(_) | Kind::Elsif(_) | Kind::Else | Kind::While(_)
        );
        self.depth += opens as usize;
        self.first = opens;
    }

    fn head(&mut self, word: &str, condition: ExprId, then: &'static str) -> &'static str {
        self.out.push_str(word);
        self.out.push(' ');
        self.condition("", condition);
        then
    }

    fn condition(&mut self, word: &str, condition: ExprId) {
        self.out.push_str(word);
        self.out.push('(');
        self.expr(condition);
        self.out.push(')');
    }

    fn call(&mut self, name: &str, arguments: List) {
        self.out.push_str(name);
        self.out.push('(');
        self.exprs(arguments);
        self.out.push(')');
    }

    // Lines.

    /// Starts a line for something that lies at `start..end` in the original.
    fn start(&mut self, start: u32, end: u32, blank: Blank) {
        // A comment inside of it comes before it.
        let blank = self.comments_before(end, blank);
        self.new_line(start, blank);
    }

    fn end(&mut self, close: &str, end: u32) {
        self.out.push_str(close);
        self.last_end = self.last_end.max(end);
        self.line = Line::Open;
    }

    fn new_line(&mut self, start: u32, blank: Blank) {
        if self.line != Line::None {
            let gap = self
                .text
                .get(self.last_end as usize..start as usize)
                .unwrap_or("");
            let blank = match blank {
                _ if self.first => false,
                Blank::AsWritten => gap.bytes().filter(|&b| b == b'\n').nth(1).is_some(),
                Blank::Always => true,
                Blank::Never => false,
            };
            self.out.push_str(if blank { "\n\n" } else { "\n" });
        }
        self.first = false;
        for _ in 0..self.depth.min(DEEPEST_INDENT) {
            self.out.push_str("  ");
        }
    }

    /// Writes the comments that start before a place, and says whether a blank line is still to
    /// come between them and what is there.
    fn comments_before(&mut self, place: u32, mut blank: Blank) -> Blank {
        while let [comment, rest @ ..] = self.comments
            && comment.start < place
        {
            self.comments = rest;
            let text = &self.text[comment.start as usize..comment.end as usize];
            let gap = self
                .text
                .get(self.last_end as usize..comment.start as usize);
            let same_line = gap.is_some_and(|gap| !gap.contains('\n'));
            if same_line && self.line == Line::Open {
                self.out.push(' ');
            } else {
                self.new_line(comment.start, blank);
                if blank == Blank::Always {
                    blank = Blank::AsWritten;
                }
            }
            self.out.push_str(text);
            self.last_end = self.last_end.max(comment.end);
            self.line = if text.starts_with("//") {
                Line::Closed
            } else {
                Line::Open
            };
        }
        blank
    }

    // Names and expressions.

    fn names(&mut self, list: List) {
        for (i, &name) in self.ast.names(list).iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.name(name);
        }
    }

    fn name(&mut self, name: Name) {
        let text = self.ast.name(name.symbol);
        let braced = self.text.as_bytes().get(name.start as usize) == Some(&b'{');
        if braced && !is_plain(text) {
            let _ = write!(self.out, "{{{text}}}");
        } else {
            self.out.push_str(text);
        }
    }

    fn exprs(&mut self, list: List) {
        for (i, &expr) in self.ast.list(list).iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.expr(expr);
        }
    }

    fn expr(&mut self, root: ExprId) {
        self.work.push(Piece::Whole(root));
        while let Some(piece) = self.work.pop() {
            let id = match piece {
                Piece::Text(text) => {
                    self.out.push_str(text);
                    continue;
                }
                Piece::Operand(id) if matches!(self.ast.expr(id), Expr::Binary(..)) => {
                    self.out.push('(');
                    self.work.extend([Piece::Text(")"), Piece::Whole(id)]);
                    continue;
                }
                Piece::Operand(id) | Piece::Whole(id) => id,
            };
            match self.ast.expr(id) {
                Expr::Const(value) => self.out.push(if value { '1' } else { '0' }),
                Expr::Var(name) => self.name(name),
                Expr::Next(name) => {
                    self.out.push('\'');
                    self.name(name);
                }
                Expr::Star => self.out.push('*'),
                Expr::QuestionMark => self.out.push('?'),
                Expr::Not(e) => {
                    self.out.push('!');
                    self.work.push(Piece::Operand(e));
                }
                Expr::Binary(operator, a, b) => {
                    // All dialects group a chain of one of these to the left.
                    let chains = matches!(operator, Operator::And | Operator::Or | Operator::Xor);
                    let left = match self.ast.expr(a) {
                        Expr::Binary(inner, ..) if chains && inner == operator => Piece::Whole(a),
                        _ => Piece::Operand(a),
                    };
                    let text = match operator {
                        Operator::And => " & ",
                        Operator::Or => " | ",
                        Operator::Xor => " ^ ",
                        Operator::Equal | Operator::Equivalent => " = ",
                        Operator::NotEqual => " != ",
                        Operator::Implies => " => ",
                    };
                    self.work
                        .extend([Piece::Operand(b), Piece::Text(text), left]);
                }
                Expr::Choose(a, b) => {
                    self.out.push_str("choose(");
                    let pieces = [Piece::Text(")"), Piece::Whole(b), Piece::Text(", ")];
                    self.work.extend(pieces);
                    self.work.push(Piece::Whole(a));
                }
                Expr::Schoose(a, b) => {
                    self.out.push_str("schoose[");
                    let pieces = [Piece::Text("]"), Piece::Whole(b), Piece::Text(", ")];
                    self.work.extend(pieces);
                    self.work.push(Piece::Whole(a));
                }
            }
        }
    }
}

/// Whether a name in braces needs none in any dialect.
pub(crate) fn is_plain(name: &str) -> bool {
    let word = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let keyword = matches!(
        name,
        "decl"
            | "begin"
            | "end"
            | "void"
            | "bool"
            | "goto"
            | "return"
            | "skip"
            | "if"
            | "then"
            | "else"
            | "elsif"
            | "fi"
            | "while"
            | "do"
            | "od"
            | "T"
            | "F"
            | "_"
    );
    word && !keyword && name.starts_with(|c: char| !c.is_ascii_digit())
}
