//! Runs of the program in the interpreter, on inputs that are guessed.

use crate::explore::explore;
use crate::hints::Hints;
use crate::stretch::stretch;
use hardbop_cfront::ids::{CheckId, TypeId};
use hardbop_cfront::interp::{
    self, Environment, Interpreter, Limits, OUTSIDE_OBJECT, Request, Wanted, outside,
};
use hardbop_cfront::program::Program;
use hardbop_cfront::types::{DataModel, FloatKind, Type};
use hardbop_engine::claim::{Given, OnlyRun, Run, Script};
use hardbop_engine::{Claim, Desk, Ended, Engine, Event, Figure, Reason, Scope, Task};

/// Runs the program: once to its end if nothing is left open, else some times on guesses.
#[derive(Clone, Debug)]
pub struct Runs {
    /// The most runs on guessed inputs.
    pub runs: u64,
    /// The most steps of such a run.
    pub steps: u64,
    /// The most steps of the only run of a program that leaves nothing open.
    pub only_run: u64,
    /// Where guesses come from.
    pub guesses: Guesses,
}

/// Where guesses come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guesses {
    /// From nothing: small numbers, ends of ranges, anything.
    Plain,
    /// Every other run also from the numbers that the program compares its inputs with.
    Hinted,
    /// From what earlier runs came to.
    Explored {
        /// The most that all runs together may do.
        most: Effort,
    },
    /// As a row: most values the same, or each one more or less than the one before. Long runs
    /// over large arrays come to an end with such, and every other one takes hints as well.
    Rows,
    /// From violations of the program with smaller numbers.
    Stretched,
}

/// How much is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// As much as the budget allows.
    Any,
    /// Of large programs, an amount that grows with them, after some runs on plain guesses; nothing
    /// of small ones.
    Large,
    /// Of small programs, an amount that grows with them; nothing of large ones.
    Small,
}

/// Programs with fewer edges are small.
const SMALL: usize = 300;

impl Effort {
    /// The most edges of all runs together.
    fn edges(self, program: &Program) -> u64 {
        let edges = program.edges.len();
        let sized = (300_000 + 2_000 * edges as u64).min(10_000_000);
        match self {
            Effort::Any => u64::MAX,
            Effort::Large if edges >= SMALL => sized,
            Effort::Small if edges < SMALL => sized,
            Effort::Large | Effort::Small => 0,
        }
    }
}

impl Default for Runs {
    fn default() -> Runs {
        Runs {
            runs: 20_000,
            steps: 300_000,
            only_run: u64::MAX,
            guesses: Guesses::Plain,
        }
    }
}

impl Engine for Runs {
    fn name(&self) -> &'static str {
        "run"
    }

    fn scope(&self) -> Scope {
        Scope::Both
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        desk.event(Event {
            doing: "running the program".into(),
            open: task.checks.len(),
            figures: Vec::new(),
        });
        if self.only_run > 0
            && let Some(ended) = self.only_run(task, desk)
        {
            return ended;
        }
        match self.guesses {
            Guesses::Explored { most } => self.explored(most, task, desk),
            Guesses::Stretched => stretch(self, task, desk),
            Guesses::Plain | Guesses::Hinted | Guesses::Rows => self.guess(task, desk),
        }
    }
}

impl Runs {
    /// Runs the program on inputs that go on from what earlier ones came to.
    fn explored(&self, most: Effort, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let edges = most.edges(task.model.program);
        if edges == 0 {
            return Ended::open(task, &Reason::Length(0));
        }
        if most != Effort::Large {
            return explore(self, edges, task, desk);
        }
        let plain = Runs {
            runs: 24,
            steps: 5_000,
            guesses: Guesses::Hinted,
            ..self.clone()
        };
        let ended = plain.guess(task, desk);
        let open: Vec<CheckId> = ended.open.keys().copied().collect();
        if open.is_empty() {
            return ended;
        }
        let task = Task {
            checks: &open,
            ..*task
        };
        explore(self, edges, &task, desk)
    }

