//! Shortest paths from rings: which edges and which calls lead to a vertex.

use crate::back::{Point, Values};
use crate::bdd::Bdd;
use crate::join::Joins;
use crate::ranges::Ranges;
use crate::rings::{Follow, Rings};
use crate::schedule::Schedule;
use crate::search::PathEdges;
use crate::slot_set as set;
use crate::space::{Copy, Slot};
use crate::supergraph::{Edge, Frame, Proc, Supergraph, Vertex};
use hardbop_budget::Stopped;

/// One transition of a hierarchical trajectory.
#[derive(Clone, Debug)]
pub(crate) enum Hop {
    /// Along an edge within the procedure.
    Along(Edge),
    /// Into the callee.
    Into(Edge),
    /// Over the whole call.
    Over(Edge, Inner),
}

/// The summary edge by which a hop jumps over a call: values of the callee's inputs at its entry,
/// and of what is live at its exit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Inner {
    pub(crate) callee: Proc,
    pub(crate) entry: Values,
    pub(crate) exit: Values,
}

/// The edges that lead to each vertex.
#[derive(Debug)]
pub(crate) struct Predecessors {
    first: Vec<u32>,
    edges: Vec<Edge>,
}

impl Predecessors {
    pub(crate) fn new(graph: &impl Supergraph) -> Predecessors {
        let vertices = graph.vertices() as usize;
        let mut first = vec![0u32; vertices + 2];
        for edge in (0..graph.edges()).map(Edge) {
            first[graph.ends(edge).to.index() + 2] += 1;
        }
        for i in 2..first.len() {
            first[i] += first[i - 1];
        }
        let mut edges = vec![Edge(0); graph.edges() as usize];
        for edge in (0..graph.edges()).map(Edge) {
            let place = &mut first[graph.ends(edge).to.index() + 1];
            edges[*place as usize] = edge;
            *place += 1;
        }
        Predecessors { first, edges }
    }

    fn of(&self, vertex: Vertex) -> &[Edge] {
        let v = vertex.index();
        &self.edges[self.first[v] as usize..self.first[v + 1] as usize]
    }
}

/// What a walk back through rings needs besides them.
pub(crate) struct Walk<'a> {
    pub(crate) schedule: &'a Schedule,
    pub(crate) predecessors: &'a Predecessors,
    /// The path edges; those of exits are the summaries.
    pub(crate) paths: &'a PathEdges,
    /// What those path edges track.
    pub(crate) live: &'a Ranges,
    /// Lists all diagrams that others still need, for collections on the way.
    pub(crate) keep: &'a dyn Fn(&mut Vec<Bdd>),
}

