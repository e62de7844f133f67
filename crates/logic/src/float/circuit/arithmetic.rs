//! Sums, products, quotients, remainders and roots.

use super::digits::{any, bits_for, followed_by_zeros, is_set, normalised, shifted_down, unsigned};
use super::parts::{Normal, Parts, exponent_width, infinity, quiet_nan, with_sign};
use super::round::Unrounded;
use crate::float::{FloatFormat, FloatOperation, Rounding};
use crate::term::{TermId, Terms};

/// The results that are not rounded numbers, and when they are what comes out.
pub(super) struct Special {
    pub(super) nan: TermId,
    pub(super) infinite: TermId,
    pub(super) negative: TermId,
}

impl Special {
    /// The result: a NaN with the given bits, infinity, or the number.
    pub(super) fn or(
        self,
        terms: &mut Terms,
        format: FloatFormat,
        bits: TermId,
        number: TermId,
    ) -> TermId {
        let infinity = infinity(terms, format);
        let infinity = with_sign(terms, self.negative, infinity);
        let nan = quiet_nan(terms, format, bits);
        let result = terms.ite(self.infinite, infinity, number);
        terms.ite(self.nan, nan, result)
    }
}

/// A remainder less a divisor where that is possible, and whether it is.
fn reduced(terms: &mut Terms, rest: TermId, by: TermId) -> (TermId, TermId) {
    let fits = terms.bv_ule(by, rest);
    let less = terms.bv_sub(rest, by);
    (terms.ite(fits, less, rest), fits)
}

/// How a dividend moves up to its divisor. It may be above it by two to the power of the exponent's
/// width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::float) enum Moves {
    /// Digit by digit, one step for each.
    OneByOne,
    /// By squaring: a step for each bit of the exponent, in which two numbers are multiplied.
    BySquares,
}

/// The widest exponent for which a step for each digit is the smaller circuit, or about as small.
/// Steps are easier to reason about than products.
const MOST_STEPS: u32 = 11;

/// The remainder of a product. Both factors have a digit less than the divisor is wide, and are
/// smaller; the divisor's second digit is set.
fn product_modulo(terms: &mut Terms, a: TermId, b: TermId, divisor: TermId) -> TermId {
    let digits = terms.width(a);
    let wide_a = unsigned(terms, a, 2 * digits);
    let wide_b = unsigned(terms, b, 2 * digits);
    let product = terms.bv_mul(wide_a, wide_b);
    // The upper half is smaller than the divisor: the product is so by more than all digits.
    let mut rest = terms.extract(product, 2 * digits - 1, digits);
    for at in (0..digits).rev() {
        let digit = terms.extract(product, at, at);
        let more = terms.concat(rest, digit);
        let (less, _) = reduced(terms, more, divisor);
        rest = terms.extract(less, digits - 1, 0);
    }
    rest
}

impl FloatOperation {
    pub(super) fn add(self, terms: &mut Terms, a: TermId, b: TermId, nan: TermId) -> TermId {
        let format = self.format;
        let precision = format.precision;
        let a = Parts::of(terms, format, a);
        let b = Parts::of(terms, format, b);
        let swap = terms.bv_ult(a.magnitude, b.magnitude);
        let mut choose = |x: TermId, y: TermId| (terms.ite(swap, y, x), terms.ite(swap, x, y));
        let (large_exponent, small_exponent) = choose(a.exponent, b.exponent);
        let (large, small) = choose(a.significand, b.significand);
        let (large_negative, _) = choose(a.negative, b.negative);
        // The smaller number moves down to the larger one's exponent. Three digits more are
        // enough: if it moves by more than one place, at most one leading digit is cancelled.
        let distance = terms.bv_sub(large_exponent, small_exponent);
        let large = followed_by_zeros(terms, large, 3);
        let small = followed_by_zeros(terms, small, 3);
        let small = shifted_down(terms, small, distance);
        let width = precision + 4;
        let large = unsigned(terms, large, width);
        let small = unsigned(terms, small, width);
        let apart = terms.xor(a.negative, b.negative);
        let sum = terms.bv_add(large, small);
        let difference = terms.bv_sub(large, small);
        let sum = terms.ite(apart, difference, sum);
        let (digits, by) = normalised(terms, sum);
        let room = exponent_width(format);
        let exponent = unsigned(terms, large_exponent, room);
        let offset = terms.bv(i128::from(1 - format.bias()), room);
        let exponent = terms.bv_add(exponent, offset);
        let by = unsigned(terms, by, room);
        let exponent = terms.bv_sub(exponent, by);
        // What cancels out is positive, or negative where everything is rounded down.
        let zero = terms.bv(0, width);
        let nothing = terms.eq(sum, zero);
        let cancelled = terms.and(&[apart, nothing]);
        let down = terms.bool(self.rounding == Rounding::Down);
        let negative = terms.ite(cancelled, down, large_negative);
        let number = Unrounded {
            negative,
            exponent,
            digits,
        };
        let number = number.rounded(terms, format, self.rounding);
        let against = terms.and(&[a.infinite, b.infinite, apart]);
        let special = Special {
            nan: terms.or(&[a.nan, b.nan, against]),
            infinite: terms.or(&[a.infinite, b.infinite]),
            negative: large_negative,
        };
        special.or(terms, format, nan, number)
    }

