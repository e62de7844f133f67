//! The program as one graph: calls are followed into the callee and back, each in its own context.
//!
//! A recursive call leads back to the entry of the function that is active already: going down is
//! a loop (section 3.3). All its returns together are one move, after which anything may be in the
//! variables that the function changes: such a path is a guess, and only a replay makes it a run.

use hardbop_cfront::ids::{CheckId, EdgeId, FuncId, LocId};
use hardbop_cfront::program::{LocationKind, Op, Program};
use std::collections::{BTreeMap, BTreeSet};

/// A node, by its number.
pub type NodeIndex = usize;

/// What happens between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Move {
    /// An edge that is not a call.
    Edge(EdgeId),
    /// A call enters a function.
    Enter(EdgeId, FuncId),
    /// The function that was entered by that call returns.
    Leave(EdgeId, FuncId),
    /// A call enters a function that is active already.
    Again(EdgeId, FuncId),
    /// All activations of a recursive function return, the first of which that call had entered.
    Unwind(EdgeId, FuncId),
}

/// A node: a location in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    /// The context, by its number.
    pub context: usize,
    /// The location.
    pub location: LocId,
}

/// A chain of calls.
#[derive(Clone, Copy, Debug)]
struct Context {
    function: FuncId,
    /// The context and the call to which it, or its first activation, returns.
    back: Option<(usize, EdgeId)>,
    /// The next context of the chain: the caller, or the first caller of a recursive function.
    above: Option<usize>,
    /// Whether it stands for all activations of a recursive function but the first one.
    repeated: bool,
}

/// The graph.
#[derive(Clone, Debug)]
pub struct Flat {
    /// The nodes; the first one is the program's entry.
    pub nodes: Vec<Node>,
    /// What leaves every node.
    pub successors: Vec<Vec<(Move, NodeIndex)>>,
}

/// There are more nodes than this in no program that leaping is good for.
const MAX_NODES: usize = 60_000;

/// The program has too many nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl Flat {
    /// The graph of a program.
    pub fn new(program: &Program) -> Result<Flat, TooLarge> {
        let mut builder = Builder {
            program,
            flat: Flat {
                nodes: Vec::new(),
                successors: Vec::new(),
            },
            contexts: vec![Context {
                function: program.entry,
                back: None,
                above: None,
                repeated: false,
            }],
            index: BTreeMap::new(),
            children: BTreeMap::new(),
            repeats: BTreeMap::new(),
        };
        builder.node(0, program.function(program.entry).entry);
        let mut next = 0;
        while next < builder.flat.nodes.len() {
            builder.expand(next);
            if builder.flat.nodes.len() > MAX_NODES {
                return Err(TooLarge);
            }
            next += 1;
        }
        Ok(builder.flat)
    }

    /// The check that is violated at a node.
    pub fn violated(&self, program: &Program, node: NodeIndex) -> Option<CheckId> {
        match program.locations[self.nodes[node].location.index()].kind {
            LocationKind::Error(check) => Some(check),
            _ => None,
        }
    }

    /// The nodes from which one of the goals can be reached, as far as the graph tells.
    pub fn leading_to(&self, goals: &BTreeSet<NodeIndex>) -> Vec<bool> {
        let mut before: Vec<Vec<NodeIndex>> = vec![Vec::new(); self.nodes.len()];
        for (from, successors) in self.successors.iter().enumerate() {
            for &(_, to) in successors {
                before[to].push(from);
            }
        }
        let mut leads = vec![false; self.nodes.len()];
        let mut work: Vec<NodeIndex> = goals.iter().copied().collect();
        for &goal in goals {
            leads[goal] = true;
        }
        while let Some(node) = work.pop() {
            for &from in &before[node] {
                if !std::mem::replace(&mut leads[from], true) {
                    work.push(from);
                }
            }
        }
        leads
    }

    /// A set of nodes that meets every cycle among the nodes that count, and from which none can
    /// be left out. Inner loops are kept rather than outer ones: a cycle of the outer loop passes
    /// the inner loop's head, so the whole nest is cut at one node.
    pub fn cuts(&self, counts: &[bool]) -> BTreeSet<NodeIndex> {
        let mut cuts = self.back_targets(counts);
        let mut order: Vec<NodeIndex> = cuts.iter().copied().collect();
        // Depth-first search meets outer heads first.
        let discovery = self.discovery(counts);
        order.sort_by_key(|node| discovery[*node]);
        for node in order {
            cuts.remove(&node);
            if self.has_cycle(counts, &cuts) {
                cuts.insert(node);
            }
        }
        cuts
    }

    fn discovery(&self, counts: &[bool]) -> Vec<usize> {
        let mut number = vec![usize::MAX; self.nodes.len()];
        let mut next = 0;
        let mut stack = vec![0];
        while let Some(node) = stack.pop() {
            if !counts[node] || number[node] != usize::MAX {
                continue;
            }
            number[node] = next;
            next += 1;
            stack.extend(self.successors[node].iter().rev().map(|&(_, to)| to));
        }
        number
    }

    /// The targets of back edges of a depth-first search.
    fn back_targets(&self, counts: &[bool]) -> BTreeSet<NodeIndex> {
        let mut targets = BTreeSet::new();
        self.walk(counts, &BTreeSet::new(), |target| {
            targets.insert(target);
        });
        targets
    }

    fn has_cycle(&self, counts: &[bool], cuts: &BTreeSet<NodeIndex>) -> bool {
        let mut found = false;
        self.walk(counts, cuts, |_| found = true);
        found
    }

    /// Searches depth first through the nodes that count, never into a cut; tells the targets of
    /// back edges.
    fn walk(&self, counts: &[bool], cuts: &BTreeSet<NodeIndex>, mut back: impl FnMut(NodeIndex)) {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let mut marks = vec![Mark::New; self.nodes.len()];
        for root in 0..self.nodes.len() {
            if !counts[root] || marks[root] != Mark::New || cuts.contains(&root) {
                continue;
            }
            marks[root] = Mark::Open;
            let mut stack = vec![(root, 0)];
            while let Some((node, next)) = stack.last_mut() {
                let Some(&(_, to)) = self.successors[*node].get(*next) else {
                    marks[*node] = Mark::Done;
                    stack.pop();
                    continue;
                };
                *next += 1;
                if !counts[to] || cuts.contains(&to) {
                    continue;
                }
                match marks[to] {
                    Mark::Open => back(to),
                    Mark::Done => {}
                    Mark::New => {
                        marks[to] = Mark::Open;
                        stack.push((to, 0));
                    }
                }
            }
        }
    }
}

