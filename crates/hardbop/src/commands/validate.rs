//! `hardbop validate`: checks witnesses, of this tool and of others.

use crate::c::{self, CProgram};
use crate::cli::{CInput, DataModelName, SearchArith, ValidateArgs};
use crate::commands::artifacts::hashes;
use crate::commands::check::decide;
use crate::commands::results::{self, Paths};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::reading;
use crate::target::Target;
use crate::{input, limits};
use hardbop_budget::Budget;
use hardbop_diagnostics::{Diagnostic, Sources, Span};
use hardbop_engine::Task;
use hardbop_model::{Model, Prepared};
use hardbop_portfolio::Found;
use hardbop_report::results::{Answer, CheckResult, Results};
use hardbop_report::rows::Detail;
use hardbop_report::terminal::{self, Listing, Show};
use hardbop_witness::model::{Content, Witness};
use hardbop_witness::read::{compare, read};
use hardbop_witness::weave::{Woven, weave};
use serde::Serialize;

#[derive(Serialize)]
struct Body {
    witnesses: Vec<Judged>,
}

/// What is known of a witness.
#[derive(Clone, Serialize)]
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
    let diagnostics = found.diagnostics;
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(Failure::Input {
            sources,
            diagnostics,
        });
    }
    let whole = Span::new(file, 0, 0);
    let mut session = Session {
        console,
        sources,
        diagnostics,
        judged: Vec::new(),
    };
    if arguments.lint {
        return session.linted(found.witnesses.len());
    }
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
        let (one, said) = validate(arguments, witness, whole, &budget, &session)?;
        session.diagnostics.extend(said);
        session.judged.push(one);
    }
    session.finish()
}

/// What is known so far of the witnesses of a file.
#[derive(Clone)]
struct Session<'a> {
    console: &'a Console,
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
    judged: Vec<Judged>,
}

impl Session<'_> {
    /// The worst answer counts.
    fn verdict(&self) -> Verdict {
        let any = |word: &str| self.judged.iter().any(|one| one.verdict == word);
        if any("rejected") {
            Verdict::Found
        } else if any("unknown") {
            Verdict::Unknown
        } else {
            Verdict::Fine
        }
    }

    fn linted(self, entries: usize) -> Result<Verdict, Failure> {
        self.console.warn(&self.sources, &self.diagnostics);
        match self.console.format() {
            Format::Json => self.value(Verdict::Fine)?,
            Format::Text => {
                let noun = if entries == 1 { "entry" } else { "entries" };
                self.console
                    .text(&format!("well formed, {entries} {noun}\n"))?;
            }
        }
        Ok(Verdict::Fine)
    }

    fn finish(self) -> Result<Verdict, Failure> {
        let verdict = self.verdict();
        self.console.warn(&self.sources, &self.diagnostics);
        match self.console.format() {
            Format::Json => self.value(verdict)?,
            Format::Text => {
                let text: String = self.judged.iter().map(|one| one.shown.as_str()).collect();
                self.console.text(&text)?;
            }
        }
        Ok(verdict)
    }

    fn value(self, verdict: Verdict) -> Result<(), Failure> {
        let body = Body {
            witnesses: self.judged,
        };
        self.console
            .value(verdict, &self.sources, &self.diagnostics, body)
    }
}

fn validate(
    arguments: &ValidateArgs,
    witness: &Witness,
    whole: Span,
    budget: &Budget,
    session: &Session<'_>,
) -> Result<(Judged, Vec<Diagnostic>), Failure> {
    let console = session.console;
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
    target.fits(&program)?;
    let property = target.checks(&program);
    let woven = weave(&program, &property, witness, &reading::budget())?;
    diagnostics.extend(woven.diagnostics.iter().cloned());
    let problems = hardbop_cfront::verify::verify(&woven.program);
    if let Some(problem) = problems.first() {
        return Err(Failure::internal(format!(
            "the woven program is broken: {problem}"
        )));
    }
    let mut checks = woven.property.clone();
    checks.extend(&woven.invariants);
    let prepared = Prepared::new(&woven.program, &reading::budget())?;
    let model = Model::new(&woven.program, &prepared);
    let task = Task {
        model: &model,
        checks: &checks,
        budget,
    };
    let judge = |found: &Found| judge(witness, &woven, found, budget, console);
    let late = |found: &Found| {
        let mut session = session.clone();
        session.diagnostics.extend(diagnostics.iter().cloned());
        session.judged.push(judge(found));
        match session.finish() {
            Ok(verdict) => verdict.exit_code(),
            Err(failure) => console.fail(&failure),
        }
    };
    let found = decide(&task, SearchArith::Auto, console, &late);
    let judged = judge(&found);
    Ok((judged, diagnostics))
}

/// What the answers about the woven program say of the witness.
fn judge(
    witness: &Witness,
    woven: &Woven,
    found: &Found,
    budget: &Budget,
    console: &Console,
) -> Judged {
    let paths = Paths::Lines(Detail::Relevant);
    let mut results = results::collect(&woven.program, found, paths, budget);
    results::statistics(&mut results, &[&found.report], budget);
    let unchecked = woven.unchecked + witness.unread;
    let (word, reason, evidence) = match &witness.content {
        Content::Violation(_) => violation(&results, woven.property.is_empty(), unchecked),
        Content::Correctness(_) => correctness(&results, unchecked),
    };
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
            listing: Listing::Whole,
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
    Judged {
        kind,
        producer: witness.metadata.producer.clone(),
        verdict: word,
        reason,
        shown,
    }
}

type Judgement<'r> = (&'static str, Option<String>, Option<&'r CheckResult>);

fn violated(results: &Results) -> Option<&CheckResult> {
    let found = |check: &&CheckResult| matches!(check.answer, Answer::Violated(_));
    results.checks.iter().find(found)
}

/// Why something is not known: a check's own reason says more than that not all was seen.
fn unknown(results: &Results) -> Option<String> {
    let mut checks = results.checks.iter();
    let own = checks.find_map(|check| match &check.answer {
        Answer::Unknown(reason) => Some(reason.clone()),
        Answer::Bounded(bounded) => Some(bounded.reason.clone()),
        _ => None,
    });
    own.or_else(|| results.incomplete.clone())
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
