//! Whether a program leaves nothing open but what it asks the environment for.
//!
//! A run asks for inputs and for what undefined functions return; that is seen when it happens.
//! What is not seen is a read of a local before its first assignment. And the numbers behind
//! pointers are the interpreter's own. So the text is looked at, and if there may be anything of
//! that kind, the answer is no.
//!
//! Of objects in memory, a run that is watched says whether it read what was never written. That
//! is believed of plain programs only (`is_plain`): bytes of addresses, of padding, of unions and
//! of bit-fields may not be what they are elsewhere.

use hardbop_cfront::call_graph::callable;
use hardbop_cfront::ids::{ExprId, FuncId, RecordId, TypeId, VarId};
use hardbop_cfront::operands::each_load;
use hardbop_cfront::program::*;
use hardbop_cfront::types::{Record, RecordKind, Type};
use std::collections::BTreeSet;

/// Whether all that a run does follows from its inputs.
pub(crate) fn is_determined(program: &Program) -> bool {
    let known = |variable: &Variable| variable.initial != Initial::Unknown;
    let objects = match is_plain(program) {
        true => Objects::Watched,
        false => Objects::Known,
    };
    program.function(program.entry).formals.is_empty()
        && program.variables.iter().all(known)
        && program
            .exprs
            .iter()
            .all(|expr| hides_addresses(program, expr))
        && callable(program)
            .into_iter()
            .all(|function| reads_what_was_written(program, function, &objects))
}

/// Whether objects in memory may have unknown contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Objects {
    /// They may: the run that is watched says whether their contents are read.
    Watched,
    /// They may not.
    Known,
}

/// Whether all that can be read of the program's objects is what was written there as such: it
/// has no numbers in the place of pointers, no addresses of functions, no bit-fields, no unions,
/// no floating-point numbers, and looks at no padding.
fn is_plain(program: &Program) -> bool {
    let types = &program.types;
    let pointee = |ty: TypeId| match *types.get(ty) {
        Type::Pointer(to) => Some(to),
        _ => None,
    };
    let is_float = |ty: TypeId| matches!(types.get(ty), Type::Float(_));
    let records = (0..types.record_count()).map(|index| types.record(RecordId(index as u32)));
    let whole = |record: &Record| {
        let bits = record.fields.iter().any(|field| field.bit_width.is_some());
        record.kind != RecordKind::Union && !bits
    };
    let padded = |record: &Record| {
        let used: u64 = record.fields.iter().map(|f| types.size_of(f.ty)).sum();
        used != record.size
    };
    if !records.clone().all(whole) {
        return false;
    }
    let padding = records.clone().any(padded);
    program.exprs.iter().all(|expr| match expr.kind {
        ExprKind::Function(_) | ExprKind::Float(_) => false,
        ExprKind::Convert(from) => {
            let operand = program.expr(from);
            match (pointee(operand.ty), pointee(expr.ty)) {
                (None, None) => !is_float(expr.ty) && !is_float(operand.ty),
                (Some(_), None) => false,
                (None, Some(_)) => matches!(operand.kind, ExprKind::Int(0)),
                // Whoever reads a record by another type may read its padding.
                (Some(_), Some(to)) => {
                    !padding || matches!(types.get(to), Type::Void | Type::Record(_))
                }
            }
        }
        _ => !is_float(expr.ty),
    })
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

/// Whether a function reads its locals that are not in memory only where they were written on all
/// ways, and makes no objects of unknown contents unless those are watched.
fn reads_what_was_written(program: &Program, id: FuncId, objects: &Objects) -> bool {
    let function = program.function(id);
    let scalar = |&variable: &VarId| {
        let variable = program.variable(variable);
        program.types.is_scalar(variable.ty) && !variable.address_taken
    };
    let locals = function.locals.iter().chain(&function.result);
    if *objects == Objects::Known && !locals.clone().all(scalar) {
        return false;
    }
    let own: BTreeSet<VarId> = locals.filter(|id| scalar(id)).copied().collect();
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
            if write(program, &edge.op, &mut after, *objects).is_none() {
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
        (Some(result), Some(written)) => written.contains(&result) || !own.contains(&result),
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
fn write(
    program: &Program,
    op: &Op,
    written: &mut BTreeSet<VarId>,
    objects: Objects,
) -> Option<()> {
    let place = match op {
        Op::Skip | Op::EndScope { .. } | Op::Assume { .. } => None,
        // A run that comes here ends, and says nothing.
        Op::Unsupported { construct }
            if program.unsupported[*construct as usize].gap != Gap::Logic =>
        {
            None
        }
        Op::Assign { place, .. } => Some(*place),
        // Inputs are seen when they are asked for.
        Op::Input { place, .. } => Some(*place),
        Op::Call { result, .. } => *result,
        Op::Allocate { place, .. } if objects == Objects::Watched => Some(*place),
        Op::Free { .. } | Op::FillMemory { .. } | Op::CopyMemory { .. }
            if objects == Objects::Watched =>
        {
            None
        }
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
