//! Where a program chooses which element it looks at: `k = nondet(); if (k < n) assert(a[k] == 7);`.
//!
//! What is known of all elements is used for those that a step accesses, by terms about the state
//! that it begins in. An index that the step itself is given is no such term. If the program is cut
//! where it was given, it is.

use hardbop_cfront::ids::{LocId, VarId};
use hardbop_cfront::operands::{Operand, each_below};
use hardbop_cfront::program::{ExprKind, Op, PlaceKind, Program};
use std::collections::BTreeSet;

/// The most such places.
const CHOICES: usize = 4;

/// Where a value is given to the program that it takes for an index.
pub fn chosen_indices(program: &Program) -> BTreeSet<LocId> {
    let mut indices = BTreeSet::new();
    for place in &program.places {
        if let PlaceKind::Index(_, index) = place.kind {
            read(program, Operand::Expr(index), &mut indices);
        }
    }
    for expr in &program.exprs {
        if let ExprKind::PointerAdd { index, .. } = expr.kind {
            read(program, Operand::Expr(index), &mut indices);
        }
    }
    // What is given is copied, as it comes back from a call.
    let mut copied = BTreeSet::new();
    for edge in &program.edges {
        if let Op::Assign { place, value } = edge.op
            && let PlaceKind::Var(to) = program.place(place).kind
            && indices.contains(&to)
        {
            read(program, Operand::Expr(value), &mut copied);
        }
    }
    indices.extend(copied);
    let mut found = BTreeSet::new();
    for edge in &program.edges {
        if let Op::Input { place, .. } | Op::Havoc { place } = edge.op
            && let PlaceKind::Var(variable) = program.place(place).kind
            && indices.contains(&variable)
        {
            found.insert(edge.to);
        }
    }
    match found.len() > CHOICES {
        true => BTreeSet::new(),
        false => found,
    }
}

/// The variables that are read.
fn read(program: &Program, operand: Operand, into: &mut BTreeSet<VarId>) {
    each_below(program, [operand], &mut |operand| {
        if let Operand::Place(place) = operand
            && let PlaceKind::Var(variable) = program.place(place).kind
        {
            into.insert(variable);
        }
    });
}
