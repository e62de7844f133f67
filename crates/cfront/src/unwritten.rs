//! Locals that a function may read before it wrote them.

use crate::ids::{FuncId, LocId, VarId};
use crate::operands::each_load;
use crate::program::{Op, PlaceKind, Program, Root};
use crate::types::Type;
use std::collections::{BTreeMap, BTreeSet, HashMap};

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

/// The pointers among the locals of a function, their addresses not taken, that may be read on some
/// way before anything was written to them since the call or since their declaration: they may lead
/// anywhere.
pub(crate) fn pointers_read_unwritten(program: &Program, id: FuncId) -> Vec<VarId> {
    let function = program.function(id);
    let is_pointer = |variable: VarId| {
        let variable = program.variable(variable);
        !variable.address_taken && matches!(program.types.get(variable.ty), Type::Pointer(_))
    };
    let own = function.locals.iter().copied();
    let own: BTreeSet<VarId> = own.filter(|&variable| is_pointer(variable)).collect();
    if own.is_empty() {
        return Vec::new();
    }
    let mut reads: BTreeMap<VarId, BTreeSet<LocId>> = BTreeMap::new();
    let mut into: HashMap<LocId, Vec<(LocId, &Op)>> = HashMap::new();
    for index in function.locations.clone() {
        for (_, edge) in program.edges_from(LocId(index)) {
            into.entry(edge.to).or_default().push((edge.from, &edge.op));
            each_load(program, &edge.op, &mut |place| {
                if let Root::Variable(variable) = program.root(place)
                    && own.contains(&variable)
                {
                    reads.entry(variable).or_default().insert(edge.from);
                }
            });
        }
    }
    // Backwards from where it is read: most are written shortly before.
    let may_be_unwritten = |variable: VarId, mut seen: BTreeSet<LocId>| {
        let mut work: Vec<LocId> = seen.iter().copied().collect();
        while let Some(at) = work.pop() {
            if at == function.entry {
                return true;
            }
            for &(from, op) in into.get(&at).into_iter().flatten() {
                match op {
                    Op::Declare { variable: declared } if *declared == variable => return true,
                    _ if written(program, op) == Some(variable) => {}
                    _ if seen.insert(from) => work.push(from),
                    _ => {}
                }
            }
        }
        false
    };
    let found = reads
        .into_iter()
        .filter(|(variable, reads)| may_be_unwritten(*variable, reads.clone()));
    found.map(|(variable, _)| variable).collect()
}

/// The variable that an edge writes as a whole, or makes unknown.
fn written(program: &Program, op: &Op) -> Option<VarId> {
    let place = match op {
        Op::Assign { place, .. }
        | Op::Input { place, .. }
        | Op::Havoc { place }
        | Op::Allocate { place, .. } => *place,
        Op::Call { result, .. } => (*result)?,
        Op::Declare { variable } => return Some(*variable),
        _ => return None,
    };
    match program.place(place).kind {
        PlaceKind::Var(variable) => Some(variable),
        _ => None,
    }
}
