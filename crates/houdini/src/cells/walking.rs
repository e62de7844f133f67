//! Pointers that walk through arrays, and which element each of them is at.
//!
//! A pointer that is only ever set into one array, and moved from there, is at the element as many
//! steps behind the beginning as it has moved. That number is an index like any other: what is said
//! of `a[i]` is said of `*p`.

use super::address::{difference, gcd, is_pointer, sum};
use crate::candidates::Variable;
use hardbop_logic::{Op, TermId, Terms};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::steps::{Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// Larger steps are not taken from one element to the next.
const STEP: i128 = 4096;
/// The most ways to set a pointer that one choice of values may stand for.
const CHOICES: usize = 16;

/// The walk of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Where the array begins that it walks through.
    pub from: TermId,
    /// How far elements lie apart: a power of two.
    pub step: i128,
    /// The number of the element that it is at.
    pub index: TermId,
}

/// The pointers that walk.
#[derive(Clone, Debug, Default)]
pub struct Walks {
    of: BTreeMap<TermId, Walk>,
}

/// From where a pointer is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// From another pointer.
    Pointer(TermId),
    /// To a fixed address.
    Fixed(TermId),
    /// From something else.
    Unknown,
}

/// How a pointer is set.
#[derive(Debug, Default)]
struct Sets {
    sources: BTreeSet<Source>,
    /// The greatest common divisor of how far it moves, if it does.
    moves: u128,
}

impl Walks {
    /// Finds the pointers that walk; `copies` are those that are only ever set to one thing.
    pub fn new(
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        steps: &[Step],
        copies: &BTreeMap<TermId, TermId>,
    ) -> Walks {
        let sets = sets(ground, terms, steps);
        let mut walks = Walks::default();
        for &pointer in sets.keys() {
            let Some((from, step)) = origin(&sets, pointer) else {
                continue;
            };
            let from = terms.substitute(from, copies);
            let step = i128::try_from(step).unwrap_or(0);
            if step.count_ones() != 1 || step > STEP || from == pointer {
                continue;
            }
            if let Some(index) = steps_between(terms, from, pointer, step) {
                walks.of.insert(pointer, Walk { from, step, index });
            }
        }
        walks
    }

    /// The walk of a pointer, if it walks.
    pub fn of(&self, pointer: TermId) -> Option<Walk> {
        self.of.get(&pointer).copied()
    }

    /// All walks, by their pointers.
    pub fn all(&self) -> impl Iterator<Item = (TermId, Walk)> + '_ {
        self.of.iter().map(|(&pointer, &walk)| (pointer, walk))
    }

    /// Whether no pointer walks.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The pointer whose place an index is, with the number that is added to it.
    pub fn at(&self, terms: &Terms, index: TermId) -> Option<(TermId, i128)> {
        let constants = terms.free_constants(&[index]);
        self.all().find_map(|(pointer, walk)| {
            if !constants.contains(&pointer) {
                return None;
            }
            let (apart, number) = difference(sum(terms, index)?, &sum(terms, walk.index)?);
            apart.is_empty().then_some((pointer, number))
        })
    }

    /// Names for the places of pointers, and what these are.
    pub fn named(&self, terms: &mut Terms) -> Vec<(TermId, Variable)> {
        let mut found = Vec::new();
        for (pointer, walk) in self.all() {
            let sort = terms.sort(walk.index);
            let constant = terms.constant(&format!("#place {pointer:?}"), sort);
            let variable = Variable::unsigned(terms, constant, walk.index);
            found.push((pointer, variable));
        }
        found
    }
}

