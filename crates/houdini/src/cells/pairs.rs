//! What may hold of two elements of one array: that they are in order, or that they differ.
//!
//! The indices of both are arbitrary words, the one before the other.

use super::{Access, Cells};
use crate::candidates::is_literal;
use hardbop_logic::{Op, TermId, Terms, atoms_of};
use hardbop_semantics::steps::Step;
use std::collections::{BTreeMap, BTreeSet};

/// The most relations between two elements of one array.
const RELATIONS: usize = 4;
/// The most ranges of two indices.
const RANGES: usize = 80;
/// The most elements that are left out of a range.
const HOLES: usize = 2;
/// With so many indices at one point, each two of them have an instance.
const FEW: usize = 3;

/// How a violation says that two elements of an array should be related: the opposite of each
/// condition about two of them, said of those at two indices, and the other way round. The same
/// is said of an array whose elements come to the one that is read.
pub(super) fn relations(
    terms: &mut Terms,
    violations: &[TermId],
    own: &[&Access],
    read: &[&Access],
    indices: [TermId; 2],
) -> Vec<TermId> {
    let mut found = Vec::new();
    for &violation in violations {
        // That all elements are the same is said of each by itself.
        if let Some(inner) = terms.negated(violation)
            && *terms.op(inner) == Op::Eq
        {
            continue;
        }
        let Some(reads) = two_reads(terms, violation, read) else {
            continue;
        };
        if *terms.op(reads[0]) != Op::Select && *terms.op(reads[1]) != Op::Select {
            continue;
        }
        let elements = indices.map(|index| own[0].element(terms, &[index]));
        if terms.sort(elements[0]) != terms.sort(reads[0]) {
            continue;
        }
        for elements in [elements, [elements[1], elements[0]]] {
            let map: BTreeMap<TermId, TermId> = reads.into_iter().zip(elements).collect();
            let said = terms.substitute(violation, &map);
            let known = terms.free_constants(&elements);
            let relation = terms.not(said);
            let constants = terms.free_constants(&[relation]);
            let apart = !matches!(terms.op(relation), Op::Bool(_)) && !found.contains(&relation);
            if apart && constants.is_subset(&known) {
                found.push(relation);
            }
        }
    }
    found.truncate(RELATIONS);
    found
}

/// The conditions of steps and their opposites, as violations say them.
pub(super) fn conditions(terms: &mut Terms, steps: &[Step]) -> Vec<TermId> {
    let all: Vec<TermId> = steps.iter().map(|step| step.condition).collect();
    let mut found = Vec::new();
    for atom in atoms_of(terms, &all) {
        found.push(terms.not(atom));
        found.push(atom);
    }
    found
}

/// The elements that a condition reads, if it reads two of an array and nothing else.
fn two_reads(terms: &Terms, condition: TermId, own: &[&Access]) -> Option<[TermId; 2]> {
    let mut reads = Vec::new();
    for part in terms.postorder(&[condition]) {
        if *terms.op(part) == Op::Select {
            own.iter().find(|access| access.read == Some(part))?;
            reads.push(part);
        } else if matches!(terms.op(part), Op::Constant(_))
            && own.iter().any(|access| access.written == Some(part))
        {
            // An input that was put into an element is that element.
            reads.push(part);
        }
    }
    reads.try_into().ok()
}

/// The ranges of two indices: both below a bound, both from one on, or on both sides of one.
pub(super) fn ranges(
    terms: &mut Terms,
    [index, other]: [TermId; 2],
    bounds: &[TermId],
    counters: &BTreeSet<TermId>,
    holes: &[TermId],
) -> Vec<TermId> {
    let zero = terms.bv(0, terms.width(index));
    let first = terms.bv_sle(zero, index);
    let before = terms.bv_slt(index, other);
    let mut found = Vec::new();
    for &bound in bounds {
        let below = terms.bv_slt(other, bound);
        found.push(terms.and(&[first, before, below]));
    }
    // But for one that is to be written next, while others are moved out of its way.
    for &hole in holes.iter().take(HOLES) {
        let apart = [index, other].map(|at| {
            let same = terms.eq(at, hole);
            terms.not(same)
        });
        for &bound in bounds.iter().filter(|&&bound| bound != hole) {
            let below = match counters.contains(&bound) {
                true => terms.bv_sle(other, bound),
                false => terms.bv_slt(other, bound),
            };
            found.push(terms.and(&[first, before, below, apart[0], apart[1]]));
        }
    }
    for &bound in bounds.iter().filter(|&&bound| counters.contains(&bound)) {
        // One that a loop has moved to the place of another one.
        for &end in bounds.iter().filter(|&&end| end != bound) {
            let behind = terms.bv_slt(bound, other);
            let to = terms.bv_sle(other, end);
            found.push(terms.and(&[first, before, behind, to]));
        }
    }
    for &bound in bounds {
        if is_literal(terms, bound) {
            continue;
        }
        for &end in bounds.iter().filter(|&&end| end != bound) {
            let below = terms.bv_slt(other, end);
            let within = terms.and(&[first, before, below]);
            // From the bound on, and behind it.
            for low in [terms.bv_sle(bound, index), terms.bv_slt(bound, index)] {
                found.push(terms.and(&[within, low]));
            }
            // On both sides of it.
            let sides = [terms.bv_slt(index, bound), terms.bv_sle(bound, other)];
            found.push(terms.and(&[&[within][..], &sides].concat()));
            let sides = [terms.bv_sle(index, bound), terms.bv_slt(bound, other)];
            found.push(terms.and(&[&[within][..], &sides].concat()));
        }
    }
    found.truncate(RANGES);
    found
}

impl Cells {
    /// What is known of a point holds of two elements in the places of either, and of both.
    pub(super) fn instances_of_two(&mut self) {
        for array in &self.arrays {
            let (&[word], Some(other)) = (&array.words[..], array.other) else {
                continue;
            };
            for here in self.instances.values_mut() {
                let at: Vec<TermId> = here
                    .iter()
                    .filter_map(|instance| match instance[..] {
                        [(of, at)] if of == word => Some(at),
                        _ => None,
                    })
                    .collect();
                if at.is_empty() {
                    continue;
                }
                here.insert(vec![(word, self.words[other])]);
                here.extend(at.iter().map(|&at| vec![(other, at)]));
                // The element that is accessed may be the first of both.
                let any = self.words[word];
                here.extend(at.iter().map(|&at| vec![(word, at), (other, any)]));
                if at.len() > FEW {
                    continue;
                }
                for &first in &at {
                    let others = at.iter().filter(|&&second| second != first);
                    here.extend(others.map(|&second| vec![(word, first), (other, second)]));
                }
            }
        }
    }
}
