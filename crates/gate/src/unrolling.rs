//! All executions at once, until none goes on.
//!
//! The strongest invariants by layer: after `n` blocks, control is at these cut points, with these
//! calls open, in these states. They are worked out here; a claim only says which of the cut
//! points that blocks lead to are never come to, and that is asked. When a layer is empty and no
//! violation was among what is not excluded, no execution violates anything.

use crate::bits::Bits;
use crate::invariants::FROM_ORIGIN;
use crate::steps::Cuts;
use crate::{Gate, refused};
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::{LocationKind, Op};
use hardbop_engine::Reason;
use hardbop_engine::claim::{Unreached, Unrolling};
use hardbop_logic::{Answer, Limits, TermId, Terms, rebased};
use hardbop_model::View;
use hardbop_model::stages::{Stage, Stages, When};
use hardbop_semantics::Execution;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// So many claims are asked at once.
const AT_A_TIME: usize = 64;
/// What one question on circuits may cost before another solver is tried.
const AT_FIRST: Duration = Duration::from_millis(500);
/// And when that did not know.
const AT_LENGTH: Duration = Duration::from_secs(10);

/// A cut point with the calls that are open there, the outermost first.
type Place = (Vec<(EdgeId, FuncId)>, LocId);

/// How a place is come to.
struct Arrival<'s, 'p> {
    stage: Stage,
    condition: TermId,
    run: Execution<'s, 'p>,
}

/// What is still to be followed, by when and where. That decides what is merged, and nothing else:
/// whatever comes to a place is followed from there.
type Waiting<'s, 'p> = BTreeMap<(When, Place), Arrival<'s, 'p>>;

impl Gate<'_> {
    /// Follows all executions. Gives the number of conditions that have no model.
    pub(crate) fn unrolling(&self, claim: &Unrolling) -> Result<u64, Reason> {
        let view = &self.model.flat;
        let program = view.program;
        let cuts = Cuts::new(program, &claim.cuts, BTreeSet::new());
        let dead: BTreeSet<&Unreached> = claim.dead.iter().collect();
        let mut terms = Terms::new();
        let mut never: Vec<TermId> = Vec::new();
        let mut stages = Stages::new(program, claim.following);
        let mut run = Execution::new(&view.semantics);
        run.start(&mut terms);
        let facts = std::mem::take(&mut run.facts);
        let condition = terms.and(&facts);
        let entry = program.function(program.entry).entry;
        let first = Arrival {
            stage: stages.start(),
            condition,
            run,
        };
        let mut waiting: Waiting<'_, '_> = BTreeMap::new();
        let place = (Vec::new(), entry);
        follow(
            view,
            &cuts,
            &mut terms,
            &mut stages,
            place,
            first,
            &mut waiting,
        )?;
        let mut visits = 0;
        while let Some(((when, place), arrival)) = waiting.pop_first() {
            self.budget.check().map_err(Reason::Stopped)?;
            visits += 1;
            let gone = match when {
                When::Blocks(count) => count,
                When::Point(_) => visits,
            };
            if gone > claim.layers {
                return Err(Reason::Evidence);
            }
            let (calls, location) = place;
            let unreached = Unreached {
                layer: when,
                calls,
                location,
            };
            match program.locations[location.index()].kind {
                // An execution ends where it violates a check.
                LocationKind::Error(check) => {
                    if claim.checks.contains(&check) {
                        never.push(arrival.condition);
                    }
                }
                _ if dead.contains(&unreached) => never.push(arrival.condition),
                _ if arrival.condition == terms.bool(false) => {}
                _ => {
                    let place = (unreached.calls, location);
                    follow(
                        view,
                        &cuts,
                        &mut terms,
                        &mut stages,
                        place,
                        arrival,
                        &mut waiting,
                    )?;
                }
            }
        }
        self.all_unsatisfiable(view, &mut terms, &never)?;
        Ok(never.len() as u64)
    }

    /// Whether none of some formulas has a model.
    fn all_unsatisfiable(
        &self,
        view: &View<'_>,
        terms: &mut Terms,
        never: &[TermId],
    ) -> Result<(), Reason> {
        let semantics = &view.semantics;
        let axioms = semantics.axioms(terms);
        let origin = semantics.origin(terms);
        // Where objects lie mostly does not matter, but for how far they are apart.
        let plain = [&axioms, never].concat();
        let seen = rebased(terms, origin, &plain).unwrap_or(plain);
        let (facts, seen) = seen.split_at(axioms.len());
        let mut bits = self.bits(semantics, terms, facts);
        for (some, seen) in never.chunks(AT_A_TIME).zip(seen.chunks(AT_A_TIME)) {
            self.budget.check().map_err(Reason::Stopped)?;
            // One after the other, each has a small circuit, and helps with the next.
            let at_first = |one: TermId, bits: &mut Bits, terms: &mut Terms| {
                one == terms.bool(false) || bits.refute(terms, one, AT_FIRST.min(self.query_time))
            };
            if let Some(bits) = &mut bits
                && seen.iter().all(|&one| at_first(one, bits, terms))
            {
                continue;
            }
            let (any, seen) = (terms.or(some), terms.or(seen));
            if any == terms.bool(false) || seen == terms.bool(false) {
                continue;
            }
            let at_length = AT_LENGTH.min(self.query_time);
            if self.refuted(terms, facts, seen, FROM_ORIGIN) == Answer::Unsat
                || bits
                    .as_mut()
                    .is_some_and(|bits| bits.refute(terms, seen, at_length))
            {
                continue;
            }
            match self.refuted(terms, &axioms, any, self.query_limits()) {
                Answer::Unsat => {}
                other => return Err(refused(other)),
            }
        }
        Ok(())
    }

    /// What the solver says of a formula beside some facts.
    fn refuted(&self, terms: &Terms, facts: &[TermId], formula: TermId, limits: Limits) -> Answer {
        let mut session = self.session();
        session.set_limits(limits);
        for &fact in facts {
            session.assert(terms, fact);
        }
        session.assert(terms, formula);
        session.check(terms, &[])
    }
}

