//! The search (Algorithms 1 and 4): run under an oracle, learn, until no oracle is left.
//!
//! Several workers may search at a time: each has its own solvers and takes over, between two
//! runs, the clauses that the others have learned.

use crate::assignments::assignments;
use crate::check::{Learning, Options, Order, Statistics};
use crate::count::excluded;
use crate::explain::{Cores, Explainer, Explanation, Goal, Meaning};
use crate::nodes::Nodes;
use crate::oracle::Oracles;
use crate::run::{Act, Ended, Position, Prefer, Run, Runner};
use crate::structure::Structure;
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::{CheckId, EdgeId};
use hardbop_cfront::program::{Op, Program};
use hardbop_engine::claim::{self, Clause, Clauses, Decision, Given, Mark};
use hardbop_engine::{Claim, Desk, Event, Figure, Reason};
use hardbop_logic::{Limits, Session, Terms, Z3Options, Z3Solver};
use hardbop_model::points::PointId;
use hardbop_semantics::Semantics;
use hardbop_semantics::effects::Effects;
use num_bigint::BigUint;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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

/// How often progress is told with exact counts.
const OFTEN: Duration = Duration::from_secs(1);
/// The most steps for counting the oracles that are ruled out: for progress, and at the end.
const QUICK_COUNTING: usize = 100_000;
const COUNTING: usize = 10_000_000;

/// A part of a whole, as a number between 0 and 1.
fn share(part: &BigUint, whole: &BigUint) -> f64 {
    // The leading digits are enough, and fit.
    let shift = whole.bits().saturating_sub(60);
    let number = |value: &BigUint| u64::try_from(value >> shift).unwrap_or(u64::MAX) as f64;
    number(part) / number(whole).max(1.0)
}

/// A clause with how it is checked again.
struct Learned {
    clause: Clause,
    /// The sides of the nodes that it speaks of.
    sides: Vec<(PointId, Vec<u32>)>,
}

/// What all workers know.
#[derive(Default)]
struct Shared {
    clauses: Vec<Learned>,
    /// The checks that are done with, and why those are open that are not decided.
    closed: BTreeMap<CheckId, Option<Reason>>,
    /// Unsupported constructs that were met.
    met: Vec<EdgeId>,
    /// Whether something was excluded without a reason that can be checked.
    unjustified: bool,
    /// Whether a run was too long.
    long: bool,
    /// Whether a worker found that no oracle is left.
    finished: bool,
    covered: f64,
    statistics: Statistics,
    /// The nodes with choice variables, with the number of their sides.
    choices: BTreeMap<PointId, usize>,
    /// The runs that met no error, and so excluded themselves at least.
    safe: u64,
    /// Whether the search came to its end: every oracle was run or ruled out.
    exhausted: bool,
    /// When progress was told with exact counts.
    counted: Option<Instant>,
    /// What was counted then.
    excluded: Option<BigUint>,
}

impl Shared {
    /// The oracles that were run or ruled out, if they can be counted in so many steps.
    fn excluded(&self, steps: usize) -> Option<BigUint> {
        if self.exhausted {
            return Some(self.statistics.paths.clone());
        }
        let clauses: Vec<&[Decision]> = self
            .clauses
            .iter()
            .map(|learned| learned.clause.decisions.as_slice())
            .collect();
        excluded(&clauses, &self.choices, steps)
    }

    /// The part of them that was not run.
    fn pruned(&self, excluded: &BigUint) -> BigUint {
        let safe = BigUint::from(self.safe);
        if safe < *excluded {
            excluded - safe
        } else {
            BigUint::ZERO
        }
    }
}

/// What the workers found out together.
pub(crate) struct Searched {
    pub(crate) open: BTreeMap<CheckId, Reason>,
    pub(crate) incomplete: Option<Reason>,
    pub(crate) statistics: Statistics,
}

