//! The atoms of formulas, normalised: what a formula says apart from its connectives.

use std::collections::BTreeSet;

use crate::sort::Sort;
use crate::term::{Op, TermId, Terms};

/// The boolean subterms of a formula that are no connectives, without their negations. An
/// equation between integer terms gives its two inequalities: they are what loops need.
pub fn atoms(terms: &mut Terms, formula: TermId) -> BTreeSet<TermId> {
    atoms_of(terms, &[formula])
}

/// The same of several formulas; what they share is looked at once.
pub fn atoms_of(terms: &mut Terms, formulas: &[TermId]) -> BTreeSet<TermId> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut work = formulas.to_vec();
    while let Some(term) = work.pop() {
        if !seen.insert(term) {
            continue;
        }
        let args = terms.args(term).to_vec();
        let connective = match terms.op(term) {
            Op::Not | Op::And | Op::Or | Op::Xor | Op::Implies => true,
            Op::Ite => terms.sort(term) == Sort::Bool,
            Op::Eq | Op::Distinct => terms.sort(args[0]) == Sort::Bool,
            _ => false,
        };
        if connective {
            work.extend(args);
            continue;
        }
        match terms.op(term) {
            Op::Bool(_) => {}
            Op::Forall(_) | Op::Exists(_) => {}
            // One value of many: the constants of a state machine need no order.
            Op::Eq
                if terms.sort(args[0]) == Sort::Int
                    && args.iter().any(|&a| is_number(terms, a)) =>
            {
                found.insert(term);
            }
            Op::Eq if terms.sort(args[0]) == Sort::Int => {
                let below = terms.int_le(args[0], args[1]);
                let above = terms.int_le(args[1], args[0]);
                for bound in [below, above] {
                    let bound = terms.negated(bound).unwrap_or(bound);
                    found.insert(bound);
                }
            }
            Op::IntLe | Op::IntLt => {
                found.extend(upper_bound(terms, term));
            }
            _ => {
                found.insert(term);
            }
        }
    }
    found
}

fn is_number(terms: &Terms, term: TermId) -> bool {
    matches!(terms.op(term), Op::Int(_))
}

/// An inequality between a term and a number, or its negation, as an upper bound of the term:
/// `5 <= x` and `x <= 4` are one predicate. `None` if that says nothing.
fn upper_bound(terms: &mut Terms, atom: TermId) -> Option<TermId> {
    let args = terms.args(atom).to_vec();
    let strict = *terms.op(atom) == Op::IntLt;
    let bound = match (is_number(terms, args[0]), is_number(terms, args[1]), strict) {
        // c <= x is not x <= c - 1, c < x is not x <= c.
        (true, false, false) => {
            let less = minus_one(terms, args[0]);
            terms.int_le(args[1], less)
        }
        (true, false, true) => terms.int_le(args[1], args[0]),
        (false, true, true) => {
            let less = minus_one(terms, args[1]);
            terms.int_le(args[0], less)
        }
        _ => atom,
    };
    (!matches!(terms.op(bound), Op::Bool(_))).then_some(bound)
}

fn minus_one(terms: &mut Terms, number: TermId) -> TermId {
    let less = terms.int(-1);
    terms.int_add(&[number, less])
}
