//! Runs that are given what is known of a violation, and guesses for the rest.
//!
//! A way to a violated check that was found in a slice says nothing of what the slice left out: which
//! device answers, which allocations fail. In come the choices that are known; out comes a script of
//! a run of the whole program that violates the check, if guesses find one.

use crate::hints::Hints;
use crate::runs::{Guess, STYLES, Style};
use hardbop_budget::Budget;
use hardbop_cfront::ids::{CheckId, EdgeId, TypeId, VarId};
use hardbop_cfront::interp::{
    Environment, Interpreter, Limits, OUTSIDE_OBJECT, Outcome, Request, outside,
};
use hardbop_cfront::program::Program;
use hardbop_engine::claim::Script;
use hardbop_semantics::FreshOrigin;
use hardbop_semantics::replay::{Choice, Chosen};

/// How much is guessed.
#[derive(Clone, Copy, Debug)]
pub struct Guided {
    /// The most runs.
    pub runs: u64,
    /// The most steps of a run.
    pub steps: u64,
}

impl Default for Guided {
    fn default() -> Guided {
        Guided {
            runs: 400,
            steps: 100_000,
        }
    }
}

impl Guided {
    /// A run with these choices that violates a check, if one is found.
    pub fn complete(
        &self,
        program: &Program,
        choices: &[Choice],
        check: CheckId,
        budget: &Budget,
    ) -> Option<Script> {
        let interpreter = Interpreter::new(program);
        let hints = Hints::of(program);
        let limits = Limits::of_many(self.steps, budget.clone());
        let known = outside_objects(program, choices);
        for run in 0..self.runs {
            budget.check().ok()?;
            let style = STYLES[(run as usize / 4) % STYLES.len()];
            let mut guess = Steady {
                guess: Guess::new(style, run + 1).beside(known),
                seed: (run % 4 >= 2).then_some(run),
            };
            guess.guess.hints = run.is_multiple_of(2).then_some(&hints);
            let mut environment = Chosen::or(program, choices, &mut guess);
            let seen = interpreter.run(&mut environment, &limits);
            if seen.outcome == Outcome::Violated(check) {
                return Some(Script::of(&seen));
            }
            if !guess.guess.asked && style != Style::Zero {
                // There is nothing to guess.
                return None;
            }
        }
        None
    }
}

/// The first addresses of the outside that the choices say nothing of, as a number of objects.
fn outside_objects(program: &Program, choices: &[Choice]) -> u64 {
    let start = outside(program.types.model()).start;
    let objects = choices.iter().filter_map(|choice| match choice.origin {
        FreshOrigin::Outside(address) => Some(address.saturating_sub(start) / OUTSIDE_OBJECT + 1),
        _ => None,
    });
    objects.max().unwrap_or(0)
}

/// Guesses, of which those for one edge may all be the same: a device that answers in one way goes
/// on doing so.
struct Steady<'a> {
    guess: Guess<'a>,
    seed: Option<u64>,
}

impl Steady<'_> {
    fn turn_to(&mut self, edge: Option<EdgeId>) {
        if let Some(seed) = self.seed {
            let edge = edge.map_or(0, |edge| u64::from(edge.0) + 1);
            self.guess
                .reseed(seed.wrapping_mul(0x1_0001).wrapping_add(edge * 7919));
        }
    }
}

impl Environment for Steady<'_> {
    fn input(&mut self, request: Request<'_>, ty: TypeId) -> Option<u128> {
        self.turn_to(request.edge);
        self.guess.input(request, ty)
    }

    fn input_bytes(&mut self, request: Request<'_>, bytes: &mut [u8]) -> bool {
        self.turn_to(request.edge);
        self.guess.input_bytes(request, bytes)
    }

    fn unknown(&mut self, request: Request<'_>, bytes: &mut [u8]) {
        self.turn_to(request.edge);
        self.guess.unknown(request, bytes);
    }

    fn unknown_variable(&mut self, request: Request<'_>, variable: VarId, bytes: &mut [u8]) {
        self.turn_to(Some(EdgeId(variable.0)));
        self.guess.unknown(request, bytes);
    }
}
