//! Addresses, loads and stores.

use crate::exec::Execution;
use crate::expr::Evaluated;
use crate::layout::{StateKind, StateVarId};
use crate::scalar::{self, Shape};
use hardbop_cfront::ids::{ExprId, PlaceId, TypeId, VarId};
use hardbop_cfront::points_to::{Spot, bit_field};
use hardbop_cfront::program::{BinaryOp, PlaceKind};
use hardbop_cfront::types::Type;
use hardbop_logic::{FloatFormat, Sign, TermId, Terms};

/// A scalar in memory: where it lies and how it is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar {
    /// Its class and offset.
    pub spot: Spot,
    /// Its address; only needed where the region is an array.
    pub address: Option<TermId>,
    /// Its type.
    pub ty: TypeId,
    /// For a bit-field, its first bit in its first byte and its width.
    pub bits: Option<(u32, u32)>,
}

impl Execution<'_, '_> {
    /// The address at a distance from the origin.
    pub(crate) fn at_distance(&self, terms: &mut Terms, distance: u64) -> TermId {
        let origin = self.semantics.origin(terms);
        if scalar::is_int(terms, origin) {
            let distance = terms.int(i128::from(distance));
            terms.int_add(&[origin, distance])
        } else {
            let distance = terms.bv(i128::from(distance), terms.width(origin));
            terms.bv_add(origin, distance)
        }
    }

    /// Whether a word is not 0. The axioms say so of the addresses of variables and functions, and
    /// no solver needs to be asked.
    pub(crate) fn is_nonzero(&self, terms: &mut Terms, word: TermId, shape: Shape) -> TermId {
        if self.is_static_address(terms, word) {
            return terms.bool(true);
        }
        let zero = if scalar::is_int(terms, word) {
            terms.int(0)
        } else {
            terms.bv(0, terms.width(word))
        };
        scalar::compare(terms, BinaryOp::Ne, word, zero, shape)
    }

    /// Whether a term is the origin with a distance that lies within static storage.
    fn is_static_address(&self, terms: &mut Terms, term: TermId) -> bool {
        let total = i128::from(self.semantics.layout.total());
        let distance = self.semantics.distance(terms, term);
        distance.is_some_and(|distance| (0..=total).contains(&distance))
    }

    /// Adds a number of bytes to an address.
    pub(crate) fn advance(&self, terms: &mut Terms, address: TermId, bytes: TermId) -> TermId {
        if scalar::is_int(terms, address) {
            terms.int_add(&[address, bytes])
        } else {
            terms.bv_add(address, bytes)
        }
    }

    /// A number of bytes, to add to an address.
    pub(crate) fn bytes(&self, terms: &mut Terms, count: i128) -> TermId {
        match self.semantics.pointer_arithmetic() {
            scalar::Arithmetic::Integers => terms.int(count),
            scalar::Arithmetic::Bits => terms.bv(count, self.semantics.pointer_shape().width),
        }
    }

    /// The value of a pointer expression in the encoding of addresses.
    pub(crate) fn pointer(
        &mut self,
        terms: &mut Terms,
        expr: ExprId,
        evaluated: Evaluated,
    ) -> TermId {
        let value = self.number(terms, expr, evaluated);
        let shape = self.semantics.pointer_shape();
        scalar::encode(terms, value, shape, self.semantics.pointer_arithmetic())
    }

    /// An index times a size, as a number of bytes.
    pub(crate) fn scaled(
        &mut self,
        terms: &mut Terms,
        index: ExprId,
        scale: u64,
        evaluated: Evaluated,
    ) -> TermId {
        let value = self.number(terms, index, evaluated);
        let from = self.shape_of(self.semantics.program.expr(index).ty);
        match self.semantics.pointer_arithmetic() {
            scalar::Arithmetic::Integers => {
                let value = scalar::to_int(terms, value, from);
                let scale = terms.int(i128::from(scale));
                terms.int_mul(&[value, scale])
            }
            scalar::Arithmetic::Bits => {
                let value = scalar::to_bits(terms, value, from);
                let width = self.semantics.pointer_shape().width;
                let sign = if from.signed {
                    Sign::Signed
                } else {
                    Sign::Unsigned
                };
                let wide = terms.resize(value, width, sign);
                let scale = terms.bv(i128::from(scale), width);
                terms.bv_mul(wide, scale)
            }
        }
    }

