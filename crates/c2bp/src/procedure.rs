//! The abstraction of one function: what every edge does to the predicates.
//!
//! An assignment s becomes `b := choose(F(WP(s, e)), F(WP(s, !e)))` for every predicate e that s
//! can touch; a condition e becomes `assume(G(e))`; a call passes the values of the callee's
//! formal predicates and gets those of its return predicates, from which the caller's predicates
//! that the call may have touched are made up (TR 2000-14, section 4.1; C2bp, sections 4.3-4.5).

use crate::code::{Choose, EdgeCode, Procedure, Statement};
use crate::cube::{Cube, Dnf};
use crate::predicate::{Analysed, PredicateId, Scope};
use crate::prover::{Prover, as_literal};
use crate::signature::Signature;
use hardbop_budget::Stopped;
use hardbop_cfront::call_graph::calls_of;
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::Op;
use hardbop_logic::{Op as TermOp, TermId};
use hardbop_semantics::effects::Effects;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::{Execution, Semantics, State, Unmodelled};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of the whole program.
pub(crate) struct Whole<'a> {
    pub analysed: &'a Analysed,
    pub semantics: &'a Semantics<'a>,
    pub effects: &'a Effects,
    pub signatures: &'a BTreeMap<FuncId, Signature>,
}

/// The abstraction of a function in progress.
pub(crate) struct Abstraction<'a, 's> {
    whole: &'a Whole<'a>,
    function: FuncId,
    pub prover: Prover<'s>,
    visible: Vec<PredicateId>,
    /// The formulas of the visible predicates.
    literals: Vec<TermId>,
    positions: BTreeMap<TermId, u32>,
    /// What holds in every state: ranges of types, the order of addresses.
    always: Vec<TermId>,
    /// The state variable behind a constant.
    variables: BTreeMap<TermId, StateVarId>,
    /// Cubes that hold in no state but must not be enforced: after a call, until the caller's
    /// predicates are brought up to date, they may seem to hold.
    late: Vec<Cube>,
    enforced: Vec<Cube>,
}

impl<'a, 's> Abstraction<'a, 's> {
    pub fn new(
        whole: &'a Whole<'a>,
        function: FuncId,
        mut prover: Prover<'s>,
    ) -> Result<Abstraction<'a, 's>, Stopped> {
        let visible = whole.analysed.visible(function);
        let mut variables = BTreeMap::new();
        for index in 0..whole.semantics.layout.variables().len() as u32 {
            let id = StateVarId(index);
            variables.insert(whole.semantics.constant(&mut prover.terms, id), id);
        }
        let mut result = Abstraction {
            whole,
            function,
            prover,
            visible,
            literals: Vec::new(),
            positions: BTreeMap::new(),
            always: Vec::new(),
            variables,
            late: Vec::new(),
            enforced: Vec::new(),
        };
        for position in 0..result.visible.len() {
            let formula = result.formula(result.visible[position]);
            result.literals.push(formula);
            result.positions.entry(formula).or_insert(position as u32);
        }
        let literals = result.literals.clone();
        let context = result.context(&[], &literals);
        let cubes = result.prover.contradictions(&context, &literals)?;
        result.prover.set_impossible(&cubes, &literals);
        result.split_enforced(cubes);
        Ok(result)
    }

    /// The formula of a predicate over the constants of state variables.
    fn formula(&mut self, id: PredicateId) -> TermId {
        let mut run = Execution::new(self.whole.semantics);
        let expr = self.whole.analysed.predicates[id.index()].expr;
        let formula = run.condition(&mut self.prover.terms, expr);
        for fact in run.facts {
            self.know(fact);
        }
        formula
    }

    fn know(&mut self, fact: TermId) {
        let trivial = matches!(self.prover.terms.op(fact), TermOp::Bool(true));
        if !trivial && !self.always.contains(&fact) {
            self.always.push(fact);
        }
    }

