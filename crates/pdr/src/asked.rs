//! Questions about one step, to a solver of its own: a question about one step is not to be slowed
//! down by others.

use crate::constants::Constants;
use crate::justify::{Because, Costs, justify};
use crate::system::{Cube, Literal, StepId, System};
use hardbop_budget::{Budget, Stopped};
use hardbop_circuit::{Bit, NodeId, Outcome, Sat, Switch};
use rustc_hash::{FxHashMap, FxHashSet};

/// After so many clauses that are not needed any more, a solver begins anew.
const DROPPED: u32 = 2_000;

/// What all questions are about.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) system: &'a System,
    pub(crate) constants: &'a Constants,
    pub(crate) costs: &'a Costs,
    pub(crate) budget: &'a Budget,
    /// The most decisions of a solver for one question.
    pub(crate) decisions: u32,
}

/// Why a search ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The budget.
    Stopped(Stopped),
    /// It did as much as it may.
    Work,
}

impl From<Stopped> for Halt {
    fn from(stopped: Stopped) -> Halt {
        Halt::Stopped(stopped)
    }
}

/// A step with its own solver, which knows what is known of the states where it begins.
pub(crate) struct Asked {
    step: StepId,
    sat: Sat,
    /// A switch for the clauses of every level.
    switches: Vec<Switch>,
    /// Clauses that are not needed any more.
    dropped: u32,
}

/// What is wanted of a step that leads to a cube.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Whether it does.
    Whether,
    /// The states that it leads there from.
    States,
    /// The same, where all that is derived in the cube follows from the rest of it.
    StatesByBits,
}

/// What a question about one step says.
pub(crate) enum Answer {
    /// It does not lead to the cube; these literals are enough for that.
    Excluded(Cube),
    /// It leads there from these states.
    From(Cube),
}

impl Asked {
    /// A step of which nothing is known but where it begins, with so many levels.
    pub(crate) fn new(subject: Subject<'_>, step: StepId, levels: usize) -> Asked {
        let mut sat = Sat::quick().with_decisions(subject.decisions);
        let from = subject.system.step(step).from;
        for (position, bit) in subject.system.point(from).state.iter().enumerate() {
            if let Some(value) = subject.constants.value(from, position) {
                sat.fix(bit.node(), value != bit.is_negated());
            }
        }
        let switches = (0..levels).map(|_| sat.switch()).collect();
        Asked {
            step,
            sat,
            switches,
            dropped: 0,
        }
    }

    /// Another level.
    pub(crate) fn open_level(&mut self) {
        let switch = self.sat.switch();
        self.switches.push(switch);
    }

    /// Whether a new solver would be faster.
    pub(crate) fn is_worn(&self) -> bool {
        self.dropped > DROPPED
    }

    /// How much its solver has done.
    pub(crate) fn work(&self) -> u64 {
        self.sat.work()
    }

    /// How many levels there are.
    pub(crate) fn levels(&self) -> usize {
        self.switches.len()
    }

    /// No state where the step begins is in this cube, up to a level.
    pub(crate) fn learn(&mut self, subject: Subject<'_>, cube: &Cube, level: usize) {
        let from = subject.system.step(self.step).from;
        let clause = excluding(subject.system, from, cube);
        let switch = self.switches[level];
        self.sat
            .clause_under(&subject.system.graph, &clause, &[switch]);
    }

