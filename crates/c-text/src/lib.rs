//! C expressions as text: how rules, predicates and witnesses say something about a program.
//!
//! In comes a text and out come words ([`lexer`]), then a tree ([`parser`], [`ast`]), then an
//! expression of the program ([`typing`]), with C's conversions in it. What a name stands for is
//! asked of [`names::Names`]: [`names::ProgramNames`] knows those of a function and of the
//! program. [`print`](mod@print) goes the other way. The languages differ in a few words and in
//! what they permit, which [`Dialect`] says; everything else is the same in all of them.
//!
//! Why not the parser of `cfront`: that one reads whole files, with the `rucc` crates, and gives
//! trees and types of its own, which only `parse` and `lower` see. A condition about a program
//! that has been read already is resolved against its tables, not against declarations. And why
//! a crate: only three others need it, and none of it is needed to read C.

pub mod ast;
mod constant;
mod conversions;
pub mod lexer;
pub mod names;
pub mod parser;
pub mod print;
mod type_name;
pub mod typing;

pub use constant::constant;

/// The language that a text is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// A rule: `$1` is an argument of the watched call and `$return` its result. Its expressions
    /// are evaluated at every event, so what could go wrong there is refused.
    Rule,
    /// A predicate: `old(e)` is what `e` was worth when the function was entered, `$return` (or
    /// `return`) is its result, `t#3` is a temporary and `x@12` the `x` declared in line 12.
    Predicate,
    /// A witness: as a predicate, and with the words of ACSL, `\old(e)`, `\at(e, Pre)` and
    /// `\result`.
    Witness,
}

impl Dialect {
    /// What a message calls a text of it.
    fn noun(self) -> &'static str {
        match self {
            Dialect::Rule => "a rule",
            Dialect::Predicate => "a predicate",
            Dialect::Witness => "an expression of a witness",
        }
    }

    /// What ends where the text ends.
    fn whole(self) -> &'static str {
        match self {
            Dialect::Rule => "the rule",
            Dialect::Predicate => "the predicate",
            Dialect::Witness => "the expression",
        }
    }
}