    /// The address of a variable. One whose address is never taken is at 0: nobody can tell.
    pub(crate) fn variable_address(&mut self, terms: &mut Terms, id: VarId) -> TermId {
        let layout = &self.semantics.layout;
        if let Some(holder) = layout.activation_address(id) {
            return self.state.get(self.semantics, terms, holder);
        }
        match layout.distance(id) {
            Some(distance) => self.at_distance(terms, distance),
            None => self.bytes(terms, 0),
        }
    }

    /// The address of a place.
    pub(crate) fn address(
        &mut self,
        terms: &mut Terms,
        id: PlaceId,
        evaluated: Evaluated,
    ) -> TermId {
        // From the outermost member inwards to the variable or pointer, then out again.
        let program = self.semantics.program;
        let mut steps = Vec::new();
        let mut at = id;
        let mut address = loop {
            match program.place(at).kind {
                PlaceKind::Var(variable) => break self.variable_address(terms, variable),
                PlaceKind::Deref(pointer) => break self.pointer(terms, pointer, evaluated),
                PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => {
                    steps.push(at);
                    at = base;
                }
            }
        };
        for step in steps.into_iter().rev() {
            let place = program.place(step);
            let moved = match place.kind {
                PlaceKind::Field(base, index) => {
                    let offset = match program.types.get(program.place(base).ty) {
                        Type::Record(record) => {
                            program.types.record(*record).fields[index as usize].offset()
                        }
                        _ => 0,
                    };
                    self.bytes(terms, i128::from(offset))
                }
                PlaceKind::Index(_, index) => {
                    let size = program.types.size_of(place.ty);
                    self.scaled(terms, index, size, evaluated)
                }
                PlaceKind::Var(_) | PlaceKind::Deref(_) => continue,
            };
            address = self.advance(terms, address, moved);
        }
        address
    }

    /// Notes that a run which goes on has not gone through a null pointer.
    fn note_dereference(&mut self, terms: &mut Terms, id: PlaceId, evaluated: Evaluated) {
        let program = self.semantics.program;
        let mut at = id;
        loop {
            match program.place(at).kind {
                PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => at = base,
                PlaceKind::Var(_) => return,
                PlaceKind::Deref(pointer) => {
                    if evaluated == Evaluated::Always {
                        let pointer = self.pointer(terms, pointer, evaluated);
                        let fact = self.is_nonzero(terms, pointer, self.semantics.pointer_shape());
                        self.facts.push(fact);
                    }
                    return;
                }
            }
        }
    }

    /// The scalar that a place holds.
    pub(crate) fn scalar(
        &mut self,
        terms: &mut Terms,
        id: PlaceId,
        evaluated: Evaluated,
    ) -> Option<Scalar> {
        self.note_dereference(terms, id, evaluated);
        let spot = self.semantics.points_to.place(id)?;
        let ty = self.semantics.program.place(id).ty;
        let bits = bit_field(self.semantics.program, id);
        let address = match self.kind_at(spot) {
            Some((_, StateKind::Memory { .. })) => Some(self.address(terms, id, evaluated)),
            _ => None,
        };
        Some(Scalar {
            spot,
            address,
            ty,
            bits,
        })
    }

    /// The state variable that holds what lies at a spot.
    pub(crate) fn kind_at(&self, spot: Spot) -> Option<(StateVarId, StateKind)> {
        let region = self.semantics.points_to.regions().at(spot)?;
        let id = self.semantics.layout.region(region);
        Some((id, self.semantics.layout.get(id).kind))
    }

