//! Questions made easier before a solver sees them, by arithmetic modulo 2^n that a reader can
//! follow: what an equation says of a constant is put in for it, and both sides of a comparison are
//! multiplied out. A counter that is a product of two others, or a sum of a counter, is then seen
//! to be what it is without a circuit for the multiplication.

use hardbop_logic::{Op, Sort, TermId, Terms, Value};
use num_bigint::BigUint;
use num_traits::{One, Zero};
use std::collections::{BTreeMap, BTreeSet};

/// A sum of products of words, each with a factor below 2^width.
#[derive(Clone, PartialEq, Eq)]
struct Sum {
    width: u32,
    products: BTreeMap<Vec<TermId>, BigUint>,
}

/// Longer sums are left as they are, ...
const PRODUCTS: usize = 64;
/// ... and so are products of more words.
const FACTORS: usize = 6;
/// So many equations are put in.
const EQUATIONS: usize = 200;

/// A question that has a model exactly if all of these have one together.
pub(super) fn eased(terms: &mut Terms, conjuncts: &[TermId]) -> TermId {
    let mut question = terms.and(conjuncts);
    for _ in 0..EQUATIONS {
        let Some((constant, value)) = equation(terms, question) else {
            break;
        };
        question = terms.substitute(question, &[(constant, value)].into());
    }
    let question = divided(terms, question);
    let question = multiplied_out(terms, question);
    match leaves_nothing(terms, question) {
        true => terms.bool(false),
        false => question,
    }
}

/// Whether the conjuncts about some word leave it no value: bounds that cross, or that meet at a
/// number which it is said not to be. No solver is needed to see that.
fn leaves_nothing(terms: &Terms, question: TermId) -> bool {
    let parts = match terms.op(question) {
        Op::And => terms.args(question).to_vec(),
        _ => vec![question],
    };
    let number = |term: TermId| match terms.value_of(term) {
        Some(Value::BitVec(bits)) => Some(bits.unsigned().clone()),
        _ => None,
    };
    let mut least: BTreeMap<TermId, BigUint> = BTreeMap::new();
    let mut most: BTreeMap<TermId, BigUint> = BTreeMap::new();
    let mut others: BTreeSet<(TermId, BigUint)> = BTreeSet::new();
    for part in parts {
        let (part, holds) = match (terms.op(part), terms.args(part)) {
            (Op::Not, &[inner]) => (inner, false),
            _ => (part, true),
        };
        let &[a, b] = terms.args(part) else {
            continue;
        };
        // As `low < high`, or as `low <= high`.
        let (low, high, strictly) = match (terms.op(part), holds) {
            (Op::Eq, false) => {
                for (word, value) in [(a, b), (b, a)] {
                    others.extend(number(value).map(|value| (word, value)));
                }
                continue;
            }
            (Op::BvUlt, true) => (a, b, true),
            (Op::BvUle, true) => (a, b, false),
            (Op::BvUlt, false) => (b, a, false),
            (Op::BvUle, false) => (b, a, true),
            _ => continue,
        };
        if let Some(mut bound) = number(high) {
            if strictly {
                if bound.is_zero() {
                    return true;
                }
                bound -= 1u32;
            }
            let known = most.entry(low).or_insert_with(|| bound.clone());
            if bound < *known {
                *known = bound;
            }
        } else if let Some(mut bound) = number(low) {
            if strictly {
                bound += 1u32;
            }
            let known = least.entry(high).or_insert_with(|| bound.clone());
            if bound > *known {
                *known = bound;
            }
        }
    }
    let zero = BigUint::zero();
    most.iter().any(|(word, most)| {
        let least = least.get(word).unwrap_or(&zero);
        least > most || (least == most && others.contains(&(*word, most.clone())))
    })
}

