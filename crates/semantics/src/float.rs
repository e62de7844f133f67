//! Floating-point numbers in logic: bit-vectors of their width, with the operators of `logic`.
//!
//! Rounding is to nearest, as the interpreter does it, or as a mode says. Where C leaves a conversion to an integer
//! undefined, the result is the interpreter's, which is x86-64's.

use crate::scalar::{self, Shape, uninterpreted};
use hardbop_cfront::program::{BinaryOp, RoundedOp, UnaryOp};
use hardbop_cfront::types::FloatKind;
use hardbop_logic::{FloatFormat, FloatOp, FloatOperation, Rounding, Sign, Sort, TermId, Terms};

/// The format of C's floating-point types.
pub fn format(kind: FloatKind) -> FloatFormat {
    match kind {
        FloatKind::F16 => FloatFormat::HALF,
        FloatKind::F32 => FloatFormat::SINGLE,
        FloatKind::F64 => FloatFormat::DOUBLE,
        FloatKind::X87 => FloatFormat::EXTENDED,
        FloatKind::F128 => FloatFormat::QUAD,
    }
}

fn nearest(terms: &mut Terms, op: FloatOp, format: FloatFormat, args: &[TermId]) -> TermId {
    terms.float(FloatOperation::nearest(op, format), args)
}

/// Which NaN a result is stays open until somebody can look (`Execution::with_any_nan`).
fn some_nan(terms: &mut Terms, format: FloatFormat) -> TermId {
    terms.bv(0, format.width())
}

fn sign_mask(terms: &mut Terms, format: FloatFormat) -> TermId {
    let one = terms.bv(1, 1);
    let rest = terms.bv(0, format.width() - 1);
    terms.concat(one, rest)
}

fn magnitude(terms: &mut Terms, value: TermId, format: FloatFormat) -> TermId {
    let sign = sign_mask(terms, format);
    let rest = terms.bv_not(sign);
    terms.bv_and(value, rest)
}

/// Arithmetic on two floats of one format.
pub fn binary(
    terms: &mut Terms,
    op: BinaryOp,
    left: TermId,
    right: TermId,
    format: FloatFormat,
) -> TermId {
    let nan = some_nan(terms, format);
    let (op, right) = match op {
        BinaryOp::Add => (FloatOp::Add, right),
        BinaryOp::Sub => {
            let sign = sign_mask(terms, format);
            (FloatOp::Add, terms.bv_xor(right, sign))
        }
        BinaryOp::Mul => (FloatOp::Mul, right),
        BinaryOp::Div => (FloatOp::Div, right),
        BinaryOp::FloatMod | BinaryOp::Rem => (FloatOp::Rem, right),
        BinaryOp::CopySign => {
            let sign = sign_mask(terms, format);
            let sign = terms.bv_and(right, sign);
            let rest = magnitude(terms, left, format);
            return terms.bv_or(rest, sign);
        }
        // Nothing else is an operator on floats.
        op => {
            let sort = Sort::BitVec(format.width());
            return uninterpreted(terms, &format!("float_{op:?}"), &[left, right], sort);
        }
    };
    nearest(terms, op, format, &[left, right, nan])
}

/// A unary operator that gives a float.
pub fn unary(terms: &mut Terms, op: UnaryOp, value: TermId, format: FloatFormat) -> TermId {
    let rounding = match op {
        UnaryOp::Negate => {
            let sign = sign_mask(terms, format);
            return terms.bv_xor(value, sign);
        }
        UnaryOp::FloatAbs => return magnitude(terms, value, format),
        UnaryOp::FloatSqrt => {
            let nan = some_nan(terms, format);
            return nearest(terms, FloatOp::Sqrt, format, &[value, nan]);
        }
        UnaryOp::FloatFloor => Rounding::Down,
        UnaryOp::FloatCeil => Rounding::Up,
        UnaryOp::FloatTrunc => Rounding::Zero,
        UnaryOp::FloatRound => Rounding::NearestAway,
        UnaryOp::FloatRint => Rounding::NearestEven,
        op => {
            let sort = Sort::BitVec(format.width());
            return uninterpreted(terms, &format!("float_{op:?}"), &[value], sort);
        }
    };
    let nan = some_nan(terms, format);
    let integral = FloatOperation {
        op: FloatOp::Integral,
        format,
        rounding,
    };
    terms.float(integral, &[value, nan])
}

