//! Invariants at cut points: every step leads from one to the next, and none admits a violation.
//!
//! Each way between cut points, each call and each return must lead from the invariant at its
//! start to the invariant at its end; a cut point without an invariant is claimed to be
//! unreachable. If all questions are answered `unsat`, no execution comes to a location whose
//! invariant is false.
//!
//! Invariants may speak of arbitrary words: then they are claimed for all of them. What leads from
//! one cut point to the next is asked for any word, and as what holds for all words holds for each,
//! the invariant at the start may be used for as many terms besides as the claim names. They may
//! speak of sums over arrays, too (`folds.rs`).

use crate::apart::apart;
use crate::cases::cases;
use crate::folds::Folds;
use crate::ranking::Ranks;
use crate::steps::{Cuts, forget};
use crate::{Gate, refused};
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::{self, LocationKind};
use hardbop_engine::Reason;
use hardbop_engine::claim::{Ghosts, Invariants, NoForm, Ranking};
use hardbop_logic::{
    Answer, Limits, Op, Relative, Session, TermId, Terms, multiplies, products_as_functions,
    rebased, without_products, without_refuted,
};
use hardbop_model::View;
use hardbop_semantics::constants::{Constants, Meaning, Spelling};
use hardbop_semantics::{Execution, Semantics, State};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// What a question about an atom may cost: most have no answer that would help.
const ABOUT_ATOMS: Limits = Limits {
    time: Some(Duration::from_secs(2)),
    steps: Some(200_000),
};

/// What a question about addresses may cost as it is seen from the origin: memory is easier where
/// addresses are words by themselves.
pub(crate) const FROM_ORIGIN: Limits = Limits {
    time: Some(Duration::from_millis(500)),
    steps: Some(500_000),
};

/// What a question may cost before a SAT solver is asked for a proof, ...
const AT_FIRST: Duration = Duration::from_secs(2);
/// ... and what that may cost.
const ON_CIRCUITS: Duration = Duration::from_secs(10);

/// So many parts of an invariant that are not easy from the origin show that the others are not,
/// either.
const PATIENCE: u32 = 4;

