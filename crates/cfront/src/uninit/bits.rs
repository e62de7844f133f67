//! The bits of an expression that have no value, as another expression: bit by bit where an
//! operator works bit by bit, as valgrind's memcheck does.

use super::dirt::{Dirt, Home, home};
use crate::edit::Tables;
use crate::ids::{ExprId, PlaceId, TypeId, VarId};
use crate::points_to::{PointsTo, bit_field};
use crate::program::*;
use crate::types::{Field, FloatKind, Record, Type};
use std::collections::HashMap;

/// Makes the expressions.
pub(super) struct Bits<'a> {
    pub(super) tables: Tables,
    pub(super) points_to: &'a PointsTo,
    pub(super) dirt: &'a Dirt,
    /// By variable of the program, the one that holds its bits without a value.
    pub(super) shadows: HashMap<VarId, VarId>,
    /// By expression of the program, its bits without a value; none if all have one.
    open: Vec<Option<ExprId>>,
    types: HashMap<TypeId, TypeId>,
}

impl<'a> Bits<'a> {
    pub(super) fn new(tables: Tables, points_to: &'a PointsTo, dirt: &'a Dirt) -> Bits<'a> {
        Bits {
            tables,
            points_to,
            dirt,
            shadows: HashMap::new(),
            open: Vec::new(),
            types: HashMap::new(),
        }
    }

    /// Finds the bits of every expression. Operands stand before what uses them.
    pub(super) fn find_all(&mut self) {
        let count = self.tables.program.exprs.len();
        self.open = vec![None; count];
        for index in 0..count {
            self.open[index] = self.find(ExprId(index as u32));
        }
    }

    /// The bits of an expression of the program that have no value; `None` if all have one.
    pub(super) fn of(&self, id: ExprId) -> Option<ExprId> {
        self.open.get(id.index()).copied().flatten()
    }

    /// The unsigned type that holds the bits of a scalar type.
    pub(super) fn mask_type(&mut self, ty: TypeId) -> TypeId {
        let types = &mut self.tables.program.types;
        let width = match *types.get(ty) {
            Type::Int { width, .. } => width,
            Type::Bool => 8,
            Type::Float(FloatKind::F16) => 16,
            Type::Float(FloatKind::F32) => 32,
            // All of it, or nothing.
            Type::Float(FloatKind::F64 | FloatKind::X87) => 64,
            Type::Float(FloatKind::F128) => 128,
            _ => types.model().pointer_size() as u32 * 8,
        };
        types.int(width, false)
    }

    /// The type that holds the bits of any object type, member by member.
    pub(super) fn shadow_type(&mut self, ty: TypeId) -> TypeId {
        let mut work = vec![ty];
        while let Some(&at) = work.last() {
            if self.types.contains_key(&at) {
                work.pop();
                continue;
            }
            let inside: Vec<TypeId> = match self.tables.program.types.get(at) {
                Type::Array { element, .. } => vec![*element],
                Type::Record(id) => {
                    let fields = &self.tables.program.types.record(*id).fields;
                    fields.iter().map(|field| field.ty).collect()
                }
                _ => Vec::new(),
            };
            let before = work.len();
            work.extend(inside.iter().filter(|ty| !self.types.contains_key(ty)));
            if work.len() == before {
                let shadow = self.shadow_of_known(at);
                self.types.insert(at, shadow);
            }
        }
        self.types[&ty]
    }

    /// The same where the types of its parts are known.
    fn shadow_of_known(&mut self, ty: TypeId) -> TypeId {
        match self.tables.program.types.get(ty).clone() {
            Type::Array { element, length } => {
                let element = self.types[&element];
                let array = Type::Array { element, length };
                self.tables.program.types.intern(array)
            }
            Type::Record(id) => {
                let record = self.tables.program.types.record(id).clone();
                let fields = record.fields.iter().map(|field| Field {
                    ty: self.types[&field.ty],
                    ..field.clone()
                });
                let fields = fields.collect();
                let name = format!("{} without a value", record.name);
                let record = Record {
                    name,
                    fields,
                    ..record
                };
                let id = self.tables.program.types.add_record(record);
                self.tables.program.types.intern(Type::Record(id))
            }
            _ => self.mask_type(ty),
        }
    }

    /// The place that holds the bits of a place that is, or is a part of, a variable with such.
    pub(super) fn shadow_place(&mut self, place: PlaceId) -> Option<PlaceId> {
        let mut steps = Vec::new();
        let mut at = place;
        let variable = loop {
            match self.tables.program.place(at).kind {
                PlaceKind::Var(id) => break *self.shadows.get(&id)?,
                PlaceKind::Deref(_) => return None,
                kind @ (PlaceKind::Field(base, _) | PlaceKind::Index(base, _)) => {
                    steps.push(kind);
                    at = base;
                }
            }
        };
        let mut shadow = self.tables.variable_place(variable);
        for step in steps.into_iter().rev() {
            let types = &self.tables.program.types;
            let inside = types.get(self.tables.program.place(shadow).ty);
            let (kind, ty) = match (step, inside) {
                (PlaceKind::Field(_, index), Type::Record(record)) => {
                    let field = &types.record(*record).fields[index as usize];
                    (PlaceKind::Field(shadow, index), field.ty)
                }
                (PlaceKind::Index(_, index), Type::Array { element, .. }) => {
                    (PlaceKind::Index(shadow, index), *element)
                }
                _ => return None,
            };
            shadow = self.tables.place(kind, ty);
        }
        Some(shadow)
    }

    /// The first byte of a scalar place in memory, the type of the bytes that hold it, and for a
    /// bit-field its first bit there and its width.
    pub(super) fn bytes(&mut self, place: PlaceId) -> (ExprId, TypeId, Option<(u32, u32)>) {
        let ty = self.tables.program.place(place).ty;
        let Some((first, width)) = bit_field(&self.tables.program, place) else {
            let to = self.tables.program.types.pointer(ty);
            let pointer = self.tables.expr(ExprKind::AddressOf(place), to);
            return (pointer, self.mask_type(ty), None);
        };
        let PlaceKind::Field(base, index) = self.tables.program.place(place).kind else {
            unreachable!("a bit-field is a member")
        };
        let program = &mut self.tables.program;
        let base_ty = program.place(base).ty;
        let offset = match program.types.get(base_ty) {
            Type::Record(record) => program.types.record(*record).fields[index as usize].offset(),
            _ => 0,
        };
        let byte = program.types.int(8, false);
        let bytes = program.types.pointer(byte);
        let to = program.types.pointer(base_ty);
        let (intptr, covering) = (
            program.types.intptr(),
            (first + width).div_ceil(8).next_power_of_two() * 8,
        );
        let mask = program.types.int(covering, false);
        let pointer = self.tables.expr(ExprKind::AddressOf(base), to);
        let pointer = self.tables.convert(pointer, bytes);
        let index = self.tables.constant(i128::from(offset), intptr);
        let moved = ExprKind::PointerAdd {
            pointer,
            index,
            scale: 1,
        };
        (self.tables.expr(moved, bytes), mask, Some((first, width)))
    }

    /// The bits of a scalar in memory.
    fn of_memory(&mut self, place: PlaceId) -> ExprId {
        let ty = self.tables.program.place(place).ty;
        let to = self.mask_type(ty);
        let (pointer, mask, bits) = self.bytes(place);
        let all = self.tables.expr(ExprKind::Open { pointer }, mask);
        let Some((first, width)) = bits else {
            return all;
        };
        let by = self.tables.constant(i128::from(first), mask);
        let moved = self.binary(BinaryOp::Shr, all, by, mask);
        let own = self.tables.constant((1i128 << width) - 1, mask);
        let own = self.binary(BinaryOp::BitAnd, moved, own, mask);
        let own = self.tables.convert(own, to);
        self.extended(own, width, ty)
    }

    /// The bits of a bit-field as those of its type: the sign, without a value, has none anywhere.
    fn extended(&mut self, own: ExprId, width: u32, ty: TypeId) -> ExprId {
        let to = self.mask_type(ty);
        let all = self.tables.program.types.bit_width(to).unwrap_or(32);
        if !self.tables.program.types.is_signed(ty) || width >= all {
            return own;
        }
        let signed = self.tables.program.types.int(all, true);
        let by = self.tables.constant(i128::from(all - width), to);
        let up = self.binary(BinaryOp::Shl, own, by, to);
        let up = self.tables.convert(up, signed);
        let down = self.binary(BinaryOp::Shr, up, by, signed);
        self.tables.convert(down, to)
    }

    /// The bits of what a scalar place holds.
    fn of_place(&mut self, place: PlaceId) -> Option<ExprId> {
        let at = home(&self.tables.program, self.points_to, place);
        if !self.dirt.of(at) {
            return None;
        }
        match at? {
            Home::Variable(_) => {
                let shadow = self.shadow_place(place)?;
                let own = self.tables.load(shadow);
                let ty = self.tables.program.place(place).ty;
                Some(match bit_field(&self.tables.program, place) {
                    Some((_, width)) => self.extended(own, width, ty),
                    None => own,
                })
            }
            Home::Memory(_) => Some(self.of_memory(place)),
        }
    }

    /// The same for a scalar part of an object, which the points-to analysis may not have met.
    pub(super) fn leaf(&mut self, place: PlaceId) -> Option<ExprId> {
        if let Some(shadow) = self.shadow_place(place) {
            return Some(self.tables.load(shadow));
        }
        match self.tables.program.root(place) {
            Root::Variable(id) if !self.tables.program.variable(id).address_taken => None,
            _ => Some(self.of_memory(place)),
        }
    }

    /// The bits of the bytes that hold a bit-field, with those of the field replaced.
    pub(super) fn inserted(
        &mut self,
        pointer: ExprId,
        open: ExprId,
        first: u32,
        width: u32,
    ) -> ExprId {
        let ty = self.tables.ty(open);
        let own = self.tables.constant((1i128 << width) - 1, ty);
        let own = self.binary(BinaryOp::BitAnd, open, own, ty);
        let by = self.tables.constant(i128::from(first), ty);
        let own = self.binary(BinaryOp::Shl, own, by, ty);
        let rest = self.tables.expr(ExprKind::Open { pointer }, ty);
        self.binary(BinaryOp::BitOr, rest, own, ty)
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        ty: TypeId,
    ) -> ExprId {
        self.tables.expr(ExprKind::Binary(op, left, right), ty)
    }

    pub(super) fn not(&mut self, value: ExprId) -> ExprId {
        let ty = self.tables.ty(value);
        self.tables
            .expr(ExprKind::Unary(UnaryOp::BitNot, value), ty)
    }

    pub(super) fn zero_like(&mut self, value: ExprId) -> ExprId {
        let ty = self.tables.ty(value);
        self.tables.constant(0, ty)
    }

    /// Whether any bit is set.
    pub(super) fn any(&mut self, bits: ExprId) -> ExprId {
        let (int, zero) = (self.tables.int(), self.zero_like(bits));
        self.binary(BinaryOp::Ne, bits, zero, int)
    }

    /// All bits of a type if any bit is set, else none.
    pub(super) fn spread(&mut self, bits: ExprId, ty: TypeId) -> ExprId {
        let condition = self.any(bits);
        let (then, otherwise) = (self.tables.constant(-1, ty), self.tables.constant(0, ty));
        let kind = ExprKind::Conditional {
            condition,
            then,
            otherwise,
        };
        self.tables.expr(kind, ty)
    }

    /// All bits from the lowest one that is set upwards: where carries go.
    pub(super) fn upwards(&mut self, bits: ExprId) -> ExprId {
        let ty = self.tables.ty(bits);
        let minus = ExprKind::Unary(UnaryOp::Negate, bits);
        let minus = self.tables.expr(minus, ty);
        self.binary(BinaryOp::BitOr, bits, minus, ty)
    }

    /// The bits of one or the other of two operands, as a type.
    pub(super) fn either(&mut self, left: ExprId, right: ExprId, ty: TypeId) -> Option<ExprId> {
        match (self.of(left), self.of(right)) {
            (None, None) => None,
            (Some(one), None) | (None, Some(one)) => Some(self.tables.convert(one, ty)),
            (Some(a), Some(b)) => {
                let (a, b) = (self.tables.convert(a, ty), self.tables.convert(b, ty));
                Some(self.binary(BinaryOp::BitOr, a, b, ty))
            }
        }
    }

    pub(super) fn is_number(&self, id: ExprId) -> bool {
        matches!(
            self.tables.type_of(id),
            Type::Int { .. } | Type::Bool | Type::Pointer(_)
        )
    }

    /// Whether it is not known if a scalar is zero: no bit that has a value is set.
    pub(super) fn truth(&mut self, id: ExprId) -> Option<ExprId> {
        let bits = self.of(id)?;
        let some = self.any(bits);
        if !self.is_number(id) {
            return Some(some);
        }
        let ty = self.tables.ty(bits);
        let value = self.tables.convert(id, ty);
        let known = self.not(bits);
        let known = self.binary(BinaryOp::BitAnd, value, known, ty);
        let (int, zero) = (self.tables.int(), self.zero_like(known));
        let none = self.binary(BinaryOp::Eq, known, zero, int);
        Some(self.tables.and(some, none))
    }

    fn find(&mut self, id: ExprId) -> Option<ExprId> {
        let expr = self.tables.program.expr(id).clone();
        if !self.tables.program.types.is_scalar(expr.ty) {
            return None;
        }
        let ty = self.mask_type(expr.ty);
        match expr.kind {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Function(_)
            | ExprKind::HeapIs { .. }
            | ExprKind::Open { .. } => None,
            ExprKind::Load(place) => self.of_place(place),
            ExprKind::AddressOf(place) => self.of_address(place, ty),
            ExprKind::Unary(op, operand) => self.unary(op, operand, ty),
            ExprKind::Binary(op, left, right) => self.operator(op, left, right, ty),
            ExprKind::PointerAdd { pointer, index, .. } => {
                let bits = self.either(pointer, index, ty)?;
                Some(self.spread(bits, ty))
            }
            ExprKind::PointerDifference { left, right, .. } => {
                let bits = self.either(left, right, ty)?;
                Some(self.spread(bits, ty))
            }
            ExprKind::Overflows { left, right, .. } => self.one_of(left, right, ty),
            ExprKind::ValidAccess { pointer, size } => self.one_of(pointer, size, ty),
            ExprKind::ValidFree { pointer }
            | ExprKind::PointsToConstant { pointer }
            | ExprKind::ObjectSize { pointer } => {
                let bits = self.of(pointer)?;
                Some(self.spread(bits, ty))
            }
            ExprKind::Convert(operand) => self.conversion(operand, expr.ty, ty),
            ExprKind::Rounded { op, operands, .. } => {
                let mut all: Option<ExprId> = None;
                for &operand in &operands[..op.arity()] {
                    let Some(bits) = self.of(operand) else {
                        continue;
                    };
                    let bits = self.spread(bits, ty);
                    all = Some(match all {
                        Some(before) => self.binary(BinaryOp::BitOr, before, bits, ty),
                        None => bits,
                    });
                }
                all
            }
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                let truth = self.truth(condition);
                if truth.is_none() && self.of(then).is_none() && self.of(otherwise).is_none() {
                    return None;
                }
                let none = self.tables.constant(0, ty);
                let chosen = ExprKind::Conditional {
                    condition,
                    then: self.of(then).unwrap_or(none),
                    otherwise: self.of(otherwise).unwrap_or(none),
                };
                let chosen = self.tables.expr(chosen, ty);
                let Some(truth) = truth else {
                    return Some(chosen);
                };
                let unknown = self.spread(truth, ty);
                Some(self.binary(BinaryOp::BitOr, unknown, chosen, ty))
            }
        }
    }

    /// 1 if any bit of two operands has no value.
    pub(super) fn one_of(&mut self, left: ExprId, right: ExprId, ty: TypeId) -> Option<ExprId> {
        let wide = self.tables.program.types.int(128, false);
        let bits = self.either(left, right, wide)?;
        let any = self.any(bits);
        Some(self.tables.convert(any, ty))
    }

    fn of_address(&mut self, place: PlaceId, ty: TypeId) -> Option<ExprId> {
        let mut all: Option<ExprId> = None;
        let mut at = place;
        loop {
            let (part, next) = match self.tables.program.place(at).kind {
                PlaceKind::Var(_) => break,
                PlaceKind::Deref(pointer) => (Some(pointer), None),
                PlaceKind::Field(base, _) => (None, Some(base)),
                PlaceKind::Index(base, index) => (Some(index), Some(base)),
            };
            if let Some(bits) = part.and_then(|part| self.of(part)) {
                let bits = self.spread(bits, ty);
                all = Some(match all {
                    None => bits,
                    Some(all) => self.binary(BinaryOp::BitOr, all, bits, ty),
                });
            }
            match next {
                Some(base) => at = base,
                None => break,
            }
        }
        all
    }
}
