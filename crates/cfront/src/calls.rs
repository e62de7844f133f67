//! The targets of indirect calls: what points-to says, as far as the types fit.

use crate::ids::{EdgeId, ExprId, FuncId, LocId, TypeId};
use crate::mismatch::{self, Elsewhere, Others};
use crate::options::{LowerOptions, Undefined};
use crate::points_to::{self, PointsTo};
use crate::program::{
    Assumption, BinaryOp, Callee, CheckKind, ExprKind, Gap, Initial, InitialValue, LocationKind,
    Op, Program, Unsupported,
};
use crate::types::{Type, Types, Variadic};
use hardbop_budget::{Budget, Stopped};
use std::collections::{BTreeSet, HashMap};

/// What is assumed of calls through pointers of which nothing is known.
const UNKNOWN_CALLEE: &str =
    "a call through a pointer to a function outside of the program returns anything";

/// What is assumed of pointers that come from outside.
const OUTSIDE_POINTER: &str = "a function pointer that comes from outside points to a function of its type that the \
     program names";

/// What is assumed where points-to finds functions of other types beside those of the right one.
const OWN_TYPE: &str =
    "functions are called through pointers of their own type, unless a cast says otherwise";

/// So many functions of another type may all be meant.
const FEW: usize = 4;

/// Fills in the targets of all indirect calls. A pointer that may point to no known function
/// calls any function of its type whose address is taken; if there is none, the call is like one
/// of an undefined function.
pub(crate) fn resolve(
    program: &mut Program,
    options: &LowerOptions,
    budget: &Budget,
) -> Result<PointsTo, Stopped> {
    let taken = taken_functions(program);
    let mut assumed = BTreeSet::new();
    let points_to = loop {
        let points_to = points_to::analyse(program, budget)?;
        // What points-to itself finds, it has taken into account; what is found by type, it has not.
        let mut changed = false;
        for index in 0..program.edges.len() {
            let Op::Call {
                callee: Callee::Indirect { pointer, targets },
                ..
            } = &program.edges[index].op
            else {
                continue;
            };
            let wanted = called_type(program, *pointer);
            let edge = EdgeId(index as u32);
            let fits = |f: &FuncId| {
                wanted.is_none_or(|wanted| {
                    fits(&program.types, wanted, program.functions[f.index()].ty)
                })
            };
            let mut found: Vec<FuncId> = points_to
                .targets(edge)
                .iter()
                .copied()
                .filter(|f| fits(f))
                .collect();
            if found.is_empty() {
                found = taken.iter().copied().filter(|f| fits(f)).collect();
                if !found.is_empty() {
                    assumed.insert(OUTSIDE_POINTER);
                }
                changed |= found != *targets;
            }
            found.sort_unstable();
            found.dedup();
            if let Op::Call {
                callee: Callee::Indirect { targets, .. },
                ..
            } = &mut program.edges[index].op
            {
                *targets = found;
            }
        }
        if !changed {
            break points_to;
        }
    };
    if calls_beside_outside(program, &points_to) {
        assumed.insert(OUTSIDE_POINTER);
    }
    let checked = check_callees(program, &points_to);
    let dispatched = dispatch_unfit(program, &points_to, options, &mut assumed);
    let replaced = replace_unknown(program, options.undefined, &mut assumed);
    let changed = checked || dispatched || replaced;
    for text in assumed {
        program.assumptions.push(Assumption::Model {
            text: text.to_owned(),
        });
    }
    match changed {
        true => points_to::analyse(program, budget),
        false => Ok(points_to),
    }
}

/// Whether a pointer that is called may lead to functions of the program, and may come from
/// outside as well.
fn calls_beside_outside(program: &Program, points_to: &PointsTo) -> bool {
    program.edges.iter().any(|edge| {
        let Op::Call {
            callee: Callee::Indirect { pointer, .. },
            ..
        } = &edge.op
        else {
            return false;
        };
        let spot = points_to.pointer(*pointer);
        let class = spot.map(|spot| &points_to.classes()[spot.class.0 as usize]);
        class.is_some_and(|class| class.external && !class.functions.is_empty())
    })
}

