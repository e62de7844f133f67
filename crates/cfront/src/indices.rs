//! Indices that may leave an array which is a part of an object.
//!
//! Such an index names something else in the object. The logic keeps the parts of objects apart, so
//! lowering has it stop there ([`Gap::Logic`]), and what is proved of a program is proved of indices
//! that stay inside, too. Where they do not, or nobody can tell, the program can be *opened*: control
//! goes on behind such an index, and points-to no longer tells apart what lies in objects that have
//! one. In comes a program, out comes the same one, opened; it has the same locations and edges.

use crate::call_graph::callable;
use crate::ids::{EdgeId, LocId};
use crate::points_to::{self, PointsTo};
use crate::program::{Callee, ExprKind, Gap, Op, PlaceKind, Program};
use hardbop_budget::{Budget, Stopped};

/// Where an index that is not a constant may lead, in an array that is a part of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Indices {
    /// To an element: what comes behind any other is not supported by the logic.
    #[default]
    Confined,
    /// Anywhere in the object.
    Anywhere,
}

/// A program in which indices may lead anywhere in their objects.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The program.
    pub program: Program,
    /// Where its pointers may point.
    pub points_to: PointsTo,
}

/// Opens a program of which it is known where its pointers point; `None` if it has no index that
/// might leave its array, or if other functions might be called then.
pub fn open(
    program: &Program,
    points_to: &PointsTo,
    budget: &Budget,
) -> Result<Option<Opened>, Stopped> {
    if !stops_at_indices(program) {
        return Ok(None);
    }
    let mut open = program.clone();
    open.indices = Indices::Anywhere;
    for edge in &mut open.edges {
        if let Op::Unsupported { construct } = edge.op
            && program.unsupported[construct as usize].gap == Gap::Logic
        {
            edge.op = Op::Skip;
        }
    }
    let found = points_to::analyse(&open, budget)?;
    let stands = calls_the_same(program, points_to, &found) && forgets_offsets(&open, &found);
    Ok(stands.then_some(Opened {
        program: open,
        points_to: found,
    }))
}

/// Whether code that can be called has an index at which the logic may stop.
fn stops_at_indices(program: &Program) -> bool {
    let stops = |op: &Op| match *op {
        Op::Unsupported { construct } => program.unsupported[construct as usize].gap == Gap::Logic,
        _ => false,
    };
    callable(program).into_iter().any(|function| {
        let mut locations = program.function(function).locations.clone();
        locations.any(|location| {
            let mut edges = program.edges_from(LocId(location));
            edges.any(|(_, edge)| stops(&edge.op))
        })
    })
}

/// Whether pointers lead to no other functions than before: calls know those only.
fn calls_the_same(program: &Program, before: &PointsTo, after: &PointsTo) -> bool {
    program.edges.iter().enumerate().all(|(index, edge)| {
        let Op::Call {
            callee: Callee::Indirect { targets, .. },
            ..
        } = &edge.op
        else {
            return true;
        };
        let id = EdgeId(index as u32);
        let known = |function| before.targets(id).contains(function) || targets.contains(function);
        after.targets(id).iter().all(known)
    })
}

/// Whether what lies in an object is not told apart wherever an index may lead anywhere in it.
pub(crate) fn forgets_offsets(program: &Program, points_to: &PointsTo) -> bool {
    let mut places = program.places.iter().enumerate();
    places.all(|(index, place)| {
        let PlaceKind::Index(base, by) = place.kind else {
            return true;
        };
        let inside = matches!(program.place(base).kind, PlaceKind::Var(_));
        let constant = matches!(program.expr(by).kind, ExprKind::Int(_));
        inside
            || constant
            || points_to
                .place(crate::ids::PlaceId(index as u32))
                .is_none_or(|spot| points_to.classes()[spot.class.0 as usize].collapsed)
    })
}
