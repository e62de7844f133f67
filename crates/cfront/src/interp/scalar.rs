//! Scalar values as bits, and every operator on them.
//!
//! The operators here are total but for division by zero, and exact at every width. The machine
//! has its own fast instructions for integers of up to 64 bits; they must agree with these.

use super::float;
use crate::ids::TypeId;
use crate::program::{BinaryOp, UnaryOp};
use crate::types::{FloatKind, Type, Types};
use std::cmp::Ordering;

/// What a scalar's bits mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `_Bool`: one bit.
    Bool,
    /// An integer of 1 to 128 bits.
    Int { width: u32, signed: bool },
    /// A floating-point number.
    Float(FloatKind),
    /// An address of 32 or 64 bits.
    Pointer { width: u32 },
}

/// A division or remainder by zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DivisionByZero;

/// A register of the machine. A value of at most 64 bits stands in `low`, extended by its sign
/// if it is a signed integer and by zeros otherwise; `high` then holds nothing, except for a
/// pointer, where it says which object the pointer belongs to. Wider values use both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reg {
    pub low: u64,
    pub high: u64,
}

impl Kind {
    /// The kind of a type's values, if it is a scalar.
    pub(super) fn of(types: &Types, ty: TypeId) -> Option<Kind> {
        Some(match types.get(ty) {
            Type::Bool => Kind::Bool,
            Type::Int { width, signed } => Kind::Int {
                width: *width,
                signed: *signed,
            },
            Type::Float(kind) => Kind::Float(*kind),
            Type::Pointer(_) => Kind::Pointer {
                width: types.bit_width(ty)?,
            },
            // The value of a function designator is its address.
            Type::Function { .. } => Kind::Pointer {
                width: types.model().pointer_size() as u32 * 8,
            },
            Type::Void | Type::Array { .. } | Type::Record(_) => return None,
        })
    }

    /// The number of bits of a value.
    pub(super) fn width(self) -> u32 {
        match self {
            Kind::Bool => 1,
            Kind::Int { width, .. } | Kind::Pointer { width } => width,
            Kind::Float(kind) => float::width(kind),
        }
    }

    /// Whether values are read as two's complement.
    pub(super) fn signed(self) -> bool {
        matches!(self, Kind::Int { signed: true, .. })
    }

    /// Whether a value fits the low half of a register.
    pub(super) fn narrow(self) -> bool {
        self.width() <= 64
    }

    /// The value's bits, zero-extended.
    pub(super) fn bits(self, reg: Reg) -> u128 {
        if self.narrow() {
            u128::from(reg.low) & mask(self.width())
        } else {
            (u128::from(reg.low) | u128::from(reg.high) << 64) & mask(self.width())
        }
    }

    /// The register that holds these bits; a pointer's object is left out.
    pub(super) fn reg(self, bits: u128) -> Reg {
        let bits = bits & mask(self.width());
        if self.signed() && self.narrow() {
            Reg {
                low: extend(bits, self.width()) as u64,
                high: 0,
            }
        } else {
            Reg {
                low: bits as u64,
                high: (bits >> 64) as u64,
            }
        }
    }

    /// The number that integer bits stand for, as a sign and a magnitude.
    pub(super) fn number(self, bits: u128) -> (bool, u128) {
        if self.signed() {
            let value = extend(bits, self.width());
            (value < 0, value.unsigned_abs())
        } else {
            (false, bits)
        }
    }
}

/// The lowest `width` bits set.
pub(super) fn mask(width: u32) -> u128 {
    if width >= 128 {
        u128::MAX
    } else {
        (1 << width) - 1
    }
}

/// The number that `width` bits stand for in two's complement.
pub(super) fn extend(bits: u128, width: u32) -> i128 {
    if width == 0 {
        return 0;
    }
    let shift = 128 - width.min(128);
    ((bits << shift) as i128) >> shift
}

/// Converts as C does. Floats that are out of the range of the integer type they are converted
/// to give what x86-64's conversion instructions give ([`float::to_int`]).
pub(super) fn convert(from: Kind, to: Kind, bits: u128) -> u128 {
    let result = match (from, to) {
        (_, Kind::Bool) => u128::from(truth(from, bits)),
        (Kind::Float(from), Kind::Float(to)) => float::convert(from, to, bits),
        (Kind::Float(from), _) => float::to_int(from, bits, to.width(), to.signed()),
        (_, Kind::Float(to)) => {
            let (negative, magnitude) = from.number(bits);
            float::from_int(to, negative, magnitude)
        }
        _ if from.signed() => extend(bits, from.width()) as u128,
        _ => bits,
    };
    result & mask(to.width())
}

/// Whether a scalar is not zero.
pub(super) fn truth(kind: Kind, bits: u128) -> bool {
    match kind {
        Kind::Float(kind) => !float::is_zero(kind, bits),
        _ => bits != 0,
    }
}

