//! What is known, as formulas about the state.

use crate::contents::{Row, Which, row, stored};
use crate::objects;
use crate::state::{State, held};
use crate::value::{Base, Range, Value};
use hardbop_cfront::ids::VarId;
use hardbop_logic::{Sign, TermId, Terms};
use hardbop_semantics::Semantics;
use hardbop_semantics::layout::StateVarId;
use std::collections::BTreeMap;

/// What is known of a state, each fact a formula.
pub(crate) fn formulas(semantics: &Semantics<'_>, terms: &mut Terms, state: &State) -> Vec<TermId> {
    let keeps_calls = objects::keeps_calls(semantics);
    let mut facts = Vec::new();
    for (&id, value) in &state.values {
        let owner = semantics
            .layout
            .ownership()
            .and_then(|known| known.owners(id));
        let term = semantics.constant(terms, id);
        let owner = owner.map(|owner| semantics.constant(terms, owner));
        match value {
            Value::Number(range) => {
                let all = held(semantics, id);
                facts.extend(
                    all.into_iter()
                        .flat_map(|all| number(terms, term, all, *range)),
                );
            }
            // That an object lives on over a call is said of any object.
            Value::Pointer(_) if keeps_calls && objects::is_carried(value) => {}
            Value::Pointer(bases) => {
                facts.push(pointer(semantics, terms, state, (term, owner), bases));
            }
        }
    }
    for (part, value) in &state.contents {
        if let Which::At(offset) = part.which {
            let begin = variable_address(semantics, terms, part.variable);
            let width = terms.width(begin);
            let offset = terms.bv(offset, width);
            let address = terms.bv_add(begin, offset);
            facts.extend(element(
                semantics,
                terms,
                state,
                part.region,
                address,
                value,
            ));
        }
    }
    facts.extend(objects::newest(semantics, terms, state));
    facts
}

/// What is known of all elements of arrays, said of the element at an arbitrary address.
pub(crate) fn elements(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    state: &State,
    address: TermId,
) -> Vec<TermId> {
    let mut facts = Vec::new();
    for (part, value) in &state.contents {
        if part.which == Which::All
            && let Some(row) = row(semantics, part.region, part.variable)
            && let Some(here) = is_in(semantics, terms, part.variable, row, address)
        {
            let known = element(semantics, terms, state, part.region, address, value);
            let known = terms.and(&known);
            facts.push(terms.implies(here, known));
        }
    }
    facts
}

/// The most elements that are told apart one by one.
const ONE_BY_ONE: i128 = 32;

/// Whether an address is that of an element of a row.
fn is_in(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    variable: VarId,
    row: Row,
    address: TermId,
) -> Option<TermId> {
    let begin = variable_address(semantics, terms, variable);
    let width = terms.width(begin);
    let first = terms.bv(row.first, width);
    let first = terms.bv_add(begin, first);
    let distance = terms.bv_sub(address, first);
    if row.stride.count_ones() == 1 {
        let end = terms.bv(row.stride.checked_mul(row.count)?, width);
        let below = terms.bv_ult(distance, end);
        let low = terms.bv(row.stride - 1, width);
        let rest = terms.bv_and(distance, low);
        let zero = terms.bv(0, width);
        let even = terms.eq(rest, zero);
        return Some(terms.and(&[below, even]));
    }
    if row.count > ONE_BY_ONE {
        return None;
    }
    let each = (0..row.count).map(|index| {
        let at = terms.bv(index * row.stride, width);
        terms.eq(distance, at)
    });
    let each: Vec<TermId> = each.collect();
    Some(terms.or(&each))
}

/// What is known of an element at an address.
pub(crate) fn element(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    state: &State,
    region: StateVarId,
    address: TermId,
    value: &Value,
) -> Vec<TermId> {
    let memory = semantics.constant(terms, region);
    let term = terms.select(memory, address);
    match value {
        Value::Number(range) => match stored(semantics, region) {
            Some(all) => number(terms, term, all, *range),
            None => Vec::new(),
        },
        Value::Pointer(bases) => {
            let ownership = semantics.layout.ownership();
            let owners = ownership.and_then(|known| known.owners(region));
            let owner = owners.map(|owners| {
                let owners = semantics.constant(terms, owners);
                terms.select(owners, address)
            });
            vec![pointer(semantics, terms, state, (term, owner), bases)]
        }
    }
}

