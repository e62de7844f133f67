//! Words seen from a base: where two words are both counted from one unknown word, their difference
//! does not depend on it.
//!
//! Addresses are distances from an unknown origin, and a question that compares two of them makes a
//! solver add that origin to each, bit by bit. Here differences and equations are carried out as
//! sums of words modulo 2^w, also side by side through choices, and unknown words that are addresses
//! are written as the base and an unknown distance, which takes every value as often as they do. The
//! result means the same.

use crate::sort::Sort;
use crate::term::{Op, TermId, Terms};
use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// The most words of a sum.
const SUMMANDS: usize = 16;
/// The most sides of choices that one term is taken to.
const SIDES: u32 = 16;

/// A base, and what became of the terms that were looked at.
#[derive(Clone, Debug)]
pub struct Relative {
    base: TermId,
    /// Words that stay as they are.
    kept: BTreeSet<TermId>,
    /// The unknown distances of unknown words from the base.
    distances: FxHashMap<TermId, TermId>,
    done: FxHashMap<TermId, TermId>,
}

/// A sum modulo 2^w.
#[derive(Clone, Debug, Default)]
struct Sum {
    constant: u64,
    parts: BTreeMap<TermId, u64>,
}

impl Relative {
    /// Words are seen from this one. Unknown words that are spoken of elsewhere are kept as they are.
    pub fn to(base: TermId, kept: BTreeSet<TermId>) -> Relative {
        Relative {
            base,
            kept,
            distances: FxHashMap::default(),
            done: FxHashMap::default(),
        }
    }

    /// Unknown words that are compared with what the base is in are the base and an unknown distance.
    fn count_from_base(&mut self, terms: &mut Terms, root: TermId) {
        let sort = terms.sort(self.base);
        let mut found = Vec::new();
        for term in terms.postorder(&[root]) {
            if let (Op::BvSub | Op::Eq, &[a, b]) = (terms.op(term), terms.args(term))
                && let Some(sum) = self.apart(terms, a, b)
            {
                let unknown = |part: &TermId| {
                    let constant = matches!(terms.op(*part), Op::Constant(_));
                    constant && *part != self.base && !self.kept.contains(part)
                };
                found.extend(sum.parts.into_keys().filter(unknown));
            }
        }
        for constant in found {
            if let Entry::Vacant(distance) = self.distances.entry(constant) {
                distance.insert(terms.fresh("distance", sort));
                // What was made of terms before speaks of the word itself.
                self.done.clear();
            }
        }
    }

    /// A term seen from the base. Terms with quantifiers stay as they are.
    pub fn seen(&mut self, terms: &mut Terms, root: TermId) -> TermId {
        let Sort::BitVec(1..=64) = terms.sort(self.base) else {
            return root;
        };
        if let Some(&known) = self.done.get(&root) {
            return known;
        }
        self.count_from_base(terms, root);
        let mut work = vec![root];
        while let Some(&term) = work.last() {
            if self.done.contains_key(&term) {
                work.pop();
                continue;
            }
            if let Some(&distance) = self.distances.get(&term) {
                let word = terms.bv_add(self.base, distance);
                self.done.insert(term, word);
                work.pop();
                continue;
            }
            if terms.args(term).is_empty()
                || matches!(terms.op(term), Op::Forall(_) | Op::Exists(_))
            {
                self.done.insert(term, term);
                work.pop();
                continue;
            }
            let args = terms.args(term).to_vec();
            let missing = args.iter().filter(|arg| !self.done.contains_key(arg));
            let missing: Vec<TermId> = missing.copied().collect();
            if !missing.is_empty() {
                work.extend(missing);
                continue;
            }
            let args: Vec<TermId> = args.iter().map(|arg| self.done[arg]).collect();
            let (op, sort) = (terms.op(term).clone(), terms.sort(term));
            let built = match (&op, &args[..]) {
                (Op::BvSub, &[a, b]) => self.difference(terms, a, b),
                (Op::Eq, &[a, b]) => self.equation(terms, a, b),
                _ => None,
            };
            let built = built.unwrap_or_else(|| terms.build(op, &args, sort));
            self.done.insert(term, built);
            work.pop();
        }
        self.done[&root]
    }

    /// A difference that does not depend on the base.
    fn difference(&self, terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
        let sum = self.apart(terms, a, b)?;
        let width = terms.width(a);
        self.over_sides(terms, sum, width, &mut SIDES.clone(), &mut |terms, sum| {
            sum.term(terms, width)
        })
    }

