//! The SLAM loop, round by round: the path that Bebop finds over the predicates so far, why it cannot
//! be run, and the predicates that come of it, as `hardbop abstract --pred` reads them.

use super::text::check_text;
use super::{Answer, Explained};
use crate::cli::{ArithName, ExplainArgs};
use crate::commands::shown::Heading;
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::progress::Progress;
use crate::reading;
use hardbop_budget::Budget;
use hardbop_cegar::{Met, Slam, steps};
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::points_to::PointsTo;
use hardbop_cfront::program::Program;
use hardbop_diagnostics::Diagnostic;
use hardbop_engine::claim::ScopedPredicate;
use hardbop_engine::{Encodings, Task};
use hardbop_gate::{Outcome, Report, alone_telling};
use hardbop_model::{Model, Prepared};
use hardbop_report::collect::assumptions;
use hardbop_semantics::{Encoding, Semantics};
use serde::Serialize;
use std::fmt::Write as _;

/// A program that was read.
pub struct Read {
    /// The program.
    pub program: Program,
    /// What its pointers may point to.
    pub points_to: PointsTo,
    /// What was said of it.
    pub warnings: Vec<Diagnostic>,
}

#[derive(Serialize)]
struct Body {
    arith: &'static str,
    rounds: Vec<Round>,
    answers: Vec<Decided>,
    assumptions: Vec<String>,
}

#[derive(Serialize)]
struct Round {
    round: u32,
    #[serde(flatten)]
    explained: Explained,
    /// The predicates that come of it, each with its scope.
    predicates: Vec<String>,
}

#[derive(Serialize)]
struct Decided {
    #[serde(flatten)]
    heading: Heading,
    verdict: &'static str,
}

/// Runs the loop and explains its paths.
pub fn run(
    arguments: &ExplainArgs,
    console: &Console,
    read: Read,
    encoding: Encoding,
    budget: &Budget,
) -> Result<Verdict, Failure> {
    let Read {
        program,
        points_to,
        warnings,
    } = read;
    let checks = super::wanted(&program, &arguments.check_line)?;
    let prepared = Prepared::with_points_to(&program, points_to, &reading::budget())?;
    let model = Model::new(&program, &prepared);
    let task = Task {
        model: &model,
        checks: &checks,
        budget,
    };
    let slam = Slam::reading(match arguments.arith {
        ArithName::Exact => Encodings::BitsOnly,
        ArithName::Int => Encodings::IntegersFirst,
    });
    let progress = Progress::new(console);
    let (report, met) = alone_telling(|desk| slam.telling(&task, desk), &task, &mut |event| {
        progress.say(event.to_string())
    });
    drop(progress);
    let semantics = match encoding {
        Encoding::Bits => model.flat.semantics.clone(),
        integers => model.flat.encoded(integers),
    };
    let rounds = met
        .iter()
        .filter_map(|met| round(&model, &semantics, budget, met));
    let body = Body {
        arith: match arguments.arith {
            ArithName::Exact => "exact",
            ArithName::Int => "int",
        },
        rounds: rounds.collect(),
        answers: answers(&program, &report, &checks),
        assumptions: assumptions(&program),
    };
    let open = body.answers.iter().any(|answer| answer.verdict == UNKNOWN);
    let verdict = if open {
        Verdict::Unknown
    } else {
        Verdict::Fine
    };
    match console.format() {
        Format::Text => console.text(&text(arguments, &body))?,
        Format::Json => console.value(verdict, &program.sources, &warnings, body)?,
    }
    Ok(verdict)
}

fn round(
    model: &Model<'_>,
    semantics: &Semantics<'_>,
    budget: &Budget,
    met: &Met,
) -> Option<Round> {
    let mut explained = Explained::new(Heading::of(model.program, met.check?));
    match steps(&model.flat, &met.segments) {
        Some(steps) => explained.of_path(semantics, budget, &steps),
        None => explained.reason = Some("the path is not connected".to_owned()),
    }
    // Through a block there are many paths. One of them was explained; the loop decides all.
    if explained.path == Answer::Infeasible && met.found.is_empty() {
        explained.reason = Some("another path through the same places can be run".to_owned());
    }
    Some(Round {
        round: met.round,
        explained,
        predicates: met.found.iter().map(line).collect(),
    })
}

/// A predicate as a line of a file of predicates.
fn line(predicate: &ScopedPredicate) -> String {
    let scope = predicate.procedure.as_deref().unwrap_or("global");
    format!("{scope}: {}", predicate.formula)
}

const UNKNOWN: &str = "unknown";

fn answers(program: &Program, report: &Report, checks: &[CheckId]) -> Vec<Decided> {
    checks
        .iter()
        .map(|check| Decided {
            heading: Heading::of(program, *check),
            verdict: match report.outcomes.get(check) {
                Some(Outcome::Proved(_)) => "proved",
                Some(Outcome::Violated(_)) => "violated",
                _ => UNKNOWN,
            },
        })
        .collect()
}

fn text(arguments: &ExplainArgs, body: &Body) -> String {
    let mut text = String::new();
    let reading = match arguments.arith {
        ArithName::Exact => "",
        ArithName::Int => " over the integers",
    };
    for round in &body.rounds {
        let _ = write!(text, "round {}: ", round.round);
        check_text(
            &mut text,
            &round.explained,
            "the path that Bebop finds to it",
            reading,
        );
        if !round.predicates.is_empty() {
            let _ = writeln!(text, "  predicates that keep such paths away:");
            for predicate in &round.predicates {
                let _ = writeln!(text, "{predicate}");
            }
        }
    }
    for answer in &body.answers {
        let verdict = answer.verdict.to_uppercase();
        let _ = writeln!(text, "{verdict} {}", answer.heading);
    }
    for assumption in &body.assumptions {
        let _ = writeln!(text, "assuming that {assumption}");
    }
    text
}
