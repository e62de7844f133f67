//! The supergraph: all that the search knows of the program it searches.
//!
//! Control flow is explicit: procedures, vertices, edges (Bebop, section 2.3). States are
//! boolean: every procedure sees the same global slots and has a frame of slots of its own. What
//! happens on an edge is a relation, and the search asks for it only when it has states to send
//! through it. A boolean program answers from its statements; an abstraction that is computed
//! lazily can answer for exactly the states that were asked about, and more when asked again.

use crate::bdd::Bdd;
use crate::space::{Slot, Space};
use hardbop_budget::Stopped;
use std::ops::Range;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in a table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A procedure of a supergraph.
    Proc
);
id!(
    /// A vertex of a supergraph, counted over all procedures.
    Vertex
);
id!(
    /// An edge of a supergraph, counted over all procedures.
    Edge
);

/// A procedure: where it starts and ends, and how its frame is laid out.
///
/// Slots are numbered: first the globals, then from [`Supergraph::globals`] on the formals, the
/// return values and the locals of the procedure. All procedures use the same numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Procedure {
    /// Its vertices.
    pub vertices: Range<u32>,
    /// Where a call enters.
    pub entry: Vertex,
    /// Where it is left; has no outgoing edges.
    pub exit: Vertex,
    /// How many parameters it has.
    pub formals: u32,
    /// How many values it returns.
    pub returns: u32,
    /// How many other variables it has.
    pub locals: u32,
}

/// The ends of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Where it leaves.
    pub from: Vertex,
    /// Where it leads; for a call, the return point.
    pub to: Vertex,
    /// The procedure that it calls.
    pub callee: Option<Proc>,
}

/// A program with boolean states.
///
/// Relations speak of the [`Copy`](crate::space::Copy)s of slots in a [`Space`]. The argument
/// `from` of the relations is the set of path edges (entry state, current state) that the search
/// is about to send through the edge: the answer need be right only for these.
pub trait Supergraph {
    /// The number of global slots.
    fn globals(&self) -> u32;

    /// The number of procedures.
    fn procedures(&self) -> u32;

    /// Where execution starts.
    fn main(&self) -> Proc;

    /// A procedure.
    fn procedure(&self, procedure: Proc) -> Procedure;

    /// The number of vertices.
    fn vertices(&self) -> u32;

    /// The procedure of a vertex.
    fn procedure_of(&self, vertex: Vertex) -> Proc;

    /// The number of edges.
    fn edges(&self) -> u32;

    /// The edges that leave a vertex.
    fn edges_from(&self, vertex: Vertex) -> Range<u32>;

    /// The ends of an edge.
    fn ends(&self, edge: Edge) -> Ends;

    /// Adds every slot on whose value in the source state the edge depends: for a call, what the
    /// arguments read.
    fn reads(&self, edge: Edge, slots: &mut Vec<Slot>);

    /// Adds every slot that the edge may change, save what a callee does: for a call, the slots
    /// that take return values.
    fn writes(&self, edge: Edge, slots: &mut Vec<Slot>);

    /// Adds the return values that a call uses: the callee's slot and the caller's slot that
    /// takes it. No caller's slot occurs twice.
    fn results(&self, call: Edge, results: &mut Vec<(Slot, Slot)>);

    /// Whether a call uses any return value.
    fn has_results(&self, call: Edge) -> bool {
        let mut results = Vec::new();
        self.results(call, &mut results);
        !results.is_empty()
    }

    /// The relation between the current values of slots and the next values of those that the
    /// edge writes. What it does not write keeps its value and is not mentioned.
    fn transfer(&mut self, edge: Edge, from: Bdd, space: &mut Space) -> Result<Bdd, Stopped>;

    /// The relation between the caller's current values and the next values of the callee's
    /// formals.
    fn arguments(&mut self, call: Edge, from: Bdd, space: &mut Space) -> Result<Bdd, Stopped>;

    /// What holds of the current values in every state of the procedure (`enforce`): executions
    /// that would leave it are no executions.
    fn invariant(&mut self, procedure: Proc, space: &mut Space) -> Result<Bdd, Stopped>;

    /// Whether [`Supergraph::invariant`] can be anything but true.
    fn has_invariants(&self) -> bool {
        true
    }

    /// Adds every slot that [`Supergraph::invariant`] reads.
    fn invariant_reads(&self, procedure: Proc, slots: &mut Vec<Slot>);

    /// Gives every diagram that the supergraph holds on to, so that it outlives a collection.
    fn roots(&self, visit: &mut dyn FnMut(Bdd));
}

/// The slots of a procedure's frame, by what they are.
pub(crate) struct Frame {
    /// All globals.
    pub(crate) globals: Range<u32>,
    /// Its parameters.
    pub(crate) formals: Range<u32>,
    /// Its return values.
    pub(crate) returns: Range<u32>,
    /// Its other variables.
    pub(crate) locals: Range<u32>,
}

impl Frame {
    pub(crate) fn of(graph: &impl Supergraph, procedure: Proc) -> Frame {
        let globals = graph.globals();
        let Procedure {
            formals,
            returns,
            locals,
            ..
        } = graph.procedure(procedure);
        let formals = globals..globals + formals;
        let returns = formals.end..formals.end + returns;
        let locals = returns.end..returns.end + locals;
        Frame {
            globals: 0..globals,
            formals,
            returns,
            locals,
        }
    }

    /// Every slot in scope.
    pub(crate) fn scope(&self) -> Range<u32> {
        0..self.locals.end
    }
}