impl Walk<'_> {
    /// The hops of a shortest trajectory to `end` in a ring, in the order of execution; `goal` is
    /// the set of path edges there from which one is chosen.
    pub(crate) fn back<G: Supergraph>(
        &self,
        joins: &mut Joins<'_, G>,
        rings: &Rings,
        reached: &[Bdd],
        end: Vertex,
        ring: u32,
        goal: Bdd,
    ) -> Result<Option<Vec<Hop>>, Stopped> {
        let mut hops = Vec::new();
        let mut vertex = end;
        let in_ring = rings.get(ring, end);
        let goal = joins.space.bdds.and(in_ring, goal)?;
        let Some(mut point) = self.point_in(joins, vertex, goal) else {
            return Ok(None);
        };
        for ring in (0..ring).rev() {
            let Some((hop, from, before)) =
                self.one_back(joins, (rings, reached), ring, vertex, &point)?
            else {
                return Ok(None);
            };
            hops.push(hop);
            vertex = from;
            point = before;
        }
        hops.reverse();
        Ok(Some(hops))
    }

    /// A path edge to the vertex, from a set of them.
    fn point_in<G: Supergraph>(
        &self,
        joins: &Joins<'_, G>,
        vertex: Vertex,
        set: Bdd,
    ) -> Option<Point> {
        let picked = joins.pick(set)?;
        let procedure = joins.graph.procedure_of(vertex);
        let inputs = set::slots(joins.ranges.inputs(procedure));
        let live = set::slots(joins.ranges.live(joins.graph, vertex));
        Some(Point {
            entry: picked.values(inputs, Copy::Entry),
            current: picked.values(live, Copy::Current),
        })
    }

    /// A hop that ends in the point and starts in the given ring.
    fn one_back<G: Supergraph>(
        &self,
        joins: &mut Joins<'_, G>,
        (rings, reached): (&Rings, &[Bdd]),
        ring: u32,
        vertex: Vertex,
        point: &Point,
    ) -> Result<Option<(Hop, Vertex, Point)>, Stopped> {
        let after = joins.cube(point)?;
        for &edge in self.predecessors.of(vertex) {
            let ends = joins.graph.ends(edge);
            let from = rings.get(ring, ends.from);
            if from.is_false() {
                continue;
            }
            let Some(callee) = ends.callee else {
                let steps = joins.before_edge(edge, from, after)?;
                if let Some(before) = self.point_in(joins, ends.from, steps) {
                    return Ok(Some((Hop::Along(edge), ends.from, before)));
                }
                continue;
            };
            let exit = joins.graph.procedure(callee).exit;
            let view = joins.callers_view(callee, reached[exit.index()])?;
            let returned = joins.before_return(edge, callee, after)?;
            let steps = joins.before_call(edge, from, view, returned)?;
            let Some(before) = self.point_in(joins, ends.from, steps) else {
                continue;
            };
            let inner = inner(joins, callee, steps);
            return Ok(Some((Hop::Over(edge, inner), ends.from, before)));
        }
        let procedure = joins.graph.procedure_of(vertex);
        if vertex != joins.graph.procedure(procedure).entry {
            return Ok(None);
        }
        // At the entry, the inputs are what they were when the procedure was entered.
        let states = Point {
            entry: Values::default(),
            current: point.entry.clone(),
        };
        let states = joins.cube(&states)?;
        for &call in self.schedule.callers(procedure) {
            let caller = joins.graph.ends(call).from;
            let from = rings.get(ring, caller);
            if from.is_false() {
                continue;
            }
            let steps = joins.before_entry(call, procedure, from, states)?;
            if let Some(before) = self.point_in(joins, caller, steps) {
                return Ok(Some((Hop::Into(call), caller, before)));
            }
        }
        Ok(None)
    }

    /// The hops inside a callee from its entry to its exit, by a shortest way.
    pub(crate) fn inside<G: Supergraph>(
        &self,
        joins: &mut Joins<'_, G>,
        inner: &Inner,
    ) -> Result<Option<Vec<Hop>>, Stopped> {
        let shape = joins.graph.procedure(inner.callee);
        let states = Point {
            entry: Values::default(),
            current: inner.entry.clone(),
        };
        let states = joins.cube(&states)?;
        let start = joins.start(inner.callee, states)?;
        let goal = Point {
            entry: inner.entry.clone(),
            current: inner.exit.clone(),
        };
        let goal = joins.cube(&goal)?;
        // The way out of a recursive procedure may use only what was known before it was found:
        // with the whole summary it could lead into itself for ever.
        let found = self
            .paths
            .found_in(&mut joins.space.bdds, shape.exit, goal)?;
        let earlier = found.map(|step| self.paths.before(step));
        let reached = earlier.as_ref().unwrap_or(&self.paths.reached);
        let mut rings = Rings::new(shape.entry, start, Follow::Nothing);
        loop {
            let ring = rings.last();
            let ended = rings.get(ring, shape.exit);
            if joins.space.bdds.intersects(ended, goal)? {
                return self.back(joins, &rings, reached, shape.exit, ring, goal);
            }
            if !rings.advance(joins, reached)? {
                return Ok(None);
            }
            if joins.space.bdds.wants_collection() {
                let mut roots = vec![goal];
                (self.keep)(&mut roots);
                joins.collect_if_due(roots.into_iter().chain(rings.roots()));
            }
        }
    }
}

/// What a picked step over a call passed to the callee and got back.
fn inner<G: Supergraph>(joins: &Joins<'_, G>, callee: Proc, steps: Bdd) -> Inner {
    let picked = joins.pick(steps).expect("the caller picked from it before");
    let globals = joins.graph.globals();
    let mut entry = Values::default();
    for slot in set::slots(joins.ranges.inputs(callee)) {
        let copy = if slot.0 < globals {
            Copy::Current
        } else {
            Copy::Next
        };
        entry.set(slot, picked.value(slot, copy));
    }
    let exit_vertex = joins.graph.procedure(callee).exit;
    let frame = Frame::of(joins.graph, callee);
    let mut exit = Values::default();
    let given_back = |slot: &Slot| {
        set::has(joins.ranges.modified(callee), *slot) || frame.returns.contains(&slot.0)
    };
    for slot in set::slots(joins.ranges.live(joins.graph, exit_vertex)).filter(given_back) {
        exit.set(slot, picked.value(slot, Copy::Next));
    }
    Inner {
        callee,
        entry,
        exit,
    }
}
