//! Where branches meet again: immediate post-dominators of a function's locations.

use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_cfront::program::Program;
use hardbop_graph::{Dominators, reversed};
use std::collections::BTreeMap;

/// For every location from which the function can return, the first location that all of its
/// returning ways pass. Ways that end in errors or halts do not count.
pub(crate) fn joins(program: &Program, function: FuncId) -> BTreeMap<LocId, LocId> {
    let described = program.function(function);
    let first = described.locations.start;
    let exit = described.exit.0 - first;
    let post = Dominators::new(&reversed(&program.successors(function)), exit as usize);
    (0..described.locations.len() as u32)
        .filter(|&index| index != exit)
        .filter_map(|index| {
            let meet = post.immediate(index as usize)?;
            Some((LocId(first + index), LocId(first + meet as u32)))
        })
        .collect()
}
