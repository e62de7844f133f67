//! Parentheses that the precedence of operators makes superfluous.

use super::brackets::{Brackets, Word, Words, punct};
use rucc_lex::{PpToken, PpTokenKind, Punct};
use std::collections::BTreeSet;

/// How tightly operators bind, as in C's grammar.
type Level = u8;
/// A comma, an assignment or a condition with `?`: what is written around them stays.
const LOOSE: Level = 3;
const UNARY: Level = 14;
const PRIMARY: Level = 16;

/// The binary operators.
fn binary(punct: Punct) -> Option<Level> {
    Some(match punct {
        Punct::Star | Punct::Slash | Punct::Percent => 13,
        Punct::Plus | Punct::Minus => 12,
        Punct::Shl | Punct::Shr => 11,
        Punct::Lt | Punct::Gt | Punct::Le | Punct::Ge => 10,
        Punct::EqEq | Punct::Ne => 9,
        Punct::Amp => 8,
        Punct::Caret => 7,
        Punct::Pipe => 6,
        Punct::AmpAmp => 5,
        Punct::PipePipe => 4,
        _ => return None,
    })
}

/// Marks the brackets that can go. Inner ones are looked at before those around them.
pub(super) fn superfluous(
    tokens: &[PpToken],
    words: &Words,
    brackets: &Brackets,
    removed: &mut BTreeSet<usize>,
) {
    let mut levels: Vec<Level> = vec![PRIMARY; tokens.len()];
    for close in 0..tokens.len() {
        if punct(tokens, close) != Some(Punct::RParen) {
            continue;
        }
        let open = brackets.open[close];
        let group = Group {
            tokens,
            words,
            brackets,
            open,
            close,
        };
        let Some(level) = group.level(removed, &levels) else {
            continue;
        };
        levels[open] = level;
        if group.can_go(level) {
            removed.extend([open, close]);
        }
    }
}

/// What stands between parentheses.
struct Group<'a> {
    tokens: &'a [PpToken],
    words: &'a Words,
    brackets: &'a Brackets,
    open: usize,
    close: usize,
}

