//! A desk with the gate behind it, which keeps what is accepted.

use hardbop_budget::Budget;
use hardbop_engine::claim::Invariants;
use hardbop_engine::{Answer, Claim, Desk, Event};
use hardbop_gate::{Evidence, Gate};
use hardbop_model::Model;

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
