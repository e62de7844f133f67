//! Control-flow graphs as DOT: one cluster per function, labels as in the dump.

use crate::dump::op_text;
use crate::ids::{FuncId, LocId};
use crate::program::{Function, LocationKind, Op, Origin, Program};
use std::fmt::Write;

/// At most this many characters of an edge's label are shown.
const LABEL: usize = 120;

/// The graphs of some functions.
pub fn dot(program: &Program, functions: &[FuncId]) -> String {
    let mut out = String::from("digraph program {\n");
    out.push_str("  node [shape=circle, fontname=\"monospace\", fontsize=10];\n");
    out.push_str("  edge [fontname=\"monospace\", fontsize=10];\n");
    for &id in functions {
        let function = program.function(id);
        let _ = writeln!(out, "  subgraph cluster_{} {{", id.0);
        let _ = writeln!(out, "    label={};", quoted(&function.name));
        for index in function.locations.clone() {
            location(&mut out, program, function, LocId(index));
        }
        for index in function.locations.clone() {
            for (_, edge) in program.edges_from(LocId(index)) {
                let label = match &edge.op {
                    Op::Skip => String::new(),
                    op => shortened(&op_text(program, op)),
                };
                let (from, to) = (edge.from.0, edge.to.0);
                let _ = writeln!(out, "    L{from} -> L{to} [label={}];", quoted(&label));
            }
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

/// The functions that the user wrote, in order.
pub fn user_functions(program: &Program) -> Vec<FuncId> {
    let ids = (0..program.functions.len() as u32).map(FuncId);
    ids.filter(|&id| program.function(id).origin == Origin::User)
        .collect()
}

fn location(out: &mut String, program: &Program, function: &Function, id: LocId) {
    let location = &program.locations[id.index()];
    let mut attributes = Vec::new();
    let mut label = id.0.to_string();
    for name in &location.labels {
        let _ = write!(label, "\\n{name}:");
    }
    match location.kind {
        LocationKind::Plain => {}
        LocationKind::LoopHead => attributes.push("shape=doublecircle".to_owned()),
        LocationKind::Exit => label.push_str("\\nexit"),
        LocationKind::Error(check) => {
            attributes.push("color=red, shape=octagon".to_owned());
            let message = shortened(&program.checks[check.index()].message);
            let _ = write!(label, "\\n{message}");
        }
        LocationKind::Halt => label.push_str("\\nhalt"),
    }
    if id == function.entry {
        attributes.push("style=bold".to_owned());
    }
    attributes.insert(0, format!("label={}", quoted(&label)));
    let _ = writeln!(out, "    L{} [{}];", id.0, attributes.join(", "));
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(LABEL).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

/// A DOT string. The escapes `\n` that this module puts into labels stay; quotes and other
/// backslashes are the program's.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' if chars.peek() == Some(&'n') => out.push('\\'),
            '\\' => out.push_str("\\\\"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
