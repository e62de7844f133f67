//! Braces of deep blocks: those around statements that stand for themselves go, and branches of
//! `if` become jumps.
//!
//! A block that declares something keeps its braces: names live as long as their block.

use super::DEEP_BLOCK;
use super::brackets::{Brackets, Word, Words, punct};
use crate::parse::repair::{self, Edits};
use rucc_base::Interner;
use rucc_lex::{PpToken, PpTokenKind, Punct, TokenFlags};
use std::collections::BTreeSet;

/// Takes deep blocks apart.
pub(super) fn taken_apart(
    tokens: &[PpToken],
    words: &Words,
    brackets: &Brackets,
    names: &mut Interner,
    edits: &mut Edits,
) {
    let blocks = Blocks {
        tokens,
        words,
        brackets,
        statements: Statements::find(tokens, words, brackets),
        is_block: blocks_of(tokens, words, brackets),
    };
    // Branches without braces stand in a list once what they belong to is taken apart.
    let mut listed = BTreeSet::new();
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if brackets.depth[at] < DEEP_BLOCK || !(blocks.is_listed(at) || listed.contains(&at)) {
            continue;
        }
        if punct(tokens, at) == Some(Punct::LBrace) && blocks.declares_nothing(at) {
            edits.removed.extend([at, brackets.close[at]]);
        } else if words.at(at) == Word::If
            && let Some(branches) = blocks.branches(at)
        {
            listed.extend(branches.statements());
            found.push(branches);
        }
    }
    let mut labels = 0;
    // Where several end at one token, the innermost ends first.
    for branches in found.into_iter().rev() {
        branches.jump(tokens, &mut labels, names, edits);
    }
}

/// The blocks of a token stream.
struct Blocks<'a> {
    tokens: &'a [PpToken],
    words: &'a Words,
    brackets: &'a Brackets,
    statements: Statements,
    /// Whether braces that open are those of a block, and not of values or members.
    is_block: Vec<bool>,
}

/// Which braces that open are those of blocks.
fn blocks_of(tokens: &[PpToken], words: &Words, brackets: &Brackets) -> Vec<bool> {
    let mut is_block = vec![false; tokens.len()];
    for open in 1..tokens.len() {
        if punct(tokens, open) != Some(Punct::LBrace) {
            continue;
        }
        let before = open - 1;
        is_block[open] = match punct(tokens, before) {
            Some(Punct::Semi | Punct::RBrace) => true,
            Some(Punct::LBrace) => is_block[before],
            Some(Punct::RParen) => {
                let head = brackets.open[before];
                let owner = head.checked_sub(1).map(|at| words.at(at));
                // A function's body, or one of a statement; else it might be a literal of a record.
                matches!(
                    owner,
                    Some(Word::If | Word::While | Word::For | Word::Switch)
                ) || brackets.depth[open] == 0
            }
            _ => matches!(words.at(before), Word::Else | Word::Do),
        };
    }
    is_block
}

impl Blocks<'_> {
    /// Whether a statement that begins at a token is one of a list in braces.
    fn is_listed(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else {
            return false;
        };
        match punct(self.tokens, before) {
            Some(Punct::Semi | Punct::RBrace) => !self.is_in_parentheses(at),
            Some(Punct::LBrace) => self.is_block[before],
            _ => false,
        }
    }

    /// Whether it stands in the head of a `for`.
    fn is_in_parentheses(&self, at: usize) -> bool {
        self.statements.inside[at]
    }

    /// Whether no statement of a block's list declares a name.
    fn declares_nothing(&self, open: usize) -> bool {
        let close = self.brackets.close[open];
        let mut at = open + 1;
        while at < close {
            if self.may_declare(at) {
                return false;
            }
            match self.statements.end[at] {
                Some(end) if end > at => at = end,
                _ => return false,
            }
        }
        at == close
    }

    /// Whether what begins at a token might be a declaration.
    fn may_declare(&self, at: usize) -> bool {
        match self.words.at(at) {
            Word::Nothing => false,
            Word::Other => true,
            // An expression goes on with an operator; a type with a name or a `*`.
            Word::Name => !matches!(
                punct(self.tokens, at + 1),
                Some(
                    Punct::Eq
                        | Punct::PlusEq
                        | Punct::MinusEq
                        | Punct::StarEq
                        | Punct::SlashEq
                        | Punct::PercentEq
                        | Punct::ShlEq
                        | Punct::ShrEq
                        | Punct::AmpEq
                        | Punct::CaretEq
                        | Punct::PipeEq
                        | Punct::PlusPlus
                        | Punct::MinusMinus
                        | Punct::Dot
                        | Punct::Arrow
                        | Punct::LBracket
                        | Punct::LParen
                        | Punct::Semi
                )
            ),
            _ => false,
        }
    }

    /// The branches of an `if`, if they can become jumps and any of them is a block.
    fn branches(&self, at: usize) -> Option<Branches> {
        let head = at + 1;
        if punct(self.tokens, head) != Some(Punct::LParen) {
            return None;
        }
        let then = self.branch(self.brackets.close[head] + 1)?;
        let other = match self.words.at(then.end) {
            Word::Else => Some(self.branch(then.end + 1)?),
            _ => None,
        };
        let is_block = |branch: &Branch| branch.close.is_some();
        let any = is_block(&then) || other.as_ref().is_some_and(is_block);
        any.then_some(Branches { then, other })
    }

    /// The branch that begins at a token, if it can stand in a list.
    fn branch(&self, start: usize) -> Option<Branch> {
        let close = match punct(self.tokens, start) {
            Some(Punct::LBrace) if self.declares_nothing(start) => Some(self.brackets.close[start]),
            Some(Punct::LBrace) => return None,
            _ if self.may_declare(start) => return None,
            _ => None,
        };
        let end = self.statements.end[start]?;
        Some(Branch { start, close, end })
    }
}

