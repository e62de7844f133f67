//! Checks a chain again, for a run that is too long to be replayed.
//!
//! With the inputs fixed to their values, every walk must be taken whatever is not known, and
//! every leap must satisfy the conditions of Theorem 2. The paths are read from the program again,
//! the questions are put together here and not where the leap was found, and they go as they are to
//! new solvers with another seed and another procedure. Only plain values are accepted: no memory that an
//! access could miss, no calls that pile up, so that nothing but the loop's own steps decides
//! where the run goes.

use crate::chain::{Leap, Link, Values, Walk, idle};
use crate::flat::Move;
use crate::graph::{CutIndex, End, Graph};
use crate::prover::{Prover, Undecided};
use crate::search::Chain;
use crate::strengthen::ports;
use crate::theorem::{Theorem, View};
use hardbop_cfront::ids::EdgeId;
use hardbop_logic::{Assignment, Op, Sort, TermId, Terms, eval};
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::{Execution, Semantics, State};
use std::collections::BTreeMap;

/// Why a chain does not stand without a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It passes something that only a run can decide.
    NotPlain,
    /// A walk is not taken in all cases.
    Walk,
    /// A leap does not stand.
    Leap,
    /// The solver did not know.
    Undecided(Undecided),
}

impl From<Undecided> for Refused {
    fn from(undecided: Undecided) -> Refused {
        Refused::Undecided(undecided)
    }
}

/// What a path does, read from the program.
struct Meaning {
    condition: TermId,
    state: State,
    /// The values left open, by edge and occurrence.
    open: Vec<((EdgeId, usize), TermId)>,
}

struct Checker<'a, 'p> {
    semantics: &'a Semantics<'p>,
    graph: &'a Graph,
    terms: &'a mut Terms,
    prover: Prover,
    /// Values of rigid constants that are settled.
    settled: BTreeMap<TermId, TermId>,
    /// What is known of those that are not.
    loose: Vec<TermId>,
}

/// Checks a chain under a model of its condition. Gives the number of questions asked.
///
/// Equations between the counters of a loop are often all that is needed of an abstract state, and
/// much easier to check than what else is known; so a chain with nothing but them comes first.
pub fn certify(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    graph: &Graph,
    chain: &Chain,
    model: &Assignment,
    prover: &Prover,
) -> Result<u64, Refused> {
    let check = |terms: &mut Terms, chain: &Chain| {
        let mut prover = Prover::new(prover.budget.clone(), prover.limits);
        prover.seed = 7;
        prover.procedure = crate::prover::Procedure::Plain;
        let mut checker = Checker {
            semantics,
            graph,
            terms,
            prover,
            settled: BTreeMap::new(),
            loose: Vec::new(),
        };
        checker.chain(chain, model)?;
        Ok(checker.prover.questions)
    };
    match lean(terms, chain) {
        Some(lean) => check(terms, &lean).or_else(|_: Refused| check(terms, chain)),
        None => check(terms, chain),
    }
}

/// The chain with abstract states of which only the equations are kept, if that is another one.
fn lean(terms: &mut Terms, chain: &Chain) -> Option<Chain> {
    let mut lean = chain.clone();
    let mut changed = false;
    for link in &mut lean.links {
        let Link::Leap(leap) = link else {
            continue;
        };
        for predicates in &mut leap.found.predicates {
            let before = predicates.len();
            predicates.retain(|&predicate| matches!(terms.op(predicate), Op::Eq));
            changed |= predicates.len() < before;
        }
        let predicates = &leap.found.predicates;
        leap.found.ports = ports(terms, &leap.body.system, &leap.entry, predicates);
    }
    changed.then_some(lean)
}

impl Checker<'_, '_> {
    fn chain(&mut self, chain: &Chain, model: &Assignment) -> Result<(), Refused> {
        let mut at: CutIndex = 0;
        let mut values = Values::new();
        for &id in &self.graph.cuts[0].relevant {
            // What was there before the start is unknown, and no plain path depends on it; it
            // stays unknown here.
            let sort = self.semantics.sort(self.terms, id);
            values.insert(id, self.terms.fresh("before", sort));
        }
        let mut last: Option<&Leap> = None;
        for (index, link) in chain.links.iter().enumerate() {
            match link {
                Link::Walk(walk) => {
                    let end = self.walk(walk, last.take(), at, &mut values, model)?;
                    let finished = index + 1 == chain.links.len();
                    match end {
                        End::Cut(to) if !finished => at = to,
                        End::Violated(check) if finished && check == chain.check => return Ok(()),
                        _ => return Err(Refused::Walk),
                    }
                }
                Link::Leap(leap) => {
                    at = self.leap(leap, at, &mut values, model)?;
                    last = Some(leap);
                }
            }
        }
        Err(Refused::Walk)
    }

