//! The builtin functions that the tree has nodes for.

use super::{Lower, TEXT};
use crate::ids::{ExprId, TypeId};
use crate::program::*;
use crate::types::Type;
use rucc_sema as sema;

impl Lower<'_> {
    /// The value of a builtin.
    pub(super) fn builtin(&mut self, id: sema::ExprId, node: sema::Expr) -> ExprId {
        let ty = self.ty(node.ty);
        match node.kind {
            sema::ExprKind::Expect { value, hint, .. } => {
                let value = self.value(value);
                let value = self.keep_for(value, self.effects.of(hint));
                self.effect(hint);
                self.convert_scalar(value, ty)
            }
            sema::ExprKind::VaArg { list } => {
                let argument = self.next_argument(id, list, ty);
                self.keep(argument)
            }
            sema::ExprKind::VaStart { list } => {
                self.start_list(id, list);
                self.void_value()
            }
            sema::ExprKind::VaEnd { list } => {
                self.effect(list);
                self.void_value()
            }
            sema::ExprKind::VaCopy { dst, src } => {
                self.copy_list(id, dst, src);
                self.void_value()
            }
            sema::ExprKind::Classify { op, lhs, rhs } => self.classify(op, lhs, rhs, ty),
            sema::ExprKind::FpClassify { value, answers } => self.fp_classify(value, answers, ty),
            sema::ExprKind::Sign { lhs, rhs, .. } => {
                let left = self.value(lhs);
                match rhs {
                    None => self.b.expr(ExprKind::Unary(UnaryOp::FloatAbs, left), ty),
                    Some(rhs) => {
                        let left = self.keep_for(left, self.effects.of(rhs));
                        let right = self.value(rhs);
                        let right = self.b.convert(right, ty);
                        self.b
                            .expr(ExprKind::Binary(BinaryOp::CopySign, left, right), ty)
                    }
                }
            }
            sema::ExprKind::Abs { operand } => self.abs(id, operand, ty),
            sema::ExprKind::ByteSwap { operand } => {
                let value = self.value(operand);
                let value = self.convert_scalar(value, ty);
                self.b.unary(UnaryOp::ByteSwap, value, ty)
            }
            sema::ExprKind::BitCount { operand, count } => self.bit_count(operand, count, ty),
            sema::ExprKind::Overflow {
                op, args, stores, ..
            } => self.overflow_builtin(id, op, args, stores, ty),
            sema::ExprKind::Atomic { op, args, .. } => self.atomic(id, op, args, ty),
            sema::ExprKind::Prefetch { address, .. } => {
                self.effect(address);
                self.void_value()
            }
            sema::ExprKind::Unreachable | sema::ExprKind::Trap => {
                self.at_expr(id);
                if matches!(node.kind, sema::ExprKind::Unreachable) {
                    self.b.assume_model(super::environment::UNREACHABLE);
                    self.halt();
                } else {
                    self.stop();
                }
                self.void_value()
            }
            // What gcc answers when it does not optimise: nothing is known.
            sema::ExprKind::ObjectSize { address, kind } => {
                let value = self.value(address);
                if kind >= 4 {
                    let size = ExprKind::ObjectSize { pointer: value };
                    let size_ty = self.size_ty();
                    let size = self.b.expr(size, size_ty);
                    return self.b.convert(size, ty);
                }
                let unknown = if kind & 2 == 0 { -1 } else { 0 };
                self.b.int(unknown, ty)
            }
            sema::ExprKind::ConstantP { .. } => self.b.int(0, ty),
            sema::ExprKind::Alloca { size } => {
                let size_ty = self.size_ty();
                let size = self.value(size);
                let size = self.convert_scalar(size, size_ty);
                self.at_expr(id);
                self.allocate(size, Lifetime::Frame, ty)
            }
            sema::ExprKind::FrameAddress { .. }
            | sema::ExprKind::ThreadPointer
            | sema::ExprKind::SpEntry
            | sema::ExprKind::TimeStamp { aux: None }
            | sema::ExprKind::Eflags { value: None }
            | sema::ExprKind::CpuModel { .. } => {
                self.at_expr(id);
                let place = self.temporary(ty);
                self.emit(Op::Havoc { place });
                self.b.load(place)
            }
            sema::ExprKind::Jump { .. } => {
                self.at_expr(id);
                self.unsupported_value("`__builtin_setjmp` or `__builtin_longjmp`", ty)
            }
            sema::ExprKind::Error => {
                self.at_expr(id);
                self.unsupported_value("an expression with an error", ty)
            }
            _ => {
                self.at_expr(id);
                self.unsupported_value("a builtin function of this kind", ty)
            }
        }
    }

    fn classify(
        &mut self,
        op: sema::Classify,
        lhs: sema::ExprId,
        rhs: Option<sema::ExprId>,
        ty: TypeId,
    ) -> ExprId {
        let int = self.int_ty();
        let mut left = self.value(lhs);
        if let Some(rhs) = rhs {
            left = self.keep_for(left, self.effects.of(rhs));
            let right = self.value(rhs);
            let right = self.b.convert(right, self.b.ty_of(left));
            let (a, b, join) = match op {
                sema::Classify::Unordered => {
                    let a = self.b.expr(ExprKind::Unary(UnaryOp::IsNan, left), int);
                    let b = self.b.expr(ExprKind::Unary(UnaryOp::IsNan, right), int);
                    (a, b, BinaryOp::Or)
                }
                _ => {
                    let a = self.b.binary(BinaryOp::Lt, left, right, int);
                    let b = self.b.binary(BinaryOp::Gt, left, right, int);
                    (a, b, BinaryOp::Or)
                }
            };
            let value = self.b.binary(join, a, b, int);
            return self.b.convert(value, ty);
        }
        let signed = op == sema::Classify::InfiniteSign;
        let op = match op {
            sema::Classify::Infinite | sema::Classify::InfiniteSign => UnaryOp::IsInfinite,
            sema::Classify::Finite => UnaryOp::IsFinite,
            sema::Classify::Normal => UnaryOp::IsNormal,
            sema::Classify::SignBit => UnaryOp::SignBit,
            _ => UnaryOp::IsNan,
        };
        let mut test = self.b.expr(ExprKind::Unary(op, left), int);
        if signed {
            let sign = self.b.expr(ExprKind::Unary(UnaryOp::SignBit, left), int);
            let (minus, plus) = (self.b.int(-1, int), self.b.int(1, int));
            let one = self.b.conditional(sign, minus, plus);
            let zero = self.b.int(0, int);
            test = self.b.conditional(test, one, zero);
        }
        self.b.convert(test, ty)
    }

    /// `fpclassify` is a chain of tests.
    fn fp_classify(&mut self, value: sema::ExprId, answers: sema::ExprList, ty: TypeId) -> ExprId {
        let int = self.int_ty();
        let value = self.value(value);
        let answers: Vec<ExprId> = self.unit.tree[answers]
            .to_vec()
            .iter()
            .map(|&a| self.value(a))
            .collect();
        let [nan, infinite, normal, subnormal, zero] = answers[..] else {
            return self.unsupported_value("`__builtin_fpclassify` without five answers", ty);
        };
        let nothing = self.b.zero(self.b.ty_of(value));
        let is_zero = self.b.binary(BinaryOp::Eq, value, nothing, int);
        let is_normal = self.b.expr(ExprKind::Unary(UnaryOp::IsNormal, value), int);
        let is_infinite = self
            .b
            .expr(ExprKind::Unary(UnaryOp::IsInfinite, value), int);
        let is_nan = self.b.expr(ExprKind::Unary(UnaryOp::IsNan, value), int);
        let answer = self.b.conditional(is_zero, zero, subnormal);
        let answer = self.b.conditional(is_normal, normal, answer);
        let answer = self.b.conditional(is_infinite, infinite, answer);
        let answer = self.b.conditional(is_nan, nan, answer);
        self.b.convert(answer, ty)
    }

    fn abs(&mut self, id: sema::ExprId, operand: sema::ExprId, ty: TypeId) -> ExprId {
        let int = self.int_ty();
        let value = self.value(operand);
        let value = self.convert_scalar(value, ty);
        self.at_expr(id);
        let zero = self.b.zero(ty);
        let negative = self.b.binary(BinaryOp::Lt, value, zero, int);
        if self.b.types.is_signed(ty) && self.b.options.wants(CheckKind::Overflow) {
            let bad = self.b.overflows(BinaryOp::Sub, zero, value, ty);
            let bad = self.b.binary(BinaryOp::And, negative, bad, int);
            let message = format!("signed overflow in {TEXT}");
            self.check(CheckKind::Overflow, bad, message);
        }
        let minus = self.b.unary(UnaryOp::Negate, value, ty);
        self.b.conditional(negative, minus, value)
    }

    fn bit_count(&mut self, operand: sema::ExprId, count: sema::BitCount, ty: TypeId) -> ExprId {
        let value = self.value(operand);
        let at = self.b.ty_of(value);
        let Some(width) = self.b.types.bit_width(at) else {
            return self.unsupported_value("the bits of something that is not an integer", ty);
        };
        let counted = match count {
            sema::BitCount::Leading => self.b.unary(UnaryOp::LeadingZeros, value, at),
            sema::BitCount::Trailing => self.b.unary(UnaryOp::TrailingZeros, value, at),
            sema::BitCount::Ones => self.b.unary(UnaryOp::PopCount, value, at),
            sema::BitCount::Parity => {
                let ones = self.b.unary(UnaryOp::PopCount, value, at);
                let one = self.b.int(1, at);
                self.b.binary(BinaryOp::BitAnd, ones, one, at)
            }
            sema::BitCount::FirstSet => {
                let zeros = self.b.unary(UnaryOp::TrailingZeros, value, at);
                let one = self.b.int(1, at);
                let first = self.b.binary(BinaryOp::Add, zeros, one, at);
                let nothing = self.b.zero(at);
                self.b.conditional(value, first, nothing)
            }
            // The bits below the sign that repeat it: fold the number onto its sign.
            sema::BitCount::RedundantSign => {
                let sign = self.b.int(i128::from(width - 1), at);
                let mask = self.b.binary(BinaryOp::Shr, value, sign, at);
                let folded = self.b.binary(BinaryOp::BitXor, value, mask, at);
                let zeros = self.b.unary(UnaryOp::LeadingZeros, folded, at);
                let one = self.b.int(1, at);
                self.b.binary(BinaryOp::Sub, zeros, one, at)
            }
        };
        self.b.convert(counted, ty)
    }

    fn overflow_builtin(
        &mut self,
        id: sema::ExprId,
        op: sema::OverflowOp,
        args: sema::ExprList,
        stores: bool,
        ty: TypeId,
    ) -> ExprId {
        let list = self.unit.tree[args].to_vec();
        let [lhs, rhs, third] = list[..] else {
            return self.unsupported_value("an overflow builtin without three operands", ty);
        };
        let later = self.effects.of(rhs).and(self.effects.of(third));
        let left = self.value(lhs);
        let left = self.keep_for(left, later);
        let right = self.value(rhs);
        let right = self.keep_for(right, self.effects.of(third));
        let op = match op {
            sema::OverflowOp::Add => BinaryOp::Add,
            sema::OverflowOp::Sub => BinaryOp::Sub,
            sema::OverflowOp::Mul => BinaryOp::Mul,
        };
        let third_ty = self.unit.tree[third].ty;
        if !stores {
            let at = self.ty(third_ty);
            let overflow = self.b.overflows(op, left, right, at);
            return self.b.convert(overflow, ty);
        }
        let pointer = self.value(third);
        self.at_expr(id);
        let Type::Pointer(at) = *self.b.types.get(self.b.ty_of(pointer)) else {
            return self.unsupported_value("an overflow builtin without a pointer", ty);
        };
        let size = self.b.types.size_of(at);
        self.check_access(pointer, size);
        let place = self.behind(pointer, at);
        let overflow = self.b.overflows(op, left, right, at);
        let overflow = self.keep(overflow);
        // Wrapping at the width of the result loses nothing of its low bits.
        let width = self.b.types.bit_width(at).unwrap_or(128);
        let raw = self.b.types.int(width, false);
        let (left, right) = (self.b.convert(left, raw), self.b.convert(right, raw));
        let exact = self.b.binary(op, left, right, raw);
        let value = if matches!(self.b.types.get(at), Type::Bool) {
            // The low bit, not the truth.
            let one = self.b.int(1, raw);
            let bit = self.b.binary(BinaryOp::BitAnd, exact, one, raw);
            self.b.convert(bit, at)
        } else {
            self.b.convert(exact, at)
        };
        self.assign(place, value);
        self.b.convert(overflow, ty)
    }
}