/// What all workers share.
pub(crate) struct Common<'a, 'p> {
    semantics: &'a Semantics<'p>,
    effects: &'a Effects,
    options: &'a Options,
    budget: &'a Budget,
    open: BTreeSet<CheckId>,
    nodes: Nodes,
    shared: Mutex<Shared>,
    desk: Mutex<&'a mut dyn Desk>,
}

impl<'a, 'p> Common<'a, 'p> {
    pub(crate) fn new(
        semantics: &'a Semantics<'p>,
        effects: &'a Effects,
        options: &'a Options,
        budget: &'a Budget,
        open: BTreeSet<CheckId>,
        desk: &'a mut dyn Desk,
    ) -> Common<'a, 'p> {
        Common {
            semantics,
            effects,
            options,
            budget,
            open,
            nodes: Nodes::default(),
            shared: Mutex::new(Shared::default()),
            desk: Mutex::new(desk),
        }
    }

    /// What is known; a worker that panicked leaves what it had said.
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The outcomes, the evidence, and what it cost.
    pub(crate) fn finish(self) -> Searched {
        let shared = self.shared.into_inner();
        let shared = shared.unwrap_or_else(PoisonError::into_inner);
        let mut shared = shared;
        let excluded = shared.excluded(COUNTING);
        shared.statistics.pruned = excluded.map(|excluded| shared.pruned(&excluded));
        let unsupported = unsupported(self.semantics.program, &shared);
        // A search that ended early says so at the checks that it left open.
        let closed = shared.closed.into_iter();
        let open: BTreeMap<CheckId, Reason> = closed
            .filter_map(|(check, reason)| Some((check, reason?)))
            .collect();
        let stopped = open
            .values()
            .find(|reason| matches!(reason, Reason::Stopped(_)));
        Searched {
            incomplete: stopped.cloned().or(unsupported),
            open,
            statistics: shared.statistics,
        }
    }
}

/// The first construct that was met and is not supported.
fn unsupported(program: &Program, shared: &Shared) -> Option<Reason> {
    let mut met = shared.met.iter();
    met.find_map(|edge| match program.edges[edge.index()].op {
        Op::Unsupported { construct } => Some(Reason::unsupported(program, construct)),
        _ => None,
    })
}

/// One search among those that share their clauses.
pub(crate) struct Worker<'c, 'a, 'p> {
    common: &'c Common<'a, 'p>,
    structure: Structure<'p>,
    nodes: Nodes,
    oracles: Oracles,
    /// How many of the shared clauses and constructs are known here.
    known: usize,
    met: usize,
    chooser: Chooser,
    /// How many explanations there were, and for how many of the last ones smaller cores brought
    /// nothing.
    explanations: u64,
    in_vain: u64,
    /// Where cores are asked for, over the same terms as the runs.
    cores: Option<Session<'static>>,
    /// Whether all paths are still to be followed together.
    together: Pending,
}

/// Whether something is still to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Now,
    Later,
    No,
}

/// Why a part of the paths decides nothing.
const PART: &str = "only a part of the paths was searched, and has no violation";

/// After so many terms a new arena and a new solver are begun.
const TERMS: usize = 2_000_000;
/// After so many explanations in a row that smaller cores did not improve, they are sought only
/// for one in so many.
const PATIENCE: u64 = 4;
const RARELY: u64 = 8;
/// The most steps of the solver for one question about a core: a smaller core is worth little
/// more. Steps and not time, so that a search can be repeated.
const CORE_STEPS: u32 = 100_000;

