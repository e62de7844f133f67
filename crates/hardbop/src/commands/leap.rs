//! `hardbop leap`: violations behind loops, found without unrolling them.

use crate::c::{self, CProgram};
use crate::cli::LeapArgs;
use crate::commands::results::chain_told;
use crate::commands::shown::{Heading, Input, place, steps};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::input;
use crate::limits;
use crate::progress::Progress;
use crate::reading;
use hardbop_c2bp::predicate::Scope;
use hardbop_cfront::ids::{CheckId, ExprId, FuncId, LocId};
use hardbop_cfront::interp;
use hardbop_cfront::points_to::{self, PointsTo};
use hardbop_cfront::program::{Op, Program, Source};
use hardbop_engine::{Claim, Task};
use hardbop_gate::{Outcome, Report, alone_telling};
use hardbop_leap::theorem::Theorem;
use hardbop_leap::{Endings, LeapReport, Options, Suggestion, Told, leap};
use hardbop_model::{Model, Prepared};
use hardbop_report::collect::assumptions;
use hardbop_report::results::EdgeStep;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;

#[derive(Serialize)]
struct Body {
    checks: Vec<Answer>,
    endings: Vec<Ending>,
    assumptions: Vec<String>,
    statistics: Statistics,
}

#[derive(Serialize)]
struct Answer {
    answer: &'static str,
    #[serde(flatten)]
    heading: Heading,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// How a violation is known: by a replay, or by the chain alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<&'static str>,
    /// The number of steps of the run: exactly if it was replayed, else at least so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<Vec<Input>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    leaps: Option<Vec<Leap>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Vec<EdgeStep>>,
}

#[derive(Serialize)]
struct Leap {
    file: String,
    line: u32,
    theorem: u32,
    states: Vec<AbstractState>,
    entry: String,
    exit: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by: Vec<String>,
    choices: Vec<Input>,
}

#[derive(Serialize)]
struct AbstractState {
    file: String,
    line: u32,
    formula: String,
}

#[derive(Serialize)]
struct Ending {
    file: String,
    line: u32,
    by: Vec<String>,
}

#[derive(Serialize)]
struct Statistics {
    cut_points: u64,
    paths: u64,
    attempts: u64,
    leaps: u64,
    chains: u64,
    questions: u64,
    undecided: u64,
    seconds: f64,
}

/// Inputs beyond this many are counted, not shown, where people read.
const SHOWN_INPUTS: usize = 12;

/// Looks for violations.
pub fn run(arguments: &LeapArgs, console: &Console) -> Result<Verdict, Failure> {
    let budget = limits::budget(&arguments.limits)?;
    let CProgram {
        program,
        points_to,
        warnings,
        ..
    } = c::program(&arguments.input, console)?;
    let (program, points_to, predicates) = with_predicates(arguments, program, points_to)?;
    let checks: Vec<CheckId> = (0..program.checks.len())
        .map(|i| CheckId(i as u32))
        .collect();
    let options = Options {
        replay_steps: arguments.replay_steps,
        suggestion: suggestion(arguments, &program)?,
        predicates,
        endings: if arguments.no_endings {
            Endings::Skip
        } else {
            Endings::Find
        },
        ..Options::default()
    };
    let prepared = Prepared::with_points_to(&program, points_to, &reading::budget())?;
    let model = Model::new(&program, &prepared);
    let task = Task {
        model: &model,
        checks: &checks,
        budget: &budget,
    };
    let progress = Progress::new(console);
    let (report, explained) =
        alone_telling(|desk| leap(&task, &options, desk), &task, &mut |event| {
            progress.say(event.to_string())
        });
    drop(progress);
    let body = body(
        &program,
        &report,
        &explained,
        arguments.trace,
        budget.elapsed().as_secs_f64(),
    );
    let verdict = verdict(&report);
    match console.format() {
        Format::Text => console.text(&text(arguments, console, &body))?,
        Format::Json => console.value(verdict, &program.sources, &warnings, body)?,
    }
    Ok(verdict)
}

/// The program with the user's predicates in it.
#[expect(clippy::type_complexity, reason = "it is taken apart at once")]
fn with_predicates(
    arguments: &LeapArgs,
    program: Program,
    known: Option<PointsTo>,
) -> Result<(Program, PointsTo, Vec<(Option<FuncId>, ExprId)>), Failure> {
    if arguments.predicates.is_empty() {
        let points_to = match known {
            Some(points_to) => points_to,
            None => points_to::analyse(&program, &reading::budget())?,
        };
        return Ok((program, points_to, Vec::new()));
    }
    let analysed = input::predicates(&arguments.predicates, program)?.analyse(&reading::budget())?;
    if !analysed.olds.is_empty() {
        return Err(Failure::message(
            "`old(...)` has no meaning to `hardbop leap`: its predicates speak of one state"
                .to_owned(),
        ));
    }
    let predicates = analysed
        .predicates
        .iter()
        .map(|predicate| {
            let scope = match predicate.scope {
                Scope::Global => None,
                Scope::Function(function) => Some(function),
            };
            (scope, predicate.expr)
        })
        .collect();
    Ok((analysed.program, analysed.points_to, predicates))
}

