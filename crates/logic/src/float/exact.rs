//! Operators on float values, exactly: numbers as integers of any size times powers of two, and
//! one rounding at the end.

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{One, Zero};

use super::{FloatFormat, FloatOp, FloatOperation, LeadingBit, Rounding};
use crate::value::{BitVec, Value};

/// What a float is.
#[derive(Clone, Debug)]
enum Number {
    Nan,
    Infinite { negative: bool },
    Finite(Finite),
}

/// `digits * 2^exponent`, with a sign that zero has, too.
#[derive(Clone, Debug)]
struct Finite {
    negative: bool,
    digits: BigUint,
    exponent: i64,
}

/// Applies an operation to values; `None` where they are not what it takes.
pub(crate) fn apply(operation: FloatOperation, args: &[Value]) -> Option<Value> {
    let bits: Option<Vec<&BitVec>> = args
        .iter()
        .map(|arg| match arg {
            Value::BitVec(bits) => Some(bits),
            _ => None,
        })
        .collect();
    let bits = bits?;
    let (widths, _) = operation.signature()?;
    if !bits.iter().map(|bits| bits.width()).eq(widths) {
        return None;
    }
    let format = operation.format;
    let operands: Vec<Number> = bits
        .iter()
        .enumerate()
        .filter(|&(at, _)| operation.is_operand(at))
        .map(|(_, bits)| decode(format, bits.unsigned()))
        .collect();
    let float = |to: FloatFormat, number: Number| {
        let nan = operation.nan_argument().map(|at| bits[at].unsigned());
        let bits = encode(to, operation.rounding, &number, nan);
        Some(Value::BitVec(BitVec::new(bits, to.width())))
    };
    match (operation.op, operands.as_slice()) {
        (FloatOp::Add, [a, b]) => float(format, sum(a, b, operation.rounding)),
        (FloatOp::Mul, [a, b]) => float(format, product(a, b)),
        (FloatOp::Div, [a, b]) => float(format, quotient(a, b, format)),
        (FloatOp::Rem, [a, b]) => float(format, remainder(a, b)),
        (FloatOp::Fma, [a, b, c]) => float(format, sum(&product(a, b), c, operation.rounding)),
        (FloatOp::Sqrt, [a]) => float(format, root(a, format)),
        (FloatOp::Integral, [a]) => float(format, integral(a, operation.rounding)),
        (FloatOp::Convert(to), [a]) => float(to, a.clone()),
        (FloatOp::FromInt(_), _) => float(format, Number::of_int(&bits[0].signed())),
        (FloatOp::ToInt(width), [a]) => Some(Value::BitVec(truncated(a, width))),
        (FloatOp::Eq, [a, b]) => Some(Value::Bool(order(a, b).is_some_and(|order| order.is_eq()))),
        (FloatOp::Lt, [a, b]) => Some(Value::Bool(order(a, b).is_some_and(|order| order.is_lt()))),
        (FloatOp::Le, [a, b]) => Some(Value::Bool(order(a, b).is_some_and(|order| order.is_le()))),
        _ => None,
    }
}

impl Number {
    fn of_int(value: &BigInt) -> Number {
        Number::Finite(Finite {
            negative: value.sign() == Sign::Minus,
            digits: value.magnitude().clone(),
            exponent: 0,
        })
    }

    fn is_negative(&self) -> bool {
        match self {
            Number::Nan => false,
            Number::Infinite { negative } => *negative,
            Number::Finite(finite) => finite.negative,
        }
    }
}

impl Finite {
    /// The number times 2^-exponent, for an exponent that is not larger than its own.
    fn scaled(&self, exponent: i64) -> BigInt {
        let digits = BigInt::from(&self.digits << (self.exponent - exponent) as u64);
        if self.negative { -digits } else { digits }
    }
}

/// The number that the bits stand for.
fn decode(format: FloatFormat, bits: &BigUint) -> Number {
    let stored = match format.leading {
        LeadingBit::Implied => format.precision - 1,
        LeadingBit::Stored => format.precision,
    };
    let negative = bits.bit(u64::from(format.width()) - 1);
    let significand = bits % (BigUint::one() << stored);
    let exponent: i64 = ((bits >> stored) % (BigUint::one() << format.exponent))
        .try_into()
        .expect("exponents are short");
    let top = (1 << format.exponent) - 1;
    let leading = BigUint::one() << (format.precision - 1);
    let has_leading = significand.bit(u64::from(format.precision) - 1);
    let digits = match format.leading {
        LeadingBit::Implied if exponent > 0 => &significand + &leading,
        LeadingBit::Implied => significand,
        LeadingBit::Stored if exponent > 0 && !has_leading => return Number::Nan,
        LeadingBit::Stored => significand,
    };
    if exponent == top {
        return if digits == leading {
            Number::Infinite { negative }
        } else {
            Number::Nan
        };
    }
    Number::Finite(Finite {
        negative,
        digits,
        exponent: exponent.max(1) - format.bias() - i64::from(format.precision - 1),
    })
}