impl Gate<'_> {
    /// Checks invariants. Gives the number of questions asked.
    pub(crate) fn invariants(&self, claim: &Invariants) -> Result<u64, Reason> {
        if claim.is_usual() {
            return self.inductive(claim, None);
        }
        let (program, points_to) = (self.model.program, self.model.plain.points_to);
        let form = claim.form(program, points_to, &self.budget);
        let form = form.map_err(|none| match none {
            NoForm::Stopped(stopped) => Reason::Stopped(stopped),
            NoForm::Impossible => Reason::Certificate,
        })?;
        let model = form.model(program);
        let gate = Gate {
            model: &model,
            budget: self.budget.clone(),
            solver: Arc::clone(&self.solver),
            alone: self.alone,
            query_time: self.query_time,
        };
        gate.inductive(claim, None)
    }

    /// Checks invariants and, if there are such, that ranks fall with every step.
    pub(crate) fn inductive(
        &self,
        claim: &Invariants,
        ranking: Option<&Ranking>,
    ) -> Result<u64, Reason> {
        let with_ghosts;
        let view = match claim.ghosts {
            Ghosts::Nothing => &self.model.flat,
            Ghosts::Births => {
                with_ghosts = self.model.flat.with_births();
                &with_ghosts
            }
        };
        let apart = apart(view.program, claim)?;
        if ranking.is_some() && !apart.is_empty() {
            // They might not come back.
            return Err(Reason::Certificate);
        }
        let mut terms = Terms::new();
        let constants = Constants::new(&view.semantics, &mut terms);
        let mut spelling = Spelling::new(&view.semantics, &mut terms);
        let words = spelling.arbitrary(&mut terms, &claim.arbitrary);
        let words = words.ok_or(Reason::Certificate)?;
        if words.iter().any(|&word| constants.meaning(word).is_some()) {
            return Err(Reason::Certificate);
        }
        let folds = Folds::read(claim, &constants, &mut spelling, &mut terms, &words)?;
        // A rank is about plain states.
        if ranking.is_some() && !claim.folds.is_empty() {
            return Err(Reason::Certificate);
        }
        let mut invariants = BTreeMap::new();
        for (&location, text) in &claim.at {
            let formula = spelling.read(&mut terms, text);
            invariants.insert(location, formula.map_err(|_| Reason::Certificate)?);
        }
        let mut instances: BTreeMap<LocId, Vec<TermId>> = BTreeMap::new();
        for (&location, &formula) in &invariants {
            folds.check(&terms, formula)?;
            let facts = folds.facts(&mut terms, location, &BTreeMap::new());
            instances.entry(location).or_default().extend(facts);
        }
        for instance in &claim.instances {
            let mut map = BTreeMap::new();
            for (word, term) in instance.terms() {
                let term = spelling.read_term(&mut terms, term);
                let term = term.map_err(|_| Reason::Certificate)?;
                let word = *words.get(word).ok_or(Reason::Certificate)?;
                if terms.sort(term) != terms.sort(word) || map.insert(word, term).is_some() {
                    return Err(Reason::Certificate);
                }
            }
            let invariant = *invariants.get(&instance.at).ok_or(Reason::Certificate)?;
            let formula = folds.put_in(&mut terms, invariant, &map);
            let here = instances.entry(instance.at).or_default();
            here.push(formula);
            here.extend(folds.facts(&mut terms, instance.at, &map));
        }
        let ranks = match ranking {
            Some(ranking) => {
                let read = Ranks::read(ranking, &mut spelling, &constants, &mut terms);
                Some(read?)
            }
            None => None,
        };
        let cuts = Cuts::new(view.program, &claim.cuts, apart.clone());
        let mut checker = Checker {
            gate: self,
            view,
            apart,
            ranks,
            constants,
            invariants,
            instances,
            folds,
            session: self.session_about(&view.semantics, &mut terms),
            relative: seen_from_origin(&view.semantics, &mut terms),
            algebra: !self.alone,
            limits: self.query_limits(),
            questions: 0,
            terms,
        };
        // Where it is claimed that control never comes is all that proves anything.
        for (index, location) in view.program.locations.iter().enumerate() {
            if let LocationKind::Error(check) = location.kind
                && claim.checks.contains(&check)
                && !checker.is_excluded(LocId(index as u32))
            {
                return Err(Reason::Certificate);
            }
        }
        checker.start()?;
        for location in cuts.all() {
            self.budget.check().map_err(Reason::Stopped)?;
            // What the questions at one cut point share is told to the solver once.
            checker.session.push();
            let result = checker.leave(&cuts, location);
            checker.session.pop();
            result?;
        }
        Ok(checker.questions)
    }
}

/// Addresses are seen from the origin, but for those that the solver knows something of.
fn seen_from_origin(semantics: &Semantics<'_>, terms: &mut Terms) -> Relative {
    let axioms = semantics.axioms(terms);
    let kept = terms.free_constants(&axioms);
    Relative::to(semantics.origin(terms), kept)
}

/// Asks about every step of a program.
pub(crate) struct Checker<'a, 'p> {
    gate: &'a Gate<'a>,
    pub(crate) view: &'a View<'p>,
    /// The functions whose calls are steps.
    apart: BTreeSet<FuncId>,
    pub(crate) constants: Constants,
    /// What falls with every step, if that is asked too.
    pub(crate) ranks: Option<Ranks>,
    invariants: BTreeMap<LocId, TermId>,
    /// What follows from an invariant, since it holds for all words.
    instances: BTreeMap<LocId, Vec<TermId>>,
    /// Sums over arrays that they speak of.
    folds: Folds,
    session: Session<'static>,
    /// Addresses seen from the origin.
    relative: Relative,
    /// Whether algebra is believed beside the solver.
    algebra: bool,
    /// What a question may cost.
    limits: Limits,
    questions: u64,
    pub(crate) terms: Terms,
}

impl Checker<'_, '_> {
    fn invariant(&mut self, at: LocId) -> TermId {
        match self.invariants.get(&at) {
            Some(&formula) => formula,
            None => self.terms.bool(false),
        }
    }

