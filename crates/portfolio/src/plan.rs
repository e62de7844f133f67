//! Which engines run, and when.

use hardbop_cegar::Slam;
use hardbop_dpr::Dpr;
use hardbop_engine::{Desk, Encodings, Ended, Engine, Suggestion, Task};
use hardbop_horn::WholeProgram;
use hardbop_houdini::{Elements, Houdini};
use hardbop_leap::Leap;
use hardbop_terminate::{Lassos, Ranks, Recurrences};
use hardbop_unroll::{Guesses, Runs, Unroll};
use std::time::Duration;

/// An engine of a plan.
pub type Step = Box<dyn Engine>;

/// Which engines run, and when.
pub struct Plan {
    /// These, one after the other.
    pub first: Vec<Step>,
    /// Then these side by side, each lane one engine after the other.
    pub lanes: Vec<Vec<Step>>,
    /// These take up what the others suggest, beside them.
    pub followers: Vec<Step>,
    /// Before anything counts as proved, these try to find a run that contradicts it. They end by
    /// themselves, and soon.
    pub doubts: Vec<Step>,
}

impl Plan {
    /// One engine by itself.
    pub fn alone(engine: impl Engine + 'static) -> Plan {
        Plan {
            first: vec![Box::new(engine)],
            lanes: Vec::new(),
            followers: Vec::new(),
            doubts: default_doubts(),
        }
    }
}

/// An engine with a time limit of its own.
struct Timed {
    engine: Step,
    time: Duration,
}

/// The engine, for no more than this time and no more than a quarter of what is left.
pub fn timed(engine: impl Engine + 'static, time: Duration) -> Step {
    let engine = Box::new(engine);
    Box::new(Timed { engine, time })
}

impl Engine for Timed {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let left = task.budget.remaining().unwrap_or(Duration::MAX);
        let end = task.budget.elapsed() + self.time.min(left / 4);
        let budget = task.budget.clone().with_time(end);
        let task = Task {
            budget: &budget,
            ..*task
        };
        self.engine.check(&task, desk)
    }

    fn following(&self, suggestion: &Suggestion) -> Option<Step> {
        let engine = self.engine.following(suggestion)?;
        let time = self.time;
        Some(Box::new(Timed { engine, time }))
    }
}

/// The plan for programs of which nothing is known: the only run if there is just one, invariants
/// by guessing, a few layers, a few runs, facts about all elements of arrays where there are such,
/// then side by side the SLAM loop, Horn clauses of the whole program, and longer searches for
/// violations. The first steps are counted rather than timed where that is possible, so that they
/// do the same on every machine.
pub fn default_plan(arithmetic: Encodings) -> Plan {
    let only = Runs {
        runs: 0,
        only_run: 2_000_000,
        ..Runs::default()
    };
    let shallow = Unroll {
        layers: 8,
        // Large programs would take too long to begin with.
        edges: 1_500,
        time: Some(Duration::from_secs(4)),
        ..Unroll::default()
    };
    let guesses = Runs {
        runs: 48,
        steps: 5_000,
        only_run: 0,
        ..Runs::default()
    };
    let elements = Houdini {
        time: Duration::from_secs(8),
        elements: Elements::Needed,
        ..Houdini::default()
    };
    Plan {
        first: vec![
            Box::new(only),
            Box::new(Houdini {
                elements: Elements::Left,
                ..Houdini::default()
            }),
            Box::new(shallow),
            Box::new(guesses),
            Box::new(elements),
        ],
        lanes: vec![
            vec![Box::new(Slam::reading(arithmetic))],
            vec![Box::new(WholeProgram::reading(arithmetic))],
            vec![
                Box::new(Runs {
                    only_run: 50_000_000,
                    // It shares its core with the proofs.
                    guessing: Duration::from_secs(1),
                    ..Runs::default()
                }),
                timed(Unroll::default(), Duration::from_secs(4)),
                timed(Leap::default(), Duration::from_secs(4)),
                timed(Dpr::default(), Duration::from_secs(3)),
                Box::new(Runs::default()),
                Box::new(Unroll::default()),
            ],
        ],
        followers: vec![timed(Leap::default(), Duration::from_secs(4))],
        doubts: default_doubts(),
    }
}

/// The plan for the question whether every execution ends: the only run if there is just one, a
/// state that comes again in some runs, ranks that need no invariants; then side by side ranks that
/// do, and on the other side more runs, recurrent sets, and all executions followed to their ends.
pub fn termination_plan() -> Plan {
    let only = Runs {
        runs: 0,
        only_run: 2_000_000,
        ..Runs::default()
    };
    let some = Lassos {
        runs: 200,
        time: Duration::from_secs(1),
        ..Lassos::default()
    };
    let more = Lassos {
        runs: 2_000,
        ..Lassos::default()
    };
    let many = Lassos {
        runs: 100_000,
        steps: 3_000_000,
        time: Duration::from_secs(3_600),
    };
    Plan {
        first: vec![
            Box::new(only),
            Box::new(some),
            Box::new(Ranks { guessing: None }),
        ],
        lanes: vec![
            vec![Box::new(Ranks::default()), Box::new(many)],
            vec![
                Box::new(more),
                Box::new(Recurrences::default()),
                Box::new(Unroll::default()),
            ],
        ],
        followers: Vec::new(),
        doubts: vec![Box::new(Lassos {
            runs: 64,
            steps: 5_000,
            time: Duration::from_millis(300),
        })],
    }
}

/// Runs on guessed inputs: they share neither the logic nor the points-to analysis with those who
/// prove. Counted, so that a small program is doubted in the same way on every machine.
pub fn default_doubts() -> Vec<Step> {
    vec![Box::new(Runs {
        runs: 64,
        steps: 5_000,
        only_run: 0,
        guesses: Guesses::Hinted,
        ..Runs::default()
    })]
}
