//! Where branches meet again: immediate post-dominators of a function's locations.

use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_cfront::program::Program;
use std::collections::BTreeMap;

/// For every location from which the function can return, the first location that all of its
/// returning ways pass. Ways that end in errors or halts do not count.
pub(crate) fn joins(program: &Program, function: FuncId) -> BTreeMap<LocId, LocId> {
    let described = program.function(function);
    let locations = described.locations.clone();
    let mut before: BTreeMap<LocId, Vec<LocId>> = BTreeMap::new();
    for location in locations.map(LocId) {
        for (_, edge) in program.edges_from(location) {
            before.entry(edge.to).or_default().push(location);
        }
    }
    // The order in which the exit sees the locations, itself first (Cooper, Harvey, Kennedy).
    let order = postorder_from(described.exit, &before);
    let number: BTreeMap<LocId, usize> = order
        .iter()
        .enumerate()
        .map(|(index, &location)| (location, index))
        .collect();
    let root = order.len() - 1;
    let mut parent: Vec<Option<usize>> = vec![None; order.len()];
    parent[root] = Some(root);
    let mut changed = true;
    while changed {
        changed = false;
        for index in (0..root).rev() {
            let mut found: Option<usize> = None;
            for (_, edge) in program.edges_from(order[index]) {
                let Some(&next) = number.get(&edge.to) else {
                    continue;
                };
                if parent[next].is_none() {
                    continue;
                }
                found = Some(match found {
                    None => next,
                    Some(other) => meet(&parent, other, next),
                });
            }
            if found.is_some() && parent[index] != found {
                parent[index] = found;
                changed = true;
            }
        }
    }
    let mut out = BTreeMap::new();
    for index in 0..root {
        if let Some(parent) = parent[index] {
            out.insert(order[index], order[parent]);
        }
    }
    out
}

fn meet(parent: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while a < b {
            a = parent[a].unwrap_or(b);
        }
        while b < a {
            b = parent[b].unwrap_or(a);
        }
    }
    a
}

fn postorder_from(start: LocId, next: &BTreeMap<LocId, Vec<LocId>>) -> Vec<LocId> {
    let empty = Vec::new();
    let mut seen = std::collections::BTreeSet::from([start]);
    let mut order = Vec::new();
    let mut stack = vec![(start, next.get(&start).unwrap_or(&empty).iter())];
    while let Some((location, rest)) = stack.last_mut() {
        match rest.next() {
            Some(&child) => {
                if seen.insert(child) {
                    stack.push((child, next.get(&child).unwrap_or(&empty).iter()));
                }
            }
            None => {
                order.push(*location);
                stack.pop();
            }
        }
    }
    order
}