    fn is_excluded(&mut self, at: LocId) -> bool {
        self.invariant(at) == self.terms.bool(false)
    }

    /// Some formulas must not hold together.
    pub(crate) fn never(&mut self, together: &[TermId]) -> Result<(), Reason> {
        let question = self.terms.and(together);
        // Bits of an unknown origin are what is hard about addresses, and mostly do not matter.
        let seen = self.relative.seen(&mut self.terms, question);
        if seen == self.terms.bool(false) {
            return Ok(());
        }
        if seen != question {
            self.questions += 1;
            self.session.set_limits(FROM_ORIGIN);
            let answer = self.session.check(&self.terms, &[seen]);
            self.session.set_limits(self.limits);
            if answer == Answer::Unsat {
                return Ok(());
            }
        }
        self.never_besides(&[], together)
    }

    /// The same beside some formulas that the solver was told.
    fn never_besides(&mut self, told: &[TermId], together: &[TermId]) -> Result<(), Reason> {
        let question = self.terms.and(together);
        if question == self.terms.bool(false) {
            return Ok(());
        }
        self.questions += 1;
        let mut question = question;
        if self.algebra && multiplies(&self.terms, &[question]) {
            let session = &mut self.session;
            session.set_limits(ABOUT_ATOMS);
            let mut lemmas = |terms: &mut Terms, facts: &[TermId], lemma: TermId| {
                let mut question = facts.to_vec();
                question.push(terms.not(lemma));
                let question = without_products(terms, &question).0;
                session.check(terms, &question) == Answer::Unsat
            };
            let left = without_refuted(&mut self.terms, together, &mut lemmas);
            self.session.set_limits(self.limits);
            question = self.terms.and(&left);
            // Products are hard, and mostly do not matter for what is left.
            let unknown = without_products(&mut self.terms, &[question]).0;
            if self.session.check(&self.terms, &unknown) == Answer::Unsat {
                return Ok(());
            }
        }
        let at_first = AT_FIRST.min(self.gate.query_time);
        self.session.set_limits(Limits {
            time: Some(at_first),
            ..self.limits
        });
        let mut answer = self.session.check(&self.terms, &[question]);
        self.session.set_limits(self.limits);
        if let Answer::Unknown(_) = answer {
            if self.has_no_circuit(told, question) {
                return Ok(());
            }
            answer = self.session.check(&self.terms, &[question]);
        }
        match answer {
            Answer::Unsat => Ok(()),
            other => Err(refused(other)),
        }
    }

    /// Whether formulas have a proof that no circuit of theirs can be on: bytes of memory at
    /// addresses that are distances from the origin are plain there.
    fn has_no_circuit(&mut self, told: &[TermId], question: TermId) -> bool {
        let semantics = &self.view.semantics;
        let mut facts = semantics.axioms(&mut self.terms);
        facts.extend(told);
        facts.push(question);
        let origin = semantics.origin(&mut self.terms);
        let mut facts = rebased(&mut self.terms, origin, &facts).unwrap_or(facts);
        let question = facts.pop().expect("the question is the last of them");
        let bits = self.gate.bits(semantics, &mut self.terms, &facts);
        let time = ON_CIRCUITS.min(self.gate.query_time);
        bits.is_some_and(|mut bits| bits.refute(&mut self.terms, question, time))
    }

    /// What a formula about a cut point says there: of now, what `now` says; of the procedure's
    /// entry, what `old` says, or the same as before if that is the same procedure's.
    pub(crate) fn moved(&mut self, formula: TermId, now: &State, old: Option<&State>) -> TermId {
        let mut map = BTreeMap::new();
        for constant in self.terms.free_constants(&[formula]) {
            match (self.constants.meaning(constant), old) {
                (Some(Meaning::Now(id)), _) => {
                    let value = now.get(&self.view.semantics, &mut self.terms, id);
                    map.insert(constant, value);
                }
                (Some(Meaning::Old(id)), Some(old)) => {
                    let value = old.get(&self.view.semantics, &mut self.terms, id);
                    map.insert(constant, value);
                }
                _ => {}
            }
        }
        let formula = self.terms.substitute(formula, &map);
        self.folds.moved(
            &self.view.semantics,
            &self.constants,
            &mut self.terms,
            formula,
            now,
        )
    }

