//! Live ranges and MOD/REF (section 3.3): which slots a path edge must speak of.
//!
//! A slot is live at a vertex if its value there can still flow into a read, or into what a
//! caller reads after the return. A global that a procedure does not modify, nor any procedure
//! that it calls, passes by the call and does not enter the summary.

use crate::schedule::Schedule;
use crate::slot_set::{self as set, Rows};
use crate::space::Slot;
use crate::supergraph::{Edge, Ends, Frame, Proc, Supergraph, Vertex};
use std::collections::VecDeque;

/// Whether path edges forget dead slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LiveRanges {
    /// They do.
    #[default]
    Tracked,
    /// Path edges speak of all slots in scope.
    Ignored,
}

/// Whether calls pass unmodified globals by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModRef {
    /// They do.
    #[default]
    Tracked,
    /// Every call may read and modify every global.
    Ignored,
}

/// For every vertex and procedure, the slots that matter.
#[derive(Debug)]
pub(crate) struct Ranges {
    live: Live,
    /// By procedure: the globals that a call may change.
    modified: Rows,
    /// By procedure: the slots whose entry values its path edges record.
    inputs: Rows,
}

#[derive(Debug)]
enum Live {
    /// One row a vertex.
    Vertices(Rows),
    /// One row a procedure, and one for its exit.
    Procedures { scope: Rows, exit: Rows },
}

impl Ranges {
    /// What the search tracks.
    pub(crate) fn new(
        graph: &impl Supergraph,
        schedule: &Schedule,
        slots: u32,
        live_ranges: LiveRanges,
        mod_ref: ModRef,
    ) -> Ranges {
        let uses = Uses::new(graph, schedule, slots);
        let (modified, touched) = match mod_ref {
            ModRef::Tracked => mod_ref_sets(graph, schedule, slots, &uses),
            ModRef::Ignored => {
                let all = all_globals(graph, slots);
                (all.clone(), all)
            }
        };
        let live = match live_ranges {
            LiveRanges::Tracked => live_at_vertices(graph, schedule, slots, &modified, &uses),
            LiveRanges::Ignored => live_in_scope(graph, slots, &modified, &touched),
        };
        Ranges::finish(graph, schedule, slots, live, modified)
    }

    /// Everything in scope everywhere: what a trace shows.
    pub(crate) fn whole_scope(graph: &impl Supergraph, schedule: &Schedule, slots: u32) -> Ranges {
        let (modified, _) =
            mod_ref_sets(graph, schedule, slots, &Uses::new(graph, schedule, slots));
        let live = match live_in_scope(graph, slots, &modified, &all_globals(graph, slots)) {
            Live::Procedures { scope, .. } => Live::Procedures {
                exit: scope.clone(),
                scope,
            },
            live @ Live::Vertices(_) => live,
        };
        Ranges::finish(graph, schedule, slots, live, modified)
    }

    fn finish(
        graph: &impl Supergraph,
        schedule: &Schedule,
        slots: u32,
        live: Live,
        modified: Rows,
    ) -> Ranges {
        let inputs = Rows::new(graph.procedures() as usize, slots);
        let mut ranges = Ranges {
            live,
            modified,
            inputs,
        };
        for &procedure in &schedule.procedures {
            // Nobody asks for the summary of a procedure that is not called.
            if !schedule.is_called(procedure) {
                continue;
            }
            let frame = Frame::of(graph, procedure);
            let entry = ranges
                .live(graph, graph.procedure(procedure).entry)
                .to_vec();
            let inputs = set::slots(&entry).take_while(|slot| slot.0 < frame.formals.end);
            for slot in inputs {
                ranges.inputs.insert(procedure.index(), slot);
            }
        }
        ranges
    }

    /// The slots that path edges to this vertex speak of.
    pub(crate) fn live(&self, graph: &impl Supergraph, vertex: Vertex) -> &[u64] {
        match &self.live {
            Live::Vertices(rows) => rows.row(vertex.index()),
            Live::Procedures { scope, exit } => {
                let procedure = graph.procedure_of(vertex);
                let is_exit = graph.procedure(procedure).exit == vertex;
                if is_exit {
                    exit.row(procedure.index())
                } else {
                    scope.row(procedure.index())
                }
            }
        }
    }

