//! The control-flow graph as a picture: DOT for Graphviz, and SVG without it.

mod svg;

pub use svg::to_svg;

use crate::program::{Action, Edge, Program, TargetKind, Vertex, VertexId, VertexKind};
use hardbop_diagnostics::Sources;
use std::fmt::Write;

/// Longer statements are cut.
const LONGEST_TEXT: usize = 60;

/// The graph in the DOT language, one cluster for each procedure. `sources` must hold the text
/// that the program comes from.
pub fn to_dot(program: &Program, sources: &Sources) -> String {
    let mut out = String::from(
        "digraph program {\n  node [shape=box, fontname=\"monospace\"];\n  edge [fontname=\"monospace\"];\n",
    );
    let texts = vertex_texts(program, sources);
    for (index, procedure) in program.procedures.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{index} {{");
        let _ = writeln!(out, "    label=\"{}\";", escaped(&procedure.name));
        for vertex in procedure.vertices.clone().map(VertexId) {
            let shape = match program.vertices[vertex.index()].kind {
                VertexKind::If | VertexKind::While | VertexKind::Assert => ", shape=diamond",
                VertexKind::Exit => ", shape=oval",
                VertexKind::Failed => ", shape=octagon, color=red",
                _ if vertex == procedure.entry => ", penwidth=2",
                _ => "",
            };
            let text = escaped(&texts[vertex.index()]);
            let _ = writeln!(out, "    v{} [label=\"{text}\"{shape}];", vertex.0);
        }
        out.push_str("  }\n");
    }
    for edge in &program.edges {
        let label = match edge_text(program, edge) {
            "" => String::new(),
            text => format!(" [label=\"{text}\"]"),
        };
        let _ = writeln!(out, "  v{} -> v{}{label};", edge.from.0, edge.to.0);
        if let Some(callee) = program.callee(edge) {
            let entry = program.procedures[callee.index()].entry;
            let _ = writeln!(out, "  v{} -> v{} [style=dashed];", edge.from.0, entry.0);
        }
    }
    out.push_str("}\n");
    out
}

/// Every vertex in words: its line, its labels and its statement, on one line.
fn vertex_texts(program: &Program, sources: &Sources) -> Vec<String> {
    let mut labels = vec![String::new(); program.vertices.len()];
    for target in &program.targets {
        let text = &mut labels[target.vertex.index()];
        if let TargetKind::Label(label) = &target.kind
            && text.len() < LONGEST_TEXT
        {
            let _ = write!(text, "{label}: ");
        }
    }
    let vertices = program.vertices.iter().zip(labels);
    vertices
        .map(|(vertex, labels)| vertex_text(sources, vertex, &labels))
        .collect()
}

fn vertex_text(sources: &Sources, vertex: &Vertex, labels: &str) -> String {
    let line = sources.line(vertex.span.file, vertex.span.start);
    let statement = match vertex.kind {
        VertexKind::Exit => "exit".to_owned(),
        VertexKind::Failed => "assertion fails".to_owned(),
        _ => {
            // One word too many is enough to see that the text is cut.
            let words = sources
                .slice(vertex.span)
                .split_whitespace()
                .take(LONGEST_TEXT + 1);
            words.collect::<Vec<_>>().join(" ")
        }
    };
    let whole = format!("{labels}{statement}");
    let cut: String = whole.chars().take(LONGEST_TEXT).collect();
    let dots = if cut.len() < whole.len() { "..." } else { "" };
    format!("{line}: {cut}{dots}")
}

/// When an edge is taken, where that is not obvious.
fn edge_text(program: &Program, edge: &Edge) -> &'static str {
    let branches = program.vertices[edge.from.index()].edges.len() > 1;
    match program.action(edge) {
        Action::Assume { holds, .. } if branches => {
            if holds {
                "true"
            } else {
                "false"
            }
        }
        _ => "",
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
