//! The control flow by lines in the language of Graphviz, with the path of the first violation.

use crate::results::{Answer, Results};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The functions' control flow; what the first violation executed is drawn bold, its end red.
pub fn dot(results: &Results) -> String {
    let trace = results.checks.iter().find_map(|check| match &check.answer {
        Answer::Violated(trace) => Some(trace),
        _ => None,
    });
    let mut executed: BTreeSet<(&str, u32)> = BTreeSet::new();
    let mut taken: BTreeSet<(&str, u32, u32)> = BTreeSet::new();
    let mut last: Vec<Option<u32>> = Vec::new();
    let mut end = None;
    if let Some(trace) = trace {
        last.resize(trace.calls.len(), None);
        for step in &trace.steps {
            let function = trace.calls[step.call as usize].function.as_str();
            let line = step.place.line;
            executed.insert((function, line));
            if let Some(before) = last[step.call as usize] {
                taken.insert((function, before, line));
            }
            last[step.call as usize] = Some(line);
            end = Some((function, line));
        }
    }
    let mut out = String::from("digraph program {\n  node [shape=box, fontname=monospace];\n");
    for (index, graph) in results.graphs.iter().enumerate() {
        let function = graph.function.as_str();
        let _ = writeln!(
            out,
            "  subgraph cluster_{index} {{\n    label=\"{}\";",
            quoted(function)
        );
        for node in &graph.nodes {
            let line = node.line;
            let mut style = String::new();
            if executed.contains(&(function, line)) {
                style.push_str(", style=bold");
            }
            if end == Some((function, line)) {
                style.push_str(", color=red");
            }
            let text = quoted(&node.text);
            let _ = writeln!(
                out,
                "    n{index}_{line} [label=\"{line}: {text}\"{style}];"
            );
        }
        for &(from, to) in &graph.edges {
            let (from, to) = (graph.nodes[from].line, graph.nodes[to].line);
            let style = if taken.contains(&(function, from, to)) {
                " [style=bold]"
            } else {
                ""
            };
            let _ = writeln!(out, "    n{index}_{from} -> n{index}_{to}{style};");
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
