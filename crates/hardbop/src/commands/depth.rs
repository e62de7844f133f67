//! `--depth`: how far checks hold that nobody decided.
//!
//! The program is cut off after so many iterations of each loop, and engines that follow all
//! executions to their ends look at what is left of it: what they prove holds up to that depth; what they find violated is run on the
//! program itself, by the gate, before it counts.

use crate::cli::EngineChoice;
use crate::commands::check::prepared;
use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::program::CheckKind;
use hardbop_engine::claim::{Given, Run, Script};
use hardbop_engine::{Claim, Event, Task};
use hardbop_gate::{Evidence, Gate, Outcome};
use hardbop_houdini::Houdini;
use hardbop_model::Model;
use hardbop_model::bounded::bounded;
use hardbop_model::loops::all_are_short;
use hardbop_model::stages::Following;
use hardbop_portfolio::{Depth, Found, Listener, Plan, Until};
use hardbop_unroll::{DecidedBy, Runs, Unroll};
use std::time::Duration;

/// How long a proof is looked for before, if there is no limit.
const PROVING: Duration = Duration::from_secs(10);

/// An engine that is asked for by name looks at this depth before the one that is asked for.
const SHALLOW: u32 = 2;

/// What is to be looked at.
pub struct Deeper<'a> {
    /// The program.
    pub model: &'a Model<'a>,
    /// The preparations that are left out.
    pub without: &'a [String],
    /// How many iterations of each loop.
    pub wanted: u32,
    /// Whose work that is.
    pub engines: Engines,
    /// When it is over.
    pub until: Until,
    /// Within what.
    pub budget: &'a Budget,
}

/// The part of a budget in which proofs are looked for: half of the time.
pub fn searching(budget: &Budget) -> Budget {
    let part = budget.remaining().map_or(PROVING, |left| left / 2);
    budget.child().with_time(budget.elapsed() + part)
}

/// Whether a depth could say something of what was found.
pub fn is_open(found: &Found) -> bool {
    let mut outcomes = found.report.outcomes.values();
    found.contradictions.is_empty() && outcomes.any(|outcome| !outcome.is_decided())
}

/// Who looks at what is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engines {
    /// Those whose work ends where the executions do, and one who may find an invariant.
    All,
    /// One that the user named, and that follows executions.
    One(DecidedBy),
}

impl Engines {
    /// Those that a user means who names an engine, or none.
    pub fn of(choice: EngineChoice) -> Engines {
        match choice {
            EngineChoice::Sat => Engines::One(DecidedBy::Circuits),
            EngineChoice::Unroll => Engines::One(DecidedBy::Smt),
            _ => Engines::All,
        }
    }

    /// Whether a program is to be looked at without a depth first. An engine that follows executions
    /// would go on for ever where they do.
    pub fn look_without_depth(self, model: &Model<'_>) -> bool {
        let flat = &model.flat;
        self == Engines::All || !flat.has_calls() && all_are_short(flat.program, flat.program.entry)
    }

    fn plan(self) -> Plan {
        match self {
            // Every loop has an end now.
            Engines::One(decided_by) => Plan::alone(Unroll {
                decided_by,
                following: Following::Points,
                ..Unroll::default()
            }),
            Engines::All => Plan {
                lanes: vec![
                    vec![Box::new(Unroll::on_circuits())],
                    vec![Box::new(Unroll::default())],
                    vec![Box::new(Houdini::default())],
                ],
                ..Plan::alone(Runs::default())
            },
        }
    }
}

/// The plan of nobody: all is open.
pub fn nobody() -> Plan {
    Plan {
        first: Vec::new(),
        ..Plan::alone(Runs::default())
    }
}

