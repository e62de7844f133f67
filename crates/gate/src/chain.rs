//! A chain of walks and leaps: there is an execution that takes it.
//!
//! With the inputs fixed to their values, every walk must be taken whatever is not known, and
//! every leap must satisfy the conditions of Theorem 2 (T. Ball, O. Kupferman, M. Sagiv: *Leaping
//! Loops in the Presence of Abstraction*). The paths are read from the program, edge by edge. Only
//! plain values are accepted, and arrays that are called by their names: that every index is within
//! bounds is a part of a path's condition. No memory that an access could miss, no calls that pile
//! up, so that nothing but the loop's own steps decides where the run goes.

mod sums;
mod theorem;

use crate::files::may_read_back;
use crate::{Gate, refused};
use hardbop_cfront::ids::{EdgeId, ExprId, FuncId, LocId};
use hardbop_cfront::program::{LocationKind, Op, Program};
use hardbop_cfront::types::Type;
use hardbop_engine::Reason;
use hardbop_engine::claim::{Chain, ChoiceKey, Count, Leap, Link, Move, Walk};
use hardbop_logic::{Answer, Op as TermOp, Sign, Sort, TermId, Terms, Value};
use hardbop_model::plain::indices;
use hardbop_semantics::constants::{Constants, Meaning, Spelling};
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::{Execution, Semantics, State};
use std::collections::BTreeMap;

/// A place in the program: a location with the calls that are open, the outermost first.
type Place = (LocId, Vec<(EdgeId, FuncId)>);

/// The value of every state variable, over what is not known.
type Values = Vec<TermId>;

/// What a path does.
struct Effect {
    to: Place,
    condition: TermId,
    state: State,
    /// The values left open.
    open: Vec<(ChoiceKey, TermId)>,
}

/// A step of a loop.
struct Step {
    from: usize,
    to: usize,
    condition: TermId,
    post: Vec<TermId>,
}

impl Gate<'_> {
    /// Checks a chain. Gives the number of questions asked.
    pub(crate) fn chain(&self, claim: &Chain) -> Result<u64, Reason> {
        if may_read_back(self.model.program) {
            return Err(Reason::ReadsBack);
        }
        let semantics = &self.model.plain.semantics;
        let mut terms = Terms::new();
        let constants = Constants::new(semantics, &mut terms);
        let spelling = Spelling::new(semantics, &mut terms);
        let mut checker = Checker {
            gate: self,
            semantics,
            program: self.model.program,
            constants,
            spelling,
            loose: Vec::new(),
            questions: 0,
            terms,
        };
        checker.chain(claim)?;
        Ok(checker.questions)
    }
}

struct Checker<'a, 'p> {
    gate: &'a Gate<'p>,
    semantics: &'a Semantics<'p>,
    program: &'a Program,
    constants: Constants,
    spelling: Spelling,
    terms: Terms,
    /// What is known of values that are not settled.
    loose: Vec<TermId>,
    questions: u64,
}

const NO: Reason = Reason::Certificate;

impl Checker<'_, '_> {
    fn chain(&mut self, claim: &Chain) -> Result<(), Reason> {
        let entry = self.program.function(self.program.entry).entry;
        let mut at: Place = (entry, Vec::new());
        // What was there before the start is unknown, and stays so.
        let count = self.semantics.layout.variables().len() as u32;
        let mut values: Values = (0..count).map(|id| self.anything(StateVarId(id))).collect();
        let mut started = false;
        let mut strategy: &[(ChoiceKey, String)] = &[];
        for (index, link) in claim.links.iter().enumerate() {
            self.gate.budget.check().map_err(Reason::Stopped)?;
            match link {
                Link::Walk(walk) => {
                    at = self.walk(walk, strategy, &at, started, &mut values)?;
                    started = true;
                    strategy = &[];
                }
                Link::Leap(_) if !started => return Err(NO),
                Link::Leap(leap) => {
                    at = self.leap(leap, index, &at, &mut values)?;
                    strategy = &leap.strategy;
                }
            }
        }
        let kind = self.program.locations[at.0.index()].kind;
        match kind == LocationKind::Error(claim.check) {
            true => Ok(()),
            false => Err(NO),
        }
    }

    fn anything(&mut self, id: StateVarId) -> TermId {
        let sort = self.semantics.sort(&mut self.terms, id);
        self.terms.fresh("any", sort)
    }

    fn read(&mut self, text: &str) -> Result<TermId, Reason> {
        self.spelling
            .read_term(&mut self.terms, text)
            .map_err(|_| NO)
    }

