//! Where an edge uses values so that they decide something: its conditions, its addresses.

use super::Weaver;
use crate::ids::{ExprId, LocId};
use crate::operands::{Operand, each_below, each_operand};
use crate::program::*;
use std::collections::BTreeSet;

impl Weaver<'_> {
    /// The conditions under which an edge uses a bit without a value.
    pub(super) fn uses(&mut self, edge: &Edge) -> Vec<ExprId> {
        let mut values = BTreeSet::new();
        let mut conditions = BTreeSet::new();
        match &edge.op {
            Op::Assume { condition, .. } if !self.belongs_to_check(edge.from) => {
                conditions.insert(*condition);
            }
            Op::Call {
                callee, arguments, ..
            } => {
                if let Callee::Indirect { pointer, .. } = callee {
                    values.insert(*pointer);
                }
                for target in callee.targets() {
                    let target = self.program().function(*target);
                    // What leaves the program must have a value.
                    let known = match target.origin {
                        Origin::Undefined => 0,
                        _ => target.formals.len(),
                    };
                    values.extend(arguments.iter().skip(known));
                }
            }
            Op::Free { pointer } => _ = values.insert(*pointer),
            Op::Allocate { size, .. } => _ = values.insert(*size),
            Op::HavocMemory { pointer, size, .. } => {
                values.insert(*pointer);
                values.extend(size);
            }
            Op::CopyMemory { to, from, size } => values.extend([*to, *from, *size]),
            Op::FillMemory { to, byte, size } => values.extend([*to, *byte, *size]),
            _ => {}
        }
        values.extend(self.addresses(&edge.op));
        let ours = matches!(edge.op, Op::Assume { .. }) && conditions.is_empty();
        if !ours {
            conditions.extend(self.decisions(&edge.op));
        }
        let mut found = Vec::new();
        for condition in conditions {
            found.extend(self.bits.truth(condition));
        }
        for value in values {
            if let Some(bits) = self.bits.of(value) {
                found.push(self.bits.any(bits));
            }
        }
        found
    }

    /// Whether a branch is one of ours: it leads to a violation that the program does not make
    /// itself.
    pub(super) fn belongs_to_check(&self, at: LocId) -> bool {
        let program = self.program();
        program
            .edges_from(at)
            .any(|(_, edge)| match program.locations[edge.to.index()].kind {
                LocationKind::Error(check) => !matches!(
                    program.checks[check.index()].kind,
                    CheckKind::Assertion | CheckKind::ErrorCall | CheckKind::ErrorLabel
                ),
                _ => false,
            })
    }

    /// What decides inside of the expressions of an operation: `c ? a : b`, `c && a`.
    pub(super) fn decisions(&self, op: &Op) -> BTreeSet<ExprId> {
        let program = self.program();
        let mut roots = Vec::new();
        each_operand(op, &mut |operand| roots.push(operand));
        let mut found = BTreeSet::new();
        each_below(program, roots, &mut |operand| {
            if let Operand::Expr(id) = operand
                && let ExprKind::Conditional { condition, .. }
                | ExprKind::Binary(BinaryOp::And | BinaryOp::Or, condition, _) =
                    program.expr(id).kind
            {
                found.insert(condition);
            }
        });
        found
    }

    /// The pointers and indices of all places that an operation reads or writes.
    pub(super) fn addresses(&self, op: &Op) -> BTreeSet<ExprId> {
        let program = self.program();
        let mut places = Vec::new();
        let mut roots = Vec::new();
        each_operand(op, &mut |operand| {
            if let Operand::Place(place) = operand {
                places.push(place);
            }
            roots.push(operand);
        });
        each_below(program, roots, &mut |operand| {
            if let Operand::Expr(id) = operand
                && let ExprKind::Load(place) = program.expr(id).kind
            {
                places.push(place);
            }
        });
        let mut found = BTreeSet::new();
        while let Some(place) = places.pop() {
            match program.place(place).kind {
                PlaceKind::Var(_) => {}
                PlaceKind::Deref(pointer) => _ = found.insert(pointer),
                PlaceKind::Field(base, _) => places.push(base),
                PlaceKind::Index(base, index) => {
                    found.insert(index);
                    places.push(base);
                }
            }
        }
        found
    }
}
