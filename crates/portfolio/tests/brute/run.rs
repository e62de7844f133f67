//! Runs a program on all its inputs.

use hardbop_cfront::ids::{CheckId, TypeId};
use hardbop_cfront::interp::{Environment, Interpreter, Limits, Outcome, Request};
use hardbop_cfront::program::Program;
use hardbop_cfront::types::{Type, Types};

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// The program returned, with this as its status.
    Returned(i32),
    /// It ended itself.
    Halted,
    /// It violated a check.
    Violated(CheckId),
}

/// How all runs end, in the order of their inputs.
pub type Endings = Vec<Ending>;

/// The most runs of a program.
const RUNS: usize = 5_000;

/// The most edges of a run, and of all runs.
const STEPS: u64 = 100_000;
const ALL_STEPS: u64 = 2_000_000;

/// Counts through all inputs.
struct Odometer<'a> {
    types: &'a Types,
    digits: Vec<(u128, u128)>,
    at: usize,
}

impl Odometer<'_> {
    /// The next inputs after those that the last run asked for.
    fn advance(&mut self) -> bool {
        self.digits.truncate(self.at);
        self.at = 0;
        while let Some((value, count)) = self.digits.last_mut() {
            if *value + 1 < *count {
                *value += 1;
                return true;
            }
            self.digits.pop();
        }
        false
    }
}

impl Environment for Odometer<'_> {
    fn input(&mut self, _: Request<'_>, ty: TypeId) -> Option<u128> {
        if self.at == self.digits.len() {
            let count = match self.types.get(ty) {
                // Programs look at the last two bits only.
                Type::Int { signed: false, .. } => 4,
                _ => 1 << self.types.bit_width(ty)?,
            };
            self.digits.push((0, count));
        }
        self.at += 1;
        Some(self.digits[self.at - 1].0)
    }

    fn input_bytes(&mut self, _: Request<'_>, _: &mut [u8]) -> bool {
        panic!("generated programs ask for numbers only")
    }

    // New variables ask for this; programs do not read them before they write them.
    fn unknown(&mut self, _: Request<'_>, _: &mut [u8]) {}

    fn unknown_is_zero(&self) -> bool {
        true
    }
}

/// How all runs end; none if there are too many, or too long ones.
pub fn endings(program: &Program) -> Option<Endings> {
    let interpreter = Interpreter::new(program);
    let limits = Limits {
        steps: STEPS,
        ..Limits::default()
    };
    let mut odometer = Odometer {
        types: &program.types,
        digits: Vec::new(),
        at: 0,
    };
    let mut found = Vec::new();
    let mut steps = 0;
    loop {
        let run = interpreter.run(&mut odometer, &limits);
        steps += run.steps;
        found.push(match run.outcome {
            Outcome::Returned(value) => Ending::Returned(value.map_or(0, |v| v.bits as u32 as i32)),
            Outcome::Halted(_) => Ending::Halted,
            Outcome::Violated(check) => Ending::Violated(check),
            Outcome::StepLimit => return None,
            other => panic!("a generated program must be defined: {other:?}"),
        });
        if !odometer.advance() {
            return Some(found);
        }
        if found.len() == RUNS || steps > ALL_STEPS {
            return None;
        }
    }
}
