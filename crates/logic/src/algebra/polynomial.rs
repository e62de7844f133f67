//! Polynomials over machine words: sums of products of terms, modulo a power of two.
//!
//! In comes a term, out comes the polynomial that it is; whatever is no sum, difference or product
//! counts as a variable (an *atom*). Two terms with the same polynomial have the same value always.

use crate::{Op, Sort, TermId, Terms, Value};
use num_traits::ToPrimitive;
use std::collections::BTreeMap;

/// A product of atoms, each as often as it is multiplied, the smallest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Monomial(Vec<TermId>);

/// Products of more atoms than this are not looked at, ...
const DEGREE: usize = 8;
/// ... nor sums of more products.
const SIZE: usize = 300;
/// Terms that are nested deeper are atoms.
const DEPTH: usize = 200;

impl Monomial {
    /// The atoms, each as often as it is multiplied.
    pub(super) fn atoms(&self) -> &[TermId] {
        &self.0
    }

    /// How often an atom is a factor.
    fn count(&self, atom: TermId) -> usize {
        self.0.iter().filter(|&&factor| factor == atom).count()
    }

    fn times(&self, other: &Monomial) -> Monomial {
        let mut atoms = [self.0.as_slice(), &other.0].concat();
        atoms.sort_unstable();
        Monomial(atoms)
    }

    /// What is left when another one is taken out, if it is a factor.
    fn divided(&self, by: &Monomial) -> Option<Monomial> {
        let mut left = self.0.clone();
        for atom in &by.0 {
            let at = left.iter().position(|factor| factor == atom)?;
            left.remove(at);
        }
        Some(Monomial(left))
    }
}

// By degree first, so that reduction by what is largest makes smaller.
impl PartialOrd for Monomial {
    fn partial_cmp(&self, other: &Monomial) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Monomial {
    fn cmp(&self, other: &Monomial) -> std::cmp::Ordering {
        let degree = |monomial: &Monomial| monomial.0.len();
        let degrees = degree(self).cmp(&degree(other));
        degrees.then_with(|| self.0.cmp(&other.0))
    }
}

/// A sum of products of atoms, modulo 2^width.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Polynomial {
    pub(super) width: u32,
    /// The factor of each product, none of them zero.
    products: BTreeMap<Monomial, u64>,
}

impl Polynomial {
    fn zero(width: u32) -> Polynomial {
        Polynomial {
            width,
            products: BTreeMap::new(),
        }
    }

    fn number(width: u32, number: u64) -> Polynomial {
        let mut sum = Polynomial::zero(width);
        sum.add_product(Monomial::default(), number);
        sum
    }

    fn atom(width: u32, atom: TermId) -> Polynomial {
        let mut sum = Polynomial::zero(width);
        sum.add_product(Monomial(vec![atom]), 1);
        sum
    }

    /// A word as a polynomial; none for words of more than 64 bits, for other things, and where the
    /// polynomial would be large.
    pub(super) fn of(terms: &Terms, term: TermId) -> Option<Polynomial> {
        match terms.sort(term) {
            Sort::BitVec(width @ 1..=64) => Polynomial::read(terms, term, width, 0),
            _ => None,
        }
    }

