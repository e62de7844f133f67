//! Questions about bits, to a SAT solver whose word is not taken.
//!
//! In comes a formula that must have no model; it is translated to a circuit, and a SAT solver
//! looks for a model of that. Should it find none, it has to say why, step by step, and each step
//! is checked by propagation of units (`circuit::proof`). So what is trusted besides the formula is
//! its translation, which is compared with `logic`'s evaluator for all small operands, and that
//! checker; neither searches.

use crate::Gate;
use hardbop_circuit::CircuitSolver;
use hardbop_logic::{Answer, Limits, Session, TermId, Terms};
use hardbop_semantics::{PAGE_BITS, Semantics};
use std::time::Duration;

/// How large a circuit may become: larger ones take longer to be made than most questions take.
const NODES: usize = 4_000_000;

/// A solver of circuits that knows what holds in every state of a program.
pub(crate) struct Bits {
    session: Session<'static>,
}

impl Gate<'_> {
    /// A solver of circuits that is told some facts, unless another solver is to be the only one
    /// that is believed. Among the facts must be what always holds of addresses.
    pub(crate) fn bits(
        &self,
        semantics: &Semantics<'_>,
        terms: &mut Terms,
        facts: &[TermId],
    ) -> Option<Bits> {
        if self.alone {
            return None;
        }
        let mut solver = CircuitSolver::checked(None).within(NODES).by_cases();
        // The facts say so, too; said before, it tells addresses on one page apart by themselves.
        let origin = semantics.origin(terms);
        solver.align(terms, origin, PAGE_BITS as usize);
        let mut session = Session::new(Box::new(solver), self.budget.clone());
        for &fact in facts {
            session.assert(terms, fact);
        }
        Some(Bits { session })
    }
}

impl Bits {
    /// Whether a formula has a proof that it has no model, and one is found in time. If so, it is
    /// known to be false from then on.
    pub(crate) fn refute(&mut self, terms: &mut Terms, formula: TermId, time: Duration) -> bool {
        self.session.set_limits(Limits {
            time: Some(time),
            steps: None,
        });
        let refuted = self.session.check(terms, &[formula]) == Answer::Unsat;
        if refuted {
            // What is known now need not be found out again.
            let never = terms.not(formula);
            self.session.assert(terms, never);
        }
        refuted
    }
}
