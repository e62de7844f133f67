//! The search on a program: targets one after the other, violations run, invariants claimed.

use crate::constants::Constants;
use crate::program::{Bits, Target};
use crate::search::{Allowed, Effort, Halt, Reach, Search};
use crate::system::{PointId, StepId, System};
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_engine::claim::{Given, Invariants, Run};
use hardbop_engine::{Claim, Desk, Ended, Event, Figure, Reason, Task};
use hardbop_logic::{Session, Terms, Unknown, Z3Options, Z3Solver};
use hardbop_newton::feasible::{Feasibility, feasible};
use hardbop_semantics::constants::Spelling;
use hardbop_semantics::replay::original_choices;
use hardbop_semantics::segment::Segment;
use hardbop_semantics::skeleton::Point;
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// Searches, claims, and says what is open.
pub fn run(
    task: &Task<'_>,
    ground: Ground<'_, '_>,
    terms: Terms,
    bits: &Bits,
    allowed: Allowed,
    desk: &mut dyn Desk,
) -> Ended {
    let mut rounds = Rounds {
        task,
        ground,
        terms,
        bits,
        allowed,
        desk,
        left: BTreeMap::new(),
        violated: BTreeSet::new(),
        effort: Effort::default(),
    };
    let incomplete = rounds.search().err();
    let statistics = figures(bits, rounds.effort);
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

fn figures(bits: &Bits, effort: Effort) -> Vec<Figure> {
    vec![
        Figure::count("bits", bits.system.bits() as u64),
        Figure::count("nodes", bits.system.graph.len() as u64),
        Figure::count("levels", effort.levels.into()),
        Figure::count("clauses", effort.clauses),
        Figure::count("literals", effort.literals),
        Figure::count("cubes", effort.cubes),
        Figure::count("cube literals", effort.cube_literals),
        Figure::count("solvers made anew", effort.renewed),
        Figure::count("propagations", effort.work),
        Figure::count("questions", effort.questions),
    ]
}

struct Rounds<'a, 'g, 'p> {
    task: &'a Task<'a>,
    ground: Ground<'g, 'p>,
    terms: Terms,
    bits: &'a Bits,
    allowed: Allowed,
    desk: &'a mut dyn Desk,
    /// The checks that are open for a reason.
    left: BTreeMap<CheckId, Reason>,
    violated: BTreeSet<CheckId>,
    effort: Effort,
}

impl Rounds<'_, '_, '_> {
    fn search(&mut self) -> Result<(), Reason> {
        let bits = self.bits;
        let constants = Constants::new(&bits.system, self.task.budget);
        let constants = constants.map_err(Reason::Stopped)?;
        let mut search = Search::new(&bits.system, &constants, self.allowed, self.task.budget);
        loop {
            let targets = self.open_targets();
            let open = self.task.checks.len() - self.violated.len() - self.left.len();
            let desk = &mut *self.desk;
            let reach = search.run(&targets, &mut |effort| {
                desk.event(Event {
                    doing: "learning clauses".into(),
                    open,
                    figures: figures(bits, effort),
                });
            });
            self.effort = search.effort();
            let reach = reach.map_err(|halt| match halt {
                Halt::Stopped(stopped) => Reason::Stopped(stopped),
                Halt::Work => Reason::Turn,
            })?;
            match reach {
                Reach::Never(cubes) => return self.claim(&constants, &cubes),
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

    /// Claims that no state is in any of these cubes, and that some bits have one value only.
    fn claim(
        &mut self,
        constants: &Constants,
        cubes: &[Vec<crate::system::Cube>],
    ) -> Result<(), Reason> {
        let decided =
            |check: &CheckId| !self.left.contains_key(check) && !self.violated.contains(check);
        let checks: Vec<CheckId> = self.task.checks.iter().copied().filter(decided).collect();
        if checks.is_empty() && !self.task.checks.is_empty() {
            return Ok(());
        }
        self.desk.event(Event {
            doing: "certifying".into(),
            open: checks.len(),
            figures: figures(self.bits, self.effort),
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
                Some(&point) => {
                    let cubes = &cubes[point.index()];
                    // Control never comes there.
                    if cubes.iter().any(Vec::is_empty) || point == System::START {
                        continue;
                    }
                    let known = constants.cube(point);
                    let mut clauses = vec![self.bits.holds(&mut self.terms, point, &known)];
                    for cube in cubes {
                        clauses.push(self.bits.excludes(&mut self.terms, point, cube));
                    }
                    self.terms.and(&clauses)
                }
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
