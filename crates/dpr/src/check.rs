//! The search (Algorithms 1 and 4): run under an oracle, learn, until no oracle is left.

use crate::assignments::assignments;
use crate::explain::{Cores, Explainer, Explanation, Goal};
use crate::nodes::Nodes;
use crate::oracle::{Decision, Oracles};
use crate::recheck::{Mark, Marks, Rechecker};
use crate::replay::{Violation, replay};
use crate::run::{Act, Ended, Position, Prefer, Run, Runner};
use crate::structure::Structure;
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_cfront::interp;
use hardbop_cfront::points_to::PointsTo;
use hardbop_cfront::program::{LocationKind, Op, Program};
use hardbop_logic::{Limits, Session, Terms, Z3Options, Z3Solver};
use hardbop_semantics::effects::Effects;
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
    let open: BTreeSet<CheckId> = checks.iter().copied().collect();
    let mut search = Search {
        semantics: &semantics,
        effects: &effects,
        structure: Structure::new(program, open),
        nodes: Nodes::new(),
        oracles: Oracles::new(),
        options,
        budget,
        events,
        outcomes: BTreeMap::new(),
        evidence: Vec::new(),
        unjustified: false,
        explanations: 0,
        in_vain: 0,
        unsupported: None,
        long: false,
        covered: 0.0,
        statistics: Statistics::default(),
    };
    // A check whose location does not exist was found to hold by the front end.
    for &check in checks {
        let exists = program
            .locations
            .iter()
            .any(|location| location.kind == LocationKind::Error(check));
        if !exists {
            search.close(check, Outcome::Proved);
        }
    }
    let proof = search.run();
    let Search {
        outcomes,
        mut statistics,
        oracles,
        ..
    } = search;
    statistics.choices = oracles.choices();
    statistics.clauses = oracles.clauses().len();
    statistics.paths = oracles.total();
    let explored = BigUint::from(statistics.explored);
    statistics.pruned = if explored < statistics.paths {
        &statistics.paths - explored
    } else {
        BigUint::ZERO
    };
    Report {
        outcomes,
        proof,
        statistics,
    }
}

/// The order of sides by the options.
enum Chooser {
    Random(u64),
    DepthFirst,
    Guided,
}

impl Prefer for Chooser {
    fn order(&mut self, sides: &mut [(u32, u32)]) {
        match self {
            Chooser::Random(state) => {
                for at in (1..sides.len()).rev() {
                    let other = (next_random(state) % (at as u64 + 1)) as usize;
                    sides.swap(at, other);
                }
            }
            Chooser::DepthFirst => {}
            Chooser::Guided => sides.sort_by_key(|&(side, distance)| (distance, side)),
        }
    }
}

/// SplitMix64.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

struct Search<'a, 'p> {
    semantics: &'a Semantics<'p>,
    effects: &'a Effects,
    structure: Structure<'p>,
    nodes: Nodes,
    oracles: Oracles,
    options: &'a Options,
    budget: &'a Budget,
    events: &'a mut dyn FnMut(Event),
    outcomes: BTreeMap<CheckId, Outcome>,
    /// For every clause how it is checked again.
    evidence: Vec<Marks>,
    /// Whether something was excluded without a reason that can be checked.
    unjustified: bool,
    /// How many explanations there were, and for how many of the last ones smaller cores brought
    /// nothing.
    explanations: u64,
    in_vain: u64,
    unsupported: Option<u32>,
    long: bool,
    covered: f64,
    statistics: Statistics,
}

/// After so many terms a new arena and a new solver are begun.
const TERMS: usize = 2_000_000;
/// After so many explanations in a row that smaller cores did not improve, they are sought only
/// for one in so many.
const PATIENCE: u64 = 4;
const RARELY: u64 = 8;
/// The most steps of the solver for one question about a core: a smaller core is worth little
/// more. Steps and not time, so that a search can be repeated.
const CORE_STEPS: u32 = 100_000;