/// The bounds of a number.
fn number(terms: &mut Terms, term: TermId, all: Range, range: Range) -> Vec<TermId> {
    let width = terms.width(term);
    let [low, high] = [range.low, range.high].map(|bound| terms.bv(bound, width));
    if range.single().is_some() {
        return vec![terms.eq(term, low)];
    }
    let signed = all.low < 0;
    let mut at_most = |a: TermId, b: TermId| match signed {
        true => terms.bv_sle(a, b),
        false => terms.bv_ule(a, b),
    };
    let mut bounds = Vec::new();
    if range.low > all.low {
        bounds.push(at_most(low, term));
    }
    if range.high < all.high {
        bounds.push(at_most(term, high));
    }
    bounds
}

/// What a pointer points into: where it is, and to which object it belongs.
pub(crate) fn pointer(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    state: &State,
    (address, owner): (TermId, Option<TermId>),
    bases: &BTreeMap<Base, Range>,
) -> TermId {
    let width = terms.width(address);
    let mut ways = Vec::new();
    for (&base, &range) in bases {
        let mut besides = Vec::new();
        let (begin, identity) = match (base, owner) {
            (Base::Null, _) => (terms.bv(0, width), terms.bv(0, 64)),
            (Base::Variable(variable), _) => {
                let begin = variable_address(semantics, terms, variable);
                (begin, identity(semantics, terms, variable, begin))
            }
            // Nobody knows whom it belongs to.
            (Base::Newest(_) | Base::Other(_), None) => return terms.bool(true),
            (Base::Newest(class), Some(owner)) => {
                let newest = objects::identity_of_newest(semantics, terms, state, class);
                let newest = newest.unwrap_or(owner);
                (terms.resize(newest, width, Sign::Unsigned), newest)
            }
            (Base::Other(class), Some(owner)) => {
                let heap = state.heaps.get(&class);
                let least = heap.and_then(|heap| Some(heap.others.as_ref()?.least));
                let least = least.unwrap_or(0);
                besides = objects::placed(semantics, terms, (class, least), owner);
                let newest = heap.filter(|heap| heap.newest.is_some());
                if newest.is_some()
                    && let Some(newest) =
                        objects::identity_of_newest(semantics, terms, state, class)
                {
                    let same = terms.eq(owner, newest);
                    besides.push(terms.not(same));
                }
                (terms.resize(owner, width, Sign::Unsigned), owner)
            }
        };
        let offset = terms.bv_sub(address, begin);
        let low = terms.bv(range.low, width);
        let inside = match range.single() {
            Some(_) => terms.eq(offset, low),
            None => {
                let from_low = terms.bv_sub(offset, low);
                let most = terms.bv(range.high - range.low, width);
                terms.bv_ule(from_low, most)
            }
        };
        let mut way = vec![inside];
        way.extend(besides);
        if let Some(owner) = owner {
            way.push(terms.eq(owner, identity));
        }
        ways.push(terms.and(&way));
    }
    terms.or(&ways)
}

/// The address of a variable; one that has none begins where addresses do.
fn variable_address(semantics: &Semantics<'_>, terms: &mut Terms, variable: VarId) -> TermId {
    let origin = semantics.origin(terms);
    let width = terms.width(origin);
    match semantics.layout.distance(variable) {
        Some(distance) => {
            let distance = terms.bv(i128::from(distance), width);
            terms.bv_add(origin, distance)
        }
        None => terms.bv(0, width),
    }
}

/// Which object a variable is now.
fn identity(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    variable: VarId,
    begin: TermId,
) -> TermId {
    let life = semantics
        .layout
        .ownership()
        .and_then(|known| known.life(variable));
    match life {
        Some(life) => semantics.constant(terms, life),
        None => terms.resize(begin, 64, Sign::Unsigned),
    }
}
