//! Which bits of an operator's result have no value, given those of its operands.

use super::bits::Bits;
use crate::ids::{ExprId, TypeId};
use crate::program::*;
use crate::types::Type;

impl Bits<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, operand: ExprId, ty: TypeId) -> Option<ExprId> {
        let bits = self.of(operand)?;
        let number = self.is_number(operand);
        Some(match op {
            UnaryOp::BitNot => bits,
            UnaryOp::Negate if number => self.upwards(bits),
            UnaryOp::Not => {
                let truth = self.truth(operand)?;
                self.tables.convert(truth, ty)
            }
            UnaryOp::ByteSwap => self.tables.expr(ExprKind::Unary(op, bits), ty),
            UnaryOp::IsNan
            | UnaryOp::IsInfinite
            | UnaryOp::IsFinite
            | UnaryOp::IsNormal
            | UnaryOp::SignBit => {
                let any = self.any(bits);
                self.tables.convert(any, ty)
            }
            _ => self.spread(bits, ty),
        })
    }

    pub(super) fn conversion(&mut self, operand: ExprId, to: TypeId, ty: TypeId) -> Option<ExprId> {
        let bits = self.of(operand)?;
        if !self.is_number(operand) || matches!(self.tables.program.types.get(to), Type::Float(_)) {
            return Some(self.spread(bits, ty));
        }
        if matches!(self.tables.program.types.get(to), Type::Bool) {
            let truth = self.truth(operand)?;
            return Some(self.tables.convert(truth, ty));
        }
        let from = self.tables.ty(operand);
        if !self.tables.program.types.is_signed(from) {
            return Some(self.tables.convert(bits, ty));
        }
        // The sign goes to all the higher bits.
        let width = self.tables.program.types.bit_width(from).unwrap_or(32);
        let signed = self.tables.program.types.int(width, true);
        let bits = self.tables.convert(bits, signed);
        Some(self.tables.convert(bits, ty))
    }

    pub(super) fn operator(
        &mut self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        ty: TypeId,
    ) -> Option<ExprId> {
        if self.of(left).is_none() && self.of(right).is_none() {
            return None;
        }
        let numbers = self.is_number(left) && self.is_number(right);
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul if numbers => {
                let bits = self.either(left, right, ty)?;
                Some(self.upwards(bits))
            }
            BinaryOp::BitXor => self.either(left, right, ty),
            BinaryOp::BitAnd | BinaryOp::BitOr => Some(self.masked(op, left, right, ty)),
            BinaryOp::Shl | BinaryOp::Shr => Some(self.shifted(op, left, right, ty)),
            BinaryOp::And | BinaryOp::Or => {
                let truth = self.either_truth(op, left, right)?;
                Some(self.tables.convert(truth, ty))
            }
            BinaryOp::Eq | BinaryOp::Ne if numbers => Some(self.equality(left, right, ty)),
            BinaryOp::Lt | BinaryOp::Ge if numbers && self.is_sign_test(left, right) => {
                let bits = self.of(left)?;
                let at = self.tables.ty(bits);
                let width = self.tables.program.types.bit_width(at).unwrap_or(32);
                let by = self.tables.constant(i128::from(width - 1), at);
                let sign = self.binary(BinaryOp::Shr, bits, by, at);
                Some(self.tables.convert(sign, ty))
            }
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => self.one_of(left, right, ty),
            _ => {
                let wide = self.tables.program.types.int(128, false);
                let bits = self.either(left, right, wide)?;
                Some(self.spread(bits, ty))
            }
        }
    }

    /// Whether a signed number is compared with 0.
    pub(super) fn is_sign_test(&self, left: ExprId, right: ExprId) -> bool {
        let signed = self.tables.program.types.is_signed(self.tables.ty(left));
        signed && self.tables.constant_value(right) == Some(0)
    }

    /// A bit that has a value and decides for both makes the result's.
    pub(super) fn masked(
        &mut self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        ty: TypeId,
    ) -> ExprId {
        let none = self.tables.constant(0, ty);
        let (a, b) = (
            self.of(left).unwrap_or(none),
            self.of(right).unwrap_or(none),
        );
        let mut passes = |value: ExprId| {
            let value = self.tables.convert(value, ty);
            match op {
                BinaryOp::BitAnd => value,
                _ => self.not(value),
            }
        };
        let (x, y) = (passes(left), passes(right));
        let both = self.binary(BinaryOp::BitAnd, a, b, ty);
        let first = self.binary(BinaryOp::BitAnd, a, y, ty);
        let second = self.binary(BinaryOp::BitAnd, b, x, ty);
        let one = self.binary(BinaryOp::BitOr, first, second, ty);
        self.binary(BinaryOp::BitOr, both, one, ty)
    }

    pub(super) fn shifted(
        &mut self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        ty: TypeId,
    ) -> ExprId {
        let none = self.tables.constant(0, ty);
        let bits = self.of(left).unwrap_or(none);
        let from = self.tables.ty(left);
        let moved = if op == BinaryOp::Shr && self.tables.program.types.is_signed(from) {
            let bits = self.tables.convert(bits, from);
            let moved = self.binary(op, bits, right, from);
            self.tables.convert(moved, ty)
        } else {
            self.binary(op, bits, right, ty)
        };
        match self.of(right) {
            None => moved,
            Some(amount) => {
                let all = self.spread(amount, ty);
                self.binary(BinaryOp::BitOr, all, moved, ty)
            }
        }
    }

    /// Whether the truth of a conjunction or disjunction is not known.
    pub(super) fn either_truth(
        &mut self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
    ) -> Option<ExprId> {
        let int = self.tables.int();
        let (a, b) = (self.truth(left), self.truth(right));
        // The other operand does not decide.
        let test = match op {
            BinaryOp::And => BinaryOp::Ne,
            _ => BinaryOp::Eq,
        };
        let floats = !(self.is_number(left) && self.is_number(right));
        let first = a.map(|a| (a, right));
        let second = b.map(|b| (b, left));
        let mut parts = Vec::new();
        for (open, other) in first.into_iter().chain(second) {
            let part = match floats {
                true => open,
                false => {
                    let zero = self.zero_like(other);
                    let passes = self.binary(test, other, zero, int);
                    self.tables.and(open, passes)
                }
            };
            parts.push(part);
        }
        if let (Some(a), Some(b)) = (a, b) {
            parts.push(self.tables.and(a, b));
        }
        let mut parts = parts.into_iter();
        let first = parts.next()?;
        Some(parts.fold(first, |all, part| self.binary(BinaryOp::Or, all, part, int)))
    }

    /// Two numbers are known to differ where a bit that has a value in both does.
    pub(super) fn equality(&mut self, left: ExprId, right: ExprId, ty: TypeId) -> ExprId {
        let at = self.tables.ty(left);
        let at = self.mask_type(at);
        let none = self.tables.constant(0, at);
        let bits = self.either(left, right, at).unwrap_or(none);
        let (x, y) = (
            self.tables.convert(left, at),
            self.tables.convert(right, at),
        );
        let differ = self.binary(BinaryOp::BitXor, x, y, at);
        let known = self.not(bits);
        let differ = self.binary(BinaryOp::BitAnd, differ, known, at);
        let int = self.tables.int();
        let same = self.binary(BinaryOp::Eq, differ, none, int);
        let some = self.any(bits);
        let open = self.tables.and(some, same);
        self.tables.convert(open, ty)
    }
}
