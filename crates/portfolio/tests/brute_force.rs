//! Random small programs: whatever an engine decides must be what running all inputs shows.
//!
//! `HARDBOP_CASES=N` compares N programs instead of the usual few; `HARDBOP_SEED=S` starts at
//! another seed.

#[path = "../../dpr/tests/programs/mod.rs"]
mod programs;

use hardbop_budget::Budget;
use hardbop_cegar::Cegar;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::inline::{self, inline};
use hardbop_cfront::interp::{Outcome as Ran, TraceMode};
use hardbop_cfront::program::Program;
use hardbop_cfront::verify::verify;
use hardbop_engine::{Event, Outcome, Task};
use hardbop_portfolio::{Found, Listener, Plan, Step, check, default_plan};
use hardbop_unroll::{Runs, Unroll};
use std::time::Duration;

/// How every run ends, if there are not too many; inputs come in the same order for programs
/// that do the same.
fn endings(program: &Program) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let all = programs::run_all(program, TraceMode::Off, &mut |run| {
        found.push(match &run.outcome {
            Ran::Halted(_) => "halted".to_owned(),
            Ran::Trapped { kind, .. } => format!("{kind:?}"),
            outcome => format!("{outcome:?}"),
        });
    });
    (all == programs::Inputs::All).then_some(found)
}

/// Waits for everyone.
struct Patient;

impl Listener for Patient {
    fn event(&mut self, _: &'static str, _: Event) {}

    fn late(&mut self, _: &Found) {}
}

fn alone(engine: Step) -> Plan {
    Plan {
        first: vec![engine],
        lanes: Vec::new(),
        followers: Vec::new(),
    }
}

/// Compares every engine's answers; says how many programs' checks each decided.
fn compare(seed: u64, decided: &mut [u32; 4]) -> bool {
    let text = programs::program(seed);
    let loaded = programs::loaded(&text);
    let Some(expected) = endings(&loaded.program) else {
        return false;
    };
    let inlined = inline(&loaded.program, &inline::Limits::default());
    assert_eq!(
        verify(&inlined.program),
        Vec::<String>::new(),
        "seed {seed}\n{text}"
    );
    assert_eq!(
        endings(&inlined.program).as_ref(),
        Some(&expected),
        "seed {seed}: inlining changes what the program does\n{text}"
    );
    let checks: Vec<CheckId> = (0..loaded.program.checks.len() as u32)
        .map(CheckId)
        .collect();
    let plans = [
        alone(Box::new(Runs::default())),
        alone(Box::new(Unroll::default())),
        alone(Box::new(Cegar::default())),
        default_plan(Default::default()),
    ];
    for (plan, decided) in plans.iter().zip(decided) {
        let budget = Budget::unlimited().with_time(Duration::from_secs(3));
        let task = Task {
            program: &loaded.program,
            points_to: &loaded.points_to,
            checks: &checks,
            budget: &budget,
        };
        let found = check(plan, &task, &mut Patient);
        for (id, outcome) in &found.report.outcomes {
            let violated = expected.contains(&format!("{:?}", Ran::Violated(*id)));
            let right = match outcome {
                Outcome::Proved => !violated,
                Outcome::Violated(_) => violated,
                Outcome::Unknown(_) => true,
            };
            let engine = found.engines.get(id);
            assert!(
                right,
                "seed {seed}, {engine:?}, {id:?}: {outcome:?}\n{text}"
            );
            *decided += u32::from(outcome.is_decided());
        }
    }
    true
}

#[test]
fn verdicts_are_those_of_running_everything() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let wanted = number("HARDBOP_CASES").unwrap_or(24);
    let first = number("HARDBOP_SEED").unwrap_or(1);
    let mut decided = [0; 4];
    let seeds = first..first + wanted;
    let compared = seeds.filter(|&seed| compare(seed, &mut decided)).count();
    assert!(
        compared as u64 * 2 > wanted,
        "only {compared} were small enough"
    );
    let [_, unroll, _, all] = decided;
    assert!(
        unroll > 0 && all >= unroll,
        "decided by engine: {decided:?}"
    );
}
