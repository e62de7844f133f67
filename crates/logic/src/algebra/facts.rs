//! What is known of words, as polynomials that are zero or not, and comparisons of polynomials; and
//! whether it contradicts itself.

use super::polynomial::{Polynomial, literal};
use crate::{Op, Sort, TermId, Terms};
use std::collections::{BTreeMap, BTreeSet};

/// At most so many equations are used.
const EQUATIONS: usize = 64;
/// So many words that are widened are compared with each other.
const WIDENED: usize = 5;

/// How two words compare.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Comparison {
    signed: bool,
    /// Whether they differ.
    strict: bool,
    low: Polynomial,
    high: Polynomial,
}

/// What is known of words.
#[derive(Default)]
pub(super) struct Facts {
    /// What is zero.
    pub(super) zero: Vec<Polynomial>,
    never_zero: Vec<Polynomial>,
    compared: Vec<Comparison>,
    /// The lowest bits of atoms, where they are known.
    low: BTreeMap<(TermId, u32), u64>,
}

impl Facts {
    /// What formulas say.
    pub(super) fn new(terms: &mut Terms, facts: &[TermId]) -> Facts {
        let mut found = Facts::default();
        for &fact in facts {
            let inner = terms.negated(fact);
            let (inner, holds) = (inner.unwrap_or(fact), inner.is_none());
            let &[a, b] = terms.args(inner) else {
                continue;
            };
            let (signed, strict) = match terms.op(inner) {
                Op::Eq => {
                    found.low_bits(terms, a, b, holds);
                    let difference = Polynomial::difference(terms, a, b);
                    let list = match holds {
                        true => &mut found.zero,
                        false => &mut found.never_zero,
                    };
                    list.extend(difference);
                    continue;
                }
                Op::BvUlt => (false, true),
                Op::BvUle => (false, false),
                Op::BvSlt => (true, true),
                Op::BvSle => (true, false),
                _ => continue,
            };
            // That a is not below b says that b is not above a.
            let (low, high) = if holds { (a, b) } else { (b, a) };
            if let (Some(low), Some(high)) =
                (Polynomial::of(terms, low), Polynomial::of(terms, high))
            {
                found.compared.push(Comparison {
                    signed,
                    strict: strict == holds,
                    low,
                    high,
                });
            }
        }
        found.zero.truncate(EQUATIONS);
        found.divisions(terms);
        found
    }

    /// What an equation, or its opposite, says of the lowest bits of a word.
    fn low_bits(&mut self, terms: &Terms, a: TermId, b: TermId, holds: bool) {
        let (masked, Some(number)) = (a, literal(terms, b)) else {
            return;
        };
        let (Op::BvAnd, &[x, y]) = (terms.op(masked), terms.args(masked)) else {
            return;
        };
        let (word, mask) = match (literal(terms, x), literal(terms, y)) {
            (_, Some(mask)) => (x, mask),
            (Some(mask), _) => (y, mask),
            _ => return,
        };
        if mask < 1 << 32 && (mask + 1).is_power_of_two() {
            let bits = mask.count_ones();
            match (holds, bits, number) {
                (true, ..) => self.low.insert((word, bits), number),
                // One bit that is not this is the other one.
                (false, 1, 0 | 1) => self.low.insert((word, 1), 1 - number),
                _ => None,
            };
        }
    }

    /// All polynomials that are spoken of.
    pub(super) fn all(&self) -> impl Iterator<Item = &Polynomial> {
        let sides = self
            .compared
            .iter()
            .flat_map(|known| [&known.low, &known.high]);
        self.zero.iter().chain(&self.never_zero).chain(sides)
    }

