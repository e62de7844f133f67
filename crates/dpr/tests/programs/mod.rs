//! Random small programs, and running them on all their inputs.

pub mod generate;

pub use generate::program;

use hardbop_cfront::ids::TypeId;
use hardbop_cfront::interp::{Environment, Interpreter, Limits, Outcome, Request, Run, TraceMode};
use hardbop_cfront::load::{LoadedProgram, load_text};
use hardbop_cfront::program::Program;

/// The number of values of an input: programs look at its last two bits only.
pub const VALUES: u8 = 4;

/// The program of a text.
pub fn loaded(text: &str) -> LoadedProgram {
    load_text("test.c", text).expect(text)
}

/// Counts through all inputs: each is asked for as a number below [`VALUES`].
#[derive(Default)]
struct Odometer {
    digits: Vec<u8>,
    at: usize,
}

impl Odometer {
    /// The next inputs after those that the last run asked for.
    fn advance(&mut self) -> bool {
        self.digits.truncate(self.at);
        self.at = 0;
        while let Some(last) = self.digits.last_mut() {
            if *last + 1 < VALUES {
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

/// Whether all inputs were tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inputs {
    /// They were.
    All,
    /// There are too many.
    Some,
}

/// Runs a program on all its inputs.
pub fn run_all(program: &Program, trace: TraceMode, each: &mut dyn FnMut(Run)) -> Inputs {
    let interpreter = Interpreter::new(program);
    let limits = Limits {
        steps: 100_000,
        trace,
        ..Limits::default()
    };
    let mut odometer = Odometer::default();
    for _ in 0..40_000 {
        let run = interpreter.run(&mut odometer, &limits);
        match run.outcome {
            Outcome::Violated(_) | Outcome::Returned(_) | Outcome::Halted(_) => {}
            ref other => panic!("a generated program must be defined: {other:?}"),
        }
        each(run);
        if !odometer.advance() {
            return Inputs::All;
        }
    }
    Inputs::Some
}
