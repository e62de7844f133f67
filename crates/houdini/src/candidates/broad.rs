//! More of what bounds variables, for guesses function by function: what a function was handed may be
//! forgotten where its copy is in use, and what a condition computes with bounds what it speaks of.

use super::{Hints, is_literal, written};
use hardbop_logic::{TermId, Terms};
use hardbop_semantics::steps::{Ground, Step};

impl Hints {
    /// Looks for more of what bounds variables.
    pub fn broaden(&mut self, ground: &Ground<'_, '_>, terms: &mut Terms, steps: &[Step]) {
        self.look_inside(terms);
        for (variable, value) in written(ground, terms, steps) {
            if ground.constants.meaning(value).is_some()
                && terms.sort(value) == terms.sort(variable)
                && let Some(literals) = self.literals.get(&value).cloned()
            {
                self.literals.entry(variable).or_default().extend(literals);
            }
        }
    }

    /// In `n <= 32 - used`, it is 32 that bounds `used`.
    fn look_inside(&mut self, terms: &Terms) {
        for (&condition, constants) in &self.conditions {
            let literals: Vec<TermId> = terms
                .postorder(&[condition])
                .into_iter()
                .filter(|&part| is_literal(terms, part))
                .collect();
            for &constant in constants {
                let alike = |literal: &&TermId| terms.sort(**literal) == terms.sort(constant);
                let literals = literals.iter().filter(alike);
                self.literals.entry(constant).or_default().extend(literals);
            }
        }
    }
}