impl Deeper<'_> {
    /// Looks at what is open, deeper and deeper.
    pub fn look(&self, found: &mut Found, listener: &mut dyn Listener) {
        // Most of what can be found is found in short executions, and those are few.
        let mut depth = match self.engines {
            Engines::One(_) if self.wanted <= SHALLOW => self.wanted,
            _ => 1,
        };
        while found.contradictions.is_empty() && self.look_at(depth, found, listener) {
            if depth == self.wanted {
                break;
            }
            depth = match self.engines {
                // Whoever asked for this engine wants to know what it does at that depth.
                Engines::One(_) if depth >= SHALLOW => self.wanted,
                _ => depth.saturating_mul(2).min(self.wanted),
            };
        }
    }

    /// Looks at a depth. Says whether all is known there and something is left to look at.
    fn look_at(&self, depth: u32, found: &mut Found, listener: &mut dyn Listener) -> bool {
        let open = self.open(found);
        let Ok(program) = bounded(self.model.program, depth, self.budget) else {
            return false;
        };
        if open.is_empty() || self.budget.check().is_err() {
            return false;
        }
        let Ok(prepared) = prepared(&program, None, self.without) else {
            return false;
        };
        let task = Task {
            model: &Model::new(&program, &prepared),
            checks: &open,
            budget: self.budget,
        };
        let mut beside = Beside {
            depth,
            found,
            budget: self.budget,
            listener: &mut *listener,
        };
        let plan = Plan {
            until: self.until,
            ..self.engines.plan()
        };
        let seen = hardbop_portfolio::check(&plan, &task, &mut beside);
        if !seen.contradictions.is_empty() {
            return false;
        }
        let wanted = self.wanted;
        let mut all = true;
        for (&check, outcome) in &seen.report.outcomes {
            let known = match outcome {
                Outcome::Proved(_) => {
                    let reached = depth;
                    found.bounded.insert(check, Depth { reached, wanted });
                    true
                }
                Outcome::Violated(refutation) => match refutation.run() {
                    Some(run) => self.confirm(check, &Script::of(run), &seen, found, listener),
                    None => false,
                },
                Outcome::Unknown(_) => false,
            };
            all &= known;
        }
        all
    }

    /// The checks that a depth can say something of: that an execution ends is no matter of depth.
    fn open(&self, found: &Found) -> Vec<CheckId> {
        let outcomes = found.report.outcomes.iter();
        let open = outcomes.filter(|(_, outcome)| !outcome.is_decided());
        let kind = |check: &CheckId| self.model.program.checks[check.index()].kind;
        open.map(|(&check, _)| check)
            .filter(|check| kind(check) != CheckKind::Termination)
            .collect()
    }

    /// Has the gate run the program itself on what violates it where it is cut off.
    fn confirm(
        &self,
        check: CheckId,
        script: &Script,
        seen: &Found,
        found: &mut Found,
        listener: &mut dyn Listener,
    ) -> bool {
        let given = Given::Script(script.clone());
        let gate = Gate::new(self.model, self.budget.clone());
        let Ok(Evidence::Refutation(refutation)) = gate.check(Claim::Run(Run { check, given }))
        else {
            return false;
        };
        let outcome = Outcome::Violated(refutation);
        let engine = seen.engines.get(&check).copied().unwrap_or("unroll");
        listener.decided(engine, check, &outcome);
        found.report.outcomes.insert(check, outcome);
        found.engines.insert(check, engine);
        found.bounded.remove(&check);
        true
    }
}

/// Passes on what happens, and not what is found: that is about a part of the program.
struct Beside<'a> {
    depth: u32,
    found: &'a Found,
    budget: &'a Budget,
    listener: &'a mut dyn Listener,
}

impl Listener for Beside<'_> {
    fn event(&mut self, engine: &'static str, event: Event) {
        let doing = format!("depth {}: {}", self.depth, event.doing).into();
        self.listener.event(engine, Event { doing, ..event });
    }

    fn started(&mut self, engine: &'static str) {
        self.listener.started(engine);
    }

    fn late(&mut self, _: &Found) {
        if self.budget.check().is_err() {
            self.listener.late(self.found);
        }
    }
}
