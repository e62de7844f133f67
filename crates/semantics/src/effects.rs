//! What a function may change, itself or through what it calls: MOD at the level of state
//! variables.

use crate::Semantics;
use crate::layout::StateVarId;
use hardbop_cfront::ids::{ExprId, FuncId, PlaceId, TypeId};
use hardbop_cfront::points_to::Spot;
use hardbop_cfront::program::Op;
use std::collections::BTreeSet;

/// For every function, the state variables that a call to it may change: its own frame is not
/// among them.
#[derive(Clone, Debug)]
pub struct Effects {
    modified: Vec<BTreeSet<StateVarId>>,
}

impl Effects {
    /// Works out what the functions of a program may change.
    pub fn new(semantics: &Semantics<'_>) -> Effects {
        let program = semantics.program;
        let count = program.functions.len();
        let mut modified: Vec<BTreeSet<StateVarId>> = vec![BTreeSet::new(); count];
        let mut callers: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count];
        for edge in &program.edges {
            let function = program.locations[edge.from.index()].function.index();
            written_by(semantics, &edge.op, &mut modified[function]);
            if let Op::Call { callee, .. } = &edge.op {
                for target in callee.targets() {
                    callers[target.index()].insert(function);
                    // Entering binds the parameters and gives the locals a life.
                    let callee = program.function(*target);
                    let own = callee.formals.iter().chain(&callee.locals);
                    for &variable in own.chain(&callee.result) {
                        if let Some(spot) = semantics.points_to.variable(variable) {
                            let ty = program.variable(variable).ty;
                            written_at(semantics, spot, ty, &mut modified[function]);
                        }
                        if semantics.layout.activation_address(variable).is_some() {
                            modified[function].insert(semantics.layout.frontier());
                        }
                    }
                }
            }
        }
        for set in &mut modified {
            set.retain(|&id| semantics.layout.get(id).owner.is_none());
        }
        let mut work: Vec<usize> = (0..count).collect();
        while let Some(callee) = work.pop() {
            let changed = modified[callee].clone();
            for &caller in &callers[callee] {
                let before = modified[caller].len();
                modified[caller].extend(changed.iter().copied());
                if modified[caller].len() > before {
                    work.push(caller);
                }
            }
        }
        Effects { modified }
    }

    /// What a call to a function may change, outside of its own frame.
    pub fn modified(&self, function: FuncId) -> &BTreeSet<StateVarId> {
        &self.modified[function.index()]
    }
}

/// The state variables that an operation may write, apart from what a called function does.
pub fn written_by(semantics: &Semantics<'_>, op: &Op, out: &mut BTreeSet<StateVarId>) {
    let mut place = |id: PlaceId| {
        if let Some(spot) = semantics.points_to.place(id) {
            written_at(semantics, spot, semantics.program.place(id).ty, out);
        }
    };
    match op {
        Op::Assign { place: to, .. }
        | Op::Input { place: to, .. }
        | Op::Havoc { place: to }
        | Op::VaArg { place: to, .. } => place(*to),
        Op::Call {
            result: Some(to), ..
        } => place(*to),
        Op::Allocate { place: to, .. } => {
            place(*to);
            out.insert(semantics.layout.frontier());
        }
        Op::FillMemory { to, .. } | Op::CopyMemory { to, .. } => {
            written_class(semantics, *to, out);
        }
        Op::HavocMemory {
            pointer,
            size: Some(_),
            ..
        } => {
            written_class(semantics, *pointer, out);
        }
        Op::HavocMemory { size: None, .. } => {
            let regions = semantics.points_to.regions().all().len() as u32;
            out.extend((0..regions).map(StateVarId));
        }
        Op::Declare { variable } => {
            if let Some(holder) = semantics.layout.activation_address(*variable) {
                out.insert(holder);
                out.insert(semantics.layout.frontier());
            }
            if let Some(spot) = semantics.points_to.variable(*variable) {
                let regions = semantics.points_to.regions();
                out.extend(
                    regions
                        .of_class(spot.class)
                        .map(|r| semantics.layout.region(r)),
                );
            }
        }
        Op::Skip
        | Op::Assume { .. }
        | Op::Call { result: None, .. }
        | Op::EndScope { .. }
        | Op::Free { .. }
        | Op::VaStart { .. }
        | Op::VaCopy { .. }
        | Op::Unsupported { .. } => {}
    }
}

fn written_class(semantics: &Semantics<'_>, pointer: ExprId, out: &mut BTreeSet<StateVarId>) {
    if let Some(spot) = semantics.points_to.pointer(pointer) {
        let regions = semantics.points_to.regions();
        out.extend(
            regions
                .of_class(spot.class)
                .map(|r| semantics.layout.region(r)),
        );
    }
}

fn written_at(semantics: &Semantics<'_>, spot: Spot, ty: TypeId, out: &mut BTreeSet<StateVarId>) {
    let regions = semantics.points_to.regions();
    if semantics.program.types.is_scalar(ty) {
        let region = regions.at(spot);
        out.extend(region.map(|region| semantics.layout.region(region)));
    } else {
        // What lies between the members is written, too.
        let all = regions.of_class(spot.class);
        out.extend(all.map(|region| semantics.layout.region(region)));
    }
}
