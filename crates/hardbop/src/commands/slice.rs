//! `hardbop slice`: what matters for the checks of a program, line by line, and why.

use crate::c::{self, Part, Parts};
use crate::cli::SliceArgs;
use crate::commands::shown::place;
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::reading;
use hardbop_cfront::call_graph::callable;
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_cfront::points_to;
use hardbop_cfront::program::{Op, Origin, Program, Source};
use hardbop_model::relevance::{Cause, Depth, Relevance};
use hardbop_semantics::{Encoding, Semantics};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

#[derive(Serialize)]
struct Body {
    slices: Vec<Sliced>,
}

/// What matters in one program.
#[derive(Serialize)]
struct Sliced {
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    lines: Vec<Line>,
    statements: Counted,
    functions: Counted,
    variables: Counted,
}

/// How many of something there are in code that can be called, and how many of them matter.
#[derive(Serialize)]
struct Counted {
    all: usize,
    kept: usize,
}

/// A line of the program that matters.
#[derive(Serialize)]
struct Line {
    file: String,
    line: u32,
    function: String,
    text: String,
    because: Vec<String>,
}

/// Shows what matters.
pub fn run(arguments: &SliceArgs, console: &Console) -> Result<Verdict, Failure> {
    let Parts {
        parts,
        sources,
        warnings,
        ..
    } = c::parts(&arguments.input, &arguments.rules, console, |_| {})?;
    let asked = |part: &&Part| part.rule.is_some() || arguments.rules.rules.is_empty();
    let mut slices = Vec::new();
    for part in parts.iter().filter(asked) {
        slices.push(sliced(part, arguments)?);
    }
    match console.format() {
        Format::Text => console.text(&slices.iter().map(text).collect::<String>())?,
        Format::Json => console.value(Verdict::Fine, &sources, &warnings, Body { slices })?,
    }
    Ok(Verdict::Fine)
}

fn sliced(part: &Part, arguments: &SliceArgs) -> Result<Sliced, Failure> {
    let lines = &arguments.check_line;
    let depth = arguments.depth.map_or(Depth::All, Depth::Branches);
    let (program, budget) = (&part.program, reading::budget());
    let points_to = match &part.points_to {
        Some(points_to) => points_to.clone(),
        None => points_to::analyse(program, &budget)?,
    };
    let semantics = Semantics::new(program, &points_to, Encoding::Bits);
    let asked = |check: &CheckId| {
        let line = program.checks[check.index()].source.line;
        lines.is_empty() || lines.contains(&line)
    };
    let all = (0..program.checks.len() as u32).map(CheckId);
    let checks: Vec<CheckId> = all.filter(asked).collect();
    if checks.is_empty() {
        return Err(Failure::message("there is no such check"));
    }
    let relevance = Relevance::new(&semantics, &checks, depth, &budget)?;
    let mut found: BTreeMap<(u32, u32), Line> = BTreeMap::new();
    let mut statements = Counted { all: 0, kept: 0 };
    let functions = callable(program);
    for &function in &functions {
        let described = program.function(function);
        if described.origin != Origin::User {
            continue;
        }
        for index in described.locations.clone() {
            for (id, edge) in program.edges_from(LocId(index)) {
                if edge.op == Op::Skip {
                    continue;
                }
                statements.all += 1;
                let Some(cause) = relevance.cause(id) else {
                    continue;
                };
                statements.kept += 1;
                let line = found
                    .entry((edge.source.file, edge.source.line))
                    .or_insert_with(|| Line {
                        file: place(program, edge.source).0,
                        line: edge.source.line,
                        function: described.name.clone(),
                        text: line_of(program, edge.source),
                        because: Vec::new(),
                    });
                let because = because(&semantics, cause);
                if !line.because.contains(&because) {
                    line.because.push(because);
                }
            }
        }
    }
    let user = |origin: Origin| origin == Origin::User;
    let functions: Vec<_> = functions
        .into_iter()
        .filter(|&function| user(program.function(function).origin))
        .collect();
    let kept = functions.iter().filter(|&&id| relevance.enters(id)).count();
    Ok(Sliced {
        rule: part.rule.clone(),
        lines: found.into_values().collect(),
        statements,
        functions: Counted {
            all: functions.len(),
            kept,
        },
        variables: Counted {
            all: semantics.layout.variables().len(),
            kept: relevance.data().len(),
        },
    })
}

/// The line of the source that something stands in.
fn line_of(program: &Program, source: Source) -> String {
    let (file, start) = (source.span.file, source.span.start);
    let line = program.sources.line(file, start);
    let text = program.sources.slice(program.sources.line_span(file, line));
    text.trim_end().to_owned()
}

/// Why something matters, in words.
fn because(semantics: &Semantics<'_>, cause: Cause) -> String {
    let program = semantics.program;
    let line = |location: LocId| {
        let edges = program.edges_from(location);
        let lines = edges
            .map(|(_, edge)| edge.source.line)
            .filter(|&line| line > 0);
        lines.min()
    };
    match cause {
        Cause::Check(check) => format!("violates: {}", program.checks[check.index()].message),
        Cause::Unsupported => "is not supported".to_owned(),
        Cause::Decides(location) => match line(location) {
            Some(line) => format!("decides whether line {line} is reached"),
            None => "decides what is reached".to_owned(),
        },
        Cause::Ends(function) => {
            format!(
                "decides whether {} returns",
                program.function(function).name
            )
        }
        Cause::Writes(id, by) => {
            let name = &semantics.layout.get(id).name;
            let line = program.edges[by.index()].source.line;
            format!("writes {name}, read at line {line}")
        }
        Cause::Tells => "is a condition on what matters".to_owned(),
        Cause::Calls(function) => format!("calls {}", program.function(function).name),
    }
}

fn text(slice: &Sliced) -> String {
    let mut text = String::new();
    if let Some(rule) = &slice.rule {
        let _ = writeln!(text, "rule {rule}");
    }
    let mut before: Option<(&str, &str)> = None;
    for line in &slice.lines {
        let here = (line.file.as_str(), line.function.as_str());
        if before != Some(here) {
            let _ = writeln!(text, "{}: in {}", line.file, line.function);
            before = Some(here);
        }
        let because = line.because.join("; ");
        let _ = writeln!(text, "{:6} {}\n         // {because}", line.line, line.text);
    }
    let counted =
        |what: &str, counted: &Counted| format!("{} of {} {what}", counted.kept, counted.all);
    let _ = writeln!(
        text,
        "{}, {}, {} can matter",
        counted("statements", &slice.statements),
        counted("functions", &slice.functions),
        counted("variables", &slice.variables),
    );
    text
}
