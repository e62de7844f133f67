//! What a program has forgotten, and what it was told once.
//!
//! A counter that nobody reads any more may still say what others are: after two loops that count
//! into one variable, that is the sum of both counters, and each of them has passed its bound. And
//! an input that never changes may decide what all loops do. In come the steps of a program and what
//! is live; out come the variables that invariants may speak of besides, and the conditions by which
//! states are told apart.

use crate::candidates::{Hints, Variable};
use crate::cells::told_apart;
use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_logic::{Sort, TermId, Terms};
use hardbop_semantics::layout::{StateKind, StateVarId};
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::{Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// Functions with more variables are left as they are.
const VARIABLES: usize = 12;
/// The most conditions that states are told apart by.
const TOLD: usize = 2;

/// What is spoken of beside what is live.
#[derive(Debug, Default)]
pub struct Remembered {
    /// For each function, its variables that are live anywhere and forgotten somewhere.
    forgotten: BTreeMap<FuncId, BTreeSet<StateVarId>>,
    /// What may hold of inputs that never change.
    told: Vec<TermId>,
}

impl Remembered {
    /// Finds what is worth to be spoken of.
    pub fn new(
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        steps: &[Step],
        live: &BTreeMap<LocId, Live>,
        hints: &Hints,
    ) -> Remembered {
        Remembered {
            forgotten: forgotten(ground, terms, live),
            told: told(ground, terms, steps, live, hints),
        }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.forgotten.is_empty() && self.told.is_empty()
    }

    /// The variables at a point that are spoken of besides.
    pub fn at(&self, ground: &Ground<'_, '_>, at: LocId) -> impl Iterator<Item = &StateVarId> {
        let function = ground.semantics.program.locations[at.index()].function;
        self.forgotten.get(&function).into_iter().flatten()
    }

    /// Whether states are told apart by conditions about an input.
    pub fn is_told(&self, terms: &Terms, input: TermId) -> bool {
        terms.free_constants(&self.told).contains(&input)
    }

    /// The conditions that are told apart at a point, as variables that are one or zero.
    pub fn told_apart(
        &self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        live: &Live,
    ) -> Vec<Variable> {
        told_apart(ground, terms, live, &self.told)
    }
}

/// The variables of each function that are live at one of its points and not at another.
fn forgotten(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    live: &BTreeMap<LocId, Live>,
) -> BTreeMap<FuncId, BTreeSet<StateVarId>> {
    let semantics = ground.semantics;
    let function_of = |at: LocId| semantics.program.locations[at.index()].function;
    let mut found: BTreeMap<FuncId, BTreeSet<StateVarId>> = BTreeMap::new();
    for (&at, live) in live {
        for &id in &live.now {
            let variable = semantics.layout.get(id);
            let constant = semantics.constant(terms, id);
            let word = matches!(terms.sort(constant), Sort::BitVec(8..=64));
            let cell = matches!(variable.kind, StateKind::Cell { .. });
            if cell && word && variable.owner == Some(function_of(at)) {
                found.entry(function_of(at)).or_default().insert(id);
            }
        }
    }
    found.retain(|&function, ids| {
        let points = live.iter().filter(|&(&at, _)| function_of(at) == function);
        let mut points = points.filter(|(_, live)| !live.now.is_empty());
        ids.len() <= VARIABLES && points.any(|(_, live)| !ids.is_subset(&live.now))
    });
    found
}

/// Conditions about one variable that holds the same wherever it matters.
fn told(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
    live: &BTreeMap<LocId, Live>,
    hints: &Hints,
) -> Vec<TermId> {
    let mut fixed: BTreeSet<StateVarId> = live.values().flat_map(|at| at.now.clone()).collect();
    for step in steps {
        let Some(before) = step.from.and_then(|from| live.get(&from)) else {
            continue;
        };
        for (id, value) in step.state.written() {
            if before.now.contains(&id) && value != ground.semantics.constant(terms, id) {
                fixed.remove(&id);
            }
        }
    }
    let mut inputs: BTreeSet<TermId> = BTreeSet::new();
    for id in fixed {
        if !ground.semantics.layout.get(id).kind.is_array() {
            inputs.insert(ground.semantics.constant(terms, id));
        }
    }
    let inputs: BTreeSet<TermId> = inputs.difference(&hints.modes).copied().collect();
    let alone = |&condition: &TermId| terms.free_constants(&[condition]).len() == 1;
    let conditions = hints.conditions_about(&inputs).filter(alone);
    conditions.take(TOLD).collect()
}