    /// What a path does from a place on. Calls are followed; a function that is active already is
    /// not entered again, since its variables would be those of two activations.
    fn follow(&mut self, from: &Place, starts: bool, moves: &[Move]) -> Result<Effect, Reason> {
        let (mut location, mut calls) = from.clone();
        let mut run = Execution::new(self.semantics);
        if starts {
            run.start(&mut self.terms);
        }
        let mut conditions = std::mem::take(&mut run.facts);
        let mut state = run.state;
        let mut open: Vec<(ChoiceKey, TermId)> = Vec::new();
        for &step in moves {
            let edge = self.program.edges.get(step.edge().index()).ok_or(NO)?;
            let mut run = Execution::new(self.semantics);
            run.state = state;
            // What a call leaves behind is written where it was entered to be written.
            for (index, length) in indices(self.semantics, step.edge()).ok_or(NO)? {
                conditions.push(self.within(&run.state, index, length)?);
            }
            match step {
                Move::Edge(id) if edge.from == location => {
                    conditions.push(run.edge(&mut self.terms, id).map_err(|_| NO)?);
                    location = edge.to;
                }
                Move::Enter(call, callee) if edge.from == location => {
                    let active = callee == self.program.entry
                        || calls.iter().any(|&(_, active)| active == callee);
                    if active || !calls_function(&edge.op, callee) {
                        return Err(NO);
                    }
                    conditions.push(run.enter(&mut self.terms, call, callee));
                    calls.push((call, callee));
                    location = self.program.function(callee).entry;
                }
                Move::Leave(call, callee)
                    if calls.last() == Some(&(call, callee))
                        && calls_function(&edge.op, callee)
                        && self.program.function(callee).exit == location =>
                {
                    // Entered once more, for its result to be left where the call wants it.
                    let left = run.state.clone();
                    run.enter(&mut self.terms, call, callee);
                    run.state = left;
                    run.facts.clear();
                    run.fresh.clear();
                    run.leave(&mut self.terms);
                    calls.pop();
                    location = edge.to;
                }
                _ => return Err(NO),
            }
            if !run.exact {
                return Err(NO);
            }
            conditions.append(&mut run.facts);
            for fresh in run.fresh {
                let met = open.iter().filter(|((at, _), _)| *at == step.edge());
                let key = (step.edge(), met.count());
                open.push((key, fresh.term));
            }
            state = run.state;
        }
        let condition = self.terms.and(&conditions);
        if self.applies_functions(condition) {
            return Err(NO);
        }
        Ok(Effect {
            to: (location, calls),
            condition,
            state,
            open,
        })
    }

    /// That an index is below the length of its array, in a state.
    fn within(&mut self, state: &State, index: ExprId, length: u64) -> Result<TermId, Reason> {
        let Type::Int { width, signed } = *self.program.types.get(self.program.expr(index).ty)
        else {
            return Err(NO);
        };
        let mut run = Execution::new(self.semantics);
        run.state = state.clone();
        let value = run.value(&mut self.terms, index);
        if !run.exact || !run.fresh.is_empty() || self.terms.sort(value) != Sort::BitVec(width) {
            return Err(NO);
        }
        // One bit more, and both are numbers without a sign in the way.
        let sign = if signed { Sign::Signed } else { Sign::Unsigned };
        let wide = width.max(64) + 1;
        let value = self.terms.resize(value, wide, sign);
        let length = self.terms.bv(i128::from(length), wide);
        let zero = self.terms.bv(0, wide);
        let low = self.terms.bv_sle(zero, value);
        let high = self.terms.bv_slt(value, length);
        Ok(self.terms.and(&[low, high]))
    }

    fn applies_functions(&self, term: TermId) -> bool {
        let mut parts = self.terms.postorder(&[term]).into_iter();
        parts.any(|part| matches!(self.terms.op(part), TermOp::Apply(_)))
    }

    /// The constants of the state, with the values that they have.
    fn state_map(&mut self, values: &Values) -> BTreeMap<TermId, TermId> {
        let mut map = BTreeMap::new();
        for (index, &value) in values.iter().enumerate() {
            let id = StateVarId(index as u32);
            map.insert(self.semantics.constant(&mut self.terms, id), value);
        }
        map
    }

    fn walk(
        &mut self,
        walk: &Walk,
        strategy: &[(ChoiceKey, String)],
        at: &Place,
        started: bool,
        values: &mut Values,
    ) -> Result<Place, Reason> {
        let effect = self.follow(at, !started, &walk.moves)?;
        let state_map = self.state_map(values);
        let mut map = state_map.clone();
        for &(key, symbol) in &effect.open {
            // What nobody chooses may be anything.
            let chosen = walk.choices.iter().chain(strategy).find(|(k, _)| *k == key);
            if let Some((_, text)) = chosen {
                let value = self.read(text)?;
                if self.terms.sort(value) != self.terms.sort(symbol) {
                    return Err(NO);
                }
                let value = self.terms.substitute(value, &state_map);
                map.insert(symbol, value);
            }
        }
        let condition = self.terms.substitute(effect.condition, &map);
        self.certain(condition)?;
        for (index, value) in values.iter_mut().enumerate() {
            let id = StateVarId(index as u32);
            let after = effect.state.get(self.semantics, &mut self.terms, id);
            *value = self.terms.substitute(after, &map);
        }
        Ok(effect.to)
    }

