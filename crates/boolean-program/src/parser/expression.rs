//! Expressions, by operator precedence on explicit stacks.

use super::{Failed, Parsed, Parser};
use crate::ast::{Expr, Name};
use crate::dialect::{Binding, Feature, Operator};
use crate::lexer::{Lexeme, Token};
use hardbop_diagnostics::{Diagnostic, Span};

/// What waits for an operand.
#[derive(Clone, Copy)]
pub(super) enum Frame {
    /// `(` at this byte.
    Paren(u32),
    /// `choose (` or `schoose [` at this byte, before the comma.
    First(Chooser, Bracket, u32),
    /// The same after the comma.
    Second(Chooser, Bracket, u32),
    Not,
    Binary(Operator),
}

/// Which kind of parenthesis closes it: SLAM writes `schoose[a, b]` and its papers
/// `choose(a, b)`, and other tools mix the two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Round,
    Square,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Chooser {
    Choose,
    Schoose,
}

impl Parser<'_, '_> {
    /// Parses an expression and adds its nodes; its root is the last of them. The answer is
    /// whether there are choices in it.
    pub(super) fn expression_with_choices(&mut self) -> Parsed<bool> {
        self.frames.clear();
        self.operands.clear();
        let mut choices = false;
        let mut warned = !self.dialect.warns_of_grouping();
        loop {
            choices |= self.operand()?;
            loop {
                match self.current.token {
                    Token::Operator(operator) => {
                        self.reduce_before(operator, &mut warned);
                        self.frames.push(Frame::Binary(operator));
                        self.bump();
                        break;
                    }
                    Token::Comma => {
                        self.reduce();
                        match self.frames.last().copied() {
                            Some(Frame::First(chooser, bracket, start)) => {
                                self.frames.pop();
                                self.frames.push(Frame::Second(chooser, bracket, start));
                                self.bump();
                                break;
                            }
                            None => return Ok(choices),
                            Some(frame) => return Err(self.unclosed(frame)),
                        }
                    }
                    Token::Close | Token::CloseBracket => {
                        self.reduce();
                        match self.frames.last().copied() {
                            None => return Ok(choices),
                            Some(frame) => self.close(frame)?,
                        }
                    }
                    _ => {
                        self.reduce();
                        match self.frames.last().copied() {
                            None => return Ok(choices),
                            Some(frame) => return Err(self.unclosed(frame)),
                        }
                    }
                }
            }
        }
    }

    /// Prefixes and one operand; the answer is whether it is a choice.
    fn operand(&mut self) -> Parsed<bool> {
        loop {
            let here = self.here();
            let expr = match self.current.token {
                Token::Open => {
                    self.frames.push(Frame::Paren(self.current.start));
                    self.bump();
                    continue;
                }
                Token::Not => {
                    self.frames.push(Frame::Not);
                    self.bump();
                    continue;
                }
                Token::Name(symbol) => {
                    let chooser = match self.word(symbol) {
                        "choose" => Some((Chooser::Choose, Feature::Choose)),
                        "schoose" => Some((Chooser::Schoose, Feature::Schoose)),
                        _ => None,
                    };
                    let bracket = match self.ahead.token {
                        Token::Open => Some(Bracket::Round),
                        Token::OpenBracket => Some(Bracket::Square),
                        _ => None,
                    };
                    if let (Some((chooser, feature)), Some(bracket)) = (chooser, bracket) {
                        self.require(feature, here);
                        self.frames
                            .push(Frame::First(chooser, bracket, self.current.start));
                        self.bump();
                        self.bump();
                        continue;
                    }
                    if bracket == Some(Bracket::Round) {
                        return Err(self.call_in_expression());
                    }
                    let Lexeme { start, end, .. } = self.current;
                    Expr::Var(Name { symbol, start, end })
                }
                Token::Tick => {
                    self.bump();
                    let name = match self.current.token {
                        Token::Name(symbol) => Name {
                            symbol,
                            start: self.current.start,
                            end: self.current.end,
                        },
                        _ => return Err(self.expected("the name of a variable after `'`")),
                    };
                    Expr::Next(name)
                }
                Token::Constant(value) => Expr::Const(value),
                Token::Star => {
                    self.require(Feature::Star, here);
                    Expr::Star
                }
                Token::QuestionMark => {
                    self.require(Feature::QuestionMark, here);
                    Expr::QuestionMark
                }
                Token::Number(_) => {
                    let text = self.current_text();
                    let message = format!("`{text}` is not a truth value");
                    self.reports
                        .add(Diagnostic::error(here, message).label("expected 0 or 1"));
                    self.bump();
                    return Err(Failed);
                }
                _ => return Err(self.expected("an expression")),
            };
            self.bump();
            let id = self.add_expr(expr);
            self.operands.push(id);
            return Ok(matches!(expr, Expr::Star | Expr::QuestionMark));
        }
    }

