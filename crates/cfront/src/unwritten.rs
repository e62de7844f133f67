//! Locals that a function may read before it wrote them.

use crate::ids::{FuncId, VarId};
use crate::operands::each_load;
use crate::program::{Op, PlaceKind, Program, Root};
use std::collections::BTreeSet;

/// The locals of a function, and its result, that may be read on some way before anything was
/// written to them since the call. What the declaration of a variable makes unknown again does not
/// count: that is seen where it happens.
pub(crate) fn read_unwritten(program: &Program, id: FuncId) -> BTreeSet<VarId> {
    let function = program.function(id);
    let own = || function.locals.iter().chain(&function.result).copied();
    let first = function.locations.start;
    // What may be unwritten at a location; nothing yet for one that was not met.
    let mut unwritten: Vec<Option<BTreeSet<VarId>>> = vec![None; function.locations.len()];
    unwritten[(function.entry.0 - first) as usize] = Some(own().collect());
    let mut found = BTreeSet::new();
    let mut work = vec![function.entry];
    while let Some(at) = work.pop() {
        let Some(before) = unwritten[(at.0 - first) as usize].clone() else {
            continue;
        };
        for (_, edge) in program.edges_from(at) {
            each_load(program, &edge.op, &mut |place| {
                if let Root::Variable(variable) = program.root(place)
                    && before.contains(&variable)
                {
                    found.insert(variable);
                }
            });
            let mut after = before.clone();
            if let Some(variable) = written(program, &edge.op) {
                after.remove(&variable);
            }
            // Where nothing is unwritten, nothing more can be found.
            let there = &mut unwritten[(edge.to.0 - first) as usize];
            let known = there.get_or_insert_default();
            let size = known.len();
            known.extend(after);
            if known.len() > size {
                work.push(edge.to);
            }
        }
    }
    let at_exit = &unwritten[(function.exit.0 - first) as usize];
    if let (Some(result), Some(open)) = (function.result, at_exit)
        && open.contains(&result)
    {
        found.insert(result);
    }
    found
}

/// The variable that an edge writes as a whole, or makes unknown.
fn written(program: &Program, op: &Op) -> Option<VarId> {
    let place = match op {
        Op::Assign { place, .. }
        | Op::Input { place, .. }
        | Op::Havoc { place }
        | Op::Allocate { place, .. }
        | Op::VaArg { place, .. } => *place,
        Op::Call { result, .. } => (*result)?,
        Op::Declare { variable } => return Some(*variable),
        _ => return None,
    };
    match program.place(place).kind {
        PlaceKind::Var(variable) => Some(variable),
        _ => None,
    }
}
