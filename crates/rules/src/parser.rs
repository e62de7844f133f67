//! From the text of a rule to its tree: the state, the handlers, the statements.
//!
//! An error ends the item (a `state` block or a handler) that it stands in; the next item is
//! read all the same, so that a user sees the errors of all items at once.

use crate::ast::*;
use hardbop_c_text::ast::{TypeBase, TypeName};
use hardbop_c_text::lexer::{Number, TokenKind, lex};
use hardbop_c_text::parser::{Parsed, Parser};
use hardbop_c_text::{Dialect, constant};
use hardbop_cfront::program::BinaryOp;
use hardbop_diagnostics::{Diagnostic, FileId, Sources};

/// Reads a rule. There is a rule exactly if there is no error among the diagnostics.
pub fn parse(
    name: &str,
    origin: RuleOrigin,
    file: FileId,
    sources: &Sources,
) -> (Option<Rule>, Vec<Diagnostic>) {
    let text = sources.text(file);
    let (tokens, diagnostics) = lex(Dialect::Rule, file, text, 0..text.len());
    let mut parser = RuleParser {
        c: Parser::new(Dialect::Rule, tokens),
        diagnostics,
        rule: Rule {
            name: name.to_owned(),
            origin,
            path: sources.name(file).to_owned(),
            text: text.to_owned(),
            state: Vec::new(),
            constants: Vec::new(),
            exprs: Ast::default(),
            handlers: Vec::new(),
        },
    };
    parser.items();
    if parser.rule.handlers.is_empty() && parser.diagnostics.is_empty() {
        let end = parser.c.peek().span;
        parser.diagnostics.push(
            Diagnostic::error(end, "the rule has no handler")
                .label("expected one such as `lock.entry { ... }`"),
        );
    }
    parser.diagnostics.sort_by_key(|diagnostic| diagnostic.span);
    parser.rule.exprs = parser.c.ast;
    let refused = parser.diagnostics.iter().any(Diagnostic::is_error);
    ((!refused).then_some(parser.rule), parser.diagnostics)
}

/// Reads the items of a rule.
struct RuleParser {
    c: Parser,
    diagnostics: Vec<Diagnostic>,
    rule: Rule,
}

impl RuleParser {
    fn items(&mut self) {
        while self.c.peek().kind != TokenKind::End {
            let start = self.c.position();
            let item = if self.c.word() == Some("state") && self.c.is_ahead(1, "{") {
                self.state()
            } else {
                self.handler()
            };
            if let Err(error) = item {
                self.diagnostics.push(error);
                self.skip_item(start);
            }
        }
    }

    /// Goes behind the item that begins at a position.
    fn skip_item(&mut self, start: usize) {
        self.c.go_to(start);
        let mut open = 0usize;
        loop {
            let token = self.c.take();
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
        self.c.take();
        self.c.expect("{", "")?;
        while !self.c.accept("}") {
            if self.c.peek().kind == TokenKind::End {
                return self.c.unexpected("`}` at the end of the state");
            }
            self.declaration()?;
        }
        Ok(())
    }

    fn declaration(&mut self) -> Parsed<()> {
        self.c.begin_statement();
        let ty = self.declared_type()?;
        if matches!(ty, StateType::Enum { .. }) && self.c.accept(";") {
            return Ok(());
        }
        loop {
            let mut ty = ty.clone();
            let mut stars = 0;
            while self.c.accept("*") {
                stars += 1;
                ty = StateType::Scalar(TypeName {
                    base: TypeBase::Void,
                    stars: 1,
                });
            }
            let name = self.c.name("the name of a variable")?;
            if self.c.is("[") {
                let span = self.c.peek().span;
                return Err(Diagnostic::error(span, "the state holds scalars only")
                    .label("an array is not one"));
            }
            let void =
                matches!(&ty, StateType::Scalar(name) if matches!(name.base, TypeBase::Void));
            if void && stars == 0 {
                return Err(Diagnostic::error(
                    name.span,
                    format!("`{}` cannot be void", name.text),
                )
                .label("expected `*` before it"));
            }
            self.declare(&name)?;
            let initial = if self.c.is("=") {
                let at = self.c.take().span;
                if matches!(ty, StateType::Object) {
                    return Err(Diagnostic::error(at, "an object has no initial value")
                        .label("it is an arbitrary one"));
                }
                let value = self.constant_expression("an initial value")?;
                if void && value != 0 {
                    let span = self.c.previous();
                    return Err(
                        Diagnostic::error(span, "a pointer can only start as 0").label("not 0")
                    );
                }
                value
            } else {
                0
            };
            self.rule.state.push(StateVariable { name, ty, initial });
            if !self.c.accept(",") {
                break;
            }
        }
        self.c.expect(";", " at the end of the declaration")?;
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
            Some(first) => Err(Diagnostic::error(
                name.span,
                format!("`{}` is declared twice", name.text),
            )
            .label("declared again here")
            .note(Some(first), "first declared here")),
        }
    }