    /// What may be assumed in a question about these terms, besides some facts.
    fn context(&mut self, facts: &[TermId], about: &[TermId]) -> Vec<TermId> {
        let mut context: BTreeSet<TermId> = self.always.iter().copied().collect();
        context.extend(facts);
        let semantics = self.whole.semantics;
        let mut constants = BTreeSet::new();
        for &term in about.iter().chain(facts).chain(&self.literals) {
            constants.extend(self.prover.constants_of(term));
        }
        let terms = &mut self.prover.terms;
        for constant in &constants {
            if let Some(&id) = self.variables.get(constant) {
                context.insert(semantics.typing(terms, id));
            }
        }
        let origin = semantics.origin(terms);
        let frontier = semantics.constant(terms, semantics.layout.frontier());
        if constants.contains(&origin) || constants.contains(&frontier) {
            context.extend(semantics.axioms(terms));
        }
        context.retain(|&fact| !matches!(terms.op(fact), TermOp::Bool(true)));
        context.into_iter().collect()
    }

    /// The functions that this one calls.
    fn called(&self) -> BTreeSet<FuncId> {
        calls_of(&self.whole.analysed.program, self.function).collect()
    }

    /// Tells the cubes that may be enforced in every state from those that may not.
    fn split_enforced(&mut self, cubes: Vec<Cube>) {
        let mut modified = BTreeSet::new();
        for callee in self.called() {
            for &id in self.whole.effects.modified(callee) {
                modified.insert(self.whole.semantics.constant(&mut self.prover.terms, id));
            }
        }
        let literals = self.literals.clone();
        let touched: Vec<bool> = literals
            .iter()
            .map(|&literal| !self.prover.constants_of(literal).is_disjoint(&modified))
            .collect();
        let global = |position: u32| {
            let id = self.visible[position as usize];
            self.whole.analysed.predicates[id.index()].scope == Scope::Global
        };
        for cube in cubes {
            let stale = |wanted: bool| {
                cube.literals()
                    .iter()
                    .any(|&(at, _)| touched[at as usize] && global(at) == wanted)
            };
            if stale(true) && stale(false) {
                self.late.push(cube);
            } else {
                self.enforced.push(cube);
            }
        }
    }

    /// Abstracts all edges.
    pub fn run(mut self) -> Result<(Procedure, Prover<'s>), Stopped> {
        let mut edges = BTreeMap::new();
        let locations = self
            .whole
            .analysed
            .program
            .function(self.function)
            .locations
            .clone();
        for location in locations {
            let outgoing: Vec<EdgeId> = self
                .whole
                .analysed
                .program
                .edges_from(LocId(location))
                .map(|(id, _)| id)
                .collect();
            for id in outgoing {
                let code = self.edge(id)?;
                edges.insert(id, code);
            }
        }
        let procedure = Procedure {
            function: self.function,
            visible: self.visible,
            enforced: self.enforced,
            edges,
        };
        Ok((procedure, self.prover))
    }

    fn edge(&mut self, id: EdgeId) -> Result<EdgeCode, Stopped> {
        let program = &self.whole.analysed.program;
        match &program.edges[id.index()].op {
            Op::Skip | Op::EndScope { .. } => return Ok(EdgeCode::Nothing),
            Op::Unsupported { construct } => return Ok(EdgeCode::Unsupported(*construct)),
            Op::Call { callee, .. } => {
                let mut ways = Vec::new();
                for &callee in callee.targets() {
                    ways.push(self.call(id, callee)?);
                }
                return Ok(match ways.len() {
                    1 => EdgeCode::Statements(ways.remove(0)),
                    _ => EdgeCode::Choice(ways),
                });
            }
            _ => {}
        }
        let mut run = Execution::new(self.whole.semantics);
        let guard = match run.edge(&mut self.prover.terms, id) {
            Ok(guard) => guard,
            Err(Unmodelled::Call(_) | Unmodelled::Unsupported(_)) => {
                return Ok(EdgeCode::Unsupported(0));
            }
        };
        let facts = run.facts.clone();
        let mut statements = Vec::new();
        let excluded = self.excluded(guard, &facts)?;
        if !excluded.is_never() {
            statements.push(Statement::Exclude(excluded));
        }
        let assignments = self.assignments(&run.state, guard, &facts)?;
        if !assignments.is_empty() {
            statements.push(Statement::Assign(assignments));
        }
        if !statements.is_empty() {
            return Ok(EdgeCode::Statements(statements));
        }
        Ok(match program.edges[id.index()].op {
            Op::Declare { .. } | Op::Free { .. } => EdgeCode::Nothing,
            _ => EdgeCode::Skip,
        })
    }

