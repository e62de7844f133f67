//! The search: path edges to a fixpoint (section 3.1, Figure 3).
//!
//! A vertex's pending path edges are those that were added since it was last worked on; the path
//! edges of an exit vertex are the procedure's summary. A collection may happen only between two
//! vertices.

use crate::bdd::{Bdd, Manager};
use crate::join::Joins;
use crate::queue::Queue;
use crate::schedule::Schedule;
use crate::supergraph::{Edge, Supergraph, Vertex};
use hardbop_budget::Stopped;
use std::collections::BTreeMap;

/// When the search ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Until {
    /// When every reachable state is known: all targets are decided.
    #[default]
    Everything,
    /// When one of these vertices is found reachable, or everything is known.
    OneOf(Vec<Vertex>),
}

/// The path edges found so far.
#[derive(Debug)]
pub(crate) struct PathEdges {
    /// By vertex.
    pub(crate) reached: Vec<Bdd>,
    pending: Vec<Bdd>,
    /// By procedure: the states in which calls enter it.
    entered: Vec<Bdd>,
    /// By exit vertex of a recursive procedure: its summary as it grew, each with the number of
    /// the step. What was added in a step rests on summaries of earlier steps only, which is
    /// how traces find their way out of recursion.
    grown: BTreeMap<Vertex, Vec<(u64, Bdd)>>,
    growth: u64,
    /// The ranks of vertices with pending path edges.
    queue: Queue,
    /// How often a vertex was taken from the worklist.
    pub(crate) steps: u64,
}

impl PathEdges {
    /// The path edges with which the search starts: main's entry, in any state.
    pub(crate) fn new<G: Supergraph>(
        joins: &mut Joins<'_, G>,
        schedule: &Schedule,
    ) -> Result<PathEdges, Stopped> {
        let main = joins.graph.main();
        let mut edges = PathEdges {
            reached: vec![Bdd::FALSE; joins.graph.vertices() as usize],
            pending: vec![Bdd::FALSE; joins.graph.vertices() as usize],
            entered: vec![Bdd::FALSE; joins.graph.procedures() as usize],
            grown: BTreeMap::new(),
            growth: 0,
            queue: Queue::new(schedule.vertices.len()),
            steps: 0,
        };
        for &procedure in &schedule.procedures {
            if schedule.is_recursive(procedure) {
                let exit = joins.graph.procedure(procedure).exit;
                edges.grown.insert(exit, Vec::new());
            }
        }
        edges.entered[main.index()] = Bdd::TRUE;
        let start = joins.start(main, Bdd::TRUE)?;
        edges.propagate(
            &mut joins.space.bdds,
            schedule,
            joins.graph.procedure(main).entry,
            start,
        )?;
        Ok(edges)
    }

