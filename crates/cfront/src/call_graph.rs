//! The call graph: who may call whom, by edges that call and the functions they may enter.
//!
//! The targets of indirect calls must be filled in.

use crate::ids::{FuncId, LocId};
use crate::program::{Op, Program};
use std::collections::BTreeSet;

/// The functions that a function's edges may call, one for each call and target, in the order of
/// the edges.
pub fn calls_of(program: &Program, function: FuncId) -> impl Iterator<Item = FuncId> + '_ {
    let locations = program.function(function).locations.clone();
    locations
        .flat_map(|location| program.edges_from(LocId(location)))
        .filter_map(|(_, edge)| match &edge.op {
            Op::Call { callee, .. } => Some(callee.targets()),
            _ => None,
        })
        .flatten()
        .copied()
}

/// The functions that may be called from the entry function, itself among them.
pub fn callable(program: &Program) -> BTreeSet<FuncId> {
    let mut found = BTreeSet::from([program.entry]);
    let mut work = vec![program.entry];
    while let Some(function) = work.pop() {
        work.extend(calls_of(program, function).filter(|&callee| found.insert(callee)));
    }
    found
}

/// For every function, by its number, the functions that it may call, each once and in order.
pub fn callees(program: &Program) -> Vec<Vec<usize>> {
    (0..program.functions.len() as u32)
        .map(|index| {
            let called: BTreeSet<usize> = calls_of(program, FuncId(index))
                .map(FuncId::index)
                .collect();
            called.into_iter().collect()
        })
        .collect()
}

/// For every function, whether it may call itself, directly or not.
pub fn recursive(program: &Program) -> Vec<bool> {
    let cycles = hardbop_graph::cycles(&callees(program));
    cycles.iter().map(Option::is_some).collect()
}

/// What every function does with all that it calls, from what each does by itself: `absorb` adds
/// what the second one does to the first. Functions that call each other do the same.
pub fn with_callees<T: Clone>(
    callees: &[Vec<usize>],
    mut own: Vec<T>,
    absorb: impl Fn(&mut T, &T),
) -> Vec<T> {
    for component in hardbop_graph::components(callees) {
        let mut union = own[component[0]].clone();
        for &member in &component {
            absorb(&mut union, &own[member]);
            // Callees outside of the component are done; those inside add nothing new.
            for &callee in &callees[member] {
                absorb(&mut union, &own[callee]);
            }
        }
        for &member in &component {
            own[member] = union.clone();
        }
    }
    own
}
