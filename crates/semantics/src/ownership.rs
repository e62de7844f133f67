//! To which object a pointer belongs, and which objects live: what the checks for invalid accesses
//! and invalid frees ask about.
//!
//! A pointer belongs to the object that it was computed from, wherever it points to by now; the
//! interpreter's pointers carry that with them, and here it is state of its own, beside the
//! pointer: the owner's *identity*. Identities are numbers that no two objects share:
//!
//! - an object that never ends, and one that is taken from the frontier, has its address, which
//!   modulo 16 is 0 or the object's alignment, a power of two;
//! - a local that begins and ends has a new number for every life, which is 9 modulo 16;
//! - null and what was never an address belong to nobody: 0;
//! - a pointer of which bits were written, or that was an integer of unknown origin, may belong to
//!   anybody.
//!
//! A program in which nothing asks has none of this.

use crate::layout::{StateKind, StateVar, StateVarId};
use crate::scalar::Shape;
use hardbop_cfront::control;
use hardbop_cfront::ids::{ExprId, FuncId, PlaceId, TypeId, VarId};
use hardbop_cfront::points_to::regions::RegionId;
use hardbop_cfront::points_to::{ClassId, PointsTo, Spot, leaves};
use hardbop_cfront::program::{ExprKind, Lifetime, Op, Program, VarKind};
use hardbop_cfront::types::Type;
use std::collections::{BTreeMap, BTreeSet};

/// The shape of an identity, and of an object's size.
pub const IDENTITY: Shape = Shape {
    width: 64,
    signed: false,
    float: None,
};

/// Whom null belongs to.
pub(crate) const NOBODY: u128 = 0;
/// What a local is that does not live: nothing that a pointer belongs to.
pub(crate) const DEAD: u128 = 2;
/// The identity of the first life of a local.
pub(crate) const FIRST_LIFE: u128 = 9;
/// The distance to the identity of the next life.
pub(crate) const NEXT_LIFE: u128 = 16;

/// Whether anything in a program asks to which object a pointer belongs: a check, or what copies
/// whole objects.
pub(crate) fn is_asked_for(program: &Program) -> bool {
    let asks = |kind: &ExprKind| {
        matches!(
            kind,
            ExprKind::ValidAccess { .. }
                | ExprKind::ValidFree { .. }
                | ExprKind::PointsToConstant { .. }
        )
    };
    program.exprs.iter().any(|expr| asks(&expr.kind)) || copies_whole_objects(program)
}

/// Whether some function looks up how large an object is and copies memory, as `realloc` does: what
/// it copies is known only if sizes are.
fn copies_whole_objects(program: &Program) -> bool {
    let mut copying = BTreeSet::new();
    let mut looking = BTreeSet::new();
    for edge in &program.edges {
        let function = program.locations[edge.from.index()].function;
        match edge.op {
            Op::CopyMemory { .. } => {
                copying.insert(function);
            }
            Op::Assign { value, .. } if is_size(program, value) => {
                looking.insert(function);
            }
            _ => {}
        }
    }
    !copying.is_disjoint(&looking)
}

/// Whether an expression is the size of an object, converted perhaps.
fn is_size(program: &Program, mut expr: ExprId) -> bool {
    while let ExprKind::Convert(operand) = program.expr(expr).kind {
        expr = operand;
    }
    matches!(program.expr(expr).kind, ExprKind::ObjectSize { .. })
}

/// Which state variables tell to which objects pointers belong.
#[derive(Clone, Debug)]
pub struct Ownership {
    owners: BTreeMap<StateVarId, StateVarId>,
    lives: BTreeMap<VarId, StateVarId>,
    extents: BTreeMap<ClassId, StateVarId>,
    next_life: StateVarId,
    allocated: BTreeMap<PlaceId, BTreeSet<ClassId>>,
    in_frames: BTreeMap<FuncId, BTreeSet<ClassId>>,
    not_heap: BTreeSet<ClassId>,
}

