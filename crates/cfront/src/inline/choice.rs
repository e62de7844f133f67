//! Which calls are inlined.

use super::Limits;
use crate::call_graph::{calls_of, recursive};
use crate::ids::{EdgeId, ExprId, FuncId, LocId, PlaceId, TypeId, VarId};
use crate::program::{Lifetime, Op, Program};
use crate::types::Type;
use std::collections::{BTreeSet, HashMap};

/// The calls that are replaced. Callees are decided before their callers, so that it is known how
/// large they become.
pub(super) fn inlined_calls(
    program: &Program,
    limits: &Limits,
    apart: &BTreeSet<FuncId>,
) -> BTreeSet<EdgeId> {
    let graph = CallGraph::new(program);
    let mut inlined = BTreeSet::new();
    let mut sizes: HashMap<FuncId, usize> = HashMap::new();
    for &function in &graph.order {
        let edges = || {
            let locations = program.function(function).locations.clone();
            locations.flat_map(|location| program.edges_from(LocId(location)))
        };
        let mut size = edges().count();
        for (id, edge) in edges() {
            let stays = |targets: &[FuncId]| targets.iter().all(|target| apart.contains(target));
            if matches!(&edge.op, Op::Call { callee, .. } if stays(callee.targets())) {
                continue;
            }
            if let Some(more) = growth(program, limits, &graph, &sizes, &edge.op)
                && size + more <= limits.function
            {
                size += more;
                inlined.insert(id);
            }
        }
        sizes.insert(function, size);
    }
    inlined
}

/// By how many edges a function grows if an edge of it is replaced; `None` if it is no call or
/// must stay.
fn growth(
    program: &Program,
    limits: &Limits,
    graph: &CallGraph,
    sizes: &HashMap<FuncId, usize>,
    op: &Op,
) -> Option<usize> {
    let Op::Call {
        callee,
        arguments,
        result,
    } = op
    else {
        return None;
    };
    let targets = callee.targets();
    if targets.is_empty() || targets.len() > limits.targets {
        return None;
    }
    let mut growth = 0;
    for target in targets {
        let size = *sizes.get(target)?;
        let once = graph.sites.get(target) == Some(&1);
        if graph.recursive[target.index()]
            || !fits(program, *target, arguments, *result)
            || (!once && size > limits.shared)
            || holds_its_frame(program, *target)
        {
            return None;
        }
        growth += size;
    }
    Some(growth)
}

/// Whether arguments and result are just what the function takes and gives.
fn fits(program: &Program, target: FuncId, arguments: &[ExprId], result: Option<PlaceId>) -> bool {
    let function = program.function(target);
    let formal = |&formal: &VarId| program.variable(formal).ty;
    let given = |&argument: &ExprId| program.expr(argument).ty;
    let complete = |ty: TypeId| !matches!(program.types.get(ty), Type::Void);
    let formals: Vec<TypeId> = function.formals.iter().map(formal).collect();
    arguments.len() >= formals.len()
        && arguments
            .iter()
            .map(given)
            .zip(&formals)
            .all(|(a, b)| a == *b && complete(a))
        && match (result, function.result) {
            (Some(place), Some(held)) => program.place(place).ty == program.variable(held).ty,
            (Some(_), None) => false,
            (None, _) => true,
        }
}

/// Whether a function has something that lives until its frame ends, and so cannot live until the
/// caller's does.
fn holds_its_frame(program: &Program, function: FuncId) -> bool {
    let mut locations = program.function(function).locations.clone();
    locations.any(|location| {
        program.edges_from(LocId(location)).any(|(_, edge)| {
            matches!(
                edge.op,
                Op::Allocate {
                    lifetime: Lifetime::Frame,
                    ..
                }
            )
        })
    })
}

/// Who calls whom, as far as the entry function leads.
struct CallGraph {
    /// The functions that can be called, callees before callers wherever there is no recursion.
    order: Vec<FuncId>,
    /// For every function, whether it may be active more than once at a time.
    recursive: Vec<bool>,
    /// How many edges call each function.
    sites: HashMap<FuncId, usize>,
}

impl CallGraph {
    fn new(program: &Program) -> CallGraph {
        let mut graph = CallGraph {
            order: Vec::new(),
            recursive: recursive(program),
            sites: HashMap::new(),
        };
        let mut callees: HashMap<FuncId, Vec<FuncId>> = HashMap::new();
        let mut stack: Vec<(FuncId, usize)> = Vec::new();
        let open = |function: FuncId, callees: &mut HashMap<FuncId, Vec<FuncId>>| {
            callees.insert(function, calls_of(program, function).collect());
            (function, 0)
        };
        stack.push(open(program.entry, &mut callees));
        while let Some((function, next)) = stack.last_mut() {
            let function = *function;
            match callees[&function].get(*next).copied() {
                Some(callee) => {
                    *next += 1;
                    *graph.sites.entry(callee).or_default() += 1;
                    if !callees.contains_key(&callee) {
                        stack.push(open(callee, &mut callees));
                    }
                }
                None => {
                    graph.order.push(function);
                    stack.pop();
                }
            }
        }
        graph
    }
}
