//! Does every execution end? Two engines that look for a reason.
//!
//! In comes a task whose check is that every execution ends
//! ([`CheckKind::Termination`](hardbop_cfront::program::CheckKind)); out come claims. [`Ranks`]
//! looks for words that fall with every step of each loop: linear ones with small factors over what
//! the loop looks at, guessed, checked, and guessed again with what was learned from the failures
//! (`words.rs`), put together in lexicographic order (C. Alias, A. Darte, P. Feautrier, L. Gonnord:
//! *Multi-dimensional Rankings, Program Termination, and Complexity Bounds of Flowchart Programs*,
//! SAS 2010; `tuples.rs`), first for any state and then for those that `houdini`'s invariants leave.
//! [`Lassos`] runs the program on guesses and looks for a state that comes again.

mod lasso;
mod ranks;
mod system;
mod tuples;
mod words;

pub use lasso::Lassos;
pub use ranks::Ranks;
