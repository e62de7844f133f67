//! One question to a supergraph: which vertices are reachable, and how.
//!
//! The engine holds no reference to the supergraph or to the space, so that whoever owns them can
//! extend both between two runs: a new round of abstraction makes a new engine on the same space.

use crate::bdd::Bdd;
use crate::execution;
use crate::join::{Joins, Memo};
use crate::order::slot_count;
use crate::path::{Predecessors, Walk};
use crate::ranges::{LiveRanges, ModRef, Ranges};
use crate::rings::{Follow, Rings};
use crate::schedule::Schedule;
use crate::search::{PathEdges, Until};
use crate::slot_set as set;
use crate::space::{Copy, Slot, Space};
use crate::supergraph::{Proc, Supergraph, Vertex};
use crate::trace::{self, Expand, Trace};
use hardbop_budget::Stopped;

/// How the search is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tracking {
    /// Whether path edges forget dead slots.
    pub live_ranges: LiveRanges,
    /// Whether calls pass unmodified globals by.
    pub mod_ref: ModRef,
}

/// The state of a search.
#[derive(Debug)]
pub struct Engine {
    schedule: Schedule,
    ranges: Ranges,
    memo: Memo,
    paths: PathEdges,
    /// Made for the first trace.
    tracing: Option<Tracing>,
    slots: u32,
}

/// What traces need beyond the path edges.
#[derive(Debug)]
struct Tracing {
    predecessors: Predecessors,
    rings: Rings,
    /// Everything in scope, and what was worked out for it.
    whole: Ranges,
    whole_memo: Memo,
}

/// What a search cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Vertices that control flow may lead to, in procedures that main may call.
    pub vertices: usize,
    /// Vertices with a path edge.
    pub reached: usize,
    /// BDD nodes of all path edges together.
    pub path_edge_nodes: usize,
    /// BDD nodes of the largest path-edge relation.
    pub largest_path_edge: usize,
    /// Procedures with a summary.
    pub summaries: usize,
    /// BDD nodes of all summaries together.
    pub summary_nodes: usize,
    /// Rings computed for traces.
    pub rings: usize,
    /// Vertices taken from the worklist.
    pub steps: u64,
    /// The most BDD nodes at once.
    pub peak_nodes: usize,
    /// Bytes that BDD nodes and their tables take.
    pub bdd_bytes: usize,
    /// Garbage collections.
    pub collections: usize,
    /// Slots that the variables share.
    pub slots: u32,
}

impl Engine {
    /// Prepares a search of the supergraph, from any state at main's entry.
    pub fn new<G: Supergraph>(
        graph: &mut G,
        space: &mut Space,
        tracking: Tracking,
    ) -> Result<Engine, Stopped> {
        let slots = slot_count(graph);
        space.reserve(slots);
        let schedule = Schedule::new(graph);
        let ranges = Ranges::new(
            graph,
            &schedule,
            slots,
            tracking.live_ranges,
            tracking.mod_ref,
        );
        let mut memo = Memo::default();
        let mut joins = Joins {
            graph,
            space,
            ranges: &ranges,
            memo: &mut memo,
        };
        let paths = PathEdges::new(&mut joins, &schedule)?;
        Ok(Engine {
            schedule,
            ranges,
            memo,
            paths,
            tracing: None,
            slots,
        })
    }

    /// Searches on, to the end or until one of the wanted vertices is found. After an
    /// interruption it can be called again.
    pub fn run<G: Supergraph>(
        &mut self,
        graph: &mut G,
        space: &mut Space,
        until: &Until,
    ) -> Result<(), Stopped> {
        if !self.is_complete() {
            // Rings were made with the summaries of that time.
            self.tracing = None;
        }
        let mut joins = Joins {
            graph,
            space,
            ranges: &self.ranges,
            memo: &mut self.memo,
        };
        self.paths.run(&mut joins, &self.schedule, until)
    }

    /// Whether everything reachable is known, so that what was not reached is unreachable.
    pub fn is_complete(&self) -> bool {
        self.paths.is_complete()
    }

    /// Whether the vertex was found reachable.
    pub fn is_reached(&self, vertex: Vertex) -> bool {
        !self.paths.reached[vertex.index()].is_false()
    }

    /// The path edges to a vertex: a relation between the entry values of inputs and the current
    /// values of live slots.
    pub fn path_edges(&self, vertex: Vertex) -> Bdd {
        self.paths.reached[vertex.index()]
    }

    /// The states in which a vertex is reached, over the current values of live slots.
    pub fn states<G: Supergraph>(
        &self,
        graph: &G,
        space: &mut Space,
        vertex: Vertex,
    ) -> Result<Bdd, Stopped> {
        let inputs = set::slots(self.ranges.inputs(graph.procedure_of(vertex)));
        let entry: Vec<_> = inputs.map(|slot| Space::var(slot, Copy::Entry)).collect();
        let pass = space.bdds.pass(&entry, &[]);
        space.bdds.project(self.paths.reached[vertex.index()], pass)
    }

    /// The slots that the states of a vertex speak of; the others are dead there.
    pub fn live<G: Supergraph>(&self, graph: &G, vertex: Vertex) -> Vec<Slot> {
        set::slots(self.ranges.live(graph, vertex)).collect()
    }

