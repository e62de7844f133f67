//! Words that may fall: sums, with small factors, of what a loop looks at.
//!
//! A sum is computed in a word that is wide enough for it, so it is the mathematical one. Besides
//! there are differences in the width of their operands, which wrap around: `n - i` falls where `i`
//! counts up to `n`, whichever of them is larger.

use crate::system::Sample;
use hardbop_engine::claim::Order;
use hardbop_logic::atoms_of;
use hardbop_logic::{Op, Sort, TermId, Terms};
use hardbop_semantics::constants::{Constants, Meaning};
use hardbop_semantics::layout::StateKind;
use hardbop_semantics::steps::{Ground, Step};
use std::collections::BTreeSet;

/// The most words that sums are made of.
const MOST: usize = 14;
/// Larger terms are not looked at.
const LARGE: usize = 40;
/// The most terms that are looked through for what decides something.
const VISITED: usize = 20_000;
/// So many bits more hold every sum.
const ROOM: u32 = 8;

/// Something that a loop looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Word {
    pub(crate) term: TermId,
    pub(crate) signed: bool,
    /// Whether it is a difference that wraps around: it makes no sense in sums.
    pub(crate) wraps: bool,
}

/// What may fall: words, by their numbers, with their factors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sum(pub(crate) Vec<(usize, i128)>);

impl Sum {
    /// By how much it falls in a sample.
    pub(crate) fn falls(&self, sample: &Sample) -> i128 {
        let parts = self.0.iter();
        let part =
            |&(word, factor): &(usize, i128)| factor * (sample.before[word] - sample.after[word]);
        parts.map(part).sum()
    }

    /// As a term, and how its values are compared.
    pub(crate) fn term(&self, terms: &mut Terms, words: &[Word]) -> (Order, TermId) {
        let order = |signed: bool| match signed {
            true => Order::Signed,
            false => Order::Unsigned,
        };
        if let &[(word, 1)] = self.0.as_slice() {
            let word = words[word];
            return (order(word.signed), word.term);
        }
        let widths = self
            .0
            .iter()
            .map(|&(word, _)| terms.width(words[word].term));
        let width = widths.max().unwrap_or(0) + ROOM;
        let mut sum: Option<TermId> = None;
        // What is added comes first: `n - i` reads better than `-i + n`.
        let mut parts = self.0.clone();
        parts.sort_by_key(|&(_, factor)| factor < 0);
        for (word, factor) in parts {
            let Word { term, signed, .. } = words[word];
            let by = width - terms.width(term);
            let wide = match signed {
                true => terms.sign_extend(term, by),
                false => terms.zero_extend(term, by),
            };
            let size = match factor.unsigned_abs() {
                1 => wide,
                times => {
                    let times = terms.bv(times as i128, width);
                    terms.bv_mul(times, wide)
                }
            };
            sum = Some(match (sum, factor < 0) {
                (None, false) => size,
                (None, true) => terms.bv_neg(size),
                (Some(sum), false) => terms.bv_add(sum, size),
                (Some(sum), true) => terms.bv_sub(sum, size),
            });
        }
        let sum = sum.unwrap_or_else(|| terms.bv(0, width));
        (Order::Signed, sum)
    }
}

/// The words that some steps look at, those in conditions first.
pub(crate) fn words(ground: &Ground<'_, '_>, terms: &mut Terms, steps: &[&Step]) -> Vec<Word> {
    let mut found = Vec::new();
    let conditions = decisions(ground, terms, steps);
    let mut differences = Vec::new();
    let mut compared = Vec::new();
    for atom in atoms_of(terms, &conditions) {
        let &[a, b] = terms.args(atom) else {
            continue;
        };
        let signed = match terms.op(atom) {
            Op::BvSlt | Op::BvSle => true,
            Op::BvUlt | Op::BvUle | Op::Eq => false,
            _ => continue,
        };
        if !matches!(terms.sort(a), Sort::BitVec(2..=64)) {
            continue;
        }
        for side in [a, b] {
            leaves(ground, terms, side, signed, &mut found);
        }
        let about = |term| is_about_state(ground.constants, terms, term);
        let literal = |term| terms.value_of(term).is_some();
        if (about(a) || literal(a)) && (about(b) || literal(b)) {
            differences.extend([(b, a), (a, b)]);
            if *terms.op(atom) != Op::Eq && compared.len() < MOST {
                compared.extend([(b, a, signed), (a, b, signed)]);
            }
        }
    }
    // What changes what is looked at.
    let mut next = 0;
    while next < found.len() && found.len() < MOST {
        let word = found[next];
        next += 1;
        for constant in terms.free_constants(&[word.term]) {
            let Some(Meaning::Now(id)) = ground.constants.meaning(constant) else {
                continue;
            };
            for step in steps {
                if let Some(value) = step.state.written_to(id) {
                    leaves(ground, terms, value, word.signed, &mut found);
                }
            }
        }
    }
    found.truncate(MOST);
    let mut all = Vec::new();
    let add = |terms: &Terms, all: &mut Vec<Word>, term: TermId| {
        let word = Word {
            term,
            signed: false,
            wraps: true,
        };
        if terms.value_of(term).is_none() && !all.contains(&word) {
            all.push(word);
        }
    };
    for &(a, b) in differences.iter().take(2 * MOST) {
        let difference = terms.bv_sub(a, b);
        add(terms, &mut all, difference);
    }
    all.extend(found.iter().copied());
    for word in &found {
        let negated = terms.bv_neg(word.term);
        for term in [word.term, negated] {
            add(terms, &mut all, term);
        }
    }
    for word in found.iter().filter(|word| word.signed) {
        for term in clamps(terms, word.term) {
            add(terms, &mut all, term);
        }
    }
    for (a, b, signed) in compared {
        let distance = distance(terms, a, b, signed);
        add(terms, &mut all, distance);
    }
    all
}

