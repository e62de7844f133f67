//! What is known of a state: a value for each plain state variable of which anything is known.

use crate::value::{Range, Value};
use hardbop_cfront::ids::{PlaceId, TypeId, VarId};
use hardbop_cfront::points_to::{Spot, bit_field};
use hardbop_cfront::types::Type;
use hardbop_semantics::Semantics;
use hardbop_semantics::layout::{StateKind, StateVarId};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The values that are known.
    pub values: BTreeMap<StateVarId, Value>,
    /// The locals that begin and end and live now.
    pub alive: BTreeSet<VarId>,
}

impl State {
    /// What is known where one or the other is.
    pub fn join(&self, other: &State) -> State {
        let mut values = BTreeMap::new();
        for (&id, a) in &self.values {
            if let Some(joined) = other.values.get(&id).and_then(|b| a.join(b)) {
                values.insert(id, joined);
            }
        }
        State {
            values,
            alive: self.alive.intersection(&other.alive).copied().collect(),
        }
    }

    /// The same with what grew since an older state brought to an end soon.
    pub fn widened(
        &self,
        older: &State,
        stops: &[i128],
        all: impl Fn(StateVarId) -> Option<Range>,
    ) -> State {
        let mut values = BTreeMap::new();
        for (&id, new) in &self.values {
            if let Some(old) = older.values.get(&id)
                && let Some(value) = new.widened(old, stops, all(id))
            {
                values.insert(id, value);
            }
        }
        State {
            values,
            alive: self.alive.clone(),
        }
    }

    /// A life of a variable begins or ends: pointers into the one before are into nothing.
    pub fn ends(&mut self, variable: VarId) {
        self.values.retain(|_, value| !value.points_into(variable));
        self.alive.remove(&variable);
    }
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