    /// Claims that the program leaves nothing open, so that one run decides everything. `None` if
    /// it is not so.
    fn only_run(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Option<Ended> {
        let mut only = OnlyRun {
            checks: task.checks.to_vec(),
            steps: self.only_run,
        };
        let figures = vec![Figure::count("runs", 1)];
        let refused = match desk.submit(Claim::OnlyRun(only.clone())).refused() {
            None => None,
            Some(Reason::Replay(outcome)) => match *outcome {
                interp::Outcome::Violated(check) => {
                    let given = Given::Script(Script::default());
                    let violation = Claim::Run(Run { check, given });
                    if desk.submit(violation).refused().is_some() {
                        return None;
                    }
                    only.checks.retain(|&other| other != check);
                    desk.submit(Claim::OnlyRun(only)).refused()
                }
                // Whatever has no meaning here is left to engines that say more about it.
                _ => return None,
            },
            Some(Reason::Stopped(stopped)) => Some(Reason::Stopped(stopped)),
            Some(_) => return None,
        };
        Some(match refused {
            None => Ended {
                statistics: figures,
                ..Ended::default()
            },
            Some(reason) => Ended::open(task, &reason),
        })
    }

    /// Runs the program on guessed inputs.
    fn guess(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let program = task.model.program;
        let hints = match self.guesses {
            Guesses::Plain | Guesses::Explored { .. } | Guesses::Stretched => None,
            Guesses::Hinted | Guesses::Rows => Some(Hints::of(program)),
        };
        let styles = match self.guesses {
            Guesses::Rows => &ROWS[..],
            _ => &STYLES[..],
        };
        // Every style in turn, with and without hints.
        let guessed = |run: u64| match &hints {
            None => Guess::new(styles[(run as usize) % styles.len()], run + 1),
            Some(hints) => Guess {
                hints: run.is_multiple_of(2).then_some(hints),
                ..Guess::new(styles[(run as usize / 2) % styles.len()], run + 1)
            },
        };
        let interpreter = Interpreter::new(program);
        let limits = Limits::of_many(self.steps, task.budget.clone());
        let mut ended = Ended::open(task, &Reason::Length(self.steps as usize));
        let mut runs = 0;
        while runs < self.runs {
            if let Err(stopped) = task.budget.check() {
                let statistics = vec![Figure::count("runs", runs)];
                let reason = Reason::Stopped(stopped);
                for open in ended.open.values_mut() {
                    *open = reason.clone();
                }
                return Ended {
                    incomplete: Some(reason),
                    statistics,
                    ..ended
                };
            }
            if ended.open.is_empty() && !task.checks.is_empty() {
                break;
            }
            let mut guess = guessed(runs);
            runs += 1;
            let run = interpreter.run(&mut guess, &limits);
            let interp::Outcome::Violated(check) = run.outcome else {
                // Without inputs every run is the same.
                if !guess.asked && runs as usize > styles.len() {
                    break;
                }
                continue;
            };
            if !ended.open.contains_key(&check) {
                continue;
            }
            let given = Given::Script(Script::of(&run));
            let claim = Claim::Run(Run { check, given });
            if desk.submit(claim).refused().is_none() {
                ended.open.remove(&check);
            }
        }
        ended.statistics = vec![Figure::count("runs", runs)];
        ended
    }
}

/// What guessed values look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// All zero.
    Zero,
    /// All one.
    One,
    /// Zero or one.
    Flag,
    /// A few units around zero.
    Small,
    /// Up to a few hundred.
    Medium,
    /// Small ones, ends of ranges and anything, mixed.
    Mixed,
    /// A one, then zeros.
    First,
    /// Each one more than the one before.
    Rising,
    /// Each one less.
    Falling,
    /// Zero, with another small number here and there.
    Sparse,
}

/// Pointers from outside lead so far into their objects: what they lead to may be a part of
/// something, which begins before it (`container_of`).
const WITHIN: u64 = OUTSIDE_OBJECT / 8;

const ROWS: [Style; 4] = [Style::First, Style::Falling, Style::Rising, Style::Sparse];

pub(crate) const STYLES: [Style; 6] = [
    Style::Zero,
    Style::One,
    Style::Flag,
    Style::Small,
    Style::Medium,
    Style::Mixed,
];

/// Answers by guessing; the same style and seed guess the same.
pub(crate) struct Guess<'a> {
    style: Style,
    state: u64,
    pub(crate) hints: Option<&'a Hints>,
    /// The objects of the outside that pointers were made up to.
    pub(crate) objects: u64,
    /// Whether an input or the contents of memory were asked for.
    pub(crate) asked: bool,
    /// How many numbers were made up.
    made: u64,
}

