//! Versions of memory: what is written on the way to one, and which memory it was before.

use hardbop_logic::{Op, TermId, Terms};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::layout::{StateKind, StateVarId};
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// What is written on the way to a version of an array: addresses and values.
pub(crate) fn stores(terms: &Terms, array: TermId) -> Vec<(TermId, TermId)> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut work = vec![array];
    while let Some(array) = work.pop() {
        if !seen.insert(array) {
            continue;
        }
        let args = terms.args(array);
        match terms.op(array) {
            Op::Store => {
                found.push((args[1], args[2]));
                work.push(args[0]);
            }
            Op::Ite => work.extend(&args[1..]),
            _ => {}
        }
    }
    found
}

/// What is written to addresses in different ways, as one value each: which one it is depends on
/// conditions.
pub(super) fn merged(
    terms: &mut Terms,
    array: TermId,
    written: &[(TermId, TermId)],
) -> Vec<(TermId, TermId)> {
    let mut found = Vec::new();
    for (number, &(at, value)) in written.iter().enumerate() {
        let again = |earlier: &(TermId, TermId)| earlier.0 == at && earlier.1 != value;
        if written[..number].iter().any(again) && !found.iter().any(|&(of, _)| of == at) {
            found.push((at, value_at(terms, array, at)));
        }
    }
    found
}

/// The value at an address of a version of memory, where other addresses that are written are
/// taken to be different.
fn value_at(terms: &mut Terms, array: TermId, at: TermId) -> TermId {
    let mut values: BTreeMap<TermId, TermId> = BTreeMap::new();
    let mut work = vec![array];
    while let Some(&version) = work.last() {
        let args = terms.args(version).to_vec();
        let below = match terms.op(version) {
            Op::Store if args[1] == at => Vec::new(),
            Op::Store => vec![args[0]],
            Op::Ite => args[1..].to_vec(),
            _ => Vec::new(),
        };
        let open = below.iter().filter(|below| !values.contains_key(below));
        let open: Vec<TermId> = open.copied().collect();
        if !open.is_empty() {
            work.extend(open);
            continue;
        }
        let value = match (terms.op(version), &below[..]) {
            (Op::Store, []) => args[2],
            (Op::Store, [before]) => values[before],
            (Op::Ite, [then, otherwise]) => terms.ite(args[0], values[then], values[otherwise]),
            _ => terms.select(version, at),
        };
        values.insert(version, value);
        work.pop();
    }
    values[&array]
}

/// The memory of the state that an array term is a version of.
pub(crate) fn root(ground: &Ground<'_, '_>, terms: &Terms, array: TermId) -> Option<TermId> {
    let constant = version_of(ground, terms, array)?;
    let Some(Meaning::Now(id)) = ground.constants.meaning(constant) else {
        return None;
    };
    is_memory(ground, id).then_some(constant)
}

/// The array of the state that an array term is a version of.
pub(crate) fn version_of(
    ground: &Ground<'_, '_>,
    terms: &Terms,
    mut array: TermId,
) -> Option<TermId> {
    loop {
        match terms.op(array) {
            Op::Store => array = terms.args(array)[0],
            Op::Ite => array = terms.args(array)[1],
            Op::Constant(_) => {
                let meaning = ground.constants.meaning(array);
                return matches!(meaning, Some(Meaning::Now(_))).then_some(array);
            }
            _ => return None,
        }
    }
}

pub(super) fn is_memory(ground: &Ground<'_, '_>, id: StateVarId) -> bool {
    matches!(
        ground.semantics.layout.get(id).kind,
        StateKind::Memory { .. }
    )
}
