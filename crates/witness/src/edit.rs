//! Changing the control-flow graphs of a program: places are split, edges added, and the tables
//! laid out anew.

use hardbop_cfront::ids::{CheckId, EdgeId, ExprId, FuncId, LocId, PlaceId, TypeId, VarId};
use hardbop_cfront::program::{
    BinaryOp, Check, Edge, Expr, ExprKind, Initial, Location, LocationKind, Op, Place, PlaceKind,
    Program, Source, VarKind, Variable,
};

/// A program that is being changed. Locations and edges of the original keep their numbers until
/// it is finished; new ones come after them.
pub(crate) struct Editor {
    pub program: Program,
    locations: Vec<Draft>,
    edges: Vec<Edge>,
}

struct Draft {
    function: FuncId,
    kind: LocationKind,
    labels: Vec<String>,
}

impl Editor {
    pub fn new(program: Program) -> Editor {
        let locations = program.locations.iter().map(|location| Draft {
            function: location.function,
            kind: location.kind,
            labels: location.labels.clone(),
        });
        Editor {
            locations: locations.collect(),
            edges: program.edges.clone(),
            program,
        }
    }

    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    pub fn kind(&self, location: LocId) -> LocationKind {
        self.locations[location.index()].kind
    }

    pub fn function(&self, location: LocId) -> FuncId {
        self.locations[location.index()].function
    }

    pub fn location(&mut self, function: FuncId, kind: LocationKind) -> LocId {
        self.locations.push(Draft {
            function,
            kind,
            labels: Vec::new(),
        });
        LocId(self.locations.len() as u32 - 1)
    }

    pub fn edge(&mut self, from: LocId, to: LocId, op: Op, source: Source) {
        self.edges.push(Edge {
            from,
            to,
            op,
            source,
        });
    }

    /// Moves everything that leaves a location behind a new one; gives the new one. Whoever calls
    /// this leads from the old to the new.
    pub fn split(&mut self, location: LocId) -> LocId {
        let behind = self.location(self.function(location), LocationKind::Plain);
        for edge in &mut self.edges {
            if edge.from == location {
                edge.from = behind;
            }
        }
        behind
    }

    /// Puts a new location before one that nothing leaves; it leads nowhere yet, so it must be
    /// split. The last part of it leads on.
    pub fn before(&mut self, location: LocId) -> LocId {
        let before = self.location(self.function(location), LocationKind::Plain);
        for edge in &mut self.edges {
            if edge.to == location {
                edge.to = before;
            }
        }
        let function = self.function(location);
        let source = self.program.function(function).source;
        self.edge(before, location, Op::Skip, source);
        before
    }

    /// Puts a new location at the end of an edge; gives it and where the edge led.
    pub fn split_after(&mut self, edge: EdgeId) -> (LocId, LocId) {
        let from = self.edges[edge.index()].from;
        let end = self.location(self.function(from), LocationKind::Plain);
        let old = std::mem::replace(&mut self.edges[edge.index()].to, end);
        (end, old)
    }

    /// Leads from a location to one of two by a condition.
    pub fn branch(&mut self, from: LocId, condition: ExprId, yes: LocId, no: LocId, at: Source) {
        for (to, holds) in [(yes, true), (no, false)] {
            self.edge(from, to, Op::Assume { condition, holds }, at);
        }
    }

    pub fn check(&mut self, check: Check) -> CheckId {
        self.program.checks.push(check);
        CheckId(self.program.checks.len() as u32 - 1)
    }

    pub fn int(&mut self) -> TypeId {
        self.program.types.int(32, true)
    }

    /// A new variable of type `int` that starts as 0.
    pub fn counter(&mut self, name: &str) -> VarId {
        let ty = self.int();
        let source = self.program.function(self.program.entry).source;
        self.program.variables.push(Variable {
            name: name.to_owned(),
            ty,
            kind: VarKind::Global,
            address_taken: false,
            source,
            initial: Initial::Data(Vec::new()),
        });
        VarId(self.program.variables.len() as u32 - 1)
    }

    pub fn place(&mut self, variable: VarId) -> PlaceId {
        let ty = self.program.variable(variable).ty;
        self.program.places.push(Place {
            kind: PlaceKind::Var(variable),
            ty,
        });
        PlaceId(self.program.places.len() as u32 - 1)
    }

    pub fn expr(&mut self, kind: ExprKind, ty: TypeId) -> ExprId {
        self.program.exprs.push(Expr { kind, ty });
        ExprId(self.program.exprs.len() as u32 - 1)
    }

    pub fn number(&mut self, value: u32) -> ExprId {
        let ty = self.int();
        self.expr(ExprKind::Int(u128::from(value)), ty)
    }

    /// `variable == value`
    pub fn equals(&mut self, variable: VarId, value: u32) -> ExprId {
        let ty = self.int();
        let place = self.place(variable);
        let left = self.expr(ExprKind::Load(place), ty);
        let right = self.number(value);
        self.expr(ExprKind::Binary(BinaryOp::Eq, left, right), ty)
    }

    /// `left && right`
    pub fn both(&mut self, left: ExprId, right: ExprId) -> ExprId {
        let ty = self.int();
        self.expr(ExprKind::Binary(BinaryOp::And, left, right), ty)
    }

    /// The changed program.
    pub fn finish(self) -> Program {
        let Editor {
            mut program,
            locations,
            edges,
        } = self;
        let mut order: Vec<u32> = (0..locations.len() as u32).collect();
        order.sort_by_key(|&at| (locations[at as usize].function, at));
        let mut numbers = vec![0; locations.len()];
        for (position, &at) in order.iter().enumerate() {
            numbers[at as usize] = position as u32;
        }
        let number = |location: LocId| LocId(numbers[location.index()]);
        let mut leaving: Vec<Vec<Edge>> = Vec::new();
        leaving.resize_with(locations.len(), Vec::new);
        for edge in edges {
            leaving[edge.from.index()].push(edge);
        }
        for function in &mut program.functions {
            function.entry = number(function.entry);
            function.exit = number(function.exit);
            function.locations = u32::MAX..u32::MAX;
        }
        program.locations.clear();
        program.edges.clear();
        let mut locations: Vec<Option<Draft>> = locations.into_iter().map(Some).collect();
        for &at in &order {
            let Some(draft) = locations[at as usize].take() else {
                continue;
            };
            let start = program.edges.len() as u32;
            for edge in std::mem::take(&mut leaving[at as usize]) {
                program.edges.push(Edge {
                    from: number(edge.from),
                    to: number(edge.to),
                    ..edge
                });
            }
            let here = program.locations.len() as u32;
            let range = &mut program.functions[draft.function.index()].locations;
            range.start = range.start.min(here);
            range.end = here + 1;
            program.locations.push(Location {
                function: draft.function,
                kind: draft.kind,
                edges: start..program.edges.len() as u32,
                labels: draft.labels,
            });
        }
        program
    }
}
