//! Expressions whose value is a record: places that hold it.

use super::Lower;
use crate::ids::PlaceId;
use rucc_ast::UnaryOp as AstUnary;
use rucc_sema as sema;
use rucc_sema::Conversion;

impl Lower<'_> {
    /// A place that holds the value of an expression whose type is a record.
    pub(super) fn record_value(&mut self, id: sema::ExprId) -> PlaceId {
        let node = self.unit.tree[id];
        let ty = self.ty(node.ty);
        match node.kind {
            sema::ExprKind::Convert {
                kind: Conversion::Lvalue,
                operand,
            } => self.access(operand),
            sema::ExprKind::Cast(operand) if self.is_record_or_array(ty) => self.access(operand),
            sema::ExprKind::Decl(_)
            | sema::ExprKind::Str(_)
            | sema::ExprKind::Member { .. }
            | sema::ExprKind::Subscript { .. }
            | sema::ExprKind::CompoundLiteral(_)
            | sema::ExprKind::Unary {
                op: AstUnary::Deref,
                ..
            } => self.access(id),
            sema::ExprKind::Assign {
                op: None, lhs, rhs, ..
            } => self.record_assignment(id, lhs, rhs),
            sema::ExprKind::Comma { .. } => {
                let last = self.comma(id);
                self.record_value(last)
            }
            sema::ExprKind::Cond {
                cond,
                then,
                otherwise,
            } => {
                let result = self.temporary(ty);
                let (yes, no, join) = (self.location(), self.location(), self.location());
                self.branch(cond, yes, no);
                for (location, arm) in [(yes, then), (no, otherwise)] {
                    self.f().cur = location;
                    self.record_into(arm, result);
                    self.continue_at(join);
                }
                result
            }
            sema::ExprKind::StmtExpr(body) => {
                let result = self.temporary(ty);
                self.statement_value(body, result);
                result
            }
            _ => {
                let result = self.temporary(ty);
                self.record_into(id, result);
                result
            }
        }
    }

    /// Writes the value of an expression whose type is a record to a place.
    pub(super) fn record_into(&mut self, id: sema::ExprId, to: PlaceId) {
        let node = self.unit.tree[id];
        match node.kind {
            sema::ExprKind::Call { callee, args } => self.call_into(id, callee, args, Some(to)),
            sema::ExprKind::VaArg { list } => {
                let ty = self.place_ty(to);
                let argument = self.next_argument(id, list, ty);
                self.assign(to, argument);
            }
            sema::ExprKind::Atomic { .. } => {
                self.at_expr(id);
                self.unsupported("an atomic operation on a struct");
            }
            sema::ExprKind::Convert { .. }
            | sema::ExprKind::Cast(_)
            | sema::ExprKind::Decl(_)
            | sema::ExprKind::Str(_)
            | sema::ExprKind::Member { .. }
            | sema::ExprKind::Subscript { .. }
            | sema::ExprKind::CompoundLiteral(_)
            | sema::ExprKind::Unary { .. }
            | sema::ExprKind::Assign { .. }
            | sema::ExprKind::Comma { .. }
            | sema::ExprKind::Cond { .. }
            | sema::ExprKind::StmtExpr(_) => {
                let supported = self.is_supported(node.ty);
                if !supported {
                    self.at_expr(id);
                    self.unsupported("a vector or a complex number");
                    return;
                }
                let from = self.record_value(id);
                self.at_expr(id);
                self.copy(from, to);
            }
            _ => {
                self.at_expr(id);
                self.unsupported("an expression of this kind");
            }
        }
    }

    /// Copies a whole record or array.
    pub(super) fn copy(&mut self, from: PlaceId, to: PlaceId) {
        if from == to {
            return;
        }
        let (from_ty, to_ty) = (self.place_ty(from), self.place_ty(to));
        if from_ty != to_ty {
            // The same struct seen in two ways: compatible, so of one layout.
            let pointer = self.address(from);
            let from = self.behind(pointer, to_ty);
            let value = self.b.load(from);
            self.assign(to, value);
            return;
        }
        let value = self.b.load(from);
        self.assign(to, value);
    }
}