impl Guess<'_> {
    pub(crate) fn new(style: Style, seed: u64) -> Self {
        let mut guess = Guess {
            style,
            hints: None,
            objects: 0,
            state: 1,
            asked: false,
            made: 0,
        };
        guess.reseed(seed);
        guess
    }

    /// From now on guesses as with this seed.
    pub(crate) fn reseed(&mut self, seed: u64) {
        self.state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    }

    /// Makes up other objects than the first ones of the outside.
    pub(crate) fn beside(mut self, objects: u64) -> Self {
        self.objects = objects;
        self
    }

    /// xorshift64*: nothing depends on its quality.
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn value(&mut self, bits: u32) -> u128 {
        self.made += 1;
        let chance = self.next() >> 8;
        let signed = |value: i64| value as i128 as u128;
        match self.style {
            Style::Zero => 0,
            Style::One => 1,
            Style::Flag => u128::from(chance & 1),
            Style::Small => signed((chance % 13) as i64 - 3),
            Style::Medium => u128::from(chance % 400),
            Style::Mixed => match chance % 6 {
                0 | 1 => u128::from((chance >> 4) % 3),
                2 => signed(((chance >> 4) % 40) as i64 - 20),
                3 => 1u128 << (bits.clamp(1, 64) - 1),
                4 => (1u128 << (bits.clamp(1, 64) - 1)) - 1,
                _ => u128::from(self.next()),
            },
            Style::First => u128::from(self.made <= 1),
            Style::Rising => u128::from(self.made),
            Style::Falling => signed((self.made as i64).wrapping_neg()),
            Style::Sparse => match chance % 64 {
                0 => signed((chance >> 8) as i64 % 9 - 4),
                _ => 0,
            },
        }
    }

    /// Null, or a pointer to an object of the outside that nothing else points to.
    pub(crate) fn pointer(&mut self, model: DataModel) -> u64 {
        let chance = self.next() >> 8;
        let null = match self.style {
            Style::Zero => true,
            Style::One => false,
            Style::Flag | Style::Mixed => chance.is_multiple_of(2),
            Style::First | Style::Rising | Style::Falling | Style::Sparse => {
                chance.is_multiple_of(4)
            }
            Style::Small | Style::Medium => chance.is_multiple_of(8),
        };
        let room = outside(model);
        let address = room.start + self.objects * OUTSIDE_OBJECT;
        if null || address + OUTSIDE_OBJECT > room.end {
            return 0;
        }
        self.objects += 1;
        address + WITHIN
    }

    /// A floating-point number in the same style: often a fraction.
    fn float(&mut self) -> f64 {
        self.made += 1;
        let chance = self.next() >> 8;
        let small = (chance % 41) as f64 - 20.0;
        let fraction = (chance >> 6) as f64 / (1u64 << 50) as f64;
        match self.style {
            Style::Zero => 0.0,
            Style::One => 1.0,
            Style::Flag => (chance & 1) as f64,
            Style::First => f64::from(u8::from(self.made <= 1)),
            Style::Rising => self.made as f64,
            Style::Falling => -(self.made as f64),
            Style::Sparse => small * f64::from(u8::from(chance.is_multiple_of(64))),
            Style::Small => [small / 10.0, small, fraction][(chance >> 8) as usize % 3],
            Style::Medium => small * 20.0 + fraction,
            Style::Mixed => match (chance >> 8) % 8 {
                0 => f64::NAN,
                1 => f64::INFINITY,
                2 => f64::NEG_INFINITY,
                3 => -0.0,
                4 => fraction,
                5 => -fraction,
                6 => f64::from(f32::from_bits(self.next() as u32)),
                _ => f64::from_bits(self.next()),
            },
        }
    }
}

impl Environment for Guess<'_> {
    fn input(&mut self, request: Request<'_>, ty: TypeId) -> Option<u128> {
        self.asked = true;
        let bits = request.program.types.bit_width(ty).unwrap_or(8);
        let hinted = self
            .hints
            .map(|hints| hints.at(request.program, request.edge));
        if let Some(numbers) = hinted.filter(|numbers| !numbers.is_empty()) {
            // Now and then something else, so that no hint is a must.
            let chance = (self.next() >> 8) as usize;
            if !chance.is_multiple_of(8) {
                return Some(numbers[chance / 8 % numbers.len()]);
            }
        }
        Some(match request.program.types.get(ty) {
            Type::Float(FloatKind::F32) => u128::from((self.float() as f32).to_bits()),
            Type::Float(FloatKind::F64) => u128::from(self.float().to_bits()),
            Type::Pointer(_) => u128::from(self.pointer(request.program.types.model())),
            _ => self.value(bits),
        })
    }

    fn input_bytes(&mut self, _: Request<'_>, bytes: &mut [u8]) -> bool {
        self.asked = true;
        for byte in bytes {
            *byte = self.value(8) as u8;
        }
        true
    }

    fn unknown(&mut self, request: Request<'_>, bytes: &mut [u8]) {
        if request.wanted == Wanted::Pointer {
            let pointer = self.pointer(request.program.types.model());
            for (byte, value) in bytes.iter_mut().zip(pointer.to_le_bytes()) {
                *byte = value;
            }
            return;
        }
        for chunk in bytes.chunks_mut(4) {
            let value = self.value(32) as u32;
            for (byte, part) in chunk.iter_mut().zip(value.to_le_bytes()) {
                *byte = part;
            }
        }
    }

    fn unknown_is_zero(&self) -> bool {
        self.style == Style::Zero
    }
}
