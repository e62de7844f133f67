//! Whether a program leaves nothing open but what it asks the environment for.
//!
//! A run asks for inputs and for what undefined functions return; that is seen when it happens.
//! What is not seen is a read of something that was never written: a local before its first
//! assignment, fresh memory. And the numbers behind pointers are the interpreter's own. So the
//! text is looked at, and if there may be anything of that kind, the answer is no.

use hardbop_cfront::call_graph::callable;
use hardbop_cfront::ids::{ExprId, FuncId, VarId};
use hardbop_cfront::operands::each_load;
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
            let mut after = before.clone();
            if write(program, &edge.op, &mut after).is_none() {
                return false;
            }
            let open = |v: &VarId| own.contains(v) && !before.contains(v);
            if reads(program, &edge.op).iter().any(open) {
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

/// The variables that an edge reads, in whole or in part.
fn reads(program: &Program, op: &Op) -> BTreeSet<VarId> {
    let mut reads = BTreeSet::new();
    each_load(program, op, &mut |place| {
        if let Root::Variable(variable) = program.root(place) {
            reads.insert(variable);
        }
    });
    reads
}

/// Adds the variable that an edge writes; `None` for edges that leave something open.
fn write(program: &Program, op: &Op, written: &mut BTreeSet<VarId>) -> Option<()> {
    let place = match op {
        Op::Skip | Op::EndScope { .. } | Op::Assume { .. } => None,
        Op::Assign { place, .. } => Some(*place),
        // Inputs are seen when they are asked for.
        Op::Input { place, .. } => Some(*place),
        Op::Call { result, .. } => *result,
        Op::Declare { variable } => {
            written.remove(variable);
            None
        }
        _ => return None,
    };
    if let Some(place) = place
        && let PlaceKind::Var(variable) = program.place(place).kind
    {
        written.insert(variable);
    }
    Some(())
}
