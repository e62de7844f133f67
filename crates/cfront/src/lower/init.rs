//! Initialisers: of static storage as data, of automatic storage as assignments.

use super::Lower;
use crate::ids::{ExprId, PlaceId, TypeId};
use crate::program::*;
use crate::types::{RecordKind, Type};
use hardbop_diagnostics::Diagnostic;
use rucc_sema as sema;
use rucc_types as rt;
use std::collections::BTreeMap;

/// Up to so many scalars, an object is initialised one scalar at a time; beyond, it is filled
/// with zeros as a whole first.
const FEW_SCALARS: usize = 128;

/// A scalar part of an object.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    place: PlaceId,
    start: u64,
    end: u64,
}

impl Lower<'_> {
    /// Initialises an automatic object.
    pub(super) fn initialise(&mut self, place: PlaceId, ty: rt::TypeId, init: sema::InitList) {
        let source = self.f().source;
        let entries: Vec<sema::InitEntry> = self.unit.tree[init].to_vec();
        let to = self.place_ty(place);
        if self.b.types.is_scalar(to) {
            match entries.first() {
                Some(entry) => self.initialise_scalar(place, entry.value),
                None => {
                    let zero = self.b.zero(to);
                    self.assign(place, zero);
                }
            }
            return;
        }
        if !self.is_supported(ty) {
            self.unsupported("a vector or a complex number");
            return;
        }
        // One value for the whole object: another struct, or a string that fills an array.
        if let [entry] = entries[..]
            && entry.offset == 0
            && !entry.is_bit_field()
            && self.ty(self.unit.tree[entry.value].ty) == to
            && !matches!(self.unit.tree[entry.value].kind, sema::ExprKind::Str(_))
        {
            self.record_into(entry.value, place);
            return;
        }
        let mut leaves = Vec::new();
        let few = self.leaves(place, 0, &mut leaves);
        if few {
            for leaf in leaves.clone() {
                if !self.is_covered(leaf, &entries) {
                    let zero = self.b.zero(self.place_ty(leaf.place));
                    self.assign(leaf.place, zero);
                }
            }
        } else {
            let int = self.int_ty();
            let size_ty = self.size_ty();
            let to = self.address(place);
            let byte = self.b.int(0, int);
            let size = self.b.types.size_of(self.place_ty(place));
            let size = self.b.int(i128::from(size), size_ty);
            self.emit(Op::FillMemory { to, byte, size });
        }
        for entry in entries {
            self.f().source = source;
            self.initialise_entry(place, &entry);
        }
        self.f().source = source;
    }

    fn initialise_scalar(&mut self, place: PlaceId, value: sema::ExprId) {
        let source = self.f().source;
        let ty = self.place_ty(place);
        if let sema::ExprKind::Call { callee, args } = self.unit.tree[value].kind
            && self.ty(self.unit.tree[value].ty) == ty
            && self.is_fixed(place)
        {
            self.call_into(value, callee, args, Some(place));
            return;
        }
        let value = self.value(value);
        let value = self.convert_scalar(value, ty);
        self.f().source = source;
        self.assign(place, value);
    }

    fn initialise_entry(&mut self, object: PlaceId, entry: &sema::InitEntry) {
        if entry.reverse {
            self.unsupported("a struct with a storage order of its own");
            return;
        }
        let value_ty = self.unit.tree[entry.value].ty;
        let ty = self.ty(value_ty);
        let start = entry.offset * 8 + u64::from(entry.bit_offset);
        if entry.is_bit_field() {
            match self.part(object, start, Some(entry.bit_width), ty) {
                Some(place) => {
                    let value = self.value(entry.value);
                    let value = self.convert_scalar(value, self.place_ty(place));
                    self.assign(place, value);
                }
                None => self.unsupported("an initialiser of a bit-field"),
            }
            return;
        }
        if let sema::ExprKind::Str(string) = self.unit.tree[entry.value].kind
            && self.is_record_or_array(ty)
        {
            self.initialise_string(object, entry.offset, string, ty);
            return;
        }
        let place = match self.part(object, start, None, ty) {
            Some(place) => place,
            None => {
                let address = self.address(object);
                let bytes = self.char_pointer();
                let address = self.b.convert(address, bytes);
                let intptr = self.b.types.intptr();
                let offset = self.b.int(i128::from(entry.offset), intptr);
                let address = self.b.pointer_add(address, offset, 1);
                self.behind(address, ty)
            }
        };
        if self.b.types.is_scalar(ty) {
            self.initialise_scalar(place, entry.value);
        } else {
            self.record_into(entry.value, place);
        }
    }

    /// A string that fills an array of characters.
    fn initialise_string(&mut self, object: PlaceId, offset: u64, string: sema::StrId, ty: TypeId) {
        let bytes = self.unit.tree[string].bytes(&self.unit.target);
        let Type::Array { element, .. } = *self.b.types.get(ty) else {
            return;
        };
        let width = self.b.types.size_of(element).max(1);
        // The array that is initialised may be shorter than the literal, or longer.
        let room = self
            .b
            .types
            .size_of(self.place_ty(object))
            .saturating_sub(offset);
        let count = (bytes.len() as u64 / width).min(room / width);
        let array = self.array_at(object, offset * 8, element);
        let Some(array) = array else {
            self.unsupported("a string in this place of an initialiser");
            return;
        };
        let Type::Array { length, .. } = *self.b.types.get(self.place_ty(array)) else {
            return;
        };
        let count = if length > 0 { count.min(length) } else { count };
        if count as usize > FEW_SCALARS {
            let source = self.f().source;
            let literal = self.string(string, source);
            let from = self.b.var_place(literal);
            let (to, from) = (self.address(array), self.address(from));
            let size_ty = self.size_ty();
            let size = self.b.int(i128::from(count * width), size_ty);
            self.emit(Op::CopyMemory { to, from, size });
            return;
        }
        let intptr = self.b.types.intptr();
        for i in 0..count {
            let at = (i * width) as usize;
            let mut value = 0u128;
            for (k, byte) in bytes[at..at + width as usize].iter().enumerate() {
                value |= u128::from(*byte) << (8 * k);
            }
            let index = self.b.int(i128::from(i), intptr);
            let place = self.b.place(PlaceKind::Index(array, index), element);
            let value = self.b.int(value as i128, element);
            self.assign(place, value);
        }
    }

    /// The array with such elements that starts at an offset.
    fn array_at(
        &mut self,
        mut place: PlaceId,
        mut offset: u64,
        element: TypeId,
    ) -> Option<PlaceId> {
        loop {
            let ty = self.place_ty(place);
            if offset == 0
                && let Type::Array { element: ours, .. } = *self.b.types.get(ty)
                && self.b.types.size_of(ours) == self.b.types.size_of(element)
                && self.b.types.is_scalar(ours)
            {
                return Some(place);
            }
            (place, offset) = self.step_into(place, offset, |_, _| true)?;
        }
    }

    /// The part of an object that starts at an offset and has a type (or such a width).
    fn part(
        &mut self,
        mut place: PlaceId,
        mut offset: u64,
        bits: Option<u32>,
        ty: TypeId,
    ) -> Option<PlaceId> {
        loop {
            if offset == 0 && bits.is_none() && self.place_ty(place) == ty {
                return Some(place);
            }
            let next = self.step_into(place, offset, |width, field_ty| match bits {
                Some(bits) => width == Some(bits),
                None => width.is_none() && field_ty == Some(ty),
            })?;
            (place, offset) = next;
            if bits.is_some() && offset == 0 && self.b.types.is_scalar(self.place_ty(place)) {
                return Some(place);
            }
        }
    }

    /// One step towards the part at an offset. Among members that share storage, one that the
    /// caller likes is preferred.
    fn step_into(
        &mut self,
        place: PlaceId,
        offset: u64,
        likes: impl Fn(Option<u32>, Option<TypeId>) -> bool,
    ) -> Option<(PlaceId, u64)> {
        let ty = self.place_ty(place);
        match self.b.types.get(ty).clone() {
            Type::Array { element, .. } => {
                let size = self.b.types.size_of(element) * 8;
                if size == 0 {
                    return None;
                }
                let intptr = self.b.types.intptr();
                let index = self.b.int(i128::from(offset / size), intptr);
                let inner = self.b.place(PlaceKind::Index(place, index), element);
                Some((inner, offset % size))
            }
            Type::Record(record) => {
                let fields = self.b.types.record(record).fields.clone();
                let holds = |f: &crate::types::Field| {
                    let width = match f.bit_width {
                        Some(width) => u64::from(width),
                        None => (self.b.types.size_of(f.ty) * 8).max(1),
                    };
                    // A flexible member holds everything behind its start.
                    let flexible = matches!(self.b.types.get(f.ty), Type::Array { length: 0, .. });
                    f.offset_bits <= offset && (flexible || offset < f.offset_bits + width)
                };
                let candidates: Vec<usize> =
                    (0..fields.len()).filter(|&i| holds(&fields[i])).collect();
                let best = candidates
                    .iter()
                    .copied()
                    .find(|&i| {
                        fields[i].offset_bits == offset
                            && likes(fields[i].bit_width, Some(fields[i].ty))
                    })
                    .or_else(|| {
                        candidates
                            .iter()
                            .copied()
                            .find(|&i| !self.b.types.is_scalar(fields[i].ty))
                    })
                    .or_else(|| candidates.first().copied())?;
                let inner = self
                    .b
                    .place(PlaceKind::Field(place, best as u32), fields[best].ty);
                Some((inner, offset - fields[best].offset_bits))
            }
            _ => None,
        }
    }

    /// The scalars of an object; gives up when there are too many.
    fn leaves(&mut self, place: PlaceId, start: u64, leaves: &mut Vec<Leaf>) -> bool {
        if leaves.len() > FEW_SCALARS {
            return false;
        }
        let ty = self.place_ty(place);
        match self.b.types.get(ty).clone() {
            Type::Array { element, length } => {
                if length > FEW_SCALARS as u64 {
                    return false;
                }
                let size = self.b.types.size_of(element) * 8;
                let intptr = self.b.types.intptr();
                (0..length).all(|i| {
                    let index = self.b.int(i128::from(i), intptr);
                    let inner = self.b.place(PlaceKind::Index(place, index), element);
                    self.leaves(inner, start + i * size, leaves)
                })
            }
            Type::Record(record) => {
                let fields = self.b.types.record(record).fields.clone();
                let kind = self.b.types.record(record).kind;
                debug_assert!(matches!(kind, RecordKind::Struct | RecordKind::Union));
                fields.iter().enumerate().all(|(i, field)| {
                    let inner = self.b.place(PlaceKind::Field(place, i as u32), field.ty);
                    match field.bit_width {
                        Some(width) => {
                            let start = start + field.offset_bits;
                            leaves.push(Leaf {
                                place: inner,
                                start,
                                end: start + u64::from(width),
                            });
                            true
                        }
                        None => self.leaves(inner, start + field.offset_bits, leaves),
                    }
                })
            }
            _ => {
                let end = start + self.b.types.size_of(ty) * 8;
                leaves.push(Leaf { place, start, end });
                leaves.len() <= FEW_SCALARS
            }
        }
    }

    /// Whether an entry writes the whole of a scalar.
    fn is_covered(&mut self, leaf: Leaf, entries: &[sema::InitEntry]) -> bool {
        entries.iter().any(|entry| {
            let start = entry.offset * 8 + u64::from(entry.bit_offset);
            let size = if entry.is_bit_field() {
                u64::from(entry.bit_width)
            } else {
                let ty = self.unit.tree[entry.value].ty;
                let ty = self.ty(ty);
                self.b.types.size_of(ty) * 8
            };
            start <= leaf.start && leaf.end <= start + size
        })
    }

    /// The initial value of an object of static storage.
    pub(super) fn static_initialiser(&mut self, init: sema::InitList, source: Source) -> Initial {
        let mut parts = Parts::default();
        self.static_entries(init, 0, source, &mut parts);
        parts.finish()
    }

    fn static_entries(
        &mut self,
        init: sema::InitList,
        base: u64,
        source: Source,
        parts: &mut Parts,
    ) {
        let entries: Vec<sema::InitEntry> = self.unit.tree[init].to_vec();
        for entry in entries {
            let offset = base + entry.offset;
            let value_ty = self.unit.tree[entry.value].ty;
            let ty = self.ty(value_ty);
            if entry.reverse {
                self.static_unsupported("a struct with a storage order of its own", source, parts);
                continue;
            }
            if self.is_record_or_array(ty) && self.is_supported(value_ty) {
                self.static_aggregate(entry.value, offset, source, parts);
                continue;
            }
            let Some(value) = self.static_scalar(entry.value, ty) else {
                self.static_unsupported("an initialiser that is not a constant", source, parts);
                continue;
            };
            let start = offset * 8 + u64::from(entry.bit_offset);
            if entry.is_bit_field() {
                let value = InitialValue::Bits(value, entry.bit_width);
                parts.put(start, u64::from(entry.bit_width), value, None);
            } else {
                let width = self.b.types.size_of(ty) * 8;
                let bits = self.b.constant(value);
                parts.put(start, width, InitialValue::Scalar(value), bits);
            }
        }
    }

    fn static_aggregate(
        &mut self,
        mut value: sema::ExprId,
        offset: u64,
        source: Source,
        parts: &mut Parts,
    ) {
        loop {
            match self.unit.tree[value].kind {
                sema::ExprKind::Convert { operand, .. } | sema::ExprKind::Cast(operand) => {
                    value = operand;
                }
                sema::ExprKind::Str(string) => {
                    let mut bytes = self.unit.tree[string].bytes(&self.unit.target);
                    let ty = self.unit.tree[value].ty;
                    let ty = self.ty(ty);
                    bytes.truncate(self.b.types.size_of(ty) as usize);
                    let width = bytes.len() as u64 * 8;
                    parts.put(offset * 8, width, InitialValue::Bytes(bytes), None);
                    return;
                }
                sema::ExprKind::CompoundLiteral(decl) | sema::ExprKind::Decl(decl) => {
                    if let Some(init) = self.unit.tree[decl].init {
                        self.static_entries(init, offset, source, parts);
                    }
                    return;
                }
                _ => {
                    self.static_unsupported("an initialiser of this kind", source, parts);
                    return;
                }
            }
        }
    }

    fn static_scalar(&mut self, value: sema::ExprId, ty: TypeId) -> Option<ExprId> {
        let unit = self.unit;
        let mut eval =
            sema::Eval::new(&unit.tree, &unit.types, &unit.target, &unit.names).objects(true);
        let constant = eval.initializer(value).ok()?;
        if !self.is_supported(unit.tree[value].ty) {
            return None;
        }
        self.constant_expr(constant, ty)
    }

    /// A part whose value is not known: it may be an address, so nothing can be said of the program.
    fn static_unsupported(&mut self, what: &str, source: Source, parts: &mut Parts) {
        let message = format!("not supported: {what} in an initial value");
        self.b
            .diagnostics
            .push(Diagnostic::error(source.span, message));
        parts.lost = true;
    }
}