    /// What a path does.
    fn meaning(&mut self, from: CutIndex, moves: &[Move]) -> Result<Meaning, Refused> {
        let mut run = Execution::new(self.semantics);
        if from == 0 {
            run.start(self.terms);
        }
        let mut conditions = std::mem::take(&mut run.facts);
        let mut state = run.state;
        let mut open: Vec<((EdgeId, usize), TermId)> = Vec::new();
        for step in moves {
            let mut run = Execution::new(self.semantics);
            run.state = state.clone();
            let edge = match *step {
                Move::Edge(edge) => {
                    let condition = run.edge(self.terms, edge).map_err(|_| Refused::NotPlain)?;
                    conditions.push(condition);
                    edge
                }
                Move::Enter(call, callee) => {
                    conditions.push(run.enter(self.terms, call, callee));
                    call
                }
                Move::Leave(call, callee) => {
                    run.enter(self.terms, call, callee);
                    run.state = state.clone();
                    run.facts.clear();
                    run.fresh.clear();
                    run.leave(self.terms);
                    call
                }
                Move::Again(..) | Move::Back(..) => return Err(Refused::NotPlain),
            };
            if !run.exact {
                return Err(Refused::NotPlain);
            }
            conditions.append(&mut run.facts);
            for fresh in run.fresh {
                let occurrence = open.iter().filter(|((at, _), _)| *at == edge).count();
                open.push(((edge, occurrence), fresh.term));
            }
            state = run.state;
        }
        Ok(Meaning {
            condition: self.terms.and(&conditions),
            state,
            open,
        })
    }

    fn walk(
        &mut self,
        walk: &Walk,
        after: Option<&Leap>,
        at: CutIndex,
        values: &mut Values,
        model: &Assignment,
    ) -> Result<End, Refused> {
        let path = &self.graph.paths[walk.path];
        if path.from != at || !self.graph.is_plain(self.semantics, self.terms, path) {
            return Err(Refused::NotPlain);
        }
        for &(_, symbol) in &walk.choices {
            if let Ok(value) = eval(self.terms, symbol, model) {
                let sort = self.terms.sort(symbol);
                let literal = self.terms.literal(&value, sort);
                self.settled.insert(symbol, literal);
            }
        }
        let meaning = self.meaning(at, &path.moves)?;
        let state_map = self.state_map(values);
        let mut map = state_map.clone();
        for &(key, symbol) in &meaning.open {
            let scheduled = after.and_then(|leap| leap.strategy.get(&key).copied());
            let chosen = walk.choices.iter().find(|(k, _)| *k == key);
            let value = match (chosen, scheduled) {
                (Some(&(_, rigid)), _) => self.settle(rigid),
                (None, Some(scheduled)) => {
                    let placed = self.terms.substitute(scheduled, &state_map);
                    self.settle(placed)
                }
                (None, None) => continue,
            };
            map.insert(symbol, value);
        }
        let condition = self.terms.substitute(meaning.condition, &map);
        self.certain(condition)?;
        let mut next = Values::new();
        if let End::Cut(to) = path.to {
            for &id in &self.graph.cuts[to].relevant {
                let value = meaning.state.get(self.semantics, self.terms, id);
                next.insert(id, self.terms.substitute(value, &map));
            }
        }
        *values = next;
        Ok(path.to)
    }

    fn state_map(&mut self, values: &Values) -> BTreeMap<TermId, TermId> {
        values
            .iter()
            .map(|(&id, &value)| (self.semantics.constant(self.terms, id), value))
            .collect()
    }

    fn settle(&mut self, term: TermId) -> TermId {
        self.terms.substitute(term, &self.settled)
    }

    /// A condition must hold in all cases that are left.
    fn certain(&mut self, condition: TermId) -> Result<(), Refused> {
        if matches!(self.terms.op(condition), Op::Bool(true)) {
            return Ok(());
        }
        let not = self.terms.not(condition);
        let mut question = self.loose.clone();
        question.push(not);
        match self.prover.unsatisfiable(self.terms, &question)? {
            true => Ok(()),
            false => Err(Refused::Walk),
        }
    }

    fn never(&mut self, conjuncts: &[TermId]) -> Result<(), Refused> {
        let mut question = self.loose.clone();
        question.extend(conjuncts);
        match self.prover.unsatisfiable(self.terms, &question)? {
            true => Ok(()),
            false => Err(Refused::Leap),
        }
    }