/// The bits of the float next to a number. `nan` tells the sign and the payload of a NaN.
fn encode(
    format: FloatFormat,
    rounding: Rounding,
    number: &Number,
    nan: Option<&BigUint>,
) -> BigUint {
    let fraction = format.precision - 1;
    let infinite = BigUint::from((1u64 << format.exponent) - 1) << fraction;
    let (negative, magnitude) = match number {
        Number::Nan => {
            let bits = nan.cloned().unwrap_or_default();
            let quiet = BigUint::one() << (fraction - 1);
            let payload = &bits % &quiet;
            let negative = bits.bit(u64::from(format.width()) - 1);
            (negative, infinite + quiet + payload)
        }
        Number::Infinite { negative } => (*negative, infinite),
        Number::Finite(finite) => {
            let rounded = magnitude(format, rounding, finite);
            let bits = if rounded >= infinite {
                match away(rounding, finite.negative) {
                    Away::Never => infinite - 1u8,
                    _ => infinite,
                }
            } else {
                rounded
            };
            (finite.negative, bits)
        }
    };
    let bits = match format.leading {
        LeadingBit::Implied => magnitude,
        LeadingBit::Stored => {
            let exponent = &magnitude >> fraction;
            let leading = u8::from(!exponent.is_zero());
            (((exponent << 1u8) + leading) << fraction) + magnitude % (BigUint::one() << fraction)
        }
    };
    bits + (BigUint::from(u8::from(negative)) << (format.width() - 1))
}

/// When a magnitude that lies between two neighbours goes to the larger one.
enum Away {
    Never,
    Always,
    /// From the middle on; in the middle, only if that is even.
    NearestEven,
    /// From the middle on.
    Nearest,
}

fn away(rounding: Rounding, negative: bool) -> Away {
    match (rounding, negative) {
        (Rounding::NearestEven, _) => Away::NearestEven,
        (Rounding::NearestAway, _) => Away::Nearest,
        (Rounding::Up, false) | (Rounding::Down, true) => Away::Always,
        _ => Away::Never,
    }
}

/// Exponent and fraction of the rounded magnitude, as one number: the next float is one more.
/// What is too large comes out as infinity or beyond it.
fn magnitude(format: FloatFormat, rounding: Rounding, finite: &Finite) -> BigUint {
    if finite.digits.is_zero() {
        return BigUint::zero();
    }
    let fraction = i64::from(format.precision) - 1;
    let smallest = 1 - format.bias();
    let exponent = (finite.exponent + finite.digits.bits() as i64 - 1).max(smallest);
    let shift = exponent - fraction - finite.exponent;
    let kept = shifted(finite, shift, rounding);
    (BigUint::from((exponent + format.bias() - 1) as u64) << fraction as u64) + kept
}

/// The digits without the lowest ones, rounded.
fn shifted(finite: &Finite, shift: i64, rounding: Rounding) -> BigUint {
    if shift <= 0 {
        return &finite.digits << (-shift) as u64;
    }
    let kept = &finite.digits >> shift as u64;
    let rest = &finite.digits - (&kept << shift as u64);
    let half = BigUint::one() << (shift - 1) as u64;
    let more = match away(rounding, finite.negative) {
        Away::Never => false,
        Away::Always => !rest.is_zero(),
        Away::Nearest => rest >= half,
        Away::NearestEven => rest > half || rest == half && kept.bit(0),
    };
    kept + u8::from(more)
}

fn sum(a: &Number, b: &Number, rounding: Rounding) -> Number {
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite { negative: x }, Number::Infinite { negative: y }) if x != y => {
            Number::Nan
        }
        (Number::Infinite { .. }, _) => a.clone(),
        (_, Number::Infinite { .. }) => b.clone(),
        (Number::Finite(a), Number::Finite(b)) => {
            let exponent = a.exponent.min(b.exponent);
            let sum = a.scaled(exponent) + b.scaled(exponent);
            let negative = match sum.sign() {
                Sign::Minus => true,
                Sign::Plus => false,
                // A sum of zeros has their sign, if they have the same one.
                Sign::NoSign if a.negative == b.negative => a.negative,
                Sign::NoSign => rounding == Rounding::Down,
            };
            Number::Finite(Finite {
                negative,
                digits: sum.into_parts().1,
                exponent,
            })
        }
    }
}

