//! Where a program's data lives in logic: one state variable for every region of memory.
//!
//! A region (see `hardbop_cfront::points_to`) whose class holds one variable only, of which there
//! is one instance at a time, is a *cell*: a plain value, however it is reached. So is one whose
//! class holds one object of the heap only, of which there is one in every run (`once`). Any other
//! region is an array from addresses to values. Addresses of variables are fixed distances from one
//! symbolic origin, and allocation moves a frontier up from there: objects are disjoint, non-null
//! and in a fixed order, but at no known address. (Programs whose meaning depends on the order of
//! unrelated objects have no meaning in C either.)

use crate::births::Traces;
use crate::once::only_objects;
use crate::ownership::{self, Ownership};
use hardbop_cfront::ids::{FuncId, PlaceId, TypeId, VarId};
use hardbop_cfront::placement::{alignment, placed};
use hardbop_cfront::points_to::regions::RegionId;
use hardbop_cfront::points_to::{ClassId, PointsTo, Spot, bit_field, leaves};
use hardbop_cfront::program::{PlaceKind, Program, VarKind};
use hardbop_cfront::types::{DataModel, Type};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A state variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StateVarId(pub u32);

impl StateVarId {
    /// The position in [`Layout::variables`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is known of a state variable.
#[derive(Clone, Debug)]
pub struct StateVar {
    /// A name for people: `x`, `f::x`, `f::s.next`, `memory 3 (int)`.
    pub name: String,
    /// What it holds.
    pub kind: StateKind,
    /// The function whose frame it belongs to; `None` for what outlives calls.
    pub owner: Option<FuncId>,
    /// The C type of the scalars in it, where all accesses agree on one up to signedness.
    pub ty: Option<TypeId>,
    /// The variable that it is (a part of), for a cell; `None` for a part of an object of the heap.
    pub variable: Option<VarId>,
}

/// What a state variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateKind {
    /// A plain value of that many bytes.
    Cell {
        /// The size.
        bytes: u64,
    },
    /// An array from addresses to values of that many bytes.
    Memory {
        /// The size of a value.
        unit: u64,
    },
    /// The first address that no object has taken.
    Frontier,
    /// The address of a local of a recursive function: one for each activation.
    Address,
    /// Which object it is, or to which one a pointer belongs (see [`crate::ownership`]).
    Identity,
    /// An array from addresses to the objects that the pointers there belong to.
    Identities,
    /// An array from objects to one more than their sizes; 0 for what is not there.
    Extents,
    /// An array from addresses to whether, and by which allocation, an object was ever taken there
    /// (see [`crate::births`]).
    Births {
        /// How many bits say that.
        bits: u32,
    },
    /// An array from addresses to where a pointer to there was written last (see [`crate::births`]).
    References,
}

impl StateKind {
    /// Whether it holds many values.
    pub fn is_array(self) -> bool {
        matches!(
            self,
            StateKind::Memory { .. }
                | StateKind::Identities
                | StateKind::Extents
                | StateKind::Births { .. }
                | StateKind::References
        )
    }
}

/// Where data lives.
#[derive(Clone, Debug)]
pub struct Layout {
    variables: Vec<StateVar>,
    frontier: StateVarId,
    activation_addresses: BTreeMap<VarId, StateVarId>,
    distances: Vec<Option<u64>>,
    function_distances: Vec<u64>,
    total: u64,
    recursive: Vec<bool>,
    /// Whether every scalar lies at a multiple of its size (or of 4 on ILP32) in every record.
    natural: bool,
    /// The size of a pointer in bytes.
    pointer_size: u64,
    ownership: Option<Ownership>,
    births: BTreeMap<ClassId, StateVarId>,
    freed: BTreeMap<ClassId, StateVarId>,
    /// By the region that holds the pointers.
    references: BTreeMap<StateVarId, StateVarId>,
    traces: Traces,
}

/// The distance of the first object from the origin.
const FIRST: u64 = 0;
/// Objects of the heap start at multiples of this many bytes, and so do functions.
const ALIGN: u64 = 16;