    pub(super) fn mul(self, terms: &mut Terms, a: TermId, b: TermId, nan: TermId) -> TermId {
        let format = self.format;
        let precision = format.precision;
        let a = Parts::of(terms, format, a);
        let b = Parts::of(terms, format, b);
        let negative = terms.xor(a.negative, b.negative);
        let x = a.normal(terms, format);
        let y = b.normal(terms, format);
        let width = 2 * precision;
        let left = unsigned(terms, x.significand, width);
        let right = unsigned(terms, y.significand, width);
        let product = terms.bv_mul(left, right);
        // The first digit is the first one or the second one.
        let full = is_set(terms, product, width - 1);
        let rest = terms.extract(product, width - 2, 0);
        let up = followed_by_zeros(terms, rest, 1);
        let digits = terms.ite(full, product, up);
        let room = exponent_width(format) + 2;
        let (x, y) = (x.exponent_at(terms, room), y.exponent_at(terms, room));
        let exponent = terms.bv_add(x, y);
        let carry = super::digits::bit(terms, full);
        let carry = unsigned(terms, carry, room);
        let exponent = terms.bv_add(exponent, carry);
        let number = Unrounded {
            negative,
            exponent,
            digits,
        };
        let number = number.rounded(terms, format, self.rounding);
        let left = terms.and(&[a.infinite, b.zero]);
        let right = terms.and(&[b.infinite, a.zero]);
        let special = Special {
            nan: terms.or(&[a.nan, b.nan, left, right]),
            infinite: terms.or(&[a.infinite, b.infinite]),
            negative,
        };
        special.or(terms, format, nan, number)
    }

    pub(super) fn div(self, terms: &mut Terms, a: TermId, b: TermId, nan: TermId) -> TermId {
        let format = self.format;
        let precision = format.precision;
        let a = Parts::of(terms, format, a);
        let b = Parts::of(terms, format, b);
        let negative = terms.xor(a.negative, b.negative);
        let x = a.normal(terms, format);
        let y = b.normal(terms, format);
        // Digit by digit, two more than the format has.
        let width = precision + 1;
        let divisor = unsigned(terms, y.significand, width);
        let mut rest = unsigned(terms, x.significand, width);
        let mut quotient: Option<TermId> = None;
        for _ in 0..precision + 2 {
            let (less, fits) = reduced(terms, rest, divisor);
            let low = terms.extract(less, width - 2, 0);
            rest = followed_by_zeros(terms, low, 1);
            let digit = super::digits::bit(terms, fits);
            quotient = Some(match quotient {
                Some(before) => terms.concat(before, digit),
                None => digit,
            });
        }
        let quotient = quotient.expect("there is a digit");
        let rest = any(terms, rest);
        let all = terms.concat(quotient, rest);
        let top = precision + 2;
        let full = is_set(terms, all, top);
        let low = terms.extract(all, top - 1, 0);
        let up = followed_by_zeros(terms, low, 1);
        let digits = terms.ite(full, all, up);
        let room = exponent_width(format) + 2;
        let (x, y) = (x.exponent_at(terms, room), y.exponent_at(terms, room));
        let exponent = terms.bv_sub(x, y);
        let one = terms.bv(1, room);
        let lower = terms.bv_sub(exponent, one);
        let exponent = terms.ite(full, exponent, lower);
        let number = Unrounded {
            negative,
            exponent,
            digits,
        };
        let number = number.rounded(terms, format, self.rounding);
        let zero = terms.bv(0, format.width() - 1);
        let zero = with_sign(terms, negative, zero);
        let number = terms.ite(b.infinite, zero, number);
        let infinities = terms.and(&[a.infinite, b.infinite]);
        let zeros = terms.and(&[a.zero, b.zero]);
        let special = Special {
            nan: terms.or(&[a.nan, b.nan, infinities, zeros]),
            infinite: terms.or(&[a.infinite, b.zero]),
            negative,
        };
        special.or(terms, format, nan, number)
    }

    pub(super) fn rem(self, terms: &mut Terms, left: TermId, b: TermId, nan: TermId) -> TermId {
        let moves = match self.format.exponent <= MOST_STEPS {
            true => Moves::OneByOne,
            false => Moves::BySquares,
        };
        self.rem_moving(terms, [left, b, nan], moves)
    }

