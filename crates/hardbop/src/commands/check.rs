//! `hardbop check`: decides the checks of a C program, each with its evidence.

use crate::c::{self, CProgram};
use crate::cli::{CheckArgs, SearchArith};
use crate::commands;
use crate::commands::artifacts::{self, Known};
use crate::commands::results::{self, Paths};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::limits;
use crate::progress::Progress;
use crate::project;
use crate::target::Target;
use hardbop_cegar::{Arithmetic, Options, check};
use hardbop_cfront::points_to;
use hardbop_engine::{Event, Report, Task, Value};
use hardbop_report::results::Round;
use hardbop_report::terminal::Show;
use std::path::Path;

/// The most rounds that are kept for a plot.
const MOST_ROUNDS: usize = 10_000;

/// Decides every check.
pub fn run(arguments: &CheckArgs, console: &Console) -> Result<Verdict, Failure> {
    let budget = limits::budget(&arguments.limits)?;
    if arguments.input.files.is_empty() && arguments.input.compile_commands.is_none() {
        let here = Path::new(".");
        return match project::find(here)? {
            Some(project) => commands::project::run(&project, &budget, console),
            None => Err(Failure::message(
                "no file is named, and there is no hardbop.toml here: give FILE.c, or begin a \
                 project with `hardbop init`",
            )),
        };
    }
    let target = Target::of(&arguments.input, arguments.property.as_deref())?;
    let CProgram {
        program,
        warnings,
        files,
    } = c::program_with(&target.input, console, |options| target.adjust(options))?;
    let points_to = points_to::analyse(&program);
    let checks = target.checks(&program);
    let task = Task {
        program: &program,
        points_to: &points_to,
        checks: &checks,
        budget: &budget,
    };
    let (report, rounds) = decide(&task, arguments.arith, console);
    let paths = Paths::of(&arguments.runs);
    let seconds = budget.elapsed().as_secs_f64();
    let mut results = results::collect(&program, &report, paths, seconds);
    results.rounds = rounds;
    let verdict = results::verdict(&results);
    let judged = target.judge(verdict, &results);
    let known = Known {
        target: &target,
        program: &program,
        report: &report,
        results: &results,
        seconds,
    };
    let made = artifacts::write(&arguments.artifacts, &known)?;
    match console.format() {
        Format::Text => {
            let show = Show {
                path: None,
                invariants: arguments.invariants,
                predicates: arguments.show_predicates,
                statistics: arguments.stats,
            };
            let mut text = results::text(&results, paths, show, console);
            text.extend(judged.iter().map(|judged| judged.text(console)));
            text.push_str(&made);
            console.text(&text)?;
        }
        Format::Json => {
            let body = results::body(&results, paths, judged).with_files(files);
            console.value(verdict, &program.sources, &warnings, body)?;
        }
    }
    Ok(verdict)
}

/// Decides the checks of a task while people see how far it is. Tells how it went, too.
pub fn decide(task: &Task<'_>, arith: SearchArith, console: &Console) -> (Report, Vec<Round>) {
    let options = Options {
        arithmetic: match arith {
            SearchArith::Auto => Arithmetic::Auto,
            SearchArith::Bits => Arithmetic::Bits,
        },
        ..Options::default()
    };
    let progress = Progress::new(console);
    let mut rounds: Vec<Round> = Vec::new();
    let mut tell = |event: Event| {
        progress.say(event.to_string());
        let predicates = event.figures.iter().find_map(|figure| match figure.value {
            Value::Count(count) if figure.name == "predicates" => Some(count as usize),
            _ => None,
        });
        let next = Round {
            seconds: task.budget.elapsed().as_secs_f64(),
            predicates: predicates.unwrap_or(0),
            open: event.open,
        };
        let same = |last: &Round| last.predicates == next.predicates && last.open == next.open;
        if !rounds.last().is_some_and(same) && rounds.len() < MOST_ROUNDS {
            rounds.push(next);
        }
    };
    let report = check(task, &options, &mut tell);
    (report, rounds)
}