    /// A condition must hold in all cases that are left.
    fn certain(&mut self, condition: TermId) -> Result<(), Reason> {
        let not = self.terms.not(condition);
        self.never(&[not])
    }

    fn never(&mut self, conjuncts: &[TermId]) -> Result<(), Reason> {
        let mut question = self.loose.clone();
        question.extend(conjuncts);
        let question = sums::eased(&mut self.terms, &question);
        if question == self.terms.bool(false) {
            return Ok(());
        }
        self.questions += 1;
        let mut session = self.gate.session_about(self.semantics, &mut self.terms);
        session.assert(&self.terms, question);
        match session.check(&self.terms, &[]) {
            Answer::Unsat => Ok(()),
            other => Err(refused(other)),
        }
    }

    fn leap(
        &mut self,
        leap: &Leap,
        index: usize,
        at: &Place,
        values: &mut Values,
    ) -> Result<Place, Reason> {
        let place = |node: usize| -> Option<Place> {
            let node = leap.nodes.get(node)?;
            Some((node.location, node.calls.clone()))
        };
        if place(leap.entry).as_ref() != Some(at) || leap.exit >= leap.nodes.len() {
            return Err(NO);
        }
        let names = self.names(leap)?;
        let is_variable = |at: &usize| *at < names.len();
        // Machine words are finitely many, which is what the theorem needs of what tells states
        // apart.
        let is_word =
            |&at: &usize| matches!(self.terms.sort(names[at]), Sort::BitVec(_) | Sort::Bool);
        for node in &leap.nodes {
            if !node.view.iter().chain(&node.relevant).all(is_variable)
                || !node.view.iter().all(is_word)
            {
                return Err(NO);
            }
        }
        let (steps, changed) = self.steps(leap, &names, values, &place)?;
        let mut state = Vec::new();
        let mut exit = Vec::new();
        for node in &leap.nodes {
            for (text, list) in [(&node.state, &mut state), (&node.exit, &mut exit)] {
                let formula = self.spelling.read(&mut self.terms, text);
                let formula = formula.map_err(|_| NO)?;
                list.push(self.fixed(formula, &names, values, &changed)?);
            }
        }
        // The values on entry: the count of iterations starts at zero.
        let relevant = &leap.nodes[leap.entry].relevant;
        let mut entry = Vec::new();
        for (position, (id, &name)) in leap.variables.iter().zip(&names).enumerate() {
            entry.push(match id {
                Some(id) if relevant.contains(&position) => values[id.0 as usize],
                _ => self.idle(name),
            });
        }
        let onto: BTreeMap<TermId, TermId> = names.iter().copied().zip(entry.clone()).collect();
        let inside = self.terms.substitute(state[leap.entry], &onto);
        self.certain(inside)?;
        self.goes_on(leap, &names, &steps, &state, &exit, &entry)?;
        self.no_merging(leap, &names, &steps, &state)?;
        self.exits(leap, index, &names, &exit, &changed, values)?;
        place(leap.exit).ok_or(NO)
    }

    /// The names of a loop's variables in its formulas.
    fn names(&mut self, leap: &Leap) -> Result<Vec<TermId>, Reason> {
        let known = self.semantics.layout.variables().len();
        let mut names = Vec::new();
        let mut counts = 0;
        for id in &leap.variables {
            let name = match (id, leap.counter) {
                (Some(id), _) if (id.0 as usize) < known => {
                    self.semantics.constant(&mut self.terms, *id)
                }
                (None, Some(width @ 1..=64)) => {
                    let name = match counts {
                        0 => "iteration".to_owned(),
                        more => format!("iteration{more}"),
                    };
                    counts += 1;
                    // No variable of a program has a name with a space at its start.
                    let own = format!(" {name}");
                    let constant = self.terms.constant(&own, Sort::BitVec(width));
                    self.spelling
                        .spell(&mut self.terms, constant, &format!("{name}#"));
                    constant
                }
                _ => return Err(NO),
            };
            if matches!(self.terms.sort(name), Sort::Int) || names.contains(&name) {
                return Err(NO);
            }
            names.push(name);
        }
        Ok(names)
    }

