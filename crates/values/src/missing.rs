//! What has to be followed so that a way that cannot be run is not taken again.

use crate::explore::{Followed, State};
use crate::known::{Known, Tools, reads, word};
use hardbop_logic::{Answer, Op, TermId, Terms};
use hardbop_semantics::Execution;
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::segment::{Blocks, Segment};
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// What a way did not know.
#[derive(Clone, Debug, Default)]
pub struct Missing {
    /// The variables that the conditions of the core read, and those that these were computed from.
    pub variables: BTreeSet<TermId>,
    /// Conditions on variables that decide the conditions of the core.
    pub conditions: BTreeSet<TermId>,
}

/// The steps of a way that contradict each other, each with the values that were known at its
/// beginning and at its end: no step is in it for what the others say anyway.
pub fn core(
    tools: &mut Tools<'_, '_>,
    followed: &Followed,
    way: &[State],
    segments: &[Segment],
) -> Vec<usize> {
    let Tools {
        ground,
        terms,
        session,
        ..
    } = tools;
    let mut run = Execution::new(ground.semantics);
    let mut conditions = Vec::with_capacity(segments.len());
    for (state, &segment) in way.iter().zip(segments) {
        let cuts = &ground.skeleton.cuts;
        let taken = run.segment(terms, segment, cuts, &mut Blocks::new());
        let mut conjuncts: Vec<TermId> = taken.ok().flatten().into_iter().collect();
        let before = run.state.clone();
        for (term, value) in state.known(followed) {
            let now = before.apply(ground.semantics, terms, term);
            conjuncts.push(terms.eq(now, value));
            if let Some(Meaning::Now(id)) = ground.constants.meaning(term) {
                run.state.set(id, value);
            } else if let Some((memory, address)) = word(ground, terms, term) {
                let held = run.state.get(ground.semantics, terms, memory);
                let held = terms.store(held, address, value);
                run.state.set(memory, held);
            }
        }
        conditions.push(terms.and(&conjuncts));
    }
    if session.check(terms, &conditions) != Answer::Unsat {
        return (0..segments.len()).collect();
    }
    let core = session.core();
    let in_core = |at: &usize| core.contains(&conditions[*at]);
    (0..segments.len()).filter(in_core).collect()
}

/// What is left of a step when the values that were known at its beginning are put in.
struct Rest {
    /// Whether it is in the core.
    in_core: bool,
    /// That it is taken and ends with the values that were known there.
    taken: TermId,
    /// The variables that matter at its end, with what they are there.
    ends: BTreeMap<TermId, TermId>,
}

/// Looks at what is left of the steps of the core when the values that were known are put in. What
/// is missing is what comes to them from earlier steps: what these write, or read if they are in the
/// core, and the later one depends on, over all steps between.
pub fn missing(
    tools: &mut Tools<'_, '_>,
    followed: &Followed,
    way: &[State],
    core: &[usize],
) -> Missing {
    let mut rests: Vec<Rest> = Vec::new();
    let mut needed: BTreeSet<TermId> = BTreeSet::new();
    for (at, state) in way.iter().enumerate().rev() {
        let before = at.checked_sub(1).map(|before| &way[before]);
        let Some(step) = tools
            .steps
            .between(before.map(|before| before.location), state.location)
        else {
            return Missing::default();
        };
        let known = before.map(|before| before.known(followed));
        let mut known = Known::new(&mut tools.terms, &known.unwrap_or_default());
        let mut rest = Rest {
            in_core: core.contains(&at),
            taken: tools.terms.bool(true),
            ends: BTreeMap::new(),
        };
        for &variable in &needed {
            let end = known.end(tools, step, variable);
            rest.ends.insert(variable, end);
        }
        if rest.in_core {
            let condition = tools.steps.get(step).condition;
            let mut taken = vec![known.settle(tools, condition)];
            for (term, value) in state.known(followed) {
                let end = known.end(tools, step, term);
                taken.push(tools.terms.eq(end, value));
            }
            rest.taken = tools.terms.and(&taken);
        }
        let read: Vec<TermId> = rest.ends.values().copied().chain([rest.taken]).collect();
        needed = reads(&tools.ground, &tools.terms, &read);
        rests.push(rest);
    }
    let (ground, terms) = (&tools.ground, &tools.terms);
    let mut missing = Missing::default();
    let mut useful: BTreeSet<TermId> = BTreeSet::new();
    for rest in rests.iter().rev() {
        let read = reads(ground, terms, &[rest.taken]);
        missing.variables.extend(read.intersection(&useful));
        if rest.in_core {
            let mut speaks = conditions(ground, terms, rest.taken);
            speaks.retain(|&it| !reads(ground, terms, &[it]).is_disjoint(&useful));
            missing.conditions.extend(speaks);
        }
        let mut after = BTreeSet::new();
        for (&variable, &end) in &rest.ends {
            let from = reads(ground, terms, &[end]);
            missing.variables.extend(from.intersection(&useful));
            let spoken_of = rest.in_core && read.contains(&variable);
            // What becomes an input or another variable is not known better than before.
            let written = !matches!(terms.op(end), Op::Constant(_));
            if written || spoken_of || !from.is_disjoint(&useful) {
                after.insert(variable);
            }
        }
        useful = after;
    }
    missing
}

/// The conditions in a formula that speak of variables alone.
fn conditions(ground: &Ground<'_, '_>, terms: &Terms, formula: TermId) -> Vec<TermId> {
    let mut found = terms.postorder(&[formula]);
    found.retain(|&term| {
        let compares = matches!(
            terms.op(term),
            Op::Eq | Op::BvUlt | Op::BvUle | Op::BvSlt | Op::BvSle
        );
        let constants = terms.free_constants(&[term]);
        let is_state = |constant: &TermId| ground.constants.meaning(*constant).is_some();
        compares && constants.iter().all(is_state) && !reads(ground, terms, &[term]).is_empty()
    });
    found
}
