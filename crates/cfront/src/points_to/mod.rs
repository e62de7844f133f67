//! Points-to: which objects a pointer may point to.
//!
//! Unification-based (after Steensgaard and Das), field-sensitive, flow- and context-insensitive,
//! near-linear. Objects that one pointer may point to form a *class*; inside a class, offsets
//! tell members apart, with all elements of an array at the offsets of the first. Where a program
//! looks at memory in ways that do not fit (a struct walked as an array of bytes, two members
//! behind one pointer), the class *collapses*: its offsets are no longer told apart.
//!
//! On top of it, [`Regions`](regions::Regions) says which scalar accesses may touch the same
//! memory: what one SMT array has to hold.
//!
//! The bits of a pointer are followed through values of every type; only what they decide, by
//! comparisons and branches, is not. A pointer that the program did not make (the result of an
//! undefined function, an input) points to an object of its own kind: all such pointers to one
//! type may be equal, and one may be what it is compared with. Where that matters, the program's
//! assumptions say so.
//!
//! The result is a claim, and [`check`](check::check) looks whether every statement keeps it
//! before anybody uses it.

pub mod check;
mod content;
mod flows;
mod nodes;
pub mod regions;
mod solve;
mod solver;

use crate::ids::{EdgeId, ExprId, FuncId, PlaceId, TypeId, VarId};
use crate::indices::{Indices, forgets_offsets};
use crate::program::{PlaceKind, Program};
use crate::types::{Type, Types};
use content::Fold;
use hardbop_budget::{Budget, Stopped};
use std::collections::BTreeMap;

/// A class of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u32);

/// Where a place lies: a class and an offset in its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot {
    /// The class.
    pub class: ClassId,
    /// The offset in bytes; that of the first element for elements of an array.
    pub offset: i64,
}

/// What is known of a class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Whether its offsets are no longer told apart.
    pub collapsed: bool,
    /// The variables in it.
    pub variables: Vec<VarId>,
    /// The [`Op::Allocate`](crate::program::Op::Allocate) edges whose objects are in it.
    pub allocations: Vec<EdgeId>,
    /// The functions in it.
    pub functions: Vec<FuncId>,
    /// Whether objects that the program did not make may be in it.
    pub external: bool,
}

/// The result of the analysis.
#[derive(Clone, Debug)]
pub struct PointsTo {
    classes: Vec<Class>,
    places: Vec<Option<Spot>>,
    variables: Vec<Option<Spot>>,
    pointers: Vec<Option<Spot>>,
    targets: BTreeMap<EdgeId, Vec<FuncId>>,
    allocations: BTreeMap<EdgeId, Spot>,
    /// What the scalar at a spot may point to.
    pointees: BTreeMap<Spot, Spot>,
    /// What variadic arguments may point to.
    variadic: Option<Spot>,
    regions: regions::Regions,
    folds: Vec<Fold>,
}

impl PointsTo {
    /// The classes, by [`ClassId`].
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// Where a place lies.
    pub fn place(&self, place: PlaceId) -> Option<Spot> {
        self.places[place.index()]
    }

    /// Where a variable lies.
    pub fn variable(&self, variable: VarId) -> Option<Spot> {
        self.variables[variable.index()]
    }

    /// Where the value of a scalar expression points to, if it is a pointer.
    pub fn pointer(&self, expr: ExprId) -> Option<Spot> {
        self.pointers[expr.index()]
    }

    /// The functions that an indirect call may call: those that its pointer may point to.
    pub fn targets(&self, call: EdgeId) -> &[FuncId] {
        self.targets.get(&call).map_or(&[], Vec::as_slice)
    }

    /// Where the objects that an [`Op::Allocate`](crate::program::Op::Allocate) edge makes begin.
    pub fn allocation(&self, edge: EdgeId) -> Option<Spot> {
        self.allocations.get(&edge).copied()
    }

    /// What the scalar at a spot may point to.
    pub fn pointee(&self, spot: Spot) -> Option<Spot> {
        self.pointees.get(&spot).copied()
    }

    /// The classes whose objects may hold pointers into a class.
    pub fn holders(&self, pointee: ClassId) -> impl Iterator<Item = ClassId> + '_ {
        let points = self.pointees.iter();
        points
            .filter(move |(_, to)| to.class == pointee)
            .map(|(from, _)| from.class)
    }

    /// Where the part of an object lies that starts so many bytes after a spot.
    pub fn part(&self, spot: Spot, bytes: i64) -> Spot {
        let fold = &self.folds[spot.class.0 as usize];
        Spot {
            class: spot.class,
            offset: fold.apply(spot.offset + bytes),
        }
    }

    /// If a spot lies in an array, so that it stands for all elements: the size by which they lie
    /// apart, or a divisor of it.
    pub fn element_at(&self, spot: Spot) -> Option<u64> {
        self.folds[spot.class.0 as usize].element_at(spot.offset)
    }

    /// Which accesses may touch the same memory.
    pub fn regions(&self) -> &regions::Regions {
        &self.regions
    }
}

/// Analyses a whole program. What is found is checked; should it not hold, everything may point
/// to everything.
pub fn analyse(program: &Program, budget: &Budget) -> Result<PointsTo, Stopped> {
    let mut ticks = budget.ticks();
    let found = solve::solve(program, &mut ticks)?;
    match check::check(program, &found, budget)? {
        Ok(()) if program.indices == Indices::Confined || forgets_offsets(program, &found) => {
            Ok(found)
        }
        _ => solve::solve_coarsely(program, &mut ticks),
    }
}

/// What the analysis finds, as it is: for the tests, which want to know that it stands the check.
pub fn analyse_unchecked(program: &Program, budget: &Budget) -> Result<PointsTo, Stopped> {
    solve::solve(program, &mut budget.ticks())
}

/// A scalar part of a type: its offset in bytes, its type, and for a bit-field its first bit in
/// the byte at the offset and its width.
pub type Leaf = (u64, TypeId, Option<(u32, u32)>);

/// The scalar parts of a type. An array contributes its first element.
pub fn leaves(types: &Types, ty: TypeId) -> Vec<Leaf> {
    let mut out = Vec::new();
    let mut pending = vec![(0, ty)];
    while let Some((offset, ty)) = pending.pop() {
        match types.get(ty) {
            Type::Array { element, .. } => pending.push((offset, *element)),
            Type::Record(record) => {
                for field in types.record(*record).fields.iter().rev() {
                    match field.bit_width {
                        Some(width) => {
                            let first = (field.offset_bits % 8) as u32;
                            out.push((offset + field.offset(), field.ty, Some((first, width))));
                        }
                        None => pending.push((offset + field.offset(), field.ty)),
                    }
                }
            }
            _ if types.is_scalar(ty) => out.push((offset, ty, None)),
            _ => {}
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// The first bit in its first byte, and the width, of a place that is a bit-field.
pub fn bit_field(program: &Program, id: PlaceId) -> Option<(u32, u32)> {
    let PlaceKind::Field(base, index) = program.place(id).kind else {
        return None;
    };
    let Type::Record(record) = program.types.get(program.place(base).ty) else {
        return None;
    };
    let field = &program.types.record(*record).fields[index as usize];
    field
        .bit_width
        .map(|width| ((field.offset_bits % 8) as u32, width))
}
