//! Which variables of a function may be read before it writes them.
//!
//! A call gives each of them any value. A copy of the function in a loop would find the value of
//! the last round there, unless it begins a new life at each entry. Formals get their arguments,
//! what is declared by the body gets its life there, and lowering writes its temporaries before it
//! reads them: none of that is believed, it is looked up here.

use super::open::{Part, open_expr, open_op, open_place, written};
use super::tables::owner;
use crate::ids::{FuncId, LocId, VarId};
use crate::program::{Edge, Op, PlaceKind, Program};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The variables of a function, other than those whose address is taken, that a path from its
/// entry reads before it writes them as a whole. Its result is read at the exit.
///
/// For each variable, the locations where it is read are followed backwards until it is written:
/// the cost is the size of the ranges in which variables are alive.
pub(super) fn open_at_entry(program: &Program, id: FuncId) -> BTreeSet<VarId> {
    let function = program.function(id);
    let first = function.locations.start as usize;
    let count = function.locations.len();
    let mut arrivals: Vec<Vec<(usize, Option<VarId>)>> = vec![Vec::new(); count];
    let mut readers: BTreeMap<VarId, Vec<usize>> = BTreeMap::new();
    for at in function.locations.clone() {
        for (_, edge) in program.edges_from(LocId(at)) {
            let from = at as usize - first;
            arrivals[edge.to.index() - first].push((from, set(program, edge)));
            for variable in read(program, edge) {
                let local = program.variable(variable);
                if owner(local) == Some(id) && !local.address_taken {
                    readers.entry(variable).or_default().push(from);
                }
            }
        }
    }
    if let Some(result) = function.result {
        readers
            .entry(result)
            .or_default()
            .push(function.exit.index() - first);
    }
    let entry = function.entry.index() - first;
    let mut seen = vec![VarId(u32::MAX); count];
    let mut open = BTreeSet::new();
    for (variable, mut work) in readers {
        while let Some(at) = work.pop() {
            if std::mem::replace(&mut seen[at], variable) == variable {
                continue;
            }
            if at == entry {
                open.insert(variable);
                break;
            }
            let unset = arrivals[at]
                .iter()
                .filter(|(_, set)| *set != Some(variable));
            work.extend(unset.map(|(from, _)| *from));
        }
    }
    open
}

/// The variable that an edge gives a new value, or a new life, as a whole.
fn set(program: &Program, edge: &Edge) -> Option<VarId> {
    if let Op::Declare { variable } = edge.op {
        return Some(variable);
    }
    let place = program.place(written(&edge.op)?);
    match place.kind {
        PlaceKind::Var(variable) => (program.variable(variable).ty == place.ty).then_some(variable),
        _ => None,
    }
}

/// The variables that an edge mentions otherwise: what it writes in part counts as read.
fn read(program: &Program, edge: &Edge) -> HashSet<VarId> {
    let mut read = HashSet::new();
    if matches!(edge.op, Op::Declare { .. } | Op::EndScope { .. }) {
        return read;
    }
    let mut parts = Vec::new();
    open_op(&mut edge.op.clone(), &mut parts);
    if set(program, edge).is_some()
        && let Some(whole) = written(&edge.op).map(Part::Place)
        && let Some(at) = parts.iter().rposition(|part| *part == whole)
    {
        parts.remove(at);
    }
    let mut seen = HashSet::new();
    while let Some(part) = parts.pop() {
        match part {
            Part::Variable(variable) => {
                read.insert(variable);
            }
            Part::Expr(expr) if seen.insert((0, expr.0)) => {
                open_expr(&mut program.expr(expr).kind.clone(), &mut parts);
            }
            Part::Place(place) if seen.insert((1, place.0)) => {
                open_place(&mut program.place(place).kind.clone(), &mut parts);
            }
            Part::Expr(_) | Part::Place(_) => {}
        }
    }
    read
}
