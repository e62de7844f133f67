//! The order in which vertices are worked on, and who calls whom.
//!
//! Callees come before callers, so that a procedure is explored as far as it can be before its
//! caller goes on with an incomplete summary; within a procedure the order is reverse postorder
//! with loop bodies before what follows the loop.

use crate::supergraph::{Edge, Proc, Supergraph, Vertex};
use hardbop_graph::cycles;
use std::ops::Range;

/// The order of work and the call graph.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// The rank of every vertex; lower ones first. `u32::MAX` where control flow never leads.
    pub(crate) rank: Vec<u32>,
    /// The vertices by rank.
    pub(crate) vertices: Vec<Vertex>,
    /// The procedures that main may call, callees before callers.
    pub(crate) procedures: Vec<Proc>,
    /// The call edges of reachable procedures, by callee; those of `p` are
    /// `callers[first_caller[p]..first_caller[p + 1]]`.
    callers: Vec<Edge>,
    first_caller: Vec<u32>,
    /// The procedures that may be active more than once at a time.
    recursive: Vec<bool>,
    /// By procedure: the ranks of its vertices.
    ranks: Vec<Range<u32>>,
    /// By rank: whether the vertex is the exit of its procedure.
    exits: Vec<bool>,
    /// By rank: whether an edge leads to the vertex from one that comes no earlier.
    heads: Vec<bool>,
}

impl Schedule {
    pub(crate) fn new(graph: &impl Supergraph) -> Schedule {
        let count = graph.procedures() as usize;
        let mut schedule = Schedule {
            rank: vec![u32::MAX; graph.vertices() as usize],
            vertices: Vec::new(),
            procedures: Vec::new(),
            callers: Vec::new(),
            first_caller: vec![0; count + 2],
            recursive: vec![false; count],
            ranks: vec![0..0; count],
            exits: Vec::new(),
            heads: Vec::new(),
        };
        // Depth-first over procedures, without recursion: call chains may be very deep.
        let mut state = vec![State::Unseen; count];
        let mut bodies: Vec<Body> = vec![Body::new(graph, graph.main())];
        state[graph.main().index()] = State::Open;
        let mut finished: Vec<Body> = Vec::new();
        let mut recursion = false;
        while let Some(body) = bodies.last_mut() {
            let Some(&call) = body.calls.get(body.next) else {
                state[body.procedure.index()] = State::Closed;
                finished.extend(bodies.pop());
                continue;
            };
            body.next += 1;
            let Some(callee) = graph.ends(call).callee else {
                continue;
            };
            match state[callee.index()] {
                State::Unseen => {
                    state[callee.index()] = State::Open;
                    bodies.push(Body::new(graph, callee));
                }
                State::Open => recursion = true,
                State::Closed => {}
            }
        }
        for body in &finished {
            schedule.procedures.push(body.procedure);
            let first = schedule.vertices.len() as u32;
            let exit = graph.procedure(body.procedure).exit;
            for &vertex in body.order.iter().rev() {
                schedule.rank[vertex.index()] = schedule.vertices.len() as u32;
                schedule.vertices.push(vertex);
                schedule.exits.push(vertex == exit);
            }
            let last = schedule.vertices.len() as u32;
            schedule.ranks[body.procedure.index()] = first..last;
        }
        schedule.find_heads(graph);
        // Counting sort of the call edges by callee.
        let calls = || finished.iter().flat_map(|body| body.calls.iter().copied());
        for call in calls() {
            if let Some(callee) = graph.ends(call).callee {
                schedule.first_caller[callee.index() + 2] += 1;
            }
        }
        for i in 2..schedule.first_caller.len() {
            schedule.first_caller[i] += schedule.first_caller[i - 1];
        }
        schedule.callers = vec![Edge(0); schedule.first_caller[count + 1] as usize];
        for call in calls() {
            if let Some(callee) = graph.ends(call).callee {
                let place = &mut schedule.first_caller[callee.index() + 1];
                schedule.callers[*place as usize] = call;
                *place += 1;
            }
        }
        if recursion {
            schedule.find_recursion(graph, &finished);
        }
        schedule
    }