    fn constant_expression(&mut self, what: &str) -> Parsed<i128> {
        let expr = self.c.expression()?;
        let constants = &self.rule.constants;
        let named = |name: &str| match name {
            "NULL" => Some(0),
            _ => {
                let known = constants.iter().find(|known| known.name.text == name)?;
                Some(known.value)
            }
        };
        constant(&self.c.ast, expr, named).ok_or_else(|| {
            let span = self.c.ast.span(expr);
            Diagnostic::error(span, format!("{what} must be a constant")).label("not a constant")
        })
    }

    fn declared_type(&mut self) -> Parsed<StateType> {
        if self.c.accept_word("object") {
            return Ok(StateType::Object);
        }
        if self.c.accept_word("enum") {
            return self.enumeration();
        }
        if self.c.word().is_some_and(|word| TYPE_WORDS.contains(&word)) {
            let base = self.c.type_base()?;
            if let TypeBase::Float | TypeBase::Double | TypeBase::LongDouble = base {
                let message = "rules do not look at floating-point numbers";
                return Err(Diagnostic::error(self.c.previous(), message));
            }
            return Ok(StateType::Scalar(TypeName { base, stars: 0 }));
        }
        self.c
            .unexpected("a scalar type (`int`, `enum { ... }`, `void *`, ...) or `object`")
    }

    fn enumeration(&mut self) -> Parsed<StateType> {
        if !self.c.is("{") {
            self.c.name("`{` or the name of the enum")?;
        }
        self.c.expect("{", "")?;
        let first = self.rule.constants.len();
        let mut next = 0;
        loop {
            let name = self.c.name("the name of a constant")?;
            self.declare(&name)?;
            if self.c.accept("=") {
                next = self.constant_expression("the value of a constant")?;
            }
            let value = next;
            if i32::try_from(value).is_err() {
                return Err(Diagnostic::error(
                    name.span,
                    format!("`{}` does not fit an `int`", name.text),
                )
                .label(format!("its value is {value}")));
            }
            self.rule.constants.push(Constant { name, value });
            next = value + 1;
            if !self.c.accept(",") || self.c.is("}") {
                break;
            }
        }
        self.c.expect("}", " or `,`")?;
        let count = self.rule.constants.len() - first;
        Ok(StateType::Enum { first, count })
    }

    fn handler(&mut self) -> Parsed<()> {
        let mut functions = Vec::new();
        if self.c.accept("[") {
            loop {
                functions.push(self.c.any_name("the name of a function")?);
                if !self.c.accept(",") || self.c.is("]") {
                    break;
                }
            }
            self.c.expect("]", " or `,`")?;
        } else {
            functions.push(self.c.any_name(
                "`state { ... }`, or the name of a function as in `lock.entry { ... }`",
            )?);
        }
        self.c.expect(".", " and an event after the function")?;
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
        let Some(word) = self.c.word() else {
            return self.c.unexpected(EVENTS);
        };
        let event = match word {
            "entry" => Event::Entry,
            "exit" => Event::Exit,
            "call" => Event::Call,
            "return" => Event::Return,
            other => {
                let message = format!("`{other}` is not an event");
                let span = self.c.peek().span;
                return Err(Diagnostic::error(span, message).label(format!("expected {EVENTS}")));
            }
        };
        self.c.take();
        Ok(event)
    }

    fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.c.expect("{", "")?;
        let mut statements = Vec::new();
        while !self.c.accept("}") {
            if self.c.peek().kind == TokenKind::End {
                return self.c.unexpected("`}`");
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
        self.c.enter()?;
        self.statement_here(out)?;
        self.c.leave();
        Ok(())
    }

    fn statement_here(&mut self, out: &mut Vec<Stmt>) -> Parsed<()> {
        let start = self.c.peek().span;
        self.c.begin_statement();
        if self.c.is("{") {
            out.extend(self.block()?);
            return Ok(());
        }
        if self.c.accept(";") {
            return Ok(());
        }
        let kind = if self.c.accept_word("if") {
            self.c.expect("(", " after `if`")?;
            let condition = self.c.expression()?;
            self.c.expect(")", "")?;
            let then = self.branch()?;
            let otherwise = if self.c.accept_word("else") {
                self.branch()?
            } else {
                Vec::new()
            };
            let span = start.to(self.c.ast.span(condition));
            out.push(Stmt {
                kind: StmtKind::If {
                    condition,
                    then,
                    otherwise,
                },
                span,
            });
            return Ok(());
        } else if self.c.accept_word("abort") {
            match self.c.peek().kind.clone() {
                TokenKind::Text(message) => {
                    self.c.take();
                    StmtKind::Abort { message }
                }
                _ => {
                    return self
                        .c
                        .unexpected("a message, as in abort \"the lock is held already\"");
                }
            }
        } else if self.c.accept_word("halt") {
            StmtKind::Halt
        } else if self.c.accept_word("return") {
            if !self.c.is(";") {
                return self.c.unexpected("`;`: a handler returns nothing");
            }
            StmtKind::Return
        } else if self.c.accept_word("watch") {
            StmtKind::Watch(self.c.expression()?)
        } else if self.c.accept_word("track") {
            StmtKind::Track(self.c.expression()?)
        } else if let Some(loop_) = self.refused_statement() {
            let span = self.c.peek().span;
            let message = format!("`{loop_}` is not a statement of rules");
            return Err(Diagnostic::error(span, message).label(
                "expected an assignment, `if`, `abort`, `halt`, `return`, `watch` or `track`",
            ));
        } else {
            self.assignment()?
        };
        self.c.expect(";", " at the end of the statement")?;
        let span = start.to(self.c.previous());
        out.push(Stmt { kind, span });
        Ok(())
    }

    /// A word with which other statements of C begin.
    fn refused_statement(&self) -> Option<String> {
        let word = self.c.word()?;
        let refused = [
            "while", "for", "do", "switch", "goto", "break", "continue", "case", "default",
        ];
        refused.contains(&word).then(|| word.to_owned())
    }

    fn assignment(&mut self) -> Parsed<StmtKind> {
        let step = if self.c.accept("++") {
            Some(BinaryOp::Add)
        } else if self.c.accept("--") {
            Some(BinaryOp::Sub)
        } else {
            None
        };
        let target = self.c.unary()?;
        if let Some(op) = step {
            return Ok(self.stepped(target, op));
        }
        let TokenKind::Mark(mark) = self.c.peek().kind else {
            return self.c.unexpected("an assignment");
        };
        let op = match mark {
            "++" => {
                self.c.take();
                return Ok(self.stepped(target, BinaryOp::Add));
            }
            "--" => {
                self.c.take();
                return Ok(self.stepped(target, BinaryOp::Sub));
            }
            "=" => None,
            "+=" => Some(BinaryOp::Add),
            "-=" => Some(BinaryOp::Sub),
            "*=" => Some(BinaryOp::Mul),
            "/=" => Some(BinaryOp::Div),
            "%=" => Some(BinaryOp::Rem),
            "&=" => Some(BinaryOp::BitAnd),
            "|=" => Some(BinaryOp::BitOr),
            "^=" => Some(BinaryOp::BitXor),
            "<<=" => Some(BinaryOp::Shl),
            ">>=" => Some(BinaryOp::Shr),
            _ => return self.c.unexpected("`=`"),
        };
        self.c.take();
        let value = self.c.expression()?;
        Ok(StmtKind::Assign { target, op, value })
    }

    /// `++` or `--`.
    fn stepped(&mut self, target: NodeId, op: BinaryOp) -> StmtKind {
        let span = self.c.ast.span(target);
        let one = NodeKind::Number(Number::plain(1));
        StmtKind::Assign {
            target,
            op: Some(op),
            value: self.c.ast.add(one, span),
        }
    }
}

/// Words that the types of a state are made of.
const TYPE_WORDS: [&str; 9] = [
    "int", "char", "short", "long", "signed", "unsigned", "_Bool", "bool", "void",
];
