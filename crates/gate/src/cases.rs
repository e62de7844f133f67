//! A formula in front of a step, case by case.
//!
//! An invariant may be a long list of states. A block that is asked about from all of them at once is
//! a hard question; from one of them, most of its branches are decided by putting in what the state
//! says, and what is left is easy. The cases together are the formula, so nothing is lost.

use hardbop_logic::{Op, PutIn, TermId, Terms};

/// So often values are put in: a value may show only where a pointer has got its own.
const ROUNDS: usize = 3;

/// One of the cases of a formula.
pub(crate) struct Case {
    /// What it says.
    pub(crate) formula: TermId,
    /// Terms and what they are equal to.
    values: Vec<(TermId, TermId)>,
    put_in: PutIn,
}

impl Case {
    fn new(terms: &mut Terms, formula: TermId, origin: TermId) -> Case {
        let parts = match terms.op(formula) {
            Op::And => terms.args(formula).to_vec(),
            _ => vec![formula],
        };
        let mut values = Vec::new();
        for part in parts {
            values.extend(equal(terms, part, origin));
        }
        Case {
            formula,
            put_in: PutIn::new(values.iter().copied()),
            values,
        }
    }

    /// What is left of a term in this case.
    pub(crate) fn settle(&mut self, terms: &mut Terms, term: TermId) -> TermId {
        let mut rest = terms.put_in(term, &mut self.put_in);
        for _ in 1..ROUNDS {
            let values = self.values.iter().copied();
            let more = terms.put_in(rest, &mut PutIn::new(values));
            if more == rest {
                break;
            }
            rest = more;
        }
        rest
    }
}

/// The cases of a formula.
pub(crate) fn cases(terms: &mut Terms, formula: TermId, origin: TermId) -> Vec<Case> {
    let parts = match terms.op(formula) {
        Op::Or => terms.args(formula).to_vec(),
        _ => vec![formula],
    };
    let case = |part| Case::new(terms, part, origin);
    parts.into_iter().map(case).collect()
}

/// What a conjunct says that a term is equal to: a number, or a distance from the origin.
fn equal(terms: &mut Terms, part: TermId, origin: TermId) -> Option<(TermId, TermId)> {
    let (yes, no) = (terms.bool(true), terms.bool(false));
    let known = |terms: &Terms, term: TermId| {
        let constants = terms.free_constants(&[term]);
        constants.iter().all(|&constant| constant == origin)
    };
    match (terms.op(part).clone(), terms.args(part)) {
        (Op::Bool(_), _) => None,
        (Op::Eq, &[left, right]) if known(terms, right) && !known(terms, left) => {
            Some((left, right))
        }
        (Op::Eq, &[left, right]) if known(terms, left) && !known(terms, right) => {
            Some((right, left))
        }
        (Op::Not, &[fact]) => Some((fact, no)),
        _ => Some((part, yes)),
    }
}
