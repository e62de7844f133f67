//! How many oracles a set of clauses excludes, exactly.
//!
//! Every clause is a set of decisions and excludes the oracles that make all of them. Oracles
//! choose one side at every node; they are counted by cases over the sides of one node after the
//! other, as long as clauses speak of nodes that are left.

use hardbop_engine::claim::Decision;
use hardbop_model::points::PointId;
use num_bigint::BigUint;
use std::collections::BTreeMap;

/// The number of oracles that make all decisions of at least one clause, among those over the
/// given nodes with so many sides each; `None` if counting takes more than so many steps.
pub(crate) fn excluded(
    clauses: &[&[Decision]],
    sides: &BTreeMap<PointId, usize>,
    steps: usize,
) -> Option<BigUint> {
    let all: BigUint = sides.values().map(|&count| BigUint::from(count)).product();
    let clauses: Vec<Vec<Decision>> = clauses.iter().map(|c| c.to_vec()).collect();
    let mut counter = Counter { sides, steps };
    // Nodes that no clause speaks of multiply everything alike.
    let left = counter.left(clauses, &all)?;
    Some(all - left)
}

struct Counter<'a> {
    sides: &'a BTreeMap<PointId, usize>,
    steps: usize,
}

/// A case that is to be counted: what is left of the clauses, and the number of oracles in it.
struct Case {
    clauses: Vec<Vec<Decision>>,
    oracles: BigUint,
}

impl Counter<'_> {
    /// The number of oracles that no clause excludes.
    fn left(&mut self, clauses: Vec<Vec<Decision>>, all: &BigUint) -> Option<BigUint> {
        let mut left = BigUint::ZERO;
        let mut work = vec![Case {
            clauses,
            oracles: all.clone(),
        }];
        while let Some(Case { clauses, oracles }) = work.pop() {
            if clauses.iter().any(Vec::is_empty) {
                continue;
            }
            // The shortest clause closes a case soonest.
            let Some(shortest) = clauses.iter().min_by_key(|clause| clause.len()) else {
                left += oracles;
                continue;
            };
            let node = shortest[0].point;
            let count = *self.sides.get(&node)?;
            let oracles = oracles / count;
            let mut mentioned: Vec<u32> = clauses
                .iter()
                .flatten()
                .filter(|decision| decision.point == node)
                .map(|decision| decision.side)
                .collect();
            mentioned.sort_unstable();
            mentioned.dedup();
            self.steps = self
                .steps
                .checked_sub(clauses.len() * (mentioned.len() + 1))?;
            for &side in &mentioned {
                let clauses = restricted(&clauses, node, Some(side));
                work.push(Case {
                    clauses,
                    oracles: oracles.clone(),
                });
            }
            let others = count.saturating_sub(mentioned.len());
            if others > 0 {
                work.push(Case {
                    clauses: restricted(&clauses, node, None),
                    oracles: oracles * others,
                });
            }
        }
        Some(left)
    }
}

/// What the clauses say once a side is taken; `None` is a side that none of them speaks of.
fn restricted(clauses: &[Vec<Decision>], node: PointId, side: Option<u32>) -> Vec<Vec<Decision>> {
    let agrees = |clause: &&Vec<Decision>| {
        let mut decisions = clause.iter();
        decisions.all(|decision| decision.point != node || Some(decision.side) == side)
    };
    let rest = |clause: &Vec<Decision>| {
        let decisions = clause.iter().copied();
        decisions
            .filter(|decision| decision.point != node)
            .collect()
    };
    clauses.iter().filter(agrees).map(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a count over three nodes with 2, 2 and 3 sides, that is 12 oracles.
    fn check(clauses: &[&[(u32, u32)]], expected: u32) {
        let sides = BTreeMap::from([(PointId(0), 2), (PointId(1), 2), (PointId(2), 3)]);
        let clauses: Vec<Vec<Decision>> = clauses
            .iter()
            .map(|clause| {
                let decision = |&(node, side)| Decision {
                    point: PointId(node),
                    side,
                };
                clause.iter().map(decision).collect()
            })
            .collect();
        let clauses: Vec<&[Decision]> = clauses.iter().map(Vec::as_slice).collect();
        assert_eq!(
            excluded(&clauses, &sides, 1000),
            Some(BigUint::from(expected))
        );
    }

    #[test]
    fn every_oracle_counts_once() {
        check(&[], 0);
        check(&[&[]], 12);
        check(&[&[(0, 0)]], 6);
        check(&[&[(2, 1)]], 4);
        check(&[&[(0, 0)], &[(1, 1)]], 9);
        check(&[&[(0, 0), (1, 1)], &[(1, 1), (2, 0)]], 4);
        check(&[&[(0, 0)], &[(0, 1)]], 12);
        check(&[&[(2, 0)], &[(2, 1)], &[(2, 2), (0, 1)]], 10);
    }

    #[test]
    fn what_takes_too_long_is_not_known() {
        let sides = BTreeMap::from([(PointId(0), 2)]);
        let decision = Decision {
            point: PointId(0),
            side: 0,
        };
        assert_eq!(excluded(&[&[decision]], &sides, 1), None);
    }
}
