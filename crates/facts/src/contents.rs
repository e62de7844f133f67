//! What is known of arrays in memory: of all elements together, and of some by themselves.
//!
//! Elements are told apart by the variable that they are in and how far from its beginning. What is
//! written to one that is known by its distance takes its place; what is written to one of several
//! joins what they hold; what is written nobody knows where makes all of its region unknown.

use crate::eval::{DEPTH, Reader};
use crate::state::{State, mortal};
use crate::value::{Base, Range, Value};
use hardbop_cfront::ids::{ExprId, PlaceId, TypeId, VarId};
use hardbop_cfront::points_to::{Spot, bit_field};
use hardbop_cfront::program::{Op, PlaceKind};
use hardbop_cfront::types::Type;
use hardbop_semantics::Semantics;
use hardbop_semantics::layout::{StateKind, StateVarId};
use std::collections::BTreeMap;

/// A part of memory of which something is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// The region.
    pub region: StateVarId,
    /// The variable that the elements are in.
    pub variable: VarId,
    /// Which of them.
    pub which: Which,
}

/// Which elements of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Which {
    /// All of them.
    All,
    /// The one so many bytes from the variable's beginning.
    At(i128),
}

/// Where the elements of a variable are that lie in one region: evenly apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// How far the first one is from the variable's beginning.
    pub first: i128,
    /// How far they are apart.
    pub stride: i128,
    /// How many there are.
    pub count: i128,
}

/// What an access by name or by pointer may be to: variables, and how far from their beginnings.
pub type Targets = BTreeMap<VarId, Range>;

/// The most scalars of a type that are looked at.
const LEAVES: usize = 64;
/// So many elements are known one by one at most until all of them are.
const ELEMENTS: usize = 64;
/// The most elements of a variable that are known by themselves where all of them are.
pub const FEW: usize = 16;

impl Row {
    /// The last element.
    pub fn last(self) -> i128 {
        self.first + (self.count - 1) * self.stride
    }
}

/// The elements of a variable that lie in a region, if they lie evenly apart.
pub fn row(semantics: &Semantics<'_>, region: StateVarId, variable: VarId) -> Option<Row> {
    let program = semantics.program;
    let spot = semantics.points_to.variable(variable)?;
    let regions = semantics.points_to.regions();
    let mut found = None;
    let mut work: Vec<(u64, TypeId, Row)> = Vec::new();
    let alone = Row {
        first: 0,
        stride: 1,
        count: 1,
    };
    work.push((0, program.variable(variable).ty, alone));
    let mut looked = 0;
    while let Some((offset, ty, outer)) = work.pop() {
        looked += 1;
        if looked > LEAVES {
            return None;
        }
        match program.types.get(ty) {
            &Type::Array { element, length } => {
                let stride = i128::from(program.types.size_of(element));
                let length = i128::from(length);
                // Rows of rows are one row if they leave nothing out.
                let inner = match outer.count == 1 || outer.stride == stride * length {
                    true => Row {
                        first: 0,
                        stride,
                        count: outer.count * length,
                    },
                    false if length == 1 => outer,
                    false => return None,
                };
                work.push((offset, element, inner));
            }
            Type::Record(record) => {
                for field in &program.types.record(*record).fields {
                    if field.bit_width.is_some() {
                        return None;
                    }
                    work.push((offset + field.offset(), field.ty, outer));
                }
            }
            _ => {
                let at = semantics.points_to.part(spot, offset as i64);
                let here = regions.at(at).map(|id| semantics.layout.region(id));
                if here != Some(region) {
                    continue;
                }
                let row = Row {
                    first: i128::from(offset),
                    ..outer
                };
                if found.replace(row).is_some() {
                    return None;
                }
            }
        }
    }
    found.filter(|row| row.count > 0)
}

/// The region of an element of an array that a scalar place is all of.
pub fn element(semantics: &Semantics<'_>, place: PlaceId) -> Option<StateVarId> {
    if bit_field(semantics.program, place).is_some() {
        return None;
    }
    let spot = semantics.points_to.place(place)?;
    let ty = semantics.program.place(place).ty;
    element_at(semantics, spot, ty)
}

/// The same for a scalar of a type at a spot.
pub fn element_at(semantics: &Semantics<'_>, spot: Spot, ty: TypeId) -> Option<StateVarId> {
    let types = &semantics.program.types;
    let id = semantics
        .layout
        .region(semantics.points_to.regions().at(spot)?);
    let unit = types.size_of(ty);
    (types.is_scalar(ty) && semantics.layout.get(id).kind == StateKind::Memory { unit })
        .then_some(id)
}

