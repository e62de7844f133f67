//! The search for a chain to a violated check: depth first over paths, leaping where it can.

use crate::chain::{Counting, Link, Strategy, Values, Walk};
use crate::graph::{CutId, End, Graph, PathId};
use hardbop_budget::Stopped;
use hardbop_cfront::ids::{CheckId, ExprId, FuncId};
use hardbop_logic::{Op, Prover, TermId, Terms, Undecided};
use hardbop_semantics::Semantics;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How far the search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The most leaps in a chain.
    pub leaps: usize,
    /// The most iterations that are walked one by one.
    pub iterations: usize,
    /// The most chains that are looked at to their end.
    pub chains: usize,
}

/// A chain in the making.
#[derive(Clone, Debug)]
pub struct Partial {
    pub(crate) cut: CutId,
    pub(crate) values: Values,
    /// What holds of the rigid constants.
    pub(crate) known: Vec<TermId>,
    pub(crate) links: Vec<Link>,
    pub(crate) leaps: usize,
    pub(crate) iterations: usize,
    pub(crate) cost: u32,
}

/// What is left to do. Leaps are costly to find, so each waits until its turn comes.
pub(crate) enum Task {
    /// Go on from a partial chain.
    Expand(Partial),
    /// Find the sets of paths to leap through under a strategy.
    Schedule(Rc<Partial>, Rc<Strategy>),
    /// Try to leap through some paths.
    Leap(Rc<Partial>, Vec<PathId>, Rc<Strategy>, Counting, u32),
    /// The same where only a part of the entry port is wanted, which this says.
    Part(Rc<Partial>, Vec<PathId>, Rc<Strategy>, TermId, u32),
}

/// What makes a chain less plain, and so later to be looked at: a loop that counts its
/// iterations, a larger union of abstract states, an iteration walked by itself, choices that
/// depend on the state.
pub(crate) const COUNTED: u32 = 1;
pub(crate) const UNION: u32 = 2;
const WALKED: u32 = 4;
pub(crate) const SCHEDULED: u32 = 5;

/// The tasks, cheapest first, and among equals the one that came last: depth first.
#[derive(Default)]
pub(crate) struct Work {
    tasks: BTreeMap<(u32, Reverse<u64>), Task>,
    next: u64,
}

impl Work {
    /// Adds tasks; the first of them comes first.
    pub(crate) fn extend(&mut self, tasks: Vec<(u32, Task)>) {
        for (cost, task) in tasks.into_iter().rev() {
            self.tasks.insert((cost, Reverse(self.next)), task);
            self.next += 1;
        }
    }

    fn pop(&mut self) -> Option<Task> {
        self.tasks.pop_first().map(|(_, task)| task)
    }
}

/// A chain to a violated check.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Its parts.
    pub links: Vec<Link>,
    /// What the chain requires of the rigid constants; it has a model.
    pub condition: TermId,
    /// The check.
    pub check: CheckId,
}

/// What is to be done with a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is what was looked for.
    Accept,
    /// Look for another one.
    Reject,
}

/// How a search ended without an accepted chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// A chain was accepted.
    Accepted,
    /// There is no other chain within reach.
    Exhausted,
    /// The budget ran out.
    Stopped(Stopped),
}

/// What the search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Loops that were tried to leap, with all their variants.
    pub attempts: u64,
    /// Leaps that were found.
    pub leaps: u64,
    /// Chains that were looked at to their end.
    pub chains: usize,
}

/// A search.
pub struct Search<'a, 'p> {
    /// How the program is read.
    pub semantics: &'a Semantics<'p>,
    /// Its cut points and paths.
    pub graph: &'a Graph,
    /// The terms.
    pub terms: &'a mut Terms,
    /// The solver.
    pub prover: &'a mut Prover,
    /// The user's predicates.
    pub predicates: &'a [(Option<FuncId>, ExprId)],
    /// How far to go.
    pub reach: Reach,
    /// What was done.
    pub counts: Counts,
}

