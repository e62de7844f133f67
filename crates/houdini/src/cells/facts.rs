//! What may hold of the element at an arbitrary index: the program's conditions about elements, and
//! what it stores, said of that one.

use super::{Access, ArrayId, Cells, is_state, root};
use crate::cells::address::{literal, shifted};
use crate::cells::together::{together, told};
use crate::cells::walking::{Walk, Walks};
use hardbop_cfront::ids::LocId;
use hardbop_cfront::program::LocationKind;
use hardbop_logic::atoms_of;
use hardbop_logic::{Op, Sign, TermId, Terms};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::steps::{End, Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// Larger formulas are not looked at.
const LARGE: usize = 80;

/// With so many properties, conditions that have nothing to do with violations are not looked at.
const ENOUGH: usize = 4;
/// How many loops one after the other may compute with an element, ...
const ROUNDS: usize = 4;
/// ... and the most values that elements of one array may have then.
const VALUES: usize = 6;
/// Conditions of whole steps are looked at if they are no larger than this.
const SMALL: usize = 40;

/// The properties of the elements of an array, those that say most first.
pub(super) fn properties(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
    accesses: &[Access],
    (array, index): (ArrayId, &[TermId]),
    (walks, values): (&Walks, &[TermId]),
) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut add = |terms: &Terms, property: TermId| {
        if !matches!(terms.op(property), Op::Bool(_)) && seen.insert(property) {
            found.push(property);
        }
    };
    let own: Vec<&Access> = accesses.iter().filter(|a| a.array == array).collect();
    let conditions = violations(ground, terms, steps);
    let mut all: Vec<TermId> = steps.iter().map(|step| step.condition).collect();
    all.extend(choices(terms, steps));
    let atoms = atoms_of(terms, &all);
    let violated = conditions.clone();
    let together = together(ground, terms, steps, walks);
    for formula in conditions {
        for property in said_of(ground, terms, walks, &own, index, formula) {
            let opposite = terms.not(property);
            add(terms, opposite);
        }
    }
    for &value in values {
        let element = own[0].element(terms, index);
        if terms.sort(element) == terms.sort(value) {
            let property = terms.eq(element, value);
            add(terms, property);
        }
    }
    for access in &own {
        let (Some(value), Some(way)) = (
            access.written,
            Way::new(ground, terms, walks, access, index),
        ) else {
            continue;
        };
        if terms.postorder(&[value]).len() > LARGE {
            continue;
        }
        for value in told(terms, &together, &way.counters(), value) {
            if let Some(value) = way.said(ground, terms, value) {
                let element = access.element(terms, index);
                let property = terms.eq(element, value);
                add(terms, property);
            }
        }
    }
    // What is new, and comes to two arrays in one step.
    for access in &own {
        let twins = accesses.iter().filter(|twin| {
            twin.array != array && twin.from == access.from && twin.written == access.written
        });
        let (Some(value), Some(way)) = (
            access.written,
            Way::new(ground, terms, walks, access, index),
        ) else {
            continue;
        };
        if !matches!(terms.op(value), Op::Constant(_)) || is_state(ground, terms, value) {
            continue;
        }
        for twin in twins {
            let other = twin.element(terms, &twin.index);
            if let Some(other) = way.said(ground, terms, other) {
                let element = access.element(terms, index);
                let property = terms.eq(element, other);
                add(terms, property);
            }
        }
    }
    // What is written at one index, whatever the index is.
    for access in &own {
        if let Some(value) = access.written
            && is_state(ground, terms, value)
            && literal(terms, value).is_none()
            && terms.size(value) <= SMALL
        {
            let element = access.element(terms, index);
            let property = terms.eq(element, value);
            add(terms, property);
        }
    }
    // A number at one index may be the first of a row.
    for access in &own {
        if let (Some(value), &[at], &[word]) = (access.written, &access.index[..], index)
            && let Some(at) = literal(terms, at)
            && let Some(number) = literal(terms, value)
        {
            let element = access.element(terms, index);
            let width = terms.width(element);
            let index = terms.resize(word, width, Sign::Signed);
            let more = terms.bv(number - at, width);
            let row = terms.bv_add(index, more);
            let property = terms.eq(element, row);
            add(terms, property);
        }
    }
    // What one array is filled with may come to another one.
    let width = own.first().map(|access| {
        let element = access.element(terms, index);
        terms.width(element)
    });
    for access in accesses {
        if let Some(value) = access.written
            && literal(terms, value).is_some()
            && Some(terms.width(value)) == width
        {
            let element = own[0].element(terms, index);
            let property = terms.eq(element, value);
            add(terms, property);
        }
    }
    // What is asked of an input that is put into an element is known of that.
    for &atom in &atoms {
        for property in said_of_inputs(ground, terms, walks, &own, index, atom) {
            let opposite = terms.not(property);
            add(terms, property);
            add(terms, opposite);
        }
    }
    // The order of elements is made by comparing them.
    let compared = violated
        .iter()
        .any(|&formula| reads_of(terms, &own, formula) > 1);
    if found.len() >= ENOUGH && !compared {
        return found;
    }
    let mut add = |terms: &Terms, property: TermId| {
        if !matches!(terms.op(property), Op::Bool(_)) && !found.contains(&property) {
            found.push(property);
        }
    };
    for atom in atoms {
        for property in said_of(ground, terms, walks, &own, index, atom) {
            let opposite = terms.not(property);
            add(terms, property);
            add(terms, opposite);
        }
    }
    found
}

