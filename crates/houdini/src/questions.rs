//! Questions about steps, to one solver.
//!
//! Where equations between products matter, a question is asked three times: of algebra, which knows
//! them; of the solver with products as unknown words, which it decides soon; and of the solver as
//! it is, if the answer is whether a point is reached at all. Where products are only stored and
//! compared, a product is a function of its factors.

use crate::solvers::Solvers;
use hardbop_budget::Budget;
use hardbop_logic::{
    Answer, Limits, Session, TermId, Terms, Value, Z3Options, Z3Solver, products_as_functions,
    without_products, without_refuted,
};
use std::time::Duration;

/// What a question with products may cost, in the solver's own steps; these deceive where words are
/// multiplied.
const WITH_PRODUCTS: Limits = Limits {
    time: Some(Duration::from_secs(1)),
    steps: Some(500_000),
};

/// What a question about an atom may cost.
const LEMMA: Limits = Limits {
    time: None,
    steps: Some(200_000),
};

/// Whether a formula follows from others, whatever products are.
pub fn follows(terms: &mut Terms, facts: &[TermId], lemma: TermId, budget: &Budget) -> bool {
    let mut question = facts.to_vec();
    question.push(terms.not(lemma));
    let (question, _) = without_products(terms, &question);
    let solver = Box::new(Z3Solver::new(Z3Options::default()));
    let mut session = Session::new(solver, budget.clone());
    session.set_limits(LEMMA);
    session.check(terms, &question) == Answer::Unsat
}

/// What is known of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiplied {
    /// All their bits.
    Bits,
    /// Equations between them.
    Equations,
    /// That those of the same factors are the same.
    Functions,
}

/// Asks about steps from one point.
pub struct Questions {
    pub session: Solvers,
    /// What a question may cost.
    pub limits: Limits,
    products: Multiplied,
    /// What holds at the point.
    before: TermId,
}

impl Questions {
    /// Nothing is known to hold yet.
    pub fn new(
        terms: &mut Terms,
        mut session: Solvers,
        limits: Limits,
        products: Multiplied,
    ) -> Questions {
        let before = terms.bool(true);
        session.set_limits(limits);
        Questions {
            session,
            limits,
            products,
            before,
        }
    }

    /// The next questions are about steps from where this holds.
    pub fn push(&mut self, terms: &mut Terms, before: TermId) {
        self.session.push();
        self.before = before;
        for formula in self.said(terms, &[before]) {
            self.session.assert(terms, formula);
        }
    }

    /// No more questions from there.
    pub fn pop(&mut self) {
        self.session.pop();
    }

    /// Whether a step can be taken that ends in a state that is not covered.
    pub fn ask(&mut self, terms: &mut Terms, taken: TermId, uncovered: TermId) -> Answer {
        if self.products != Multiplied::Equations {
            let question = self.said(terms, &[taken, uncovered]);
            return self.session.check(terms, &question);
        }
        let question = [self.before, taken, uncovered];
        let budget = self.session.counting().budget().clone();
        let left = without_refuted(terms, &question, &mut |terms, facts, lemma| {
            follows(terms, facts, lemma, &budget)
        });
        if left == [terms.bool(false)] {
            return Answer::Unsat;
        }
        let (unknown, _) = without_products(terms, &left);
        let answer = self.session.check(terms, &unknown[1..]);
        if answer == Answer::Unsat || uncovered != terms.bool(true) || unknown == left {
            return answer;
        }
        let solver = Box::new(Z3Solver::new(Z3Options::default()));
        let mut session = Session::new(solver, budget);
        session.set_limits(WITH_PRODUCTS);
        for &formula in self.session.counting().assertions().iter().chain(&left) {
            session.assert(terms, formula);
        }
        match session.check(terms, &[]) {
            Answer::Unsat => Answer::Unsat,
            _ => answer,
        }
    }

    /// After an answer that there is such a state: what terms are in it.
    pub fn values(&mut self, terms: &mut Terms, asked: &[TermId]) -> Vec<Option<Value>> {
        let asked = self.said(terms, asked);
        self.session.values(terms, &asked)
    }

    /// Terms as the solver is told them.
    pub fn said(&self, terms: &mut Terms, of: &[TermId]) -> Vec<TermId> {
        match self.products {
            Multiplied::Bits => of.to_vec(),
            Multiplied::Equations => without_products(terms, of).0,
            Multiplied::Functions => products_as_functions(terms, of),
        }
    }
}
