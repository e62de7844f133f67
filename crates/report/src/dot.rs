//! The control flow by lines in the language of Graphviz, with the path of the first violation.

use crate::results::{Answer, Results};
use crate::walked::Walked;
use std::fmt::Write;

/// The functions' control flow; what the first violation executed is drawn bold, its end red.
pub fn dot(results: &Results) -> String {
    let trace = results.checks.iter().find_map(|check| match &check.answer {
        Answer::Violated(trace) if trace.leapt.is_none() && trace.endless.is_none() => {
            Some(trace.as_ref())
        }
        _ => None,
    });
    let walked = trace.map(Walked::of).unwrap_or_default();
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
            if walked.lines.contains(&(function, line)) {
                style.push_str(", style=bold");
            }
            if walked.end == Some((function, line)) {
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
            let style = if walked.steps.contains(&(function, from, to)) {
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
