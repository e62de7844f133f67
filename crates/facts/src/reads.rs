//! Where steps read what is known of all elements of arrays: there, claims use it of the element that
//! is read.

use hardbop_cfront::ids::LocId;
use hardbop_logic::{Op, TermId, Terms};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::ownership::IDENTITY;
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// The most addresses for one point.
const ADDRESSES: usize = 16;

/// The addresses at which steps from points read memory that something is known of there, as terms
/// over the state.
pub(crate) fn reads(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    known: &BTreeMap<LocId, Vec<TermId>>,
) -> BTreeMap<LocId, BTreeSet<TermId>> {
    reads_of(ground, terms, known, &|_| true)
}

/// The identities of the objects on the heap whose sizes steps from points look at, where something is
/// known of such.
pub(crate) fn identities(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    known: &BTreeMap<LocId, Vec<TermId>>,
) -> BTreeMap<LocId, BTreeSet<TermId>> {
    let ownership = ground.semantics.layout.ownership().into_iter();
    let extents = ownership.flat_map(|ownership| ownership.all_extents());
    let extents: BTreeSet<TermId> = extents
        .map(|(_, extents)| ground.semantics.constant(terms, extents))
        .collect();
    let mut found = reads_of(ground, terms, known, &|memory| extents.contains(&memory));
    // Where there is any instance, the gate asks about each fact by itself, and together they are hard.
    let nobody = terms.bv(0, IDENTITY.width);
    for &at in known.keys() {
        found.entry(at).or_default().insert(nobody);
    }
    found
}

/// The same for some of the memory.
fn reads_of(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    known: &BTreeMap<LocId, Vec<TermId>>,
    wanted: &dyn Fn(TermId) -> bool,
) -> BTreeMap<LocId, BTreeSet<TermId>> {
    let mut found: BTreeMap<LocId, BTreeSet<TermId>> = BTreeMap::new();
    if known.is_empty() {
        return found;
    }
    for step in ground.relations(terms).into_iter().flatten() {
        let Some((from, facts)) = step.from.and_then(|from| known.get_key_value(&from)) else {
            continue;
        };
        let spoken: BTreeSet<TermId> = terms.free_constants(facts).into_iter().collect();
        let mut roots = vec![step.condition];
        roots.extend(step.state.written().map(|(_, value)| value));
        let here = found.entry(*from).or_default();
        for term in terms.postorder(&roots) {
            let args = terms.args(term);
            if *terms.op(term) == Op::Select
                && here.len() < ADDRESSES
                && memory(terms, args[0]).is_some_and(|at| spoken.contains(&at) && wanted(at))
                && is_state(ground, terms, args[1])
            {
                here.insert(args[1]);
            }
        }
    }
    found
}

/// The constant that an array is a version of.
fn memory(terms: &Terms, mut array: TermId) -> Option<TermId> {
    loop {
        match terms.op(array) {
            Op::Store => array = terms.args(array)[0],
            Op::Ite => array = terms.args(array)[1],
            Op::Constant(_) => return Some(array),
            _ => return None,
        }
    }
}

/// Whether a term speaks of nothing but the state where a step begins.
fn is_state(ground: &Ground<'_, '_>, terms: &Terms, term: TermId) -> bool {
    terms.free_constants(&[term]).into_iter().all(|constant| {
        matches!(
            ground.constants.meaning(constant),
            Some(Meaning::Now(_) | Meaning::Origin)
        )
    })
}
