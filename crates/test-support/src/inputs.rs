//! Loading C text, and running a program on all its inputs.

use hardbop_budget::Budget;
use hardbop_cfront::ids::{CheckId, TypeId};
use hardbop_cfront::interp::{Environment, Interpreter, Limits, Outcome, Request, Run, TraceMode};
use hardbop_cfront::load::{self, LoadedProgram, Options, load_text};
use hardbop_cfront::parse::{Input, InputKind, NoFiles, Preprocess};
use hardbop_cfront::points_to::PointsTo;
use hardbop_cfront::program::{CheckKind, Program};
use hardbop_cfront::types::{DataModel, Type, Types};

/// The program of a text that has no errors.
pub fn loaded(text: &str) -> LoadedProgram {
    load_text("test.c", text).expect(text)
}

/// The program of a text that has no errors, with checks that are asked for.
pub fn loaded_with(text: &str, model: DataModel, checks: &[CheckKind]) -> LoadedProgram {
    let input = Input {
        name: "test.c".to_owned(),
        bytes: text.as_bytes().to_vec(),
        kind: InputKind::Source,
        preprocess: Preprocess::default(),
    };
    let mut options = Options::new(model);
    options.lower.checks.extend(checks);
    let loaded = load::load(&[input], &options, &NoFiles, &Budget::unlimited());
    let loaded = loaded.expect("nothing stops it");
    loaded.program.expect(text)
}

/// The program of a text that has no errors, and its points-to classes.
pub fn load(text: &str) -> (Program, PointsTo) {
    let loaded = loaded(text);
    (loaded.program, loaded.points_to)
}

/// Which values an input can have.
#[derive(Clone, Copy, Debug)]
enum Domain<'a> {
    /// The numbers below a bound.
    Below(u128),
    /// All of a signed type; four of an unsigned one, of which programs see the last two bits.
    Tiny(&'a Types),
}

/// Goes through every sequence of inputs. What a run asks for decides how long the sequence is.
#[derive(Clone, Debug)]
pub struct AllInputs<'a> {
    domain: Domain<'a>,
    /// Each with the number of its values.
    values: Vec<(u128, u128)>,
    position: usize,
    /// Whether something was asked for that is not an input.
    pub unknown_asked: bool,
}

impl<'a> AllInputs<'a> {
    fn new(domain: Domain<'a>) -> AllInputs<'a> {
        AllInputs {
            domain,
            values: Vec::new(),
            position: 0,
            unknown_asked: false,
        }
    }

    /// Inputs from 0 to below a bound.
    pub fn below(bound: u128) -> AllInputs<'a> {
        AllInputs::new(Domain::Below(bound))
    }

    /// One-byte inputs.
    pub fn bytes() -> AllInputs<'a> {
        AllInputs::below(256)
    }

    /// The inputs of [`crate::generate::tiny`].
    pub fn tiny(types: &'a Types) -> AllInputs<'a> {
        AllInputs::new(Domain::Tiny(types))
    }

    /// Prepares the sequence after the one that the last run asked for. Says whether there is one.
    pub fn advance(&mut self) -> bool {
        self.values.truncate(self.position);
        self.position = 0;
        while let Some((value, count)) = self.values.last_mut() {
            if *value + 1 < *count {
                *value += 1;
                return true;
            }
            self.values.pop();
        }
        false
    }
}

impl Environment for AllInputs<'_> {
    fn input(&mut self, _: Request<'_>, ty: TypeId) -> Option<u128> {
        if self.position == self.values.len() {
            let count = match self.domain {
                Domain::Below(bound) => bound,
                Domain::Tiny(types) => match types.get(ty) {
                    Type::Int { signed: false, .. } => 4,
                    _ => 1 << types.bit_width(ty)?,
                },
            };
            self.values.push((0, count));
        }
        self.position += 1;
        Some(self.values[self.position - 1].0)
    }

    fn input_bytes(&mut self, _: Request<'_>, _: &mut [u8]) -> bool {
        self.unknown_asked = true;
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

/// Runs a program on all its inputs below a bound. It must be one whose runs are all defined.
pub fn run_all(
    program: &Program,
    bound: u128,
    trace: TraceMode,
    each: &mut dyn FnMut(Run),
) -> Inputs {
    let interpreter = Interpreter::new(program);
    let limits = Limits {
        steps: 100_000,
        trace,
        ..Limits::default()
    };
    let mut inputs = AllInputs::below(bound);
    for _ in 0..40_000 {
        let run = interpreter.run(&mut inputs, &limits);
        match run.outcome {
            Outcome::Violated(_) | Outcome::Returned(_) | Outcome::Halted(_) => {}
            ref other => panic!("a generated program must be defined: {other:?}"),
        }
        each(run);
        if !inputs.advance() {
            return Inputs::All;
        }
    }
    Inputs::Some
}

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

/// How all runs end; none if there are too many, or too long ones.
pub fn endings(program: &Program) -> Option<Endings> {
    let interpreter = Interpreter::new(program);
    let limits = Limits {
        steps: STEPS,
        ..Limits::default()
    };
    let mut inputs = AllInputs::tiny(&program.types);
    let mut found = Vec::new();
    let mut steps = 0;
    loop {
        let run = interpreter.run(&mut inputs, &limits);
        assert!(
            !inputs.unknown_asked,
            "generated programs ask for numbers only"
        );
        steps += run.steps;
        found.push(match run.outcome {
            Outcome::Returned(value) => Ending::Returned(value.map_or(0, |v| v.bits as u32 as i32)),
            Outcome::Halted(_) => Ending::Halted,
            Outcome::Violated(check) => Ending::Violated(check),
            Outcome::StepLimit => return None,
            other => panic!("a generated program must be defined: {other:?}"),
        });
        if !inputs.advance() {
            return Some(found);
        }
        if found.len() == RUNS || steps > ALL_STEPS {
            return None;
        }
    }
}
