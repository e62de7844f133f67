//! Numbers for points of the unrolled program, for several workers at a time.

use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::Program;
use hardbop_model::loops::FunctionGraph;
use hardbop_model::order::{Key, Order};
use hardbop_model::points::{ContextId, Numbering, PointId, Points};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Numbers for points, the same for the same point whenever it is met and whoever meets it: clones
/// share their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes(Arc<Mutex<Numbering>>);

impl Nodes {
    fn numbering(&self) -> MutexGuard<'_, Numbering> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The context of the entry function.
    pub(crate) fn start(&self) -> ContextId {
        self.numbering().start()
    }

    pub(crate) fn call(&self, from: ContextId, edge: EdgeId, callee: FuncId) -> ContextId {
        self.numbering().call(from, edge, callee)
    }

    /// How many calls of a function are around.
    pub(crate) fn activations(&self, context: ContextId, function: FuncId) -> u32 {
        self.numbering().activations(context, function)
    }

    /// The context in which control arrives at a location of the same call, and the number of
    /// arrivals there if it is the head of a loop.
    pub(crate) fn arrive(
        &self,
        graph: &FunctionGraph,
        context: ContextId,
        location: LocId,
    ) -> (ContextId, u32) {
        self.numbering().arrive(graph, context, location)
    }

    pub(crate) fn node(&self, context: ContextId, location: LocId) -> PointId {
        self.numbering().point(context, location)
    }

    /// Where a point comes in an order in which each point is after all that lead to it.
    pub(crate) fn key(
        &self,
        order: &mut Order,
        program: &Program,
        context: ContextId,
        location: LocId,
    ) -> Option<Key> {
        order.key(program, &self.numbering(), context, location)
    }

    /// All that has a number.
    pub(crate) fn points(&self) -> Points {
        self.numbering().points().clone()
    }
}
