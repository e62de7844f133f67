//! What a function may change, itself or through what it calls: MOD by state variable.
//!
//! One computation has two views: what a call changes for its caller, and what a function's own
//! edges change in its own frame. `cfront::mod_ref` is another thing: it is by variable and coarse,
//! and knows reads and ends of lives, which are no changes of a state.

use crate::Semantics;
use crate::layout::StateVarId;
use hardbop_cfront::call_graph::{callees, with_callees};
use hardbop_cfront::ids::{ExprId, FuncId, TypeId, VarId};
use hardbop_cfront::operands::{Write, each_write};
use hardbop_cfront::points_to::Spot;
use hardbop_cfront::points_to::regions::RegionId;
use hardbop_cfront::program::Op;
use std::collections::BTreeSet;

/// What every function may change.
#[derive(Clone, Debug)]
pub struct Effects {
    modified: Vec<BTreeSet<StateVarId>>,
    own: Vec<BTreeSet<StateVarId>>,
}

impl Effects {
    /// Works out what the functions of a program may change.
    pub fn new(semantics: &Semantics<'_>) -> Effects {
        let program = semantics.program;
        let count = program.functions.len();
        let mut written: Vec<BTreeSet<StateVarId>> = vec![BTreeSet::new(); count];
        for edge in &program.edges {
            let written = &mut written[program.locations[edge.from.index()].function.index()];
            written_by(semantics, &edge.op, written);
            if let Op::Call { callee, .. } = &edge.op {
                for target in callee.targets() {
                    entered(semantics, *target, written);
                }
            }
        }
        let owner = |id: &StateVarId| semantics.layout.get(*id).owner;
        let own = (0..count)
            .map(|index| {
                let function = FuncId(index as u32);
                let own = written[index]
                    .iter()
                    .filter(|id| owner(id) == Some(function));
                own.copied().collect()
            })
            .collect();
        for set in &mut written {
            set.retain(|id| owner(id).is_none());
        }
        let modified = with_callees(&callees(program), written, |caller, callee| {
            caller.extend(callee.iter().copied());
        });
        Effects { modified, own }
    }

    /// What a call to a function may change, outside of its own frame.
    pub fn modified(&self, function: FuncId) -> &BTreeSet<StateVarId> {
        &self.modified[function.index()]
    }

    /// What a function's edges may change in its own frame.
    pub fn own(&self, function: FuncId) -> &BTreeSet<StateVarId> {
        &self.own[function.index()]
    }
}

/// Entering binds the parameters and gives the locals a life; leaving ends it.
fn entered(semantics: &Semantics<'_>, callee: FuncId, out: &mut BTreeSet<StateVarId>) {
    if let Some(ownership) = semantics.layout.ownership() {
        out.extend(ownership.in_frame(callee));
    }
    let callee = semantics.program.function(callee);
    let own = callee.formals.iter().chain(&callee.locals);
    for &variable in own.chain(&callee.result) {
        if let Some(spot) = semantics.points_to.variable(variable) {
            let ty = semantics.program.variable(variable).ty;
            written_at(semantics, spot, ty, out);
        }
        if semantics.layout.activation_address(variable).is_some() {
            out.insert(semantics.layout.frontier());
        }
        lived(semantics, variable, out);
    }
}

/// The state variables that an operation may write, apart from what a called function does.
pub fn written_by(semantics: &Semantics<'_>, op: &Op, out: &mut BTreeSet<StateVarId>) {
    let regions = semantics.points_to.regions();
    let ownership = semantics.layout.ownership();
    each_write(op, &mut |write| match write {
        Write::Place(place) => {
            if let Some(spot) = semantics.points_to.place(place) {
                written_at(semantics, spot, semantics.program.place(place).ty, out);
            }
        }
        Write::Memory(pointer) => written_class(semantics, pointer, out),
        Write::Everything => {
            let all = (0..regions.all().len() as u32).map(RegionId);
            all.for_each(|region| written_region(semantics, region, out));
        }
        Write::Allocate => {
            out.insert(semantics.layout.frontier());
            out.extend(semantics.layout.births().values());
            if let Op::Allocate { place, .. } = op {
                out.extend(semantics.cells_of_new_object(*place));
                out.extend(
                    ownership
                        .into_iter()
                        .flat_map(|ownership| ownership.allocated(*place)),
                );
            }
        }
        Write::Begin(variable) => {
            if let Some(holder) = semantics.layout.activation_address(variable) {
                out.insert(holder);
                out.insert(semantics.layout.frontier());
            }
            if let Some(spot) = semantics.points_to.variable(variable) {
                let all = regions.of_class(spot.class);
                all.for_each(|region| written_region(semantics, region, out));
            }
            lived(semantics, variable, out);
        }
        Write::End(variable) => lived(semantics, variable, out),
        Write::Free(pointer) => {
            let spot = semantics.points_to.pointer(pointer);
            out.extend(spot.and_then(|spot| ownership?.extents(spot.class)));
            out.extend(spot.and_then(|spot| semantics.layout.freed(spot.class)));
            let traces = semantics.layout.traces();
            out.extend(spot.and_then(|spot| traces.visits(spot.class)));
        }
    });
}

/// What changes where a local begins or ends.
fn lived(semantics: &Semantics<'_>, variable: VarId, out: &mut BTreeSet<StateVarId>) {
    let Some(ownership) = semantics.layout.ownership() else {
        return;
    };
    if let Some(life) = ownership.life(variable) {
        out.extend([life, ownership.next_life()]);
    }
    if semantics.layout.activation_address(variable).is_some() {
        let spot = semantics.points_to.variable(variable);
        out.extend(spot.and_then(|spot| ownership.extents(spot.class)));
    }
}

/// A region, and the owners of the pointers in it.
fn written_region(semantics: &Semantics<'_>, region: RegionId, out: &mut BTreeSet<StateVarId>) {
    let region = semantics.layout.region(region);
    out.insert(region);
    let ownership = semantics.layout.ownership();
    out.extend(ownership.and_then(|ownership| ownership.owners(region)));
    out.extend(semantics.layout.references(region));
    out.extend(semantics.layout.traces().beside(region));
}

fn written_class(semantics: &Semantics<'_>, pointer: ExprId, out: &mut BTreeSet<StateVarId>) {
    if let Some(spot) = semantics.points_to.pointer(pointer) {
        let regions = semantics.points_to.regions().of_class(spot.class);
        regions.for_each(|region| written_region(semantics, region, out));
    }
}

fn written_at(semantics: &Semantics<'_>, spot: Spot, ty: TypeId, out: &mut BTreeSet<StateVarId>) {
    let regions = semantics.points_to.regions();
    if semantics.program.types.is_scalar(ty) {
        if let Some(region) = regions.at(spot) {
            written_region(semantics, region, out);
        }
    } else {
        // What lies between the members is written, too.
        let all = regions.of_class(spot.class);
        all.for_each(|region| written_region(semantics, region, out));
    }
}
