//! In come two runs that meet; out they come with the same place for their next object.

use crate::Execution;
use hardbop_logic::Terms;

/// Lets the next object of two runs begin at the same address where it is known how far apart they
/// are: the higher one. The address would be a sum of as many unknowns as there were branches with
/// an object else, and nothing but sums could tell objects apart. Where an object lies is not the
/// program's to say; a violation is run again from the start in any case, and a proof is checked
/// with each object right behind the one before it.
pub fn same_frontier(
    terms: &mut Terms,
    one: &mut Execution<'_, '_>,
    other: &mut Execution<'_, '_>,
) {
    let semantics = one.semantics;
    let frontier = semantics.layout.frontier();
    let (a, b) = (
        one.state.get(semantics, terms, frontier),
        other.state.get(semantics, terms, frontier),
    );
    if let (Some(from), Some(to)) = (semantics.distance(terms, a), semantics.distance(terms, b))
        && a != b
    {
        let higher = if from > to { a } else { b };
        one.state.set(frontier, higher);
        other.state.set(frontier, higher);
    }
}
