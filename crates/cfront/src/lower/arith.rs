//! Operators on scalars, with the checks that a user can ask for.

use super::{Lower, TEXT};
use crate::ids::{ExprId, TypeId};
use crate::options::LeftShifts;
use crate::program::*;
use crate::types::Type;
use rucc_ast::BinaryOp as AstBinary;
use rucc_sema as sema;
use rucc_types as rt;

impl Lower<'_> {
    pub(super) fn binary(
        &mut self,
        id: sema::ExprId,
        op: AstBinary,
        lhs: sema::ExprId,
        rhs: sema::ExprId,
    ) -> ExprId {
        if matches!(op, AstBinary::LogAnd | AstBinary::LogOr) {
            return self.logical(id);
        }
        // A size that is computed is a product.
        if op == AstBinary::Mul && self.unit.is_effectful_size(self.unit.tree.expr_span(id)) {
            self.at_expr(id);
            let ty = self.ty(self.unit.tree[id].ty);
            return self.unsupported_value("side effects in the operand of `sizeof`", ty);
        }
        // Chains of operators lean to the left and can be long: follow them down first.
        let mut spine = vec![(id, op, lhs, rhs)];
        let mut at = lhs;
        while let sema::ExprKind::Binary { op, lhs, rhs } = self.unit.tree[at].kind
            && !matches!(op, AstBinary::LogAnd | AstBinary::LogOr)
            && self.is_supported(self.unit.tree[at].ty)
            && !self.unit.is_effectful_size(self.unit.tree.expr_span(at))
            && self.known(at).is_none()
        {
            spine.push((at, op, lhs, rhs));
            at = lhs;
        }
        let mut value = self.value(at);
        while let Some((id, op, lhs, rhs)) = spine.pop() {
            let left = self.keep_for(value, self.effects.of(rhs));
            let right = self.value(rhs);
            self.at_expr(id);
            value = self.operator(id, op, left, right, lhs, rhs);
        }
        value
    }

    /// Applies an operator whose operands are evaluated.
    fn operator(
        &mut self,
        id: sema::ExprId,
        op: AstBinary,
        left: ExprId,
        right: ExprId,
        lhs: sema::ExprId,
        rhs: sema::ExprId,
    ) -> ExprId {
        let node_ty = self.unit.tree[id].ty;
        let ty = self.ty(node_ty);
        let (lhs_ty, rhs_ty) = (self.unit.tree[lhs].ty, self.unit.tree[rhs].ty);
        if !self.is_supported(lhs_ty) || !self.is_supported(rhs_ty) {
            return self.unsupported_value("a vector or a complex number", ty);
        }
        let left_pointer = rt::pointee(&self.unit.types, lhs_ty);
        let right_pointer = rt::pointee(&self.unit.types, rhs_ty);
        let intptr = self.b.types.intptr();
        match (op, left_pointer, right_pointer) {
            (AstBinary::Add | AstBinary::Sub, Some(element), None) => {
                let index = self.b.convert(right, intptr);
                let moved = self.moved_by(left, index, element, op);
                self.b.convert(moved, ty)
            }
            (AstBinary::Add, None, Some(element)) => {
                let index = self.b.convert(left, intptr);
                let moved = self.moved_by(right, index, element, op);
                self.b.convert(moved, ty)
            }
            (AstBinary::Sub, Some(element), Some(_)) => {
                let right = self.b.convert(right, self.b.ty_of(left));
                if self.is_variable_size(element) {
                    let bytes = ExprKind::PointerDifference {
                        left,
                        right,
                        scale: 1,
                    };
                    let bytes = self.b.expr(bytes, intptr);
                    let size = self.size_of_type(element);
                    let size = self.b.convert(size, intptr);
                    let difference = self.b.binary(BinaryOp::Div, bytes, size, intptr);
                    return self.b.convert(difference, ty);
                }
                let element = self.ty(element);
                let scale = self.b.types.size_of(element);
                if scale == 0 {
                    return self.unsupported_value("a difference of pointers to nothing", ty);
                }
                let kind = ExprKind::PointerDifference { left, right, scale };
                let difference = self.b.expr(kind, intptr);
                self.b.convert(difference, ty)
            }
            _ => self.arithmetic(op, left, right, ty),
        }
    }

    /// An arithmetic, bitwise or comparing operator on two scalars, with its checks.
    pub(super) fn arithmetic(
        &mut self,
        op: AstBinary,
        left: ExprId,
        right: ExprId,
        ty: TypeId,
    ) -> ExprId {
        let ours = match op {
            AstBinary::Mul => BinaryOp::Mul,
            AstBinary::Div => BinaryOp::Div,
            AstBinary::Rem => BinaryOp::Rem,
            AstBinary::Add => BinaryOp::Add,
            AstBinary::Sub => BinaryOp::Sub,
            AstBinary::Shl => BinaryOp::Shl,
            AstBinary::Shr => BinaryOp::Shr,
            AstBinary::Lt => BinaryOp::Lt,
            AstBinary::Gt => BinaryOp::Gt,
            AstBinary::Le => BinaryOp::Le,
            AstBinary::Ge => BinaryOp::Ge,
            AstBinary::Eq => BinaryOp::Eq,
            AstBinary::Ne => BinaryOp::Ne,
            AstBinary::BitAnd => BinaryOp::BitAnd,
            AstBinary::BitXor => BinaryOp::BitXor,
            AstBinary::BitOr => BinaryOp::BitOr,
            AstBinary::LogAnd => BinaryOp::And,
            AstBinary::LogOr => BinaryOp::Or,
        };
        let comparison = matches!(
            ours,
            BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne
        );
        if comparison {
            let right = self.b.convert(right, self.b.ty_of(left));
            let int = self.int_ty();
            let value = self.b.binary(ours, left, right, int);
            return self.convert_scalar(value, ty);
        }
        let left = self.convert_scalar(left, ty);
        let right = match ours {
            BinaryOp::Shl | BinaryOp::Shr => right,
            _ => self.convert_scalar(right, ty),
        };
        self.check_arithmetic(ours, left, right, ty);
        let value = self.b.binary(ours, left, right, ty);
        self.check_nan(value, &[left, right]);
        value
    }

    fn check_arithmetic(&mut self, op: BinaryOp, left: ExprId, right: ExprId, ty: TypeId) {
        let int = self.int_ty();
        let integral = matches!(self.b.types.get(ty), Type::Int { .. } | Type::Bool);
        if !integral {
            return;
        }
        if matches!(op, BinaryOp::Div | BinaryOp::Rem)
            && self.b.options.wants(CheckKind::DivisionByZero)
        {
            let zero = self.b.zero(ty);
            let bad = self.b.binary(BinaryOp::Eq, right, zero, int);
            let message = format!("division by zero in {TEXT}");
            self.check(CheckKind::DivisionByZero, bad, message);
        }
        let signed = self.b.types.is_signed(ty);
        if !signed && matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) {
            self.check_unsigned(op, left, right, ty);
        }
        if !self.b.options.wants(CheckKind::Overflow) {
            return;
        }
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul if signed => {
                let bad = self.b.overflows(op, left, right, ty);
                let message = format!("signed overflow in {TEXT}");
                self.check(CheckKind::Overflow, bad, message);
            }
            // The remainder of the smallest number by -1 is undefined because the quotient is.
            BinaryOp::Div | BinaryOp::Rem if signed => {
                let bad = self.b.overflows(BinaryOp::Div, left, right, ty);
                let message = format!("signed overflow in {TEXT}");
                self.check(CheckKind::Overflow, bad, message);
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                let width = self.b.types.bit_width(ty).unwrap_or(128);
                let amount_ty = self.b.ty_of(right);
                let amount_width = self.b.types.bit_width(amount_ty).unwrap_or(32);
                let unsigned = self.b.types.int(amount_width, false);
                // A negative amount is a large one.
                let amount = self.b.convert(right, unsigned);
                let limit = self.b.int(i128::from(width), unsigned);
                let bad = self.b.binary(BinaryOp::Ge, amount, limit, int);
                let message = format!("shift by a wrong amount in {TEXT}");
                self.check(CheckKind::Overflow, bad, message);
                let moves = self.b.options.left_shifts == LeftShifts::Move;
                if op == BinaryOp::Shl && signed && !moves {
                    let zero = self.b.zero(ty);
                    let negative = self.b.binary(BinaryOp::Lt, left, zero, int);
                    let message = format!("left shift of a negative number in {TEXT}");
                    self.check(CheckKind::Overflow, negative, message);
                    let bad = self.b.overflows(BinaryOp::Shl, left, right, ty);
                    let message = format!("signed overflow in {TEXT}");
                    self.check(CheckKind::Overflow, bad, message);
                }
            }
            _ => {}
        }
    }

    /// The library's own arithmetic may wrap around.
    fn check_unsigned(&mut self, op: BinaryOp, left: ExprId, right: ExprId, ty: TypeId) {
        if self.b.options.wants(CheckKind::Unsigned) && self.origin == Origin::User {
            let bad = self.b.overflows(op, left, right, ty);
            let message = format!("unsigned wrap-around in {TEXT}");
            self.check(CheckKind::Unsigned, bad, message);
        }
    }

    pub(super) fn check_negation(&mut self, value: ExprId, ty: TypeId) {
        if matches!(self.b.types.get(ty), Type::Int { signed: false, .. }) {
            let zero = self.b.zero(ty);
            self.check_unsigned(BinaryOp::Sub, zero, value, ty);
        }
        if self.b.types.is_signed(ty) && self.b.options.wants(CheckKind::Overflow) {
            let zero = self.b.zero(ty);
            let bad = self.b.overflows(BinaryOp::Sub, zero, value, ty);
            let message = format!("signed overflow in {TEXT}");
            self.check(CheckKind::Overflow, bad, message);
        }
    }
}