/// A branch of an `if`.
struct Branch {
    start: usize,
    /// Where its braces end, if it has such.
    close: Option<usize>,
    /// The first token behind it.
    end: usize,
}

/// The branches of an `if`.
struct Branches {
    then: Branch,
    other: Option<Branch>,
}

impl Branches {
    /// Branches that are single statements, by where they begin.
    fn statements(&self) -> impl Iterator<Item = usize> {
        let both = [Some(&self.then), self.other.as_ref()];
        let single = |branch: &Branch| branch.close.is_none().then_some(branch.start);
        both.into_iter().flatten().filter_map(single)
    }

    /// Writes `if (c) ; else goto L; ... goto M; L: ; ... M: ;`.
    fn jump(
        &self,
        tokens: &[PpToken],
        labels: &mut usize,
        names: &mut Interner,
        edits: &mut Edits,
    ) {
        let mut label = |names: &mut Interner| {
            *labels += 1;
            names.intern(&format!("__nested_{labels}"))
        };
        let word = |like: &PpToken, value| PpToken {
            kind: PpTokenKind::Ident,
            value: Some(value),
            flags: TokenFlags::EMPTY,
            ..*like
        };
        let (goto, otherwise) = (names.intern("goto"), names.intern("else"));
        let to = |like: &PpToken, label| {
            [
                word(like, goto),
                word(like, label),
                repair::punct(like, Punct::Semi),
            ]
        };
        let here = |like: &PpToken, label| {
            [
                word(like, label),
                repair::punct(like, Punct::Colon),
                repair::punct(like, Punct::Semi),
            ]
        };
        for branch in [Some(&self.then), self.other.as_ref()]
            .into_iter()
            .flatten()
        {
            if let Some(close) = branch.close {
                edits.removed.extend([branch.start, close]);
            }
        }
        let past = label(names);
        let open = &tokens[self.then.start];
        edits.insert(
            self.then.start,
            [repair::punct(open, Punct::Semi), word(open, otherwise)],
        );
        edits.insert(self.then.start, to(open, past));
        let last = &tokens[self.then.end - 1];
        match &self.other {
            None => edits.insert(self.then.end, here(last, past)),
            Some(other) => {
                let end = label(names);
                // In the place of the `else`.
                edits.removed.insert(self.then.end);
                edits.insert(self.then.end, to(last, end));
                edits.insert(self.then.end, here(last, past));
                edits.insert(other.end, here(&tokens[other.end - 1], end));
            }
        }
    }
}

/// Where statements end.
struct Statements {
    /// For each token with which a statement may begin, the first one behind it.
    end: Vec<Option<usize>>,
    /// Whether a token stands in parentheses or in an index.
    inside: Vec<bool>,
}

impl Statements {
    /// From the end of the unit on: what a statement consists of comes after its beginning.
    fn find(tokens: &[PpToken], words: &Words, brackets: &Brackets) -> Statements {
        let mut end: Vec<Option<usize>> = vec![None; tokens.len() + 1];
        let mut inside = vec![false; tokens.len() + 1];
        // The next `;` at the level of each bracket that is open.
        let mut semicolons: Vec<Option<usize>> = vec![None];
        let mut parentheses = 0usize;
        for at in (0..tokens.len()).rev() {
            match punct(tokens, at) {
                Some(closing @ (Punct::RParen | Punct::RBracket | Punct::RBrace)) => {
                    semicolons.push(None);
                    parentheses += usize::from(closing != Punct::RBrace);
                }
                Some(opening @ (Punct::LParen | Punct::LBracket | Punct::LBrace)) => {
                    semicolons.pop();
                    parentheses = parentheses.saturating_sub(usize::from(opening != Punct::LBrace));
                }
                Some(Punct::Semi) => {
                    if let Some(last) = semicolons.last_mut() {
                        *last = Some(at);
                    }
                }
                _ => {}
            }
            inside[at] = parentheses > 0;
            let body = |head: usize| match punct(tokens, head) {
                Some(Punct::LParen) => Some(brackets.close[head] + 1),
                _ => None,
            };
            let after = |at: usize| end.get(at).copied().flatten();
            end[at] = match (words.at(at), punct(tokens, at)) {
                (_, Some(Punct::LBrace)) => Some(brackets.close[at] + 1),
                (_, Some(Punct::RBrace)) => None,
                (Word::If, _) => {
                    let then = body(at + 1).and_then(after);
                    match then {
                        Some(then) if words.at(then) == Word::Else => after(then + 1),
                        then => then,
                    }
                }
                (Word::While | Word::For | Word::Switch, _) => body(at + 1).and_then(after),
                (Word::Do, _) => after(at + 1)
                    .filter(|&then| words.at(then) == Word::While)
                    .and_then(|then| body(then + 1))
                    .map(|semicolon| semicolon + 1),
                (Word::Case | Word::Else, _) => None,
                // A label: what it stands before is another statement.
                (Word::Name, _) if punct(tokens, at + 1) == Some(Punct::Colon) => None,
                _ => semicolons
                    .last()
                    .copied()
                    .flatten()
                    .map(|semicolon| semicolon + 1),
            };
        }
        Statements { end, inside }
    }
}