impl Layout {
    /// Lays out a program.
    pub fn new(program: &Program, points_to: &PointsTo) -> Layout {
        let recursive = hardbop_cfront::call_graph::recursive(program);
        let names = region_names(program, points_to);
        let only = match ownership::is_asked_for(program) {
            // Where objects begin and end is asked for, they are told apart by their addresses.
            true => BTreeSet::new(),
            false => only_objects(program, points_to),
        };
        let mut variables = Vec::new();
        for (index, region) in points_to.regions().all().iter().enumerate() {
            let class = &points_to.classes()[region.class.0 as usize];
            let single = match class.variables.as_slice() {
                [one] if class.allocations.is_empty() && !class.external => Some(*one),
                _ => None,
            };
            let (name, ty) = names
                .get(&RegionId(index as u32))
                .cloned()
                .unwrap_or_default();
            let owner_of = |id: VarId| match program.variable(id).kind {
                VarKind::Formal(f)
                | VarKind::Local(f)
                | VarKind::Temporary(f)
                | VarKind::Result(f) => Some(f),
                VarKind::Global | VarKind::Static(_) | VarKind::Literal => None,
            };
            let one_at_a_time = single.filter(|&id| {
                let owner = owner_of(id);
                !program.variable(id).address_taken
                    || owner.is_none_or(|function| !recursive[function.index()])
            });
            let kind = match one_at_a_time.is_some() || only.contains(&region.class) {
                true if !region.repeated => StateKind::Cell {
                    bytes: (region.end - region.start) as u64,
                },
                _ => StateKind::Memory { unit: region.unit },
            };
            // What is reached by its name alone belongs to the frame; what pointers reach does
            // not, since a callee may change it.
            let owner = single
                .filter(|&id| !program.variable(id).address_taken)
                .and_then(owner_of);
            variables.push(StateVar {
                name,
                kind,
                owner,
                ty,
                variable: one_at_a_time,
            });
        }
        let frontier = StateVarId(variables.len() as u32);
        variables.push(StateVar {
            name: "frontier".to_owned(),
            kind: StateKind::Frontier,
            owner: None,
            ty: None,
            variable: None,
        });
        let mut activation_addresses = BTreeMap::new();
        let mut distances = vec![None; program.variables.len()];
        let mut next = FIRST;
        for (index, variable) in program.variables.iter().enumerate() {
            if !variable.address_taken {
                continue;
            }
            let id = VarId(index as u32);
            match variable.kind {
                VarKind::Formal(f) | VarKind::Local(f) | VarKind::Temporary(f)
                    if recursive[f.index()] =>
                {
                    activation_addresses.insert(id, StateVarId(variables.len() as u32));
                    variables.push(StateVar {
                        name: format!("&{}::{}", program.function(f).name, variable.name),
                        kind: StateKind::Address,
                        owner: Some(f),
                        ty: None,
                        variable: Some(id),
                    });
                }
                _ => {
                    let distance = placed(next, alignment(program, id));
                    distances[index] = Some(distance);
                    next = distance + program.types.size_of(variable.ty).max(1);
                }
            }
        }
        next = next.next_multiple_of(ALIGN);
        let mut function_distances = Vec::with_capacity(program.functions.len());
        for _ in &program.functions {
            function_distances.push(next);
            next += ALIGN;
        }
        let ownership = Ownership::new(program, points_to, &recursive, &mut variables);
        Layout {
            variables,
            frontier,
            activation_addresses,
            distances,
            function_distances,
            total: next,
            recursive,
            natural: naturally_aligned(program),
            pointer_size: program.types.model().pointer_size(),
            ownership,
            births: BTreeMap::new(),
            freed: BTreeMap::new(),
            references: BTreeMap::new(),
            traces: Traces::default(),
        }
    }

