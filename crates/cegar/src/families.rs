//! The numbers that a program's text gives to a variable: the states of a protocol, say, or the
//! phases of a driver.
//!
//! A loop around a `switch` goes from number to number, and a path through it is ruled out by where
//! the variable stands at each turn. Refinement would find one number after the other, a round for
//! each. All of them at once cost little: in a state that was reached one of the equations holds,
//! and with its number put in a large block is a small one (`lazy/relations.rs`).

use hardbop_cfront::ids::LocId;
use hardbop_logic::{Op, TermId, Terms};
use hardbop_newton::predicate::Predicate;
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::segment::Blocks;
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// A flag of two values is told by one predicate.
const FEWEST: usize = 3;
/// More numbers than this are no states of anything.
const MOST: usize = 64;

/// Variables, by their constants, with the numbers that they are given.
#[derive(Debug, Default)]
pub(crate) struct Families {
    numbers: BTreeMap<TermId, BTreeSet<TermId>>,
}

impl Families {
    /// The numbers that the steps of a program give to its variables, directly or by way of others.
    pub(crate) fn new(ground: &Ground<'_, '_>, terms: &mut Terms, blocks: &mut Blocks) -> Families {
        let mut numbers: BTreeMap<StateVarId, BTreeSet<TermId>> = BTreeMap::new();
        let mut copies: BTreeSet<(StateVarId, StateVarId)> = BTreeSet::new();
        for edge in &ground.skeleton.edges {
            let Ok(Some(step)) = ground.step(terms, blocks, edge.kind) else {
                continue;
            };
            for (id, value) in step.state.written() {
                for leaf in leaves(terms, value) {
                    match (terms.op(leaf), ground.constants.meaning(leaf)) {
                        (Op::Int(_) | Op::BitVec(_), _) => {
                            numbers.entry(id).or_default().insert(leaf);
                        }
                        (_, Some(Meaning::Now(from))) if from != id => {
                            copies.insert((from, id));
                        }
                        _ => {}
                    }
                }
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (from, to) in &copies {
                let given = numbers.get(from).cloned().unwrap_or_default();
                let known = numbers.entry(*to).or_default();
                let before = known.len();
                known.extend(given);
                changed |= known.len() > before;
            }
        }
        numbers.retain(|_, numbers| (FEWEST..=MOST).contains(&numbers.len()));
        let semantics = ground.semantics;
        let numbers = numbers
            .into_iter()
            .map(|(id, numbers)| (semantics.constant(terms, id), numbers))
            .collect();
        Families { numbers }
    }

    /// Predicates of which those on the value of one variable became equations with all its
    /// numbers.
    pub(crate) fn completed(
        &self,
        terms: &mut Terms,
        found: &[(LocId, Predicate)],
    ) -> BTreeSet<(LocId, Predicate)> {
        let mut all = BTreeSet::new();
        for (location, predicate) in found {
            let Some((variable, numbers)) = self.family(terms, predicate.formula) else {
                all.insert((*location, predicate.clone()));
                continue;
            };
            for &number in numbers {
                let formula = terms.eq(variable, number);
                let scope = predicate.scope;
                all.insert((*location, Predicate { scope, formula }));
            }
        }
        all
    }

    /// The variable that a formula speaks of, if it is just one, and its numbers.
    fn family(&self, terms: &Terms, formula: TermId) -> Option<(TermId, &BTreeSet<TermId>)> {
        let mut read = terms.free_constants(&[formula]).into_iter();
        let (variable, None) = (read.next()?, read.next()) else {
            return None;
        };
        Some((variable, self.numbers.get(&variable)?))
    }
}

/// What a term may come to by the choices in it.
fn leaves(terms: &Terms, term: TermId) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::from([term]);
    let mut work = vec![term];
    while let Some(part) = work.pop() {
        match (terms.op(part), terms.args(part)) {
            (Op::Ite, &[_, then, otherwise]) => {
                work.extend([then, otherwise].into_iter().filter(|&it| seen.insert(it)));
            }
            _ => found.push(part),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardbop_logic::Sort;

    #[test]
    fn a_predicate_on_one_variable_brings_all_its_numbers() {
        let mut terms = Terms::new();
        let [state, other] = ["state", "other"].map(|name| terms.constant(name, Sort::Int));
        let numbers = [3, 8448, 8464].map(|number| terms.int(number));
        let families = Families {
            numbers: BTreeMap::from([(state, BTreeSet::from(numbers))]),
        };
        let at = LocId(7);
        let of = |formula| {
            let scope = None;
            (at, Predicate { scope, formula })
        };
        let bound = terms.int(8447);
        let [low, related] = [bound, other].map(|limit| terms.int_le(state, limit));
        let found = families.completed(&mut terms, &[of(low), of(related)]);
        let expected = numbers.map(|number| of(terms.eq(state, number)));
        let mut expected = BTreeSet::from(expected);
        // What relates it to another variable is left as it is.
        expected.insert(of(related));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_term_comes_to_what_its_choices_end_in() {
        let mut terms = Terms::new();
        let [c, d] = ["c", "d"].map(|name| terms.constant(name, Sort::Bool));
        let x = terms.constant("x", Sort::Int);
        let [one, two] = [1, 2].map(|number| terms.int(number));
        let inner = terms.ite(d, two, x);
        let term = terms.ite(c, one, inner);
        let found: BTreeSet<TermId> = leaves(&terms, term).into_iter().collect();
        assert_eq!(found, BTreeSet::from([one, two, x]));
    }
}
