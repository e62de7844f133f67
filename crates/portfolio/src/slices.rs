//! Engines on slices of the program, the smallest first.
//!
//! A proof of a slice is claimed of the program, and the gate checks it of that. A violation of a
//! slice is a guess: the run is replayed on the program, and if it cannot be, the next slice has
//! more of what decides that.

use crate::Step;
use hardbop_budget::Budget;
use hardbop_cfront::ids::{CheckId, FuncId};
use hardbop_cfront::indices::{self, Opened};
use hardbop_cfront::program::Program;
use hardbop_engine::claim::{Given, Reach, Run};
use hardbop_engine::{
    Answer, Claim, Desk, Ended, Engine, Event, Figure, Reason, Suggestion, Task, Turn,
};
use hardbop_model::relevance::Depth;
use hardbop_model::sliced::Sliced;
use hardbop_model::{Model, Prepared};
use hardbop_unroll::Guided;
use std::time::Duration;

/// Engines on slices.
pub struct Slices {
    /// The engines, one after the other.
    pub engines: Vec<Step>,
    /// How much of the program a slice has, from one to the next.
    pub depths: Vec<Depth>,
    /// Programs that have fewer edges after inlining are left to others: they take no time as a
    /// whole.
    pub edges: usize,
}

/// Of a hundred edges a slice has at most so many: else it is as good as the program.
const MOST: usize = 50;

impl Engine for Slices {
    fn name(&self) -> &'static str {
        "slice"
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let mut open = task.checks.to_vec();
        let reason = self.search(task, &mut open, desk).err();
        let reason = reason.unwrap_or(Reason::Turn);
        let incomplete = (!open.is_empty()).then(|| reason.clone());
        Ended {
            open: open
                .into_iter()
                .map(|check| (check, reason.clone()))
                .collect(),
            incomplete,
            statistics: Vec::new(),
        }
    }
}

impl Slices {
    /// Searches slice by slice, until nothing is open.
    fn search(
        &self,
        task: &Task<'_>,
        open: &mut Vec<CheckId>,
        desk: &mut dyn Desk,
    ) -> Result<(), Reason> {
        if task.model.flat.program.edges.len() < self.edges {
            return Ok(());
        }
        let (program, points_to) = (task.model.program, task.model.plain.points_to);
        let opened = indices::open(program, points_to, task.budget).map_err(Reason::Stopped)?;
        // What no slice can do without is rarely what indices of arrays are.
        let Some(Opened { program, points_to }) = opened else {
            return self.search_in(task.model, Reach::Elements, task, open, desk);
        };
        let prepared = Prepared::with_points_to(&program, points_to, task.budget);
        let prepared = prepared.map_err(Reason::Stopped)?;
        let model = Model::new(&program, &prepared);
        self.search_in(&model, Reach::Object, task, open, desk)
    }

    /// Searches slices of a program as indices reach in it.
    fn search_in(
        &self,
        model: &Model<'_>,
        indices: Reach,
        task: &Task<'_>,
        open: &mut Vec<CheckId>,
        desk: &mut dyn Desk,
    ) -> Result<(), Reason> {
        let (whole, budget) = (model, task.budget);
        let mut before = None;
        for &depth in &self.depths {
            let sliced = Sliced::new(whole, open, depth, task.budget);
            let Some(sliced) = sliced.map_err(Reason::Stopped)? else {
                return Ok(());
            };
            if before == Some(sliced.kept) {
                continue;
            }
            before = Some(sliced.kept);
            desk.event(Event {
                doing: "slicing".into(),
                open: open.len(),
                figures: figures(&sliced),
            });
            if sliced.kept * 100 > sliced.edges * MOST {
                return Ok(());
            }
            let model = sliced.model(whole.program);
            for engine in &self.engines {
                task.budget.check().map_err(Reason::Stopped)?;
                let task = Task {
                    model: &model,
                    checks: open,
                    budget: task.budget,
                };
                let mut desk = Counter {
                    desk,
                    name: engine.name(),
                    apart: &sliced.apart,
                    indices,
                    program: model.program,
                    budget,
                };
                let ended = engine.check(&task, &mut desk);
                open.retain(|check| ended.open.contains_key(check));
                if let Some(reason) = ended.open.values().next() {
                    desk.event(Event {
                        doing: format!("gave up ({reason})").into(),
                        open: open.len(),
                        figures: Vec::new(),
                    });
                }
                if open.is_empty() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// What a slice has left of the program.
fn figures(sliced: &Sliced) -> Vec<Figure> {
    let Sliced { whole, size, .. } = sliced;
    [
        ("edges", sliced.edges),
        ("kept", sliced.kept),
        ("statements", whole.statements),
        ("statements left", size.statements),
        ("variables", whole.variables),
        ("variables left", size.variables),
        ("procedures", whole.procedures),
        ("procedures left", size.procedures),
    ]
    .map(|(name, count)| Figure::count(name, count as u64))
    .to_vec()
}

/// The desk of those who work on a slice.
struct Counter<'a> {
    desk: &'a mut dyn Desk,
    name: &'static str,
    apart: &'a [FuncId],
    indices: Reach,
    program: &'a Program,
    budget: &'a Budget,
}

impl Counter<'_> {
    /// Submits a run. What the slice left out is not in its choices, so where they do not do, it is
    /// guessed.
    fn submit_run(&mut self, run: Run) -> Answer {
        let check = run.check;
        let choices = match &run.given {
            Given::Choices(choices) => choices.clone(),
            Given::Script(_) => Vec::new(),
        };
        let answer = self.desk.submit(Claim::Run(run));
        if !matches!(answer, Answer::Refused(Reason::Replay(_))) || choices.is_empty() {
            return answer;
        }
        let turn = Turn {
            parts: 1,
            of: 10,
            at_most: GUESSING,
        };
        let budget = turn.of(self.budget);
        let guided = Guided::default();
        match guided.complete(self.program, &choices, check, &budget) {
            Some(script) => {
                let given = Given::Script(script);
                self.desk.submit(Claim::Run(Run { check, given }))
            }
            None => answer,
        }
    }
}

/// How long runs are guessed for a way through a slice.
const GUESSING: Duration = Duration::from_secs(1);

impl Desk for Counter<'_> {
    fn event(&mut self, mut event: Event) {
        event.doing = format!("{} {}", self.name, event.doing).into();
        self.desk.event(event);
    }

    fn submit(&mut self, claim: Claim) -> Answer {
        match claim {
            Claim::Invariants(mut invariants) => {
                invariants.apart = self.apart.to_vec();
                invariants.indices = self.indices;
                self.desk.submit(Claim::Invariants(invariants))
            }
            Claim::Run(run) => self.submit_run(run),
            // These follow executions, of which the program has others.
            _ => Answer::Refused(Reason::Certificate),
        }
    }

    fn suggest(&mut self, _: Suggestion) {}
}
