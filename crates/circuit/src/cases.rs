//! Words that are one of several others: which one, conditions say.
//!
//! Where ways meet, an address is one of the few that it was on each way. As bits, each of them a
//! choice between choices, that it is a certain one, or none of some others, is found out again in
//! every question. As cases it is one condition.

use crate::graph::{Bit, Graph};
use crate::operators::operator;
use crate::words::Word;
use hardbop_logic::Op;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The words, all different, each with the condition under which it is the one. Exactly one
/// condition holds.
pub(crate) type Cases = Rc<[(Word, Bit)]>;

/// A word of more cases than this is bits.
const MOST: usize = 64;
/// So many pairs of cases are compared.
const MOST_PAIRS: usize = 2048;

/// The only case.
pub(crate) fn only(word: Word) -> Cases {
    Rc::new([(word, Bit::TRUE)])
}

fn is_constant(word: &[Bit]) -> bool {
    word.iter()
        .all(|&bit| bit == Bit::TRUE || bit == Bit::FALSE)
}

/// Collects cases: each word once.
#[derive(Default)]
struct Collected {
    cases: Vec<(Word, Bit)>,
    places: FxHashMap<Word, usize>,
}

impl Collected {
    fn add(&mut self, graph: &mut Graph, word: &Word, here: Bit) {
        if here == Bit::FALSE {
            return;
        }
        match self.places.get(word) {
            Some(&at) => {
                let before = self.cases[at].1;
                self.cases[at].1 = graph.or(before, here);
            }
            None => {
                self.places.insert(word.clone(), self.cases.len());
                self.cases.push((word.clone(), here));
            }
        }
    }

    fn done(self, graph: &mut Graph) -> Cases {
        match self.cases.len() {
            0..=MOST => self.cases.into(),
            _ => only(flat(graph, &self.cases)),
        }
    }
}

/// The bits.
pub(crate) fn flat(graph: &mut Graph, cases: &[(Word, Bit)]) -> Word {
    let [(first, _), others @ ..] = cases else {
        return Word::new();
    };
    if others.is_empty() {
        return first.clone();
    }
    if !cases.iter().all(|(word, _)| is_constant(word)) {
        let mut word = first.clone();
        for (other, here) in others {
            word = graph.choose(*here, other, &word);
        }
        return word;
    }
    (0..first.len())
        .map(|at| {
            let side = |wanted: Bit| -> Vec<Bit> {
                let cases = cases.iter().filter(|(word, _)| word[at] == wanted);
                cases.map(|&(_, here)| here).collect()
            };
            let (ones, zeros) = (side(Bit::TRUE), side(Bit::FALSE));
            match ones.len() <= zeros.len() {
                true => graph.any(&ones),
                false => !graph.any(&zeros),
            }
        })
        .collect()
}

/// The first one where the condition holds, the other one where it does not.
pub(crate) fn choose(graph: &mut Graph, condition: Bit, then: &Cases, otherwise: &Cases) -> Cases {
    if condition == Bit::TRUE || then == otherwise {
        return Rc::clone(then);
    }
    if condition == Bit::FALSE {
        return Rc::clone(otherwise);
    }
    let mut others: FxHashMap<&Word, Bit> = FxHashMap::default();
    others.extend(otherwise.iter().map(|(word, here)| (word, *here)));
    let mut all = Collected::default();
    for (word, here) in then.iter() {
        let here = match others.remove(word) {
            Some(other) => graph.ite(condition, *here, other),
            None => graph.and(condition, *here),
        };
        all.add(graph, word, here);
    }
    for (word, here) in otherwise.iter() {
        if others.contains_key(word) {
            let here = graph.and(!condition, *here);
            all.add(graph, word, here);
        }
    }
    all.done(graph)
}

/// What each of some cases leads to.
pub(crate) fn through(graph: &mut Graph, ways: &[(Bit, Cases)]) -> Cases {
    if let [(Bit::TRUE, cases)] = ways {
        return Rc::clone(cases);
    }
    let mut all = Collected::default();
    for (taken, cases) in ways {
        for (word, here) in cases.iter() {
            let here = graph.and(*taken, *here);
            all.add(graph, word, here);
        }
    }
    all.done(graph)
}

/// Whether two words are the same.
pub(crate) fn same(graph: &mut Graph, left: &Cases, right: &Cases) -> Bit {
    if left.len() == 1 && right.len() == 1 || left.len() * right.len() > MOST_PAIRS {
        let (left, right) = (flat(graph, left), flat(graph, right));
        return graph.same(&left, &right);
    }
    let mut ways = Vec::new();
    for (one, here) in left.iter() {
        for (other, there) in right.iter() {
            let both = graph.and(*here, *there);
            if both == Bit::FALSE {
                continue;
            }
            let same = graph.same(one, other);
            match graph.and(both, same) {
                Bit::FALSE => {}
                way => ways.push(way),
            }
        }
    }
    graph.any(&ways)
}

/// What an operator gives, case by case, if that is less work than with bits.
pub(crate) fn apply(graph: &mut Graph, op: &Op, args: &[Cases], width: usize) -> Option<Cases> {
    let count = args.iter().map(|cases| cases.len()).product::<usize>();
    if !(2..=MOST).contains(&count) {
        return None;
    }
    let is_known = |cases: &Cases| cases.iter().all(|(word, _)| is_constant(word));
    let worth = match op {
        Op::Extract { .. } | Op::Concat | Op::ZeroExtend(_) | Op::SignExtend(_) | Op::BvNot => true,
        // One is a number: distances.
        Op::BvAdd | Op::BvSub => args.iter().any(|arg| arg.len() == 1 && is_known(arg)),
        _ => false,
    };
    if !worth && !args.iter().all(is_known) {
        return None;
    }
    let mut all = Collected::default();
    for at in 0..count {
        let (mut rest, mut here, mut words) = (at, Bit::TRUE, Vec::new());
        for cases in args {
            let (word, taken) = &cases[rest % cases.len()];
            rest /= cases.len();
            here = graph.and(here, *taken);
            words.push(word.as_slice());
        }
        if here != Bit::FALSE {
            let word = operator(graph, op, &words, width)?;
            all.add(graph, &word, here);
        }
    }
    Some(all.done(graph))
}
