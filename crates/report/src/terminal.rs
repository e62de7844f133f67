//! Results for a person at a terminal.

mod many;

use crate::results::{Answer, CheckResult, EdgeStep, InvariantAt, Results, RuleRun, StepOf, Trace};
use crate::rows::{Detail, Line, Row, changes, rows};
use crate::shorten::shortened;
use hardbop_cfront::program::CheckKind;
use std::fmt::Write;

/// Whether and how words are coloured.
pub trait Paint {
    /// The text in the colour of an SGR code.
    fn paint(&self, code: &str, text: &str) -> String;
}

/// No colours.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Paint for Plain {
    fn paint(&self, _: &str, text: &str) -> String {
        text.to_owned()
    }
}

/// What of the results is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Show {
    /// Which checks are listed.
    pub listing: Listing,
    /// The paths of violations.
    pub path: Option<Detail>,
    /// Invariants and contracts.
    pub invariants: bool,
    /// Predicates.
    pub predicates: bool,
    /// What the search took.
    pub statistics: bool,
}

/// Which checks are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Each, in the order of the program.
    Whole,
    /// Where there are many, what is violated first, then what is not known by its reasons, and
    /// what is proved by functions.
    Short,
}

/// Longer changes of a rule's state get a line of their own.
const WIDEST_MARGIN: usize = 36;
/// Text lines are aligned up to this many columns.
const LONGEST: usize = 60;
/// The columns of an indentation step.
const STEP: usize = 4;
/// Deeper calls are not indented further; the depth is written out instead.
const DEEPEST: u32 = 12;
/// The most inputs that are listed unless everything is wanted.
const INPUTS: usize = 40;

/// The results as text.
pub fn text(results: &Results, show: Show, paint: &dyn Paint) -> String {
    let mut out = String::new();
    if results.checks.is_empty() && results.incomplete.is_none() {
        out.push_str("nothing to check: the program has no assertion and no error call\n");
    }
    if show.listing == Listing::Short && results.checks.len() > many::FEW {
        many::write(&mut out, results, show, paint);
    } else {
        for check in &results.checks {
            write_check(&mut out, results, check, show, paint);
        }
        // Between traces, answers are easily missed.
        if results.checks.len() > 1 {
            many::write_counts(&mut out, results);
        }
    }
    let explained = |check: &CheckResult| check.answer.is_open();
    if let Some(reason) = &results.incomplete
        && !results.checks.iter().any(explained)
    {
        let word = paint.paint("33", "UNKNOWN");
        let _ = writeln!(out, "{word} whether all executions were seen");
        let _ = writeln!(out, "  because {reason}");
    }
    if show.invariants {
        write_invariants(&mut out, results, paint);
    }
    if show.predicates {
        for predicate in &results.predicates {
            let scope = predicate.function.as_deref().unwrap_or("global");
            let rule = of_rule(predicate.rule.as_deref());
            let _ = writeln!(out, "{scope}: {}{rule}", predicate.formula);
        }
    }
    for assumption in &results.assumptions {
        let _ = writeln!(out, "assuming that {assumption}");
    }
    if show.statistics {
        let figures = results.statistics.iter();
        let words: Vec<&str> = figures.map(|figure| figure.text.as_str()).collect();
        let _ = writeln!(out, "{}", words.join(", "));
    }
    out
}

fn write_check(
    out: &mut String,
    results: &Results,
    check: &CheckResult,
    show: Show,
    paint: &dyn Paint,
) {
    let colour = match check.answer {
        Answer::Proved => "32",
        Answer::Violated(_) => "31",
        Answer::Bounded(_) | Answer::Unknown(_) => "33",
    };
    let word = paint.paint(colour, check.answer.word());
    let (file, line) = results.shown(check.place);
    let CheckResult {
        message, function, ..
    } = check;
    let proviso = check.proviso();
    let _ = writeln!(
        out,
        "{word} {file}:{line}: {message} (in {function}){proviso}"
    );
    match &check.answer {
        Answer::Proved if check.kind == CheckKind::Termination => {
            for rank in &results.ranks {
                let (file, line) = results.shown(rank.place);
                let words = match rank.words.as_slice() {
                    [one] => one.clone(),
                    several => format!("({})", several.join(", ")),
                };
                let _ = writeln!(out, "  rank at {file}:{line}: {words}");
            }
        }
        Answer::Proved => {}
        Answer::Bounded(bounded) => {
            let _ = writeln!(out, "  {}", bounded.words());
            let _ = writeln!(out, "  not proved, because {}", bounded.reason);
        }
        Answer::Unknown(reason) => {
            let _ = writeln!(out, "  because {reason}");
        }
        Answer::Violated(trace) => {
            if !trace.edges.is_empty() {
                for EdgeStep { file, line, edge } in &trace.edges {
                    let _ = writeln!(out, "  {file}:{line}: {edge}");
                }
            } else if let Some(endless) = &trace.endless {
                let _ = writeln!(out, "  {endless}");
            } else if let Some(leapt) = &trace.leapt {
                let _ = writeln!(out, "  {leapt}");
            } else if let Some(detail) = show.path {
                write_path(out, results, trace, message, detail, paint);
            }
            for line in &trace.object {
                let _ = writeln!(out, "  {line}");
            }
            write_inputs(out, trace, show.path == Some(Detail::Full));
        }
    }
}