    fn leap(
        &mut self,
        leap: &Leap,
        at: CutIndex,
        values: &mut Values,
        model: &Assignment,
    ) -> Result<CutIndex, Refused> {
        if leap.found.theorem != Theorem::Forward {
            return Err(Refused::NotPlain);
        }
        let body = &leap.body;
        let names: Vec<TermId> = body.system.variables.iter().map(|v| v.constant).collect();
        let finite = names
            .iter()
            .all(|&name| matches!(self.terms.sort(name), Sort::BitVec(_) | Sort::Bool));
        if !finite {
            return Err(Refused::NotPlain);
        }
        let node_of = |cut: CutIndex| body.nodes.iter().position(|&node| node == cut);
        let entry_node = node_of(at).ok_or(Refused::Leap)?;
        // The values on entry: the count of iterations starts at zero.
        let mut entry = Vec::new();
        for (id, &name) in body.variables.iter().zip(&names) {
            entry.push(match id {
                Some(id) => match values.get(id) {
                    Some(&value) => value,
                    None => idle(self.terms, name),
                },
                None => self.terms.bv(0, self.terms.width(name)),
            });
        }
        let mut fixed = self.state_map(values);
        for name in &names {
            fixed.remove(name);
        }
        let steps = self.steps(leap, &names, &fixed, &node_of)?;
        let mut state = Vec::new();
        let mut exit = Vec::new();
        for node in 0..body.nodes.len() {
            state.push(self.settle(leap.found.ports.state.0[node]));
            exit.push(self.settle(leap.found.ports.exit.0[node]));
        }
        let view: Vec<Vec<usize>> = match &leap.found.view {
            View::Whole => vec![(0..names.len()).collect(); body.nodes.len()],
            View::Of(positions) => positions.clone(),
        };
        // The entry lies in the abstract state.
        let onto: BTreeMap<TermId, TermId> =
            names.iter().copied().zip(entry.iter().copied()).collect();
        let inside = self.terms.substitute(state[entry_node], &onto);
        self.certain(inside)?;
        // Every state that is no exit goes on inside, to a view that is not the entry's.
        for node in 0..body.nodes.len() {
            let mut blocked = vec![state[node]];
            blocked.push(self.terms.not(exit[node]));
            for step in steps.iter().filter(|step| step.from == node) {
                let mut parts = vec![step.condition, self.placed(&names, step, state[step.to])];
                if step.to == entry_node {
                    let mut same = Vec::new();
                    for &at in &view[entry_node] {
                        same.push(self.terms.eq(step.post[at], entry[at]));
                    }
                    let same = self.terms.and(&same);
                    parts.push(self.terms.not(same));
                }
                let way = self.terms.and(&parts);
                blocked.push(self.terms.not(way));
            }
            self.never(&blocked)?;
        }
        self.no_merging(&names, &steps, &state, &view)?;
        self.exits(leap, &names, &exit, values, model)?;
        Ok(body.nodes[leap.exit_node])
    }

    /// No view has two views before it.
    fn no_merging(
        &mut self,
        names: &[TermId],
        steps: &[Reread],
        state: &[TermId],
        view: &[Vec<usize>],
    ) -> Result<(), Refused> {
        let twins: BTreeMap<TermId, TermId> = names
            .iter()
            .map(|&name| {
                let sort = self.terms.sort(name);
                (name, self.terms.fresh("other", sort))
            })
            .collect();
        for (index, one) in steps.iter().enumerate() {
            for other in &steps[index..] {
                if one.to != other.to {
                    continue;
                }
                let mut together = vec![state[one.from], one.condition];
                together.push(self.placed(names, one, state[one.to]));
                let mut second = vec![state[other.from], other.condition];
                second.push(self.placed(names, other, state[other.to]));
                for formula in second {
                    together.push(self.terms.substitute(formula, &twins));
                }
                for &at in &view[one.to] {
                    let post = self.terms.substitute(other.post[at], &twins);
                    together.push(self.terms.eq(one.post[at], post));
                }
                if one.from == other.from {
                    let mut differ = Vec::new();
                    for &at in &view[one.from] {
                        let equal = self.terms.eq(names[at], twins[&names[at]]);
                        differ.push(self.terms.not(equal));
                    }
                    together.push(self.terms.or(&differ));
                }
                self.never(&together)?;
            }
        }
        Ok(())
    }

