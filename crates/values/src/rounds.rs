//! Exploring again and again, each time with what the last way to a target was missing.

use crate::Values;
use crate::differences::differences;
use crate::explore::{Exploration, Explored, Followed, Halt, State};
use crate::known::Tools;
use crate::missing::{core, missing};
use crate::steps::Steps;
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_engine::claim::{Given, Invariants, Run};
use hardbop_engine::{Claim, Desk, Ended, Event, Figure, Reason, Task};
use hardbop_logic::{Limits, Session, Sort, TermId, Terms, Z3Options, Z3Solver};
use hardbop_newton::feasible::{Feasibility, feasible};
use hardbop_semantics::constants::{Meaning, Spelling};
use hardbop_semantics::live::Live;
use hardbop_semantics::places::Places;
use hardbop_semantics::replay::original_choices;
use hardbop_semantics::segment::Segment;
use hardbop_semantics::skeleton::{Point, SkeletonEdgeKind};
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// What a question may cost, in the solver's own steps, so that it is the same on every machine.
const QUERY: Limits = Limits {
    time: None,
    steps: Some(3_000_000),
};

/// What must not be reached, or is worth knowing about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// A violated check.
    Check(CheckId),
    /// In front of something that is not supported.
    Unsupported(u32),
}

/// A search in rounds.
pub struct Search<'a, 'g, 'p> {
    options: &'a Values,
    task: &'a Task<'a>,
    tools: Tools<'g, 'p>,
    desk: &'a mut dyn Desk,
    live: BTreeMap<LocId, Live>,
    targets: BTreeMap<LocId, Target>,
    /// Variables and conditions on them.
    followed: BTreeSet<TermId>,
    /// What takes too many values.
    refused: BTreeSet<TermId>,
    /// The checks that are open for a reason; the others are still searched for.
    left: BTreeMap<CheckId, Reason>,
    violated: BTreeSet<CheckId>,
    rounds: u32,
    states: usize,
}

