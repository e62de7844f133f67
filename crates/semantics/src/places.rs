//! Formulas with values put in, as far as that settles them: numbers, and addresses by their
//! distance from the origin.

use crate::layout::StateVarId;
use crate::{Semantics, State};
use hardbop_logic::{Answer, Op, Session, Sort, TermId, Terms};
use std::collections::{BTreeMap, HashMap, HashSet};

/// So often what is known is put into a formula: pointers to pointers to pointers.
const DEPTH: usize = 12;

/// What is known of where objects lie: each condition that speaks of nothing else is decided once.
#[derive(Debug, Default)]
pub struct Places {
    decided: HashMap<TermId, Option<bool>>,
}

impl Places {
    /// A formula with the values of some terms put in, also where they show only after others were
    /// put in.
    pub fn put_in(
        &mut self,
        semantics: &Semantics<'_>,
        terms: &mut Terms,
        session: &mut Session<'_>,
        values: &BTreeMap<TermId, TermId>,
        formula: TermId,
    ) -> TermId {
        let mut rest = formula;
        for _ in 0..DEPTH {
            let next = terms.substitute(rest, values);
            let known = self.known(semantics, terms, session, &[next]);
            let next = terms.substitute(next, &known);
            if next == rest {
                break;
            }
            rest = next;
        }
        rest
    }

    /// A condition and a state with plain addresses.
    pub fn plain(
        &mut self,
        semantics: &Semantics<'_>,
        terms: &mut Terms,
        session: &mut Session<'_>,
        condition: TermId,
        state: &State,
    ) -> (TermId, State) {
        let (mut condition, mut state) = (condition, state.clone());
        for _ in 0..DEPTH {
            let written: Vec<(StateVarId, TermId)> = state.written().collect();
            let mut roots: Vec<TermId> = written.iter().map(|&(_, value)| value).collect();
            roots.push(condition);
            let known = self.known(semantics, terms, session, &roots);
            if known.is_empty() {
                break;
            }
            condition = terms.substitute(condition, &known);
            for (id, value) in written {
                let value = terms.substitute(value, &known);
                state.set(id, value);
            }
        }
        (condition, state)
    }

    /// The conditions in some terms that are decided by where objects lie.
    fn known(
        &mut self,
        semantics: &Semantics<'_>,
        terms: &mut Terms,
        session: &mut Session<'_>,
        roots: &[TermId],
    ) -> BTreeMap<TermId, TermId> {
        let mut known = BTreeMap::new();
        for test in fixed_conditions(semantics, terms, roots) {
            if let Some(value) = self.decide(semantics, terms, session, test) {
                known.insert(test, terms.bool(value));
            }
        }
        known
    }

    /// Whether a condition on the origin holds, if it is the same for every origin.
    fn decide(
        &mut self,
        semantics: &Semantics<'_>,
        terms: &mut Terms,
        session: &mut Session<'_>,
        test: TermId,
    ) -> Option<bool> {
        if let Some(&known) = self.decided.get(&test) {
            return known;
        }
        session.push();
        for axiom in semantics.axioms(terms) {
            session.assert(terms, axiom);
        }
        let opposite = terms.not(test);
        let value = if session.check(terms, &[opposite]) == Answer::Unsat {
            Some(true)
        } else if session.check(terms, &[test]) == Answer::Unsat {
            Some(false)
        } else {
            None
        };
        session.pop();
        self.decided.insert(test, value);
        value
    }
}

/// Whether a term speaks of nothing but where objects lie.
pub fn is_fixed(semantics: &Semantics<'_>, terms: &mut Terms, term: TermId) -> bool {
    let origin = semantics.origin(terms);
    let constants = terms.free_constants(&[term]);
    constants.iter().all(|&constant| constant == origin)
}

/// Whether a term is a condition and no connective.
pub fn is_condition(terms: &Terms, term: TermId) -> bool {
    match terms.op(term) {
        Op::Bool(_) | Op::Not | Op::And | Op::Or | Op::Xor | Op::Implies | Op::Ite => false,
        Op::Forall(_) | Op::Exists(_) => false,
        _ => terms.sort(term) == Sort::Bool,
    }
}

/// The conditions in some terms that speak of nothing but where objects lie, also those that only
/// choose a value.
fn fixed_conditions(semantics: &Semantics<'_>, terms: &mut Terms, roots: &[TermId]) -> Vec<TermId> {
    let origin = semantics.origin(terms);
    let mut fixed = HashSet::new();
    let mut found = Vec::new();
    for term in terms.postorder(roots) {
        let args = terms.args(term);
        let number = matches!(terms.op(term), Op::Int(_) | Op::BitVec(_) | Op::Bool(_));
        let is_fixed = match args.is_empty() {
            true => number || term == origin,
            false => args.iter().all(|arg| fixed.contains(arg)),
        };
        if is_fixed {
            fixed.insert(term);
            if is_condition(terms, term) {
                found.push(term);
            }
        }
    }
    found
}
