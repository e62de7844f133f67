//! The search for a chain to a violated check: depth first over paths, leaping where it can.

use crate::chain::{Counting, Leap, Link, Strategy, Values, Walk, body, entry};
use crate::graph::{CutIndex, End, Graph};
use crate::mts::{followers, sets};
use crate::prover::{Prover, Undecided};
use crate::sample::{Course, Sample, run};
use crate::schedule::{keys, strategies};
use crate::strengthen::{Directions, Entry, NotFound, at, find};
use crate::system::System;
use hardbop_budget::Stopped;
use hardbop_cfront::ids::{CheckId, ExprId, FuncId};
use hardbop_logic::{Op, Sort, TermId, Terms};
use hardbop_semantics::{Execution, Semantics};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
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
    cut: CutIndex,
    values: Values,
    /// What holds of the rigid constants.
    known: Vec<TermId>,
    links: Vec<Link>,
    leaps: usize,
    iterations: usize,
    cost: u32,
}

/// What is left to do. Leaps are costly to find, so each waits until its turn comes.
enum Task {
    /// Go on from a partial chain.
    Expand(Partial),
    /// Find the sets of paths to leap through under a strategy.
    Schedule(Rc<Partial>, Rc<Strategy>),
    /// Try to leap through some paths.
    Leap(Rc<Partial>, Vec<usize>, Rc<Strategy>, Counting, u32),
}

/// What makes a chain less plain, and so later to be looked at: a loop that counts its
/// iterations, a larger union of abstract states, an iteration walked by itself, choices that
/// depend on the state.
const COUNTED: u32 = 1;
const UNION: u32 = 2;
const WALKED: u32 = 4;
const SCHEDULED: u32 = 5;

/// The tasks, cheapest first, and among equals the one that came last: depth first.
#[derive(Default)]
struct Work {
    tasks: BTreeMap<(u32, Reverse<u64>), Task>,
    next: u64,
}