    /// Reads a scalar place.
    pub(crate) fn load(&mut self, terms: &mut Terms, id: PlaceId, evaluated: Evaluated) -> TermId {
        let ty = self.semantics.program.place(id).ty;
        match self.scalar(terms, id, evaluated) {
            Some(scalar) => self.read(terms, scalar),
            None => {
                let sort = scalar::sort(self.shape_of(ty), self.semantics.pointer_arithmetic());
                self.imprecise(terms, "unknown", sort)
            }
        }
    }

    /// How a scalar lies in its bytes: the number of bytes, the first bit and the width.
    fn extent(&self, scalar: &Scalar) -> (u64, u32, u32) {
        match scalar.bits {
            Some((first, width)) => (u64::from((first + width).div_ceil(8)), first, width),
            None => {
                let size = self.semantics.program.types.size_of(scalar.ty);
                (size, 0, size as u32 * 8)
            }
        }
    }

    /// Reads a scalar.
    pub(crate) fn read(&mut self, terms: &mut Terms, scalar: Scalar) -> TermId {
        let to = self.shape_of(scalar.ty);
        let Some((id, kind)) = self.kind_at(scalar.spot) else {
            let sort = scalar::sort(to, self.semantics.pointer_arithmetic());
            return self.imprecise(terms, "unknown", sort);
        };
        let whole = self.state.get(self.semantics, terms, id);
        let shape = self.semantics.shape(id);
        let (bytes, first, width) = self.extent(&scalar);
        let (raw, raw_shape, low) = match (kind, scalar.address) {
            (StateKind::Cell { bytes: all }, _) => {
                let offset = self.offset_in_region(scalar.spot);
                if all == bytes && scalar.bits.is_none() {
                    return self.reinterpret(terms, whole, shape, to);
                }
                (whole, shape, offset as u32 * 8 + first)
            }
            (StateKind::Memory { unit }, Some(address))
                if self.is_in_unit(&scalar, bytes, unit) =>
            {
                let value = terms.select(whole, address);
                let range = scalar::in_range(terms, value, shape);
                self.facts.push(range);
                if scalar.bits.is_none() {
                    return self.reinterpret(terms, value, shape, to);
                }
                (value, shape, first)
            }
            (StateKind::Memory { unit: 1 }, Some(address)) => {
                let mut word = self.byte_at(terms, whole, address, 0, shape);
                for index in 1..bytes {
                    let byte = self.byte_at(terms, whole, address, index, shape);
                    word = terms.concat(byte, word);
                }
                let plain = Shape {
                    width: bytes as u32 * 8,
                    signed: false,
                    float: None,
                };
                (word, plain, first)
            }
            _ => {
                let sort = scalar::sort(to, self.semantics.pointer_arithmetic());
                return self.imprecise(terms, "unknown", sort);
            }
        };
        let raw = scalar::to_bits(terms, raw, raw_shape);
        if low + width > terms.width(raw) {
            let sort = scalar::sort(to, self.semantics.pointer_arithmetic());
            return self.imprecise(terms, "unknown", sort);
        }
        let part = terms.extract(raw, low + width - 1, low);
        let sign = if to.signed {
            Sign::Signed
        } else {
            Sign::Unsigned
        };
        terms.resize(part, to.width, sign)
    }

    fn byte_at(
        &self,
        terms: &mut Terms,
        memory: TermId,
        address: TermId,
        index: u64,
        shape: Shape,
    ) -> TermId {
        let offset = self.bytes(terms, i128::from(index));
        let at = self.advance(terms, address, offset);
        let byte = terms.select(memory, at);
        scalar::to_bits(terms, byte, shape)
    }

