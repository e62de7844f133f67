//! What the program compares: predicates over the state that clauses may speak of besides bits.
//!
//! A range of numbers, or that two words are equal, takes many clauses about bits and one about a
//! comparison. The comparisons are those of the steps, where they are about the state alone, and
//! what they were before a step wrote one of their words: `token == local + 9` after `token++` is
//! `token + 1 == local + 9` before it.

use hardbop_logic::{Op, Sort, TermId, Terms};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Larger terms are no predicates.
const LARGEST: u32 = 12;
/// The most values that a word is followed to.
const VALUES: usize = 8;
/// The most comparisons that are found by going back from one.
const BEFORE: u32 = 24;

/// Collects comparisons between words of the state.
pub struct Comparisons<'a> {
    /// The constants that words of the state are.
    words: &'a BTreeSet<TermId>,
    /// The sizes of terms that are about the state alone, and small.
    sizes: FxHashMap<TermId, Option<u32>>,
    /// What words are given by steps, besides what they are.
    given: BTreeMap<TermId, BTreeSet<TermId>>,
    /// What was found.
    pub found: BTreeSet<TermId>,
}

impl<'a> Comparisons<'a> {
    /// None yet.
    pub fn new(words: &'a BTreeSet<TermId>) -> Comparisons<'a> {
        Comparisons {
            words,
            sizes: FxHashMap::default(),
            given: BTreeMap::new(),
            found: BTreeSet::new(),
        }
    }

    /// Adds what is compared in the value that a step gives to a word, and the value.
    pub fn add_value(&mut self, terms: &Terms, word: TermId, value: TermId) {
        self.add(terms, value);
        let mut seen = BTreeSet::new();
        let mut work = vec![value];
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            let args = terms.args(value);
            if *terms.op(value) == Op::Ite {
                work.extend(&args[1..]);
            } else if value != word && self.sizes.get(&value).copied().flatten().is_some() {
                let given = self.given.entry(word).or_default();
                if given.len() < VALUES {
                    given.insert(value);
                }
            }
        }
    }

    /// Adds what the comparisons were before a step wrote one of their words.
    pub fn go_back(&mut self, terms: &mut Terms) {
        let first: Vec<TermId> = self.found.iter().copied().collect();
        for root in first {
            let mut queue = VecDeque::from([root]);
            let mut left = BEFORE;
            while let Some(predicate) = queue.pop_front() {
                for word in terms.free_constants(&[predicate]) {
                    let given = self.given.get(&word).cloned().unwrap_or_default();
                    for value in given {
                        let before = terms.substitute(predicate, &BTreeMap::from([(word, value)]));
                        let known = self.found.len();
                        self.add(terms, before);
                        // One that is new, and no other one.
                        if self.found.len() == known || !self.found.contains(&before) {
                            continue;
                        }
                        left = left.saturating_sub(1);
                        if left == 0 {
                            break;
                        }
                        queue.push_back(before);
                    }
                }
                if left == 0 {
                    break;
                }
            }
        }
    }

    /// Adds what is compared in some terms.
    pub fn add(&mut self, terms: &Terms, root: TermId) {
        let mut stack = vec![(root, false)];
        while let Some((term, is_below)) = stack.pop() {
            if self.sizes.contains_key(&term) {
                continue;
            }
            if !is_below {
                stack.push((term, true));
                stack.extend(terms.args(term).iter().map(|&part| (part, false)));
                continue;
            }
            let size = self.size(terms, term);
            self.sizes.insert(term, size);
            if size.is_some() && is_comparison(terms, term) {
                self.found.insert(term);
            }
        }
    }

    fn size(&self, terms: &Terms, term: TermId) -> Option<u32> {
        match terms.op(term) {
            Op::Constant(_) => return self.words.contains(&term).then_some(1),
            Op::Forall(_) | Op::Exists(_) | Op::Select | Op::Apply(_) | Op::Float(_) => {
                return None;
            }
            // A choice is more than a comparison.
            Op::Ite => return None,
            _ => {}
        }
        let mut size = 1;
        for part in terms.args(term) {
            size += (*self.sizes.get(part)?)?;
        }
        (size <= LARGEST).then_some(size)
    }
}

/// Whether a term compares words of more than one bit.
fn is_comparison(terms: &Terms, term: TermId) -> bool {
    let compares = matches!(
        terms.op(term),
        Op::Eq | Op::BvUlt | Op::BvUle | Op::BvSlt | Op::BvSle
    );
    let mut args = terms.args(term).iter();
    compares && args.all(|&part| matches!(terms.sort(part), Sort::BitVec(width) if width > 1))
}
