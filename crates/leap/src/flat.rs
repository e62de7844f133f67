//! The program as one graph: calls are followed into the callee and back, each in its own context.
//!
//! A recursive call leads back to the entry of the function that is active already: going down is
//! a loop, and so are the returns (section 3.3). Between the two, how deep it is is counted by a
//! variable that the program itself does not have ([`hardbop_model::passes::depths`]). What the activations below
//! keep in their own variables is not: after a return anything may be in them, so such a path is a
//! guess, and only a replay makes it a run.
//!
//! `cfront::inline` is no substitute: it leaves recursive calls alone, and calls of functions that
//! are large or called too often; here every call is followed.

use hardbop_cfront::ids::{CheckId, EdgeId, FuncId, LocId};
use hardbop_cfront::program::{LocationKind, Op, Program};
use hardbop_graph::{depth_first, reachable, reversed};
use std::collections::{BTreeMap, BTreeSet};

/// A node, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The entry of the program.
    pub const START: NodeId = NodeId(0);

    /// Its position among the nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A chain of calls, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContextId(u32);

impl ContextId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

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
    /// An activation of a recursive function that is not the first one returns to the call that
    /// entered it.
    Back(EdgeId, FuncId, Below),
}

/// Which activation of a recursive function is returned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Below {
    /// The first one.
    First,
    /// Another one.
    Other,
}

/// A node: a location in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    /// The context.
    pub context: ContextId,
    /// The location.
    pub location: LocId,
}

/// A chain of calls.
#[derive(Clone, Copy, Debug)]
struct Context {
    function: FuncId,
    /// The context and the call to which it, or its first activation, returns.
    back: Option<(ContextId, EdgeId)>,
    /// The next context of the chain: the caller, or the first caller of a recursive function.
    above: Option<ContextId>,
    /// Whether it stands for all activations of a recursive function but the first one.
    repeated: bool,
}

/// The graph.
#[derive(Clone, Debug)]
pub struct Flat {
    /// The nodes; the first one is the program's entry.
    pub nodes: Vec<Node>,
    /// What leaves every node.
    pub successors: Vec<Vec<(Move, NodeId)>>,
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
            exits: Vec::new(),
            callers: BTreeSet::new(),
        };
        builder.node(ContextId(0), program.function(program.entry).entry);
        let mut next = 0;
        loop {
            while next < builder.flat.nodes.len() {
                builder.expand(NodeId(next as u32));
                if builder.flat.nodes.len() > MAX_NODES {
                    return Err(TooLarge);
                }
                next += 1;
            }
            // What comes after a return may call again, and so be returned to.
            if !builder.connect_returns() {
                return Ok(builder.flat);
            }
        }
    }

    /// The check that is violated at a node.
    pub fn violated(&self, program: &Program, node: NodeId) -> Option<CheckId> {
        match program.locations[self.nodes[node.index()].location.index()].kind {
            LocationKind::Error(check) => Some(check),
            _ => None,
        }
    }

    /// The nodes from which one of the goals can be reached, as far as the graph tells.
    pub fn leading_to(&self, goals: &BTreeSet<NodeId>) -> Vec<bool> {
        reachable(
            &reversed(&self.plain(|_| true)),
            goals.iter().map(|goal| goal.index()),
        )
    }

    /// The heads of the loops among the nodes that count: a set of nodes that meets every cycle.
    /// A nest of loops is cut at the heads of all of them, so that it can be leapt from where the
    /// outermost one is entered.
    pub fn cuts(&self, counts: &[bool]) -> BTreeSet<NodeId> {
        let successors = self.plain(|node| counts[node.index()]);
        let roots = (0..self.nodes.len()).filter(|&node| counts[node]);
        let back_edges = depth_first(&successors, roots).back_edges;
        let heads = back_edges.into_iter().map(|(_, head)| head);
        heads.map(|head| NodeId(head as u32)).collect()
    }

    /// The successors of every node, as far as they count.
    fn plain(&self, counts: impl Fn(NodeId) -> bool) -> Vec<Vec<usize>> {
        let targets = |list: &Vec<(Move, NodeId)>| {
            let targets = list.iter().map(|&(_, to)| to);
            let targets = targets.filter(|&to| counts(to));
            targets.map(NodeId::index).collect()
        };
        self.successors.iter().map(targets).collect()
    }
}

