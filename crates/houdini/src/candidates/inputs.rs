//! What the program asks of an input, said of the variable that holds it afterwards.

use super::Hints;
use hardbop_logic::{Op, TermId, Terms};
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// The most conditions on inputs that are looked at.
const CONDITIONS: usize = 32;
/// Conditions that are larger than this are not looked at.
const SMALL: usize = 6;

impl Hints {
    /// What is said of an input is said of the variable that holds it afterwards: the numbers that
    /// it is compared with, and conditions (`asked`) of which nobody is left who asks them again,
    /// such as that a size is even.
    pub(super) fn pass_on(
        &mut self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        written: &BTreeSet<(TermId, TermId)>,
        asked: &BTreeMap<TermId, BTreeSet<TermId>>,
    ) {
        let mut holders: BTreeMap<TermId, TermId> = BTreeMap::new();
        for &(variable, value) in written {
            let input = matches!(terms.op(value), Op::Constant(_));
            if !input || ground.constants.meaning(value).is_some() {
                continue;
            }
            holders.entry(value).or_insert(variable);
            if let Some(literals) = self.literals.get(&value).cloned() {
                self.literals.entry(variable).or_default().extend(literals);
            }
        }
        for (&condition, constants) in asked.iter().take(CONDITIONS) {
            let of_state = |&constant: &TermId| {
                holders.contains_key(&constant) || ground.constants.meaning(constant).is_some()
            };
            // What allocations ask of sizes is hard to decide, and says little of variables.
            let plain = constants.len() == 1 && terms.size(condition) <= SMALL;
            if plain && constants.iter().all(of_state) {
                let said = terms.substitute(condition, &holders);
                let about = terms.free_constants(&[said]);
                self.conditions.insert(said, about);
            }
        }
    }
}
