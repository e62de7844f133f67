//! Transition systems of bits with an explicit program counter: what the search works on.

use hardbop_circuit::{Bit, Graph};

/// A point of control, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PointId(pub u32);

/// A step between two points, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(pub u32);

impl PointId {
    /// The position among the points.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl StepId {
    /// The position among the steps.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A bit of the state at a point, by its position there, and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Literal(u32);

impl Literal {
    /// The bit at a position has a value.
    pub fn new(position: usize, value: bool) -> Literal {
        Literal((position as u32) << 1 | u32::from(value))
    }

    /// The position of the bit.
    pub fn position(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Its value.
    pub fn value(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Some bits of the state have these values; sorted.
pub type Cube = Vec<Literal>;

/// Where control can be.
#[derive(Clone, Debug, Default)]
pub struct Point {
    /// The bits of the state that matter there: inputs of the graph.
    pub state: Vec<Bit>,
    /// What follows from them, and clauses may speak of. Positions go on from the state's.
    pub derived: Vec<Bit>,
    /// The steps that lead there.
    pub into: Vec<StepId>,
}

impl Point {
    /// The bit at a position.
    pub fn bit(&self, position: usize) -> Bit {
        match position.checked_sub(self.state.len()) {
            None => self.state[position],
            Some(derived) => self.derived[derived],
        }
    }
}

/// A step from one point to another.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Where it begins.
    pub from: PointId,
    /// Where it ends.
    pub to: PointId,
    /// When it can be taken.
    pub condition: Bit,
    /// The bits of the state at its end, in the order that they have there.
    pub next: Vec<Bit>,
    /// What follows from them there.
    pub derived: Vec<Bit>,
}

impl Transition {
    /// What the bit at a position is at the end of the step.
    pub fn after(&self, position: usize) -> Bit {
        match position.checked_sub(self.next.len()) {
            None => self.next[position],
            Some(derived) => self.derived[derived],
        }
    }
}

/// A system. It begins at its first point, in any state.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// What conditions and next states are made of.
    pub graph: Graph,
    /// The points.
    pub points: Vec<Point>,
    /// The steps.
    pub steps: Vec<Transition>,
}

impl System {
    /// Where it begins.
    pub const START: PointId = PointId(0);

    /// A step.
    pub fn step(&self, id: StepId) -> &Transition {
        &self.steps[id.index()]
    }

    /// A point.
    pub fn point(&self, id: PointId) -> &Point {
        &self.points[id.index()]
    }

    /// Adds a step.
    pub fn add(&mut self, step: Transition) -> StepId {
        let id = StepId(self.steps.len() as u32);
        self.points[step.to.index()].into.push(id);
        self.steps.push(step);
        id
    }

    /// The most bits of the state at a point.
    pub fn bits(&self) -> usize {
        let bits = self.points.iter().map(|point| point.state.len());
        bits.max().unwrap_or(0)
    }
}