/// How far a word is above another one that it is compared with, zero if it is not: it falls where
/// they come nearer to each other, and nothing happens to it while the other one is larger.
fn distance(terms: &mut Terms, a: TermId, b: TermId, signed: bool) -> TermId {
    let above = match signed {
        true => terms.bv_slt(b, a),
        false => terms.bv_ult(b, a),
    };
    let difference = terms.bv_sub(a, b);
    let zero = terms.bv(0, terms.width(a));
    terms.ite(above, difference, zero)
}

/// How far a signed word is above zero, how far below, and how far away: one of them falls where the
/// word comes nearer to zero and may do something else beyond.
fn clamps(terms: &mut Terms, word: TermId) -> [TermId; 3] {
    let zero = terms.bv(0, terms.width(word));
    let negated = terms.bv_neg(word);
    let positive = terms.bv_slt(zero, word);
    let negative = terms.bv_slt(word, zero);
    [
        terms.ite(positive, word, zero),
        terms.ite(negative, negated, zero),
        terms.ite(negative, negated, word),
    ]
}

/// What decides something in steps: their conditions, and those by which values differ where
/// branches met.
pub(crate) fn decisions(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[&Step],
) -> Vec<TermId> {
    let mut found: Vec<TermId> = steps.iter().map(|step| step.condition).collect();
    let mut values = Vec::new();
    for step in steps {
        for (id, value) in step.state.written() {
            let kind = ground.semantics.layout.get(id).kind;
            if matches!(kind, StateKind::Cell { .. }) {
                values.push(value);
            }
        }
    }
    for term in terms.postorder(&values).into_iter().take(VISITED) {
        if *terms.op(term) == Op::Ite {
            found.push(terms.args(term)[0]);
        }
    }
    found
}

/// Whether a term speaks of the state now and of nothing else.
fn is_about_state(constants: &Constants, terms: &Terms, term: TermId) -> bool {
    terms.size(term) <= LARGE
        && constants.support(terms, term).is_some_and(|support| {
            !support.is_empty() && support.iter().all(|m| matches!(m, Meaning::Now(_)))
        })
}

/// What a term is the sum of.
fn leaves(
    ground: &Ground<'_, '_>,
    terms: &Terms,
    term: TermId,
    signed: bool,
    found: &mut Vec<Word>,
) {
    let mut work = vec![term];
    let mut seen = BTreeSet::new();
    while let Some(term) = work.pop() {
        if !seen.insert(term) || seen.len() > LARGE {
            continue;
        }
        match terms.op(term) {
            Op::BvAdd | Op::BvSub | Op::BvNeg | Op::BvNot | Op::BvMul => {
                work.extend(terms.args(term))
            }
            Op::SignExtend(_) | Op::ZeroExtend(_) | Op::Extract { .. } | Op::Concat => {
                work.extend(terms.args(term));
            }
            Op::Ite => work.extend(&terms.args(term)[1..]),
            Op::BitVec(_) => {}
            Op::Constant(_) => {
                let Some(Meaning::Now(id)) = ground.constants.meaning(term) else {
                    continue;
                };
                let variable = ground.semantics.layout.get(id);
                let cell = matches!(variable.kind, StateKind::Cell { .. });
                if cell && matches!(terms.sort(term), Sort::BitVec(1..=64)) {
                    let signed = ground.semantics.shape(id).signed;
                    push(found, term, signed);
                }
            }
            _ => {
                if is_about_state(ground.constants, terms, term)
                    && matches!(terms.sort(term), Sort::BitVec(2..=64))
                {
                    push(found, term, signed);
                }
            }
        }
    }
}

fn push(found: &mut Vec<Word>, term: TermId, signed: bool) {
    if !found.iter().any(|word| word.term == term) {
        found.push(Word {
            term,
            signed,
            wraps: false,
        });
    }
}

/// The sums that may fall, the simplest ones first.
pub(crate) fn sums(words: &[Word]) -> Vec<Sum> {
    let plain: Vec<usize> = (0..words.len()).filter(|&i| !words[i].wraps).collect();
    let mut found = Vec::new();
    for (i, word) in words.iter().enumerate() {
        found.push(Sum(vec![(i, 1)]));
        if !word.wraps {
            found.push(Sum(vec![(i, -1)]));
        }
    }
    const PAIRS: [(i128, i128); 12] = [
        (1, -1),
        (-1, 1),
        (1, 1),
        (-1, -1),
        (2, 1),
        (1, 2),
        (2, -1),
        (-1, 2),
        (-2, 1),
        (1, -2),
        (-2, -1),
        (-1, -2),
    ];
    for pair in PAIRS {
        for (at, &i) in plain.iter().enumerate() {
            for &j in &plain[at + 1..] {
                found.push(Sum(vec![(i, pair.0), (j, pair.1)]));
            }
        }
    }
    for signs in 0..8u32 {
        let sign = |bit: u32| if signs >> bit & 1 == 0 { 1 } else { -1 };
        for (at, &i) in plain.iter().enumerate() {
            for (beside, &j) in plain.iter().enumerate().skip(at + 1) {
                for &k in &plain[beside + 1..] {
                    found.push(Sum(vec![(i, sign(0)), (j, sign(1)), (k, sign(2))]));
                }
            }
        }
    }
    found
}
