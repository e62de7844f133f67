//! Loops, as the back edges of a search tell them.

use crate::{Dominators, Successors, depth_first, reversed};
use std::cmp::Reverse;

/// A loop: its head, and every node from which control comes back to the head without passing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Where it is entered.
    pub head: usize,
    /// Whether each node belongs to it; the head does.
    pub body: Vec<bool>,
}

/// The loops of a graph with a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loops {
    /// One for every head, outer loops before inner ones.
    pub loops: Vec<Loop>,
    /// Whether every loop is entered through its head only.
    pub reducible: bool,
}

impl Loops {
    /// The loops among the nodes that a root reaches.
    pub fn new(successors: &Successors, root: usize) -> Loops {
        let dominators = Dominators::new(successors, root);
        let predecessors = reversed(successors);
        let back_edges = depth_first(successors, [root]).back_edges;
        let reducible = back_edges
            .iter()
            .all(|&(from, head)| dominators.dominates(head, from));
        let mut heads: Vec<usize> = back_edges.iter().map(|&(_, head)| head).collect();
        heads.sort_unstable();
        heads.dedup();
        let mut sized: Vec<(usize, Loop)> = heads
            .into_iter()
            .map(|head| {
                let tails = back_edges.iter().filter(|&&(_, to)| to == head);
                let tails = tails.map(|&(from, _)| from);
                // What the root does not reach is in no loop.
                let body = loop_body(&predecessors, head, tails, |node| dominators.reaches(node));
                let size = body.iter().filter(|&&inside| inside).count();
                (size, Loop { head, body })
            })
            .collect();
        sized.sort_by_key(|(size, found)| (Reverse(*size), found.head));
        Loops {
            loops: sized.into_iter().map(|(_, found)| found).collect(),
            reducible,
        }
    }

    /// The loop of a node that dominates the ends of edges back to it; just the node if there are
    /// no such edges.
    pub fn natural(predecessors: &Successors, dominators: &Dominators, head: usize) -> Loop {
        let tails = predecessors[head]
            .iter()
            .copied()
            .filter(|&from| dominators.dominates(head, from));
        let body = loop_body(predecessors, head, tails, |_| true);
        Loop { head, body }
    }
}

/// The head, and what leads to the tails without passing it.
fn loop_body(
    predecessors: &Successors,
    head: usize,
    tails: impl Iterator<Item = usize>,
    counts: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let mut body = vec![false; predecessors.len()];
    body[head] = true;
    let mut work: Vec<usize> = tails.collect();
    while let Some(node) = work.pop() {
        if counts(node) && !std::mem::replace(&mut body[node], true) {
            work.extend(&predecessors[node]);
        }
    }
    body
}
