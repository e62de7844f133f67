//! What may hold of a node: the program's conditions about nodes and what it stores in them, said of
//! the one that is any.

use super::heap::{Field, Heap, Kind, KindId, Owner, now};
use super::traces::traced;
use crate::candidates::is_literal;
use crate::cells::address::shifted;
use crate::cells::facts::violations;
use crate::cells::{root, stores};
use hardbop_cfront::types::Type;
use hardbop_logic::atoms_of;
use hardbop_logic::{Op, TermId, Terms};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::layout::StateKind;
use hardbop_semantics::ownership::IDENTITY;
use hardbop_semantics::steps::{Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// Larger formulas are not looked at.
const LARGE: usize = 60;
/// The most sizes of one kind.
const SIZES: usize = 3;
/// With more allocations, nodes are not told apart by them.
const ALLOCATIONS: usize = 4;
/// The most properties of one kind.
const PROPERTIES: usize = 12;

/// By what nodes are told apart that hold the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Apart {
    /// By nothing.
    Nothing,
    /// By the allocations that they come from, if there are few.
    Allocations,
    /// By the statements that linked them, the variables that pointed to them, and how many follow.
    Traces,
}

/// For each kind its properties, those that say most first: formulas about its arbitrary address.
pub fn properties(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    heap: &Heap,
    steps: &[Step],
    apart: Apart,
) -> Vec<Vec<TermId>> {
    let mut found = Found {
        of: vec![Vec::new(); heap.kinds.len()],
    };
    freed(ground, terms, heap, steps, &mut found);
    for formula in violations(ground, terms, steps) {
        // What is asked of a pointer beside it is said of the pointer.
        let reads = |&part: &TermId| {
            terms
                .postorder(&[part])
                .iter()
                .any(|&t| *terms.op(t) == Op::Select)
        };
        let formula = match terms.op(formula) {
            Op::And => match terms
                .args(formula)
                .iter()
                .copied()
                .filter(reads)
                .collect::<Vec<_>>()[..]
            {
                [only] => only,
                _ => formula,
            },
            _ => formula,
        };
        said(ground, terms, heap, formula, &mut found);
    }
    match apart {
        Apart::Nothing => {}
        Apart::Allocations => taken(terms, heap, &mut found),
        Apart::Traces => traced(ground, terms, heap, steps, &mut found),
    }
    for step in steps {
        for kind in &heap.kinds {
            for field in kind.fields.iter().filter(|field| field.target.is_none()) {
                stored(ground, terms, heap, step, *field, &mut found);
                beside(ground, terms, heap, step, *field, &mut found);
            }
        }
    }
    for step in steps {
        for kind in &heap.kinds {
            same(ground, terms, heap, step, &kind.fields, &mut found);
        }
    }
    let conditions: Vec<TermId> = steps.iter().map(|step| step.condition).collect();
    for atom in atoms_of(terms, &conditions) {
        said(ground, terms, heap, atom, &mut found);
    }
    if apart == Apart::Traces {
        for step in steps {
            for kind in &heap.kinds {
                for field in kind.fields.iter().filter(|field| field.target.is_none()) {
                    numbered(ground, terms, heap, step, *field, &mut found);
                }
            }
        }
    }
    for step in steps {
        for kind in &heap.kinds {
            for field in kind.fields.iter().filter(|field| field.target.is_none()) {
                ordered(ground, terms, heap, step, *field, &mut found);
            }
        }
    }
    for properties in &mut found.of {
        // What a step computes by cases says little of a node, and takes the place of what says more.
        properties.sort_by_key(|&property| has_cases(terms, property));
        properties.truncate(PROPERTIES);
    }
    found.of
}

/// Whether a formula has a choice between values in it.
fn has_cases(terms: &Terms, formula: TermId) -> bool {
    let parts = terms.postorder(&[formula]);
    parts.iter().any(|&part| *terms.op(part) == Op::Ite)
}

/// The program's conditions about what a step leaves in a variable, said of the variable: a loop
/// that changes it and then asks needs what it asks where it begins.
pub fn left(ground: &Ground<'_, '_>, terms: &mut Terms, steps: &[Step]) -> Vec<TermId> {
    let mut found = Vec::new();
    for step in steps {
        let conditions: Vec<TermId> = steps
            .iter()
            .filter(|other| other.from == step.from)
            .map(|other| other.condition)
            .collect();
        for (id, value) in step.state.written() {
            let kind = ground.semantics.layout.get(id).kind;
            if !matches!(kind, StateKind::Cell { .. }) || terms.args(value).is_empty() {
                continue;
            }
            let variable = ground.semantics.constant(terms, id);
            for atom in atoms_of(terms, &conditions) {
                let said = terms.substitute(atom, &BTreeMap::from([(value, variable)]));
                let about = terms.free_constants(&[said]);
                if about.len() == 1 && about.contains(&variable) && !found.contains(&said) {
                    found.push(said);
                }
            }
        }
    }
    found
}