impl<'p> Search<'_, 'p> {
    fn session(&self, terms: &mut Terms) -> Session<'static> {
        let limits = Limits {
            time: Some(self.options.query_time),
            steps: None,
        };
        begin(self.semantics, self.budget, limits, terms)
    }

    fn close(&mut self, check: CheckId, outcome: Outcome) {
        self.structure.close(check);
        self.outcomes.insert(check, outcome);
    }

    fn close_all(&mut self, outcome: &Outcome) {
        for check in self.structure.open().clone() {
            self.close(check, outcome.clone());
        }
    }

    /// Searches until everything is decided; gives the evidence of what is proved.
    fn run(&mut self) -> Option<Proof> {
        let mut chooser = match self.options.order {
            Order::Random(seed) => Chooser::Random(seed),
            Order::DepthFirst => Chooser::DepthFirst,
            Order::Guided => Chooser::Guided,
        };
        let mut terms = Terms::new();
        let mut session = self.session(&mut terms);
        while !self.structure.open().is_empty() {
            if let Err(stopped) = self.budget.check() {
                self.close_all(&Outcome::Unknown(Reason::Stopped(stopped)));
                break;
            }
            if !self.oracles.allows(&[]) {
                return self.exhausted();
            }
            if terms.len() > TERMS {
                self.statistics.queries += session.statistics().queries;
                terms = Terms::new();
                session = self.session(&mut terms);
            }
            let run = Runner {
                semantics: self.semantics,
                structure: &mut self.structure,
                nodes: &mut self.nodes,
                oracles: &mut self.oracles,
                terms: &mut terms,
                session: &mut session,
                prefer: &mut chooser,
                budget: self.budget,
                depth: self.options.depth,
                length: self.options.length,
            }
            .run();
            self.learn(run, &mut terms);
            (self.events)(Event {
                explored: self.statistics.explored,
                clauses: self.oracles.clauses().len(),
                choices: self.oracles.choices(),
                open: self.structure.open().len(),
                covered: self.covered.min(1.0),
            });
        }
        self.statistics.queries += session.statistics().queries;
        None
    }

    fn learn(&mut self, run: Run, terms: &mut Terms) {
        match &run.ended {
            Ended::Safely => {
                self.statistics.explored += 1;
                if let Some(Act::End(crate::run::End::Cut)) = run.path.last().map(|p| &p.act) {
                    self.statistics.cut += 1;
                    self.long |= run.path.len() > self.options.length;
                }
                let explanation = self.explain(&run, Goal::Path, terms);
                self.exclude(&run, Goal::Path, &explanation);
            }
            Ended::Error(check, values) => {
                self.statistics.explored += 1;
                let program = self.semantics.program;
                let outcome = match replay(program, values, *check, self.budget) {
                    Ok(violation) => Outcome::Violated(Box::new(violation)),
                    Err(outcome) => Outcome::Unknown(Reason::Replay(Box::new(outcome))),
                };
                self.close(*check, outcome);
            }
            Ended::Undecided(check, why) => {
                self.statistics.explored += 1;
                self.close(*check, Outcome::Unknown(Reason::Solver(why.to_string())));
            }
            Ended::Unsupported(edge) => {
                self.statistics.explored += 1;
                if let Op::Unsupported { construct } = self.semantics.program.edges[edge.index()].op
                {
                    self.unsupported.get_or_insert(construct);
                }
                self.structure.meet_unsupported(*edge);
            }
            Ended::Explored => {
                self.statistics.repeated += 1;
                self.learn_refusals(run, terms);
            }
            Ended::Stopped(stopped) => {
                self.close_all(&Outcome::Unknown(Reason::Stopped(*stopped)));
            }
        }
    }

    /// The oracle wants, at the last node, what no run can do.
    fn learn_refusals(&mut self, run: Run, terms: &mut Terms) {
        let Some(last) = run.path.last() else {
            return;
        };
        let Act::Branch(branch) = &last.act else {
            return;
        };
        let node = last.node;
        let known = self.oracles.sides(node).unwrap_or_default();
        let mut learned = false;
        for side in known {
            let goal = Goal::Refused(side);
            let explanation = if !branch.live.contains(&side) {
                // From there no error can be reached any more.
                Explanation {
                    decisions: chosen(&run),
                    ..Explanation::default()
                }
            } else if branch.ruled_out.iter().any(|refused| refused.side == side) {
                self.explain(&run, goal, terms)
            } else {
                continue;
            };
            self.exclude(&run, goal, &explanation);
            learned = true;
        }
        if !learned {
            // Every side was excluded for itself; then so is the way here, and the solver should
            // have known.
            let made = run
                .decisions
                .iter()
                .map(|&(_, decision)| decision)
                .collect();
            self.oracles.exclude(made);
            self.unjustified = true;
        }
    }

    fn explain(&mut self, run: &Run, goal: Goal, terms: &mut Terms) -> Explanation {
        if self.options.learning == Learning::Off {
            return Explanation {
                decisions: chosen(run),
                ..Explanation::default()
            };
        }
        let form = assignments(self.semantics, terms, &run.path);
        let (semantics, budget) = (self.semantics, self.budget);
        let limits = Limits {
            time: Some(self.options.query_time),
            steps: Some(CORE_STEPS),
        };
        let begin = |terms: &mut Terms| begin(semantics, budget, limits, terms);
        let mut explainer = Explainer::new(
            semantics,
            self.effects,
            &mut self.structure,
            terms,
            &begin,
            &run.path,
            &form,
        );
        let quick = explainer.explain(goal, Cores::Quick);
        // Smaller cores cost questions; where they have brought nothing, they are tried rarely.
        self.explanations += 1;
        let worthwhile = self.in_vain < PATIENCE || self.explanations.is_multiple_of(RARELY);
        let explanation = if quick.decisions.is_empty() || !worthwhile {
            quick
        } else {
            let small = explainer.explain(goal, Cores::Smallest);
            if small.decisions.len() < quick.decisions.len() {
                self.in_vain = 0;
                small
            } else {
                self.in_vain += 1;
                quick
            }
        };
        self.statistics.queries += explainer.queries();
        explanation
    }

    fn exclude(&mut self, run: &Run, goal: Goal, explanation: &Explanation) {
        let mut decisions: BTreeSet<Decision> = explanation.decisions.clone();
        if let (Goal::Refused(side), Some(last)) = (goal, run.path.last()) {
            let node = last.node;
            decisions.insert(Decision { node, side });
        }
        self.covered += 0.5f64.powi(decisions.len() as i32);
        if self.oracles.exclude(decisions.into_iter().collect()) {
            self.evidence.push(marks(&run.path, goal, explanation));
        } else {
            self.unjustified = true;
        }
    }

    /// Whether every clause stands when it is checked again.
    fn recheck(&mut self) -> Result<bool, Stopped> {
        if self.unjustified || self.evidence.len() != self.oracles.clauses().len() {
            return Ok(false);
        }
        let mut terms = Terms::new();
        let mut session = self.session(&mut terms);
        let mut rechecker = Rechecker::new(
            self.semantics,
            self.effects,
            self.structure.open(),
            &mut self.nodes,
        );
        for (clause, marks) in self.oracles.clauses().iter().zip(&self.evidence) {
            self.budget.check()?;
            if !rechecker.holds(&mut terms, &mut session, clause, marks) {
                self.budget.check()?;
                return Ok(false);
            }
        }
        Ok(self.oracles.exhausted())
    }

    /// No oracle is left.
    fn exhausted(&mut self) -> Option<Proof> {
        let reason = if let Some(construct) = self.unsupported {
            Some(Reason::Unsupported(construct))
        } else if self.long {
            Some(Reason::Length(self.options.length))
        } else if self.statistics.cut > 0 {
            Some(Reason::Bound(self.options.depth))
        } else {
            match self.recheck() {
                Ok(true) => None,
                Ok(false) => Some(Reason::Evidence),
                Err(stopped) => Some(Reason::Stopped(stopped)),
            }
        };
        if let Some(reason) = reason {
            self.close_all(&Outcome::Unknown(reason));
            return None;
        }
        self.close_all(&Outcome::Proved);
        let clauses = self.oracles.clauses().iter().map(|decisions| Clause {
            decisions: decisions
                .iter()
                .map(|&decision| (self.nodes.location(decision.node), decision))
                .collect(),
        });
        Some(Proof {
            clauses: clauses.collect(),
        })
    }
}

