//! Floating-point operators on bits, for every format C has on x86.
//!
//! `float` and `double` are the machine's own; `long double` and `__float128` are computed by
//! software, exactly. Rounding is to nearest, ties to even, unless a mode says otherwise. An invalid operation gives the NaN
//! that x86 gives (quiet, with the sign set).

#[cfg(test)]
use super::scalar::extend;
use super::scalar::{Kind, mask};
use crate::program::{BinaryOp, RoundedOp, UnaryOp, rounding};
use crate::types::FloatKind;
use rustc_apfloat::ieee::{Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round, StatusAnd};

/// The number of bits of a format.
pub(super) fn width(kind: FloatKind) -> u32 {
    match kind {
        FloatKind::F16 => 16,
        FloatKind::F32 => 32,
        FloatKind::F64 => 64,
        FloatKind::X87 => 80,
        FloatKind::F128 => 128,
    }
}

fn f32_of(bits: u128) -> f32 {
    f32::from_bits(bits as u32)
}

fn f64_of(bits: u128) -> f64 {
    f64::from_bits(bits as u64)
}

/// Whether the number is 0 or -0.
pub(super) fn is_zero(kind: FloatKind, bits: u128) -> bool {
    bits & mask(width(kind) - 1) == 0
}

/// A binary operator; comparisons give 0 or 1.
pub(super) fn binary(op: BinaryOp, kind: FloatKind, a: u128, b: u128) -> u128 {
    if op == BinaryOp::CopySign {
        let sign = 1 << (width(kind) - 1);
        return a & !sign | b & sign;
    }
    match kind {
        FloatKind::F32 => {
            let (a, b) = (f32_of(a), f32_of(b));
            let result = match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div => a / b,
                BinaryOp::FloatMod | BinaryOp::Rem => a % b,
                _ => return compare(op, &a, &b),
            };
            u128::from(result.to_bits())
        }
        FloatKind::F64 => {
            let (a, b) = (f64_of(a), f64_of(b));
            let result = match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div => a / b,
                BinaryOp::FloatMod | BinaryOp::Rem => a % b,
                _ => return compare(op, &a, &b),
            };
            u128::from(result.to_bits())
        }
        FloatKind::F16 => soft_binary::<Half>(op, a, b),
        FloatKind::X87 => soft_binary::<X87DoubleExtended>(op, a, b),
        FloatKind::F128 => soft_binary::<Quad>(op, a, b),
    }
}

fn soft_binary<F: Float>(op: BinaryOp, a: u128, b: u128) -> u128 {
    let (a, b) = (F::from_bits(a), F::from_bits(b));
    let StatusAnd { value, .. } = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::FloatMod | BinaryOp::Rem => a % b,
        _ => return compare(op, &a, &b),
    };
    if value.is_nan() && !a.is_nan() && !b.is_nan() {
        return (if value.is_negative() { value } else { -value }).to_bits();
    }
    value.to_bits()
}

fn compare<T: PartialOrd>(op: BinaryOp, a: &T, b: &T) -> u128 {
    u128::from(match op {
        BinaryOp::Eq => a == b,
        BinaryOp::Ne => a != b,
        BinaryOp::Lt => a < b,
        BinaryOp::Le => a <= b,
        BinaryOp::Gt => a > b,
        BinaryOp::Ge => a >= b,
        // Bit operators mean nothing on floats; type checking keeps them away.
        _ => false,
    })
}

