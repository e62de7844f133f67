//! The skeleton of a program: its cut points, and what lies between them.
//!
//! Cut points are the entries and exits of functions, loop heads, both ends of calls, violated
//! checks and constructs that are not supported. Between two of them control flow has no loop and
//! no call, so it is one block, one formula. A root procedure stands for what happens before the
//! program's entry function is called.

use hardbop_cfront::call_graph::callable;
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::{LocationKind, Op, Program};
use hardbop_graph::{Loop, Loops, depth_first};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the table that this id belongs to.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

id! {
    /// A cut point.
    VertexId;
    /// What lies between two cut points.
    SkeletonEdgeId;
    /// A procedure.
    ProcedureId;
}

/// The skeleton.
#[derive(Clone, Debug)]
pub struct Skeleton {
    /// The procedures that may be called; the first one is the root.
    pub procedures: Vec<SkeletonProcedure>,
    /// The cut points; those of one procedure are contiguous.
    pub vertices: Vec<SkeletonVertex>,
    /// What lies between them; the edges that leave one vertex are contiguous.
    pub edges: Vec<SkeletonEdge>,
    /// The locations that end blocks.
    pub cuts: BTreeSet<LocId>,
    by_function: BTreeMap<FuncId, ProcedureId>,
    by_location: BTreeMap<LocId, VertexId>,
}

/// A procedure of the skeleton.
#[derive(Clone, Debug)]
pub struct SkeletonProcedure {
    /// The function; `None` for the root.
    pub function: Option<FuncId>,
    /// Its cut points, by their numbers.
    pub vertices: Range<u32>,
    /// Where it starts.
    pub entry: VertexId,
    /// Where it ends.
    pub exit: VertexId,
}

/// A cut point.
#[derive(Clone, Debug)]
pub struct SkeletonVertex {
    /// The procedure that it belongs to.
    pub procedure: ProcedureId,
    /// Where it is.
    pub point: Point,
    /// The edges that leave it, by their numbers.
    pub edges: Range<u32>,
}

/// Where a cut point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// Before anything has a value.
    Root,
    /// Static storage has its initial value; the entry function is about to be called.
    Ready,
    /// The entry function has returned.
    Done,
    /// At a location.
    At(LocId),
    /// The callee has returned, and its result has not been taken yet.
    AfterCall(EdgeId, FuncId),
    /// In front of a construct that is not supported.
    Unsupported(EdgeId),
}

/// An edge of the skeleton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkeletonEdge {
    /// Where it leaves.
    pub from: VertexId,
    /// Where it leads.
    pub to: VertexId,
    /// What happens.
    pub kind: SkeletonEdgeKind,
}

/// What happens between two cut points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkeletonEdgeKind {
    /// Static storage gets its initial value.
    Start,
    /// The block from the first location to the second.
    Block(LocId, LocId),
    /// A call; `None` for the root's call of the entry function.
    Call(Option<EdgeId>, FuncId),
    /// The result of a call is taken.
    Return(EdgeId, FuncId),
    /// Control comes to a construct that is not supported.
    Unsupported(EdgeId),
}

impl Skeleton {
    /// The root procedure.
    pub const ROOT: ProcedureId = ProcedureId(0);
    /// The root's second cut point, from which the entry function is called.
    pub const READY: VertexId = VertexId(1);

    /// The skeleton of what can be called from the program's entry function.
    pub fn new(program: &Program) -> Skeleton {
        Skeleton::with_cuts(program, |_| false)
    }

    /// The same, cut wherever several ways meet: there is nothing in a block but branches.
    pub fn cut_at_joins(program: &Program) -> Skeleton {
        let mut into = vec![0u32; program.locations.len()];
        for edge in &program.edges {
            into[edge.to.index()] += 1;
        }
        Skeleton::with_cuts(program, |location| into[location.index()] > 1)
    }

    /// The same, cut at some more locations.
    pub fn cut_at(program: &Program, locations: &BTreeSet<LocId>) -> Skeleton {
        Skeleton::with_cuts(program, |location| locations.contains(&location))
    }

