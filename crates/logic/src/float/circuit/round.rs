//! Rounding: a sign, an exponent and more digits than a float has become a float.

use super::digits::{bit, followed_by_zeros, is_set, shifted_down, shortened, signed};
use super::parts::{infinity, with_sign};
use crate::float::{FloatFormat, Rounding};
use crate::term::{TermId, Terms};

/// A number to be rounded: finite, and zero only if its digits are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unrounded {
    /// Whether the sign is set.
    pub(super) negative: TermId,
    /// The exponent of the first digit, in two's complement of any width.
    pub(super) exponent: TermId,
    /// The digits. The first one is set unless all are zero; the last one stands for all that
    /// follow, if the exact result has more of them.
    pub(super) digits: TermId,
}

impl Unrounded {
    /// The float next to the number.
    pub(super) fn rounded(
        self,
        terms: &mut Terms,
        format: FloatFormat,
        rounding: Rounding,
    ) -> TermId {
        // The digits of a float, the next one, and one that stands for the rest.
        let precision = format.precision;
        let width = precision + 2;
        let digits = shortened(terms, self.digits, width);
        // Room for the distance to the smallest and the largest exponent.
        let room = terms.width(self.exponent).max(format.exponent + 1) + 1;
        let exponent = signed(terms, self.exponent, room);
        let smallest = terms.bv(i128::from(1 - format.bias()), room);
        let largest = terms.bv(i128::from(format.bias()), room);
        // Below the smallest exponent, digits are lost: the number is subnormal.
        let below = terms.bv_slt(exponent, smallest);
        let distance = terms.bv_sub(smallest, exponent);
        let none = terms.bv(0, room);
        let distance = terms.ite(below, distance, none);
        let digits = shifted_down(terms, digits, distance);
        let exponent_of = terms.ite(below, smallest, exponent);
        let kept = terms.extract(digits, width - 1, 2);
        let next = is_set(terms, digits, 1);
        let rest = is_set(terms, digits, 0);
        let more = goes_away(terms, rounding, self.negative, kept, [next, rest]);
        // The stored exponent less one, with the digits added: the first digit makes it whole,
        // and what rounding adds carries over into the exponent.
        let one_less = terms.bv(i128::from(format.bias() - 1), room);
        let stored = terms.bv_add(exponent_of, one_less);
        let high = terms.extract(stored, format.exponent - 1, 0);
        let high = followed_by_zeros(terms, high, precision - 1);
        let all = format.width() - 1;
        let kept = super::digits::unsigned(terms, kept, all);
        let magnitude = terms.bv_add(high, kept);
        let more = bit(terms, more);
        let more = super::digits::unsigned(terms, more, all);
        let magnitude = terms.bv_add(magnitude, more);
        let beyond = terms.bv_slt(largest, exponent);
        let limit = overflown(terms, format, rounding, self.negative);
        let magnitude = terms.ite(beyond, limit, magnitude);
        // Without digits, the exponent says nothing.
        let nothing = terms.bv(0, terms.width(self.digits));
        let zero = terms.eq(self.digits, nothing);
        let zero_bits = terms.bv(0, all);
        let magnitude = terms.ite(zero, zero_bits, magnitude);
        with_sign(terms, self.negative, magnitude)
    }
}

/// Whether a magnitude goes to the larger neighbour: by its sign, the digits kept, the next digit
/// and whether anything follows.
pub(super) fn goes_away(
    terms: &mut Terms,
    rounding: Rounding,
    negative: TermId,
    kept: TermId,
    [next, rest]: [TermId; 2],
) -> TermId {
    match rounding {
        Rounding::NearestEven => {
            let odd = is_set(terms, kept, 0);
            let beyond = terms.or(&[rest, odd]);
            terms.and(&[next, beyond])
        }
        Rounding::NearestAway => next,
        Rounding::Zero => terms.bool(false),
        Rounding::Up | Rounding::Down => {
            let inexact = terms.or(&[next, rest]);
            let side = if rounding == Rounding::Down {
                negative
            } else {
                terms.not(negative)
            };
            terms.and(&[side, inexact])
        }
    }
}

/// What a magnitude beyond the largest number becomes.
fn overflown(
    terms: &mut Terms,
    format: FloatFormat,
    rounding: Rounding,
    negative: TermId,
) -> TermId {
    let infinite = infinity(terms, format);
    let one = terms.bv(1, format.width() - 1);
    let largest = terms.bv_sub(infinite, one);
    match rounding {
        Rounding::NearestEven | Rounding::NearestAway => infinite,
        Rounding::Zero => largest,
        Rounding::Up => terms.ite(negative, largest, infinite),
        Rounding::Down => terms.ite(negative, infinite, largest),
    }
}