/// The numbers that an element in a region may be, as it is read.
pub fn stored(semantics: &Semantics<'_>, region: StateVarId) -> Option<Range> {
    let shape = semantics.shape(region);
    let array = matches!(semantics.layout.get(region).kind, StateKind::Memory { .. });
    (array && shape.float.is_none() && shape.width <= 64)
        .then(|| Range::of_width(shape.width, shape.signed))
}

/// What a place may be, where all of it lies in variables that live.
pub fn targets(reader: &Reader<'_, '_>, place: PlaceId, depth: u32) -> Option<Targets> {
    let program = reader.semantics.program;
    let size = program.types.size_of(program.place(place).ty);
    let mut root = place;
    let bases = loop {
        match program.place(root).kind {
            PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => root = base,
            PlaceKind::Var(variable) => {
                let offset = reader.distance(place, depth)?;
                break BTreeMap::from([(Base::Variable(variable), offset)]);
            }
            PlaceKind::Deref(_) => break reader.address(place, depth)?,
        }
    };
    inside(reader, bases, i128::from(size))
}

/// The variables that so many bytes from a pointer on lie in, where all of them do.
fn inside(reader: &Reader<'_, '_>, bases: BTreeMap<Base, Range>, size: i128) -> Option<Targets> {
    let semantics = reader.semantics;
    let mut found = Targets::new();
    for (base, range) in bases {
        let Base::Variable(variable) = base else {
            return None;
        };
        let length = semantics
            .program
            .types
            .size_of(semantics.program.variable(variable).ty);
        let lives = semantics.layout.activation_address(variable).is_none()
            && (!mortal(semantics, variable) || reader.state.alive.contains(&variable));
        if !lives || range.low < 0 || range.high.checked_add(size)? > i128::from(length) {
            return None;
        }
        found.insert(variable, range);
    }
    Some(found)
}

/// What an element holds that may be any of some.
pub fn held_by(state: &State, region: StateVarId, targets: &Targets) -> Option<Value> {
    let mut found: Option<Value> = None;
    for (&variable, range) in targets {
        let part = |which| Part {
            region,
            variable,
            which,
        };
        let by_itself = range
            .single()
            .and_then(|at| state.contents.get(&part(Which::At(at))));
        let known = by_itself.or_else(|| state.contents.get(&part(Which::All)))?;
        found = Some(match found {
            None => known.clone(),
            Some(value) => value.join(known)?,
        });
    }
    found
}

impl State {
    /// Nothing is known any more of a region, or of what a variable has in it.
    pub fn spoil(&mut self, region: StateVarId, only: Option<&Targets>) {
        self.contents.retain(|part, _| {
            part.region != region
                || only.is_some_and(|targets| !targets.contains_key(&part.variable))
        });
    }

    /// A value is written to one of some elements; it may be unknown.
    pub fn write(
        &mut self,
        semantics: &Semantics<'_>,
        region: StateVarId,
        targets: &Targets,
        value: Option<&Value>,
    ) {
        let only = match (targets.len(), targets.iter().next()) {
            (1, Some((&variable, range))) => range.single().map(|at| (variable, at)),
            _ => None,
        };
        for (&variable, range) in targets {
            let hit = |part: &Part| {
                part.region == region
                    && part.variable == variable
                    && match part.which {
                        Which::All => true,
                        Which::At(at) => range.has(at),
                    }
            };
            let hits: Vec<Part> = self.contents.keys().copied().filter(hit).collect();
            for part in hits {
                let joined = value.and_then(|value| self.contents[&part].join(value));
                match joined {
                    Some(joined) => self.contents.insert(part, joined),
                    None => self.contents.remove(&part),
                };
            }
        }
        let Some((variable, at)) = only else {
            for &variable in targets.keys() {
                self.forget_plain(region, variable);
            }
            return;
        };
        let part = Part {
            region,
            variable,
            which: Which::At(at),
        };
        match value {
            Some(value) => self.contents.insert(part, value.clone()),
            None => self.contents.remove(&part),
        };
        self.settle(semantics, region, variable);
    }

    /// What is known of an element and of all others, too, need not be said of it.
    fn forget_plain(&mut self, region: StateVarId, variable: VarId) {
        let all = self.contents.get(&Part {
            region,
            variable,
            which: Which::All,
        });
        let all = all.cloned();
        self.contents.retain(|part, value| {
            part.which == Which::All
                || part.region != region
                || part.variable != variable
                || Some(&*value) != all.as_ref()
        });
    }

