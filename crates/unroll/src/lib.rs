//! Two plain engines beside the papers': running the program, and unrolling it.
//!
//! In comes a [`Task`](hardbop_engine::Task); out comes for each check VIOLATED with a run that
//! was replayed, PROVED if the executions are finitely many and all were seen, or UNKNOWN.
//!
//! - [`Runs`] executes the program on guessed inputs, each by itself or so that they go on from
//!   states that look new. A program that leaves nothing open has one execution, so running it
//!   decides everything.
//! - [`Unroll`] follows all executions at once, one block at a time, as one formula in which
//!   paths that meet are merged: what is usually called bounded model checking. It ends where no
//!   execution goes on. (`hardbop bmc` is something else: dynamic path reduction, `dpr`.)
//!
//! Neither learns or generalises: they are here because much of what people check is shallow, and
//! because the other engines need not be slowed down by it.

mod again;
mod explore;
mod guided;
mod hints;
mod layers;
mod likeness;
mod runs;
mod stretch;

pub use again::violated_in_memory_used_again;
pub use guided::Guided;
pub use layers::{DecidedBy, Unroll};
pub use runs::{Effort, Guesses, Runs};
