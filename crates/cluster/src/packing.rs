//! Items into tasks: the heaviest first and by themselves, small ones together.
//!
//! A scheduler hands tasks to whoever is free, which is within a third of the best there is if the
//! heaviest come first (Graham 1969). Small items are put together so that a task is worth its
//! start; the later a task, the smaller it is (guided self-scheduling, Polychronopoulos and Kuck
//! 1987), so that all workers end at about the same time even where estimates are wrong.

use crate::ItemId;

/// How items are put together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packing {
    /// How many tasks may run at a time.
    pub workers: usize,
    /// What a task is to be worth at least, in seconds.
    pub least: f64,
    /// What a task of several items may be worth at most, in seconds.
    pub most: f64,
}

/// Items that one task does, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Pack {
    /// The items.
    pub items: Vec<ItemId>,
    /// What they may cost together, in seconds.
    pub seconds: f64,
}

/// Packs items with what they may cost. Every item is in exactly one pack, no pack is empty, and
/// they are ordered by what they cost, the heaviest first.
pub fn pack(items: &[(ItemId, f64)], packing: &Packing) -> Vec<Pack> {
    let mut sorted: Vec<(ItemId, f64)> = items
        .iter()
        .map(|&(item, cost)| (item, if cost.is_finite() { cost.max(0.0) } else { 0.0 }))
        .collect();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut left: f64 = sorted.iter().map(|(_, cost)| cost).sum();
    let workers = packing.workers.max(1) as f64;
    let mut packs: Vec<Pack> = Vec::new();
    let mut rest = sorted.into_iter().peekable();
    while let Some((item, seconds)) = rest.next() {
        let mut pack = Pack {
            items: vec![item],
            seconds,
        };
        let worth = (left / (2.0 * workers))
            .min(packing.most)
            .max(packing.least);
        while let Some(&(item, cost)) = rest.peek() {
            if pack.seconds + cost > worth {
                break;
            }
            pack.items.push(item);
            pack.seconds += cost;
            rest.next();
        }
        left -= pack.seconds;
        packs.push(pack);
    }
    packs.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    packs
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::collections::BTreeSet;

    fn check(costs: &[f64], packing: Packing, expected: Expect) {
        let items: Vec<(ItemId, f64)> = (0..).map(ItemId).zip(costs.iter().copied()).collect();
        let packs = pack(&items, &packing);
        let seen: Vec<ItemId> = packs.iter().flat_map(|pack| pack.items.clone()).collect();
        let set: BTreeSet<ItemId> = seen.iter().copied().collect();
        assert_eq!(seen.len(), costs.len(), "none twice");
        assert_eq!(set.len(), costs.len(), "none left out");
        let shown: Vec<String> = packs
            .iter()
            .map(|pack| format!("{} for {:.1} s", pack.items.len(), pack.seconds))
            .collect();
        expected.assert_eq(&shown.join("\n"));
    }

    #[test]
    fn heavy_items_are_alone_and_first() {
        check(
            &[0.1, 60.0, 0.1, 5.0, 0.1],
            Packing {
                workers: 2,
                least: 1.0,
                most: 30.0,
            },
            expect![[r#"
                1 for 60.0 s
                1 for 5.0 s
                3 for 0.3 s"#]],
        );
    }

    #[test]
    fn a_thousand_small_items_are_a_few_tasks_that_get_smaller() {
        check(
            &[0.1; 1000],
            Packing {
                workers: 2,
                least: 5.0,
                most: 60.0,
            },
            expect![[r#"
                249 for 24.9 s
                187 for 18.7 s
                140 for 14.0 s
                105 for 10.5 s
                79 for 7.9 s
                59 for 5.9 s
                50 for 5.0 s
                50 for 5.0 s
                50 for 5.0 s
                31 for 3.1 s"#]],
        );
    }

    #[test]
    fn many_workers_get_many_tasks() {
        let items: Vec<(ItemId, f64)> = (0..10_000).map(|n| (ItemId(n), 1.0)).collect();
        let packing = Packing {
            workers: 1000,
            least: 5.0,
            most: 600.0,
        };
        assert_eq!(pack(&items, &packing).len(), 2000);
    }

    #[test]
    fn nothing_is_no_task_and_nonsense_costs_nothing() {
        check(
            &[],
            Packing {
                workers: 2,
                least: 1.0,
                most: 2.0,
            },
            expect![""],
        );
        check(
            &[f64::NAN, -1.0, f64::INFINITY],
            Packing {
                workers: 0,
                least: 1.0,
                most: 2.0,
            },
            expect!["3 for 0.0 s"],
        );
    }
}
