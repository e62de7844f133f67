//! The modal transition system of a loop: its abstract states are the conditions of its paths, and
//! may transitions say which path can follow which. Where no path is suggested, the abstract
//! states to leap through are found here (section 4.3).

use crate::system::System;
use hardbop_logic::{Prover, TermId, Terms, Undecided};
use std::collections::BTreeSet;

/// More steps than this are not looked at in pairs.
const MOST: usize = 14;

/// For every step the steps that may follow it.
pub fn followers(
    prover: &mut Prover,
    terms: &mut Terms,
    system: &System,
) -> Result<Vec<BTreeSet<usize>>, Undecided> {
    let count = system.steps.len();
    let mut found = vec![BTreeSet::new(); count];
    for (a, first) in system.steps.iter().enumerate() {
        for (b, second) in system.steps.iter().enumerate() {
            if first.to != second.from {
                continue;
            }
            let after: TermId = system.after(terms, first, second.condition);
            let may = count == 1
                || count > MOST
                || !prover.unsatisfiable(terms, &[system.given, first.condition, after])?;
            if may {
                found[a].insert(b);
            }
        }
    }
    Ok(found)
}

/// The sets of steps to leap through, from one of them on: the ones that can come again and
/// again together with it, then it alone, then ever larger unions, breadth first.
pub fn sets(followers: &[BTreeSet<usize>], first: usize) -> Vec<BTreeSet<usize>> {
    let mut found: Vec<BTreeSet<usize>> = Vec::new();
    let mut add = |set: BTreeSet<usize>| {
        let lasting = set
            .iter()
            .any(|step| followers[*step].iter().any(|next| set.contains(next)));
        if lasting && !found.contains(&set) {
            found.push(set);
        }
    };
    let after = reached(followers, first);
    let together: BTreeSet<usize> = after
        .iter()
        .copied()
        .filter(|&step| reached(followers, step).contains(&first))
        .collect();
    add(together);
    if followers[first].contains(&first) {
        add(BTreeSet::from([first]));
    }
    let mut union = BTreeSet::from([first]);
    loop {
        let next: BTreeSet<usize> = union
            .iter()
            .flat_map(|&step| followers[step].iter().copied())
            .chain(union.iter().copied())
            .collect();
        if next == union {
            break;
        }
        add(next.clone());
        union = next;
    }
    found
}

/// The steps that can come after a step, at any distance of at least one.
fn reached(followers: &[BTreeSet<usize>], first: usize) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut work = vec![first];
    while let Some(step) = work.pop() {
        for &next in &followers[step] {
            if seen.insert(next) {
                work.push(next);
            }
        }
    }
    seen
}
