//! Sums over the first elements of an array, as functions of how many these are.
//!
//! For a memory `m`, an address `b` and a distance `d`, let `S(k)` be the sum of
//! `f(m[b]), f(m[b + d]), ..., f(m[b + (k - 1) * d])` for every `k` up to a limit below which these
//! are different addresses, and zero for all other `k`. Whatever the state is, there is such an `S`,
//! so formulas may speak of it; it is no part of the state. Counts are sums of zeros and ones.
//!
//! In formulas `S` is an array constant. What is said here of it is all that anybody assumes: it
//! begins with zero, each number is the one before with one summand more ([`Fold::next`]), counts
//! do not exceed the number of elements, and what a write does to it ([`Fold::of`]).

use hardbop_logic::{Op, Sort, TermId, Terms};
use std::collections::{BTreeMap, BTreeSet};

/// How summands are put together: both ways can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Adding {
    /// As numbers that wrap around.
    Sum,
    /// Bit by bit, without carries.
    Xor,
}

/// A sum over the first elements of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    number: usize,
    /// The sums by the number of elements, in the present state.
    pub sums: TermId,
    /// The memory that the array lies in.
    pub memory: TermId,
    /// Where it begins.
    pub base: TermId,
    /// How far elements lie apart: a power of two.
    pub stride: u64,
    /// What stands for the element in the summand.
    pub element: TermId,
    /// What is added for an element.
    pub summand: TermId,
    /// How.
    pub adding: Adding,
}

/// What stands for the element in the summand of the fold of a number.
pub fn element(terms: &mut Terms, number: usize, sort: Sort) -> TermId {
    terms.constant(&format!(" element{number}"), sort)
}

impl Fold {
    /// The fold of a number; `None` if that is none: elements lie a power of two apart, a summand
    /// is a word, and memory is an array from addresses.
    pub fn new(
        terms: &mut Terms,
        number: usize,
        [memory, base]: [TermId; 2],
        stride: u64,
        summand: TermId,
        adding: Adding,
    ) -> Option<Fold> {
        let Sort::Array(sort) = terms.sort(memory) else {
            return None;
        };
        let (address, cell) = terms.array_parts(sort);
        let Sort::BitVec(bits) = address else {
            return None;
        };
        let word = terms.sort(summand);
        if terms.sort(base) != address
            || !matches!(word, Sort::BitVec(_))
            || !matches!(cell, Sort::BitVec(_))
            || !stride.is_power_of_two()
            || stride.trailing_zeros() + 2 > bits
        {
            return None;
        }
        let sorts = terms.array_sort(address, word);
        Some(Fold {
            number,
            sums: terms.constant(&format!(" sums{number}"), sorts),
            memory,
            base,
            stride,
            element: element(terms, number, cell),
            summand,
            adding,
        })
    }

    /// The fold of a formula in which terms are put in the places of arbitrary words: where the
    /// summand speaks of them, it is another one.
    pub fn with(&self, terms: &mut Terms, map: &BTreeMap<TermId, TermId>) -> Fold {
        let summand = terms.substitute(self.summand, map);
        if summand == self.summand {
            return self.clone();
        }
        let sort = terms.sort(self.sums);
        let name = format!(" sums{} of {summand:?}", self.number);
        Fold {
            sums: terms.constant(&name, sort),
            summand,
            ..self.clone()
        }
    }

    fn bits(&self, terms: &Terms) -> u32 {
        terms.width(self.base)
    }

    /// The most elements that are at different addresses, and no more than a positive number says.
    fn limit(&self, terms: &mut Terms) -> TermId {
        let bits = self.bits(terms);
        let most = (bits - self.stride.trailing_zeros()).min(bits - 1);
        terms.bv(1i128 << most, bits)
    }

    /// What is added for a value.
    fn added(&self, terms: &mut Terms, value: TermId) -> TermId {
        terms.substitute(self.summand, &BTreeMap::from([(self.element, value)]))
    }

    /// The sum of the first so many elements, in the present state.
    pub fn first(&self, terms: &mut Terms, count: TermId) -> TermId {
        let zero = terms.bv(0, terms.width(count));
        match count == zero {
            true => terms.bv(0, terms.width(self.summand)),
            false => terms.select(self.sums, count),
        }
    }

    /// What holds of the sums in the present state: one element more is one summand more, and a
    /// count is no more than there are elements.
    pub fn next(&self, terms: &mut Terms, count: TermId) -> TermId {
        let bits = self.bits(terms);
        let (zero, one) = (terms.bv(0, bits), terms.bv(1, bits));
        let limit = self.limit(terms);
        let inside = terms.bv_ult(count, limit);
        let after = terms.bv_add(count, one);
        let stride = terms.bv(self.stride.into(), bits);
        let offset = terms.bv_mul(stride, count);
        let address = terms.bv_add(self.base, offset);
        let value = terms.select(self.memory, address);
        let added = self.added(terms, value);
        let before = self.first(terms, count);
        let sum = self.put(terms, before, added);
        let more = self.first(terms, after);
        let step = terms.eq(more, sum);
        let mut facts = vec![terms.implies(inside, step)];
        // At no elements the sum is zero, however that is said.
        let nothing = terms.bv(0, terms.width(self.summand));
        for (count, sum) in [(count, before), (after, more)] {
            let none = terms.eq(count, zero);
            let empty = terms.eq(sum, nothing);
            facts.push(terms.implies(none, empty));
        }
        if self.counts(terms) {
            for (count, sum) in [(count, before), (after, more)] {
                let fits = terms.bv_ule(count, limit);
                let bounded = terms.bv_ule(sum, count);
                facts.push(terms.implies(fits, bounded));
            }
        }
        terms.and(&facts)
    }