/// The conditions on which it depends what steps write to variables: an index of the largest
/// element, say.
fn choices(terms: &Terms, steps: &[Step]) -> Vec<TermId> {
    let written = steps.iter().flat_map(|step| step.state.written());
    let written: Vec<TermId> = written.map(|(_, value)| value).collect();
    let parts = terms.postorder(&written).into_iter();
    let choices = parts.filter(|&part| *terms.op(part) == Op::Ite);
    choices.map(|part| terms.args(part)[0]).collect()
}

/// What the elements of each array may be after some loops, as terms over the arbitrary indices:
/// what is stored, with what is known in the places of the elements that it is computed from.
pub(super) fn values(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    accesses: &[Access],
    cells: &Cells,
) -> Vec<Vec<TermId>> {
    let mut found: Vec<Vec<TermId>> = vec![Vec::new(); cells.arrays.len()];
    let writes: Vec<&Access> = accesses
        .iter()
        .filter(|access| access.written.is_some())
        .collect();
    for _ in 0..ROUNDS {
        for access in &writes {
            let index = cells.index(access.array);
            let way = Way::new(ground, terms, &cells.walks, access, &index);
            let (Some(value), Some(way)) = (access.written, way) else {
                continue;
            };
            if terms.postorder(&[value]).len() > LARGE {
                continue;
            }
            let Some(said) = way.said(ground, terms, value) else {
                continue;
            };
            let said = terms.substitute(said, &cells.copies);
            for value in with_known(ground, terms, cells, &found, (access.array, said)) {
                let here = &mut found[access.array.index()];
                if terms.size(value) <= SMALL && here.len() < VALUES && !here.contains(&value) {
                    here.push(value);
                }
            }
        }
    }
    found
}

/// A value of an array with what is known of the elements that it is computed from in their places,
/// in every way; elements of other arrays may stay what they are. Where a copy is compared, what it
/// was copied from may be dead, and what that was copied from may not.
fn with_known(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    cells: &Cells,
    known: &[Vec<TermId>],
    (of, value): (ArrayId, TermId),
) -> Vec<TermId> {
    let mut maps: Vec<BTreeMap<TermId, TermId>> = vec![BTreeMap::new()];
    for part in terms.postorder(&[value]) {
        if *terms.op(part) != Op::Select {
            continue;
        }
        let args = terms.args(part).to_vec();
        let Some((array, at)) = cells.element_at(ground, terms, args[0], args[1]) else {
            continue;
        };
        let words: BTreeMap<TermId, TermId> = cells.index(array).into_iter().zip(at).collect();
        let mut next = Vec::new();
        for map in &maps {
            // From where it was copied first: that is what is compared in the end.
            for &value in &known[array.index()] {
                let mut map = map.clone();
                map.insert(part, terms.substitute(value, &words));
                next.push(map);
            }
            if array != of {
                next.push(map.clone());
            }
        }
        next.truncate(VALUES);
        maps = next;
    }
    let values = maps.iter().map(|map| terms.substitute(value, map));
    values.collect()
}

