//! Does every execution end? Three engines that look for a reason.
//!
//! In comes a task whose check is that every execution ends
//! ([`CheckKind::Termination`](hardbop_cfront::program::CheckKind)); out come claims. [`Ranks`]
//! looks for words that fall with every step of each loop: linear ones with small factors over what
//! the loop looks at, guessed, checked, and guessed again with what was learned from the failures
//! (`words.rs`), put together in lexicographic order (C. Alias, A. Darte, P. Feautrier, L. Gonnord:
//! *Multi-dimensional Rankings, Program Termination, and Complexity Bounds of Flowchart Programs*,
//! SAS 2010; `tuples.rs`), first for any state and then for those that `houdini`'s invariants leave.
//! [`Lassos`] runs the program on guesses and looks for a state that comes again. [`Recurrences`]
//! looks for sets of states in loops that need never be left.

mod lasso;
mod ranks;
mod recurrent;
mod system;
mod tables;
mod tuples;
mod visits;
mod words;

pub use lasso::Lassos;
pub use ranks::Ranks;
pub use recurrent::Recurrences;