    /// After the leap: at the exit port of one node, and nowhere else. Where only one state is
    /// possible, its values are settled.
    fn exits(
        &mut self,
        leap: &Leap,
        names: &[TermId],
        exit: &[TermId],
        values: &mut Values,
        model: &Assignment,
    ) -> Result<(), Refused> {
        for (node, &elsewhere) in exit.iter().enumerate() {
            if node != leap.exit_node {
                self.never(&[elsewhere])?;
            }
        }
        let onto: BTreeMap<TermId, TermId> = names
            .iter()
            .copied()
            .zip(leap.exit_values.iter().copied())
            .collect();
        let there = self.terms.substitute(exit[leap.exit_node], &onto);
        let mut question = self.loose.clone();
        question.push(there);
        // The chain's own model tells an exit; whether it is the only one is the question. That
        // it is an exit at all needs no trust in it, since there is one by the theorem.
        let mut literals = Vec::new();
        for &name in &leap.exit_values {
            let value = eval(self.terms, name, model).map_err(|_| Refused::Leap)?;
            let sort = self.terms.sort(name);
            literals.push(self.terms.literal(&value, sort));
        }
        let mut others = Vec::new();
        for (&name, &literal) in leap.exit_values.iter().zip(&literals) {
            let equal = self.terms.eq(name, literal);
            others.push(self.terms.not(equal));
        }
        question.push(self.terms.or(&others));
        let single = self.prover.unsatisfiable(self.terms, &question)?;
        let now: Vec<TermId> = if single {
            let settled = leap.exit_values.iter().copied().zip(literals.clone());
            self.settled.extend(settled);
            literals
        } else {
            self.loose.push(there);
            leap.exit_values.clone()
        };
        for (id, value) in leap.body.variables.iter().zip(now) {
            if let Some(id) = id {
                values.insert(*id, value);
            }
        }
        Ok(())
    }

    /// The loop's steps, read from the program again.
    fn steps(
        &mut self,
        leap: &Leap,
        names: &[TermId],
        fixed: &BTreeMap<TermId, TermId>,
        node_of: &dyn Fn(CutIndex) -> Option<usize>,
    ) -> Result<Vec<Reread>, Refused> {
        let body = &leap.body;
        let mut meanings = Vec::new();
        for &index in &body.paths {
            let path = &self.graph.paths[index];
            if !self.graph.is_plain(self.semantics, self.terms, path) {
                return Err(Refused::NotPlain);
            }
            let End::Cut(to) = path.to else {
                return Err(Refused::Leap);
            };
            let (Some(from), Some(to)) = (node_of(path.from), node_of(to)) else {
                return Err(Refused::Leap);
            };
            let meaning = self.meaning(path.from, &path.moves)?;
            meanings.push((from, to, meaning));
        }
        let mut steps = Vec::new();
        for (from, to, meaning) in &meanings {
            let mut map = fixed.clone();
            for (key, symbol) in &meaning.open {
                if let Some(&chosen) = leap.strategy.get(key) {
                    let chosen = self.settle(chosen);
                    map.insert(*symbol, chosen);
                }
            }
            let mut post = Vec::new();
            let relevant = &self.graph.cuts[body.nodes[*to]].relevant;
            for (id, &name) in body.variables.iter().zip(names) {
                post.push(match id {
                    Some(id) if !relevant.contains(id) => idle(self.terms, name),
                    Some(id) => meaning.state.get(self.semantics, self.terms, *id),
                    None => {
                        let one = self.terms.bv(1, self.terms.width(name));
                        self.terms.bv_add(name, one)
                    }
                });
            }
            let mut roots = post.clone();
            roots.push(meaning.condition);
            self.closed(&roots, names, fixed, &meanings)?;
            let condition = self.terms.substitute(meaning.condition, &map);
            for term in &mut post {
                *term = self.terms.substitute(*term, &map);
            }
            // Nothing may be left to chance.
            let mut roots = post.clone();
            roots.push(condition);
            let free = self.terms.free_constants(&roots);
            if meaning.open.iter().any(|(_, symbol)| free.contains(symbol)) {
                return Err(Refused::Leap);
            }
            steps.push(Reread {
                from: *from,
                to: *to,
                condition,
                post,
            });
        }
        Ok(steps)
    }

    /// Whatever terms read of the state is a variable of the loop, or known on entry and left
    /// alone by every path.
    fn closed(
        &mut self,
        roots: &[TermId],
        names: &[TermId],
        fixed: &BTreeMap<TermId, TermId>,
        meanings: &[(usize, usize, Meaning)],
    ) -> Result<(), Refused> {
        let read: Vec<StateVarId> = self
            .graph
            .variables_in(self.terms, roots)
            .into_iter()
            .collect();
        for id in read {
            let constant = self.semantics.constant(self.terms, id);
            if names.contains(&constant) {
                continue;
            }
            let same = fixed.contains_key(&constant)
                && meanings.iter().all(|(_, _, meaning)| {
                    meaning.state.get(self.semantics, self.terms, id) == constant
                });
            if !same {
                return Err(Refused::Leap);
            }
        }
        Ok(())
    }

    fn placed(&mut self, names: &[TermId], step: &Reread, formula: TermId) -> TermId {
        let map = names
            .iter()
            .copied()
            .zip(step.post.iter().copied())
            .collect();
        self.terms.substitute(formula, &map)
    }
}

/// A step of a loop, read again.
struct Reread {
    from: usize,
    to: usize,
    condition: TermId,
    post: Vec<TermId>,
}
