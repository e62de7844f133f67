//! An abstract error path: a violation, or new predicates.

use super::{Rounds, Stage, distinct};
use crate::counting::passed;
use crate::lazy::Precision;
use hardbop_cfront::ids::CheckId;
use hardbop_engine::claim::{Given, Run};
use hardbop_engine::{Claim, Reason, Suggestion};
use hardbop_logic::{Limits, Session, Terms};
use hardbop_newton::Segment;
use hardbop_newton::feasible::{Feasibility, feasible};
use hardbop_newton::refine::{Refinement, Refiner, Shape};
use hardbop_semantics::replay::original_choices;
use hardbop_semantics::skeleton::Point;
use std::collections::BTreeSet;

impl Rounds<'_> {
    /// Deals with an abstract error path: a violation, or new predicates. Gives a way to end the
    /// stage if there is neither.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn path(
        &mut self,
        terms: &mut Terms,
        session: &mut Session<'static>,
        refiner: &Refiner<'_, '_>,
        guessing: bool,
        vertex: usize,
        segments: &[Segment],
        precision: &mut Precision,
    ) -> Option<Stage> {
        let view = self.view;
        let cuts = &view.skeleton.cuts;
        let mut core = None;
        if guessing
            && let Feasibility::Infeasible(found) =
                feasible(refiner.ground.semantics, cuts, terms, session, segments)
        {
            core = Some(found);
        }
        if core.is_none() {
            match feasible(&view.semantics, cuts, terms, session, segments) {
                Feasibility::Feasible(witness) => {
                    self.reached(vertex, &witness);
                    return None;
                }
                Feasibility::Infeasible(_) if guessing => return Some(Stage::NeedsBits),
                Feasibility::Infeasible(found) => core = Some(found),
                Feasibility::Unknown(hardbop_logic::Unknown::Stopped(stopped)) => {
                    return Some(self.stopped(stopped, guessing));
                }
                Feasibility::Unknown(why) => {
                    self.close(vertex, Reason::Solver(why.to_string()));
                    return None;
                }
                Feasibility::Unmodelled(_) => {
                    self.close(vertex, Reason::Refinement);
                    return None;
                }
            }
        }
        self.tell(distinct(precision).len(), "refining");
        let mut added = false;
        // Path programs rule out all unrollings at once, but where they are as hard as the whole
        // program, one path after the other gets further.
        let full = self.options.horn_time;
        let quick = match self.hard_path_programs {
            0 => full / 6,
            times => full / (6 << times.min(4)),
        };
        let tries = [
            (Shape::PathProgram, quick),
            (Shape::Path, full / 2),
            (Shape::PathProgram, full),
        ];
        for (shape, time) in tries {
            self.statistics.horn_queries += 1;
            let limits = Limits {
                time: Some(time),
                steps: None,
            };
            match refiner.refine(terms, segments, shape, limits, &self.budget) {
                Refinement::Predicates(found) => {
                    if self.counting.only_counts(terms, segments, &found) {
                        self.suggest_path(vertex, segments);
                    }
                    for (location, predicate) in found {
                        added |= precision.entry(location).or_default().insert(predicate);
                    }
                    if shape == Shape::PathProgram {
                        self.hard_path_programs = 0;
                    }
                }
                Refinement::Unknown(_) if shape == Shape::PathProgram => {
                    self.hard_path_programs += 1;
                }
                Refinement::Reachable | Refinement::Unknown(_) | Refinement::Unmodelled(_) => {}
            }
            if added {
                return None;
            }
        }
        if let Err(stopped) = self.budget.check() {
            return Some(self.stopped(stopped, guessing));
        }
        // Nobody solves the clauses: then what the path itself says.
        for (location, predicate) in
            refiner.preconditions(terms, segments, &core.unwrap_or_default(), &self.budget)
        {
            added |= precision.entry(location).or_default().insert(predicate);
        }
        if added || self.track_everywhere(precision) {
            return None;
        }
        if guessing {
            return Some(Stage::NeedsBits);
        }
        self.close(vertex, Reason::Refinement);
        None
    }

    /// Tells others of a path on which refinement only counts.
    fn suggest_path(&mut self, vertex: usize, segments: &[Segment]) {
        let is_here = |at: &BTreeSet<usize>| at.contains(&vertex);
        let found = self.open.iter().find(|(_, at)| is_here(at));
        if let Some((&check, _)) = found {
            let through = passed(self.model.inlined, &self.view.skeleton.cuts, segments);
            self.desk.suggest(Suggestion { check, through });
        }
    }

    /// Tracks every predicate wherever it makes sense. Says whether that is anything new.
    fn track_everywhere(&self, precision: &mut Precision) -> bool {
        let all = distinct(precision);
        let mut added = false;
        for vertex in &self.view.skeleton.vertices {
            let Point::At(location) = vertex.point else {
                continue;
            };
            let function = self.view.skeleton.procedures[vertex.procedure].function;
            for predicate in &all {
                if predicate.scope.is_none() || predicate.scope == function {
                    let here = precision.entry(location).or_default();
                    added |= here.insert(predicate.clone());
                }
            }
        }
        added
    }

    /// Closes the check at a vertex without an answer.
    pub(super) fn close(&mut self, vertex: usize, reason: Reason) {
        let closed: Vec<CheckId> = self
            .open
            .iter()
            .filter(|(_, at)| at.contains(&vertex))
            .map(|(&check, _)| check)
            .collect();
        for check in closed {
            self.open.remove(&check);
            self.closed.insert(check, reason.clone());
        }
        if let Some(&construct) = self.unsupported.get(&vertex) {
            self.blocked = Some(construct);
        }
    }

    fn reached(&mut self, vertex: usize, witness: &hardbop_newton::feasible::Witness) {
        if let Some(&construct) = self.unsupported.get(&vertex) {
            self.blocked = Some(construct);
            return;
        }
        let Some((&check, _)) = self.open.iter().find(|(_, at)| at.contains(&vertex)) else {
            return;
        };
        let choices = original_choices(self.model.inlined, &witness.choices);
        let given = Given::Choices(choices);
        match self.desk.submit(Claim::Run(Run { check, given })).refused() {
            None => {
                self.open.remove(&check);
                self.violated = true;
            }
            Some(reason) => self.close(vertex, reason),
        }
    }
}