/// The locations at the lines that the user names.
fn suggestion(arguments: &LeapArgs, program: &Program) -> Result<Suggestion, Failure> {
    if arguments.loops.is_empty() {
        return Ok(Suggestion::None);
    }
    let mut found = BTreeSet::new();
    for &line in &arguments.loops {
        let before = found.len();
        for index in 0..program.locations.len() {
            let location = LocId(index as u32);
            let mut edges = program.edges_from(location);
            if edges.any(|(_, edge)| edge.source.line == line) {
                found.insert(location);
            }
        }
        if found.len() == before {
            return Err(Failure::message(format!("there is no code at line {line}")));
        }
    }
    Ok(Suggestion::Through(found))
}

/// A violation decides; nothing is ever proved here.
fn verdict(report: &Report) -> Verdict {
    let mut outcomes = report.outcomes.values();
    if report.outcomes.is_empty() {
        Verdict::Fine
    } else if outcomes.any(|outcome| !matches!(outcome, Outcome::Unknown(_))) {
        Verdict::Found
    } else {
        Verdict::Unknown
    }
}

fn body(program: &Program, report: &Report, explained: &Told, trace: bool, seconds: f64) -> Body {
    let checks = report
        .outcomes
        .iter()
        .map(|(&id, outcome)| answer(program, explained, id, outcome, trace))
        .collect();
    let endings = explained
        .endings
        .iter()
        .map(|ending| {
            let (file, line) = at(program, ending.head);
            let by = ending.view.iter().map(|name| short(name)).collect();
            Ending { file, line, by }
        })
        .collect();
    Body {
        checks,
        endings,
        assumptions: assumptions(program),
        statistics: Statistics {
            cut_points: report.count("cut points"),
            paths: report.count("paths"),
            attempts: report.count("loops tried"),
            leaps: report.count("leaps"),
            chains: report.count("chains"),
            questions: report.count("questions"),
            undecided: report.count("undecided questions"),
            seconds,
        },
    }
}

fn short(name: &str) -> String {
    name.rsplit("::").next().unwrap_or(name).to_owned()
}

/// Where a location stands.
fn at(program: &Program, location: LocId) -> (String, u32) {
    let function = program.locations[location.index()].function;
    let source = program
        .edges_from(location)
        .next()
        .map_or(program.function(function).source, |(_, edge)| edge.source);
    place(program, source)
}

fn answer(
    program: &Program,
    explained: &Told,
    id: CheckId,
    outcome: &Outcome,
    trace: bool,
) -> Answer {
    let leaps = explained.explanations.get(&id).map(|leaps| {
        let told = |(leap, heads): &(LeapReport, Vec<LocId>)| told(program, leap, heads);
        leaps.iter().map(told).collect()
    });
    let mut answer = Answer {
        answer: "UNKNOWN",
        heading: Heading::of(program, id),
        reason: None,
        evidence: None,
        length: None,
        inputs: None,
        leaps,
        trace: None,
    };
    match outcome {
        Outcome::Violated(refutation) => match (refutation.run(), refutation.claim()) {
            (Some(run), _) => {
                answer.answer = "VIOLATED";
                answer.evidence = Some("replay");
                answer.length = Some(run.steps.to_string());
                let told = interp::report(program, run);
                answer.inputs = Some(told.inputs.into_iter().map(Input::of).collect());
                answer.trace = trace.then(|| steps(program, &run.trace));
            }
            (None, Claim::Chain(chain)) => {
                let told = chain_told(program, chain, refutation.questions());
                answer.answer = "VIOLATED(leap)";
                answer.evidence = Some("must transitions");
                answer.reason = Some(format!(
                    "a run of at least {} steps reaches it, too long to be replayed; its chain of \
                     must transitions was checked again by {} questions",
                    told.length, told.questions
                ));
                answer.length = Some(told.length);
                let inputs = told.inputs.into_iter();
                answer.inputs = Some(inputs.map(|input| claimed(program, input)).collect());
            }
            // No other claim is of a violation that nobody ran.
            (None, _) => {}
        },
        Outcome::Unknown(reason) => answer.reason = Some(reason.to_string()),
        // Leaping proves nothing.
        Outcome::Proved(_) => {}
    }
    answer
}

