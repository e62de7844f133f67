//! `hardbop check`: decides the checks of a C program, each with its evidence.

use crate::c::{self, CProgram};
use crate::cli::{CheckArgs, SearchArith};
use crate::commands::c_run::{Step, assumptions, place, steps};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::limits;
use crate::progress::Progress;
use hardbop_cegar::{Arithmetic, Options, check};
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::interp;
use hardbop_cfront::points_to;
use hardbop_cfront::program::Program;
use hardbop_engine::{Event, Invariants, Outcome, Proof, Report, Task, Value};
use serde::Serialize;
use std::fmt::Write as _;

#[derive(Serialize)]
struct Body {
    checks: Vec<Answer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<String>,
    assumptions: Vec<String>,
    invariants: Vec<Invariant>,
    predicates: Vec<Predicate>,
    statistics: Statistics,
}

#[derive(Serialize)]
struct Answer {
    answer: &'static str,
    message: String,
    function: String,
    file: String,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<Vec<Input>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Vec<Step>>,
}

#[derive(Serialize)]
struct Input {
    function: String,
    file: String,
    line: u32,
    value: String,
}

#[derive(Serialize)]
struct Invariant {
    function: String,
    file: String,
    line: u32,
    formula: String,
}

#[derive(Serialize)]
struct Predicate {
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    formula: String,
}

#[derive(Serialize)]
struct Statistics {
    rounds: u64,
    predicates: u64,
    relations: u64,
    horn_queries: u64,
    certificate_questions: u64,
    exact_search: bool,
    seconds: f64,
}

