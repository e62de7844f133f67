//! `a * b + c` with one rounding at the end.

use super::arithmetic::Special;
use super::digits::{followed_by_zeros, is_set, normalised, shifted_down, signed, unsigned};
use super::parts::{Parts, exponent_width};
use super::round::Unrounded;
use crate::float::{FloatOperation, Rounding};
use crate::term::{TermId, Terms};

/// A summand: its digits begin with one that is set, unless it is zero.
#[derive(Clone, Copy)]
struct Summand {
    negative: TermId,
    exponent: TermId,
    digits: TermId,
}

impl FloatOperation {
    pub(super) fn fma(self, terms: &mut Terms, [a, b, c]: [TermId; 3], nan: TermId) -> TermId {
        let format = self.format;
        let width = 2 * format.precision;
        let room = exponent_width(format) + 2;
        let [a, b, c] = [a, b, c].map(|bits| Parts::of(terms, format, bits));
        // The product with all its digits; the first one is the first or the second one.
        let (x, y) = (a.normal(terms, format), b.normal(terms, format));
        let left = unsigned(terms, x.significand, width);
        let right = unsigned(terms, y.significand, width);
        let product = terms.bv_mul(left, right);
        let full = is_set(terms, product, width - 1);
        let rest = terms.extract(product, width - 2, 0);
        let up = followed_by_zeros(terms, rest, 1);
        let (x, y) = (x.exponent_at(terms, room), y.exponent_at(terms, room));
        let exponent = terms.bv_add(x, y);
        let one = terms.bv(1, room);
        let carried = terms.bv_add(exponent, one);
        let nothing = terms.or(&[a.zero, b.zero]);
        // Zero has the smallest exponent of all, so that whatever is added to it is larger.
        let least = {
            let one = terms.bv(1, 1);
            let zeros = terms.bv(0, room - 1);
            terms.concat(one, zeros)
        };
        let exponent = terms.ite(full, carried, exponent);
        let product = Summand {
            negative: terms.xor(a.negative, b.negative),
            exponent: terms.ite(nothing, least, exponent),
            digits: terms.ite(full, product, up),
        };
        let z = c.normal(terms, format);
        let exponent = z.exponent_at(terms, room);
        let summand = Summand {
            negative: c.negative,
            exponent: terms.ite(c.zero, least, exponent),
            digits: followed_by_zeros(terms, z.significand, format.precision),
        };
        let number = self.sum(terms, product, summand);
        let product_infinite = terms.or(&[a.infinite, b.infinite]);
        let left = terms.and(&[a.infinite, b.zero]);
        let right = terms.and(&[b.infinite, a.zero]);
        let apart = terms.xor(product.negative, c.negative);
        let against = terms.and(&[product_infinite, c.infinite, apart]);
        let special = Special {
            nan: terms.or(&[a.nan, b.nan, c.nan, left, right, against]),
            infinite: terms.or(&[product_infinite, c.infinite]),
            negative: terms.ite(product_infinite, product.negative, c.negative),
        };
        special.or(terms, format, nan, number)
    }

    /// The sum of two numbers with as many digits each, as a float.
    fn sum(self, terms: &mut Terms, a: Summand, b: Summand) -> TermId {
        let lower = terms.bv_slt(a.exponent, b.exponent);
        let level = terms.eq(a.exponent, b.exponent);
        let fewer = terms.bv_ult(a.digits, b.digits);
        let smaller = terms.and(&[level, fewer]);
        let swap = terms.or(&[lower, smaller]);
        let mut choose = |x: TermId, y: TermId| (terms.ite(swap, y, x), terms.ite(swap, x, y));
        let (exponent, small_exponent) = choose(a.exponent, b.exponent);
        let (large, small) = choose(a.digits, b.digits);
        let (large_negative, _) = choose(a.negative, b.negative);
        // As in a sum of floats, three digits more are enough.
        let room = terms.width(exponent) + 1;
        let high = signed(terms, exponent, room);
        let low = signed(terms, small_exponent, room);
        let distance = terms.bv_sub(high, low);
        let large = followed_by_zeros(terms, large, 3);
        let small = followed_by_zeros(terms, small, 3);
        let small = shifted_down(terms, small, distance);
        let width = terms.width(large) + 1;
        let large = unsigned(terms, large, width);
        let small = unsigned(terms, small, width);
        let apart = terms.xor(a.negative, b.negative);
        let sum = terms.bv_add(large, small);
        let difference = terms.bv_sub(large, small);
        let sum = terms.ite(apart, difference, sum);
        let (digits, by) = normalised(terms, sum);
        let room = room + 1;
        let exponent = signed(terms, exponent, room);
        let one = terms.bv(1, room);
        let exponent = terms.bv_add(exponent, one);
        let by = unsigned(terms, by, room);
        let exponent = terms.bv_sub(exponent, by);
        let zero = terms.bv(0, width);
        let nothing = terms.eq(sum, zero);
        let cancelled = terms.and(&[apart, nothing]);
        let down = terms.bool(self.rounding == Rounding::Down);
        let number = Unrounded {
            negative: terms.ite(cancelled, down, large_negative),
            exponent,
            digits,
        };
        number.rounded(terms, self.format, self.rounding)
    }
}