/// The same question with divisions of sums by a number carried out, where everything but a number
/// is a multiple of it and the bounds that the question itself gives keep the sum from wrapping.
fn divided(terms: &mut Terms, question: TermId) -> TermId {
    let bounds = bounds(terms, question);
    let mut map = BTreeMap::new();
    for term in terms.postorder(&[question]) {
        let op = terms.op(term).clone();
        let (remainder, signed) = match op {
            Op::BvUrem => (true, false),
            Op::BvSrem => (true, true),
            Op::BvUdiv => (false, false),
            Op::BvSdiv => (false, true),
            _ => continue,
        };
        let &[word, by] = terms.args(term) else {
            continue;
        };
        let Some(Value::BitVec(by)) = terms.value_of(by) else {
            continue;
        };
        let width = terms.width(word);
        let by = by.unsigned().clone();
        // Without a sign bit, neither has a sign.
        let below = BigUint::one() << if signed { width - 1 } else { width };
        let Some(sum) = Sum::of(terms, word).filter(|_| !by.is_zero() && by < below) else {
            continue;
        };
        let multiple = |(product, factor): (&Vec<TermId>, &BigUint)| {
            product.is_empty() || (factor % &by).is_zero()
        };
        let fits = sum.most(terms, &bounds).is_some_and(|most| most < below);
        if !fits || !sum.products.iter().all(multiple) {
            continue;
        }
        let number = sum.products.get(&Vec::new()).cloned().unwrap_or_default();
        let built = if remainder {
            Sum::literal(width, number % &by)
        } else {
            let mut quotient = Sum::literal(width, BigUint::zero());
            for (product, factor) in &sum.products {
                quotient.add(product.clone(), &(factor / &by));
            }
            quotient
        };
        map.insert(term, built.term(terms));
    }
    terms.substitute(question, &map)
}

/// Words that conjuncts say are at most some number.
fn bounds(terms: &Terms, question: TermId) -> BTreeMap<TermId, BigUint> {
    let parts = match terms.op(question) {
        Op::And => terms.args(question).to_vec(),
        _ => vec![question],
    };
    let mut bounds: BTreeMap<TermId, BigUint> = BTreeMap::new();
    for part in parts {
        let (Op::BvUle | Op::BvUlt, &[word, most]) = (terms.op(part), terms.args(part)) else {
            continue;
        };
        if let Some(Value::BitVec(most)) = terms.value_of(most) {
            let most = most.unsigned();
            let bound = bounds.entry(word).or_insert_with(|| most.clone());
            if most < bound {
                *bound = most.clone();
            }
        }
    }
    bounds
}

/// A constant that a conjunct says the value of.
fn equation(terms: &Terms, question: TermId) -> Option<(TermId, TermId)> {
    let parts = match terms.op(question) {
        Op::And => terms.args(question).to_vec(),
        _ => vec![question],
    };
    parts.into_iter().find_map(|part| {
        let (Op::Eq, &[a, b]) = (terms.op(part), terms.args(part)) else {
            return None;
        };
        [(a, b), (b, a)].into_iter().find(|&(constant, value)| {
            matches!(terms.op(constant), Op::Constant(_))
                && matches!(terms.sort(constant), Sort::BitVec(_))
                && !terms.free_constants(&[value]).contains(&constant)
        })
    })
}

/// The same question with the sides of its comparisons multiplied out.
fn multiplied_out(terms: &mut Terms, question: TermId) -> TermId {
    let mut map = BTreeMap::new();
    for term in terms.postorder(&[question]) {
        let op = terms.op(term).clone();
        let compares = matches!(op, Op::Eq | Op::BvUlt | Op::BvUle | Op::BvSlt | Op::BvSle);
        let &[left, right] = terms.args(term) else {
            continue;
        };
        if !compares || !matches!(terms.sort(left), Sort::BitVec(_)) {
            continue;
        }
        let (Some(one), Some(other)) = (Sum::of(terms, left), Sum::of(terms, right)) else {
            continue;
        };
        let built = if op == Op::Eq {
            // What both sides have goes.
            let difference = one.minus(&other);
            match difference.number() {
                Some(number) => terms.bool(number.is_zero()),
                None => {
                    let (left, right) = (one.term(terms), other.term(terms));
                    terms.eq(left, right)
                }
            }
        } else {
            let (left, right) = (one.term(terms), other.term(terms));
            match op {
                Op::BvUlt => terms.bv_ult(left, right),
                Op::BvUle => terms.bv_ule(left, right),
                Op::BvSlt => terms.bv_slt(left, right),
                _ => terms.bv_sle(left, right),
            }
        };
        map.insert(term, built);
    }
    // Comparisons within the words of a sum stay as they are.
    terms.substitute(question, &map)
}

/// The bound of a word, or of that of which it is the lowest bits.
fn word_bound<'b>(
    terms: &Terms,
    word: TermId,
    bounds: &'b BTreeMap<TermId, BigUint>,
) -> Option<&'b BigUint> {
    bounds.get(&word).or_else(|| match terms.op(word) {
        // The lowest bits are never more than the word.
        Op::Extract { low: 0, .. } => bounds.get(&terms.args(word)[0]),
        _ => None,
    })
}

