//! A project on this machine: as many items at a time as there are cores, the heaviest first.

use super::table::{How, Row};
use super::{Outcome, Plan, write_costs};
use crate::console::Console;
use crate::item::{Bench, Done, Trust};
use crate::progress::Progress;
use crate::store::Hashes;
use hardbop_budget::Budget;
use hardbop_cluster::journal::Known;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const STOPPED: &str = "stopped before it was looked at";

/// Checks the items of a project.
pub fn run(plan: &Plan<'_>, budget: &Budget, console: &Console) -> Outcome {
    let unwanted = || budget.check().is_err();
    let bench = Bench {
        directory: &plan.project.directory,
        tool: &plan.tool,
        store: &plan.store,
        trust: plan.trust,
        unwanted: &unwanted,
    };
    let mut rows = stored(plan, &bench);
    let estimates = plan
        .costs
        .estimate(plan.asked.iter().map(|asked| asked.title.as_str()));
    let mut open: Vec<usize> = (0..plan.items.len())
        .filter(|index| !rows.contains_key(index))
        .collect();
    open.sort_by(|&a, &b| estimates[b].total_cmp(&estimates[a]).then(a.cmp(&b)));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = plan
        .project
        .config
        .jobs
        .unwrap_or(cores)
        .clamp(1, open.len().max(1));
    let unkept: Mutex<BTreeMap<String, usize>> = Mutex::default();
    let costs = Mutex::new(plan.costs.clone());
    let next = AtomicUsize::new(0);
    {
        let shared = Mutex::new(&mut rows);
        let progress = Mutex::new(Progress::new(console));
        let work = || {
            while let Some(&index) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                if unwanted() {
                    return;
                }
                let (item, asked) = (&plan.items[index], &plan.asked[index]);
                let Done {
                    brief,
                    known,
                    seconds,
                    unkept: why,
                } = bench.check(asked);
                let row = match &brief {
                    Some(brief) => Row::of(
                        item,
                        brief,
                        How {
                            known,
                            seconds,
                            engines: Vec::new(),
                        },
                    ),
                    None => Row::missing(item, STOPPED),
                };
                if let (Some(why), Ok(mut unkept)) = (why, unkept.lock()) {
                    *unkept.entry(why).or_default() += 1;
                }
                if let (Some(_), Known::Found, Ok(mut costs)) = (&brief, known, costs.lock()) {
                    costs.note(&asked.title, seconds);
                }
                if let Ok(mut rows) = shared.lock() {
                    rows.insert(index, row);
                    let bad = rows.values().filter(|row| row.is_violated()).count();
                    let (done, all) = (rows.len(), plan.items.len());
                    if let Ok(progress) = progress.lock() {
                        progress.say(format!("{done} of {all} checked, {bad} violated"));
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(work);
            }
        });
    }
    let costs = costs.into_inner().unwrap_or_default();
    if costs != plan.costs {
        write_costs(&plan.project.directory, &costs);
    }
    for (index, item) in plan.items.iter().enumerate() {
        rows.entry(index)
            .or_insert_with(|| Row::missing(item, STOPPED));
    }
    let unkept = unkept.into_inner().unwrap_or_default();
    let notes = unkept
        .iter()
        .map(|(why, count)| super::remote::unkept(*count, why));
    Outcome {
        rows: rows.into_values().collect(),
        notes: notes.collect(),
    }
}

/// What is in the store, if it is believed.
pub fn stored(plan: &Plan<'_>, bench: &Bench<'_>) -> BTreeMap<usize, Row> {
    let mut rows = BTreeMap::new();
    for (index, done) in known(plan, bench) {
        if let Some(brief) = &done.brief {
            let how = How {
                known: done.known,
                seconds: 0.0,
                engines: Vec::new(),
            };
            rows.insert(index, Row::of(&plan.items[index], brief, how));
        }
    }
    rows
}

/// The answers that are in the store, if it is believed: found by several at a time, since a store
/// may be far away.
pub fn known(plan: &Plan<'_>, bench: &Bench<'_>) -> BTreeMap<usize, Done> {
    if plan.trust == Trust::Rechecked {
        return BTreeMap::new();
    }
    let hashes = Hashes::new(&plan.project.directory);
    let next = AtomicUsize::new(0);
    let found: Mutex<BTreeMap<usize, Done>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..8.min(plan.asked.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(asked) = plan.asked.get(index) else {
                        return;
                    };
                    if let (Some(done), Ok(mut found)) =
                        (bench.stored(asked, &hashes), found.lock())
                    {
                        found.insert(index, done);
                    }
                }
            });
        }
    });
    found.into_inner().unwrap_or_default()
}