    /// The globals that a call of the procedure may change.
    pub(crate) fn modified(&self, procedure: Proc) -> &[u64] {
        self.modified.row(procedure.index())
    }

    /// The formals and globals whose entry values path edges of the procedure record.
    pub(crate) fn inputs(&self, procedure: Proc) -> &[u64] {
        self.inputs.row(procedure.index())
    }
}

fn all_globals(graph: &impl Supergraph, slots: u32) -> Rows {
    let mut all = Rows::new(graph.procedures() as usize, slots);
    for procedure in 0..graph.procedures() as usize {
        for slot in 0..graph.globals() {
            all.insert(procedure, Slot(slot));
        }
    }
    all
}

/// What edges of procedures that main may call read and write, worked out once: the analyses come by
/// every edge several times.
enum Uses {
    /// By edge, as half words: few slots are the rule, and edges are many.
    Few(Vec<[u32; 2]>),
    Many {
        reads: Rows,
        writes: Rows,
    },
}

impl Uses {
    fn new(graph: &impl Supergraph, schedule: &Schedule, slots: u32) -> Uses {
        let vertices = |&procedure: &Proc| graph.procedure(procedure).vertices;
        let vertices = schedule.procedures.iter().flat_map(vertices);
        let edges = vertices.flat_map(|vertex| graph.edges_from(Vertex(vertex)));
        let count = graph.edges() as usize;
        let mut reads = Vec::new();
        let mut writes = Vec::new();
        if slots <= u32::BITS {
            let bits = |slots: &[Slot]| slots.iter().fold(0, |bits, slot| bits | 1 << slot.0);
            let mut words = vec![[0; 2]; count];
            for edge in edges {
                reads.clear();
                graph.reads(Edge(edge), &mut reads);
                writes.clear();
                graph.writes(Edge(edge), &mut writes);
                words[edge as usize] = [bits(&reads), bits(&writes)];
            }
            return Uses::Few(words);
        }
        let mut rows = (Rows::new(count, slots), Rows::new(count, slots));
        for edge in edges {
            reads.clear();
            graph.reads(Edge(edge), &mut reads);
            for &slot in &reads {
                rows.0.insert(edge as usize, slot);
            }
            writes.clear();
            graph.writes(Edge(edge), &mut writes);
            for &slot in &writes {
                rows.1.insert(edge as usize, slot);
            }
        }
        Uses::Many {
            reads: rows.0,
            writes: rows.1,
        }
    }

    /// What an edge reads, and what it writes, if one word holds all slots.
    #[inline]
    fn words(&self, edge: usize) -> [u64; 2] {
        match self {
            Uses::Few(words) => words[edge].map(u64::from),
            Uses::Many { reads, writes } => [reads.word(edge), writes.word(edge)],
        }
    }

    /// Adds what an edge reads to a row.
    fn add_reads(&self, row: &mut [u64], edge: usize) {
        match self {
            Uses::Few(words) => row[0] |= u64::from(words[edge][0]),
            Uses::Many { reads, .. } => {
                set::unite(row, reads.row(edge));
            }
        }
    }

    /// Adds what an edge writes to a row.
    fn add_writes(&self, row: &mut [u64], edge: usize) {
        match self {
            Uses::Few(words) => row[0] |= u64::from(words[edge][1]),
            Uses::Many { writes, .. } => {
                set::unite(row, writes.row(edge));
            }
        }
    }

    /// Takes what an edge writes from a row.
    fn remove_writes(&self, row: &mut [u64], edge: usize) {
        match self {
            Uses::Few(words) => row[0] &= !u64::from(words[edge][1]),
            Uses::Many { writes, .. } => set::subtract(row, writes.row(edge)),
        }
    }
}

