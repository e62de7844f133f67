//! Changing a program after its construction: the one place where the tables of a [`Program`]
//! grow and where its graphs are cut open.
//!
//! [`Tables`] add expressions, places and variables, equal ones once. [`Graphs`] add locations
//! and edges, split edges and locations, and lay the result out so that what a [`Program`]
//! promises about its order is kept. The two go side by side: whoever weaves something in makes
//! conditions with the one and branches with the other. What needs no sharing of equal
//! expressions takes the plain `add_` functions of [`Program`].

mod graphs;
mod tables;

pub use graphs::Graphs;
pub use tables::Tables;

use crate::ids::{CheckId, ExprId, FuncId, PlaceId, TypeId, VarId};
use crate::program::{Check, Expr, ExprKind, Function, Place, PlaceKind, Program, Variable};

impl Program {
    /// Adds an expression, also where there is an equal one.
    pub fn add_expr(&mut self, kind: ExprKind, ty: TypeId) -> ExprId {
        self.exprs.push(Expr { kind, ty });
        ExprId(self.exprs.len() as u32 - 1)
    }

    /// Adds a place, also where there is an equal one.
    pub fn add_place(&mut self, kind: PlaceKind, ty: TypeId) -> PlaceId {
        self.places.push(Place { kind, ty });
        PlaceId(self.places.len() as u32 - 1)
    }

    /// Adds a variable. A function's own variables are in its lists, too, which is the caller's
    /// to see to.
    pub fn add_variable(&mut self, variable: Variable) -> VarId {
        self.variables.push(variable);
        VarId(self.variables.len() as u32 - 1)
    }

    /// Adds a check.
    pub fn add_check(&mut self, check: Check) -> CheckId {
        self.checks.push(check);
        CheckId(self.checks.len() as u32 - 1)
    }

    /// Adds a function, whose locations are there already or come with [`Graphs`].
    pub fn add_function(&mut self, function: Function) -> FuncId {
        self.functions.push(function);
        FuncId(self.functions.len() as u32 - 1)
    }
}
