//! The step of the search in which all paths are followed together.
//!
//! A run that met no error excludes few others where every error depends on a choice of its own.
//! So after some runs the rest is tried at once. What comes out is what runs would have given:
//! violations, or one clause without decisions. Where it is too much, runs go on.

use super::{Pending, Worker, unsupported};
use crate::check::{Learning, Options};
use crate::together::{Apart, Found, Together};
use hardbop_circuit::CircuitSolver;
use hardbop_engine::claim::{self, Clause, Clauses, Given};
use hardbop_engine::{Claim, Reason};
use hardbop_logic::{Limits, Session, Terms};
use hardbop_model::points::PointId;
use std::time::Duration;

/// The most steps of a proof: the gate asks about all of them at once, and without a choice of
/// addresses. Above that, clauses of single runs are easier to check.
const PROVABLE: u64 = 1500;
/// Where objects begin to lie: behind the first pages, in any address space.
const ORIGIN: u64 = 0x10000;

/// The most questions for a run, and the most steps of a run whose explanation is worth many, as
/// long as all paths are still to be followed together.
const QUESTIONS: u64 = 8;
/// The most time for one question about all paths: where they are that hard, runs are better.
const QUESTION: Duration = Duration::from_secs(3);
pub(super) const SHORT: usize = 60;

/// Whether all paths may be followed together: it is about all of them, and learns from all.
pub(super) fn is_allowed(options: &Options) -> bool {
    options.part.is_none() && options.learning == Learning::On
}

impl Worker<'_, '_, '_> {
    /// Whether all paths are to be followed together now.
    ///
    /// Runs that nobody had to be asked about are cheap, and what is learned from them is, too.
    pub(super) fn is_time_for_all(&self, runs_asked: u64) -> bool {
        let runs = self.common.options.together_after;
        match self.together {
            Pending::Now => true,
            Pending::No => false,
            Pending::Later => {
                let explored = self.common.shared().statistics.explored;
                runs.is_some_and(|runs| explored >= runs && (runs == 0 || runs_asked > 0))
            }
        }
    }

    /// The most questions for a run: a long one is not worth more than all paths together.
    pub(super) fn patience(&self) -> Option<u64> {
        (self.together != Pending::No).then_some(QUESTIONS)
    }

    /// Follows all paths together, and notes what is decided by that.
    pub(super) fn together(&mut self, terms: &mut Terms, single: &mut Session<'static>) {
        self.together = Pending::No;
        let common = self.common;
        let mut solver = CircuitSolver::new();
        // Where objects lie is not the program's to say. A proof is checked for all origins.
        let origin = common.semantics.origin(terms);
        solver.fix(terms, origin, ORIGIN);
        let mut session = Session::new(Box::new(solver), common.budget.clone());
        session.set_limits(Limits {
            time: Some(common.options.query_time.min(QUESTION)),
            steps: None,
        });
        for axiom in common.semantics.axioms(terms) {
            session.assert(terms, axiom);
        }
        let (found, ended) = Together {
            semantics: common.semantics,
            structure: &mut self.structure,
            nodes: &self.nodes,
            terms,
            session: &mut session,
            single,
            budget: common.budget,
            depth: common.options.depth,
        }
        .follow();
        {
            let mut shared = common.shared();
            shared.statistics.together += found.steps;
            shared.statistics.queries += found.questions;
        }
        let Found {
            violated,
            cut,
            unreached,
            steps,
            ..
        } = found;
        for (check, values) in violated {
            let given = Given::Choices(values);
            let reason = self.submit(Claim::Run(claim::Run { check, given }));
            self.close(check, reason);
        }
        match ended {
            Ok(()) if self.structure.open().is_empty() => {}
            Ok(()) => self.seen_all(cut, unreached, steps),
            Err(Apart::Stopped(stopped)) => self.close_all(&Some(Reason::Stopped(stopped))),
            Err(Apart::TooMuch) => {}
        }
    }

    /// No path up to the bound violates what is still open.
    fn seen_all(&mut self, cut: bool, unreached: Vec<PointId>, steps: u64) {
        let common = self.common;
        let mut reason = unsupported(common.semantics.program, &common.shared());
        if reason.is_none() && cut {
            reason = Some(Reason::Bound(common.options.depth));
        }
        if reason.is_none() && steps > PROVABLE {
            return;
        }
        if reason.is_none() {
            let clause = Clause {
                together: Some(unreached),
                ..Clause::default()
            };
            let claim = Claim::Clauses(Clauses {
                checks: self.structure.open().iter().copied().collect(),
                points: self.nodes.points(),
                clauses: vec![clause],
            });
            if self.submit(claim).is_some() {
                // What the gate does not take, runs may still show.
                return;
            }
        }
        let mut shared = common.shared();
        shared.finished = true;
        shared.exhausted = true;
        drop(shared);
        self.close_all(&reason);
    }
}