    /// A stored value as a value of the type that it is read at: the same bits.
    fn reinterpret(&self, terms: &mut Terms, value: TermId, from: Shape, to: Shape) -> TermId {
        if scalar::is_int(terms, value) && to.float.is_none() {
            return scalar::convert(terms, value, from, to);
        }
        let bits = scalar::to_bits(terms, value, from);
        terms.resize(bits, to.width, Sign::Unsigned)
    }

    pub(crate) fn offset_in_region(&self, spot: Spot) -> u64 {
        let regions = self.semantics.points_to.regions();
        let start = regions.at(spot).map(|region| regions.get(region).start);
        // A region that is all of its class begins nowhere, and holds bytes.
        let start = start.filter(|&start| start != i64::MIN);
        start.map_or(0, |start| (spot.offset - start) as u64)
    }

    /// Writes a scalar place: a value, and for a pointer, to which object it belongs.
    pub(crate) fn store(
        &mut self,
        terms: &mut Terms,
        id: PlaceId,
        value: TermId,
        owner: Option<TermId>,
    ) {
        if let Some(scalar) = self.scalar(terms, id, Evaluated::Always) {
            self.write_pointer(terms, scalar, value, owner);
        }
    }

    /// Writes a scalar that is a pointer to something in this object.
    pub(crate) fn write_pointer(
        &mut self,
        terms: &mut Terms,
        scalar: Scalar,
        value: TermId,
        owner: Option<TermId>,
    ) {
        self.write_bits(terms, scalar, value);
        self.write_owner(terms, &scalar, value, owner);
        self.note_reference(terms, &scalar, value);
    }

    /// Writes a scalar that is not known to be a pointer.
    pub(crate) fn write(&mut self, terms: &mut Terms, scalar: Scalar, value: TermId) {
        self.write_pointer(terms, scalar, value, None);
    }

    fn write_bits(&mut self, terms: &mut Terms, scalar: Scalar, value: TermId) {
        let Some((id, kind)) = self.kind_at(scalar.spot) else {
            // No edge ever reads it: every access has a region.
            return;
        };
        let from = self.shape_of(scalar.ty);
        let value = match from.float {
            Some(format) if self.semantics.sees_nans => self.with_any_nan(terms, value, format),
            _ => value,
        };
        let shape = self.semantics.shape(id);
        let arithmetic = self.semantics.arithmetic(id);
        let (bytes, first, width) = self.extent(&scalar);
        let whole = self.state.get(self.semantics, terms, id);
        let written = match (kind, scalar.address) {
            (StateKind::Cell { bytes: all }, _) => {
                if all == bytes && scalar.bits.is_none() {
                    self.stored(terms, value, from, shape, arithmetic)
                } else {
                    let low = self.offset_in_region(scalar.spot) as u32 * 8 + first;
                    let word = scalar::to_bits(terms, whole, shape);
                    if low + width > terms.width(word) {
                        let sort = self.semantics.sort(terms, id);
                        self.imprecise(terms, "unknown", sort)
                    } else {
                        let part = self.part(terms, value, from, width);
                        let word = insert(terms, word, low, part);
                        scalar::encode(terms, word, shape, arithmetic)
                    }
                }
            }
            (StateKind::Memory { unit }, Some(address))
                if self.is_in_unit(&scalar, bytes, unit) =>
            {
                let new = if scalar.bits.is_none() {
                    self.stored(terms, value, from, shape, arithmetic)
                } else {
                    let old = terms.select(whole, address);
                    let word = scalar::to_bits(terms, old, shape);
                    let part = self.part(terms, value, from, width);
                    let word = insert(terms, word, first, part);
                    scalar::encode(terms, word, shape, arithmetic)
                };
                terms.store(whole, address, new)
            }
            (StateKind::Memory { unit: 1 }, Some(address)) => {
                let part = self.part(terms, value, from, width);
                let word = if scalar.bits.is_some() {
                    let mut word = self.byte_at(terms, whole, address, 0, shape);
                    for index in 1..bytes {
                        let byte = self.byte_at(terms, whole, address, index, shape);
                        word = terms.concat(byte, word);
                    }
                    insert(terms, word, first, part)
                } else {
                    part
                };
                let mut memory = whole;
                for index in 0..bytes {
                    let low = index as u32 * 8;
                    let byte = terms.extract(word, low + 7, low);
                    let byte = scalar::encode(terms, byte, shape, arithmetic);
                    let offset = self.bytes(terms, i128::from(index));
                    let at = self.advance(terms, address, offset);
                    memory = terms.store(memory, at, byte);
                }
                memory
            }
            // A part of a value that edges only access as a whole, as in an initial value that is
            // given as bytes.
            (StateKind::Memory { unit }, Some(address))
                if shape.width == unit as u32 * 8 && self.ends_in_region(&scalar, bytes, unit) =>
            {
                let inside = self.offset_in_region(scalar.spot);
                let back = self.bytes(terms, -i128::from(inside));
                let start = self.advance(terms, address, back);
                let old = terms.select(whole, start);
                let word = scalar::to_bits(terms, old, shape);
                let part = self.part(terms, value, from, width);
                let word = insert(terms, word, inside as u32 * 8 + first, part);
                let new = scalar::encode(terms, word, shape, arithmetic);
                terms.store(whole, start, new)
            }
            // Whatever else is written here makes the region unknown.
            _ => {
                let sort = self.semantics.sort(terms, id);
                self.imprecise(terms, "unknown", sort)
            }
        };
        self.state.set(id, written);
    }

