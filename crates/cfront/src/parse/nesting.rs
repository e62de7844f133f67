//! Brackets that mean nothing, taken out where they are nested more deeply than the parser follows.
//!
//! Generated code and what other tools print has thousands of brackets inside of each other, and
//! gcc reads it; the parser gives up at 256 levels. So parentheses go that the precedence of
//! operators makes superfluous, braces around a statement that stands for itself, and braces of
//! deep branches of `if`, which become jumps. Tokens keep their places. Units that are not nested
//! so deeply are left as they are.

mod blocks;
mod brackets;
mod expressions;

use super::repair::Edits;
use brackets::{Brackets, Words};
use rucc_base::Interner;
use rucc_lex::PpToken;

/// Less deeply nested units are left alone: the parser follows them, with something to spare.
const DEEP: usize = 200;
/// Only blocks that are nested more deeply are taken apart.
const DEEP_BLOCK: usize = 100;

/// The same program with fewer brackets, if there are too many.
pub(super) fn flattened(tokens: Vec<PpToken>, names: &mut Interner) -> Vec<PpToken> {
    let Some(brackets) = Brackets::of(&tokens).filter(|brackets| brackets.deepest > DEEP) else {
        // Brackets that do not match are the parser's to tell of.
        return tokens;
    };
    let words = Words::of(&tokens, names);
    let mut edits = Edits::default();
    expressions::superfluous(&tokens, &words, &brackets, &mut edits.removed);
    blocks::taken_apart(&tokens, &words, &brackets, names, &mut edits);
    edits.apply(&tokens)
}