/// How many steps it is from one address to another one, if these are words of one width: without
/// a division where that is plain.
pub fn steps_between(terms: &mut Terms, from: TermId, to: TermId, step: i128) -> Option<TermId> {
    if terms.sort(from) != terms.sort(to) {
        return None;
    }
    let width = terms.width(to);
    let (apart, number) = difference(sum(terms, to)?, &sum(terms, from)?);
    if step > 1 && (number % step != 0 || apart.values().any(|factor| factor % step != 0)) {
        let bytes = terms.bv_sub(to, from);
        let bits = terms.bv(i128::from(step.trailing_zeros()), width);
        return Some(terms.bv_ashr(bytes, bits));
    }
    let mut found = terms.bv(number / step, width);
    // First what is added, so that a difference is written as one.
    let mut parts: Vec<(TermId, i128)> = apart.into_iter().collect();
    parts.sort_by_key(|&(term, factor)| (factor < 0, term));
    for (term, factor) in parts {
        let times = terms.bv(factor.abs() / step, width);
        let part = terms.bv_mul(times, term);
        found = match factor < 0 {
            true => terms.bv_sub(found, part),
            false => terms.bv_add(found, part),
        };
    }
    Some(found)
}

/// A pointer that a step sets, and to what.
#[derive(Clone, Copy, Debug)]
struct Set {
    pointer: TermId,
    value: TermId,
}

/// How pointers are set, by their constants.
fn sets(ground: &Ground<'_, '_>, terms: &mut Terms, steps: &[Step]) -> BTreeMap<TermId, Sets> {
    let mut found: BTreeMap<TermId, Sets> = BTreeMap::new();
    let mut by_step: Vec<Vec<Set>> = Vec::new();
    for step in steps {
        let mut set = Vec::new();
        for (id, value) in step.state.written() {
            let pointer = ground.semantics.constant(terms, id);
            if value != pointer && is_pointer(ground, terms, id, pointer) {
                set.push(Set { pointer, value });
            }
        }
        by_step.push(set);
    }
    for &Set { pointer, value } in by_step.iter().flatten() {
        let here = found.entry(pointer).or_default();
        for value in choices(terms, value) {
            if let Some((mut summands, number)) = sum(terms, value)
                && summands.remove(&pointer) == Some(1)
            {
                let by = summands.values().chain([&number]);
                here.moves = by.fold(here.moves, |all, by| gcd(all, by.unsigned_abs()));
            }
        }
    }
    for set in &by_step {
        // What is new in a step has the name of the pointer that it is set to as well.
        let fixed = set.iter().filter(|set| found[&set.pointer].moves == 0);
        let fixed: Vec<Set> = fixed.copied().collect();
        for &Set { pointer, value } in set {
            let sources = match named(ground, terms, pointer, value, &fixed) {
                Some(other) => BTreeSet::from([Source::Pointer(other)]),
                None => {
                    let values = choices(terms, value).into_iter();
                    let sources = values.filter_map(|at| source(ground, terms, pointer, at));
                    sources.collect()
                }
            };
            found.entry(pointer).or_default().sources.extend(sources);
        }
    }
    found
}

/// The values that one may be, whatever its conditions are.
fn choices(terms: &mut Terms, value: TermId) -> BTreeSet<TermId> {
    let mut found = BTreeSet::from([value]);
    while found.len() < CHOICES {
        let choice = found.iter().find_map(|&value| {
            let parts = terms.postorder(&[value]);
            let choice = parts.iter().rev().find(|&&part| *terms.op(part) == Op::Ite);
            choice.map(|&choice| (value, choice))
        });
        let Some((value, choice)) = choice else {
            break;
        };
        found.remove(&value);
        let sides = [1, 2].map(|side| terms.args(choice)[side]);
        for side in sides {
            found.insert(terms.substitute(value, &BTreeMap::from([(choice, side)])));
        }
    }
    found
}

/// What an address begins with: pointers and the origin.
fn bases(ground: &Ground<'_, '_>, terms: &Terms, summands: &BTreeMap<TermId, i128>) -> Vec<TermId> {
    let is_base = |&(&term, &factor): &(&TermId, &i128)| {
        factor == 1
            && match ground.constants.meaning(term) {
                Some(Meaning::Origin) => true,
                Some(Meaning::Now(id)) => is_pointer(ground, terms, id, term),
                _ => false,
            }
    };
    let bases = summands.iter().filter(is_base);
    bases.map(|(&term, _)| term).collect()
}

