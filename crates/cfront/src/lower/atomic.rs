//! The atomic builtins, as plain operations: programs are sequential here.

use super::Lower;
use crate::ids::{ExprId, PlaceId, TypeId};
use crate::program::*;
use crate::types::Type;
use rucc_sema as sema;
use sema::{AtomicOp, Rmw};

impl Lower<'_> {
    /// The value of an atomic builtin.
    pub(super) fn atomic(
        &mut self,
        id: sema::ExprId,
        op: AtomicOp,
        args: sema::ExprList,
        ty: TypeId,
    ) -> ExprId {
        if matches!(op, AtomicOp::Fence | AtomicOp::SignalFence) {
            return self.void_value();
        }
        let values = self.arguments(args);
        self.at_expr(id);
        let Some(&pointer) = values.first() else {
            return self.unsupported_value("an atomic operation without an operand", ty);
        };
        let object = self.object(pointer);
        let at = self.place_ty(object);
        if !self.b.types.is_scalar(at) {
            return self.unsupported_value("an atomic operation on something not scalar", ty);
        }
        let second = values.get(1).copied();
        let third = values.get(2).copied();
        match (op, second, third) {
            (AtomicOp::Load, ..) => {
                let value = self.b.load(object);
                self.convert_scalar(value, ty)
            }
            (AtomicOp::LoadInto, Some(to), _) => {
                let to = self.object(to);
                let value = self.b.load(object);
                let value = self.convert_scalar(value, self.place_ty(to));
                self.assign(to, value);
                self.void_value()
            }
            (AtomicOp::Store, Some(value), _) => {
                let value = self.convert_scalar(value, at);
                self.assign(object, value);
                self.void_value()
            }
            (AtomicOp::Exchange, Some(value), _) => {
                let old = self.b.load(object);
                let old = self.keep(old);
                let value = self.convert_scalar(value, at);
                self.assign(object, value);
                self.convert_scalar(old, ty)
            }
            (AtomicOp::ExchangeInto, Some(value), Some(into)) => {
                let into = self.object(into);
                let old = self.b.load(object);
                let old = self.keep(old);
                let value = self.convert_scalar(value, at);
                let value = self.keep(value);
                self.assign(object, value);
                let old = self.convert_scalar(old, self.place_ty(into));
                self.assign(into, old);
                self.void_value()
            }
            (AtomicOp::TestAndSet, ..) => {
                let byte = self.b.types.int(8, false);
                let int = self.int_ty();
                let object = self.behind(pointer, byte);
                let old = self.b.load(object);
                let old = self.keep(old);
                let one = self.b.int(1, byte);
                self.assign(object, one);
                let zero = self.b.int(0, byte);
                let set = self.b.binary(BinaryOp::Ne, old, zero, int);
                self.b.convert(set, ty)
            }
            (AtomicOp::Fetch(rmw), Some(operand), _) => {
                let old = self.b.load(object);
                let old = self.keep(old);
                let new = self.modified(rmw, old, operand, at);
                self.assign(object, new);
                self.convert_scalar(old, ty)
            }
            (AtomicOp::Update(rmw), Some(operand), _) => {
                let old = self.b.load(object);
                let new = self.modified(rmw, old, operand, at);
                let new = self.keep(new);
                self.assign(object, new);
                self.convert_scalar(new, ty)
            }
            (AtomicOp::CompareExchange, Some(expected), Some(desired)) => {
                let expected = self.object(expected);
                let wanted = self.b.load(expected);
                let wanted = self.convert_scalar(wanted, at);
                let (_, same) = self.swap(object, wanted, desired, Some(expected));
                self.convert_scalar(same, ty)
            }
            (AtomicOp::SwapBool, Some(expected), Some(desired)) => {
                let expected = self.convert_scalar(expected, at);
                let (_, same) = self.swap(object, expected, desired, None);
                self.convert_scalar(same, ty)
            }
            (AtomicOp::SwapValue, Some(expected), Some(desired)) => {
                let expected = self.convert_scalar(expected, at);
                let (old, _) = self.swap(object, expected, desired, None);
                self.convert_scalar(old, ty)
            }
            _ => self.unsupported_value("an atomic operation of this kind", ty),
        }
    }

    fn object(&mut self, pointer: ExprId) -> PlaceId {
        let to = match *self.b.types.get(self.b.ty_of(pointer)) {
            Type::Pointer(to) => to,
            _ => self.int_ty(),
        };
        let size = self.b.types.size_of(to);
        self.check_access(pointer, size);
        self.behind(pointer, to)
    }

    /// Compares and exchanges; gives back what was there and whether it was what was expected.
    fn swap(
        &mut self,
        object: PlaceId,
        expected: ExprId,
        desired: ExprId,
        found: Option<PlaceId>,
    ) -> (ExprId, ExprId) {
        let at = self.place_ty(object);
        let int = self.int_ty();
        let desired = self.convert_scalar(desired, at);
        let desired = self.keep(desired);
        let old = self.b.load(object);
        let old = self.keep(old);
        let same = self.b.binary(BinaryOp::Eq, old, expected, int);
        let same = self.keep(same);
        let (yes, no, join) = (self.location(), self.location(), self.location());
        self.split(same, yes, no);
        self.f().cur = yes;
        self.assign(object, desired);
        self.continue_at(join);
        self.f().cur = no;
        if let Some(found) = found {
            let old = self.convert_scalar(old, self.place_ty(found));
            self.assign(found, old);
        }
        self.continue_at(join);
        (old, same)
    }

    /// The new value of a read-modify-write. Pointers move by bytes, as in gcc.
    fn modified(&mut self, rmw: Rmw, old: ExprId, operand: ExprId, at: TypeId) -> ExprId {
        let raw = match self.b.types.bit_width(at) {
            Some(1) | None => self.int_ty(),
            Some(width) => self.b.types.int(width, false),
        };
        let (left, right) = (
            self.convert_scalar(old, raw),
            self.convert_scalar(operand, raw),
        );
        let value = match rmw {
            Rmw::Add => self.b.binary(BinaryOp::Add, left, right, raw),
            Rmw::Sub => self.b.binary(BinaryOp::Sub, left, right, raw),
            Rmw::And => self.b.binary(BinaryOp::BitAnd, left, right, raw),
            Rmw::Or => self.b.binary(BinaryOp::BitOr, left, right, raw),
            Rmw::Xor => self.b.binary(BinaryOp::BitXor, left, right, raw),
            Rmw::Nand => {
                let and = self.b.binary(BinaryOp::BitAnd, left, right, raw);
                self.b.unary(UnaryOp::BitNot, and, raw)
            }
        };
        if let Type::Pointer(_) = self.b.types.get(at)
            && matches!(rmw, Rmw::Add | Rmw::Sub)
        {
            let intptr = self.b.types.intptr();
            let mut bytes = self.b.convert(operand, intptr);
            if rmw == Rmw::Sub {
                bytes = self.b.unary(UnaryOp::Negate, bytes, intptr);
            }
            return self.b.pointer_add(old, bytes, 1);
        }
        self.convert_scalar(value, at)
    }
}
