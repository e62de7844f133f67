//! Property-directed reachability over points of control (Bradley 2011; Eén, Mishchenko and
//! Brayton 2011; with an explicit program counter after Lange, Neuhäußer and Noll 2015).
//!
//! For every point and every level there is a set of clauses that hold in all states which are
//! reached there over that many steps or fewer. A state from which a target is reached is shown
//! not to be reached itself, one level lower, by a clause that excludes as many others with it as
//! can be; or the states before it are looked at. When two levels are the same, the clauses are
//! an invariant.

use crate::justify::{Because, Costs, justify};
use crate::system::{Cube, Literal, PointId, StepId, System};
use hardbop_budget::{Budget, Stopped};
use hardbop_circuit::{Bit, NodeId, Outcome, Sat, Switch};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What came out of a search for a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// These steps lead to this target, as far as the system tells.
    Found(PointId, Vec<StepId>),
    /// No target is reached: at each point, these cubes are excluded.
    Never(Vec<Vec<Cube>>),
}

/// After so many cubes, somebody is told.
const TELL: u32 = 1_000;

/// A step with its own solver, which knows what is known of the states where it begins: a question
/// about one step is not to be slowed down by others.
struct Asked {
    sat: Sat,
    /// A switch for the clauses of every level.
    switches: Vec<Switch>,
}

/// What is known at a point.
struct Place {
    /// The excluded cubes whose highest level is this.
    lemmas: Vec<Vec<Cube>>,
    /// Where the bits of the state are.
    positions: FxHashMap<NodeId, usize>,
}

/// A cube that leads to a target.
struct Obligation {
    point: PointId,
    cube: Cube,
    /// What is reached from it, and how.
    after: Option<(ObligationId, StepId)>,
    depth: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ObligationId(u32);

/// What a search has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// The levels.
    pub levels: u32,
    /// The questions.
    pub questions: u64,
    /// The clauses that were learned, ...
    pub clauses: u64,
    /// ... and how many literals they have in all.
    pub literals: u64,
    /// The cubes that lead to targets.
    pub cubes: u64,
    /// How many literals those have in all.
    pub cube_literals: u64,
    /// How many they had before they were lifted.
    pub justified: u64,
}

/// A search.
pub struct Search<'a> {
    system: &'a System,
    budget: &'a Budget,
    places: Vec<Place>,
    /// By step.
    asked: Vec<Asked>,
    /// The steps that leave each point.
    leaving: Vec<Vec<StepId>>,
    costs: Costs,
    obligations: Vec<Obligation>,
    level: usize,
    effort: Effort,
}

/// What is wanted of a step that leads to a cube.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Whether it does.
    Whether,
    /// The states that it leads there from.
    States,
}

/// What a question about one step says.
enum Step {
    /// It does not lead to the cube; these literals are enough for that.
    Excluded(Cube),
    /// It leads there from these states.
    From(Cube),
}