/// A condition about an element, said of the one at the index: once for every way to see it so.
fn said_of(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    walks: &Walks,
    own: &[&Access],
    index: &[TermId],
    formula: TermId,
) -> Vec<TermId> {
    let parts: BTreeSet<TermId> = terms.postorder(&[formula]).into_iter().collect();
    if parts.len() > LARGE {
        return Vec::new();
    }
    let mut found = Vec::new();
    for access in own {
        if access.read.is_some_and(|read| parts.contains(&read))
            && let Some(way) = Way::new(ground, terms, walks, access, index)
        {
            found.extend(way.said(ground, terms, formula));
        }
    }
    // Where an index is computed from others, what is asked of that element is said of each.
    let nameless = own.iter().any(|access| {
        let read = access.read.is_some_and(|read| parts.contains(&read));
        read && Way::new(ground, terms, walks, access, index).is_none()
    });
    let least = if nameless { 1 } else { 2 };
    found.extend(half_said_of(
        ground, terms, own, index, &parts, formula, least,
    ));
    found
}

/// A condition about an input that is written to an element, said of the one at the index.
fn said_of_inputs(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    walks: &Walks,
    own: &[&Access],
    index: &[TermId],
    formula: TermId,
) -> Vec<TermId> {
    let constants = terms.free_constants(&[formula]);
    let mut found = Vec::new();
    for access in own {
        if let Some(input) = access.written.filter(|input| constants.contains(input))
            && ground.constants.meaning(input).is_none()
            && let Some(way) = Way::new(ground, terms, walks, access, index)
        {
            let element = access.element(terms, &access.index);
            if terms.sort(element) == terms.sort(input) {
                let said = terms.substitute(formula, &BTreeMap::from([(input, element)]));
                found.extend(way.said(ground, terms, said));
            }
        }
    }
    found
}

/// How many elements of an array a condition reads.
fn reads_of(terms: &Terms, own: &[&Access], formula: TermId) -> usize {
    let parts: BTreeSet<TermId> = terms.postorder(&[formula]).into_iter().collect();
    let read = own.iter().filter_map(|access| access.read);
    let read: BTreeSet<TermId> = read.filter(|read| parts.contains(read)).collect();
    read.len()
}

/// A condition about so many elements of an array, said of the one at the index and the others as
/// they are.
fn half_said_of(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    own: &[&Access],
    index: &[TermId],
    parts: &BTreeSet<TermId>,
    formula: TermId,
    least: usize,
) -> Vec<TermId> {
    let reads: BTreeSet<TermId> = own
        .iter()
        .filter_map(|access| access.read.filter(|read| parts.contains(read)))
        .collect();
    let mut found = Vec::new();
    for &read in reads.iter().filter(|_| reads.len() >= least) {
        let element = own[0].element(terms, index);
        let said = terms.substitute(formula, &BTreeMap::from([(read, element)]));
        let known = terms.free_constants(&[said]).into_iter().all(|constant| {
            index.contains(&constant) || ground.constants.meaning(constant).is_some()
        });
        if known {
            found.push(said);
        }
    }
    found
}

impl Access {
    /// Where the element at an index lies.
    pub(super) fn address(&self, terms: &mut Terms, index: &[TermId]) -> TermId {
        let mut address = self.base;
        for (&stride, &index) in self.strides.iter().zip(index) {
            let stride = terms.bv(stride.into(), terms.width(index));
            let offset = terms.bv_mul(stride, index);
            address = terms.bv_add(address, offset);
        }
        address
    }

    /// The element at an index, in the state.
    pub(super) fn element(&self, terms: &mut Terms, index: &[TermId]) -> TermId {
        let address = self.address(terms, index);
        terms.select(self.memory, address)
    }
}

/// How a formula about one element becomes one about the element at an index: the program's
/// variables stand for the indices, less a number each.
struct Way {
    variables: Vec<Stand>,
}

/// A variable that stands for an index.
struct Stand {
    variable: TermId,
    less: i128,
    index: TermId,
    /// The walk that it goes on, if it is a pointer.
    walk: Option<Walk>,
}

impl Way {
    /// The program's variables.
    fn counters(&self) -> Vec<TermId> {
        self.variables.iter().map(|stand| stand.variable).collect()
    }

    fn new(
        ground: &Ground<'_, '_>,
        terms: &Terms,
        walks: &Walks,
        access: &Access,
        index: &[TermId],
    ) -> Option<Way> {
        let mut variables: Vec<Stand> = Vec::new();
        for (&at, &index) in access.index.iter().zip(index) {
            if let Some((variable, less)) = walks.at(terms, at) {
                let walk = walks.of(variable);
                variables.push(Stand {
                    variable,
                    less,
                    index,
                    walk,
                });
                continue;
            }
            let (word, outside) = shifted(terms, at)?;
            let (variable, less) = match terms.op(word) {
                Op::SignExtend(_) | Op::ZeroExtend(_) => {
                    let (inner, inside) = shifted(terms, terms.args(word)[0])?;
                    (inner, outside + inside)
                }
                _ => (word, outside),
            };
            if !matches!(ground.constants.meaning(variable), Some(Meaning::Now(_)))
                || variables.iter().any(|stand| stand.variable == variable)
            {
                return None;
            }
            variables.push(Stand {
                variable,
                less,
                index,
                walk: None,
            });
        }
        Some(Way { variables })
    }

