//! The shape of one function's control flow: dominators and loops.

use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_cfront::program::Program;

/// A loop: its head, and every location from which control comes back to the head without
/// leaving the loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The head.
    pub head: LocId,
    body: Vec<bool>,
    size: usize,
}

/// A function's control flow, over positions in the function's own range of locations.
#[derive(Clone, Debug)]
pub struct FunctionGraph {
    first: u32,
    /// How many locations there are.
    pub count: usize,
    /// The loops, outer ones first.
    pub loops: Vec<Loop>,
    /// Whether every loop is entered through its head only.
    pub reducible: bool,
}

impl FunctionGraph {
    /// The control flow of a function.
    pub fn new(program: &Program, function: FuncId) -> FunctionGraph {
        let range = program.function(function).locations.clone();
        let first = range.start;
        let count = range.len();
        let successors: Vec<Vec<usize>> = (range.start..range.end)
            .map(|location| {
                let edges = program.edges_from(LocId(location));
                edges
                    .map(|(_, edge)| (edge.to.0 - first) as usize)
                    .collect()
            })
            .collect();
        let entry = (program.function(function).entry.0 - first) as usize;
        let dominators = dominators(&successors, entry);
        let mut graph = FunctionGraph {
            first,
            count,
            loops: Vec::new(),
            reducible: true,
        };
        let mut predecessors = vec![Vec::new(); count];
        for (from, list) in successors.iter().enumerate() {
            for &to in list {
                predecessors[to].push(from);
            }
        }
        for (from, head) in retreating(&successors, entry) {
            graph.reducible &= dominates(&dominators, head, from);
            let known = graph.loops.iter().position(|l| graph.index(l.head) == head);
            let at = known.unwrap_or_else(|| {
                let mut body = vec![false; count];
                body[head] = true;
                let head = graph.location(head);
                graph.loops.push(Loop {
                    head,
                    body,
                    size: 1,
                });
                graph.loops.len() - 1
            });
            let found = &mut graph.loops[at];
            let mut work = vec![from];
            while let Some(node) = work.pop() {
                // What the entry does not reach is in no loop.
                if dominators[node].is_some() && !std::mem::replace(&mut found.body[node], true) {
                    found.size += 1;
                    work.extend(&predecessors[node]);
                }
            }
        }
        // Outer loops first.
        graph
            .loops
            .sort_by_key(|l| (std::cmp::Reverse(l.size), l.head));
        graph
    }

    /// The position of a location.
    pub fn index(&self, location: LocId) -> usize {
        (location.0 - self.first) as usize
    }

    /// The location at a position.
    pub fn location(&self, index: usize) -> LocId {
        LocId(self.first + index as u32)
    }

    /// Whether a loop holds a location.
    pub fn holds(&self, at: usize, location: LocId) -> bool {
        self.loops[at].body[self.index(location)]
    }

    /// The loops that hold a location, outermost first.
    pub fn nest(&self, location: LocId) -> Vec<usize> {
        (0..self.loops.len())
            .filter(|&at| self.holds(at, location))
            .collect()
    }

    /// The loop that starts at a location.
    pub fn headed_by(&self, location: LocId) -> Option<usize> {
        self.loops.iter().position(|l| l.head == location)
    }
}

/// The edges that lead back to a node on the current branch of a depth-first search.
fn retreating(successors: &[Vec<usize>], entry: usize) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    // 0: not seen; 1: on the branch; 2: done.
    let mut colour = vec![0u8; successors.len()];
    let mut stack = vec![(entry, 0)];
    colour[entry] = 1;
    while let Some((node, next)) = stack.last_mut() {
        let node = *node;
        match successors[node].get(*next) {
            Some(&to) => {
                *next += 1;
                match colour[to] {
                    0 => {
                        colour[to] = 1;
                        stack.push((to, 0));
                    }
                    1 => found.push((node, to)),
                    _ => {}
                }
            }
            None => {
                colour[node] = 2;
                stack.pop();
            }
        }
    }
    found
}

fn dominates(dominators: &[Option<usize>], above: usize, mut node: usize) -> bool {
    loop {
        if node == above {
            return true;
        }
        match dominators[node] {
            Some(up) if up != node => node = up,
            _ => return false,
        }
    }
}

/// The immediate dominator of every node that the root reaches; the root's is itself (Cooper,
/// Harvey, Kennedy).
pub fn dominators(successors: &[Vec<usize>], root: usize) -> Vec<Option<usize>> {
    let count = successors.len();
    let mut order = Vec::new();
    let mut seen = vec![false; count];
    let mut stack = vec![(root, 0)];
    seen[root] = true;
    while let Some((node, next)) = stack.last_mut() {
        match successors[*node].get(*next) {
            Some(&to) => {
                *next += 1;
                if !std::mem::replace(&mut seen[to], true) {
                    stack.push((to, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    let mut number = vec![usize::MAX; count];
    for (at, &node) in order.iter().enumerate() {
        number[node] = at;
    }
    let mut predecessors = vec![Vec::new(); count];
    for &node in &order {
        for &to in &successors[node] {
            predecessors[to].push(node);
        }
    }
    let mut above: Vec<Option<usize>> = vec![None; count];
    above[root] = Some(root);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in order.iter().rev() {
            if node == root {
                continue;
            }
            let mut new: Option<usize> = None;
            for &from in &predecessors[node] {
                if above[from].is_none() {
                    continue;
                }
                new = Some(match new {
                    None => from,
                    Some(other) => {
                        let (mut a, mut b) = (from, other);
                        while a != b {
                            while number[a] < number[b] {
                                a = above[a].unwrap_or(root);
                            }
                            while number[b] < number[a] {
                                b = above[b].unwrap_or(root);
                            }
                        }
                        a
                    }
                });
            }
            if new.is_some() && above[node] != new {
                above[node] = new;
                changed = true;
            }
        }
    }
    above
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diamond_is_dominated_by_its_top() {
        let graph = vec![vec![1, 2], vec![3], vec![3], vec![]];
        assert_eq!(dominators(&graph, 0), [Some(0), Some(0), Some(0), Some(0)]);
    }

    #[test]
    fn a_chain_is_dominated_link_by_link() {
        let graph = vec![vec![1], vec![2], vec![1, 3], vec![]];
        assert_eq!(dominators(&graph, 0), [Some(0), Some(0), Some(1), Some(2)]);
        assert_eq!(retreating(&graph, 0), [(2, 1)]);
    }
}
