//! Graph algorithms over adjacency lists.
//!
//! In comes a graph as a list of successors for every node, by number; out come orders, strongly
//! connected components, dominators, loops. A caller with nodes of its own kind numbers them
//! first. Nothing here recurses: a chain of calls or of statements can be as long as its author
//! likes.
//!
//! Post-dominators are the dominators of the reversed graph; the caller says which node is the
//! end, for what counts as an end differs from caller to caller.

mod dominators;
mod loops;

pub use dominators::Dominators;
pub use loops::{Loop, Loops};

/// The successors of every node.
pub type Successors = [Vec<usize>];

/// The graph with its edges turned round.
pub fn reversed(successors: &Successors) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (from, targets) in successors.iter().enumerate() {
        for &to in targets {
            predecessors[to].push(from);
        }
    }
    predecessors
}

/// Whether each node can be reached from one of the roots; the roots can.
pub fn reachable(successors: &Successors, roots: impl IntoIterator<Item = usize>) -> Vec<bool> {
    let mut seen = vec![false; successors.len()];
    let mut work: Vec<usize> = Vec::new();
    for root in roots {
        if !std::mem::replace(&mut seen[root], true) {
            work.push(root);
        }
    }
    while let Some(node) = work.pop() {
        for &to in &successors[node] {
            if !std::mem::replace(&mut seen[to], true) {
                work.push(to);
            }
        }
    }
    seen
}

/// What a search from some roots, depth first, tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DepthFirst {
    /// The nodes that were reached, each after all that was first reached through it.
    pub postorder: Vec<usize>,
    /// The edges that lead back to a node on the branch of the search that they lie on, in the
    /// order in which they were met. Their targets meet every cycle that the roots reach.
    pub back_edges: Vec<(usize, usize)>,
}

/// Searches depth first from the roots, one after the other, successors in their order.
pub fn depth_first(successors: &Successors, roots: impl IntoIterator<Item = usize>) -> DepthFirst {
    #[derive(Clone, Copy)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut found = DepthFirst::default();
    let mut marks = vec![Mark::New; successors.len()];
    for root in roots {
        if !matches!(marks[root], Mark::New) {
            continue;
        }
        marks[root] = Mark::Open;
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let node = *node;
            let Some(&to) = successors[node].get(*next) else {
                marks[node] = Mark::Done;
                found.postorder.push(node);
                stack.pop();
                continue;
            };
            *next += 1;
            match marks[to] {
                Mark::New => {
                    marks[to] = Mark::Open;
                    stack.push((to, 0));
                }
                Mark::Open => found.back_edges.push((node, to)),
                Mark::Done => {}
            }
        }
    }
    found
}

/// The strongly connected components, each after those that it leads to (Tarjan). The members of
/// a component are in order.
pub fn components(successors: &Successors) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let count = successors.len();
    let mut index = vec![NEW; count];
    let mut low = vec![0; count];
    let mut on_stack = vec![false; count];
    let (mut stack, mut out, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..count {
        if index[root] != NEW {
            continue;
        }
        let mut work = vec![(root, successors[root].iter())];
        (index[root], low[root]) = (next, next);
        next += 1;
        stack.push(root);
        on_stack[root] = true;
        while let Some((at, rest)) = work.last_mut() {
            let at = *at;
            if let Some(&to) = rest.next() {
                if index[to] == NEW {
                    (index[to], low[to]) = (next, next);
                    next += 1;
                    stack.push(to);
                    on_stack[to] = true;
                    work.push((to, successors[to].iter()));
                } else if on_stack[to] {
                    low[at] = low[at].min(index[to]);
                }
                continue;
            }
            work.pop();
            if let Some((above, _)) = work.last() {
                low[*above] = low[*above].min(low[at]);
            }
            if low[at] == index[at] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    component.push(member);
                    if member == at {
                        break;
                    }
                }
                component.sort_unstable();
                out.push(component);
            }
        }
    }
    out
}

/// For every node, the first member of its strongly connected component if it lies on a cycle.
pub fn cycles(successors: &Successors) -> Vec<Option<usize>> {
    let mut cycle = vec![None; successors.len()];
    for component in components(successors) {
        let first = component[0];
        if component.len() > 1 || successors[first].contains(&first) {
            for member in component {
                cycle[member] = Some(first);
            }
        }
    }
    cycle
}

#[cfg(test)]
mod tests;