/// Takes a finished chain.
pub type Judge<'j> = dyn FnMut(&mut Terms, &mut Prover, &Chain) -> Judgement + 'j;

impl Search<'_, '_> {
    /// Looks for chains to a check until one is accepted.
    pub fn run(&mut self, check: CheckId, judge: &mut Judge<'_>) -> Ended {
        let mut values = Values::new();
        for &id in &self.graph.cut(CutId::START).relevant {
            let name = format!("{}@start", self.semantics.layout.get(id).name);
            let sort = self.semantics.sort(self.terms, id);
            values.insert(id, self.terms.fresh(&name, sort));
        }
        let known = self.axioms(&values);
        let start = Partial {
            cut: CutId::START,
            values,
            known,
            links: Vec::new(),
            leaps: 0,
            iterations: 0,
            cost: 0,
        };
        let mut work = Work::default();
        work.extend(vec![(0, Task::Expand(start))]);
        while let Some(task) = work.pop() {
            if let Err(stopped) = self.prover.budget.check() {
                return Ended::Stopped(stopped);
            }
            let done = match task {
                Task::Expand(partial) => self.expand(partial, check, judge, &mut work),
                Task::Schedule(partial, strategy) => self
                    .schedule(&partial, &strategy, &mut work)
                    .map(|()| Judgement::Reject),
                Task::Leap(partial, paths, strategy, counting, cost) => self
                    .leap(&partial, &paths, &strategy, counting, None, cost, &mut work)
                    .map(|()| Judgement::Reject),
                Task::Part(partial, paths, strategy, part, cost) => {
                    let off = Counting::Off;
                    self.leap(
                        &partial,
                        &paths,
                        &strategy,
                        off,
                        Some(part),
                        cost,
                        &mut work,
                    )
                    .map(|()| Judgement::Reject)
                }
            };
            match done {
                Ok(Judgement::Accept) => return Ended::Accepted,
                Ok(Judgement::Reject) => {}
                Err(Undecided(hardbop_logic::Unknown::Stopped(stopped))) => {
                    return Ended::Stopped(stopped);
                }
                // One question too hard is one partial chain less.
                Err(Undecided(_)) => {}
            }
            if self.counts.chains >= self.reach.chains {
                return Ended::Exhausted;
            }
        }
        Ended::Exhausted
    }

    /// What holds of addresses, if the program has any.
    fn axioms(&mut self, values: &Values) -> Vec<TermId> {
        let map: BTreeMap<TermId, TermId> = values
            .iter()
            .map(|(&id, &value)| (self.semantics.constant(self.terms, id), value))
            .collect();
        let frontier = self
            .semantics
            .constant(self.terms, self.semantics.layout.frontier());
        let mut axioms = self.semantics.axioms(self.terms);
        // Whatever speaks of the frontier speaks of a state; the others are about the origin.
        axioms.retain(|&axiom| {
            map.contains_key(&frontier) || !self.terms.free_constants(&[axiom]).contains(&frontier)
        });
        let place = |axiom: TermId| self.terms.substitute(axiom, &map);
        axioms.into_iter().map(place).collect()
    }

