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
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::layout::{StateKind, StateVarId};
use hardbop_semantics::live::Live;
use hardbop_semantics::ownership::IDENTITY;
use hardbop_semantics::steps::Ground;

/// The most pointers of a point that are looked at.
const POINTERS: usize = 6;
/// The most pointers in the objects that these point to.
const INSIDE: usize = 4;
/// The most integers in the objects that pointers point to, where functions are looked at one by
/// one.
const NUMBERS_TOUCHED: usize = 12;
/// The most integers that are widened.
const INTEGERS: usize = 4;
/// Narrower integers count nothing that objects have room for.
const COUNTED: u32 = 16;

/// What is said of a pointer.
struct Pointer {
    /// Where it points.
    address: Variable,
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

impl Pointer {
    /// Whether a variable is the pointer, or the object that it belongs to.
    fn is(&self, variable: &Variable) -> bool {
        [self.address, self.owner].contains(variable)
    }
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
    let seen = seen(ground, terms, live, breadth);
    let sizes = seen.pointers.iter().any(|pointer| pointer.size.is_some());
    for pointer in seen.pointers {
        let plain = pointer.address.constant == pointer.address.term;
        found.extend((!plain).then_some(pointer.address));
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
    found.extend(seen.numbers);
    found
}

/// Guesses about pointers at a point: there is no object, or it has room for one element, or for as
/// many as one of the program's numbers says, and pointers are inside of their objects.
pub fn rooms(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    variables: &[Variable],
    live: &Live,
    (breadth, much): (Breadth, bool),
) -> Vec<TermId> {
    let Seen { pointers, numbers } = seen(ground, terms, live, breadth);
    let counts = counts(variables, &pointers).chain(&numbers);
    let counts: Vec<&Variable> = counts.collect();
    let mut found = Vec::new();
    let frontier = frontier(ground, terms, live);
    for pointer in &pointers {
        let Some(size) = pointer.size else { continue };
        found.push(terms.bv_ult(pointer.offset.constant, size.constant));
        let element = terms.bv(i128::from(pointer.element), IDENTITY.width);
        let nothing = terms.bv(0, pointer.address.width);
        let null = terms.eq(pointer.address.constant, nothing);
        let is_there = terms.not(null);
        if much {
            // What is taken from the heap is null or there.
            let whole = terms.bv(0, IDENTITY.width);
            let begins = terms.eq(pointer.offset.constant, whole);
            let one = terms.bv_ult(element, size.constant);
            found.extend([is_there, begins, one]);
            found.push(terms.or(&[null, begins]));
            found.push(terms.or(&[null, one]));
            // No object goes around the end of memory, so what points into one is not null.
            let end = terms.bv_add(pointer.owner.constant, size.constant);
            found.push(terms.bv_ule(pointer.owner.constant, end));
        }
        // What is allocated next is another object.
        if let Some(frontier) = frontier.filter(|_| much) {
            let end = terms.resize(frontier.constant, IDENTITY.width, Sign::Unsigned);
            found.push(terms.bv_ult(pointer.owner.constant, end));
        }
        for count in &counts {
            let wide = terms.resize(count.constant, IDENTITY.width, sign(count));
            let bytes = terms.bv_mul(wide, element);
            let room = terms.bv_ult(bytes, size.constant);
            found.push(room);
            if !much {
                continue;
            }
            // There is an element at that index.
            let end = terms.bv_add(bytes, element);
            let more = terms.bv_ult(end, size.constant);
            found.push(more);
            let zero = terms.bv(0, count.width);
            let empty = terms.eq(count.constant, zero);
            for fact in [room, more] {
                found.push(terms.or(&[null, fact]));
            }
            found.push(terms.or(&[is_there, empty]));
        }
    }
    if much {
        found.extend(orders(terms, &numbers));
    }
    found
}

/// The variables that may say how many there are of something.
fn counts<'a>(
    variables: &'a [Variable],
    pointers: &'a [Pointer],
) -> impl Iterator<Item = &'a Variable> {
    variables.iter().filter(|variable| {
        let mut objects = pointers.iter();
        let plain = variable.constant == variable.term && variable.float.is_none();
        plain && variable.width >= COUNTED && !objects.any(|pointer| pointer.is(variable))
    })
}