    fn read(terms: &Terms, term: TermId, width: u32, depth: usize) -> Option<Polynomial> {
        if let Some(number) = literal(terms, term) {
            return Some(Polynomial::number(width, number));
        }
        if depth > DEPTH {
            return Some(Polynomial::atom(width, term));
        }
        let part = |arg: TermId| Polynomial::read(terms, arg, width, depth + 1);
        let sum = match (terms.op(term), terms.args(term)) {
            (Op::BvAdd, args) => {
                let mut sum = Polynomial::zero(width);
                for &arg in args {
                    sum.add(&part(arg)?, 1);
                }
                sum
            }
            (Op::BvSub, &[a, b]) => {
                let mut sum = part(a)?;
                sum.add(&part(b)?, u64::MAX);
                sum
            }
            (Op::BvNeg, &[a]) => part(a)?.scaled(u64::MAX),
            // The opposite is one more.
            (Op::BvNot, &[a]) => {
                let mut sum = part(a)?.scaled(u64::MAX);
                sum.add_product(Monomial::default(), u64::MAX);
                sum
            }
            (Op::BvMul, args) => {
                let mut product = Polynomial::number(width, 1);
                for &arg in args {
                    product = product.times(&part(arg)?)?;
                }
                product
            }
            (Op::BvShl, &[a, by]) => match literal(terms, by) {
                Some(by) if by < u64::from(width) => part(a)?.scaled(1 << by),
                _ => Polynomial::atom(width, term),
            },
            _ => Polynomial::atom(width, term),
        };
        (sum.products.len() <= SIZE).then_some(sum)
    }

    /// `a - b`.
    pub(super) fn difference(terms: &Terms, a: TermId, b: TermId) -> Option<Polynomial> {
        let mut sum = Polynomial::of(terms, a)?;
        sum.add(&Polynomial::of(terms, b)?, u64::MAX);
        Some(sum)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.products.is_empty()
    }

    /// Its value, if that does not depend on anything.
    pub(super) fn as_number(&self) -> Option<u64> {
        match self.products.len() {
            0 => Some(0),
            1 => self.products.get(&Monomial::default()).copied(),
            _ => None,
        }
    }

    /// Whether it is never zero: odd, whatever the atoms are.
    pub(super) fn is_odd(&self) -> bool {
        let none = Monomial::default();
        self.products
            .iter()
            .all(|(product, factor)| (factor % 2 == 1) == (*product == none))
            && self.products.contains_key(&none)
    }

    pub(super) fn atoms(&self) -> impl Iterator<Item = TermId> {
        self.products
            .keys()
            .flat_map(|product| product.0.iter().copied())
    }

    /// The factors of the products, as small numbers with a sign.
    pub(super) fn factors(&self) -> impl Iterator<Item = (&Monomial, i128)> {
        let half = 1u64 << (self.width - 1);
        self.products.iter().map(move |(product, &factor)| {
            let number = match factor > half || (factor == half && self.width > 1) {
                true => i128::from(factor) - (1i128 << self.width),
                false => i128::from(factor),
            };
            (product, number)
        })
    }

    /// The number that its lowest bits are, if those of its atoms are known.
    pub(super) fn low(&self, bits: u32, known: &BTreeMap<(TermId, u32), u64>) -> Option<u64> {
        let mask = (1u64 << bits) - 1;
        let mut sum = 0u64;
        for (product, &factor) in &self.products {
            let mut value = factor & mask;
            for &atom in &product.0 {
                if value == 0 {
                    break;
                }
                value = value.wrapping_mul(*known.get(&(atom, bits))?) & mask;
            }
            sum = sum.wrapping_add(value);
        }
        Some(sum & mask)
    }

    /// How many products it has.
    pub(super) fn products(&self) -> usize {
        self.products.len()
    }

    /// The largest product, with its factor.
    pub(super) fn leading(&self) -> Option<(&Monomial, u64)> {
        self.products
            .last_key_value()
            .map(|(product, &factor)| (product, factor))
    }

    fn wrap(&self, number: u64) -> u64 {
        number & (u64::MAX >> (64 - self.width))
    }

    fn add_product(&mut self, product: Monomial, factor: u64) {
        let known = self.products.get(&product).copied().unwrap_or(0);
        match self.wrap(known.wrapping_add(factor)) {
            0 => self.products.remove(&product),
            factor => self.products.insert(product, factor),
        };
    }

    /// Adds another one so many times.
    pub(super) fn add(&mut self, other: &Polynomial, factor: u64) {
        for (product, &times) in &other.products {
            self.add_product(product.clone(), times.wrapping_mul(factor));
        }
    }

