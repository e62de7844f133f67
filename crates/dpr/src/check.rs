//! The interface: options, the engine, what the search counts.

use crate::search::{Common, Searched, Worker};
use hardbop_cfront::ids::CheckId;
use hardbop_engine::{Desk, Ended, Engine, Figure, Task};
use num_bigint::BigUint;
use std::collections::BTreeSet;
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

/// A part of the paths, to be searched by itself: a cube over the first choices of a path.
///
/// Of the sides that are open at the first, second, ... branch with more than one, only those are
/// taken whose number is even or odd as the bits of the part's number say. Every path is in some
/// part, so that together the parts see what one search would; a part alone proves nothing, and
/// claims only violations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    index: u32,
    bits: u32,
}

impl Part {
    /// The part with a number, of so many: a power of two, up to 256.
    pub fn new(index: u32, of: u32) -> Option<Part> {
        let fits = of.is_power_of_two() && (2..=256).contains(&of) && index < of;
        fits.then(|| Part {
            index,
            bits: of.trailing_zeros(),
        })
    }

    /// Whether a side belongs to it: by its number among those that are open, at a branch with
    /// several, so many of which came before it on the path.
    pub(crate) fn has(self, forks: u32, side: usize) -> bool {
        forks >= self.bits || side as u32 % 2 == (self.index >> forks) & 1
    }
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
    /// The most runs of a job.
    pub runs: u64,
    /// The part of the paths that is searched; all of them if there is none.
    pub part: Option<Part>,
    /// After so many runs that were learned from, all paths are followed together, if their points
    /// are few; never, if there is none.
    pub together_after: Option<u64>,
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
            runs: u64::MAX,
            part: None,
            together_after: None,
        }
    }
}

/// What the search did.
#[derive(Clone, Debug)]
pub(crate) struct Statistics {
    /// Runs to an end.
    pub(crate) explored: u64,
    /// Runs that came to a node of which every open side was explored before.
    pub(crate) repeated: u64,
    /// Runs that were cut off at the bound.
    pub(crate) cut: u64,
    /// Nodes at which an oracle chooses.
    pub(crate) choices: u64,
    /// Clauses.
    pub(crate) clauses: u64,
    /// The number of oracles over these choices: the paths of the paper.
    pub(crate) paths: BigUint,
    /// Those that are ruled out without having been run, if they could be counted.
    pub(crate) pruned: Option<BigUint>,
    /// Questions to the solver.
    pub(crate) queries: u64,
    /// Steps with all paths together.
    pub(crate) together: u64,
}

impl Default for Statistics {
    fn default() -> Statistics {
        Statistics {
            explored: 0,
            repeated: 0,
            cut: 0,
            choices: 0,
            clauses: 0,
            // Without a choice there is one path.
            paths: BigUint::from(1u32),
            pruned: None,
            queries: 0,
            together: 0,
        }
    }
}

impl Statistics {
    fn figures(&self) -> Vec<Figure> {
        let mut figures = vec![
            Figure::big("paths", self.paths.clone()),
            Figure::count("explored", self.explored),
        ];
        let pruned = self.pruned.clone();
        figures.extend(pruned.map(|pruned| Figure::big("pruned", pruned)));
        figures.extend([
            Figure::count("repeated", self.repeated),
            Figure::count("cut off", self.cut),
            Figure::count("choices", self.choices),
            Figure::count("clauses", self.clauses),
            Figure::count("queries", self.queries),
        ]);
        if self.together > 0 {
            figures.push(Figure::count("steps together", self.together));
        }
        figures
    }
}

/// The search as an engine.
#[derive(Clone, Debug, Default)]
pub struct Dpr(pub Options);

impl Engine for Dpr {
    fn name(&self) -> &'static str {
        "dpr"
    }

    /// What it claims needs that every oracle was run or ruled out and that no run was cut off at
    /// the bound.
    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let view = &task.model.plain;
        let options = &self.0;
        let open: BTreeSet<CheckId> = task.checks.iter().copied().collect();
        let (semantics, effects) = (&view.semantics, &view.effects);
        let common = Common::new(semantics, effects, options, task.budget, open, desk);
        match options.jobs {
            0 | 1 => Worker::new(&common, 0).search(),
            jobs => std::thread::scope(|scope| {
                for job in 0..jobs {
                    let common = &common;
                    scope.spawn(move || Worker::new(common, job).search());
                }
            }),
        }
        let Searched {
            open,
            incomplete,
            statistics,
        } = common.finish();
        Ended {
            open,
            incomplete,
            statistics: statistics.figures(),
        }
    }
}
