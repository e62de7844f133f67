//! A question about words as one about integers, exactly.
//!
//! A word is written as an integer that is equal to it modulo a power of two, with bounds that are
//! known of that integer. Where the bounds leave no doubt that nothing wraps around, sums and
//! comparisons of words are those of integers; where they do, how often it wraps is an integer of
//! its own. So the two questions have a model or not together, and the effort for the second one
//! does not grow with the size of the numbers in it, as it does for a solver that looks at bits.
//!
//! Not every operation on words is one on integers: products of unknowns and most operations on
//! single bits are left to the solver of words.

use crate::{Assignment, BitVec, Op, Sort, TermId, Terms, Value, eval};
use num_traits::ToPrimitive;
use std::collections::{BTreeMap, BTreeSet};

/// Questions with more different subterms than this are not translated.
const LARGE: usize = 1_500;

/// A question about integers.
#[derive(Clone, Debug)]
pub struct Integers {
    /// The question, together with what the integers in it are.
    pub formulas: Vec<TermId>,
    /// The integer for every word.
    words: BTreeMap<TermId, TermId>,
}

impl Integers {
    /// The question of some formulas; none if it cannot be put in integers. Every model of them
    /// has to be a part of one of `known`, which tells the bounds.
    pub fn new(terms: &mut Terms, formulas: &[TermId], known: &[TermId]) -> Option<Integers> {
        let order = terms.postorder(formulas);
        if order.len() > LARGE {
            return None;
        }
        let mut translation = Translation {
            bounds: Bounds::of(terms, known),
            words: BTreeMap::new(),
            facts: Vec::new(),
            numbers: BTreeMap::new(),
            truths: BTreeMap::new(),
            windows: BTreeMap::new(),
            terms,
        };
        for term in order {
            translation.term(term)?;
        }
        let mut translated: Vec<TermId> = formulas
            .iter()
            .map(|formula| translation.truths[formula])
            .collect();
        translated.append(&mut translation.facts);
        Some(Integers {
            formulas: translated,
            words: translation.words,
        })
    }

    /// A model of the words, from one of the integers; none unless it is a model of the question.
    pub fn complete(
        &self,
        terms: &Terms,
        question: &[TermId],
        mut model: Assignment,
    ) -> Option<Assignment> {
        for (&word, &integer) in &self.words {
            let Ok(Value::Int(value)) = eval(terms, integer, &model) else {
                return None;
            };
            let bits = BitVec::from_int(&value, terms.width(word));
            model.set(word, Value::BitVec(bits));
        }
        let holds = |&formula: &TermId| eval(terms, formula, &model) == Ok(Value::Bool(true));
        question.iter().all(holds).then_some(model)
    }
}

/// The numbers from the first to the second, both included.
type Range = (i128, i128);

/// What the conjuncts of a question say of the size of words, read in both ways.
struct Bounds {
    unsigned: BTreeMap<TermId, Range>,
    signed: BTreeMap<TermId, Range>,
}

impl Bounds {
    fn of(terms: &Terms, formulas: &[TermId]) -> Bounds {
        let mut conjuncts: BTreeSet<TermId> = BTreeSet::new();
        let mut work = formulas.to_vec();
        while let Some(formula) = work.pop() {
            match terms.op(formula) {
                Op::And => work.extend(terms.args(formula)),
                _ => {
                    conjuncts.insert(formula);
                }
            }
        }
        let mut bounds = Bounds {
            unsigned: BTreeMap::new(),
            signed: BTreeMap::new(),
        };
        // What bounds one word may bound the next; a few rounds are enough for what loops say.
        for _ in 0..4 {
            for &conjunct in &conjuncts {
                bounds.learn(terms, conjunct);
            }
        }
        bounds
    }

    fn learn(&mut self, terms: &Terms, conjunct: TermId) {
        let (strict, signed) = match terms.op(conjunct) {
            Op::BvUlt => (1, false),
            Op::BvUle => (0, false),
            Op::BvSlt => (1, true),
            Op::BvSle => (0, true),
            Op::Eq => {
                if let &[a, b] = terms.args(conjunct) {
                    for signed in [false, true] {
                        let both = self
                            .range(terms, a, signed)
                            .zip(self.range(terms, b, signed));
                        if let Some((x, y)) = both {
                            let both = (x.0.max(y.0), x.1.min(y.1));
                            self.narrow(terms, a, signed, both);
                            self.narrow(terms, b, signed, both);
                        }
                    }
                }
                return;
            }
            _ => return,
        };
        let &[a, b] = terms.args(conjunct) else {
            return;
        };
        let ranges = self
            .range(terms, a, signed)
            .zip(self.range(terms, b, signed));
        if let Some((below, above)) = ranges {
            self.narrow(terms, a, signed, (below.0, below.1.min(above.1 - strict)));
            self.narrow(terms, b, signed, (above.0.max(below.0 + strict), above.1));
        }
    }