    /// An equation that does not depend on the base.
    fn equation(&self, terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
        let sum = self.apart(terms, a, b)?;
        let width = terms.width(a);
        self.over_sides(
            terms,
            sum,
            width,
            &mut SIDES.clone(),
            &mut |terms, mut sum| {
                let constant = std::mem::take(&mut sum.constant);
                let left = sum.term(terms, width);
                let right = terms.bv(-i128::from(constant), width);
                terms.eq(left, right)
            },
        )
    }

    /// The difference of two words, if the base occurs in it.
    fn apart(&self, terms: &Terms, a: TermId, b: TermId) -> Option<Sum> {
        let width = match (terms.sort(a), terms.sort(self.base)) {
            (Sort::BitVec(width), Sort::BitVec(same)) if width == same => width,
            _ => return None,
        };
        let mut sum = Sum::default();
        let mut based = false;
        sum.add(terms, a, 1, self.base, &mut based)?;
        sum.add(terms, b, mask(width), self.base, &mut based)?;
        sum.tidy(width);
        based.then_some(sum)
    }

    /// What is made of a sum, on each side of the choices in it as long as the base stays.
    fn over_sides(
        &self,
        terms: &mut Terms,
        sum: Sum,
        width: u32,
        sides: &mut u32,
        make: &mut dyn FnMut(&mut Terms, Sum) -> TermId,
    ) -> Option<TermId> {
        if !sum.parts.contains_key(&self.base) {
            return Some(make(terms, sum));
        }
        let mut choices = sum.parts.iter();
        let choice = choices.find(|&(&part, &times)| {
            *terms.op(part) == Op::Ite && (times == 1 || times == mask(width))
        });
        let Some((&choice, &times)) = choice else {
            return Some(make(terms, sum));
        };
        *sides = sides.checked_sub(1)?;
        let [condition, then, otherwise] = terms.args(choice).try_into().ok()?;
        let mut side = |terms: &mut Terms, chosen: TermId| {
            let mut sum = sum.clone();
            sum.parts.remove(&choice);
            sum.add(terms, chosen, times, self.base, &mut false)?;
            sum.tidy(width);
            self.over_sides(terms, sum, width, sides, make)
        };
        let (then, otherwise) = (side(terms, then)?, side(terms, otherwise)?);
        Some(terms.ite(condition, then, otherwise))
    }
}

impl Sum {
    /// Adds a word so many times; `None` if there is too much of it.
    fn add(
        &mut self,
        terms: &Terms,
        term: TermId,
        times: u64,
        base: TermId,
        based: &mut bool,
    ) -> Option<()> {
        let mut work = vec![(term, times)];
        while let Some((term, times)) = work.pop() {
            if self.parts.len() + work.len() > SUMMANDS {
                return None;
            }
            *based |= term == base;
            let literal = |term: TermId| match terms.op(term) {
                Op::BitVec(bits) => bits.to_u64(),
                _ => None,
            };
            match (terms.op(term), terms.args(term)) {
                (Op::BitVec(bits), _) => {
                    let number = bits.to_u64()?;
                    self.constant = self.constant.wrapping_add(number.wrapping_mul(times));
                }
                (Op::BvAdd, args) => work.extend(args.iter().map(|&arg| (arg, times))),
                (Op::BvSub, &[a, b]) => work.extend([(a, times), (b, times.wrapping_neg())]),
                (Op::BvNeg, &[a]) => work.push((a, times.wrapping_neg())),
                (Op::BvMul, &[a, b]) if literal(a).is_some() || literal(b).is_some() => {
                    let (by, other) = match literal(a) {
                        Some(by) => (by, b),
                        None => (literal(b)?, a),
                    };
                    work.push((other, times.wrapping_mul(by)));
                }
                _ => {
                    let known = self.parts.entry(term).or_default();
                    *known = known.wrapping_add(times);
                }
            }
        }
        Some(())
    }

    /// Numbers modulo 2^w, and nothing that is there zero times.
    fn tidy(&mut self, width: u32) {
        let mask = mask(width);
        self.constant &= mask;
        self.parts.values_mut().for_each(|times| *times &= mask);
        self.parts.retain(|_, times| *times != 0);
    }

    fn term(self, terms: &mut Terms, width: u32) -> TermId {
        let mut sum = terms.bv(0, width);
        for (part, times) in self.parts {
            sum = match times {
                1 => terms.bv_add(sum, part),
                _ if times == mask(width) => terms.bv_sub(sum, part),
                _ => {
                    let times = terms.bv(i128::from(times), width);
                    let product = terms.bv_mul(times, part);
                    terms.bv_add(sum, product)
                }
            };
        }
        let constant = terms.bv(i128::from(self.constant), width);
        terms.bv_add(sum, constant)
    }
}

/// All bits of a width: one less than nothing.
fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

#[cfg(test)]
mod tests;
