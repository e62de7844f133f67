//! What loops over arrays count to, and what they end at.

use super::address::{is_pointer, literal, shifted};
use super::walking::{Walks, steps_between};
use super::{Access, is_state};
use crate::candidates::{Hints, is_literal};
use hardbop_cfront::ids::LocId;
use hardbop_cfront::program::LocationKind;
use hardbop_logic::{Op, Sign, Sort, TermId, Terms, Value};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::steps::{End, Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// Larger terms are not where pointers start.
const SMALL: usize = 12;

/// The variables of indices of elements that loops end at.
pub(super) fn searching(
    ground: &Ground<'_, '_>,
    terms: &Terms,
    steps: &[Step],
    accesses: &[Access],
) -> BTreeSet<TermId> {
    let is_error = |at: LocId| {
        let location = &ground.semantics.program.locations[at.index()];
        matches!(location.kind, LocationKind::Error(_))
    };
    let mut found = BTreeSet::new();
    for step in steps {
        let End::At(to) = step.to else { continue };
        if step.from.is_none() || step.from == Some(to) || is_error(to) {
            continue;
        }
        let parts: BTreeSet<TermId> = terms.postorder(&[step.condition]).into_iter().collect();
        for access in accesses.iter().filter(|access| access.from == step.from) {
            if access.read.is_some_and(|read| parts.contains(&read)) {
                found.extend(terms.free_constants(&access.index));
            }
        }
    }
    found
}

/// The variables that an index lies between, as wide as it is: those of which a part is taken.
pub(super) fn between(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    index: TermId,
) -> BTreeSet<TermId> {
    let width = terms.width(index);
    let parts = terms.postorder(&[index]);
    let halved = parts.iter().any(|&part| match terms.op(part) {
        Op::BvSdiv | Op::BvUdiv | Op::BvAshr | Op::BvLshr => {
            literal(terms, terms.args(part)[1]).is_some()
        }
        _ => false,
    });
    let constants = terms.free_constants(&[index]);
    let mut found = BTreeSet::new();
    if !halved || constants.len() < 2 {
        return found;
    }
    for constant in constants {
        match (ground.constants.meaning(constant), terms.sort(constant)) {
            (Some(Meaning::Now(id)), Sort::BitVec(narrow))
                if narrow <= width && !is_pointer(ground, terms, id, constant) =>
            {
                let sign = sign_of(ground, terms, constant);
                found.insert(terms.resize(constant, width, sign));
            }
            // The place of a pointer is an index by itself.
            _ => return BTreeSet::new(),
        }
    }
    found
}

/// Where a loop that counts with an index may end: the numbers and the variables that what it is
/// made of is compared with, and what is behind that from where it counts down.
pub(super) fn ends(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    hints: &Hints,
    starts: &BTreeMap<TermId, BTreeSet<TermId>>,
    walks: &Walks,
    index: TermId,
) -> BTreeSet<TermId> {
    let width = terms.width(index);
    let mut found = BTreeSet::new();
    if let Some((pointer, more)) = walks.at(terms, index)
        && let Some(walk) = walks.of(pointer)
    {
        // A pointer goes as far as to another one: that is so many elements.
        let mut others: Vec<TermId> = hints.compared_to(pointer).collect();
        others.retain(|&other| is_state(ground, terms, other));
        for other in others {
            found.extend(steps_between(terms, walk.from, other, walk.step));
        }
        let one = terms.bv(1, width);
        for &start in starts.get(&pointer).into_iter().flatten() {
            if let Some(first) = steps_between(terms, walk.from, start, walk.step) {
                let behind = terms.bv_add(first, one);
                let more = terms.bv(more, width);
                found.insert(behind);
                found.insert(terms.bv_add(behind, more));
            }
        }
        return found;
    }
    for constant in terms.free_constants(&[index]) {
        for &literal in hints.literals_of(constant) {
            if let Some(Value::BitVec(bits)) = terms.value_of(literal)
                && let Ok(number) = i128::try_from(bits.signed())
                && number > 1
            {
                found.insert(terms.bv(number, width));
            }
        }
        for other in hints.compared_to(constant) {
            if let Sort::BitVec(narrow) = terms.sort(other)
                && narrow <= width
                && is_state(ground, terms, other)
                && !is_literal(terms, other)
            {
                let sign = sign_of(ground, terms, other);
                found.insert(terms.resize(other, width, sign));
            }
        }
        // The element that is accessed first may be one beside where the counter begins.
        let beside = beside(terms, index, constant);
        for &start in starts.get(&constant).into_iter().flatten() {
            found.insert(behind(ground, terms, start, 0, width));
            if let Some(more) = beside.filter(|&more| more != 0) {
                found.insert(behind(ground, terms, start, more, width));
            }
        }
    }
    found
}

/// The number that an index is more than a variable, widened before or after that is added.
fn beside(terms: &Terms, index: TermId, variable: TermId) -> Option<i128> {
    let (word, outside) = shifted(terms, index)?;
    let (of, inside) = match terms.op(word) {
        Op::SignExtend(_) | Op::ZeroExtend(_) => shifted(terms, terms.args(word)[0])?,
        _ => (word, 0),
    };
    (of == variable).then_some(outside + inside)
}

/// The index behind one that is so much more than a start, in a form that other indices have, too.
fn behind(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    start: TermId,
    more: i128,
    width: u32,
) -> TermId {
    let (of, number) = match literal(terms, start) {
        Some(number) => (None, number),
        None => shifted(terms, start).map_or((Some(start), 0), |(of, more)| (Some(of), more)),
    };
    let more = terms.bv(number + more + 1, width);
    match of {
        None => more,
        Some(of) => {
            let sign = sign_of(ground, terms, of);
            let of = terms.resize(of, width, sign);
            terms.bv_add(of, more)
        }
    }
}

/// Whether a word is widened with its sign: not one of unsigned variables.
fn sign_of(ground: &Ground<'_, '_>, terms: &Terms, word: TermId) -> Sign {
    let unsigned = |constant| match ground.constants.meaning(constant) {
        Some(Meaning::Now(id)) => !ground.semantics.shape(id).signed,
        _ => false,
    };
    let constants = terms.free_constants(&[word]);
    match !constants.is_empty() && constants.into_iter().all(unsigned) {
        true => Sign::Unsigned,
        false => Sign::Signed,
    }
}

/// What variables are set to, other than from themselves, where they are counted down afterwards:
/// such a loop begins with the last element.
pub(super) fn starts(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
) -> BTreeMap<TermId, BTreeSet<TermId>> {
    let mut found: BTreeMap<TermId, BTreeSet<TermId>> = BTreeMap::new();
    let mut falling = BTreeSet::new();
    for step in steps {
        let names = names(ground, terms, step);
        for (id, value) in step.state.written() {
            let variable = ground.semantics.constant(terms, id);
            if let Some((of, added)) = shifted(terms, value)
                && of == variable
                && added < 0
            {
                falling.insert(variable);
                continue;
            }
            // It is not said of itself.
            let value = match names.get(&value) {
                Some(_) => value,
                None => terms.substitute(value, &names),
            };
            if is_start(ground, terms, variable, value) {
                found.entry(variable).or_default().insert(value);
            }
        }
    }
    found.retain(|variable, _| falling.contains(variable));
    found
}

/// What is new in a step has the name of the variable that it is written to.
fn names(ground: &Ground<'_, '_>, terms: &mut Terms, step: &Step) -> BTreeMap<TermId, TermId> {
    let mut found = BTreeMap::new();
    for (id, value) in step.state.written() {
        let new = matches!(terms.op(value), Op::Constant(_))
            && matches!(terms.sort(value), Sort::BitVec(_))
            && ground.constants.meaning(value).is_none();
        if new {
            let variable = ground.semantics.constant(terms, id);
            found.entry(value).or_insert(variable);
        }
    }
    found
}

/// Whether a loop may begin to count a variable down from a value: a number, or another variable
/// and a number.
fn is_start(ground: &Ground<'_, '_>, terms: &Terms, variable: TermId, value: TermId) -> bool {
    if !matches!(terms.sort(value), Sort::BitVec(_)) {
        return false;
    }
    let pointer = match ground.constants.meaning(variable) {
        Some(Meaning::Now(id)) => is_pointer(ground, terms, id, variable),
        _ => false,
    };
    match literal(terms, value) {
        Some(number) => number > 1,
        // As many elements behind where its array begins.
        None if pointer => terms.size(value) <= SMALL && is_state(ground, terms, value),
        None => {
            let of = shifted(terms, value);
            of.is_some_and(|(of, _)| of != variable && is_state(ground, terms, of))
        }
    }
}
