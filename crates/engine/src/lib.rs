//! What every engine takes and gives back: the one interface of all of them.
//!
//! An [`Engine`] takes a [`Task`] — a prepared program, the checks that are still open and a
//! budget — and a [`Desk`], to which it tells how far it is ([`Event`]) and hands in its
//! [`Claim`]s. It never says PROVED or VIOLATED: what it claims is checked by the gate, behind the
//! desk, and the engine learns whether it was accepted. In the end it says why the rest is open
//! ([`Ended`]). Everything here is plain data that can be sent between threads, so engines can run
//! side by side: give each of them a [child](Budget::child) of the user's budget, and cancel it
//! when others have decided everything.

pub mod claim;
mod desk;
mod figures;
mod reason;
mod suggestion;
mod turn;

pub use claim::Claim;
pub use desk::{Answer, Desk};
pub use figures::{Figure, Value};
pub use reason::{Construct, Place, Reason};
pub use suggestion::Suggestion;
pub use turn::Turn;

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::program::CheckKind;
use hardbop_model::Model;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// What an engine is to decide, and what it may use for that.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The program, prepared.
    pub model: &'a Model<'a>,
    /// The checks that are still open.
    pub checks: &'a [CheckId],
    /// What the engine may use.
    pub budget: &'a Budget,
}

/// What an engine leaves when it is done.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// Why checks are open. The other checks of the task are claimed, and were accepted.
    pub open: BTreeMap<CheckId, Reason>,
    /// Why its claims do not speak for all executions, if they do not: something that is not
    /// supported can be reached (what comes after it is not seen), or the search was stopped.
    pub incomplete: Option<Reason>,
    /// What it cost, in the order in which it is shown.
    pub statistics: Vec<Figure>,
}

impl Ended {
    /// All checks of a task are open, for one reason.
    pub fn open(task: &Task<'_>, reason: &Reason) -> Ended {
        let open = task.checks.iter().map(|&check| (check, reason.clone()));
        Ended {
            open: open.collect(),
            incomplete: Some(reason.clone()),
            statistics: Vec::new(),
        }
    }

    /// The same for a program that is not searched at all, which is told.
    pub fn declined(task: &Task<'_>, desk: &mut dyn Desk, reason: &Reason) -> Ended {
        desk.event(Event {
            doing: reason.to_string().into(),
            open: task.checks.len(),
            figures: Vec::new(),
        });
        Ended::open(task, reason)
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

/// How machine integers are read by engines that may guess while they search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encodings {
    /// Over the integers first; exactly where that was not good enough.
    IntegersFirst,
    /// Exactly from the start.
    BitsOnly,
}

/// What an engine can claim something of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Of checks that stand somewhere.
    Places,
    /// Of whether every execution ends.
    Ends,
    /// Of both.
    Both,
}

impl Scope {
    /// Whether a check is within it.
    pub fn covers(self, kind: CheckKind) -> bool {
        match self {
            Scope::Both => true,
            Scope::Places => kind != CheckKind::Termination,
            Scope::Ends => kind == CheckKind::Termination,
        }
    }
}

/// A way to decide checks, with its options.
pub trait Engine: Send + Sync {
    /// What users call it.
    fn name(&self) -> &'static str;

    /// What it can claim something of: it is not asked about the rest.
    fn scope(&self) -> Scope {
        Scope::Places
    }

    /// Decides what it can of the task's checks: each of them is in an accepted claim in the end,
    /// or open with a reason.
    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended;

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
        sent::<Ended>();
        sent::<Claim>();
        sent::<Event>();
        shared::<Task<'_>>();
    }
}
