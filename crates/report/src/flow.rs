//! The shape of a function's control flow: which branch decides whether a location is reached
//! (Ferrante, Ottenstein, Warren), and which locations belong to a loop.

use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::{LocationKind, Op, PlaceKind, Program};
use hardbop_graph::{Dominators, Loops, reachable, reversed};
use std::collections::{BTreeMap, BTreeSet};

/// The shape of one function.
#[derive(Debug)]
pub struct Flow {
    first: u32,
    /// For every location, the edges out of branches that decide whether it is reached.
    deciders: Vec<Vec<EdgeId>>,
    /// For every loop head, the locations of its loop.
    loops: BTreeMap<LocId, BTreeSet<LocId>>,
    /// For every edge out of a branch, the variables written as a whole that depend on it.
    writes: BTreeMap<EdgeId, BTreeSet<u32>>,
}

impl Flow {
    /// Analyses a function.
    pub fn new(program: &Program, function: FuncId) -> Flow {
        let range = program.function(function).locations.clone();
        let first = range.start;
        let count = range.len();
        let at = |location: LocId| (location.0 - first) as usize;
        let mut successors = vec![Vec::new(); count + 1];
        for location in range.clone() {
            for (_, edge) in program.edges_from(LocId(location)) {
                // That a check passed is no reason for what comes after it.
                let kind = program.locations[edge.to.index()].kind;
                if !matches!(kind, LocationKind::Error(_)) {
                    successors[(location - first) as usize].push(at(edge.to));
                }
            }
        }
        // One more node is the end of everything: what has no way on leads to it. So does the
        // head of a loop that has no exit.
        let end = count;
        for targets in successors.iter_mut().take(count) {
            if targets.is_empty() {
                targets.push(end);
            }
        }
        let mut predecessors = reversed(&successors);
        let ending = reachable(&predecessors, [end]);
        for location in range.clone() {
            let node = (location - first) as usize;
            let head = program.locations[location as usize].kind == LocationKind::LoopHead;
            if head && !ending[node] {
                successors[node].push(end);
                predecessors[end].push(node);
            }
        }
        let post = Dominators::new(&predecessors, end);
        let mut deciders = vec![Vec::new(); count];
        let mut writes: BTreeMap<EdgeId, BTreeSet<u32>> = BTreeMap::new();
        for location in range.clone() {
            if program.edges_from(LocId(location)).count() < 2 {
                continue;
            }
            let branch = (location - first) as usize;
            for (id, edge) in program.edges_from(LocId(location)) {
                let mut next = Some(at(edge.to));
                while let Some(node) = next.filter(|&node| node != end)
                    && next != post.immediate(branch)
                {
                    deciders[node].push(id);
                    let here = LocId(first + node as u32);
                    let written = writes.entry(id).or_default();
                    written.extend(program.edges_from(here).filter_map(
                        |(_, edge)| match edge.op {
                            Op::Assign { place, .. } | Op::Input { place, .. } => {
                                match program.place(place).kind {
                                    PlaceKind::Var(variable) => Some(variable.0),
                                    _ => None,
                                }
                            }
                            _ => None,
                        },
                    ));
                    next = post.immediate(node);
                }
            }
        }
        let loops = loops(program, function, &predecessors, &successors);
        Flow {
            first,
            deciders,
            loops,
            writes,
        }
    }

    /// The edges out of branches that decide whether a location is reached.
    pub fn deciders(&self, location: LocId) -> &[EdgeId] {
        self.deciders
            .get((location.0 - self.first) as usize)
            .map_or(&[], Vec::as_slice)
    }

    /// The variables that are written only if this edge is taken out of its branch.
    pub fn written_behind(&self, edge: EdgeId) -> impl Iterator<Item = u32> + '_ {
        self.writes.get(&edge).into_iter().flatten().copied()
    }

    /// Whether a location belongs to the loop of a head.
    pub fn is_in_loop(&self, head: LocId, location: LocId) -> bool {
        self.loops
            .get(&head)
            .is_some_and(|body| body.contains(&location))
    }
}

/// The loop of every head: what can come back to the head without leaving what it dominates.
fn loops(
    program: &Program,
    function: FuncId,
    predecessors: &[Vec<usize>],
    successors: &[Vec<usize>],
) -> BTreeMap<LocId, BTreeSet<LocId>> {
    let range = program.function(function).locations.clone();
    let first = range.start;
    let entry = (program.function(function).entry.0 - first) as usize;
    let dominators = Dominators::new(successors, entry);
    let mut found = BTreeMap::new();
    for location in range.clone() {
        if program.locations[location as usize].kind != LocationKind::LoopHead {
            continue;
        }
        let head = (location - first) as usize;
        let body = Loops::natural(predecessors, &dominators, head).body;
        let inside = range.clone().filter(|at| body[(at - first) as usize]);
        let body = inside.map(LocId);
        found.insert(LocId(location), body.collect());
    }
    found
}
