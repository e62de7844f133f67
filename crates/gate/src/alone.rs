//! One engine alone, with the gate behind it.

use crate::{Evidence, Gate, Outcome, Proof};
use hardbop_cfront::ids::CheckId;
use hardbop_engine::{
    Answer, Claim, Desk, Ended, Engine, Event, Figure, Reason, Suggestion, Task, Value,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is known of a task's checks.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// For every check of the task.
    pub outcomes: BTreeMap<CheckId, Outcome>,
    /// Why the outcomes do not speak for all executions, if they do not: something that is not
    /// supported can be reached (what comes after it is not seen), or the search was stopped.
    pub incomplete: Option<Reason>,
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

    /// The proofs behind the outcomes, each once.
    pub fn proofs(&self) -> Vec<&Arc<Proof>> {
        let mut proofs: Vec<&Arc<Proof>> = Vec::new();
        for outcome in self.outcomes.values() {
            if let Outcome::Proved(proof) = outcome
                && !proofs.iter().any(|known| Arc::ptr_eq(known, proof))
            {
                proofs.push(proof);
            }
        }
        proofs
    }
}

/// Lets one engine decide a task. `events` is told how far it is.
pub fn alone(
    engine: &dyn Engine,
    task: &Task<'_>,
    events: &mut (dyn FnMut(Event) + Send),
) -> Report {
    let work = |desk: &mut dyn Desk| (engine.check(task, desk), ());
    alone_telling(work, task, events).0
}

/// The same for a search that has more to tell than engines do: that is handed through.
pub fn alone_telling<T>(
    search: impl FnOnce(&mut dyn Desk) -> (Ended, T),
    task: &Task<'_>,
    events: &mut (dyn FnMut(Event) + Send),
) -> (Report, T) {
    let mut desk = Alone {
        gate: Gate::new(task.model, task.budget.clone()),
        events,
        outcomes: BTreeMap::new(),
        complete: false,
    };
    let (ended, told) = search(&mut desk);
    let Ended {
        open,
        incomplete,
        statistics,
    } = ended;
    let Alone {
        mut outcomes,
        complete,
        ..
    } = desk;
    for &check in task.checks {
        outcomes.entry(check).or_insert_with(|| {
            let reason = open.get(&check).cloned();
            Outcome::Unknown(reason.unwrap_or(Reason::Evidence))
        });
    }
    let violated = |outcome: &Outcome| matches!(outcome, Outcome::Violated(_));
    let all_violated = !outcomes.is_empty() && outcomes.values().all(violated);
    let report = Report {
        outcomes,
        incomplete: incomplete.filter(|_| !complete && !all_violated),
        statistics,
    };
    (report, told)
}

struct Alone<'a, 'e> {
    gate: Gate<'a>,
    events: &'e mut (dyn FnMut(Event) + Send),
    outcomes: BTreeMap<CheckId, Outcome>,
    complete: bool,
}

impl Desk for Alone<'_, '_> {
    fn event(&mut self, event: Event) {
        (self.events)(event);
    }

    fn submit(&mut self, claim: Claim) -> Answer {
        match self.gate.check(claim) {
            Err(reason) => Answer::Refused(reason),
            Ok(Evidence::Proof(proof)) => {
                self.complete = true;
                for &check in proof.claim().proves() {
                    let outcome = Outcome::Proved(Arc::clone(&proof));
                    self.outcomes.entry(check).or_insert(outcome);
                }
                Answer::Accepted
            }
            Ok(Evidence::Refutation(refutation)) => {
                if let Some(check) = refutation.claim().violates() {
                    self.outcomes.insert(check, Outcome::Violated(refutation));
                }
                Answer::Accepted
            }
        }
    }

    fn suggest(&mut self, _: Suggestion) {}
}
