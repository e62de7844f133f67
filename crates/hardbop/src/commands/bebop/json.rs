//! The report for machines; `docs/src/json.md` describes it.

use super::answer::{Decision, ReplayedTrace, Report};
use super::text::{Calls, lines};
use crate::cli::BebopArgs;
use crate::console::JsonPlace;
use crate::listing::{JsonStep, Words};
use crate::targets::JsonTarget;
use serde::Serialize;

#[derive(Serialize)]
pub struct Body<'a> {
    targets: Vec<Target<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invariants: Option<Vec<Invariant>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<Statistics>,
}

#[derive(Serialize)]
struct Target<'a> {
    #[serde(flatten)]
    target: JsonTarget<'a>,
    answer: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Trace>,
}

#[derive(Serialize)]
struct Trace {
    length: u32,
    replayed: bool,
    steps: Vec<JsonStep>,
}

#[derive(Serialize)]
struct Invariant {
    #[serde(flatten)]
    place: JsonPlace,
    procedure: String,
    statement: String,
    /// `None` if they are not known.
    formula: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Serialize)]
struct Statistics {
    vertices: usize,
    reached_vertices: usize,
    slots: u32,
    worklist_steps: u64,
    path_edge_nodes: usize,
    largest_path_edge_nodes: usize,
    summaries: usize,
    summary_nodes: usize,
    rings: usize,
    peak_nodes: usize,
    bdd_bytes: usize,
    collections: usize,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
}

/// The body of the JSON result.
pub fn body<'a>(arguments: &BebopArgs, words: &Words<'a>, report: &'a Report) -> Body<'a> {
    let program = words.program();
    let calls = Calls::wanted(arguments);
    let targets = report.targets.iter().map(|target| {
        let (answer, reason, trace) = match &target.decision {
            Decision::Reachable(trace) => ("reachable", None, trace.as_ref()),
            Decision::Unreachable => ("unreachable", None, None),
            Decision::Unknown(reason) => ("unknown", Some(reason.as_str()), None),
        };
        Target {
            target: JsonTarget::of(program, words.sources(), &program.targets[target.position]),
            answer,
            reason,
            trace: trace.map(|replayed| json_trace(arguments, words, replayed, calls)),
        }
    });
    Body {
        targets: targets.collect(),
        invariants: arguments
            .invariants
            .as_ref()
            .map(|_| invariants(words, report)),
        statistics: arguments.stats.then(|| statistics(report)),
    }
}

fn json_trace(
    arguments: &BebopArgs,
    words: &Words<'_>,
    replayed: &ReplayedTrace,
    calls: Calls,
) -> Trace {
    let mut lines = lines(words, replayed, calls);
    if arguments.reverse {
        lines.reverse();
    }
    Trace {
        length: replayed.trace.length,
        replayed: replayed.followed == replayed.trace.steps.len(),
        steps: lines
            .into_iter()
            .map(|line| JsonStep::of(words, line))
            .collect(),
    }
}

fn invariants(words: &Words<'_>, report: &Report) -> Vec<Invariant> {
    let program = words.program();
    let invariants = report.invariants.iter().map(|invariant| {
        let vertex = &program.vertices[invariant.vertex.index()];
        let formula = invariant.states.as_ref().ok();
        Invariant {
            place: JsonPlace::of(words.sources(), vertex.span),
            procedure: program.procedures[vertex.procedure.index()].name.clone(),
            statement: words.statement(invariant.vertex),
            formula: formula.map(|formula| {
                formula
                    .clone()
                    .map(|variable| words.name(variable))
                    .to_string()
            }),
            reason: invariant.states.as_ref().err().cloned(),
        }
    });
    invariants.collect()
}

fn statistics(report: &Report) -> Statistics {
    let counts = &report.statistics.counts;
    Statistics {
        vertices: counts.vertices,
        reached_vertices: counts.reached,
        slots: counts.slots,
        worklist_steps: counts.steps,
        path_edge_nodes: counts.path_edge_nodes,
        largest_path_edge_nodes: counts.largest_path_edge,
        summaries: counts.summaries,
        summary_nodes: counts.summary_nodes,
        rings: counts.rings,
        peak_nodes: counts.peak_nodes,
        bdd_bytes: counts.bdd_bytes,
        collections: counts.collections,
        seconds: report.statistics.time.as_secs_f64(),
        peak_memory_bytes: report.statistics.peak_memory,
    }
}