    /// What is known of a constant or a literal.
    fn range(&self, terms: &Terms, term: TermId, signed: bool) -> Option<Range> {
        let Sort::BitVec(width @ 1..=64) = terms.sort(term) else {
            return None;
        };
        if let Some(value) = number(terms, term, signed) {
            return Some((value, value));
        }
        if !matches!(terms.op(term), Op::Constant(_)) {
            return None;
        }
        let known = if signed { &self.signed } else { &self.unsigned };
        Some(known.get(&term).copied().unwrap_or(whole(width, signed)))
    }

    fn narrow(&mut self, terms: &Terms, term: TermId, signed: bool, range: Range) {
        if !matches!(terms.op(term), Op::Constant(_)) || range.0 > range.1 {
            return;
        }
        let half = 1i128 << (terms.width(term) - 1);
        let (this, other) = match signed {
            false => (&mut self.unsigned, &mut self.signed),
            true => (&mut self.signed, &mut self.unsigned),
        };
        this.insert(term, range);
        // Where both readings agree, so do the bounds.
        if range.0 >= 0 && range.1 < half {
            let known = other.entry(term).or_insert(range);
            *known = (known.0.max(range.0), known.1.min(range.1));
            if known.0 > known.1 {
                *known = range;
            }
        }
    }

    /// How a word is best written: the reading with the narrower bounds.
    fn best(&self, terms: &Terms, word: TermId) -> Range {
        let width = terms.width(word);
        let unsigned = self.unsigned.get(&word).copied();
        let unsigned = unsigned.unwrap_or(whole(width, false));
        let signed = self.signed.get(&word).copied();
        let signed = signed.unwrap_or(whole(width, true));
        if signed.1 - signed.0 < unsigned.1 - unsigned.0 {
            signed
        } else {
            unsigned
        }
    }
}

/// All words of a width.
fn whole(width: u32, signed: bool) -> Range {
    let size = 1i128 << width;
    match signed {
        false => (0, size - 1),
        true => (-(size / 2), size / 2 - 1),
    }
}

/// The number that a literal of at most 64 bits stands for.
fn number(terms: &Terms, term: TermId, signed: bool) -> Option<i128> {
    match terms.value_of(term)? {
        Value::BitVec(bits) if bits.width() > 64 => None,
        Value::BitVec(bits) if signed => bits.signed().to_i128(),
        Value::BitVec(bits) => bits.unsigned().to_i128(),
        _ => None,
    }
}

/// An integer that is equal to a word modulo a power of two, and between which numbers it lies.
#[derive(Clone, Copy, Debug)]
struct Number {
    term: TermId,
    range: Range,
}

struct Translation<'t> {
    terms: &'t mut Terms,
    bounds: Bounds,
    words: BTreeMap<TermId, TermId>,
    /// What the integers are.
    facts: Vec<TermId>,
    numbers: BTreeMap<TermId, Number>,
    truths: BTreeMap<TermId, TermId>,
    /// Integers brought between the first number and that plus a power of two.
    windows: BTreeMap<(TermId, i128, u32), Number>,
}

