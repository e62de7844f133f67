//! Bit-vectors: constant folding, units and absorbing values, and the laws of cutting and joining.

use num_bigint::BigUint;
use num_traits::{One, Zero};

use crate::term::{Op, TermId, Terms};

/// How the bits are read as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sign {
    /// As a number in two's complement.
    Signed,
    /// As a number without a sign.
    Unsigned,
}

/// What one step of rewriting an equality of bit-vectors gives.
pub(super) enum Step {
    /// An equality of other sides that says the same.
    Sides(TermId, TermId),
    /// The answer.
    Decided(bool),
    /// No law applies.
    None,
}

impl Terms {
    fn zeros(&mut self, width: u32) -> TermId {
        self.bv_value(BigUint::zero(), width)
    }

    fn ones(&mut self, width: u32) -> TermId {
        self.bv_value((BigUint::one() << width) - BigUint::one(), width)
    }

    fn is_zero(&self, term: TermId) -> bool {
        self.bits_of(term).is_some_and(Zero::is_zero)
    }

    fn is_one(&self, term: TermId) -> bool {
        self.bits_of(term).is_some_and(One::is_one)
    }

    fn is_ones(&self, term: TermId) -> bool {
        self.bits_of(term)
            .is_some_and(|bits| bits.count_ones() == u64::from(self.width(term)))
    }

    /// The sides of a commutative operator in one order: literals last, else by age.
    fn commute(&self, a: TermId, b: TermId) -> (TermId, TermId) {
        let key = |term: TermId| (self.bits_of(term).is_some(), term);
        if key(b) < key(a) { (b, a) } else { (a, b) }
    }

    /// Bitwise complement.
    pub fn bv_not(&mut self, a: TermId) -> TermId {
        if let Some(folded) = self.fold(&Op::BvNot, &[a]) {
            return folded;
        }
        match self.op(a) {
            Op::BvNot => self.args(a)[0],
            _ => self.plain(Op::BvNot, &[a]),
        }
    }

    /// Two's complement negation.
    pub fn bv_neg(&mut self, a: TermId) -> TermId {
        if let Some(folded) = self.fold(&Op::BvNeg, &[a]) {
            return folded;
        }
        let args = self.args(a).to_vec();
        match self.op(a) {
            Op::BvNeg => args[0],
            Op::BvSub => self.bv_sub(args[1], args[0]),
            _ => self.plain(Op::BvNeg, &[a]),
        }
    }

    /// Bitwise and.
    pub fn bv_and(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = self.gather(&Op::BvAnd, a, b);
        if let Some(folded) = self.fold(&Op::BvAnd, &[a, b]) {
            return folded;
        }
        if a == b || self.is_ones(b) {
            return a;
        }
        if self.is_zero(b) || self.inverse_bits(a, b) {
            return self.zeros(self.width(a));
        }
        self.plain(Op::BvAnd, &[a, b])
    }

    /// Bitwise or.
    pub fn bv_or(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = self.gather(&Op::BvOr, a, b);
        if let Some(folded) = self.fold(&Op::BvOr, &[a, b]) {
            return folded;
        }
        if a == b || self.is_zero(b) {
            return a;
        }
        if self.is_ones(b) || self.inverse_bits(a, b) {
            return self.ones(self.width(a));
        }
        self.plain(Op::BvOr, &[a, b])
    }

    /// Bitwise exclusive or.
    pub fn bv_xor(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = self.gather(&Op::BvXor, a, b);
        if let Some(folded) = self.fold(&Op::BvXor, &[a, b]) {
            return folded;
        }
        if a == b {
            return self.zeros(self.width(a));
        }
        if self.is_zero(b) {
            return a;
        }
        if self.is_ones(b) {
            return self.bv_not(a);
        }
        if self.inverse_bits(a, b) {
            return self.ones(self.width(a));
        }
        self.plain(Op::BvXor, &[a, b])
    }

    fn inverse_bits(&self, a: TermId, b: TermId) -> bool {
        (*self.op(a) == Op::BvNot && self.args(a)[0] == b)
            || (*self.op(b) == Op::BvNot && self.args(b)[0] == a)
    }

