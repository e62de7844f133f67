//! Goes once through a program, statement by statement.

use super::PointsTo;
use super::solver::Solver;
use crate::ids::{EdgeId, ExprId, FuncId, PlaceId, VarId};
use crate::program::{Op, Program};
use crate::types::Type;
use hardbop_budget::{Stopped, Ticks};

/// Analyses a whole program.
pub(super) fn solve(program: &Program, ticks: &mut Ticks<'_>) -> Result<PointsTo, Stopped> {
    Solver::new(program).run(ticks)
}

/// The coarsest answer: everything that has an address is one class, and every pointer points
/// anywhere in it.
pub(super) fn solve_coarsely(
    program: &Program,
    ticks: &mut Ticks<'_>,
) -> Result<PointsTo, Stopped> {
    let mut solver = Solver::new(program);
    solver.forget_everything();
    solver.run(ticks)
}

impl Solver<'_> {
    fn run(mut self, ticks: &mut Ticks<'_>) -> Result<PointsTo, Stopped> {
        self.initial_values();
        for edge in &self.program.edges {
            ticks.tick()?;
            if let Op::Assign { place, value } = edge.op {
                self.walk_on(place, value);
            }
        }
        for index in 0..self.program.exprs.len() {
            ticks.tick()?;
            self.value(ExprId(index as u32));
        }
        for index in 0..self.program.places.len() {
            ticks.tick()?;
            self.place(PlaceId(index as u32));
        }
        for index in 0..self.program.edges.len() {
            ticks.tick()?;
            self.edge(EdgeId(index as u32));
        }
        self.undefined_functions();
        self.entry_parameters();
        self.unwritten_pointers();
        self.settle();
        Ok(self.finish())
    }

    fn forget_everything(&mut self) {
        let world = self.world();
        self.variadic = Some(world);
        for (index, variable) in self.program.variables.iter().enumerate() {
            let id = VarId(index as u32);
            let cell = self.variable(id);
            if variable.address_taken {
                self.nodes.unify(cell, world);
            } else {
                self.tell_world(cell, variable.ty);
            }
        }
        for index in 0..self.program.functions.len() {
            let cell = self.function(FuncId(index as u32));
            self.nodes.unify(cell, world);
        }
        for (index, edge) in self.program.edges.iter().enumerate() {
            if let Op::Allocate { .. } = edge.op {
                let id = EdgeId(index as u32);
                self.nodes.content(world).allocations.insert(id);
            }
        }
        for (_, ty) in self.program.types.all() {
            if let Type::Pointer(to) = ty {
                let outside = self.outside(*to);
                self.nodes.unify(outside, world);
            }
        }
    }
}
