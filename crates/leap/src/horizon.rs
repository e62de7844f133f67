//! For how many periods a loop goes on as it does: the first one before which a condition fails or
//! a variable leaves its form.
//!
//! Conditions are followed by their two sides. Where a side is a line, it is computed when two
//! become equal and when a number passes the end of its word; up to there a condition that begins
//! to fail is taken to go on failing, and found by doubling and halving. Should that be wrong, the
//! claim made of it is refused.

use crate::forms::{Form, WordForm};
use crate::graph::Path;
use crate::sample::{holds, number};
use hardbop_logic::{Assignment, Op, Sort, TermId, Terms, Value, atoms, eval};
use hardbop_semantics::Semantics;
use hardbop_semantics::layout::StateVarId;
use std::collections::BTreeMap;

/// Further than this nobody looks.
pub const FAR: u64 = 1 << 62;

/// How many periods the path can be taken in a row, with the variables on their forms.
pub fn horizon(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    path: &Path,
    choices: &[(TermId, Value)],
    forms: &BTreeMap<StateVarId, Form>,
) -> u64 {
    let mut constants = Vec::new();
    let mut posts = Vec::new();
    for (&id, form) in forms {
        let constant = semantics.constant(terms, id);
        constants.push((constant, form));
        let post = path.state.get(semantics, terms, id);
        if post != constant || !matches!(form, Form::Same(_)) {
            posts.push((post, form));
        }
    }
    let state = |k: u64| {
        let mut assignment = Assignment::new();
        for (constant, form) in &constants {
            assignment.set(*constant, form.at(k));
        }
        for (symbol, value) in choices {
            assignment.set(*symbol, value.clone());
        }
        assignment
    };
    let first: Vec<Assignment> = (0..4).map(&state).collect();
    let mut limit = FAR;
    for atom in atoms(terms, path.condition) {
        limit = limit.min(turning(terms, atom, &first));
    }
    let goes_on = |k: u64| {
        let now = state(k);
        holds(terms, path.condition, &now)
            && posts.iter().all(|(post, form)| {
                eval(terms, *post, &now).is_ok_and(|value| value.same(&form.at(k + 1)))
            })
    };
    first_failing(limit, &mut { goes_on })
}

/// The first number below a limit for which something fails that held for all before it, or the
/// limit.
pub fn first_failing(limit: u64, goes_on: &mut dyn FnMut(u64) -> bool) -> u64 {
    // All before `low` go on; `high` is the first one known not to, or the limit.
    let (mut low, mut high) = (0, limit);
    let mut next = 0;
    while next < limit {
        if !goes_on(next) {
            high = next;
            break;
        }
        low = next + 1;
        next = 2 * next + 1;
    }
    if next >= limit && limit > 0 && low < limit && goes_on(limit - 1) {
        return limit;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        match goes_on(middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

/// When a comparison may turn, as far as that can be computed from its first four states.
pub fn turning(terms: &Terms, atom: TermId, states: &[Assignment]) -> u64 {
    let (signed, equation) = match terms.op(atom) {
        Op::Eq => (false, true),
        Op::BvUlt | Op::BvUle => (false, false),
        Op::BvSlt | Op::BvSle => (true, false),
        _ => return FAR,
    };
    let &[left, right] = terms.args(atom) else {
        return FAR;
    };
    if !matches!(terms.sort(left), Sort::BitVec(width) if width <= 64) {
        return FAR;
    }
    let line = |side: TermId| {
        let mut values = Vec::new();
        for state in states {
            values.push(eval(terms, side, state).ok()?);
        }
        let [a, b, c, d] = &values[..] else {
            return None;
        };
        WordForm::through([a, b, c, d]).filter(|form| form.bend == 0)
    };
    let (Some(left), Some(right)) = (line(left), line(right)) else {
        return FAR;
    };
    if equation {
        return meeting(&left, &right);
    }
    wrapping(&left, signed).min(wrapping(&right, signed))
}

/// When two lines that differ at first meet.
fn meeting(left: &WordForm, right: &WordForm) -> u64 {
    let width = left.width;
    let mask = u128::MAX >> (128 - width);
    let apart = right.start.wrapping_sub(left.start) & mask;
    let nearer = left.slope.wrapping_sub(right.slope) & mask;
    if apart == 0 || nearer == 0 {
        return FAR;
    }
    // nearer * k = apart, modulo 2^width.
    let shift = nearer.trailing_zeros();
    if apart.trailing_zeros() < shift {
        return FAR;
    }
    let (nearer, apart) = (nearer >> shift, apart >> shift);
    let mut inverse = 1u128;
    for _ in 0..7 {
        inverse = inverse.wrapping_mul(2u128.wrapping_sub(nearer.wrapping_mul(inverse)));
    }
    let k = apart.wrapping_mul(inverse) & (mask >> shift);
    u64::try_from(k).map_or(FAR, |k| k.min(FAR))
}

/// When a line passes the end of its word.
fn wrapping(line: &WordForm, signed: bool) -> u64 {
    let value = Form::Word(line.clone()).at(0);
    let Some(start) = number(&value, signed) else {
        return FAR;
    };
    let width = line.width;
    let (low, high) = match signed {
        true => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        false => (0, (1i128 << width) - 1),
    };
    let slope = line.signed_slope();
    let rounds = match slope {
        0 => return FAR,
        1.. => (high - start) / slope + 1,
        _ => (start - low) / -slope + 1,
    };
    u64::try_from(rounds).map_or(FAR, |rounds| rounds.min(FAR))
}
