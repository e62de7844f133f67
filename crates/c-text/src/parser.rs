//! From words to trees: C's expressions without side effects.
//!
//! The parser is also a cursor over the words, for languages (the one of rules) in which
//! expressions are a part of something larger. What it cannot read is a diagnostic with a place;
//! whoever calls it decides where to go on.

use crate::Dialect;
use crate::ast::{Ast, Name, NodeId, NodeKind, UnaryWord};
use crate::lexer::{Token, TokenKind};
use hardbop_cfront::program::BinaryOp;
use hardbop_diagnostics::{Diagnostic, Span};

/// How deep statements and parentheses may nest: the parser uses the stack.
const DEPTH: usize = 200;

/// The most operators in a statement of a rule: its conditions become branches, and those are
/// made by recursion.
const OPERATORS: usize = 500;

/// Something that was read, or why it could not be.
pub type Parsed<T> = Result<T, Diagnostic>;

/// Reads words.
pub struct Parser {
    dialect: Dialect,
    tokens: Vec<Token>,
    at: usize,
    /// How many statements and expressions are being read inside of each other.
    depth: usize,
    /// How many operators the statement has so far.
    operators: usize,
    /// The expressions that have been read.
    pub ast: Ast,
}

/// Operators with the strength with which they bind, loosest first.
const BINARY: [(&str, u32, BinaryOp); 18] = [
    ("||", 1, BinaryOp::Or),
    ("&&", 2, BinaryOp::And),
    ("|", 3, BinaryOp::BitOr),
    ("^", 4, BinaryOp::BitXor),
    ("&", 5, BinaryOp::BitAnd),
    ("==", 6, BinaryOp::Eq),
    ("!=", 6, BinaryOp::Ne),
    ("<", 7, BinaryOp::Lt),
    ("<=", 7, BinaryOp::Le),
    (">", 7, BinaryOp::Gt),
    (">=", 7, BinaryOp::Ge),
    ("<<", 8, BinaryOp::Shl),
    (">>", 8, BinaryOp::Shr),
    ("+", 9, BinaryOp::Add),
    ("-", 9, BinaryOp::Sub),
    ("*", 10, BinaryOp::Mul),
    ("/", 10, BinaryOp::Div),
    ("%", 10, BinaryOp::Rem),
];

/// Words of rules that are not names.
const KEYWORDS: [&str; 20] = [
    "state", "if", "else", "abort", "halt", "return", "watch", "track", "object", "enum", "void",
    "int", "char", "short", "long", "signed", "unsigned", "_Bool", "while", "for",
];

impl Parser {
    /// A parser at the first of some words, the last of which is the end.
    pub fn new(dialect: Dialect, tokens: Vec<Token>) -> Parser {
        Parser {
            dialect,
            tokens,
            at: 0,
            depth: 0,
            operators: 0,
            ast: Ast::default(),
        }
    }

    /// The next word.
    pub fn peek(&self) -> &Token {
        self.ahead(0)
    }

    /// The word after so many others.
    pub fn ahead(&self, count: usize) -> &Token {
        &self.tokens[(self.at + count).min(self.tokens.len() - 1)]
    }