    /// The invariant at a location must hold in a state that is come to under some conditions.
    fn arrives(
        &mut self,
        at: LocId,
        mut conditions: Vec<TermId>,
        now: &State,
        old: Option<&State>,
    ) -> Result<(), Reason> {
        let formula = self.invariant(at);
        let holds = self.moved(formula, now, old);
        conditions.push(self.terms.not(holds));
        self.never(&conditions)
    }

    /// Each part of the invariant at a location must hold in a state that is come to under some
    /// conditions: many facts about memory are harder to decide together than one after the other.
    fn arrives_part_by_part(
        &mut self,
        at: LocId,
        conditions: &[TermId],
        now: &State,
        old: Option<&State>,
    ) -> Result<(), Reason> {
        let formula = self.invariant(at);
        let parts = match self.terms.op(formula) {
            Op::And => self.terms.args(formula).to_vec(),
            _ => vec![formula],
        };
        let mut open = Vec::new();
        for part in parts {
            let holds = self.moved(part, now, old);
            open.push(self.terms.not(holds));
        }
        if self.algebra && multiplies(&self.terms, &[conditions, &open].concat()) {
            open = self.without_impossible(conditions, open);
        }
        open = self.left_from_origin(conditions, open);
        if open.is_empty() {
            return Ok(());
        }
        self.session.push();
        for &condition in conditions {
            self.session.assert(&self.terms, condition);
        }
        let never = open
            .into_iter()
            .try_for_each(|fails| self.never_besides(conditions, &[fails]));
        self.session.pop();
        never
    }

    /// The formulas that may hold under some conditions, as far as that does not depend on what
    /// products are: the same factors have the same product.
    fn without_impossible(&mut self, conditions: &[TermId], mut open: Vec<TermId>) -> Vec<TermId> {
        let all = [conditions, &open].concat();
        let asked = products_as_functions(&mut self.terms, &all);
        let (conditions, fails) = asked.split_at(conditions.len());
        self.session.push();
        for &condition in conditions {
            self.session.assert(&self.terms, condition);
        }
        let mut fails = fails.iter();
        open.retain(|_| {
            let fails = fails.next().copied().into_iter().collect::<Vec<TermId>>();
            self.session.check(&self.terms, &fails) != Answer::Unsat
        });
        self.session.pop();
        open
    }

    /// The formulas that may hold under some conditions, as far as that is easy to see from the
    /// origin. Each question is asked by itself, so what one of them makes an unknown word of, another
    /// may leave as it is: that only forgets that the two are the same.
    fn left_from_origin(&mut self, conditions: &[TermId], open: Vec<TermId>) -> Vec<TermId> {
        // What words are seen as is settled before any of them is looked at by itself.
        for &formula in conditions.iter().chain(&open) {
            self.relative.seen(&mut self.terms, formula);
        }
        self.session.push();
        for &condition in conditions {
            let seen = self.relative.seen(&mut self.terms, condition);
            self.session.assert(&self.terms, seen);
        }
        self.session.set_limits(FROM_ORIGIN);
        let mut left = Vec::new();
        let mut given_up = 0;
        for fails in open {
            let seen = self.relative.seen(&mut self.terms, fails);
            if given_up < PATIENCE {
                self.questions += 1;
                match self.session.check(&self.terms, &[seen]) {
                    Answer::Unsat => continue,
                    Answer::Sat => {}
                    Answer::Unknown(_) => given_up += 1,
                }
            }
            left.push(fails);
        }
        self.session.set_limits(self.limits);
        self.session.pop();
        left
    }

    fn start(&mut self) -> Result<(), Reason> {
        let program = self.view.program;
        let mut run = Execution::new(&self.view.semantics);
        run.start(&mut self.terms);
        let entry = program.function(program.entry).entry;
        self.arrives(entry, run.facts, &run.state, Some(&run.state))
    }

