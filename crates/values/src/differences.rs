//! Differences of two variables that may have any value each, such as a token that is handed on and
//! counted beside where the count began.
//!
//! In come the conditions that a way was missing; out come differences that decide them. A difference
//! is followed like a variable: with its value the one variable is the other one and a number, so
//! what comes of it in a step is a number again.

use crate::known::{Tools, reads};
use hardbop_logic::{Op, Sort, TermId, Terms};
use std::collections::{BTreeMap, BTreeSet};

/// The two sides of a term, if it is a difference.
pub fn sides(terms: &Terms, term: TermId) -> Option<(TermId, TermId)> {
    match (terms.op(term), terms.args(term)) {
        (Op::BvSub, &[left, right]) => Some((left, right)),
        _ => None,
    }
}

/// The differences that decide conditions on two variables.
pub fn differences(tools: &mut Tools<'_, '_>, conditions: &BTreeSet<TermId>) -> BTreeSet<TermId> {
    let mut found = BTreeSet::new();
    for &condition in conditions {
        let variables = reads(&tools.ground, &tools.terms, &[condition]);
        let variables: Vec<TermId> = variables.into_iter().collect();
        let &[left, right] = variables.as_slice() else {
            continue;
        };
        let terms = &mut tools.terms;
        let sort = terms.sort(left);
        let (Sort::BitVec(width), true) = (sort, sort == terms.sort(right)) else {
            continue;
        };
        // Decided for any numbers if it is for these.
        let is_decided = |number: i128| {
            let number = terms.bv(number, width);
            let moved = terms.bv_add(right, number);
            let rest = terms.substitute(condition, &BTreeMap::from([(left, moved)]));
            matches!(terms.op(rest), Op::Bool(_))
        };
        if [0, 1, 5].into_iter().all(is_decided) {
            found.insert(terms.bv_sub(left, right));
        }
    }
    found
}

/// For differences with their values, the variables on their left sides by those on the right. Each
/// variable is on one side only.
pub fn solved(terms: &mut Terms, values: &[(TermId, TermId)]) -> Vec<(TermId, TermId)> {
    let known: BTreeSet<TermId> = values.iter().map(|&(term, _)| term).collect();
    let mut left_sides = BTreeSet::new();
    let mut right_sides = BTreeSet::new();
    let mut found = Vec::new();
    for &(term, value) in values {
        let Some((left, right)) = sides(terms, term) else {
            continue;
        };
        let is_free = |side: &TermId| !known.contains(side);
        let fits = [left, right].iter().all(is_free)
            && !left_sides.contains(&right)
            && !right_sides.contains(&left);
        if fits && left_sides.insert(left) {
            right_sides.insert(right);
            found.push((left, terms.bv_add(right, value)));
        }
    }
    found
}

/// Larger choices are left as they are.
const MOST: usize = 500;

/// A difference in which the choices come last, so that what both sides have in common goes.
pub fn difference(terms: &mut Terms, left: TermId, right: TermId) -> TermId {
    let mut known: BTreeMap<(TermId, TermId), TermId> = BTreeMap::new();
    let mut work = vec![(left, right)];
    while let Some(&(a, b)) = work.last() {
        if known.len() > MOST {
            return terms.bv_sub(left, right);
        }
        let (choice, then, otherwise) = match (choice(terms, a), choice(terms, b)) {
            (Some((c, a1, a2)), Some((d, b1, b2))) if c == d => (c, (a1, b1), (a2, b2)),
            (Some((c, a1, a2)), _) => (c, (a1, b), (a2, b)),
            (None, Some((c, b1, b2))) => (c, (a, b1), (a, b2)),
            (None, None) => {
                known.insert((a, b), terms.bv_sub(a, b));
                work.pop();
                continue;
            }
        };
        match (known.get(&then), known.get(&otherwise)) {
            (Some(&then), Some(&otherwise)) => {
                known.insert((a, b), terms.ite(choice, then, otherwise));
                work.pop();
            }
            (None, _) => work.push(then),
            (_, None) => work.push(otherwise),
        }
    }
    known[&(left, right)]
}

/// A choice of two terms.
fn choice(terms: &Terms, term: TermId) -> Option<(TermId, TermId, TermId)> {
    match (terms.op(term), terms.args(term)) {
        (Op::Ite, &[choice, then, otherwise]) => Some((choice, then, otherwise)),
        _ => None,
    }
}
