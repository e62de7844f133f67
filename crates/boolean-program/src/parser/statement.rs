//! Statements, one at a time.

use super::block::BlockKind;
use super::{Parsed, Parser};
use crate::ast::{Kind, List, Name};
use crate::dialect::Feature;
use crate::lexer::{Lexeme, Symbol, Token};
use hardbop_diagnostics::Diagnostic;

impl Parser<'_, '_> {
    /// A labelled statement with its `;`, or one part of a structured one.
    pub(super) fn statement(&mut self) -> Parsed<()> {
        let labels = self.labels()?;
        let start = self.current.start;
        let kind = match self.current.token {
            Token::Skip => {
                self.bump();
                Kind::Skip
            }
            Token::Decl => {
                self.bump();
                Kind::Decl(self.declared_names()?)
            }
            Token::Goto => {
                self.bump();
                let targets = self.names("a label")?;
                if targets.len() > 1 {
                    self.require(Feature::SeveralTargets, self.span_from(start));
                }
                Kind::Goto(targets)
            }
            Token::Return => {
                self.bump();
                Kind::Return(self.returned_values()?)
            }
            Token::If => return self.open(labels, BlockKind::If),
            Token::While => return self.open(labels, BlockKind::While),
            Token::Elsif | Token::Else | Token::Fi | Token::Od => {
                if !labels.is_empty() {
                    self.label_without_statement(labels);
                }
                return self.branch_or_close();
            }
            Token::End | Token::EndOfText | Token::Semicolon if !labels.is_empty() => {
                self.label_without_statement(labels);
                return Ok(());
            }
            Token::Name(name) => self.statement_by_name(name)?,
            Token::Constant(_)
                if matches!(
                    self.ahead.token,
                    Token::Assign | Token::Comma | Token::Colon
                ) =>
            {
                return Err(self.constant_as_name());
            }
            _ => return Err(self.expected("a statement")),
        };
        self.push(labels, kind, start, self.last_end);
        self.separator(kind)
    }

    /// `;` after a simple statement, unless what follows closes the block.
    pub(super) fn separator(&mut self, kind: Kind) -> Parsed<()> {
        match self.current.token {
            Token::Semicolon => {
                self.bump();
                Ok(())
            }
            Token::End | Token::Fi | Token::Od | Token::Else | Token::Elsif => Ok(()),
            // The missing `end` is about to be reported.
            Token::EndOfText => Ok(()),
            _ => {
                let wanted = match kind {
                    Kind::Goto(_) | Kind::Dead(_) | Kind::Decl(_) => "`,` or `;`",
                    Kind::Assign {
                        constrain: None, ..
                    } => "an operator, `,` or `;`",
                    Kind::Return(_) | Kind::Assign { .. } | Kind::Enforce(_) | Kind::AbortIf(_) => {
                        "an operator or `;`"
                    }
                    _ => "`;`",
                };
                Err(self.expected(wanted))
            }
        }
    }

    pub(super) fn labels(&mut self) -> Parsed<List> {
        let first = self.ast.name_lists.len() as u32;
        while let (Token::Name(symbol), Token::Colon) = (self.current.token, self.ahead.token) {
            let span = self.here();
            if self.ast.name_lists.len() as u32 > first {
                self.require(Feature::SeveralLabels, span);
            }
            if self.word(symbol).starts_with("ASYNC_") {
                self.refuse_thread("ASYNC_", span);
            }
            let Lexeme { start, end, .. } = self.current;
            self.ast.name_lists.push(Name { symbol, start, end });
            self.bump();
            self.bump();
        }
        Ok(List {
            start: first,
            end: self.ast.name_lists.len() as u32,
        })
    }

    pub(super) fn label_without_statement(&mut self, labels: List) {
        let label = self.ast.name_lists[labels.end as usize - 1];
        let message = format!(
            "the label `{}` stands before no statement",
            self.word(label.symbol)
        );
        self.reports
            .add(Diagnostic::error(self.here(), message).label("expected a statement"));
        self.push(labels, Kind::Skip, label.start, label.end);
    }

    pub(super) fn returned_values(&mut self) -> Parsed<List> {
        match self.current.token {
            Token::Semicolon
            | Token::End
            | Token::Fi
            | Token::Od
            | Token::Else
            | Token::Elsif
            | Token::EndOfText => Ok(List { start: 0, end: 0 }),
            _ => {
                self.require(Feature::ReturnValue, self.here());
                self.expressions()
            }
        }
    }

    /// A statement that starts with a name: an assignment, a call, or one of the words that are
    /// keywords only here.
    pub(super) fn statement_by_name(&mut self, name: Symbol) -> Parsed<Kind> {
        let here = self.here();
        if matches!(self.ahead.token, Token::Assign | Token::Comma) {
            return self.assignment();
        }
        let word = self.word(name);
        let feature = match word {
            "assert" => None,
            "assume" => Some(Feature::Assume),
            "constrain" => Some(Feature::ConstrainStatement),
            "print" => Some(Feature::Print),
            "enforce" => Some(Feature::Enforce),
            "abortif" => Some(Feature::AbortIf),
            "dead" => Some(Feature::Dead),
            "start_thread" => return Err(self.refuse_thread("start_thread", here)),
            "end_thread" => return Err(self.refuse_thread("end_thread", here)),
            "sync" => return Err(self.refuse_thread("sync", here)),
            "atomic_begin" => return Err(self.refuse_thread("atomic_begin", here)),
            "atomic_end" => return Err(self.refuse_thread("atomic_end", here)),
            _ if self.ahead.token == Token::Open => {
                let callee = self.callee()?;
                let arguments = self.arguments()?;
                let none = List { start: 0, end: 0 };
                return Ok(Kind::Call {
                    results: none,
                    callee,
                    arguments,
                });
            }
            _ => {
                self.bump();
                return Err(self.expected("`:=`, `,`, `(` or `:`"));
            }
        };
        let word = word.to_owned();
        if let Some(feature) = feature {
            self.require(feature, here);
        }
        self.bump();
        Ok(match word.as_str() {
            "assert" => Kind::Assert(self.condition()?),
            "assume" => Kind::Assume(self.condition()?),
            "constrain" => Kind::Constrain(self.condition()?),
            "print" => Kind::Print(self.arguments()?),
            "enforce" => Kind::Enforce(self.expression()?),
            "abortif" => Kind::AbortIf(self.expression()?),
            _ => Kind::Dead(self.names("the name of a variable")?),
        })
    }

    pub(super) fn assignment(&mut self) -> Parsed<Kind> {
        let start = self.current.start;
        let targets = self.names("the name of a variable")?;
        self.eat(Token::Assign, "`,` or `:=`")?;
        if let (Token::Name(name), Token::Open) = (self.current.token, self.ahead.token)
            && !matches!(self.word(name), "choose" | "schoose")
        {
            self.require(Feature::CallResult, self.span_from(start));
            let callee = self.callee()?;
            let arguments = self.arguments()?;
            return Ok(Kind::Call {
                results: targets,
                callee,
                arguments,
            });
        }
        let values = self.expressions()?;
        let constrain = if self.at_word("constrain") {
            self.require(Feature::ConstrainSuffix, self.here());
            self.bump();
            Some(self.expression()?)
        } else {
            None
        };
        Ok(Kind::Assign {
            targets,
            values,
            constrain,
        })
    }
}