    fn find_heads(&mut self, graph: &impl Supergraph) {
        self.heads = vec![false; self.vertices.len()];
        for (rank, &vertex) in self.vertices.iter().enumerate() {
            for edge in graph.edges_from(vertex).map(Edge) {
                let to = self.rank[graph.ends(edge).to.index()];
                if to <= rank as u32 {
                    self.heads[to as usize] = true;
                }
            }
        }
    }

    /// Whether a loop leads back to a vertex that control flow may lead to.
    pub(crate) fn is_head(&self, vertex: Vertex) -> bool {
        self.heads[self.rank[vertex.index()] as usize]
    }

    /// Marks the procedures on cycles of calls.
    fn find_recursion(&mut self, graph: &impl Supergraph, bodies: &[Body]) {
        let mut called = vec![Vec::new(); self.recursive.len()];
        for body in bodies {
            let callees = body
                .calls
                .iter()
                .filter_map(|&call| graph.ends(call).callee);
            called[body.procedure.index()].extend(callees.map(Proc::index));
        }
        for (recursive, cycle) in self.recursive.iter_mut().zip(cycles(&called)) {
            *recursive = cycle.is_some();
        }
    }

    /// The vertices of a procedure that control flow may lead to, by rank.
    pub(crate) fn vertices_of(&self, procedure: Proc) -> &[Vertex] {
        let Range { start, end } = self.ranks[procedure.index()];
        &self.vertices[start as usize..end as usize]
    }

    /// Whether the vertex of a rank is the exit of its procedure.
    pub(crate) fn is_exit(&self, rank: u32) -> bool {
        self.exits[rank as usize]
    }

    /// Whether a procedure may be active more than once at a time.
    pub(crate) fn is_recursive(&self, procedure: Proc) -> bool {
        self.recursive[procedure.index()]
    }

    /// The calls of a procedure from procedures that main may call.
    pub(crate) fn callers(&self, procedure: Proc) -> &[Edge] {
        let p = procedure.index();
        &self.callers[self.first_caller[p] as usize..self.first_caller[p + 1] as usize]
    }

    /// Whether anything calls the procedure.
    pub(crate) fn is_called(&self, procedure: Proc) -> bool {
        !self.callers(procedure).is_empty()
    }
}

/// How far the walk over procedures is with one of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unseen,
    /// It is being walked over, so a call of it is recursive.
    Open,
    Closed,
}

/// A procedure's vertices in postorder and its calls.
struct Body {
    procedure: Proc,
    order: Vec<Vertex>,
    calls: Vec<Edge>,
    next: usize,
}

impl Body {
    fn new(graph: &impl Supergraph, procedure: Proc) -> Body {
        let shape = graph.procedure(procedure);
        let first = shape.vertices.start;
        let mut seen = vec![false; shape.vertices.len()];
        let mut order = Vec::with_capacity(shape.vertices.len());
        let mut calls = Vec::new();
        seen[(shape.entry.0 - first) as usize] = true;
        let mut stack = vec![(shape.entry, graph.edges_from(shape.entry))];
        while let Some((vertex, edges)) = stack.last_mut() {
            // From the back: what is visited first ends up last, and the last edge of a loop
            // head is the one that leaves the loop.
            let Some(edge) = edges.next_back().map(Edge) else {
                order.push(*vertex);
                stack.pop();
                continue;
            };
            let ends = graph.ends(edge);
            if ends.callee.is_some() {
                calls.push(edge);
            }
            let seen = &mut seen[(ends.to.0 - first) as usize];
            if !*seen {
                *seen = true;
                stack.push((ends.to, graph.edges_from(ends.to)));
            }
        }
        Body {
            procedure,
            order,
            calls,
            next: 0,
        }
    }
}
