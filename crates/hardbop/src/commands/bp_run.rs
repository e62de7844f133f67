//! `hardbop bp run`: one execution of a boolean program, its choices random or scripted.

use crate::boolean::{self, BooleanProgram};
use crate::cli::{BpInput, Limits};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::limits;
use crate::listing::{JsonStep, Line, Words, render};
use hardbop_boolean_program::interp::{Blocked, Choices, Machine, Outcome};
use hardbop_boolean_program::program::Program;
use hardbop_budget::{Budget, Stopped};
use serde::Serialize;
use std::fmt::Write;

/// People get the lines in portions, so that a long run is seen while it goes on.
const PORTION: usize = 500;

/// The clock is read once in so many steps.
const STEPS_PER_CHECK: u64 = 1024;

/// What a run was given.
pub struct Given<'a> {
    /// The seed of random choices.
    pub seed: u64,
    /// The choices, if they are scripted.
    pub choices: Option<&'a str>,
    /// The most steps.
    pub steps: u64,
}

/// How a run ended.
enum End {
    Finished,
    Failed,
    Blocked(Blocked),
    Steps,
    Stopped(Stopped),
}

#[derive(Serialize)]
struct Body {
    outcome: &'static str,
    steps: u64,
    trace: Vec<JsonStep>,
}

/// Runs a program.
pub fn run(
    input: &BpInput,
    given: &Given<'_>,
    limits: &Limits,
    console: &Console,
) -> Result<Verdict, Failure> {
    let mut choices = match given.choices {
        Some(bits) => Choices::script(script(bits)?),
        None => Choices::random(given.seed),
    };
    let budget = limits::budget(limits)?;
    let loaded = boolean::program(input, console)?;
    match console.format() {
        Format::Text => run_for_people(&loaded, &mut choices, given.steps, &budget, console),
        Format::Json => run_for_machines(&loaded, &mut choices, given.steps, &budget, console),
    }
}

fn run_for_people(
    loaded: &BooleanProgram,
    choices: &mut Choices,
    limit: u64,
    budget: &Budget,
    console: &Console,
) -> Result<Verdict, Failure> {
    let words = Words::new(&loaded.program, &loaded.sources);
    let mut lines = Vec::new();
    let (end, steps) = execute(&loaded.program, choices, limit, budget, |machine| {
        lines.extend(line(&loaded.program, &words, machine));
        if lines.len() < PORTION {
            return Ok(());
        }
        let text = render(&words, &lines);
        lines.clear();
        console.text(&text)
    })?;
    let mut text = render(&words, &lines);
    let _ = writeln!(text, "{}", describe(&end, steps));
    console.text(&text)?;
    Ok(verdict(&end))
}

fn run_for_machines(
    loaded: &BooleanProgram,
    choices: &mut Choices,
    limit: u64,
    budget: &Budget,
    console: &Console,
) -> Result<Verdict, Failure> {
    let words = Words::new(&loaded.program, &loaded.sources);
    let mut trace = Vec::new();
    let (end, steps) = execute(&loaded.program, choices, limit, budget, |machine| {
        trace.extend(line(&loaded.program, &words, machine));
        Ok(())
    })?;
    let outcome = match end {
        End::Finished => "finished",
        End::Failed => "assertion failed",
        End::Blocked(_) => "blocked",
        End::Steps | End::Stopped(_) => "stopped",
    };
    let verdict = verdict(&end);
    let trace = trace
        .into_iter()
        .map(|line| JsonStep::of(&words, line))
        .collect();
    let body = Body {
        outcome,
        steps,
        trace,
    };
    console.value(verdict, &loaded.sources, &loaded.warnings, body)?;
    Ok(verdict)
}

/// Runs until something ends it; `see` is shown the machine before each step and at the end.
fn execute(
    program: &Program,
    choices: &mut Choices,
    limit: u64,
    budget: &Budget,
    mut see: impl FnMut(&Machine<'_>) -> Result<(), Failure>,
) -> Result<(End, u64), Failure> {
    let mut machine = match Machine::start(program, choices) {
        Ok(machine) => machine,
        Err(blocked) => return Ok((End::Blocked(blocked), 0)),
    };
    let mut steps = 0;
    loop {
        see(&machine)?;
        if steps == limit {
            return Ok((End::Steps, steps));
        }
        if steps % STEPS_PER_CHECK == 0
            && let Err(stopped) = budget.check()
        {
            return Ok((End::Stopped(stopped), steps));
        }
        match machine.step(choices) {
            Outcome::Moved(_) | Outcome::Returned => steps += 1,
            Outcome::Finished => return Ok((End::Finished, steps)),
            Outcome::Failed => return Ok((End::Failed, steps)),
            Outcome::Blocked(blocked) => return Ok((End::Blocked(blocked), steps)),
        }
    }
}

fn line(program: &Program, words: &Words<'_>, machine: &Machine<'_>) -> Option<Line> {
    let vertex = machine.vertex()?;
    let procedure = program.vertices[vertex.index()].procedure;
    let named = program
        .in_scope(procedure)
        .filter(|&variable| words.is_named(variable));
    Some(Line {
        depth: machine.depth(),
        number: words.line(vertex),
        statement: words.statement(vertex),
        values: named.filter_map(|v| Some((v, machine.value(v)?))).collect(),
    })
}

fn describe(end: &End, steps: u64) -> String {
    let what = match end {
        End::Finished => "finished",
        End::Failed => "the assertion fails",
        End::Blocked(Blocked::Assume) => "blocked: an assumption does not hold",
        End::Blocked(Blocked::Constrain) => {
            "blocked: the choices do not meet the constraint of the assignment"
        }
        End::Blocked(Blocked::Enforce) => "blocked: the state does not meet an `enforce`",
        End::Steps => "stopped: the step limit was reached",
        End::Stopped(Stopped::Time) => "stopped: the time limit passed",
        End::Stopped(Stopped::Memory) => "stopped: the memory limit was reached",
        End::Stopped(Stopped::Cancelled) => "stopped: cancelled",
    };
    format!(
        "{what}, after {steps} {}",
        if steps == 1 { "step" } else { "steps" }
    )
}

fn verdict(end: &End) -> Verdict {
    match end {
        End::Finished | End::Blocked(_) => Verdict::Fine,
        End::Failed => Verdict::Found,
        End::Steps | End::Stopped(_) => Verdict::Unknown,
    }
}

fn script(bits: &str) -> Result<Vec<bool>, Failure> {
    let bit = |c| match c {
        '0' => Ok(false),
        '1' => Ok(true),
        other => Err(Failure::message(format!(
            "`{other}` in --choices is neither 0 nor 1, as in `--choices 0110`"
        ))),
    };
    bits.chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, ',' | '_'))
        .map(bit)
        .collect()
}