/// Where a call has a check that its pointer is not null, makes it one that the pointer is a
/// function's that it may point to. Says whether there was one.
fn check_callees(program: &mut Program, points_to: &PointsTo) -> bool {
    let mut changed = false;
    let mut calls: HashMap<LocId, (ExprId, Vec<FuncId>)> = HashMap::new();
    for (index, edge) in program.edges.iter().enumerate() {
        if let Op::Call {
            callee: Callee::Indirect { pointer, .. },
            ..
        } = &edge.op
        {
            let targets = points_to.targets(EdgeId(index as u32));
            if !targets.is_empty() {
                calls.insert(edge.from, (*pointer, targets.to_vec()));
            }
        }
    }
    for index in 0..program.edges.len() {
        let edge = &program.edges[index];
        let Op::Assume {
            condition,
            holds: false,
        } = edge.op
        else {
            continue;
        };
        let from = edge.from;
        let Some((pointer, targets)) = calls.get(&edge.to) else {
            continue;
        };
        let is_null_test = matches!(
            program.expr(condition).kind,
            ExprKind::Binary(BinaryOp::Eq, tested, _) if tested == *pointer
        );
        let bad = program.edges_from(from).find(|(_, other)| {
            let Op::Assume {
                condition: c,
                holds: true,
            } = other.op
            else {
                return false;
            };
            let LocationKind::Error(check) = program.locations[other.to.index()].kind else {
                return false;
            };
            c == condition && program.checks[check.index()].kind == CheckKind::Pointer
        });
        let Some((bad, _)) = bad.filter(|_| is_null_test) else {
            continue;
        };
        let condition = is_one_of(program, *pointer, targets);
        program.edges[index].op = Op::Assume {
            condition,
            holds: true,
        };
        program.edges[bad.index()].op = Op::Assume {
            condition,
            holds: false,
        };
        changed = true;
    }
    changed
}

/// Whether a pointer is the address of one of some functions.
pub(crate) fn is_one_of(program: &mut Program, pointer: ExprId, targets: &[FuncId]) -> ExprId {
    let ty = program.expr(pointer).ty;
    let int = program.types.int(32, true);
    let mut add = |kind, ty| program.add_expr(kind, ty);
    let mut any = None;
    for &target in targets {
        let address = add(ExprKind::Function(target), ty);
        let equal = add(ExprKind::Binary(BinaryOp::Eq, pointer, address), int);
        any = Some(match any {
            Some(any) => add(ExprKind::Binary(BinaryOp::Or, any, equal), int),
            None => equal,
        });
    }
    any.unwrap_or_else(|| add(ExprKind::Int(0), int))
}

/// Sends calls that may reach functions of another type through what tells these apart: they must
/// not be dropped. Calls of what is not known go there too, for null is known.
fn dispatch_unfit(
    program: &mut Program,
    points_to: &PointsTo,
    options: &LowerOptions,
    assumed: &mut BTreeSet<&'static str>,
) -> bool {
    let mut changed = false;
    let cast = cast_functions(program, points_to);
    let asked = options.wants(CheckKind::Pointer);
    for index in 0..program.edges.len() {
        let Op::Call {
            callee: Callee::Indirect { pointer, targets },
            ..
        } = &program.edges[index].op
        else {
            continue;
        };
        let edge = EdgeId(index as u32);
        let found = points_to.targets(edge);
        let mut unfit: Vec<FuncId> = match called_type(program, *pointer) {
            Some(wanted) => found
                .iter()
                .copied()
                .filter(|f| !fits(&program.types, wanted, program.functions[f.index()].ty))
                .filter(|f| !targets.contains(f))
                .collect(),
            None => Vec::new(),
        };
        // Objects that points-to cannot tell apart bring functions of all their members here.
        let all = unfit.len();
        if all < found.len() || all > FEW {
            unfit.retain(|function| cast.contains(function));
        }
        if unfit.len() < all {
            assumed.insert(OWN_TYPE);
        }
        // Whether a pointer is wild of which points-to knows nothing cannot be said.
        let elsewhere = match asked && found.is_empty() {
            true => Elsewhere::Unsupported,
            false => Elsewhere::Targets,
        };
        let known = !targets.is_empty() && elsewhere == Elsewhere::Targets;
        if unfit.is_empty() && known {
            continue;
        }
        let others = if all < found.len() {
            Others::Fit
        } else {
            Others::None
        };
        mismatch::dispatch(program, edge, &unfit, others, elsewhere);
        changed = true;
    }
    changed
}

