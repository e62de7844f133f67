//! Which variables tell the states of a loop apart: guesses for condition 2 of Theorem 2.

use crate::system::{States, System};
use crate::theorem::View;
use hardbop_logic::{TermId, Terms};
use std::collections::BTreeSet;

/// The views to try: the count of iterations; at every node what decides whether the loop goes on,
/// and then where, too; then single variables of that.
pub fn views(terms: &Terms, system: &System, stays: &States, counter: Option<usize>) -> Vec<View> {
    let mut views = Vec::new();
    if let Some(counter) = counter {
        views.push(View::everywhere(system, &[counter]));
    }
    let conditions = (0..system.nodes)
        .map(|node| {
            let steps = system.steps.iter().filter(|step| step.from == node);
            steps.map(|step| step.condition).collect()
        })
        .collect();
    let staying = stays.0.iter().map(|&stays| vec![stays]).collect();
    let more = deciding(terms, system, conditions);
    let mut tried = vec![deciding(terms, system, staying), more.clone()];
    let single: BTreeSet<usize> = more.iter().flatten().copied().collect();
    if single.len() > 1 {
        for at in single {
            tried.push(vec![BTreeSet::from([at]); system.nodes]);
        }
    }
    for sets in tried {
        if sets.iter().all(BTreeSet::is_empty) {
            continue;
        }
        let view = if sets.iter().all(|set| set.len() == system.variables.len()) {
            View::Whole
        } else {
            View::Of(
                sets.into_iter()
                    .map(|set| set.into_iter().collect())
                    .collect(),
            )
        };
        if !views.contains(&view) {
            views.push(view);
        }
    }
    views
}

/// At every node the variables that decide, there or later, what some formulas come to.
fn deciding(terms: &Terms, system: &System, formulas: Vec<Vec<TermId>>) -> Vec<BTreeSet<usize>> {
    let read = |roots: &[TermId]| -> BTreeSet<usize> {
        let free = terms.free_constants(roots);
        (0..system.variables.len())
            .filter(|&at| free.contains(&system.variables[at].constant))
            .collect()
    };
    let mut needed: Vec<BTreeSet<usize>> = formulas.iter().map(|roots| read(roots)).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for step in &system.steps {
            let roots: Vec<TermId> = needed[step.to].iter().map(|&at| step.post[at]).collect();
            let before = needed[step.from].len();
            needed[step.from].extend(read(&roots));
            changed |= needed[step.from].len() > before;
        }
    }
    needed
}
