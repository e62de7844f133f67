//! Sews the waypoints of a violation witness into the graphs of a program: a variable counts the
//! segments that have been passed.

use crate::weave::Stitch;
use hardbop_cfront::edit::{Graphs, Tables};
use hardbop_cfront::ids::{CheckId, EdgeId, ExprId, LocId, VarId};
use hardbop_cfront::program::{BinaryOp, ExprKind, Initial, LocationKind, Op, Program, VarKind};
use std::collections::BTreeSet;

/// A program that waypoints are being sewn into.
pub(crate) struct Sewing {
    tables: Tables,
    pub graphs: Graphs,
    /// The number of segments that have been passed.
    counter: VarId,
}

impl Sewing {
    pub fn new(mut tables: Tables) -> Sewing {
        let int = tables.int();
        let source = tables.program.function(tables.program.entry).source;
        let (name, initial) = ("segment#".to_owned(), Initial::Data(Vec::new()));
        let counter = tables.variable(name, int, VarKind::Global, source, initial);
        Sewing {
            graphs: Graphs::new(&tables.program),
            tables,
            counter,
        }
    }

    /// A new location in the function of another one.
    pub fn location(&mut self, beside: LocId, kind: LocationKind) -> LocId {
        self.graphs.location(self.graphs.function(beside), kind)
    }

    /// Whether so many segments have been passed.
    fn is_turn(&mut self, segment: u32) -> ExprId {
        let int = self.tables.int();
        let left = self.tables.load_variable(self.counter);
        let right = self.tables.constant(i128::from(segment), int);
        let kind = ExprKind::Binary(BinaryOp::Eq, left, right);
        self.tables.expr(kind, int)
    }

    /// Sews a waypoint in between two locations.
    pub fn stitch(&mut self, stitch: &Stitch, from: LocId, to: LocId) {
        let mut turn = self.is_turn(stitch.segment);
        if let Some(when) = stitch.when {
            turn = self.tables.and(turn, when);
        }
        let source = stitch.source;
        if stitch.avoid {
            let condition = match stitch.constraint {
                Some(constraint) => self.tables.and(turn, constraint),
                None => turn,
            };
            let halt = self.location(from, LocationKind::Halt);
            self.graphs.branch(from, condition, halt, to, source);
            return;
        }
        let passed = self.location(from, LocationKind::Plain);
        match stitch.constraint {
            Some(constraint) => {
                let visited = self.location(from, LocationKind::Plain);
                let halt = self.location(from, LocationKind::Halt);
                self.graphs.branch(from, turn, visited, to, source);
                self.graphs
                    .branch(visited, constraint, passed, halt, source);
            }
            None => self.graphs.branch(from, turn, passed, to, source),
        }
        let int = self.tables.int();
        let value = self.tables.constant(i128::from(stitch.segment) + 1, int);
        let place = self.tables.variable_place(self.counter);
        self.graphs
            .edge(passed, to, Op::Assign { place, value }, source);
    }

    /// A violation counts only at the target, and when all segments before it have been passed.
    pub fn close(&mut self, last: u32, property: &[CheckId], targets: &BTreeSet<CheckId>) {
        let ends: Vec<(EdgeId, CheckId)> = self
            .graphs
            .edges()
            .iter()
            .enumerate()
            .filter_map(|(index, edge)| match self.graphs.kind(edge.to) {
                LocationKind::Error(check) if property.contains(&check) => {
                    Some((EdgeId(index as u32), check))
                }
                _ => None,
            })
            .collect();
        for (edge, check) in ends {
            let source = self.graphs.edges()[edge.index()].source;
            let (end, error) = self.graphs.split_after(edge);
            let halt = self.location(end, LocationKind::Halt);
            if targets.contains(&check) {
                let turn = self.is_turn(last);
                self.graphs.branch(end, turn, error, halt, source);
            } else {
                self.graphs.edge(end, halt, Op::Skip, source);
            }
        }
    }

    /// The program with all of it.
    pub fn finish(mut self) -> Program {
        self.graphs.lay_out(&mut self.tables.program);
        self.tables.program
    }
}
