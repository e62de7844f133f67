//! What a solver is: the interface, the answers, the limits.

pub(crate) mod process;
mod session;
pub(crate) mod watchdog;
pub(crate) mod z3;

use std::fmt;
use std::time::Duration;

use hardbop_budget::{Budget, Stopped};

pub use process::SmtLibProcess;
pub use session::{Log, Session, Statistics};
pub use z3::{Z3Options, Z3Solver};

use crate::eval::FunctionValue;
use crate::term::{FuncId, TermId, Terms};
use crate::value::Value;

/// What a solver says about a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is a model.
    Sat,
    /// There is none.
    Unsat,
    /// The solver does not know; the caller has to go on without an answer.
    Unknown(Unknown),
}

/// Why a solver does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The time limit of the query passed.
    Time,
    /// The step limit of the query was reached.
    Steps,
    /// The budget of the whole work ran out.
    Stopped(Stopped),
    /// The solver gave up or failed, in its own words.
    GaveUp(String),
}

/// What one query may cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Processor time of the thread that asks; of a solver in a process of its own, time.
    pub time: Option<Duration>,
    /// Steps in the solver's own measure: the same on every machine. Not every solver has them.
    pub steps: Option<u32>,
}

/// An incremental solver. One solver speaks of the terms of one arena, always the same.
pub trait Solver {
    /// What to call it in messages and logs.
    fn name(&self) -> &str;

    /// Adds a formula to the current level.
    fn assert(&mut self, terms: &Terms, formula: TermId);

    /// Opens a level.
    fn push(&mut self);

    /// Forgets what was asserted since the matching push.
    fn pop(&mut self);

    /// Is there a model of all assertions and assumptions?
    fn check(
        &mut self,
        terms: &Terms,
        assumptions: &[TermId],
        limits: Limits,
        budget: &Budget,
    ) -> Answer;

    /// Is there a model of the formulas, whatever was asserted, with the values of some terms given?
    /// It is then held as after [`Solver::check`]. A solver that cannot do so does not know.
    fn check_at(
        &mut self,
        terms: &Terms,
        formulas: &[TermId],
        point: &[(TermId, Value)],
        limits: Limits,
        budget: &Budget,
    ) -> Answer {
        let _ = (terms, formulas, point, limits, budget);
        Answer::Unknown(Unknown::GaveUp("it takes no points".to_owned()))
    }

    /// How many steps it has taken in all, in its own measure; zero if it does not count.
    fn steps(&self) -> u64 {
        0
    }

    /// The values of terms in the model of the last check, which said [`Answer::Sat`]. `None` for
    /// a value that the solver tells in a form that is not understood.
    fn values(&mut self, terms: &mut Terms, of: &[TermId]) -> Vec<Option<Value>>;

    /// The meaning of a function in the model of the last check.
    fn function_value(&mut self, terms: &mut Terms, function: FuncId) -> Option<FunctionValue>;

    /// Assumptions of the last check, which said [`Answer::Unsat`], that suffice for that answer.
    fn core(&mut self) -> Vec<TermId>;
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unknown::Time => f.write_str("the time limit of the query passed"),
            Unknown::Steps => f.write_str("the step limit of the query was reached"),
            Unknown::Stopped(stopped) => write!(f, "{stopped}"),
            Unknown::GaveUp(why) => write!(f, "the solver gave up: {why}"),
        }
    }
}