impl<'a, 'g, 'p> Search<'a, 'g, 'p> {
    /// Prepares the steps and what is live; gives a reason if something has no meaning.
    pub fn new(
        options: &'a Values,
        task: &'a Task<'a>,
        ground: Ground<'g, 'p>,
        mut terms: Terms,
        desk: &'a mut dyn Desk,
    ) -> Result<Search<'a, 'g, 'p>, Reason> {
        let view = &task.model.flat;
        let mut targets = BTreeMap::new();
        let mut vertices = BTreeSet::new();
        for (check, at) in view.errors(task.checks) {
            for vertex in at {
                targets.extend(view.location(vertex).map(|at| (at, Target::Check(check))));
                vertices.insert(vertex);
            }
        }
        let unsupported = view.unsupported();
        for edge in &view.skeleton.edges {
            if let SkeletonEdgeKind::Unsupported(_) = edge.kind
                && let Some(&construct) = unsupported.get(&edge.to)
            {
                let at = view.location(edge.from);
                targets.extend(at.map(|at| (at, Target::Unsupported(construct))));
                vertices.insert(edge.from);
            }
        }
        let live = ground.live(&mut terms, &vertices, task.budget);
        task.budget.check().map_err(Reason::Stopped)?;
        let (Some(live), Some(all)) = (live, ground.steps(&mut terms)) else {
            return Err(Reason::Values);
        };
        // Questions are many and small: a solver made for large ones would be slower.
        let solver = Box::new(Z3Solver::new(Z3Options::default()));
        let mut session = Session::new(solver, task.budget.clone());
        session.set_limits(QUERY);
        for axiom in ground.semantics.axioms(&mut terms) {
            session.assert(&terms, axiom);
        }
        Ok(Search {
            options,
            task,
            tools: Tools {
                ground,
                terms,
                session,
                places: Places::default(),
                steps: Steps::new(all),
            },
            desk,
            live,
            targets,
            followed: BTreeSet::new(),
            refused: BTreeSet::new(),
            left: BTreeMap::new(),
            violated: BTreeSet::new(),
            rounds: 0,
            states: 0,
        })
    }

    /// Searches, and says what is open.
    pub fn run(mut self) -> Ended {
        let incomplete = self.search().err();
        let statistics = self.figures();
        let mut open = self.left;
        if let Some(reason) = &incomplete {
            for &check in self.task.checks {
                if !self.violated.contains(&check) {
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

    fn search(&mut self) -> Result<(), Reason> {
        while self.rounds < self.options.rounds {
            self.rounds += 1;
            self.tell("following values");
            match self.explore()? {
                Explored::Closed(states) => return self.claim(&states),
                Explored::Many(term) => {
                    self.followed.remove(&term);
                    self.refused.insert(term);
                }
                Explored::Target(way) => self.look_at(&way)?,
            }
        }
        Err(Reason::Values)
    }

    fn tell(&mut self, doing: &'static str) {
        self.desk.event(Event {
            doing: doing.into(),
            open: self.task.checks.len() - self.violated.len() - self.left.len(),
            figures: self.figures(),
        });
    }

    fn figures(&self) -> Vec<Figure> {
        vec![
            Figure::count("rounds", self.rounds.into()),
            Figure::count("followed", self.followed.len() as u64),
            Figure::count("states", self.states as u64),
        ]
    }

    /// What is followed where: what is live there and was missing on some way.
    fn followed(&self) -> Followed {
        let mut followed = Followed::new();
        for (&location, live) in &self.live {
            let is_live = |constant: &TermId| match self.tools.ground.constants.meaning(*constant) {
                Some(Meaning::Now(id)) => live.now.contains(&id),
                meaning => meaning == Some(Meaning::Origin),
            };
            let here = self.followed.iter().copied().filter(|&term| {
                let constants = self.tools.terms.free_constants(&[term]);
                constants.iter().all(is_live)
            });
            followed.insert(location, here.collect());
        }
        followed
    }

    /// The targets that are still searched for.
    fn open_targets(&self) -> BTreeSet<LocId> {
        let is_open = |target: &Target| match target {
            Target::Check(check) => {
                !self.left.contains_key(check) && !self.violated.contains(check)
            }
            Target::Unsupported(_) => true,
        };
        let open = self.targets.iter().filter(|(_, target)| is_open(target));
        open.map(|(&location, _)| location).collect()
    }

    fn explore(&mut self) -> Result<Explored, Reason> {
        let targets = self.open_targets();
        let exploration = Exploration {
            followed: &self.followed(),
            targets: &targets,
            values: self.options.values,
            states: self.options.states.saturating_sub(self.states),
            budget: self.task.budget,
        };
        let explored = exploration.run(&mut self.tools);
        let explored = explored.map_err(|halt| match halt {
            Halt::Stopped(stopped) => Reason::Stopped(stopped),
            Halt::States => Reason::Values,
        })?;
        if let Explored::Closed(states) | Explored::Target(states) = &explored {
            self.states += states.len();
        }
        Ok(explored)
    }

    /// Claims a violation if the way to a target can be run; else notes what it was missing.
    fn look_at(&mut self, way: &[State]) -> Result<(), Reason> {
        let Some(target) = way.last().and_then(|last| self.targets.get(&last.location)) else {
            return Err(Reason::Values);
        };
        let target = *target;
        let program = self.tools.ground.semantics.program;
        let locations = way.iter().map(|state| state.location);
        let pairs = locations.clone().zip(locations.skip(1));
        let mut segments = vec![Segment::Start(program.entry)];
        segments.extend(pairs.map(|(from, to)| Segment::Block(from, to)));
        let answer = feasible(
            self.tools.ground.semantics,
            &self.tools.ground.skeleton.cuts,
            &mut self.tools.terms,
            &mut self.tools.session,
            &segments,
        );
        let refused = match answer {
            Feasibility::Infeasible(_) => match self.learn(way, &segments) {
                true => return Ok(()),
                false => Reason::Values,
            },
            Feasibility::Feasible(witness) => match target {
                Target::Unsupported(construct) => {
                    return Err(Reason::unsupported(program, construct));
                }
                Target::Check(check) => {
                    let inlined = self.task.model.inlined;
                    let choices =
                        original_choices(self.task.model.program, inlined, &witness.choices);
                    let given = Given::Choices(choices);
                    match self.desk.submit(Claim::Run(Run { check, given })).refused() {
                        None => {
                            self.violated.insert(check);
                            return Ok(());
                        }
                        Some(reason) => reason,
                    }
                }
            },
            Feasibility::Unknown(why) => Reason::Solver(why.to_string()),
            Feasibility::Unmodelled(_) => Reason::Values,
        };
        match target {
            Target::Check(check) if self.task.budget.check().is_ok() => {
                self.left.insert(check, refused);
                Ok(())
            }
            _ => Err(refused),
        }
    }

    /// Follows what a way that cannot be run was missing. Says whether that is anything new.
    fn learn(&mut self, way: &[State], segments: &[Segment]) -> bool {
        let followed = self.followed();
        let core = core(&mut self.tools, &followed, way, segments);
        let missing = missing(&mut self.tools, &followed, way, &core);
        let before = self.followed.len();
        let differences = differences(&mut self.tools, &missing.conditions);
        for terms in [missing.variables, differences, missing.conditions] {
            self.followed.extend(terms.difference(&self.refused));
            if self.followed.len() > before {
                break;
            }
        }
        let is_condition = |term: &&TermId| self.tools.terms.sort(**term) == Sort::Bool;
        let conditions = self.followed.iter().filter(is_condition).count();
        self.followed.len() > before && conditions <= self.options.conditions
    }

    /// Claims that there are no other states than these.
    fn claim(&mut self, states: &[State]) -> Result<(), Reason> {
        let checks: Vec<CheckId> = self.task.checks.to_vec();
        let decided =
            |check: &CheckId| !self.left.contains_key(check) && !self.violated.contains(check);
        let checks: Vec<CheckId> = checks.into_iter().filter(decided).collect();
        if checks.is_empty() && !self.task.checks.is_empty() {
            return Ok(());
        }
        self.tell("certifying");
        let followed = self.followed();
        let targets = self.open_targets();
        let mut combinations: BTreeMap<LocId, Vec<TermId>> = BTreeMap::new();
        for state in states {
            let mut same = Vec::new();
            for (term, value) in state.known(&followed) {
                same.push(self.tools.terms.eq(term, value));
            }
            let same = self.tools.terms.and(&same);
            combinations.entry(state.location).or_default().push(same);
        }
        let spelling = Spelling::new(self.tools.ground.semantics, &mut self.tools.terms);
        let mut at = BTreeMap::new();
        for vertex in &self.tools.ground.skeleton.vertices {
            let Point::At(location) = vertex.point else {
                continue;
            };
            let formula = match combinations.get(&location) {
                Some(all) => self.tools.terms.or(all),
                // From there no target is reached.
                None if !followed.contains_key(&location) && !targets.contains(&location) => {
                    self.tools.terms.bool(true)
                }
                None => continue,
            };
            let text = spelling.write(&mut self.tools.terms, formula);
            at.insert(location, text.ok_or(Reason::Certificate)?);
        }
        let claim = Claim::Invariants(Invariants {
            checks,
            cuts: self.tools.ground.skeleton.cuts.iter().copied().collect(),
            at,
            ..Invariants::default()
        });
        match self.desk.submit(claim).refused() {
            None => Ok(()),
            Some(reason) => Err(reason),
        }
    }
}
