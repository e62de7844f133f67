//! `hardbop c run`: runs a C program on given inputs.

use crate::c::{self, CProgram};
use crate::cli::{CInput, Limits};
use crate::commands::shown::{Input, steps};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::{input, limits};
use hardbop_cfront::inline::{self, inline};
use hardbop_cfront::interp::{self, Interpreter, Outcome, Report, Script, TraceMode, parse_inputs};
use hardbop_cfront::points_to;
use hardbop_cfront::program::Program;
use hardbop_cfront::watch::Watch;
use hardbop_report::collect::assumptions;
use hardbop_report::results::EdgeStep;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// What a run was given.
pub struct Given<'a> {
    /// The inputs, or `@` and the name of a file that has them.
    pub inputs: Option<&'a str>,
    /// The most steps.
    pub steps: u64,
    /// How many of the last executed edges are shown.
    pub trace: Option<usize>,
    /// Whether accesses are compared with points-to.
    pub watch: bool,
}

#[derive(Serialize)]
struct Body {
    outcome: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<Place>,
    steps: u64,
    inputs: Vec<Input>,
    assumptions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Vec<EdgeStep>>,
}

#[derive(Serialize)]
struct Place {
    file: String,
    line: u32,
    text: String,
}

/// Runs a program.
pub fn run(
    input: &CInput,
    given: &Given<'_>,
    limits: &Limits,
    console: &Console,
) -> Result<Verdict, Failure> {
    let inputs = match given.inputs {
        Some(text) => inputs(text)?,
        None => Vec::new(),
    };
    let budget = limits::budget(limits)?;
    let CProgram {
        program, warnings, ..
    } = c::program(input, console)?;
    let limits = interp::Limits {
        steps: given.steps,
        budget,
        trace: given.trace.map_or(TraceMode::Off, TraceMode::Last),
        ..interp::Limits::default()
    };
    if given.watch {
        watch(&program, inputs.clone(), &limits)?;
        let inlined = inline(&program, &inline::Limits::default(), &limits.budget)?.program;
        watch(&inlined, inputs.clone(), &limits)?;
    }
    let run = interp::run(&program, &mut Script::new(inputs), &limits);
    let report = interp::report(&program, &run);
    let (outcome, verdict) = judge(&run.outcome);
    let trace = given.trace.map(|_| steps(&program, &run.trace));
    match console.format() {
        Format::Text => {
            console.text(&text(&program, &run.outcome, &report, trace.as_deref()))?;
        }
        Format::Json => {
            let body = body(&program, outcome, report, trace);
            console.value(verdict, &program.sources, &warnings, body)?;
        }
    }
    Ok(verdict)
}

/// Runs the program once more and compares what it touches with points-to.
fn watch(
    program: &Program,
    inputs: Vec<interp::InputValue>,
    limits: &interp::Limits,
) -> Result<(), Failure> {
    let points_to = points_to::analyse(program, &limits.budget)?;
    let mut watch = Watch::new(program, &points_to);
    let interpreter = Interpreter::new(program);
    interpreter.run_observed(&mut Script::new(inputs), limits, &mut watch);
    match watch.contradictions.first() {
        Some(contradiction) => {
            let source = program.edges[contradiction.edge.index()].source;
            Err(Failure::internal(format!(
                "points-to is contradicted at line {}: {}",
                source.line, contradiction.what
            )))
        }
        None => Ok(()),
    }
}

/// Behaviour that C leaves undefined is a violation, too.
fn judge(outcome: &Outcome) -> (&'static str, Verdict) {
    match outcome {
        Outcome::Returned(_) => ("returned", Verdict::Fine),
        Outcome::Halted(_) => ("halted", Verdict::Fine),
        Outcome::Violated(_) => ("violated", Verdict::Found),
        Outcome::Trapped { .. } => ("undefined", Verdict::Found),
        Outcome::Unsupported(_) => ("unsupported", Verdict::Unknown),
        Outcome::OutOfInputs(_) | Outcome::StepLimit | Outcome::Stopped(_) => {
            ("stopped", Verdict::Unknown)
        }
    }
}

fn inputs(text: &str) -> Result<Vec<interp::InputValue>, Failure> {
    let text = match text.strip_prefix('@') {
        Some(file) => {
            let bytes = input::bytes(Path::new(file))?;
            String::from_utf8_lossy(&bytes.bytes).into_owned()
        }
        None => text.to_owned(),
    };
    parse_inputs(&text).map_err(|error| Failure::message(error.to_string()))
}

fn text(
    program: &Program,
    outcome: &Outcome,
    report: &Report,
    trace: Option<&[EdgeStep]>,
) -> String {
    let mut text = String::new();
    for EdgeStep { file, line, edge } in trace.unwrap_or_default() {
        let _ = writeln!(text, "{file}:{line}: {edge}");
    }
    for input in &report.inputs {
        let (file, line) = &input.place;
        let _ = writeln!(
            text,
            "{file}:{line}: input {}() = {}",
            input.name, input.value
        );
    }
    let s = if report.steps == 1 { "" } else { "s" };
    let end = &report.outcome;
    let _ = match (&report.place, outcome) {
        // The message of a check says what is violated already.
        (Some((file, line, _)), Outcome::Violated(_)) => write!(text, "{file}:{line}: {end}"),
        (Some((file, line, at)), _) => write!(text, "{file}:{line}: {end} in `{at}`"),
        (None, _) => write!(text, "{end}"),
    };
    let _ = writeln!(text, ", after {} step{s}", report.steps);
    for assumption in assumptions(program) {
        let _ = writeln!(text, "assuming that {assumption}");
    }
    text
}

fn body(
    program: &Program,
    outcome: &'static str,
    report: Report,
    trace: Option<Vec<EdgeStep>>,
) -> Body {
    Body {
        outcome,
        message: report.outcome,
        place: report
            .place
            .map(|(file, line, text)| Place { file, line, text }),
        steps: report.steps,
        inputs: report.inputs.into_iter().map(Input::of).collect(),
        assumptions: assumptions(program),
        trace,
    }
}