    /// What quotients and remainders that occur have to do with each other: whatever the divisor
    /// is, zero among them, `a == (a / b) * b + a % b`.
    fn divisions(&mut self, terms: &mut Terms) {
        let atoms: BTreeSet<TermId> = self.all().flat_map(Polynomial::atoms).collect();
        let mut divided = BTreeSet::new();
        for atom in atoms {
            let &[a, b] = terms.args(atom) else {
                continue;
            };
            let Sort::BitVec(width) = terms.sort(a) else {
                continue;
            };
            match terms.op(atom) {
                Op::BvUdiv | Op::BvUrem | Op::BvSdiv | Op::BvSrem => {
                    let signed = matches!(terms.op(atom), Op::BvSdiv | Op::BvSrem);
                    let [quotient, rest] = match signed {
                        true => [Op::BvSdiv, Op::BvSrem],
                        false => [Op::BvUdiv, Op::BvUrem],
                    };
                    let quotient = terms.plain(quotient, &[a, b]);
                    let rest = terms.plain(rest, &[a, b]);
                    let multiple = terms.plain(Op::BvMul, &[quotient, b]);
                    divided.insert((a, terms.plain(Op::BvAdd, &[multiple, rest])));
                }
                // Shifts that are divisions by powers of two, and what they leave over.
                Op::BvLshr | Op::BvAshr => {
                    let Some(by) = literal(terms, b).filter(|&by| by < u64::from(width)) else {
                        continue;
                    };
                    let mask = terms.bv((1i128 << by) - 1, width);
                    let factor = terms.bv(1i128 << by, width);
                    let multiple = terms.plain(Op::BvMul, &[atom, factor]);
                    let sum = Polynomial::of(terms, a).filter(|_| by < 32);
                    let rest = match sum.and_then(|sum| sum.low(by as u32, &self.low)) {
                        Some(number) => terms.bv(number.into(), width),
                        None => terms.bv_and(a, mask),
                    };
                    divided.insert((a, terms.plain(Op::BvAdd, &[multiple, rest])));
                }
                _ => {}
            }
        }
        for (a, sum) in divided {
            self.zero.extend(Polynomial::difference(terms, a, sum));
        }
    }

    /// Whether it is known that they do not hold together.
    pub(super) fn contradict(mut self) -> bool {
        if !self.solve() {
            return false;
        }
        // Words of which neither is below the other are the same.
        let same = self.tied();
        if !same.is_empty() {
            self.zero.extend(same);
            if !self.solve() {
                return false;
            }
        }
        if self
            .zero
            .iter()
            .any(|zero| zero.is_odd() || zero.as_number().is_some_and(|n| n != 0))
        {
            return true;
        }
        let leads = |zero: &&Polynomial| {
            let leading = zero.leading();
            leading.is_some_and(|(product, _)| !product.atoms().is_empty())
        };
        let basis: Vec<Polynomial> = self.zero.iter().filter(leads).cloned().collect();
        let reduce = |polynomial: &Polynomial| {
            let same: Vec<Polynomial> = basis
                .iter()
                .filter(|zero| zero.width == polynomial.width)
                .cloned()
                .collect();
            polynomial.reduced(&same)
        };
        let is_zero = |polynomial: &Polynomial| {
            let reduced = reduce(polynomial);
            reduced.is_some_and(|reduced| reduced.is_zero())
        };
        if self.never_zero.iter().any(is_zero) {
            return true;
        }
        let mut compared = Vec::new();
        for known in &self.compared {
            if let (Some(low), Some(high)) = (reduce(&known.low), reduce(&known.high)) {
                compared.push(Comparison {
                    low,
                    high,
                    ..known.clone()
                });
            }
        }
        compared.iter().any(|known| {
            known.strict && known.low == known.high
                || compared.iter().any(|other| {
                    (known.strict || other.strict)
                        && known.signed == other.signed
                        && known.low == other.high
                        && known.high == other.low
                })
        })
    }

    /// The differences of words that are neither below nor above each other.
    fn tied(&self) -> Vec<Polynomial> {
        let mut found = Vec::new();
        let mut all = self.compared.clone();
        // What is below a word is at most its predecessor, and its successor at most that word.
        for known in self.compared.iter().filter(|known| known.strict) {
            let mut nearer = [known.clone(), known.clone()];
            nearer[0].high.add_number(u64::MAX);
            nearer[1].low.add_number(1);
            all.extend(nearer.map(|known| Comparison {
                strict: false,
                ..known
            }));
        }
        for (index, known) in all.iter().enumerate() {
            let is_back = |other: &&Comparison| {
                let loose = !known.strict && !other.strict && known.signed == other.signed;
                loose && known.low == other.high && known.high == other.low
            };
            if all[..index].iter().any(|other| is_back(&other)) {
                let mut difference = known.low.clone();
                difference.add(&known.high, u64::MAX);
                found.push(difference);
            }
        }
        found
    }

