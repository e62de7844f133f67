//! Traces: a path with its states, in the order of execution.

use crate::join::Joins;
use crate::path::{Hop, Inner, Walk};
use crate::supergraph::{Edge, Supergraph, Vertex};
use hardbop_budget::Stopped;
use std::collections::HashMap;

/// How a trace leaves a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Along an edge within the procedure.
    Along(Edge),
    /// Into the callee of a call.
    Into(Edge),
    /// From the callee's exit back to the return point of this call.
    Return(Edge),
    /// Over a call whose inside is not shown.
    Over(Edge),
    /// Not at all: this is the last vertex.
    End,
}

/// A vertex on the way, with the state before it.
#[derive(Clone, Debug)]
pub struct Step {
    /// The vertex.
    pub vertex: Vertex,
    /// How many calls are open.
    pub depth: u32,
    /// How the trace goes on.
    pub leaves: Move,
    /// The value of every slot in scope.
    pub state: Vec<Value>,
}

/// A slot's value at one step of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// The trace can be followed with no other value here.
    Forced(bool),
    /// The value in one execution along the trace; others have the other one.
    Free(bool),
    /// Left open by a call whose inside is not shown. Nothing on the trace reads it.
    Unknown,
}

impl Value {
    /// The value in the execution that was picked, if it is known.
    pub fn get(self) -> Option<bool> {
        match self {
            Value::Forced(value) | Value::Free(value) => Some(value),
            Value::Unknown => None,
        }
    }
}

/// A shortest way to a vertex.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The length of the shortest hierarchical trajectory: its number of transitions, where a
    /// step over a whole call counts as one (section 3.2).
    pub length: u32,
    /// The steps in the order of execution. The states of calls that are shown inside agree with
    /// those outside.
    pub steps: Vec<Step>,
}

/// How far a trace shows the inside of calls that return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expand {
    /// Not at all.
    Nothing,
    /// Until the trace has about this many steps; later calls stay closed. Fully expanded traces
    /// may be exponentially long.
    Steps(usize),
}

/// Opens the calls that a path jumps over.
pub(crate) fn expand<G: Supergraph>(
    walk: &Walk<'_>,
    joins: &mut Joins<'_, G>,
    hops: Vec<Hop>,
    expand: Expand,
) -> Result<Vec<Move>, Stopped> {
    let most = match expand {
        Expand::Nothing => 0,
        Expand::Steps(most) => most,
    };
    let mut known: HashMap<Inner, Option<Vec<Hop>>> = HashMap::new();
    let mut moves = Vec::new();
    // What is still to come: the rest of each open procedure's hops, and its call.
    let mut open = vec![(hops.into_iter(), None)];
    let mut waiting = open[0].0.len();
    while let Some((hops, call)) = open.last_mut() {
        let Some(hop) = hops.next() else {
            moves.extend(call.map(Move::Return));
            open.pop();
            continue;
        };
        waiting -= 1;
        match hop {
            Hop::Along(edge) => moves.push(Move::Along(edge)),
            Hop::Into(edge) => moves.push(Move::Into(edge)),
            Hop::Over(edge, inner) => {
                if moves.len() + waiting >= most {
                    moves.push(Move::Over(edge));
                    continue;
                }
                let inside = match known.get(&inner) {
                    Some(inside) => inside.clone(),
                    None => {
                        let inside = walk.inside(joins, &inner)?;
                        known.insert(inner, inside.clone());
                        inside
                    }
                };
                match inside {
                    Some(inside) => {
                        moves.push(Move::Into(edge));
                        waiting += inside.len();
                        open.push((inside.into_iter(), Some(edge)));
                    }
                    None => moves.push(Move::Over(edge)),
                }
            }
        }
    }
    moves.push(Move::End);
    Ok(moves)
}
