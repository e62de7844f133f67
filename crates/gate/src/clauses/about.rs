//! In comes a claim of clauses; out comes whether what it names exists in the program.

use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::{Op, Program};
use hardbop_engine::claim::{Clauses, Mark};
use hardbop_model::points::Around;

/// Whether all that a claim speaks of is in the program.
pub(super) fn is_about(program: &Program, claim: &Clauses) -> bool {
    let location = |at: LocId| at.index() < program.locations.len();
    let call = |edge: EdgeId, callee: FuncId| match program.edges.get(edge.index()) {
        Some(edge) => match &edge.op {
            Op::Call { callee: how, .. } => how.targets().contains(&callee),
            _ => false,
        },
        None => false,
    };
    let around = |around: &Around| match *around {
        Around::Start => true,
        Around::Call(_, edge, callee) => call(edge, callee),
        Around::Loop(_, head, _) => location(head),
    };
    let mark = |&(_, mark): &(u32, Mark)| match mark {
        Mark::Free(meet) => location(meet),
        Mark::Decided(_) | Mark::Refused(_) => true,
    };
    let points = &claim.points;
    points.contexts.iter().all(around)
        && points.points.iter().all(|&(_, at)| location(at))
        && claim
            .clauses
            .iter()
            .all(|clause| clause.marks.iter().all(mark))
}
