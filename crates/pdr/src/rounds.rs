//! The search on a program: targets one after the other, violations run, invariants claimed.

use crate::program::{Bits, Target};
use crate::search::Halt;
use crate::system::{PointId, StepId, System};
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_engine::claim::{Given, Invariants, Run};
use hardbop_engine::{Claim, Desk, Ended, Event, Figure, Reason, Task};
use hardbop_logic::{Session, TermId, Terms, Unknown, Z3Options, Z3Solver};
use hardbop_newton::feasible::{Feasibility, feasible};
use hardbop_semantics::constants::Spelling;
use hardbop_semantics::replay::original_choices;
use hardbop_semantics::segment::Segment;
use hardbop_semantics::skeleton::Point;
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// What came out of a search for targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// These steps lead to this target, as far as the system tells.
    Found(PointId, Vec<StepId>),
    /// No target is reached: the search has an invariant.
    Never,
}

/// Whoever decides whether points of a system are reached.
pub trait Reaching {
    /// What it does, for people.
    const DOING: &'static str;

    /// Goes on until a target is reached or none ever is. May be called again with fewer targets.
    /// Now and then, `told` is shown what it cost so far.
    fn run(
        &mut self,
        targets: &[PointId],
        told: &mut dyn FnMut(Vec<Figure>),
    ) -> Result<Reach, Halt>;

    /// What it cost so far.
    fn figures(&self) -> Vec<Figure>;

    /// After a search that found no way: what holds at a point; `None` where control never comes.
    fn invariant(&mut self, bits: &Bits, terms: &mut Terms, point: PointId) -> Option<TermId>;
}

/// Searches, claims, and says what is open.
pub fn run(
    task: &Task<'_>,
    ground: Ground<'_, '_>,
    terms: Terms,
    bits: &Bits,
    search: impl Reaching,
    desk: &mut dyn Desk,
) -> Ended {
    let mut rounds = Rounds {
        task,
        ground,
        terms,
        bits,
        search,
        desk,
        left: BTreeMap::new(),
        violated: BTreeSet::new(),
    };
    let incomplete = rounds.search().err();
    let statistics = figures(bits, rounds.search.figures());
    let mut open = rounds.left;
    if let Some(reason) = &incomplete {
        for &check in task.checks {
            if !rounds.violated.contains(&check) {
                open.entry(check).or_insert_with(|| reason.clone());
            }
        }
    }
    Ended {
        open,
        incomplete,
        statistics,
    }
}

fn figures(bits: &Bits, effort: Vec<Figure>) -> Vec<Figure> {
    let mut figures = vec![
        Figure::count("bits", bits.system.bits() as u64),
        Figure::count("nodes", bits.system.graph.len() as u64),
    ];
    figures.extend(effort);
    figures
}

struct Rounds<'a, 'g, 'p, S> {
    task: &'a Task<'a>,
    ground: Ground<'g, 'p>,
    terms: Terms,
    bits: &'a Bits,
    search: S,
    desk: &'a mut dyn Desk,
    /// The checks that are open for a reason.
    left: BTreeMap<CheckId, Reason>,
    violated: BTreeSet<CheckId>,
}