impl Ownership {
    /// The state variables for a program, added to the others; `None` if nothing asks.
    pub(crate) fn new(
        program: &Program,
        points_to: &PointsTo,
        recursive: &[bool],
        variables: &mut Vec<StateVar>,
    ) -> Option<Ownership> {
        if !is_asked_for(program) {
            return None;
        }
        let mut owners = BTreeMap::new();
        for region in pointer_regions(program, points_to) {
            let region = StateVarId(region.0);
            let held = &variables[region.index()];
            let owner = StateVar {
                name: format!("owner of {}", held.name),
                kind: match held.kind {
                    StateKind::Memory { .. } => StateKind::Identities,
                    _ => StateKind::Identity,
                },
                owner: held.owner,
                ty: None,
                variable: None,
            };
            owners.insert(region, StateVarId(variables.len() as u32));
            variables.push(owner);
        }
        let mut add = |variable: StateVar| {
            variables.push(variable);
            StateVarId(variables.len() as u32 - 1)
        };
        let named = |name: String, kind: StateKind| StateVar {
            name,
            kind,
            owner: None,
            ty: None,
            variable: None,
        };
        let next_life = add(named("next life".to_owned(), StateKind::Identity));
        let mut lives = BTreeMap::new();
        let mut extents = BTreeMap::new();
        let mut not_heap = BTreeSet::new();
        let mortal = mortal(program);
        for (index, variable) in program.variables.iter().enumerate() {
            let id = VarId(index as u32);
            let (VarKind::Formal(function)
            | VarKind::Local(function)
            | VarKind::Temporary(function)) = variable.kind
            else {
                continue;
            };
            if !variable.address_taken {
                continue;
            }
            if recursive[function.index()] {
                not_heap.extend(points_to.variable(id).map(|spot| spot.class));
            } else if mortal.contains(&id) || function != program.entry {
                let name = format!(
                    "life of {}::{}",
                    program.function(function).name,
                    variable.name
                );
                let name = format!("{name}#{index}");
                lives.insert(id, add(named(name, StateKind::Identity)));
            }
        }
        let mut allocated: BTreeMap<PlaceId, BTreeSet<ClassId>> = BTreeMap::new();
        let mut in_frames: BTreeMap<FuncId, BTreeSet<ClassId>> = BTreeMap::new();
        for (index, class) in points_to.classes().iter().enumerate() {
            let id = ClassId(index as u32);
            for &edge in &class.allocations {
                let edge = &program.edges[edge.index()];
                let Op::Allocate {
                    place, lifetime, ..
                } = edge.op
                else {
                    continue;
                };
                allocated.entry(place).or_default().insert(id);
                if lifetime == Lifetime::Frame {
                    let function = program.locations[edge.from.index()].function;
                    in_frames.entry(function).or_default().insert(id);
                    not_heap.insert(id);
                }
                if lifetime == Lifetime::Library {
                    not_heap.insert(id);
                }
            }
            if !class.allocations.is_empty() || not_heap.contains(&id) {
                let name = format!("extents#{index}");
                extents.insert(id, add(named(name, StateKind::Extents)));
            }
        }
        Some(Ownership {
            owners,
            lives,
            extents,
            next_life,
            allocated,
            in_frames,
            not_heap,
        })
    }

    /// Where the owners of the pointers in a region are.
    pub fn owners(&self, region: StateVarId) -> Option<StateVarId> {
        self.owners.get(&region).copied()
    }

    /// Every region that holds pointers, with where their owners are.
    pub fn all_owners(&self) -> impl Iterator<Item = (StateVarId, StateVarId)> + '_ {
        self.owners
            .iter()
            .map(|(&region, &owners)| (region, owners))
    }

    /// Where the identity of a local is that may begin and end.
    pub fn life(&self, variable: VarId) -> Option<StateVarId> {
        self.lives.get(&variable).copied()
    }

    /// All locals that may begin and end.
    pub fn lives(&self) -> impl Iterator<Item = (VarId, StateVarId)> + '_ {
        self.lives.iter().map(|(&variable, &life)| (variable, life))
    }

    /// The identity that the next life gets.
    pub fn next_life(&self) -> StateVarId {
        self.next_life
    }

    /// Where the sizes of those objects of a class are that are taken from the frontier.
    pub fn extents(&self, class: ClassId) -> Option<StateVarId> {
        self.extents.get(&class).copied()
    }

    /// The sizes of all objects that are taken from the frontier.
    pub fn all_extents(&self) -> impl Iterator<Item = (ClassId, StateVarId)> + '_ {
        self.extents
            .iter()
            .map(|(&class, &extents)| (class, extents))
    }

    /// The sizes that may be written where an allocation writes its result.
    pub fn allocated(&self, place: PlaceId) -> impl Iterator<Item = StateVarId> + '_ {
        let classes = self.allocated.get(&place).into_iter().flatten();
        classes.filter_map(|class| self.extents(*class))
    }

    /// The sizes of what ends with the frame of a function.
    pub fn in_frame(&self, function: FuncId) -> impl Iterator<Item = StateVarId> + '_ {
        let classes = self.in_frames.get(&function).into_iter().flatten();
        classes.filter_map(|class| self.extents(*class))
    }

    /// Whether whatever of a class is taken from the frontier is on the heap.
    pub fn is_heap(&self, class: ClassId) -> bool {
        !self.not_heap.contains(&class)
    }
}

/// The regions in which pointers lie as a whole.
fn pointer_regions(program: &Program, points_to: &PointsTo) -> BTreeSet<RegionId> {
    let mut found = BTreeSet::new();
    let regions = points_to.regions();
    let size = program.types.model().pointer_size();
    let mut note = |spot: Spot, ty: TypeId| {
        if let Some(region) = regions.at(spot)
            && regions.get(region).unit == size
            && matches!(program.types.get(ty), Type::Pointer(_))
        {
            found.insert(region);
        }
    };
    for (index, variable) in program.variables.iter().enumerate() {
        if let Some(spot) = points_to.variable(VarId(index as u32)) {
            for (offset, ty, _) in leaves(&program.types, variable.ty) {
                note(points_to.part(spot, offset as i64), ty);
            }
        }
    }
    for (index, place) in program.places.iter().enumerate() {
        if let Some(spot) = points_to.place(PlaceId(index as u32)) {
            for (offset, ty, _) in leaves(&program.types, place.ty) {
                note(points_to.part(spot, offset as i64), ty);
            }
        }
    }
    found
}

/// The locals of the entry function that may begin more than once, or end before it does.
fn mortal(program: &Program) -> BTreeSet<VarId> {
    let cyclic = control::cyclic(program);
    let mut mortal = BTreeSet::new();
    let mut begun = BTreeSet::new();
    for edge in &program.edges {
        match &edge.op {
            Op::EndScope { variables } => mortal.extend(variables.iter().copied()),
            Op::Declare { variable } if cyclic[edge.from.index()] || !begun.insert(*variable) => {
                mortal.insert(*variable);
            }
            _ => {}
        }
    }
    mortal
}
