//! From the text of a rule to its tree: the state, the handlers, the statements.
//!
//! An error ends the item (a `state` block or a handler) that it stands in; the next item is
//! read all the same, so that a user sees the errors of all items at once.

use crate::ast::*;
use crate::constant::constant;
use crate::lexer::{Token, TokenKind, lex};
use hardbop_diagnostics::{Diagnostic, FileId, Sources, Span};

/// How deep statements and parentheses may nest: the parser uses the stack.
pub(crate) const DEPTH: usize = 100;

/// Reads a rule. There is a rule exactly if there is no error among the diagnostics.
pub fn parse(
    name: &str,
    origin: RuleOrigin,
    file: FileId,
    sources: &Sources,
) -> (Option<Rule>, Vec<Diagnostic>) {
    let text = sources.text(file);
    let (tokens, diagnostics) = lex(file, text);
    let mut parser = Parser {
        tokens,
        at: 0,
        depth: 0,
        operators: 0,
        diagnostics,
        rule: Rule {
            name: name.to_owned(),
            origin,
            path: sources.name(file).to_owned(),
            text: text.to_owned(),
            state: Vec::new(),
            constants: Vec::new(),
            handlers: Vec::new(),
        },
    };
    parser.items();
    if parser.rule.handlers.is_empty() && parser.diagnostics.is_empty() {
        let end = parser.peek().span;
        parser.diagnostics.push(
            Diagnostic::error(end, "the rule has no handler")
                .label("expected one such as `lock.entry { ... }`"),
        );
    }
    parser.diagnostics.sort_by_key(|diagnostic| diagnostic.span);
    let refused = parser.diagnostics.iter().any(Diagnostic::is_error);
    ((!refused).then_some(parser.rule), parser.diagnostics)
}

/// An error has been reported; the item is given up.
pub(crate) struct Reported;

pub(crate) type Parsed<T> = Result<T, Reported>;

pub(crate) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    /// How many statements and expressions are being read inside of each other.
    pub(crate) depth: usize,
    /// How many operators the statement has so far.
    pub(crate) operators: usize,
    diagnostics: Vec<Diagnostic>,
    pub(crate) rule: Rule,
}

impl Parser {
    pub(crate) fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    pub(crate) fn peek_second(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    pub(crate) fn next(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// The place of the word that was read last.
    pub(crate) fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    pub(crate) fn is(&self, mark: &str) -> bool {
        matches!(&self.peek().kind, TokenKind::Mark(m) if *m == mark)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(&self.peek().kind, TokenKind::Word(w) if w == word)
    }

    pub(crate) fn accept(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        if found {
            self.next();
        }
        found
    }

    pub(crate) fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.next();
        }
        found
    }

    pub(crate) fn error<T>(&mut self, diagnostic: Diagnostic) -> Parsed<T> {
        self.diagnostics.push(diagnostic);
        Err(Reported)
    }

