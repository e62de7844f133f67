//! Points of the unrolled program: where control is, under which calls, in which iteration.

use crate::graph::FunctionGraph;
use crate::oracle::NodeId;
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is around a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ContextId(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Around {
    /// Nothing: the entry function.
    Start,
    /// A call.
    Call(ContextId, EdgeId, FuncId),
    /// A loop, by its head, at that many arrivals at the head.
    Loop(ContextId, LocId, u32),
}

/// Numbers for points, the same for the same point whenever it is met and whoever meets it: clones
/// share their numbers.
#[derive(Clone, Debug)]
pub(crate) struct Nodes(Arc<Mutex<Table>>);

#[derive(Debug)]
struct Table {
    contexts: Vec<Around>,
    context_ids: FxHashMap<Around, ContextId>,
    nodes: Vec<(ContextId, LocId)>,
    node_ids: FxHashMap<(ContextId, LocId), NodeId>,
}

impl Nodes {
    pub(crate) fn new() -> Nodes {
        let mut table = Table {
            contexts: Vec::new(),
            context_ids: FxHashMap::default(),
            nodes: Vec::new(),
            node_ids: FxHashMap::default(),
        };
        table.context(Around::Start);
        Nodes(Arc::new(Mutex::new(table)))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The context of the entry function.
    pub(crate) fn start(&self) -> ContextId {
        ContextId(0)
    }

    pub(crate) fn call(&self, from: ContextId, edge: EdgeId, callee: FuncId) -> ContextId {
        self.table().context(Around::Call(from, edge, callee))
    }

    /// How many calls of a function are around.
    pub(crate) fn activations(&self, context: ContextId, function: FuncId) -> u32 {
        self.table().activations(context, function)
    }

    /// The context in which control arrives at a location of the same call, and the number of
    /// arrivals there if it is the head of a loop.
    pub(crate) fn arrive(
        &self,
        graph: &FunctionGraph,
        context: ContextId,
        location: LocId,
    ) -> (ContextId, u32) {
        self.table().arrive(graph, context, location)
    }

    pub(crate) fn node(&self, context: ContextId, location: LocId) -> NodeId {
        self.table().node(context, location)
    }

    /// The location of a node.
    pub(crate) fn location(&self, node: NodeId) -> LocId {
        self.table().nodes[node.0 as usize].1
    }
}

impl Table {
    fn context(&mut self, around: Around) -> ContextId {
        let next = ContextId(self.contexts.len() as u32);
        let id = *self.context_ids.entry(around).or_insert(next);
        if id == next {
            self.contexts.push(around);
        }
        id
    }

    fn around(&self, id: ContextId) -> Around {
        self.contexts[id.0 as usize]
    }

    fn activations(&self, mut id: ContextId, function: FuncId) -> u32 {
        let mut count = 0;
        loop {
            match self.around(id) {
                Around::Start => return count,
                Around::Call(up, _, callee) => {
                    count += u32::from(callee == function);
                    id = up;
                }
                Around::Loop(up, ..) => id = up,
            }
        }
    }

    fn arrive(
        &mut self,
        graph: &FunctionGraph,
        mut id: ContextId,
        location: LocId,
    ) -> (ContextId, u32) {
        let headed = graph.headed_by(location);
        // In a loop with several entries, the head may be around without being the nearest.
        if headed.is_some() {
            let mut up = id;
            while let Around::Loop(next, head, count) = self.around(up) {
                if head == location {
                    let context = self.context(Around::Loop(next, head, count + 1));
                    return (context, count + 1);
                }
                up = next;
            }
        }
        while let Around::Loop(up, head, _) = self.around(id) {
            let holds = graph
                .headed_by(head)
                .is_some_and(|at| graph.holds(at, location));
            if holds {
                break;
            }
            id = up;
        }
        match headed {
            Some(_) => (self.context(Around::Loop(id, location, 1)), 1),
            None => (id, 0),
        }
    }

    fn node(&mut self, context: ContextId, location: LocId) -> NodeId {
        let next = NodeId(self.nodes.len() as u32);
        let id = *self.node_ids.entry((context, location)).or_insert(next);
        if id == next {
            self.nodes.push((context, location));
        }
        id
    }
}
