//! What the tests share: loading C text, running the engine, telling what it found.

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::points_to::PointsTo;
use hardbop_cfront::program::Program;
use hardbop_engine::{Desk, Task};
use hardbop_gate::{Outcome, Report, alone_telling};
use hardbop_leap::theorem::Theorem;
use hardbop_leap::{Options, Told, leap};
use hardbop_model::{Model, Prepared};
use std::fmt::Write;
use std::time::Duration;

/// What a search found, and what it has to tell besides.
pub struct Found {
    pub report: Report,
    pub told: Told,
}

/// Looks for violations of all checks.
pub fn run(program: &Program, points_to: &PointsTo, options: &Options, seconds: u64) -> Found {
    let checks: Vec<CheckId> = (0..program.checks.len() as u32).map(CheckId).collect();
    let budget = Budget::unlimited().with_time(Duration::from_secs(seconds));
    let prepared =
        Prepared::with_points_to(program, points_to.clone(), &Budget::unlimited()).unwrap();
    let task = Task {
        model: &Model::new(program, &prepared),
        checks: &checks,
        budget: &budget,
    };
    let search = |desk: &mut dyn Desk| leap(&task, options, desk);
    let (report, told) = alone_telling(search, &task, &mut |_| {});
    Found { report, told }
}

/// What was found, as a picture.
pub fn picture(program: &Program, Found { report, told }: &Found) -> String {
    let mut text = String::new();
    for (check, outcome) in &report.outcomes {
        let line = program.checks[check.index()].source.line;
        let word = match outcome {
            Outcome::Violated(found) if found.run().is_some() => "violated".to_owned(),
            Outcome::Violated(_) => "violated by a run too long to replay".to_owned(),
            Outcome::Unknown(reason) => format!("unknown: {reason:?}"),
            Outcome::Proved(_) => "proved".to_owned(),
        };
        let _ = writeln!(text, "line {line}: {word}");
        for (leap, heads) in told.explanations.get(check).into_iter().flatten() {
            let line = |location: &hardbop_cfront::ids::LocId| {
                let mut edges = program.edges_from(*location);
                let function = program.locations[location.index()].function;
                let source = edges.next().map(|(_, edge)| edge.source);
                source.unwrap_or(program.function(function).source).line
            };
            let theorem = match leap.theorem {
                Theorem::Backward => "Theorem 1",
                Theorem::Forward => "Theorem 2",
            };
            let lines: Vec<String> = heads.iter().map(|head| line(head).to_string()).collect();
            let _ = writeln!(text, "  loop at line {}: {theorem}", lines.join(", "));
            for state in &leap.state {
                let _ = writeln!(text, "    state {state}");
            }
            let _ = writeln!(text, "    entry {}", leap.entry);
            let _ = writeln!(text, "    exit  {}", leap.exit);
            for (edge, value) in &leap.choices {
                let line = program.edges[edge.index()].source.line;
                let _ = writeln!(text, "    choose at line {line}: {value}");
            }
        }
    }
    for ending in &told.endings {
        let mut edges = program.edges_from(ending.head);
        let line = edges.next().map_or(0, |(_, edge)| edge.source.line);
        let _ = writeln!(text, "the loop at line {line} ends on all its states");
    }
    text
}
