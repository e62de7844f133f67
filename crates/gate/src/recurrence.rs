//! A recurrent set: a run comes into it, and from each of its states another one of them can be come
//! to, so there is a run that never ends.
//!
//! The beginning is repeated in the interpreter, and its last state is looked at: its variables'
//! values must be in the set. That the set need not be left is asked of a solver, from the
//! program's edges on: in every state of it, given what is chosen, one of the ways to its cut points
//! is taken and ends in it, whatever else is left open. On those ways only plain values are touched,
//! by name, so that the machine does what the logic says. A call that is entered is a way, too: calls
//! that are nested without an end never end.

use crate::files::{may_read_back, reads_back};
use crate::lasso::is_users;
use crate::steps::Cuts;
use crate::{Endless, Gate, refused};
use hardbop_cfront::ids::{EdgeId, FuncId, LocId, VarId};
use hardbop_cfront::interp::{self, Interpreter, Limits, Observer, State as Running, TraceMode};
use hardbop_cfront::program::{Op, Origin, Program};
use hardbop_engine::Reason;
use hardbop_engine::claim::Recurrence;
use hardbop_logic::{Answer, TermId, Terms};
use hardbop_model::plain::is_plain;
use hardbop_semantics::constants::{Constants, Meaning, Spelling};
use hardbop_semantics::layout::StateKind;
use hardbop_semantics::{Execution, FreshOrigin, State};
use std::collections::{BTreeMap, BTreeSet};

const NO: Reason = Reason::Certificate;

