//! One round's search: Bebop on the abstract program, a path or the reachable states as invariants.

use crate::lazy::Abstraction;
use hardbop_bebop::bdd::Bdd;
use hardbop_bebop::space::{Copy, Space};
use hardbop_bebop::supergraph::Vertex;
use hardbop_bebop::{Engine as Bebop, Expand, Move, SlotOrder, Tracking, Until, slot_order};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::LocId;
use hardbop_logic::TermId;
use hardbop_semantics::segment::Segment;
use hardbop_semantics::skeleton::{
    Point, ProcedureId, Skeleton, SkeletonEdgeId, SkeletonEdgeKind, VertexId,
};
use std::collections::BTreeMap;

/// What a round of checking found.
pub(crate) enum AbstractAnswer {
    /// A way to a vertex; `None` if it is too long to be looked at.
    Path(VertexId, Option<Vec<Segment>>),
    /// No way to any target; the invariant at every reachable location.
    Nothing(BTreeMap<LocId, TermId>),
}

/// The longest path that is looked at.
const MAX_STEPS: usize = 4_000;
/// The most cubes of one invariant.
const MAX_CUBES: usize = 20_000;

/// Searches the abstract program for a way to one of the targets.
pub(crate) fn search(
    graph: &mut Abstraction<'_, '_>,
    targets: Vec<Vertex>,
    budget: &Budget,
    skeleton: &Skeleton,
) -> Result<AbstractAnswer, Stopped> {
    let order = slot_order(graph, SlotOrder::default());
    let mut space = Space::new(&order, budget.clone());
    let mut engine = Bebop::new(graph, &mut space, Tracking::default())?;
    engine.run(graph, &mut space, &Until::OneOf(targets.clone()))?;
    if let Some(&target) = targets.iter().find(|&&target| engine.is_reached(target)) {
        let trace = engine.trace(graph, &mut space, target, Expand::Steps(MAX_STEPS))?;
        if let Some(trace) = trace {
            let mut segments = Vec::new();
            for step in &trace.steps {
                let edge = match step.leaves {
                    Move::Along(edge)
                    | Move::Into(edge)
                    | Move::Return(edge)
                    | Move::Over(edge) => edge,
                    Move::End => break,
                };
                match (step.leaves, skeleton.edge(SkeletonEdgeId(edge.0)).kind) {
                    (Move::Into(_), SkeletonEdgeKind::Call(None, main)) => {
                        segments.push(Segment::Start(main));
                    }
                    (Move::Along(_), SkeletonEdgeKind::Block(from, to)) => {
                        segments.push(Segment::Block(from, to));
                    }
                    (Move::Into(_), SkeletonEdgeKind::Call(Some(call), callee)) => {
                        segments.push(Segment::Enter(call, callee));
                    }
                    (Move::Return(_), SkeletonEdgeKind::Call(Some(call), callee)) => {
                        segments.push(Segment::Leave(call, callee));
                    }
                    _ => {}
                }
            }
            let closed = trace
                .steps
                .iter()
                .any(|step| matches!(step.leaves, Move::Over(_)));
            return Ok(AbstractAnswer::Path(
                VertexId(target.0),
                (!closed).then_some(segments),
            ));
        }
    }
    let mut invariants = BTreeMap::new();
    for (id, vertex) in skeleton.numbered_vertices() {
        let Point::At(location) = vertex.point else {
            continue;
        };
        let edges = engine.path_edges(Vertex(id.0));
        if edges.is_false() {
            continue;
        }
        let formula = invariant(graph, &mut space, vertex.procedure, edges)?;
        invariants.insert(location, formula);
    }
    Ok(AbstractAnswer::Nothing(invariants))
}

/// A set of path edges as a formula over current and entry values.
fn invariant(
    graph: &mut Abstraction<'_, '_>,
    space: &mut Space,
    procedure: ProcedureId,
    edges: Bdd,
) -> Result<TermId, Stopped> {
    let Some(cubes) = space.bdds.cubes(edges, edges, MAX_CUBES)? else {
        return Ok(graph.always());
    };
    let mut disjuncts = Vec::new();
    for cube in cubes {
        let mut literals = Vec::new();
        for literal in cube {
            let (slot, copy) = Space::slot(literal.var);
            if let Some(term) = graph.literal(procedure, slot, copy == Copy::Entry, literal.value) {
                literals.push(term);
            }
        }
        disjuncts.push(literals);
    }
    Ok(graph.disjunction(disjuncts))
}
