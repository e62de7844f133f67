//! `hardbop check`: decides the checks of a C program, each with its evidence.

use crate::c::{self, CProgram};
use crate::cli::{CheckArgs, SearchArith};
use crate::commands::artifacts::{self, Known};
use crate::commands::results::{self, Paths};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::limits;
use crate::progress::Progress;
use crate::target::Target;
use hardbop_cegar::{Arithmetic, Options, check};
use hardbop_cfront::points_to;
use hardbop_engine::{Event, Report, Task};
use hardbop_report::rows::Detail;
use hardbop_report::terminal::Show;

/// Decides every check.
pub fn run(arguments: &CheckArgs, console: &Console) -> Result<Verdict, Failure> {
    let budget = limits::budget(&arguments.limits)?;
    let target = Target::of(&arguments.input, arguments.property.as_deref())?;
    let CProgram { program, warnings } =
        c::program_with(&target.input, console, |options| target.adjust(options))?;
    let points_to = points_to::analyse(&program);
    let checks = target.checks(&program);
    let task = Task {
        program: &program,
        points_to: &points_to,
        checks: &checks,
        budget: &budget,
    };
    let report = decide(&task, arguments.arith, console);
    let paths = match arguments {
        CheckArgs { no_trace: true, .. } => Paths::None,
        CheckArgs { trace: true, .. } => Paths::Edges,
        CheckArgs { full: true, .. } => Paths::Lines(Detail::Full),
        _ => Paths::Lines(Detail::Relevant),
    };
    let seconds = budget.elapsed().as_secs_f64();
    let results = results::collect(&program, &report, paths, seconds);
    let verdict = results::verdict(&results);
    let judged = target.judge(verdict, &results);
    let known = Known {
        target: &target,
        program: &program,
        report: &report,
        results: &results,
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
            let body = results::body(&results, paths, judged);
            console.value(verdict, &program.sources, &warnings, body)?;
        }
    }
    Ok(verdict)
}

/// Decides the checks of a task while people see how far it is.
pub fn decide(task: &Task<'_>, arith: SearchArith, console: &Console) -> Report {
    let options = Options {
        arithmetic: match arith {
            SearchArith::Auto => Arithmetic::Auto,
            SearchArith::Bits => Arithmetic::Bits,
        },
        ..Options::default()
    };
    let progress = Progress::new(console);
    let mut tell = |event: Event| progress.say(event.to_string());
    check(task, &options, &mut tell)
}
