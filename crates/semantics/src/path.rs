//! Paths: a run along given edges, calls entered and left.

use crate::Semantics;
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::{Callee, LocationKind, Op};

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathStep {
    /// Takes an edge that is not a call.
    Edge(EdgeId),
    /// Enters the function that a call edge calls.
    Enter(EdgeId, FuncId),
    /// Returns from the function entered last.
    Leave,
}

/// The steps of an execution given as the edges that were taken, call edges among them: a call is
/// entered where the next edge starts in another function, and left where the exit is reached.
pub fn steps_of(semantics: &Semantics<'_>, edges: &[EdgeId]) -> Vec<PathStep> {
    let program = semantics.program;
    let mut steps = Vec::with_capacity(edges.len());
    let mut returns: Vec<LocId> = Vec::new();
    for (index, &id) in edges.iter().enumerate() {
        let edge = &program.edges[id.index()];
        if let Op::Call { callee, .. } = &edge.op {
            let entered = match callee {
                Callee::Direct(callee) => Some(*callee),
                Callee::Indirect { targets, .. } => edges
                    .get(index + 1)
                    .map(|next| &program.edges[next.index()])
                    .map(|next| program.locations[next.from.index()].function)
                    .filter(|function| targets.contains(function)),
            };
            if let Some(callee) = entered {
                steps.push(PathStep::Enter(id, callee));
                returns.push(edge.to);
                // A body without edges is left at once.
                let function = program.function(callee);
                if function.entry == function.exit {
                    steps.push(PathStep::Leave);
                    returns.pop();
                }
            }
            continue;
        }
        steps.push(PathStep::Edge(id));
        let mut at = edge.to;
        while program.locations[at.index()].kind == LocationKind::Exit {
            match returns.pop() {
                Some(back) => {
                    steps.push(PathStep::Leave);
                    at = back;
                }
                None => break,
            }
        }
    }
    steps
}
