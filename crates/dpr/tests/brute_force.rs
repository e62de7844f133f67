//! Random small programs: every verdict must be the one that running all inputs gives.
//!
//! `HARDBOP_BRUTE_FORCE=N` runs N programs instead of the usual few hundred, for no more than
//! `HARDBOP_SECONDS=T`; `HARDBOP_BRUTE_FORCE_SEED=S` starts at another seed;
//! `HARDBOP_BRUTE_FORCE_SHOW=1` prints the programs.
#![allow(clippy::print_stdout)]

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::interp::{Outcome as Ran, TraceMode};
use hardbop_cfront::program::Program;
use hardbop_dpr::{Dpr, Learning, Options, Order};
use hardbop_engine::Task;
use hardbop_gate::{Outcome, alone};
use hardbop_model::{Model, Prepared};
use hardbop_test_support::generate::branches::{VALUES, program};
use hardbop_test_support::inputs::{Inputs, loaded, run_all};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Every check that some input violates; `None` if there are too many inputs.
fn violated(program: &Program) -> Option<BTreeSet<CheckId>> {
    let mut found = BTreeSet::new();
    let all = run_all(program, VALUES, TraceMode::Off, &mut |run| {
        if let Ran::Violated(check) = run.outcome {
            found.insert(check);
        }
    });
    (all == Inputs::All).then_some(found)
}

fn check(seed: u64) -> bool {
    let text = program(seed);
    if std::env::var_os("HARDBOP_BRUTE_FORCE_SHOW").is_some() {
        println!("/* seed {seed} */\n{text}");
    }
    let loaded = loaded(&text);
    let Some(expected) = violated(&loaded.program) else {
        return false;
    };
    let checks: Vec<CheckId> = (0..loaded.program.checks.len() as u32)
        .map(CheckId)
        .collect();
    let prepared = Prepared::new(&loaded.program, &Budget::unlimited()).unwrap();
    let model = Model::new(&loaded.program, &prepared);
    // One program under two orders, and with all paths together, at once or after some runs: what
    // is learned differs, the verdicts must not.
    let first = match seed % 3 {
        0 => Order::Random(!seed),
        1 => Order::DepthFirst,
        _ => Order::Guided,
    };
    for (order, together_after) in [
        (first, None),
        (Order::Random(seed), None),
        (first, Some(0)),
        (first, Some(1 + seed % 3)),
    ] {
        let learning = if seed % 16 == 5 && together_after.is_none() && order == first {
            Learning::Off
        } else {
            Learning::On
        };
        let options = Options {
            order,
            learning,
            jobs: if seed % 8 == 3 { 2 } else { 1 },
            together_after,
            ..Options::default()
        };
        let task = Task {
            model: &model,
            checks: &checks,
            budget: &Budget::unlimited(),
        };
        let report = alone(&Dpr(options), &task, &mut |_| {});
        if together_after == Some(0) && seed % 8 != 3 {
            // These programs are small enough: a worker alone need not go on one by one.
            assert_eq!(report.count("explored"), 0, "seed {seed}\n{text}");
        }
        for (check, outcome) in &report.outcomes {
            let right = match outcome {
                Outcome::Proved(_) => !expected.contains(check),
                Outcome::Violated(_) => expected.contains(check),
                Outcome::Unknown(_) => false,
            };
            assert!(
                right,
                "seed {seed}, {order:?}, {together_after:?}, {check:?}: {outcome:?}, but {expected:?} are violated\n{text}"
            );
        }
        assert_eq!(report.outcomes.len(), checks.len());
    }
    true
}

#[test]
fn verdicts_are_those_of_running_everything() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let wanted = number("HARDBOP_BRUTE_FORCE").unwrap_or(200);
    let first = number("HARDBOP_BRUTE_FORCE_SEED").unwrap_or(1);
    let end = number("HARDBOP_SECONDS").map(|s| Instant::now() + Duration::from_secs(s));
    let (mut programs, mut compared) = (0, 0);
    for seed in first..first + wanted {
        if end.is_some_and(|end| Instant::now() > end) {
            break;
        }
        compared += u64::from(check(seed));
        programs += 1;
    }
    println!("{compared} of {programs} programs compared");
    assert!(
        compared * 2 > programs,
        "only {compared} of {programs} were small enough"
    );
}