    /// The same with one more state variable for each class of objects that are allocated: where
    /// such were taken, one for where they were freed, and one for each region of theirs that holds
    /// pointers: where a pointer to somewhere was written last; and with what statements leave behind.
    pub(crate) fn with_births(&self, program: &Program, points_to: &PointsTo) -> Layout {
        let mut layout = self.clone();
        for (index, class) in points_to.classes().iter().enumerate() {
            if class.allocations.is_empty() || !self.births.is_empty() {
                continue;
            }
            let bits = class.allocations.len().ilog2() + 1;
            let born = layout.add_ghost(format!("born#{index}"), StateKind::Births { bits });
            let class = ClassId(index as u32);
            layout.births.insert(class, born);
            let gone = StateKind::Births { bits: 1 };
            let freed = layout.add_ghost(format!("freed#{index}"), gone);
            layout.freed.insert(class, freed);
            for region in points_to.regions().of_class(class) {
                let region = self.region(region);
                let held = self.get(region);
                let pointers = held
                    .ty
                    .is_some_and(|ty| matches!(program.types.get(ty), Type::Pointer(_)));
                let unit = self.pointer_size;
                if !pointers || held.kind != (StateKind::Memory { unit }) {
                    continue;
                }
                let name = format!("referrer#{}", region.0);
                let referrer = layout.add_ghost(name, StateKind::References);
                layout.references.insert(region, referrer);
            }
        }
        if self.births.is_empty() {
            layout.traces = Traces::new(program, points_to, &mut layout);
        }
        layout
    }

    /// A variable that is of no function and of no type of the program.
    pub(crate) fn add_ghost(&mut self, name: String, kind: StateKind) -> StateVarId {
        let id = StateVarId(self.variables.len() as u32);
        self.variables.push(StateVar {
            name,
            kind,
            owner: None,
            ty: None,
            variable: None,
        });
        id
    }

    /// Where objects of a class were freed, if that is followed.
    pub fn freed(&self, class: ClassId) -> Option<StateVarId> {
        self.freed.get(&class).copied()
    }

    /// Where pointers were written last, for each region that holds such, if that is followed.
    pub fn references(&self, region: StateVarId) -> Option<StateVarId> {
        self.references.get(&region).copied()
    }

    /// What statements leave behind at nodes, if that is followed.
    pub fn traces(&self) -> &Traces {
        &self.traces
    }

    /// Where objects of each class were taken, if that is followed.
    pub fn births(&self) -> &BTreeMap<ClassId, StateVarId> {
        &self.births
    }

    /// To which objects pointers belong; `None` if nobody asks.
    pub fn ownership(&self) -> Option<&Ownership> {
        self.ownership.as_ref()
    }

    /// Every state variable, by [`StateVarId`]; the regions come first, in their own order.
    pub fn variables(&self) -> &[StateVar] {
        &self.variables
    }

    /// A state variable.
    pub fn get(&self, id: StateVarId) -> &StateVar {
        &self.variables[id.index()]
    }

    /// The state variable of a region.
    pub fn region(&self, id: RegionId) -> StateVarId {
        StateVarId(id.0)
    }

    /// The region that a state variable is, if it is one.
    pub fn region_of(&self, id: StateVarId) -> Option<RegionId> {
        // The frontier is the first one that is none.
        (id.0 < self.frontier.0).then_some(RegionId(id.0))
    }

    /// The first address that no object has taken.
    pub fn frontier(&self) -> StateVarId {
        self.frontier
    }

    /// The state variable that holds a variable's address, if its activations have one each.
    pub fn activation_address(&self, id: VarId) -> Option<StateVarId> {
        self.activation_addresses.get(&id).copied()
    }

    /// The distance of a variable from the origin; `None` if its address is never taken or is in
    /// a state variable.
    pub fn distance(&self, id: VarId) -> Option<u64> {
        self.distances[id.index()]
    }

    /// The distance of a function from the origin.
    pub fn function_distance(&self, id: FuncId) -> u64 {
        self.function_distances[id.index()]
    }

    /// The distance of the first frontier from the origin.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether a function may be active more than once.
    pub fn is_recursive(&self, id: FuncId) -> bool {
        self.recursive[id.index()]
    }

    /// The distance between neighbouring values of that size that may lie in one object.
    pub fn stride(&self, unit: u64) -> u64 {
        if !self.natural {
            1
        } else if self.pointer_size == 4 {
            unit.min(4)
        } else {
            unit
        }
    }
}

/// The size of the space that an object of that many bytes takes: at least one byte, so that
/// addresses differ.
pub fn rounded(size: u64) -> u64 {
    (size.max(1)).div_ceil(ALIGN) * ALIGN
}

