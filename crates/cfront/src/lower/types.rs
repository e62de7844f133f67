//! C's types as ours: typedefs, qualifiers and enums resolved, records with their layout.

use super::Lower;
use crate::ids::{RecordId, TypeId};
use crate::program::Origin;
use crate::types::{Field, FloatKind, Record, RecordKind, Type, Variadic};
use hardbop_diagnostics::{Diagnostic, Severity};
use rucc_types as rt;
use std::collections::HashMap;
use std::fmt::Write;

/// What is known about the types of one unit.
#[derive(Default)]
pub(super) struct TypeMap {
    types: HashMap<rt::TypeId, TypeId>,
    records: HashMap<rt::RecordId, RecordId>,
    /// For each record, the new position of each of its members: unnamed bit-fields are padding
    /// and have none.
    fields: HashMap<rt::RecordId, Vec<Option<u32>>>,
    /// The typedef name of records without a tag.
    typedefs: HashMap<rt::RecordId, String>,
}

/// Distances in larger records cannot be counted in bits.
const MOST_BYTES: u64 = 1 << 60;

impl Lower<'_> {
    /// The types that name records without a tag.
    pub(super) fn name_records(&mut self) {
        for alias in self.unit.types.aliases() {
            let canonical = self.unit.types.canonical(alias.of);
            if let rt::TypeKind::Record(record) = self.unit.types.kind(canonical) {
                let name = self.unit.names.resolve(alias.name).to_owned();
                self.type_map.typedefs.entry(record).or_insert(name);
            }
        }
    }

    /// The names of types and of numbers that the user gave.
    pub(super) fn keep_words(&mut self) {
        if self.origin != Origin::User {
            return;
        }
        for alias in self.unit.types.aliases().to_vec() {
            // Types that nothing has are not made for their names.
            let is_met = match self.unit.types.kind(self.unit.types.canonical(alias.of)) {
                rt::TypeKind::Bool | rt::TypeKind::Int(_) | rt::TypeKind::Enum(_) => true,
                rt::TypeKind::Record(record) => self.type_map.records.contains_key(&record),
                _ => false,
            };
            if !is_met {
                continue;
            }
            let ty = self.ty(alias.of);
            self.b
                .words
                .add_type(self.unit.names.resolve(alias.name), ty);
        }
    }

    /// The numbers that an `enum` names.
    fn keep_numbers(&mut self, id: rt::EnumId) {
        for one in &self.unit.types.enum_info(id).enumerators {
            let name = self.unit.names.resolve(one.name);
            self.b.words.add_number(name, one.value);
        }
    }

    /// Our type for one of the checker's.
    pub(super) fn ty(&mut self, id: rt::TypeId) -> TypeId {
        if let Some(&ty) = self.type_map.types.get(&id) {
            return ty;
        }
        let kind = self.unit.types.kind(self.unit.types.canonical(id));
        let ty = match kind {
            rt::TypeKind::Void => self.b.types.intern(Type::Void),
            rt::TypeKind::Bool => self.b.types.intern(Type::Bool),
            rt::TypeKind::Int(_) | rt::TypeKind::BitInt { .. } | rt::TypeKind::Enum(_) => {
                if let rt::TypeKind::Enum(id) = kind {
                    self.keep_numbers(id);
                }
                // An enum that is never completed is an `unsigned int`, as in gcc.
                let (width, signed) = rt::integer_info(&self.unit.types, id, &self.unit.target)
                    .map_or((32, false), |i| (i.width, i.signed));
                if width == 1 && !matches!(kind, rt::TypeKind::BitInt { .. }) {
                    self.b.types.intern(Type::Bool)
                } else {
                    self.b.types.int(width, signed)
                }
            }
            rt::TypeKind::Float(kind) => match kind {
                rt::FloatKind::Float | rt::FloatKind::Float32 => {
                    self.b.types.intern(Type::Float(FloatKind::F32))
                }
                rt::FloatKind::Double | rt::FloatKind::Float64 | rt::FloatKind::Float32x => {
                    self.b.types.intern(Type::Float(FloatKind::F64))
                }
                rt::FloatKind::LongDouble | rt::FloatKind::Float64x => {
                    self.b.types.intern(Type::Float(FloatKind::X87))
                }
                rt::FloatKind::Float128 => self.b.types.intern(Type::Float(FloatKind::F128)),
                rt::FloatKind::Float16 => self.b.types.intern(Type::Float(FloatKind::F16)),
                // Never computed with: every use is reported as unsupported.
                rt::FloatKind::Decimal32 => self.b.types.int(32, false),
                rt::FloatKind::Decimal64 => self.b.types.int(64, false),
                rt::FloatKind::Decimal128 => self.b.types.int(128, false),
            },
            rt::TypeKind::Complex(part) => {
                let element = self.ty(part);
                self.b.types.intern(Type::Array { element, length: 2 })
            }
            rt::TypeKind::Vector { elem, len } => {
                let element = self.ty(elem);
                self.b.types.intern(Type::Array {
                    element,
                    length: u64::from(len),
                })
            }
            rt::TypeKind::Pointer(to) => {
                let to = self.ty(to);
                self.b.types.pointer(to)
            }
            rt::TypeKind::Atomic(inner) => self.ty(inner),
            rt::TypeKind::Array { elem, len } => {
                let element = self.ty(elem);
                let length = match len {
                    rt::ArrayLen::Fixed(length) => length,
                    _ => 0,
                };
                self.b.types.intern(Type::Array { element, length })
            }
            rt::TypeKind::Function(function) => {
                let signature = self.unit.types.signature(function).clone();
                let result = self.ty(signature.ret);
                let parameters = signature.params.iter().map(|&p| self.ty(p)).collect();
                let variadic = if signature.variadic || !signature.prototyped {
                    Variadic::Yes
                } else {
                    Variadic::No
                };
                self.b.types.intern(Type::Function {
                    result,
                    parameters,
                    variadic,
                })
            }
            rt::TypeKind::Record(record) => {
                let record = self.record(record);
                self.b.types.intern(Type::Record(record))
            }
            rt::TypeKind::Typedef { underlying, .. } => self.ty(underlying),
        };
        self.type_map.types.insert(id, ty);
        ty
    }

    /// Our position of a member.
    pub(super) fn field_position(&mut self, record: rt::RecordId, field: u32) -> Option<u32> {
        self.record(record);
        self.type_map
            .fields
            .get(&record)?
            .get(field as usize)
            .copied()
            .flatten()
    }

    fn record(&mut self, id: rt::RecordId) -> RecordId {
        if let Some(&record) = self.type_map.records.get(&id) {
            return record;
        }
        let info = self.unit.types.record_info(id);
        let word = info.kind.as_str();
        let name = match (info.tag, self.type_map.typedefs.get(&id)) {
            (Some(tag), _) => format!("{word} {}", self.unit.names.resolve(tag)),
            (None, Some(typedef)) => typedef.clone(),
            (None, None) => format!("{word} <anonymous>"),
        };
        let kind = match info.kind {
            rt::RecordKind::Struct => RecordKind::Struct,
            rt::RecordKind::Union => RecordKind::Union,
        };
        let tagged = info.tag.is_some();
        let Some(layout) = info.layout else {
            let known = if tagged {
                self.b.incomplete_records.get(&name).copied()
            } else {
                None
            };
            let record = known.unwrap_or_else(|| {
                // A complete one of the same tag in another unit is what is meant.
                self.b
                    .records_by_shape
                    .get(&name)
                    .copied()
                    .unwrap_or_else(|| {
                        let fields = Vec::new();
                        let record = self.b.types.add_record(Record {
                            name: name.clone(),
                            kind,
                            fields,
                            size: 0,
                            align: 1,
                            complete: false,
                        });
                        self.b.incomplete_records.insert(name.clone(), record);
                        record
                    })
            });
            self.type_map.records.insert(id, record);
            return record;
        };
        let mut shape = String::new();
        self.spell_record(id, &mut shape, 0);
        let mut positions = Vec::with_capacity(info.fields.len());
        let mut next = 0;
        for field in &info.fields {
            let padding = field.bits.is_some() && field.name.is_none();
            positions.push((!padding).then_some(next));
            next += u32::from(!padding);
        }
        self.type_map.fields.insert(id, positions.clone());
        if let Some(&record) = self.b.records_by_shape.get(&shape) {
            self.type_map.records.insert(id, record);
            return record;
        }
        let empty = Record {
            name: name.clone(),
            kind,
            fields: Vec::new(),
            size: 0,
            align: 1,
            complete: false,
        };
        let waiting = if tagged {
            self.b.incomplete_records.remove(&name)
        } else {
            None
        };
        let record = waiting.unwrap_or_else(|| self.b.types.add_record(empty));
        self.b.records_by_shape.insert(shape, record);
        if tagged {
            // For units that mention it without completing it.
            self.b.records_by_shape.entry(name).or_insert(record);
        }
        // Known before its members are, which may point back to it.
        self.type_map.records.insert(id, record);
        let members: Vec<rt::Field> = info.fields.clone();
        if layout.size >= MOST_BYTES {
            let name = &self.b.types.record(record).name;
            let message = format!("not supported: `{name}` has 2^60 bytes or more");
            let refused = Diagnostic::global(Severity::Error, message);
            self.b.diagnostics.push(refused);
        }
        let mut fields = Vec::with_capacity(members.len());
        for (member, position) in members.iter().zip(positions) {
            if position.is_none() {
                continue;
            }
            let ty = self.ty(member.ty);
            fields.push(Field {
                name: member.name.map(|n| self.unit.names.resolve(n).to_owned()),
                ty,
                offset_bits: member.offset.saturating_mul(8) + u64::from(member.bit),
                bit_width: member.bits,
            });
        }
        *self.b.types.record_mut(record) = Record {
            name: self.b.types.record(record).name.clone(),
            kind,
            fields,
            size: layout.size,
            align: layout.align,
            complete: true,
        };
        record
    }

    /// What a record looks like: two records that look alike are one.
    fn spell_record(&self, id: rt::RecordId, out: &mut String, depth: u32) {
        let info = self.unit.types.record_info(id);
        out.push_str(info.kind.as_str());
        match (info.tag, self.type_map.typedefs.get(&id)) {
            (Some(tag), _) => _ = write!(out, " {}", self.unit.names.resolve(tag)),
            (None, Some(typedef)) => _ = write!(out, " <{typedef}>"),
            (None, None) => {}
        }
        // Deeper records are told by their names; those without one can only be nested as deep
        // as the text is.
        if depth > 0 && info.tag.is_some() {
            return;
        }
        if let Some(layout) = info.layout {
            _ = write!(out, ":{}:{}", layout.size, layout.align);
        }
        out.push('{');
        for field in &info.fields {
            _ = write!(out, "{}.{}", field.offset, field.bit);
            if let Some(bits) = field.bits {
                _ = write!(out, ":{bits}");
            }
            if let Some(name) = field.name {
                _ = write!(out, " {}", self.unit.names.resolve(name));
            }
            out.push(' ');
            self.spell_type(field.ty, out, depth + 1);
            out.push(';');
        }
        out.push('}');
    }

    fn spell_type(&self, id: rt::TypeId, out: &mut String, depth: u32) {
        match self.unit.types.kind(self.unit.types.canonical(id)) {
            rt::TypeKind::Pointer(to) => {
                out.push('*');
                self.spell_type(to, out, depth + 1);
            }
            rt::TypeKind::Atomic(inner) => self.spell_type(inner, out, depth),
            rt::TypeKind::Array { elem, len } => {
                _ = write!(out, "[{len:?}]");
                self.spell_type(elem, out, depth);
            }
            rt::TypeKind::Record(record) => self.spell_record(record, out, depth),
            rt::TypeKind::Function(function) => {
                let signature = self.unit.types.signature(function);
                out.push('(');
                for &parameter in &signature.params {
                    self.spell_type(parameter, out, depth + 1);
                    out.push(',');
                }
                _ = write!(out, "{}){}", signature.variadic, signature.prototyped);
                self.spell_type(signature.ret, out, depth + 1);
            }
            kind => match rt::integer_info(&self.unit.types, id, &self.unit.target) {
                Some(info) => {
                    let sign = if info.signed { 'i' } else { 'u' };
                    _ = write!(out, "{sign}{}", info.width);
                }
                None => _ = write!(out, "{kind:?}"),
            },
        }
    }

    /// Whether values of the type can be computed with.
    pub(super) fn is_supported(&self, id: rt::TypeId) -> bool {
        match self.unit.types.kind(self.unit.types.canonical(id)) {
            rt::TypeKind::Complex(_) | rt::TypeKind::Vector { .. } => false,
            rt::TypeKind::Float(kind) => !kind.is_decimal(),
            rt::TypeKind::BitInt { width, .. } => width <= 128,
            rt::TypeKind::Atomic(inner) => self.is_supported(inner),
            _ => true,
        }
    }

    /// What the checker's type is, without sugar and `_Atomic`.
    pub(super) fn bare(&self, id: rt::TypeId) -> rt::TypeKind {
        match self.unit.types.kind(self.unit.types.canonical(id)) {
            rt::TypeKind::Atomic(inner) => self.bare(inner),
            kind => kind,
        }
    }

    /// Whether objects of a type lie where the machine lets nobody write.
    pub(super) fn is_constant(&self, id: rt::TypeId) -> bool {
        let types = &self.unit.types;
        let mut id = types.canonical(id);
        while let rt::TypeKind::Array { elem, .. } = types.kind(id) {
            id = types.canonical(elem);
        }
        let qualifiers = types.quals(id);
        qualifiers.has(rt::Qualifiers::CONST) && !qualifiers.has(rt::Qualifiers::VOLATILE)
    }

    pub(super) fn int_ty(&mut self) -> TypeId {
        self.b.types.int(32, true)
    }

    pub(super) fn size_ty(&mut self) -> TypeId {
        let width = self.b.types.model().pointer_size() as u32 * 8;
        self.b.types.int(width, false)
    }

    pub(super) fn char_pointer(&mut self) -> TypeId {
        let char = self.b.types.int(8, true);
        self.b.types.pointer(char)
    }

    pub(super) fn is_record_or_array(&self, ty: TypeId) -> bool {
        matches!(self.b.types.get(ty), Type::Record(_) | Type::Array { .. })
    }
}
