//! Checks of conversions: does the type that a value is converted to have that value?

use super::{Lower, TEXT};
use crate::ids::{ExprId, TypeId};
use crate::program::*;
use crate::types::{FloatKind, Type};
use rucc_sema as sema;

/// Whether the program's text says that it converts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// It does not: an operand, an argument or what is assigned is converted.
    Nowhere,
    /// It does.
    AsCast,
}

impl Lower<'_> {
    /// Checks a conversion of a scalar.
    pub(super) fn check_conversion(
        &mut self,
        id: sema::ExprId,
        value: ExprId,
        to: TypeId,
        written: Written,
    ) {
        if self.origin != Origin::User {
            return;
        }
        let from = self.b.ty_of(value);
        let Type::Int { width, signed } = *self.b.types.get(to) else {
            return;
        };
        let asks = |kind| self.b.options.wants(kind);
        match *self.b.types.get(from) {
            Type::Int {
                width: narrow,
                signed: sign,
            } if narrow < width && (signed || !sign) || (narrow, sign) == (width, signed) => {}
            // What a cast does to an integer is what the author wants.
            Type::Int { .. } if written == Written::Nowhere && asks(CheckKind::Conversion) => {
                self.at_expr(id);
                let zero = self.b.zero(from);
                let bad = self.b.overflows(BinaryOp::Add, value, zero, to);
                let message = format!("value changed by the conversion of {TEXT}");
                self.check(CheckKind::Conversion, bad, message);
            }
            Type::Float(kind) if asks(CheckKind::FloatCast) => {
                self.at_expr(id);
                let bad = self.outside(value, kind, width, signed);
                let message = format!("value does not fit in the conversion of {TEXT}");
                self.check(CheckKind::FloatCast, bad, message);
            }
            _ => {}
        }
    }

    /// Whether a floating-point number, without its fraction, is not a value of an integer type.
    fn outside(&mut self, value: ExprId, kind: FloatKind, width: u32, signed: bool) -> ExprId {
        if kind == FloatKind::F16 {
            // Most bounds are too large for it.
            let float = self.b.types.intern(Type::Float(FloatKind::F32));
            let value = self.b.convert(value, float);
            return self.outside(value, FloatKind::F32, width, signed);
        }
        let int = self.int_ty();
        let from = self.b.ty_of(value);
        let wide = self.b.types.int(128, true);
        // All bounds are numbers of the type.
        let mut bound = |number: i128| match kind {
            FloatKind::F32 => {
                let bits = u128::from((number as f32).to_bits());
                self.b.expr(ExprKind::Float(bits), from)
            }
            FloatKind::F64 => {
                let bits = u128::from((number as f64).to_bits());
                self.b.expr(ExprKind::Float(bits), from)
            }
            FloatKind::F16 | FloatKind::X87 | FloatKind::F128 => {
                let number = self.b.int(number, wide);
                self.b.convert(number, from)
            }
        };
        let bits = if signed { width - 1 } else { width };
        if bits > 126 {
            // The bounds are no numbers of our integers. All of the float's are inside, or they are
            // products of such.
            let large = bound(1i128 << 126);
            let (two, minus) = (bound(1i128 << (bits - 126)), bound(-1));
            let above = self.b.binary(BinaryOp::Mul, large, two, from);
            let small = self.b.binary(BinaryOp::Lt, value, above, int);
            let large = match signed {
                false => self.b.binary(BinaryOp::Gt, value, minus, int),
                true => {
                    let below = self.b.binary(BinaryOp::Mul, above, minus, from);
                    self.b.binary(BinaryOp::Ge, value, below, int)
                }
            };
            let fits = self.b.binary(BinaryOp::And, small, large, int);
            return self.b.not(fits);
        }
        // The first number that is too large is a power of two; the last one that is too small may
        // be none of the type's, and then all of the type's numbers there are whole ones.
        let above = bound(1i128 << bits);
        let (below, good) = match signed {
            false => (bound(-1), BinaryOp::Gt),
            true if width <= kind.precision() => (bound(-(1i128 << bits) - 1), BinaryOp::Gt),
            true => (bound(-(1i128 << bits)), BinaryOp::Ge),
        };
        let small = self.b.binary(BinaryOp::Lt, value, above, int);
        let large = self.b.binary(good, value, below, int);
        let fits = self.b.binary(BinaryOp::And, small, large, int);
        // Not a number fits nowhere.
        self.b.not(fits)
    }
}
