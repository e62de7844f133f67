//! Programs that are made of others, with the way back.

use crate::ids::{EdgeId, LocId};
use crate::program::Program;

/// A program that was made of another one.
#[derive(Clone, Debug)]
pub struct Derived {
    /// The program.
    pub program: Program,
    /// For every edge of it, the edge of the original that it stands for; none for those that are
    /// no step of the original, as those that pass arguments and results.
    pub edges: Vec<Option<EdgeId>>,
    /// For every location of it, the location of the original.
    pub locations: Vec<LocId>,
}

impl Derived {
    /// A program that is its own original, or has the locations and edges of its original.
    pub fn unchanged(program: Program) -> Derived {
        Derived {
            edges: (0..program.edges.len() as u32)
                .map(|edge| Some(EdgeId(edge)))
                .collect(),
            locations: (0..program.locations.len() as u32).map(LocId).collect(),
            program,
        }
    }

    /// What was made of the program of another one: the way back leads to that one's original.
    pub fn after(self, before: &Derived) -> Derived {
        let edge = |edge: EdgeId| before.edges[edge.index()];
        let edges = self.edges.into_iter().map(|id| id.and_then(edge));
        let locations = self.locations.into_iter();
        let locations = locations.map(|id| before.locations[id.index()]);
        Derived {
            edges: edges.collect(),
            locations: locations.collect(),
            program: self.program,
        }
    }
}
