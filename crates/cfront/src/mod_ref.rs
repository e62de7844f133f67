//! MOD and REF: what a function, with everything that it calls, may modify and may read.
//!
//! Variables that only their own function can name (locals whose address is not taken) are left
//! out: no caller sees them. An access through a pointer touches the pointer's points-to class
//! and with it every variable of that class. Callees count with all that they touch; functions
//! that call each other have equal sets.

use crate::call_graph::components;
use crate::ids::{ExprId, FuncId, PlaceId, VarId};
use crate::points_to::{ClassId, PointsTo};
use crate::program::{Op, Program, Root, VarKind};
use std::collections::BTreeSet;

/// What is touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Variables, in order: those of static storage, and those whose address is taken.
    pub variables: BTreeSet<VarId>,
    /// Points-to classes that are reached through pointers, or whose objects come to life or end.
    pub classes: BTreeSet<ClassId>,
    /// Whether anything that a pointer can reach may be touched besides.
    pub reachable: bool,
}

impl Touched {
    fn absorb(&mut self, other: &Touched) {
        self.variables.extend(&other.variables);
        self.classes.extend(&other.classes);
        self.reachable |= other.reachable;
    }

    /// Whether a variable may be touched.
    pub fn touches(&self, variable: VarId, program: &Program) -> bool {
        self.variables.contains(&variable)
            || (self.reachable && program.variable(variable).address_taken)
    }
}

/// What one function touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// What it may write.
    pub modified: Touched,
    /// What it may read.
    pub read: Touched,
}

/// What every function touches, by [`FuncId`].
#[derive(Clone, Debug)]
pub struct ModRef {
    effects: Vec<Effects>,
}

impl ModRef {
    /// What a function touches, its callees included.
    pub fn of(&self, function: FuncId) -> &Effects {
        &self.effects[function.index()]
    }
}

/// Computes the sets for every function. The targets of indirect calls must be filled in.
pub fn analyse(program: &Program, points_to: &PointsTo) -> ModRef {
    let mut effects = vec![Effects::default(); program.functions.len()];
    let mut callees = vec![BTreeSet::new(); program.functions.len()];
    for (index, function) in program.functions.iter().enumerate() {
        let mut walk = Walk {
            program,
            points_to,
            own: FuncId(index as u32),
            effects: &mut effects[index],
            callees: &mut callees[index],
        };
        for location in function.locations.clone() {
            for edge in program.locations[location as usize].edges.clone() {
                walk.op(&program.edges[edge as usize].op);
            }
        }
    }
    for component in components(&callees) {
        let mut union = Effects::default();
        for &member in &component {
            union.modified.absorb(&effects[member].modified);
            union.read.absorb(&effects[member].read);
            for callee in &callees[member] {
                // Callees outside of the component are done; those inside add nothing new.
                union.modified.absorb(&effects[*callee].modified);
                union.read.absorb(&effects[*callee].read);
            }
        }
        for &member in &component {
            effects[member] = union.clone();
        }
    }
    ModRef { effects }
}

struct Walk<'a> {
    program: &'a Program,
    points_to: &'a PointsTo,
    own: FuncId,
    effects: &'a mut Effects,
    callees: &'a mut BTreeSet<usize>,
}

/// Read or write.
#[derive(Clone, Copy)]
enum Access {
    Read,
    Write,
}

impl Walk<'_> {
    fn op(&mut self, op: &Op) {
        crate::operands::each_load(self.program, op, &mut |place| {
            self.place(place, Access::Read);
        });
        match op {
            Op::Assign { place, .. } | Op::Input { place, .. } | Op::Havoc { place } => {
                self.place(*place, Access::Write);
            }
            Op::HavocMemory { pointer, size, .. } => {
                self.memory(*pointer, Access::Write);
                self.effects.modified.reachable |= size.is_none();
            }
            Op::Call { callee, result, .. } => {
                if let Some(place) = result {
                    self.place(*place, Access::Write);
                }
                let targets = callee.targets().iter();
                self.callees.extend(targets.map(|target| target.index()));
            }
            Op::Declare { variable } => self.variable(*variable, Access::Write),
            Op::EndScope { variables } => {
                for &variable in variables {
                    self.variable(variable, Access::Write);
                }
            }
            Op::Allocate { place, .. } => self.place(*place, Access::Write),
            Op::Free { pointer } => self.memory(*pointer, Access::Write),
            Op::CopyMemory { to, from, .. } => {
                self.memory(*from, Access::Read);
                self.memory(*to, Access::Write);
            }
            Op::FillMemory { to, .. } => self.memory(*to, Access::Write),
            Op::VaStart { list } => self.place(*list, Access::Write),
            Op::VaArg { list, place } => {
                self.place(*list, Access::Read);
                self.place(*list, Access::Write);
                self.place(*place, Access::Write);
            }
            Op::VaCopy { to, from } => {
                self.place(*from, Access::Read);
                self.place(*to, Access::Write);
            }
            Op::Skip | Op::Assume { .. } | Op::Unsupported { .. } => {}
        }
    }

    fn place(&mut self, place: PlaceId, access: Access) {
        match self.program.root(place) {
            Root::Variable(variable) => self.variable(variable, access),
            Root::Pointer(pointer) => self.memory(pointer, access),
        }
    }

    fn variable(&mut self, id: VarId, access: Access) {
        let variable = self.program.variable(id);
        let own = match variable.kind {
            VarKind::Global | VarKind::Static(_) | VarKind::Literal => false,
            VarKind::Formal(f) | VarKind::Local(f) | VarKind::Temporary(f) | VarKind::Result(f) => {
                f == self.own
            }
        };
        if own && !variable.address_taken {
            return;
        }
        let class = if variable.address_taken {
            self.points_to.variable(id).map(|spot| spot.class)
        } else {
            None
        };
        let touched = self.touched(access);
        touched.variables.insert(id);
        touched.classes.extend(class);
    }

    fn memory(&mut self, pointer: ExprId, access: Access) {
        match self.points_to.pointer(pointer) {
            Some(spot) => {
                let class = &self.points_to.classes()[spot.class.0 as usize];
                let touched = self.touched(access);
                touched.classes.insert(spot.class);
                touched.variables.extend(&class.variables);
            }
            // An address that the analysis knows nothing about, such as a plain number.
            None => self.touched(access).reachable = true,
        }
    }

    fn touched(&mut self, access: Access) -> &mut Touched {
        match access {
            Access::Read => &mut self.effects.read,
            Access::Write => &mut self.effects.modified,
        }
    }
}
