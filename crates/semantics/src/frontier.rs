//! In come two runs that meet; out they come with the same place for their next object.

use crate::Execution;
use crate::scalar::constant_signed;
use hardbop_logic::{Op, TermId, Terms};

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
    let origin = semantics.origin(terms);
    let distance = |term: TermId| match (terms.op(term), terms.args(term)) {
        (Op::BvAdd, &[x, y]) if x == origin => constant_signed(terms, y),
        (Op::BvAdd, &[x, y]) if y == origin => constant_signed(terms, x),
        _ => None,
    };
    if let (Some(from), Some(to)) = (distance(a), distance(b))
        && a != b
    {
        let higher = if from > to { a } else { b };
        one.state.set(frontier, higher);
        other.state.set(frontier, higher);
    }
}