    /// Adds a number.
    pub(super) fn add_number(&mut self, number: u64) {
        self.add_product(Monomial::default(), number);
    }

    fn scaled(&self, factor: u64) -> Polynomial {
        let mut sum = Polynomial::zero(self.width);
        sum.add(self, factor);
        sum
    }

    fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut sum = Polynomial::zero(self.width);
        for (a, &x) in &self.products {
            for (b, &y) in &other.products {
                if a.0.len() + b.0.len() > DEGREE {
                    return None;
                }
                sum.add_product(a.times(b), x.wrapping_mul(y));
            }
        }
        (sum.products.len() <= SIZE).then_some(sum)
    }

    /// The atoms that this being zero tells: with an odd factor, and in no other product.
    pub(super) fn told(&self) -> impl Iterator<Item = TermId> + '_ {
        let single = self.products.iter().filter_map(|(product, &factor)| {
            let &[atom] = product.0.as_slice() else {
                return None;
            };
            (factor % 2 == 1).then_some(atom)
        });
        single.filter(|&atom| {
            let mut products = self.products.keys();
            products.all(|product| product.0.len() == 1 || product.count(atom) == 0)
        })
    }

    /// What an atom that this tells is where this is zero.
    pub(super) fn solved_for(&self, atom: TermId) -> Polynomial {
        let product = Monomial(vec![atom]);
        let factor = self.products.get(&product).copied().unwrap_or(1);
        let mut value = self.clone();
        value.products.remove(&product);
        value.scaled(inverse(factor).wrapping_neg())
    }

    /// The same with a polynomial in the place of an atom.
    pub(super) fn substituted(&self, atom: TermId, value: &Polynomial) -> Option<Polynomial> {
        if !self.atoms().any(|known| known == atom) {
            return Some(self.clone());
        }
        let mut sum = Polynomial::zero(self.width);
        for (product, &factor) in &self.products {
            let others = product.0.iter().copied().filter(|&other| other != atom);
            let mut part = Polynomial::zero(self.width);
            part.add_product(Monomial(others.collect()), factor);
            for _ in 0..product.count(atom) {
                part = part.times(value)?;
            }
            sum.add(&part, 1);
        }
        (sum.products.len() <= SIZE).then_some(sum)
    }

    /// What is left when multiples of polynomials that are zero are taken away: their largest
    /// products, with their factors, do not divide any product of it.
    pub(super) fn reduced(&self, zeros: &[Polynomial]) -> Option<Polynomial> {
        let mut left = self.clone();
        let mut done = Polynomial::zero(self.width);
        for _ in 0..4 * SIZE {
            let Some((product, factor)) = left.leading() else {
                return Some(done);
            };
            let (product, factor) = (product.clone(), factor);
            let divisor = zeros.iter().find_map(|zero| {
                let (largest, by) = zero.leading()?;
                let times = product.divided(largest)?;
                let twos = by.trailing_zeros();
                (factor.trailing_zeros() >= twos).then_some((zero, times, by >> twos, twos))
            });
            match divisor {
                None => {
                    left.products.remove(&product);
                    done.add_product(product, factor);
                }
                Some((zero, times, odd, twos)) => {
                    let times_factor = (factor >> twos).wrapping_mul(inverse(odd)).wrapping_neg();
                    let mut multiple = Polynomial::zero(self.width);
                    multiple.add_product(times, times_factor);
                    left.add(&multiple.times(zero)?, 1);
                }
            }
        }
        None
    }
}

/// The inverse of an odd number modulo 2^64.
fn inverse(odd: u64) -> u64 {
    // Each step of Newton's method doubles the number of right bits; a number is its own inverse
    // in the lowest three.
    (0..5).fold(odd, |x, _| {
        x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)))
    })
}

/// The number that a term is.
pub(super) fn literal(terms: &Terms, term: TermId) -> Option<u64> {
    match terms.value_of(term) {
        Some(Value::BitVec(bits)) => bits.unsigned().to_u64(),
        _ => None,
    }
}
