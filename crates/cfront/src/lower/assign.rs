//! Assignments, compound assignments, `++` and `--`.

use super::Lower;
use super::effects::{Effect, Writes};
use super::lossy::Written;
use crate::ids::{ExprId, PlaceId, TypeId};
use crate::program::*;
use crate::types::{FloatKind, Type};
use rucc_ast::{BinaryOp as AstBinary, UnaryOp as AstUnary};
use rucc_sema as sema;
use rucc_types as rt;

/// Writes anything, as far as keeping values is concerned.
const ANYTHING: Effect = Effect {
    memory: true,
    writes: Writes::Many,
    traps: false,
    control: false,
};

impl Lower<'_> {
    /// An assignment as a value.
    pub(super) fn assignment(
        &mut self,
        id: sema::ExprId,
        op: Option<AstBinary>,
        computation: rt::TypeId,
        lhs: sema::ExprId,
        rhs: sema::ExprId,
    ) -> ExprId {
        let (place, value) = self.assigned(id, op, computation, lhs, rhs);
        self.assigned_value(place, value)
    }

    /// Does an assignment whose value nobody wants.
    pub(super) fn assignment_effect(
        &mut self,
        id: sema::ExprId,
        op: Option<AstBinary>,
        computation: rt::TypeId,
        lhs: sema::ExprId,
        rhs: sema::ExprId,
    ) {
        let lhs_ty = self.unit.tree[lhs].ty;
        if op.is_none() && self.call_assignment(id, lhs, rhs) {
            return;
        }
        if op.is_none() && !self.is_scalar(lhs_ty) {
            self.record_assignment(id, lhs, rhs);
            return;
        }
        let (place, value) = self.assigned(id, op, computation, lhs, rhs);
        self.assign(place, value);
    }

    /// `x = f(...)`: the call writes its result where it belongs.
    fn call_assignment(&mut self, id: sema::ExprId, lhs: sema::ExprId, rhs: sema::ExprId) -> bool {
        let sema::ExprKind::Call { callee, args } = self.unit.tree[rhs].kind else {
            return false;
        };
        let (lhs_ty, rhs_ty) = (self.unit.tree[lhs].ty, self.unit.tree[rhs].ty);
        if self.ty(lhs_ty) != self.ty(rhs_ty)
            || !self.effects.of(lhs).is_safe()
            || self.unit.tree[lhs].category == sema::Category::Bitfield
            || !self.is_supported(lhs_ty)
        {
            return false;
        }
        let place = self.access_to_write(lhs);
        if !self.is_fixed(place) {
            return false;
        }
        self.at_expr(id);
        self.call_into(rhs, callee, args, Some(place));
        true
    }

    /// Whether a place is the same whatever happens: no pointer and no variable index.
    pub(super) fn is_fixed(&self, mut place: PlaceId) -> bool {
        loop {
            match self.b.places[place.index()].kind {
                PlaceKind::Var(_) => return true,
                PlaceKind::Deref(_) => return false,
                PlaceKind::Field(base, _) => place = base,
                PlaceKind::Index(base, index) => {
                    if self.b.constant(index).is_none() {
                        return false;
                    }
                    place = base;
                }
            }
        }
    }

    /// Writes the value and gives back an expression for it.
    fn assigned_value(&mut self, place: PlaceId, value: ExprId) -> ExprId {
        let bit_field = self.is_bit_field(place);
        if self.is_fixed(place) {
            self.assign(place, value);
            return self.b.load(place);
        }
        if bit_field {
            // What is read back is what fits.
            let place = self.keep_place(place, ANYTHING);
            self.assign(place, value);
            return self.b.load(place);
        }
        let value = self.keep(value);
        self.assign(place, value);
        value
    }

    fn is_bit_field(&self, place: PlaceId) -> bool {
        let PlaceKind::Field(base, field) = self.b.places[place.index()].kind else {
            return false;
        };
        let Type::Record(record) = *self.b.types.get(self.place_ty(base)) else {
            return false;
        };
        self.b.types.record(record).fields[field as usize]
            .bit_width
            .is_some()
    }

    fn is_scalar(&mut self, ty: rt::TypeId) -> bool {
        let ty = self.ty(ty);
        self.b.types.is_scalar(ty)
    }

    /// Where an assignment writes, and what.
    fn assigned(
        &mut self,
        id: sema::ExprId,
        op: Option<AstBinary>,
        computation: rt::TypeId,
        lhs: sema::ExprId,
        rhs: sema::ExprId,
    ) -> (PlaceId, ExprId) {
        let place = self.access_to_write(lhs);
        let ty = self.place_ty(place);
        let effect = self.effects.of(rhs);
        let place = self.keep_place(place, effect);
        let Some(op) = op else {
            let value = self.value(rhs);
            self.at_expr(id);
            let value = self.convert_scalar(value, ty);
            return (place, value);
        };
        if !self.is_supported(computation) {
            self.at_expr(id);
            let value = self.unsupported_value("a vector or a complex number", ty);
            return (place, value);
        }
        // A call on the right comes before the whole assignment, or after it (C11 6.5.16.2p3):
        // what it writes is there when the old value is read.
        let right = if effect.is_pure() {
            None
        } else {
            let right = self.value(rhs);
            Some(self.keep(right))
        };
        let old = self.b.load(place);
        let right = match right {
            Some(right) => right,
            None => self.value(rhs),
        };
        self.at_expr(id);
        let lhs_ty = self.unit.tree[lhs].ty;
        let value = match rt::pointee(&self.unit.types, lhs_ty) {
            Some(element) if matches!(op, AstBinary::Add | AstBinary::Sub) => {
                let intptr = self.b.types.intptr();
                let index = self.b.convert(right, intptr);
                self.moved_by(old, index, element, op)
            }
            _ => {
                let computation = self.ty(computation);
                let old = self.convert_scalar(old, computation);
                let value = self.arithmetic(op, old, right, computation);
                self.check_conversion(id, value, ty, Written::Nowhere);
                self.convert_scalar(value, ty)
            }
        };
        let value = self.convert_scalar(value, ty);
        (place, value)
    }

    /// Assigns a record and gives back the place that holds it.
    pub(super) fn record_assignment(
        &mut self,
        id: sema::ExprId,
        lhs: sema::ExprId,
        rhs: sema::ExprId,
    ) -> PlaceId {
        let place = self.access_to_write(lhs);
        let place = self.keep_place(place, self.effects.of(rhs));
        if self.is_fixed(place) {
            self.record_into(rhs, place);
        } else {
            let from = self.record_value(rhs);
            self.at_expr(id);
            self.copy(from, place);
        }
        place
    }

    /// `++` or `--` whose value nobody wants.
    pub(super) fn step_effect(&mut self, id: sema::ExprId) {
        let sema::ExprKind::Unary { op, operand } = self.unit.tree[id].kind else {
            return;
        };
        let ty = self.unit.tree[operand].ty;
        if !self.is_supported(ty) {
            self.at_expr(id);
            self.unsupported("a vector or a complex number");
            return;
        }
        let place = self.access_to_write(operand);
        self.at_expr(id);
        let old = self.b.load(place);
        let new = self.stepped(op, old, operand);
        self.assign(place, new);
    }

    /// `++` or `--` as a value.
    pub(super) fn step(&mut self, id: sema::ExprId, op: AstUnary, operand: sema::ExprId) -> ExprId {
        let place = self.access_to_write(operand);
        self.at_expr(id);
        let old = self.b.load(place);
        if matches!(op, AstUnary::PreInc | AstUnary::PreDec) {
            let new = self.stepped(op, old, operand);
            return self.assigned_value(place, new);
        }
        let old = self.keep(old);
        let new = self.stepped(op, old, operand);
        self.assign(place, new);
        old
    }

    /// The value one more or one less.
    fn stepped(&mut self, op: AstUnary, old: ExprId, operand: sema::ExprId) -> ExprId {
        let op = match op {
            AstUnary::PreInc | AstUnary::PostInc => AstBinary::Add,
            _ => AstBinary::Sub,
        };
        let ty = self.b.ty_of(old);
        let operand_ty = self.unit.tree[operand].ty;
        if let Some(element) = rt::pointee(&self.unit.types, operand_ty) {
            let intptr = self.b.types.intptr();
            let one = self.b.int(1, intptr);
            return self.moved_by(old, one, element, op);
        }
        let computation = self.promoted(ty);
        let one = self.one(computation);
        let old = self.b.convert(old, computation);
        let value = self.arithmetic(op, old, one, computation);
        self.check_conversion(operand, value, ty, Written::Nowhere);
        self.b.convert(value, ty)
    }

    /// The type that an integer is promoted to.
    fn promoted(&mut self, ty: TypeId) -> TypeId {
        match *self.b.types.get(ty) {
            Type::Bool => self.int_ty(),
            Type::Int { width, .. } if width < 32 => self.int_ty(),
            _ => ty,
        }
    }

    /// The number 1 of an arithmetic type.
    pub(super) fn one(&mut self, ty: TypeId) -> ExprId {
        let bits = match *self.b.types.get(ty) {
            Type::Float(FloatKind::F16) => 0x3c00,
            Type::Float(FloatKind::F32) => u128::from(1f32.to_bits()),
            Type::Float(FloatKind::F64) => u128::from(1f64.to_bits()),
            Type::Float(FloatKind::X87) => 0x3fff_8000_0000_0000_0000,
            Type::Float(FloatKind::F128) => 0x3fff << 112,
            _ => return self.b.int(1, ty),
        };
        self.b.expr(ExprKind::Float(bits), ty)
    }
}
