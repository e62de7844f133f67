//! What `sizeof` does not evaluate, or does.
//!
//! The type checker keeps the size and drops the operand. That is right but in two places: of an
//! operand whose size is computed, the side effects happen; and gcc gives the value of an
//! assignment to a bit-field a type of its own. Nor does it take qualifiers from what a cast gives.

use rucc_ast::{Ast, Derived, Expr, ExprId, Quals, UnaryOp};
use rucc_base::{Interner, Symbol};
use rucc_diag::{Diagnostic, Span};
use std::collections::HashSet;

/// Where `sizeof` stands before an operand with side effects.
pub(super) fn effectful_sizes(ast: &Ast) -> HashSet<Span> {
    sizes(ast)
        .filter(|&(_, operand)| has_effects(ast, operand))
        .map(|(id, _)| ast.expr_span(id))
        .collect()
}

/// Refuses the size of what is assigned to a bit-field: gcc takes the size that its bits need.
pub(super) fn refused(
    ast: &Ast,
    types: &rucc_types::Types,
    names: &Interner,
) -> Option<Diagnostic> {
    let mut fields: HashSet<&str> = HashSet::new();
    for (_, record) in types.records() {
        for field in &record.fields {
            if let (Some(name), true) = (field.name, field.is_bit_field()) {
                fields.insert(names.resolve(name));
            }
        }
    }
    if fields.is_empty() {
        return None;
    }
    let is_bits = |name: Symbol| fields.contains(names.resolve(name));
    let (id, _) = sizes(ast).find(|&(_, operand)| is_bit_field(ast, operand, &is_bits))?;
    let message = "the size of what is assigned to a bit-field is not supported";
    Some(Diagnostic::error(message, ast.expr_span(id)))
}

/// Refuses a choice by the type of a cast to a qualified type: the type checker keeps qualifiers that
/// values do not have.
pub(super) fn qualified_choice(ast: &Ast) -> Option<Diagnostic> {
    let is_qualified = |control: ExprId| {
        let Expr::Cast { ty, .. } = ast[control] else {
            return false;
        };
        let name = ast[ty];
        match ast[ast[name.declarator].derived].first() {
            None => ast[name.specs].quals != Quals::NONE,
            Some(Derived::Pointer { quals, .. }) => *quals != Quals::NONE,
            Some(_) => false,
        }
    };
    let id = (0..ast.counts().exprs)
        .map(ExprId::from_usize)
        .find(|&id| matches!(ast[id], Expr::Generic { control, .. } if is_qualified(control)))?;
    let message = "not supported: a choice by the type of a cast to a qualified type";
    Some(Diagnostic::error(message, ast.expr_span(id)))
}

/// Every `sizeof` of an expression, with its operand.
fn sizes(ast: &Ast) -> impl Iterator<Item = (ExprId, ExprId)> {
    (0..ast.counts().exprs).filter_map(|index| {
        let id = ExprId::from_usize(index);
        match ast[id] {
            Expr::SizeofExpr(operand) => Some((id, operand)),
            _ => None,
        }
    })
}

/// Whether an expression may be a bit-field's value that was not promoted. A bit-field itself has
/// no size.
fn is_bit_field(ast: &Ast, operand: ExprId, is_bits: &dyn Fn(Symbol) -> bool) -> bool {
    let mut at = operand;
    loop {
        at = match ast[at] {
            Expr::Extension(inner) | Expr::Comma { rhs: inner, .. } => inner,
            Expr::Assign { lhs, .. } => lhs,
            Expr::Unary {
                op: UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec,
                operand,
            } => operand,
            Expr::Member { name, .. } => return is_bits(name) && at != operand,
            _ => return false,
        }
    }
}

pub(super) fn has_effects(ast: &Ast, operand: ExprId) -> bool {
    let mut pending = vec![operand];
    while let Some(at) = pending.pop() {
        match ast[at] {
            Expr::Assign { .. } | Expr::Call { .. } | Expr::StmtExpr(_) => return true,
            Expr::Unary {
                op: UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec,
                ..
            } => return true,
            Expr::VaArg { .. } | Expr::CompoundLiteral { .. } => return true,
            Expr::Unary { operand, .. } | Expr::Extension(operand) => pending.push(operand),
            // The lengths in a cast's type are evaluated too, and may be anything.
            Expr::Cast { .. } => return true,
            Expr::Member { base, .. } => pending.push(base),
            Expr::Index { base, index } => pending.extend([base, index]),
            Expr::Binary { lhs, rhs, .. } | Expr::Comma { lhs, rhs } => pending.extend([lhs, rhs]),
            Expr::Cond {
                cond,
                then,
                otherwise,
            } => {
                pending.extend([cond, otherwise]);
                pending.extend(then);
            }
            Expr::Generic { .. } | Expr::ChooseExpr { .. } => return true,
            _ => {}
        }
    }
    false
}
