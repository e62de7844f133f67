//! Leaping behind the interface of all engines.

use crate::check::{Options, Outcome, Reason, leap};
use crate::graph::Suggestion;
use hardbop_engine as engine;
use hardbop_engine::{Engine, Figure, Task};

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

    /// Only violations that were replayed are outcomes here. One whose run is too long for that
    /// is told as the reason why the check is open.
    fn check(&self, task: &Task<'_>, events: &mut dyn FnMut(engine::Event)) -> engine::Report {
        let mut tell = |event: crate::check::Event| {
            events(engine::Event {
                doing: "leaping".into(),
                open: event.open,
                figures: vec![
                    Figure::count("leaps", event.leaps),
                    Figure::count("questions", event.questions),
                ],
            });
        };
        let report = leap(
            task.program,
            task.points_to,
            task.checks,
            &self.options,
            task.budget,
            &mut tell,
        );
        let outcomes = report
            .outcomes
            .into_iter()
            .map(|(check, outcome)| {
                let outcome = match outcome {
                    Outcome::Violated(violation) => engine::Outcome::Violated(violation),
                    Outcome::Leaped(claim) => {
                        engine::Outcome::Unknown(engine::Reason::NotReplayed {
                            steps: claim.length,
                            questions: claim.questions,
                        })
                    }
                    Outcome::Unknown(reason) => engine::Outcome::Unknown(match reason {
                        Reason::Stopped(stopped) => engine::Reason::Stopped(stopped),
                        Reason::TooLarge => engine::Reason::NoLeap,
                        Reason::NoChain | Reason::NotConcrete => engine::Reason::NoLeap,
                    }),
                };
                (check, outcome)
            })
            .collect();
        let took = report.statistics;
        engine::Report {
            outcomes,
            statistics: vec![
                Figure::count("paths", took.paths as u64),
                Figure::count("loops tried", took.attempts),
                Figure::count("leaps", took.leaps),
                Figure::count("chains", took.chains as u64),
                Figure::count("questions", took.questions),
            ],
            ..engine::Report::default()
        }
    }
}
