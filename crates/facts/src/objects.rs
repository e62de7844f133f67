//! What is known of objects on the heap, as formulas: said of an arbitrary object, by its identity.

use crate::heap::{Heap, Objects, field};
use crate::spell::{element, pointer};
use crate::state::State;
use crate::value::Value;
use hardbop_cfront::ids::FuncId;
use hardbop_cfront::points_to::ClassId;
use hardbop_logic::{Sign, TermId, Terms};
use hardbop_semantics::Semantics;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::ownership::IDENTITY;
use hardbop_semantics::steps::Ground;
use std::collections::BTreeSet;

/// What is known of the newest objects, which have names.
pub(crate) fn newest(semantics: &Semantics<'_>, terms: &mut Terms, state: &State) -> Vec<TermId> {
    let mut facts = Vec::new();
    for (&class, heap) in &state.heaps {
        if let Some(objects) = &heap.newest
            && let Some(identity) = identity_of_newest(semantics, terms, state, class)
        {
            facts.extend(described(
                semantics,
                terms,
                state,
                (class, objects),
                identity,
            ));
        }
    }
    facts
}

/// What is known of all objects but the newest, said of any one; and of pointers whose objects
/// callees leave as they are, said of the object that they point into.
pub(crate) fn others(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    state: &State,
    word: TermId,
) -> Vec<TermId> {
    let mut facts = Vec::new();
    for (&class, Heap { others, newest }) in &state.heaps {
        let Some(lives) = lives(semantics, terms, class, word) else {
            continue;
        };
        let mut premises = vec![lives];
        if newest.is_some()
            && let Some(identity) = identity_of_newest(semantics, terms, state, class)
        {
            let same = terms.eq(word, identity);
            premises.push(terms.not(same));
        }
        let premise = terms.and(&premises);
        let known = match others {
            Some(others) => described(semantics, terms, state, (class, others), word),
            None => vec![terms.bool(false)],
        };
        let known = terms.and(&known);
        facts.push(terms.implies(premise, known));
    }
    if keeps_calls(semantics) {
        for (&id, value) in &state.values {
            if let Value::Pointer(bases) = value
                && is_carried(value)
                && let Some(owner) = owner(semantics, terms, id)
            {
                let address = semantics.constant(terms, id);
                let fact = pointer(semantics, terms, state, (address, Some(owner)), bases);
                let here = terms.eq(owner, word);
                facts.push(terms.implies(here, fact));
            }
        }
    }
    facts
}

/// What a function that allocates, and frees nothing of a class, has left as it was at its beginning:
/// the frontier only grows, what was below it stays as large as it was, and what is new is not below
/// it.
pub(crate) fn kept(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    (function, frees): (FuncId, &BTreeSet<ClassId>),
    (entered, state): (&State, &State),
    word: TermId,
) -> (Vec<TermId>, Vec<TermId>) {
    let semantics = ground.semantics;
    let modified = ground.effects.modified(function);
    let frontier = semantics.layout.frontier();
    if state.heaps.is_empty()
        || function == semantics.program.entry
        || !modified.contains(&frontier)
    {
        return (Vec::new(), Vec::new());
    }
    let [now, before] = [
        semantics.constant(terms, frontier),
        semantics.old_constant(terms, frontier),
    ];
    let mut plain = vec![terms.bv_ule(before, now)];
    let before = terms.resize(before, IDENTITY.width, Sign::Unsigned);
    let older = terms.bv_ult(word, before);
    let mut same = Vec::new();
    let ownership = semantics.layout.ownership();
    for &class in state.heaps.keys().filter(|class| !frees.contains(class)) {
        if let Some(extents) = ownership.and_then(|known| known.extents(class))
            && modified.contains(&extents)
        {
            let now = semantics.constant(terms, extents);
            let before = semantics.old_constant(terms, extents);
            let (now, before) = (terms.select(now, word), terms.select(before, word));
            let equal = terms.eq(now, before);
            same.push(terms.implies(older, equal));
        }
    }
    for class in state.newest_beside(entered) {
        if let Some(identity) = identity_of_newest(semantics, terms, state, class) {
            plain.push(terms.bv_ule(before, identity));
        }
    }
    (plain, same)
}

/// Whether what is known of a pointer is carried over calls object by object: into which ones it
/// points is not known there by any name.
pub(crate) fn is_carried(value: &Value) -> bool {
    match value {
        Value::Number(_) => false,
        Value::Pointer(bases) => bases.keys().any(|base| !base.is_one()),
    }
}

/// Whether there are calls to carry anything over.
pub(crate) fn keeps_calls(semantics: &Semantics<'_>) -> bool {
    let mut edges = semantics.program.edges.iter();
    edges.any(|edge| matches!(edge.op, hardbop_cfront::program::Op::Call { .. }))
}

/// To which object the pointer in a variable belongs.
fn owner(semantics: &Semantics<'_>, terms: &mut Terms, id: StateVarId) -> Option<TermId> {
    let owners = semantics.layout.ownership()?.owners(id)?;
    Some(semantics.constant(terms, owners))
}

/// The identity of the newest object of a class: that of what its names point to.
pub(crate) fn identity_of_newest(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    state: &State,
    class: ClassId,
) -> Option<TermId> {
    owner(semantics, terms, state.names(class).next()?)
}

/// One more than the size of an object, or zero.
fn extent(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    class: ClassId,
    identity: TermId,
) -> Option<TermId> {
    let extents = semantics.layout.ownership()?.extents(class)?;
    let extents = semantics.constant(terms, extents);
    Some(terms.select(extents, identity))
}

fn lives(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    class: ClassId,
    identity: TermId,
) -> Option<TermId> {
    let extent = extent(semantics, terms, class, identity)?;
    let zero = terms.bv(0, IDENTITY.width);
    let gone = terms.eq(extent, zero);
    Some(terms.not(gone))
}

/// Where an object is and how large: below the frontier, not at null, and at least so large.
pub(crate) fn placed(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    (class, least): (ClassId, i128),
    identity: TermId,
) -> Vec<TermId> {
    let Some(extent) = extent(semantics, terms, class, identity) else {
        return Vec::new();
    };
    let least = terms.bv(least, IDENTITY.width);
    let large = terms.bv_ult(least, extent);
    let frontier = semantics.constant(terms, semantics.layout.frontier());
    let frontier = terms.resize(frontier, IDENTITY.width, Sign::Unsigned);
    let below = terms.bv_ult(identity, frontier);
    let begin = terms.resize(identity, semantics.pointer_shape().width, Sign::Unsigned);
    let null = terms.bv(0, terms.width(begin));
    let null = terms.eq(begin, null);
    vec![large, below, terms.not(null)]
}

/// What is known of an object.
fn described(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    state: &State,
    (class, objects): (ClassId, &Objects),
    identity: TermId,
) -> Vec<TermId> {
    let mut facts = placed(semantics, terms, (class, objects.least), identity);
    let begin = terms.resize(identity, semantics.pointer_shape().width, Sign::Unsigned);
    for (&region, value) in &objects.fields {
        let Some(field) = field(semantics, region) else {
            continue;
        };
        let distance = terms.bv(field.distance, terms.width(begin));
        let address = terms.bv_add(begin, distance);
        facts.extend(element(semantics, terms, state, region, address, value));
    }
    facts
}
