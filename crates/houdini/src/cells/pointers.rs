//! What may hold of pointers that are elements of an array, where checks ask for the objects that
//! they belong to: each is null or leads to the beginning of an object of its own, which lives and
//! has room for what it was allocated for.

use super::versions::stores;
use super::{Access, ArrayId, is_state};
use crate::candidates::is_literal;
use hardbop_cfront::points_to::Spot;
use hardbop_cfront::types::Type;
use hardbop_logic::{Sign, TermId, Terms};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::ownership::IDENTITY;
use hardbop_semantics::steps::{Ground, Step};
use std::collections::BTreeSet;

/// The most sizes that objects are guessed to have.
const SIZES: usize = 3;
/// The most objects that elements are guessed to lead to.
const OBJECTS: usize = 2;

/// Where the owners of an array's elements are, if these are pointers.
fn owners(ground: &Ground<'_, '_>, access: &Access) -> Option<(StateVarId, StateVarId)> {
    let Some(Meaning::Now(region)) = ground.constants.meaning(access.memory) else {
        return None;
    };
    let owners = ground.semantics.layout.ownership()?.owners(region)?;
    let is_array = ground.semantics.layout.get(owners).kind.is_array();
    is_array.then_some((region, owners))
}

/// To whom the element at an index belongs.
fn owner(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    access: &Access,
    index: &[TermId],
) -> Option<TermId> {
    let (_, owners) = owners(ground, access)?;
    let owners = ground.semantics.constant(terms, owners);
    let address = access.address(terms, index);
    Some(terms.select(owners, address))
}

/// What may hold of the element at the indices.
pub(super) fn properties(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
    accesses: &[Access],
    (array, index): (ArrayId, &[TermId]),
) -> Vec<TermId> {
    let mut found = Vec::new();
    let Some(access) = accesses.iter().find(|access| access.array == array) else {
        return found;
    };
    let (Some((region, owners)), Some(owner)) =
        (owners(ground, access), owner(ground, terms, access, index))
    else {
        return found;
    };
    let semantics = ground.semantics;
    let element = access.element(terms, index);
    let null = terms.bv(0, terms.width(element));
    let null = terms.eq(element, null);
    let wide = terms.resize(element, IDENTITY.width, Sign::Unsigned);
    let mut of_objects = vec![terms.eq(owner, wide)];
    let frontier = semantics.constant(terms, semantics.layout.frontier());
    let frontier = terms.resize(frontier, IDENTITY.width, Sign::Unsigned);
    of_objects.push(terms.bv_ult(owner, frontier));
    let types = &semantics.program.types;
    let room = match semantics.layout.get(region).ty.map(|ty| types.get(ty)) {
        Some(&Type::Pointer(to)) => types.size_of(to).max(1),
        _ => 1,
    };
    if let Some(extents) = extents(ground, region) {
        let all = semantics.constant(terms, extents);
        let size = terms.select(all, owner);
        let room = terms.bv(i128::from(room), IDENTITY.width);
        of_objects.push(terms.bv_ult(room, size));
        for written in written_to(terms, steps, extents, SIZES, |terms, value| {
            is_state(ground, terms, value) && terms.free_constants(&[value]).len() <= 1
        }) {
            if written != terms.bv(0, IDENTITY.width) {
                of_objects.push(terms.eq(size, written));
            }
        }
    }
    for object in written_to(terms, steps, owners, OBJECTS, |terms, value| {
        is_state(ground, terms, value) && !is_literal(terms, value)
    }) {
        of_objects.push(terms.eq(owner, object));
    }
    found.push(terms.not(null));
    for property in of_objects {
        found.push(property);
        found.push(terms.or(&[null, property]));
    }
    found
}

/// That two elements belong to different objects, and that they do unless one is null.
pub(super) fn relations(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    access: &Access,
    indices: [TermId; 2],
) -> Vec<TermId> {
    let mut all = Vec::new();
    for index in indices {
        all.extend(owner(ground, terms, access, &[index]));
    }
    let &[one, another] = &all[..] else {
        return Vec::new();
    };
    let same = terms.eq(one, another);
    let apart = terms.not(same);
    let element = access.element(terms, &indices[..1]);
    let null = terms.bv(0, terms.width(element));
    let null = terms.eq(element, null);
    vec![apart, terms.or(&[null, apart])]
}

/// Where the sizes are of the objects that the pointers of a region lead to.
fn extents(ground: &Ground<'_, '_>, region: StateVarId) -> Option<StateVarId> {
    let semantics = ground.semantics;
    let id = semantics.layout.region_of(region)?;
    let region = semantics.points_to.regions().get(id);
    let spot = Spot {
        class: region.class,
        offset: region.start,
    };
    let object = semantics.points_to.pointee(spot)?;
    semantics.layout.ownership()?.extents(object.class)
}

/// The values that steps write to an array of the state, those of a kind.
fn written_to(
    terms: &mut Terms,
    steps: &[Step],
    array: StateVarId,
    most: usize,
    wanted: impl Fn(&Terms, TermId) -> bool,
) -> BTreeSet<TermId> {
    let mut found = BTreeSet::new();
    for step in steps {
        for (id, version) in step.state.written() {
            if id == array {
                let values = stores(terms, version).into_iter().map(|(_, value)| value);
                found.extend(values.filter(|&value| wanted(terms, value)));
            }
        }
    }
    while found.len() > most {
        found.pop_last();
    }
    found
}