    /// The remainder of two floats, in one of the two ways.
    pub(in crate::float) fn rem_moving(
        self,
        terms: &mut Terms,
        [left, b, nan]: [TermId; 3],
        moves: Moves,
    ) -> TermId {
        let format = self.format;
        let precision = format.precision;
        let a = Parts::of(terms, format, left);
        let b = Parts::of(terms, format, b);
        let x = a.normal(terms, format);
        let y = b.normal(terms, format);
        let room = exponent_width(format) + 1;
        let (high, low) = (x.exponent_at(terms, room), y.exponent_at(terms, room));
        let distance = terms.bv_sub(high, low);
        let width = precision + 1;
        let divisor = unsigned(terms, y.significand, width);
        let mut rest = unsigned(terms, x.significand, width);
        let farthest = 2 * format.bias() - 1 + i64::from(precision) - 1;
        // The dividend's digits move up, as far as its exponent is above.
        let digits = match moves {
            Moves::OneByOne => {
                for step in (1..=farthest).rev() {
                    let step = terms.bv(i128::from(step), room);
                    let active = terms.bv_sle(step, distance);
                    let (less, _) = reduced(terms, rest, divisor);
                    let low = terms.extract(less, width - 2, 0);
                    let up = followed_by_zeros(terms, low, 1);
                    rest = terms.ite(active, up, rest);
                }
                let (rest, _) = reduced(terms, rest, divisor);
                terms.extract(rest, width - 2, 0)
            }
            Moves::BySquares => {
                // Two to the power of the distance, by the distance's bits from the first one on.
                let mut power = terms.bv(1, precision);
                for at in (0..bits_for(farthest as u64)).rev() {
                    power = product_modulo(terms, power, power, divisor);
                    let doubled = followed_by_zeros(terms, power, 1);
                    let (doubled, _) = reduced(terms, doubled, divisor);
                    let doubled = terms.extract(doubled, width - 2, 0);
                    let set = is_set(terms, distance, at);
                    power = terms.ite(set, doubled, power);
                }
                let (rest, _) = reduced(terms, rest, divisor);
                let rest = terms.extract(rest, width - 2, 0);
                product_modulo(terms, rest, power, divisor)
            }
        };
        let (digits, by) = normalised(terms, digits);
        let by = unsigned(terms, by, room);
        let number = Unrounded {
            negative: a.negative,
            exponent: terms.bv_sub(low, by),
            digits,
        };
        let number = number.rounded(terms, format, self.rounding);
        let small = terms.bv_ult(a.magnitude, b.magnitude);
        let number = terms.ite(small, left, number);
        let special = Special {
            nan: terms.or(&[a.nan, b.nan, a.infinite, b.zero]),
            infinite: terms.bool(false),
            negative: a.negative,
        };
        special.or(terms, format, nan, number)
    }

    pub(super) fn sqrt(self, terms: &mut Terms, a: TermId, nan: TermId) -> TermId {
        let format = self.format;
        let precision = format.precision;
        let bits = a;
        let a = Parts::of(terms, format, a);
        let Normal {
            exponent,
            significand,
        } = a.normal(terms, format);
        // With an even exponent, half of it is the root's; the rest lies from 1 to below 4.
        let odd = is_set(terms, exponent, 0);
        let even_digits = unsigned(terms, significand, precision + 1);
        let odd_digits = followed_by_zeros(terms, significand, 1);
        let radicand = terms.ite(odd, odd_digits, even_digits);
        let radicand = followed_by_zeros(terms, radicand, precision + 3);
        let one = terms.bv(1, terms.width(exponent));
        let exponent = terms.bv_ashr(exponent, one);
        // Digit by digit, two of the radicand for one of the root. After n of them the root has
        // n digits, and what is left has at most one more.
        let steps = precision + 2;
        let mut root: Option<TermId> = None;
        let mut rest: Option<TermId> = None;
        for step in 0..steps {
            let high = 2 * (steps - step) - 1;
            let pair = terms.extract(radicand, high, high - 1);
            let width = step + 3;
            let now = match rest {
                Some(rest) => terms.concat(rest, pair),
                None => pair,
            };
            let now = unsigned(terms, now, width);
            let tail = terms.bv(1, 2);
            let trial = match root {
                Some(root) => terms.concat(root, tail),
                None => tail,
            };
            let trial = unsigned(terms, trial, width);
            let (less, fits) = reduced(terms, now, trial);
            rest = Some(terms.extract(less, width - 2, 0));
            let digit = super::digits::bit(terms, fits);
            root = Some(match root {
                Some(root) => terms.concat(root, digit),
                None => digit,
            });
        }
        let rest = any(terms, rest.expect("there is a step"));
        let number = Unrounded {
            negative: a.negative,
            exponent,
            digits: terms.concat(root.expect("there is a step"), rest),
        };
        let number = number.rounded(terms, format, self.rounding);
        let number = terms.ite(a.zero, bits, number);
        let some = terms.not(a.zero);
        let imaginary = terms.and(&[a.negative, some]);
        let special = Special {
            nan: terms.or(&[a.nan, imaginary]),
            infinite: a.infinite,
            negative: a.negative,
        };
        special.or(terms, format, nan, number)
    }
}
