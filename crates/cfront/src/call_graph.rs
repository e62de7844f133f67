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

/// For every function, whether it may call itself, directly or not.
pub fn recursive(program: &Program) -> Vec<bool> {
    let callees: Vec<BTreeSet<usize>> = (0..program.functions.len() as u32)
        .map(|index| calls_of(program, FuncId(index)))
        .map(|called| called.map(FuncId::index).collect())
        .collect();
    let mut recursive = vec![false; callees.len()];
    for component in components(&callees) {
        for &member in &component {
            recursive[member] = component.len() > 1 || callees[member].contains(&member);
        }
    }
    recursive
}

/// The strongly connected components of a call graph, callees before callers (Tarjan, without
/// recursion: call chains can be long).
pub(crate) fn components(callees: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let count = callees.len();
    let mut index = vec![NEW; count];
    let mut low = vec![0; count];
    let mut on_stack = vec![false; count];
    let (mut stack, mut out, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..count {
        if index[root] != NEW {
            continue;
        }
        let mut work = vec![(root, callees[root].iter())];
        (index[root], low[root]) = (next, next);
        next += 1;
        stack.push(root);
        on_stack[root] = true;
        while let Some((at, rest)) = work.last_mut() {
            let at = *at;
            if let Some(&callee) = rest.next() {
                if index[callee] == NEW {
                    (index[callee], low[callee]) = (next, next);
                    next += 1;
                    stack.push(callee);
                    on_stack[callee] = true;
                    work.push((callee, callees[callee].iter()));
                } else if on_stack[callee] {
                    low[at] = low[at].min(index[callee]);
                }
                continue;
            }
            work.pop();
            if let Some((caller, _)) = work.last() {
                low[*caller] = low[*caller].min(low[at]);
            }
            if low[at] == index[at] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    component.push(member);
                    if member == at {
                        break;
                    }
                }
                component.sort_unstable();
                out.push(component);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_callees_first() {
        let graph: Vec<BTreeSet<usize>> = [vec![1, 3], vec![2], vec![1], vec![3], vec![0]]
            .map(BTreeSet::from_iter)
            .into();
        assert_eq!(components(&graph), [vec![1, 2], vec![3], vec![0], vec![4]]);
    }

    #[test]
    fn long_chains_need_no_stack() {
        let n = 200_000;
        let graph: Vec<BTreeSet<usize>> = (0..n)
            .map(|i| BTreeSet::from_iter((i + 1 < n).then_some(i + 1)))
            .collect();
        assert_eq!(components(&graph).len(), n);
    }
}