/// The functions whose addresses are cast to another type: a pointer of a function's type points
/// to one of that type until then.
fn cast_functions(program: &Program, points_to: &PointsTo) -> BTreeSet<FuncId> {
    let mut cast = BTreeSet::new();
    for expr in &program.exprs {
        let ExprKind::Convert(operand) = expr.kind else {
            continue;
        };
        let Some(spot) = points_to.pointer(operand) else {
            continue;
        };
        let to = pointed_function(&program.types, expr.ty);
        let from = pointed_function(&program.types, program.expr(operand).ty);
        // What comes as something else was cast from a function's type before.
        let Some(from) = from.filter(|_| from != to) else {
            continue;
        };
        let class = &points_to.classes()[spot.class.0 as usize];
        cast.extend(class.functions.iter().copied().filter(|function| {
            let own = program.function(*function).ty;
            let comes = fits(&program.types, from, own);
            let stays = to.is_some_and(|to| fits(&program.types, to, own));
            comes && !stays
        }));
    }
    cast
}

/// Replaces calls without a target.
fn replace_unknown(
    program: &mut Program,
    undefined: Undefined,
    assumed: &mut BTreeSet<&'static str>,
) -> bool {
    let mut changed = false;
    for index in 0..program.edges.len() {
        let edge = &program.edges[index];
        let Op::Call {
            callee: Callee::Indirect { targets, .. },
            result,
            ..
        } = &edge.op
        else {
            continue;
        };
        if !targets.is_empty() {
            continue;
        }
        changed = true;
        let op = match (undefined, result) {
            (Undefined::Pure, Some(place)) => Op::Havoc { place: *place },
            (Undefined::Pure, None) => Op::Skip,
            (Undefined::Havoc, _) => {
                let construct = program.unsupported.len() as u32;
                let what = "a call through a pointer that points to no known function".to_owned();
                program.unsupported.push(Unsupported {
                    what,
                    source: edge.source,
                    gap: Gap::Everywhere,
                });
                Op::Unsupported { construct }
            }
        };
        if undefined == Undefined::Pure {
            assumed.insert(UNKNOWN_CALLEE);
        }
        program.edges[index].op = op;
    }
    changed
}

/// The functions whose address is taken, in order.
fn taken_functions(program: &Program) -> BTreeSet<FuncId> {
    let mut taken: BTreeSet<FuncId> = program
        .exprs
        .iter()
        .filter_map(|expr| match expr.kind {
            ExprKind::Function(function) => Some(function),
            _ => None,
        })
        .collect();
    for variable in &program.variables {
        let Initial::Data(parts) = &variable.initial else {
            continue;
        };
        for part in parts {
            if let InitialValue::Scalar(expr) = part.value
                && let ExprKind::Function(function) = program.expr(expr).kind
            {
                taken.insert(function);
            }
        }
    }
    taken
}

fn called_type(program: &Program, pointer: ExprId) -> Option<TypeId> {
    pointed_function(&program.types, program.expr(pointer).ty)
}

/// The type of function that a type points to.
fn pointed_function(types: &Types, ty: TypeId) -> Option<TypeId> {
    match types.get(ty) {
        Type::Pointer(to) if matches!(types.get(*to), Type::Function { .. }) => Some(*to),
        _ => None,
    }
}

/// Whether a function of type `given` can be called as one of type `wanted`: as many parameters,
/// passed in the same way. Real code casts pointers to structs freely, so only sizes count.
fn fits(types: &Types, wanted: TypeId, given: TypeId) -> bool {
    if wanted == given {
        return true;
    }
    let (
        Type::Function {
            result: wr,
            parameters: wp,
            variadic: wv,
        },
        Type::Function {
            result: gr,
            parameters: gp,
            variadic: gv,
        },
    ) = (types.get(wanted), types.get(given))
    else {
        return false;
    };
    let unprototyped = |parameters: &[TypeId], variadic: Variadic| {
        parameters.is_empty() && variadic == Variadic::Yes
    };
    if !matches!(types.get(*wr), Type::Void) && !matches!(types.get(*gr), Type::Void) {
        if !alike(types, *wr, *gr) {
            return false;
        }
    } else if !matches!(types.get(*wr), Type::Void) {
        // The caller would use a value that is not there.
        return false;
    }
    if unprototyped(gp, *gv) {
        return true;
    }
    // Such a call does not say which of its arguments are further ones.
    if unprototyped(wp, *wv) {
        return *gv == Variadic::No;
    }
    wp.len() == gp.len() && wv == gv && wp.iter().zip(gp).all(|(&a, &b)| alike(types, a, b))
}

fn alike(types: &Types, a: TypeId, b: TypeId) -> bool {
    if a == b {
        return true;
    }
    let whole = |id: TypeId| {
        matches!(
            types.get(id),
            Type::Bool | Type::Int { .. } | Type::Pointer(_)
        )
    };
    whole(a) && whole(b) && types.size_of(a) == types.size_of(b)
}