impl<'a> Search<'a> {
    /// A search that knows nothing.
    pub fn new(system: &'a System, budget: &'a Budget) -> Search<'a> {
        let places = system.points.iter().map(|point| {
            let positions = point.state.iter().enumerate();
            Place {
                lemmas: Vec::new(),
                positions: positions.map(|(at, bit)| (bit.node(), at)).collect(),
            }
        });
        let mut leaving = vec![Vec::new(); system.points.len()];
        let mut asked = Vec::with_capacity(system.steps.len());
        for (index, step) in system.steps.iter().enumerate() {
            leaving[step.from.index()].push(StepId(index as u32));
            asked.push(Asked {
                sat: Sat::quick(),
                switches: Vec::new(),
            });
        }
        let mut search = Search {
            asked,
            leaving,
            costs: Costs::new(system),
            system,
            budget,
            places: places.collect(),
            obligations: Vec::new(),
            level: 0,
            effort: Effort::default(),
        };
        search.open_level();
        search.open_level();
        search.level = 1;
        search
    }

    /// What it cost so far.
    pub fn effort(&self) -> Effort {
        Effort {
            levels: self.level as u32,
            ..self.effort
        }
    }

    fn open_level(&mut self) {
        for place in &mut self.places {
            place.lemmas.push(Vec::new());
        }
        for asked in &mut self.asked {
            let switch = asked.sat.switch();
            asked.switches.push(switch);
        }
    }

    /// Goes on until a target is reached or none ever is. May be called again with fewer targets.
    /// After each level, `told` is shown the effort.
    pub fn run(
        &mut self,
        targets: &[PointId],
        told: &mut dyn FnMut(Effort),
    ) -> Result<Reach, Stopped> {
        loop {
            for &target in targets {
                if let Some(steps) = self.block(target, told)? {
                    return Ok(Reach::Found(target, steps));
                }
            }
            told(self.effort());
            self.open_level();
            self.level += 1;
            if let Some(level) = self.propagate()? {
                return Ok(Reach::Never(self.invariant(level)));
            }
        }
    }

    /// The cubes that are excluded above a level.
    fn invariant(&self, level: usize) -> Vec<Vec<Cube>> {
        let places = self.places.iter();
        places
            .map(|place| {
                let mut cubes: Vec<Cube> = place.lemmas[level + 1..].concat();
                cubes.sort();
                cubes.dedup();
                cubes
            })
            .collect()
    }

    /// Excludes a target at the highest level, or gives the steps that lead there.
    fn block(
        &mut self,
        target: PointId,
        told: &mut dyn FnMut(Effort),
    ) -> Result<Option<Vec<StepId>>, Stopped> {
        self.obligations.clear();
        let mut queue: BinaryHeap<Reverse<(usize, u32, ObligationId)>> = BinaryHeap::new();
        let root = self.oblige(Obligation {
            point: target,
            cube: Cube::new(),
            after: None,
            depth: 0,
        });
        queue.push(Reverse((self.level, u32::MAX, root)));
        let mut looked = 0u32;
        while let Some(Reverse((level, depth, id))) = queue.pop() {
            self.budget.check()?;
            looked += 1;
            if looked.is_multiple_of(TELL) {
                told(self.effort());
            }
            let (point, cube) = {
                let obligation = &self.obligations[id.0 as usize];
                (obligation.point, obligation.cube.clone())
            };
            if let Some(known) = self.excluded_at(point, &cube, level) {
                if known < self.level {
                    queue.push(Reverse((known + 1, depth, id)));
                }
                continue;
            }
            match self.step_into(point, &cube, level, Wanted::States)? {
                Ok(core) => {
                    let core = self.generalise(point, core, level)?;
                    let level = self.highest(point, &core, level)?;
                    self.learn(point, core, level);
                    if level < self.level {
                        queue.push(Reverse((level + 1, depth, id)));
                    }
                }
                Err((step, before)) => {
                    let from = self.system.step(step).from;
                    if from == System::START {
                        return Ok(Some(self.way(id, step)));
                    }
                    let depth = self.obligations[id.0 as usize].depth + 1;
                    let new = self.oblige(Obligation {
                        point: from,
                        cube: before,
                        after: Some((id, step)),
                        depth,
                    });
                    queue.push(Reverse((level - 1, u32::MAX - depth, new)));
                    queue.push(Reverse((level, u32::MAX - (depth - 1), id)));
                }
            }
        }
        Ok(None)
    }

    fn oblige(&mut self, obligation: Obligation) -> ObligationId {
        self.effort.cubes += 1;
        self.effort.cube_literals += obligation.cube.len() as u64;
        let id = ObligationId(self.obligations.len() as u32);
        self.obligations.push(obligation);
        id
    }

    /// The steps from the start over an obligation to the target.
    fn way(&self, id: ObligationId, first: StepId) -> Vec<StepId> {
        let mut steps = vec![first];
        let mut at = id;
        while let Some((next, step)) = self.obligations[at.0 as usize].after {
            steps.push(step);
            at = next;
        }
        steps
    }

    /// The highest level at which a clause is known to exclude a cube, if that is `level` or more.
    fn excluded_at(&self, point: PointId, cube: &Cube, level: usize) -> Option<usize> {
        let lemmas = &self.places[point.index()].lemmas;
        let levels = (level..lemmas.len()).rev();
        levels
            .into_iter()
            .find(|&level| lemmas[level].iter().any(|lemma| is_part(lemma, cube)))
    }

    /// Whether no step leads into a cube at a level, from the level below: the literals that are
    /// enough for that, or a step and the states that it leads there from.
    fn step_into(
        &mut self,
        point: PointId,
        cube: &Cube,
        level: usize,
        wanted: Wanted,
    ) -> Result<Result<Cube, (StepId, Cube)>, Stopped> {
        let mut needed: FxHashSet<Literal> = FxHashSet::default();
        let system = self.system;
        for &step in &system.point(point).into {
            let from = system.step(step).from;
            if level == 1 && from != System::START {
                continue;
            }
            match self.over(step, cube, level - 1, wanted)? {
                Step::Excluded(core) => needed.extend(core),
                Step::From(before) => return Ok(Err((step, before))),
            }
        }
        let mut core: Cube = needed.into_iter().collect();
        core.sort_unstable();
        Ok(Ok(core))
    }

    /// Whether a step leads from a level into a cube.
    fn over(
        &mut self,
        id: StepId,
        cube: &Cube,
        level: usize,
        wanted: Wanted,
    ) -> Result<Step, Stopped> {
        let system = self.system;
        let step = system.step(id);
        let mut hold = Vec::with_capacity(cube.len() + 1);
        let mut literals: FxHashMap<Bit, Literal> = FxHashMap::default();
        for &literal in cube {
            let bit = step.next[literal.position()].is(literal.value());
            match bit.known() {
                Some(true) => {}
                Some(false) => return Ok(Step::Excluded(vec![literal])),
                None => {
                    if literals.insert(bit, literal).is_none() {
                        hold.push(bit);
                    }
                }
            }
        }
        if step.condition == Bit::FALSE {
            return Ok(Step::Excluded(Cube::new()));
        }
        if step.condition != Bit::TRUE {
            hold.push(step.condition);
        }
        let asked = &mut self.asked[id.index()];
        let mut switches: Vec<Switch> = match step.from {
            System::START => Vec::new(),
            _ => asked.switches[level..].to_vec(),
        };
        // What was excluded need not be looked at: it would have been reached before.
        let mut other = None;
        if step.from == step.to {
            let switch = asked.sat.switch();
            let state = &system.point(step.from).state;
            let clause: Vec<Bit> = cube
                .iter()
                .map(|literal| state[literal.position()].is(!literal.value()))
                .collect();
            asked.sat.clause_under(&system.graph, &clause, &[switch]);
            switches.push(switch);
            other = Some(switch);
        }
        self.effort.questions += 1;
        let outcome = asked
            .sat
            .check(&system.graph, &hold, &switches, None, self.budget);
        let answer = match outcome {
            Outcome::Stopped => {
                self.budget.check()?;
                return Err(Stopped::Cancelled);
            }
            Outcome::Unsat => {
                let core = asked.sat.core().into_iter();
                let core = core.filter_map(|bit| literals.get(&bit).copied());
                Step::Excluded(core.collect())
            }
            Outcome::Sat if wanted == Wanted::Whether => Step::From(Cube::new()),
            Outcome::Sat => {
                let positions = &self.places[step.from.index()].positions;
                let because = justify(&system.graph, &self.costs, &asked.sat, &hold, positions);
                self.effort.justified += because.state.len() as u64;
                Step::From(self.lifted(id, &hold, because)?)
            }
        };
        if let Some(switch) = other {
            let asked = &mut self.asked[id.index()];
            asked.sat.drop_switch(switch);
        }
        Ok(answer)
    }

    /// Leaves out of a state what is not needed for a step to lead where it leads: the state and
    /// the inputs contradict that it does not, and only a part of them is needed for that.
    fn lifted(&mut self, id: StepId, hold: &[Bit], because: Because) -> Result<Cube, Stopped> {
        let system = self.system;
        let step = system.step(id);
        if step.from == System::START || because.state.len() < 2 {
            return Ok(because.state);
        }
        let state = &system.point(step.from).state;
        let asked = &mut self.asked[id.index()];
        let switch = asked.sat.switch();
        let elsewhere: Vec<Bit> = hold.iter().map(|&bit| !bit).collect();
        asked.sat.clause_under(&system.graph, &elsewhere, &[switch]);
        let bit = |literal: &Literal| state[literal.position()].is(literal.value());
        let mut assumed = because.inputs.clone();
        assumed.extend(because.state.iter().map(bit));
        let outcome = asked
            .sat
            .check(&system.graph, &assumed, &[switch], None, self.budget);
        let lifted = match outcome {
            Outcome::Unsat => {
                let core: FxHashSet<Bit> = asked.sat.core().into_iter().collect();
                let needed = |literal: &Literal| core.contains(&bit(literal));
                because.state.iter().copied().filter(needed).collect()
            }
            Outcome::Sat => because.state,
            Outcome::Stopped => {
                self.budget.check()?;
                return Err(Stopped::Cancelled);
            }
        };
        asked.sat.drop_switch(switch);
        Ok(lifted)
    }

    /// Leaves out of an excluded cube what can be left out.
    fn generalise(
        &mut self,
        point: PointId,
        mut cube: Cube,
        level: usize,
    ) -> Result<Cube, Stopped> {
        let mut at = 0;
        while at < cube.len() {
            let mut fewer = cube.clone();
            fewer.remove(at);
            match self.step_into(point, &fewer, level, Wanted::Whether)? {
                Ok(core) => {
                    // What was tried before stays at the front, in its order.
                    at = core
                        .iter()
                        .filter(|literal| cube[..at].contains(literal))
                        .count();
                    cube = core;
                }
                Err(_) => at += 1,
            }
        }
        Ok(cube)
    }

    /// The highest level at which no step leads into a cube that is excluded at `level`.
    fn highest(&mut self, point: PointId, cube: &Cube, mut level: usize) -> Result<usize, Stopped> {
        while level < self.level {
            match self.step_into(point, cube, level + 1, Wanted::Whether)? {
                Ok(_) => level += 1,
                Err(_) => break,
            }
        }
        Ok(level)
    }

    /// Excludes a cube at all levels up to one.
    fn learn(&mut self, point: PointId, cube: Cube, level: usize) {
        self.effort.clauses += 1;
        self.effort.literals += cube.len() as u64;
        let system = self.system;
        let place = &mut self.places[point.index()];
        // What is no longer needed.
        for lemmas in &mut place.lemmas[..=level] {
            lemmas.retain(|lemma| !is_part(&cube, lemma));
        }
        let state = &system.point(point).state;
        let clause: Vec<Bit> = cube
            .iter()
            .map(|literal| state[literal.position()].is(!literal.value()))
            .collect();
        place.lemmas[level].push(cube);
        for step in &self.leaving[point.index()] {
            let asked = &mut self.asked[step.index()];
            let switch = asked.switches[level];
            asked.sat.clause_under(&system.graph, &clause, &[switch]);
        }
    }

    /// Lifts clauses to the next level where they hold there, too. Gives a level that is the same
    /// as the next one, if there is one.
    fn propagate(&mut self) -> Result<Option<usize>, Stopped> {
        for level in 1..self.level {
            for point in 0..self.places.len() {
                let id = PointId(point as u32);
                let lemmas = self.places[point].lemmas[level].clone();
                for lemma in lemmas {
                    if !self.places[point].lemmas[level].contains(&lemma) {
                        continue;
                    }
                    if let Ok(core) = self.step_into(id, &lemma, level + 1, Wanted::Whether)? {
                        self.learn(id, core, level + 1);
                    }
                }
            }
            if self
                .places
                .iter()
                .all(|place| place.lemmas[level].is_empty())
            {
                return Ok(Some(level));
            }
        }
        Ok(None)
    }
}

/// Whether all literals of one cube are in another one.
fn is_part(part: &Cube, whole: &Cube) -> bool {
    if part.len() > whole.len() {
        return false;
    }
    let mut whole = whole.iter();
    part.iter()
        .all(|literal| whole.any(|other| other == literal))
}
