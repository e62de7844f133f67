//! Words that are the same but for the order in which something is added up.
//!
//! A program that adds up an array, changes the order of its elements and adds it up again has two
//! sums that no rule about two operands sees to be one. Here both sides of an equality are put in
//! a normal form, in which the operands of operators without an order are sorted. The terms stay as
//! they are; nothing is built.

use crate::term::{Op, TermId, Terms};
use rustc_hash::FxHashMap;

/// Larger terms are not put in a normal form.
const LARGE: usize = 1_500;
/// With more operands, they are not even compared as they are.
const MANY: usize = 20_000;
/// Fewer operands are in order anyway.
const FEW: usize = 3;

impl Terms {
    /// Whether two words are the same up to the order of operands. `false` may also mean that it is
    /// not known.
    pub(super) fn are_reordered(&self, a: TermId, b: TermId) -> bool {
        let (Some(left), Some(right)) = (self.long(a), self.long(b)) else {
            return false;
        };
        if left != right {
            return false;
        }
        if self.have_same_operands(a, b) {
            return true;
        }
        let Some(order) = self.few_subterms([a, b]) else {
            return false;
        };
        let mut forms = Forms::default();
        for term in order {
            if forms.add(self, term).is_none() {
                return false;
            }
        }
        forms.of[&a] == forms.of[&b]
    }

    /// Whether two words differ in nothing but the order of one long row of operands, below the
    /// same conversions and divisions.
    fn have_same_operands(&self, mut a: TermId, mut b: TermId) -> bool {
        loop {
            if self.op(a) != self.op(b) {
                return false;
            }
            if is_unordered(self.op(a)) {
                let sorted = |word| {
                    let mut operands = self.operands(self.op(word), word, MANY)?;
                    operands.sort_unstable();
                    Some(operands)
                };
                return sorted(a).is_some_and(|left| sorted(b) == Some(left));
            }
            let (left, right) = (self.args(a), self.args(b));
            if left.is_empty() || left.len() != right.len() || left[1..] != right[1..] {
                return false;
            }
            (a, b) = (left[0], right[0]);
        }
    }

    /// The operator without an order of which a word has many operands, below conversions and
    /// divisions, if there is one.
    fn long(&self, mut word: TermId) -> Option<&Op> {
        loop {
            match self.op(word) {
                Op::Extract { .. } | Op::SignExtend(_) | Op::ZeroExtend(_) => {}
                Op::BvSdiv | Op::BvUdiv | Op::BvSrem | Op::BvUrem => {}
                op if is_unordered(op) => {
                    return (self.operands(op, word, MANY)?.len() >= FEW).then_some(op);
                }
                _ => return None,
            }
            word = self.args(word)[0];
        }
    }

    /// The operands of nested applications of one operator; `None` if they are many, which they
    /// can be where few words are shared by many.
    fn operands(&self, op: &Op, word: TermId, most: usize) -> Option<Vec<TermId>> {
        let mut found = Vec::new();
        let mut work = vec![word];
        while let Some(word) = work.pop() {
            match self.op(word) == op {
                true => work.extend(self.args(word)),
                false => found.push(word),
            }
            if found.len() + work.len() > most {
                return None;
            }
        }
        Some(found)
    }

    /// All subterms, each after its arguments; `None` if they are many.
    fn few_subterms(&self, roots: [TermId; 2]) -> Option<Vec<TermId>> {
        let mut count = 0;
        let mut seen = rustc_hash::FxHashSet::default();
        let mut work = roots.to_vec();
        while let Some(term) = work.pop() {
            if seen.insert(term) {
                count += 1;
                work.extend(self.args(term));
            }
            if count > LARGE {
                return None;
            }
        }
        Some(self.postorder(&roots))
    }
}

fn is_unordered(op: &Op) -> bool {
    matches!(op, Op::BvAdd | Op::BvMul | Op::BvAnd | Op::BvOr | Op::BvXor)
}

