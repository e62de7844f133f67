//! The control-flow graph of one function while it is being changed.

use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_cfront::program::{Edge, Location, LocationKind, Op, Program, Source};

/// A graph with locations numbered from zero.
pub(crate) struct Graph {
    locations: Vec<(LocationKind, Vec<String>)>,
    pub edges: Vec<GraphEdge>,
    pub entry: u32,
    pub exit: u32,
}

/// An edge of a [`Graph`].
pub(crate) struct GraphEdge {
    pub from: u32,
    pub to: u32,
    pub op: Op,
    pub source: Source,
}

impl Graph {
    /// A graph that goes nowhere: an entry and an exit.
    pub fn new() -> Graph {
        Graph {
            locations: vec![
                (LocationKind::Plain, Vec::new()),
                (LocationKind::Exit, Vec::new()),
            ],
            edges: Vec::new(),
            entry: 0,
            exit: 1,
        }
    }

    /// The graph of a function.
    pub fn of(program: &Program, function: FuncId) -> Graph {
        let function = program.function(function);
        let first = function.locations.start;
        let mut graph = Graph {
            locations: Vec::new(),
            edges: Vec::new(),
            entry: function.entry.0 - first,
            exit: function.exit.0 - first,
        };
        for at in function.locations.clone() {
            let location = &program.locations[at as usize];
            graph
                .locations
                .push((location.kind, location.labels.clone()));
            for (_, edge) in program.edges_from(LocId(at)) {
                graph.edges.push(GraphEdge {
                    from: at - first,
                    to: edge.to.0 - first,
                    op: edge.op.clone(),
                    source: edge.source,
                });
            }
        }
        graph
    }

    pub fn location(&mut self, kind: LocationKind) -> u32 {
        self.locations.push((kind, Vec::new()));
        self.locations.len() as u32 - 1
    }

    pub fn edge(&mut self, from: u32, to: u32, op: Op, source: Source) {
        self.edges.push(GraphEdge {
            from,
            to,
            op,
            source,
        });
    }

    /// Puts a new location before the entry, and gives it and the old entry.
    pub fn before_entry(&mut self) -> (u32, u32) {
        let old = self.entry;
        self.entry = self.location(LocationKind::Plain);
        (self.entry, old)
    }

    /// Leads everything that leads to the exit to a new location, and gives it and the exit.
    pub fn before_exit(&mut self) -> (u32, u32) {
        let last = self.location(LocationKind::Plain);
        for edge in &mut self.edges {
            if edge.to == self.exit {
                edge.to = last;
            }
        }
        if self.entry == self.exit {
            self.entry = last;
        }
        (last, self.exit)
    }

    /// Takes the empty steps of rules out.
    fn shorten(&mut self, program: &Program) {
        let mut next: Vec<Option<u32>> = vec![None; self.locations.len()];
        let mut leaving = vec![0u32; self.locations.len()];
        for edge in &self.edges {
            leaving[edge.from as usize] += 1;
            if edge.op == Op::Skip && program.rule_at(edge.source).is_some() {
                next[edge.from as usize] = Some(edge.to);
            }
        }
        // The steps of a rule go forward, so following them comes to an end.
        let lead = |mut at: u32| {
            while leaving[at as usize] == 1
                && self.locations[at as usize].0 == LocationKind::Plain
                && let Some(to) = next[at as usize]
            {
                at = to;
            }
            at
        };
        for edge in &mut self.edges {
            edge.to = lead(edge.to);
        }
        let entry = lead(self.entry);
        if self.locations[entry as usize].0 == LocationKind::Plain {
            self.entry = entry;
        }
    }

    /// Adds the graph to the program as that of a function: what the entry reaches, in the order
    /// in which it reaches it, and the exit.
    pub fn lay_out(mut self, program: &mut Program, function: FuncId) {
        self.shorten(program);
        let count = self.locations.len();
        let mut leaving: Vec<Vec<GraphEdge>> = Vec::new();
        leaving.resize_with(count, Vec::new);
        for edge in self.edges {
            leaving[edge.from as usize].push(edge);
        }
        let mut order = Vec::new();
        let mut seen = vec![false; count];
        let mut stack = vec![self.entry];
        while let Some(at) = stack.pop() {
            if at == self.exit || std::mem::replace(&mut seen[at as usize], true) {
                continue;
            }
            order.push(at);
            stack.extend(leaving[at as usize].iter().rev().map(|edge| edge.to));
        }
        order.push(self.exit);
        let first = program.locations.len() as u32;
        let mut numbers = vec![0; count];
        for (position, &at) in order.iter().enumerate() {
            numbers[at as usize] = first + position as u32;
        }
        let number = |at: u32| LocId(numbers[at as usize]);
        let mut locations = self.locations;
        for &at in &order {
            let start = program.edges.len() as u32;
            for edge in std::mem::take(&mut leaving[at as usize]) {
                program.edges.push(Edge {
                    from: number(at),
                    to: number(edge.to),
                    op: edge.op,
                    source: edge.source,
                });
            }
            let (kind, labels) = std::mem::replace(
                &mut locations[at as usize],
                (LocationKind::Plain, Vec::new()),
            );
            program.locations.push(Location {
                function,
                kind,
                edges: start..program.edges.len() as u32,
                labels,
            });
        }
        let (entry, exit) = (number(self.entry), number(self.exit));
        let end = program.locations.len() as u32;
        let function = &mut program.functions[function.index()];
        function.locations = first..end;
        function.entry = entry;
        function.exit = exit;
    }
}
