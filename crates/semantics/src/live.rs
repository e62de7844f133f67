//! What is live at cut points: what can still decide whether a goal is reached.

use crate::State;
use crate::constants::Meaning;
use crate::layout::StateVarId;
use crate::rules::{Key, Rule, Rules};
use crate::skeleton::VertexId;
use crate::steps::{Ground, Step};
use hardbop_budget::Budget;
use hardbop_cfront::ids::LocId;
use hardbop_logic::{TermId, Terms};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What is live at a point: what can still decide whether a goal is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// The state variables whose values now matter.
    pub now: BTreeSet<StateVarId>,
    /// Those whose values at the procedure's entry matter.
    pub old: BTreeSet<StateVarId>,
}

impl Live {
    fn size(&self) -> usize {
        self.now.len() + self.old.len()
    }
}

/// The constants of terms, each term looked at once.
#[derive(Default)]
struct Spoken(HashMap<TermId, Vec<TermId>>);

impl Spoken {
    fn of(&mut self, terms: &Terms, term: TermId) -> &[TermId] {
        let constants = || terms.free_constants(&[term]).into_iter().collect();
        self.0.entry(term).or_insert_with(constants)
    }
}

impl Ground<'_, '_> {
    /// What can still decide, at every cut point, whether one of some vertices is reached. `None`
    /// if an edge has no meaning or the budget ended.
    pub fn live(
        &self,
        terms: &mut Terms,
        targets: &BTreeSet<VertexId>,
        budget: &Budget,
    ) -> Option<BTreeMap<LocId, Live>> {
        let rules = self.program_rules(targets);
        let mut rules = rules.leading_to_goals();
        let effects = self.rule_steps(terms, &mut rules, budget).ok()?;
        let live = self.live_at(terms, &rules, &effects);
        let points = live.into_iter();
        Some(
            points
                .map(|(key, live)| (rules.points[&key].1, live))
                .collect(),
        )
    }

    /// What is live at every point: what conditions on the way to a goal depend on. Of a
    /// procedure's entry values, those of what is live at its entry.
    pub fn live_at(
        &self,
        terms: &mut Terms,
        rules: &Rules,
        effects: &[Step],
    ) -> BTreeMap<Key, Live> {
        let mut live: BTreeMap<Key, Live> = rules
            .points
            .keys()
            .map(|&key| (key, Live::default()))
            .collect();
        // A rule is looked at again when more is live at a point that it reads.
        let mut readers: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (index, rule) in rules.rules.iter().enumerate() {
            match *rule {
                Rule::Start { .. } => {}
                Rule::Block { to, .. } | Rule::Enter { to, .. } => {
                    readers.entry(to).or_default().push(index);
                }
                Rule::Leave {
                    exit, entry, to, ..
                } => {
                    for key in [exit, entry, to] {
                        readers.entry(key).or_default().push(index);
                    }
                }
            }
        }
        let mut spoken = Spoken::default();
        // From the end, since what is live flows backwards.
        let mut work: BTreeSet<usize> = (0..rules.rules.len()).collect();
        while let Some(index) = work.pop_last() {
            let rule = &rules.rules[index];
            let written = match *rule {
                Rule::Start { .. } => continue,
                Rule::Block { from, .. } | Rule::Enter { from, .. } => vec![from],
                Rule::Leave { from, exit, .. } => vec![from, exit],
            };
            let sizes: Vec<usize> = written.iter().map(|key| live[key].size()).collect();
            self.propagate(terms, &mut spoken, rule, &effects[index], &mut live);
            for (key, size) in written.iter().zip(sizes) {
                if live[key].size() > size {
                    work.extend(readers.get(key).into_iter().flatten());
                }
            }
        }
        live
    }

    fn propagate(
        &self,
        terms: &mut Terms,
        spoken: &mut Spoken,
        rule: &Rule,
        effect: &Step,
        live: &mut BTreeMap<Key, Live>,
    ) {
        let returned = match (rule, &effect.returned) {
            (Rule::Leave { callee, .. }, Some(returned)) => Some((*callee, returned)),
            _ => None,
        };
        let mut ids: HashMap<TermId, StateVarId> = HashMap::new();
        if let Some((callee, returned)) = returned {
            for id in self.given_back(callee) {
                ids.insert(returned.state.get(self.semantics, terms, id), id);
            }
        }
        let mut needed = BTreeSet::new();
        let mut given = BTreeSet::new();
        let mut mention = |terms: &Terms, term: TermId| {
            for constant in spoken.of(terms, term) {
                if let Some(&id) = ids.get(constant) {
                    given.insert(id);
                } else if let Some(Meaning::Now(id)) = self.constants.meaning(*constant) {
                    needed.insert(id);
                }
            }
        };
        mention(terms, effect.condition);
        let mut need = |state: &State, wanted: &BTreeSet<StateVarId>, terms: &mut Terms| {
            for &id in wanted {
                let term = state.get(self.semantics, terms, id);
                mention(terms, term);
            }
        };
        match *rule {
            Rule::Start { .. } => {}
            Rule::Block { from, to, .. } => {
                let after = live[&to].clone();
                need(&effect.state, &after.now, terms);
                let here = live.entry(from).or_default();
                here.now.extend(needed);
                here.old.extend(after.old);
            }
            Rule::Enter { from, to, .. } => {
                let after = live[&to].clone();
                need(&effect.state, &after.now, terms);
                need(&effect.state, &after.old, terms);
                live.entry(from).or_default().now.extend(needed);
            }
            Rule::Leave {
                from,
                exit,
                entry,
                to,
                callee,
                ..
            } => {
                let after = live[&to].clone();
                need(&effect.state, &after.now, terms);
                let inside = live[&exit].clone();
                if let Some((_, returned)) = returned {
                    let back: BTreeSet<StateVarId> = self.given_back(callee).collect();
                    let passed = inside.now.difference(&back).copied().collect();
                    need(&returned.entered, &inside.old, terms);
                    need(&returned.entered, &passed, terms);
                }
                // Nothing is asked of the callee if nothing that it gives back is used.
                let modified = self.effects.modified(callee);
                let at_entry = live[&entry].now.clone();
                let end = live.entry(exit).or_default();
                end.now.extend(given);
                for id in at_entry {
                    let variable = self.semantics.layout.get(id);
                    if variable.owner.is_some() || modified.contains(&id) {
                        end.old.insert(id);
                    } else {
                        end.now.insert(id);
                    }
                }
                let here = live.entry(from).or_default();
                here.now.extend(needed);
                here.old.extend(after.old);
            }
        }
    }
}