/// All that leaves a place.
fn follow<'s, 'p>(
    view: &'s View<'p>,
    cuts: &Cuts,
    terms: &mut Terms,
    stages: &mut Stages<'p>,
    (calls, at): Place,
    arrival: Arrival<'s, 'p>,
    waiting: &mut Waiting<'s, 'p>,
) -> Result<(), Reason> {
    let program = view.program;
    let Arrival {
        stage,
        condition,
        run,
    } = arrival;
    if program.locations[at.index()].kind == LocationKind::Exit {
        let mut calls = calls;
        let Some((call, _)) = calls.pop() else {
            return Ok(());
        };
        let mut run = run;
        run.leave(terms);
        let mut conjuncts = std::mem::take(&mut run.facts);
        conjuncts.push(condition);
        let condition = terms.and(&conjuncts);
        let to = program.edges[call.index()].to;
        let left = Arrival {
            stage: stages.leave(&stage, to),
            condition,
            run,
        };
        arrive(terms, waiting, (calls, to), left);
        return Ok(());
    }
    for way in cuts.ways(view, terms, at, run.state.clone())? {
        let mut run = run.clone();
        run.state = way.state;
        let condition = terms.and(&[condition, way.condition]);
        let gone = Arrival {
            stage: stages.block(&stage, way.to),
            condition,
            run,
        };
        arrive(terms, waiting, (calls.clone(), way.to), gone);
    }
    for (id, edge) in program.edges_from(at) {
        match &edge.op {
            Op::Unsupported { construct } => return Err(Reason::unsupported(program, *construct)),
            Op::Call { callee, .. } => {
                for &callee in callee.targets() {
                    let mut run = run.clone();
                    let called = run.enter(terms, id, callee);
                    let mut conjuncts = std::mem::take(&mut run.facts);
                    conjuncts.extend([condition, called]);
                    let condition = terms.and(&conjuncts);
                    let mut calls = calls.clone();
                    calls.push((id, callee));
                    let entry = program.function(callee).entry;
                    let entered = Arrival {
                        stage: stages.enter(&stage, id, callee),
                        condition,
                        run,
                    };
                    arrive(terms, waiting, (calls, entry), entered);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Adds a way to a place; ways that meet are merged.
fn arrive<'s, 'p>(
    terms: &mut Terms,
    waiting: &mut Waiting<'s, 'p>,
    place: Place,
    arrival: Arrival<'s, 'p>,
) {
    if arrival.condition == terms.bool(false) {
        return;
    }
    let place = (arrival.stage.when.clone(), place);
    let merged = match waiting.remove(&place) {
        None => arrival,
        Some(other) => Arrival {
            stage: arrival.stage,
            run: arrival.run.merge(other.run, arrival.condition, terms),
            condition: terms.or(&[arrival.condition, other.condition]),
        },
    };
    waiting.insert(place, merged);
}
