//! What the tests share: loading, an explicit-state reference, and the judging of traces.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod explicit;
pub mod judge;

use hardbop_boolean_program::program::Program;
use hardbop_boolean_program::{Dialect, load};
use hardbop_diagnostics::Sources;

/// The program of a text that must be right.
pub fn program(text: &str) -> Program {
    let mut sources = Sources::new();
    let file = sources.add("test.bp", text);
    let loaded = load(&sources, file, Dialect::Auto);
    match loaded.program {
        Some(program) => program,
        None => panic!("{:?}\n{text}", loaded.diagnostics),
    }
}

/// The line, counted from 1, on which a vertex's statement starts.
pub fn line(
    text: &str,
    program: &Program,
    vertex: hardbop_boolean_program::program::VertexId,
) -> usize {
    let start = program.vertices[vertex.index()].span.start as usize;
    text[..start].matches('\n').count() + 1
}