    /// A float that is any NaN if it is one that an operation gave.
    pub(crate) fn with_any_nan(
        &mut self,
        terms: &mut Terms,
        value: TermId,
        format: FloatFormat,
    ) -> TermId {
        terms.with_nan(value, format, &mut |terms, term| {
            let sort = terms.sort(term);
            self.imprecise(terms, "nan", sort)
        })
    }

    /// Whether a scalar is a value that its region holds, or some bits of one, at its address.
    fn is_in_unit(&self, scalar: &Scalar, bytes: u64, unit: u64) -> bool {
        let bits = scalar.bits.is_some() && self.offset_in_region(scalar.spot) == 0;
        unit == bytes || bytes < unit && bits
    }

    /// Whether a part of a value lies inside the value that its region holds there.
    fn ends_in_region(&self, scalar: &Scalar, bytes: u64, unit: u64) -> bool {
        self.offset_in_region(scalar.spot) + bytes <= unit
    }

    /// A value in the encoding in which a state variable holds it.
    pub(crate) fn stored(
        &self,
        terms: &mut Terms,
        value: TermId,
        from: Shape,
        shape: Shape,
        arithmetic: scalar::Arithmetic,
    ) -> TermId {
        if scalar::is_int(terms, value) && arithmetic == scalar::Arithmetic::Integers {
            return scalar::convert(terms, value, from, shape);
        }
        let bits = scalar::to_bits(terms, value, from);
        let bits = terms.resize(bits, shape.width, Sign::Unsigned);
        scalar::encode(terms, bits, shape, arithmetic)
    }

    /// The low bits of a value.
    fn part(&self, terms: &mut Terms, value: TermId, from: Shape, width: u32) -> TermId {
        let bits = scalar::to_bits(terms, value, from);
        terms.resize(bits, width, Sign::Unsigned)
    }
}

/// A word with some of its bits replaced.
fn insert(terms: &mut Terms, word: TermId, low: u32, part: TermId) -> TermId {
    let width = terms.width(word);
    let size = terms.width(part);
    let mut out = part;
    if low > 0 {
        let below = terms.extract(word, low - 1, 0);
        out = terms.concat(out, below);
    }
    if low + size < width {
        let above = terms.extract(word, width - 1, low + size);
        out = terms.concat(above, out);
    }
    out
}