    /// Takes the next word; the end stays.
    pub fn take(&mut self) -> Token {
        let token = self.peek().clone();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// The position of the next word, to come back to by [`Parser::go_to`].
    pub fn position(&self) -> usize {
        self.at
    }

    /// Goes to a position, where nothing is nested yet.
    pub fn go_to(&mut self, position: usize) {
        self.at = position;
        self.depth = 0;
    }

    /// The place of the word that was read last.
    pub fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// Whether the next word is a mark.
    pub fn is(&self, mark: &str) -> bool {
        self.is_ahead(0, mark)
    }

    /// Whether the word after so many others is a mark.
    pub fn is_ahead(&self, count: usize, mark: &str) -> bool {
        matches!(&self.ahead(count).kind, TokenKind::Mark(m) if *m == mark)
    }

    /// The next word, if it is made of letters.
    pub fn word(&self) -> Option<&str> {
        match &self.peek().kind {
            TokenKind::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Takes a mark, if it is the next word.
    pub fn accept(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        if found {
            self.take();
        }
        found
    }

    /// Takes a word of letters, if it is the next one.
    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = self.word() == Some(word);
        if found {
            self.take();
        }
        found
    }

    /// Something else was expected here.
    pub fn unexpected<T>(&self, expected: &str) -> Parsed<T> {
        let token = self.peek();
        let message = match &token.kind {
            TokenKind::Word(word) => format!("unexpected `{word}`"),
            TokenKind::Number(number) => format!("unexpected `{}`", number.value),
            TokenKind::Float(value, _) => format!("unexpected `{value}`"),
            TokenKind::Text(text) => format!("unexpected \"{text}\""),
            TokenKind::Dollar(name) => format!("unexpected `${name}`"),
            TokenKind::Backslash(name) => format!("unexpected `\\{name}`"),
            TokenKind::Mark(mark) => format!("unexpected `{mark}`"),
            TokenKind::End => format!("unexpected end of {}", self.dialect.whole()),
        };
        Err(Diagnostic::error(token.span, message).label(format!("expected {expected}")))
    }

    /// Takes a mark, which must stand here; `where_` is added to what was expected.
    pub fn expect(&mut self, mark: &str, where_: &str) -> Parsed<Span> {
        if self.is(mark) {
            return Ok(self.take().span);
        }
        self.unexpected(&format!("`{mark}`{where_}"))
    }

    /// A name; words of the language are none.
    pub fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.word() {
            Some(word) if self.dialect == Dialect::Rule && KEYWORDS.contains(&word) => {
                self.unexpected(what)
            }
            _ => self.any_name(what),
        }
    }

    /// A name of the program, which may be a word of the language.
    pub fn any_name(&mut self, what: &str) -> Parsed<Name> {
        let Some(word) = self.word() else {
            return self.unexpected(what);
        };
        let text = word.to_owned();
        let span = self.take().span;
        Ok(Name { text, span })
    }

    /// Begins a statement: its operators are counted anew.
    pub fn begin_statement(&mut self) {
        self.operators = 0;
    }

    /// Goes one level deeper, or says that it is too deep. [`Parser::leave`] comes back; after an
    /// error, [`Parser::go_to`] does.
    pub fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth <= DEPTH {
            return Ok(());
        }
        let span = self.peek().span;
        Err(Diagnostic::error(span, "nested too deeply")
            .label(format!("at most {DEPTH} levels are understood")))
    }

    /// Comes back from where [`Parser::enter`] went.
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Counts an operator, or says that there are too many.
    fn operator(&mut self) -> Parsed<()> {
        self.operators += 1;
        if self.operators <= OPERATORS || self.dialect != Dialect::Rule {
            return Ok(());
        }
        let span = self.peek().span;
        Err(Diagnostic::error(span, "the expression is too long")
            .label(format!("at most {OPERATORS} operators are understood")))
    }

    /// An expression; assignments and commas are not part of it.
    pub fn expression(&mut self) -> Parsed<NodeId> {
        self.enter()?;
        let expr = self.conditional()?;
        self.leave();
        if let TokenKind::Mark(mark) = self.peek().kind {
            let label = match (mark, self.dialect) {
                ("++" | "--", _) => self.step_label(),
                ("=", Dialect::Rule) => "expected `==`, or an assignment as a statement of its own",
                ("=", _) => "an assignment; a comparison is written `==`",
                _ if is_assignment(mark) => "an assignment",
                _ => return Ok(expr),
            };
            return self.side_effect(label);
        }
        Ok(expr)
    }

