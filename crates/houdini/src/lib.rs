//! Invariants by guessing: many candidates at once, those that fail dropped until the rest is
//! inductive (Flanagan and Leino: Houdini, an annotation assistant for ESC/Java, 2001; affine
//! relations from models after Reps, Sagiv and Yorsh, 2004).
//!
//! In come a `Program` and the checks that are still open; out come PROVED for those that the
//! invariants exclude, with the invariants as certificate, and UNKNOWN for the others. Everything
//! is done in the exact meaning, one block at a time, so the cost grows with the number of blocks
//! and not with the number of ways through them.

mod affine;
mod candidates;
mod fixpoint;
mod place;
mod steps;

pub use fixpoint::Conjuncts;
use fixpoint::{Found, fixpoint};
use hardbop_budget::{Budget, Stopped};
use hardbop_certify::{Certificate, Certified, Certifier};
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_cfront::inline::{self, Inlined, inline};
use hardbop_cfront::points_to;
use hardbop_cfront::program::LocationKind;
use hardbop_engine::{Engine, Event, Figure, Invariants, Outcome, Proof, Reason, Report, Task};
use hardbop_logic::{Limits, Session, Terms, Z3Options, Z3Solver};
use hardbop_newton::atoms::Constants;
use hardbop_newton::refine::Refiner;
use hardbop_semantics::effects::Effects;
use hardbop_semantics::skeleton::{Point, Skeleton};
use hardbop_semantics::{Encoding, Semantics};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use steps::Ground;

/// Guessing as an engine.
#[derive(Clone, Debug)]
pub struct Houdini {
    /// The most time for a program of any size, ...
    pub time: Duration,
    /// ... and for every cut point more.
    pub time_a_point: Duration,
    /// What the invariants are made of.
    pub conjuncts: Conjuncts,
}

impl Default for Houdini {
    fn default() -> Houdini {
        Houdini {
            time: Duration::from_secs(3),
            time_a_point: Duration::from_millis(20),
            conjuncts: Conjuncts::All,
        }
    }
}

impl Engine for Houdini {
    fn name(&self) -> &'static str {
        "houdini"
    }

    fn check(&self, task: &Task<'_>, events: &mut dyn FnMut(Event)) -> Report {
        let inlined = inline(task.program, &inline::Limits::default());
        let skeleton = Skeleton::new(&inlined.program);
        let most = self.time + self.time_a_point * skeleton.vertices.len() as u32;
        let left = task.budget.remaining().unwrap_or(Duration::MAX);
        let end = task.budget.elapsed() + most.min(left / 4);
        let budget = task.budget.clone().with_time(end);
        let mut attempt = Attempt {
            task,
            inlined: &inlined,
            skeleton: &skeleton,
            budget: &budget,
            conjuncts: self.conjuncts,
            statistics: Vec::new(),
        };
        let (reason, proved) = match attempt.run(events) {
            Ok(proved) => (Reason::Guesses, Some(proved)),
            Err(reason) => (reason, None),
        };
        let mut outcomes: BTreeMap<CheckId, Outcome> = BTreeMap::new();
        for &check in task.checks {
            let is_proved = proved.as_ref().is_some_and(|(all, _)| all.contains(&check));
            let outcome = match is_proved {
                true => Outcome::Proved,
                false => Outcome::Unknown(reason.clone()),
            };
            outcomes.insert(check, outcome);
        }
        Report {
            outcomes,
            incomplete: proved.is_none().then_some(reason),
            proof: proved.map(|(_, invariants)| Proof::Invariants(invariants)),
            statistics: attempt.statistics,
        }
    }
}

struct Attempt<'a> {
    task: &'a Task<'a>,
    inlined: &'a Inlined,
    skeleton: &'a Skeleton,
    budget: &'a Budget,
    conjuncts: Conjuncts,
    statistics: Vec<Figure>,
}

