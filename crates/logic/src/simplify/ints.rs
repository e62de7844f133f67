//! Mathematical integers: sums in a linear normal form.
//!
//! A sum is `c1*t1 + ... + cn*tn + c0` with the `t` in order of age, each once, with coefficients
//! that are not zero. Comparisons move everything to one side and back, divided by the common
//! divisor of the coefficients.

use std::collections::BTreeMap;

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use crate::term::{Op, TermId, Terms};
use crate::value::euclid;

/// A linear sum: coefficients by term, and a constant.
#[derive(Clone, Default)]
struct Linear {
    coefficients: BTreeMap<TermId, BigInt>,
    constant: BigInt,
}

impl Linear {
    fn scale(&mut self, by: &BigInt) {
        if by.is_zero() {
            self.coefficients.clear();
        }
        for coefficient in self.coefficients.values_mut() {
            *coefficient *= by;
        }
        self.constant *= by;
    }

    fn add(&mut self, other: &Linear, times: &BigInt) {
        for (&term, coefficient) in &other.coefficients {
            let sum = self.coefficients.entry(term).or_default();
            *sum += coefficient * times;
            if sum.is_zero() {
                self.coefficients.remove(&term);
            }
        }
        self.constant += &other.constant * times;
    }

    /// The greatest common divisor of the coefficients, the constant left out.
    fn divisor(&self) -> BigInt {
        self.coefficients
            .values()
            .fold(BigInt::zero(), |gcd, next| gcd.gcd(next))
    }
}

impl Terms {
    fn linear(&self, term: TermId) -> Linear {
        let mut sum = Linear::default();
        let parts = match self.op(term) {
            Op::IntAdd => self.args(term).to_vec(),
            _ => vec![term],
        };
        for part in parts {
            match (self.op(part), self.args(part)) {
                (Op::Int(value), _) => sum.constant += value,
                (Op::IntMul, &[c, t]) if self.int_of(c).is_some() => {
                    let one = Linear {
                        coefficients: [(t, BigInt::one())].into(),
                        constant: BigInt::zero(),
                    };
                    sum.add(&one, self.int_of(c).expect("just seen"));
                }
                _ => {
                    let one = Linear {
                        coefficients: [(part, BigInt::one())].into(),
                        constant: BigInt::zero(),
                    };
                    sum.add(&one, &BigInt::one());
                }
            }
        }
        sum
    }

    fn linear_term(&mut self, sum: &Linear) -> TermId {
        let mut parts = Vec::with_capacity(sum.coefficients.len() + 1);
        for (&term, coefficient) in &sum.coefficients {
            if coefficient.is_one() {
                parts.push(term);
            } else {
                let coefficient = self.int_value(coefficient.clone());
                parts.push(self.plain(Op::IntMul, &[coefficient, term]));
            }
        }
        if !sum.constant.is_zero() || parts.is_empty() {
            parts.push(self.int_value(sum.constant.clone()));
        }
        match parts.as_slice() {
            [only] => *only,
            _ => self.plain(Op::IntAdd, &parts),
        }
    }

    /// The sum of any number of integers.
    pub fn int_add(&mut self, args: &[TermId]) -> TermId {
        let mut sum = Linear::default();
        for &arg in args {
            sum.add(&self.linear(arg), &BigInt::one());
        }
        self.linear_term(&sum)
    }

    /// `a - b`
    pub fn int_sub(&mut self, a: TermId, b: TermId) -> TermId {
        let mut sum = self.linear(a);
        sum.add(&self.linear(b), &-BigInt::one());
        self.linear_term(&sum)
    }

    /// `-a`
    pub fn int_neg(&mut self, a: TermId) -> TermId {
        let mut sum = self.linear(a);
        sum.scale(&-BigInt::one());
        self.linear_term(&sum)
    }

    /// The product of any number of integers.
    pub fn int_mul(&mut self, args: &[TermId]) -> TermId {
        let mut factor = BigInt::one();
        let mut rest: Vec<TermId> = Vec::new();
        for &arg in args {
            // A product that was built here is a number times a product without numbers.
            let mut sum = self.linear(arg);
            if sum.coefficients.is_empty() {
                factor *= &sum.constant;
            } else if sum.constant.is_zero() && sum.coefficients.len() == 1 {
                let (term, coefficient) = sum.coefficients.pop_first().expect("there is one");
                factor *= coefficient;
                match self.op(term) {
                    Op::IntMul => rest.extend_from_slice(self.args(term)),
                    _ => rest.push(term),
                }
            } else {
                rest.push(arg);
            }
        }
        if factor.is_zero() {
            return self.int(0);
        }
        rest.sort_unstable();
        let mut sum = match rest.as_slice() {
            [] => Linear {
                coefficients: BTreeMap::new(),
                constant: BigInt::one(),
            },
            [only] => self.linear(*only),
            _ => {
                let product = self.plain(Op::IntMul, &rest);
                Linear {
                    coefficients: [(product, BigInt::one())].into(),
                    constant: BigInt::zero(),
                }
            }
        };
        sum.scale(&factor);
        self.linear_term(&sum)
    }

    /// The Euclidean quotient (`div` of SMT-LIB).
    pub fn int_div(&mut self, a: TermId, b: TermId) -> TermId {
        if let Some(folded) = self.fold(&Op::IntDiv, &[a, b]) {
            return folded;
        }
        match self.int_of(b) {
            Some(divisor) if divisor.is_one() => a,
            Some(divisor) if *divisor == -BigInt::one() => self.int_neg(a),
            _ => self.plain(Op::IntDiv, &[a, b]),
        }
    }

