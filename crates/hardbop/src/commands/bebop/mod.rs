//! `hardbop bebop`: model checks a boolean program.

mod answer;
mod interactive;
mod json;
mod text;

use crate::boolean::{self, BooleanProgram};
use crate::cli::BebopArgs;
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::limits;
use crate::listing::Words;
use crate::progress::Progress;
use crate::targets::{self, Assertions, Question};
use answer::{Decision, Report, Traces};
use hardbop_bebop::{Goal, LiveRanges, ModRef, Options, Tracking, check};
use hardbop_boolean_program::program::VertexId;

/// Checks a program.
pub fn run(arguments: &BebopArgs, console: &Console) -> Result<Verdict, Failure> {
    let budget = limits::budget(&arguments.limits)?;
    if arguments.interactive {
        interactive::refuse(arguments, console)?;
    }
    let loaded = boolean::program(&arguments.input, console)?;
    let question = Question {
        labels: &arguments.labels,
        assertions: match arguments.assertions {
            true => Assertions::All,
            false => Assertions::UnlessLabels,
        },
    };
    let targets = targets::select(&loaded.program, &question)?;
    let places = answer::invariant_places(&loaded.program, arguments.invariants.as_deref())?;

    let progress = Progress::new(console);
    progress.say("searching");
    let goal = if arguments.first {
        Goal::FirstOf(targets.clone())
    } else {
        Goal::All
    };
    let options = Options {
        goal,
        tracking: tracking(&places),
        ..Options::default()
    };
    let mut checker = check(&loaded.program, &options, &budget);
    let traces = if arguments.no_trace {
        Traces::None
    } else {
        Traces::Replayed
    };
    let report = answer::report(&mut checker, &targets, &places, traces, &budget, &progress)?;
    drop(progress);

    let verdict = verdict(&report);
    let words = Words::new(&loaded.program, &loaded.sources);
    match console.format() {
        Format::Text if arguments.interactive => interactive::run(&words, &report, console)?,
        Format::Text => console.text(&text::render(arguments, &words, &report, console))?,
        Format::Json => {
            let body = json::body(arguments, &words, &report);
            let BooleanProgram {
                sources, warnings, ..
            } = &loaded;
            console.value(verdict, sources, warnings, body)?;
        }
    }
    // The process ends here, and the system takes its memory back as a whole: sooner than tables of
    // millions of statements are given back one by one.
    std::mem::forget(checker);
    std::mem::forget(loaded);
    Ok(verdict)
}

/// The search forgets values that nobody reads again. Who asks for the reachable states wants to
/// see them all.
fn tracking(invariants: &[VertexId]) -> Tracking {
    if invariants.is_empty() {
        return Tracking::default();
    }
    Tracking {
        live_ranges: LiveRanges::Ignored,
        mod_ref: ModRef::Ignored,
    }
}

fn verdict(report: &Report) -> Verdict {
    let any = |wanted: fn(&Decision) -> bool| report.targets.iter().any(|t| wanted(&t.decision));
    if any(|decision| matches!(decision, Decision::Reachable(_))) {
        Verdict::Found
    } else if any(|decision| matches!(decision, Decision::Unknown(_))) {
        Verdict::Unknown
    } else {
        Verdict::Fine
    }
}