/// A unary operator; the tests give 0 or 1.
pub(super) fn unary(op: UnaryOp, kind: FloatKind, bits: u128) -> u128 {
    let sign = 1 << (width(kind) - 1);
    match op {
        UnaryOp::Negate => return bits ^ sign,
        UnaryOp::FloatAbs => return bits & !sign,
        UnaryOp::SignBit => return u128::from(bits & sign != 0),
        UnaryOp::Not => return u128::from(is_zero(kind, bits)),
        _ => {}
    }
    match kind {
        FloatKind::F32 => {
            let x = f32_of(bits);
            let result = match op {
                UnaryOp::FloatSqrt => x.sqrt(),
                UnaryOp::FloatFloor => x.floor(),
                UnaryOp::FloatCeil => x.ceil(),
                UnaryOp::FloatTrunc => x.trunc(),
                UnaryOp::FloatRound => x.round(),
                UnaryOp::FloatRint => x.round_ties_even(),
                UnaryOp::IsNan => return u128::from(x.is_nan()),
                UnaryOp::IsInfinite => return u128::from(x.is_infinite()),
                UnaryOp::IsFinite => return u128::from(x.is_finite()),
                UnaryOp::IsNormal => return u128::from(x.is_normal()),
                _ => return bits,
            };
            u128::from(result.to_bits())
        }
        FloatKind::F64 => {
            let x = f64_of(bits);
            let result = match op {
                UnaryOp::FloatSqrt => x.sqrt(),
                UnaryOp::FloatFloor => x.floor(),
                UnaryOp::FloatCeil => x.ceil(),
                UnaryOp::FloatTrunc => x.trunc(),
                UnaryOp::FloatRound => x.round(),
                UnaryOp::FloatRint => x.round_ties_even(),
                UnaryOp::IsNan => return u128::from(x.is_nan()),
                UnaryOp::IsInfinite => return u128::from(x.is_infinite()),
                UnaryOp::IsFinite => return u128::from(x.is_finite()),
                UnaryOp::IsNormal => return u128::from(x.is_normal()),
                _ => return bits,
            };
            u128::from(result.to_bits())
        }
        FloatKind::F16 => soft_unary::<Half>(op, kind, bits),
        FloatKind::X87 => soft_unary::<X87DoubleExtended>(op, kind, bits),
        FloatKind::F128 => soft_unary::<Quad>(op, kind, bits),
    }
}

fn soft_unary<F: Float>(op: UnaryOp, kind: FloatKind, bits: u128) -> u128 {
    let x = F::from_bits(bits);
    let round = match op {
        UnaryOp::FloatSqrt => return soft_sqrt(&x, kind, Round::NearestTiesToEven),
        UnaryOp::IsNan => return u128::from(x.is_nan()),
        UnaryOp::IsInfinite => return u128::from(x.is_infinite()),
        UnaryOp::IsFinite => return u128::from(x.is_finite()),
        UnaryOp::IsNormal => return u128::from(x.is_normal()),
        UnaryOp::FloatFloor => Round::TowardNegative,
        UnaryOp::FloatCeil => Round::TowardPositive,
        UnaryOp::FloatTrunc => Round::TowardZero,
        UnaryOp::FloatRound => Round::NearestTiesToAway,
        UnaryOp::FloatRint => Round::NearestTiesToEven,
        _ => return bits,
    };
    x.round_to_integral(round).value.to_bits()
}

/// The square root, correctly rounded: the digits of the significand's root one by one, as many
/// as the format has and one more, and whether anything is left.
fn soft_sqrt<F: Float>(x: &F, kind: FloatKind, round: Round) -> u128 {
    if x.is_nan() || x.is_zero() || (x.is_infinite() && !x.is_negative()) {
        return x.to_bits();
    }
    if x.is_negative() {
        return (-F::NAN).to_bits();
    }
    let digits = kind.precision();
    // x = integer * 2^power, with the integer of exactly `digits` bits.
    let exponent = x.ilogb();
    let scaled = x.scalbn(digits as i32 - 1 - exponent);
    let mut exact = false;
    let integer = scaled.to_u128_r(128, Round::TowardZero, &mut exact).value;
    let power = exponent - (digits as i32 - 1);
    // Make the power even, then take digits + 1 digits of the root: the radicand is read two
    // bits at a time from the top, zeros after its end.
    let (radicand, power, bits) = if power % 2 == 0 {
        (integer, power, digits + digits % 2)
    } else {
        (integer << 1, power - 1, (digits + 1) + (digits + 1) % 2)
    };
    let pairs = bits / 2;
    let (mut root, mut rest) = (0u128, 0u128);
    let mut taken = 0;
    while root >> digits == 0 {
        let pair = if taken < pairs {
            radicand >> (2 * (pairs - 1 - taken)) & 3
        } else {
            0
        };
        rest = rest << 2 | pair;
        let trial = root << 2 | 1;
        root <<= 1;
        if rest >= trial {
            rest -= trial;
            root |= 1;
        }
        taken += 1;
    }
    // The root now has digits + 1 bits and stands for root * 2^(power / 2 - (taken - pairs)).
    // A sticky bit below decides the rounding.
    let sticky = root << 1 | u128::from(rest != 0);
    let half_power = power / 2 - (taken as i32 - pairs as i32) - 1;
    let root = F::from_u128_r(sticky, round).value;
    root.scalbn(half_power).to_bits()
}

