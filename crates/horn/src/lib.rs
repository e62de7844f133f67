//! Invariants of the whole program at once, as a solution of Horn clauses.
//!
//! In come a prepared program and the checks that are still open; the program becomes clauses (one
//! relation a cut point, `newton::refine`), and Spacer looks for a solution. Out comes a claim:
//! invariants that keep control away from every check. The search reads integers as mathematical
//! ones first, then as such that wrap, then as machine words; the gate checks what it claims in
//! the exact meaning. It finds no violations: a derivation of the clauses is no run.

use hardbop_budget::Budget;
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_engine::claim::Invariants;
use hardbop_engine::{Claim, Desk, Encodings, Ended, Engine, Event, Figure, Reason, Task, Turn};
use hardbop_logic::{Limits, TermId, Terms};
use hardbop_model::View;
use hardbop_newton::exact::spelled;
use hardbop_newton::refine::{self, Refiner};
use hardbop_semantics::constants::Constants;
use hardbop_semantics::skeleton::VertexId;
use hardbop_semantics::steps::Ground;
use hardbop_semantics::{Encoding, Overflow, Semantics};
use std::collections::{BTreeMap, BTreeSet};

/// Horn clauses of the whole program as an engine.
#[derive(Clone, Debug)]
pub struct WholeProgram {
    /// How machine integers are read while searching.
    pub arithmetic: Encodings,
    /// What a reading that is a guess may take.
    pub guess: Turn,
}

impl Default for WholeProgram {
    fn default() -> WholeProgram {
        WholeProgram {
            arithmetic: Encodings::IntegersFirst,
            guess: Turn::GUESS,
        }
    }
}

impl WholeProgram {
    /// The engine, with machine integers read in this way.
    pub fn reading(arithmetic: Encodings) -> WholeProgram {
        WholeProgram {
            arithmetic,
            ..WholeProgram::default()
        }
    }
}

impl Engine for WholeProgram {
    fn name(&self) -> &'static str {
        "horn"
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let view = &task.model.flat;
        let mut search = Search {
            view,
            options: self,
            total: task.budget,
            desk,
            open: view.errors(task.checks),
            settled: false,
            queries: 0,
            reason: Reason::Certificate,
        };
        search.run();
        let reason = match task.budget.check() {
            Err(stopped) => Reason::Stopped(stopped),
            Ok(()) => search.reason,
        };
        let open = search.open.keys().map(|&check| (check, reason.clone()));
        Ended {
            open: open.collect(),
            incomplete: (!search.settled).then(|| reason.clone()),
            statistics: vec![Figure::count("Horn queries", search.queries)],
        }
    }
}

/// What a reading of the program ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// Everything is decided.
    Decided,
    /// It says nothing of the machine: another reading may.
    Refuted,
    /// It took too long.
    Slow,
}

struct Search<'a> {
    /// The program that is searched: the user's with calls inlined.
    view: &'a View<'a>,
    options: &'a WholeProgram,
    total: &'a Budget,
    desk: &'a mut dyn Desk,
    /// The checks that are not decided yet, with the vertices where they are violated.
    open: BTreeMap<CheckId, BTreeSet<VertexId>>,
    /// Whether some claim was accepted: then nothing that is not supported is reached.
    settled: bool,
    queries: u64,
    /// Why the rest is open.
    reason: Reason,
}

impl Search<'_> {
    fn run(&mut self) {
        let view = self.view;
        let mut terms = Terms::new();
        // The exact constants first: they get the plain names, which users are shown.
        Constants::new(&view.semantics, &mut terms);
        if self.options.arithmetic == Encodings::IntegersFirst {
            for overflow in [Overflow::Ignored, Overflow::Wraps] {
                let guess = view.encoded(Encoding::Integers { overflow });
                let budget = self.options.guess.of(self.total);
                match self.reading(&mut terms, &guess, &budget) {
                    Reading::Decided => return,
                    Reading::Refuted => {}
                    // Wrapping makes nothing faster.
                    Reading::Slow => break,
                }
            }
        }
        let budget = self.total.clone();
        self.reading(&mut terms, &view.semantics, &budget);
    }

    /// Looks for invariants over one reading of the integers: such that exclude everything, and
    /// where a violation is in the way, such that exclude one check after the other.
    fn reading(
        &mut self,
        terms: &mut Terms,
        semantics: &Semantics<'_>,
        budget: &Budget,
    ) -> Reading {
        let all: Vec<CheckId> = self.open.keys().copied().collect();
        let ended = self.exclude(terms, semantics, &all, budget);
        if ended != Reading::Refuted || all.len() < 2 {
            return ended;
        }
        for (index, &check) in all.iter().enumerate() {
            let budget = match budget.remaining() {
                Some(left) => {
                    let share = left / (all.len() - index) as u32;
                    budget.clone().with_time(budget.elapsed() + share)
                }
                None => budget.clone(),
            };
            self.exclude(terms, semantics, &[check], &budget);
        }
        match self.open.is_empty() {
            true => Reading::Decided,
            false => Reading::Refuted,
        }
    }

    /// Asks once for invariants that keep control away from some checks.
    fn exclude(
        &mut self,
        terms: &mut Terms,
        semantics: &Semantics<'_>,
        checks: &[CheckId],
        budget: &Budget,
    ) -> Reading {
        let view = self.view;
        let constants = Constants::new(semantics, terms);
        let refiner = Refiner {
            ground: Ground {
                semantics,
                effects: &view.effects,
                skeleton: &view.skeleton,
                constants: &constants,
            },
        };
        let wanted = checks.iter().filter_map(|check| self.open.get(check));
        let unsupported = view.unsupported();
        let targets = wanted.flatten().chain(unsupported.keys()).copied();
        let targets: BTreeSet<VertexId> = targets.collect();
        self.tell("solving the clauses");
        self.queries += 1;
        let limits = Limits {
            time: budget.remaining(),
            steps: None,
        };
        let found = refiner.invariants(terms, &targets, limits, budget);
        match found {
            refine::Invariants::Found(invariants) => {
                self.tell("certifying");
                self.claim(terms, &refiner.ground, checks, invariants)
            }
            refine::Invariants::Reachable => {
                self.reason = Reason::Solver("the clauses have no solution".to_owned());
                Reading::Refuted
            }
            refine::Invariants::Unmodelled(_) => {
                self.reason = Reason::Solver("a step has no clause".to_owned());
                Reading::Slow
            }
            refine::Invariants::Unknown(why) => {
                self.reason = Reason::Solver(why.to_string());
                Reading::Slow
            }
        }
    }

    fn claim(
        &mut self,
        terms: &mut Terms,
        ground: &Ground<'_, '_>,
        checks: &[CheckId],
        invariants: BTreeMap<LocId, TermId>,
    ) -> Reading {
        let Some(at) = spelled(terms, ground, &self.view.semantics, invariants) else {
            self.reason = Reason::Certificate;
            return Reading::Refuted;
        };
        let claim = Claim::Invariants(Invariants {
            checks: checks.to_vec(),
            cuts: self.view.skeleton.cuts.iter().copied().collect(),
            at,
            ..Invariants::default()
        });
        match self.desk.submit(claim).refused() {
            None => {
                self.open.retain(|check, _| !checks.contains(check));
                self.settled = true;
                Reading::Decided
            }
            Some(reason) => {
                self.reason = reason;
                Reading::Refuted
            }
        }
    }

    fn tell(&mut self, doing: &'static str) {
        self.desk.event(Event {
            doing: doing.into(),
            open: self.open.len(),
            figures: vec![Figure::count("Horn queries", self.queries)],
        });
    }
}
