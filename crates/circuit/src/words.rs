//! Machine words as bits, the lowest one first, and the circuits of their operations.

use crate::graph::{Bit, Graph};

/// The bits of a word, the lowest one first.
pub type Word = Vec<Bit>;

impl Graph {
    /// Chooses between two words, bit by bit.
    pub fn choose(&mut self, condition: Bit, then: &[Bit], otherwise: &[Bit]) -> Word {
        let pairs = then.iter().zip(otherwise);
        pairs
            .map(|(&then, &otherwise)| self.ite(condition, then, otherwise))
            .collect()
    }

    /// Whether two words are the same.
    pub fn same(&mut self, left: &[Bit], right: &[Bit]) -> Bit {
        let pairs = left.iter().zip(right);
        let equal: Word = pairs
            .map(|(&left, &right)| !self.xor(left, right))
            .collect();
        // Where one bit differs always, nothing else matters.
        if equal.contains(&Bit::FALSE) {
            return Bit::FALSE;
        }
        self.all(&equal)
    }

    /// The sum with a bit carried in, and the bit that is carried out.
    fn sum(&mut self, left: &[Bit], right: &[Bit], mut carry: Bit) -> (Word, Bit) {
        let mut sum = Vec::with_capacity(left.len());
        for (&a, &b) in left.iter().zip(right) {
            let differ = self.xor(a, b);
            sum.push(self.xor(differ, carry));
            let both = self.and(a, b);
            let passed = self.and(differ, carry);
            carry = self.or(both, passed);
        }
        (sum, carry)
    }

    /// The sum.
    pub fn add(&mut self, left: &[Bit], right: &[Bit]) -> Word {
        self.sum(left, right, Bit::FALSE).0
    }

    /// The difference.
    pub fn sub(&mut self, left: &[Bit], right: &[Bit]) -> Word {
        let right = inverted(right);
        self.sum(left, &right, Bit::TRUE).0
    }

    /// The negation.
    pub fn neg(&mut self, word: &[Bit]) -> Word {
        let zero = vec![Bit::FALSE; word.len()];
        self.sub(&zero, word)
    }

    /// The product.
    pub fn mul(&mut self, left: &[Bit], right: &[Bit]) -> Word {
        let zeros = |word: &[Bit]| word.iter().filter(|&&bit| bit == Bit::FALSE).count();
        let (left, right) = match zeros(left) > zeros(right) {
            true => (right, left),
            false => (left, right),
        };
        let width = left.len();
        let mut product = vec![Bit::FALSE; width];
        for (shift, &digit) in right.iter().enumerate() {
            if digit == Bit::FALSE {
                continue;
            }
            let row: Word = left[..width - shift]
                .iter()
                .map(|&bit| self.and(bit, digit))
                .collect();
            let high = self.add(&product[shift..], &row);
            product.truncate(shift);
            product.extend(high);
        }
        product
    }

    /// Whether the first is smaller, without signs.
    pub fn less(&mut self, left: &[Bit], right: &[Bit]) -> Bit {
        let mut less = Bit::FALSE;
        for (&a, &b) in left.iter().zip(right) {
            let differ = self.xor(a, b);
            less = self.ite(differ, b, less);
        }
        less
    }

    /// Whether the first is smaller, in two's complement.
    pub fn signed_less(&mut self, left: &[Bit], right: &[Bit]) -> Bit {
        let (left, right) = (shifted_order(left), shifted_order(right));
        self.less(&left, &right)
    }

    /// The quotient and the remainder, without signs; by zero, all ones and the dividend.
    pub fn divide(&mut self, dividend: &[Bit], divisor: &[Bit]) -> (Word, Word) {
        let width = dividend.len();
        let mut quotient = vec![Bit::FALSE; width];
        let mut rest: Word = vec![Bit::FALSE; width];
        let mut wide = divisor.to_vec();
        wide.push(Bit::FALSE);
        for at in (0..width).rev() {
            rest.insert(0, dividend[at]);
            let inverse = inverted(&wide);
            let (difference, fits) = self.sum(&rest, &inverse, Bit::TRUE);
            quotient[at] = fits;
            rest = self.choose(fits, &difference, &rest);
            // The rest is smaller than the divisor, or the divisor is zero and the dividend's top
            // digits are all that is there: the extra bit is never set.
            rest.pop();
        }
        (quotient, rest)
    }

    fn magnitude(&mut self, word: &[Bit]) -> Word {
        let negative = self.neg(word);
        self.choose(sign(word), &negative, word)
    }

    fn negated_if(&mut self, condition: Bit, word: &[Bit]) -> Word {
        let negative = self.neg(word);
        self.choose(condition, &negative, word)
    }

    /// The quotient in two's complement, towards zero.
    pub fn signed_quotient(&mut self, left: &[Bit], right: &[Bit]) -> Word {
        let (a, b) = (self.magnitude(left), self.magnitude(right));
        let (quotient, _) = self.divide(&a, &b);
        let differ = self.xor(sign(left), sign(right));
        self.negated_if(differ, &quotient)
    }

    /// The remainder with the sign of the dividend.
    pub fn signed_remainder(&mut self, left: &[Bit], right: &[Bit]) -> Word {
        let (a, b) = (self.magnitude(left), self.magnitude(right));
        let (_, rest) = self.divide(&a, &b);
        self.negated_if(sign(left), &rest)
    }

    /// The remainder with the sign of the divisor.
    pub fn signed_modulus(&mut self, left: &[Bit], right: &[Bit]) -> Word {
        let (a, b) = (self.magnitude(left), self.magnitude(right));
        let (_, rest) = self.divide(&a, &b);
        let signed = self.negated_if(sign(left), &rest);
        let zero = vec![Bit::FALSE; left.len()];
        let none = self.same(&rest, &zero);
        let differ = self.xor(sign(left), sign(right));
        let moved = self.add(&signed, right);
        let moves = self.and(differ, !none);
        self.choose(moves, &moved, &signed)
    }

    /// Moves bits up.
    pub fn shift_left(&mut self, word: &[Bit], by: &[Bit]) -> Word {
        let turned: Word = word.iter().rev().copied().collect();
        let mut moved = self.shift_right(&turned, by, Bit::FALSE);
        moved.reverse();
        moved
    }

    /// Moves bits down, and fills up with a bit.
    pub fn shift_right(&mut self, word: &[Bit], by: &[Bit], fill: Bit) -> Word {
        let width = word.len();
        let mut word = word.to_vec();
        let mut too_far = Bit::FALSE;
        for (stage, &bit) in by.iter().enumerate() {
            let distance = 1usize.checked_shl(stage as u32);
            match distance.filter(|&distance| distance < width) {
                Some(distance) => {
                    let moved: Word = (0..width)
                        .map(|at| word.get(at + distance).copied().unwrap_or(fill))
                        .collect();
                    word = self.choose(bit, &moved, &word);
                }
                None => too_far = self.or(too_far, bit),
            }
        }
        let filled = vec![fill; width];
        self.choose(too_far, &filled, &word)
    }
}

/// The sign of a word in two's complement.
pub fn sign(word: &[Bit]) -> Bit {
    word.last().copied().unwrap_or(Bit::FALSE)
}

/// All bits negated.
pub fn inverted(word: &[Bit]) -> Word {
    word.iter().map(|&bit| !bit).collect()
}

/// A word in two's complement as one that has the same order without signs.
fn shifted_order(word: &[Bit]) -> Word {
    let mut word = word.to_vec();
    if let Some(top) = word.last_mut() {
        *top = !*top;
    }
    word
}