    /// The sides of an associative and commutative operator in one order, with literals gathered:
    /// `(x op c) op d` has the sides `x` and `c op d`.
    fn gather(&mut self, op: &Op, a: TermId, b: TermId) -> (TermId, TermId) {
        let (mut a, mut b) = self.commute(a, b);
        while self.op(a) == op && self.bits_of(b).is_some() {
            let (x, c) = (self.args(a)[0], self.args(a)[1]);
            let Some(both) = self.fold(op, &[c, b]) else {
                break;
            };
            (a, b) = self.commute(x, both);
        }
        (a, b)
    }

    /// Sum modulo 2^width.
    pub fn bv_add(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = self.gather(&Op::BvAdd, a, b);
        if let Some(folded) = self.fold(&Op::BvAdd, &[a, b]) {
            return folded;
        }
        if self.is_zero(b) {
            return a;
        }
        for (negated, other) in [(a, b), (b, a)] {
            if *self.op(negated) == Op::BvNeg {
                let inner = self.args(negated)[0];
                return self.bv_sub(other, inner);
            }
            // (x - y) + y
            if *self.op(negated) == Op::BvSub && self.args(negated)[1] == other {
                return self.args(negated)[0];
            }
        }
        self.plain(Op::BvAdd, &[a, b])
    }

    /// Difference modulo 2^width. A literal is added rather than subtracted, so that `x - 1` and
    /// `x + (-1)` are one term.
    pub fn bv_sub(&mut self, a: TermId, b: TermId) -> TermId {
        if let Some(folded) = self.fold(&Op::BvSub, &[a, b]) {
            return folded;
        }
        if a == b {
            return self.zeros(self.width(a));
        }
        if self.bits_of(b).is_some() {
            let negated = self.bv_neg(b);
            return self.bv_add(a, negated);
        }
        if self.is_zero(a) {
            return self.bv_neg(b);
        }
        if *self.op(b) == Op::BvNeg {
            let inner = self.args(b)[0];
            return self.bv_add(a, inner);
        }
        // (x + y) - x and x - (x + y)
        if *self.op(a) == Op::BvAdd {
            let (x, y) = (self.args(a)[0], self.args(a)[1]);
            if x == b {
                return y;
            }
            if y == b {
                return x;
            }
        }
        if *self.op(b) == Op::BvAdd {
            let (x, y) = (self.args(b)[0], self.args(b)[1]);
            if x == a {
                return self.bv_neg(y);
            }
            if y == a {
                return self.bv_neg(x);
            }
        }
        self.plain(Op::BvSub, &[a, b])
    }

    /// Product modulo 2^width.
    pub fn bv_mul(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = self.gather(&Op::BvMul, a, b);
        if let Some(folded) = self.fold(&Op::BvMul, &[a, b]) {
            return folded;
        }
        if self.is_zero(b) {
            return b;
        }
        if self.is_one(b) {
            return a;
        }
        if self.is_ones(b) {
            return self.bv_neg(a);
        }
        self.plain(Op::BvMul, &[a, b])
    }

    /// Unsigned quotient; all ones when `b` is zero.
    pub fn bv_udiv(&mut self, a: TermId, b: TermId) -> TermId {
        self.bv_division(Op::BvUdiv, a, b)
    }

    /// Signed quotient, truncated.
    pub fn bv_sdiv(&mut self, a: TermId, b: TermId) -> TermId {
        self.bv_division(Op::BvSdiv, a, b)
    }

    /// Unsigned remainder; `a` when `b` is zero.
    pub fn bv_urem(&mut self, a: TermId, b: TermId) -> TermId {
        self.bv_division(Op::BvUrem, a, b)
    }

    /// Signed remainder with the sign of `a`, as `%` in C.
    pub fn bv_srem(&mut self, a: TermId, b: TermId) -> TermId {
        self.bv_division(Op::BvSrem, a, b)
    }

    /// Signed remainder with the sign of `b`.
    pub fn bv_smod(&mut self, a: TermId, b: TermId) -> TermId {
        self.bv_division(Op::BvSmod, a, b)
    }

