//! Leaping behind the interface of all engines.

use crate::check::{Event, Onlooker, Options, Outcome, Reason, leap};
use crate::graph::Suggestion;
use hardbop_engine as engine;
use hardbop_engine::claim::{self, Given, Run, Script};
use hardbop_engine::{Answer, Claim, Desk, Ended, Engine, Figure, Task};
use std::collections::BTreeMap;

/// Tells the desk, and takes chains to the gate.
struct AtDesk<'a>(&'a mut dyn Desk);

impl Onlooker for AtDesk<'_> {
    fn event(&mut self, event: Event) {
        self.0.event(engine::Event {
            doing: "leaping".into(),
            open: event.open,
            figures: vec![
                Figure::count("leaps", event.leaps),
                Figure::count("questions", event.questions),
            ],
        });
    }

    fn confirm(&mut self, chain: claim::Chain) -> Option<u64> {
        match self.0.submit(Claim::Chain(chain)) {
            Answer::Accepted => Some(0),
            Answer::Refused(_) => None,
        }
    }
}

/// Leaping as one engine among others.
#[derive(Clone, Debug, Default)]
pub struct Leap {
    /// How the search goes.
    pub options: Options,
}

impl Engine for Leap {
    fn name(&self) -> &'static str {
        "leap"
    }

    fn following(&self, suggestion: &engine::Suggestion) -> Option<Box<dyn Engine>> {
        let mut options = self.options.clone();
        options.suggestion = Suggestion::Through(suggestion.through.clone());
        Some(Box::new(Leap { options }))
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let mut onlooker = AtDesk(desk);
        let report = leap(
            task.model.program,
            task.model.plain.points_to,
            task.checks,
            &self.options,
            task.budget,
            &mut onlooker,
        );
        let mut open = BTreeMap::new();
        for (check, outcome) in report.outcomes {
            let reason = match outcome {
                Outcome::Violated(violation) => {
                    let given = Given::Script(Script::of(&violation.run));
                    desk.submit(Claim::Run(Run { check, given })).refused()
                }
                // Its chain was accepted.
                Outcome::Leaped(_) => None,
                Outcome::Unknown(Reason::Stopped(stopped)) => {
                    Some(engine::Reason::Stopped(stopped))
                }
                Outcome::Unknown(Reason::TooLarge | Reason::NoChain | Reason::NotConcrete) => {
                    Some(engine::Reason::NoLeap)
                }
            };
            open.extend(reason.map(|reason| (check, reason)));
        }
        let took = report.statistics;
        Ended {
            open,
            // Leaping never speaks for all executions.
            incomplete: Some(engine::Reason::NoLeap),
            statistics: vec![
                Figure::count("paths", took.paths as u64),
                Figure::count("loops tried", took.attempts),
                Figure::count("leaps", took.leaps),
                Figure::count("chains", took.chains as u64),
                Figure::count("questions", took.questions),
            ],
        }
    }
}
