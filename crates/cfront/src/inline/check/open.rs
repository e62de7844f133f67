//! Operations, expressions and places, opened: what they are without their parts, and their parts.
//!
//! Two of them mean the same if what is left of both is equal and their parts mean the same. A
//! part that is forgotten here stays in what is left and is compared by its number: that refuses
//! too much, and never too little.

use crate::ids::{ExprId, PlaceId, VarId};
use crate::program::{Callee, ExprKind, Op, PlaceKind};

/// A part of an operation, an expression or a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// An expression.
    Expr(ExprId),
    /// A place.
    Place(PlaceId),
    /// A variable as a whole.
    Variable(VarId),
}

/// What stands where a part was taken out.
const OPEN: ExprId = ExprId(u32::MAX);
const OPEN_PLACE: PlaceId = PlaceId(u32::MAX);
const OPEN_VARIABLE: VarId = VarId(u32::MAX);

/// Opens an expression: what is left is put in `kind`, the parts go to `parts`.
pub(super) fn open_expr(kind: &mut ExprKind, parts: &mut Vec<Part>) {
    let mut take = |expr: &mut ExprId| parts.push(Part::Expr(std::mem::replace(expr, OPEN)));
    match kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Function(_) | ExprKind::HeapIs { .. } => {
        }
        ExprKind::Load(place) | ExprKind::AddressOf(place) => {
            parts.push(Part::Place(std::mem::replace(place, OPEN_PLACE)));
        }
        ExprKind::Unary(_, a) | ExprKind::Convert(a) => take(a),
        ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(take),
        ExprKind::PointerAdd { pointer, index, .. } => [pointer, index].into_iter().for_each(take),
        ExprKind::PointerDifference { left, right, .. }
        | ExprKind::Overflows { left, right, .. } => {
            [left, right].into_iter().for_each(take);
        }
        ExprKind::Rounded { mode, operands, .. } => {
            take(mode);
            operands.iter_mut().for_each(take);
        }
        ExprKind::Conditional {
            condition,
            then,
            otherwise,
        } => [condition, then, otherwise].into_iter().for_each(take),
        ExprKind::ValidAccess { pointer, size } => [pointer, size].into_iter().for_each(take),
        ExprKind::ValidFree { pointer }
        | ExprKind::PointsToConstant { pointer }
        | ExprKind::ObjectSize { pointer }
        | ExprKind::Open { pointer } => take(pointer),
    }
}

/// Opens a place.
pub(super) fn open_place(kind: &mut PlaceKind, parts: &mut Vec<Part>) {
    match kind {
        PlaceKind::Var(variable) => {
            parts.push(Part::Variable(std::mem::replace(variable, OPEN_VARIABLE)));
        }
        PlaceKind::Deref(pointer) => parts.push(Part::Expr(std::mem::replace(pointer, OPEN))),
        PlaceKind::Field(base, _) => parts.push(Part::Place(std::mem::replace(base, OPEN_PLACE))),
        PlaceKind::Index(base, index) => {
            parts.push(Part::Place(std::mem::replace(base, OPEN_PLACE)));
            parts.push(Part::Expr(std::mem::replace(index, OPEN)));
        }
    }
}

/// Opens an operation.
pub(super) fn open_op(op: &mut Op, parts: &mut Vec<Part>) {
    let mut take = |part: Taken<'_>| {
        parts.push(match part {
            Taken::Expr(expr) => Part::Expr(std::mem::replace(expr, OPEN)),
            Taken::Place(place) => Part::Place(std::mem::replace(place, OPEN_PLACE)),
            Taken::Variable(variable) => Part::Variable(std::mem::replace(variable, OPEN_VARIABLE)),
        });
    };
    match op {
        Op::Skip | Op::Unsupported { .. } => {}
        Op::Assume { condition, .. } => take(Taken::Expr(condition)),
        Op::Assign { place, value } => {
            take(Taken::Place(place));
            take(Taken::Expr(value));
        }
        Op::Input { place, .. } | Op::Havoc { place } => take(Taken::Place(place)),
        Op::HavocMemory { pointer, size, .. } => {
            take(Taken::Expr(pointer));
            size.iter_mut().for_each(|size| take(Taken::Expr(size)));
        }
        Op::Call {
            callee,
            arguments,
            result,
        } => {
            if let Callee::Indirect { pointer, .. } = callee {
                take(Taken::Expr(pointer));
            }
            arguments
                .iter_mut()
                .for_each(|argument| take(Taken::Expr(argument)));
            result
                .iter_mut()
                .for_each(|place| take(Taken::Place(place)));
        }
        Op::Declare { variable } => take(Taken::Variable(variable)),
        Op::EndScope { variables } => {
            variables
                .iter_mut()
                .for_each(|variable| take(Taken::Variable(variable)));
        }
        Op::Allocate { place, size, .. } => {
            take(Taken::Place(place));
            take(Taken::Expr(size));
        }
        Op::Free { pointer } => take(Taken::Expr(pointer)),
        Op::CopyMemory { to, from, size } => {
            [to, from, size]
                .into_iter()
                .for_each(|expr| take(Taken::Expr(expr)));
        }
        Op::FillMemory { to, byte, size } => {
            [to, byte, size]
                .into_iter()
                .for_each(|expr| take(Taken::Expr(expr)));
        }
        Op::SetOpen { pointer, bits } => {
            take(Taken::Expr(pointer));
            take(Taken::Expr(bits));
        }
    }
}

/// A part of an operation that is taken out of it.
enum Taken<'a> {
    Expr(&'a mut ExprId),
    Place(&'a mut PlaceId),
    Variable(&'a mut VarId),
}

/// The place that an operation writes as its last act.
pub(super) fn written(op: &Op) -> Option<PlaceId> {
    match op {
        Op::Assign { place, .. }
        | Op::Input { place, .. }
        | Op::Havoc { place }
        | Op::Allocate { place, .. } => Some(*place),
        Op::Call { result, .. } => *result,
        Op::Skip
        | Op::Assume { .. }
        | Op::HavocMemory { .. }
        | Op::Declare { .. }
        | Op::EndScope { .. }
        | Op::Free { .. }
        | Op::CopyMemory { .. }
        | Op::FillMemory { .. }
        | Op::SetOpen { .. }
        | Op::Unsupported { .. } => None,
    }
}