/// Of the variables at a point, those that are numbers: nothing about pointers, and nothing about
/// the objects that they point to but the numbers in them.
pub fn numbers(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    variables: &[Variable],
    live: &Live,
    breadth: Breadth,
) -> Vec<Variable> {
    let semantics = ground.semantics;
    let seen = seen(ground, terms, live, breadth);
    let is_number = |variable: &&Variable| {
        let id = match ground.constants.meaning(variable.term) {
            Some(Meaning::Now(id) | Meaning::Old(id)) => id,
            _ => return false,
        };
        let described = semantics.layout.get(id);
        let types = &semantics.program.types;
        let pointer = described
            .ty
            .is_some_and(|ty| matches!(types.get(ty), Type::Pointer(_)));
        matches!(described.kind, StateKind::Cell { .. }) && !pointer
    };
    let plain = variables.iter().filter(is_number).copied();
    let inside = seen
        .numbers
        .iter()
        .filter(|inside| variables.contains(inside));
    plain.chain(inside.copied()).collect()
}

/// Where memory ends that is taken, if that is live.
pub fn frontier(ground: &Ground<'_, '_>, terms: &mut Terms, live: &Live) -> Option<Variable> {
    let frontier = ground.semantics.layout.frontier();
    let sizes = ground.semantics.layout.ownership()?.all_extents().next();
    (sizes.is_some() && live.now.contains(&frontier)).then(|| {
        let frontier = ground.semantics.constant(terms, frontier);
        Variable::unsigned(terms, frontier, frontier)
    })
}

/// How numbers in the objects that pointers point to may compare: what is in use of something is at
/// most what there is.
fn orders(terms: &mut Terms, numbers: &[Variable]) -> Vec<TermId> {
    let mut found = Vec::new();
    for (index, a) in numbers.iter().enumerate() {
        for b in numbers[index + 1..].iter().filter(|b| b.width == a.width) {
            for (low, high) in [(a, b), (b, a)] {
                let (low, high) = (low.constant, high.constant);
                found.extend(match a.signed || b.signed {
                    true => [terms.bv_sle(low, high), terms.bv_slt(low, high)],
                    false => [terms.bv_ule(low, high), terms.bv_ult(low, high)],
                });
            }
        }
    }
    found
}

/// What is looked at at a point.
#[derive(Default)]
struct Seen {
    /// Plain pointers, and those in the objects that these point to.
    pointers: Vec<Pointer>,
    /// Integers in the objects that plain pointers point to.
    numbers: Vec<Variable>,
}

