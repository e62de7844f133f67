//! Shortest paths of the control-flow graphs: to a location, with calls entered and left.
//!
//! What a call costs is the length of the shortest way through its callee, so it is worked out
//! first, for every function; a call on the way that never returns is just entered. Whether such
//! a path can be run is Newton's question, not this file's.

use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_cfront::program::{Op, Program};
use hardbop_semantics::path::PathStep;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

/// Longer paths explain nothing to anybody.
const LONGEST: u64 = 5_000;

/// Why there is no path to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPath {
    /// Control never comes there, or only through constructs that are not supported.
    Unconnected,
    /// The shortest one has more steps than are worth showing.
    Long,
}

/// A way from one location to the next, on a shortest path.
#[derive(Clone, Copy, Debug)]
enum Hop {
    /// A single step.
    Step(PathStep),
    /// A call with all that happens until it returns.
    Over(PathStep, FuncId),
}

/// The last hop of a shortest path to each location, with the location that it starts from.
type Tree = BTreeMap<LocId, (LocId, Hop)>;

/// Whether calls may be entered for good.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calls {
    /// Every call returns.
    Return,
    /// A call may be entered and never left.
    MayStay,
}

/// A shortest path from the start of the program to a location.
pub fn shortest_path(program: &Program, goal: LocId) -> Result<Vec<PathStep>, NoPath> {
    let lengths = lengths(program);
    let start = program.function(program.entry).entry;
    let (distances, tree) = search(program, &lengths, start, Calls::MayStay);
    match distances.get(&goal) {
        None => return Err(NoPath::Unconnected),
        Some(&distance) if distance > LONGEST => return Err(NoPath::Long),
        Some(_) => {}
    }
    let mut through: BTreeMap<FuncId, Vec<Hop>> = BTreeMap::new();
    let mut path = Vec::new();
    // What is still to be written, the next hop last.
    let mut pending = hops(&tree, start, goal);
    pending.reverse();
    while let Some(hop) = pending.pop() {
        match hop {
            Hop::Step(step) => path.push(step),
            Hop::Over(enter, callee) => {
                path.push(enter);
                pending.push(Hop::Step(PathStep::Leave));
                let inside = through.entry(callee).or_insert_with(|| {
                    let function = program.function(callee);
                    let (_, tree) = search(program, &lengths, function.entry, Calls::Return);
                    hops(&tree, function.entry, function.exit)
                });
                pending.extend(inside.iter().rev());
            }
        }
    }
    Ok(path)
}

/// The hops from one location to another along a tree of shortest paths.
fn hops(tree: &Tree, from: LocId, to: LocId) -> Vec<Hop> {
    let mut hops = Vec::new();
    let mut at = to;
    while at != from {
        let Some(&(before, hop)) = tree.get(&at) else {
            break;
        };
        hops.push(hop);
        at = before;
    }
    hops.reverse();
    hops
}

/// The number of steps of the shortest way through every function that has one.
fn lengths(program: &Program) -> BTreeMap<FuncId, u64> {
    let mut callers: BTreeMap<FuncId, BTreeSet<FuncId>> = BTreeMap::new();
    for edge in &program.edges {
        if let Op::Call { callee, .. } = &edge.op {
            let caller = program.locations[edge.from.index()].function;
            for &target in callee.targets() {
                callers.entry(target).or_default().insert(caller);
            }
        }
    }
    let mut lengths = BTreeMap::new();
    let all = (0..program.functions.len()).map(|index| FuncId(index as u32));
    let mut work: VecDeque<FuncId> = all.rev().collect();
    while let Some(id) = work.pop_front() {
        let function = program.function(id);
        let (distances, _) = search(program, &lengths, function.entry, Calls::Return);
        let Some(&length) = distances.get(&function.exit) else {
            continue;
        };
        if lengths.get(&id).is_none_or(|&known| length < known) {
            lengths.insert(id, length);
            for &caller in callers.get(&id).into_iter().flatten() {
                if !work.contains(&caller) {
                    work.push_back(caller);
                }
            }
        }
    }
    lengths
}

/// Dijkstra's algorithm over locations. Lengths beyond [`LONGEST`] are all the same.
fn search(
    program: &Program,
    lengths: &BTreeMap<FuncId, u64>,
    start: LocId,
    calls: Calls,
) -> (BTreeMap<LocId, u64>, Tree) {
    let mut distances = BTreeMap::from([(start, 0)]);
    let mut tree = Tree::new();
    let mut heap = BinaryHeap::from([Reverse((0u64, start))]);
    while let Some(Reverse((distance, at))) = heap.pop() {
        if distances[&at] < distance {
            continue;
        }
        let mut reach = |to: LocId, length: u64, hop: Hop| {
            let total = distance.saturating_add(length).min(LONGEST + 1);
            if distances.get(&to).is_none_or(|&known| total < known) {
                distances.insert(to, total);
                tree.insert(to, (at, hop));
                heap.push(Reverse((total, to)));
            }
        };
        for (id, edge) in program.edges_from(at) {
            match &edge.op {
                Op::Unsupported { .. } => {}
                Op::Call { callee, .. } => {
                    for &target in callee.targets() {
                        let enter = PathStep::Enter(id, target);
                        if let Some(&length) = lengths.get(&target) {
                            reach(edge.to, length.saturating_add(2), Hop::Over(enter, target));
                        }
                        if calls == Calls::MayStay {
                            reach(program.function(target).entry, 1, Hop::Step(enter));
                        }
                    }
                }
                _ => reach(edge.to, 1, Hop::Step(PathStep::Edge(id))),
            }
        }
    }
    (distances, tree)
}