/// The parts of an initial value while later ones may still replace earlier ones.
#[derive(Default)]
struct Parts {
    /// By their start: the end, the value, and its bits if it is a number.
    parts: BTreeMap<u64, (u64, InitialValue, Option<u128>)>,
    /// Whether the value of some bits is not known.
    lost: bool,
}

impl Parts {
    fn put(&mut self, start: u64, width: u64, value: InitialValue, bits: Option<u128>) {
        let end = start + width;
        // What starts before the end and ends after the start overlaps. The parts do not overlap
        // each other, so they end in the order in which they start.
        let overlapping: Vec<u64> = self
            .parts
            .range(..end)
            .rev()
            .take_while(|(_, (e, ..))| *e > start)
            .map(|(&s, _)| s)
            .collect();
        for s in overlapping {
            let Some((e, old, old_bits)) = self.parts.remove(&s) else {
                continue;
            };
            if start <= s && e <= end {
                continue;
            }
            let bytes = match (old, old_bits) {
                (InitialValue::Bytes(bytes), _) => bytes,
                (InitialValue::Scalar(_), Some(bits)) => {
                    bits.to_le_bytes()[..((e - s) / 8) as usize].to_vec()
                }
                // The rest of an address or of a bit-field has no value of its own.
                _ => {
                    self.lost = true;
                    continue;
                }
            };
            let aligned = start.is_multiple_of(8) && end.is_multiple_of(8);
            if !aligned {
                self.lost = true;
                continue;
            }
            if s < start {
                let head = bytes[..((start - s) / 8) as usize].to_vec();
                self.parts
                    .insert(s, (start, InitialValue::Bytes(head), None));
            }
            if e > end {
                let tail = bytes[((end - s) / 8) as usize..].to_vec();
                self.parts.insert(end, (e, InitialValue::Bytes(tail), None));
            }
        }
        if width > 0 {
            self.parts.insert(start, (end, value, bits));
        }
    }

    fn finish(self) -> Initial {
        if self.lost {
            return Initial::Unknown;
        }
        let mut found = Vec::with_capacity(self.parts.len());
        for (offset_bits, (_, mut value, bits)) in self.parts {
            if bits == Some(0) {
                continue;
            }
            if let InitialValue::Bytes(bytes) = &mut value {
                while bytes.last() == Some(&0) {
                    bytes.pop();
                }
                if bytes.is_empty() {
                    continue;
                }
            }
            found.push(InitialPart { offset_bits, value });
        }
        Initial::Data(found)
    }
}