/// What is looked at at a point.
fn seen(ground: &Ground<'_, '_>, terms: &mut Terms, live: &Live, breadth: Breadth) -> Seen {
    let semantics = ground.semantics;
    let mut seen = Seen::default();
    let Some(ownership) = semantics.layout.ownership() else {
        return seen;
    };
    let lives = |id: StateVarId| live.now.contains(&id);
    let cell = |id: StateVarId| matches!(semantics.layout.get(id).kind, StateKind::Cell { .. });
    let owned = ownership
        .all_owners()
        .filter(|&(pointer, owner)| lives(pointer) && lives(owner) && cell(pointer));
    let (most, most_inside, most_numbers) = match breadth {
        Breadth::Live => (POINTERS, INSIDE, INSIDE),
        Breadth::Touched => (usize::MAX, 0, NUMBERS_TOUCHED),
    };
    let mut inside = Vec::new();
    for (pointer, owner) in owned.take(most) {
        let address = semantics.constant(terms, pointer);
        let owner = semantics.constant(terms, owner);
        let name = semantics.layout.get(pointer).name.clone();
        let held = Held {
            in_region: pointer,
            address: Variable::unsigned(terms, address, address),
            owner: Variable::unsigned(terms, owner, owner),
        };
        seen.pointers
            .push(described(ground, terms, live, &name, held));
        let pointee = start(ground, pointer).and_then(|spot| semantics.points_to.pointee(spot));
        // Elements of arrays are no more than any others.
        let types = &semantics.program.types;
        let to = semantics.layout.get(pointer).ty.map(|ty| types.get(ty));
        let is_record =
            matches!(to, Some(&Type::Pointer(to)) if matches!(types.get(to), Type::Record(_)));
        let Some(object) = pointee.filter(|_| is_record) else {
            continue;
        };
        for region in semantics.points_to.regions().of_class(object.class) {
            let id = semantics.layout.region(region);
            let distance = semantics.points_to.regions().get(region).start - object.offset;
            let memory = matches!(semantics.layout.get(id).kind, StateKind::Memory { .. });
            if memory && lives(id) && distance >= 0 {
                let bytes = terms.bv(i128::from(distance), terms.width(address));
                let place = terms.bv_add(address, bytes);
                inside.push((format!("{name}->{distance}"), id, place));
            }
        }
    }
    for (name, id, place) in inside {
        let memory = semantics.constant(terms, id);
        let value = terms.select(memory, place);
        let value = named(terms, &name, value);
        let owners = ownership.owners(id).filter(|&owners| lives(owners));
        let shape = semantics.shape(id);
        match owners {
            Some(owners)
                if shape.width == semantics.pointer_shape().width
                    && seen.pointers.len() < most.saturating_add(most_inside) =>
            {
                let owners = semantics.constant(terms, owners);
                let owner = terms.select(owners, place);
                let held = Held {
                    in_region: id,
                    address: value,
                    owner: named(terms, &format!("owner of {name}"), owner),
                };
                seen.pointers
                    .push(described(ground, terms, live, &name, held));
            }
            None if shape.float.is_none()
                && (COUNTED..=IDENTITY.width).contains(&shape.width)
                && seen.numbers.len() < most_numbers =>
            {
                seen.numbers.push(Variable {
                    signed: shape.signed,
                    ..value
                });
            }
            _ => {}
        }
    }
    seen
}

/// A pointer, and whom it belongs to.
struct Held {
    /// The region that it is in.
    in_region: StateVarId,
    address: Variable,
    owner: Variable,
}

/// What is said of a pointer.
fn described(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    live: &Live,
    name: &str,
    held: Held,
) -> Pointer {
    let semantics = ground.semantics;
    let (address, owner) = (held.address.term, held.owner.term);
    let base = terms.resize(owner, held.address.width, Sign::Unsigned);
    let offset = terms.bv_sub(address, base);
    let offset = terms.resize(offset, IDENTITY.width, Sign::Unsigned);
    let origin = semantics.origin(terms);
    let origin = terms.resize(origin, IDENTITY.width, Sign::Unsigned);
    let distance = terms.bv_sub(owner, origin);
    let pointee = start(ground, held.in_region).and_then(|at| semantics.points_to.pointee(at));
    let ownership = semantics.layout.ownership();
    let extents = pointee.and_then(|spot| ownership?.extents(spot.class));
    let extents = extents.filter(|extents| live.now.contains(extents));
    let size = extents.map(|extents| {
        let extents = semantics.constant(terms, extents);
        let size = terms.select(extents, owner);
        named(terms, &format!("size at {name}"), size)
    });
    let types = &semantics.program.types;
    let ty = semantics.layout.get(held.in_region).ty;
    let element = match ty.map(|ty| types.get(ty)) {
        Some(&Type::Pointer(to)) => types.size_of(to),
        _ => 1,
    };
    Pointer {
        address: held.address,
        owner: held.owner,
        offset: named(terms, &format!("offset of {name}"), offset),
        place: named(terms, &format!("place of {name}"), distance),
        size,
        element: element.max(1),
    }
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
