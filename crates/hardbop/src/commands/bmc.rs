//! `hardbop bmc`: looks for violations path by path, and learns from each what to skip.

use crate::c::{self, CProgram};
use crate::cli::{BmcArgs, OrderName};
use crate::commands::check::prepared;
use crate::commands::contradiction::{self, Claims};
use crate::commands::results::{self, Paths};
use crate::commands::shown::steps;
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::limits;
use crate::progress::Progress;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::program::Program;
use hardbop_dpr::{Dpr, Learning, Options, Order};
use hardbop_engine::{Claim, Event, Task, claim};
use hardbop_gate::Report;
use hardbop_model::Model;
use hardbop_model::points::{Side, sides};
use hardbop_portfolio::{Found, Listener, Plan};
use hardbop_report::terminal::{Listing, Show};
use serde::Serialize;
use std::fmt::Write as _;

#[derive(Serialize)]
struct Body {
    #[serde(flatten)]
    results: results::Body,
    depth: u32,
    clauses: Vec<Vec<Decision>>,
}

/// A decision of a clause: at this branch of the unrolled program, this is done.
#[derive(Serialize)]
struct Decision {
    node: u32,
    file: String,
    line: u32,
    edge: String,
}

/// Decides what it can.
pub fn run(arguments: &BmcArgs, console: &Console) -> Result<Verdict, Failure> {
    let budget = limits::budget(&arguments.limits)?;
    let CProgram {
        program,
        points_to,
        warnings,
        files,
    } = c::program(&arguments.input, console)?;
    let prepared = prepared(&program, points_to.as_ref(), &[])?;
    let model = Model::new(&program, &prepared);
    let checks: Vec<CheckId> = (0..program.checks.len())
        .map(|i| CheckId(i as u32))
        .collect();
    let found = {
        let mut progress = Shown(Progress::new(console));
        let task = Task {
            model: &model,
            checks: &checks,
            budget: &budget,
        };
        let plan = Plan::alone(Dpr(options(arguments)));
        hardbop_portfolio::check(&plan, &task, &mut progress)
    };
    let report = &found.report;
    let claims = [Claims {
        program: &program,
        found: &found,
    }];
    let contradiction = contradiction::told(&claims, &files.read, &budget, console);
    let paths = Paths::of(&arguments.runs);
    let mut results = results::collect(&program, &found, paths, &budget);
    results::statistics(&mut results, &[report], &budget);
    let verdict = match contradiction {
        Some(_) => Verdict::Unknown,
        None => results::verdict(&results),
    };
    match console.format() {
        Format::Text => {
            let show = Show {
                listing: Listing::Whole,
                path: None,
                invariants: false,
                predicates: false,
                statistics: arguments.stats,
            };
            let mut text = results::text(&results, paths, show, console);
            if arguments.clauses {
                write_clauses(&mut text, &clauses(&program, report));
            }
            // The statistics say it too.
            if !arguments.stats && !checks.is_empty() {
                text.push_str(&summary(report));
            }
            console.text(&text)?;
        }
        Format::Json => {
            let body = Body {
                results: results::body(&results, paths, None)
                    .with_contradiction(contradiction.clone()),
                depth: arguments.depth,
                clauses: clauses(&program, report),
            };
            console.value(verdict, &program.sources, &warnings, body)?;
        }
    }
    if let Some(contradiction) = contradiction {
        console.internal(&contradiction);
    }
    Ok(verdict)
}

/// Shows how far the search is.
struct Shown(Progress);

impl Listener for Shown {
    fn event(&mut self, _: &'static str, event: Event) {
        self.0.say(event.to_string());
    }

    /// The search looks up soon enough by itself.
    fn late(&mut self, _: &Found) {}
}

fn options(arguments: &BmcArgs) -> Options {
    Options {
        depth: arguments.depth,
        order: match (arguments.random, arguments.order) {
            (Some(seed), _) => Order::Random(seed),
            (None, OrderName::DepthFirst) => Order::DepthFirst,
            (None, OrderName::Guided) => Order::Guided,
        },
        learning: if arguments.no_learning {
            Learning::Off
        } else {
            Learning::On
        },
        jobs: arguments.jobs.into(),
        together_after: (!arguments.one_by_one).then_some(1),
        ..Options::default()
    }
}

/// The clauses of a proof, for people and machines.
fn clauses(program: &Program, report: &Report) -> Vec<Vec<Decision>> {
    let mut proofs = report.proofs().into_iter();
    let proof = proofs.find_map(|proof| match proof.claim() {
        Claim::Clauses(clauses) => Some(clauses),
        _ => None,
    });
    let Some(proof) = proof else {
        return Vec::new();
    };
    let decision = |decision: &claim::Decision| {
        let (_, location) = proof.points.points[decision.point.0 as usize];
        let (Side::Edge(edge) | Side::Enter(edge, _)) =
            *sides(program, location).get(decision.side as usize)?;
        let step = steps(program, &[edge]).pop()?;
        Some(Decision {
            node: decision.point.0,
            file: step.file,
            line: step.line,
            edge: step.edge,
        })
    };
    let clauses = proof.clauses.iter();
    clauses
        .map(|clause| clause.decisions.iter().filter_map(decision).collect())
        .collect()
}

fn write_clauses(text: &mut String, clauses: &[Vec<Decision>]) {
    for clause in clauses {
        if clause.is_empty() {
            text.push_str("no run meets an error\n");
            continue;
        }
        text.push_str("no run meets an error that does all of this:\n");
        for Decision {
            node,
            file,
            line,
            edge,
        } in clause
        {
            let _ = writeln!(text, "  {file}:{line}: {edge} (node {node})");
        }
    }
}

/// How much of the path space was looked at.
fn summary(report: &Report) -> String {
    let figure = |name| report.figure(name).map(ToString::to_string);
    let explored = report.count("explored");
    // A search that was stopped before it began has met no choice: there is one path.
    let paths = figure("paths").unwrap_or_else(|| "1".to_owned());
    let noun = if paths == "1" { "path" } else { "paths" };
    let pruned = figure("pruned").or(report.statistics.is_empty().then(|| "0".to_owned()));
    match pruned {
        Some(pruned) => format!("explored {explored} of {paths} {noun}, pruned {pruned}\n"),
        None => format!("explored {explored} of {paths} {noun}\n"),
    }
}