    /// A shortest trace to a vertex, if it was found reachable. The trace is a shortest one of
    /// all if the search is complete, else a shortest one by the summaries known so far.
    pub fn trace<G: Supergraph>(
        &mut self,
        graph: &mut G,
        space: &mut Space,
        vertex: Vertex,
        expand: Expand,
    ) -> Result<Option<Trace>, Stopped> {
        if !self.is_reached(vertex) {
            return Ok(None);
        }
        self.prepare_tracing(graph, space, vertex)?;
        let Engine {
            schedule,
            ranges,
            memo,
            paths,
            tracing,
            ..
        } = self;
        let Some(Tracing {
            predecessors,
            rings,
            whole,
            whole_memo,
        }) = tracing
        else {
            return Ok(None);
        };
        let mut joins = Joins {
            graph,
            space,
            ranges,
            memo,
        };
        while rings.first(vertex).is_none() {
            if !rings.advance(&mut joins, &paths.reached)? {
                return Ok(None);
            }
            // The kernel looks at the budget by itself, but small rings keep it waiting long.
            if rings.last().is_multiple_of(64) {
                joins.space.bdds.check()?;
            }
            if joins.space.bdds.wants_collection() {
                joins.collect_if_due(paths.roots().chain(rings.roots()));
            }
        }
        let Some(length) = rings.first(vertex) else {
            return Ok(None);
        };
        let keep = |roots: &mut Vec<Bdd>| roots.extend(paths.roots().chain(rings.roots()));
        let walk = Walk {
            schedule,
            predecessors,
            paths,
            live: ranges,
            keep: &keep,
        };
        let Some(hops) = walk.back(&mut joins, rings, &paths.reached, vertex, length, Bdd::TRUE)?
        else {
            return Ok(None);
        };
        let moves = trace::expand(&walk, &mut joins, hops, expand)?;
        let Joins {
            graph, space, memo, ..
        } = joins;
        // A collection in one phase would leave dead diagrams in the other phase's memo.
        memo.before_collection();
        let mut joins = Joins {
            graph,
            space,
            ranges: whole,
            memo: whole_memo,
        };
        let steps = execution::states(&walk, &mut joins, &moves);
        joins.memo.before_collection();
        let steps = steps?;
        Ok(steps.map(|steps| Trace { length, steps }))
    }

    /// Makes rings that lead to the vertex, unless there are such rings already.
    fn prepare_tracing<G: Supergraph>(
        &mut self,
        graph: &mut G,
        space: &mut Space,
        vertex: Vertex,
    ) -> Result<(), Stopped> {
        let main = graph.main();
        let procedure = graph.procedure_of(vertex);
        let leads_there = |tracing: &Tracing| procedure == main || tracing.rings.follows(procedure);
        if self.tracing.as_ref().is_some_and(leads_there) {
            return Ok(());
        }
        // The first trace enters only procedures from which the vertex's can be called. When
        // another one needs more, there will be many of them: then rings enter all procedures.
        let follow = match self.tracing {
            None => self.callers_of(graph, procedure),
            Some(_) => vec![true; graph.procedures() as usize],
        };
        let mut joins = Joins {
            graph,
            space,
            ranges: &self.ranges,
            memo: &mut self.memo,
        };
        let start = joins.start(main, Bdd::TRUE)?;
        let entry = graph.procedure(main).entry;
        self.tracing = Some(Tracing {
            predecessors: Predecessors::new(graph),
            rings: Rings::new(entry, start, Follow::Procedures(follow)),
            whole: Ranges::whole_scope(graph, &self.schedule, self.slots),
            whole_memo: Memo::default(),
        });
        Ok(())
    }

    /// The procedures from which calls lead to this one, itself included.
    fn callers_of<G: Supergraph>(&self, graph: &G, procedure: Proc) -> Vec<bool> {
        let mut found = vec![false; graph.procedures() as usize];
        found[procedure.index()] = true;
        let mut work = vec![procedure];
        while let Some(procedure) = work.pop() {
            for &call in self.schedule.callers(procedure) {
                let caller = graph.procedure_of(graph.ends(call).from);
                if !found[caller.index()] {
                    found[caller.index()] = true;
                    work.push(caller);
                }
            }
        }
        found
    }

    /// What the search cost so far.
    pub fn counts<G: Supergraph>(&self, graph: &G, space: &Space) -> Counts {
        let reached = || {
            self.paths
                .reached
                .iter()
                .copied()
                .filter(|edges| !edges.is_false())
        };
        let exits = self.schedule.procedures.iter();
        let summaries: Vec<Bdd> = exits
            .map(|&procedure| self.paths.reached[graph.procedure(procedure).exit.index()])
            .filter(|edges| !edges.is_false())
            .collect();
        let mut distinct: Vec<Bdd> = reached().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let sizes = distinct.iter().map(|&edges| space.bdds.node_count([edges]));
        Counts {
            vertices: self.schedule.vertices.len(),
            reached: reached().count(),
            largest_path_edge: sizes.max().unwrap_or(0),
            path_edge_nodes: space.bdds.node_count(distinct),
            summaries: summaries.len(),
            summary_nodes: space.bdds.node_count(summaries),
            rings: self
                .tracing
                .as_ref()
                .map_or(0, |tracing| tracing.rings.last() as usize + 1),
            steps: self.paths.steps,
            peak_nodes: space.bdds.peak_nodes(),
            bdd_bytes: space.bdds.bytes(),
            collections: space.bdds.collections(),
            slots: self.slots,
        }
    }
}
