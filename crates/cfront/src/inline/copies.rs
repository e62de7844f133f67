//! What a copy of a function is made of: its own variables, and the expressions and places that
//! speak of them.

use super::Inliner;
use crate::ids::{ExprId, FuncId, PlaceId, VarId};
use crate::operands::{Operand, Renumber, each_operand, operands_of, operands_of_place};
use crate::program::{Expr, Op, Place, PlaceKind, VarKind};
use std::collections::HashMap;

/// What a copy of a function uses instead of the original's parts.
#[derive(Default)]
pub(super) struct Copies {
    pub variables: HashMap<VarId, VarId>,
    exprs: HashMap<ExprId, ExprId>,
    places: HashMap<PlaceId, PlaceId>,
}

impl Copies {
    fn variable(&self, id: VarId) -> VarId {
        self.variables.get(&id).copied().unwrap_or(id)
    }

    fn knows(&self, operand: Operand) -> bool {
        match operand {
            Operand::Expr(id) => self.exprs.contains_key(&id),
            Operand::Place(id) => self.places.contains_key(&id),
        }
    }
}

impl Renumber for Copies {
    fn expr(&self, id: ExprId) -> ExprId {
        self.exprs.get(&id).copied().unwrap_or(id)
    }

    fn place(&self, id: PlaceId) -> PlaceId {
        self.places.get(&id).copied().unwrap_or(id)
    }
}

impl Inliner<'_> {
    pub(super) fn copy_variable(&mut self, caller: FuncId, variable: VarId) -> VarId {
        let mut copy = self.program.variable(variable).clone();
        copy.kind = match copy.kind {
            VarKind::Temporary(_) | VarKind::Result(_) => VarKind::Temporary(caller),
            _ => VarKind::Local(caller),
        };
        self.program.add_variable(copy)
    }

    pub(super) fn copy_op(&mut self, copies: &mut Copies, op: &Op) -> Op {
        let mut op = op.clone();
        match &mut op {
            Op::Declare { variable } => *variable = copies.variable(*variable),
            Op::EndScope { variables } => {
                for variable in variables {
                    *variable = copies.variable(*variable);
                }
            }
            _ => {
                let mut operands = Vec::new();
                each_operand(&op, &mut |operand| operands.push(operand));
                self.copy_operands(copies, operands);
                copies.op(&mut op);
            }
        }
        op
    }

    /// Copies expressions and places that speak of copied variables; the others stay. Operands
    /// come first, without recursion: expressions can be very deep.
    fn copy_operands(&mut self, copies: &mut Copies, mut work: Vec<Operand>) {
        while let Some(&operand) = work.last() {
            if copies.knows(operand) {
                work.pop();
                continue;
            }
            let mut below = Vec::new();
            match operand {
                Operand::Expr(id) => {
                    operands_of(&self.program.expr(id).kind, &mut |o| below.push(o));
                }
                Operand::Place(id) => {
                    operands_of_place(&self.program.place(id).kind, &mut |o| below.push(o));
                }
            }
            below.retain(|&operand| !copies.knows(operand));
            if !below.is_empty() {
                work.extend(below);
                continue;
            }
            work.pop();
            match operand {
                Operand::Expr(id) => {
                    let Expr { kind, ty } = self.program.expr(id).clone();
                    let copied = copies.expr_kind(kind);
                    let new = if copied == kind {
                        id
                    } else {
                        self.program.add_expr(copied, ty)
                    };
                    copies.exprs.insert(id, new);
                }
                Operand::Place(id) => {
                    let Place { kind, ty } = self.program.place(id).clone();
                    let copied = match kind {
                        PlaceKind::Var(variable) => PlaceKind::Var(copies.variable(variable)),
                        kind => copies.place_kind(kind),
                    };
                    let new = if copied == kind {
                        id
                    } else {
                        self.program.add_place(copied, ty)
                    };
                    copies.places.insert(id, new);
                }
            }
        }
    }
}
