//! Plain paths: those of which the interpreter does what the logic says, because they touch
//! variables by their names only.

use hardbop_cfront::ids::{EdgeId, ExprId, PlaceId};
use hardbop_cfront::program::{Callee, ExprKind, Op, PlaceKind, Program};
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
                plain_op(program, &edge.op)
            }
            None => false,
        });
    let cell = |&id| matches!(semantics.layout.get(id).kind, StateKind::Cell { .. });
    plain && written.iter().all(cell)
}

/// Whether the interpreter cannot stop at an operation for a reason that logic does not know: it
/// touches variables by their name only.
fn plain_op(program: &Program, op: &Op) -> bool {
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
        _ => return false,
    }
    loop {
        if let Some(place) = places.pop() {
            match program.place(place).kind {
                PlaceKind::Var(_) => {}
                PlaceKind::Field(base, _) => places.push(base),
                PlaceKind::Deref(_) | PlaceKind::Index(..) => return false,
            }
            continue;
        }
        let Some(expr) = exprs.pop() else {
            return true;
        };
        match program.expr(expr).kind {
            ExprKind::Int(_) | ExprKind::Function(_) => {}
            ExprKind::Load(place) => places.push(place),
            // Where something lies can be computed for anything.
            ExprKind::AddressOf(place) => match program.place(place).kind {
                PlaceKind::Var(_) => {}
                _ => return false,
            },
            ExprKind::Unary(_, operand) | ExprKind::Convert(operand) => exprs.push(operand),
            ExprKind::Binary(_, left, right) | ExprKind::Overflows { left, right, .. } => {
                exprs.extend([left, right])
            }
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => exprs.extend([condition, then, otherwise]),
            _ => return false,
        }
    }
}
