//! Pictures as inline SVG: the control flow of a function by lines, and the run of the search.

use crate::results::{FlowGraph, Results, Trace};
use crate::xml::escaped;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Larger functions are not drawn: nobody could find anything in the picture.
const MOST_NODES: usize = 400;
const ROW: usize = 28;
const WIDTH: usize = 460;
const LEFT: usize = 110;
const CLOSE: usize = 10;

/// The control flow of the functions that a trace goes through, each line a box, in the order of
/// the text; jumps are arcs beside the boxes, forward ones on the right, backward ones on the left.
pub(super) fn graphs(out: &mut String, results: &Results, trace: &Trace) {
    let called: BTreeSet<&str> = trace
        .calls
        .iter()
        .map(|call| call.function.as_str())
        .collect();
    let mut taken: BTreeSet<(&str, u32, u32)> = BTreeSet::new();
    let mut executed: BTreeSet<(&str, u32)> = BTreeSet::new();
    let mut last = vec![None; trace.calls.len()];
    for step in &trace.steps {
        let function = trace.calls[step.call as usize].function.as_str();
        let line = step.place.line;
        executed.insert((function, line));
        if let Some(before) = last[step.call as usize].replace(line) {
            taken.insert((function, before, line));
        }
    }
    let drawn: Vec<&FlowGraph> = results
        .graphs
        .iter()
        .filter(|graph| called.contains(graph.function.as_str()) && graph.nodes.len() <= MOST_NODES)
        .collect();
    if drawn.is_empty() {
        return;
    }
    out.push_str("<details open><summary>Control flow</summary>\n");
    for graph in drawn {
        draw(out, graph, &executed, &taken);
    }
    out.push_str("</details>\n");
}

fn draw(
    out: &mut String,
    graph: &FlowGraph,
    executed: &BTreeSet<(&str, u32)>,
    taken: &BTreeSet<(&str, u32, u32)>,
) {
    let function = graph.function.as_str();
    let name = escaped(function);
    let height = graph.nodes.len() * ROW + 20;
    let total = LEFT * 2 + WIDTH;
    let _ = writeln!(
        out,
        "<div class=\"wide\" data-graph=\"{name}\"><h3 class=\"code\">{name}</h3><svg viewBox=\"0 0 {total} \
         {height}\" width=\"{total}\" height=\"{height}\" role=\"img\" aria-label=\"Control flow of {name}, {} lines\">",
        graph.nodes.len()
    );
    let middle = |node: usize| node * ROW + ROW / 2 + 5;
    for &(from, to) in &graph.edges {
        let lines = (graph.nodes[from].line, graph.nodes[to].line);
        let class = if taken.contains(&(function, lines.0, lines.1)) {
            "arc path"
        } else {
            "arc"
        };
        let (a, b) = (middle(from), middle(to));
        let path = if to == from + 1 {
            let x = LEFT + WIDTH / 2;
            format!("M{x} {} V{}", a + ROW / 2 - 4, b - ROW / 2 + 4)
        } else {
            let span = from.abs_diff(to).min(9) * CLOSE;
            if to > from {
                let x = LEFT + WIDTH;
                let bend = x + 10 + span;
                format!("M{x} {a} C{bend} {a} {bend} {b} {x} {b}")
            } else {
                let x = LEFT;
                let bend = x as i64 - 10 - span as i64;
                format!("M{x} {a} C{bend} {a} {bend} {b} {x} {b}")
            }
        };
        let _ = writeln!(out, "<path class=\"{class}\" d=\"{path}\"/>");
    }
    for (index, node) in graph.nodes.iter().enumerate() {
        let class = if executed.contains(&(function, node.line)) {
            "box path"
        } else {
            "box"
        };
        let line = node.line;
        let y = middle(index);
        let mut text: String = node.text.chars().take(54).collect();
        if node.text.chars().count() > 54 {
            text.push('…');
        }
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" data-f=\"{name}\" data-l=\"{line}\" x=\"{LEFT}\" y=\"{}\" \
             width=\"{WIDTH}\" height=\"{}\" rx=\"4\"/><text x=\"{}\" y=\"{}\">{line}  {}</text>",
            y - ROW / 2 + 4,
            ROW - 8,
            LEFT + 6,
            y + 4,
            escaped(&text)
        );
    }
    out.push_str("</svg></div>\n");
}

/// Predicates over time, as a line and as a table.
pub(super) fn plot(out: &mut String, results: &Results) {
    let rounds = &results.rounds;
    if rounds.len() < 2 {
        return;
    }
    let latest = rounds
        .iter()
        .map(|round| round.seconds)
        .fold(0.001, f64::max);
    let most = rounds
        .iter()
        .map(|round| round.predicates)
        .max()
        .unwrap_or(1)
        .max(1);
    let points: Vec<String> = rounds
        .iter()
        .map(|round| {
            let x = 40.0 + round.seconds / latest * 540.0;
            let y = 170.0 - round.predicates as f64 / most as f64 * 150.0;
            format!("{x:.1},{y:.1}")
        })
        .collect();
    let _ = writeln!(
        out,
        "<h3>Predicates over time</h3>\n<div class=\"wide\"><svg viewBox=\"0 0 600 200\" width=\"600\" height=\"200\" \
         role=\"img\" aria-label=\"From 0 to {most} predicates in {latest:.2} seconds\">\n\
         <path class=\"axis\" d=\"M40 10 V170 H590\" fill=\"none\"/><text x=\"4\" y=\"22\">{most}</text>\
         <text x=\"4\" y=\"174\">0</text><text x=\"530\" y=\"190\">{latest:.2} s</text>\n\
         <polyline class=\"plot\" points=\"{}\"/></svg></div>",
        points.join(" ")
    );
    out.push_str("<details><summary>As a table</summary><table><thead><tr><th scope=\"col\">Seconds</th><th scope=\"col\">Predicates</th><th scope=\"col\">Open checks</th></tr></thead><tbody>\n");
    for round in rounds.iter().take(500) {
        let _ = writeln!(
            out,
            "<tr><td>{:.3}</td><td>{}</td><td>{}</td></tr>",
            round.seconds, round.predicates, round.open
        );
    }
    out.push_str("</tbody></table></details>\n");
}
