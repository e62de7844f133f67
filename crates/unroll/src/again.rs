//! Runs in which memory that was freed is used again at once.
//!
//! The logic and the interpreter put no object of the heap where an earlier one was. That is one
//! layout of those that C allows, and a program that compares the address of an object that is gone
//! with another one may do something else where `malloc` gives it the same place again, as most
//! libraries do. What is proved for the one layout is worth nothing where a run in the other one
//! violates it.

use crate::hints::Hints;
use crate::runs::{Guess, STYLES};
use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::interp::{Heap, Interpreter, Limits, Outcome};
use hardbop_cfront::program::{Op, Program};
use std::collections::BTreeSet;

/// The most runs, each style with and without hints some times.
const RUNS: u64 = 48;
/// The most steps of a run.
const STEPS: u64 = 20_000;

/// What some runs on guesses violate if memory that was freed is used again at once; nothing where
/// no memory is freed.
pub fn violated_in_memory_used_again(program: &Program, budget: &Budget) -> BTreeSet<CheckId> {
    let mut found = BTreeSet::new();
    let frees = |op: &Op| matches!(op, Op::Free { .. });
    if !program.edges.iter().any(|edge| frees(&edge.op)) {
        return found;
    }
    let hints = Hints::of(program);
    let interpreter = Interpreter::new(program);
    let limits = Limits {
        heap: Heap::Again,
        ..Limits::of_many(STEPS, budget.clone())
    };
    for run in 0..RUNS {
        if budget.check().is_err() {
            break;
        }
        let style = STYLES[(run as usize / 2) % STYLES.len()];
        let mut guess = Guess::new(style, run + 1);
        guess.hints = run.is_multiple_of(2).then_some(&hints);
        if let Outcome::Violated(check) = interpreter.run(&mut guess, &limits).outcome {
            found.insert(check);
        }
        // Without inputs every run is the same.
        if !guess.asked {
            break;
        }
    }
    found
}
