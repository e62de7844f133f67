//! Sees when refinement does nothing but count the iterations of a loop: one predicate after the
//! other that differs from those before it in its numbers only, at a place that the path passes
//! again and again. More of them will not help; leaping the loop may.

use hardbop_cfront::derived::Derived;
use hardbop_cfront::ids::LocId;
use hardbop_logic::{Op, TermId, Terms};
use hardbop_newton::predicate::Predicate;
use hardbop_semantics::segment::Segment;
use std::collections::{BTreeMap, BTreeSet};

/// So many predicates of one shape at one place are counting.
const FAMILY: usize = 3;

/// The predicates met so far, by their place and shape.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    families: BTreeMap<(LocId, TermId), BTreeSet<TermId>>,
}

impl Counting {
    /// Takes the predicates that ruled a path out. Says whether they only count iterations.
    pub(crate) fn only_counts(
        &mut self,
        terms: &mut Terms,
        segments: &[Segment],
        found: &[(LocId, Predicate)],
    ) -> bool {
        let mut passed: BTreeMap<LocId, usize> = BTreeMap::new();
        for segment in segments {
            if let Segment::Block(_, to) = segment {
                *passed.entry(*to).or_default() += 1;
            }
        }
        let mut counts = false;
        for (location, predicate) in found {
            let shape = shape(terms, predicate.formula);
            let family = self.families.entry((*location, shape)).or_default();
            let new = family.insert(predicate.formula);
            let again = passed.get(location).is_some_and(|&times| times > 1);
            counts |= new && again && family.len() >= FAMILY;
        }
        counts
    }
}

/// A formula with one name for all numbers.
fn shape(terms: &mut Terms, formula: TermId) -> TermId {
    let mut map = BTreeMap::new();
    for term in terms.postorder(&[formula]) {
        if matches!(terms.op(term), Op::Int(_) | Op::BitVec(_)) {
            let sort = terms.sort(term);
            let any = terms.constant(&format!("any {sort:?}"), sort);
            map.insert(term, any);
        }
    }
    terms.substitute(formula, &map)
}

/// The locations of the original program that a path passes, those inside of its blocks too.
pub(crate) fn passed(
    inlined: &Derived,
    cuts: &BTreeSet<LocId>,
    segments: &[Segment],
) -> BTreeSet<LocId> {
    let mut blocks = BTreeSet::new();
    for segment in segments {
        if let Segment::Block(from, to) = *segment {
            blocks.insert((from, to));
        }
    }
    let mut found = BTreeSet::new();
    for (from, to) in blocks {
        // Everything between the two, and what leads on from there to somewhere else: which way
        // a block takes is not a part of the path.
        let mut work = vec![from];
        let mut inside = BTreeSet::from([from, to]);
        while let Some(location) = work.pop() {
            for (_, edge) in inlined.program.edges_from(location) {
                if !cuts.contains(&edge.to) && inside.insert(edge.to) {
                    work.push(edge.to);
                }
            }
        }
        found.extend(inside.iter().map(|at| inlined.locations[at.index()]));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardbop_logic::Sort;

    #[test]
    fn predicates_that_differ_in_numbers_only_are_counting() {
        let mut terms = Terms::new();
        let x = terms.constant("x", Sort::Int);
        let y = terms.constant("y", Sort::Int);
        let head = LocId(4);
        let round = [
            Segment::Block(LocId(0), head),
            Segment::Block(head, head),
            Segment::Block(head, LocId(9)),
        ];
        let once = [
            Segment::Block(LocId(0), head),
            Segment::Block(head, LocId(9)),
        ];
        let mut counting = Counting::default();
        let mut told = Vec::new();
        for (word, number, path) in [
            (x, 1, &round[..]),
            (x, 2, &round[..]),
            // The third of a family, but not in a loop of this path.
            (x, 3, &once[..]),
            (y, 4, &round[..]),
            (x, 5, &round[..]),
            // Nothing new.
            (x, 5, &round[..]),
        ] {
            let number = terms.int(number);
            let formula = terms.int_le(word, number);
            let predicate = Predicate {
                scope: None,
                formula,
            };
            told.push(counting.only_counts(&mut terms, path, &[(head, predicate)]));
        }
        assert_eq!(told, [false, false, false, false, true, false]);
    }
}
