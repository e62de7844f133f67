//! Predicates that have nothing to do with each other, so that they can be asked about apart.
//!
//! Formulas that share no symbol, not even through the condition of their block, have models
//! independently: all models of all of them are all combinations of the models of each group. With
//! n groups of two predicates that is 4n models to enumerate instead of 4^n.

use hardbop_logic::{Op, TermId, Terms};
use std::collections::BTreeMap;

/// A group of formulas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Which formulas, by their positions.
    pub positions: Vec<usize>,
    /// The conjuncts of the condition that speak of the same things, and those that speak of
    /// nothing that a formula speaks of.
    pub conditions: Vec<TermId>,
}

/// Splits formulas under a condition into groups that share no symbol.
pub fn groups(terms: &Terms, formulas: &[TermId], condition: Option<TermId>) -> Vec<Group> {
    let conjuncts: Vec<TermId> = match condition {
        Some(condition) if *terms.op(condition) == Op::And => terms.args(condition).to_vec(),
        condition => condition.into_iter().collect(),
    };
    // Sets of items that share a symbol: formulas first, then conjuncts.
    let items: Vec<TermId> = formulas.iter().chain(&conjuncts).copied().collect();
    let mut sets = Sets((0..items.len()).collect());
    let mut owner: BTreeMap<TermId, usize> = BTreeMap::new();
    let mut plain = None;
    for (index, &item) in items.iter().enumerate() {
        let symbols = terms.free_constants(&[item]);
        // Formulas that speak of nothing are one group: there is nothing to ask.
        if symbols.is_empty() && index < formulas.len() {
            sets.join(*plain.get_or_insert(index), index);
        }
        for symbol in symbols {
            let first = *owner.entry(symbol).or_insert(index);
            sets.join(first, index);
        }
    }
    let mut found: BTreeMap<usize, Group> = BTreeMap::new();
    for index in 0..formulas.len() {
        let group = found.entry(sets.find(index)).or_default();
        group.positions.push(index);
    }
    for (number, &conjunct) in conjuncts.iter().enumerate() {
        let set = sets.find(formulas.len() + number);
        match found.get_mut(&set) {
            Some(group) => group.conditions.push(conjunct),
            // If it cannot hold, nothing can happen, whoever is asked.
            None => {
                for group in found.values_mut() {
                    group.conditions.push(conjunct);
                }
            }
        }
    }
    found.into_values().collect()
}

/// Disjoint sets of numbers.
struct Sets(Vec<usize>);

impl Sets {
    fn find(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardbop_logic::Sort;

    #[test]
    fn what_a_condition_relates_stays_together() {
        let mut terms = Terms::new();
        let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(|n| terms.constant(n, Sort::Bool));
        let same = terms.eq(a, c);
        let condition = terms.and(&[same, d, e]);
        let groups = groups(&terms, &[a, b, c, d], Some(condition));
        let positions: Vec<&[usize]> = groups.iter().map(|g| g.positions.as_slice()).collect();
        assert_eq!(positions, [&[0, 2][..], &[1], &[3]]);
        let conditions: Vec<&[TermId]> = groups.iter().map(|g| g.conditions.as_slice()).collect();
        assert_eq!(conditions, [&[same, e][..], &[e], &[d, e]]);
    }
}
