//! What statements leave behind at nodes, as properties: who linked them, who pointed to them, and
//! between which variables they may be counted.

use super::heap::{Heap, KindId, now};
use super::properties::{Found, leaves};
use crate::candidates::is_literal;
use crate::cells::stores;
use hardbop_cfront::program::LocationKind;
use hardbop_logic::{Sort, TermId, Terms, atoms_of};
use hardbop_semantics::steps::{End, Ground, Step};
use std::collections::BTreeSet;

/// The most statements that nodes are told apart by, of each sort.
const STATEMENTS: usize = 4;
/// The most pairs of words between which nodes may be counted.
const COUNTED: usize = 4;

/// Which variables pointed to the arbitrary node, and which statements wrote its pointers last.
pub(super) fn traced(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    heap: &Heap,
    steps: &[Step],
    found: &mut Found,
) {
    for (index, kind) in heap.kinds.iter().enumerate() {
        for field in &kind.fields {
            let ghost = field.writer.and_then(|writer| now(ground, writer));
            let (Some(writer), Some(ghost)) = (field.writer, ghost) else {
                continue;
            };
            let mut numbers = BTreeSet::new();
            for step in steps.iter().filter(|step| step.from.is_some()) {
                let written = step.state.get(ground.semantics, terms, ghost);
                for (_, value) in stores(terms, written) {
                    numbers.extend(
                        leaves(terms, value)
                            .into_iter()
                            .filter(|&leaf| is_literal(terms, leaf)),
                    );
                }
            }
            // One alone tells nothing apart.
            if numbers.len() < 2 {
                continue;
            }
            let offset = terms.bv(field.offset, terms.width(kind.any));
            let at = terms.bv_add(kind.any, offset);
            let last = terms.select(writer, at);
            for number in numbers.into_iter().take(STATEMENTS) {
                let wrote = terms.eq(last, number);
                found.add(terms, KindId(index as u32), wrote);
            }
        }
        for &visited in kind.visited.iter().take(STATEMENTS) {
            found.add(terms, KindId(index as u32), visited);
        }
    }
}

/// The pairs of words that are compared with each other where a check is violated: what is counted
/// in them may be nodes.
pub fn counted(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
) -> Vec<(TermId, TermId)> {
    let is_error = |step: &&Step| {
        let End::At(to) = step.to else { return false };
        let location = &ground.semantics.program.locations[to.index()];
        matches!(location.kind, LocationKind::Error(_))
    };
    let conditions: Vec<TermId> = steps.iter().filter(is_error).map(|s| s.condition).collect();
    let mut found = Vec::new();
    for atom in atoms_of(terms, &conditions) {
        let constants: Vec<TermId> = terms.free_constants(&[atom]).into_iter().collect();
        if let [low, high] = constants[..] {
            let plain = |term| now(ground, term).is_some();
            let same = terms.sort(low) == terms.sort(high);
            if same && matches!(terms.sort(low), Sort::BitVec(_)) && plain(low) && plain(high) {
                found.push((low, high));
            }
        }
    }
    found.truncate(COUNTED);
    found
}