    pub(super) fn bv_division(&mut self, op: Op, a: TermId, b: TermId) -> TermId {
        if let Some(folded) = self.fold(&op, &[a, b]) {
            return folded;
        }
        let width = self.width(a);
        // In one bit, 1 read as a signed number is -1; the laws below want the number one.
        let is_one = self.is_one(b) && (width > 1 || op == Op::BvUdiv || op == Op::BvUrem);
        match op {
            Op::BvUdiv | Op::BvSdiv if is_one => return a,
            Op::BvUrem | Op::BvSrem | Op::BvSmod if is_one => return self.zeros(width),
            // Powers of two are shifts and masks, which solvers like better.
            Op::BvUdiv | Op::BvUrem => {
                let power = self
                    .bits_of(b)
                    .filter(|bits| bits.count_ones() == 1)
                    .and_then(BigUint::trailing_zeros);
                if let Some(by) = power {
                    if op == Op::BvUdiv {
                        let by = self.bv(i128::from(by), width);
                        return self.bv_shift(Op::BvLshr, a, by);
                    }
                    let mask = self.bv_value((BigUint::one() << by) - BigUint::one(), width);
                    return self.bv_and(a, mask);
                }
            }
            _ => {}
        }
        self.plain(op, &[a, b])
    }

    /// Shift to the left, zeros come in.
    pub fn bv_shl(&mut self, a: TermId, by: TermId) -> TermId {
        self.bv_shift(Op::BvShl, a, by)
    }

    /// Shift to the right, zeros come in.
    pub fn bv_lshr(&mut self, a: TermId, by: TermId) -> TermId {
        self.bv_shift(Op::BvLshr, a, by)
    }

    /// Shift to the right, copies of the sign come in.
    pub fn bv_ashr(&mut self, a: TermId, by: TermId) -> TermId {
        self.bv_shift(Op::BvAshr, a, by)
    }

    pub(super) fn bv_shift(&mut self, op: Op, a: TermId, by: TermId) -> TermId {
        if let Some(folded) = self.fold(&op, &[a, by]) {
            return folded;
        }
        let width = self.width(a);
        if self.is_zero(by) || self.is_zero(a) {
            return a;
        }
        if op != Op::BvAshr && self.bits_of(by).is_some_and(|bits| *bits >= width.into()) {
            return self.zeros(width);
        }
        self.plain(op, &[a, by])
    }

    /// Unsigned `a < b`.
    pub fn bv_ult(&mut self, a: TermId, b: TermId) -> TermId {
        if let Some(folded) = self.fold(&Op::BvUlt, &[a, b]) {
            return folded;
        }
        if a == b || self.is_zero(b) || self.is_ones(a) {
            return self.bool(false);
        }
        if self.is_one(b) {
            let zero = self.zeros(self.width(a));
            return self.eq(a, zero);
        }
        if self.is_zero(a) {
            let same = self.eq(b, a);
            return self.not(same);
        }
        if self.value_of(b).is_some()
            && let Some(decided) = self.over_choices(a, |terms, leaf| terms.bv_ult(leaf, b))
        {
            return decided;
        }
        if self.value_of(a).is_some()
            && let Some(decided) = self.over_choices(b, |terms, leaf| terms.bv_ult(a, leaf))
        {
            return decided;
        }
        self.plain(Op::BvUlt, &[a, b])
    }

    /// Unsigned `a <= b`.
    pub fn bv_ule(&mut self, a: TermId, b: TermId) -> TermId {
        if let Some(folded) = self.fold(&Op::BvUle, &[a, b]) {
            return folded;
        }
        if a == b || self.is_zero(a) || self.is_ones(b) {
            return self.bool(true);
        }
        if self.is_zero(b) || self.is_ones(a) {
            return self.eq(a, b);
        }
        if self.is_one(a) {
            let zero = self.zeros(self.width(a));
            let same = self.eq(b, zero);
            return self.not(same);
        }
        if self.value_of(b).is_some()
            && let Some(decided) = self.over_choices(a, |terms, leaf| terms.bv_ule(leaf, b))
        {
            return decided;
        }
        if self.value_of(a).is_some()
            && let Some(decided) = self.over_choices(b, |terms, leaf| terms.bv_ule(a, leaf))
        {
            return decided;
        }
        self.plain(Op::BvUle, &[a, b])
    }