impl<S: Reaching> Rounds<'_, '_, '_, S> {
    fn search(&mut self) -> Result<(), Reason> {
        let bits = self.bits;
        loop {
            let targets = self.open_targets();
            let open = self.task.checks.len() - self.violated.len() - self.left.len();
            let desk = &mut *self.desk;
            let reach = self.search.run(&targets, &mut |effort| {
                desk.event(Event {
                    doing: S::DOING.into(),
                    open,
                    figures: figures(bits, effort),
                });
            });
            let reach = reach.map_err(|halt| match halt {
                Halt::Stopped(stopped) => Reason::Stopped(stopped),
                Halt::Work => Reason::Turn,
            })?;
            match reach {
                Reach::Never => return self.claim(),
                Reach::Found(target, steps) => self.look_at(target, &steps)?,
            }
        }
    }

    fn open_targets(&self) -> Vec<PointId> {
        let is_open = |target: &Target| match target {
            Target::Check(check) => {
                !self.left.contains_key(check) && !self.violated.contains(check)
            }
            Target::Unsupported(_) => true,
        };
        let targets = self.bits.targets.iter();
        let open = targets.filter(|(_, target)| is_open(target));
        open.map(|(&point, _)| point).collect()
    }

    /// Claims a violation if a way to a target can be run.
    fn look_at(&mut self, point: PointId, steps: &[StepId]) -> Result<(), Reason> {
        let Some(&target) = self.bits.targets.get(&point) else {
            return Err(Reason::Refinement);
        };
        let program = self.ground.semantics.program;
        let mut segments = vec![Segment::Start(program.entry)];
        for step in steps {
            if let (Some(from), to) = self.bits.ends[step.index()] {
                segments.push(Segment::Block(from, to));
            }
        }
        let solver = Box::new(Z3Solver::new(Z3Options {
            logic: self.ground.semantics.logic(),
            ..Z3Options::default()
        }));
        let mut session = Session::new(solver, self.task.budget.clone());
        let answer = feasible(
            self.ground.semantics,
            &self.ground.skeleton.cuts,
            &mut self.terms,
            &mut session,
            &segments,
        );
        let refused = match (answer, target) {
            (Feasibility::Feasible(_), Target::Unsupported(construct)) => {
                return Err(Reason::unsupported(program, construct));
            }
            (Feasibility::Feasible(witness), Target::Check(check)) => {
                let choices = original_choices(
                    self.task.model.program,
                    self.task.model.inlined,
                    &witness.choices,
                );
                let given = Given::Choices(choices);
                match self.desk.submit(Claim::Run(Run { check, given })).refused() {
                    None => {
                        self.violated.insert(check);
                        return Ok(());
                    }
                    Some(reason) => reason,
                }
            }
            (Feasibility::Unknown(Unknown::Stopped(stopped)), _) => {
                return Err(Reason::Stopped(stopped));
            }
            (Feasibility::Unknown(why), _) => Reason::Solver(why.to_string()),
            // The circuits say less of memory and addresses than the logic does.
            (Feasibility::Infeasible(_) | Feasibility::Unmodelled(_), _) => Reason::Refinement,
        };
        match target {
            Target::Check(check) if self.task.budget.check().is_ok() => {
                self.left.insert(check, refused);
                Ok(())
            }
            _ => Err(refused),
        }
    }

    /// Claims the search's invariant.
    fn claim(&mut self) -> Result<(), Reason> {
        let decided =
            |check: &CheckId| !self.left.contains_key(check) && !self.violated.contains(check);
        let checks: Vec<CheckId> = self.task.checks.iter().copied().filter(decided).collect();
        if checks.is_empty() && !self.task.checks.is_empty() {
            return Ok(());
        }
        self.desk.event(Event {
            doing: "certifying".into(),
            open: checks.len(),
            figures: figures(self.bits, self.search.figures()),
        });
        let spelling = Spelling::new(self.ground.semantics, &mut self.terms);
        let mut at: BTreeMap<LocId, String> = BTreeMap::new();
        for vertex in &self.ground.skeleton.vertices {
            let Point::At(location) = vertex.point else {
                continue;
            };
            let formula = match self.bits.points.get(&location) {
                // From there no target is reached.
                None => self.terms.bool(true),
                Some(&point) => match self.search.invariant(self.bits, &mut self.terms, point) {
                    Some(formula) if point != System::START => {
                        let told = self.bits.told.get(&location).copied();
                        let all: Vec<TermId> = told.into_iter().chain([formula]).collect();
                        self.terms.and(&all)
                    }
                    _ => continue,
                },
            };
            let text = spelling.write(&mut self.terms, formula);
            at.insert(location, text.ok_or(Reason::Certificate)?);
        }
        let claim = Claim::Invariants(Invariants {
            checks,
            cuts: self.ground.skeleton.cuts.iter().copied().collect(),
            at,
            ..Invariants::default()
        });
        match self.desk.submit(claim).refused() {
            None => Ok(()),
            Some(reason) => Err(reason),
        }
    }
}
