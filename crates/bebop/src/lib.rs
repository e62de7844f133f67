//! Bebop: reachability for programs with procedures, recursion and boolean states.
//!
//! In comes a boolean program, or anything else that is a [`supergraph::Supergraph`], and a
//! budget; out come an answer for every label and assertion, shortest traces to the reachable
//! ones, and the reachable states of any vertex as formulas. This is "Bebop: A Symbolic Model
//! Checker for Boolean Programs" (Ball, Rajamani, SPIN 2000):
//!
//! | the paper | here |
//! | --- | --- |
//! | 3.1 path edges, summary edges, the worklist algorithm | `search`, with Join, SelfLoop and Lift in `join` |
//! | 3.2 rings and shortest hierarchical trajectories | `rings`, `path`, `back`, `trace`, `execution`; `walk` for readers |
//! | 3.3 live ranges and MOD/REF | `ranges` |
//! | 4 why it should be linear, and was not | `space`: slots instead of variables |
//!
//! Control flow is explicit and only states are BDDs, in the kernel of [`bdd`]. The core knows no
//! statements; [`adapter`] shows it a boolean program, and [`check`] does all in one call:
//!
//! ```
//! use hardbop_bebop::{Answer, Expand, Options, check};
//! use hardbop_boolean_program::{Dialect, load};
//! use hardbop_budget::Budget;
//! use hardbop_diagnostics::Sources;
//!
//! let text = "decl g; void main() begin g := !g; flip(); assert(!g); end
//!             void flip() begin if (*) then g := !g; fi end";
//! let mut sources = Sources::new();
//! let file = sources.add("a.bp", text);
//! let program = load(&sources, file, Dialect::Auto).program.expect("no errors");
//!
//! let mut checker = check(&program, &Options::default(), &Budget::unlimited());
//! assert_eq!(checker.answers(), [Answer::Reachable]);
//! let failed = program.targets[0].vertex;
//! let trace = checker.trace(failed, Expand::Steps(100))?.expect("it is reachable");
//! assert_eq!(trace.length, 3);
//! # Ok::<(), hardbop_budget::Stopped>(())
//! ```

pub mod adapter;
mod back;
pub mod bdd;
mod checker;
mod engine;
mod execution;
mod formula;
mod hash;
mod join;
mod order;
mod path;
mod queue;
mod ranges;
mod rings;
mod schedule;
mod search;
mod slot_set;
pub mod space;
pub mod supergraph;
mod trace;
mod walk;

pub use checker::{
    Answer, Checker, Goal, Invariant, Leave, Options, ProgramStep, ProgramTrace, Statistics,
    Unknown, check, display_name,
};
pub use engine::{Counts, Engine, Tracking};
pub use formula::{Formula, Rest};
pub use order::{SlotOrder, slot_count, slot_order};
pub use ranges::{LiveRanges, ModRef};
pub use search::Until;
pub use space::Reorder;
pub use trace::{Expand, Move, Step, Trace, Value};
pub use walk::Walk;