    /// Where each element is known, all are, and few need be known by themselves.
    fn settle(&mut self, semantics: &Semantics<'_>, region: StateVarId, variable: VarId) {
        let at = |which| Part {
            region,
            variable,
            which,
        };
        let known: Vec<Part> = self
            .contents
            .range(at(Which::At(i128::MIN))..=at(Which::At(i128::MAX)))
            .map(|(&part, _)| part)
            .collect();
        let Some(row) = row(semantics, region, variable) else {
            known.iter().for_each(|part| {
                self.contents.remove(part);
            });
            return;
        };
        if known.len() as i128 == row.count {
            let mut values = known.iter().map(|part| self.contents[part].clone());
            let first = values.next();
            let all = values.fold(first, |all, value| all?.join(&value));
            if let Some(all) = all {
                self.contents.insert(at(Which::All), all);
            }
        }
        let all = self.contents.contains_key(&at(Which::All));
        if known.len() > ELEMENTS || all && known.len() > FEW {
            for part in known {
                if part.which != Which::At(row.last()) {
                    self.contents.remove(&part);
                }
            }
        }
    }
}

/// What is known of memory after a plain edge that writes to a region, by what is known before.
pub fn written(reader: &Reader<'_, '_>, next: &mut State, op: &Op, regions: &[StateVarId]) {
    let semantics = reader.semantics;
    let arrays = regions
        .iter()
        .copied()
        .filter(|&region| matches!(semantics.layout.get(region).kind, StateKind::Memory { .. }));
    let spoil = |next: &mut State, only: Option<&Targets>| {
        arrays.clone().for_each(|region| next.spoil(region, only));
    };
    match *op {
        Op::Assign { place, .. } | Op::Input { place, .. } | Op::Havoc { place } => {
            let targets = targets(reader, place, DEPTH);
            match (element(semantics, place), targets) {
                (Some(region), Some(targets)) => {
                    let value = match *op {
                        Op::Assign { value, .. } => reader.value(value),
                        _ => None,
                    };
                    let value = value.and_then(|value| fits(semantics, region, value));
                    next.write(semantics, region, &targets, value.as_ref());
                }
                (_, targets) => spoil(next, targets.as_ref()),
            }
        }
        Op::FillMemory { to, byte, size } => {
            let targets = many(reader, to, size);
            spoil(next, targets.as_ref());
            let zero = reader.number(byte) == Some(Range::of(0));
            if let (true, Some(targets), Some(size)) = (zero, targets, reader.number(size)) {
                for region in arrays.clone() {
                    fill(semantics, next, region, &targets, size);
                }
            }
        }
        Op::CopyMemory { to, size, .. } => spoil(next, many(reader, to, size).as_ref()),
        // The life that begins says what is known of it.
        Op::Declare { .. } => {}
        _ => spoil(next, None),
    }
}

/// What so many bytes from a pointer on may be.
fn many(reader: &Reader<'_, '_>, to: ExprId, size: ExprId) -> Option<Targets> {
    let Some(Value::Pointer(bases)) = reader.value(to) else {
        return None;
    };
    inside(reader, bases, reader.number(size)?.high)
}

/// All of a variable is filled with zero bytes.
fn fill(
    semantics: &Semantics<'_>,
    next: &mut State,
    region: StateVarId,
    targets: &Targets,
    size: Range,
) {
    let (Some((&variable, at)), 1) = (targets.iter().next(), targets.len()) else {
        return;
    };
    let length = semantics
        .program
        .types
        .size_of(semantics.program.variable(variable).ty);
    let whole = *at == Range::of(0) && size == Range::of(i128::from(length));
    if whole
        && stored(semantics, region).is_some()
        && !is_pointer(semantics, region)
        && row(semantics, region, variable).is_some()
    {
        let part = Part {
            region,
            variable,
            which: Which::All,
        };
        next.contents.insert(part, Value::Number(Range::of(0)));
    }
}

/// Whether the elements in a region are pointers.
pub fn is_pointer(semantics: &Semantics<'_>, region: StateVarId) -> bool {
    let ty = semantics.layout.get(region).ty;
    ty.is_some_and(|ty| matches!(semantics.program.types.get(ty), Type::Pointer(_)))
}

/// A value as an element of a region holds it, if it says anything.
pub fn fits(semantics: &Semantics<'_>, region: StateVarId, value: Value) -> Option<Value> {
    match value {
        Value::Pointer(_) => is_pointer(semantics, region).then_some(value),
        Value::Number(range) => {
            let all = stored(semantics, region).filter(|_| !is_pointer(semantics, region))?;
            // An element keeps the bits, however they are read.
            let range = crate::eval::wrapped(range, all);
            (range != all).then_some(Value::Number(range))
        }
    }
}
