//! A run on a cluster that nobody has: recorded costs, real latencies, any number of workers.
//!
//! As in a real run, the scheduler starts one process after the other; a process that is done with
//! its task takes the next one that nobody has, until its time is over and the scheduler starts
//! another in its place.

use crate::packing::{Packing, pack};
use crate::site::On;
use crate::{ItemId, packing::Pack};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a scheduler and its nodes take beside the work, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    /// From the command to the first task that runs.
    pub submit: f64,
    /// The scheduler starts no two tasks closer together than this.
    pub between: f64,
    /// From the start of a process to its first item.
    pub start: f64,
    /// Beside an item's own work.
    #[serde(default = "item")]
    pub item: f64,
}

/// What an item costs a node beside its own work: two lines of a journal, one of them synced.
fn item() -> f64 {
    0.01
}

impl Latencies {
    /// What was measured of a scheduler (`benches/cluster-latencies`); nothing for this machine.
    pub fn of(on: &On) -> Latencies {
        let (submit, between, start) = match on {
            On::Local => (0.0, 0.0, 0.0),
            On::Hq(_) => (0.3, 0.0036, 0.016),
            On::Slurm(_) => (0.73, 0.014, 1.0),
        };
        Latencies {
            submit,
            between,
            start,
            item: item(),
        }
    }
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
    let workers = packing.workers.max(1);
    let share = packs.iter().map(|pack| pack.seconds).sum::<f64>() / workers as f64;
    let longest = packs.first().map_or(0.0, |pack| pack.seconds);
    // What a site's usual factor makes of it.
    let time = 2.0 * longest.max(share.min(packing.most));
    // Workers by when they are free, and what the process there has done so far; the scheduler
    // starts the first on each.
    let (submit, between, start) = (latencies.submit, latencies.between, latencies.start);
    let first = |worker: usize| Reverse((nanos(submit + between * worker as f64 + start), 0));
    let mut free: BinaryHeap<Reverse<(u64, u64)>> = (0..workers).map(first).collect();
    let mut end = nanos(submit);
    for pack in &packs {
        let Some(Reverse((at, before))) = free.pop() else {
            break;
        };
        let (begin, before) = if before == 0 {
            (at, 0)
        } else if before + nanos(pack.seconds) > nanos(time) {
            (at + nanos(between + start), 0)
        } else {
            (at + nanos(latencies.item), before)
        };
        let work = nanos(work(pack, costs, latencies)).max(1);
        end = end.max(begin + work);
        free.push(Reverse((begin + work, before + work)));
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
        // A process every two seconds, each of which does an item a second from then on: after so
        // many seconds half of their square is done.
        assert!((18.0..30.0).contains(&run.wall), "{run:?}");
        // Nobody waits for the scheduler again once all are at work.
        let start = Latencies { start: 5.0, ..NONE };
        let run = simulate(&costs, &costs, &packing(10), &start);
        assert!((15.0..17.0).contains(&run.wall), "{run:?}");
    }

    /// The bar: 10,000 items on 100 workers, what they cost known within a factor of two.
    #[test]
    fn a_hundred_workers_are_busy() {
        let costs = resample(&[0.1, 0.2, 0.3, 0.6], 10_000, 5);
        let noise = resample(&[0.5, 0.7, 1.0, 1.4, 2.0], costs.len(), 6);
        let believed: Vec<f64> = costs.iter().zip(&noise).map(|(c, f)| c * f).collect();
        for on in [On::Hq(None), On::Slurm(None)] {
            let latencies = Latencies::of(&on);
            let packing = Packing {
                workers: 100,
                least: on.worth(),
                most: 600.0,
            };
            let run = simulate(&costs, &believed, &packing, &latencies);
            assert!(run.efficiency >= 0.8, "{on}: {run:?}, {packing:?}");
        }
    }

    #[test]
    fn a_seed_gives_the_same_costs() {
        assert_eq!(resample(&[1.0, 2.0], 50, 3), resample(&[1.0, 2.0], 50, 3));
        assert_eq!(resample(&[], 2, 3), [0.0, 0.0]);
    }
}
