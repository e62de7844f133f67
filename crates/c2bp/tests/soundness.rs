//! Every run of a C program is a run of its boolean program, with the truth values of the
//! predicates as the values of the variables; and what more effort buys.
//!
//! `HARDBOP_CASES=5000 cargo test --release` follows that many programs.

mod common;
#[path = "common/simulate.rs"]
mod simulate;

use common::{analysed, loaded, reachable};
use hardbop_boolean_program::Random;
use hardbop_budget::Budget;
use hardbop_c2bp::{Arithmetic, CubeBound, NoEvents, Options, abstract_program};
use hardbop_cfront::interp::{Exhausted, InputValue, Script};
use hardbop_test_support::generate::pointers::case;
use hardbop_test_support::setting;

fn cases(usual: u64) -> u64 {
    setting("HARDBOP_CASES", usual)
}

fn first_seed() -> u64 {
    setting("HARDBOP_SEED", 1)
}

fn labels(text: &str) -> Vec<String> {
    let generated = |name: &String| {
        name.strip_prefix('L')
            .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
    };
    reachable(text)
        .into_iter()
        .filter(|name| !generated(name))
        .collect()
}

#[test]
fn every_run_is_a_run_of_the_boolean_program() {
    let (mut steps, mut known, mut runs) = (0, 0, 0);
    let first = first_seed();
    for seed in first..first + cases(40) {
        let case = case(seed);
        let analysed = analysed(&case.program, &case.predicates);
        let bound = [1, 2, 3][seed as usize % 3];
        let options = Options {
            max_cube: CubeBound::Length(bound),
            ..Options::default()
        };
        let made = abstract_program(&analysed, &options, &Budget::unlimited(), &NoEvents)
            .expect("no limits");
        loaded(&made.text);
        let mut random = Random::new(seed);
        for _ in 0..3 {
            let inputs: Vec<InputValue> = (0..12)
                .map(|_| {
                    let value = match random.below(8) {
                        0 => i64::from(i32::MAX),
                        1 => i64::from(i32::MIN),
                        n => n as i64 - 4,
                    };
                    InputValue::Int(i128::from(value))
                })
                .collect();
            let script = Script::new(inputs).exhausted(Exhausted::Zero);
            match simulate::follow(&analysed, &made, script) {
                Ok((compared, truths, _)) => {
                    steps += compared;
                    known += truths;
                    runs += 1;
                }
                // Too many states to list: nothing is known of this program.
                Err(text) if text == simulate::TOO_LARGE => continue,
                Err(text) => panic!(
                    "seed {seed}: {text}\n{}\n{}\n{}",
                    case.program, case.predicates, made.text
                ),
            }
        }
    }
    assert!(
        steps > runs * 5 && known > 0,
        "{runs} runs, {steps} steps, {known} truth values"
    );
}

/// The meaning over mathematical integers is a guess, but always a boolean program.
#[test]
fn integers_give_boolean_programs() {
    for seed in 3000..3000 + cases(6) {
        let case = case(seed);
        let options = Options {
            arithmetic: Arithmetic::Integers,
            max_cube: CubeBound::Length(1),
            ..Options::default()
        };
        loaded(&common::abstracted(&case.program, &case.predicates, &options).text);
    }
}

/// Threads change nothing but the time.
#[test]
fn the_text_does_not_depend_on_threads() {
    for seed in 4000..4004 {
        let case = case(seed);
        let with = |threads: usize| {
            let options = Options {
                threads,
                ..Options::default()
            };
            common::abstracted(&case.program, &case.predicates, &options).text
        };
        assert_eq!(with(1), with(3), "seed {seed}");
    }
}

/// More predicates, fewer labels that can be reached.
#[test]
fn more_predicates_reach_no_more() {
    for seed in 1000..1000 + cases(6) {
        let case = case(seed);
        let all: Vec<&str> = case.predicates.lines().collect();
        let mut before: Option<Vec<String>> = None;
        for count in [0, all.len() / 2, all.len()] {
            let some: String = all[..count]
                .iter()
                .map(|line| format!("{line}\n"))
                .collect();
            let options = Options {
                max_cube: CubeBound::Exact,
                ..Options::default()
            };
            let text = common::abstracted(&case.program, &some, &options).text;
            let now = labels(&text);
            if let Some(before) = &before {
                let fewer = now.iter().all(|label| before.contains(label));
                assert!(
                    fewer,
                    "seed {seed}: {before:?} became {now:?}\n{}\n{some}",
                    case.program
                );
            }
            before = Some(now);
        }
    }
}

/// No bound on cubes is at least as precise as any bound.
#[test]
fn longer_cubes_reach_no_more() {
    for seed in 2000..2000 + cases(6) {
        let case = case(seed);
        let analysed = analysed(&case.program, &case.predicates);
        let with = |max_cube: CubeBound| {
            let options = Options {
                max_cube,
                ..Options::default()
            };
            let made = abstract_program(&analysed, &options, &Budget::unlimited(), &NoEvents);
            labels(&made.expect("no limits").text)
        };
        let exact = with(CubeBound::Exact);
        for bound in [1, 2, 3] {
            let bounded = with(CubeBound::Length(bound));
            assert!(
                exact.iter().all(|label| bounded.contains(label)),
                "seed {seed}, bound {bound}: {exact:?} but {bounded:?}\n{}\n{}",
                case.program,
                case.predicates
            );
        }
    }
}
