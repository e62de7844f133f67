//! What several commands show in the same way: places, checks, inputs, executed edges.

use hardbop_cfront::dump::op_text;
use hardbop_cfront::ids::{CheckId, EdgeId};
use hardbop_cfront::interp::ReportInput;
use hardbop_cfront::program::{Program, Source};
use hardbop_report::results::EdgeStep;
use serde::Serialize;
use std::fmt;

/// A check, and where it stands.
#[derive(Serialize)]
pub struct Heading {
    /// What is said when it is violated.
    pub message: String,
    /// The function in which it stands.
    pub function: String,
    /// Its file.
    pub file: String,
    /// Its line.
    pub line: u32,
}

impl Heading {
    /// The heading of a check.
    pub fn of(program: &Program, id: CheckId) -> Heading {
        let check = &program.checks[id.index()];
        let (file, line) = place(program, check.source);
        Heading {
            message: check.message.clone(),
            function: program.function(check.function).name.clone(),
            file,
            line,
        }
    }
}

impl fmt::Display for Heading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Heading {
            message,
            function,
            file,
            line,
        } = self;
        write!(f, "{file}:{line}: {message} (in {function})")
    }
}

/// An input of a run.
#[derive(Serialize)]
pub struct Input {
    /// The function that asks for it.
    pub function: String,
    /// The file of the call.
    pub file: String,
    /// The line of the call.
    pub line: u32,
    /// Its value.
    pub value: String,
}

impl Input {
    /// An input that a run was given.
    pub fn of(input: ReportInput) -> Input {
        let (file, line) = input.place;
        Input {
            function: input.name,
            file,
            line,
            value: input.value,
        }
    }
}

/// Executed edges for people.
pub fn steps(program: &Program, trace: &[EdgeId]) -> Vec<EdgeStep> {
    let step = |id: &EdgeId| {
        let edge = &program.edges[id.index()];
        let (file, line) = place(program, edge.source);
        EdgeStep {
            file,
            line,
            edge: op_text(program, &edge.op),
        }
    };
    trace.iter().map(step).collect()
}

/// Where something stands in the user's files.
pub fn place(program: &Program, source: Source) -> (String, u32) {
    let file = program.presumed_files.get(source.file as usize).cloned();
    (file.unwrap_or_default(), source.line)
}
