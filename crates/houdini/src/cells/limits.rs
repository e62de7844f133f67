//! What loops over arrays count to, and what they end at.

use super::{Access, is_state};
use crate::candidates::{Hints, is_literal};
use hardbop_cfront::ids::LocId;
use hardbop_cfront::program::LocationKind;
use hardbop_logic::{Sign, Sort, TermId, Terms, Value};
use hardbop_semantics::steps::{End, Ground, Step};
use std::collections::BTreeSet;

/// The variables of indices of elements that loops end at.
pub(super) fn searching(
    ground: &Ground<'_, '_>,
    terms: &Terms,
    steps: &[Step],
    accesses: &[Access],
) -> BTreeSet<TermId> {
    let is_error = |at: LocId| {
        let location = &ground.semantics.program.locations[at.index()];
        matches!(location.kind, LocationKind::Error(_))
    };
    let mut found = BTreeSet::new();
    for step in steps {
        let End::At(to) = step.to else { continue };
        if step.from.is_none() || step.from == Some(to) || is_error(to) {
            continue;
        }
        let parts: BTreeSet<TermId> = terms.postorder(&[step.condition]).into_iter().collect();
        for access in accesses.iter().filter(|access| access.from == step.from) {
            if access.read.is_some_and(|read| parts.contains(&read)) {
                found.extend(terms.free_constants(&access.index));
            }
        }
    }
    found
}

/// Where a loop that counts with an index may end: the numbers and the variables that what it is
/// made of is compared with.
pub(super) fn ends(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    hints: &Hints,
    index: TermId,
) -> BTreeSet<TermId> {
    let width = terms.width(index);
    let mut found = BTreeSet::new();
    for constant in terms.free_constants(&[index]) {
        for &literal in hints.literals_of(constant) {
            if let Some(Value::BitVec(bits)) = terms.value_of(literal)
                && let Ok(number) = i128::try_from(bits.signed())
                && number > 1
            {
                found.insert(terms.bv(number, width));
            }
        }
        for other in hints.compared_to(constant) {
            if let Sort::BitVec(narrow) = terms.sort(other)
                && narrow <= width
                && is_state(ground, terms, other)
                && !is_literal(terms, other)
            {
                found.insert(terms.resize(other, width, Sign::Signed));
            }
        }
    }
    found
}