/// An operation that is rounded in one way, on operands of one shape.
pub fn rounded(
    terms: &mut Terms,
    op: RoundedOp,
    rounding: Rounding,
    operands: &[TermId],
    from: Shape,
    to: Shape,
) -> TermId {
    let format = to.float.expect("rounded operations give floats");
    let nan = some_nan(terms, format);
    let mut args = operands.to_vec();
    let (op, on) = match (op, from.float) {
        (RoundedOp::Convert, Some(wide)) => (FloatOp::Convert(format), wide),
        (RoundedOp::Convert, None) => {
            let width = whole(terms, &mut args[0], from);
            (FloatOp::FromInt(width), format)
        }
        (RoundedOp::Sub, _) => {
            let sign = sign_mask(terms, format);
            args[1] = terms.bv_xor(args[1], sign);
            (FloatOp::Add, format)
        }
        (RoundedOp::Add, _) => (FloatOp::Add, format),
        (RoundedOp::Mul, _) => (FloatOp::Mul, format),
        (RoundedOp::Div, _) => (FloatOp::Div, format),
        (RoundedOp::Fma, _) => (FloatOp::Fma, format),
        (RoundedOp::Sqrt, _) => (FloatOp::Sqrt, format),
        (RoundedOp::Rint, _) => (FloatOp::Integral, format),
    };
    if !matches!(op, FloatOp::FromInt(_)) {
        args.push(nan);
    }
    let operation = FloatOperation {
        op,
        format: on,
        rounding,
    };
    terms.float(operation, &args)
}

/// Makes a number in two's complement of an integer, and tells its width.
fn whole(terms: &mut Terms, bits: &mut TermId, from: Shape) -> u32 {
    if from.signed && from.width > 1 {
        return from.width;
    }
    *bits = terms.zero_extend(*bits, 1);
    from.width + 1
}

/// A question about one float; `None` if the operator is none.
pub fn test(terms: &mut Terms, op: UnaryOp, value: TermId, format: FloatFormat) -> Option<TermId> {
    Some(match op {
        UnaryOp::IsNan => {
            let number = nearest(terms, FloatOp::Eq, format, &[value, value]);
            terms.not(number)
        }
        UnaryOp::SignBit => {
            let top = format.width() - 1;
            let sign = terms.extract(value, top, top);
            let one = terms.bv(1, 1);
            terms.eq(sign, one)
        }
        UnaryOp::IsInfinite => {
            let value = magnitude(terms, value, format);
            let infinity = terms.bv_value(format.infinity(), format.width());
            nearest(terms, FloatOp::Eq, format, &[value, infinity])
        }
        UnaryOp::IsFinite | UnaryOp::IsNormal => {
            let value = magnitude(terms, value, format);
            let infinity = terms.bv_value(format.infinity(), format.width());
            let finite = nearest(terms, FloatOp::Lt, format, &[value, infinity]);
            if op == UnaryOp::IsFinite {
                return Some(finite);
            }
            let least = terms.bv_value(format.least_normal(), format.width());
            let normal = nearest(terms, FloatOp::Le, format, &[least, value]);
            terms.and(&[normal, finite])
        }
        _ => return None,
    })
}