/// From where a value of a pointer comes, if not from itself, and if that is anywhere.
fn source(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    pointer: TermId,
    value: TermId,
) -> Option<Source> {
    let Some((summands, number)) = sum(terms, value) else {
        return Some(Source::Unknown);
    };
    if summands.get(&pointer) == Some(&1) || summands.is_empty() && number == 0 {
        return None;
    }
    Some(match bases(ground, terms, &summands)[..] {
        [base] => match ground.constants.meaning(base) {
            // So many elements behind where an array begins.
            Some(Meaning::Origin) if summands.len() > 1 => {
                let number = terms.bv(number, terms.width(value));
                Source::Fixed(terms.bv_add(base, number))
            }
            Some(Meaning::Origin) => Source::Fixed(value),
            _ => Source::Pointer(base),
        },
        _ => Source::Unknown,
    })
}

/// The other pointer that is set to the same in a step, or to less by a number of elements. Of
/// those that are set to the same, this is the first.
fn named(
    ground: &Ground<'_, '_>,
    terms: &Terms,
    pointer: TermId,
    value: TermId,
    others: &[Set],
) -> Option<TermId> {
    let own = sum(terms, value)?;
    if !bases(ground, terms, &own.0).is_empty() {
        return None;
    }
    let moves = !others.iter().any(|other| other.pointer == pointer);
    let mut found: Option<(usize, TermId)> = None;
    for other in others.iter().filter(|other| other.pointer != pointer) {
        let Some(its) = sum(terms, other.value) else {
            continue;
        };
        let parts = its.0.len();
        let (rest, apart) = difference(its, &own);
        let same = rest.is_empty() && apart == 0;
        let counted = |(&part, &factor): (&TermId, &i128)| factor < 0 && is_counted(terms, part);
        let first = moves || !same || other.pointer < pointer;
        if parts > 0 && first && rest.iter().all(counted) && found.is_none_or(|it| parts > it.0) {
            found = Some((parts, other.pointer));
        }
    }
    found.map(|(_, other)| other)
}

/// Whether a word is a variable or an input, widened or not.
fn is_counted(terms: &Terms, mut word: TermId) -> bool {
    while let Op::SignExtend(_) | Op::ZeroExtend(_) = terms.op(word) {
        word = terms.args(word)[0];
    }
    matches!(terms.op(word), Op::Constant(_))
}

/// Where a pointer comes from that walks, or that is set from one that does, and in which steps.
fn origin(sets: &BTreeMap<TermId, Sets>, pointer: TermId) -> Option<(TermId, u128)> {
    let mut from: BTreeSet<TermId> = BTreeSet::new();
    let mut step = 0;
    let mut seen = BTreeSet::new();
    let mut work = vec![pointer];
    while let Some(at) = work.pop() {
        if !seen.insert(at) {
            continue;
        }
        let here = sets.get(&at);
        let moves = here.map_or(0, |here| here.moves);
        let single = here.filter(|here| here.sources.len() == 1);
        let single = single.and_then(|here| here.sources.first());
        let followed = moves > 0 || at == pointer || matches!(single, Some(Source::Pointer(_)));
        let Some(here) = here.filter(|_| followed) else {
            from.insert(at);
            continue;
        };
        step = gcd(step, moves);
        if here.sources.is_empty() {
            from.insert(at);
        }
        for source in &here.sources {
            match *source {
                Source::Pointer(other) => work.push(other),
                Source::Fixed(address) => {
                    from.insert(address);
                }
                Source::Unknown => return None,
            }
        }
    }
    match from.len() {
        1 => Some((from.pop_first()?, step)).filter(|&(_, step)| step > 0),
        _ => None,
    }
}
