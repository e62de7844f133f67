//! Runs, repeated in the interpreter.

use crate::Gate;
use crate::determined::is_determined;
use crate::files::{may_read_back, reads_back};
use hardbop_cfront::ids::TypeId;
use hardbop_cfront::interp::{
    self, Contents, Environment, Interpreter, Limits, Outcome, Request, TraceMode,
};
use hardbop_engine::Reason;
use hardbop_engine::claim::{Given, OnlyRun, Run, Script};
use hardbop_semantics::replay::replay;

/// The most executed edges that are kept for the report.
const TRACE: usize = 200_000;

impl Gate<'_> {
    /// Runs the program as a claim says. Gives what was seen, and the claim as a script of it.
    pub(crate) fn run(&self, claim: &Run) -> Result<(Run, interp::Run), Reason> {
        let check = claim.check;
        let program = self.model.program;
        let seen = match &claim.given {
            Given::Choices(choices) => {
                let violation = replay(program, choices, check, &self.budget);
                violation
                    .map_err(|outcome| Reason::Replay(Box::new(outcome)))?
                    .run
            }
            Given::Script(script) => {
                let mut environment = script.environment().ok_or(Reason::Certificate)?;
                let limits = self.limits(TraceMode::First(TRACE));
                Interpreter::new(program).run(&mut environment, &limits)
            }
        };
        if seen.outcome != Outcome::Violated(check) {
            return Err(Reason::Replay(Box::new(seen.outcome)));
        }
        if seen.compared_gone {
            return Err(Reason::ComparesGone);
        }
        let script = Script::of(&seen);
        if may_read_back(program) {
            let mut environment = script.environment().ok_or(Reason::Certificate)?;
            if reads_back(program, &mut environment, &self.limits(TraceMode::Off)) {
                return Err(Reason::ReadsBack);
            }
        }
        let given = Given::Script(script);
        Ok((Run { check, given }, seen))
    }

    /// As long as it takes.
    fn limits(&self, trace: TraceMode) -> Limits {
        Limits {
            steps: u64::MAX,
            budget: self.budget.clone(),
            trace,
            ..Limits::default()
        }
    }

    /// Runs a program that leaves nothing open. Gives the claim with the run's length.
    pub(crate) fn only_run(&self, claim: &OnlyRun) -> Result<OnlyRun, Reason> {
        let program = self.model.program;
        if !is_determined(program) {
            return Err(Reason::Evidence);
        }
        let mut nothing = Nothing::default();
        let limits = Limits {
            steps: claim.steps,
            budget: self.budget.clone(),
            trace: TraceMode::Off,
            contents: Contents::Watched,
            ..Limits::default()
        };
        let run = Interpreter::new(program).run(&mut nothing, &limits);
        if nothing.asked || !run.determined {
            return Err(Reason::Evidence);
        }
        match run.outcome {
            Outcome::Returned(_) | Outcome::Halted(_) => {}
            Outcome::Violated(check) if !claim.checks.contains(&check) => {}
            Outcome::Stopped(stopped) => return Err(Reason::Stopped(stopped)),
            outcome => return Err(Reason::Replay(Box::new(outcome))),
        }
        Ok(OnlyRun {
            steps: run.steps,
            ..claim.clone()
        })
    }
}

/// Has no answers: whoever asks for an input leaves something open. Contents that nobody wrote
/// are asked for too, but a determined run does not read them.
#[derive(Default)]
struct Nothing {
    asked: bool,
}

impl Environment for Nothing {
    fn input(&mut self, _: Request<'_>, _: TypeId) -> Option<u128> {
        self.asked = true;
        None
    }

    fn input_bytes(&mut self, _: Request<'_>, _: &mut [u8]) -> bool {
        self.asked = true;
        false
    }

    fn unknown(&mut self, _: Request<'_>, _: &mut [u8]) {}

    fn unknown_is_zero(&self) -> bool {
        true
    }
}
