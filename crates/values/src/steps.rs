//! The steps of a program, and what they do to the terms that are followed.

use hardbop_cfront::ids::LocId;
use hardbop_logic::{TermId, Terms};
use hardbop_semantics::steps::{End, Ground, Step};
use std::collections::{BTreeMap, HashMap};

/// A step, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(usize);

/// All steps.
pub struct Steps {
    all: Vec<Step>,
    from: BTreeMap<Option<LocId>, Vec<StepId>>,
    /// What terms are at the ends of steps, each worked out once.
    ends: HashMap<(StepId, TermId), TermId>,
}

impl Steps {
    /// These steps.
    pub fn new(all: Vec<Step>) -> Steps {
        let mut from: BTreeMap<Option<LocId>, Vec<StepId>> = BTreeMap::new();
        for (index, step) in all.iter().enumerate() {
            from.entry(step.from).or_default().push(StepId(index));
        }
        Steps {
            all,
            from,
            ends: HashMap::new(),
        }
    }

    /// A step.
    pub fn get(&self, id: StepId) -> &Step {
        &self.all[id.0]
    }

    /// The steps from a cut point; `None` for the start of the program.
    pub fn from(&self, from: Option<LocId>) -> Vec<StepId> {
        self.from.get(&from).cloned().unwrap_or_default()
    }

    /// The step between two cut points.
    pub fn between(&self, from: Option<LocId>, to: LocId) -> Option<StepId> {
        let mut steps = self.from.get(&from)?.iter().copied();
        steps.find(|&step| self.get(step).to == End::At(to))
    }

    /// What a term about the state is at the end of a step, over the state at its beginning.
    pub fn end(
        &mut self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        id: StepId,
        term: TermId,
    ) -> TermId {
        if let Some(&known) = self.ends.get(&(id, term)) {
            return known;
        }
        let step = &self.all[id.0];
        let mut values = BTreeMap::new();
        for constant in terms.free_constants(&[term]) {
            values.insert(constant, ground.at_end(terms, step, constant));
        }
        let end = terms.substitute(term, &values);
        self.ends.insert((id, term), end);
        end
    }
}
