//! Predicates: the atoms of formulas, with where they make sense.

use hardbop_cfront::ids::FuncId;
use hardbop_logic::{TermId, Terms, atoms};
use hardbop_semantics::Semantics;
use hardbop_semantics::constants::{Constants, Meaning};
use std::collections::BTreeSet;

/// A predicate: a formula over the state, and where it makes sense.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Predicate {
    /// The procedure that it belongs to; `None` if it speaks of nothing that belongs to one.
    pub scope: Option<FuncId>,
    /// The formula.
    pub formula: TermId,
}

/// The atoms of a formula that holds in a function, as predicates.
pub fn predicates(
    semantics: &Semantics<'_>,
    constants: &Constants,
    terms: &mut Terms,
    function: FuncId,
    formula: TermId,
) -> Vec<Predicate> {
    let mut found = BTreeSet::new();
    for atom in atoms(terms, formula) {
        let Some(support) = constants.support(terms, atom) else {
            continue;
        };
        if support.is_empty() {
            continue;
        }
        let local = support.iter().any(|meaning| match meaning {
            Meaning::Now(id) => semantics.layout.get(*id).owner.is_some(),
            Meaning::Old(_) => true,
            Meaning::Origin => false,
        });
        let foreign = support.iter().any(|meaning| match meaning {
            Meaning::Now(id) | Meaning::Old(id) => semantics
                .layout
                .get(*id)
                .owner
                .is_some_and(|owner| owner != function),
            Meaning::Origin => false,
        });
        if foreign {
            continue;
        }
        found.insert(Predicate {
            scope: local.then_some(function),
            formula: atom,
        });
    }
    found.into_iter().collect()
}
