//! The interface: options, outcomes, reports.

use crate::oracle::Decision;
use crate::search::{Common, Worker};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_cfront::interp;
use hardbop_cfront::points_to::PointsTo;
use hardbop_cfront::program::{LocationKind, Program};
use hardbop_semantics::effects::Effects;
use hardbop_semantics::replay::Violation;
use hardbop_semantics::{Encoding, Semantics};
use num_bigint::BigUint;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Which oracle comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Any, by chance: a Las Vegas algorithm. The same seed gives the same search.
    Random(u64),
    /// The first side first.
    DepthFirst,
    /// The side that is nearer to an error first.
    Guided,
}

/// Whether runs are learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learning {
    /// An explanation is sought for every run.
    On,
    /// Only the run's own decisions are excluded.
    Off,
}

/// How the search goes.
#[derive(Clone, Debug)]
pub struct Options {
    /// The most iterations of a loop, and the most activations of a function inside itself.
    pub depth: u32,
    /// Which oracle comes next.
    pub order: Order,
    /// Whether runs are learned from.
    pub learning: Learning,
    /// How many runs are made at a time, over one set of clauses. With more than one, the order
    /// of runs is not the same every time.
    pub jobs: usize,
    /// The most time for one solver query.
    pub query_time: Duration,
    /// The most steps of a path.
    pub length: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            depth: 64,
            order: Order::Guided,
            learning: Learning::On,
            jobs: 1,
            query_time: Duration::from_secs(30),
            length: 1_000_000,
        }
    }
}

/// What is known of a check.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// No execution violates it.
    Proved,
    /// This execution does.
    Violated(Box<Violation>),
    /// Neither is known.
    Unknown(Reason),
}

/// Why a check is not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Nothing was found up to this bound, and there are runs beyond it.
    Bound(u32),
    /// Some runs were given up because of their length.
    Length(usize),
    /// A limit was reached or the user cancelled.
    Stopped(Stopped),
    /// The solver did not know whether a run reaches the check.
    Solver(String),
    /// A construct that is not supported can be reached: an index into
    /// [`Program::unsupported`].
    Unsupported(u32),
    /// The run that was found does something else in the interpreter.
    Replay(Box<interp::Outcome>),
    /// The evidence for the proof did not stand when it was checked again.
    Evidence,
}

/// A clause, as evidence: no run that makes these decisions meets an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// The decisions: the location of the branch, the number of its node, the side.
    pub decisions: Vec<(LocId, Decision)>,
}

/// The evidence behind all PROVED outcomes of a report.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// What was learned. Each of them was checked again by other means than those that found
    /// it, and a new solver found that together they leave no oracle.
    pub clauses: Vec<Clause>,
}

/// What the search did.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Runs to an end.
    pub explored: u64,
    /// Runs that came to a node of which every open side was explored before.
    pub repeated: u64,
    /// Runs that were cut off at the bound.
    pub cut: u64,
    /// Nodes at which an oracle chooses.
    pub choices: usize,
    /// Clauses.
    pub clauses: usize,
    /// The number of oracles over these choices: the paths of the paper.
    pub paths: BigUint,
    /// Those that were not run.
    pub pruned: BigUint,
    /// Questions to the solver.
    pub queries: u64,
}

/// The result of the search.
#[derive(Clone, Debug)]
pub struct Report {
    /// For every check asked about.
    pub outcomes: BTreeMap<CheckId, Outcome>,
    /// The evidence for those that are proved.
    pub proof: Option<Proof>,
    /// What it cost.
    pub statistics: Statistics,
}

/// What happens while the search goes on.
#[derive(Clone, Debug)]
pub struct Event {
    /// Runs so far.
    pub explored: u64,
    /// Clauses so far.
    pub clauses: usize,
    /// Choices so far.
    pub choices: usize,
    /// Checks that are still open.
    pub open: usize,
    /// The share of the oracle space that the clauses cover, at most: where clauses overlap, it
    /// is less.
    pub covered: f64,
}

/// Decides checks of a program, up to a bound.
///
/// PROVED needs that every oracle was run or ruled out and that no run was cut off at the bound;
/// a VIOLATED run was replayed in the interpreter.
pub fn check(
    program: &Program,
    points_to: &PointsTo,
    checks: &[CheckId],
    options: &Options,
    budget: &Budget,
    events: &mut dyn FnMut(Event),
) -> Report {
    let semantics = Semantics::new(program, points_to, Encoding::Bits);
    let effects = Effects::new(&semantics);
    // A check whose location does not exist was found to hold by the front end.
    let exists = |check: CheckId| {
        let mut locations = program.locations.iter();
        locations.any(|location| location.kind == LocationKind::Error(check))
    };
    let (open, absent): (BTreeSet<CheckId>, BTreeSet<CheckId>) =
        checks.iter().partition(|&&check| exists(check));
    let common = Common::new(&semantics, &effects, options, budget, open);
    let mut outcomes: BTreeMap<CheckId, Outcome> = absent
        .into_iter()
        .map(|check| (check, Outcome::Proved))
        .collect();
    match options.jobs {
        0 | 1 => Worker::new(&common, 0, events).search(),
        jobs => std::thread::scope(|scope| {
            let (sender, told) = std::sync::mpsc::channel();
            for job in 0..jobs {
                let (sender, common) = (sender.clone(), &common);
                scope.spawn(move || {
                    // The receiver outlives the workers; if not, nobody wants to know.
                    let mut events = |event| drop(sender.send(event));
                    Worker::new(common, job, &mut events).search();
                });
            }
            drop(sender);
            for event in told {
                events(event);
            }
        }),
    }
    let (found, proof, statistics) = common.finish();
    outcomes.extend(found);
    Report {
        outcomes,
        proof,
        statistics,
    }
}
