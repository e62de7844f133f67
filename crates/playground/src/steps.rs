//! The steps of a trace as JSON.

use hardbop_bebop::{Leave, ProgramStep, ProgramTrace, Walk, display_name};
use hardbop_boolean_program::program::{Program, TargetKind, VarId, VarKind, VertexId, VertexKind};
use hardbop_diagnostics::Sources;
use serde_json::{Value, json};
use std::fmt::Write;

/// Longer statements are cut.
const LONGEST: usize = 60;

/// A trace: for each step its place, its values, and the steps to which the ways of stepping lead.
pub(crate) fn describe(program: &Program, sources: &Sources, trace: &ProgramTrace) -> Value {
    let walk = Walk::new(&trace.steps);
    let steps = trace.steps.iter().enumerate().map(|(index, step)| {
        let vertex = &program.vertices[step.vertex.index()];
        json!({
            "vertex": step.vertex.0,
            "line": sources.line(vertex.span.file, vertex.span.start),
            "depth": step.depth,
            "procedure": program.procedures[vertex.procedure.index()].name,
            "statement": statement(program, sources, step.vertex),
            "values": values(program, step),
            "summary": summary(program, &trace.steps, &walk, index),
            "next": walk.next(index),
            "over": walk.over(index),
            "back": walk.back(index),
            "previous": walk.previous(index),
            "up": walk.up(index),
            "out": walk.out(index),
        })
    });
    let steps: Vec<Value> = steps.collect();
    json!({ "length": trace.length, "steps": steps })
}

fn statement(program: &Program, sources: &Sources, vertex: VertexId) -> String {
    let mut words = String::new();
    for target in program.targets.iter().filter(|t| t.vertex == vertex) {
        if let TargetKind::Label(label) = &target.kind {
            let _ = write!(words, "{label}: ");
        }
    }
    let entry = &program.vertices[vertex.index()];
    match entry.kind {
        VertexKind::Exit => words.push_str("end"),
        VertexKind::Failed => words.push_str("the assertion fails"),
        _ => {
            let text = sources
                .slice(entry.span)
                .split_whitespace()
                .collect::<Vec<_>>();
            let text = text.join(" ");
            let text = text.trim_end_matches(';');
            words.extend(text.chars().take(LONGEST));
            if text.chars().count() > LONGEST {
                words.push_str("...");
            }
        }
    }
    words
}

fn values(program: &Program, step: &ProgramStep) -> Vec<Value> {
    let value = |&(variable, value): &(VarId, bool)| {
        json!({
            "name": display_name(program, variable),
            "value": u8::from(value),
            "forced": step.forced.iter().any(|&(forced, _)| forced == variable),
        })
    };
    step.state.iter().map(value).collect()
}

/// For a call that can be stepped over: the summary that takes its place.
fn summary(program: &Program, steps: &[ProgramStep], walk: &Walk, index: usize) -> Option<String> {
    let kind = |variable: VarId| program.variables[variable.index()].kind;
    let global = |variable: VarId| kind(variable) == VarKind::Global;
    let input = |v: VarId| global(v) || matches!(kind(v), VarKind::Formal(_));
    let output = |v: VarId| global(v) || matches!(kind(v), VarKind::Return(_));
    let (call, entry, exit) = match steps[index].leaves {
        Leave::Into(call) => {
            let exit = &steps[walk.exit_of(index)?];
            let entry = shown(program, steps.get(index + 1)?, input);
            (call, entry, shown(program, exit, output))
        }
        Leave::Over(call) => {
            let after = steps.get(index + 1)?;
            let before = shown(program, &steps[index], global);
            (call, before, shown(program, after, global))
        }
        Leave::Along(_) | Leave::Return(_) | Leave::End => return None,
    };
    let callee = program.callee(&program.edges[call.index()])?;
    let name = &program.procedures[callee.index()].name;
    Some(format!("{name}: {entry} -> {exit}"))
}

fn shown(program: &Program, step: &ProgramStep, wanted: impl Fn(VarId) -> bool) -> String {
    let values = step.state.iter().filter(|(variable, _)| wanted(*variable));
    let value = |&(variable, value): &(VarId, bool)| {
        format!("{}={}", display_name(program, variable), u8::from(value))
    };
    values.map(value).collect::<Vec<_>>().join(" ")
}