    /// The term with the indices in the places of the variables; `None` if it speaks of anything
    /// that is no state.
    fn said(&self, ground: &Ground<'_, '_>, terms: &mut Terms, term: TermId) -> Option<TermId> {
        // Elements are those of the state, whatever the step has written before.
        let mut map = BTreeMap::new();
        for part in terms.postorder(&[term]) {
            if *terms.op(part) == Op::Select {
                let args = terms.args(part).to_vec();
                let memory = root(ground, terms, args[0])?;
                let plain = terms.select(memory, args[1]);
                map.insert(part, plain);
            }
        }
        let term = terms.substitute(term, &map);
        let mut map = BTreeMap::new();
        for stand in &self.variables {
            stand.put(terms, term, &mut map);
        }
        let said = terms.substitute(term, &map);
        let known = terms.free_constants(&[said]).into_iter().all(|constant| {
            self.variables.iter().any(|stand| stand.index == constant)
                || ground.constants.meaning(constant).is_some()
        });
        known.then_some(said)
    }
}

impl Stand {
    /// What the index is put in the place of.
    fn put(&self, terms: &mut Terms, term: TermId, map: &mut BTreeMap<TermId, TermId>) {
        let width = terms.width(self.index);
        if let Some(walk) = self.walk {
            let less = terms.bv(self.less, width);
            let place = terms.bv_sub(self.index, less);
            map.insert(walk.index, place);
            let step = terms.bv(walk.step, width);
            let bytes = terms.bv_mul(step, place);
            map.insert(self.variable, terms.bv_add(walk.from, bytes));
            return;
        }
        let narrow = terms.width(self.variable);
        // First where the variable is widened: the index is wide.
        for part in terms.postorder(&[term]) {
            if matches!(terms.op(part), Op::SignExtend(_) | Op::ZeroExtend(_))
                && terms.width(part) == width
                && let Some((inner, more)) = shifted(terms, terms.args(part)[0])
                && inner == self.variable
            {
                let more = terms.bv(more - self.less, width);
                map.insert(part, terms.bv_add(self.index, more));
            }
        }
        let low = match narrow < width {
            true => terms.resize(self.index, narrow, Sign::Unsigned),
            false => self.index,
        };
        let less = terms.bv(self.less, narrow);
        let value = terms.bv_sub(low, less);
        map.insert(self.variable, value);
    }
}

/// Under which conditions on elements a violation is come to: the part of the condition of a step
/// that speaks of memory.
pub(crate) fn violations(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
) -> Vec<TermId> {
    let is_error = |at: LocId| {
        let location = &ground.semantics.program.locations[at.index()];
        matches!(location.kind, LocationKind::Error(_))
    };
    let (mut found, mut rest) = (Vec::new(), Vec::new());
    for step in steps {
        let End::At(to) = step.to else { continue };
        if !is_error(to) {
            continue;
        }
        let reads = |terms: &Terms, term: TermId| {
            let parts = terms.postorder(&[term]);
            parts.len() <= LARGE && parts.iter().any(|&part| *terms.op(part) == Op::Select)
        };
        let single = |terms: &Terms, term: TermId| match terms.op(term) {
            Op::And | Op::Or | Op::Ite => false,
            Op::Not => !matches!(terms.op(terms.args(term)[0]), Op::And | Op::Or | Op::Ite),
            _ => true,
        };
        let all = terms.postorder(&[step.condition]);
        let together = all.iter().filter(|&&term| *terms.op(term) == Op::And);
        for term in together
            .copied()
            .chain([step.condition])
            .collect::<Vec<_>>()
        {
            let args = match terms.op(term) {
                Op::And => terms.args(term).to_vec(),
                _ => vec![term],
            };
            let parts: Vec<TermId> = args
                .into_iter()
                .filter(|&part| single(terms, part) && reads(terms, part))
                .collect();
            found.push(terms.and(&parts));
            rest.extend(parts);
        }
        if all.len() <= SMALL {
            rest.push(step.condition);
        }
    }
    found.extend(rest);
    found.retain(|&formula| !is_state(ground, terms, formula));
    found
}
