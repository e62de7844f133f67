//! The ranges of indices that guesses speak of.

use crate::candidates::is_literal;
use hardbop_logic::{TermId, Terms};
use std::collections::BTreeSet;

/// With so many bounds, ranges are between two of them, too.
const FEW: usize = 5;
/// The most counters whose elements, and those behind them, have ranges of their own.
const COUNTERS: usize = 3;
/// The most ranges of an array with rows.
const RANGES: usize = 60;

/// Below an index, from one on, and between two; behind a counter, as loops that count down leave
/// them; and at a counter, where it has not come to its end.
pub(super) fn of_one(
    terms: &mut Terms,
    index: TermId,
    first: TermId,
    bounds: &[TermId],
    counters: &BTreeSet<TermId>,
) -> Vec<TermId> {
    let mut found = vec![first];
    for &bound in bounds {
        let below = terms.bv_slt(index, bound);
        found.push(terms.and(&[first, below]));
    }
    for &bound in bounds {
        if is_literal(terms, bound) {
            continue;
        }
        let above = terms.bv_sle(bound, index);
        if bounds.len() > FEW {
            found.push(terms.and(&[first, above]));
        }
        for &end in bounds.iter().filter(|&&end| end != bound) {
            let both = counters.contains(&bound) && counters.contains(&end);
            if bounds.len() <= FEW || both {
                let below = terms.bv_slt(index, end);
                found.push(terms.and(&[first, above, below]));
            }
            if both {
                // What two that come nearer to each other have not come to.
                let to = terms.bv_sle(index, end);
                found.push(terms.and(&[first, above, to]));
            }
        }
    }
    let counters: Vec<TermId> = bounds
        .iter()
        .copied()
        .filter(|bound| counters.contains(bound))
        .collect();
    for &counter in counters.iter().take(COUNTERS) {
        let behind = terms.bv_slt(counter, index);
        let same = terms.eq(index, counter);
        for &end in bounds.iter().filter(|&&end| end != counter) {
            let below = terms.bv_slt(index, end);
            found.push(terms.and(&[first, behind, below]));
            if !counters.contains(&end) {
                found.push(terms.and(&[first, same, below]));
            } else {
                // What a loop that began there has moved up.
                let to = terms.bv_sle(index, end);
                found.push(terms.and(&[first, behind, to]));
            }
        }
    }
    found
}

/// The range in which two indices are below a bound.
pub(super) fn inside(
    terms: &mut Terms,
    first: TermId,
    indices: [TermId; 2],
    bound: TermId,
) -> TermId {
    let below = indices.map(|index| terms.bv_slt(index, bound));
    terms.and(&[first, below[0], below[1]])
}

/// What nested loops have done: all rows below an index, and of the row at the index what is below
/// another one. Indices of inner loops come no further than to their ends.
pub(super) fn of_rows(
    terms: &mut Terms,
    index: &[TermId],
    bounds: &[Vec<TermId>],
    counters: &[BTreeSet<TermId>],
) -> Vec<TermId> {
    let mut found = Vec::new();
    for lead in (0..index.len()).rev() {
        let mut ranges: Vec<Vec<TermId>> = vec![Vec::new()];
        for (dimension, &word) in index.iter().enumerate() {
            let zero = terms.bv(0, terms.width(word));
            let first = terms.bv_sle(zero, word);
            let mut next = Vec::new();
            for &bound in &bounds[dimension] {
                let counts = counters[dimension].contains(&bound);
                let here = match dimension {
                    _ if dimension < lead && counts => vec![terms.eq(word, bound)],
                    _ if dimension == lead || dimension > lead && !counts => {
                        vec![first, terms.bv_slt(word, bound)]
                    }
                    _ => continue,
                };
                next.extend(ranges.iter().map(|range| [&range[..], &here].concat()));
            }
            ranges = next;
        }
        for range in ranges {
            found.push(terms.and(&range));
        }
    }
    found.truncate(RANGES);
    found
}
