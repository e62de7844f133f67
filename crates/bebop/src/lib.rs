//! Bebop: reachability for boolean programs, with shortest traces.

pub mod adapter;
mod back;
pub mod bdd;
mod checker;
mod engine;
mod formula;
mod hash;
mod join;
mod order;
mod path;
mod ranges;
mod rings;
mod schedule;
mod search;
mod slot_set;
pub mod space;
pub mod supergraph;
mod trace;

pub use checker::{
    Answer, Checker, Goal, Invariant, Leave, Options, ProgramStep, ProgramTrace, Statistics, Unknown,
    check, display_name,
};
pub use engine::{Counts, Engine, Tracking};
pub use formula::{Formula, Rest};
pub use order::{SlotOrder, slot_count, slot_order};
pub use ranges::{LiveRanges, ModRef};
pub use search::Until;
pub use trace::{Expand, Move, Step, Trace, Value};