/// For each kind, one more than the sizes of its nodes: what allocations write.
pub fn sizes(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    heap: &Heap,
    steps: &[Step],
) -> Vec<Vec<TermId>> {
    let mut found = vec![BTreeSet::new(); heap.kinds.len()];
    for step in steps {
        for (kind, sizes) in heap.kinds.iter().zip(&mut found) {
            let extents = kind.extents.and_then(|extents| now(ground, extents));
            let Some(extents) = extents else { continue };
            let written = step.state.get(ground.semantics, terms, extents);
            for (_, value) in stores(terms, written) {
                let leaves = leaves(terms, value).into_iter();
                sizes.extend(leaves.filter(|&leaf| is_literal(terms, leaf)));
            }
        }
    }
    let nothing = terms.bv(0, IDENTITY.width);
    let several = found.into_iter().map(|mut sizes| {
        sizes.remove(&nothing);
        sizes.into_iter().take(SIZES).collect()
    });
    several.collect()
}

pub(super) struct Found {
    of: Vec<Vec<TermId>>,
}

impl Found {
    pub(super) fn add(&mut self, terms: &mut Terms, kind: KindId, property: TermId) {
        let opposite = terms.not(property);
        let known = &mut self.of[kind.index()];
        let new = !known.contains(&property) && !known.contains(&opposite);
        if new && !is_about_the_end(terms, property) && !matches!(terms.op(property), Op::Bool(_)) {
            known.push(property);
        }
    }
}

/// Whether a formula only asks where the numbers of addresses end: a word, compared with itself and
/// something more. In a small memory that always holds, and the gate asks about all memories.
fn is_about_the_end(terms: &Terms, formula: TermId) -> bool {
    if !matches!(terms.op(formula), Op::BvUlt | Op::BvUle) {
        return false;
    }
    let sides = terms.args(formula);
    match (shifted(terms, sides[0]), shifted(terms, sides[1])) {
        (Some((a, _)), Some((b, _))) => a == b,
        _ => false,
    }
}

/// A condition about one node, said of the one that is any.
fn said(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    heap: &Heap,
    formula: TermId,
    found: &mut Found,
) {
    // What the step wrote before it asked is no part of what it asks.
    let Some(formula) = of_state(ground, terms, formula, BTreeMap::new()) else {
        return;
    };
    let parts = terms.postorder(&[formula]);
    if parts.len() > LARGE {
        return;
    }
    let mut owners = BTreeSet::new();
    for &part in &parts {
        if *terms.op(part) == Op::Select
            && let Some(memory) = root(ground, terms, terms.args(part)[0])
        {
            let address = terms.args(part)[1];
            match heap.owner(terms, memory, address) {
                // What a variable holds is as good as the variable.
                _ if heap.is_held(memory, address) => {}
                // What is reached through another node is said with that one.
                Some(owner) if is_read(ground, terms, heap, owner.base) => {}
                Some(owner) => {
                    owners.insert(owner);
                }
                None => return,
            }
        }
    }
    // Two nodes are compared where one of them has a name: it is said of any node beside that one.
    let named = |owner: &Owner| now(ground, owner.base).is_some();
    let about: Vec<Owner> = match owners.iter().copied().collect::<Vec<_>>()[..] {
        [only] => vec![only],
        [one, other] if one.base != other.base => {
            let sides = [(one, other), (other, one)];
            let beside = sides.into_iter().filter(|(_, other)| named(other));
            beside.map(|(about, _)| about).collect()
        }
        _ => return,
    };
    for owner in about {
        if let Some(property) = moved(ground, terms, heap, owner, formula) {
            found.add(terms, owner.kind, property);
        }
    }
}

/// Whether a term is a field of a node.
fn is_read(ground: &Ground<'_, '_>, terms: &Terms, heap: &Heap, term: TermId) -> bool {
    *terms.op(term) == Op::Select
        && root(ground, terms, terms.args(term)[0]).is_some_and(|memory| {
            heap.field_of(memory).is_some() && !heap.is_held(memory, terms.args(term)[1])
        })
}

/// What a step stores in a field, and of which nodes.
fn written(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    heap: &Heap,
    step: &Step,
    field: Field,
) -> Vec<(Owner, TermId)> {
    let Some(id) = now(ground, field.memory) else {
        return Vec::new();
    };
    let memory = step.state.get(ground.semantics, terms, id);
    let mut found = Vec::new();
    for (address, value) in stores(terms, memory) {
        if let Some(owner) = heap.owner(terms, field.memory, address) {
            found.push((owner, value));
        }
    }
    found
}

