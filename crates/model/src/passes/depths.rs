//! A variable for every function that calls itself, which stands for how deep it is.

use super::{Keeps, Pass};
use hardbop_cfront::call_graph;
use hardbop_cfront::derived::Derived;
use hardbop_cfront::ids::{FuncId, VarId};
use hardbop_cfront::program::{
    ExprKind, Initial, InitialPart, InitialValue, Program, VarKind, Variable,
};
use std::collections::BTreeMap;

/// The pass.
pub const PASS: Pass = Pass {
    name: "depths",
    does: "a variable stands for the depth of every recursion, which no statement touches",
    keeps: Keeps::Exact,
    run: |program, budget| {
        budget.check()?;
        let program = match with_depths(program) {
            Some((program, _)) => program,
            None => program.clone(),
        };
        Ok(Derived::unchanged(program))
    },
};

/// The program with a variable for every function that calls itself, which counts how many of its
/// activations are below the topmost one; none if there is no such function. No statement of the
/// program writes these variables.
pub fn with_depths(program: &Program) -> Option<(Program, BTreeMap<FuncId, VarId>)> {
    let recursive = call_graph::recursive(program);
    let recursive: Vec<FuncId> = (0..recursive.len())
        .filter(|&index| recursive[index])
        .map(|index| FuncId(index as u32))
        .collect();
    if recursive.is_empty() {
        return None;
    }
    let mut program = program.clone();
    let ty = program.types.int(32, false);
    let mut depths = BTreeMap::new();
    for function in recursive {
        // A variable that nothing touches has no place in a state; its own initial value does.
        let zero = program.add_expr(ExprKind::Int(0), ty);
        let described = program.function(function);
        let variable = Variable {
            name: format!("depth of {}", described.name),
            ty,
            kind: VarKind::Global,
            address_taken: false,
            source: described.source,
            initial: Initial::Data(vec![InitialPart {
                offset_bits: 0,
                value: InitialValue::Scalar(zero),
            }]),
            read_only: false,
            align: 1,
        };
        depths.insert(function, program.add_variable(variable));
    }
    Some((program, depths))
}