    fn is_true(&self, term: TermId) -> bool {
        matches!(self.prover.terms.op(term), TermOp::Bool(true))
    }

    /// The states from which the edge cannot be taken: F(!guard), and where the facts fail.
    fn excluded(&mut self, guard: TermId, facts: &[TermId]) -> Result<Dnf, Stopped> {
        // Facts about unknown values alone are not about the state before.
        let mut about_state = Vec::new();
        for &fact in facts {
            let constants = self.prover.constants_of(fact);
            if constants
                .iter()
                .any(|constant| self.variables.contains_key(constant))
            {
                about_state.push(fact);
            }
        }
        let literal = as_literal(&mut self.prover.terms, guard, &self.positions);
        let literals = self.literals.clone();
        if let Some((position, sign)) = literal {
            let mut dnf = Dnf::literal(position, !sign);
            let facts = self.prover.terms.and(&about_state);
            if !self.is_true(facts) {
                let goal = self.prover.terms.not(facts);
                let context = self.context(&[], &[goal]);
                for cube in self.prover.implying(&context, goal, &literals)?.cubes {
                    if !dnf.cubes.iter().any(|known| cube.contains(known)) {
                        dnf.cubes.push(cube);
                    }
                }
            }
            return Ok(dnf);
        }
        about_state.push(guard);
        let taken = self.prover.terms.and(&about_state);
        if self.is_true(taken) {
            return Ok(Dnf::never());
        }
        let goal = self.prover.terms.not(taken);
        let context = self.context(&[], &[goal]);
        self.prover.implying(&context, goal, &literals)
    }

    fn assignments(
        &mut self,
        state: &State,
        guard: TermId,
        facts: &[TermId],
    ) -> Result<Vec<(u32, Choose)>, Stopped> {
        let mut assumed = facts.to_vec();
        assumed.push(guard);
        let mut assignments = Vec::new();
        let literals = self.literals.clone();
        let positions = self.positions.clone();
        for (position, &before) in literals.iter().enumerate() {
            let after = state.apply(self.whole.semantics, &mut self.prover.terms, before);
            if after != before {
                let choose = self.choose(after, &assumed, &literals, &positions)?;
                assignments.push((position as u32, choose));
            }
        }
        Ok(assignments)
    }

    /// `choose(F(formula), F(!formula))` over literals.
    fn choose(
        &mut self,
        formula: TermId,
        assumed: &[TermId],
        literals: &[TermId],
        positions: &BTreeMap<TermId, u32>,
    ) -> Result<Choose, Stopped> {
        if let Some((at, sign)) = as_literal(&mut self.prover.terms, formula, positions) {
            return Ok(Choose {
                positive: Dnf::literal(at, sign),
                negative: Dnf::literal(at, !sign),
            });
        }
        let mut about = literals.to_vec();
        about.push(formula);
        let context = self.context(assumed, &about);
        let positive = self.prover.implying(&context, formula, literals)?;
        if positive.is_always() {
            return Ok(Choose {
                positive,
                negative: Dnf::never(),
            });
        }
        let negation = self.prover.terms.not(formula);
        let negative = self.prover.implying(&context, negation, literals)?;
        Ok(Choose { positive, negative })
    }

    /// Runs a call up to the callee's first location.
    fn entered(&mut self, call: EdgeId, callee: FuncId) -> (Execution<'a, 'a>, TermId) {
        let mut run = Execution::new(self.whole.semantics);
        let condition = run.enter(&mut self.prover.terms, call, callee);
        self.remember_old(&mut run, callee);
        (run, condition)
    }

    fn remember_old(&mut self, run: &mut Execution<'_, '_>, function: FuncId) {
        for old in &self.whole.analysed.olds {
            if old.function == function {
                run.set_variable(&mut self.prover.terms, old.variable, old.value);
            }
        }
    }

