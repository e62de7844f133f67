//! Runs on guesses, in which a state comes again.
//!
//! The states at the heads of loops are compared with one that is kept, and which one that is
//! changes at every power of two (R. P. Brent: *An improved Monte Carlo factorization algorithm*,
//! 1980). What the program is given is the same each time at the same place, or is so after a
//! while, so that what can come again does.

use hardbop_cfront::ids::{CheckId, EdgeId, TypeId};
use hardbop_cfront::interp::{
    Environment, Interpreter, Limits, Observer, Request, Snapshot, State,
};
use hardbop_cfront::program::{CheckKind, ExprKind, LocationKind, Origin, Program};
use hardbop_engine::claim::{Lasso, Script};
use hardbop_engine::{Claim, Desk, Ended, Engine, Event, Figure, Reason, Scope, Task};
use std::collections::BTreeSet;
use std::time::Duration;

/// Looks for executions that never end.
#[derive(Clone, Debug)]
pub struct Lassos {
    /// The most runs.
    pub runs: u64,
    /// The most steps of one.
    pub steps: u64,
    /// The most time.
    pub time: Duration,
}

impl Default for Lassos {
    fn default() -> Lassos {
        Lassos {
            runs: 400,
            steps: 100_000,
            time: Duration::from_secs(2),
        }
    }
}

impl Engine for Lassos {
    fn name(&self) -> &'static str {
        "lasso"
    }

    fn scope(&self) -> Scope {
        Scope::Ends
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let program = task.model.program;
        let about_ends = |id: &&CheckId| program.checks[id.index()].kind == CheckKind::Termination;
        let Some(&check) = task.checks.iter().find(about_ends) else {
            return Ended::open(task, &Reason::NoLasso);
        };
        desk.event(Event {
            doing: "running the program".into(),
            open: task.checks.len(),
            figures: Vec::new(),
        });
        let until = task.budget.elapsed() + self.time;
        let interpreter = Interpreter::new(program);
        let numbers = numbers(program);
        let mut ended = Ended::open(task, &Reason::NoLasso);
        let mut runs = 0;
        while runs < self.runs && task.budget.elapsed() < until {
            if let Err(stopped) = task.budget.check() {
                ended = Ended::open(task, &Reason::Stopped(stopped));
                break;
            }
            // Short runs first: most lassos are.
            let steps = match runs {
                0..40 => self.steps / 20,
                _ => self.steps,
            };
            let limits = |steps| Limits::of_many(steps, task.budget.clone());
            let mut guess = Guess::new(runs, &numbers);
            let mut watch = Watch::new(program);
            interpreter.run_observed(&mut guess, &limits(steps), &mut watch);
            let asked = guess.asked;
            if let Some((stem, cycle)) = watch.found {
                // Once more, for what it is given up to there.
                let mut guess = Guess::new(runs, &numbers);
                let run = interpreter.run(&mut guess, &limits(stem + cycle));
                let script = Script::of(&run);
                let claim = Claim::Lasso(Lasso {
                    check,
                    script,
                    stem,
                    cycle,
                });
                if desk.submit(claim).refused().is_none() {
                    ended.open.remove(&check);
                    ended.incomplete = None;
                    runs += 1;
                    break;
                }
            }
            runs += 1;
            // Whoever asks for nothing does the same again.
            if !asked && runs > 40 {
                break;
            }
        }
        ended.statistics = vec![Figure::count("runs", runs)];
        ended
    }
}

/// Numbers that the program speaks of, and some that every program knows.
fn numbers(program: &Program) -> Vec<u128> {
    let mut found: BTreeSet<u128> = BTreeSet::from([0, 1, 2, 3, u128::MAX]);
    for expr in &program.exprs {
        if let ExprKind::Int(number) = expr.kind
            && found.len() < 60
        {
            found.insert(number);
        }
    }
    found.into_iter().collect()
}

/// Compares the states at the heads of loops.
struct Watch<'a> {
    program: &'a Program,
    step: u64,
    visits: u64,
    kept: Option<(Snapshot, u64)>,
    found: Option<(u64, u64)>,
}

