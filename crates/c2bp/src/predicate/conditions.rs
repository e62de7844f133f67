//! Predicates from the program's own conditions: the atoms of what it branches on.

use super::{PredicateSet, Scope};
use hardbop_cfront::ids::{ExprId, FuncId};
use hardbop_cfront::operands::{Operand, each_below};
use hardbop_cfront::program::{
    BinaryOp, ExprKind, Op, Origin, PlaceKind, Program, UnaryOp, VarKind,
};
use std::collections::BTreeSet;

pub(super) fn add(set: &mut PredicateSet) {
    let mut found: Vec<(Scope, ExprId)> = Vec::new();
    let program = set.program();
    let mut seen: BTreeSet<ExprId> = BTreeSet::new();
    for edge in &program.edges {
        let function = program.locations[edge.from.index()].function;
        // The models of library functions have conditions of no interest to the user.
        if program.function(function).origin != Origin::User {
            continue;
        }
        if let Op::Assume { condition, .. } = edge.op
            && seen.insert(condition)
        {
            atoms(program, function, condition, &mut found);
        }
    }
    for (scope, expr) in found {
        set.add(scope, expr);
    }
}

/// The parts of a condition between `&&`, `||` and `!`.
fn atoms(program: &Program, function: FuncId, condition: ExprId, out: &mut Vec<(Scope, ExprId)>) {
    let mut pending = vec![condition];
    while let Some(expr) = pending.pop() {
        match program.expr(expr).kind {
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
                pending.extend([right, left]);
            }
            ExprKind::Unary(UnaryOp::Not, operand) => pending.push(operand),
            ExprKind::Convert(operand) if is_truth(program, operand) => pending.push(operand),
            _ => {
                if let Some(scope) = scope_of(program, function, expr) {
                    out.push((scope, expr));
                }
            }
        }
    }
}

fn is_truth(program: &Program, expr: ExprId) -> bool {
    match program.expr(expr).kind {
        ExprKind::Binary(op, ..) => matches!(
            op,
            BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge
        ),
        ExprKind::Unary(op, _) => op == UnaryOp::Not,
        _ => false,
    }
}

/// Where an atom is well formed; `None` for constants and for what has no C text.
fn scope_of(program: &Program, function: FuncId, expr: ExprId) -> Option<Scope> {
    let mut scope = Scope::Global;
    let mut variables = 0;
    let mut has_text = true;
    each_below(
        program,
        [Operand::Expr(expr)],
        &mut |operand| match operand {
            Operand::Place(place) => {
                if let PlaceKind::Var(variable) = program.place(place).kind {
                    variables += 1;
                    match program.variable(variable).kind {
                        VarKind::Global | VarKind::Literal => {}
                        _ => scope = Scope::Function(function),
                    }
                }
            }
            Operand::Expr(expr) => {
                has_text &= !matches!(
                    program.expr(expr).kind,
                    ExprKind::Overflows { .. }
                        | ExprKind::ValidAccess { .. }
                        | ExprKind::ValidFree { .. }
                        | ExprKind::PointsToConstant { .. }
                        | ExprKind::HeapIs { .. }
                        | ExprKind::ObjectSize { .. }
                        | ExprKind::Open { .. }
                );
            }
        },
    );
    (has_text && variables > 0).then_some(scope)
}
