//! Functions that a claim leaves apart: their calls are steps, and nothing is said of what is inside.
//!
//! That is right where nothing inside can violate a check that is claimed to hold, whatever the
//! data: neither the function nor anything that it may call has such a place, or comes to what is
//! not supported. A call that never comes back takes no step, and violates nothing either.

use hardbop_cfront::call_graph::calls_of;
use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_cfront::program::{LocationKind, Op, Program};
use hardbop_engine::Reason;
use hardbop_engine::claim::Invariants;
use std::collections::BTreeSet;

/// The functions that a claim leaves apart, if it may.
pub(crate) fn apart(program: &Program, claim: &Invariants) -> Result<BTreeSet<FuncId>, Reason> {
    let apart: BTreeSet<FuncId> = claim.apart.iter().copied().collect();
    let known = |function: &FuncId| function.index() < program.functions.len();
    if !apart.iter().all(known) || apart.contains(&program.entry) {
        return Err(Reason::Certificate);
    }
    let mut inside = apart.clone();
    let mut work: Vec<FuncId> = inside.iter().copied().collect();
    while let Some(function) = work.pop() {
        work.extend(calls_of(program, function).filter(|&callee| inside.insert(callee)));
    }
    for function in inside {
        for index in program.function(function).locations.clone() {
            let location = &program.locations[index as usize];
            if matches!(location.kind, LocationKind::Error(check) if claim.checks.contains(&check))
            {
                return Err(Reason::Certificate);
            }
            for (_, edge) in program.edges_from(LocId(index)) {
                if let Op::Unsupported { construct } = edge.op {
                    return Err(Reason::unsupported(program, construct));
                }
            }
        }
    }
    Ok(apart)
}
