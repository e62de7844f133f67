//! Rounding by looking at all floats of a format: an oracle that knows nothing but fractions.

use super::{draw, is_nan, meaning, special};
use crate::float::{FloatFormat, FloatOp, FloatOperation, Rounding};
use hardbop_test_support::random::Random;

/// The number `digits / 2^scale` that the bits of a positive finite float stand for.
fn number(format: FloatFormat, bits: u128, scale: i64) -> i128 {
    let fraction = format.precision - 1;
    let exponent = (bits >> fraction) as i64;
    let digits = bits & ((1 << fraction) - 1);
    let digits = if exponent > 0 {
        digits | 1 << fraction
    } else {
        digits
    };
    let power = exponent.max(1) - format.bias() - i64::from(fraction) + scale;
    (digits as i128) << power
}

/// The magnitude next to `top / bottom / 2^scale`, found among all of them. One more than the
/// largest number stands for infinity, at the place where the next number would be.
fn nearest(
    format: FloatFormat,
    rounding: Rounding,
    negative: bool,
    (top, bottom): (i128, i128),
    scale: i64,
) -> u128 {
    let infinite = ((1u128 << format.exponent) - 1) << (format.precision - 1);
    let at = |bits: u128| number(format, bits, scale) * bottom;
    let below = (0..infinite)
        .take_while(|&bits| at(bits) <= top)
        .last()
        .unwrap();
    if at(below) == top {
        return below;
    }
    let above = below + 1;
    let (down, up) = (top - at(below), at(above) - top);
    let away = match rounding {
        Rounding::NearestEven => up < down || up == down && above % 2 == 0,
        Rounding::NearestAway => up <= down,
        Rounding::Up => !negative,
        Rounding::Down => negative,
        Rounding::Zero => false,
    };
    // Beyond the place of the next number, what counts is only whether it may be infinite.
    let far = below + 1 == infinite && top >= at(infinite);
    let nearest = matches!(rounding, Rounding::NearestEven | Rounding::NearestAway);
    if away || far && nearest { above } else { below }
}

#[test]
fn small_formats_are_rounded_right() {
    for format in [FloatFormat::new(3, 4), FloatFormat::new(4, 3)] {
        let infinite = ((1u128 << format.exponent) - 1) << (format.precision - 1);
        let sign = 1u128 << (format.width() - 1);
        let scale = format.bias() + i64::from(format.precision);
        for rounding in Rounding::ALL {
            for a in 0..2 * infinite {
                for b in 0..2 * infinite {
                    // Both signs of both: finite numbers only, and the second one not zero.
                    let (a, b) = ((a / 2) | ((a % 2) * sign), (b / 2) | ((b % 2) * sign));
                    if b & !sign == 0 {
                        continue;
                    }
                    let value = |bits: u128| {
                        let magnitude = number(format, bits & !sign, scale);
                        if bits & sign == 0 {
                            magnitude
                        } else {
                            -magnitude
                        }
                    };
                    let (x, y) = (value(a), value(b));
                    for (op, top, bottom) in [
                        (FloatOp::Add, (x + y) << scale, 1i128 << scale),
                        (FloatOp::Mul, x * y, 1 << scale),
                        (FloatOp::Div, x << scale, y),
                        (FloatOp::Rem, x % y, 1),
                    ] {
                        let (top, bottom) = if bottom < 0 {
                            (-top, -bottom)
                        } else {
                            (top, bottom)
                        };
                        let zero = match op {
                            FloatOp::Add => match x == 0 && a & sign == b & sign {
                                true => a & sign != 0,
                                false => rounding == Rounding::Down,
                            },
                            FloatOp::Rem => a & sign != 0,
                            _ => (a ^ b) & sign != 0,
                        };
                        let negative = if top == 0 { zero } else { top < 0 };
                        let wanted =
                            nearest(format, rounding, negative, (top.abs(), bottom), scale)
                                | if negative { sign } else { 0 };
                        let operation = FloatOperation {
                            op,
                            format,
                            rounding,
                        };
                        let ours = meaning(operation, &[a, b]);
                        assert_eq!(ours, wanted, "{operation} of {a:#x}, {b:#x}");
                    }
                }
            }
        }
    }
}

/// Roots are right if their neighbours' middles lie on both sides of the number.
#[test]
fn roots_of_small_formats_are_rounded_right() {
    let format = FloatFormat::new(4, 5);
    let scale = 2 * (format.bias() + i64::from(format.precision));
    let infinite = ((1u128 << format.exponent) - 1) << (format.precision - 1);
    for bits in 1..infinite {
        let root = meaning(FloatOperation::nearest(FloatOp::Sqrt, format), &[bits]);
        let at = |bits: u128| number(format, bits, scale / 2 + 1);
        let (below, above) = (at(root - 1) + at(root), at(root) + at(root + 1));
        let square = number(format, bits, scale) << 4;
        assert!(
            below * below <= square && square <= above * above,
            "{bits:#x}"
        );
    }
}

/// Operands with NaN or infinity: the rules of IEEE 754, as far as no number comes out.
#[test]
fn what_is_no_number_stays_none() {
    let format = FloatFormat::new(5, 11);
    let mut random = Random(5);
    let specials = special(format);
    let (infinite, sign) = (0x7c00u128, 0x8000u128);
    for _ in 0..2000 {
        let a = draw(&mut random, format, &specials, 0);
        let b = draw(&mut random, format, &specials, a);
        let run = |op| meaning(FloatOperation::nearest(op, format), &[a, b]);
        let none = |bits: u128| bits & !sign > infinite;
        assert_eq!(none(a), is_nan(format, a));
        let (x, y) = (a & !sign, b & !sign);
        let given = none(a) || none(b);
        let both = x == infinite && y == infinite;
        assert_eq!(
            none(run(FloatOp::Add)),
            given || both && (a ^ b) & sign != 0
        );
        let mixed = x == infinite && y == 0 || x == 0 && y == infinite;
        assert_eq!(none(run(FloatOp::Mul)), given || mixed);
        assert_eq!(none(run(FloatOp::Div)), given || both || x == 0 && y == 0);
        assert_eq!(none(run(FloatOp::Rem)), given || x == infinite || y == 0);
        assert_eq!(none(run(FloatOp::Sqrt)), none(a) || a & sign != 0 && x != 0);
    }
}
