//! What there is to say about a program: a decision for every target, with its evidence.

use crate::failure::Failure;
use crate::progress::Progress;
use crate::targets;
use hardbop_bebop::{
    Answer, Checker, Expand, Formula, Goal, Leave, ProgramStep, ProgramTrace, Statistics, Unknown,
};
use hardbop_boolean_program::program::{Program, TargetKind, VarId, VertexId, VertexKind};
use hardbop_boolean_program::replay::{TraceStep, replay};
use hardbop_budget::{Budget, Stopped};
use std::time::Duration;

/// Calls are opened, for the replay and for the reader, until a trace has about this many steps:
/// a trace in which every call is opened may be exponentially long.
const MOST_STEPS: usize = 100_000;

/// The part of the elapsed time that may be added to it for the traces of what was found before a
/// limit was reached.
const GRACE: f64 = 0.05;

/// The least time for these traces.
const LEAST_GRACE: Duration = Duration::from_millis(20);

/// Whether traces are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traces {
    /// Yes, and each is replayed.
    Replayed,
    /// No: the user does not want to see them.
    None,
}

/// Everything that was found out.
pub struct Report {
    /// The targets, in the order of the text.
    pub targets: Vec<TargetReport>,
    /// The invariants asked for.
    pub invariants: Vec<InvariantReport>,
    /// What the run cost.
    pub statistics: Statistics,
}

/// What was found out about a target.
pub struct TargetReport {
    /// Its position in the program's targets.
    pub position: usize,
    /// The decision.
    pub decision: Decision,
}

/// A decision with its evidence.
pub enum Decision {
    /// An execution reaches it: this one, unless no trace was asked for.
    Reachable(Option<ReplayedTrace>),
    /// No execution reaches it.
    Unreachable,
    /// It is not decided, for this reason.
    Unknown(String),
}

/// A trace that the reference interpreter has followed.
pub struct ReplayedTrace {
    /// The trace, with its calls opened.
    pub trace: ProgramTrace,
    /// The number of its steps up to which it was followed: all of them, unless it has calls that
    /// are too long to be opened.
    pub followed: usize,
}

/// The reachable states of a place.
pub struct InvariantReport {
    /// The place.
    pub vertex: VertexId,
    /// The states, or why they are not known.
    pub states: Result<Formula<VarId>, String>,
}

/// The vertices whose invariants the user asks for: those of a label, or, with `*`, every loop
/// head and every label.
pub fn invariant_places(program: &Program, wanted: Option<&str>) -> Result<Vec<VertexId>, Failure> {
    let mut places: Vec<VertexId> = match wanted {
        None => Vec::new(),
        Some("*") => {
            let vertices = program.vertices.iter().enumerate();
            let heads = vertices.filter(|(_, vertex)| vertex.kind == VertexKind::While);
            let labels = program
                .targets
                .iter()
                .filter(|t| t.kind != TargetKind::Assertion);
            let heads = heads.map(|(index, _)| VertexId(index as u32));
            heads.chain(labels.map(|target| target.vertex)).collect()
        }
        Some(label) => {
            let found = targets::labels(program, label)?;
            found
                .into_iter()
                .map(|position| program.targets[position].vertex)
                .collect()
        }
    };
    places.sort_by_key(|vertex| (program.vertices[vertex.index()].span.start, *vertex));
    places.dedup();
    Ok(places)
}

/// Collects what the checker found out, and makes and replays the traces.
pub fn report(
    checker: &mut Checker<'_>,
    positions: &[usize],
    places: &[VertexId],
    traces: Traces,
    budget: &Budget,
    progress: &Progress,
) -> Result<Report, Failure> {
    let answers = checker.answers();
    let mut invariants = Vec::new();
    for &vertex in places {
        progress.say("describing the reachable states");
        let states = match checker.invariant(vertex) {
            Ok(Some(invariant)) => Ok(invariant.formula),
            Ok(None) => Err("the search did not end".to_owned()),
            Err(stopped) => Err(stopped.to_string()),
        };
        invariants.push(InvariantReport { vertex, states });
    }
    if budget.check().is_err() && traces == Traces::Replayed {
        allow_for_traces(checker, positions, &answers, budget);
    }
    let mut reports = Vec::with_capacity(positions.len());
    for (index, &position) in positions.iter().enumerate() {
        let decision = match answers[position] {
            Answer::Reachable if traces == Traces::None => Decision::Reachable(None),
            Answer::Reachable => {
                progress.say(format!(
                    "tracing target {} of {}",
                    index + 1,
                    positions.len()
                ));
                with_trace(checker, position)?
            }
            Answer::Unreachable => Decision::Unreachable,
            Answer::Unknown(Unknown::Stopped(stopped)) => Decision::Unknown(stopped.to_string()),
            Answer::Unknown(Unknown::Enough) => {
                Decision::Unknown("another target was found first".to_owned())
            }
        };
        reports.push(TargetReport { position, decision });
    }
    Ok(Report {
        targets: reports,
        invariants,
        statistics: checker.statistics(),
    })
}

/// After a limit was reached: a little more for the traces of what was found until then.
fn allow_for_traces(
    checker: &mut Checker<'_>,
    positions: &[usize],
    answers: &[Answer],
    budget: &Budget,
) {
    let reachable = |position: &&usize| answers[**position] == Answer::Reachable;
    let Some(&found) = positions.iter().find(reachable) else {
        return;
    };
    let time = budget.elapsed().mul_f64(GRACE).max(LEAST_GRACE);
    let mut grace = Budget::unlimited().with_time(time);
    if let Some(memory) = budget.memory() {
        grace = grace.with_memory(memory + (memory as f64 * GRACE) as u64);
    }
    // The search ends at once, since this target is found already; what stays is the budget.
    checker.resume(&Goal::FirstOf(vec![found]), &grace);
}

fn with_trace(checker: &mut Checker<'_>, position: usize) -> Result<Decision, Failure> {
    let program = checker.program();
    let target = &program.targets[position];
    let trace = match checker.trace(target.vertex, Expand::Steps(MOST_STEPS)) {
        Ok(Some(trace)) => trace,
        Ok(None) => {
            let name = targets::describe(program, target);
            return Err(Failure::internal(format!(
                "{name} was reached, but has no trace"
            )));
        }
        // Without evidence there is no verdict.
        Err(stopped) => return Ok(Decision::Unknown(no_trace(stopped))),
    };
    let closed = |step: &ProgramStep| matches!(step.leaves, Leave::Over(_));
    let followed = trace
        .steps
        .iter()
        .position(closed)
        .map_or(trace.steps.len(), |closed| closed + 1);
    let steps: Vec<TraceStep> = trace.steps[..followed]
        .iter()
        .map(|step| TraceStep {
            vertex: step.vertex,
            values: step.state.clone(),
        })
        .collect();
    if trace
        .steps
        .last()
        .is_none_or(|last| last.vertex != target.vertex)
    {
        let name = targets::describe(program, target);
        return Err(Failure::internal(format!(
            "the trace to {name} ends elsewhere"
        )));
    }
    replay(program, &steps).map_err(|error| {
        let name = targets::describe(program, target);
        Failure::internal(format!("the trace to {name} cannot be replayed: {error:?}"))
    })?;
    Ok(Decision::Reachable(Some(ReplayedTrace { trace, followed })))
}

fn no_trace(stopped: Stopped) -> String {
    format!("it was reached, but {stopped} before there was a trace to show")
}