    /// The value of a variable where it does not matter: one for all.
    fn idle(&mut self, name: TermId) -> TermId {
        match self.terms.sort(name) {
            Sort::BitVec(width) => self.terms.bv(0, width),
            sort => {
                let value = Value::default_of(&self.terms, sort);
                self.terms.literal(&value, sort)
            }
        }
    }

    /// A term of a loop, in which whatever is no variable of the loop has its value; `changed` are
    /// the state variables that the loop changes, which have none.
    fn fixed(
        &mut self,
        term: TermId,
        names: &[TermId],
        values: &Values,
        changed: &[bool],
    ) -> Result<TermId, Reason> {
        let mut map = BTreeMap::new();
        for constant in self.terms.free_constants(&[term]) {
            if names.contains(&constant) {
                continue;
            }
            match self.constants.meaning(constant) {
                Some(Meaning::Now(id)) if !changed[id.0 as usize] => {
                    map.insert(constant, values[id.0 as usize]);
                }
                Some(Meaning::Now(_) | Meaning::Old(_)) => return Err(NO),
                Some(Meaning::Origin) | None => {}
            }
        }
        Ok(self.terms.substitute(term, &map))
    }

    /// The loop's steps, and which state variables they change.
    fn steps(
        &mut self,
        leap: &Leap,
        names: &[TermId],
        values: &Values,
        place: &dyn Fn(usize) -> Option<Place>,
    ) -> Result<(Vec<Step>, Vec<bool>), Reason> {
        let mut effects = Vec::new();
        let mut changed = vec![false; values.len()];
        for (from, to, moves) in &leap.paths {
            let start = place(*from).ok_or(NO)?;
            let effect = self.follow(&start, false, moves)?;
            if moves.is_empty() || Some(&effect.to) != place(*to).as_ref() {
                return Err(NO);
            }
            for (index, changed) in changed.iter_mut().enumerate() {
                let id = StateVarId(index as u32);
                let after = effect.state.get(self.semantics, &mut self.terms, id);
                *changed |= after != self.semantics.constant(&mut self.terms, id);
            }
            effects.push((*from, *to, effect));
        }
        let mut steps = Vec::new();
        let counted = leap.variables.iter().filter(|id| id.is_none()).count();
        let told = match leap.counts.is_empty() {
            true => counted <= 1,
            false => {
                leap.counts.len() == leap.paths.len()
                    && leap.counts.iter().all(|path| path.len() == counted)
            }
        };
        if !told {
            return Err(NO);
        }
        for (number, (from, to, effect)) in effects.into_iter().enumerate() {
            let mut counts = leap.counts.get(number).into_iter().flatten();
            let mut map = BTreeMap::new();
            for &(key, symbol) in &effect.open {
                if let Some((_, text)) = leap.strategy.iter().find(|(k, _)| *k == key) {
                    let chosen = self.read(text)?;
                    if self.terms.sort(chosen) != self.terms.sort(symbol) {
                        return Err(NO);
                    }
                    map.insert(symbol, chosen);
                }
            }
            let mut parts = vec![effect.condition];
            for (position, (id, &name)) in leap.variables.iter().zip(names).enumerate() {
                parts.push(match id {
                    Some(id) if leap.nodes[to].relevant.contains(&position) => {
                        effect.state.get(self.semantics, &mut self.terms, *id)
                    }
                    Some(_) => self.idle(name),
                    None => match counts.next() {
                        None | Some(Count::Next) => {
                            let one = self.terms.bv(1, self.terms.width(name));
                            self.terms.bv_add(name, one)
                        }
                        Some(Count::Same) => name,
                        Some(Count::Zero) => self.idle(name),
                    },
                });
            }
            for part in &mut parts {
                let chosen = self.terms.substitute(*part, &map);
                *part = self.fixed(chosen, names, values, &changed)?;
            }
            // Nothing may be left to chance, and nothing may be read that does not matter.
            let free = self.terms.free_constants(&parts);
            let chance = effect.open.iter().any(|(_, symbol)| free.contains(symbol));
            let relevant = &leap.nodes[from].relevant;
            let idle = names.iter().enumerate().any(|(position, name)| {
                let counts = leap.variables[position].is_none();
                free.contains(name) && !counts && !relevant.contains(&position)
            });
            if chance || idle {
                return Err(NO);
            }
            let post = parts.split_off(1);
            let condition = parts[0];
            steps.push(Step {
                from,
                to,
                condition,
                post,
            });
        }
        Ok((steps, changed))
    }
}

fn calls_function(op: &Op, function: FuncId) -> bool {
    match op {
        Op::Call { callee, .. } => callee.targets().contains(&function),
        _ => false,
    }
}