struct Builder<'p> {
    program: &'p Program,
    flat: Flat,
    contexts: Vec<Context>,
    index: BTreeMap<Node, NodeId>,
    children: BTreeMap<(ContextId, EdgeId, FuncId), ContextId>,
    repeats: BTreeMap<ContextId, ContextId>,
    /// The exits of repeated contexts.
    exits: Vec<NodeId>,
    /// The repeated contexts with the contexts and calls that enter them.
    callers: BTreeSet<(ContextId, ContextId, EdgeId)>,
}

impl Builder<'_> {
    fn node(&mut self, context: ContextId, location: LocId) -> NodeId {
        let node = Node { context, location };
        if let Some(&known) = self.index.get(&node) {
            return known;
        }
        let index = NodeId(self.flat.nodes.len() as u32);
        self.flat.nodes.push(node);
        self.flat.successors.push(Vec::new());
        self.index.insert(node, index);
        index
    }

    fn expand(&mut self, index: NodeId) {
        let program = self.program;
        let Node { context, location } = self.flat.nodes[index.index()];
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
            && let Some((caller, call)) = self.contexts[context.index()].back
        {
            if self.contexts[context.index()].repeated {
                self.exits.push(index);
            } else {
                let to = self.node(caller, program.edges[call.index()].to);
                out.push((
                    Move::Leave(call, self.contexts[context.index()].function),
                    to,
                ));
            }
        }
        self.flat.successors[index.index()] = out;
    }

    /// Connects the exits of repeated contexts to the calls that enter them. Says whether that
    /// gave anything new.
    fn connect_returns(&mut self) -> bool {
        let mut new = false;
        for exit in self.exits.clone() {
            let context = self.flat.nodes[exit.index()].context;
            let function = self.contexts[context.index()].function;
            for (repeated, caller, call) in self.callers.clone() {
                if repeated != context {
                    continue;
                }
                let below = match self.is_within(caller, repeated) {
                    true => Below::Other,
                    false => Below::First,
                };
                let to = self.node(caller, self.program.edges[call.index()].to);
                let back = (Move::Back(call, function, below), to);
                if !self.flat.successors[exit.index()].contains(&back) {
                    self.flat.successors[exit.index()].push(back);
                    new = true;
                }
            }
        }
        new
    }

    /// Whether a chain of calls passes a context.
    fn is_within(&self, context: ContextId, other: ContextId) -> bool {
        let mut at = Some(context);
        while let Some(context) = at {
            if context == other {
                return true;
            }
            at = self.contexts[context.index()].above;
        }
        false
    }

    fn enter(&mut self, context: ContextId, call: EdgeId, callee: FuncId) -> (Move, ContextId) {
        let mut above = Some(context);
        while let Some(at) = above {
            if self.contexts[at.index()].function == callee {
                let repeated = self.repeat(at);
                self.callers.insert((repeated, context, call));
                return (Move::Again(call, callee), repeated);
            }
            above = self.contexts[at.index()].above;
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
        let child = ContextId(self.contexts.len() as u32 - 1);
        self.children.insert(key, child);
        (Move::Enter(call, callee), child)
    }

    /// The context of all activations of a recursive function but the first one.
    fn repeat(&mut self, first: ContextId) -> ContextId {
        if self.contexts[first.index()].repeated {
            return first;
        }
        if let Some(&known) = self.repeats.get(&first) {
            return known;
        }
        let context = self.contexts[first.index()];
        self.contexts.push(Context {
            repeated: true,
            ..context
        });
        let repeat = ContextId(self.contexts.len() as u32 - 1);
        self.repeats.insert(first, repeat);
        repeat
    }
}