/// A unary operator on an operand of a kind. The tests give 0 or 1, the counts a small number;
/// everything else gives bits of the operand's kind.
pub(super) fn unary(op: UnaryOp, kind: Kind, bits: u128) -> u128 {
    let width = kind.width();
    if op == UnaryOp::Not {
        return u128::from(!truth(kind, bits));
    }
    if let Kind::Float(kind) = kind {
        return float::unary(op, kind, bits);
    }
    match op {
        UnaryOp::Negate => bits.wrapping_neg() & mask(width),
        UnaryOp::BitNot => !bits & mask(width),
        UnaryOp::PopCount => u128::from(bits.count_ones()),
        UnaryOp::LeadingZeros => u128::from(bits.leading_zeros() - (128 - width)),
        UnaryOp::TrailingZeros => u128::from(bits.trailing_zeros().min(width)),
        UnaryOp::ByteSwap => bits.swap_bytes() >> (128 - width.div_ceil(8) * 8),
        // The floating-point operators mean nothing on integers; type checking keeps them away.
        _ => bits,
    }
}

/// A binary operator on operands of two kinds (which differ only for shifts). Comparisons and
/// the logical operators give 0 or 1, everything else bits of the left kind.
pub(super) fn binary(
    op: BinaryOp,
    left: Kind,
    right: Kind,
    a: u128,
    b: u128,
) -> Result<u128, DivisionByZero> {
    match op {
        BinaryOp::And => return Ok(u128::from(truth(left, a) && truth(right, b))),
        BinaryOp::Or => return Ok(u128::from(truth(left, a) || truth(right, b))),
        _ => {}
    }
    if let Kind::Float(kind) = left {
        return Ok(float::binary(op, kind, a, b));
    }
    let width = left.width();
    let ordering = || {
        if left.signed() {
            extend(a, width).cmp(&extend(b, width))
        } else {
            a.cmp(&b)
        }
    };
    let result = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div | BinaryOp::Rem if b == 0 => return Err(DivisionByZero),
        BinaryOp::Div if left.signed() => extend(a, width).wrapping_div(extend(b, width)) as u128,
        BinaryOp::Rem if left.signed() => extend(a, width).wrapping_rem(extend(b, width)) as u128,
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a % b,
        BinaryOp::Shl | BinaryOp::Shr => {
            // A negative amount is a huge one.
            let amount = if right.signed() {
                extend(b, right.width()) as u128
            } else {
                b
            };
            let amount = u32::try_from(amount).unwrap_or(u32::MAX);
            match op {
                BinaryOp::Shl => a.checked_shl(amount).unwrap_or(0),
                _ if left.signed() => (extend(a, width) >> amount.min(127)) as u128,
                _ => a.checked_shr(amount).unwrap_or(0),
            }
        }
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::Eq => u128::from(a == b),
        BinaryOp::Ne => u128::from(a != b),
        BinaryOp::Lt => u128::from(ordering() == Ordering::Less),
        BinaryOp::Le => u128::from(ordering() != Ordering::Greater),
        BinaryOp::Gt => u128::from(ordering() == Ordering::Greater),
        BinaryOp::Ge => u128::from(ordering() != Ordering::Less),
        // Floating-point operators mean nothing on integers; And and Or are done above.
        BinaryOp::And | BinaryOp::Or | BinaryOp::CopySign | BinaryOp::FloatMod => a,
    };
    Ok(result & mask(width.max(1)))
}

/// Whether the exact result of an operator, taken as a mathematical number, is not a value of
/// an integer kind. A division by zero has no result and so does not overflow; a shift by a
/// negative amount always does.
pub(super) fn overflows(
    op: BinaryOp,
    (left, a): (Kind, u128),
    (right, b): (Kind, u128),
    at: Kind,
) -> bool {
    let (left_negative, x) = left.number(a);
    let (right_negative, y) = right.number(b);
    // Magnitudes beyond 128 bits fit no type.
    let exact = match op {
        BinaryOp::Add => add(left_negative, x, right_negative, y),
        BinaryOp::Sub => add(left_negative, x, !right_negative, y),
        BinaryOp::Mul => x
            .checked_mul(y)
            .map(|m| (left_negative != right_negative, m)),
        BinaryOp::Div | BinaryOp::Rem if y == 0 => return false,
        BinaryOp::Div => Some((left_negative != right_negative, x / y)),
        BinaryOp::Rem => Some((left_negative, x % y)),
        BinaryOp::Shl if right_negative => None,
        BinaryOp::Shl if x == 0 => Some((false, 0)),
        BinaryOp::Shl if y > u128::from(x.leading_zeros()) => None,
        BinaryOp::Shl => Some((left_negative, x << y)),
        _ => return false,
    };
    let Some((negative, magnitude)) = exact else {
        return true;
    };
    let width = at.width();
    match (negative && magnitude != 0, at.signed()) {
        (true, false) => true,
        (true, true) => magnitude > 1 << (width - 1),
        (false, false) => magnitude > mask(width),
        (false, true) => magnitude > mask(width - 1),
    }
}

