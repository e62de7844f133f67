//! The types of C after all typedefs, qualifiers and enums are resolved, with their layout.

use crate::ids::{RecordId, TypeId};
use std::collections::HashMap;

/// The widths of the basic types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataModel {
    /// `int`, `long` and pointers of 32 bits, as gcc -m32.
    Ilp32,
    /// `int` of 32 bits, `long` and pointers of 64, as gcc on Linux.
    Lp64,
}

impl DataModel {
    /// The size of a pointer in bytes.
    pub fn pointer_size(self) -> u64 {
        match self {
            DataModel::Ilp32 => 4,
            DataModel::Lp64 => 8,
        }
    }
}

/// A type. Qualifiers are gone; an enum is its integer type; `char` is signed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `void`.
    Void,
    /// `_Bool`: one byte of storage that holds 0 or 1.
    Bool,
    /// An integer of 8, 16, 32, 64 or 128 bits (other widths only for the values of wide
    /// bit-fields).
    Int {
        /// The width in bits.
        width: u32,
        /// Two's complement if set, unsigned if not.
        signed: bool,
    },
    /// A floating-point number.
    Float(FloatKind),
    /// A pointer.
    Pointer(TypeId),
    /// An array; length 0 for an incomplete one and for a flexible member.
    Array {
        /// The type of an element.
        element: TypeId,
        /// The number of elements.
        length: u64,
    },
    /// A struct or union.
    Record(RecordId),
    /// A function.
    Function {
        /// What it returns.
        result: TypeId,
        /// Its parameters, arrays and functions already turned into pointers.
        parameters: Vec<TypeId>,
        /// Whether more arguments may follow.
        variadic: Variadic,
    },
}

/// Whether a function takes further arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variadic {
    /// Just its parameters.
    No,
    /// `...`, or no prototype at all.
    Yes,
}

/// A floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FloatKind {
    /// `_Float16`: IEEE 754 binary16.
    F16,
    /// `float`: IEEE 754 binary32.
    F32,
    /// `double`: IEEE 754 binary64.
    F64,
    /// `long double` on x86: the 80-bit extended format, stored in 12 or 16 bytes.
    X87,
    /// `__float128`: IEEE 754 binary128.
    F128,
}

impl FloatKind {
    /// How many bits the significand has, the one before the point among them.
    pub fn precision(self) -> u32 {
        match self {
            FloatKind::F16 => 11,
            FloatKind::F32 => 24,
            FloatKind::F64 => 53,
            FloatKind::X87 => 64,
            FloatKind::F128 => 113,
        }
    }
}

/// A struct or union with its layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its tag, or a made-up name such as `struct <anonymous at x.c:3>`.
    pub name: String,
    /// Struct or union.
    pub kind: RecordKind,
    /// Its members. Members of anonymous members are reached through them, by two steps.
    pub fields: Vec<Field>,
    /// Its size in bytes, padding included.
    pub size: u64,
    /// Its alignment in bytes.
    pub align: u64,
    /// Whether its members are known.
    pub complete: bool,
}

/// Struct or union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// The members follow each other.
    Struct,
    /// The members share their storage.
    Union,
}

/// A member of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name; `None` for an anonymous member.
    pub name: Option<String>,
    /// Its declared type; for a bit-field the type of its value.
    pub ty: TypeId,
    /// Its distance from the start of the record in bits; a multiple of 8 unless a bit-field.
    pub offset_bits: u64,
    /// The width of a bit-field in bits.
    pub bit_width: Option<u32>,
}

impl Field {
    /// The distance from the start of the record in bytes, of an ordinary member.
    pub fn offset(&self) -> u64 {
        self.offset_bits / 8
    }
}

/// The types of a program. Equal types have equal ids.
#[derive(Clone, Debug)]
pub struct Types {
    model: DataModel,
    types: Vec<Type>,
    ids: HashMap<Type, TypeId>,
    records: Vec<Record>,
}