/// By procedure, the globals that it may modify, and those that it may modify or reference.
fn mod_ref_sets(
    graph: &impl Supergraph,
    schedule: &Schedule,
    slots: u32,
    uses: &Uses,
) -> (Rows, Rows) {
    let count = graph.procedures() as usize;
    let mut modified = Rows::new(count, slots);
    let mut touched = Rows::new(count, slots);
    let mut globals = Rows::new(1, slots);
    for slot in 0..graph.globals() {
        globals.insert(0, Slot(slot));
    }
    let globals = globals.row(0);
    let mut buffer = Vec::new();
    for &procedure in &schedule.procedures {
        let p = procedure.index();
        buffer.clear();
        graph.invariant_reads(procedure, &mut buffer);
        for &slot in &buffer {
            touched.insert(p, slot);
        }
        for vertex in graph.procedure(procedure).vertices {
            for edge in graph.edges_from(Vertex(vertex)) {
                uses.add_reads(touched.row_mut(p), edge as usize);
                uses.add_writes(modified.row_mut(p), edge as usize);
            }
        }
        set::intersect(modified.row_mut(p), globals);
        set::intersect(touched.row_mut(p), globals);
        set::unite(touched.row_mut(p), modified.row(p));
    }
    // Callers take over what their callees do, until nothing changes.
    let mut queue: VecDeque<Proc> = schedule.procedures.iter().copied().collect();
    let mut queued = vec![true; count];
    while let Some(callee) = queue.pop_front() {
        queued[callee.index()] = false;
        let callee_modified = modified.row(callee.index()).to_vec();
        let callee_touched = touched.row(callee.index()).to_vec();
        for &call in schedule.callers(callee) {
            let caller = graph.procedure_of(graph.ends(call).from);
            let changed = set::unite(modified.row_mut(caller.index()), &callee_modified)
                | set::unite(touched.row_mut(caller.index()), &callee_touched);
            if changed && !queued[caller.index()] {
                queued[caller.index()] = true;
                queue.push_back(caller);
            }
        }
    }
    (modified, touched)
}

fn live_in_scope(graph: &impl Supergraph, slots: u32, modified: &Rows, touched: &Rows) -> Live {
    let count = graph.procedures() as usize;
    let mut scope = Rows::new(count, slots);
    let mut exit = Rows::new(count, slots);
    for procedure in 0..count {
        let frame = Frame::of(graph, Proc(procedure as u32));
        set::unite(scope.row_mut(procedure), touched.row(procedure));
        set::unite(exit.row_mut(procedure), modified.row(procedure));
        for slot in frame.formals.start..frame.locals.end {
            scope.insert(procedure, Slot(slot));
        }
        for slot in frame.returns {
            exit.insert(procedure, Slot(slot));
        }
    }
    Live::Procedures { scope, exit }
}

/// The usual backward data-flow analysis, over all procedures at once: what is live after a call
/// is live at the callee's exit, if the callee may modify it; what is live at the callee's entry
/// is live at the call.
fn live_at_vertices(
    graph: &impl Supergraph,
    schedule: &Schedule,
    slots: u32,
    modified: &Rows,
    uses: &Uses,
) -> Live {
    let mut live = Rows::new(graph.vertices() as usize, slots);
    let mut queue: VecDeque<Proc> = schedule.procedures.iter().copied().collect();
    let mut queued = vec![false; graph.procedures() as usize];
    for procedure in &queue {
        queued[procedure.index()] = true;
    }
    let mut flow = Flow {
        graph,
        modified,
        uses,
        always: vec![0; live.words()],
        out: vec![0; live.words()],
        slots: Vec::new(),
        results: Vec::new(),
    };
    let mut entry = Vec::new();
    while let Some(procedure) = queue.pop_front() {
        queued[procedure.index()] = false;
        let shape = graph.procedure(procedure);
        entry.clear();
        entry.extend_from_slice(live.row(shape.entry.index()));
        flow.enter(procedure);
        // Against the ranks, all that is live flows to its place at once. Only what is new at a
        // loop's head has to go round once more.
        let order = schedule.vertices_of(procedure);
        loop {
            let mut again = false;
            for &vertex in order.iter().rev() {
                if vertex != shape.exit && flow.update(vertex, &mut live) {
                    again |= schedule.is_head(vertex);
                }
            }
            if !again {
                break;
            }
        }
        for &vertex in order {
            for edge in graph.edges_from(vertex).map(Edge) {
                let ends = graph.ends(edge);
                let Some(callee) = ends.callee else { continue };
                if flow.leave(edge, ends, callee, &mut live) && !queued[callee.index()] {
                    queued[callee.index()] = true;
                    queue.push_back(callee);
                }
            }
        }
        if live.row(shape.entry.index()) != entry.as_slice() {
            for &call in schedule.callers(procedure) {
                let caller = graph.procedure_of(graph.ends(call).from);
                if !queued[caller.index()] {
                    queued[caller.index()] = true;
                    queue.push_back(caller);
                }
            }
        }
    }
    Live::Vertices(live)
}

