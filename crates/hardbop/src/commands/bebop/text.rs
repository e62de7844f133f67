//! The report for people.

use super::answer::{Decision, InvariantReport, ReplayedTrace, Report, TargetReport};
use crate::cli::BebopArgs;
use crate::console::Console;
use crate::listing::{self, Line, Words};
use crate::targets;
use hardbop_bebop::{Counts, Leave, Statistics};
use hardbop_boolean_program::program::{TargetKind, VertexKind};
use std::fmt::Write;

/// Whether the steps inside of calls that return are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// A call that returns is one step.
    Closed,
    /// All steps are shown.
    Open,
}

impl Calls {
    pub(super) fn wanted(arguments: &BebopArgs) -> Calls {
        if arguments.expand {
            Calls::Open
        } else {
            Calls::Closed
        }
    }
}

/// The whole report.
pub fn render(
    arguments: &BebopArgs,
    words: &Words<'_>,
    report: &Report,
    console: &Console,
) -> String {
    let mut text = String::new();
    for target in &report.targets {
        target_lines(&mut text, arguments, words, target, console);
    }
    summary(&mut text, words, report);
    if !report.invariants.is_empty() {
        text.push('\n');
    }
    for invariant in &report.invariants {
        invariant_line(&mut text, words, invariant);
    }
    if arguments.stats {
        statistics(&mut text, &report.statistics);
    }
    text
}

fn target_lines(
    text: &mut String,
    arguments: &BebopArgs,
    words: &Words<'_>,
    report: &TargetReport,
    console: &Console,
) {
    answer_line(text, words, report, console);
    if let Decision::Reachable(Some(replayed)) = &report.decision {
        let lines = lines(words, replayed, Calls::wanted(arguments));
        let listing = if arguments.reverse {
            listing::render_reversed(words, &lines)
        } else {
            listing::render(words, &lines)
        };
        let _ = write!(text, "\n{listing}\n");
        let opened = replayed.trace.steps.len();
        if replayed.followed < opened {
            let _ = writeln!(
                text,
                "note: not all calls could be opened; the trace was replayed up to the first closed one\n"
            );
        }
    }
}

/// What was found out about a target, in one line.
pub(super) fn answer_line(
    text: &mut String,
    words: &Words<'_>,
    report: &TargetReport,
    console: &Console,
) {
    let program = words.program();
    let target = &program.targets[report.position];
    let place = words.place(target.span);
    let name = targets::describe(program, target);
    // A reachable label is reached; a reachable assertion is one that fails.
    let (reached, not_reached) = match target.kind {
        TargetKind::Label(_) => ("reachable", "unreachable"),
        TargetKind::Assertion => ("fails", "holds"),
    };
    let _ = match &report.decision {
        Decision::Reachable(None) => {
            writeln!(text, "{place}: {name}: {}", console.paint("1;31", reached))
        }
        Decision::Reachable(Some(ReplayedTrace { trace, .. })) => {
            let steps = count(trace.length as usize, "step");
            writeln!(
                text,
                "{place}: {name}: {} after {steps}",
                console.paint("1;31", reached)
            )
        }
        Decision::Unreachable => {
            writeln!(
                text,
                "{place}: {name}: {}",
                console.paint("1;32", not_reached)
            )
        }
        Decision::Unknown(reason) => {
            writeln!(
                text,
                "{place}: {name}: {} ({reason})",
                console.paint("1;33", "unknown")
            )
        }
    };
}

/// The steps of a trace as lines. The ends of procedures are not shown, as in the paper: where
/// the indentation ends, the call has returned.
pub(super) fn lines(words: &Words<'_>, replayed: &ReplayedTrace, calls: Calls) -> Vec<Line> {
    let steps = &replayed.trace.steps;
    let shown = shown(replayed, calls);
    let last = steps.len().saturating_sub(1);
    let is_exit = |index: usize| {
        words.program().vertices[steps[index].vertex.index()].kind == VertexKind::Exit
    };
    (0..steps.len())
        .filter(|&index| shown[index] && (index == last || !is_exit(index)))
        .map(|index| {
            let step = &steps[index];
            let named = |&&(variable, _): &&(_, bool)| words.is_named(variable);
            Line {
                depth: step.depth as usize,
                number: words.line(step.vertex),
                statement: words.statement(step.vertex),
                values: step.forced.iter().filter(named).copied().collect(),
            }
        })
        .collect()
}

