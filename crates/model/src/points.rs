//! Points of the unrolled program: where control is, under which calls, in which iteration of each
//! loop around it.

use crate::loops::FunctionGraph;
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::{Op, Program};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What is around a location, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContextId(pub u32);

/// A point, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PointId(pub u32);

/// What is around a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Around {
    /// Nothing: the entry function.
    Start,
    /// A call, in a context.
    Call(ContextId, EdgeId, FuncId),
    /// A loop in a context, by its head, at that many arrivals at the head.
    Loop(ContextId, LocId, u32),
}

/// Contexts and points as a plain list, to be written down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Points {
    /// What may be around a location; each speaks of those before it only.
    pub contexts: Vec<Around>,
    /// A point: its context and its location.
    pub points: Vec<(ContextId, LocId)>,
}

/// Numbers for points, the same for the same point whenever it is met.
#[derive(Clone, Debug)]
pub struct Numbering {
    known: Points,
    contexts: HashMap<Around, ContextId>,
    points: HashMap<(ContextId, LocId), PointId>,
}

impl Default for Numbering {
    fn default() -> Numbering {
        let points = Points {
            contexts: vec![Around::Start],
            points: Vec::new(),
        };
        Numbering {
            known: points,
            contexts: HashMap::from([(Around::Start, ContextId(0))]),
            points: HashMap::new(),
        }
    }
}

impl Numbering {
    /// The numbering that a list says; `None` if the list does not make sense.
    pub fn of(points: &Points) -> Option<Numbering> {
        if points.contexts.first() != Some(&Around::Start) {
            return None;
        }
        let mut numbering = Numbering::default();
        for &around in &points.contexts[1..] {
            let next = ContextId(numbering.known.contexts.len() as u32);
            let up = match around {
                Around::Start => return None,
                Around::Call(up, ..) | Around::Loop(up, ..) => up,
            };
            // Twice the same would have two numbers.
            if up.0 >= next.0 || numbering.context(around) != next {
                return None;
            }
        }
        for &(context, location) in &points.points {
            let next = PointId(numbering.known.points.len() as u32);
            if context.0 as usize >= points.contexts.len()
                || numbering.point(context, location) != next
            {
                return None;
            }
        }
        Some(numbering)
    }

    /// All that has a number.
    pub fn points(&self) -> &Points {
        &self.known
    }

    /// The context of the entry function.
    pub fn start(&self) -> ContextId {
        ContextId(0)
    }

    /// The context inside a call.
    pub fn call(&mut self, from: ContextId, edge: EdgeId, callee: FuncId) -> ContextId {
        self.context(Around::Call(from, edge, callee))
    }

    /// What is around a location.
    pub fn around(&self, id: ContextId) -> Around {
        self.known.contexts[id.0 as usize]
    }

    fn context(&mut self, around: Around) -> ContextId {
        let next = ContextId(self.known.contexts.len() as u32);
        let id = *self.contexts.entry(around).or_insert(next);
        if id == next {
            self.known.contexts.push(around);
        }
        id
    }

    /// How many calls of a function are around.
    pub fn activations(&self, mut id: ContextId, function: FuncId) -> u32 {
        let mut count = 0;
        loop {
            match self.around(id) {
                Around::Start => return count,
                Around::Call(up, _, callee) => {
                    count += u32::from(callee == function);
                    id = up;
                }
                Around::Loop(up, ..) => id = up,
            }
        }
    }

    /// The context in which control arrives at a location of the same call, and the number of
    /// arrivals there if it is the head of a loop.
    pub fn arrive(
        &mut self,
        graph: &FunctionGraph,
        mut id: ContextId,
        location: LocId,
    ) -> (ContextId, u32) {
        let headed = graph.headed_by(location);
        // In a loop with several entries, the head may be around without being the nearest.
        if headed.is_some() {
            let mut up = id;
            while let Around::Loop(next, head, count) = self.around(up) {
                if head == location {
                    let context = self.context(Around::Loop(next, head, count + 1));
                    return (context, count + 1);
                }
                up = next;
            }
        }
        while let Around::Loop(up, head, _) = self.around(id) {
            let holds = graph
                .headed_by(head)
                .is_some_and(|at| graph.holds(at, location));
            if holds {
                break;
            }
            id = up;
        }
        match headed {
            Some(_) => (self.context(Around::Loop(id, location, 1)), 1),
            None => (id, 0),
        }
    }

    /// The number of a point.
    pub fn point(&mut self, context: ContextId, location: LocId) -> PointId {
        let next = PointId(self.known.points.len() as u32);
        let id = *self.points.entry((context, location)).or_insert(next);
        if id == next {
            self.known.points.push((context, location));
        }
        id
    }

    /// The location of a point.
    pub fn location(&self, point: PointId) -> LocId {
        self.known.points[point.0 as usize].1
    }
}

/// A way to leave a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// By an edge that is not a call.
    Edge(EdgeId),
    /// By a call of one of the functions that the pointer may point to.
    Enter(EdgeId, FuncId),
}

/// The ways to leave a location, in an order that everybody knows.
pub fn sides(program: &Program, at: LocId) -> Vec<Side> {
    let mut sides = Vec::new();
    for (id, edge) in program.edges_from(at) {
        match &edge.op {
            Op::Call { callee, .. } => {
                let targets = callee.targets().iter();
                sides.extend(targets.map(|&target| Side::Enter(id, target)));
            }
            _ => sides.push(Side::Edge(id)),
        }
    }
    sides
}
