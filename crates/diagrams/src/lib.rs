//! All states of a machine at once: sets of states as binary decision diagrams, step by step until
//! nothing new is reached.
//!
//! In come a `Program` and the checks that are still open; out come PROVED with the reached sets as
//! invariants, and VIOLATED where the way that was found can be run. The program is the same system
//! of bits that property-directed reachability works on ([`hardbop_pdr::program`]), but cut wherever
//! ways meet, so that every step is small and whatever comes together is one set again. This is what
//! the Bebop paper (section 3) does with boolean programs, done with the program's own words: those
//! whose bits are few, or that are copied and compared with numbers only, as states of protocols,
//! schedulers and flags are (Apel, Beyer, Friedberger, Raimondi and von Rhein: Domain types, 2013).
//!
//! [`order`] gives the bits that vary their places in diagrams, `relations` makes diagrams of
//! steps, [`search`] follows them, `said` says what was found. A bit whose diagram would be large
//! may be anything: then more is reached than is so, which costs a proof and never its truth.

pub mod order;
mod relations;
mod said;
pub mod search;

use hardbop_engine::{Desk, Ended, Engine, Reason, Task};
use hardbop_facts::Told;
use hardbop_logic::Terms;
use hardbop_pdr::constants::Constants as Fixed;
use hardbop_pdr::program::{Bits, Size};
use hardbop_pdr::rounds;
use hardbop_semantics::constants::Constants;
use order::Order;
use search::{Limits, Search};

/// Sets of states as diagrams, as an engine.
#[derive(Clone, Copy, Debug)]
pub struct Diagrams {
    /// How much of a program fits into it.
    pub size: Size,
    /// How large diagrams may become.
    pub limits: Limits,
}

impl Default for Diagrams {
    fn default() -> Diagrams {
        Diagrams {
            size: Size {
                bits: 16_384,
                nodes: 4_000_000,
                cells: 64,
                predicates: 0,
            },
            limits: Limits {
                nodes: 4_000_000,
                work: usize::MAX,
            },
        }
    }
}

impl Diagrams {
    /// The same engine for a fraction of a second: what is few as sets is found then.
    pub fn small() -> Diagrams {
        let usual = Diagrams::default();
        Diagrams {
            size: Size {
                bits: 2_048,
                nodes: 200_000,
                cells: 32,
                ..usual.size
            },
            limits: Limits {
                nodes: 200_000,
                work: 300_000,
            },
        }
    }

    /// The same engine for a turn before others: machines that it does not follow soon are left.
    pub fn short() -> Diagrams {
        let usual = Diagrams::default();
        Diagrams {
            limits: Limits {
                nodes: 400_000,
                work: 1_500_000,
            },
            ..usual
        }
    }
}

impl Engine for Diagrams {
    fn name(&self) -> &'static str {
        "diagrams"
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        if task.model.flat.has_calls() {
            let reason = Reason::NoBits("calls that could not be inlined");
            return Ended::declined(task, desk, &reason);
        }
        let view = task.model.flat.cut_at_joins();
        let mut terms = Terms::new();
        let constants = Constants::new(&view.semantics, &mut terms);
        let ground = view.ground(&constants);
        let bits = match Bits::new(self.size, Told::Nothing, task, &view, ground, &mut terms) {
            Ok(bits) => bits,
            Err(reason) => return Ended::declined(task, desk, &reason),
        };
        let fixed = match Fixed::new(&bits.system, task.budget) {
            Ok(fixed) => fixed,
            Err(stopped) => return Ended::declined(task, desk, &Reason::Stopped(stopped)),
        };
        let words: Vec<_> = bits.words().iter().map(|word| word.bits.clone()).collect();
        let order = Order::new(&bits.system, &fixed, &words);
        let search = Search::new(&bits.system, &fixed, order, self.limits, task.budget);
        match search {
            Ok(search) => rounds::run(task, ground, terms, &bits, search, desk),
            Err(stopped) => Ended::declined(task, desk, &Reason::Stopped(stopped)),
        }
    }
}