struct Builder<'p> {
    program: &'p Program,
    flat: Flat,
    contexts: Vec<Context>,
    index: BTreeMap<Node, NodeIndex>,
    children: BTreeMap<(usize, EdgeId, FuncId), usize>,
    repeats: BTreeMap<usize, usize>,
}

impl Builder<'_> {
    fn node(&mut self, context: usize, location: LocId) -> NodeIndex {
        let node = Node { context, location };
        if let Some(&known) = self.index.get(&node) {
            return known;
        }
        let index = self.flat.nodes.len();
        self.flat.nodes.push(node);
        self.flat.successors.push(Vec::new());
        self.index.insert(node, index);
        index
    }

    fn expand(&mut self, index: NodeIndex) {
        let program = self.program;
        let Node { context, location } = self.flat.nodes[index];
        let mut out = Vec::new();
        for (id, edge) in program.edges_from(location) {
            match &edge.op {
                Op::Call { callee, .. } => {
                    for &target in callee.targets() {
                        let (step, entered) = self.enter(context, id, target);
                        let to = self.node(entered, program.function(target).entry);
                        out.push((step, to));
                    }
                }
                Op::Unsupported { .. } => {}
                _ => {
                    let to = self.node(context, edge.to);
                    out.push((Move::Edge(id), to));
                }
            }
        }
        if program.locations[location.index()].kind == LocationKind::Exit
            && let Some((caller, call)) = self.contexts[context].back
        {
            let function = self.contexts[context].function;
            let to = self.node(caller, program.edges[call.index()].to);
            let step = if self.contexts[context].repeated {
                Move::Unwind(call, function)
            } else {
                Move::Leave(call, function)
            };
            out.push((step, to));
        }
        self.flat.successors[index] = out;
    }

    fn enter(&mut self, context: usize, call: EdgeId, callee: FuncId) -> (Move, usize) {
        let mut above = Some(context);
        while let Some(at) = above {
            if self.contexts[at].function == callee {
                return (Move::Again(call, callee), self.repeat(at));
            }
            above = self.contexts[at].above;
        }
        let key = (context, call, callee);
        if let Some(&known) = self.children.get(&key) {
            return (Move::Enter(call, callee), known);
        }
        self.contexts.push(Context {
            function: callee,
            back: Some((context, call)),
            above: Some(context),
            repeated: false,
        });
        let child = self.contexts.len() - 1;
        self.children.insert(key, child);
        (Move::Enter(call, callee), child)
    }

    /// The context of all activations of a recursive function but the first one.
    fn repeat(&mut self, first: usize) -> usize {
        if self.contexts[first].repeated {
            return first;
        }
        if let Some(&known) = self.repeats.get(&first) {
            return known;
        }
        let context = self.contexts[first];
        self.contexts.push(Context {
            repeated: true,
            ..context
        });
        let repeat = self.contexts.len() - 1;
        self.repeats.insert(first, repeat);
        repeat
    }
}
