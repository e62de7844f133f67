//! Operators and C's conversions of their operands.

use super::{Typed, Typing};
use crate::Dialect;
use crate::ast::UnaryWord;
use crate::conversions::{promoted, usual};
use hardbop_cfront::ids::ExprId;
use hardbop_cfront::program::{BinaryOp, ExprKind, UnaryOp};
use hardbop_cfront::types::Type;
use hardbop_diagnostics::{Diagnostic, Span};

impl Typing<'_> {
    fn promote(&mut self, value: ExprId) -> ExprId {
        let ty = promoted(self.tables.type_of(value));
        let ty = self.tables.program.types.intern(ty);
        self.tables.convert(value, ty)
    }

    /// Whether a value is a null pointer constant.
    fn is_null(&self, value: ExprId) -> bool {
        self.is_integer(value) && self.tables.constant_value(value) == Some(0)
    }

    pub(super) fn unary(&mut self, op: UnaryWord, value: ExprId, span: Span) -> Typed<ExprId> {
        if op == UnaryWord::Not {
            let int = self.tables.int();
            return Ok(self.tables.expr(ExprKind::Unary(UnaryOp::Not, value), int));
        }
        let fits = match self.tables.type_of(value) {
            Type::Float(_) => op != UnaryWord::BitNot,
            _ => self.is_integer(value),
        };
        if !fits {
            let needed = match op {
                UnaryWord::BitNot => "this operator needs an integer",
                _ => "this operator needs a number",
            };
            let found = format!("the operand has the type `{}`", self.type_name(value));
            return Err(Diagnostic::error(span, needed).label(found));
        }
        let value = self.promote(value);
        let ty = self.tables.ty(value);
        let op = match (op, self.tables.constant_value(value)) {
            (UnaryWord::Minus, Some(bits)) => {
                return Ok(self.tables.constant((bits as i128).wrapping_neg(), ty));
            }
            (UnaryWord::Minus, None) => UnaryOp::Negate,
            (UnaryWord::BitNot, _) => UnaryOp::BitNot,
            _ => return Ok(value),
        };
        Ok(self.tables.expr(ExprKind::Unary(op, value), ty))
    }

    /// Brings two scalars to one type: by C's usual conversions, or to that of the pointer.
    pub(super) fn meet(
        &mut self,
        left: ExprId,
        right: ExprId,
        span: Span,
    ) -> Typed<(ExprId, ExprId)> {
        let target = match (self.is_pointer(left), self.is_pointer(right)) {
            (false, false) => {
                match usual(self.types(), self.tables.ty(left), self.tables.ty(right)) {
                    Some(ty) => self.tables.program.types.intern(ty),
                    None => {
                        let message = "these operands do not fit together";
                        return Err(Diagnostic::error(span, message));
                    }
                }
            }
            (first, second) => {
                let (pointer, other) = if first { (left, right) } else { (right, left) };
                if matches!(self.tables.type_of(other), Type::Float(_)) {
                    let message = "a pointer and a floating-point number do not go together";
                    return Err(Diagnostic::error(span, message));
                }
                if first != second && self.dialect == Dialect::Rule && !self.is_null(other) {
                    let message = "a pointer and an integer do not go together";
                    return Err(Diagnostic::error(span, message)
                        .label("expected two pointers or two integers"));
                }
                self.tables.ty(pointer)
            }
        };
        let left = self.tables.convert(left, target);
        Ok((left, self.tables.convert(right, target)))
    }

    /// An operator on two values.
    pub fn combine(
        &mut self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        span: Span,
    ) -> Typed<ExprId> {
        let int = self.tables.int();
        let error = |message: &str| Err(Diagnostic::error(span, message));
        match op {
            BinaryOp::And | BinaryOp::Or => {
                return Ok(self.tables.expr(ExprKind::Binary(op, left, right), int));
            }
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => {
                let (left, right) = self.meet(left, right, span)?;
                return Ok(self.tables.expr(ExprKind::Binary(op, left, right), int));
            }
            _ => {}
        }
        if self.is_pointer(left) || self.is_pointer(right) {
            return match (self.dialect, op) {
                (Dialect::Rule, _) => error("a rule does no arithmetic on pointers"),
                (_, BinaryOp::Add | BinaryOp::Sub) => self.distance(op, left, right, span),
                _ => error("this operator does not take pointers"),
            };
        }
        let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem);
        let divisor = self.tables.constant_value(right);
        if self.dialect == Dialect::Rule && divides && divisor.is_none_or(|bits| bits == 0) {
            let message = "a rule divides by constants only, and not by 0";
            return Err(Diagnostic::error(span, message).label("the divisor is neither"));
        }
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            if !self.is_integer(left) || !self.is_integer(right) {
                return error("shifts need integers");
            }
            let (left, right) = (self.promote(left), self.promote(right));
            let ty = self.tables.ty(left);
            return Ok(self.tables.expr(ExprKind::Binary(op, left, right), ty));
        }
        let (left, right) = self.meet(left, right, span)?;
        let bits = matches!(
            op,
            BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor
        );
        if bits && !self.is_integer(left) {
            return error("this operator needs integers");
        }
        let ty = self.tables.ty(left);
        Ok(self.tables.expr(ExprKind::Binary(op, left, right), ty))
    }

    /// A pointer that is moved, or the distance of two.
    fn distance(&mut self, op: BinaryOp, left: ExprId, right: ExprId, span: Span) -> Typed<ExprId> {
        match (self.tables.type_of(left), self.tables.type_of(right)) {
            (&Type::Pointer(to), Type::Pointer(_)) if op == BinaryOp::Sub => {
                let scale = self.types().size_of(to).max(1);
                let ty = self.tables.ty(left);
                let right = self.tables.convert(right, ty);
                let ty = self.tables.program.types.intptr();
                let kind = ExprKind::PointerDifference { left, right, scale };
                Ok(self.tables.expr(kind, ty))
            }
            (Type::Pointer(_), Type::Int { .. } | Type::Bool) => Ok(self.moved(left, right, op)),
            (Type::Int { .. } | Type::Bool, Type::Pointer(_)) if op == BinaryOp::Add => {
                Ok(self.moved(right, left, op))
            }
            _ => Err(Diagnostic::error(
                span,
                "pointers cannot be added up like this",
            )),
        }
    }

    /// `pointer + index` or `pointer - index`.
    pub(super) fn moved(&mut self, pointer: ExprId, index: ExprId, op: BinaryOp) -> ExprId {
        let ty = self.tables.ty(pointer);
        let scale = match *self.types().get(ty) {
            Type::Pointer(to) => self.types().size_of(to),
            _ => 1,
        };
        let wide = self.tables.program.types.intptr();
        let mut index = self.tables.convert(index, wide);
        if op == BinaryOp::Sub {
            let negated = ExprKind::Unary(UnaryOp::Negate, index);
            index = self.tables.expr(negated, wide);
        }
        let kind = ExprKind::PointerAdd {
            pointer,
            index,
            scale,
        };
        self.tables.expr(kind, ty)
    }
}
