//! What is known, as formulas about the state.

use crate::state::{State, held};
use crate::value::{Base, Range, Value};
use hardbop_cfront::ids::VarId;
use hardbop_logic::{Sign, TermId, Terms};
use hardbop_semantics::Semantics;
use hardbop_semantics::layout::StateVarId;
use std::collections::BTreeMap;

/// What is known of a state, each fact a formula.
pub(crate) fn formulas(semantics: &Semantics<'_>, terms: &mut Terms, state: &State) -> Vec<TermId> {
    let mut facts = Vec::new();
    for (&id, value) in &state.values {
        match value {
            Value::Number(range) => facts.extend(number(semantics, terms, id, *range)),
            Value::Pointer(bases) => facts.push(pointer(semantics, terms, id, bases)),
        }
    }
    facts
}

/// The bounds of a number.
fn number(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    id: StateVarId,
    range: Range,
) -> Vec<TermId> {
    let Some(all) = held(semantics, id) else {
        return Vec::new();
    };
    let constant = semantics.constant(terms, id);
    let width = terms.width(constant);
    let [low, high] = [range.low, range.high].map(|bound| terms.bv(bound, width));
    if range.single().is_some() {
        return vec![terms.eq(constant, low)];
    }
    let signed = all.low < 0;
    let mut at_most = |a: TermId, b: TermId| match signed {
        true => terms.bv_sle(a, b),
        false => terms.bv_ule(a, b),
    };
    let mut bounds = Vec::new();
    if range.low > all.low {
        bounds.push(at_most(low, constant));
    }
    if range.high < all.high {
        bounds.push(at_most(constant, high));
    }
    bounds
}

/// What a pointer points into.
fn pointer(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    id: StateVarId,
    bases: &BTreeMap<Base, Range>,
) -> TermId {
    let address = semantics.constant(terms, id);
    let width = terms.width(address);
    let owner = semantics
        .layout
        .ownership()
        .and_then(|known| known.owners(id));
    let owner = owner.map(|owner| semantics.constant(terms, owner));
    let mut ways = Vec::new();
    for (&base, &range) in bases {
        let (begin, identity) = match base {
            Base::Null => (terms.bv(0, width), terms.bv(0, 64)),
            Base::Variable(variable) => {
                let begin = variable_address(semantics, terms, variable, width);
                (begin, identity(semantics, terms, variable, begin))
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
        if let Some(owner) = owner {
            way.push(terms.eq(owner, identity));
        }
        ways.push(terms.and(&way));
    }
    terms.or(&ways)
}

fn variable_address(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    variable: VarId,
    width: u32,
) -> TermId {
    let origin = semantics.origin(terms);
    let distance = semantics.layout.distance(variable).unwrap_or_default();
    let distance = terms.bv(i128::from(distance), width);
    terms.bv_add(origin, distance)
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