/// Which steps are shown: with closed calls, not those between the entry into a callee and its
/// return.
fn shown(replayed: &ReplayedTrace, calls: Calls) -> Vec<bool> {
    let steps = &replayed.trace.steps;
    let mut shown = vec![true; steps.len()];
    if calls == Calls::Open {
        return shown;
    }
    let mut open = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        match step.leaves {
            Leave::Into(_) => open.push(index),
            Leave::Return(_) => {
                if let Some(entered) = open.pop() {
                    shown[entered + 1..=index].fill(false);
                }
            }
            Leave::Along(_) | Leave::Over(_) | Leave::End => {}
        }
    }
    shown
}

fn summary(text: &mut String, words: &Words<'_>, report: &Report) {
    let is_label = |target: &TargetReport| {
        words.program().targets[target.position].kind != TargetKind::Assertion
    };
    let number = |labels: bool, wanted: fn(&Decision) -> bool| {
        let targets = report
            .targets
            .iter()
            .filter(|target| is_label(target) == labels);
        targets.filter(|target| wanted(&target.decision)).count()
    };
    let reached: fn(&Decision) -> bool = |d| matches!(d, Decision::Reachable(_));
    let not_reached: fn(&Decision) -> bool = |d| matches!(d, Decision::Unreachable);
    let unknown: fn(&Decision) -> bool = |d| matches!(d, Decision::Unknown(_));
    let parts = [
        (number(false, reached), "assertion", "fails", "fail"),
        (number(false, not_reached), "assertion", "holds", "hold"),
        (number(false, unknown), "assertion", "unknown", "unknown"),
        (number(true, reached), "label", "reachable", "reachable"),
        (
            number(true, not_reached),
            "label",
            "unreachable",
            "unreachable",
        ),
        (number(true, unknown), "label", "unknown", "unknown"),
    ];
    let parts = parts.into_iter().filter(|&(number, ..)| number > 0);
    let parts: Vec<String> = parts
        .map(|(number, what, one, many)| {
            format!(
                "{} {}",
                count(number, what),
                if number == 1 { one } else { many }
            )
        })
        .collect();
    let _ = if parts.is_empty() {
        writeln!(
            text,
            "there is nothing to decide: no label and no assertion"
        )
    } else {
        writeln!(text, "{}", parts.join(", "))
    };
}

fn invariant_line(text: &mut String, words: &Words<'_>, invariant: &InvariantReport) {
    let vertex = &words.program().vertices[invariant.vertex.index()];
    let place = words.place(vertex.span);
    let statement = words.statement(invariant.vertex);
    let _ = match &invariant.states {
        Ok(formula) => {
            let formula = formula.clone().map(|variable| words.name(variable));
            writeln!(text, "{place}: before `{statement}`: {formula}")
        }
        Err(reason) => writeln!(text, "{place}: before `{statement}`: unknown ({reason})"),
    };
}

fn statistics(text: &mut String, statistics: &Statistics) {
    let Statistics {
        counts,
        time,
        peak_memory,
    } = statistics;
    let Counts {
        vertices,
        reached,
        path_edge_nodes,
        largest_path_edge,
        summaries,
        summary_nodes,
        rings,
        steps,
        peak_nodes,
        bdd_bytes,
        collections,
        slots,
    } = counts;
    let mib = |bytes: f64| bytes / f64::from(1 << 20);
    let memory = peak_memory.map_or("unknown".to_owned(), |bytes| {
        format!("{:.1} MiB", mib(bytes as f64))
    });
    let _ = write!(
        text,
        "
vertices            {vertices} ({reached} reached)
variable slots      {slots}
worklist steps      {steps}
path-edge nodes     {path_edge_nodes} (largest relation {largest_path_edge})
summaries           {summaries} ({summary_nodes} nodes)
rings               {rings}
peak BDD nodes      {peak_nodes} ({:.1} MiB, {collections} collections)
time                {:.3} s
peak memory         {memory}
",
        mib(*bdd_bytes as f64),
        time.as_secs_f64(),
    );
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