    /// Something else was expected here.
    pub(crate) fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        let token = self.peek();
        let message = format!("unexpected {}", described(&token.kind));
        let diagnostic =
            Diagnostic::error(token.span, message).label(format!("expected {expected}"));
        self.error(diagnostic)
    }

    pub(crate) fn expect(&mut self, mark: &str, where_: &str) -> Parsed<Span> {
        if self.is(mark) {
            return Ok(self.next().span);
        }
        self.unexpected(&format!("`{mark}`{where_}"))
    }

    pub(crate) fn name(&mut self, what: &str) -> Parsed<Name> {
        match &self.peek().kind {
            TokenKind::Word(word) if !KEYWORDS.contains(&word.as_str()) => {
                let token = self.next();
                let TokenKind::Word(text) = token.kind else {
                    return Err(Reported);
                };
                let span = token.span;
                Ok(Name { text, span })
            }
            _ => self.unexpected(what),
        }
    }

    /// The name of a function, which may be a word of rules (`abort`).
    fn function_name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.peek().clone();
        match token.kind {
            TokenKind::Word(text) => {
                self.next();
                let span = token.span;
                Ok(Name { text, span })
            }
            _ => self.unexpected(what),
        }
    }

    /// Goes one level deeper, or says that it is too deep.
    pub(crate) fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth <= DEPTH {
            return Ok(());
        }
        let span = self.peek().span;
        self.error(
            Diagnostic::error(span, "nested too deeply")
                .label(format!("at most {DEPTH} levels are understood")),
        )
    }

    fn items(&mut self) {
        while self.peek().kind != TokenKind::End {
            self.depth = 0;
            let start = self.at;
            let item = if self.is_word("state") && self.second_is("{") {
                self.state()
            } else {
                self.handler()
            };
            if item.is_err() {
                self.skip_item(start);
            }
        }
    }

    fn second_is(&self, mark: &str) -> bool {
        matches!(self.peek_second().kind, TokenKind::Mark(m) if m == mark)
    }

    /// Goes behind the item that begins at a place.
    fn skip_item(&mut self, start: usize) {
        self.at = start;
        let mut open = 0usize;
        loop {
            let token = self.next();
            match token.kind {
                TokenKind::End => return,
                TokenKind::Mark("{") => open += 1,
                TokenKind::Mark("}") if open <= 1 => return,
                TokenKind::Mark("}") => open -= 1,
                _ => {}
            }
        }
    }

    fn state(&mut self) -> Parsed<()> {
        self.next();
        self.expect("{", "")?;
        while !self.accept("}") {
            if self.peek().kind == TokenKind::End {
                return self.unexpected("`}` at the end of the state");
            }
            self.declaration()?;
        }
        Ok(())
    }

    fn declaration(&mut self) -> Parsed<()> {
        self.operators = 0;
        let ty = self.declared_type()?;
        if matches!(ty, StateType::Enum { .. }) && self.accept(";") {
            return Ok(());
        }
        loop {
            let mut ty = ty.clone();
            let mut stars = 0;
            while self.accept("*") {
                stars += 1;
                ty = StateType::Scalar(ScalarType::Pointer);
            }
            let name = self.name("the name of a variable")?;
            if self.is("[") {
                let span = self.peek().span;
                return self.error(
                    Diagnostic::error(span, "the state holds scalars only")
                        .label("an array is not one"),
                );
            }
            if ty == StateType::Scalar(ScalarType::Pointer) && stars == 0 {
                return self.error(
                    Diagnostic::error(name.span, format!("`{}` cannot be void", name.text))
                        .label("expected `*` before it"),
                );
            }
            self.declare(&name)?;
            let initial = if self.is("=") {
                let at = self.next().span;
                if ty == StateType::Object {
                    return self.error(
                        Diagnostic::error(at, "an object has no initial value")
                            .label("it is an arbitrary one"),
                    );
                }
                let value = self.constant_expression("an initial value")?;
                if ty == StateType::Scalar(ScalarType::Pointer) && value != 0 {
                    let span = self.previous();
                    return self.error(
                        Diagnostic::error(span, "a pointer can only start as 0").label("not 0"),
                    );
                }
                value
            } else {
                0
            };
            self.rule.state.push(StateVariable { name, ty, initial });
            if !self.accept(",") {
                break;
            }
        }
        self.expect(";", " at the end of the declaration")?;
        Ok(())
    }

    /// Refuses a name that is taken.
    fn declare(&mut self, name: &Name) -> Parsed<()> {
        let variables = self.rule.state.iter().map(|variable| &variable.name);
        let constants = self.rule.constants.iter().map(|constant| &constant.name);
        let known = variables
            .chain(constants)
            .find(|known| known.text == name.text)
            .map(|known| known.span);
        match known {
            None => Ok(()),
            Some(first) => self.error(
                Diagnostic::error(name.span, format!("`{}` is declared twice", name.text))
                    .label("declared again here")
                    .note(Some(first), "first declared here"),
            ),
        }
    }

    fn constant_expression(&mut self, what: &str) -> Parsed<i128> {
        let expr = self.conditional()?;
        match constant(&expr, &self.rule.constants) {
            Some(value) => Ok(value),
            None => self.error(
                Diagnostic::error(expr.span, format!("{what} must be a constant"))
                    .label("not a constant"),
            ),
        }
    }

    fn declared_type(&mut self) -> Parsed<StateType> {
        if self.accept_word("object") {
            return Ok(StateType::Object);
        }
        if self.accept_word("enum") {
            return self.enumeration();
        }
        if self.accept_word("void") {
            return Ok(StateType::Scalar(ScalarType::Pointer));
        }
        if let Some(scalar) = self.scalar_type()? {
            return Ok(StateType::Scalar(scalar));
        }
        self.unexpected("a scalar type (`int`, `enum { ... }`, `void *`, ...) or `object`")
    }

    fn enumeration(&mut self) -> Parsed<StateType> {
        if !self.is("{") {
            self.name("`{` or the name of the enum")?;
        }
        self.expect("{", "")?;
        let first = self.rule.constants.len();
        let mut next = 0;
        loop {
            let name = self.name("the name of a constant")?;
            self.declare(&name)?;
            if self.accept("=") {
                next = self.constant_expression("the value of a constant")?;
            }
            let value = next;
            if i32::try_from(value).is_err() {
                return self.error(
                    Diagnostic::error(name.span, format!("`{}` does not fit an `int`", name.text))
                        .label(format!("its value is {value}")),
                );
            }
            self.rule.constants.push(Constant { name, value });
            next = value + 1;
            if !self.accept(",") || self.is("}") {
                break;
            }
        }
        self.expect("}", " or `,`")?;
        let count = self.rule.constants.len() - first;
        Ok(StateType::Enum { first, count })
    }

    /// An arithmetic type, if one stands here.
    pub(crate) fn scalar_type(&mut self) -> Parsed<Option<ScalarType>> {
        let mut words = Vec::new();
        while let TokenKind::Word(word) = &self.peek().kind {
            let Some(known) = TYPE_WORDS.iter().find(|known| *known == word) else {
                break;
            };
            words.push(*known);
            self.next();
        }
        if words.is_empty() {
            return Ok(None);
        }
        let end = self.previous();
        let count = |wanted: &str| words.iter().filter(|word| **word == wanted).count();
        let sign = if count("unsigned") > 0 {
            Signedness::Unsigned
        } else {
            Signedness::Signed
        };
        let both = count("unsigned") + count("signed") > 1;
        let lengths = count("short") + count("char") + count("long").min(1);
        let bool = count("_Bool") + count("bool");
        let wrong = both || lengths > 1 || count("long") > 2 || (bool > 0 && words.len() > 1);
        if wrong {
            let message = format!("`{}` is not a type", words.join(" "));
            return self.error(Diagnostic::error(end, message));
        }
        let width = match (count("char"), count("short"), count("long")) {
            (1, ..) => Width::Char,
            (_, 1, _) => Width::Short,
            (_, _, 1) => Width::Long,
            (_, _, 2) => Width::LongLong,
            _ => Width::Int,
        };
        Ok(Some(if bool > 0 {
            ScalarType::Bool
        } else {
            ScalarType::Int(width, sign)
        }))
    }

    fn handler(&mut self) -> Parsed<()> {
        let mut functions = Vec::new();
        if self.accept("[") {
            loop {
                functions.push(self.function_name("the name of a function")?);
                if !self.accept(",") || self.is("]") {
                    break;
                }
            }
            self.expect("]", " or `,`")?;
        } else {
            functions.push(self.function_name(
                "`state { ... }`, or the name of a function as in `lock.entry { ... }`",
            )?);
        }
        self.expect(".", " and an event after the function")?;
        let event = self.event()?;
        let body = self.block()?;
        self.rule.handlers.push(Handler {
            functions,
            event,
            body,
        });
        Ok(())
    }

    fn event(&mut self) -> Parsed<Event> {
        const EVENTS: &str = "`entry`, `exit`, `call` or `return`";
        let TokenKind::Word(word) = &self.peek().kind else {
            return self.unexpected(EVENTS);
        };
        let event = match word.as_str() {
            "entry" => Event::Entry,
            "exit" => Event::Exit,
            "call" => Event::Call,
            "return" => Event::Return,
            other => {
                let message = format!("`{other}` is not an event");
                let span = self.peek().span;
                return self
                    .error(Diagnostic::error(span, message).label(format!("expected {EVENTS}")));
            }
        };
        self.next();
        Ok(event)
    }

    fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.expect("{", "")?;
        let mut statements = Vec::new();
        while !self.accept("}") {
            if self.peek().kind == TokenKind::End {
                return self.unexpected("`}`");
            }
            self.statement(&mut statements)?;
        }
        Ok(statements)
    }

    /// The statement as a list: a block is its statements, `;` is nothing.
    fn branch(&mut self) -> Parsed<Vec<Stmt>> {
        let mut statements = Vec::new();
        self.statement(&mut statements)?;
        Ok(statements)
    }

    fn statement(&mut self, out: &mut Vec<Stmt>) -> Parsed<()> {
        self.deeper()?;
        let result = self.statement_here(out);
        self.depth -= 1;
        result
    }

    fn statement_here(&mut self, out: &mut Vec<Stmt>) -> Parsed<()> {
        let start = self.peek().span;
        self.operators = 0;
        if self.is("{") {
            out.extend(self.block()?);
            return Ok(());
        }
        if self.accept(";") {
            return Ok(());
        }
        let kind = if self.accept_word("if") {
            self.expect("(", " after `if`")?;
            let condition = self.conditional()?;
            self.expect(")", "")?;
            let then = self.branch()?;
            let otherwise = if self.accept_word("else") {
                self.branch()?
            } else {
                Vec::new()
            };
            let span = start.to(condition.span);
            out.push(Stmt {
                kind: StmtKind::If {
                    condition,
                    then,
                    otherwise,
                },
                span,
            });
            return Ok(());
        } else if self.accept_word("abort") {
            match self.peek().kind.clone() {
                TokenKind::Text(message) => {
                    self.next();
                    StmtKind::Abort { message }
                }
                _ => return self.unexpected("a message, as in abort \"the lock is held already\""),
            }
        } else if self.accept_word("halt") {
            StmtKind::Halt
        } else if self.accept_word("return") {
            if !self.is(";") {
                return self.unexpected("`;`: a handler returns nothing");
            }
            StmtKind::Return
        } else if self.accept_word("watch") {
            StmtKind::Watch(self.conditional()?)
        } else if self.accept_word("track") {
            StmtKind::Track(self.conditional()?)
        } else if let Some(loop_) = self.refused_statement() {
            let span = self.peek().span;
            let message = format!("`{loop_}` is not a statement of rules");
            return self.error(Diagnostic::error(span, message).label(
                "expected an assignment, `if`, `abort`, `halt`, `return`, `watch` or `track`",
            ));
        } else {
            self.assignment()?
        };
        self.expect(";", " at the end of the statement")?;
        let span = start.to(self.previous());
        out.push(Stmt { kind, span });
        Ok(())
    }

    /// A word with which other statements of C begin.
    fn refused_statement(&self) -> Option<String> {
        let TokenKind::Word(word) = &self.peek().kind else {
            return None;
        };
        let refused = [
            "while", "for", "do", "switch", "goto", "break", "continue", "case", "default",
        ];
        refused.contains(&word.as_str()).then(|| word.clone())
    }

    fn assignment(&mut self) -> Parsed<StmtKind> {
        let step = if self.accept("++") {
            Some(BinaryWord::Add)
        } else if self.accept("--") {
            Some(BinaryWord::Sub)
        } else {
            None
        };
        let target = self.unary()?;
        let stepped = |target: Expr, op: BinaryWord| {
            let one = Expr {
                kind: ExprWord::Number {
                    value: 1,
                    width: Width::Int,
                    sign: Signedness::Signed,
                },
                span: target.span,
            };
            StmtKind::Assign {
                target,
                op: Some(op),
                value: one,
            }
        };
        if let Some(op) = step {
            return Ok(stepped(target, op));
        }
        let TokenKind::Mark(mark) = self.peek().kind else {
            return self.unexpected("an assignment");
        };
        let op = match mark {
            "++" => {
                self.next();
                return Ok(stepped(target, BinaryWord::Add));
            }
            "--" => {
                self.next();
                return Ok(stepped(target, BinaryWord::Sub));
            }
            "=" => None,
            "+=" => Some(BinaryWord::Add),
            "-=" => Some(BinaryWord::Sub),
            "*=" => Some(BinaryWord::Mul),
            "/=" => Some(BinaryWord::Div),
            "%=" => Some(BinaryWord::Rem),
            "&=" => Some(BinaryWord::BitAnd),
            "|=" => Some(BinaryWord::BitOr),
            "^=" => Some(BinaryWord::BitXor),
            "<<=" => Some(BinaryWord::Shl),
            ">>=" => Some(BinaryWord::Shr),
            "(" => {
                let span = target.span.to(self.peek().span);
                return self.error(Diagnostic::error(span, "a rule calls no functions").label(
                    "expected an assignment, `if`, `abort`, `halt`, `return`, `watch` or `track`",
                ));
            }
            _ => return self.unexpected("`=`"),
        };
        self.next();
        let value = self.conditional()?;
        Ok(StmtKind::Assign { target, op, value })
    }
}

/// Words that are not names.
const KEYWORDS: [&str; 20] = [
    "state", "if", "else", "abort", "halt", "return", "watch", "track", "object", "enum", "void",
    "int", "char", "short", "long", "signed", "unsigned", "_Bool", "while", "for",
];

/// Words that arithmetic types are made of.
const TYPE_WORDS: [&str; 8] = [
    "int", "char", "short", "long", "signed", "unsigned", "_Bool", "bool",
];

fn described(kind: &TokenKind) -> String {
    match kind {
        TokenKind::Word(word) => format!("`{word}`"),
        TokenKind::Number(value, ..) => format!("`{value}`"),
        TokenKind::Text(text) => format!("\"{text}\""),
        TokenKind::Dollar(name) => format!("`${name}`"),
        TokenKind::Mark(mark) => format!("`{mark}`"),
        TokenKind::End => "end of the rule".to_owned(),
    }
}