/// Converts between formats.
pub(super) fn convert(from: FloatKind, to: FloatKind, bits: u128) -> u128 {
    if from == to {
        return bits;
    }
    match (from, to) {
        (FloatKind::F32, FloatKind::F64) => u128::from(f64::from(f32_of(bits)).to_bits()),
        (FloatKind::F64, FloatKind::F32) => u128::from((f64_of(bits) as f32).to_bits()),
        _ => software_convert(from, to, bits, Round::NearestTiesToEven),
    }
}

fn software_convert(from: FloatKind, to: FloatKind, bits: u128, round: Round) -> u128 {
    match from {
        FloatKind::F16 => soft_convert(Half::from_bits(bits), to, round),
        FloatKind::F32 => soft_convert(Single::from_bits(bits), to, round),
        FloatKind::F64 => soft_convert(Double::from_bits(bits), to, round),
        FloatKind::X87 => soft_convert(X87DoubleExtended::from_bits(bits), to, round),
        FloatKind::F128 => soft_convert(Quad::from_bits(bits), to, round),
    }
}

fn soft_convert<F>(value: F, to: FloatKind, round: Round) -> u128
where
    F: FloatConvert<Half>
        + FloatConvert<Single>
        + FloatConvert<Double>
        + FloatConvert<X87DoubleExtended>
        + FloatConvert<Quad>,
{
    let mut lossy = false;
    match to {
        FloatKind::F16 => FloatConvert::<Half>::convert_r(value, round, &mut lossy)
            .value
            .to_bits(),
        FloatKind::F32 => FloatConvert::<Single>::convert_r(value, round, &mut lossy)
            .value
            .to_bits(),
        FloatKind::F64 => FloatConvert::<Double>::convert_r(value, round, &mut lossy)
            .value
            .to_bits(),
        FloatKind::X87 => FloatConvert::<X87DoubleExtended>::convert_r(value, round, &mut lossy)
            .value
            .to_bits(),
        FloatKind::F128 => FloatConvert::<Quad>::convert_r(value, round, &mut lossy)
            .value
            .to_bits(),
    }
}

/// An operation that is rounded as a mode says, on operands of one kind.
pub(super) fn rounded(
    op: RoundedOp,
    mode: u128,
    from: Kind,
    to: FloatKind,
    operands: [u128; 3],
) -> u128 {
    let round = match mode {
        rounding::DOWN => Round::TowardNegative,
        rounding::UP => Round::TowardPositive,
        rounding::ZERO => Round::TowardZero,
        _ => Round::NearestTiesToEven,
    };
    let [a, b, _] = operands;
    let nearest = || match op {
        RoundedOp::Add => binary(BinaryOp::Add, to, a, b),
        RoundedOp::Sub => binary(BinaryOp::Sub, to, a, b),
        RoundedOp::Mul => binary(BinaryOp::Mul, to, a, b),
        RoundedOp::Div => binary(BinaryOp::Div, to, a, b),
        RoundedOp::Sqrt => unary(UnaryOp::FloatSqrt, to, a),
        RoundedOp::Rint => unary(UnaryOp::FloatRint, to, a),
        RoundedOp::Convert => super::scalar::convert(from, Kind::Float(to), a),
        // Where it is no number, neither is the sum of the product: which NaN is the machine's.
        RoundedOp::Fma => {
            let product = binary(BinaryOp::Mul, to, a, b);
            binary(BinaryOp::Add, to, product, operands[2])
        }
    };
    if round == Round::NearestTiesToEven && op != RoundedOp::Fma {
        return nearest();
    }
    let bits = match (op, from) {
        (RoundedOp::Convert, Kind::Float(from)) => software_convert(from, to, a, round),
        (RoundedOp::Convert, _) => {
            let (negative, magnitude) = from.number(a);
            rounded_int(to, negative, magnitude, round)
        }
        _ => match to {
            FloatKind::F16 => soft_rounded::<Half>(op, to, operands, round),
            FloatKind::F32 => soft_rounded::<Single>(op, to, operands, round),
            FloatKind::F64 => soft_rounded::<Double>(op, to, operands, round),
            FloatKind::X87 => soft_rounded::<X87DoubleExtended>(op, to, operands, round),
            FloatKind::F128 => soft_rounded::<Quad>(op, to, operands, round),
        },
    };
    // A NaN does not depend on the mode.
    match unary(UnaryOp::IsNan, to, bits) {
        0 => bits,
        _ => nearest(),
    }
}

