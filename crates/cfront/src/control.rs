//! Control inside of functions: where it may come again.

use crate::program::Program;
use hardbop_graph::cycles;

/// For every location, whether it lies on a cycle of its function.
pub fn cyclic(program: &Program) -> Vec<bool> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); program.locations.len()];
    for edge in &program.edges {
        next[edge.from.index()].push(edge.to.index());
    }
    cycles(&next).iter().map(Option::is_some).collect()
}