/// The transfer functions of the liveness analysis, with their scratch space.
struct Flow<'a, G> {
    graph: &'a G,
    modified: &'a Rows,
    uses: &'a Uses,
    /// What is live everywhere in the procedure, since its invariant reads it.
    always: Vec<u64>,
    out: Vec<u64>,
    slots: Vec<Slot>,
    results: Vec<(Slot, Slot)>,
}

impl<G: Supergraph> Flow<'_, G> {
    fn enter(&mut self, procedure: Proc) {
        self.always.fill(0);
        self.slots.clear();
        self.graph.invariant_reads(procedure, &mut self.slots);
        for &slot in &self.slots {
            set::insert(&mut self.always, slot);
        }
    }

    /// Adds what is live before the vertex because of its edges; says whether that is new.
    fn update(&mut self, vertex: Vertex, live: &mut Rows) -> bool {
        if let [always] = *self.always {
            return self.update_word(vertex, live, always);
        }
        let mut changed = set::unite(live.row_mut(vertex.index()), &self.always);
        for edge in self.graph.edges_from(vertex).map(Edge) {
            let ends = self.graph.ends(edge);
            self.out.copy_from_slice(live.row(ends.to.index()));
            self.uses.remove_writes(&mut self.out, edge.index());
            if let Some(callee) = ends.callee {
                set::subtract(&mut self.out, self.modified.row(callee.index()));
                let globals = self.graph.globals();
                let entry = self.graph.procedure(callee).entry;
                for slot in set::slots(live.row(entry.index())).take_while(|s| s.0 < globals) {
                    set::insert(&mut self.out, slot);
                }
            }
            self.uses.add_reads(&mut self.out, edge.index());
            changed |= set::unite(live.row_mut(vertex.index()), &self.out);
        }
        changed
    }

    /// The same where one word holds all slots, which is the case in most programs.
    fn update_word(&mut self, vertex: Vertex, live: &mut Rows, always: u64) -> bool {
        let mut found = always;
        for edge in self.graph.edges_from(vertex).map(Edge) {
            let ends = self.graph.ends(edge);
            let [reads, writes] = self.uses.words(edge.index());
            let mut out = live.word(ends.to.index()) & !writes;
            if let Some(callee) = ends.callee {
                let globals = self.graph.globals();
                let globals = 1u64.checked_shl(globals).map_or(u64::MAX, |bit| bit - 1);
                let entry = self.graph.procedure(callee).entry;
                out &= !self.modified.word(callee.index());
                out |= live.word(entry.index()) & globals;
            }
            found |= out | reads;
        }
        let row = live.word_mut(vertex.index());
        let changed = found & !*row != 0;
        *row |= found;
        changed
    }

    /// Adds what a call makes live at the callee's exit; says whether that is new.
    fn leave(&mut self, call: Edge, ends: Ends, callee: Proc, live: &mut Rows) -> bool {
        self.out.copy_from_slice(live.row(ends.to.index()));
        self.results.clear();
        self.graph.results(call, &mut self.results);
        let mut used = Vec::new();
        for &(value, target) in &self.results {
            if set::has(&self.out, target) {
                used.push(value);
            }
            set::remove(&mut self.out, target);
        }
        set::intersect(&mut self.out, self.modified.row(callee.index()));
        for value in used {
            set::insert(&mut self.out, value);
        }
        let exit = self.graph.procedure(callee).exit;
        set::unite(live.row_mut(exit.index()), &self.out)
    }
}
