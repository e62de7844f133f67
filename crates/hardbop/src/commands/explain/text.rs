//! Explanations as people read them.

use super::{Answer, Body, Entry, Explained, Step, Tables};
use crate::cli::{ArithName, ExplainArgs};
use crate::commands::shown::Input;
use std::fmt::Write as _;

/// Longer formulas are cut where people read.
const LONGEST: usize = 160;

/// All of it.
pub(super) fn text(arguments: &ExplainArgs, body: &Body) -> String {
    let mut text = String::new();
    if body.checks.is_empty() {
        text.push_str("nothing to explain: the program has no assertion and no error call\n");
    }
    let reading = match arguments.arith {
        ArithName::Exact => "",
        ArithName::Int => " over the integers",
    };
    for check in &body.checks {
        check_text(&mut text, check, "the shortest path to it", reading);
    }
    for assumption in &body.assumptions {
        let _ = writeln!(text, "assuming that {assumption}");
    }
    text
}

/// What is known of one path; `which` one it is.
pub(super) fn check_text(text: &mut String, check: &Explained, which: &str, reading: &str) {
    let _ = writeln!(text, "{}", check.heading);
    if let Some(reason) = &check.reason {
        let _ = writeln!(text, "  {reason}");
        return;
    }
    let answer = match check.path {
        Answer::Infeasible => "cannot be run",
        Answer::Feasible => "can be run",
        Answer::Plausible => "can be run, as far as this reading of the program tells",
        Answer::Unknown => "may or may not be run",
    };
    let _ = writeln!(text, "  {which} {answer}{reading}:");
    if let Some(context) = &check.context {
        steps_text(text, check, context, |_| true);
    }
    for input in check.inputs.iter().flatten() {
        let Input {
            function,
            file,
            line,
            value,
        } = input;
        let _ = writeln!(text, "  with {file}:{line}: input {function}() = {value}");
    }
    if let Some(core) = &check.core {
        let _ = writeln!(text, "  these conditions contradict each other:");
        for condition in core {
            let formula = cut(&condition.formula);
            let _ = writeln!(text, "    [{}] {formula}", condition.step);
        }
    }
    if let Some(annotations) = &check.annotations
        && !annotations.is_empty()
    {
        let _ = writeln!(text, "  whatever these values are:");
        for entry in annotations {
            let Entry {
                step,
                variable,
                value,
                ..
            } = entry;
            let _ = writeln!(text, "    before [{step}] {variable} = {value}");
        }
    }
    if let Some(projection) = &check.projection {
        let _ = writeln!(text, "  these statements alone cannot be run either:");
        let kept = |number: usize| projection.steps.contains(&number);
        steps_text(text, check, &projection.tables, kept);
    }
}

/// Statements, each with the values and conditions that it adds.
fn steps_text(
    text: &mut String,
    check: &Explained,
    tables: &Tables,
    is_shown: impl Fn(usize) -> bool,
) {
    for step in check.steps.iter().filter(|step| is_shown(step.number)) {
        let Step {
            number,
            file,
            line,
            statement,
        } = step;
        let _ = writeln!(text, "    [{number}] {file}:{line}: {}", cut(statement));
        let at = *number;
        let here = || tables.entries.iter().filter(move |entry| entry.step == at);
        for entry in here().filter(|entry| entry.kind == "symbolic") {
            entry_text(text, entry);
        }
        for condition in tables
            .conditions
            .iter()
            .filter(|condition| condition.step == at)
        {
            let formula = cut(&condition.formula);
            let _ = writeln!(text, "        {formula}{}", needs(&condition.depends_on));
        }
        for entry in here().filter(|entry| entry.kind == "assigned") {
            entry_text(text, entry);
        }
    }
}

fn entry_text(text: &mut String, entry: &Entry) {
    let state = match entry.state {
        "store" => "",
        "history" => ", replaced later",
        _ => ", forgotten later",
    };
    let needs = needs(&entry.depends_on);
    let Entry {
        number, variable, ..
    } = entry;
    let value = cut(&entry.value);
    let _ = writeln!(text, "        {number}. {variable} = {value}{needs}{state}");
}

/// What something depends on, as the papers write it.
fn needs(numbers: &[usize]) -> String {
    if numbers.is_empty() {
        return String::new();
    }
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    format!(" ({})", numbers.join(","))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
