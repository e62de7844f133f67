//! What cannot matter for any check is left out ([`relevance`](crate::relevance)): statements do
//! nothing, branches go either way, calls are passed over.
//!
//! The result has the locations and tables of the program, so what is found out about the one can
//! be said of the other. It has all executions of the program and more, and nobody takes its word:
//! proofs are checked of the program itself, and runs are replayed on it.

use super::{Keeps, Pass};
use crate::relevance::{Depth, Relevance};
use hardbop_cfront::call_graph::callable;
use hardbop_cfront::derived::Derived;
use hardbop_cfront::ids::{CheckId, EdgeId, FuncId, VarId};
use hardbop_cfront::points_to;
use hardbop_cfront::program::{Check, CheckKind, Initial, Op, Program};
use hardbop_semantics::{Encoding, Semantics};
use std::collections::BTreeSet;

/// The pass.
pub const PASS: Pass = Pass {
    name: "slice",
    does: "what cannot matter for any check does nothing",
    keeps: Keeps::More,
    run: |program, budget| {
        let points_to = points_to::analyse(program, budget)?;
        let semantics = Semantics::new(program, &points_to, Encoding::Bits);
        let checks: Vec<CheckId> = (0..program.checks.len() as u32).map(CheckId).collect();
        let relevance = Relevance::new(&semantics, &checks, Depth::All, budget)?;
        Ok(Derived::unchanged(slice(&semantics, &relevance)))
    },
};

/// Whether a program asks nothing that a slice cannot answer: whether executions end, and what
/// becomes of objects, is a matter of all code.
pub fn can_answer(semantics: &Semantics<'_>) -> bool {
    let program = semantics.program;
    let ends = |check: &Check| check.kind == CheckKind::Termination;
    !program.checks.iter().any(ends) && semantics.layout.ownership().is_none()
}

/// The functions that can be called and do not matter.
pub fn apart(program: &Program, relevance: &Relevance) -> BTreeSet<FuncId> {
    let functions = callable(program).into_iter();
    functions
        .filter(|&function| function != program.entry && !relevance.enters(function))
        .collect()
}

/// What is left of a program.
pub fn slice(semantics: &Semantics<'_>, relevance: &Relevance) -> Program {
    let mut program = semantics.program.clone();
    for (index, edge) in program.edges.iter_mut().enumerate() {
        if !relevance.keeps(EdgeId(index as u32)) {
            edge.op = Op::Skip;
        }
    }
    let (points_to, layout) = (semantics.points_to, &semantics.layout);
    for (index, variable) in program.variables.iter_mut().enumerate() {
        let Some(spot) = points_to.variable(VarId(index as u32)) else {
            continue;
        };
        let mut regions = points_to.regions().of_class(spot.class);
        if matches!(variable.initial, Initial::Data(_))
            && !regions.any(|id| relevance.data().contains(&layout.region(id)))
        {
            variable.initial = Initial::Unknown;
        }
    }
    program
}