impl Work {
    /// Adds tasks; the first of them comes first.
    fn extend(&mut self, tasks: Vec<(u32, Task)>) {
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
        for &id in &self.graph.cuts[0].relevant {
            let name = format!("{}@start", self.semantics.layout.get(id).name);
            let sort = self.semantics.sort(self.terms, id);
            values.insert(id, self.terms.fresh(&name, sort));
        }
        let known = self.axioms(&values);
        let start = Partial {
            cut: 0,
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
                    .leap(&partial, &paths, &strategy, counting, cost, &mut work)
                    .map(|()| Judgement::Reject),
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
        let cut = &graph.cuts[partial.cut];
        let mut inside = Vec::new();
        let mut outside = Vec::new();
        for &path in &cut.paths {
            match graph.paths[path].to {
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
                    if cut.part.is_some() && graph.cuts[to].part == cut.part {
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

    fn walked(&mut self, partial: &Partial, walk: Walk, values: Values) -> Partial {
        let mut next = partial.clone();
        if let End::Cut(to) = self.graph.paths[walk.path].to {
            next.cut = to;
        }
        next.known.push(walk.condition);
        next.values = values;
        next.links.push(Link::Walk(walk));
        next
    }

    /// Walks along a path, if it can be taken. What it leaves open is chosen by the strategy, or
    /// else gets a rigid constant.
    fn walk(
        &mut self,
        partial: &Partial,
        path: usize,
        strategy: Option<&Strategy>,
    ) -> Result<Option<(Walk, Values)>, Undecided> {
        let path_index = path;
        let path = &self.graph.paths[path];
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
            for &id in &self.graph.cuts[to].relevant {
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

    fn state_map(&mut self, values: &Values) -> BTreeMap<TermId, TermId> {
        values
            .iter()
            .map(|(&id, &value)| (self.semantics.constant(self.terms, id), value))
            .collect()
    }

    /// The paths of the part of the graph that a cut point lies in.
    fn part_paths(&self, part: Option<usize>) -> Vec<usize> {
        let inside = |end: End| matches!(end, End::Cut(to) if self.graph.cuts[to].part == part);
        (0..self.graph.paths.len())
            .filter(|&path| {
                let path = &self.graph.paths[path];
                self.graph.cuts[path.from].part == part && inside(path.to)
            })
            .collect()
    }

    /// The conditions of the program around a cut point, over state constants, and the user's.
    fn conditions(&mut self, part: Option<usize>) -> BTreeSet<TermId> {
        let mut found = BTreeSet::new();
        for path in &self.graph.paths {
            if self.graph.cuts[path.from].part != part {
                continue;
            }
            for atom in hardbop_newton::atoms::atoms(self.terms, path.condition) {
                if self.graph.constants.support(self.terms, atom).is_some() {
                    found.insert(atom);
                }
            }
        }
        let functions: BTreeSet<FuncId> = self
            .graph
            .cuts
            .iter()
            .filter(|cut| cut.part == part)
            .map(|cut| self.semantics.program.locations[cut.location.index()].function)
            .collect();
        for &(scope, expr) in self.predicates {
            if scope.is_none_or(|function| functions.contains(&function)) {
                let mut run = Execution::new(self.semantics);
                found.insert(run.condition(self.terms, expr));
            }
        }
        found
    }

    /// The strategies for what the loop at the end of a partial chain leaves open.
    fn strategies(&mut self, partial: &Partial) -> Vec<Strategy> {
        let part = self.graph.cuts[partial.cut].part;
        let all = self.part_paths(part);
        let mut schedules = BTreeSet::new();
        if !keys(self.terms, self.graph, &all).is_empty() {
            schedules = self.conditions(part);
            for path in &all {
                for (id, _) in self.graph.paths[*path].state.written() {
                    let constant = self.semantics.constant(self.terms, id);
                    if !self.graph.cuts[partial.cut].relevant.contains(&id)
                        || !matches!(self.terms.sort(constant), Sort::BitVec(_))
                    {
                        continue;
                    }
                    let low = self.terms.extract(constant, 0, 0);
                    let zero = self.terms.bv(0, 1);
                    schedules.insert(self.terms.eq(low, zero));
                    let zero = self.terms.bv(0, self.terms.width(constant));
                    schedules.insert(self.terms.bv_slt(zero, constant));
                }
            }
        }
        strategies(self.terms, self.graph, &all, &schedules)
    }

    /// Finds what to leap through under a strategy.
    fn schedule(
        &mut self,
        partial: &Rc<Partial>,
        strategy: &Rc<Strategy>,
        work: &mut Work,
    ) -> Result<(), Undecided> {
        let all = self.part_paths(self.graph.cuts[partial.cut].part);
        let given = self.terms.and(&partial.known);
        let whole = body(
            self.semantics,
            self.terms,
            self.graph,
            &all,
            &partial.values,
            strategy,
            Counting::Off,
            given,
        );
        let Some(start) = entry(self.terms, &whole, partial.cut, &partial.values) else {
            return Ok(());
        };
        if self.comes_back(&whole.system, &start, given)? {
            return Ok(());
        }
        let follow = followers(self.prover, self.terms, &whole.system)?;
        let mut tried: BTreeSet<Vec<usize>> = BTreeSet::new();
        let mut next = Vec::new();
        for (position, step) in whole.system.steps.iter().enumerate() {
            if step.from != start.node {
                continue;
            }
            let entered = at(self.terms, &whole.system, &start.values, step.condition);
            if self.prover.unsatisfiable(self.terms, &[given, entered])? {
                continue;
            }
            for (rank, set) in sets(&follow, position).into_iter().enumerate() {
                let paths: Vec<usize> = set.iter().map(|&step| all[step]).collect();
                if !tried.insert(paths.clone()) {
                    continue;
                }
                let fixed = strategy.values().all(|&v| self.terms.value_of(v).is_some());
                let scheduled = if fixed { 0 } else { SCHEDULED };
                for counting in [Counting::Off, Counting::On] {
                    let counted = match counting {
                        Counting::Off => 0,
                        Counting::On => COUNTED,
                    };
                    let cost = partial.cost + scheduled + counted + UNION * rank as u32;
                    let task = Task::Leap(
                        Rc::clone(partial),
                        paths.clone(),
                        Rc::clone(strategy),
                        counting,
                        cost,
                    );
                    next.push((cost, task));
                }
            }
        }
        work.extend(next);
        Ok(())
    }

    /// Whether a run through the loop comes back to where it was: then there is nothing to leap to.
    fn comes_back(
        &mut self,
        system: &System,
        start: &Entry,
        given: TermId,
    ) -> Result<bool, Undecided> {
        if system.steps.iter().any(|step| !step.choices.is_empty()) {
            return Ok(false);
        }
        let Some(rigid) = self.prover.model(self.terms, &[given])? else {
            return Ok(false);
        };
        let values: Result<Vec<_>, _> = start
            .values
            .iter()
            .map(|&value| hardbop_logic::eval(self.terms, value, &rigid))
            .collect();
        let Ok(values) = values else {
            return Ok(false);
        };
        let first = Sample {
            node: start.node,
            values,
        };
        let (_, course) = run(self.terms, system, &rigid, first, 64);
        Ok(course == Course::Cycle)
    }

    /// Tries one leap.
    fn leap(
        &mut self,
        partial: &Partial,
        paths: &[usize],
        strategy: &Strategy,
        counting: Counting,
        cost: u32,
        work: &mut Work,
    ) -> Result<(), Undecided> {
        self.counts.attempts += 1;
        let mut next = Vec::new();
        let conditions = self.conditions(self.graph.cuts[partial.cut].part);
        let given = self.terms.and(&partial.known);
        let body = body(
            self.semantics,
            self.terms,
            self.graph,
            paths,
            &partial.values,
            strategy,
            counting,
            given,
        );
        let Some(start) = entry(self.terms, &body, partial.cut, &partial.values) else {
            return Ok(());
        };
        // The conditions speak of state constants: what the loop does not change has its value.
        let mut fixed = self.state_map(&partial.values);
        for variable in &body.system.variables {
            fixed.remove(&variable.constant);
        }
        let settled: Strategy = strategy
            .iter()
            .map(|(&key, &chosen)| (key, self.terms.substitute(chosen, &fixed)))
            .collect();
        let conditions: BTreeSet<TermId> = conditions
            .iter()
            .map(|&condition| self.terms.substitute(condition, &fixed))
            .collect();
        let found = find(
            self.prover,
            self.terms,
            &body.system,
            &start,
            &conditions,
            body.counter,
            Directions::Both,
        );
        let found = match found {
            Ok(found) => found,
            Err(NotFound::Undecided(Undecided(hardbop_logic::Unknown::Stopped(stopped)))) => {
                return Err(Undecided(hardbop_logic::Unknown::Stopped(stopped)));
            }
            Err(_) => return Ok(()),
        };
        self.counts.leaps += 1;
        // A loop that is left wherever it is entered ends there for good only if it was entered.
        let entered = at(
            self.terms,
            &body.system,
            &start.values,
            found.ports.state.0[start.node],
        );
        for exit_node in 0..body.system.nodes {
            let exit = found.ports.exit.0[exit_node];
            let mut exit_values = Vec::new();
            for variable in &body.system.variables {
                let sort = self.terms.sort(variable.constant);
                exit_values.push(self.terms.fresh(&format!("{}@exit", variable.name), sort));
            }
            let at_exit = at(self.terms, &body.system, &exit_values, exit);
            let mut after = partial.clone();
            after.cut = body.nodes[exit_node];
            after.leaps += 1;
            after.cost = cost;
            after.known.push(entered);
            after.known.push(at_exit);
            for (id, &value) in body.variables.iter().zip(&exit_values) {
                if let Some(id) = id {
                    after.values.insert(*id, value);
                }
            }
            let link = Leap {
                body: body.clone(),
                entry: start.clone(),
                found: found.clone(),
                strategy: settled.clone(),
                before: partial.values.clone(),
                exit_node,
                exit_values,
            };
            after.links.push(Link::Leap(Box::new(link)));
            // The last iteration leaves the abstract state.
            for (step, &path) in body.system.steps.iter().zip(paths) {
                if step.from != exit_node {
                    continue;
                }
                if let Some((walk, values)) = self.walk(&after, path, Some(&settled))? {
                    let walked = self.walked(&after, walk, values);
                    next.push((cost, Task::Expand(walked)));
                }
            }
        }
        work.extend(next);
        Ok(())
    }
}
