//! A desk with the gate behind it, which keeps what is accepted, and engines by themselves at it.

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::program::Program;
use hardbop_engine::claim::Invariants;
use hardbop_engine::{Answer, Claim, Desk, Ended, Engine, Event, Reason, Task};
use hardbop_gate::{Evidence, Gate};
use hardbop_model::{Model, Prepared};
use std::collections::BTreeMap;

/// Keeps the claims that the gate accepts.
pub struct Keeping<'a> {
    /// The gate: claims can be handed in past the desk, too.
    pub gate: Gate<'a>,
    /// What it has accepted.
    pub kept: Vec<Claim>,
}

impl<'a> Keeping<'a> {
    /// Nothing is accepted yet.
    pub fn new(model: &'a Model<'a>, budget: Budget) -> Keeping<'a> {
        Keeping {
            gate: Gate::new(model, budget),
            kept: Vec::new(),
        }
    }

    /// The invariants that were accepted.
    pub fn invariants(&self) -> Vec<Invariants> {
        let kept = self.kept.iter().filter_map(|claim| match claim {
            Claim::Invariants(claim) => Some(claim.clone()),
            _ => None,
        });
        kept.collect()
    }
}

impl Desk for Keeping<'_> {
    fn event(&mut self, _: Event) {}

    fn submit(&mut self, claim: Claim) -> Answer {
        match self.gate.check(claim) {
            Ok(Evidence::Proof(proof)) => self.kept.push(proof.claim().clone()),
            Ok(Evidence::Refutation(run)) => self.kept.push(run.claim().clone()),
            Err(reason) => return Answer::Refused(reason),
        }
        Answer::Accepted
    }
}

/// What an engine by itself leaves open of a program's checks.
pub fn left_open(program: &Program, engine: &dyn Engine) -> BTreeMap<CheckId, Reason> {
    by_itself(program, engine, |ended, _| ended.open)
}

/// How many checks of a program an engine by itself proves by invariants, and which changes of
/// these the gate accepts.
pub fn changed(
    program: &Program,
    engine: &dyn Engine,
    changes: &dyn Fn(&Invariants) -> Vec<Invariants>,
) -> (usize, Vec<bool>) {
    by_itself(program, engine, |_, desk| {
        let (mut proved, mut accepted) = (0, Vec::new());
        for claim in &desk.invariants() {
            proved += claim.checks.len();
            for mutant in changes(claim) {
                let answer = desk.gate.check(Claim::Invariants(mutant));
                accepted.push(answer.is_ok());
            }
        }
        (proved, accepted)
    })
}

/// Lets an engine look for answers about all checks of a program, which is prepared for it.
fn by_itself<T>(
    program: &Program,
    engine: &dyn Engine,
    then: impl FnOnce(Ended, Keeping<'_>) -> T,
) -> T {
    let checks: Vec<CheckId> = (0..program.checks.len() as u32).map(CheckId).collect();
    assert!(!checks.is_empty(), "there is something to check");
    let budget = Budget::unlimited();
    let prepared = Prepared::new(program, &budget).expect("nothing stops it");
    let model = Model::new(program, &prepared);
    let task = Task {
        model: &model,
        checks: &checks,
        budget: &budget,
    };
    let mut desk = Keeping::new(&model, budget.clone());
    let ended = engine.check(&task, &mut desk);
    then(ended, desk)
}
