//! A run, told to people.

use super::scalar::{Kind, extend};
use super::{Consumed, Outcome, Run, TrapKind, Value, float};
use crate::ids::{EdgeId, LocId};
use crate::program::{LocationKind, Op, Origin, Program, Source};
use std::fmt;

/// What a user is told about a run, as plain values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How it ended, in one line.
    pub outcome: String,
    /// Where it ended: file, line, and the text there.
    pub place: Option<(String, u32, String)>,
    /// The inputs that were consumed, in order.
    pub inputs: Vec<ReportInput>,
    /// The number of executed edges.
    pub steps: u64,
}

/// An input that was consumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportInput {
    /// The function that asked for it, e.g. `__VERIFIER_nondet_int`.
    pub name: String,
    /// The file and line of the call.
    pub place: (String, u32),
    /// The value, in the form in which it can be given as an input again.
    pub value: String,
}

/// Tells what happened in a run.
pub fn report(program: &Program, run: &Run) -> Report {
    let at = |edge: EdgeId| program.edges.get(edge.index()).map(|edge| edge.source);
    let (outcome, source) = match &run.outcome {
        Outcome::Returned(Some(value)) => {
            (format!("returned {}", value_text(program, *value)), None)
        }
        Outcome::Returned(None) => ("returned".to_string(), None),
        Outcome::Halted(edge) => halted(program, *edge),
        Outcome::Violated(check) => {
            let check = &program.checks[check.index()];
            (format!("violated: {}", check.message), Some(check.source))
        }
        Outcome::Trapped { kind, edge } => (format!("undefined: {kind}"), at(*edge)),
        Outcome::Unsupported(edge) => {
            let what = match program.edges.get(edge.index()).map(|edge| &edge.op) {
                Some(Op::Unsupported { construct }) => {
                    program.unsupported[*construct as usize].what.as_str()
                }
                // Only the heap is looked at, and it does not say.
                _ => "telling whether memory is lost",
            };
            (format!("not supported: {what}"), at(*edge))
        }
        Outcome::OutOfInputs(edge) => ("no inputs left".to_string(), at(*edge)),
        Outcome::StepLimit => ("the limit on steps was reached".to_string(), None),
        Outcome::Stopped(stopped) => (stopped.to_string(), None),
    };
    let inputs = run.inputs.iter().map(|input| {
        let edge = &program.edges[input.edge.index()];
        let name = match &edge.op {
            Op::Input { name, .. } => name.clone(),
            _ => "__VERIFIER_nondet_memory".to_string(),
        };
        let value = match &input.value {
            Consumed::Scalar(value) => value_text(program, *value),
            Consumed::Bytes(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("x'{digits}'")
            }
        };
        ReportInput {
            name,
            place: (file(program, edge.source), edge.source.line),
            value,
        }
    });
    Report {
        outcome,
        place: source.map(|source| (file(program, source), source.line, snippet(program, source))),
        inputs: inputs.collect(),
        steps: run.steps,
    }
}

fn halted(program: &Program, id: EdgeId) -> (String, Option<Source>) {
    let edge = &program.edges[id.index()];
    let function = program.function(program.locations[edge.from.index()].function);
    match edge.op {
        // How a model of the library ends the program is nobody's business.
        _ if function.origin == Origin::Model => ("the program ended itself".to_string(), None),
        Op::Assume { .. } if !is_check(program, edge.from) => (
            "ended: an assumption does not hold".to_string(),
            Some(edge.source),
        ),
        _ => (format!("ended in `{}`", function.name), Some(edge.source)),
    }
}

/// Whether a check is decided at a location.
fn is_check(program: &Program, location: LocId) -> bool {
    let kind = |to: LocId| program.locations[to.index()].kind;
    program
        .edges_from(location)
        .any(|(_, edge)| matches!(kind(edge.to), LocationKind::Error(_)))
}

fn file(program: &Program, source: Source) -> String {
    program
        .presumed_files
        .get(source.file as usize)
        .cloned()
        .unwrap_or_default()
}

fn snippet(program: &Program, source: Source) -> String {
    let text = program.sources.slice(source.span);
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    match lines.next() {
        Some(_) => format!("{first} ..."),
        None => first.to_string(),
    }
}

/// A scalar as C would write it; a pointer as its address.
pub fn value_text(program: &Program, value: Value) -> String {
    match Kind::of(&program.types, value.ty) {
        Some(Kind::Int {
            width,
            signed: true,
        }) => extend(value.bits, width).to_string(),
        Some(Kind::Float(kind)) => float::text(kind, value.bits),
        Some(Kind::Pointer { .. }) => format!("{:#x}", value.bits),
        _ => value.bits.to_string(),
    }
}

impl fmt::Display for TrapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrapKind::DivisionByZero => "division by zero",
            TrapKind::NullPointer => "null pointer dereferenced",
            TrapKind::Dangling => "pointer to an object whose life is over dereferenced",
            TrapKind::WildPointer => "pointer to no object dereferenced",
            TrapKind::OutOfBounds => "access outside of its object",
            TrapKind::ReadOnly => "write to a string literal or a constant",
            TrapKind::BadFree => "free of what is not the start of a live heap object",
            TrapKind::BadCall => "call through a pointer to no such function",
            TrapKind::BadArguments => "call with arguments that the function cannot take",
            TrapKind::StackOverflow => "stack overflow",
            TrapKind::OutOfMemory => "out of memory",
            TrapKind::Stuck => "no way to go on",
        })
    }
}

impl fmt::Display for Report {
    /// The lines that a user reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.outcome)?;
        if let Some((file, line, text)) = &self.place {
            writeln!(f, "  at {file}:{line}: {text}")?;
        }
        if !self.inputs.is_empty() {
            writeln!(f, "inputs:")?;
        }
        for input in &self.inputs {
            let (file, line) = &input.place;
            writeln!(f, "  {} = {}  ({file}:{line})", input.name, input.value)?;
        }
        writeln!(f, "{} steps", self.steps)
    }
}
