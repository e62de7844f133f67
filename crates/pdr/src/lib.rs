//! Property-directed reachability on circuits: invariants and violations of programs that are
//! bits.
//!
//! In come a `Program` and the checks that are still open; out come PROVED with the clauses that
//! were learned as invariants, and VIOLATED where the way that was found can be run. The program's
//! blocks between cut points become circuits over the bits of what is live there ([`program`]);
//! the search ([`search`]) knows nothing of programs. What does not fit into bits (memory that is
//! allocated, open calls, too much of anything) is declined before anything is searched.

mod asked;
pub mod constants;
pub mod export;
mod justify;
mod predicates;
pub mod program;
pub mod rounds;
pub mod search;
pub mod system;

use export::Sequential;
use hardbop_engine::{Desk, Ended, Engine, Reason, Task};
use hardbop_facts::Told;
use hardbop_logic::Terms;
use hardbop_semantics::constants::Constants;
use program::{Bits, Size};
use search::{Allowed, Search};

/// The most comparisons at a point.
const PREDICATES: usize = 256;

/// Property-directed reachability as an engine.
#[derive(Clone, Debug)]
pub struct Pdr {
    /// How much of a program fits into it.
    pub size: Size,
    /// What the search may do.
    pub allowed: Allowed,
    /// What it begins with.
    pub told: Told,
}

impl Pdr {
    /// The same engine for programs that are small machines: it looks at no others.
    pub fn small() -> Pdr {
        Pdr {
            size: Size {
                bits: 2_048,
                nodes: 200_000,
                cells: 32,
                predicates: PREDICATES,
            },
            // About a second on the slowest machine that it was tried on.
            allowed: Allowed {
                work: 5_000_000,
                decisions: 100_000,
            },
            told: Told::Facts,
        }
    }

    /// The same engine for a fraction of a second: a system of a thousand branches may need a few
    /// clauses only.
    pub fn brief() -> Pdr {
        Pdr {
            size: Size {
                nodes: 1_000_000,
                ..Pdr::small().size
            },
            allowed: Allowed {
                work: 2_000_000,
                decisions: 50_000,
            },
            told: Told::Facts,
        }
    }

    /// The same engine for a turn before others that take long: machines that do not fit into it
    /// are declined.
    pub fn middling() -> Pdr {
        Pdr {
            size: Size {
                bits: 8_192,
                nodes: 1_000_000,
                cells: 64,
                predicates: PREDICATES,
            },
            allowed: Allowed::ANYTHING,
            told: Told::Facts,
        }
    }
}

impl Default for Pdr {
    fn default() -> Pdr {
        Pdr {
            size: Size {
                bits: 16_384,
                nodes: 8_000_000,
                cells: 256,
                predicates: PREDICATES,
            },
            allowed: Allowed::ANYTHING,
            told: Told::Facts,
        }
    }
}

/// A task as one sequential circuit, in which a bit holds where a check is violated or something is
/// met that is not supported; or why it is none. Addresses are fixed there, and what lies outside
/// of all objects is anything.
pub fn sequential(task: &Task<'_>) -> Result<Sequential, Reason> {
    let view = &task.model.flat;
    if view.has_calls() {
        return Err(Reason::NoBits("calls that could not be inlined"));
    }
    let mut terms = Terms::new();
    let constants = Constants::new(&view.semantics, &mut terms);
    let ground = view.ground(&constants);
    let bits = Bits::new(
        Pdr::default().size,
        Told::Nothing,
        task,
        view,
        ground,
        &mut terms,
    )?;
    let targets: Vec<system::PointId> = bits.targets.keys().copied().collect();
    Ok(Sequential::new(&bits.system, &targets))
}

impl Engine for Pdr {
    fn name(&self) -> &'static str {
        "pdr"
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let view = &task.model.flat;
        if view.has_calls() {
            let reason = Reason::NoBits("calls that could not be inlined");
            return Ended::declined(task, desk, &reason);
        }
        let mut terms = Terms::new();
        let constants = Constants::new(&view.semantics, &mut terms);
        let ground = view.ground(&constants);
        let bits = match Bits::new(self.size, self.told, task, view, ground, &mut terms) {
            Ok(bits) => bits,
            Err(reason) => return Ended::declined(task, desk, &reason),
        };
        let constants = match constants::Constants::new(&bits.system, task.budget) {
            Ok(constants) => constants,
            Err(stopped) => return Ended::declined(task, desk, &Reason::Stopped(stopped)),
        };
        let search = Search::new(&bits.system, &constants, self.allowed, task.budget);
        rounds::run(task, ground, terms, &bits, search, desk)
    }
}