    /// Goes on from a partial chain. New partial chains go to the work list, the ones to look at
    /// first last.
    fn expand(
        &mut self,
        partial: Partial,
        check: CheckId,
        judge: &mut Judge<'_>,
        work: &mut Work,
    ) -> Result<Judgement, Undecided> {
        let graph = self.graph;
        let cut = graph.cut(partial.cut);
        let mut inside = Vec::new();
        let mut outside = Vec::new();
        for &path in &cut.paths {
            match graph.path(path).to {
                End::Violated(violated) if violated == check => {
                    let Some((walk, _)) = self.walk(&partial, path, None)? else {
                        continue;
                    };
                    let mut conditions = partial.known.clone();
                    conditions.push(walk.condition);
                    let mut links = partial.links.clone();
                    links.push(Link::Walk(walk));
                    let chain = Chain {
                        links,
                        condition: self.terms.and(&conditions),
                        check,
                    };
                    self.counts.chains += 1;
                    if judge(self.terms, self.prover, &chain) == Judgement::Accept {
                        return Ok(Judgement::Accept);
                    }
                    if self.counts.chains >= self.reach.chains {
                        return Ok(Judgement::Reject);
                    }
                }
                End::Violated(_) => {}
                End::Cut(to) => {
                    if cut.part.is_some() && graph.cut(to).part == cut.part {
                        inside.push(path);
                    } else {
                        outside.push(path);
                    }
                }
            }
        }
        let mut next = Vec::new();
        for path in outside {
            if let Some((walk, values)) = self.walk(&partial, path, None)? {
                let walked = self.walked(&partial, walk, values);
                next.push((walked.cost, Task::Expand(walked)));
            }
        }
        if !inside.is_empty() {
            if partial.leaps < self.reach.leaps {
                let shared = Rc::new(partial.clone());
                for strategy in self.strategies(&partial) {
                    let fixed = strategy.values().all(|&v| self.terms.value_of(v).is_some());
                    let cost = partial.cost + if fixed { 0 } else { SCHEDULED };
                    let task = Task::Schedule(Rc::clone(&shared), Rc::new(strategy));
                    next.push((cost, task));
                }
            }
            if partial.iterations < self.reach.iterations {
                for &path in &inside {
                    if let Some((walk, values)) = self.walk(&partial, path, None)? {
                        let mut step = self.walked(&partial, walk, values);
                        step.iterations += 1;
                        step.cost += WALKED;
                        next.push((step.cost, Task::Expand(step)));
                    }
                }
            }
        }
        work.extend(next);
        Ok(Judgement::Reject)
    }

    pub(crate) fn walked(&mut self, partial: &Partial, walk: Walk, values: Values) -> Partial {
        let mut next = partial.clone();
        if let End::Cut(to) = self.graph.path(walk.path).to {
            next.cut = to;
        }
        next.known.push(walk.condition);
        next.values = values;
        next.links.push(Link::Walk(walk));
        next
    }

    /// Walks along a path, if it can be taken. What it leaves open is chosen by the strategy, or
    /// else gets a rigid constant.
    pub(crate) fn walk(
        &mut self,
        partial: &Partial,
        path: PathId,
        strategy: Option<&Strategy>,
    ) -> Result<Option<(Walk, Values)>, Undecided> {
        let path_index = path;
        let path = self.graph.path(path);
        let mut map = self.state_map(&partial.values);
        let mut choices = Vec::new();
        for unknown in &path.unknowns {
            let key = (unknown.edge, unknown.occurrence);
            let symbol = match strategy.and_then(|strategy| strategy.get(&key)) {
                Some(&chosen) => self.terms.substitute(chosen, &map),
                None => {
                    let sort = self.terms.sort(unknown.symbol);
                    let fresh = self.terms.fresh("input", sort);
                    choices.push((key, fresh));
                    fresh
                }
            };
            map.insert(unknown.symbol, symbol);
        }
        let condition = self.terms.substitute(path.condition, &map);
        if matches!(self.terms.op(condition), Op::Bool(false)) {
            return Ok(None);
        }
        let mut question = partial.known.clone();
        question.push(condition);
        if self.prover.unsatisfiable(self.terms, &question)? {
            return Ok(None);
        }
        let mut values = Values::new();
        if let End::Cut(to) = path.to {
            for &id in &self.graph.cut(to).relevant {
                let value = path.state.get(self.semantics, self.terms, id);
                values.insert(id, self.terms.substitute(value, &map));
            }
        }
        let walk = Walk {
            path: path_index,
            choices,
            condition,
        };
        Ok(Some((walk, values)))
    }

    pub(crate) fn state_map(&mut self, values: &Values) -> BTreeMap<TermId, TermId> {
        values
            .iter()
            .map(|(&id, &value)| (self.semantics.constant(self.terms, id), value))
            .collect()
    }
}