fn product(a: &Number, b: &Number) -> Number {
    let negative = a.is_negative() != b.is_negative();
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite { .. }, Number::Finite(zero))
        | (Number::Finite(zero), Number::Infinite { .. })
            if zero.digits.is_zero() =>
        {
            Number::Nan
        }
        (Number::Finite(a), Number::Finite(b)) => Number::Finite(Finite {
            negative,
            digits: &a.digits * &b.digits,
            exponent: a.exponent + b.exponent,
        }),
        _ => Number::Infinite { negative },
    }
}

fn quotient(a: &Number, b: &Number, format: FloatFormat) -> Number {
    let negative = a.is_negative() != b.is_negative();
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite { .. }, Number::Infinite { .. }) => Number::Nan,
        (Number::Infinite { .. }, _) => Number::Infinite { negative },
        (_, Number::Infinite { .. }) => Number::Finite(Finite {
            negative,
            digits: BigUint::zero(),
            exponent: 0,
        }),
        (Number::Finite(a), Number::Finite(b)) if b.digits.is_zero() => {
            if a.digits.is_zero() {
                Number::Nan
            } else {
                Number::Infinite { negative }
            }
        }
        (Number::Finite(a), Number::Finite(b)) => {
            // Two digits more than the format has, even of subnormals.
            let more = u64::from(format.precision) * 2 + 2;
            let dividend = &a.digits << more;
            let digits = &dividend / &b.digits;
            let rest = dividend - &digits * &b.digits;
            Number::Finite(Finite {
                negative,
                // A last digit stands for whatever follows.
                digits: (digits << 1u8) + u8::from(!rest.is_zero()),
                exponent: a.exponent - b.exponent - more as i64 - 1,
            })
        }
    }
}

fn remainder(a: &Number, b: &Number) -> Number {
    match (a, b) {
        (Number::Finite(_), Number::Infinite { .. }) => a.clone(),
        (Number::Finite(a), Number::Finite(b)) if !b.digits.is_zero() => {
            let exponent = a.exponent.min(b.exponent);
            let rest = a.scaled(exponent).magnitude() % b.scaled(exponent).magnitude();
            Number::Finite(Finite {
                negative: a.negative,
                digits: rest,
                exponent,
            })
        }
        _ => Number::Nan,
    }
}

fn root(a: &Number, format: FloatFormat) -> Number {
    match a {
        Number::Finite(zero) if zero.digits.is_zero() => a.clone(),
        Number::Infinite { negative: false } => a.clone(),
        Number::Finite(a) if !a.negative => {
            let mut more = u64::from(format.precision) * 2 + 4;
            more += (a.exponent - more as i64).rem_euclid(2) as u64;
            let radicand = &a.digits << more;
            let digits = radicand.sqrt();
            let exact = &digits * &digits == radicand;
            Number::Finite(Finite {
                negative: false,
                digits: (digits << 1u8) + u8::from(!exact),
                exponent: (a.exponent - more as i64) / 2 - 1,
            })
        }
        _ => Number::Nan,
    }
}

fn integral(a: &Number, rounding: Rounding) -> Number {
    match a {
        Number::Finite(finite) if finite.exponent < 0 => Number::Finite(Finite {
            negative: finite.negative,
            digits: shifted(finite, -finite.exponent, rounding),
            exponent: 0,
        }),
        _ => a.clone(),
    }
}

fn truncated(a: &Number, width: u32) -> BitVec {
    let least = BigInt::one() << (width - 1);
    let number = match a {
        // The digits of a huge number are not written down.
        Number::Finite(a) if a.exponent <= i64::from(width) => {
            let digits = BigInt::from(shifted(a, -a.exponent, Rounding::Zero));
            Some(if a.negative { -digits } else { digits })
        }
        Number::Finite(a) if a.digits.is_zero() => Some(BigInt::zero()),
        _ => None,
    };
    let fits = number.filter(|number| *number >= -&least && *number < least);
    BitVec::from_int(&fits.unwrap_or(-least), width)
}

fn order(a: &Number, b: &Number) -> Option<std::cmp::Ordering> {
    let place = |number: &Number| match number {
        Number::Infinite { negative: true } => -1,
        Number::Infinite { negative: false } => 1,
        _ => 0,
    };
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => None,
        (Number::Finite(a), Number::Finite(b)) => {
            let exponent = a.exponent.min(b.exponent);
            Some(a.scaled(exponent).cmp(&b.scaled(exponent)))
        }
        _ => Some(place(a).cmp(&place(b))),
    }
}