    /// Whether summands are zero or one, and as wide as the number of elements.
    fn counts(&self, terms: &mut Terms) -> bool {
        let bits = terms.width(self.summand);
        let digits = [terms.bv(0, bits), terms.bv(1, bits)];
        let args = terms.args(self.summand);
        self.adding == Adding::Sum
            && bits == self.bits(terms)
            && *terms.op(self.summand) == Op::Ite
            && args[1..].iter().all(|arg| digits.contains(arg))
    }

    fn put(&self, terms: &mut Terms, sum: TermId, added: TermId) -> TermId {
        match self.adding {
            Adding::Sum => terms.bv_add(sum, added),
            Adding::Xor => terms.bv_xor(sum, added),
        }
    }

    /// A formula about another state, in which the sums are those of the present one, with the sums
    /// of that state; there memory is another one, and the array begins elsewhere.
    pub fn moved(&self, terms: &mut Terms, formula: TermId, there: [TermId; 2]) -> TermId {
        let mut map = BTreeMap::new();
        for part in terms.postorder(&[formula]) {
            if *terms.op(part) == Op::Select && terms.args(part)[0] == self.sums {
                let count = terms.args(part)[1];
                let sum = self.of(terms, there, count);
                map.insert(part, sum);
            }
        }
        terms.substitute(formula, &map)
    }

    /// Whether a formula speaks of sums of numbers of elements only, and these do not depend on
    /// sums.
    pub fn is_well_used(&self, terms: &Terms, formula: TermId) -> bool {
        terms.postorder(&[formula]).into_iter().all(|part| {
            let args = terms.args(part);
            match *terms.op(part) == Op::Select && args[0] == self.sums {
                true => !terms.free_constants(&[args[1]]).contains(&self.sums),
                false => !args.contains(&self.sums),
            }
        })
    }

    /// The sum of the first so many elements in another memory, of an array that begins somewhere.
    pub fn of(&self, terms: &mut Terms, [memory, base]: [TermId; 2], count: TermId) -> TermId {
        let zero = terms.bv(0, terms.width(count));
        if count == zero {
            return terms.bv(0, terms.width(self.summand));
        }
        let mut known: BTreeMap<TermId, TermId> = BTreeMap::new();
        let mut open: BTreeSet<TermId> = BTreeSet::new();
        let mut work = vec![memory];
        while let Some(&at) = work.last() {
            if known.contains_key(&at) {
                work.pop();
                continue;
            }
            let args = terms.args(at).to_vec();
            let before = match terms.op(at) {
                Op::Store => &args[..1],
                Op::Ite => &args[1..],
                _ => &[],
            };
            if open.insert(at) && !before.is_empty() {
                work.extend(before);
                continue;
            }
            let sum = match terms.op(at) {
                Op::Store => {
                    self.written(terms, [args[0], base], &args[1..], count, known[&args[0]])
                }
                Op::Ite => terms.ite(args[0], known[&args[1]], known[&args[2]]),
                _ => {
                    let sums = self.of_any(terms, [at, base]);
                    terms.select(sums, count)
                }
            };
            known.insert(at, sum);
            work.pop();
        }
        known[&memory]
    }

    /// The sums of a memory of which nothing is known.
    fn of_any(&self, terms: &mut Terms, [memory, base]: [TermId; 2]) -> TermId {
        if [memory, base] == [self.memory, self.base] {
            return self.sums;
        }
        let sort = terms.sort(self.sums);
        let name = format!(" sums{} of {memory:?} from {base:?}", self.number);
        terms.constant(&name, sort)
    }

    /// What a write does to a sum: if it is to one of the elements, another summand takes the place
    /// of the one before.
    fn written(
        &self,
        terms: &mut Terms,
        [memory, base]: [TermId; 2],
        write: &[TermId],
        count: TermId,
        sum: TermId,
    ) -> TermId {
        let bits = self.bits(terms);
        let (address, value) = (write[0], write[1]);
        let offset = terms.bv_sub(address, base);
        let last = terms.bv(i128::from(self.stride) - 1, bits);
        let rest = terms.bv_and(offset, last);
        let zero = terms.bv(0, bits);
        let aligned = terms.eq(rest, zero);
        let twos = terms.bv(self.stride.trailing_zeros().into(), bits);
        let index = terms.bv_lshr(offset, twos);
        let below = terms.bv_ult(index, count);
        let limit = self.limit(terms);
        let known = terms.bv_ule(count, limit);
        let inside = terms.and(&[aligned, below, known]);
        let old = terms.select(memory, address);
        let with = self.exchanged(terms, sum, old, value);
        terms.ite(inside, with, sum)
    }

    /// A sum with one element in the place of another.
    pub fn exchanged(&self, terms: &mut Terms, sum: TermId, old: TermId, new: TermId) -> TermId {
        let (old, new) = (self.added(terms, old), self.added(terms, new));
        let with = self.put(terms, sum, new);
        match self.adding {
            Adding::Sum => terms.bv_sub(with, old),
            Adding::Xor => terms.bv_xor(with, old),
        }
    }
}
