//! Infeasible consistent path projections (TR 2000-14, section 5).
//!
//! A projection leaves statements out of a path. It is *consistent* if whatever is left out takes
//! with it all earlier statements that speak of the variables it writes: then the values that the
//! rest computes are values that the path has too, up to the symbolic constants of variables that
//! are now read before they are written. A consistent projection that cannot be run explains why
//! the path cannot, with less to say.

use crate::annotate::{Context, Explainer, Forgotten};
use crate::statements::Statements;
use hardbop_logic::Terms;
use std::collections::BTreeSet;

/// A projection of a path.
#[derive(Clone, Debug)]
pub struct Projection {
    /// The positions of the statements that are left.
    pub kept: Vec<usize>,
    /// Their simulation.
    pub context: Context,
}

/// `del(s)`: what has to be left out of the statements `kept` together with one of them.
pub fn deleted_with(path: &Statements, kept: &[usize], statement: usize) -> BTreeSet<usize> {
    let mut deleted = BTreeSet::from([statement]);
    let mut work = vec![statement];
    while let Some(later) = work.pop() {
        for &earlier in kept.iter().take_while(|&&earlier| earlier < later) {
            let touched = path.list[later]
                .writes
                .keys()
                .any(|&instance| path.list[earlier].mentions(instance));
            if touched && deleted.insert(earlier) {
                work.push(earlier);
            }
        }
    }
    deleted
}

/// The statements without one of them and what goes with it.
pub fn without(path: &Statements, kept: &[usize], statement: usize) -> Vec<usize> {
    let deleted = deleted_with(path, kept, statement);
    kept.iter()
        .copied()
        .filter(|other| !deleted.contains(other))
        .collect()
}

/// The greedy algorithm of section 5.3: leaves out one statement after the other, as long as the
/// rest cannot be run. `whole` must be infeasible, with no infeasible prefix.
///
/// The paper begins again after every success. That finds nothing new: what is left out is closed
/// under `del`, so a statement without which the path can be run stays one in every projection.
pub fn greedy_icpp(
    explainer: &mut Explainer<'_, '_, '_>,
    terms: &mut Terms,
    path: &Statements,
    whole: &[usize],
) -> Projection {
    let mut kept = whole.to_vec();
    for &statement in whole {
        if explainer.session.budget().check().is_err() {
            break;
        }
        if kept.binary_search(&statement).is_err() {
            continue;
        }
        let smaller = without(path, &kept, statement);
        if explainer.is_infeasible(terms, path, &smaller) {
            kept = smaller;
        }
    }
    let context = explainer.simulate(terms, path, &kept, &Forgotten::new());
    Projection { kept, context }
}
