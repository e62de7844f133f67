//! Random small programs: every answer is compared to running the program on all its inputs.
//!
//! `HARDBOP_EXHAUSTIVE=N` sets how many programs are tried, `HARDBOP_SEED=S` where they start.

use hardbop_budget::Budget;
use hardbop_cegar::Slam;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::interp::{self, Interpreter, Limits};
use hardbop_engine::Task;
use hardbop_gate::{Outcome, alone};
use hardbop_model::{Model, Prepared};
use hardbop_test_support::generate::bytes::program;
use hardbop_test_support::inputs::{AllInputs, load};
use hardbop_test_support::setting;
use std::collections::BTreeSet;
use std::time::Duration;

#[test]
fn answers_agree_with_all_runs() {
    let first = setting("HARDBOP_SEED", 1);
    let count = setting("HARDBOP_EXHAUSTIVE", 12);
    let (mut proved, mut violated, mut unknown) = (0, 0, 0);
    for seed in first..first + count {
        let text = program(seed);
        let (program, points_to) = load(&text);
        let (violations, undefined) = run_all(&program);
        // A program with undefined behaviour has no meaning to agree with.
        if undefined {
            continue;
        }
        let checks: Vec<CheckId> = (0..program.checks.len())
            .map(|index| CheckId(index as u32))
            .collect();
        let budget = Budget::unlimited().with_time(Duration::from_secs(3));
        let prepared = Prepared::with_points_to(&program, points_to, &Budget::unlimited()).unwrap();
        let task = Task {
            model: &Model::new(&program, &prepared),
            checks: &checks,
            budget: &budget,
        };
        let report = alone(&Slam::default(), &task, &mut |_| {});
        for (id, outcome) in &report.outcomes {
            match outcome {
                Outcome::Proved(_) => {
                    assert!(
                        !violations.contains(id),
                        "seed {seed}: {id:?} is violated\n{text}"
                    );
                    proved += 1;
                }
                Outcome::Violated(_) => {
                    assert!(
                        violations.contains(id),
                        "seed {seed}: {id:?} never fails\n{text}"
                    );
                    violated += 1;
                }
                Outcome::Unknown(_) => unknown += 1,
            }
        }
    }
    assert!(
        proved > 0 && violated > 0,
        "{proved} proved, {violated} violated, {unknown} unknown: too few answers to mean anything"
    );
}

/// The checks that some input violates, and whether some input leads to undefined behaviour.
fn run_all(program: &hardbop_cfront::program::Program) -> (BTreeSet<CheckId>, bool) {
    let interpreter = Interpreter::new(program);
    let limits = Limits {
        steps: 100_000,
        ..Limits::default()
    };
    let mut violated = BTreeSet::new();
    let mut environment = AllInputs::bytes();
    loop {
        let run = interpreter.run(&mut environment, &limits);
        match run.outcome {
            interp::Outcome::Violated(id) => {
                violated.insert(id);
            }
            interp::Outcome::Returned(_) | interp::Outcome::Halted(_) => {}
            _ => return (violated, true),
        }
        if environment.unknown_asked {
            return (violated, true);
        }
        if !environment.advance() {
            return (violated, false);
        }
    }
}
