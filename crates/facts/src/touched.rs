//! What functions have to do with: nothing else need be known inside of them, since a call changes
//! nothing else.

use hardbop_cfront::call_graph::{callees, with_callees};
use hardbop_cfront::ids::FuncId;
use hardbop_cfront::operands::each_load;
use hardbop_cfront::points_to::ClassId;
use hardbop_cfront::program::Op;
use hardbop_semantics::Semantics;
use hardbop_semantics::effects::written_by;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::steps::Ground;
use std::collections::BTreeSet;

/// For each function, the state beside its own frame that it, or what it calls, reads or writes.
pub(crate) fn touched(ground: &Ground<'_, '_>) -> Vec<BTreeSet<StateVarId>> {
    let semantics = ground.semantics;
    let program = semantics.program;
    let mut touched: Vec<BTreeSet<StateVarId>> = vec![BTreeSet::new(); program.functions.len()];
    for edge in &program.edges {
        let function = program.locations[edge.from.index()].function;
        let touched = &mut touched[function.index()];
        written_by(semantics, &edge.op, touched);
        // What is read is found as what would be written there.
        each_load(program, &edge.op, &mut |place| {
            written_by(semantics, &Op::Havoc { place }, touched);
        });
    }
    let own = |id: &StateVarId| semantics.layout.get(*id).owner.is_some();
    touched.iter_mut().for_each(|ids| ids.retain(|id| !own(id)));
    let mut touched = with_callees(&callees(program), touched, |caller, callee| {
        caller.extend(callee.iter().copied());
    });
    for (index, ids) in touched.iter_mut().enumerate() {
        ids.extend(ground.effects.modified(FuncId(index as u32)));
    }
    touched
}

/// For each function, the classes of what it, or what it calls, may free.
pub(crate) fn frees(semantics: &Semantics<'_>) -> Vec<BTreeSet<ClassId>> {
    let program = semantics.program;
    let mut frees: Vec<BTreeSet<ClassId>> = vec![BTreeSet::new(); program.functions.len()];
    for edge in &program.edges {
        if let Op::Free { pointer } = edge.op
            && let Some(spot) = semantics.points_to.pointer(pointer)
        {
            let function = program.locations[edge.from.index()].function;
            frees[function.index()].insert(spot.class);
        }
    }
    with_callees(&callees(program), frees, |caller, callee| {
        caller.extend(callee.iter().copied());
    })
}
