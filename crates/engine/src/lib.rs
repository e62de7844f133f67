//! What every engine takes and gives back: the one interface of `cegar`, `dpr` and their like.
//!
//! An [`Engine`] takes a [`Task`] — a program, the checks that are still open and a budget — and
//! a sink for [`Event`]s, and gives back a [`Report`]: an [`Outcome`] for every check, with its
//! evidence. Everything here is plain data that can be sent between threads, so engines can run
//! side by side: give each of them a [child](Budget::child) of the user's budget, and cancel it
//! when others have decided everything.

mod figures;
mod proof;
mod reason;
mod suggestion;

pub use figures::{Figure, Value};
pub use hardbop_semantics::replay::Violation;
pub use proof::{
    CInvariant, Clause, Clauses, Decision, Invariants, OnlyRun, Proof, ScopedPredicate, Unrolling,
};
pub use reason::{Construct, Reason};
pub use suggestion::Suggestion;

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::points_to::PointsTo;
use hardbop_cfront::program::Program;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// What an engine is to decide, and what it may use for that.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The program.
    pub program: &'a Program,
    /// Where its pointers may point.
    pub points_to: &'a PointsTo,
    /// The checks that are still open.
    pub checks: &'a [CheckId],
    /// What the engine may use.
    pub budget: &'a Budget,
}

/// What is known of a check.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// No execution violates it.
    Proved,
    /// This execution does; it was replayed in the interpreter.
    Violated(Box<Violation>),
    /// Neither is known.
    Unknown(Reason),
}

impl Outcome {
    /// Whether the check is decided.
    pub fn is_decided(&self) -> bool {
        !matches!(self, Outcome::Unknown(_))
    }
}

/// What an engine found out.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// For every check of the task.
    pub outcomes: BTreeMap<CheckId, Outcome>,
    /// Why the outcomes do not speak for all executions, if they do not: something that is not
    /// supported can be reached (what comes after it is not seen), or the search was stopped.
    pub incomplete: Option<Reason>,
    /// The evidence behind all PROVED outcomes.
    pub proof: Option<Proof>,
    /// What it cost, in the order in which it is shown.
    pub statistics: Vec<Figure>,
}

impl Report {
    /// A figure of the statistics, by its name.
    pub fn figure(&self, name: &str) -> Option<&Value> {
        let mut figures = self.statistics.iter();
        figures
            .find(|figure| figure.name == name)
            .map(|figure| &figure.value)
    }

    /// A count of the statistics, by its name; zero if there is none.
    pub fn count(&self, name: &str) -> u64 {
        match self.figure(name) {
            Some(&Value::Count(count)) => count,
            _ => 0,
        }
    }

    /// Whether every check is decided and the outcomes speak for all executions.
    pub fn is_complete(&self) -> bool {
        self.incomplete.is_none() && self.outcomes.values().all(Outcome::is_decided)
    }
}

/// What happens while an engine works.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What is being done, in words.
    pub doing: Cow<'static, str>,
    /// Checks that are still open.
    pub open: usize,
    /// How far it is.
    pub figures: Vec<Figure>,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.doing)?;
        let mut separator = ": ";
        for figure in &self.figures {
            write!(f, "{separator}{figure}")?;
            separator = ", ";
        }
        let noun = if self.open == 1 { "check" } else { "checks" };
        write!(f, "{separator}{} {noun} open", self.open)
    }
}

/// A way to decide checks, with its options.
pub trait Engine: Send + Sync {
    /// What users call it.
    fn name(&self) -> &'static str;

    /// Decides what it can of the task's checks; every one of them is in the report.
    fn check(&self, task: &Task<'_>, events: &mut dyn FnMut(Event)) -> Report;

    /// The same; on the way, others are told what they might look at.
    fn check_suggesting(
        &self,
        task: &Task<'_>,
        events: &mut dyn FnMut(Event),
        _suggest: &mut dyn FnMut(Suggestion),
    ) -> Report {
        self.check(task, events)
    }

    /// This engine with its mind on what another one suggests, if it has a use for that.
    fn following(&self, _suggestion: &Suggestion) -> Option<Box<dyn Engine>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_reads_as_a_line() {
        let mut event = Event {
            doing: "refining".into(),
            open: 1,
            figures: vec![Figure::count("rounds", 3), Figure::share("covered", 0.125)],
        };
        assert_eq!(
            event.to_string(),
            "refining: 3 rounds, 12.5% covered, 1 check open"
        );
        event.figures.clear();
        event.open = 2;
        assert_eq!(event.to_string(), "refining: 2 checks open");
    }

    #[test]
    fn what_engines_give_can_be_sent_between_threads() {
        fn sent<T: Send + 'static>() {}
        fn shared<T: Sync>() {}
        sent::<Report>();
        sent::<Event>();
        shared::<Task<'_>>();
    }

    #[test]
    fn figures_are_found_by_name() {
        let report = Report {
            statistics: vec![
                Figure::count("rounds", 3),
                Figure::flag("exact search", true),
            ],
            ..Report::default()
        };
        assert_eq!(report.count("rounds"), 3);
        assert_eq!(report.count("runs"), 0);
        assert_eq!(report.figure("exact search"), Some(&Value::Flag(true)));
    }
}