/// Decides every check.
pub fn run(arguments: &CheckArgs, console: &Console) -> Result<Verdict, Failure> {
    let budget = limits::budget(&arguments.limits)?;
    let CProgram { program, warnings } = c::program(&arguments.input, console)?;
    let points_to = points_to::analyse(&program);
    let checks: Vec<CheckId> = (0..program.checks.len())
        .map(|i| CheckId(i as u32))
        .collect();
    let options = Options {
        arithmetic: match arguments.arith {
            SearchArith::Auto => Arithmetic::Auto,
            SearchArith::Bits => Arithmetic::Bits,
        },
        ..Options::default()
    };
    let report = {
        let progress = Progress::new(console);
        let mut tell = |event: Event| progress.say(event.to_string());
        let task = Task {
            program: &program,
            points_to: &points_to,
            checks: &checks,
            budget: &budget,
        };
        check(&task, &options, &mut tell)
    };
    let body = body(
        &program,
        &report,
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

/// The worst answer decides: a violation, then anything unknown.
fn verdict(report: &Report) -> Verdict {
    let any = |wanted: fn(&Outcome) -> bool| report.outcomes.values().any(wanted);
    if any(|outcome| matches!(outcome, Outcome::Violated(_))) {
        Verdict::Found
    } else if report.incomplete.is_some() || any(|outcome| matches!(outcome, Outcome::Unknown(_))) {
        Verdict::Unknown
    } else {
        Verdict::Fine
    }
}

fn body(program: &Program, report: &Report, trace: bool, seconds: f64) -> Body {
    let checks = report
        .outcomes
        .iter()
        .map(|(&id, outcome)| answer(program, id, outcome, trace))
        .collect();
    let none = Invariants::default();
    let proof = match &report.proof {
        Some(Proof::Invariants(invariants)) => invariants,
        _ => &none,
    };
    let invariants = proof
        .at
        .iter()
        .map(|(&location, formula)| {
            let entry = &program.locations[location.index()];
            let function = program.function(entry.function);
            let source = program
                .edges_from(location)
                .next()
                .map(|(_, edge)| edge.source);
            let (file, line) = place(program, source.unwrap_or(function.source));
            Invariant {
                function: function.name.clone(),
                file,
                line,
                formula: formula.clone(),
            }
        })
        .collect();
    let predicates = proof
        .predicates
        .iter()
        .map(|predicate| Predicate {
            function: predicate.procedure.clone(),
            formula: predicate.formula.clone(),
        })
        .collect();
    Body {
        checks,
        incomplete: report.incomplete.as_ref().map(ToString::to_string),
        assumptions: assumptions(program),
        invariants,
        predicates,
        statistics: Statistics {
            rounds: report.count("rounds"),
            predicates: report.count("predicates"),
            relations: report.count("relations"),
            horn_queries: report.count("Horn queries"),
            certificate_questions: proof.questions,
            exact_search: report.figure("exact search") == Some(&Value::Flag(true)),
            seconds,
        },
    }
}

fn answer(program: &Program, id: CheckId, outcome: &Outcome, trace: bool) -> Answer {
    let check = &program.checks[id.index()];
    let (file, line) = place(program, check.source);
    let mut answer = Answer {
        answer: "PROVED",
        message: check.message.clone(),
        function: program.function(check.function).name.clone(),
        file,
        line,
        reason: None,
        inputs: None,
        trace: None,
    };
    match outcome {
        Outcome::Proved => {}
        Outcome::Violated(violation) => {
            answer.answer = "VIOLATED";
            let told = interp::report(program, &violation.run);
            let input = |input: interp::ReportInput| Input {
                function: input.name,
                file: input.place.0,
                line: input.place.1,
                value: input.value,
            };
            answer.inputs = Some(told.inputs.into_iter().map(input).collect());
            answer.trace = trace.then(|| steps(program, &violation.run.trace));
        }
        Outcome::Unknown(reason) => {
            answer.answer = "UNKNOWN";
            answer.reason = Some(reason.to_string());
        }
    }
    answer
}

fn text(arguments: &CheckArgs, console: &Console, body: &Body) -> String {
    let mut text = String::new();
    if body.checks.is_empty() && body.incomplete.is_none() {
        text.push_str("nothing to check: the program has no assertion and no error call\n");
    }
    for answer in &body.checks {
        let colour = match answer.answer {
            "PROVED" => "32",
            "VIOLATED" => "31",
            _ => "33",
        };
        let word = console.paint(colour, answer.answer);
        let Answer {
            message,
            file,
            line,
            function,
            ..
        } = answer;
        let _ = writeln!(text, "{word} {file}:{line}: {message} (in {function})");
        if let Some(reason) = &answer.reason {
            let _ = writeln!(text, "  because {reason}");
        }
        for Step { file, line, edge } in answer.trace.iter().flatten() {
            let _ = writeln!(text, "  {file}:{line}: {edge}");
        }
        for input in answer.inputs.iter().flatten() {
            let Input {
                function,
                file,
                line,
                value,
            } = input;
            let _ = writeln!(text, "  {file}:{line}: input {function}() = {value}");
        }
    }
    if let Some(reason) = &body.incomplete
        && body.checks.iter().all(|answer| answer.reason.is_none())
    {
        let word = console.paint("33", "UNKNOWN");
        let _ = writeln!(text, "{word} whether all executions were seen");
        let _ = writeln!(text, "  because {reason}");
    }
    if arguments.invariants {
        for Invariant {
            function,
            file,
            line,
            formula,
        } in &body.invariants
        {
            let _ = writeln!(text, "{file}:{line}: in {function}: {formula}");
        }
    }
    if arguments.show_predicates {
        for Predicate { function, formula } in &body.predicates {
            let scope = function.as_deref().unwrap_or("global");
            let _ = writeln!(text, "{scope}: {formula}");
        }
    }
    for assumption in &body.assumptions {
        let _ = writeln!(text, "assuming that {assumption}");
    }
    if arguments.stats {
        let took = &body.statistics;
        let _ = writeln!(
            text,
            "{} rounds, {} predicates, {} relations, {} Horn queries, {} certificate questions, {:.2} s",
            took.rounds,
            took.predicates,
            took.relations,
            took.horn_queries,
            took.certificate_questions,
            took.seconds
        );
    }
    text
}
