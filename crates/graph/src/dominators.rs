//! Dominators (Cooper, Harvey, Kennedy).

use crate::{Successors, depth_first, reversed};

/// Which nodes every way from a root to a node passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominators {
    /// The root's is itself; a node that the root does not reach has none.
    above: Vec<Option<usize>>,
}

impl Dominators {
    /// The dominators of what a root reaches.
    pub fn new(successors: &Successors, root: usize) -> Dominators {
        let order = depth_first(successors, [root]).postorder;
        let mut number = vec![usize::MAX; successors.len()];
        for (at, &node) in order.iter().enumerate() {
            number[node] = at;
        }
        let predecessors = reversed(successors);
        let mut above: Vec<Option<usize>> = vec![None; successors.len()];
        above[root] = Some(root);
        let mut changed = true;
        while changed {
            changed = false;
            for &node in order.iter().rev().filter(|&&node| node != root) {
                // Predecessors that the root does not reach have nothing above them.
                let known = predecessors[node]
                    .iter()
                    .copied()
                    .filter(|&from| above[from].is_some());
                let new = known.reduce(|a, b| meet(&above, &number, a, b));
                if above[node] != new {
                    above[node] = new;
                    changed = true;
                }
            }
        }
        Dominators { above }
    }

    /// The last node before this one that every way to it passes; the root's is the root itself.
    /// `None` where the root does not lead.
    pub fn immediate(&self, node: usize) -> Option<usize> {
        self.above[node]
    }

    /// Whether the root leads to a node.
    pub fn reaches(&self, node: usize) -> bool {
        self.above[node].is_some()
    }

    /// Whether every way to a node passes another one. A node dominates itself.
    pub fn dominates(&self, above: usize, mut node: usize) -> bool {
        loop {
            if node == above {
                return true;
            }
            match self.above[node] {
                Some(up) if up != node => node = up,
                _ => return false,
            }
        }
    }
}

/// The nearest node that dominates both; nodes further up have higher numbers.
fn meet(above: &[Option<usize>], number: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while number[a] < number[b] {
            a = above[a].unwrap_or(b);
        }
        while number[b] < number[a] {
            b = above[b].unwrap_or(a);
        }
    }
    a
}