fn soft_rounded<F: Float>(
    op: RoundedOp,
    kind: FloatKind,
    operands: [u128; 3],
    round: Round,
) -> u128 {
    let [a, b, c] = operands.map(F::from_bits);
    let result = match op {
        RoundedOp::Add => a.add_r(b, round),
        RoundedOp::Sub => a.sub_r(b, round),
        RoundedOp::Mul => a.mul_r(b, round),
        RoundedOp::Div => a.div_r(b, round),
        RoundedOp::Fma => a.mul_add_r(b, c, round),
        RoundedOp::Sqrt => return soft_sqrt(&a, kind, round),
        RoundedOp::Rint | RoundedOp::Convert => a.round_to_integral(round),
    };
    result.value.to_bits()
}

/// The float next to an integer, as a rounding says.
fn rounded_int(to: FloatKind, negative: bool, magnitude: u128, round: Round) -> u128 {
    // What is rounded up is the number, not its magnitude.
    let round = if negative { -round } else { round };
    let bits = match to {
        FloatKind::F16 => Half::from_u128_r(magnitude, round).value.to_bits(),
        FloatKind::F32 => Single::from_u128_r(magnitude, round).value.to_bits(),
        FloatKind::F64 => Double::from_u128_r(magnitude, round).value.to_bits(),
        FloatKind::X87 => X87DoubleExtended::from_u128_r(magnitude, round)
            .value
            .to_bits(),
        FloatKind::F128 => Quad::from_u128_r(magnitude, round).value.to_bits(),
    };
    bits | u128::from(negative) << (width(to) - 1)
}

/// The float nearest to an integer.
pub(super) fn from_int(to: FloatKind, negative: bool, magnitude: u128) -> u128 {
    let sign = if negative {
        1u128 << (width(to) - 1)
    } else {
        0
    };
    sign | match to {
        FloatKind::F16 => Half::from_u128(magnitude).value.to_bits(),
        FloatKind::F32 => u128::from((magnitude as f32).to_bits()),
        FloatKind::F64 => u128::from((magnitude as f64).to_bits()),
        FloatKind::X87 => X87DoubleExtended::from_u128(magnitude).value.to_bits(),
        FloatKind::F128 => Quad::from_u128(magnitude).value.to_bits(),
    }
}

/// Truncates towards zero. Out of range C leaves it undefined; the value is then what gcc's
/// code computes on x86-64: `cvttsd2si` gives the smallest number of its 32 or 64 bits, and a
/// narrower type takes the low bits of that. 128-bit results saturate.
pub(super) fn to_int(from: FloatKind, bits: u128, width: u32, signed: bool) -> u128 {
    // Every finite float's integer part fits in 128 bits or is out of range of everything.
    let exact = match from {
        FloatKind::F16 => soft_truncated(Half::from_bits(bits)),
        FloatKind::F32 => truncated(f64::from(f32_of(bits))),
        FloatKind::F64 => truncated(f64_of(bits)),
        FloatKind::X87 => soft_truncated(X87DoubleExtended::from_bits(bits)),
        FloatKind::F128 => soft_truncated(Quad::from_bits(bits)),
    };
    let indefinite = |width: u32| 1u128 << (width - 1);
    let hardware = |width: u32| match exact {
        Some((negative, m)) if m < indefinite(width) || negative && m == indefinite(width) => {
            if negative {
                m.wrapping_neg()
            } else {
                m
            }
        }
        _ => indefinite(width),
    };
    let result = match (width, signed) {
        (..=16, _) | (17..=32, true) => hardware(32),
        (33..=64, false) => match exact {
            Some((false, m)) if m >= 1 << 63 => {
                if m < 1 << 64 {
                    m
                } else {
                    0
                }
            }
            _ => hardware(64),
        },
        (..=64, _) => hardware(64),
        (_, signed) => match exact {
            Some((negative, m)) if !signed => {
                if negative {
                    m.wrapping_neg()
                } else {
                    m
                }
            }
            Some((negative, m)) => {
                let limit = if negative { 1 << 127 } else { (1 << 127) - 1 };
                let m = m.min(limit);
                if negative { m.wrapping_neg() } else { m }
            }
            None => indefinite(128),
        },
    };
    result & mask(width)
}