impl<'c, 'a, 'p> Worker<'c, 'a, 'p> {
    pub(crate) fn new(common: &'c Common<'a, 'p>, job: usize) -> Worker<'c, 'a, 'p> {
        let chooser = match (common.options.order, job) {
            (Order::Random(seed), job) => Chooser::Random(seed.wrapping_add(job as u64)),
            (Order::DepthFirst, 0) => Chooser::DepthFirst,
            (Order::Guided, 0) => Chooser::Guided,
            (_, job) => Chooser::Random(job as u64),
        };
        Worker {
            common,
            structure: Structure::new(common.semantics.program, common.open.clone()),
            nodes: common.nodes.clone(),
            oracles: Oracles::new(),
            known: 0,
            met: 0,
            chooser,
            explanations: 0,
            in_vain: 0,
            cores: None,
            together: match (job, common.options.together_after) {
                (0, Some(_)) if all::is_allowed(common.options) => Pending::Later,
                _ => Pending::No,
            },
        }
    }

    /// Takes over what others have found.
    fn catch_up(&mut self) {
        let common = self.common;
        let shared = common.shared();
        if shared.finished {
            return;
        }
        for learned in &shared.clauses[self.known..] {
            for (node, sides) in &learned.sides {
                self.oracles.introduce(*node, sides);
            }
            // A side that is unknown here cannot lead to an error that is still open.
            self.oracles.exclude(&learned.clause.decisions);
        }
        self.known = shared.clauses.len();
        for &edge in &shared.met[self.met..] {
            self.structure.meet_unsupported(edge);
        }
        self.met = shared.met.len();
        for check in shared.closed.keys() {
            if self.structure.open().contains(check) {
                self.structure.close(*check);
            }
        }
    }

    fn session(&self, terms: &mut Terms) -> Session<'static> {
        let limits = Limits {
            time: Some(self.common.options.query_time),
            steps: None,
        };
        begin(self.common.semantics, self.common.budget, limits, terms)
    }

    /// A check is done with: decided, or open for a reason.
    fn close(&mut self, check: CheckId, reason: Option<Reason>) {
        self.structure.close(check);
        let mut shared = self.common.shared();
        shared.closed.entry(check).or_insert(reason);
    }

    fn close_all(&mut self, reason: &Option<Reason>) {
        for check in self.structure.open().clone() {
            self.close(check, reason.clone());
        }
    }

    /// Takes a claim to the gate. Gives why it does not count.
    fn submit(&self, claim: Claim) -> Option<Reason> {
        let mut desk = self.common.desk.lock();
        let desk = match &mut desk {
            Ok(desk) => desk,
            Err(poisoned) => poisoned.get_mut(),
        };
        desk.submit(claim).refused()
    }

    /// Searches until everything is decided.
    pub(crate) fn search(mut self) {
        let common = self.common;
        let mut terms = Terms::new();
        let mut session = self.session(&mut terms);
        for runs in 0.. {
            self.catch_up();
            if self.structure.open().is_empty() || common.shared().finished {
                break;
            }
            if let Err(stopped) = common.budget.check() {
                self.close_all(&Some(Reason::Stopped(stopped)));
                break;
            }
            if !self.oracles.allows(&[]) {
                // Whoever comes first says so.
                let first = !std::mem::replace(&mut common.shared().finished, true);
                if first {
                    common.shared().exhausted = true;
                    self.exhausted();
                }
                break;
            }
            if runs >= common.options.runs {
                self.close_all(&Some(Reason::Turn));
                break;
            }
            if self.is_time_for_all(session.statistics().queries) {
                self.together(&mut terms, &mut session);
                continue;
            }
            if terms.len() > TERMS {
                common.shared().statistics.queries += session.statistics().queries;
                terms = Terms::new();
                session = self.session(&mut terms);
                self.cores = None;
            }
            let questions = self.patience();
            let run = Runner {
                semantics: common.semantics,
                structure: &mut self.structure,
                nodes: &mut self.nodes,
                oracles: &mut self.oracles,
                terms: &mut terms,
                session: &mut session,
                prefer: &mut self.chooser,
                budget: common.budget,
                depth: common.options.depth,
                length: common.options.length,
                part: common.options.part,
                questions,
            }
            .run();
            if let Err(stopped) = self.learn(run, &mut terms) {
                self.close_all(&Some(Reason::Stopped(stopped)));
                break;
            }
            self.tell();
        }
        common.shared().statistics.queries += session.statistics().queries;
    }