impl Group<'_> {
    fn punct(&self, at: usize) -> Option<Punct> {
        punct(self.tokens, at)
    }

    /// Whether an operand may end with a token.
    fn ends_operand(&self, at: usize) -> bool {
        match self.tokens[at].kind {
            PpTokenKind::Punct(Punct::RParen | Punct::RBracket) => true,
            PpTokenKind::Punct(Punct::PlusPlus | Punct::MinusMinus) => true,
            PpTokenKind::Punct(_) | PpTokenKind::Eof => false,
            PpTokenKind::Ident => self.words.at(at) == Word::Name,
            _ => true,
        }
    }

    /// How loosely its operators bind, if it is an expression as far as can be seen.
    fn level(&self, removed: &BTreeSet<usize>, levels: &[Level]) -> Option<Level> {
        let mut level = PRIMARY;
        let mut at = self.open + 1;
        let mut tokens = 0;
        while at < self.close {
            tokens += 1;
            match self.tokens[at].kind {
                PpTokenKind::Punct(Punct::LBrace | Punct::Ellipsis) => return None,
                PpTokenKind::Punct(Punct::Comma | Punct::Question | Punct::Colon) => {
                    level = level.min(LOOSE);
                }
                PpTokenKind::Punct(punct) if is_assignment(punct) => level = level.min(LOOSE),
                PpTokenKind::Punct(Punct::LParen) if removed.contains(&at) => {
                    level = level.min(levels[at]);
                }
                // After another group: a cast, perhaps.
                PpTokenKind::Punct(Punct::LParen) if self.punct(at - 1) == Some(Punct::RParen) => {
                    level = level.min(UNARY);
                }
                PpTokenKind::Punct(punct) => {
                    let after_operand = at > self.open + 1 && self.ends_operand(at - 1);
                    match binary(punct) {
                        Some(binary) if after_operand => level = level.min(binary),
                        Some(_) => level = level.min(UNARY),
                        None if matches!(punct, Punct::Bang | Punct::Tilde) => {
                            level = level.min(UNARY);
                        }
                        None if matches!(punct, Punct::PlusPlus | Punct::MinusMinus) => {
                            level = level.min(UNARY);
                        }
                        None => {}
                    }
                }
                PpTokenKind::Ident if self.words.at(at) != Word::Name => return None,
                // Two operands in a row: a cast, or strings that are written one after the other.
                _ if at > self.open + 1 && self.ends_operand(at - 1) => level = level.min(UNARY),
                _ => {}
            }
            at = self.brackets.close[at] + 1;
        }
        (tokens > 0 && self.ends_operand(self.close - 1)).then_some(level)
    }

    /// Whether it says the same without its parentheses.
    fn can_go(&self, level: Level) -> bool {
        let Some(before) = self.open.checked_sub(1) else {
            return false;
        };
        let after = self.close + 1;
        // Doubled: those around it stay, unless they belong to a name.
        if self.punct(before) == Some(Punct::LParen) && self.brackets.close[before] == after {
            let owner = before.checked_sub(1).map(|at| self.words.at(at));
            return match owner {
                Some(Word::Other) => false,
                // Of two arguments one would be made.
                Some(Word::Name) => level > LOOSE,
                _ => true,
            };
        }
        if level <= LOOSE {
            return false;
        }
        let Some(left) = self.left(before) else {
            return false;
        };
        let Some(right) = self.right(after) else {
            return false;
        };
        // `a && (b && c)` is `a && b && c`: nothing else is the same from the right.
        let same =
            left == level && matches!(self.punct(before), Some(Punct::AmpAmp | Punct::PipePipe));
        (left < level || same) && right <= level
    }

    /// How tightly what stands before it binds; `None` if these are no parentheses of an expression.
    fn left(&self, before: usize) -> Option<Level> {
        let punct = match self.tokens[before].kind {
            PpTokenKind::Punct(punct) => punct,
            PpTokenKind::Ident => {
                return (self.words.at(before) == Word::Jump).then_some(0);
            }
            _ => return None,
        };
        let unary = before == 0 || !self.ends_operand(before - 1);
        match punct {
            Punct::LParen | Punct::LBracket | Punct::Comma | Punct::Semi => Some(0),
            Punct::Question | Punct::Colon => Some(LOOSE),
            punct if is_assignment(punct) => Some(LOOSE - 1),
            Punct::Bang | Punct::Tilde => Some(UNARY),
            punct => match binary(punct) {
                Some(_) if unary => Some(UNARY),
                Some(level) => Some(level),
                None => None,
            },
        }
    }

    /// How tightly what comes after it binds; `None` if it might be a cast, or is assigned to.
    fn right(&self, after: usize) -> Option<Level> {
        let punct = self.punct(after)?;
        match punct {
            Punct::RParen | Punct::RBracket | Punct::RBrace | Punct::Comma | Punct::Semi => Some(0),
            Punct::Question | Punct::Colon => Some(LOOSE),
            // What looks like one name might be a type, and the operator one of its operand.
            Punct::Plus | Punct::Minus | Punct::Star | Punct::Amp
                if self.close - self.open == 2
                    && self.tokens[self.open + 1].kind == PpTokenKind::Ident =>
            {
                None
            }
            punct => binary(punct),
        }
    }
}

fn is_assignment(punct: Punct) -> bool {
    matches!(
        punct,
        Punct::Eq
            | Punct::StarEq
            | Punct::SlashEq
            | Punct::PercentEq
            | Punct::PlusEq
            | Punct::MinusEq
            | Punct::ShlEq
            | Punct::ShrEq
            | Punct::AmpEq
            | Punct::CaretEq
            | Punct::PipeEq
    )
}
