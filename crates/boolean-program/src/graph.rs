//! The control-flow graph as a picture: DOT for Graphviz, and SVG without it.

mod svg;

pub use svg::to_svg;

use crate::program::{Action, Edge, Program, VertexId, VertexKind};
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
            let text = escaped(&vertex_text(program, sources, vertex));
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
        if let Action::Call { callee, .. } = edge.action {
            let entry = program.procedures[callee.index()].entry;
            let _ = writeln!(out, "  v{} -> v{} [style=dashed];", edge.from.0, entry.0);
        }
    }
    out.push_str("}\n");
    out
}

/// A vertex in words: its line, its labels and its statement on one line.
fn vertex_text(program: &Program, sources: &Sources, vertex: VertexId) -> String {
    let entry = &program.vertices[vertex.index()];
    let line = sources.line(entry.span.file, entry.span.start);
    let statement = match entry.kind {
        VertexKind::Exit => "exit".to_owned(),
        VertexKind::Failed => "assertion fails".to_owned(),
        _ => {
            let words: Vec<_> = sources
                .slice(entry.span)
                .split_whitespace()
                .take(LONGEST_TEXT)
                .collect();
            words.join(" ")
        }
    };
    let cut: String = statement.chars().take(LONGEST_TEXT).collect();
    let dots = if cut.len() < statement.len() {
        "..."
    } else {
        ""
    };
    format!("{line}: {cut}{dots}")
}

/// When an edge is taken, where that is not obvious.
fn edge_text(program: &Program, edge: &Edge) -> &'static str {
    let branches = program.vertices[edge.from.index()].edges.len() > 1;
    match edge.action {
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