    /// Whether the step leads from a level into a cube.
    pub(crate) fn over(
        &mut self,
        subject: Subject<'_>,
        cube: &Cube,
        level: usize,
        wanted: Wanted,
        positions: &FxHashMap<NodeId, usize>,
    ) -> Result<Answer, Halt> {
        let system = subject.system;
        let step = system.step(self.step);
        if step.condition == Bit::FALSE {
            return Ok(Answer::Excluded(Cube::new()));
        }
        let mut hold = Vec::with_capacity(cube.len() + 1);
        if step.condition != Bit::TRUE {
            hold.push(step.condition);
        }
        let mut literals: FxHashMap<Bit, Literal> = FxHashMap::default();
        // The positions of what is derived come last.
        let mut needed = hold.len();
        for &literal in cube {
            let bit = step.after(literal.position()).is(literal.value());
            match bit.known() {
                Some(true) => {}
                Some(false) => return Ok(Answer::Excluded(vec![literal])),
                None => {
                    if literals.insert(bit, literal).is_none() {
                        hold.push(bit);
                    }
                }
            }
            if literal.position() < step.next.len() {
                needed = hold.len();
            }
        }
        let mut switches: Vec<Switch> = match step.from {
            System::START => Vec::new(),
            _ => self.switches[level..].to_vec(),
        };
        // What was excluded need not be looked at: it would have been reached before.
        let mut other = None;
        if step.from == step.to {
            let switch = self.sat.switch();
            let clause = excluding(system, step.from, cube);
            self.sat.clause_under(&system.graph, &clause, &[switch]);
            switches.push(switch);
            other = Some(switch);
        }
        let outcome = self
            .sat
            .check(&system.graph, &hold, &switches, None, subject.budget);
        let answer = match outcome {
            Outcome::Stopped => return Err(stopped(subject.budget)),
            Outcome::Unsat => {
                let core = self.sat.core().into_iter();
                let core = core.filter_map(|bit| literals.get(&bit).copied());
                Answer::Excluded(core.collect())
            }
            Outcome::Sat if wanted == Wanted::Whether => Answer::From(Cube::new()),
            Outcome::Sat => {
                let hold = match wanted {
                    Wanted::StatesByBits => &hold[..needed],
                    Wanted::States | Wanted::Whether => &hold[..],
                };
                let mut because = justify(&system.graph, subject.costs, &self.sat, hold, positions);
                let is_open = |literal: &Literal| {
                    subject
                        .constants
                        .value(step.from, literal.position())
                        .is_none()
                };
                because.state.retain(is_open);
                Answer::From(self.lifted(subject, hold, because)?)
            }
        };
        if let Some(switch) = other {
            self.drop(switch);
        }
        Ok(answer)
    }

    /// Leaves out of a state what is not needed for the step to lead where it leads: the state and
    /// the inputs contradict that it does not, and only a part of them is needed for that.
    fn lifted(
        &mut self,
        subject: Subject<'_>,
        hold: &[Bit],
        because: Because,
    ) -> Result<Cube, Halt> {
        let system = subject.system;
        let step = system.step(self.step);
        if step.from == System::START || because.state.len() < 2 {
            return Ok(because.state);
        }
        let state = &system.point(step.from).state;
        let switch = self.sat.switch();
        let elsewhere: Vec<Bit> = hold.iter().map(|&bit| !bit).collect();
        self.sat.clause_under(&system.graph, &elsewhere, &[switch]);
        let bit = |literal: &Literal| state[literal.position()].is(literal.value());
        let mut assumed = because.inputs.clone();
        assumed.extend(because.state.iter().map(bit));
        let outcome = self
            .sat
            .check(&system.graph, &assumed, &[switch], None, subject.budget);
        let lifted = match outcome {
            Outcome::Unsat => {
                let core: FxHashSet<Bit> = self.sat.core().into_iter().collect();
                let needed = |literal: &Literal| core.contains(&bit(literal));
                because.state.iter().copied().filter(needed).collect()
            }
            Outcome::Sat => because.state,
            Outcome::Stopped => return Err(stopped(subject.budget)),
        };
        self.drop(switch);
        Ok(lifted)
    }

    fn drop(&mut self, switch: Switch) {
        self.sat.drop_switch(switch);
        self.dropped += 1;
    }
}

/// Why a solver was stopped.
fn stopped(budget: &Budget) -> Halt {
    budget.check().err().map_or(Halt::Work, Halt::Stopped)
}

/// The clause that excludes a cube at a point.
fn excluding(system: &System, point: crate::system::PointId, cube: &Cube) -> Vec<Bit> {
    let point = system.point(point);
    let literals = cube.iter();
    literals
        .map(|literal| point.bit(literal.position()).is(!literal.value()))
        .collect()
}
