//! Who is asked: a solver that counts its steps, and where facts about elements are many and each
//! is easy, circuits before.

use hardbop_budget::Budget;
use hardbop_circuit::CircuitSolver;
use hardbop_logic::{Answer, Limits, Session, TermId, Terms, Unknown, Value, Z3Options, Z3Solver};
use std::time::Duration;

/// What circuits may take for one question: what they do not have soon, they do not have.
const SOON: Limits = Limits {
    time: Some(Duration::from_secs(2)),
    steps: None,
};
/// After so many questions in vain they are not asked any more.
const IN_VAIN: u32 = 4;

/// Two solvers that know the same.
pub struct Solvers {
    circuits: Option<Session<'static>>,
    counting: Session<'static>,
    /// Whether the last answer came from circuits.
    by_circuits: bool,
    in_vain: u32,
}

/// Whether circuits are asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// They are.
    Circuits,
    /// They are not.
    Nobody,
}

impl Solvers {
    /// Solvers that know nothing yet.
    pub fn new(first: First, budget: &Budget) -> Solvers {
        let circuits = (first == First::Circuits).then(|| {
            let mut session = Session::new(Box::new(CircuitSolver::new()), budget.clone());
            session.set_limits(SOON);
            session
        });
        let solver = Box::new(Z3Solver::new(Z3Options::default()));
        Solvers {
            circuits,
            counting: Session::new(solver, budget.clone()),
            by_circuits: false,
            in_vain: 0,
        }
    }

    /// What one question may cost.
    pub fn set_limits(&mut self, limits: Limits) {
        self.counting.set_limits(limits);
    }

    /// The one that counts its steps: it knows all that is known.
    pub fn counting(&self) -> &Session<'static> {
        &self.counting
    }

    /// The steps that were counted so far.
    pub fn steps(&self) -> u64 {
        self.counting.steps()
    }

    /// What is known from now on is forgotten by [`Solvers::pop`].
    pub fn push(&mut self) {
        self.counting.push();
        if let Some(circuits) = &mut self.circuits {
            circuits.push();
        }
    }

    /// Forgets what is known since the last [`Solvers::push`].
    pub fn pop(&mut self) {
        self.counting.pop();
        if let Some(circuits) = &mut self.circuits {
            circuits.pop();
        }
    }

    /// A formula holds.
    pub fn assert(&mut self, terms: &Terms, formula: TermId) {
        self.counting.assert(terms, formula);
        if let Some(circuits) = &mut self.circuits {
            circuits.assert(terms, formula);
        }
    }

    /// Whether formulas may hold together.
    pub fn check(&mut self, terms: &Terms, formulas: &[TermId]) -> Answer {
        self.by_circuits = false;
        if let Some(circuits) = self.circuits.as_mut().filter(|_| self.in_vain < IN_VAIN) {
            match circuits.check(terms, formulas) {
                Answer::Unknown(Unknown::Stopped(stopped)) => {
                    return Answer::Unknown(Unknown::Stopped(stopped));
                }
                Answer::Unknown(_) => self.in_vain += 1,
                known => {
                    self.by_circuits = true;
                    return known;
                }
            }
        }
        self.counting.check(terms, formulas)
    }

    /// The values of terms in the model of the last answer.
    pub fn values(&mut self, terms: &mut Terms, of: &[TermId]) -> Vec<Option<Value>> {
        let session = match &mut self.circuits {
            Some(circuits) if self.by_circuits => circuits,
            _ => &mut self.counting,
        };
        session.values(terms, of).unwrap_or_default()
    }

    /// Circuits do not tell enough: they are not asked any more. Says whether they were.
    pub fn leave_circuits(&mut self) -> bool {
        self.in_vain = IN_VAIN;
        std::mem::take(&mut self.by_circuits)
    }

    /// Whether bounds of floating-point numbers show that formulas do not hold together.
    pub fn contradicts_bounds(&self, terms: &mut Terms, formulas: &[TermId]) -> bool {
        self.counting.contradicts_bounds(terms, formulas)
    }
}
