//! The shape of one function's control flow: its loops.

use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_cfront::program::Program;
use hardbop_graph::Loops;

/// A function's control flow, over positions in the function's own range of locations.
#[derive(Clone, Debug)]
pub struct FunctionGraph {
    first: u32,
    /// How many locations there are.
    pub count: usize,
    found: Loops,
}

impl FunctionGraph {
    /// The control flow of a function.
    pub fn new(program: &Program, function: FuncId) -> FunctionGraph {
        let described = program.function(function);
        let first = described.locations.start;
        let successors = program.successors(function);
        FunctionGraph {
            first,
            count: successors.len(),
            found: Loops::new(&successors, (described.entry.0 - first) as usize),
        }
    }

    /// The position of a location.
    pub fn index(&self, location: LocId) -> usize {
        (location.0 - self.first) as usize
    }

    /// The location at a position.
    pub fn location(&self, index: usize) -> LocId {
        LocId(self.first + index as u32)
    }

    /// Whether every loop is entered through its head only.
    pub fn is_reducible(&self) -> bool {
        self.found.reducible
    }

    /// How many loops there are.
    pub fn loops(&self) -> usize {
        self.found.loops.len()
    }

    /// The head of a loop.
    pub fn head(&self, at: usize) -> LocId {
        self.location(self.found.loops[at].head)
    }

    /// Whether a loop holds a location.
    pub fn holds(&self, at: usize, location: LocId) -> bool {
        self.found.loops[at].body[self.index(location)]
    }

    /// The loops that hold a location, outermost first.
    pub fn nest(&self, location: LocId) -> Vec<usize> {
        (0..self.loops())
            .filter(|&at| self.holds(at, location))
            .collect()
    }

    /// The loop that starts at a location.
    pub fn headed_by(&self, location: LocId) -> Option<usize> {
        (0..self.loops()).find(|&at| self.head(at) == location)
    }
}
