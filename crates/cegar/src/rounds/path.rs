//! An abstract error path: a violation, or new predicates.

use super::{Rounds, Stage, distinct};
use crate::counting::passed;
use crate::lazy::Precision;
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_engine::claim::{Given, Run};
use hardbop_engine::{Claim, Reason, Suggestion};
use hardbop_logic::{Limits, Session, Terms};
use hardbop_newton::cores::Unexplained;
use hardbop_newton::feasible::{Feasibility, feasible};
use hardbop_newton::predicate::Predicate;
use hardbop_newton::refine::{Refinement, Refiner, Shape};
use hardbop_semantics::replay::original_choices;
use hardbop_semantics::segment::Segment;
use hardbop_semantics::skeleton::{Point, VertexId};
use std::collections::BTreeSet;
use std::time::Duration;

/// The most time to decide a path in a reading of the integers that is a guess.
const GUESS_TIME: Duration = Duration::from_secs(2);
/// The most time for one question about which facts rule a path out: there are many.
const CORE_TIME: Duration = Duration::from_millis(500);

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
        vertex: VertexId,
        segments: &[Segment],
        precision: &mut Precision,
    ) -> Option<Stage> {
        let view = self.view;
        let cuts = &view.skeleton.cuts;
        let mut core = None;
        let mut slow = false;
        if guessing {
            // A guess has to be cheaper than the exact question, which is the one that counts.
            session.set_limits(self.limits(GUESS_TIME));
            let guess = feasible(refiner.ground.semantics, cuts, terms, session, segments);
            session.set_limits(self.limits(self.options.query_time));
            match guess {
                Feasibility::Infeasible(found) => core = Some(found),
                Feasibility::Unknown(_) => slow = true,
                _ => {}
            }
        }
        if core.is_none() {
            match feasible(&view.semantics, cuts, terms, session, segments) {
                Feasibility::Feasible(witness) => {
                    self.reached(vertex, &witness);
                    return None;
                }
                Feasibility::Infeasible(_) if slow => return Some(Stage::OutOfTime),
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
        for (shape, time) in self.tries(segments) {
            self.statistics.horn_queries += 1;
            let limits = Limits {
                time: Some(time),
                steps: None,
            };
            let refined = refiner.refine(terms, segments, shape, limits, &self.budget);
            if let Refinement::Predicates(found) = refined {
                if self.counting.only_counts(terms, segments, &found) {
                    self.suggest_path(vertex, segments);
                }
                self.tell_predicates(terms, refiner.ground.constants, &found);
                added |= self.track(terms, found, precision);
            }
            if added {
                self.unsolved = 0;
                return None;
            }
        }
        self.unsolved += 1;
        if let Err(stopped) = self.budget.check() {
            return Some(self.stopped(stopped, guessing));
        }
        // Nobody solves the clauses: then what the path itself says, in few facts if that is enough.
        session.set_limits(self.limits(CORE_TIME));
        let cores = refiner.cores(terms, session, segments);
        session.set_limits(self.limits(self.options.query_time));
        // What takes so long over the integers may be plain in machine words.
        if guessing && cores == Err(Unexplained::Memory) {
            return Some(Stage::OutOfTime);
        }
        let found = cores.unwrap_or_default();
        if !found.is_empty() {
            self.tell_predicates(terms, refiner.ground.constants, &found);
        }
        if self.track(terms, found, precision) {
            return None;
        }
        for (location, predicate) in
            refiner.preconditions(terms, segments, &core.unwrap_or_default(), &self.budget)
        {
            added |= precision.entry(location).or_default().insert(predicate);
        }
        if added || self.track_everywhere(precision) {
            return None;
        }
        if !self.together {
            self.together = true;
            return None;
        }
        if guessing {
            return Some(Stage::NeedsBits);
        }
        self.close(vertex, Reason::Refinement);
        None
    }

    /// Tracks predicates, with what belongs to them. Says whether that is anything new.
    fn track(
        &self,
        terms: &mut Terms,
        found: Vec<(LocId, Predicate)>,
        precision: &mut Precision,
    ) -> bool {
        let completed = self.families.completed(terms, &found);
        let mut added = false;
        for (location, predicate) in completed {
            added |= precision.entry(location).or_default().insert(predicate);
        }
        if !added {
            // All the numbers are tracked, and something else about them matters.
            for (location, predicate) in found {
                added |= precision.entry(location).or_default().insert(predicate);
            }
        }
        added
    }

    /// Which Horn clauses are tried for a path, and how long. Path programs rule out all unrollings
    /// at once, but some are as hard as the whole program; then the path alone gets further. What
    /// nobody solves is known to be so after a while: then what the path itself says comes sooner.
    fn tries(&self, segments: &[Segment]) -> Vec<(Shape, Duration)> {
        use Shape::{Path, PathProgram};
        let full = self.options.horn_time;
        match (self.unsolved, passes_again(segments)) {
            (0, true) => vec![
                (PathProgram, full / 6),
                (Path, full / 2),
                (PathProgram, full),
            ],
            (1..=2, true) => vec![(PathProgram, full / 12), (Path, full / 2)],
            (_, true) => vec![(PathProgram, full / 60), (Path, full / 60)],
            // Without a loop the two are the same.
            (0, false) => vec![(Path, full / 12)],
            (_, false) => vec![(Path, full / 60)],
        }
    }

    /// Tells others of a path on which refinement only counts.
    fn suggest_path(&mut self, vertex: VertexId, segments: &[Segment]) {
        let is_here = |at: &BTreeSet<VertexId>| at.contains(&vertex);
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
            let function = self.view.skeleton.procedure(vertex.procedure).function;
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
    pub(super) fn close(&mut self, vertex: VertexId, reason: Reason) {
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

    fn reached(&mut self, vertex: VertexId, witness: &hardbop_newton::feasible::Witness) {
        if let Some(&construct) = self.unsupported.get(&vertex) {
            self.blocked = Some(construct);
            return;
        }
        let Some((&check, _)) = self.open.iter().find(|(_, at)| at.contains(&vertex)) else {
            return;
        };
        let choices = original_choices(self.model.program, self.model.inlined, &witness.choices);
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

/// Whether a path passes a cut point more than once.
fn passes_again(segments: &[Segment]) -> bool {
    let mut passed = BTreeSet::new();
    let mut places = segments.iter().filter_map(|segment| match segment {
        Segment::Block(_, to) => Some(*to),
        _ => None,
    });
    !places.all(|place| passed.insert(place))
}