/// A session in which the axioms are asserted.
fn begin(
    semantics: &Semantics<'_>,
    budget: &Budget,
    limits: Limits,
    terms: &mut Terms,
) -> Session<'static> {
    let solver = Box::new(Z3Solver::new(Z3Options::default()));
    let mut session = Session::new(solver, budget.clone());
    session.set_limits(limits);
    for axiom in semantics.axioms(terms) {
        session.assert(terms, axiom);
    }
    session
}

/// The oracle's choices on a run.
fn chosen(run: &Run) -> BTreeSet<Decision> {
    run.decisions
        .iter()
        .filter(
            |&&(position, _)| match run.path.get(position).map(|p| &p.act) {
                Some(Act::Branch(branch)) => branch.open() > 1,
                _ => false,
            },
        )
        .map(|&(_, decision)| decision)
        .collect()
}

/// How a clause is checked again: what its explanation says at the branches of the path.
fn marks(path: &[Position], goal: Goal, explanation: &Explanation) -> Marks {
    let mut marks = Vec::new();
    let mut visited = 0;
    let mut at = 0;
    while let Some(position) = path.get(at) {
        at += 1;
        let Act::Branch(branch) = &position.act else {
            continue;
        };
        let place = visited;
        visited += 1;
        if let (Goal::Refused(side), true) = (goal, at == path.len()) {
            marks.push((place, Mark::Refused(side)));
        } else if let Some(&meeting) = explanation.free.get(&(at - 1)) {
            marks.push((place, Mark::Free(path[meeting].location)));
            at = meeting;
        } else if let Some(side) = branch.taken {
            let node = position.node;
            if explanation.decisions.contains(&Decision { node, side }) {
                marks.push((place, Mark::Decided(side)));
            }
        }
    }
    Marks(marks)
}