    fn call(&mut self, id: EdgeId, callee: FuncId) -> Result<Vec<Statement>, Stopped> {
        let whole = self.whole;
        let semantics = whole.semantics;
        let signature = &whole.signatures[&callee];
        let (mut run, condition) = self.entered(id, callee);
        let mut statements = Vec::new();
        let facts = run.facts.clone();
        let excluded = self.excluded(condition, &facts)?;
        if !excluded.is_never() {
            statements.push(Statement::Exclude(excluded));
        }
        let mut assumed = facts;
        assumed.push(condition);
        let literals = self.literals.clone();
        let positions = self.positions.clone();
        let mut arguments = Vec::new();
        for &formal in &signature.formals {
            let formula = self.formula(formal);
            let passed = run.state.apply(semantics, &mut self.prover.terms, formula);
            arguments.push(self.choose(passed, &assumed, &literals, &positions)?);
        }
        statements.push(Statement::Call { callee, arguments });

        // After the call: what the callee may change, and its result, are anything.
        for &variable in whole.effects.modified(callee) {
            run.forget(&mut self.prover.terms, variable);
        }
        for variable in self.result_variables(callee) {
            run.forget(&mut self.prover.terms, variable);
        }
        let mut between = State::new();
        for &variable in whole.effects.modified(callee) {
            if let Some(value) = run.state.written_to(variable) {
                between.set(variable, value);
            }
        }
        // The global predicates are up to date; the caller's own still speak of the state before
        // the call.
        let mut meanings = Vec::new();
        for (position, &literal) in literals.iter().enumerate() {
            let predicate = self.visible[position];
            let scope = whole.analysed.predicates[predicate.index()].scope;
            meanings.push(match scope {
                Scope::Global => between.apply(semantics, &mut self.prover.terms, literal),
                Scope::Function(_) => literal,
            });
        }
        let own = meanings.len();
        for &returned in &signature.returns {
            let formula = self.formula(returned);
            meanings.push(run.state.apply(semantics, &mut self.prover.terms, formula));
        }
        run.leave(&mut self.prover.terms);
        let mut positions = BTreeMap::new();
        for (position, &meaning) in meanings.iter().enumerate() {
            positions.entry(meaning).or_insert(position as u32);
        }
        let mut assumed = run.facts.clone();
        assumed.push(condition);
        let mut assignments = Vec::new();
        for (position, &literal) in literals.iter().enumerate() {
            let after = run.state.apply(semantics, &mut self.prover.terms, literal);
            if after != meanings[position] {
                let choose = self.choose(after, &assumed, &meanings, &positions)?;
                assignments.push((position as u32, choose));
            }
        }
        debug_assert!(own == literals.len());
        if !assignments.is_empty() {
            statements.push(Statement::Update {
                callee,
                assignments,
            });
        }
        if !self.late.is_empty() {
            statements.push(Statement::Exclude(Dnf {
                cubes: self.late.clone(),
            }));
        }
        Ok(statements)
    }

    fn result_variables(&self, callee: FuncId) -> Vec<StateVarId> {
        let analysed = self.whole.analysed;
        let result = analysed.program.function(callee).result;
        let Some(spot) = result.and_then(|variable| analysed.points_to.variable(variable)) else {
            return Vec::new();
        };
        let regions = analysed.points_to.regions();
        regions
            .of_class(spot.class)
            .map(|r| self.whole.semantics.layout.region(r))
            .collect()
    }

    /// The values that predicates surely have when the program starts, by position: the global
    /// ones, and those of the entry's parameters.
    pub fn initial(&mut self) -> Result<Vec<(u32, bool)>, Stopped> {
        let semantics = self.whole.semantics;
        let mut run = Execution::new(semantics);
        run.start(&mut self.prover.terms);
        self.remember_old(&mut run, self.function);
        let facts = run.facts.clone();
        let mut known = Vec::new();
        let literals = self.literals.clone();
        for (position, &literal) in literals.iter().enumerate() {
            let id = self.visible[position];
            let scope = self.whole.analysed.predicates[id.index()].scope;
            if scope != Scope::Global
                && !self.whole.signatures[&self.function].formals.contains(&id)
            {
                continue;
            }
            let after = run.state.apply(semantics, &mut self.prover.terms, literal);
            let context = self.context(&facts, &[after]);
            if self.prover.implying(&context, after, &[])?.is_always() {
                known.push((position as u32, true));
                continue;
            }
            let negation = self.prover.terms.not(after);
            if self.prover.implying(&context, negation, &[])?.is_always() {
                known.push((position as u32, false));
            }
        }
        Ok(known)
    }
}