    /// The Euclidean remainder (`mod` of SMT-LIB).
    pub fn int_mod(&mut self, a: TermId, b: TermId) -> TermId {
        if let Some(folded) = self.fold(&Op::IntMod, &[a, b]) {
            return folded;
        }
        let Some(divisor) = self.int_of(b).filter(|divisor| !divisor.is_zero()).cloned() else {
            return self.plain(Op::IntMod, &[a, b]);
        };
        if divisor.abs().is_one() {
            return self.int(0);
        }
        // Multiples of the divisor do not change the remainder.
        let mut sum = self.linear(a);
        for coefficient in sum.coefficients.values_mut() {
            *coefficient = euclid(coefficient, &divisor).1;
        }
        sum.coefficients
            .retain(|_, coefficient| !coefficient.is_zero());
        sum.constant = euclid(&sum.constant, &divisor).1;
        if sum.coefficients.is_empty() {
            return self.int_value(sum.constant);
        }
        let reduced = self.linear_term(&sum);
        if *self.op(reduced) == Op::IntMod && self.args(reduced)[1] == b {
            return reduced;
        }
        self.plain(Op::IntMod, &[reduced, b])
    }

    /// `a <= b`
    pub fn int_le(&mut self, a: TermId, b: TermId) -> TermId {
        let mut sum = self.linear(b);
        sum.add(&self.linear(a), &-BigInt::one());
        // Now 0 <= sum.
        if sum.coefficients.is_empty() {
            return self.bool(!sum.constant.is_negative());
        }
        let divisor = sum.divisor();
        // Rounding down is exact: the part with terms is a multiple of the divisor.
        for coefficient in sum.coefficients.values_mut() {
            *coefficient /= &divisor;
        }
        sum.constant = sum.constant.div_floor(&divisor);
        // Terms with a negative coefficient go to the left, the constant to the right.
        let (mut left, mut right) = (Linear::default(), Linear::default());
        for (term, coefficient) in sum.coefficients {
            match coefficient.sign() {
                Sign::Minus => left.coefficients.insert(term, -coefficient),
                _ => right.coefficients.insert(term, coefficient),
            };
        }
        // A lone constant goes where there is nothing else: `x <= 3` and `3 <= x`. Otherwise it goes
        // where it is positive.
        let alone_left = left.coefficients.is_empty();
        if alone_left || (sum.constant.is_negative() && !right.coefficients.is_empty()) {
            left.constant = -sum.constant;
        } else {
            right.constant = sum.constant;
        }
        let (left, right) = (self.linear_term(&left), self.linear_term(&right));
        self.plain(Op::IntLe, &[left, right])
    }

    /// `a < b`, which for integers is `a + 1 <= b`.
    pub fn int_lt(&mut self, a: TermId, b: TermId) -> TermId {
        let one = self.int(1);
        let next = self.int_add(&[a, one]);
        self.int_le(next, b)
    }

    /// A normal form of an equality of integers; `None` when the plain one is it.
    pub(super) fn int_equality(&mut self, a: TermId, b: TermId) -> Option<TermId> {
        let mut sum = self.linear(a);
        sum.add(&self.linear(b), &-BigInt::one());
        if sum.coefficients.is_empty() {
            return Some(self.bool(sum.constant.is_zero()));
        }
        let divisor = sum.divisor();
        if !sum.constant.is_multiple_of(&divisor) {
            return Some(self.bool(false));
        }
        // The oldest term gets a positive coefficient.
        let first_negative = sum
            .coefficients
            .values()
            .next()
            .is_some_and(Signed::is_negative);
        let divisor = if first_negative { -divisor } else { divisor };
        for coefficient in sum.coefficients.values_mut() {
            *coefficient /= &divisor;
        }
        sum.constant /= &divisor;
        let (mut left, mut right) = (Linear::default(), Linear::default());
        for (term, coefficient) in sum.coefficients {
            match coefficient.sign() {
                Sign::Minus => right.coefficients.insert(term, -coefficient),
                _ => left.coefficients.insert(term, coefficient),
            };
        }
        right.constant = -sum.constant;
        let (left, right) = (self.linear_term(&left), self.linear_term(&right));
        // With an `ite` on one side the general rules may still decide it.
        if *self.op(left) == Op::Ite || *self.op(right) == Op::Ite {
            return None;
        }
        Some(self.ordered_eq(left, right))
    }

    /// The unsigned value of a bit-vector.
    pub fn bv_to_int(&mut self, a: TermId) -> TermId {
        if let Some(folded) = self.fold(&Op::BvToInt, &[a]) {
            return folded;
        }
        if let Op::ZeroExtend(_) = self.op(a) {
            return self.bv_to_int(self.args(a)[0]);
        }
        self.plain(Op::BvToInt, &[a])
    }

    /// The value of a bit-vector in two's complement.
    pub fn bv_to_int_signed(&mut self, a: TermId) -> TermId {
        let width = self.width(a);
        let unsigned = self.bv_to_int(a);
        let zero = self.bv(0, width);
        let negative = self.bv_slt(a, zero);
        let modulus = self.int_value(BigInt::one() << width);
        let wrapped = self.int_sub(unsigned, modulus);
        self.ite(negative, wrapped, unsigned)
    }

    /// An integer modulo 2^width.
    pub fn int_to_bv(&mut self, a: TermId, width: u32) -> TermId {
        let op = Op::IntToBv(width);
        if let Some(folded) = self.fold(&op, &[a]) {
            return folded;
        }
        if *self.op(a) == Op::BvToInt {
            let bits = self.args(a)[0];
            let from = self.width(bits);
            return if from >= width {
                self.extract(bits, width - 1, 0)
            } else {
                self.zero_extend(bits, width - from)
            };
        }
        self.plain(op, &[a])
    }
}
