//! Attempts of the search to leap: the strategies, the sets of paths, the leap itself.

use crate::chain::{Counting, Leap, Link, Strategy, body, entry};
use crate::graph::{End, PathId};
use crate::mts::{followers, sets};
use crate::sample::{Course, Sample, run};
use crate::schedule::{keys, strategies};
use crate::search::{COUNTED, Partial, SCHEDULED, Search, Task, UNION, Work};
use crate::strengthen::{Directions, Entry, NotFound, at, entry_parts, find};
use crate::system::System;
use hardbop_cfront::ids::FuncId;
use hardbop_logic::{Sort, TermId, Undecided, Unknown};
use hardbop_semantics::Execution;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What the entry port of a leap is cut down to costs as much as an iteration walked.
const PART: u32 = 4;

impl Search<'_, '_> {
    /// The paths of the part of the graph that a cut point lies in.
    fn part_paths(&self, part: Option<usize>) -> Vec<PathId> {
        let inside = |end: End| matches!(end, End::Cut(to) if self.graph.cut(to).part == part);
        self.graph
            .path_ids()
            .filter(|&path| {
                let path = self.graph.path(path);
                self.graph.cut(path.from).part == part && inside(path.to)
            })
            .collect()
    }

    /// The conditions of the program around a cut point, over state constants, and the user's.
    fn conditions(&mut self, part: Option<usize>) -> BTreeSet<TermId> {
        let mut found = BTreeSet::new();
        for path in &self.graph.paths {
            if self.graph.cut(path.from).part != part {
                continue;
            }
            for atom in hardbop_logic::atoms(self.terms, path.condition) {
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
    pub(crate) fn strategies(&mut self, partial: &Partial) -> Vec<Strategy> {
        let part = self.graph.cut(partial.cut).part;
        let all = self.part_paths(part);
        let mut schedules = BTreeSet::new();
        if !keys(self.terms, self.graph, &all).is_empty() {
            schedules = self.conditions(part);
            for path in &all {
                for (id, _) in self.graph.path(*path).state.written() {
                    let constant = self.semantics.constant(self.terms, id);
                    if !self.graph.cut(partial.cut).relevant.contains(&id)
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
    pub(crate) fn schedule(
        &mut self,
        partial: &Rc<Partial>,
        strategy: &Rc<Strategy>,
        work: &mut Work,
    ) -> Result<(), Undecided> {
        let all = self.part_paths(self.graph.cut(partial.cut).part);
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
        let mut tried: BTreeSet<Vec<PathId>> = BTreeSet::new();
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
                let paths: Vec<PathId> = set.iter().map(|&step| all[step]).collect();
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

    /// Puts parts of the entry port on the list.
    fn parts(
        &mut self,
        partial: &Rc<Partial>,
        paths: &[PathId],
        strategy: &Rc<Strategy>,
        start: &Entry,
        cost: u32,
        work: &mut Work,
    ) -> Result<(), Undecided> {
        let Some(rigid) = self.prover.model(self.terms, &partial.known)? else {
            return Ok(());
        };
        let mut next = Vec::new();
        for part in entry_parts(self.terms, start, &rigid) {
            let mut question = partial.known.clone();
            question.push(part);
            if !self.prover.unsatisfiable(self.terms, &question)? {
                let (partial, strategy) = (Rc::clone(partial), Rc::clone(strategy));
                let task = Task::Part(partial, paths.to_vec(), strategy, part, cost + PART);
                next.push((cost + PART, task));
            }
        }
        work.extend(next);
        Ok(())
    }

    /// Tries one leap, from the whole of the entry port or from a part of it.
    #[expect(clippy::too_many_arguments, reason = "all of it describes one leap")]
    pub(crate) fn leap(
        &mut self,
        partial: &Rc<Partial>,
        paths: &[PathId],
        strategy: &Rc<Strategy>,
        counting: Counting,
        part: Option<TermId>,
        cost: u32,
        work: &mut Work,
    ) -> Result<(), Undecided> {
        self.counts.attempts += 1;
        let mut next = Vec::new();
        let conditions = self.conditions(self.graph.cut(partial.cut).part);
        let mut known = partial.known.clone();
        known.extend(part);
        let given = self.terms.and(&known);
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
            Err(NotFound::Undecided(Undecided(Unknown::Stopped(stopped)))) => {
                return Err(Undecided(Unknown::Stopped(stopped)));
            }
            Err(NotFound::Conditions(_)) if part.is_none() && counting == Counting::Off => {
                return self.parts(partial, paths, strategy, &start, cost, work);
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
            let mut after = Partial::clone(partial);
            after.known.extend(part);
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
                exactly: None,
                counts: Vec::new(),
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
