//! `hardbop validate`: checks witnesses, of this tool and of others.

use crate::c::{self, CProgram};
use crate::cli::{CInput, DataModelName, SearchArith, ValidateArgs};
use crate::commands::artifacts::hashes;
use crate::commands::check::decide;
use crate::commands::results::{self, Paths};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::target::Target;
use crate::{input, limits};
use hardbop_budget::Budget;
use hardbop_cfront::points_to;
use hardbop_diagnostics::{Diagnostic, Sources, Span};
use hardbop_engine::Task;
use hardbop_report::results::{Answer, CheckResult, Results};
use hardbop_report::rows::Detail;
use hardbop_report::terminal::{self, Show};
use hardbop_witness::model::{Content, Witness};
use hardbop_witness::read::{compare, read};
use hardbop_witness::weave::weave;
use serde::Serialize;

#[derive(Serialize)]
struct Body {
    witnesses: Vec<Judged>,
}

/// What is known of a witness.
#[derive(Serialize)]
struct Judged {
    #[serde(rename = "type")]
    kind: &'static str,
    producer: String,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip)]
    shown: String,
}

/// Validates, or only looks at, a witness.
pub fn run(arguments: &ValidateArgs, console: &Console) -> Result<Verdict, Failure> {
    let mut sources = Sources::new();
    let file = input::text(&arguments.witness, &mut sources)?;
    let found = read(file, sources.text(file));
    let mut diagnostics = found.diagnostics;
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(Failure::Input {
            sources,
            diagnostics,
        });
    }
    let whole = Span::new(file, 0, 0);
    let mut verdict = Verdict::Fine;
    let mut judged = Vec::new();
    if !arguments.lint {
        if arguments.input.files.is_empty() {
            return Err(Failure::message(
                "a program is needed: `hardbop validate --witness FILE PROGRAM.c`",
            ));
        }
        if found.witnesses.is_empty() {
            return Err(Failure::message(
                "the file holds no witness that can be validated",
            ));
        }
        let budget = limits::budget(&arguments.limits)?;
        for witness in &found.witnesses {
            let (one, said) = validate(arguments, witness, whole, &budget, console)?;
            diagnostics.extend(said);
            let next = match one.verdict {
                "confirmed" => Verdict::Fine,
                "rejected" => Verdict::Found,
                _ => Verdict::Unknown,
            };
            verdict = match (verdict, next) {
                (Verdict::Found, _) | (_, Verdict::Found) => Verdict::Found,
                (Verdict::Unknown, _) | (_, Verdict::Unknown) => Verdict::Unknown,
                _ => Verdict::Fine,
            };
            judged.push(one);
        }
    }
    console.warn(&sources, &diagnostics);
    match console.format() {
        Format::Json => {
            let body = Body { witnesses: judged };
            console.value(verdict, &sources, &diagnostics, body)?;
        }
        Format::Text if arguments.lint => {
            let entries = found.witnesses.len();
            let noun = if entries == 1 { "entry" } else { "entries" };
            console.text(&format!("well formed, {entries} {noun}\n"))?;
        }
        Format::Text => {
            let text: String = judged.into_iter().map(|one| one.shown).collect();
            console.text(&text)?;
        }
    }
    Ok(verdict)
}

