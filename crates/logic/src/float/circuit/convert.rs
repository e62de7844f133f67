//! Conversions between formats and from and to integers, and roundings to integers.

use super::digits::{followed_by_zeros, is_set, normalised, signed, unsigned};
use super::parts::{Parts, exponent_width, infinity, quiet_nan, with_sign};
use super::round::Unrounded;
use crate::float::{FloatFormat, FloatOperation, Rounding};
use crate::term::{TermId, Terms};

impl FloatOperation {
    pub(super) fn convert(
        self,
        terms: &mut Terms,
        to: FloatFormat,
        a: TermId,
        nan: TermId,
    ) -> TermId {
        let a = Parts::of(terms, self.format, a);
        let normal = a.normal(terms, self.format);
        let number = Unrounded {
            negative: a.negative,
            exponent: normal.exponent,
            digits: normal.significand,
        };
        let number = number.rounded(terms, to, self.rounding);
        let infinite = infinity(terms, to);
        let infinite = with_sign(terms, a.negative, infinite);
        let nan = quiet_nan(terms, to, nan);
        let result = terms.ite(a.infinite, infinite, number);
        terms.ite(a.nan, nan, result)
    }

    pub(super) fn int_to_float(self, terms: &mut Terms, width: u32, a: TermId) -> TermId {
        let negative = is_set(terms, a, width - 1);
        let opposite = terms.bv_neg(a);
        // The magnitude of the smallest number, too, if it is read without a sign.
        let magnitude = terms.ite(negative, opposite, a);
        let (digits, by) = normalised(terms, magnitude);
        let room = super::digits::bits_for(u64::from(width)) + 1;
        let top = terms.bv(i128::from(width) - 1, room);
        let by = unsigned(terms, by, room);
        let number = Unrounded {
            negative,
            exponent: terms.bv_sub(top, by),
            digits,
        };
        number.rounded(terms, self.format, self.rounding)
    }

    pub(super) fn float_to_int(self, terms: &mut Terms, width: u32, a: TermId) -> TermId {
        let format = self.format;
        let precision = format.precision;
        let a = Parts::of(terms, format, a);
        // The digits stand at the top and move down as far as the exponent is below that.
        // Subnormals are smaller than one, so they need not be brought into order.
        let all = precision.max(width);
        let digits = followed_by_zeros(terms, a.significand, all - precision);
        let room = exponent_width(format).max(super::digits::bits_for(u64::from(all))) + 2;
        let stored = unsigned(terms, a.exponent, room);
        let bias = terms.bv(i128::from(format.bias()), room);
        let exponent = terms.bv_sub(stored, bias);
        let top = terms.bv(i128::from(all) - 1, room);
        let distance = terms.bv_sub(top, exponent);
        let common = room.max(all);
        let moved = {
            // Both at one width, as shifts want it; what does not fit is chosen away below.
            let digits = unsigned(terms, digits, common);
            let distance = signed(terms, distance, common);
            terms.bv_lshr(digits, distance)
        };
        let number = terms.extract(moved, width - 1, 0);
        let opposite = terms.bv_neg(number);
        let number = terms.ite(a.negative, opposite, number);
        let zero = terms.bv(0, room);
        let small = terms.bv_slt(exponent, zero);
        let nothing = terms.bv(0, width);
        let number = terms.ite(small, nothing, number);
        // The smallest number is what everything becomes that does not fit, itself among it.
        let limit = terms.bv(i128::from(width) - 1, room);
        let large = terms.bv_sle(limit, exponent);
        let beyond = terms.or(&[large, a.infinite, a.nan]);
        let least = {
            let one = terms.bv(1, 1);
            followed_by_zeros(terms, one, width - 1)
        };
        terms.ite(beyond, least, number)
    }

    pub(super) fn integral(self, terms: &mut Terms, a: TermId, nan: TermId) -> TermId {
        let format = self.format;
        let bits = a;
        let a = Parts::of(terms, format, a);
        let fraction = format.precision - 1;
        let width = format.width() - 1;
        let room = format
            .exponent
            .max(super::digits::bits_for(u64::from(width)))
            + 2;
        let stored = unsigned(terms, a.exponent, room);
        let bias = terms.bv(i128::from(format.bias()), room);
        let exponent = terms.bv_sub(stored, bias);
        // From 1 on: below the bit of value 1 everything becomes zero. Exponent and fraction are
        // one number here, so a carry out of the fraction is right.
        let ones = terms.bv(-1, fraction);
        let ones = unsigned(terms, ones, width);
        let common = width.max(room);
        let by = signed(terms, exponent, common);
        let mask = unsigned(terms, ones, common);
        let mask = terms.bv_lshr(mask, by);
        let mask = terms.extract(mask, width - 1, 0);
        let one = terms.bv(1, width);
        let half = {
            let unit = terms.bv_add(mask, one);
            terms.bv_lshr(unit, one)
        };
        let none = terms.bv(0, width);
        let more = match self.rounding {
            Rounding::NearestEven => {
                // Half a unit, less a little bit where the unit's digit is even.
                let unit = terms.bv_add(mask, one);
                let lowest = terms.bv_and(a.magnitude, unit);
                let even = terms.eq(lowest, none);
                let less = terms.bv_sub(half, one);
                terms.ite(even, less, half)
            }
            Rounding::NearestAway => half,
            Rounding::Zero => none,
            Rounding::Up => terms.ite(a.negative, none, mask),
            Rounding::Down => terms.ite(a.negative, mask, none),
        };
        let moved = terms.bv_add(a.magnitude, more);
        let keep = terms.bv_not(mask);
        let large = terms.bv_and(moved, keep);
        // Below 1: zero or one.
        let unit = {
            let bias = terms.bv(i128::from(format.bias()), format.exponent);
            followed_by_zeros(terms, bias, fraction)
        };
        let some = terms.not(a.zero);
        let below_one = terms.bv(-1, room);
        let from_half = terms.bv_sle(below_one, exponent);
        let half_bits = {
            let bias = terms.bv(i128::from(format.bias() - 1), format.exponent);
            followed_by_zeros(terms, bias, fraction)
        };
        let up = match self.rounding {
            Rounding::NearestEven => terms.bv_ult(half_bits, a.magnitude),
            Rounding::NearestAway => from_half,
            Rounding::Zero => terms.bool(false),
            Rounding::Up => {
                let positive = terms.not(a.negative);
                terms.and(&[positive, some])
            }
            Rounding::Down => terms.and(&[a.negative, some]),
        };
        let small = terms.ite(up, unit, none);
        let zero = terms.bv(0, room);
        let is_small = terms.bv_slt(exponent, zero);
        let magnitude = terms.ite(is_small, small, large);
        let rounded = with_sign(terms, a.negative, magnitude);
        // From some exponent on, everything is an integer; infinity is among it.
        let last = terms.bv(i128::from(fraction), room);
        let whole = terms.bv_sle(last, exponent);
        let result = terms.ite(whole, bits, rounded);
        let nan = quiet_nan(terms, format, nan);
        terms.ite(a.nan, nan, result)
    }
}
