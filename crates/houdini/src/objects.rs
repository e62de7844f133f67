//! What guesses say of pointers where checks ask for the objects that they belong to: which object
//! it is, how far into it a pointer points, how large it is.
//!
//! These are terms over the state rather than parts of it. Guesses call them by names of their own,
//! so that they are variables like all others. Sizes have 64 bits: what the program computes them
//! from is widened, so that affine relations find `size == 4 * n + 1`.

use crate::candidates::Variable;
use crate::fixpoint::Breadth;
use hardbop_cfront::points_to::Spot;
use hardbop_logic::{Sign, TermId, Terms};
use hardbop_semantics::layout::{StateKind, StateVarId};
use hardbop_semantics::live::Live;
use hardbop_semantics::ownership::IDENTITY;
use hardbop_semantics::steps::Ground;

/// The most pointers of a point that are looked at.
const POINTERS: usize = 6;
/// The most integers that are widened.
const INTEGERS: usize = 4;

/// The variables about objects at a point, beside the plain ones.
pub fn variables(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    plain: &[Variable],
    live: &Live,
    breadth: Breadth,
) -> Vec<Variable> {
    let semantics = ground.semantics;
    let mut found = Vec::new();
    let Some(ownership) = semantics.layout.ownership() else {
        return found;
    };
    let lives = |id: StateVarId| live.now.contains(&id);
    let cell = |id: StateVarId| matches!(semantics.layout.get(id).kind, StateKind::Cell { .. });
    let owned = ownership
        .all_owners()
        .filter(|&(pointer, owner)| lives(pointer) && lives(owner) && cell(pointer));
    let mut sizes = false;
    let most = match breadth {
        Breadth::Live => POINTERS,
        Breadth::Touched => usize::MAX,
    };
    for (pointer, owner) in owned.take(most) {
        let owner = semantics.constant(terms, owner);
        let address = semantics.constant(terms, pointer);
        let name = semantics.layout.get(pointer).name.clone();
        found.push(Variable::unsigned(terms, owner, owner));
        let width = terms.width(address);
        let base = terms.resize(owner, width, Sign::Unsigned);
        let offset = terms.bv_sub(address, base);
        let offset = terms.resize(offset, IDENTITY.width, Sign::Unsigned);
        found.push(named(terms, &format!("offset of {name}"), offset));
        let origin = semantics.origin(terms);
        let origin = terms.resize(origin, IDENTITY.width, Sign::Unsigned);
        let distance = terms.bv_sub(owner, origin);
        found.push(named(terms, &format!("place of {name}"), distance));
        let pointee = start(ground, pointer).and_then(|spot| semantics.points_to.pointee(spot));
        let extents = pointee.and_then(|spot| ownership.extents(spot.class));
        if let Some(extents) = extents.filter(|&extents| lives(extents)) {
            let extents = semantics.constant(terms, extents);
            let size = terms.select(extents, owner);
            found.push(named(terms, &format!("size at {name}"), size));
            sizes = true;
        }
    }
    for (_, life) in ownership.lives().filter(|&(_, life)| lives(life)) {
        let life = semantics.constant(terms, life);
        found.push(Variable::unsigned(terms, life, life));
    }
    if sizes {
        found.extend(widened(terms, plain));
    }
    found
}

/// Integers that are narrower than 64 bits, widened to that.
pub fn widened(terms: &mut Terms, plain: &[Variable]) -> Vec<Variable> {
    let mut found = Vec::new();
    let narrow = plain
        .iter()
        .filter(|v| v.signed && v.float.is_none() && v.width < IDENTITY.width);
    for variable in narrow.take(INTEGERS) {
        let wide = terms.resize(variable.term, IDENTITY.width, Sign::Signed);
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
        let sign = match variable.signed {
            true => Sign::Signed,
            false => Sign::Unsigned,
        };
        let wide = terms.resize(variable.term, width, sign);
        found.push(Variable {
            constant: variable.constant,
            term: wide,
            width,
            ..*variable
        });
    }
    found
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
