//! A run on a cluster that nobody has: recorded costs, real latencies, any number of workers.

use crate::packing::{Packing, pack};
use crate::{ItemId, packing::Pack};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a scheduler and its nodes take beside the work, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latencies {
    /// From the command to the first task that runs.
    pub submit: f64,
    /// The scheduler starts no two tasks closer together than this.
    pub between: f64,
    /// From the end of a task on a worker to the next one's first item.
    pub start: f64,
    /// Beside an item's own work.
    pub item: f64,
}

/// What became of a simulated run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulated {
    /// The tasks.
    pub tasks: usize,
    /// From the command to the last answer, in seconds.
    pub wall: f64,
    /// The work as part of what the workers could have done in that time.
    pub efficiency: f64,
}

/// Runs items on workers: what they really cost, and what they were thought to.
pub fn simulate(
    costs: &[f64],
    estimates: &[f64],
    packing: &Packing,
    latencies: &Latencies,
) -> Simulated {
    let items: Vec<(ItemId, f64)> = (0..).map(ItemId).zip(estimates.iter().copied()).collect();
    let packs = pack(&items, packing);
    let nanos = |seconds: f64| (seconds * 1e9) as u64;
    let start = nanos(latencies.submit);
    let mut free: BinaryHeap<Reverse<u64>> = (0..packing.workers.max(1))
        .map(|_| Reverse(start))
        .collect();
    let mut last_start = start;
    let mut end = start;
    for pack in &packs {
        let Reverse(at) = free.pop().unwrap_or(Reverse(start));
        let begin = at.max(last_start + nanos(latencies.between));
        last_start = begin;
        let done = begin + nanos(latencies.start) + nanos(work(pack, costs, latencies));
        end = end.max(done);
        free.push(Reverse(done));
    }
    let wall = end as f64 / 1e9;
    let total: f64 = costs.iter().sum();
    Simulated {
        tasks: packs.len(),
        wall,
        efficiency: match wall > 0.0 {
            true => total / (wall * packing.workers.max(1) as f64),
            false => 1.0,
        },
    }
}

fn work(pack: &Pack, costs: &[f64], latencies: &Latencies) -> f64 {
    let cost = |item: &ItemId| costs.get(item.index()).copied().unwrap_or(0.0) + latencies.item;
    pack.items.iter().map(cost).sum()
}

/// So many costs like those that were recorded: drawn from them by a seed.
pub fn resample(recorded: &[f64], count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    };
    if recorded.is_empty() {
        return vec![0.0; count];
    }
    let length = recorded.len() as u64;
    let mut drawn = || recorded[(next() % length) as usize];
    (0..count).map(|_| drawn()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Latencies = Latencies {
        submit: 0.0,
        between: 0.0,
        start: 0.0,
        item: 0.0,
    };

    fn packing(workers: usize) -> Packing {
        Packing {
            workers,
            least: 1.0,
            most: 60.0,
        }
    }

    #[test]
    fn one_worker_does_all_the_work() {
        let costs = [1.0, 2.0, 3.0];
        let run = simulate(&costs, &costs, &packing(1), &NONE);
        assert!((run.wall - 6.0).abs() < 1e-6);
        assert!((run.efficiency - 1.0).abs() < 1e-6);
    }

    #[test]
    fn nobody_is_faster_than_the_heaviest_item_or_the_work_by_the_workers() {
        let costs = resample(&[0.1, 0.3, 2.0, 40.0], 1000, 7);
        let total: f64 = costs.iter().sum();
        let mut before = f64::INFINITY;
        for workers in [1, 3, 10, 100, 1000] {
            let run = simulate(&costs, &costs, &packing(workers), &NONE);
            assert!(run.wall >= total / workers as f64 - 1e-6);
            assert!(run.wall >= 40.0 - 1e-6);
            // Graham's bound for any list: twice the best.
            assert!(run.wall <= total / workers as f64 + 60.0 + 1e-6);
            assert!(run.wall <= before + 60.0);
            before = run.wall;
        }
    }

    #[test]
    fn a_slow_scheduler_costs_what_it_takes() {
        let costs = vec![1.0; 100];
        let slow = Latencies {
            between: 2.0,
            ..NONE
        };
        let run = simulate(&costs, &costs, &packing(100), &slow);
        assert!(run.wall >= 2.0 * (run.tasks as f64 - 1.0));
    }

    #[test]
    fn a_seed_gives_the_same_costs() {
        assert_eq!(resample(&[1.0, 2.0], 50, 3), resample(&[1.0, 2.0], 50, 3));
        assert_eq!(resample(&[], 2, 3), [0.0, 0.0]);
    }
}
