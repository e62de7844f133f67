//! Whether a program leaves nothing open but what it asks the environment for.
//!
//! A run asks for inputs and for what undefined functions return; that is seen when it happens.
//! What is not seen is a read of something that was never written: a local before its first
//! assignment, fresh memory. And the numbers behind pointers are the interpreter's own. So the
//! text is looked at, and if there may be anything of that kind, the answer is no.

use hardbop_cfront::call_graph::callable;
use hardbop_cfront::ids::{ExprId, FuncId, PlaceId, VarId};
use hardbop_cfront::program::*;
use hardbop_cfront::types::Type;
use std::collections::BTreeSet;

/// Whether all that a run does follows from its inputs.
pub(crate) fn is_determined(program: &Program) -> bool {
    let known = |variable: &Variable| variable.initial != Initial::Unknown;
    program.function(program.entry).formals.is_empty()
        && program.variables.iter().all(known)
        && program
            .exprs
            .iter()
            .all(|expr| hides_addresses(program, expr))
        && callable(program)
            .into_iter()
            .all(|function| reads_what_was_written(program, function))
}

fn is_pointer(program: &Program, expr: ExprId) -> bool {
    matches!(program.types.get(program.expr(expr).ty), Type::Pointer(_))
}

/// Whether an expression makes no number of an address.
fn hides_addresses(program: &Program, expr: &Expr) -> bool {
    let into_pointer = matches!(program.types.get(expr.ty), Type::Pointer(_));
    match expr.kind {
        ExprKind::Convert(from) => into_pointer || !is_pointer(program, from),
        ExprKind::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge, left, _) => {
            !is_pointer(program, left)
        }
        ExprKind::PointerDifference { .. } => false,
        _ => true,
    }
}

/// Whether a function reads its locals only where they were written on all ways, and makes no
/// objects of unknown contents.
fn reads_what_was_written(program: &Program, id: FuncId) -> bool {
    let function = program.function(id);
    let scalar = |&variable: &VarId| {
        let variable = program.variable(variable);
        program.types.is_scalar(variable.ty) && !variable.address_taken
    };
    if !function.locals.iter().all(scalar) || !function.result.iter().all(scalar) {
        return false;
    }
    let own: BTreeSet<VarId> = function
        .locals
        .iter()
        .chain(&function.result)
        .copied()
        .collect();
    // What is written on all ways to a location; nothing yet for one that was not met.
    let first = function.locations.start;
    let mut written: Vec<Option<BTreeSet<VarId>>> = vec![None; function.locations.len()];
    written[(function.entry.0 - first) as usize] = Some(BTreeSet::new());
    let mut work = vec![function.entry];
    while let Some(at) = work.pop() {
        let Some(before) = written[(at.0 - first) as usize].clone() else {
            continue;
        };
        for (_, edge) in program.edges_from(at) {
            let mut reads = BTreeSet::new();
            let mut after = before.clone();
            if !effect(program, &edge.op, &mut reads, &mut after) {
                return false;
            }
            if reads.iter().any(|v| own.contains(v) && !before.contains(v)) {
                return false;
            }
            let there = &mut written[(edge.to.0 - first) as usize];
            let joined = match there {
                None => after,
                Some(known) => known.intersection(&after).copied().collect(),
            };
            if there.as_ref() != Some(&joined) {
                *there = Some(joined);
                work.push(edge.to);
            }
        }
    }
    match (
        function.result,
        &written[(function.exit.0 - first) as usize],
    ) {
        (Some(result), Some(written)) => written.contains(&result),
        _ => true,
    }
}

/// What an edge reads and writes; `false` for edges that leave something open.
fn effect(
    program: &Program,
    op: &Op,
    reads: &mut BTreeSet<VarId>,
    written: &mut BTreeSet<VarId>,
) -> bool {
    let mut exprs = Vec::new();
    let mut places = Vec::new();
    match op {
        Op::Skip | Op::EndScope { .. } => {}
        Op::Assume { condition, .. } => exprs.push(*condition),
        Op::Assign { place, value } => {
            exprs.push(*value);
            places.push(*place);
        }
        // Inputs are seen when they are asked for.
        Op::Input { place, .. } => places.push(*place),
        Op::Call {
            callee,
            arguments,
            result,
        } => {
            if let Callee::Indirect { pointer, .. } = callee {
                exprs.push(*pointer);
            }
            exprs.extend(arguments);
            places.extend(result);
        }
        Op::Declare { variable } => {
            written.remove(variable);
        }
        _ => return false,
    }
    for place in places {
        match program.place(place).kind {
            PlaceKind::Var(variable) => {
                written.insert(variable);
            }
            _ => address_reads(program, place, reads),
        }
    }
    for expr in exprs {
        expr_reads(program, expr, reads);
    }
    true
}

/// The variables that finding a place reads; the place's own variable among them if only a part
/// of it is meant.
fn address_reads(program: &Program, place: PlaceId, reads: &mut BTreeSet<VarId>) {
    let mut at = place;
    loop {
        match program.place(at).kind {
            PlaceKind::Var(variable) => {
                reads.insert(variable);
                return;
            }
            PlaceKind::Deref(pointer) => return expr_reads(program, pointer, reads),
            PlaceKind::Field(base, _) => at = base,
            PlaceKind::Index(base, index) => {
                expr_reads(program, index, reads);
                at = base;
            }
        }
    }
}

/// The variables that an expression reads.
fn expr_reads(program: &Program, root: ExprId, reads: &mut BTreeSet<VarId>) {
    let mut work = vec![root];
    let mut seen = BTreeSet::new();
    while let Some(expr) = work.pop() {
        if !seen.insert(expr) {
            continue;
        }
        match program.expr(expr).kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Function(_) => {}
            ExprKind::Load(place) | ExprKind::AddressOf(place) => {
                let mut at = place;
                loop {
                    match program.place(at).kind {
                        PlaceKind::Var(variable) => {
                            reads.insert(variable);
                            break;
                        }
                        PlaceKind::Deref(pointer) => {
                            work.push(pointer);
                            break;
                        }
                        PlaceKind::Field(base, _) => at = base,
                        PlaceKind::Index(base, index) => {
                            work.push(index);
                            at = base;
                        }
                    }
                }
            }
            ExprKind::Unary(_, a) | ExprKind::Convert(a) => work.push(a),
            ExprKind::Binary(_, a, b)
            | ExprKind::PointerAdd {
                pointer: a,
                index: b,
                ..
            }
            | ExprKind::PointerDifference {
                left: a, right: b, ..
            }
            | ExprKind::Overflows {
                left: a, right: b, ..
            }
            | ExprKind::ValidAccess {
                pointer: a,
                size: b,
            } => work.extend([a, b]),
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => work.extend([condition, then, otherwise]),
            ExprKind::ValidFree { pointer } | ExprKind::ObjectSize { pointer } => {
                work.push(pointer);
            }
        }
    }
}