    fn call_in_expression(&mut self) -> Failed {
        let message = format!("a call of `{}` inside an expression", self.current_text());
        let label = "expected a variable; results of calls can only be assigned: `x := f(y)`";
        self.reports
            .add(Diagnostic::error(self.here(), message).label(label));
        Failed
    }

    /// Applies the operators that bind at least as strongly as the one that comes.
    fn reduce_before(&mut self, next: Operator, warned: &mut bool) {
        let binding = self.dialect.binding();
        while let Some(&frame) = self.frames.last() {
            match frame {
                Frame::Not => {}
                Frame::Binary(before) => {
                    let left = binding.groups_left(before, next);
                    if !*warned && !before.associates_with(next) {
                        let other = [Binding::LikeC, Binding::LikeBoppo]
                            .into_iter()
                            .any(|other| other.groups_left(before, next) != left);
                        if other {
                            *warned = true;
                            self.warn_of_grouping(before, next, left);
                        }
                    }
                    if !left {
                        return;
                    }
                }
                _ => return,
            }
            self.frames.pop();
            self.apply(frame);
        }
    }

    fn warn_of_grouping(&mut self, before: Operator, next: Operator, left: bool) {
        let (b, n) = (before.text(), next.text());
        let (here, there) = if left {
            (format!("(x {b} y) {n} z"), format!("x {b} (y {n} z)"))
        } else {
            (format!("x {b} (y {n} z)"), format!("(x {b} y) {n} z"))
        };
        let message = format!("`x {b} y {n} z` is read as `{here}` here");
        let warning = Diagnostic::warning(self.here(), message)
            .label("the dialects disagree; parentheses make it clear")
            .note(
                None,
                format!("Getafix reads it like this, Boppo as `{there}`"),
            );
        self.reports.add(warning);
    }

    /// Applies all operators up to the innermost open parenthesis.
    fn reduce(&mut self) {
        while let Some(&frame) = self.frames.last() {
            if !matches!(frame, Frame::Not | Frame::Binary(_)) {
                return;
            }
            self.frames.pop();
            self.apply(frame);
        }
    }

    fn apply(&mut self, frame: Frame) {
        // An operator is pushed only after its left operand and applied only after its right one.
        let Some(last) = self.operands.pop() else {
            return;
        };
        let expr = match frame {
            Frame::Not => Expr::Not(last),
            Frame::Binary(operator) => match self.operands.pop() {
                Some(first) => Expr::Binary(operator, first, last),
                None => return,
            },
            _ => return,
        };
        let id = self.add_expr(expr);
        self.operands.push(id);
    }

    fn close(&mut self, frame: Frame) -> Parsed<()> {
        let closing = match self.current.token {
            Token::CloseBracket => Bracket::Square,
            _ => Bracket::Round,
        };
        match frame {
            Frame::Paren(_) if closing == Bracket::Round => {}
            Frame::Second(chooser, bracket, _) if bracket == closing => {
                let (Some(no), Some(yes)) = (self.operands.pop(), self.operands.pop()) else {
                    return Err(Failed);
                };
                let id = self.add_expr(match chooser {
                    Chooser::Choose => Expr::Choose(yes, no),
                    Chooser::Schoose => Expr::Schoose(yes, no),
                });
                self.operands.push(id);
            }
            _ => return Err(self.unclosed(frame)),
        }
        self.frames.pop();
        self.bump();
        Ok(())
    }

    fn unclosed(&mut self, frame: Frame) -> Failed {
        let length = |chooser| match chooser {
            Chooser::Choose => 6,
            Chooser::Schoose => 7,
        };
        let (start, length, wanted) = match frame {
            Frame::Paren(start) => (start, 1, "an operator or `)`"),
            Frame::First(chooser, _, start) => (start, length(chooser), "an operator or `,`"),
            Frame::Second(chooser, Bracket::Round, start) => {
                (start, length(chooser), "an operator or `)`")
            }
            Frame::Second(chooser, Bracket::Square, start) => {
                (start, length(chooser), "an operator or `]`")
            }
            Frame::Not | Frame::Binary(_) => (self.current.start, 0, "an operand"),
        };
        let opened = Span::new(self.file, start, start + length);
        let failed = self.expected(wanted);
        self.reports.annotate(opened, "opened here");
        failed
    }
}
