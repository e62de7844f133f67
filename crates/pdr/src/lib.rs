//! Property-directed reachability on circuits: invariants and violations of programs that are
//! bits.
//!
//! In come a `Program` and the checks that are still open; out come PROVED with the clauses that
//! were learned as invariants, and VIOLATED where the way that was found can be run. The program's
//! blocks between cut points become circuits over the bits of what is live there ([`program`]);
//! the search ([`search`]) knows nothing of programs. What does not fit into bits (memory that is
//! allocated, open calls, too much of anything) is declined before anything is searched.

mod justify;
pub mod program;
mod rounds;
pub mod search;
pub mod system;

use hardbop_engine::{Desk, Ended, Engine, Reason, Task};
use hardbop_logic::Terms;
use hardbop_semantics::constants::Constants;
use hardbop_semantics::skeleton::SkeletonEdgeKind;
use hardbop_semantics::steps::Ground;

/// Property-directed reachability as an engine.
#[derive(Clone, Debug)]
pub struct Pdr {
    /// The most bits of the state at one cut point.
    pub bits: usize,
    /// The most nodes of the circuit.
    pub nodes: usize,
    /// The most cells of one memory.
    pub cells: usize,
}

impl Default for Pdr {
    fn default() -> Pdr {
        Pdr {
            bits: 16_384,
            nodes: 8_000_000,
            cells: 256,
        }
    }
}

impl Engine for Pdr {
    fn name(&self) -> &'static str {
        "pdr"
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let view = &task.model.flat;
        let calls = |kind| matches!(kind, SkeletonEdgeKind::Return(..));
        if view.skeleton.edges.iter().any(|edge| calls(edge.kind)) {
            return Ended::open(task, &Reason::NoBits("calls that could not be inlined"));
        }
        let mut terms = Terms::new();
        let constants = Constants::new(&view.semantics, &mut terms);
        let ground = Ground {
            semantics: &view.semantics,
            effects: &view.effects,
            skeleton: &view.skeleton,
            constants: &constants,
        };
        match program::Bits::new(self, task, ground, &mut terms) {
            Ok(bits) => rounds::run(task, ground, terms, &bits, desk),
            Err(reason) => Ended::open(task, &reason),
        }
    }
}