    /// All steps that leave a cut point.
    fn leave(&mut self, cuts: &Cuts, at: LocId) -> Result<(), Reason> {
        let mut before = self.invariant(at);
        if before == self.terms.bool(false) {
            return Ok(());
        }
        if let Some(instances) = self.instances.get(&at) {
            let all: Vec<TermId> = instances.iter().copied().chain([before]).collect();
            before = self.terms.and(&all);
        }
        let (view, program) = (self.view, self.view.program);
        let ways = cuts.ways(view, &mut self.terms, at, State::new())?;
        let origin = view.semantics.origin(&mut self.terms);
        let mut cases = cases(&mut self.terms, before, origin);
        for way in ways {
            let conditions = vec![before, way.condition];
            self.falls(at, way.to, &conditions, &way.state)?;
            if self.is_told(at) {
                self.arrives_part_by_part(way.to, &conditions, &way.state, None)?;
                continue;
            }
            if cases.len() == 1 {
                self.arrives(way.to, conditions, &way.state, None)?;
                continue;
            }
            let formula = self.invariant(way.to);
            let holds = self.moved(formula, &way.state, None);
            for case in &mut cases {
                let taken = case.settle(&mut self.terms, way.condition);
                if taken == self.terms.bool(false) {
                    continue;
                }
                let holds = case.settle(&mut self.terms, holds);
                let fails = self.terms.not(holds);
                self.never(&[case.formula, taken, fails])?;
            }
        }
        for (id, edge) in program.edges_from(at) {
            match &edge.op {
                program::Op::Call { callee, .. } => {
                    let entered = |callee: &&FuncId| !self.apart.contains(callee);
                    let targets = callee.targets();
                    if targets.iter().any(|callee| entered(&callee)) {
                        for &callee in targets {
                            if !self.apart.contains(&callee) {
                                self.enter(before, id, callee)?;
                            }
                            self.come_back(before, id, callee)?;
                        }
                    }
                }
                // From there, anything might happen.
                program::Op::Unsupported { .. } => self.never(&[before])?,
                _ => {}
            }
        }
        Ok(())
    }

    fn enter(&mut self, before: TermId, call: EdgeId, callee: FuncId) -> Result<(), Reason> {
        let mut run = Execution::new(&self.view.semantics);
        let condition = run.enter(&mut self.terms, call, callee);
        let entry = self.view.program.function(callee).entry;
        let mut conditions = run.facts;
        conditions.extend([before, condition]);
        let caller = self.view.program.edges[call.index()].from;
        self.deepens(caller, callee, &conditions, &run.state)?;
        match self.is_told(caller) {
            true => self.arrives_part_by_part(entry, &conditions, &run.state, Some(&run.state)),
            false => self.arrives(entry, conditions, &run.state, Some(&run.state)),
        }
    }

    /// Whether the invariant at a location is used for more than one word.
    fn is_told(&self, at: LocId) -> bool {
        self.instances.get(&at).is_some_and(|told| !told.is_empty())
    }

    fn come_back(&mut self, before: TermId, call: EdgeId, callee: FuncId) -> Result<(), Reason> {
        let (view, program) = (self.view, self.view.program);
        let exit = match self.apart.contains(&callee) {
            true => self.terms.bool(true),
            false => self.invariant(program.function(callee).exit),
        };
        let mut run = Execution::new(&view.semantics);
        let condition = run.enter(&mut self.terms, call, callee);
        let entered = run.state.clone();
        // Whatever the callee may change, and all of its own frame, may be anything at its exit.
        forget(view, &mut run, &mut self.terms, callee);
        let left = self.moved(exit, &run.state, Some(&entered));
        run.leave(&mut self.terms);
        let mut conditions = run.facts;
        conditions.extend([before, condition, left]);
        let edge = &program.edges[call.index()];
        self.falls(edge.from, edge.to, &conditions, &run.state)?;
        match self.is_told(edge.from) {
            true => self.arrives_part_by_part(edge.to, &conditions, &run.state, None),
            false => self.arrives(edge.to, conditions, &run.state, None),
        }
    }
}