impl Attempt<'_> {
    /// The checks that are proved, and why.
    fn run(
        &mut self,
        events: &mut dyn FnMut(Event),
    ) -> Result<(BTreeSet<CheckId>, Invariants), Reason> {
        let program = &self.inlined.program;
        let points_to = points_to::analyse(program);
        let semantics = Semantics::new(program, &points_to, Encoding::Bits);
        let effects = Effects::new(&semantics);
        let mut terms = Terms::new();
        let constants = Constants::new(&semantics, &mut terms);
        let ground = Ground {
            semantics: &semantics,
            effects: &effects,
            skeleton: self.skeleton,
            constants: &constants,
        };
        let refiner = Refiner {
            semantics: &semantics,
            effects: &effects,
            cuts: &self.skeleton.cuts,
            constants: &constants,
        };
        let errors = self.errors();
        let stopped = |stopped: Stopped| Reason::Stopped(stopped);
        let targets = errors.values().flatten().copied();
        let targets = targets
            .filter_map(|at| self.skeleton.vertex_at(at))
            .collect();
        let live = refiner.live(&mut terms, self.skeleton, &targets, self.budget);
        self.budget.check().map_err(stopped)?;
        let (Some(live), Some(steps)) = (live, ground.steps(&mut terms)) else {
            return Err(Reason::Guesses);
        };
        let open = self.task.checks.len();
        let mut tell = |found: &Found| {
            events(Event {
                doing: "guessing".into(),
                open,
                figures: vec![Figure::count("questions", found.questions)],
            });
        };
        let found = fixpoint(
            &ground,
            &mut terms,
            &steps,
            &live,
            self.conjuncts,
            self.budget,
            &mut tell,
        );
        let found = found.map_err(stopped)?;
        self.statistics = vec![
            Figure::count("guesses", found.guesses.0 as u64),
            Figure::count("guesses left", found.guesses.1 as u64),
            Figure::count("questions", found.questions),
        ];
        if let Some(construct) = found.unsupported {
            return Err(Reason::unsupported(program, construct));
        }
        let certificate = Certificate {
            invariants: found.invariants,
        };
        let mut proved = BTreeSet::new();
        let mut unreachable: Vec<LocId> = Vec::new();
        for (check, locations) in errors {
            let is_reached = |at: &LocId| certificate.invariants.contains_key(at);
            if !locations.iter().any(is_reached) {
                proved.insert(check);
                unreachable.extend(locations);
            }
        }
        if proved.is_empty() {
            return Err(Reason::Guesses);
        }
        let certifier = Certifier {
            semantics: &semantics,
            effects: &effects,
            skeleton: self.skeleton,
            constants: &constants,
        };
        let mut session = Session::new(
            Box::new(Z3Solver::new(Z3Options::default())),
            self.task.budget.clone(),
        );
        session.set_limits(Limits {
            time: Some(Duration::from_secs(30)),
            steps: None,
        });
        match certifier.certify(&mut terms, &mut session, &certificate, &unreachable) {
            Certified::Yes { questions } => {
                let (original, inlined) = (self.task.program, self.inlined);
                let invariants = certifier.invariants(&terms, original, inlined, &certificate);
                Ok((
                    proved,
                    Invariants {
                        questions,
                        ..invariants
                    },
                ))
            }
            Certified::Unknown { why, .. } => Err(Reason::Solver(why.to_string())),
            Certified::No { .. } | Certified::Admits { .. } => Err(Reason::Certificate),
        }
    }

    /// Where the checks of the task are violated.
    fn errors(&self) -> BTreeMap<CheckId, Vec<LocId>> {
        let mut errors: BTreeMap<CheckId, Vec<LocId>> = BTreeMap::new();
        for &check in self.task.checks {
            errors.insert(check, Vec::new());
        }
        for vertex in &self.skeleton.vertices {
            if let Point::At(location) = vertex.point
                && let LocationKind::Error(check) =
                    self.inlined.program.locations[location.index()].kind
                && let Some(locations) = errors.get_mut(&check)
            {
                locations.push(location);
            }
        }
        errors
    }
}
