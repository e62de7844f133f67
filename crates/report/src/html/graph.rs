//! The control flow of functions by lines, as inline SVG.

use crate::results::{FlowGraph, Results, Trace};
use crate::walked::Walked;
use crate::xml::escaped;
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
    let walked = Walked::of(trace);
    let drawn: Vec<&FlowGraph> = results
        .graphs
        .iter()
        .filter(|graph| {
            walked.called.contains(graph.function.as_str()) && graph.nodes.len() <= MOST_NODES
        })
        .collect();
    if drawn.is_empty() {
        return;
    }
    out.push_str("<details open><summary>Control flow</summary>\n");
    for graph in drawn {
        let name = escaped(&graph.function);
        let (width, height) = size(graph);
        let _ = writeln!(
            out,
            "<div class=\"wide\" data-graph=\"{name}\"><h3 class=\"code\">{name}</h3><svg viewBox=\"0 0 {width} \
             {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"Control flow of {name}, {} lines\">",
            graph.nodes.len()
        );
        shapes(out, graph, &walked);
        out.push_str("</svg></div>\n");
    }
    out.push_str("</details>\n");
}

/// The width and the height of a picture.
pub(crate) fn size(graph: &FlowGraph) -> (usize, usize) {
    (LEFT * 2 + WIDTH, graph.nodes.len() * ROW + 20)
}

/// The boxes and arcs of a picture.
pub(crate) fn shapes(out: &mut String, graph: &FlowGraph, walked: &Walked<'_>) {
    let function = graph.function.as_str();
    let name = escaped(function);
    let middle = |node: usize| node * ROW + ROW / 2 + 5;
    for &(from, to) in &graph.edges {
        let lines = (graph.nodes[from].line, graph.nodes[to].line);
        let class = if walked.steps.contains(&(function, lines.0, lines.1)) {
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
        let class = if walked.lines.contains(&(function, node.line)) {
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
}
