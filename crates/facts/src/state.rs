//! What is known of a state: a value for each plain state variable of which anything is known.

use crate::contents::{Part, stored};
use crate::heap::Heap;
use crate::value::{Range, Value};
use hardbop_cfront::ids::{PlaceId, TypeId, VarId};
use hardbop_cfront::points_to::{ClassId, Spot, bit_field};
use hardbop_cfront::types::Type;
use hardbop_semantics::Semantics;
use hardbop_semantics::layout::{StateKind, StateVarId};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The values that are known.
    pub values: BTreeMap<StateVarId, Value>,
    /// What is known of elements of arrays.
    pub contents: BTreeMap<Part, Value>,
    /// What is known of objects on the heap, by class.
    pub heaps: BTreeMap<ClassId, Heap>,
    /// The locals that begin and end and live now.
    pub alive: BTreeSet<VarId>,
}

impl State {
    /// What is known where one or the other is.
    pub fn join(&self, other: &State) -> State {
        let (here, there) = (self.newest_beside(other), other.newest_beside(self));
        if !here.is_empty() || !there.is_empty() {
            // A newest object that is one only here is any of them from now on.
            let (mut a, mut b) = (self.clone(), other.clone());
            here.into_iter().for_each(|class| a.age(class));
            there.into_iter().for_each(|class| b.age(class));
            return a.join(&b);
        }
        let heaps = self.heaps.iter().filter_map(|(&class, heap)| {
            let heap = heap.join(other.heaps.get(&class)?);
            Some((class, heap))
        });
        let mut joined = State {
            values: joined(&self.values, &other.values),
            contents: joined(&self.contents, &other.contents),
            heaps: heaps.collect(),
            alive: self.alive.intersection(&other.alive).copied().collect(),
        };
        joined.settle_nameless();
        joined
    }

    /// The same with what grew since an older state brought to an end soon.
    pub fn widened(&self, semantics: &Semantics<'_>, older: &State, stops: &[i128]) -> State {
        let all = |id: &StateVarId| held(semantics, *id);
        let all_in = |part: &Part| stored(semantics, part.region);
        let heaps = self.heaps.iter().filter_map(|(&class, heap)| {
            let heap = heap.widened(semantics, older.heaps.get(&class)?, stops);
            Some((class, heap))
        });
        let mut widened = State {
            values: widened(&self.values, &older.values, stops, all),
            contents: widened(&self.contents, &older.contents, stops, all_in),
            heaps: heaps.collect(),
            alive: self.alive.clone(),
        };
        widened.settle_nameless();
        widened
    }

    /// A life of a variable begins or ends: pointers into the one before are into nothing.
    pub fn ends(&mut self, variable: VarId) {
        self.values.retain(|_, value| !value.points_into(variable));
        self.contents
            .retain(|part, value| part.variable != variable && !value.points_into(variable));
        for objects in self.heaps.values_mut().flat_map(Heap::objects_mut) {
            objects
                .fields
                .retain(|_, value| !value.points_into(variable));
        }
        self.alive.remove(&variable);
    }
}

/// What is known on both sides.
pub fn joined<K: Copy + Ord>(a: &BTreeMap<K, Value>, b: &BTreeMap<K, Value>) -> BTreeMap<K, Value> {
    let both = a.iter().filter_map(|(&key, a)| {
        let joined = a.join(b.get(&key)?)?;
        Some((key, joined))
    });
    both.collect()
}

/// What is known on both sides, with what grew brought to an end soon.
pub fn widened<K: Copy + Ord>(
    new: &BTreeMap<K, Value>,
    old: &BTreeMap<K, Value>,
    stops: &[i128],
    all: impl Fn(&K) -> Option<Range>,
) -> BTreeMap<K, Value> {
    let both = new.iter().filter_map(|(&key, new)| {
        let value = new.widened(old.get(&key)?, stops, all(&key))?;
        Some((key, value))
    });
    both.collect()
}

/// Whether a variable begins and ends.
pub fn mortal(semantics: &Semantics<'_>, variable: VarId) -> bool {
    let ownership = semantics.layout.ownership();
    ownership.is_some_and(|known| known.life(variable).is_some())
}

/// The plain state variable that all of a scalar place is.
pub fn cell(semantics: &Semantics<'_>, place: PlaceId) -> Option<StateVarId> {
    let spot = semantics.points_to.place(place)?;
    if bit_field(semantics.program, place).is_some() {
        return None;
    }
    cell_at(semantics, spot, semantics.program.place(place).ty)
}

/// The plain state variable that all of a scalar of a type at a spot is.
pub fn cell_at(semantics: &Semantics<'_>, spot: Spot, ty: TypeId) -> Option<StateVarId> {
    let regions = semantics.points_to.regions();
    let region = regions.at(spot)?;
    let id = semantics.layout.region(region);
    let whole = regions.get(region).start == spot.offset;
    let size = semantics.program.types.size_of(ty);
    (whole && semantics.layout.get(id).kind == StateKind::Cell { bytes: size }).then_some(id)
}

/// The numbers of an integer type; `None` for other types, and for the widest.
pub fn numbers(semantics: &Semantics<'_>, ty: TypeId) -> Option<Range> {
    match *semantics.program.types.get(ty) {
        Type::Bool => Some(Range::new(0, 1)),
        Type::Int { width, signed } if width <= 64 => Some(Range::of_width(width, signed)),
        _ => None,
    }
}

/// The numbers that a plain state variable may hold, as its constant in formulas is read.
pub fn held(semantics: &Semantics<'_>, id: StateVarId) -> Option<Range> {
    let shape = semantics.shape(id);
    let plain = matches!(semantics.layout.get(id).kind, StateKind::Cell { .. });
    (plain && shape.float.is_none() && semantics.float(id).is_none() && shape.width <= 64)
        .then(|| Range::of_width(shape.width, shape.signed))
}

/// The same numbers read with another sign or width, if that changes none of them.
pub fn reread(range: Range, all: Range) -> Option<Range> {
    all.covers(range).then_some(range)
}
