//! The expressions of a rule: those of C without side effects.

use crate::ast::*;
use crate::lexer::TokenKind;
use crate::parser::{Parsed, Parser};
use hardbop_diagnostics::Diagnostic;

/// The binary operators by how tightly they bind, loosest first.
const LEVELS: [&[(&str, BinaryWord)]; 10] = [
    &[("||", BinaryWord::Or)],
    &[("&&", BinaryWord::And)],
    &[("|", BinaryWord::BitOr)],
    &[("^", BinaryWord::BitXor)],
    &[("&", BinaryWord::BitAnd)],
    &[("==", BinaryWord::Eq), ("!=", BinaryWord::Ne)],
    &[
        ("<", BinaryWord::Lt),
        ("<=", BinaryWord::Le),
        (">", BinaryWord::Gt),
        (">=", BinaryWord::Ge),
    ],
    &[("<<", BinaryWord::Shl), (">>", BinaryWord::Shr)],
    &[("+", BinaryWord::Add), ("-", BinaryWord::Sub)],
    &[
        ("*", BinaryWord::Mul),
        ("/", BinaryWord::Div),
        ("%", BinaryWord::Rem),
    ],
];

/// The most operators in a statement: a chain of them is a tree that is as deep as it is long.
const OPERATORS: usize = 500;

impl Parser {
    /// Counts an operator, or says that there are too many.
    fn operator(&mut self) -> Parsed<()> {
        self.operators += 1;
        if self.operators <= OPERATORS {
            return Ok(());
        }
        let span = self.peek().span;
        self.error(
            Diagnostic::error(span, "the expression is too long")
                .label(format!("at most {OPERATORS} operators are understood")),
        )
    }

    /// An expression; assignments and commas are not part of it.
    pub(crate) fn conditional(&mut self) -> Parsed<Expr> {
        self.deeper()?;
        let result = self.conditional_here();
        self.depth -= 1;
        let expr = result?;
        if self.is("=") {
            let span = self.peek().span;
            return self.error(
                Diagnostic::error(span, "an expression has no side effects")
                    .label("expected `==`, or an assignment as a statement of its own"),
            );
        }
        Ok(expr)
    }

    fn conditional_here(&mut self) -> Parsed<Expr> {
        let condition = self.binary(0)?;
        if !self.accept("?") {
            return Ok(condition);
        }
        let then = self.conditional()?;
        self.expect(":", "")?;
        let otherwise = self.conditional()?;
        let span = condition.span.to(otherwise.span);
        Ok(Expr {
            kind: ExprWord::Conditional(condition.into(), then.into(), otherwise.into()),
            span,
        })
    }

    fn binary(&mut self, level: usize) -> Parsed<Expr> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        while let TokenKind::Mark(mark) = self.peek().kind {
            let Some(&(_, op)) = operators.iter().find(|(known, _)| *known == mark) else {
                break;
            };
            self.operator()?;
            self.next();
            let right = self.binary(level + 1)?;
            let span = left.span.to(right.span);
            left = Expr {
                kind: ExprWord::Binary(op, left.into(), right.into()),
                span,
            };
        }
        Ok(left)
    }

    pub(crate) fn unary(&mut self) -> Parsed<Expr> {
        self.deeper()?;
        let result = self.unary_here();
        self.depth -= 1;
        result
    }

    fn unary_here(&mut self) -> Parsed<Expr> {
        let start = self.peek().span;
        if self.is("(")
            && let TokenKind::Word(word) = &self.peek_second().kind
            && CAST_WORDS.contains(&word.as_str())
        {
            return self.cast();
        }
        let op = match self.peek().kind {
            TokenKind::Mark("!") => UnaryWord::Not,
            TokenKind::Mark("~") => UnaryWord::BitNot,
            TokenKind::Mark("-") => UnaryWord::Minus,
            TokenKind::Mark("+") => UnaryWord::Plus,
            TokenKind::Mark("*") => UnaryWord::Deref,
            TokenKind::Mark("&") => UnaryWord::AddressOf,
            TokenKind::Mark("++" | "--") => return self.side_effect(),
            _ => return self.postfix(),
        };
        self.next();
        let operand = self.unary()?;
        let span = start.to(operand.span);
        Ok(Expr {
            kind: ExprWord::Unary(op, operand.into()),
            span,
        })
    }

    fn side_effect<T>(&mut self) -> Parsed<T> {
        let span = self.peek().span;
        self.error(
            Diagnostic::error(span, "an expression has no side effects")
                .label("expected a statement of its own"),
        )
    }

    fn cast(&mut self) -> Parsed<Expr> {
        let start = self.next().span;
        let mut ty = if self.accept_word("void") {
            None
        } else {
            self.scalar_type()?
        };
        let mut pointer = false;
        while self.accept("*") {
            pointer = true;
        }
        if pointer {
            ty = Some(ScalarType::Pointer);
        }
        let Some(ty) = ty else {
            return self.unexpected("a scalar type");
        };
        self.expect(")", " after the type")?;
        let operand = self.unary()?;
        let span = start.to(operand.span);
        Ok(Expr {
            kind: ExprWord::Cast(ty, operand.into()),
            span,
        })
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut expr = self.primary()?;
        while let TokenKind::Mark(mark @ ("." | "->" | "[")) = self.peek().kind {
            self.operator()?;
            self.next();
            let (start, base) = (expr.span, Box::new(expr));
            let kind = match mark {
                "." => ExprWord::Member(base, self.name("the name of a member")?),
                "->" => ExprWord::Arrow(base, self.name("the name of a member")?),
                _ => {
                    let index = self.conditional()?;
                    self.expect("]", "")?;
                    ExprWord::Index(base, index.into())
                }
            };
            let span = start.to(self.previous());
            expr = Expr { kind, span };
        }
        Ok(expr)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.peek().clone();
        let span = token.span;
        let kind = match token.kind {
            TokenKind::Number(value, width, sign) => ExprWord::Number { value, width, sign },
            TokenKind::Dollar(text) => return self.dollar(&text),
            TokenKind::Mark("(") => {
                self.next();
                let mut inner = self.conditional()?;
                let end = self.expect(")", "")?;
                inner.span = span.to(end);
                return Ok(inner);
            }
            TokenKind::Word(_) => {
                let name = self.name("an expression")?;
                if self.is("(") {
                    let span = name.span;
                    return self.error(
                        Diagnostic::error(span, "a rule calls no functions")
                            .label("its bodies only look at what the program does"),
                    );
                }
                let kind = match name.text.as_str() {
                    "NULL" => ExprWord::Number {
                        value: 0,
                        width: Width::Int,
                        sign: Signedness::Signed,
                    },
                    _ => ExprWord::Name(name.text),
                };
                return Ok(Expr { kind, span });
            }
            _ => return self.unexpected("an expression"),
        };
        self.next();
        Ok(Expr { kind, span })
    }

    fn dollar(&mut self, text: &str) -> Parsed<Expr> {
        let span = self.peek().span;
        let number = text.parse::<u32>().ok();
        let kind = match (text, number) {
            ("return", _) => ExprWord::Result,
            (_, Some(number)) if number > 0 => ExprWord::Argument(number),
            _ => {
                return self.error(
                    Diagnostic::error(span, format!("`${text}` means nothing here"))
                        .label("expected `$1`, `$2`, ... or `$return`"),
                );
            }
        };
        self.next();
        Ok(Expr { kind, span })
    }
}

/// Words that can only begin a type.
const CAST_WORDS: [&str; 9] = [
    "int", "char", "short", "long", "signed", "unsigned", "_Bool", "bool", "void",
];
