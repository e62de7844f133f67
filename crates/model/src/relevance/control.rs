//! Which branches decide whether control comes to a location (Ferrante, Ottenstein, Warren: The
//! program dependence graph and its use in optimization, TOPLAS 1987).
//!
//! A function may end in several ways: it returns, the program ends, a check is violated, it calls
//! what never returns, or it goes round for ever. All of them are ends here, so a branch with one
//! side from which nothing returns decides all that comes after the other side.

use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::{Op, Program};
use hardbop_graph::{Dominators, reachable, reversed};

/// For the functions of a program, whether a call of them never comes back.
pub(super) fn never_return(program: &Program) -> Vec<bool> {
    let mut never = vec![false; program.functions.len()];
    loop {
        let mut changed = false;
        for index in 0..program.functions.len() {
            let function = FuncId(index as u32);
            if !never[index] && !returns(program, function, &never) {
                never[index] = true;
                changed = true;
            }
        }
        if !changed {
            return never;
        }
    }
}

/// Whether an edge is a call of what never returns.
fn is_last(op: &Op, never: &[bool]) -> bool {
    match op {
        Op::Call { callee, .. } => callee.targets().iter().all(|target| never[target.index()]),
        _ => false,
    }
}

/// A function's control flow without what comes after calls that never return.
fn successors(program: &Program, function: FuncId, never: &[bool]) -> Vec<Vec<usize>> {
    let locations = program.function(function).locations.clone();
    let first = locations.start;
    let next = |location| {
        let edges = program.edges_from(LocId(location));
        let edges = edges.filter(|(_, edge)| !is_last(&edge.op, never));
        edges
            .map(|(_, edge)| (edge.to.0 - first) as usize)
            .collect()
    };
    locations.map(next).collect()
}

fn returns(program: &Program, function: FuncId, never: &[bool]) -> bool {
    let described = program.function(function);
    let first = described.locations.start;
    let next = successors(program, function, never);
    let reached = reachable(&next, [(described.entry.0 - first) as usize]);
    reached[(described.exit.0 - first) as usize]
}

/// Which branches decide what is done in one function.
pub(super) struct Control {
    first: u32,
    /// For every location, the locations whose branches decide whether control comes to it.
    deciding: Vec<Vec<LocId>>,
    /// The edges behind which nothing returns any more, from where something still could.
    pub(super) last: Vec<EdgeId>,
}

impl Control {
    /// Works it out for a function.
    pub(super) fn new(program: &Program, function: FuncId, never: &[bool]) -> Control {
        let described = program.function(function);
        let first = described.locations.start;
        let count = described.locations.len();
        let mut next = successors(program, function, never);
        let exit = (described.exit.0 - first) as usize;
        let back = reversed(&next);
        let alive = reachable(&back, [exit]);
        let last = last_edges(program, function, never, &alive);
        // All ends lead to one node behind them.
        let end = count;
        next.push(Vec::new());
        for (at, next) in next.iter_mut().take(count).enumerate() {
            let calls = program.edges_from(LocId(first + at as u32));
            let ends = calls.into_iter().any(|(_, edge)| is_last(&edge.op, never));
            if next.is_empty() || ends {
                next.push(end);
            }
        }
        // So does what goes round for ever.
        loop {
            let ending = reachable(&reversed(&next), [end]);
            match (0..count).rev().find(|&at| !ending[at]) {
                Some(at) => next[at].push(end),
                None => break,
            }
        }
        let behind = Dominators::new(&reversed(&next), end);
        let mut deciding = vec![Vec::new(); count];
        for (at, sides) in next.iter().take(count).enumerate() {
            if sides.len() < 2 {
                continue;
            }
            let meeting = behind.immediate(at);
            for &side in sides {
                let mut here = side;
                while here != end && Some(here) != meeting {
                    let by = LocId(first + at as u32);
                    if deciding[here].last() != Some(&by) {
                        deciding[here].push(by);
                    }
                    match behind.immediate(here) {
                        Some(up) if up != here => here = up,
                        _ => break,
                    }
                }
            }
        }
        Control {
            first,
            deciding,
            last,
        }
    }

    /// The locations whose branches decide whether control comes to a location.
    pub(super) fn deciding(&self, location: LocId) -> &[LocId] {
        &self.deciding[(location.0 - self.first) as usize]
    }
}

fn last_edges(program: &Program, function: FuncId, never: &[bool], alive: &[bool]) -> Vec<EdgeId> {
    let locations = program.function(function).locations.clone();
    let first = locations.start;
    let mut last = Vec::new();
    for location in locations {
        if !alive[(location - first) as usize] {
            continue;
        }
        for (id, edge) in program.edges_from(LocId(location)) {
            if is_last(&edge.op, never) || !alive[(edge.to.0 - first) as usize] {
                last.push(id);
            }
        }
    }
    last
}
