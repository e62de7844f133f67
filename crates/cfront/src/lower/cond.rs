//! Conditions in controlling position become branches, one atomic assumption at a time.

use super::Lower;
use rucc_ast::{BinaryOp as AstBinary, UnaryOp as AstUnary};
use rucc_sema as sema;
use rucc_sema::Conversion;

impl Lower<'_> {
    /// Goes to `then` where a condition holds and to `otherwise` where it does not. What follows
    /// is unreachable until the caller goes on somewhere.
    pub(super) fn branch(&mut self, id: sema::ExprId, then: u32, otherwise: u32) {
        let node = self.unit.tree[id];
        if self.f().shared.contains_key(&id) {
            let condition = self.value(id);
            self.at_expr(id);
            self.split(condition, then, otherwise);
            return;
        }
        match node.kind {
            sema::ExprKind::Convert {
                kind: Conversion::Bool,
                operand,
            } if self.is_supported(self.unit.tree[operand].ty) => {
                self.branch(operand, then, otherwise);
            }
            // An integer conversion that keeps every bit keeps the truth.
            sema::ExprKind::Convert {
                kind: Conversion::Arithmetic,
                operand,
            } if self.keeps_truth(operand, id) => {
                self.branch(operand, then, otherwise);
            }
            sema::ExprKind::Unary {
                op: AstUnary::Not,
                operand,
            } => {
                self.branch(operand, otherwise, then);
            }
            sema::ExprKind::Binary {
                op: op @ (AstBinary::LogAnd | AstBinary::LogOr),
                ..
            } => {
                let mut operands = Vec::new();
                let mut at = id;
                while let sema::ExprKind::Binary { op: here, lhs, rhs } = self.unit.tree[at].kind
                    && here == op
                {
                    operands.push(rhs);
                    at = lhs;
                }
                operands.push(at);
                while let Some(operand) = operands.pop() {
                    if operands.is_empty() {
                        self.branch(operand, then, otherwise);
                        break;
                    }
                    let next = self.location();
                    match op {
                        AstBinary::LogAnd => self.branch(operand, next, otherwise),
                        _ => self.branch(operand, then, next),
                    }
                    self.f().cur = next;
                }
            }
            sema::ExprKind::Comma { lhs, rhs } => {
                self.effect(lhs);
                self.branch(rhs, then, otherwise);
            }
            sema::ExprKind::Expect { value, hint, .. } => {
                self.effect(hint);
                self.branch(value, then, otherwise);
            }
            sema::ExprKind::Cond {
                cond,
                then: yes,
                otherwise: no,
            } if self.effects.of(id).traps || !self.effects.of(id).is_pure() => {
                let (first, second) = (self.location(), self.location());
                self.branch_on_condition(cond, yes, first, second);
                self.f().cur = first;
                self.branch(yes, then, otherwise);
                self.f().cur = second;
                self.branch(no, then, otherwise);
            }
            _ => {
                let condition = self.truth(id);
                self.at_expr(id);
                self.split(condition, then, otherwise);
            }
        }
    }

    /// Whether an arithmetic conversion is nonzero exactly where its operand is.
    fn keeps_truth(&mut self, operand: sema::ExprId, id: sema::ExprId) -> bool {
        let (from, to) = (self.unit.tree[operand].ty, self.unit.tree[id].ty);
        if !self.is_supported(from) || !self.is_supported(to) {
            return false;
        }
        let (from, to) = (self.ty(from), self.ty(to));
        if self.is_float(from).is_some() || self.is_float(to).is_some() {
            return false;
        }
        match (self.b.types.bit_width(from), self.b.types.bit_width(to)) {
            (Some(from), Some(to)) => from <= to,
            _ => false,
        }
    }
}