/// What a step stores in a field, said of the node that is any.
fn stored(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    heap: &Heap,
    step: &Step,
    field: Field,
    found: &mut Found,
) {
    for (owner, value) in written(ground, terms, heap, step, field) {
        let any = heap.kinds[owner.kind.index()].any;
        let element = heap.field(terms, field, any);
        for value in leaves(terms, value) {
            conditions(ground, terms, heap, step, owner, (value, element), found);
            if terms.size(value) <= LARGE
                && let Some(value) = moved(ground, terms, heap, owner, value)
            {
                let property = terms.eq(element, value);
                found.add(terms, owner.kind, property);
            }
        }
    }
}

/// That two fields hold the same, where one value is stored in both.
fn same(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    heap: &Heap,
    step: &Step,
    fields: &[Field],
    found: &mut Found,
) {
    let mut holders: BTreeMap<TermId, Field> = BTreeMap::new();
    for &field in fields.iter().filter(|field| field.target.is_none()) {
        for (owner, value) in written(ground, terms, heap, step, field) {
            if is_literal(terms, value) {
                continue;
            }
            let other = *holders.entry(value).or_insert(field);
            let any = heap.kinds[owner.kind.index()].any;
            let (a, b) = (heap.field(terms, other, any), heap.field(terms, field, any));
            if other.memory != field.memory && terms.sort(a) == terms.sort(b) {
                let property = terms.eq(a, b);
                found.add(terms, owner.kind, property);
            }
        }
    }
}

/// That the arbitrary node was freed, where nodes are and nobody asks which of them live.
fn freed(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    heap: &Heap,
    steps: &[Step],
    found: &mut Found,
) {
    for (index, kind) in heap.kinds.iter().enumerate() {
        let Some(freed) = kind.freed.filter(|_| kind.extents.is_none()) else {
            continue;
        };
        let ghost = now(ground, freed);
        let ends = |step: &Step| {
            step.from.is_some() && step.state.written().any(|(id, _)| Some(id) == ghost)
        };
        if steps.iter().any(ends) {
            let bit = terms.select(freed, kind.any);
            let one = terms.bv(1, 1);
            let gone = terms.eq(bit, one);
            found.add(terms, KindId(index as u32), gone);
        }
    }
}

/// Whether nodes of a kind can be told apart by their allocations.
pub fn has_few_allocations(kind: &Kind) -> bool {
    (2..=ALLOCATIONS).contains(&kind.allocations)
}

/// By which allocation the arbitrary node was taken: lists of one type may be told apart by that.
fn taken(terms: &mut Terms, heap: &Heap, found: &mut Found) {
    for (index, kind) in heap.kinds.iter().enumerate() {
        if !has_few_allocations(kind) {
            continue;
        }
        let born = terms.select(kind.born, kind.any);
        for number in 1..=kind.allocations {
            let number = terms.bv(number as i128, terms.width(born));
            let here = terms.eq(born, number);
            found.add(terms, KindId(index as u32), here);
        }
    }
}

/// That a field is no larger, or no smaller, than a variable whose value is stored there.
fn ordered(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    heap: &Heap,
    step: &Step,
    field: Field,
    found: &mut Found,
) {
    // Addresses are small where guesses are tried, so their signs would say what is not so.
    let layout = &ground.semantics.layout;
    let ty = now(ground, field.memory).and_then(|id| layout.get(id).ty);
    let types = &ground.semantics.program.types;
    if ty.is_some_and(|ty| matches!(types.get(ty), Type::Pointer(_))) {
        return;
    }
    for (owner, value) in written(ground, terms, heap, step, field) {
        let any = heap.kinds[owner.kind.index()].any;
        let element = heap.field(terms, field, any);
        let plain = now(ground, value).is_some();
        if plain && terms.sort(value) == terms.sort(element) {
            for property in [terms.bv_sle(element, value), terms.bv_sle(value, element)] {
                found.add(terms, owner.kind, property);
            }
        }
    }
}