/// A comparison of two floats of one format.
pub fn compare(
    terms: &mut Terms,
    op: BinaryOp,
    left: TermId,
    right: TermId,
    format: FloatFormat,
) -> TermId {
    match op {
        BinaryOp::Lt => nearest(terms, FloatOp::Lt, format, &[left, right]),
        BinaryOp::Le => nearest(terms, FloatOp::Le, format, &[left, right]),
        BinaryOp::Gt => nearest(terms, FloatOp::Lt, format, &[right, left]),
        BinaryOp::Ge => nearest(terms, FloatOp::Le, format, &[right, left]),
        BinaryOp::Ne => {
            let same = nearest(terms, FloatOp::Eq, format, &[left, right]);
            terms.not(same)
        }
        _ => nearest(terms, FloatOp::Eq, format, &[left, right]),
    }
}

/// Converts a value from or to a float. Numbers are bit-vectors on both sides.
pub fn convert(terms: &mut Terms, bits: TermId, from: Shape, to: Shape) -> TermId {
    match (from.float, to.float) {
        (Some(from), Some(to)) if from == to => bits,
        (Some(from), Some(to)) => {
            let nan = some_nan(terms, to);
            nearest(terms, FloatOp::Convert(to), from, &[bits, nan])
        }
        (None, Some(to)) => {
            let mut bits = bits;
            let width = whole(terms, &mut bits, from);
            nearest(terms, FloatOp::FromInt(width), to, &[bits])
        }
        (Some(format), None) => to_int(terms, bits, format, to),
        (None, None) => scalar::convert(terms, bits, from, to),
    }
}

/// The integer part. Out of range, x86-64's instructions give the smallest number of their 32 or
/// 64 bits, of which narrower types take the low ones; gcc's code for 64 bits without a sign and
/// its functions for 128 bits have their own ways.
fn to_int(terms: &mut Terms, value: TermId, format: FloatFormat, to: Shape) -> TermId {
    let width = to.width;
    let truncated =
        |terms: &mut Terms, width: u32| nearest(terms, FloatOp::ToInt(width), format, &[value]);
    if width <= 16 || width <= 32 && to.signed {
        let word = truncated(terms, 32);
        return terms.resize(word, width, Sign::Signed);
    }
    if width <= 32 || width <= 64 && to.signed {
        let word = truncated(terms, 64);
        return terms.resize(word, width, Sign::Signed);
    }
    let limit = if width <= 64 { 64 } else { 128 };
    let exact = truncated(terms, limit + 2);
    let exact = terms.extract(exact, limit - 1, 0);
    let least = {
        let one = terms.bv(1, 1);
        let zeros = terms.bv(0, limit - 1);
        terms.concat(one, zeros)
    };
    let [half, whole] = [limit - 1, limit]
        .map(|exponent| format.power_of_two(i64::from(exponent)))
        .map(|bits| terms.bv_value(bits, format.width()));
    let below = |terms: &mut Terms, value: TermId, bound: TermId| {
        nearest(terms, FloatOp::Lt, format, &[value, bound])
    };
    let result = if limit == 64 {
        // From 2^64 on: 0. Below -2^63, and for a NaN: the smallest number.
        let sign = sign_mask(terms, format);
        let low = terms.bv_xor(half, sign);
        let small = below(terms, value, whole);
        let large = nearest(terms, FloatOp::Le, format, &[low, value]);
        let inside = terms.and(&[small, large]);
        let over = nearest(terms, FloatOp::Le, format, &[whole, value]);
        let zero = terms.bv(0, limit);
        let outside = terms.ite(over, zero, least);
        terms.ite(inside, exact, outside)
    } else {
        let size = magnitude(terms, value, format);
        let inside = below(terms, size, whole);
        let kept = if to.signed {
            let most = terms.bv_not(least);
            let fits = below(terms, size, half);
            let zero = terms.bv(0, format.width());
            let negative = below(terms, value, zero);
            let limit = terms.ite(negative, least, most);
            terms.ite(fits, exact, limit)
        } else {
            exact
        };
        terms.ite(inside, kept, least)
    };
    terms.resize(result, width, Sign::Unsigned)
}