    /// Every diagram that is still needed.
    pub(crate) fn roots(&self) -> impl Iterator<Item = Bdd> + '_ {
        self.reached
            .iter()
            .chain(&self.pending)
            .chain(&self.entered)
            .copied()
            .chain(self.grown.values().flatten().map(|&(_, summary)| summary))
    }

    /// The step in which some of these path edges to an exit were first there, if its procedure
    /// is recursive.
    pub(crate) fn found_in(
        &self,
        bdds: &mut Manager,
        exit: Vertex,
        edges: Bdd,
    ) -> Result<Option<u64>, Stopped> {
        let Some(grown) = self.grown.get(&exit) else {
            return Ok(None);
        };
        let (mut low, mut high) = (0, grown.len());
        while low < high {
            let middle = (low + high) / 2;
            if bdds.intersects(grown[middle].1, edges)? {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(grown.get(low).map(|&(step, _)| step))
    }

    /// The path edges, with the summaries of recursive procedures as they were before a step.
    pub(crate) fn before(&self, step: u64) -> Vec<Bdd> {
        let mut reached = self.reached.clone();
        for (exit, grown) in &self.grown {
            let known = grown.partition_point(|&(at, _)| at < step);
            reached[exit.index()] = match known {
                0 => Bdd::FALSE,
                known => grown[known - 1].1,
            };
        }
        reached
    }

    /// Works until nothing is pending or `done` says that a vertex just reached is enough.
    pub(crate) fn run<G: Supergraph>(
        &mut self,
        joins: &mut Joins<'_, G>,
        schedule: &Schedule,
        until: &Until,
    ) -> Result<(), Stopped> {
        while let Some(rank) = self.queue.pop() {
            let vertex = schedule.vertices[rank as usize];
            let result = self.visit(joins, schedule, vertex, rank);
            if let Err(stopped) = result {
                // What was pending here was not sent on: leave it for a later run.
                self.queue.push(rank);
                return Err(stopped);
            }
            self.steps += 1;
            if self.steps.is_multiple_of(1024) {
                joins.space.bdds.check()?;
            }
            if let Until::OneOf(targets) = until
                && targets
                    .iter()
                    .any(|target| !self.reached[target.index()].is_false())
            {
                return Ok(());
            }
            joins.collect_if_due(self.roots());
        }
        Ok(())
    }

    fn visit<G: Supergraph>(
        &mut self,
        joins: &mut Joins<'_, G>,
        schedule: &Schedule,
        vertex: Vertex,
        rank: u32,
    ) -> Result<(), Stopped> {
        let new = self.pending[vertex.index()];
        if schedule.is_exit(rank) {
            let procedure = joins.graph.procedure_of(vertex);
            for &call in schedule.callers(procedure) {
                let ends = joins.graph.ends(call);
                let from = self.reached[ends.from.index()];
                if from.is_false() {
                    continue;
                }
                let lifted = joins.lift(call, from, new)?;
                let joined = joins.join(call, from, lifted)?;
                self.propagate(&mut joins.space.bdds, schedule, ends.to, joined)?;
            }
        }
        for edge in joins.graph.edges_from(vertex).map(Edge) {
            let ends = joins.graph.ends(edge);
            let image = match ends.callee {
                None => joins.image(edge, new)?,
                Some(callee) => {
                    let states = joins.enter(edge, new)?;
                    let known = self.entered[callee.index()];
                    if !joins.space.bdds.is_subset(states, known)? {
                        let fresh = joins.space.bdds.difference(states, known)?;
                        let start = joins.start(callee, fresh)?;
                        let entry = joins.graph.procedure(callee).entry;
                        self.propagate(&mut joins.space.bdds, schedule, entry, start)?;
                        self.entered[callee.index()] = joins.space.bdds.or(known, states)?;
                    }
                    let summary = self.reached[joins.graph.procedure(callee).exit.index()];
                    if summary.is_false() {
                        continue;
                    }
                    let lifted = joins.lift(edge, new, summary)?;
                    joins.join(edge, new, lifted)?
                }
            };
            self.propagate(&mut joins.space.bdds, schedule, ends.to, image)?;
        }
        // Only now is all of it sent on. A loop edge may have added to it meanwhile.
        let pending = self.pending[vertex.index()];
        let rest = if pending == new {
            Bdd::FALSE
        } else {
            joins.space.bdds.difference(pending, new)?
        };
        self.pending[vertex.index()] = rest;
        if !rest.is_false() {
            self.queue.push(rank);
        }
        Ok(())
    }

    fn propagate(
        &mut self,
        bdds: &mut Manager,
        schedule: &Schedule,
        vertex: Vertex,
        found: Bdd,
    ) -> Result<(), Stopped> {
        if found.is_false() {
            return Ok(());
        }
        let known = self.reached[vertex.index()];
        let new = bdds.difference(found, known)?;
        if new.is_false() {
            return Ok(());
        }
        let pending = self.pending[vertex.index()];
        let all = bdds.or(known, found)?;
        let waiting = bdds.or(pending, new)?;
        self.reached[vertex.index()] = all;
        if !self.grown.is_empty()
            && let Some(grown) = self.grown.get_mut(&vertex)
        {
            self.growth += 1;
            grown.push((self.growth, all));
        }
        self.pending[vertex.index()] = waiting;
        if pending.is_false() {
            self.queue.push(schedule.rank[vertex.index()]);
        }
        Ok(())
    }

    /// Whether every reachable state is known.
    pub(crate) fn is_complete(&self) -> bool {
        self.queue.is_empty()
    }
}
