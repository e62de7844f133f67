//! Leap: reachability through loops without unrolling them, after T. Ball, O. Kupferman and
//! M. Sagiv, "Leaping Loops in the Presence of Abstraction" (CAV 2007).
//!
//! In comes a task; out come claims: for the checks that a run violates, the run (replayed by the
//! interpreter) or, where it is too long for that, a chain of must transitions. Together with them
//! an explanation is told: for every loop the abstract state, the entry port, the exit port, the
//! theorem and the scheduled choices.
//!
//! A program is cut at its loops ([`graph`]); a loop is a transition system ([`system`]) over
//! machine words, so its states are finitely many. An abstract state is found by proving or
//! dropping candidate predicates ([`candidate`], [`strengthen`]); the conditions of the paper's
//! theorems are questions to the solver ([`modal`], [`theorem`]). What the program leaves open is
//! scheduled ([`schedule`]). Chains are put together by [`search`] and made concrete by
//! [`replay`], or else become claims, which the gate checks; [`describe`] tells them to people.
//!
//! Forward reasoning (Theorem 2) comes first: the state at the entry port is a term for every
//! variable over the inputs so far, so the conditions need no quantifier.

mod attempt;
pub mod candidate;
pub mod chain;
pub mod check;
mod claim;
mod compose;
mod course;
pub mod describe;
mod engine;
mod exact;
mod flat;
mod forms;
pub mod graph;
mod horizon;
pub mod modal;
mod mts;
mod nest;
mod outright;
mod relax;
pub mod replay;
mod sample;
pub mod schedule;
pub mod search;
pub mod strengthen;
pub mod system;
pub mod theorem;
mod views;

pub use check::{Effort, Ending, Endings, Options, Told, leap};
pub use describe::LeapReport;
pub use engine::Leap;
pub use graph::Suggestion;