/// Normal forms, as numbers: the same number is the same form.
#[derive(Default)]
struct Forms<'t> {
    numbers: FxHashMap<(&'t Op, Vec<u32>, Option<TermId>), u32>,
    of: FxHashMap<TermId, u32>,
}

impl<'t> Forms<'t> {
    /// Adds a term whose arguments are known; `None` if it is too large.
    fn add(&mut self, terms: &'t Terms, term: TermId) -> Option<()> {
        let op = terms.op(term);
        let args = terms.args(term);
        let key = if is_unordered(op) {
            let operands = terms.operands(op, term, LARGE)?;
            let mut forms: Vec<u32> = operands.iter().map(|operand| self.of[operand]).collect();
            forms.sort_unstable();
            (op, forms, None)
        } else if args.is_empty() {
            // A literal does not tell its width, so a leaf stands for itself.
            (op, Vec::new(), Some(term))
        } else {
            let forms = args.iter().map(|arg| self.of[arg]).collect();
            (op, forms, None)
        };
        let new = self.numbers.len() as u32;
        let number = *self.numbers.entry(key).or_insert(new);
        self.of.insert(term, number);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use crate::sort::Sort;
    use crate::term::Terms;

    #[test]
    fn sums_are_the_same_in_any_order() {
        let mut terms = Terms::new();
        let words: Vec<_> = ["a", "b", "c", "d"]
            .map(|name| terms.constant(name, Sort::BitVec(32)))
            .to_vec();
        let mut sum = |order: &[usize]| {
            let mut sum = terms.bv(0, 64);
            for &at in order {
                let wide = terms.sign_extend(words[at], 32);
                sum = terms.bv_add(sum, wide);
            }
            let four = terms.bv(4, 64);
            let average = terms.bv_sdiv(sum, four);
            terms.extract(average, 31, 0)
        };
        let (one, other) = (sum(&[0, 1, 2, 3]), sum(&[3, 1, 0, 2]));
        let (less, twice) = (sum(&[0, 1, 2]), sum(&[0, 1, 2, 2]));
        let shown = |terms: &mut Terms, a, b| {
            let same = terms.eq(a, b);
            same == terms.bool(true)
        };
        assert!(shown(&mut terms, one, other));
        assert!(!shown(&mut terms, one, less));
        assert!(!shown(&mut terms, one, twice));
    }

    #[test]
    fn long_rows_of_operands_are_compared_as_they_are() {
        let mut terms = Terms::new();
        let count = 3_000;
        let words: Vec<_> = (0..count)
            .map(|at| terms.constant(&format!("x{at}"), Sort::BitVec(32)))
            .collect();
        let mut all = |first: usize, count: usize| {
            let mut all = terms.bv(0, 64);
            for at in 0..count {
                let wide = terms.sign_extend(words[(first + at) % words.len()], 32);
                all = terms.bv_xor(all, wide);
            }
            terms.extract(all, 31, 0)
        };
        let (one, turned, less) = (all(0, count), all(1, count), all(1, count - 1));
        let (same, differ) = (terms.eq(one, turned), terms.eq(one, less));
        assert_eq!(same, terms.bool(true));
        assert_ne!(differ, terms.bool(true));
    }

    /// Two sums of more operands than anybody counts, which share all of them but one.
    #[test]
    fn what_is_too_large_is_not_the_same() {
        let mut terms = Terms::new();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| terms.constant(name, Sort::BitVec(32)));
        let mut many = terms.bv_xor(a, b);
        for _ in 0..12 {
            let next = terms.bv_mul(many, a);
            many = terms.bv_mul(next, many);
        }
        for (left, right) in [([c, many], [d, many]), ([many, c], [many, d])] {
            let one = terms.bv_mul(left[0], left[1]);
            let other = terms.bv_mul(right[0], right[1]);
            let same = terms.eq(one, other);
            assert_ne!(same, terms.bool(true));
        }
    }
}