    /// The same, cut where loops are left, too: what comes behind a loop belongs to one block, after
    /// whichever iteration it is left.
    pub fn cut_at_exits(program: &Program) -> Skeleton {
        let mut exits = BTreeSet::new();
        for function in callable(program) {
            let described = program.function(function);
            let position = |location: LocId| (location.0 - described.locations.start) as usize;
            let successors = program.successors(function);
            let found = Loops::new(&successors, position(described.entry));
            for location in described.locations.clone().map(LocId) {
                for (_, edge) in program.edges_from(location) {
                    let leaves =
                        |one: &Loop| one.body[position(location)] && !one.body[position(edge.to)];
                    if found.loops.iter().any(leaves) {
                        exits.insert(edge.to);
                    }
                }
            }
        }
        Skeleton::cut_at(program, &exits)
    }

    fn with_cuts(program: &Program, is_cut: impl Fn(LocId) -> bool) -> Skeleton {
        let functions = callable(program);
        let mut cuts = BTreeSet::new();
        for &function in &functions {
            cut_points(program, function, &mut cuts);
            let locations = program.function(function).locations.clone();
            cuts.extend(locations.map(LocId).filter(|&location| is_cut(location)));
        }
        let mut skeleton = Skeleton {
            procedures: Vec::new(),
            vertices: Vec::new(),
            edges: Vec::new(),
            cuts,
            by_function: BTreeMap::new(),
            by_location: BTreeMap::new(),
        };
        skeleton.add_root(program.entry);
        for &function in &functions {
            skeleton.add_function(program, function);
        }
        skeleton
    }

    /// A cut point.
    pub fn vertex(&self, id: VertexId) -> &SkeletonVertex {
        &self.vertices[id.index()]
    }

    /// The cut points with their ids.
    pub fn numbered_vertices(&self) -> impl Iterator<Item = (VertexId, &SkeletonVertex)> {
        (0..).map(VertexId).zip(&self.vertices)
    }

    /// What lies between two cut points.
    pub fn edge(&self, id: SkeletonEdgeId) -> SkeletonEdge {
        self.edges[id.index()]
    }

    /// The edges that leave a cut point.
    pub fn edges_from(&self, id: VertexId) -> &[SkeletonEdge] {
        let edges = &self.vertex(id).edges;
        &self.edges[edges.start as usize..edges.end as usize]
    }

    /// A procedure.
    pub fn procedure(&self, id: ProcedureId) -> &SkeletonProcedure {
        &self.procedures[id.index()]
    }

    /// The procedure of a function.
    pub fn procedure_of(&self, function: FuncId) -> Option<ProcedureId> {
        self.by_function.get(&function).copied()
    }

    /// The cut point at a location.
    pub fn vertex_at(&self, location: LocId) -> Option<VertexId> {
        self.by_location.get(&location).copied()
    }

    fn add_root(&mut self, entry: FuncId) {
        let points = [Point::Root, Point::Ready, Point::Done];
        for (index, point) in points.into_iter().enumerate() {
            let edges = match index {
                0 => 0..1,
                1 => 1..2,
                _ => 2..2,
            };
            self.vertices.push(SkeletonVertex {
                procedure: Skeleton::ROOT,
                point,
                edges,
            });
        }
        self.edges.push(SkeletonEdge {
            from: VertexId(0),
            to: Skeleton::READY,
            kind: SkeletonEdgeKind::Start,
        });
        let call = SkeletonEdgeKind::Call(None, entry);
        self.edges.push(SkeletonEdge {
            from: Skeleton::READY,
            to: VertexId(2),
            kind: call,
        });
        self.procedures.push(SkeletonProcedure {
            function: None,
            vertices: 0..3,
            entry: VertexId(0),
            exit: VertexId(2),
        });
    }