impl<'a> Watch<'a> {
    fn new(program: &'a Program) -> Watch<'a> {
        Watch {
            program,
            step: 0,
            visits: 0,
            kept: None,
            found: None,
        }
    }

    fn is_head(&self, edge: EdgeId) -> bool {
        let from = self.program.edges[edge.index()].from;
        let location = &self.program.locations[from.index()];
        location.kind == LocationKind::LoopHead
            && self.program.function(location.function).origin == Origin::User
    }
}

impl Observer for Watch<'_> {
    fn edge(&mut self, edge: EdgeId, state: &mut State<'_, '_>) {
        if self.found.is_none() && self.is_head(edge) {
            if let Some((kept, at)) = &self.kept
                && state.is(kept)
            {
                self.found = Some((*at, self.step - at));
                self.kept = None;
            } else {
                self.visits += 1;
                if self.visits.is_power_of_two() {
                    self.kept = Some((state.snapshot(), self.step));
                }
            }
        }
        self.step += 1;
    }
}

/// What the program is given: after some answers by chance, always the same at the same place.
struct Guess<'a> {
    numbers: &'a [u128],
    seed: u64,
    /// So many answers are by chance.
    loose: u64,
    given: u64,
    manner: Manner,
    asked: bool,
}

/// What is given.
#[derive(Clone, Copy)]
enum Manner {
    /// One number, everywhere.
    Same(u128),
    /// Zero or one.
    Flag,
    /// One of the program's numbers.
    Number,
    /// At first one number, then another one.
    Switch(u128, u128),
}

impl Guess<'_> {
    fn new(run: u64, numbers: &[u128]) -> Guess<'_> {
        let seed = run.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let (manner, loose) = match run {
            0 => (Manner::Same(0), 0),
            1 => (Manner::Same(1), 0),
            2 => (Manner::Same(u128::MAX), 0),
            3 => (Manner::Same(2), 0),
            _ => match run % 8 {
                6 => (Manner::Switch(1, 0), seed >> (54 + run % 10)),
                7 => (Manner::Switch(0, 1), seed >> (54 + run % 10)),
                0 => (Manner::Flag, 0),
                1 => (Manner::Number, 0),
                2 => (Manner::Flag, seed >> 58),
                3 => (Manner::Number, seed >> 58),
                4 => (Manner::Flag, u64::MAX),
                _ => (Manner::Number, seed >> 55),
            },
        };
        Guess {
            numbers,
            seed,
            loose,
            given: 0,
            manner,
            asked: false,
        }
    }

    fn number(&mut self, edge: Option<EdgeId>) -> u128 {
        self.asked = true;
        let place = edge.map_or(0, |edge| u64::from(edge.0) + 1);
        let moment = if self.given < self.loose {
            self.given + 1
        } else {
            0
        };
        self.given += 1;
        // splitmix64: nothing depends on its quality.
        let mut mixed = self
            .seed
            .wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .wrapping_add(moment.wrapping_mul(0xd1b5_4a32_d192_ed03));
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        match self.manner {
            Manner::Same(number) => number,
            Manner::Switch(first, _) if moment > 0 => first,
            Manner::Switch(_, then) => then,
            Manner::Flag => u128::from(mixed & 1),
            Manner::Number => self.numbers[(mixed >> 8) as usize % self.numbers.len()],
        }
    }
}

impl Environment for Guess<'_> {
    fn input(&mut self, request: Request<'_>, _: TypeId) -> Option<u128> {
        Some(self.number(request.edge))
    }

    fn input_bytes(&mut self, request: Request<'_>, bytes: &mut [u8]) -> bool {
        let number = self.number(request.edge);
        for byte in bytes {
            *byte = number as u8;
        }
        true
    }

    fn unknown(&mut self, request: Request<'_>, bytes: &mut [u8]) {
        let number = self.number(request.edge).to_le_bytes();
        for (byte, part) in bytes.iter_mut().zip(number.into_iter().cycle()) {
            *byte = part;
        }
    }
}