impl Translation<'_> {
    /// Translates a term whose arguments are translated.
    fn term(&mut self, term: TermId) -> Option<()> {
        match self.terms.sort(term) {
            Sort::Bool => {
                let truth = self.truth(term)?;
                self.truths.insert(term, truth);
            }
            Sort::BitVec(width @ 1..=90) => {
                let number = self.number(term, width)?;
                // Numbers that may be far out of range are brought back, so that they stay small.
                let number = match number.range.1 - number.range.0 > 1 << (width + 8) {
                    true => self.window(number, 0, width),
                    false => number,
                };
                self.numbers.insert(term, number);
            }
            _ => return None,
        }
        Some(())
    }

    fn truth(&mut self, term: TermId) -> Option<TermId> {
        let args = self.terms.args(term).to_vec();
        let op = self.terms.op(term).clone();
        Some(match op {
            Op::Bool(_) | Op::Constant(_) => term,
            Op::Not | Op::And | Op::Or | Op::Xor | Op::Implies | Op::Ite => {
                let map = args.iter().map(|arg| (*arg, self.truths[arg])).collect();
                self.terms.substitute(term, &map)
            }
            Op::Eq if self.truths.contains_key(&args[0]) => {
                let (a, b) = (self.truths[&args[0]], self.truths[&args[1]]);
                self.terms.eq(a, b)
            }
            Op::Eq => {
                let width = self.terms.width(args[0]);
                let (a, b) = (self.numbers[&args[0]], self.numbers[&args[1]]);
                let difference = self.sub(a, b);
                let size = 1i128 << width;
                let zero = self.terms.int(0);
                // Between two multiples of the size there is only one.
                if difference.range.0 > -size && difference.range.1 < size {
                    self.terms.eq(difference.term, zero)
                } else {
                    let rest = self.window(difference, 0, width);
                    self.terms.eq(rest.term, zero)
                }
            }
            Op::BvUlt | Op::BvUle | Op::BvSlt | Op::BvSle => {
                let width = self.terms.width(args[0]);
                let first = match op {
                    Op::BvUlt | Op::BvUle => 0,
                    _ => -(1i128 << (width - 1)),
                };
                let a = self.window(self.numbers[&args[0]], first, width).term;
                let b = self.window(self.numbers[&args[1]], first, width).term;
                match op {
                    Op::BvUlt | Op::BvSlt => self.terms.int_lt(a, b),
                    _ => self.terms.int_le(a, b),
                }
            }
            _ => return None,
        })
    }

    fn number(&mut self, term: TermId, width: u32) -> Option<Number> {
        let args = self.terms.args(term).to_vec();
        let op = self.terms.op(term).clone();
        Some(match op {
            Op::BitVec(_) => {
                let value = match self.terms.value_of(term)? {
                    Value::BitVec(bits) => bits.signed().to_i128()?,
                    _ => return None,
                };
                self.literal(value)
            }
            Op::Constant(_) if width <= 64 => {
                let range = self.bounds.best(self.terms, term);
                let integer = self.fresh(range);
                self.words.insert(term, integer.term);
                integer
            }
            Op::Ite => {
                let condition = self.truths[&args[0]];
                let (a, b) = (self.numbers[&args[1]], self.numbers[&args[2]]);
                Number {
                    term: self.terms.ite(condition, a.term, b.term),
                    range: (a.range.0.min(b.range.0), a.range.1.max(b.range.1)),
                }
            }
            Op::BvAdd => {
                let (a, b) = (self.numbers[&args[0]], self.numbers[&args[1]]);
                Number {
                    term: self.terms.int_add(&[a.term, b.term]),
                    range: (a.range.0 + b.range.0, a.range.1 + b.range.1),
                }
            }
            Op::BvSub => {
                let (a, b) = (self.numbers[&args[0]], self.numbers[&args[1]]);
                self.sub(a, b)
            }
            Op::BvNeg => {
                let a = self.numbers[&args[0]];
                self.times(a, -1)?
            }
            Op::BvMul => match (
                number(self.terms, args[0], true),
                number(self.terms, args[1], true),
            ) {
                (_, Some(factor)) => self.times(self.numbers[&args[0]], factor)?,
                (Some(factor), _) => self.times(self.numbers[&args[1]], factor)?,
                _ => return None,
            },
            Op::BvShl => {
                let by = number(self.terms, args[1], false)?;
                match by < i128::from(width.min(62)) {
                    true => self.times(self.numbers[&args[0]], 1 << by)?,
                    false => return None,
                }
            }
            Op::BvNot => {
                let a = self.numbers[&args[0]];
                let minus_one = self.literal(-1);
                self.sub(minus_one, a)
            }
            Op::BvAnd => {
                let mask = number(self.terms, args[1], false)?;
                let bits = (mask + 1).trailing_zeros();
                if mask + 1 != 1 << bits {
                    return None;
                }
                self.window(self.numbers[&args[0]], 0, bits)
            }
            // A number that is equal modulo a power of two is equal modulo a smaller one too.
            Op::Extract { low: 0, .. } => self.numbers[&args[0]],
            Op::Extract { low, high } => {
                let from = self.terms.width(args[0]);
                let whole = self.window(self.numbers[&args[0]], 0, from);
                let shifted = self.divide(whole, low);
                match high + 1 == from {
                    true => shifted,
                    false => self.window(shifted, 0, high + 1 - low),
                }
            }
            Op::BvLshr => {
                let by = number(self.terms, args[1], false)?;
                if by >= i128::from(width) {
                    return None;
                }
                let whole = self.window(self.numbers[&args[0]], 0, width);
                self.divide(whole, by as u32)
            }
            Op::ZeroExtend(by) => self.window(self.numbers[&args[0]], 0, width - by),
            Op::SignExtend(by) => {
                let from = width - by;
                self.window(self.numbers[&args[0]], -(1i128 << (from - 1)), from)
            }
            _ => return None,
        })
    }

    fn literal(&mut self, value: i128) -> Number {
        Number {
            term: self.terms.int(value),
            range: (value, value),
        }
    }

    /// Some integer of a range.
    fn fresh(&mut self, range: Range) -> Number {
        let term = self.terms.fresh("number", Sort::Int);
        self.between(term, range);
        Number { term, range }
    }

    fn between(&mut self, term: TermId, range: Range) {
        let (low, high) = (self.terms.int(range.0), self.terms.int(range.1));
        self.facts.push(self.terms.int_le(low, term));
        self.facts.push(self.terms.int_le(term, high));
    }

    fn sub(&mut self, a: Number, b: Number) -> Number {
        Number {
            term: self.terms.int_sub(a.term, b.term),
            range: (a.range.0 - b.range.1, a.range.1 - b.range.0),
        }
    }

    fn times(&mut self, a: Number, factor: i128) -> Option<Number> {
        let ends = (
            a.range.0.checked_mul(factor)?,
            a.range.1.checked_mul(factor)?,
        );
        // Far from where ranges could overflow when they are added up.
        if ends.0.unsigned_abs().max(ends.1.unsigned_abs()) > 1 << 120 {
            return None;
        }
        let by = self.terms.int(factor);
        Some(Number {
            term: self.terms.int_mul(&[a.term, by]),
            range: (ends.0.min(ends.1), ends.0.max(ends.1)),
        })
    }

    /// The number that is equal modulo `2^bits` and lies between `first` and the last number
    /// before `first + 2^bits`.
    fn window(&mut self, a: Number, first: i128, bits: u32) -> Number {
        let size = 1i128 << bits;
        let turns = (
            (a.range.0 - first).div_euclid(size),
            (a.range.1 - first).div_euclid(size),
        );
        if turns == (0, 0) {
            return a;
        }
        let key = (a.term, first, bits);
        if let Some(&known) = self.windows.get(&key) {
            return known;
        }
        let size_term = self.terms.int(size);
        let number = if turns.0 == turns.1 {
            let by = self.terms.int(turns.0 * size);
            Number {
                term: self.terms.int_sub(a.term, by),
                range: (a.range.0 - turns.0 * size, a.range.1 - turns.0 * size),
            }
        } else {
            let turn = self.fresh(turns);
            let by = self.terms.int_mul(&[turn.term, size_term]);
            let term = self.terms.int_sub(a.term, by);
            let range = (first, first + size - 1);
            self.between(term, range);
            Number { term, range }
        };
        self.windows.insert(key, number);
        number
    }

    /// A number that is not negative, divided by a power of two and rounded down.
    fn divide(&mut self, a: Number, bits: u32) -> Number {
        let size = 1i128 << bits;
        let quotient = self.fresh((a.range.0 / size, a.range.1 / size));
        let by = self.terms.int(size);
        let product = self.terms.int_mul(&[quotient.term, by]);
        let rest = self.terms.int_sub(a.term, product);
        self.between(rest, (0, size - 1));
        quotient
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Shows a question about the words `x`, `y` of 32 bits in integers.
    #[track_caller]
    fn check(question: impl Fn(&mut Terms, [TermId; 2]) -> Vec<TermId>, expected: Expect) {
        let mut terms = Terms::new();
        let words = ["x", "y"].map(|name| terms.constant(name, Sort::BitVec(32)));
        let question = question(&mut terms, words);
        let shown = match Integers::new(&mut terms, &question, &question) {
            Some(integers) => integers
                .formulas
                .iter()
                .map(|&formula| format!("{}\n", terms.infix(formula)))
                .collect(),
            None => "not in integers\n".to_owned(),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn where_nothing_wraps_it_is_integers_that_are_added() {
        check(
            |terms, [x, y]| {
                let limit = terms.bv(1000, 32);
                let sum = terms.bv_add(x, y);
                vec![
                    terms.bv_ult(x, limit),
                    terms.bv_ule(y, x),
                    terms.bv_ult(sum, limit),
                ]
            },
            expect![[r#"
                number! <= 999
                number!!1 <= number!
                number! + number!!1 <= 999
                number! >= 0
                number! <= 999
                number!!1 >= 0
                number!!1 <= 999
            "#]],
        );
    }

    #[test]
    fn where_something_may_wrap_it_is_counted() {
        check(
            |terms, [x, _]| {
                let three = terms.bv(3, 32);
                let triple = terms.bv_mul(x, three);
                vec![terms.bv_ult(triple, x)]
            },
            expect![[r#"
                number! + 1 <= 2147483648 * number!!1
                number! >= 0
                number! <= 4294967295
                number!!1 >= 0
                number!!1 <= 2
                4294967296 * number!!1 <= 3 * number!
                3 * number! <= 4294967296 * number!!1 + 4294967295
            "#]],
        );
    }

    #[test]
    fn products_of_words_are_not_for_integers() {
        check(
            |terms, [x, y]| {
                let product = terms.bv_mul(x, y);
                vec![terms.bv_ult(product, x)]
            },
            expect![[r#"
                not in integers
            "#]],
        );
    }
}