fn write_path(
    out: &mut String,
    results: &Results,
    trace: &Trace,
    message: &str,
    detail: Detail,
    paint: &dyn Paint,
) {
    let rows = rows(results, trace, message, detail);
    let rows = match detail {
        Detail::Relevant => shortened(rows, trace),
        Detail::Full => rows,
    };
    let margins = margins(trace, &rows);
    let lines = || {
        rows.iter().filter_map(|row| match row {
            Row::Line(line) => Some(line),
            Row::Fold { .. } => None,
        })
    };
    let numbered = || lines().filter(|line| has_number(line));
    let files: std::collections::BTreeSet<u32> = numbered().map(|line| line.place.file).collect();
    let digits = numbered()
        .map(|line| line.place.line.to_string().len())
        .max()
        .unwrap_or(1);
    let width = |depth: u32, text: &str| indent(depth).chars().count() + text.chars().count();
    let widest = lines()
        .filter(|line| !line.values.is_empty())
        .map(|line| width(line.depth, &line.text))
        .filter(|&width| width <= LONGEST)
        .max()
        .unwrap_or(0);
    let margin = margins
        .iter()
        .map(|text| text.chars().count())
        .filter(|&width| width <= WIDEST_MARGIN)
        .max()
        .unwrap_or(0);
    let bar = if margin > 0 { " | " } else { "" };
    if let Some(rule) = &trace.rule {
        let _ = writeln!(out, "  {}", paint.paint("35", &rule_text(rule)));
    }
    let mut file = None;
    for (row, text) in rows.iter().zip(&margins) {
        let start = |out: &mut String, text: &str| {
            let pad = margin.saturating_sub(text.chars().count());
            let _ = write!(out, "  {}{:pad$}{bar}", paint.paint("35", text), "");
        };
        let mut text = text.as_str();
        if text.chars().count() > margin {
            // Too long for the margin: a line of its own.
            let _ = writeln!(out, "  {}", paint.paint("35", text));
            text = "";
        }
        match row {
            Row::Fold { depth, text: fold } => {
                start(out, text);
                let indent = indent(*depth);
                let _ = writeln!(out, "{:digits$}  {indent}{}", "", paint.paint("2", fold));
            }
            Row::Line(line) => {
                let numbered = has_number(line);
                if numbered && files.len() > 1 && file != Some(line.place.file) {
                    file = Some(line.place.file);
                    start(out, "");
                    let _ = writeln!(out, "{}", results.shown(line.place).0);
                }
                start(out, text);
                let indent = indent(line.depth);
                let text = if line.violation {
                    paint.paint("31", &line.text)
                } else {
                    line.text.clone()
                };
                let number = if numbered {
                    line.place.line.to_string()
                } else {
                    String::new()
                };
                let _ = write!(out, "{number:>digits$}  {indent}{text}");
                if !line.values.is_empty() {
                    let pad = widest.saturating_sub(width(line.depth, &line.text));
                    let values = paint.paint("36", &line.values_text());
                    let _ = write!(out, "{:pad$}  {values}", "");
                }
                out.push('\n');
            }
        }
    }
}

/// Where a rule is violated, the program has no line to show.
fn has_number(line: &Line) -> bool {
    !(line.violation && line.of == StepOf::Rule)
}

/// A rule before the run: what it watches, and its state.
fn rule_text(run: &RuleRun) -> String {
    let mut text = format!("rule {}", run.rule);
    for (index, watched) in run.objects.iter().enumerate() {
        text.push_str(if index == 0 { " watches " } else { ", " });
        if let Some(name) = &watched.name {
            let _ = write!(text, "{name} = ");
        }
        text.push_str(&watched.object);
    }
    if let Some(first) = run.states.first() {
        let names = run.variables.iter().zip(first);
        let values: Vec<String> = names
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        if !values.is_empty() {
            let _ = write!(text, ": {}", values.join(", "));
        }
    }
    text
}

/// For every row, what has changed in the rule's state since the row before it.
fn margins(trace: &Trace, rows: &[Row]) -> Vec<String> {
    let mut state = 0;
    let margin = |row: &Row| {
        let (Some(run), Row::Line(line)) = (&trace.rule, row) else {
            return String::new();
        };
        let changed = changes(run, state, line.state);
        state = line.state;
        let words: Vec<String> = changed
            .into_iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        words.join(", ")
    };
    rows.iter().map(margin).collect()
}

fn indent(depth: u32) -> String {
    if depth <= DEEPEST {
        " ".repeat(depth as usize * STEP)
    } else {
        format!("{}[{depth}] ", " ".repeat(DEEPEST as usize * STEP))
    }
}

fn write_inputs(out: &mut String, trace: &Trace, all: bool) {
    let most = if all { usize::MAX } else { INPUTS };
    for input in trace.inputs.iter().take(most) {
        let (file, line) = (&input.file, input.line);
        let (function, value) = (&input.function, &input.value);
        let _ = writeln!(out, "  {file}:{line}: input {function}() = {value}");
    }
    if trace.inputs.len() > most {
        let rest = trace.inputs.len() - most;
        let _ = writeln!(out, "  ... {rest} more inputs (--full lists them)");
    }
}

/// Invariants a loop and contracts a function; what is at other places is part of neither.
fn write_invariants(out: &mut String, results: &Results, paint: &dyn Paint) {
    for invariant in &results.invariants {
        let (file, line) = results.shown(invariant.place);
        let formula = invariant.contract.as_ref().unwrap_or(&invariant.formula);
        let what = match invariant.at {
            InvariantAt::LoopHead => "loop invariant",
            InvariantAt::Entry => "requires",
            InvariantAt::Exit => "ensures",
            InvariantAt::Inside => continue,
        };
        let trivial = formula == "true" || formula == "1";
        if trivial && invariant.at != InvariantAt::LoopHead {
            continue;
        }
        let what = paint.paint("1", what);
        let function = &invariant.function;
        let rule = of_rule(invariant.rule.as_deref());
        let _ = writeln!(out, "{file}:{line}: {function}: {what} {formula}{rule}");
    }
}

fn of_rule(rule: Option<&str>) -> String {
    rule.map_or(String::new(), |rule| format!("  (rule {rule})"))
}
