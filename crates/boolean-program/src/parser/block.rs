//! Structured statements: what is open, and what closes it.

use super::{Failed, Parsed, Parser};
use crate::ast::{Expr, Kind, List};
use crate::lexer::{Lexeme, Token};
use hardbop_diagnostics::{Diagnostic, Span};

/// An open `if` or `while`.
pub(super) struct Block {
    kind: BlockKind,
    start: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    If,
    /// After `else`, where no further branch may come.
    Else,
    While,
}

impl Parser<'_, '_> {
    pub(super) fn open(&mut self, labels: List, kind: BlockKind) -> Parsed<()> {
        let start = self.current.start;
        self.bump();
        let condition = self.decider();
        // The block is opened even if its condition is wrong, so that its end finds it.
        self.blocks.push(Block { kind, start });
        let condition = match condition {
            Ok(condition) => condition,
            Err(Failed) => {
                self.skip_in_head();
                self.add_expr(Expr::Const(false))
            }
        };
        let end = self.last_end;
        let (part, token, wanted) = match kind {
            BlockKind::While => (Kind::While(condition), Token::Do, "an operator or `do`"),
            _ => (Kind::If(condition), Token::Then, "an operator or `then`"),
        };
        self.push(labels, part, start, end);
        self.eat(token, wanted)
    }

    /// `elsif`, `else`, `fi` or `od`.
    pub(super) fn branch_or_close(&mut self) -> Parsed<()> {
        let Lexeme { token, start, end } = self.current;
        let wants_while = token == Token::Od;
        let fits = |block: &Block| (block.kind == BlockKind::While) == wants_while;
        let Some(depth) = self.blocks.iter().rposition(fits) else {
            let opener = if wants_while { "while" } else { "if" };
            let message = format!("`{}` without `{opener}`", self.current_text());
            self.reports
                .add(Diagnostic::error(self.here(), message).label("closes nothing"));
            self.bump();
            if token == Token::Elsif {
                let _ = self.decider();
                self.skip_in_head();
                return self.eat(Token::Then, "`then`");
            }
            return Ok(());
        };
        if depth + 1 < self.blocks.len() {
            self.close_blocks(depth + 1);
        }
        let none = List { start: 0, end: 0 };
        if matches!(token, Token::Else | Token::Elsif) && self.blocks[depth].kind == BlockKind::Else
        {
            let text = self.current_text();
            let message = format!("`{text}` after `else`");
            let opened = Span::new(
                self.file,
                self.blocks[depth].start,
                self.blocks[depth].start + 2,
            );
            self.reports.add(
                Diagnostic::error(self.here(), message)
                    .label("expected `fi`")
                    .note(Some(opened), "in this `if`"),
            );
            // Reads on as if a new `if` had started, so that its parts still match.
            self.push(none, Kind::Fi, start, start);
            let condition = self.add_expr(Expr::Const(false));
            self.push(none, Kind::If(condition), start, start);
            self.blocks[depth].kind = BlockKind::If;
        }
        self.bump();
        match token {
            Token::Else => {
                self.blocks[depth].kind = BlockKind::Else;
                self.push(none, Kind::Else, start, end);
            }
            Token::Elsif => {
                let condition = match self.decider() {
                    Ok(condition) => condition,
                    Err(Failed) => {
                        self.skip_in_head();
                        self.add_expr(Expr::Const(false))
                    }
                };
                self.push(none, Kind::Elsif(condition), start, self.last_end);
                return self.eat(Token::Then, "an operator or `then`");
            }
            Token::Fi => {
                self.blocks.pop();
                self.push(none, Kind::Fi, start, end);
            }
            _ => {
                self.blocks.pop();
                self.push(none, Kind::Od, start, end);
            }
        }
        if matches!(token, Token::Fi | Token::Od) && self.current.token == Token::Semicolon {
            self.bump();
        }
        Ok(())
    }

    /// Reports and closes the open blocks from `depth` on.
    pub(super) fn close_blocks(&mut self, depth: usize) {
        let none = List { start: 0, end: 0 };
        let here = self.here();
        // One message: the innermost block is where the closing word was forgotten.
        if let Some(block) = self.blocks.last() {
            let (word, close, length) = match block.kind {
                BlockKind::While => ("while", "od", 5),
                _ => ("if", "fi", 2),
            };
            let opened = Span::new(self.file, block.start, block.start + length);
            if self.current.token != Token::EndOfText {
                self.reports.add(
                    Diagnostic::error(here, format!("this `{word}` is not closed"))
                        .label(format!("expected `{close}`"))
                        .note(Some(opened), "it starts here"),
                );
            }
        }
        while self.blocks.len() > depth {
            let kind = match self.blocks.pop().map(|block| block.kind) {
                Some(BlockKind::While) => Kind::Od,
                _ => Kind::Fi,
            };
            self.push(none, kind, here.start, here.start);
        }
    }
}
