//! Engines on slices of the program, the smallest first.
//!
//! A proof of a slice is claimed of the program, and the gate checks it of that. A violation of a
//! slice is a guess: the run is replayed on the program, and if it cannot be, the next slice has
//! more of what decides that.

use crate::Step;
use hardbop_cfront::ids::{CheckId, FuncId};
use hardbop_engine::{Answer, Claim, Desk, Ended, Engine, Event, Figure, Reason, Suggestion, Task};
use hardbop_model::relevance::Depth;
use hardbop_model::sliced::Sliced;

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
const MOST: usize = 70;

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
        let mut before = None;
        for &depth in &self.depths {
            let sliced = Sliced::new(task.model, open, depth, task.budget);
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
                figures: vec![
                    Figure::count("edges", sliced.edges as u64),
                    Figure::count("kept", sliced.kept as u64),
                ],
            });
            if sliced.kept * 100 > sliced.edges * MOST {
                return Ok(());
            }
            let model = sliced.model(task.model.program);
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

/// The desk of those who work on a slice.
struct Counter<'a> {
    desk: &'a mut dyn Desk,
    name: &'static str,
    apart: &'a [FuncId],
}

impl Desk for Counter<'_> {
    fn event(&mut self, mut event: Event) {
        event.doing = format!("{} {}", self.name, event.doing).into();
        self.desk.event(event);
    }

    fn submit(&mut self, claim: Claim) -> Answer {
        match claim {
            Claim::Invariants(mut invariants) => {
                invariants.apart = self.apart.to_vec();
                self.desk.submit(Claim::Invariants(invariants))
            }
            Claim::Run(_) => self.desk.submit(claim),
            // These follow executions, of which the program has others.
            _ => Answer::Refused(Reason::Certificate),
        }
    }

    fn suggest(&mut self, _: Suggestion) {}
}
