//! What Horn solvers cannot hold.

use hardbop_logic::{FuncId as Relation, Op, TermId, Terms};
use hardbop_semantics::rules::Key;
use std::collections::BTreeMap;

/// Replaces applications of uninterpreted functions, save relations, by fresh constants.
pub(crate) fn forget_functions(
    terms: &mut Terms,
    relations: &BTreeMap<Key, Relation>,
    formulas: &[TermId],
) -> Vec<TermId> {
    let mut map = BTreeMap::new();
    for term in terms.postorder(formulas) {
        if let Op::Apply(function) = *terms.op(term)
            && !relations.values().any(|&relation| relation == function)
        {
            let sort = terms.sort(term);
            let unknown = terms.fresh("any", sort);
            map.insert(term, unknown);
        }
    }
    if map.is_empty() {
        return formulas.to_vec();
    }
    formulas
        .iter()
        .map(|&formula| terms.substitute(formula, &map))
        .collect()
}