/// Where a variable is stored that the same step moves on by a number: that the arbitrary node holds
/// what the variable was before, and as much more than the node behind it.
fn numbered(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    heap: &Heap,
    step: &Step,
    field: Field,
    found: &mut Found,
) {
    for (owner, value) in written(ground, terms, heap, step, field) {
        let Some(id) = now(ground, value) else {
            continue;
        };
        let after = step.state.get(ground.semantics, terms, id);
        let Some((_, by)) = shifted(terms, after).filter(|&(from, by)| from == value && by != 0)
        else {
            continue;
        };
        let kind = &heap.kinds[owner.kind.index()];
        let element = heap.field(terms, field, kind.any);
        if terms.sort(element) != terms.sort(value) {
            continue;
        }
        let by = terms.bv(by, terms.width(element));
        let more = terms.bv_add(element, by);
        let property = terms.eq(more, value);
        found.add(terms, owner.kind, property);
        for link in &kind.fields {
            let target = link.target.filter(|target| target.kind == owner.kind);
            let Some(target) = target else { continue };
            let next = heap.field(terms, *link, kind.any);
            let next = heap.start(terms, next, target);
            let behind = heap.field(terms, field, next);
            let more = terms.bv_add(behind, by);
            let property = terms.eq(more, element);
            found.add(terms, owner.kind, property);
        }
    }
}

/// What a step asks of a value before it stores it, said of what is stored.
fn conditions(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    heap: &Heap,
    step: &Step,
    owner: Owner,
    (value, element): (TermId, TermId),
    found: &mut Found,
) {
    if is_literal(terms, value) {
        return;
    }
    let any = heap.kinds[owner.kind.index()].any;
    for atom in atoms_of(terms, &[step.condition]) {
        let parts = terms.postorder(&[atom]);
        if parts.len() > LARGE || !parts.contains(&value) {
            continue;
        }
        let said = terms.substitute(atom, &BTreeMap::from([(value, element)]));
        let Some(said) = of_state(ground, terms, said, BTreeMap::new()) else {
            continue;
        };
        let mut constants = terms.free_constants(&[said]).into_iter();
        let known = |constant| constant == any || now(ground, constant).is_some();
        if constants.all(known) {
            found.add(terms, owner.kind, said);
        }
    }
}

/// What a step asks of nodes and of a value that it stores in a node, said of the nodes: the value is
/// what the node holds that a variable points to since then.
fn beside(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    heap: &Heap,
    step: &Step,
    field: Field,
    found: &mut Found,
) {
    for (owner, value) in written(ground, terms, heap, step, field) {
        if is_literal(terms, value) {
            continue;
        }
        let more = terms.bv(owner.more, terms.width(owner.base));
        let start = terms.bv_add(owner.base, more);
        for (id, pointer) in step.state.written() {
            let variable = ground.semantics.constant(terms, id);
            // An array of pointers is none.
            if terms.sort(variable) != terms.sort(heap.frontier) {
                continue;
            }
            let target = heap.target(ground, variable);
            let Some(target) = target.filter(|target| target.kind == owner.kind) else {
                continue;
            };
            if heap.field_of(variable).is_some() || heap.start(terms, pointer, target) != start {
                continue;
            }
            let node = heap.start(terms, variable, target);
            let held = heap.field(terms, field, node);
            for atom in atoms_of(terms, &[step.condition]) {
                let parts = terms.postorder(&[atom]);
                if parts.len() <= LARGE && parts.contains(&value) {
                    let atom = terms.substitute(atom, &BTreeMap::from([(value, held)]));
                    said(ground, terms, heap, atom, found);
                }
            }
        }
    }
}

/// The values that a choice may have.
pub fn leaves(terms: &Terms, value: TermId) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut work = vec![value];
    while let Some(value) = work.pop() {
        if seen.insert(value) && seen.len() < LARGE {
            match terms.op(value) {
                Op::Ite => work.extend(&terms.args(value)[1..]),
                _ => found.push(value),
            }
        }
    }
    found
}

/// A term about a node, with the arbitrary one in its place; `None` if it speaks of anything that
/// is no state.
fn moved(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    heap: &Heap,
    owner: Owner,
    term: TermId,
) -> Option<TermId> {
    let any = heap.kinds[owner.kind.index()].any;
    let more = terms.bv(owner.more, terms.width(any));
    let base = terms.bv_sub(any, more);
    let map = BTreeMap::from([(owner.base, base)]);
    let said = of_state(ground, terms, term, map)?;
    let known = terms.free_constants(&[said]).into_iter().all(|constant| {
        constant == any
            || matches!(
                ground.constants.meaning(constant),
                Some(Meaning::Now(_) | Meaning::Origin)
            )
    });
    known.then_some(said)
}

/// A term with what is read being read from the state, whatever was written before, and with some
/// terms replaced.
pub fn of_state(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    term: TermId,
    mut map: BTreeMap<TermId, TermId>,
) -> Option<TermId> {
    for part in terms.postorder(&[term]) {
        if *terms.op(part) == Op::Select && !map.contains_key(&part) {
            let args = terms.args(part).to_vec();
            let memory = root(ground, terms, args[0])?;
            let address = terms.substitute(args[1], &map);
            let plain = terms.select(memory, address);
            map.insert(part, plain);
        }
    }
    Some(terms.substitute(term, &map))
}
