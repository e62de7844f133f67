//! Induction over several blocks: no execution violates a check in its first `k` blocks, and none
//! does in the last of any `k` blocks in a row.
//!
//! Take an execution that violates a check with as few blocks as possible. If it has at most `k` of
//! them, the first question finds it. If it has more, its last `k` begin at some cut point, in a
//! state of which the invariants hold that the claim brings along and that are checked by
//! themselves; the second question is about all such. Where a state came twice at one cut point
//! among them, as far as that matters, what is between could be left out, so a claim may leave such
//! executions aside.
//!
//! Programs in which calls are open are refused: where a function returns to is no part of a state.

use crate::steps::Cuts;
use crate::{Gate, refused};
use hardbop_cfront::call_graph::callable;
use hardbop_cfront::ids::LocId;
use hardbop_cfront::program::{LocationKind, Op, Program};
use hardbop_engine::Reason;
use hardbop_engine::claim::{Ghosts, Induction, Invariants};
use hardbop_logic::{Answer, Sort, TermId, Terms};
use hardbop_model::View;
use hardbop_semantics::constants::{Constants, Meaning, Spelling};
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::{Execution, State};
use std::collections::{BTreeMap, BTreeSet};

/// The most blocks of a claim: more are not worth while.
const BLOCKS: u32 = 1_000;

/// When and how cut points are come to, all ways to one merged.
type Layer = BTreeMap<LocId, (TermId, State)>;

impl Gate<'_> {
    /// Checks a claim by induction. Gives the number of questions asked.
    pub(crate) fn induction(&self, claim: &Induction) -> Result<u64, Reason> {
        let view = &self.model.flat;
        let plain = is_plain(&claim.invariants) && !calls(view.program);
        if !plain || claim.blocks == 0 || claim.blocks > BLOCKS {
            return Err(Reason::Certificate);
        }
        // That they hold also says that nothing unsupported is come to.
        let mut questions = self.inductive(&claim.invariants, None)?;
        let mut terms = Terms::new();
        let mut spelling = Spelling::new(&view.semantics, &mut terms);
        let mut invariants = BTreeMap::new();
        for (&location, text) in &claim.invariants.at {
            let formula = spelling.read(&mut terms, text);
            invariants.insert(location, formula.map_err(|_| Reason::Certificate)?);
        }
        let mut fragments = Fragments {
            view,
            claim,
            relevant: BTreeMap::new(),
            cuts: Cuts::new(view.program, &claim.invariants.cuts, BTreeSet::new()),
            constants: Constants::new(&view.semantics, &mut terms),
            invariants,
        };
        if claim.distinct {
            fragments.relevant = fragments.relevant(&mut terms)?;
        }
        let mut never = vec![fragments.first(&mut terms)?];
        for location in fragments.cuts.all() {
            self.budget.check().map_err(Reason::Stopped)?;
            never.push(fragments.last(&mut terms, location)?);
            if claim.distinct {
                never.push(fragments.forks(&mut terms, location)?);
            }
        }
        for question in never {
            if question == terms.bool(false) {
                continue;
            }
            questions += 1;
            let mut session = self.session_about(&view.semantics, &mut terms);
            session.assert(&terms, question);
            match session.check(&terms, &[]) {
                Answer::Unsat => {}
                other => return Err(refused(other)),
            }
        }
        Ok(questions)
    }
}

/// Whether invariants speak of nothing but the program's state, and prove nothing.
fn is_plain(claim: &Invariants) -> bool {
    claim.checks.is_empty()
        && claim.arbitrary.is_empty()
        && claim.instances.is_empty()
        && claim.ghosts == Ghosts::Nothing
        && claim.is_usual()
}

/// Whether any function is called that can be: what is left after inlining.
fn calls(program: &Program) -> bool {
    callable(program).into_iter().any(|function| {
        let mut locations = program.function(function).locations.clone();
        locations.any(|location| {
            let mut edges = program.edges_from(LocId(location));
            edges.any(|(_, edge)| matches!(edge.op, Op::Call { .. }))
        })
    })
}

/// Parts of executions.
struct Fragments<'a, 'p> {
    view: &'a View<'p>,
    claim: &'a Induction,
    cuts: Cuts,
    constants: Constants,
    invariants: BTreeMap<LocId, TermId>,
    /// What can decide at a cut point how an execution goes on.
    relevant: BTreeMap<LocId, BTreeSet<StateVarId>>,
}

impl Fragments<'_, '_> {
    /// When an execution violates a check in its first blocks.
    fn first(&self, terms: &mut Terms) -> Result<TermId, Reason> {
        let program = self.view.program;
        let mut run = Execution::new(&self.view.semantics);
        run.start(terms);
        let condition = terms.and(&run.facts);
        let entry = program.function(program.entry).entry;
        let mut layer = Layer::from([(entry, (condition, run.state))]);
        let mut violated = Vec::new();
        for _ in 0..self.claim.blocks {
            layer = self.next(terms, layer)?;
            violated.extend(self.violations(&mut layer));
        }
        Ok(terms.or(&violated))
    }