fn add(left_negative: bool, x: u128, right_negative: bool, y: u128) -> Option<(bool, u128)> {
    if left_negative == right_negative {
        Some((left_negative, x.checked_add(y)?))
    } else if x >= y {
        Some((left_negative, x - y))
    } else {
        Some((right_negative, y - x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const I8: Kind = Kind::Int {
        width: 8,
        signed: true,
    };
    const U8: Kind = Kind::Int {
        width: 8,
        signed: false,
    };
    const I16: Kind = Kind::Int {
        width: 16,
        signed: true,
    };

    /// Every operator on every pair of bytes against the same done on mathematical numbers.
    #[test]
    fn bytes_agree_with_mathematics() {
        for (kind, low, high) in [(I8, -128i32, 127), (U8, 0, 255)] {
            for a in low..=high {
                for b in low..=high {
                    let bits = |n: i32| n as u128 & 0xff;
                    let run = |op| binary(op, kind, kind, bits(a), bits(b));
                    let exact = |n: i32| (Ok(bits(n)), !(low..=high).contains(&n));
                    let over = |op| overflows(op, (kind, bits(a)), (kind, bits(b)), kind);
                    for (op, n) in [
                        (BinaryOp::Add, a + b),
                        (BinaryOp::Sub, a - b),
                        (BinaryOp::Mul, a * b),
                    ] {
                        assert_eq!((run(op), over(op)), exact(n), "{a} {op:?} {b}");
                    }
                    if b == 0 {
                        assert_eq!(run(BinaryOp::Div), Err(DivisionByZero));
                        assert_eq!(run(BinaryOp::Rem), Err(DivisionByZero));
                    } else {
                        assert_eq!((run(BinaryOp::Div), over(BinaryOp::Div)), exact(a / b));
                        assert_eq!((run(BinaryOp::Rem), over(BinaryOp::Rem)), exact(a % b));
                    }
                    assert_eq!(run(BinaryOp::Lt), Ok(u128::from(a < b)));
                    assert_eq!(run(BinaryOp::Ge), Ok(u128::from(a >= b)));
                }
            }
        }
    }

    #[test]
    fn shifts_from_the_width_on_give_zero_or_minus_one() {
        let shift = |op, kind, a: i32, by: i32| {
            binary(op, kind, I16, a as u128 & 0xff, by as u128 & 0xffff).unwrap()
        };
        assert_eq!(shift(BinaryOp::Shl, U8, 1, 7), 0x80);
        assert_eq!(shift(BinaryOp::Shl, U8, 1, 8), 0);
        assert_eq!(shift(BinaryOp::Shr, I8, -2, 300), 0xff);
        assert_eq!(shift(BinaryOp::Shr, U8, 0x80, 300), 0);
        assert_eq!(shift(BinaryOp::Shr, I8, -128, 3), 0xf0);
        assert_eq!(shift(BinaryOp::Shl, I8, 1, -1), 0);
    }

    #[test]
    fn overflow_is_exact_at_128_bits() {
        let i128k = Kind::Int {
            width: 128,
            signed: true,
        };
        let u128k = Kind::Int {
            width: 128,
            signed: false,
        };
        let min = 1u128 << 127;
        assert!(overflows(
            BinaryOp::Div,
            (i128k, min),
            (i128k, u128::MAX),
            i128k
        ));
        assert!(overflows(
            BinaryOp::Mul,
            (u128k, u128::MAX),
            (i128k, u128::MAX),
            u128k
        ));
        assert!(!overflows(
            BinaryOp::Sub,
            (u128k, u128::MAX),
            (u128k, u128::MAX),
            i128k
        ));
        assert!(overflows(BinaryOp::Shl, (i128k, 1), (I8, 127), i128k));
        assert!(!overflows(BinaryOp::Shl, (i128k, 1), (I8, 126), i128k));
        assert!(overflows(BinaryOp::Shl, (i128k, 0), (I8, 0xff), i128k));
    }

    #[test]
    fn counts_and_swaps() {
        let u32k = Kind::Int {
            width: 32,
            signed: false,
        };
        assert_eq!(unary(UnaryOp::LeadingZeros, u32k, 0), 32);
        assert_eq!(unary(UnaryOp::TrailingZeros, u32k, 0), 32);
        assert_eq!(unary(UnaryOp::LeadingZeros, u32k, 1), 31);
        assert_eq!(unary(UnaryOp::ByteSwap, u32k, 0x0102_0304), 0x0403_0201);
        assert_eq!(unary(UnaryOp::PopCount, u32k, 0xff00), 8);
        assert_eq!(unary(UnaryOp::Not, u32k, 0), 1);
    }
}
