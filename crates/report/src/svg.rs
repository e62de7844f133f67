//! The control flow by lines as a drawing, with the path of the first violation.

use crate::html::graph::{shapes, size};
use crate::results::{Answer, Results};
use crate::walked::Walked;
use crate::xml::escaped;
use std::fmt::Write;

const STYLE: &str = "text { font: 12px monospace; } .name { font-weight: bold; } .box { fill: #f4f5f6; stroke: #c0c4ca; } \
                     .box.path { fill: #dcebff; stroke: #1f5fbf; } .arc { fill: none; stroke: #8a9099; } \
                     .arc.path { stroke: #1f5fbf; stroke-width: 2; }";
/// The height of a function's name.
const NAME: usize = 30;

/// The functions' control flow, one below the other; what the first violation executed is blue.
pub fn svg(results: &Results) -> String {
    let trace = results.checks.iter().find_map(|check| match &check.answer {
        Answer::Violated(trace) if trace.leapt.is_none() && trace.endless.is_none() => {
            Some(trace.as_ref())
        }
        _ => None,
    });
    let walked = trace.map(Walked::of).unwrap_or_default();
    let sizes = || results.graphs.iter().map(size);
    let width = sizes().map(|(width, _)| width).max().unwrap_or(0);
    let height: usize = sizes().map(|(_, height)| height + NAME).sum();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\">\n<style>{STYLE}</style>\n"
    );
    let mut top = 0;
    for graph in &results.graphs {
        let _ = writeln!(
            out,
            "<text class=\"name\" x=\"10\" y=\"{}\">{}</text>\n<g transform=\"translate(0 {})\">",
            top + NAME - 8,
            escaped(&graph.function),
            top + NAME
        );
        shapes(&mut out, graph, &walked);
        out.push_str("</g>\n");
        top += size(graph).1 + NAME;
    }
    out.push_str("</svg>\n");
    out
}
