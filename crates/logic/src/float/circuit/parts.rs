//! A float taken apart, and comparisons, which need no more than the parts.

use super::digits::{bits_for, is_set, normalised, signed, unsigned};
use crate::float::{FloatFormat, FloatOp, FloatOperation};
use crate::term::{TermId, Terms};

/// The parts of a float whose leading bit is implied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    /// Whether the sign is set.
    pub(super) negative: TermId,
    /// The stored exponent, except that subnormals have 1, which is what it counts.
    pub(super) exponent: TermId,
    /// The digits, with the one before the point.
    pub(super) significand: TermId,
    /// Exponent and fraction as stored.
    pub(super) magnitude: TermId,
    /// Whether it is not a number.
    pub(super) nan: TermId,
    /// Whether it is infinite.
    pub(super) infinite: TermId,
    /// Whether it is zero.
    pub(super) zero: TermId,
}

/// A finite number other than zero with its first digit before the point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Normal {
    /// The exponent of the first digit, in two's complement, of the width of
    /// [`exponent_width`].
    pub(super) exponent: TermId,
    /// The digits; the first one is set.
    pub(super) significand: TermId,
}

/// The width of exponents of numbers with their first digit before the point, with room for a
/// few sums.
pub(super) fn exponent_width(format: FloatFormat) -> u32 {
    format.exponent.max(bits_for(u64::from(format.precision))) + 2
}

impl Parts {
    pub(super) fn of(terms: &mut Terms, format: FloatFormat, bits: TermId) -> Parts {
        let fraction_width = format.precision - 1;
        let width = format.width();
        let negative = is_set(terms, bits, width - 1);
        let magnitude = terms.extract(bits, width - 2, 0);
        let stored = terms.extract(bits, width - 2, fraction_width);
        let fraction = terms.extract(bits, fraction_width - 1, 0);
        let none = terms.bv(0, format.exponent);
        let low = terms.eq(stored, none);
        let infinite_bits = infinity(terms, format);
        let zero_bits = terms.bv(0, width - 1);
        let nan = terms.bv_ult(infinite_bits, magnitude);
        let infinite = terms.eq(magnitude, infinite_bits);
        let zero = terms.eq(magnitude, zero_bits);
        let first = terms.bv(1, format.exponent);
        let exponent = terms.ite(low, first, stored);
        let (off, on) = (terms.bv(0, 1), terms.bv(1, 1));
        let leading = terms.ite(low, off, on);
        let significand = terms.concat(leading, fraction);
        Parts {
            negative,
            exponent,
            significand,
            magnitude,
            nan,
            infinite,
            zero,
        }
    }

    /// The number with its first digit before the point.
    pub(super) fn normal(self, terms: &mut Terms, format: FloatFormat) -> Normal {
        let width = exponent_width(format);
        let (significand, by) = normalised(terms, self.significand);
        let stored = unsigned(terms, self.exponent, width);
        let bias = terms.bv(i128::from(format.bias()), width);
        let exponent = terms.bv_sub(stored, bias);
        let by = unsigned(terms, by, width);
        let exponent = terms.bv_sub(exponent, by);
        Normal {
            exponent,
            significand,
        }
    }
}

impl Normal {
    /// The exponent at another width.
    pub(super) fn exponent_at(self, terms: &mut Terms, width: u32) -> TermId {
        signed(terms, self.exponent, width)
    }
}

/// Exponent and fraction of infinity.
pub(super) fn infinity(terms: &mut Terms, format: FloatFormat) -> TermId {
    let ones = terms.bv(-1, format.exponent);
    let zeros = terms.bv(0, format.precision - 1);
    terms.concat(ones, zeros)
}

/// The NaN with the sign and the payload of these bits.
pub(super) fn quiet_nan(terms: &mut Terms, format: FloatFormat, bits: TermId) -> TermId {
    let (width, fraction) = (format.width(), format.precision - 1);
    let sign = terms.extract(bits, width - 1, width - 1);
    let ones = terms.bv(-1, format.exponent + 1);
    let nan = terms.concat(sign, ones);
    if fraction == 1 {
        return nan;
    }
    let payload = terms.extract(bits, fraction - 2, 0);
    terms.concat(nan, payload)
}

/// A float of a sign and the rest.
pub(super) fn with_sign(terms: &mut Terms, negative: TermId, magnitude: TermId) -> TermId {
    let sign = super::digits::bit(terms, negative);
    terms.concat(sign, magnitude)
}

impl FloatOperation {
    pub(super) fn compare(self, terms: &mut Terms, a: TermId, b: TermId) -> TermId {
        let a = Parts::of(terms, self.format, a);
        let b = Parts::of(terms, self.format, b);
        let zeros = terms.and(&[a.zero, b.zero]);
        let signs = terms.xor(a.negative, b.negative);
        let result = match self.op {
            FloatOp::Eq => {
                let same = terms.eq(a.magnitude, b.magnitude);
                let alike = terms.not(signs);
                let same = terms.and(&[alike, same]);
                terms.or(&[zeros, same])
            }
            op => {
                // Numbers of one sign are ordered as their bits are.
                let (up, down, at_zero) = if op == FloatOp::Lt {
                    let up = terms.bv_ult(a.magnitude, b.magnitude);
                    let down = terms.bv_ult(b.magnitude, a.magnitude);
                    (up, down, terms.bool(false))
                } else {
                    let up = terms.bv_ule(a.magnitude, b.magnitude);
                    let down = terms.bv_ule(b.magnitude, a.magnitude);
                    (up, down, terms.bool(true))
                };
                let alike = terms.ite(a.negative, down, up);
                let unlike = terms.ite(zeros, at_zero, a.negative);
                terms.ite(signs, unlike, alike)
            }
        };
        let numbers = [terms.not(a.nan), terms.not(b.nan)];
        terms.and(&[numbers[0], numbers[1], result])
    }
}
