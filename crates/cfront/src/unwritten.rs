//! Locals that a function may read before it wrote them.

use crate::ids::{FuncId, VarId};
use crate::operands::each_load;
use crate::program::{Op, PlaceKind, Program, Root};
use std::collections::{BTreeSet, HashMap};

/// The locals of a function that are not in memory, and its result, that may be read on some way
/// before anything was written to them since the call. What the declaration of a variable makes
/// unknown again does not count: that is seen where it happens.
pub(crate) fn read_unwritten(program: &Program, id: FuncId) -> BTreeSet<VarId> {
    let function = program.function(id);
    let own = function.locals.iter().chain(&function.result).copied();
    let own: Vec<VarId> = own
        .filter(|&variable| !program.variable(variable).address_taken)
        .collect();
    let numbers: HashMap<VarId, usize> = own.iter().copied().zip(0..).collect();
    let first = function.locations.start;
    let words = own.len().div_ceil(64);
    // The variables that may be unwritten at each location.
    let mut unwritten = vec![vec![0u64; words]; function.locations.len()];
    for index in 0..own.len() {
        unwritten[(function.entry.0 - first) as usize][index / 64] |= 1 << (index % 64);
    }
    let mut found = BTreeSet::new();
    // Locations in their order: most edges lead forwards.
    let mut work = BTreeSet::from([function.entry]);
    while let Some(at) = work.pop_first() {
        let before = unwritten[(at.0 - first) as usize].clone();
        let is_open = |index: usize| before[index / 64] >> (index % 64) & 1 == 1;
        for (_, edge) in program.edges_from(at) {
            each_load(program, &edge.op, &mut |place| {
                if let Root::Variable(variable) = program.root(place)
                    && numbers.get(&variable).is_some_and(|&index| is_open(index))
                {
                    found.insert(variable);
                }
            });
            let mut after = before.clone();
            if let Some(&index) = written(program, &edge.op).and_then(|it| numbers.get(&it)) {
                after[index / 64] &= !(1 << (index % 64));
            }
            let there = &mut unwritten[(edge.to.0 - first) as usize];
            let mut more = false;
            for (known, new) in there.iter_mut().zip(after) {
                more |= new & !*known != 0;
                *known |= new;
            }
            // Where nothing is unwritten, nothing can be found.
            if more {
                work.insert(edge.to);
            }
        }
    }
    if let Some(result) = function.result
        && let Some(&index) = numbers.get(&result)
        && unwritten[(function.exit.0 - first) as usize][index / 64] >> (index % 64) & 1 == 1
    {
        found.insert(result);
    }
    found
}

/// The variable that an edge writes as a whole, or makes unknown.
fn written(program: &Program, op: &Op) -> Option<VarId> {
    let place = match op {
        Op::Assign { place, .. }
        | Op::Input { place, .. }
        | Op::Havoc { place }
        | Op::Allocate { place, .. }
        | Op::VaArg { place, .. } => *place,
        Op::Call { result, .. } => (*result)?,
        Op::Declare { variable } => return Some(*variable),
        _ => return None,
    };
    match program.place(place).kind {
        PlaceKind::Var(variable) => Some(variable),
        _ => None,
    }
}
