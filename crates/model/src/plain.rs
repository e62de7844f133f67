//! Plain paths: those of which the interpreter does what the logic says, because they touch
//! variables by their names only, or elements of arrays that are called by a name and an index.

use hardbop_cfront::ids::{EdgeId, ExprId, PlaceId};
use hardbop_cfront::program::{Callee, ExprKind, Op, PlaceKind, Program};
use hardbop_cfront::types::Type;
use hardbop_semantics::Semantics;
use hardbop_semantics::effects::written_by;
use hardbop_semantics::layout::StateKind;
use std::collections::BTreeSet;

/// Whether all edges of a path are plain.
pub fn is_plain(semantics: &Semantics<'_>, edges: impl IntoIterator<Item = EdgeId>) -> bool {
    let program = semantics.program;
    let mut written = BTreeSet::new();
    let plain = edges
        .into_iter()
        .all(|edge| match program.edges.get(edge.index()) {
            Some(edge) => {
                written_by(semantics, &edge.op, &mut written);
                plain_op(program, &edge.op).is_some_and(|indices| indices.is_empty())
            }
            None => false,
        });
    let cell = |&id| matches!(semantics.layout.get(id).kind, StateKind::Cell { .. });
    plain && written.iter().all(cell)
}

/// An index into an array, and how many elements that has.
pub type Index = (ExprId, u64);

/// The indices that must be below the lengths of their arrays for an edge to be plain, elements of
/// arrays included; `None` if it touches anything else than variables by their names.
pub fn indices(semantics: &Semantics<'_>, edge: EdgeId) -> Option<Vec<Index>> {
    let edge = semantics.program.edges.get(edge.index())?;
    let mut written = BTreeSet::new();
    written_by(semantics, &edge.op, &mut written);
    let fine = |&id| {
        matches!(
            semantics.layout.get(id).kind,
            StateKind::Cell { .. } | StateKind::Memory { .. }
        )
    };
    let indices = plain_op(semantics.program, &edge.op)?;
    written.iter().all(fine).then_some(indices)
}

/// What must be within bounds for the interpreter not to stop at an operation for a reason that
/// logic does not know; `None` where it may stop for others: it touches more than variables by
/// their names and elements of arrays.
fn plain_op(program: &Program, op: &Op) -> Option<Vec<Index>> {
    let mut indices = Vec::new();
    let mut exprs: Vec<ExprId> = Vec::new();
    let mut places: Vec<PlaceId> = Vec::new();
    match op {
        Op::Skip | Op::Declare { .. } | Op::EndScope { .. } => {}
        Op::Assume { condition, .. } => exprs.push(*condition),
        Op::Assign { place, value } => {
            places.push(*place);
            exprs.push(*value);
        }
        Op::Input { place, .. } | Op::Havoc { place } => places.push(*place),
        Op::Call {
            callee: Callee::Direct(_),
            arguments,
            result,
        } => {
            exprs.extend(arguments);
            places.extend(*result);
        }
        _ => return None,
    }
    loop {
        if let Some(place) = places.pop() {
            match program.place(place).kind {
                PlaceKind::Var(_) => {}
                PlaceKind::Field(base, _) => places.push(base),
                PlaceKind::Index(base, index) => {
                    let Type::Array { length, .. } = program.types.get(program.place(base).ty)
                    else {
                        return None;
                    };
                    indices.push((index, *length));
                    exprs.push(index);
                    places.push(base);
                }
                PlaceKind::Deref(_) => return None,
            }
            continue;
        }
        let Some(expr) = exprs.pop() else {
            return Some(indices);
        };
        match program.expr(expr).kind {
            ExprKind::Int(_) | ExprKind::Function(_) => {}
            ExprKind::Load(place) => places.push(place),
            // Where something lies can be computed for anything.
            ExprKind::AddressOf(place) => match program.place(place).kind {
                PlaceKind::Var(_) => {}
                _ => return None,
            },
            ExprKind::Unary(_, operand) | ExprKind::Convert(operand) => exprs.push(operand),
            ExprKind::Binary(_, left, right) | ExprKind::Overflows { left, right, .. } => {
                exprs.extend([left, right])
            }
            ExprKind::Rounded { mode, operands, .. } => {
                exprs.push(mode);
                exprs.extend(operands);
            }
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => exprs.extend([condition, then, otherwise]),
            _ => return None,
        }
    }
}