    fn add_function(&mut self, program: &Program, id: FuncId) {
        let function = program.function(id);
        let procedure = ProcedureId(self.procedures.len() as u32);
        let first = self.vertices.len() as u32;
        let mut points: Vec<Point> = self
            .cuts
            .range(LocId(function.locations.start)..LocId(function.locations.end))
            .map(|&location| Point::At(location))
            .collect();
        for location in function.locations.clone() {
            for (edge, _) in program.edges_from(LocId(location)) {
                match &program.edges[edge.index()].op {
                    Op::Call { callee, .. } => points.extend(
                        callee
                            .targets()
                            .iter()
                            .map(|&to| Point::AfterCall(edge, to)),
                    ),
                    Op::Unsupported { .. } => points.push(Point::Unsupported(edge)),
                    _ => {}
                }
            }
        }
        let numbers: BTreeMap<Point, VertexId> = points
            .iter()
            .copied()
            .zip((first..).map(VertexId))
            .collect();
        for &point in &points {
            let start = self.edges.len() as u32;
            let from = numbers[&point];
            match point {
                Point::At(location) => {
                    self.by_location.insert(location, from);
                    self.add_edges(program, location, from, &numbers);
                }
                Point::AfterCall(edge, callee) => {
                    let to = numbers[&Point::At(program.edges[edge.index()].to)];
                    let kind = SkeletonEdgeKind::Return(edge, callee);
                    self.edges.push(SkeletonEdge { from, to, kind });
                }
                _ => {}
            }
            let edges = start..self.edges.len() as u32;
            self.vertices.push(SkeletonVertex {
                procedure,
                point,
                edges,
            });
        }
        self.by_function.insert(id, procedure);
        self.procedures.push(SkeletonProcedure {
            function: Some(id),
            vertices: first..self.vertices.len() as u32,
            entry: numbers[&Point::At(function.entry)],
            exit: numbers[&Point::At(function.exit)],
        });
    }

    fn add_edges(
        &mut self,
        program: &Program,
        location: LocId,
        from: VertexId,
        numbers: &BTreeMap<Point, VertexId>,
    ) {
        let mut plain = false;
        for (id, edge) in program.edges_from(location) {
            match &edge.op {
                Op::Call { callee, .. } => {
                    for &target in callee.targets() {
                        let to = numbers[&Point::AfterCall(id, target)];
                        let kind = SkeletonEdgeKind::Call(Some(id), target);
                        self.edges.push(SkeletonEdge { from, to, kind });
                    }
                }
                Op::Unsupported { .. } => {
                    let to = numbers[&Point::Unsupported(id)];
                    let kind = SkeletonEdgeKind::Unsupported(id);
                    self.edges.push(SkeletonEdge { from, to, kind });
                }
                _ => plain = true,
            }
        }
        if plain {
            for end in block_ends(program, location, &self.cuts) {
                let to = numbers[&Point::At(end)];
                let kind = SkeletonEdgeKind::Block(location, end);
                self.edges.push(SkeletonEdge { from, to, kind });
            }
        }
    }
}

/// Adds the cut points of a function.
fn cut_points(program: &Program, id: FuncId, cuts: &mut BTreeSet<LocId>) {
    let function = program.function(id);
    cuts.insert(function.entry);
    cuts.insert(function.exit);
    for index in function.locations.clone() {
        let location = LocId(index);
        if matches!(
            program.locations[location.index()].kind,
            LocationKind::Error(_) | LocationKind::LoopHead
        ) {
            cuts.insert(location);
        }
        for (_, edge) in program.edges_from(location) {
            if matches!(edge.op, Op::Call { .. }) {
                cuts.insert(location);
                cuts.insert(edge.to);
            } else if matches!(edge.op, Op::Unsupported { .. }) {
                cuts.insert(location);
            }
        }
    }
    // Whatever cycles are left (made by goto) are cut at the targets of their back edges.
    let successors = program.successors(id);
    let first = function.locations.start;
    for (_, head) in depth_first(&successors, 0..successors.len()).back_edges {
        cuts.insert(LocId(first + head as u32));
    }
}

/// The cut points that a block from a location may end at. Ends of the program are none.
fn block_ends(program: &Program, start: LocId, cuts: &BTreeSet<LocId>) -> BTreeSet<LocId> {
    let mut ends = BTreeSet::new();
    let mut seen = BTreeSet::from([start]);
    let mut work = vec![start];
    while let Some(location) = work.pop() {
        for (_, edge) in program.edges_from(location) {
            if matches!(edge.op, Op::Call { .. } | Op::Unsupported { .. }) {
                continue;
            }
            if cuts.contains(&edge.to) {
                ends.insert(edge.to);
            } else if seen.insert(edge.to) {
                work.push(edge.to);
            }
        }
    }
    ends
}
