//! Values: variables that take few of them, followed value by value (Beyer and Löwe: Explicit-state
//! software model checking based on CEGAR and interpolation, FASE 2013).
//!
//! In come a `Program` and the checks that are still open; out come PROVED for those that no
//! combination of the followed values leads to, with these combinations as invariants, and VIOLATED
//! where the way to one can be run. State machines, protocols and schedulers are of this kind: what
//! is to be done next is a number, and everything else follows.
//!
//! It begins with no variable at all (`rounds`). A way to a violated check that cannot be run
//! tells which variables it read without knowing them (`missing`): these are followed from then
//! on, but for those that take too many values. Where it depends on a variable that may have any
//! value, its difference from another one (`differences`) or conditions on it are followed instead.

mod differences;
mod ends;
mod explore;
mod known;
mod missing;
mod rounds;
mod steps;

use hardbop_engine::{Desk, Ended, Engine, Reason, Task};
use hardbop_logic::Terms;
use hardbop_semantics::constants::Constants;
use rounds::Search;

/// Following values as an engine.
#[derive(Clone, Debug)]
pub struct Values {
    /// The most states of all rounds together: cut points with values.
    pub states: usize,
    /// The most values of a variable that is followed.
    pub values: usize,
    /// The most conditions that are followed where a variable may have any value.
    pub conditions: usize,
    /// The most ways to a violated check that are looked at.
    pub rounds: u32,
}

impl Default for Values {
    fn default() -> Values {
        Values {
            states: usize::MAX,
            values: 256,
            conditions: 24,
            rounds: 200,
        }
    }
}

impl Engine for Values {
    fn name(&self) -> &'static str {
        "values"
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let view = &task.model.flat;
        if view.has_calls() {
            // States have no calls open.
            return Ended::open(task, &Reason::Values);
        }
        let mut terms = Terms::new();
        let constants = Constants::new(&view.semantics, &mut terms);
        let ground = view.ground(&constants);
        match Search::new(self, task, ground, terms, desk) {
            Ok(search) => search.run(),
            Err(reason) => Ended::open(task, &reason),
        }
    }
}