fn validate(
    arguments: &ValidateArgs,
    witness: &Witness,
    whole: Span,
    budget: &Budget,
    console: &Console,
) -> Result<(Judged, Vec<Diagnostic>), Failure> {
    let input = CInput {
        data_model: arguments
            .input
            .data_model
            .or(match witness.metadata.data_model.as_str() {
                "ILP32" => Some(DataModelName::Ilp32),
                "LP64" => Some(DataModelName::Lp64),
                _ => None,
            }),
        ..arguments.input.clone()
    };
    let target = match &arguments.property {
        Some(property) => Target::of(&input, Some(property))?,
        None => Target::with_specification(&input, &witness.metadata.specification)?,
    };
    let mut diagnostics = compare(witness, whole, &hashes(&target)?);
    let CProgram { program, .. } =
        c::program_with(&target.input, &Default::default(), console, |options| {
            target.adjust(options)
        })?;
    let property = target.checks(&program);
    let woven = weave(&program, &property, witness);
    diagnostics.extend(woven.diagnostics.iter().cloned());
    let problems = hardbop_cfront::verify::verify(&woven.program);
    if let Some(problem) = problems.first() {
        return Err(Failure::internal(format!(
            "the woven program is broken: {problem}"
        )));
    }
    let mut checks = woven.property.clone();
    checks.extend(&woven.invariants);
    let points_to = points_to::analyse(&woven.program);
    let task = Task {
        program: &woven.program,
        points_to: &points_to,
        checks: &checks,
        budget,
    };
    let (report, _) = decide(&task, SearchArith::Auto, console);
    let results = results::collect(
        &woven.program,
        &report,
        Paths::Lines(Detail::Relevant),
        budget,
    );
    let unchecked = woven.unchecked + witness.unread;
    let verdict = match &witness.content {
        Content::Violation(_) => violation(&results, checks.is_empty(), unchecked),
        Content::Correctness(_) => correctness(&results, unchecked),
    };
    let (word, reason, evidence) = verdict;
    let kind = match witness.content {
        Content::Violation(_) => "violation",
        Content::Correctness(_) => "correctness",
    };
    let colour = match word {
        "confirmed" => "32",
        "rejected" => "31",
        _ => "33",
    };
    let mut shown = format!("{kind} witness {}", console.paint(colour, word));
    if let Some(reason) = &reason {
        shown.push_str(&format!(": {reason}"));
    }
    shown.push('\n');
    if let Some(check) = evidence {
        let alone = Results {
            checks: vec![check.clone()],
            assumptions: Vec::new(),
            incomplete: None,
            ..results.clone()
        };
        let show = Show {
            path: Some(Detail::Relevant),
            invariants: false,
            predicates: false,
            statistics: false,
        };
        shown.push_str(&terminal::text(&alone, show, console));
    }
    for assumption in &results.assumptions {
        shown.push_str(&format!("assuming that {assumption}\n"));
    }
    let judged = Judged {
        kind,
        producer: witness.metadata.producer.clone(),
        verdict: word,
        reason,
        shown,
    };
    Ok((judged, diagnostics))
}

type Judgement<'r> = (&'static str, Option<String>, Option<&'r CheckResult>);

fn violated(results: &Results) -> Option<&CheckResult> {
    let found = |check: &&CheckResult| matches!(check.answer, Answer::Violated(_));
    results.checks.iter().find(found)
}

fn unknown(results: &Results) -> Option<String> {
    results.incomplete.clone().or_else(|| {
        results.checks.iter().find_map(|check| match &check.answer {
            Answer::Unknown(reason) => Some(reason.clone()),
            _ => None,
        })
    })
}

fn violation(results: &Results, no_target: bool, unchecked: usize) -> Judgement<'_> {
    if no_target {
        let reason = "its target is no place where the property can be violated";
        return ("rejected", Some(reason.to_owned()), None);
    }
    match (violated(results), unknown(results)) {
        (Some(check), _) if unchecked > 0 => {
            let reason = "the property is violated, but not all of the witness could be followed";
            ("unknown", Some(reason.to_owned()), Some(check))
        }
        (Some(check), _) => ("confirmed", None, Some(check)),
        (None, Some(reason)) => ("unknown", Some(reason), None),
        (None, None) => {
            let reason = "no execution that follows it violates the property";
            ("rejected", Some(reason.to_owned()), None)
        }
    }
}

fn correctness(results: &Results, unchecked: usize) -> Judgement<'_> {
    match (violated(results), unknown(results)) {
        (Some(check), _) => {
            let reason = if check.message.starts_with("invariant ") {
                "an invariant does not hold"
            } else {
                "the property is violated"
            };
            ("rejected", Some(reason.to_owned()), Some(check))
        }
        (None, Some(reason)) => ("unknown", Some(reason), None),
        (None, None) if unchecked > 0 => {
            let reason = "the property holds, but not all of the witness could be checked";
            ("unknown", Some(reason.to_owned()), None)
        }
        (None, None) => ("confirmed", None, None),
    }
}