    /// The lowest and the highest number in two's complement.
    fn signed_bounds(&mut self, width: u32) -> (TermId, TermId) {
        let lowest = BigUint::one() << (width - 1);
        let highest = &lowest - BigUint::one();
        (self.bv_value(lowest, width), self.bv_value(highest, width))
    }

    /// Signed `a < b`.
    pub fn bv_slt(&mut self, a: TermId, b: TermId) -> TermId {
        if let Some(folded) = self.fold(&Op::BvSlt, &[a, b]) {
            return folded;
        }
        let (lowest, highest) = self.signed_bounds(self.width(a));
        if a == b || b == lowest || a == highest {
            return self.bool(false);
        }
        if b == highest || a == lowest {
            let same = self.eq(a, b);
            return self.not(same);
        }
        if self.value_of(b).is_some()
            && let Some(decided) = self.over_choices(a, |terms, leaf| terms.bv_slt(leaf, b))
        {
            return decided;
        }
        if self.value_of(a).is_some()
            && let Some(decided) = self.over_choices(b, |terms, leaf| terms.bv_slt(a, leaf))
        {
            return decided;
        }
        self.plain(Op::BvSlt, &[a, b])
    }

    /// Signed `a <= b`.
    pub fn bv_sle(&mut self, a: TermId, b: TermId) -> TermId {
        if let Some(folded) = self.fold(&Op::BvSle, &[a, b]) {
            return folded;
        }
        let (lowest, highest) = self.signed_bounds(self.width(a));
        if a == b || a == lowest || b == highest {
            return self.bool(true);
        }
        if b == lowest || a == highest {
            return self.eq(a, b);
        }
        if self.value_of(b).is_some()
            && let Some(decided) = self.over_choices(a, |terms, leaf| terms.bv_sle(leaf, b))
        {
            return decided;
        }
        if self.value_of(a).is_some()
            && let Some(decided) = self.over_choices(b, |terms, leaf| terms.bv_sle(a, leaf))
        {
            return decided;
        }
        self.plain(Op::BvSle, &[a, b])
    }

    /// `high` above `low`.
    pub fn concat(&mut self, high: TermId, low: TermId) -> TermId {
        if let Some(folded) = self.fold(&Op::Concat, &[high, low]) {
            return folded;
        }
        if self.is_zero(high) {
            return self.zero_extend(low, self.width(high));
        }
        // Two neighbouring cuts of one term are one cut.
        if let (
            &Op::Extract {
                high: top,
                low: cut,
            },
            &Op::Extract {
                high: below,
                low: end,
            },
        ) = (self.op(high), self.op(low))
            && self.args(high) == self.args(low)
            && cut == below + 1
        {
            let whole = self.args(high)[0];
            return self.extract(whole, top, end);
        }
        self.plain(Op::Concat, &[high, low])
    }

    /// The bits from `high` down to `low`.
    ///
    /// # Panics
    /// When `low <= high < width` does not hold.
    pub fn extract(&mut self, a: TermId, high: u32, low: u32) -> TermId {
        let width = self.width(a);
        assert!(
            low <= high && high < width,
            "extract {high}..{low} of {width} bits"
        );
        if low == 0 && high == width - 1 {
            return a;
        }
        let op = Op::Extract { high, low };
        if let Some(folded) = self.fold(&op, &[a]) {
            return folded;
        }
        let args = self.args(a).to_vec();
        match *self.op(a) {
            Op::Extract { low: below, .. } => self.extract(args[0], high + below, low + below),
            Op::Concat => {
                let cut = self.width(args[1]);
                if high < cut {
                    self.extract(args[1], high, low)
                } else if low >= cut {
                    self.extract(args[0], high - cut, low - cut)
                } else {
                    let top = self.extract(args[0], high - cut, 0);
                    let bottom = self.extract(args[1], cut - 1, low);
                    self.concat(top, bottom)
                }
            }
            Op::ZeroExtend(_) | Op::SignExtend(_) => {
                let inner = self.width(args[0]);
                if high < inner {
                    return self.extract(args[0], high, low);
                }
                let zero_extended = matches!(self.op(a), Op::ZeroExtend(_));
                if zero_extended && low >= inner {
                    return self.zeros(high - low + 1);
                }
                if low < inner {
                    let kept = self.extract(args[0], inner - 1, low);
                    return match zero_extended {
                        true => self.zero_extend(kept, high + 1 - inner),
                        false => self.sign_extend(kept, high + 1 - inner),
                    };
                }
                self.plain(op, &[a])
            }
            _ => self.plain(op, &[a]),
        }
    }

