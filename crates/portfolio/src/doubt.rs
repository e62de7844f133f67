//! A proof and a run that violates what it proves cannot both be right.
//!
//! Whoever proves stands on the logic's memory, on points-to and on models; the interpreter
//! stands on less. So before anything counts as proved, some runs try to contradict it, and where
//! two engines contradict each other nobody is believed.

use crate::{Found, Step};
use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_engine::{Outcome, Proof, Reason, Report, Task, Violation};
use std::time::Duration;

/// A proof and a run that violates what it proves.
#[derive(Clone, Debug)]
pub struct Contradiction {
    /// What is proved and violated.
    pub check: CheckId,
    /// Who proved it.
    pub proved: &'static str,
    /// How.
    pub proof: Option<Proof>,
    /// Who found the run.
    pub violated: &'static str,
    /// The run.
    pub violation: Violation,
}

/// Doubts are counted; this is for programs of which each run takes long.
const DOUBTING: Duration = Duration::from_millis(500);

impl Found {
    /// Compares what an engine reports with what is known, and takes back what cannot be right.
    pub(crate) fn contradict(&mut self, engine: &'static str, report: &Report) {
        for (&check, outcome) in &report.outcomes {
            let other = self.engines.get(&check).copied().unwrap_or_default();
            let contradiction = match (self.report.outcomes.get(&check), outcome) {
                (Some(Outcome::Proved), Outcome::Violated(violation)) => Contradiction {
                    check,
                    proved: other,
                    proof: self.report.proof.clone(),
                    violated: engine,
                    violation: (**violation).clone(),
                },
                (Some(Outcome::Violated(violation)), Outcome::Proved) => Contradiction {
                    check,
                    proved: engine,
                    proof: report.proof.clone(),
                    violated: other,
                    violation: (**violation).clone(),
                },
                _ => continue,
            };
            self.contradictions.push(contradiction);
        }
        self.take_back();
    }

    /// If there is a contradiction, nothing is proved, and what it is about is not violated.
    fn take_back(&mut self) {
        let Some(first) = self.contradictions.first() else {
            return;
        };
        let (proved, violated) = (first.proved, first.violated);
        let contradicted = |check| self.contradictions.iter().any(|one| one.check == check);
        for (&check, outcome) in &mut self.report.outcomes {
            if matches!(outcome, Outcome::Proved) || contradicted(check) {
                *outcome = Outcome::Unknown(Reason::Contradiction { proved, violated });
                self.engines.remove(&check);
            }
        }
        self.report.incomplete = Some(Reason::Contradiction { proved, violated });
        self.report.proof = None;
    }

    /// Where an execution can come to what has no known meaning, it may come to any check from
    /// there: nothing is proved.
    fn take_back_unseen(&mut self) {
        let Some(reason @ Reason::Unsupported(_)) = &self.report.incomplete else {
            return;
        };
        for (check, outcome) in &mut self.report.outcomes {
            if matches!(outcome, Outcome::Proved) {
                *outcome = Outcome::Unknown(reason.clone());
                self.engines.remove(check);
            }
        }
        self.report.proof = None;
    }

    /// Lets some engines look for runs that contradict what is proved.
    pub(crate) fn doubt(&mut self, doubts: &[Step], task: &Task<'_>) {
        self.take_back_unseen();
        // The user's time may be over; what is told then is doubted all the same.
        let budget = Budget::unlimited().with_time(DOUBTING);
        let proved: Vec<CheckId> = self
            .report
            .outcomes
            .iter()
            .filter(|&(check, outcome)| {
                matches!(outcome, Outcome::Proved) && !self.doubted.contains(check)
            })
            .map(|(&check, _)| check)
            .collect();
        self.doubted.extend(&proved);
        for engine in doubts {
            // What the same engine proved by the only run is a run itself.
            let by_others = |check: &&CheckId| self.engines.get(check) != Some(&engine.name());
            let checks: Vec<CheckId> = proved.iter().filter(by_others).copied().collect();
            if checks.is_empty() {
                continue;
            }
            let task = Task {
                checks: &checks,
                budget: &budget,
                ..*task
            };
            let mut report = engine.check(&task, &mut |_| {});
            let violated = |outcome: &mut Outcome| matches!(outcome, Outcome::Violated(_));
            report.outcomes.retain(|_, outcome| violated(outcome));
            self.contradict(engine.name(), &report);
        }
    }
}
