//! What guesses say of pointers where checks ask for the objects that they belong to: which object
//! it is, how far into it a pointer points, how large it is.
//!
//! These are terms over the state rather than parts of it. Guesses call them by names of their own,
//! so that they are variables like all others. Sizes have 64 bits: what the program computes them
//! from is widened, so that affine relations find `size == 4 * n + 1`.

use crate::candidates::Variable;
use crate::fixpoint::Breadth;
use hardbop_cfront::points_to::Spot;
use hardbop_cfront::types::Type;
use hardbop_logic::{Sign, TermId, Terms};
use hardbop_semantics::layout::{StateKind, StateVarId};
use hardbop_semantics::live::Live;
use hardbop_semantics::ownership::IDENTITY;
use hardbop_semantics::steps::Ground;

/// The most pointers of a point that are looked at.
const POINTERS: usize = 6;
/// The most integers that are widened.
const INTEGERS: usize = 4;

/// What is said of a pointer.
struct Pointer {
    /// Which object it belongs to.
    owner: Variable,
    /// How far into the object it points.
    offset: Variable,
    /// Where the object is, counted from the origin.
    place: Variable,
    /// One more than the object's size, where that is part of the state.
    size: Option<Variable>,
    /// How large what it points to is.
    element: u64,
}

/// The variables about objects at a point, beside the plain ones.
pub fn variables(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    plain: &[Variable],
    live: &Live,
    breadth: Breadth,
) -> Vec<Variable> {
    let mut found = Vec::new();
    let Some(ownership) = ground.semantics.layout.ownership() else {
        return found;
    };
    let pointers = pointers(ground, terms, live, breadth);
    let sizes = pointers.iter().any(|pointer| pointer.size.is_some());
    for pointer in pointers {
        found.extend([pointer.owner, pointer.offset, pointer.place]);
        found.extend(pointer.size);
    }
    let lives = ownership.lives();
    for (_, life) in lives.filter(|(_, life)| live.now.contains(life)) {
        let life = ground.semantics.constant(terms, life);
        found.push(Variable::unsigned(terms, life, life));
    }
    if sizes {
        found.extend(widened(terms, plain));
    }
    found
}

/// Guesses about pointers at a point: an object has room for as many elements as one of the program's
/// numbers says, and pointers are inside of their objects.
pub fn rooms(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    variables: &[Variable],
    live: &Live,
    breadth: Breadth,
) -> Vec<TermId> {
    let mut found = Vec::new();
    for pointer in pointers(ground, terms, live, breadth) {
        let Some(size) = pointer.size else { continue };
        found.push(terms.bv_ult(pointer.offset.constant, size.constant));
        let counts = |variable: &&Variable| {
            let own = [pointer.owner, pointer.offset, pointer.place, size].contains(variable);
            !own && variable.float.is_none() && variable.width == IDENTITY.width
        };
        for count in variables.iter().filter(counts) {
            let element = terms.bv(i128::from(pointer.element), IDENTITY.width);
            let bytes = terms.bv_mul(count.constant, element);
            found.push(terms.bv_ult(bytes, size.constant));
        }
    }
    found
}

/// The pointers at a point that are looked at.
fn pointers(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    live: &Live,
    breadth: Breadth,
) -> Vec<Pointer> {
    let semantics = ground.semantics;
    let Some(ownership) = semantics.layout.ownership() else {
        return Vec::new();
    };
    let lives = |id: StateVarId| live.now.contains(&id);
    let cell = |id: StateVarId| matches!(semantics.layout.get(id).kind, StateKind::Cell { .. });
    let owned = ownership
        .all_owners()
        .filter(|&(pointer, owner)| lives(pointer) && lives(owner) && cell(pointer));
    let most = match breadth {
        Breadth::Live => POINTERS,
        Breadth::Touched => usize::MAX,
    };
    let mut found = Vec::new();
    for (pointer, owner) in owned.take(most) {
        let owner = semantics.constant(terms, owner);
        let address = semantics.constant(terms, pointer);
        let described = semantics.layout.get(pointer);
        let name = described.name.clone();
        let width = terms.width(address);
        let base = terms.resize(owner, width, Sign::Unsigned);
        let offset = terms.bv_sub(address, base);
        let offset = terms.resize(offset, IDENTITY.width, Sign::Unsigned);
        let origin = semantics.origin(terms);
        let origin = terms.resize(origin, IDENTITY.width, Sign::Unsigned);
        let distance = terms.bv_sub(owner, origin);
        let pointee = start(ground, pointer).and_then(|spot| semantics.points_to.pointee(spot));
        let extents = pointee.and_then(|spot| ownership.extents(spot.class));
        let size = extents.filter(|&extents| lives(extents)).map(|extents| {
            let extents = semantics.constant(terms, extents);
            let size = terms.select(extents, owner);
            named(terms, &format!("size at {name}"), size)
        });
        let types = &semantics.program.types;
        let element = match described.ty.map(|ty| types.get(ty)) {
            Some(&Type::Pointer(to)) => types.size_of(to),
            _ => 1,
        };
        found.push(Pointer {
            owner: Variable::unsigned(terms, owner, owner),
            offset: named(terms, &format!("offset of {name}"), offset),
            place: named(terms, &format!("place of {name}"), distance),
            size,
            element: element.max(1),
        });
    }
    found
}

/// Integers that are narrower than 64 bits, widened to that.
pub fn widened(terms: &mut Terms, plain: &[Variable]) -> Vec<Variable> {
    let mut found = Vec::new();
    let narrow = plain
        .iter()
        .filter(|v| v.float.is_none() && v.width < IDENTITY.width);
    for variable in narrow.take(INTEGERS) {
        let wide = terms.resize(variable.term, IDENTITY.width, sign(variable));
        let name = format!("wide {}", terms.infix(variable.constant));
        found.push(named(terms, &name, wide));
    }
    found
}

/// Integers that are narrower than this, widened as the program would.
pub fn widened_to(terms: &mut Terms, plain: &[Variable], width: u32) -> Vec<Variable> {
    let mut found = Vec::new();
    for variable in plain
        .iter()
        .filter(|v| v.float.is_none() && v.width < width)
    {
        let wide = terms.resize(variable.term, width, sign(variable));
        found.push(Variable {
            constant: variable.constant,
            term: wide,
            width,
            ..*variable
        });
    }
    found
}

/// How a variable is widened.
fn sign(variable: &Variable) -> Sign {
    match variable.signed {
        true => Sign::Signed,
        false => Sign::Unsigned,
    }
}

/// Where a region begins.
fn start(ground: &Ground<'_, '_>, variable: StateVarId) -> Option<Spot> {
    let semantics = ground.semantics;
    let region = semantics.layout.region_of(variable)?;
    let region = semantics.points_to.regions().get(region);
    Some(Spot {
        class: region.class,
        offset: region.start,
    })
}

/// A term under a name of its own.
fn named(terms: &mut Terms, name: &str, term: TermId) -> Variable {
    let sort = terms.sort(term);
    let constant = terms.constant(&format!("#{name}"), sort);
    Variable::unsigned(terms, constant, term)
}