    /// `by` zeros above.
    pub fn zero_extend(&mut self, a: TermId, by: u32) -> TermId {
        if by == 0 {
            return a;
        }
        if let Some(folded) = self.fold(&Op::ZeroExtend(by), &[a]) {
            return folded;
        }
        if let &Op::ZeroExtend(inner) = self.op(a) {
            return self.zero_extend(self.args(a)[0], inner + by);
        }
        self.plain(Op::ZeroExtend(by), &[a])
    }

    /// `by` copies of the sign above.
    pub fn sign_extend(&mut self, a: TermId, by: u32) -> TermId {
        if by == 0 {
            return a;
        }
        if let Some(folded) = self.fold(&Op::SignExtend(by), &[a]) {
            return folded;
        }
        match *self.op(a) {
            Op::SignExtend(inner) => self.sign_extend(self.args(a)[0], inner + by),
            // The sign of a zero-extended term is zero.
            Op::ZeroExtend(inner) => self.zero_extend(self.args(a)[0], inner + by),
            _ => self.plain(Op::SignExtend(by), &[a]),
        }
    }

    /// Widens or cuts to a width, as a conversion in C does.
    pub fn resize(&mut self, a: TermId, width: u32, sign: Sign) -> TermId {
        let from = self.width(a);
        if width <= from {
            return self.extract(a, width - 1, 0);
        }
        match sign {
            Sign::Signed => self.sign_extend(a, width - from),
            Sign::Unsigned => self.zero_extend(a, width - from),
        }
    }

    /// One step of the equality laws of bit-vectors.
    pub(super) fn bv_equality(&mut self, a: TermId, b: TermId) -> Step {
        let (a, b) = self.commute(a, b);
        let args = self.args(a).to_vec();
        let width = self.width(a);
        if self.bits_of(b).is_some() {
            // Move literals over, so that only the term in question is left of the equality.
            return match *self.op(a) {
                Op::BvAdd if self.bits_of(args[1]).is_some() => {
                    Step::Sides(args[0], self.bv_sub(b, args[1]))
                }
                Op::BvXor if self.bits_of(args[1]).is_some() => {
                    Step::Sides(args[0], self.bv_xor(b, args[1]))
                }
                Op::BvSub if self.is_zero(b) => Step::Sides(args[0], args[1]),
                Op::BvNot => Step::Sides(args[0], self.bv_not(b)),
                Op::BvNeg => Step::Sides(args[0], self.bv_neg(b)),
                Op::ZeroExtend(by) => {
                    let below = self.extract(b, width - by - 1, 0);
                    if self.zero_extend(below, by) != b {
                        return Step::Decided(false);
                    }
                    Step::Sides(args[0], below)
                }
                Op::SignExtend(by) => {
                    let below = self.extract(b, width - by - 1, 0);
                    if self.sign_extend(below, by) != b {
                        return Step::Decided(false);
                    }
                    Step::Sides(args[0], below)
                }
                _ => Step::None,
            };
        }
        // The same widening on both sides is injective.
        match (self.op(a), self.op(b)) {
            (Op::ZeroExtend(i), Op::ZeroExtend(j)) | (Op::SignExtend(i), Op::SignExtend(j))
                if i == j =>
            {
                Step::Sides(args[0], self.args(b)[0])
            }
            _ => {
                // x + c == x, and x + c == x + d
                let split = |terms: &Terms, term: TermId| match terms.op(term) {
                    Op::BvAdd if terms.bits_of(terms.args(term)[1]).is_some() => {
                        (terms.args(term)[0], Some(terms.args(term)[1]))
                    }
                    _ => (term, None),
                };
                let ((x, c), (y, d)) = (split(self, a), split(self, b));
                if x != y {
                    return Step::None;
                }
                let zero = self.zeros(width);
                Step::Sides(c.unwrap_or(zero), d.unwrap_or(zero))
            }
        }
    }
}
