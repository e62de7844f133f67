//! What functions have to do with: where calls are kept, nothing else need be said inside of them, and
//! nothing at all of those that no open check has to do with.
//!
//! A call changes nothing but what the callee may change, so what its caller knows of anything else
//! stays known across it. In come the steps of a program; out comes, for each function, the state
//! that it or what it calls reads or writes.

use hardbop_cfront::call_graph::{callees, with_callees};
use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_logic::{TermId, Terms};
use hardbop_semantics::State;
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::{Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// Leaves of what is live what the function there has to do with.
pub fn localised(
    ground: &Ground<'_, '_>,
    terms: &Terms,
    steps: &[Step],
    live: &mut BTreeMap<LocId, Live>,
) {
    let program = ground.semantics.program;
    let function = |at: LocId| program.locations[at.index()].function;
    let mut roots: Vec<Vec<TermId>> = vec![Vec::new(); program.functions.len()];
    let mut written: Vec<BTreeSet<StateVarId>> = vec![BTreeSet::new(); program.functions.len()];
    for step in steps {
        let Some(from) = step.from else { continue };
        let index = function(from).index();
        roots[index].push(step.condition);
        let states: [Option<&State>; 2] = [Some(&step.state), step.entered.as_ref()];
        for (id, value) in states.into_iter().flatten().flat_map(State::written) {
            written[index].insert(id);
            roots[index].push(value);
        }
    }
    let outlives = |id: &StateVarId| ground.semantics.layout.get(*id).owner.is_none();
    let mut touched = Vec::with_capacity(roots.len());
    for (mut touched_here, roots) in written.into_iter().zip(roots) {
        for constant in terms.free_constants(&roots) {
            if let Some(Meaning::Now(id) | Meaning::Old(id)) = ground.constants.meaning(constant) {
                touched_here.insert(id);
            }
        }
        touched_here.retain(outlives);
        touched.push(touched_here);
    }
    let touched = with_callees(&callees(program), touched, |caller, callee| {
        caller.extend(callee.iter().copied());
    });
    for (&at, live) in live {
        let touched = &touched[function(at).index()];
        let stays = |id: &StateVarId| !outlives(id) || touched.contains(id);
        live.now.retain(stays);
        live.old.retain(stays);
    }
}

/// Leaves nothing live in functions that open checks have nothing to do with. Those that have are the
/// ones that checks are in, what these call, since it may change what they know, and who calls them,
/// since it gives them their arguments.
pub fn concerned(ground: &Ground<'_, '_>, checked: &[LocId], live: &mut BTreeMap<LocId, Live>) {
    let program = ground.semantics.program;
    let function = |at: LocId| program.locations[at.index()].function;
    let callees = callees(program);
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); callees.len()];
    for (caller, called) in callees.iter().enumerate() {
        called
            .iter()
            .for_each(|&callee| callers[callee].push(caller));
    }
    let first: BTreeSet<FuncId> = checked.iter().map(|&at| function(at)).collect();
    let reached = |next: &[Vec<usize>]| {
        let mut reached = first.clone();
        let mut work: Vec<FuncId> = first.iter().copied().collect();
        while let Some(at) = work.pop() {
            let next = next[at.index()].iter().map(|&next| FuncId(next as u32));
            work.extend(next.filter(|&next| reached.insert(next)));
        }
        reached
    };
    let concerned: BTreeSet<FuncId> = &reached(&callees) | &reached(&callers);
    for (&at, live) in live {
        if !concerned.contains(&function(at)) {
            *live = Live::default();
        }
    }
}