fn claimed(program: &Program, (source, function, value): (Source, String, String)) -> Input {
    let (file, line) = place(program, source);
    Input {
        function,
        file,
        line,
        value,
    }
}

fn told(program: &Program, leap: &LeapReport, heads: &[LocId]) -> Leap {
    let states: Vec<AbstractState> = leap
        .state
        .iter()
        .zip(heads)
        .map(|(formula, &head)| {
            let (file, line) = at(program, head);
            AbstractState {
                file,
                line,
                formula: formula.clone(),
            }
        })
        .collect();
    let (file, line) = match states.first() {
        Some(first) => (first.file.clone(), first.line),
        None => (String::new(), 0),
    };
    let choices = leap
        .choices
        .iter()
        .map(|(edge, value)| {
            let edge = &program.edges[edge.index()];
            let (file, line) = place(program, edge.source);
            let function = match &edge.op {
                Op::Input { name, .. } => name.clone(),
                _ => "(unknown contents)".to_owned(),
            };
            Input {
                function,
                file,
                line,
                value: value.clone(),
            }
        })
        .collect();
    Leap {
        file,
        line,
        theorem: match leap.theorem {
            Theorem::Backward => 1,
            Theorem::Forward => 2,
        },
        states,
        entry: leap.entry.clone(),
        exit: leap.exit.clone(),
        by: leap.view.clone(),
        choices,
    }
}

fn text(arguments: &LeapArgs, console: &Console, body: &Body) -> String {
    let mut text = String::new();
    if body.checks.is_empty() {
        text.push_str("nothing to check: the program has no assertion and no error call\n");
    }
    for answer in &body.checks {
        let colour = match answer.answer {
            "UNKNOWN" => "33",
            _ => "31",
        };
        let word = console.paint(colour, answer.answer);
        let _ = writeln!(text, "{word} {}", answer.heading);
        if let Some(reason) = &answer.reason {
            let _ = writeln!(text, "  because {reason}");
        }
        for leap in answer.leaps.iter().flatten() {
            leap_text(&mut text, leap);
        }
        for EdgeStep { file, line, edge } in answer.trace.iter().flatten() {
            let _ = writeln!(text, "  {file}:{line}: {edge}");
        }
        let inputs = answer.inputs.as_deref().unwrap_or_default();
        for input in inputs.iter().take(SHOWN_INPUTS) {
            input_text(&mut text, "  ", input);
        }
        if inputs.len() > SHOWN_INPUTS {
            let _ = writeln!(text, "  and {} more inputs", inputs.len() - SHOWN_INPUTS);
        }
    }
    for Ending { file, line, by } in &body.endings {
        let _ = writeln!(
            text,
            "{file}:{line}: this loop ends wherever it is entered (by {})",
            by.join(", ")
        );
    }
    for assumption in &body.assumptions {
        let _ = writeln!(text, "assuming that {assumption}");
    }
    if arguments.stats {
        let took = &body.statistics;
        let _ = writeln!(
            text,
            "{} cut points, {} paths, {} loops tried, {} leaps, {} chains, {} questions, {:.2} s",
            took.cut_points,
            took.paths,
            took.attempts,
            took.leaps,
            took.chains,
            took.questions,
            took.seconds
        );
    }
    text
}

fn input_text(text: &mut String, indent: &str, input: &Input) {
    let Input {
        function,
        file,
        line,
        value,
    } = input;
    let call = if function.starts_with('(') {
        function.clone()
    } else {
        format!("{function}()")
    };
    let _ = writeln!(text, "{indent}{file}:{line}: input {call} = {value}");
}

fn leap_text(text: &mut String, leap: &Leap) {
    let direction = match leap.theorem {
        1 => "backward, by Theorem 1",
        _ => "forward, by Theorem 2",
    };
    let Leap { file, line, .. } = leap;
    let by = if leap.by.is_empty() {
        String::new()
    } else {
        format!(" for {}", leap.by.join(", "))
    };
    let _ = writeln!(text, "  {file}:{line}: leapt {direction}{by}");
    for state in &leap.states {
        let place = if leap.states.len() > 1 {
            format!(" at line {}", state.line)
        } else {
            String::new()
        };
        let _ = writeln!(text, "    abstract state{place}: {}", state.formula);
    }
    let _ = writeln!(text, "    entry port: {}", leap.entry);
    let _ = writeln!(text, "    exit port: {}", leap.exit);
    for choice in &leap.choices {
        let Input {
            function,
            file,
            line,
            value,
        } = choice;
        let _ = writeln!(text, "    chosen at {file}:{line}: {function}() = {value}");
    }
}