fn truncated(x: f64) -> Option<(bool, u128)> {
    let magnitude = x.abs().trunc();
    (magnitude < 2f64.powi(128)).then_some((x < 0.0, magnitude as u128))
}

fn soft_truncated<F: Float>(x: F) -> Option<(bool, u128)> {
    let mut exact = false;
    let magnitude = x.abs().to_u128_r(128, Round::TowardZero, &mut exact);
    let invalid = magnitude.status.contains(rustc_apfloat::Status::INVALID_OP);
    (!invalid).then_some((x.is_negative(), magnitude.value))
}

/// A float's decimal digits, for people.
pub(super) fn text(kind: FloatKind, bits: u128) -> String {
    match kind {
        FloatKind::F16 => Half::from_bits(bits).to_string(),
        FloatKind::F32 => format!("{:?}", f32_of(bits)),
        FloatKind::F64 => format!("{:?}", f64_of(bits)),
        FloatKind::X87 => X87DoubleExtended::from_bits(bits).to_string(),
        FloatKind::F128 => Quad::from_bits(bits).to_string(),
    }
}

/// The bits of a decimal number, rounded to nearest.
pub(super) fn parse(kind: FloatKind, text: &str) -> Option<u128> {
    let double = text.parse::<f64>().ok()?;
    if !double.is_finite() && !text.contains(|c: char| c.is_ascii_digit()) {
        // Infinity and NaN have names.
        return Some(convert(FloatKind::F64, kind, u128::from(double.to_bits())));
    }
    Some(match kind {
        FloatKind::F16 => text.parse::<Half>().ok()?.to_bits(),
        FloatKind::F32 => u128::from(text.parse::<f32>().ok()?.to_bits()),
        FloatKind::F64 => u128::from(text.parse::<f64>().ok()?.to_bits()),
        FloatKind::X87 => text.parse::<X87DoubleExtended>().ok()?.to_bits(),
        FloatKind::F128 => text.parse::<Quad>().ok()?.to_bits(),
    })
}

/// The number as a signed integer of any width, if it is a small one; used in tests.
#[cfg(test)]
fn small(kind: FloatKind, bits: u128) -> i128 {
    extend(to_int(kind, bits, 64, true), 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_square_roots_are_correctly_rounded() {
        // Squares are exact.
        for n in [1u128, 4, 9, 1 << 40, 123_456_789 * 123_456_789] {
            for kind in [FloatKind::X87, FloatKind::F128] {
                let root = unary(UnaryOp::FloatSqrt, kind, from_int(kind, false, n));
                assert_eq!(small(kind, root).pow(2) as u128, n, "{kind:?} {n}");
            }
        }
        // Rounded through a format that is twice as wide, a root must be double's own.
        for i in 0..2000u64 {
            let x = f64::from_bits(0x3ff0_0000_0000_0000 + i * 0x0000_1234_5678_9abd);
            let wide = convert(FloatKind::F64, FloatKind::F128, u128::from(x.to_bits()));
            let root = unary(UnaryOp::FloatSqrt, FloatKind::F128, wide);
            let back = convert(FloatKind::F128, FloatKind::F64, root);
            assert_eq!(f64_of(back), x.sqrt());
        }
    }

    #[test]
    fn out_of_range_conversions_are_x86s() {
        let of = |x: f64, width, signed| {
            extend(
                to_int(FloatKind::F64, u128::from(x.to_bits()), width, signed),
                width,
            )
        };
        assert_eq!(of(1e10, 32, true), i32::MIN.into());
        assert_eq!(of(-1.9, 32, true), -1);
        assert_eq!(of(4294967295.5, 32, false), -1);
        assert_eq!(of(f64::NAN, 64, true), i64::MIN.into());
        assert_eq!(
            of(1e30, 128, true),
            1_000_000_000_000_000_019_884_624_838_656
        );
        assert_eq!(of(300.0, 8, false), 44);
        assert_eq!(of(-1.0, 64, false), -1);
    }

    #[test]
    fn invalid_operations_give_x86s_nan() {
        let zero = 0;
        for kind in [FloatKind::X87, FloatKind::F128, FloatKind::F64] {
            let nan = binary(BinaryOp::Div, kind, zero, std::hint::black_box(zero));
            assert_eq!(unary(UnaryOp::IsNan, kind, nan), 1);
            assert_eq!(unary(UnaryOp::SignBit, kind, nan), 1, "{kind:?}");
        }
    }
}