impl Sum {
    fn literal(width: u32, number: BigUint) -> Sum {
        let mut sum = Sum {
            width,
            products: BTreeMap::new(),
        };
        sum.add(Vec::new(), &number);
        sum
    }

    fn add(&mut self, product: Vec<TermId>, factor: &BigUint) {
        let entry = self.products.entry(product.clone()).or_default();
        *entry = (&*entry + factor) % (BigUint::one() << self.width);
        if entry.is_zero() {
            self.products.remove(&product);
        }
    }

    fn plus(mut self, other: &Sum) -> Sum {
        for (product, factor) in &other.products {
            self.add(product.clone(), factor);
        }
        self
    }

    fn negated(&self) -> Sum {
        let mut sum = Sum::literal(self.width, BigUint::zero());
        for (product, factor) in &self.products {
            sum.add(product.clone(), &((BigUint::one() << self.width) - factor));
        }
        sum
    }

    fn minus(&self, other: &Sum) -> Sum {
        self.clone().plus(&other.negated())
    }

    fn times(&self, other: &Sum) -> Option<Sum> {
        let mut sum = Sum::literal(self.width, BigUint::zero());
        for (one, a) in &self.products {
            for (two, b) in &other.products {
                let mut product = [&one[..], &two[..]].concat();
                product.sort_unstable();
                if product.len() > FACTORS {
                    return None;
                }
                sum.add(product, &(a * b));
            }
        }
        Some(sum)
    }

    /// A number that it does not exceed as a sum of whole numbers, each of its words taken without a
    /// sign; `None` where one of them has no bound.
    fn most(&self, terms: &Terms, bounds: &BTreeMap<TermId, BigUint>) -> Option<BigUint> {
        let mut most = BigUint::zero();
        for (product, factor) in &self.products {
            let mut part = factor.clone();
            for &word in product {
                part *= word_bound(terms, word, bounds)?;
            }
            most += part;
        }
        Some(most)
    }

    /// The number that it is, if it is one.
    fn number(&self) -> Option<BigUint> {
        match self.products.len() {
            0 => Some(BigUint::zero()),
            1 => self.products.get(&Vec::new()).cloned(),
            _ => None,
        }
    }

    /// What a word is as a sum; `None` where that would be too long.
    fn of(terms: &mut Terms, root: TermId) -> Option<Sum> {
        let mut known: BTreeMap<TermId, Sum> = BTreeMap::new();
        for term in terms.postorder(&[root]) {
            let Sort::BitVec(width) = terms.sort(term) else {
                continue;
            };
            let args = terms.args(term).to_vec();
            let op = terms.op(term).clone();
            let word = Sum::literal(width, BigUint::zero()).plus(&Sum {
                width,
                products: [(vec![term], BigUint::one())].into(),
            });
            let sum = match (&op, &args[..]) {
                (Op::BitVec(_), _) => match terms.value_of(term) {
                    Some(Value::BitVec(bits)) => Sum::literal(width, bits.unsigned().clone()),
                    _ => word,
                },
                (Op::BvAdd, args) => {
                    let mut sum = Sum::literal(width, BigUint::zero());
                    for arg in args {
                        sum = sum.plus(known.get(arg)?);
                    }
                    sum
                }
                (Op::BvMul, args) => {
                    let mut product = Sum::literal(width, BigUint::one());
                    for arg in args {
                        product = product.times(known.get(arg)?)?;
                    }
                    product
                }
                (Op::BvSub, [a, b]) => known.get(a)?.minus(known.get(b)?),
                (Op::BvNeg, [a]) => known.get(a)?.negated(),
                // The low bits of a sum are the sum of the low bits.
                (Op::Extract { high, low: 0 }, [a]) => {
                    let long = known.get(a)?.clone();
                    let mut sum = Sum::literal(width, BigUint::zero());
                    for (product, factor) in long.products {
                        let mut short = Vec::new();
                        for word in product {
                            short.push(terms.extract(word, *high, 0));
                        }
                        short.sort_unstable();
                        sum.add(short, &(factor % (BigUint::one() << width)));
                    }
                    sum
                }
                _ => word,
            };
            if sum.products.len() > PRODUCTS {
                return None;
            }
            known.insert(term, sum);
        }
        known.remove(&root)
    }

