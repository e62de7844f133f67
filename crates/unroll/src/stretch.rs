//! Violations behind large numbers, by a program with smaller ones: choices that violate a check of
//! the small program are made again in the large one, stretched.
//!
//! In comes a program; out come the scripts of runs that violate its checks. The numbers of its text
//! above a few dozen are drawn together, in their order and with neighbours next to each other, so
//! that loops of a hundred thousand rounds take ten. The small program is run on choices by *place*:
//! every place that asks for an input gives the same answer all the time, or zeros and ones. The
//! answers are numbers of the text, so that the same choice means the corresponding number in the
//! large program. Only guessing depends on this: what is claimed is a run of the program itself.

use crate::hints::Hints;
use crate::runs::Runs;
use hardbop_cfront::ids::{EdgeId, TypeId};
use hardbop_cfront::interp::{Environment, Interpreter, Limits, Outcome, Request};
use hardbop_cfront::program::{ExprKind, Program};
use hardbop_engine::claim::{Given, Run, Script};
use hardbop_engine::{Claim, Desk, Ended, Figure, Reason, Task};
use std::collections::{BTreeMap, BTreeSet};

/// Smaller numbers stay as they are.
const SMALL: u128 = 48;
/// Numbers that are no farther apart than this stay so far apart.
const NEAR: u128 = 4;
/// How far apart others come to be.
const APART: u128 = 6;
/// The most steps of a run of the small program.
const STEPS: u64 = 20_000;
/// The most runs of the large one.
const STRETCHED: u32 = 12;

/// Runs the small program, and the large one where that violates something.
pub(crate) fn stretch(options: &Runs, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
    let program = task.model.program;
    let mut ended = Ended::open(task, &Reason::Length(options.steps as usize));
    let Some(small) = shrunk(program) else {
        return ended;
    };
    let (of_small, of_large) = (Hints::of(&small), Hints::of(program));
    let interpreters = (Interpreter::new(&small), Interpreter::new(program));
    let limits = |steps| Limits::of_many(steps, task.budget.clone());
    let (short, long) = (limits(STEPS), limits(options.steps));
    let mut stretched = 0;
    let mut tried = BTreeSet::new();
    let mut runs = 0;
    while runs < options.runs && stretched < STRETCHED {
        if let Err(stopped) = task.budget.check() {
            let reason = Reason::Stopped(stopped);
            for open in ended.open.values_mut() {
                *open = reason.clone();
            }
            ended.incomplete = Some(reason);
            break;
        }
        runs += 1;
        let mut choices = ByPlace::new(runs, &of_small);
        let run = interpreters.0.run(&mut choices, &short);
        let Outcome::Violated(check) = run.outcome else {
            continue;
        };
        // Other choices for what was asked for may do; the same ones will not.
        if !ended.open.contains_key(&check) || !tried.insert((check, choices.made())) {
            continue;
        }
        stretched += 1;
        let mut choices = ByPlace::new(runs, &of_large);
        let run = interpreters.1.run(&mut choices, &long);
        if let Outcome::Violated(check) = run.outcome
            && ended.open.contains_key(&check)
        {
            let given = Given::Script(Script::of(&run));
            let claim = Claim::Run(Run { check, given });
            if desk.submit(claim).refused().is_none() {
                ended.open.remove(&check);
            }
        }
        if ended.open.is_empty() {
            break;
        }
    }
    ended.statistics = vec![
        Figure::count("runs", runs),
        Figure::count("runs stretched", stretched.into()),
    ];
    ended
}

/// The program with its large numbers drawn together; `None` if it has none.
fn shrunk(program: &Program) -> Option<Program> {
    let mut large = BTreeSet::new();
    // Behind the numbers that stay: the order is the same.
    let mut next = APART;
    for expr in &program.exprs {
        match (large_number(program, expr.kind, expr.ty), expr.kind) {
            (Some(number), _) => {
                large.insert(number);
            }
            (None, ExprKind::Int(number)) if number < SMALL => next = next.max(number),
            _ => {}
        }
    }
    let mut map = BTreeMap::new();
    let mut before = None;
    for number in large {
        next += match before {
            Some(before) if number - before <= NEAR => number - before,
            _ => APART,
        };
        before = Some(number);
        map.insert(number, next.min(number));
    }
    if map.is_empty() {
        return None;
    }
    let mut small = program.clone();
    for at in 0..small.exprs.len() {
        let (kind, ty) = (small.exprs[at].kind, small.exprs[at].ty);
        if let Some(number) = large_number(program, kind, ty) {
            small.exprs[at].kind = ExprKind::Int(map[&number]);
        }
    }
    Some(small)
}

/// A number that is large, and not negative.
fn large_number(program: &Program, kind: ExprKind, ty: TypeId) -> Option<u128> {
    let ExprKind::Int(number) = kind else {
        return None;
    };
    let bits = program.types.bit_width(ty)?;
    (number >= SMALL && number < 1 << (bits.clamp(2, 64) - 1)).then_some(number)
}

/// How a place answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    /// Always with this number of those that it may answer with.
    Same(usize),
    /// With zeros and ones.
    Flags,
}

/// Answers by the place that asks; the same seed chooses the same.
struct ByPlace<'a> {
    hints: &'a Hints,
    state: u64,
    chosen: BTreeMap<Option<EdgeId>, Answer>,
}

impl<'a> ByPlace<'a> {
    fn new(seed: u64, hints: &'a Hints) -> ByPlace<'a> {
        ByPlace {
            hints,
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            chosen: BTreeMap::new(),
        }
    }

    /// What was chosen.
    fn made(&self) -> Vec<(Option<EdgeId>, Answer)> {
        self.chosen.iter().map(|(&at, &how)| (at, how)).collect()
    }

    /// xorshift64*: nothing depends on its quality.
    fn next(&mut self) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) as usize
    }

    fn answer(&mut self, request: &Request<'_>) -> u128 {
        let own = self.hints.at(request.program, request.edge);
        let numbers = [0, 1, u128::MAX]
            .into_iter()
            .chain(own.iter().copied())
            .chain(self.hints.all());
        let how = match self.chosen.get(&request.edge) {
            Some(&how) => how,
            None => {
                let chance = self.next();
                let how = match chance % 8 {
                    0 => Answer::Flags,
                    // What the input itself is compared with, more often than not.
                    1..=4 => Answer::Same(chance / 8 % (3 + own.len())),
                    _ => Answer::Same(chance / 8 % numbers.clone().count()),
                };
                self.chosen.insert(request.edge, how);
                how
            }
        };
        match how {
            Answer::Same(which) => numbers.clone().nth(which).unwrap_or(0),
            Answer::Flags => (self.next() % 2) as u128,
        }
    }
}

impl Environment for ByPlace<'_> {
    fn input(&mut self, request: Request<'_>, _: TypeId) -> Option<u128> {
        Some(self.answer(&request))
    }

    fn input_bytes(&mut self, _: Request<'_>, bytes: &mut [u8]) -> bool {
        bytes.fill(0);
        true
    }

    fn unknown(&mut self, request: Request<'_>, bytes: &mut [u8]) {
        let answer = self.answer(&request).to_le_bytes();
        for (byte, value) in bytes.iter_mut().zip(answer) {
            *byte = value;
        }
    }
}