    /// Replaces every atom that an equation tells. Says whether polynomials stayed small.
    fn solve(&mut self) -> bool {
        for _ in 0..EQUATIONS {
            // The shortest first: what it is replaced by stays short.
            let told = self.zero.iter().enumerate().filter_map(|(at, zero)| {
                let atom = zero.told().max()?;
                Some((zero.products(), at, atom))
            });
            let Some((_, at, atom)) = told.min() else {
                return true;
            };
            let equation = self.zero.remove(at);
            let value = equation.solved_for(atom);
            if !self.replace(atom, &value) {
                return false;
            }
        }
        true
    }

    fn replace(&mut self, atom: TermId, value: &Polynomial) -> bool {
        let sides = self
            .compared
            .iter_mut()
            .flat_map(|known| [&mut known.low, &mut known.high]);
        let all = self
            .zero
            .iter_mut()
            .chain(&mut self.never_zero)
            .chain(sides);
        for polynomial in all.filter(|polynomial| polynomial.width == value.width) {
            match polynomial.substituted(atom, value) {
                Some(replaced) => *polynomial = replaced,
                None => return false,
            }
        }
        self.zero.retain(|zero| !zero.is_zero());
        true
    }
}

/// What may be known to be the same: words that are widened; a sum that is widened, and the sum of
/// what is widened; what a division leaves over, and zero or one.
pub(super) fn may_be_same(terms: &mut Terms, atoms: &BTreeSet<TermId>) -> Vec<(TermId, TermId)> {
    let mut found = Vec::new();
    let is_widened =
        |atom: &TermId| matches!(terms.op(*atom), Op::SignExtend(_) | Op::ZeroExtend(_));
    let wide: Vec<TermId> = atoms
        .iter()
        .copied()
        .filter(is_widened)
        .take(WIDENED)
        .collect();
    for (index, &atom) in wide.iter().enumerate() {
        for &other in &wide[..index] {
            if terms.op(atom) == terms.op(other) && terms.sort(atom) == terms.sort(other) {
                found.push((atom, other));
            }
        }
    }
    for &atom in atoms {
        match (terms.op(atom).clone(), terms.args(atom).to_vec()) {
            (Op::SignExtend(by) | Op::ZeroExtend(by), args) => {
                let signed = matches!(terms.op(atom), Op::SignExtend(_));
                if let Some(sum) = Polynomial::of(terms, args[0])
                    && let Some(wide) = widened(terms, &sum, by, signed)
                    && wide != atom
                {
                    found.push((atom, wide));
                }
            }
            (Op::BvSrem | Op::BvUrem, args) => {
                let width = terms.width(args[0]);
                for rest in 0..=i128::from(literal(terms, args[1]) == Some(2)) {
                    found.push((atom, terms.bv(rest, width)));
                }
            }
            _ => {}
        }
    }
    found
}

/// A sum of multiples of atoms with every atom widened; `None` if it is more than that.
fn widened(terms: &mut Terms, sum: &Polynomial, by: u32, signed: bool) -> Option<TermId> {
    let width = sum.width + by;
    let mut wide = terms.bv(0, width);
    for (product, factor) in sum.factors() {
        let factor = terms.bv(factor, width);
        let part = match product.atoms() {
            [] => factor,
            &[atom] => {
                let atom = match signed {
                    true => terms.sign_extend(atom, by),
                    false => terms.zero_extend(atom, by),
                };
                terms.bv_mul(factor, atom)
            }
            _ => return None,
        };
        wide = terms.bv_add(wide, part);
    }
    Some(wide)
}