    /// What is said of `++` and `--`.
    fn step_label(&self) -> &'static str {
        match self.dialect {
            Dialect::Rule => "expected a statement of its own",
            Dialect::Predicate | Dialect::Witness => "",
        }
    }

    fn side_effect<T>(&self, label: &str) -> Parsed<T> {
        let span = self.peek().span;
        Err(Diagnostic::error(span, "an expression has no side effects").label(label))
    }

    fn conditional(&mut self) -> Parsed<NodeId> {
        let condition = self.binary(1)?;
        if !self.accept("?") {
            return Ok(condition);
        }
        let then = self.expression()?;
        self.expect(":", "")?;
        let otherwise = self.expression()?;
        let span = self.ast.span(condition).to(self.ast.span(otherwise));
        let kind = NodeKind::Conditional(condition, then, otherwise);
        Ok(self.ast.add(kind, span))
    }

    /// Operators that bind at least so strongly.
    fn binary(&mut self, lowest: u32) -> Parsed<NodeId> {
        let mut left = self.unary()?;
        while let TokenKind::Mark(mark) = self.peek().kind {
            let known = BINARY.iter().find(|(known, ..)| *known == mark);
            let Some(&(_, strength, op)) = known.filter(|(_, strength, _)| *strength >= lowest)
            else {
                break;
            };
            self.operator()?;
            self.take();
            let right = self.binary(strength + 1)?;
            let span = self.ast.span(left).to(self.ast.span(right));
            left = self.ast.add(NodeKind::Binary(op, left, right), span);
        }
        Ok(left)
    }

    /// An operand with the operators before it: what can be assigned to is one.
    pub fn unary(&mut self) -> Parsed<NodeId> {
        self.enter()?;
        let expr = self.unary_here()?;
        self.leave();
        Ok(expr)
    }

    fn unary_here(&mut self) -> Parsed<NodeId> {
        let start = self.peek().span;
        let op = match &self.peek().kind {
            TokenKind::Mark("!") => UnaryWord::Not,
            TokenKind::Mark("~") => UnaryWord::BitNot,
            TokenKind::Mark("-") => UnaryWord::Minus,
            TokenKind::Mark("+") => UnaryWord::Plus,
            TokenKind::Mark("*") => UnaryWord::Deref,
            TokenKind::Mark("&") => UnaryWord::AddressOf,
            TokenKind::Mark("++" | "--") => return self.side_effect(self.step_label()),
            TokenKind::Mark("(") if self.is_type(1) || self.is_named_type() => {
                self.take();
                let ty = match self.is_type(0) {
                    true => self.type_name()?,
                    false => self.named_type()?,
                };
                self.expect(")", " after the type")?;
                let operand = self.unary()?;
                let span = start.to(self.ast.span(operand));
                return Ok(self.ast.add(NodeKind::Cast(ty, operand), span));
            }
            TokenKind::Word(word) if word == "sizeof" => {
                self.take();
                return self.size_of(start);
            }
            _ => return self.postfix(),
        };
        self.take();
        let operand = self.unary()?;
        let span = start.to(self.ast.span(operand));
        Ok(self.ast.add(NodeKind::Unary(op, operand), span))
    }

    fn size_of(&mut self, start: Span) -> Parsed<NodeId> {
        let kind = if self.is("(") && self.is_type(1) {
            self.take();
            let ty = self.type_name()?;
            self.expect(")", " after the type")?;
            NodeKind::SizeOfType(ty)
        } else {
            NodeKind::SizeOf(self.unary()?)
        };
        let span = start.to(self.previous());
        Ok(self.ast.add(kind, span))
    }

    fn postfix(&mut self) -> Parsed<NodeId> {
        let mut expr = self.primary()?;
        while let TokenKind::Mark(mark @ ("." | "->" | "[" | "(")) = self.peek().kind {
            let start = self.ast.span(expr);
            self.operator()?;
            self.take();
            let kind = match mark {
                "." => NodeKind::Member(expr, self.any_name("the name of a member")?),
                "->" => NodeKind::Arrow(expr, self.any_name("the name of a member")?),
                "[" => {
                    let index = self.expression()?;
                    self.expect("]", "")?;
                    NodeKind::Index(expr, index)
                }
                _ => return Err(self.call(start)),
            };
            let span = start.to(self.previous());
            expr = self.ast.add(kind, span);
        }
        Ok(expr)
    }

    /// What is said of a call of what stands there.
    pub fn call(&self, span: Span) -> Diagnostic {
        let message = format!("{} calls no functions", self.dialect.noun());
        Diagnostic::error(span, message).label("it only looks at what the program does")
    }

    fn primary(&mut self) -> Parsed<NodeId> {
        let Token { kind, span } = self.peek().clone();
        let kind = match kind {
            TokenKind::Number(number) => NodeKind::Number(number),
            TokenKind::Float(value, precision) => NodeKind::Float(value, precision),
            TokenKind::Dollar(text) => self.dollar(&text, span)?,
            TokenKind::Backslash(word) => return self.backslash(&word),
            TokenKind::Mark("(") => {
                self.take();
                let inner = self.expression()?;
                let end = self.expect(")", "")?;
                self.ast.enclose(inner, span.to(end));
                return Ok(inner);
            }
            TokenKind::Word(word) => {
                let entry = self.dialect != Dialect::Rule;
                if entry && word == "old" && self.is_ahead(1, "(") {
                    return self.old();
                }
                let name = self.name("an expression")?;
                let kind = match word.as_str() {
                    "return" if entry => NodeKind::Result,
                    _ => NodeKind::Name(name.text),
                };
                return Ok(self.ast.add(kind, span));
            }
            _ => return self.unexpected("an expression"),
        };
        self.take();
        Ok(self.ast.add(kind, span))
    }

    fn dollar(&self, text: &str, span: Span) -> Parsed<NodeKind> {
        let number = text.parse::<u32>().ok().filter(|&number| number > 0);
        Ok(match (text, self.dialect, number) {
            ("return", ..) => NodeKind::Result,
            (_, Dialect::Rule, Some(number)) => NodeKind::Argument(number),
            (_, Dialect::Rule, None) => {
                return Err(
                    Diagnostic::error(span, format!("`${text}` means nothing here"))
                        .label("expected `$1`, `$2`, ... or `$return`"),
                );
            }
            // GNU C lets names begin like that.
            _ => NodeKind::Name(format!("${text}")),
        })
    }

    /// The value at the entry, from the word that says so on.
    fn old(&mut self) -> Parsed<NodeId> {
        let start = self.take().span;
        self.expect("(", "")?;
        let inner = self.expression()?;
        let end = self.expect(")", "")?;
        Ok(self.ast.add(NodeKind::Old(inner), start.to(end)))
    }

    /// The words of ACSL.
    fn backslash(&mut self, word: &str) -> Parsed<NodeId> {
        let span = self.peek().span;
        match word {
            "result" => {
                self.take();
                Ok(self.ast.add(NodeKind::Result, span))
            }
            "old" => self.old(),
            "at" => {
                self.take();
                self.expect("(", "")?;
                let inner = self.expression()?;
                self.expect(",", "")?;
                let label = self.name("`Pre`, `Old` or `Here`")?;
                let end = self.expect(")", "")?;
                match label.text.as_str() {
                    "Pre" | "Old" => Ok(self.ast.add(NodeKind::Old(inner), span.to(end))),
                    "Here" => Ok(inner),
                    other => Err(Diagnostic::error(
                        label.span,
                        format!("`{other}` is no point in time that is known here"),
                    )
                    .label("expected `Pre`, `Old` or `Here`")),
                }
            }
            _ => Err(
                Diagnostic::error(span, format!("`\\{word}` means nothing here"))
                    .label("expected `\\result`, `\\old(...)` or `\\at(..., Pre)`"),
            ),
        }
    }
}

/// Whether a mark assigns.
fn is_assignment(mark: &str) -> bool {
    mark.ends_with('=') && !matches!(mark, "==" | "!=" | "<=" | ">=")
}