fn naturally_aligned(program: &Program) -> bool {
    let most = match program.types.model() {
        DataModel::Ilp32 => 4,
        DataModel::Lp64 => 16,
    };
    (0..program.types.record_count()).all(|index| {
        let record = program
            .types
            .record(hardbop_cfront::ids::RecordId(index as u32));
        record
            .fields
            .iter()
            .filter(|field| field.bit_width.is_none())
            .all(|field| {
                let size = match program.types.get(field.ty) {
                    Type::Array { .. } | Type::Record(_) => 1,
                    _ => program.types.size_of(field.ty).min(most),
                };
                field.offset().is_multiple_of(size) && record.size.is_multiple_of(size)
            })
    })
}

/// For every region a name, and the type at which it is accessed.
fn region_names(
    program: &Program,
    points_to: &PointsTo,
) -> BTreeMap<RegionId, (String, Option<TypeId>)> {
    let mut names: BTreeMap<RegionId, (String, Option<TypeId>)> = BTreeMap::new();
    let regions = points_to.regions();
    let mut note = |spot: Spot, ty: TypeId, bits: bool, name: &dyn Fn() -> Option<String>| {
        let Some(region) = regions.at(spot) else {
            return;
        };
        let whole = !bits && regions.get(region).unit == program.types.size_of(ty);
        let entry = names.entry(region).or_default();
        if whole && entry.1.is_none() {
            entry.1 = Some(ty);
        }
        if entry.0.is_empty()
            && let Some(name) = name()
        {
            entry.0 = name;
        }
    };
    for (index, variable) in program.variables.iter().enumerate() {
        let Some(spot) = points_to.variable(VarId(index as u32)) else {
            continue;
        };
        let prefix = match variable.kind {
            VarKind::Formal(f)
            | VarKind::Local(f)
            | VarKind::Temporary(f)
            | VarKind::Result(f)
            | VarKind::Static(f) => format!("{}::{}", program.function(f).name, variable.name),
            VarKind::Global | VarKind::Literal => variable.name.clone(),
        };
        for (offset, ty, bits) in leaves(&program.types, variable.ty) {
            let at = points_to.part(spot, offset as i64);
            let name = || {
                Some(if program.types.is_scalar(variable.ty) {
                    prefix.clone()
                } else {
                    format!("{prefix}{}", member_path(program, variable.ty, offset))
                })
            };
            note(at, ty, bits.is_some(), &name);
        }
    }
    for (index, place) in program.places.iter().enumerate() {
        let id = PlaceId(index as u32);
        let Some(spot) = points_to.place(id) else {
            continue;
        };
        if program.types.is_scalar(place.ty) {
            note(spot, place.ty, bit_field(program, id).is_some(), &|| None);
        } else if matches!(place.kind, PlaceKind::Deref(_)) {
            for (offset, ty, bits) in leaves(&program.types, place.ty) {
                let at = points_to.part(spot, offset as i64);
                note(at, ty, bits.is_some(), &|| None);
            }
        }
    }
    // Names of memory are made unique by the region's number; two variables may share one name.
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for index in 0..regions.all().len() {
        let id = RegionId(index as u32);
        let entry = names.entry(id).or_default();
        if entry.0.is_empty() {
            entry.0 = format!("memory#{index}");
        }
        if !seen.insert(entry.0.clone()) {
            entry.0 = format!("{}#{index}", entry.0);
            seen.insert(entry.0.clone());
        }
    }
    names
}

/// The members on the way to an offset: `.next`, `[].x`.
fn member_path(program: &Program, ty: TypeId, offset: u64) -> String {
    let mut out = String::new();
    let (mut ty, mut offset) = (ty, offset);
    loop {
        match program.types.get(ty) {
            Type::Array { element, .. } => {
                out.push_str("[]");
                ty = *element;
            }
            Type::Record(record) => {
                let fields = &program.types.record(*record).fields;
                let Some(field) = fields.iter().find(|field| {
                    let start = field.offset();
                    start <= offset && offset < start + program.types.size_of(field.ty).max(1)
                }) else {
                    return out;
                };
                if let Some(name) = &field.name {
                    out.push('.');
                    out.push_str(name);
                }
                offset -= field.offset();
                ty = field.ty;
            }
            _ => return out,
        }
    }
}