    fn term(&self, terms: &mut Terms) -> TermId {
        let mut sum = terms.bv_value(BigUint::zero(), self.width);
        for (product, factor) in &self.products {
            let mut value = terms.bv_value(factor.clone(), self.width);
            for &word in product {
                value = terms.bv_mul(value, word);
            }
            sum = terms.bv_add(sum, value);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardbop_logic::{Assignment, BitVec, eval};
    use hardbop_test_support::random::Random;

    const WIDTH: u32 = 4;

    fn word(terms: &mut Terms, random: &mut Random, words: &[TermId], depth: u32) -> TermId {
        if depth == 0 || random.below(3) == 0 {
            return match random.below(2) {
                0 => words[random.below(words.len() as u64) as usize],
                _ => terms.bv(i128::from(random.below(16)), WIDTH),
            };
        }
        let a = word(terms, random, words, depth - 1);
        let b = word(terms, random, words, depth - 1);
        let by = terms.bv(1 + i128::from(random.below(6)), WIDTH);
        match random.below(8) {
            0 | 1 => terms.bv_add(a, b),
            2 => terms.bv_sub(a, b),
            3 => terms.bv_mul(a, b),
            4 => terms.bv_urem(a, by),
            5 => terms.bv_udiv(a, by),
            6 => terms.bv_srem(a, by),
            _ => terms.bv_sdiv(a, by),
        }
    }

    fn comparison(terms: &mut Terms, random: &mut Random, words: &[TermId]) -> TermId {
        let a = word(terms, random, words, 2);
        // A bound of a word is what makes divisions easy.
        let (a, b) = match random.below(3) {
            0 => (words[0], terms.bv(i128::from(random.below(6)), WIDTH)),
            _ => (a, word(terms, random, words, 2)),
        };
        let found = match random.below(6) {
            0 | 1 => terms.eq(a, b),
            2 => terms.bv_ult(a, b),
            3 => terms.bv_ule(a, b),
            4 => terms.bv_slt(a, b),
            _ => terms.bv_sle(a, b),
        };
        match random.below(4) {
            0 => terms.not(found),
            _ => found,
        }
    }

    /// Whether a question about words of four bits has a model, by trying all.
    fn has_model(terms: &Terms, question: TermId, words: &[TermId]) -> bool {
        (0..1u32 << (WIDTH * words.len() as u32)).any(|bits| {
            let mut assignment = Assignment::new();
            for (at, &word) in words.iter().enumerate() {
                let value = (bits >> (WIDTH * at as u32)) & 15;
                assignment.set(word, Value::BitVec(BitVec::new(value.into(), WIDTH)));
            }
            eval(terms, question, &assignment) == Ok(Value::Bool(true))
        })
    }

    #[test]
    fn a_question_made_easier_has_a_model_where_it_had_one() {
        let (mut with, mut without, mut decided) = (0, 0, 0);
        for seed in 0..3_000 {
            let mut random = Random(seed ^ 0x5a5a_0000);
            let mut terms = Terms::new();
            let words = ["x", "y"].map(|name| terms.constant(name, Sort::BitVec(WIDTH)));
            let mut conjuncts = Vec::new();
            for _ in 0..1 + random.below(4) {
                conjuncts.push(comparison(&mut terms, &mut random, &words));
            }
            let question = terms.and(&conjuncts);
            let eased = eased(&mut terms, &conjuncts);
            let before = has_model(&terms, question, &words);
            let after = has_model(&terms, eased, &words);
            assert_eq!(before, after, "seed {seed}: {}", terms.infix(question));
            with += u32::from(before);
            without += u32::from(!before);
            decided += u32::from(eased == terms.bool(false));
        }
        assert!(
            with > 300 && without > 300 && decided > 100,
            "{with} {without} {decided}"
        );
    }

    #[test]
    fn products_and_polynomials_are_multiplied_out() {
        let mut terms = Terms::new();
        let [k, s] = ["k", "s"].map(|name| terms.constant(name, Sort::BitVec(64)));
        let one = terms.bv(1, 64);
        let next = terms.bv_add(k, one);
        // s = k (k - 1), and then s + 2 k is not (k + 1) k.
        let before = terms.bv_sub(k, one);
        let product = terms.bv_mul(k, before);
        let known = terms.eq(s, product);
        let two = terms.bv(2, 64);
        let twice = terms.bv_mul(two, k);
        let moved = terms.bv_add(s, twice);
        let expected = terms.bv_mul(next, k);
        let equal = terms.eq(moved, expected);
        let not = terms.not(equal);
        let question = eased(&mut terms, &[known, not]);
        assert_eq!(question, terms.bool(false));
    }
}
