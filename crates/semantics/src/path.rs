//! Paths: a run along given edges, calls entered and left, as one conjunction.

use crate::Semantics;
use crate::exec::{Execution, Unmodelled};
use crate::state::{Fresh, State};
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::{Callee, LocationKind, Op};
use hardbop_logic::{TermId, Terms};

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

/// Where a path starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// At the start of the program.
    Start,
    /// In any state.
    AnyState,
}

/// The formula of a path.
#[derive(Clone, Debug)]
pub struct PathFormula {
    /// For every step what it requires: its condition and the facts that it adds. All of them
    /// together with [`Semantics::axioms`] are satisfiable if the path can be run.
    pub steps: Vec<TermId>,
    /// The state after every step.
    pub states: Vec<State>,
    /// The unknown values met on the way, in order, each with the step that met it.
    pub fresh: Vec<(usize, Fresh)>,
    /// Whether every model is a run.
    pub exact: bool,
}

/// The formula of a path.
pub fn path(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    from: From,
    steps: &[PathStep],
) -> Result<PathFormula, Unmodelled> {
    let mut run = Execution::new(semantics);
    if from == From::Start {
        run.start(terms);
    }
    let mut formula = PathFormula {
        steps: Vec::with_capacity(steps.len()),
        states: Vec::with_capacity(steps.len()),
        fresh: Vec::new(),
        exact: true,
    };
    let mut known_fresh = 0;
    for (index, step) in steps.iter().enumerate() {
        let condition = match *step {
            PathStep::Edge(edge) => run.edge(terms, edge)?,
            PathStep::Enter(call, callee) => run.enter(terms, call, callee),
            PathStep::Leave => {
                run.leave(terms);
                terms.bool(true)
            }
        };
        let mut conjuncts = std::mem::take(&mut run.facts);
        conjuncts.push(condition);
        formula.steps.push(terms.and(&conjuncts));
        formula.states.push(run.state.clone());
        formula
            .fresh
            .extend(run.fresh[known_fresh..].iter().cloned().map(|f| (index, f)));
        known_fresh = run.fresh.len();
    }
    formula.exact = run.exact;
    Ok(formula)
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