    fn tell(&mut self) {
        let figures = {
            let mut shared = self.common.shared();
            // Counting takes a while, and nobody reads so fast.
            if shared.counted.is_none_or(|last| last.elapsed() > OFTEN) {
                shared.excluded = shared.excluded(QUICK_COUNTING);
                shared.counted = Some(Instant::now());
            }
            let counted = &shared.statistics;
            let mut figures = vec![Figure::count("explored", counted.explored)];
            if let Some(excluded) = &shared.excluded {
                figures.push(Figure::big("pruned", shared.pruned(excluded)));
            }
            figures.push(Figure::count("clauses", counted.clauses));
            figures.push(match &shared.excluded {
                Some(excluded) => Figure::share("covered", share(excluded, &counted.paths)),
                None => Figure::share("covered at most", shared.covered.min(1.0)),
            });
            figures
        };
        let event = Event {
            doing: "running".into(),
            open: self.structure.open().len(),
            figures,
        };
        if let Ok(mut desk) = self.common.desk.lock() {
            desk.event(event);
        }
    }

    /// Counts a run to its end, and the choices on its way.
    fn count(&mut self, run: &Run) {
        let mut shared = self.common.shared();
        for &(_, decision) in &run.decisions {
            if let Some(sides) = self.oracles.sides(decision.point)
                && shared.choices.insert(decision.point, sides.len()).is_none()
            {
                shared.statistics.choices += 1;
                shared.statistics.paths *= sides.len();
            }
        }
        shared.safe += u64::from(matches!(run.ended, Ended::Safely));
        match run.ended {
            Ended::Explored => shared.statistics.repeated += 1,
            Ended::Stopped(_) | Ended::Abandoned => {}
            _ => shared.statistics.explored += 1,
        }
        if let Some(Act::End(crate::run::End::Cut)) = run.path.last().map(|p| &p.act) {
            shared.statistics.cut += 1;
            shared.long |= run.path.len() > self.common.options.length;
        }
    }

    /// Learns from a run what it can.
    fn learn(&mut self, run: Run, terms: &mut Terms) -> Result<(), Stopped> {
        self.count(&run);
        match &run.ended {
            Ended::Safely => {
                let explanation = self.explain(&run, Goal::Path, terms)?;
                self.exclude(&run, Goal::Path, &explanation);
            }
            Ended::Error(check, values) => {
                let run = claim::Run {
                    check: *check,
                    given: Given::Choices(values.clone()),
                };
                let reason = self.submit(Claim::Run(run));
                self.close(*check, reason);
            }
            Ended::Undecided(check, why) => {
                self.close(*check, Some(Reason::Solver(why.to_string())));
            }
            Ended::Unsupported(edge) => self.common.shared().met.push(*edge),
            Ended::Explored => self.learn_refusals(run, terms)?,
            Ended::Abandoned => self.together = Pending::Now,
            Ended::Stopped(stopped) => return Err(*stopped),
        }
        Ok(())
    }

