//! Dynamic path reduction (Yang, Al-Rawi, Sakallah, Huang, Smolka, Grosu: *Dynamic Path Reduction
//! for Software Model Checking*).
//!
//! In come a `Program` and the checks that are still open; out comes for each one VIOLATED with a
//! run that was replayed, PROVED when all paths were run or ruled out, or UNKNOWN up to a bound.
//! The program is run under *oracles* that decide its choices; from every run without an error a
//! clause is learned that rules out all oracles that would fail for the same reason.
//!
//! What the paper leaves out is here: inputs are symbols, so a branch on an input is a choice;
//! there are procedures, recursion, pointers and arrays, by the meaning that all engines share.
//! What a clause claims, and why it is so, is said in `explain`.

mod assignments;
mod check;
mod explain;
pub mod generate;
mod graph;
mod nodes;
mod oracle;
mod recheck;
mod replay;
mod run;
mod smus;
mod structure;

pub use check::{
    Clause, Event, Learning, Options, Order, Outcome, Proof, Reason, Report, Statistics, check,
};
pub use oracle::{Decision, NodeId};
pub use replay::Violation;