impl Gate<'_> {
    /// Checks a recurrent set. Gives the beginning of the run.
    pub(crate) fn recurrence(&self, claim: &Recurrence) -> Result<(interp::Run, Endless), Reason> {
        let view = &self.model.flat;
        let mut terms = Terms::new();
        let constants = Constants::new(&view.semantics, &mut terms);
        let mut spelling = Spelling::new(&view.semantics, &mut terms);
        let mut sets: BTreeMap<LocId, TermId> = BTreeMap::new();
        for (location, text) in &claim.sets {
            let set = spelling.read(&mut terms, text).map_err(|_| NO)?;
            let now = |meaning: &Meaning| matches!(meaning, Meaning::Now(_) | Meaning::Origin);
            let support = constants.support(&terms, set).ok_or(NO)?;
            if !support.iter().all(now) || !self.is_of_user(*location) {
                return Err(NO);
            }
            sets.insert(*location, set);
        }
        let mut chosen: BTreeMap<(EdgeId, usize), TermId> = BTreeMap::new();
        for choice in &claim.chosen {
            let value = spelling.read_term(&mut terms, &choice.value);
            chosen.insert((choice.edge, choice.part), value.map_err(|_| NO)?);
        }
        let (run, endless) = self.comes_to(claim, &sets, &constants, &mut terms)?;
        let questions = self.stays(claim, &sets, &chosen, &mut terms)?;
        let endless = Endless {
            questions,
            ..endless
        };
        Ok((run, endless))
    }

    /// Whether a location of the prepared program is the user's: that a model of the library need
    /// not end says nothing of the library.
    fn is_of_user(&self, location: LocId) -> bool {
        let program = self.model.program;
        let original = self.model.inlined.locations.get(location.index());
        original.is_some_and(|&original| {
            let function = program.locations[original.index()].function;
            program.function(function).origin == Origin::User
        })
    }

    /// From every state of the set, another one can be come to.
    fn stays(
        &self,
        claim: &Recurrence,
        sets: &BTreeMap<LocId, TermId>,
        chosen: &BTreeMap<(EdgeId, usize), TermId>,
        terms: &mut Terms,
    ) -> Result<u64, Reason> {
        let (view, semantics) = (&self.model.flat, &self.model.flat.semantics);
        let cuts = Cuts::new(view.program, &claim.cuts, BTreeSet::new());
        let ends: BTreeSet<LocId> = sets.keys().copied().collect();
        let known: BTreeSet<LocId> = cuts.all().collect();
        if !ends.is_subset(&known) {
            return Err(NO);
        }
        let mut session = self.session_about(semantics, terms);
        let mut questions = 0;
        for (&location, &set) in sets {
            self.budget.check().map_err(Reason::Stopped)?;
            if !is_plain(semantics, cuts.edges_to(view.program, location, &ends)?) {
                return Err(NO);
            }
            let mut open = Vec::new();
            let ways = cuts.ways_open(view, terms, location, State::new(), &mut open)?;
            let mut choice = BTreeMap::new();
            let mut met: BTreeMap<EdgeId, usize> = BTreeMap::new();
            for (edge, fresh) in open {
                let part = met.entry(edge).or_default();
                let key = (edge, *part);
                *part += 1;
                // What is not the environment's to choose may be anything.
                if let Some(&value) = chosen.get(&key)
                    && matches!(fresh.origin, FreshOrigin::Input(_) | FreshOrigin::Havoc(_))
                {
                    if terms.sort(value) != terms.sort(fresh.term) {
                        return Err(NO);
                    }
                    choice.insert(fresh.term, value);
                }
            }
            let mut goes_on = Vec::new();
            for way in ways {
                let Some(&next) = sets.get(&way.to) else {
                    continue;
                };
                let inside = way.state.apply(semantics, terms, next);
                let taken = terms.and(&[way.condition, inside]);
                goes_on.push(terms.substitute(taken, &choice));
            }
            for (call, callee) in calls(view.program, location) {
                let entry = view.program.function(callee).entry;
                let (Some(&next), true) = (sets.get(&entry), is_plain(semantics, [call])) else {
                    continue;
                };
                let mut run = Execution::new(semantics);
                let entered = run.enter(terms, call, callee);
                let mut conjuncts = std::mem::take(&mut run.facts);
                let inside = run.state.apply(semantics, terms, next);
                conjuncts.extend([entered, inside]);
                goes_on.push(terms.and(&conjuncts));
            }
            let goes_on = terms.or(&goes_on);
            let leaves = terms.not(goes_on);
            let question = terms.and(&[set, leaves]);
            if question == terms.bool(false) {
                continue;
            }
            questions += 1;
            match session.check(terms, &[question]) {
                Answer::Unsat => {}
                other => return Err(refused(other)),
            }
        }
        Ok(questions)
    }

    /// The run comes to a state of the set.
    fn comes_to(
        &self,
        claim: &Recurrence,
        sets: &BTreeMap<LocId, TermId>,
        constants: &Constants,
        terms: &mut Terms,
    ) -> Result<(interp::Run, Endless), Reason> {
        let program = self.model.program;
        let set = *sets.get(&claim.at).ok_or(NO)?;
        let asked = self.variables(constants, terms, set)?;
        let limits = Limits {
            // One step more, so that somebody looks before it.
            steps: claim.stem.saturating_add(1),
            budget: self.budget.clone(),
            trace: TraceMode::Off,
            ..Limits::default()
        };
        let environment = || claim.script.environment().ok_or(NO);
        let mut watch = Watch {
            program,
            stem: claim.stem,
            location: self.model.inlined.locations[claim.at.index()],
            variables: asked.values().copied().collect(),
            step: 0,
            seen: None,
        };
        let run = Interpreter::new(program).run_observed(&mut environment()?, &limits, &mut watch);
        let Some(seen) = watch.seen else {
            return Err(Reason::Replay(Box::new(run.outcome)));
        };
        if may_read_back(program) && reads_back(program, &mut environment()?, &limits) {
            return Err(Reason::ReadsBack);
        }
        let mut values = BTreeMap::new();
        for (&constant, value) in asked.keys().zip(&seen.values) {
            let width = terms.width(constant);
            let bits = i128::try_from(*value).map_err(|_| NO)?;
            values.insert(constant, terms.bv(bits, width));
        }
        let inside = terms.substitute(set, &values);
        let outside = terms.not(inside);
        if outside != terms.bool(false) {
            let mut session = self.session_about(&self.model.flat.semantics, terms);
            match session.check(terms, &[outside]) {
                Answer::Unsat => {}
                other => return Err(refused(other)),
            }
        }
        let endless = Endless {
            edge: seen.edge,
            stem_inputs: seen.inputs,
            cycle_inputs: 0,
            questions: 0,
        };
        Ok((run, endless))
    }

    /// The variables that a formula speaks of: whole scalars of the user's program.
    fn variables(
        &self,
        constants: &Constants,
        terms: &Terms,
        formula: TermId,
    ) -> Result<BTreeMap<TermId, VarId>, Reason> {
        let program = self.model.program;
        let layout = &self.model.flat.semantics.layout;
        let mut found = BTreeMap::new();
        for constant in terms.free_constants(&[formula]) {
            let Some(Meaning::Now(id)) = constants.meaning(constant) else {
                // Where memory begins is nobody's to know.
                return Err(NO);
            };
            let described = layout.get(id);
            let StateKind::Cell { bytes } = described.kind else {
                return Err(NO);
            };
            let variable = described.variable.ok_or(NO)?;
            // Later ones are copies, of which the interpreter knows nothing.
            let original = program.variables.get(variable.index()).ok_or(NO)?;
            if !program.types.is_scalar(original.ty) || program.types.size_of(original.ty) != bytes
            {
                return Err(NO);
            }
            found.insert(constant, variable);
        }
        Ok(found)
    }
}

/// The calls at a location: calls may be nested without an end, too.
fn calls(program: &Program, location: LocId) -> Vec<(EdgeId, FuncId)> {
    let mut found = Vec::new();
    for (id, edge) in program.edges_from(location) {
        if let Op::Call { callee, .. } = &edge.op {
            found.extend(callee.targets().iter().map(|&callee| (id, callee)));
        }
    }
    found
}

/// Looks at the state at one moment.
struct Watch<'a> {
    program: &'a Program,
    stem: u64,
    location: LocId,
    variables: Vec<VarId>,
    step: u64,
    seen: Option<Seen>,
}

/// What was seen.
struct Seen {
    edge: EdgeId,
    inputs: usize,
    values: Vec<u128>,
}

impl Observer for Watch<'_> {
    fn edge(&mut self, edge: EdgeId, state: &mut Running<'_, '_>) {
        if self.step == self.stem
            && self.program.edges[edge.index()].from == self.location
            && is_users(self.program, &state.functions())
        {
            let read = |&variable: &VarId| Some(state.variable(variable)?.bits);
            let values: Option<Vec<u128>> = self.variables.iter().map(read).collect();
            self.seen = values.map(|values| Seen {
                edge,
                inputs: state.inputs(),
                values,
            });
        }
        self.step += 1;
    }
}