    /// The oracle wants, at the last node, what no run can do.
    fn learn_refusals(&mut self, run: Run, terms: &mut Terms) -> Result<(), Stopped> {
        let Some(last) = run.path.last() else {
            return Ok(());
        };
        let Act::Branch(branch) = &last.act else {
            return Ok(());
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
                self.explain(&run, goal, terms)?
            } else {
                continue;
            };
            self.exclude(&run, goal, &explanation);
            learned = true;
        }
        if !learned || self.common.options.part.is_some() {
            // Every side was excluded for itself, or belongs to another part of the search; then so
            // is the way here, and the solver should have known of the former.
            let made: Vec<Decision> = run
                .decisions
                .iter()
                .map(|&(_, decision)| decision)
                .collect();
            self.oracles.exclude(&made);
            self.common.shared().unjustified = true;
        }
        Ok(())
    }

    fn explain(
        &mut self,
        run: &Run,
        goal: Goal,
        terms: &mut Terms,
    ) -> Result<Explanation, Stopped> {
        if self.common.options.learning == Learning::Off {
            return Ok(Explanation {
                decisions: chosen(run),
                ..Explanation::default()
            });
        }
        let (semantics, budget) = (self.common.semantics, self.common.budget);
        let form = assignments(semantics, terms, &run.path, budget)?;
        let session = self.cores.get_or_insert_with(|| {
            let limits = Limits {
                time: Some(self.common.options.query_time),
                steps: Some(CORE_STEPS),
            };
            begin(semantics, budget, limits, terms)
        });
        let asked = session.statistics().queries;
        let meaning = Meaning {
            semantics,
            effects: self.common.effects,
            budget,
        };
        let mut explainer = Explainer::new(
            meaning,
            &mut self.structure,
            terms,
            session,
            &run.path,
            &form,
        );
        let quick = explainer.explain(goal, Cores::Quick)?;
        // Smaller cores cost questions; where they have brought nothing, they are tried rarely.
        self.explanations += 1;
        let worthwhile = match self.together {
            Pending::No => self.in_vain < PATIENCE || self.explanations.is_multiple_of(RARELY),
            // All paths come soon.
            _ => run.path.len() <= all::SHORT,
        };
        let explanation = if quick.decisions.is_empty() || !worthwhile {
            quick
        } else {
            let small = explainer.explain(goal, Cores::Smallest)?;
            if small.decisions.len() < quick.decisions.len() {
                self.in_vain = 0;
                small
            } else {
                self.in_vain += 1;
                quick
            }
        };
        let asked = session.statistics().queries - asked;
        self.common.shared().statistics.queries += asked;
        Ok(explanation)
    }

    fn exclude(&mut self, run: &Run, goal: Goal, explanation: &Explanation) {
        let mut decisions: BTreeSet<Decision> = explanation.decisions.clone();
        if let (Goal::Refused(side), Some(last)) = (goal, run.path.last()) {
            let node = last.node;
            decisions.insert(Decision { point: node, side });
        }
        let sides: Vec<(PointId, Vec<u32>)> = decisions
            .iter()
            .filter_map(|decision| Some((decision.point, self.oracles.sides(decision.point)?)))
            .collect();
        let mut shared = self.common.shared();
        if sides.len() < decisions.len() {
            // A decision at a node without a choice cannot be denied.
            shared.unjustified = true;
            return;
        }
        shared.covered += 0.5f64.powi(decisions.len() as i32);
        shared.statistics.clauses += 1;
        let (marks, branches) = marks(&run.path, goal, explanation);
        let clause = Clause {
            decisions: decisions.into_iter().collect(),
            marks,
            branches,
            together: None,
        };
        shared.clauses.push(Learned { clause, sides });
    }

    /// No oracle is left.
    fn exhausted(&mut self) {
        let common = self.common;
        let (clauses, reason) = {
            let mut shared = common.shared();
            let reason = if let Some(unsupported) = unsupported(common.semantics.program, &shared) {
                Some(unsupported)
            } else if shared.long {
                Some(Reason::Length(common.options.length))
            } else if shared.statistics.cut > 0 {
                Some(Reason::Bound(common.options.depth))
            } else if common.options.part.is_some() {
                Some(Reason::Solver(PART.to_owned()))
            } else if shared.unjustified {
                Some(Reason::Evidence)
            } else {
                None
            };
            (std::mem::take(&mut shared.clauses), reason)
        };
        // What was learned since then may speak of fewer open checks.
        let mine = clauses[..self.known].iter();
        let reason = reason.or_else(|| {
            self.submit(Claim::Clauses(Clauses {
                checks: self.structure.open().iter().copied().collect(),
                points: self.nodes.points(),
                clauses: mine.map(|learned| learned.clause.clone()).collect(),
            }))
        });
        common.shared().clauses = clauses;
        self.close_all(&reason);
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
fn marks(path: &[Position], goal: Goal, explanation: &Explanation) -> (Vec<(u32, Mark)>, u32) {
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
            if explanation
                .decisions
                .contains(&Decision { point: node, side })
            {
                marks.push((place, Mark::Decided(side)));
            }
        }
    }
    (marks, visited)
}

mod all;
#[cfg(test)]
mod tests;
