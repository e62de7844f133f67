//! A proof and a run that violates what it proves cannot both be right.
//!
//! Whoever proves stands on the logic's memory, on points-to and on models; the interpreter
//! stands on less. So before anything counts as proved, some runs try to contradict it, and where
//! two engines contradict each other nobody is believed.

use crate::{Found, Step};
use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_engine::{Reason, Task};
use hardbop_gate::{Evidence, Outcome, Proof, Refutation, alone};
use hardbop_unroll::violated_in_memory_used_again;
use std::sync::Arc;
use std::time::Duration;

/// A proof and a run that violates what it proves.
#[derive(Clone, Debug)]
pub struct Contradiction {
    /// What is proved and violated.
    pub check: CheckId,
    /// Who proved it.
    pub proved: &'static str,
    /// How.
    pub proof: Arc<Proof>,
    /// Who found the run.
    pub violated: &'static str,
    /// The run.
    pub refutation: Arc<Refutation>,
}

/// Doubts are counted; this is for programs of which each run takes long.
const DOUBTING: Duration = Duration::from_millis(500);

impl Found {
    /// Compares evidence with what is known, and takes back what cannot be right.
    pub(crate) fn contradict(&mut self, engine: &'static str, evidence: &Evidence) {
        let checks: Vec<CheckId> = match evidence {
            Evidence::Proof(proof) => proof.claim().proves().to_vec(),
            Evidence::Refutation(refutation) => refutation.claim().violates().into_iter().collect(),
        };
        for check in checks {
            let other = self.engines.get(&check).copied().unwrap_or_default();
            let contradiction = match (self.report.outcomes.get(&check), evidence) {
                (Some(Outcome::Proved(proof)), Evidence::Refutation(refutation)) => Contradiction {
                    check,
                    proved: other,
                    proof: Arc::clone(proof),
                    violated: engine,
                    refutation: Arc::clone(refutation),
                },
                (Some(Outcome::Violated(refutation)), Evidence::Proof(proof)) => Contradiction {
                    check,
                    proved: engine,
                    proof: Arc::clone(proof),
                    violated: other,
                    refutation: Arc::clone(refutation),
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
            if matches!(outcome, Outcome::Proved(_)) || contradicted(check) {
                *outcome = Outcome::Unknown(Reason::Contradiction { proved, violated });
                self.engines.remove(&check);
            }
        }
        self.report.incomplete = Some(Reason::Contradiction { proved, violated });
    }

    /// Takes back what holds only because no object lies where one was that is gone.
    fn doubt_the_heap(&mut self, proved: &[CheckId], task: &Task<'_>, budget: &Budget) {
        if proved.is_empty() {
            return;
        }
        let violated = violated_in_memory_used_again(task.model.program, budget);
        for &check in proved.iter().filter(|check| violated.contains(check)) {
            let unknown = Outcome::Unknown(Reason::UsedAgain);
            self.report.outcomes.insert(check, unknown);
            self.engines.remove(&check);
        }
    }

    /// Lets some engines look for runs that contradict what is proved.
    pub(crate) fn doubt(&mut self, doubts: &[Step], task: &Task<'_>) {
        // The user's time may be over; what is told then is doubted all the same.
        let budget = Budget::unlimited().with_time(DOUBTING);
        let proved: Vec<CheckId> = self
            .report
            .outcomes
            .iter()
            .filter(|&(check, outcome)| {
                matches!(outcome, Outcome::Proved(_)) && !self.doubted.contains(check)
            })
            .map(|(&check, _)| check)
            .collect();
        self.doubted.extend(&proved);
        self.doubt_the_heap(&proved, task, &budget);
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
            let report = alone(engine.as_ref(), &task, &mut |_| {});
            for outcome in report.outcomes.into_values() {
                if let Outcome::Violated(refutation) = outcome {
                    self.contradict(engine.name(), &Evidence::Refutation(refutation));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::default_doubts;
    use hardbop_cfront::load::{LoadedProgram, load_text};
    use hardbop_engine::Claim;
    use hardbop_engine::claim::{Given, Input, Nowhere, Run, Script};
    use hardbop_gate::Gate;
    use hardbop_model::{Model, Prepared};

    /// The first check fails for one input, the second one holds.
    const PROGRAM: &str = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
int main(void) {
  int n = __VERIFIER_nondet_int();
  if (n == 7654321) reach_error();
  if (n * 2 == 1) reach_error();
  return 0;
}
";

    const BOTH: [CheckId; 2] = [CheckId(0), CheckId(1)];

    const CONTRADICTED: &str = "UNKNOWN because of an internal error: engine liar has a proof, \
                                and engine run a run that contradicts it";

    fn loaded() -> LoadedProgram {
        load_text("test.c", PROGRAM).expect("the program is well formed")
    }

    /// A proof that is none.
    fn lie(checks: &[CheckId]) -> Evidence {
        let checks = checks.to_vec();
        Evidence::Proof(Proof::forged(Claim::Nowhere(Nowhere { checks })))
    }

    /// The run that violates the first check.
    fn truth(model: &Model<'_>) -> Evidence {
        let script = Script {
            inputs: vec![Input::Bits(format!("{:x}", 7_654_321))],
            unknowns: Vec::new(),
        };
        let run = Run {
            check: CheckId(0),
            given: Given::Script(script),
        };
        let gate = Gate::new(model, Budget::unlimited());
        gate.check(Claim::Run(run)).expect("the run replays")
    }

    fn asked(checks: &[CheckId]) -> Found {
        let mut found = Found::default();
        for &check in checks {
            let open = Outcome::Unknown(Reason::Length(0));
            found.report.outcomes.insert(check, open);
        }
        found
    }

    fn said(found: &Found) -> Vec<String> {
        let outcomes = found.report.outcomes.values();
        let text = |outcome: &Outcome| match outcome {
            Outcome::Proved(_) => "PROVED".to_owned(),
            Outcome::Violated(_) => "VIOLATED".to_owned(),
            Outcome::Unknown(reason) => format!("UNKNOWN because {reason}"),
        };
        outcomes.map(text).collect()
    }

    #[test]
    fn a_proof_is_doubted_before_it_is_told() {
        let loaded = loaded();
        let prepared =
            Prepared::with_points_to(&loaded.program, loaded.points_to, &Budget::unlimited())
                .unwrap();
        let task = Task {
            model: &Model::new(&loaded.program, &prepared),
            checks: &BOTH,
            budget: &Budget::unlimited(),
        };
        let mut found = asked(&BOTH);
        found.take("liar", &lie(&BOTH));
        assert_eq!(said(&found), ["PROVED", "PROVED"]);
        found.doubt(&default_doubts(), &task);
        // The second proof is no better than the first one.
        assert_eq!(said(&found), [CONTRADICTED, CONTRADICTED]);
        assert_eq!(found.contradictions.len(), 1);
        assert_eq!(found.contradictions[0].check, CheckId(0));
        assert!(found.engines.is_empty());
        assert!(!found.report.is_complete());
    }

    #[test]
    fn a_violation_and_a_later_proof_contradict_each_other() {
        let loaded = loaded();
        let prepared =
            Prepared::with_points_to(&loaded.program, loaded.points_to, &Budget::unlimited())
                .unwrap();
        let model = Model::new(&loaded.program, &prepared);
        let mut found = asked(&BOTH);
        found.take("run", &truth(&model));
        found.take("liar", &lie(&BOTH));
        // The liar's other proof does not count either.
        let said = said(&found);
        assert_eq!(said[0], CONTRADICTED);
        assert!(said[1].starts_with("UNKNOWN"), "{said:?}");
    }

    #[test]
    fn after_a_contradiction_nothing_is_proved() {
        let loaded = loaded();
        let prepared =
            Prepared::with_points_to(&loaded.program, loaded.points_to, &Budget::unlimited())
                .unwrap();
        let model = Model::new(&loaded.program, &prepared);
        let mut found = asked(&BOTH);
        found.take("liar", &lie(&[CheckId(0)]));
        found.take("run", &truth(&model));
        found.take("another", &lie(&[CheckId(1)]));
        let said = said(&found);
        assert_eq!(said[0], CONTRADICTED);
        assert!(said[1].starts_with("UNKNOWN"), "{said:?}");
    }
}
