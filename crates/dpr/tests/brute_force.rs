//! Random small programs: every verdict must be the one that running all inputs gives.
//!
//! `HARDBOP_BRUTE_FORCE=N` runs N programs instead of the usual few hundred;
//! `HARDBOP_BRUTE_FORCE_SEED=S` starts at another seed; `HARDBOP_BRUTE_FORCE_SHOW=1` prints the
//! programs.
#![allow(clippy::print_stdout)]

mod programs;

use hardbop_budget::Budget;
use hardbop_cfront::ids::{CheckId, TypeId};
use hardbop_cfront::interp::{Environment, Interpreter, Limits, Outcome as Ran, Request};
use hardbop_cfront::load::{self, LoadedProgram, load};
use hardbop_cfront::parse::{Input, InputKind, NoFiles};
use hardbop_cfront::program::Program;
use hardbop_cfront::types::DataModel;
use hardbop_dpr::{Learning, Options, Order};
use hardbop_engine::{Outcome, Task};
use std::collections::BTreeSet;

fn loaded(text: &str) -> LoadedProgram {
    let input = Input {
        kind: InputKind::of("test.c"),
        name: "test.c".to_owned(),
        bytes: text.as_bytes().to_vec(),
        preprocess: Default::default(),
    };
    let loaded = load(&[input], &load::Options::new(DataModel::Lp64), &NoFiles);
    match loaded.program {
        Some(program) => program,
        None => panic!("{text}\n{:?}", loaded.diagnostics),
    }
}

/// Counts through all inputs: each is asked for as a number below [`programs::VALUES`].
#[derive(Default)]
struct Odometer {
    digits: Vec<u8>,
    at: usize,
}

impl Odometer {
    /// The next inputs, of which the last run consumed `used`.
    fn advance(&mut self) -> bool {
        self.digits.truncate(self.at);
        self.at = 0;
        while let Some(last) = self.digits.last_mut() {
            if *last + 1 < programs::VALUES {
                *last += 1;
                return true;
            }
            self.digits.pop();
        }
        false
    }
}

impl Environment for Odometer {
    fn input(&mut self, _: Request<'_>, _: TypeId) -> Option<u128> {
        if self.at == self.digits.len() {
            self.digits.push(0);
        }
        self.at += 1;
        Some(u128::from(self.digits[self.at - 1]))
    }

    fn input_bytes(&mut self, _: Request<'_>, _: &mut [u8]) -> bool {
        true
    }

    fn unknown(&mut self, _: Request<'_>, _: &mut [u8]) {}

    fn unknown_is_zero(&self) -> bool {
        true
    }
}

/// Every check that some input violates; `None` if there are too many inputs.
fn violated(program: &Program, text: &str) -> Option<BTreeSet<CheckId>> {
    let interpreter = Interpreter::new(program);
    let limits = Limits {
        steps: 100_000,
        ..Limits::default()
    };
    let mut found = BTreeSet::new();
    let mut odometer = Odometer::default();
    for _ in 0..40_000 {
        let run = interpreter.run(&mut odometer, &limits);
        match run.outcome {
            Ran::Violated(check) => {
                found.insert(check);
            }
            Ran::Returned(_) | Ran::Halted(_) => {}
            other => panic!("a generated program must be defined: {other:?}\n{text}"),
        }
        if !odometer.advance() {
            return Some(found);
        }
    }
    None
}

fn check(seed: u64) -> bool {
    let text = programs::program(seed);
    if std::env::var_os("HARDBOP_BRUTE_FORCE_SHOW").is_some() {
        println!("/* seed {seed} */\n{text}");
    }
    let loaded = loaded(&text);
    let Some(expected) = violated(&loaded.program, &text) else {
        return false;
    };
    let checks: Vec<CheckId> = (0..loaded.program.checks.len() as u32)
        .map(CheckId)
        .collect();
    // One program under two orders: what is learned differs, the verdicts must not.
    let first = match seed % 3 {
        0 => Order::Random(!seed),
        1 => Order::DepthFirst,
        _ => Order::Guided,
    };
    for order in [first, Order::Random(seed)] {
        let learning = if seed % 16 == 5 && order == first {
            Learning::Off
        } else {
            Learning::On
        };
        let options = Options {
            order,
            learning,
            jobs: if seed % 8 == 3 { 2 } else { 1 },
            ..Options::default()
        };
        let task = Task {
            program: &loaded.program,
            points_to: &loaded.points_to,
            checks: &checks,
            budget: &Budget::unlimited(),
        };
        let report = hardbop_dpr::check(&task, &options, &mut |_| {});
        for (check, outcome) in &report.outcomes {
            let right = match outcome {
                Outcome::Proved => !expected.contains(check),
                Outcome::Violated(_) => expected.contains(check),
                Outcome::Unknown(_) => false,
            };
            assert!(
                right,
                "seed {seed}, {order:?}, {check:?}: {outcome:?}, but {expected:?} are violated\n{text}"
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
    let compared = (first..first + wanted).filter(|&seed| check(seed)).count();
    assert!(
        compared as u64 * 2 > wanted,
        "only {compared} of {wanted} were small enough"
    );
}
