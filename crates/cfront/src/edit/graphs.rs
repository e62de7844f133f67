//! The control-flow graphs of a program while they are being changed.

use crate::builder::Body;
use crate::cfg;
use crate::ids::{EdgeId, ExprId, FuncId, LocId};
use crate::program::{Edge, LocationKind, Op, Program, Source};

/// The graphs of all functions. Locations and edges of the program keep their numbers until they
/// are laid out, and new ones come after them, so what was found out about the program can be
/// said of its graphs. The program itself stays as it is until then.
#[derive(Clone, Debug)]
pub struct Graphs {
    locations: Vec<DraftLocation>,
    edges: Vec<Edge>,
    functions: Vec<DraftFunction>,
    /// How many edges the program has; those after them are new.
    old_edges: usize,
}

#[derive(Clone, Debug)]
struct DraftLocation {
    function: FuncId,
    kind: LocationKind,
    labels: Vec<String>,
}

#[derive(Clone, Debug)]
struct DraftFunction {
    entry: LocId,
    exit: LocId,
    /// Its edges, in the order of their making.
    edges: Vec<EdgeId>,
}

impl Graphs {
    /// The graphs of a program.
    pub fn new(program: &Program) -> Graphs {
        let locations = program.locations.iter().map(|location| DraftLocation {
            function: location.function,
            kind: location.kind,
            labels: location.labels.clone(),
        });
        let functions = program.functions.iter().map(|function| DraftFunction {
            entry: function.entry,
            exit: function.exit,
            edges: Vec::new(),
        });
        let mut graphs = Graphs {
            locations: locations.collect(),
            edges: Vec::new(),
            functions: functions.collect(),
            old_edges: program.edges.len(),
        };
        for edge in &program.edges {
            graphs.edge(edge.from, edge.to, edge.op.clone(), edge.source);
        }
        graphs
    }

    /// The graph of a function that was added to the program last: an entry and an exit.
    pub fn add_function(&mut self, function: FuncId) -> (LocId, LocId) {
        assert_eq!(function.index(), self.functions.len());
        let entry = self.location(function, LocationKind::Plain);
        let exit = self.location(function, LocationKind::Exit);
        self.functions.push(DraftFunction {
            entry,
            exit,
            edges: Vec::new(),
        });
        (entry, exit)
    }

    /// The function that a location belongs to.
    pub fn function(&self, location: LocId) -> FuncId {
        self.locations[location.index()].function
    }

    /// What a location is.
    pub fn kind(&self, location: LocId) -> LocationKind {
        self.locations[location.index()].kind
    }

    /// Where a function is entered.
    pub fn entry(&self, function: FuncId) -> LocId {
        self.functions[function.index()].entry
    }

    /// All edges, by their numbers.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edges of a function.
    pub fn edges_of(&self, function: FuncId) -> impl Iterator<Item = (EdgeId, &Edge)> {
        let edges = self.functions[function.index()].edges.iter();
        edges.map(|&id| (id, &self.edges[id.index()]))
    }

    /// A new location of a function.
    pub fn location(&mut self, function: FuncId, kind: LocationKind) -> LocId {
        self.locations.push(DraftLocation {
            function,
            kind,
            labels: Vec::new(),
        });
        LocId(self.locations.len() as u32 - 1)
    }

    /// A new edge.
    pub fn edge(&mut self, from: LocId, to: LocId, op: Op, source: Source) {
        let id = EdgeId(self.edges.len() as u32);
        let function = self.function(from);
        self.functions[function.index()].edges.push(id);
        self.edges.push(Edge {
            from,
            to,
            op,
            source,
        });
    }

    /// Leads from a location to one of two by a condition.
    pub fn branch(
        &mut self,
        from: LocId,
        condition: ExprId,
        yes: LocId,
        no: LocId,
        source: Source,
    ) {
        for (to, holds) in [(yes, true), (no, false)] {
            self.edge(from, to, Op::Assume { condition, holds }, source);
        }
    }

    /// Puts a new location before the entry of a function, and gives it and the old entry.
    pub fn before_entry(&mut self, function: FuncId) -> (LocId, LocId) {
        let new = self.location(function, LocationKind::Plain);
        let old = std::mem::replace(&mut self.functions[function.index()].entry, new);
        (new, old)
    }

    /// Leads everything that leads to the exit of a function to a new location, and gives it and
    /// the exit.
    pub fn before_exit(&mut self, function: FuncId) -> (LocId, LocId) {
        let last = self.location(function, LocationKind::Plain);
        let graph = &mut self.functions[function.index()];
        for &edge in &graph.edges {
            let edge = &mut self.edges[edge.index()];
            if edge.to == graph.exit {
                edge.to = last;
            }
        }
        if graph.entry == graph.exit {
            graph.entry = last;
        }
        (last, graph.exit)
    }

    /// Moves everything that leaves a location behind a new one, and gives that. Whoever calls
    /// this leads from the old to the new.
    pub fn split(&mut self, location: LocId) -> LocId {
        let function = self.function(location);
        let behind = self.location(function, LocationKind::Plain);
        for &edge in &self.functions[function.index()].edges {
            let edge = &mut self.edges[edge.index()];
            if edge.from == location {
                edge.from = behind;
            }
        }
        behind
    }

    /// Puts a new location at the start of an edge, and gives where the edge started and it.
    pub fn split_before(&mut self, edge: EdgeId) -> (LocId, LocId) {
        let from = self.edges[edge.index()].from;
        let middle = self.location(self.function(from), LocationKind::Plain);
        self.edges[edge.index()].from = middle;
        (from, middle)
    }

    /// Puts a new location at the end of an edge, and gives it and where the edge led.
    pub fn split_after(&mut self, edge: EdgeId) -> (LocId, LocId) {
        let Edge { from, to, .. } = self.edges[edge.index()];
        let middle = self.location(self.function(from), LocationKind::Plain);
        self.edges[edge.index()].to = middle;
        (middle, to)
    }

    /// Makes these the graphs of the program, whose functions they must be of: function by
    /// function, what the entry reaches, in the order in which it reaches it, and the exit. New
    /// edges that do nothing are passed over.
    pub fn lay_out(self, program: &mut Program) {
        assert_eq!(self.functions.len(), program.functions.len());
        let mut numbers = vec![0; self.locations.len()];
        let mut bodies: Vec<Body> = Vec::new();
        bodies.resize_with(self.functions.len(), Body::default);
        for (at, location) in self.locations.into_iter().enumerate() {
            let body = &mut bodies[location.function.index()];
            numbers[at] = body.location(location.kind);
            if let Some(last) = body.locations.last_mut() {
                last.labels = location.labels;
            }
        }
        let number = |location: LocId| numbers[location.index()];
        let mut edges: Vec<Option<Edge>> = self.edges.into_iter().map(Some).collect();
        program.locations.clear();
        program.edges.clear();
        for (index, (graph, mut body)) in self.functions.iter().zip(bodies).enumerate() {
            body.entry = number(graph.entry);
            body.exit = number(graph.exit);
            let ids = graph.edges.iter();
            for edge in ids.filter_map(|id| edges[id.index()].take()) {
                body.edge(number(edge.from), number(edge.to), edge.op, edge.source);
            }
            let new = |edge: usize| graph.edges[edge].index() >= self.old_edges;
            cfg::pass_over(&mut body, new);
            let (locations, entry, exit) = cfg::lay_out(FuncId(index as u32), body, program);
            let function = &mut program.functions[index];
            function.locations = locations;
            function.entry = entry;
            function.exit = exit;
        }
    }
}