    /// When the last one of some blocks in a row, from a cut point, violates a check.
    fn last(&self, terms: &mut Terms, from: LocId) -> Result<TermId, Reason> {
        let no = terms.bool(false);
        let Some(&invariant) = self.invariants.get(&from) else {
            return Ok(no);
        };
        let mut layers = vec![Layer::from([(from, (invariant, State::new()))])];
        let mut violated = Vec::new();
        for _ in 0..self.claim.blocks {
            let before = layers.last().cloned().unwrap_or_default();
            let mut layer = self.next(terms, before)?;
            violated = self.violations(&mut layer);
            for (&at, (condition, state)) in &mut layer {
                let known = self.invariants.get(&at).copied().unwrap_or(no);
                let known = self.moved(terms, known, state);
                *condition = terms.and(&[*condition, known]);
            }
            layers.push(layer);
        }
        let mut all = vec![terms.or(&violated)];
        if self.claim.distinct && all[0] != no {
            // What comes after the last block but one is no part of the execution.
            layers.pop();
            all.extend(self.all_differ(terms, &layers));
        }
        Ok(terms.and(&all))
    }

    /// When two ways can be taken from a cut point at once. A state says which way an execution
    /// takes, with what the program is given; if it did not, the states of one way would have to
    /// differ because of those of another one that is not taken.
    fn forks(&self, terms: &mut Terms, at: LocId) -> Result<TermId, Reason> {
        let ways = self.cuts.ways(self.view, terms, at, State::new())?;
        let mut both = Vec::new();
        for (index, way) in ways.iter().enumerate() {
            for other in &ways[..index] {
                both.push(terms.and(&[way.condition, other.condition]));
            }
        }
        Ok(terms.or(&both))
    }

    /// Goes on by one block from everywhere.
    fn next(&self, terms: &mut Terms, layer: Layer) -> Result<Layer, Reason> {
        let mut next = Layer::new();
        for (at, (condition, state)) in layer {
            for way in self.cuts.ways(self.view, terms, at, state)? {
                let taken = terms.and(&[condition, way.condition]);
                if taken == terms.bool(false) {
                    continue;
                }
                let arrived = match next.remove(&way.to) {
                    None => (taken, way.state),
                    Some((other, state)) => {
                        let semantics = &self.view.semantics;
                        let merged = way.state.merge(&state, taken, semantics, terms);
                        (terms.or(&[taken, other]), merged)
                    }
                };
                next.insert(way.to, arrived);
            }
        }
        Ok(next)
    }

    /// When checks are violated in a layer. Executions end there.
    fn violations(&self, layer: &mut Layer) -> Vec<TermId> {
        let mut found = Vec::new();
        layer.retain(
            |at, (condition, _)| match self.view.program.locations[at.index()].kind {
                LocationKind::Error(check) => {
                    if self.claim.checks.contains(&check) {
                        found.push(*condition);
                    }
                    false
                }
                _ => true,
            },
        );
        found
    }

    /// What a formula about a cut point says in a state there.
    fn moved(&self, terms: &mut Terms, formula: TermId, state: &State) -> TermId {
        let mut map = BTreeMap::new();
        for constant in terms.free_constants(&[formula]) {
            if let Some(Meaning::Now(id)) = self.constants.meaning(constant) {
                map.insert(constant, state.get(&self.view.semantics, terms, id));
            }
        }
        terms.substitute(formula, &map)
    }

    /// That no two states at one cut point are the same, in different layers.
    fn all_differ(&self, terms: &mut Terms, layers: &[Layer]) -> Vec<TermId> {
        let mut found = Vec::new();
        for (index, layer) in layers.iter().enumerate() {
            for earlier in &layers[..index] {
                for (at, (condition, state)) in layer {
                    if let Some((before, other)) = earlier.get(at)
                        && let Some(same) = self.same(terms, *at, state, other)
                    {
                        let again = terms.and(&[*condition, *before, same]);
                        found.push(terms.not(again));
                    }
                }
            }
        }
        found
    }

    /// What conditions of ways from each cut point depend on, and values at their ends that matter
    /// there: states that agree in this go on in the same ways.
    fn relevant(&self, terms: &mut Terms) -> Result<BTreeMap<LocId, BTreeSet<StateVarId>>, Reason> {
        let mut ways = Vec::new();
        for at in self.cuts.all() {
            let from = self.cuts.ways(self.view, terms, at, State::new())?;
            ways.extend(from.into_iter().map(|way| (at, way)));
        }
        let mut relevant: BTreeMap<LocId, BTreeSet<StateVarId>> = BTreeMap::new();
        let mut changed = true;
        while changed {
            changed = false;
            for (at, way) in &ways {
                let mut read = vec![way.condition];
                for &id in relevant.get(&way.to).into_iter().flatten() {
                    read.push(way.state.get(&self.view.semantics, terms, id));
                }
                let known = relevant.entry(*at).or_default();
                for constant in terms.free_constants(&read) {
                    if let Some(Meaning::Now(id)) = self.constants.meaning(constant) {
                        changed |= known.insert(id);
                    }
                }
            }
        }
        Ok(relevant)
    }

    /// That two states at a cut point are the same, as far as that matters; `None` where that would
    /// have to be said of memory.
    fn same(&self, terms: &mut Terms, at: LocId, a: &State, b: &State) -> Option<TermId> {
        let semantics = &self.view.semantics;
        let mut same = Vec::new();
        for &id in self.relevant.get(&at).into_iter().flatten() {
            let (a, b) = (a.get(semantics, terms, id), b.get(semantics, terms, id));
            if a != b {
                if matches!(terms.sort(a), Sort::Array(_)) {
                    return None;
                }
                same.push(terms.eq(a, b));
            }
        }
        Some(terms.and(&same))
    }
}