impl Types {
    /// The types of a program for a data model; holds the unsigned integers already, so that
    /// raw memory of any scalar's size has a type in every program.
    pub fn new(model: DataModel) -> Types {
        let (types, records) = (Vec::new(), Vec::new());
        let mut types = Types {
            model,
            types,
            ids: HashMap::new(),
            records,
        };
        for width in [8, 16, 32, 64, 128] {
            types.int(width, false);
        }
        types
    }

    /// Every type, in the order of its making.
    pub fn all(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        self.types
            .iter()
            .enumerate()
            .map(|(index, ty)| (TypeId(index as u32), ty))
    }

    /// The data model.
    pub fn model(&self) -> DataModel {
        self.model
    }

    /// The id of a type.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(&id) = self.ids.get(&ty) {
            return id;
        }
        let id = TypeId(self.types.len() as u32);
        self.types.push(ty.clone());
        self.ids.insert(ty, id);
        id
    }

    /// The id of an integer type.
    pub fn int(&mut self, width: u32, signed: bool) -> TypeId {
        self.intern(Type::Int { width, signed })
    }

    /// The id of the type of pointers to a type.
    pub fn pointer(&mut self, to: TypeId) -> TypeId {
        self.intern(Type::Pointer(to))
    }

    /// The signed integer type that is as wide as a pointer (`ptrdiff_t`).
    pub fn intptr(&mut self) -> TypeId {
        let width = self.model.pointer_size() as u32 * 8;
        self.int(width, true)
    }

    /// The type behind an id.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    /// Adds a record, which may be completed later by [`Types::record_mut`].
    pub fn add_record(&mut self, record: Record) -> RecordId {
        self.records.push(record);
        RecordId(self.records.len() as u32 - 1)
    }

    /// A record.
    pub fn record(&self, id: RecordId) -> &Record {
        &self.records[id.index()]
    }

    /// A record, to complete it.
    pub fn record_mut(&mut self, id: RecordId) -> &mut Record {
        &mut self.records[id.index()]
    }

    /// The number of records.
    pub fn record_count(&self) -> usize {
        self.records.len()
    }

    /// `sizeof`: the size in bytes. 1 for `void` and functions, as in GNU C.
    pub fn size_of(&self, id: TypeId) -> u64 {
        match self.get(id) {
            Type::Void | Type::Bool | Type::Function { .. } => 1,
            Type::Int { width, .. } => u64::from(width.div_ceil(8)).next_power_of_two(),
            Type::Float(FloatKind::F16) => 2,
            Type::Float(FloatKind::F32) => 4,
            Type::Float(FloatKind::F64) => 8,
            Type::Float(FloatKind::X87) => match self.model {
                DataModel::Ilp32 => 12,
                DataModel::Lp64 => 16,
            },
            Type::Float(FloatKind::F128) => 16,
            Type::Pointer(_) => self.model.pointer_size(),
            Type::Array { element, length } => self.size_of(*element).saturating_mul(*length),
            Type::Record(record) => self.record(*record).size,
        }
    }

    /// Whether values of the type are held in one piece: integers, floats and pointers.
    pub fn is_scalar(&self, id: TypeId) -> bool {
        matches!(
            self.get(id),
            Type::Bool | Type::Int { .. } | Type::Float(_) | Type::Pointer(_)
        )
    }

    /// The width in bits of a scalar's value: 1 for `_Bool`, the pointer's size for a pointer.
    pub fn bit_width(&self, id: TypeId) -> Option<u32> {
        match self.get(id) {
            Type::Bool => Some(1),
            Type::Int { width, .. } => Some(*width),
            Type::Pointer(_) => Some(self.model.pointer_size() as u32 * 8),
            Type::Float(FloatKind::F16) => Some(16),
            Type::Float(FloatKind::F32) => Some(32),
            Type::Float(FloatKind::F64) => Some(64),
            Type::Float(FloatKind::X87) => Some(80),
            Type::Float(FloatKind::F128) => Some(128),
            _ => None,
        }
    }

    /// Whether the values of an integer type can be negative.
    pub fn is_signed(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Int { signed: true, .. })
    }
}
