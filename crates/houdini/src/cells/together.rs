//! Counters that move together: one of them told by the other.
//!
//! A loop that reads with one index and writes with another one moves both. What it has written is a
//! fact about one index only where the other one is computed from it.

use super::address::shifted;
use super::walking::Walks;
use hardbop_logic::{Op, Sign, Sort, TermId, Terms};
use hardbop_semantics::steps::{Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// The most ways to tell one variable by others.
const WAYS: usize = 12;

/// A variable told by another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Told {
    /// By which one.
    pub by: TermId,
    /// The variable, ...
    pub variable: TermId,
    /// ... and what it is then.
    pub value: TermId,
}

/// What counters are, told by those that move one at a time in the same steps: from where both
/// begin, as many times as far as they move.
pub(super) fn together(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
    walks: &Walks,
) -> Vec<Told> {
    // Pairs of counters, with how far both move.
    let mut pace: BTreeMap<(TermId, TermId), (i128, i128)> = BTreeMap::new();
    for step in steps {
        let mut moved = Vec::new();
        for (id, value) in step.state.written() {
            let variable = ground.semantics.constant(terms, id);
            if let Some((of, by)) = shifted(terms, value)
                && of == variable
                && by != 0
            {
                moved.push((variable, by));
            }
        }
        let one = |first: TermId, by: i128| match walks.of(first) {
            Some(walk) => by.abs() == walk.step,
            None => by.abs() == 1,
        };
        for &(first, by) in moved.iter().filter(|&&(first, by)| one(first, by)) {
            for &(second, more) in moved.iter().filter(|(other, _)| *other != first) {
                if terms.sort(first) == terms.sort(second) || walks.of(first).is_some() {
                    pace.entry((first, second)).or_insert((by, more));
                }
            }
        }
    }
    let mut found: BTreeSet<Told> = BTreeSet::new();
    for (&(by, variable), &(one, more)) in &pace {
        // Two pointers that began with the first elements of their arrays.
        if let (Some(walk), Some(other)) = (walks.of(by), walks.of(variable)) {
            let pace = terms.bv(one.signum() * more, terms.width(walk.index));
            let moved = terms.bv_mul(pace, walk.index);
            let value = terms.bv_add(other.from, moved);
            found.insert(Told {
                by,
                variable,
                value,
            });
        }
    }
    for (&(by, variable), &(one, more)) in &pace {
        for step in steps {
            let begins = |terms: &mut Terms, of: TermId| {
                let mut written = step.state.written();
                let value = written.find_map(|(id, value)| {
                    (ground.semantics.constant(terms, id) == of).then_some(value)
                })?;
                let speaks = terms.free_constants(&[value]);
                let plain = matches!(terms.sort(value), Sort::BitVec(_));
                let moves = speaks.contains(&by) || speaks.contains(&variable);
                let known = speaks
                    .iter()
                    .all(|&at| ground.constants.meaning(at).is_some());
                let reads = |&part: &TermId| *terms.op(part) == Op::Select;
                let simple = terms.size(value) <= 4 && !terms.postorder(&[value]).iter().any(reads);
                (plain && !moves && known && simple).then_some(value)
            };
            let [first, Some(second)] = [by, variable].map(|of| begins(terms, of)) else {
                continue;
            };
            let rounds = match (walks.of(by), first) {
                // It has passed as many elements as there were rounds.
                (Some(walk), _) => match terms.sort(variable) {
                    Sort::BitVec(width) if width <= terms.width(walk.index) => {
                        terms.resize(walk.index, width, Sign::Unsigned)
                    }
                    _ => continue,
                },
                (None, Some(first)) => terms.bv_sub(by, first),
                (None, None) => continue,
            };
            // What does not walk moves by one.
            let pace = terms.bv(one.signum() * more, terms.width(rounds));
            let moved = terms.bv_mul(pace, rounds);
            let value = terms.bv_add(second, moved);
            found.insert(Told {
                by,
                variable,
                value,
            });
        }
    }
    found.into_iter().take(WAYS).collect()
}

/// A term in which a variable is told by another one, in every way.
pub(super) fn told(terms: &mut Terms, ways: &[Told], by: &[TermId], term: TermId) -> Vec<TermId> {
    let mut found = vec![term];
    for way in ways.iter().filter(|way| by.contains(&way.by)) {
        // Another counter of the same element is no news.
        if by.contains(&way.variable) {
            continue;
        }
        let said = terms.substitute(term, &BTreeMap::from([(way.variable, way.value)]));
        if !found.contains(&said) {
            found.push(said);
        }
    }
    found
}
