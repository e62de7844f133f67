//! Rvalues become expressions; their side effects become edges.

use super::Lower;
use super::lossy::Written;
use crate::ids::{ExprId, TypeId};
use crate::program::*;
use crate::types::{FloatKind, Type};
use rucc_ast::{BinaryOp as AstBinary, UnaryOp as AstUnary};
use rucc_sema as sema;
use rucc_sema::Conversion;
use rucc_types as rt;

impl Lower<'_> {
    /// The value of a scalar expression. What it does besides is done by edges before it.
    pub(super) fn value(&mut self, id: sema::ExprId) -> ExprId {
        if let Some(known) = self.known(id) {
            return known;
        }
        let node = self.unit.tree[id];
        if !self.is_supported(node.ty) {
            let ty = self.ty(node.ty);
            self.at_expr(id);
            let what = match self.bare(node.ty) {
                rt::TypeKind::Complex(_) => "a complex number",
                rt::TypeKind::Vector { .. } => "a vector",
                rt::TypeKind::BitInt { .. } => "an integer of more than 128 bits",
                _ => "a decimal or half-precision floating-point number",
            };
            return self.unsupported_value(what, ty);
        }
        match node.kind {
            sema::ExprKind::Const(constant) => self.constant(id, self.unit.tree[constant], node.ty),
            sema::ExprKind::Convert { kind, operand } => {
                self.conversion(id, kind, operand, node.ty)
            }
            sema::ExprKind::Cast(operand) => self.cast(id, operand, node.ty),
            sema::ExprKind::Binary { op, lhs, rhs } => self.binary(id, op, lhs, rhs),
            sema::ExprKind::Unary { op, operand } => self.unary(id, op, operand, node.ty),
            sema::ExprKind::Assign {
                op,
                computation,
                lhs,
                rhs,
            } => self.assignment(id, op, computation, lhs, rhs),
            sema::ExprKind::Cond {
                cond,
                then,
                otherwise,
            } => self.conditional(id, cond, then, otherwise, node.ty),
            sema::ExprKind::Comma { .. } => {
                let last = self.comma(id);
                self.value(last)
            }
            sema::ExprKind::Call { callee, args } => self.call_value(id, callee, args, node.ty),
            sema::ExprKind::StmtExpr(body) => self.statement_expression(id, body, node.ty),
            sema::ExprKind::LabelAddr(label) => {
                self.at_expr(id);
                let ty = self.ty(node.ty);
                match self.label_address(label) {
                    Some(address) => self.b.convert(address, ty),
                    None => self.unsupported_value("the address of a label", ty),
                }
            }
            // Places that the tree takes for values: members of returned records and the like.
            sema::ExprKind::Decl(_)
            | sema::ExprKind::Str(_)
            | sema::ExprKind::Member { .. }
            | sema::ExprKind::Subscript { .. }
            | sema::ExprKind::CompoundLiteral(_) => self.read(id, node.ty),
            _ => self.builtin(id, node),
        }
    }

    /// The value of a node that was evaluated before: the length of an array, a shared operand.
    pub(super) fn known(&mut self, id: sema::ExprId) -> Option<ExprId> {
        let f = self.f();
        if f.lengths.is_empty() && f.shared.is_empty() {
            return None;
        }
        f.lengths.get(&id).or_else(|| f.shared.get(&id)).copied()
    }

    /// Evaluates an expression for what it does.
    pub(super) fn effect(&mut self, id: sema::ExprId) {
        let node = self.unit.tree[id];
        match node.kind {
            sema::ExprKind::Convert {
                kind: Conversion::Void,
                operand,
            }
            | sema::ExprKind::Cast(operand)
                if matches!(self.bare(node.ty), rt::TypeKind::Void) =>
            {
                self.effect(operand);
            }
            sema::ExprKind::Convert {
                kind: Conversion::Lvalue,
                operand,
            } if self.effects.of(operand).is_safe() => {}
            sema::ExprKind::Comma { .. } => {
                let last = self.comma(id);
                self.effect(last);
            }
            sema::ExprKind::Cond {
                cond,
                then,
                otherwise,
            } => {
                if self.effects.of(id).is_safe() {
                    return;
                }
                let (yes, no, join) = (self.location(), self.location(), self.location());
                self.branch_on_condition(cond, then, yes, no);
                self.f().cur = yes;
                self.effect(then);
                self.continue_at(join);
                self.f().cur = no;
                self.effect(otherwise);
                self.continue_at(join);
            }
            sema::ExprKind::Binary {
                op: op @ (AstBinary::LogAnd | AstBinary::LogOr),
                lhs,
                rhs,
            } => {
                if self.effects.of(id).is_safe() {
                    return;
                }
                let (next, join) = (self.location(), self.location());
                match op {
                    AstBinary::LogAnd => self.branch(lhs, next, join),
                    _ => self.branch(lhs, join, next),
                }
                self.f().cur = next;
                self.effect(rhs);
                self.continue_at(join);
            }
            sema::ExprKind::Unary {
                op: AstUnary::PreInc | AstUnary::PreDec | AstUnary::PostInc | AstUnary::PostDec,
                ..
            } => self.step_effect(id),
            sema::ExprKind::Assign {
                op,
                computation,
                lhs,
                rhs,
            } => {
                self.assignment_effect(id, op, computation, lhs, rhs);
            }
            sema::ExprKind::Call { callee, args } => self.call_effect(id, callee, args),
            sema::ExprKind::StmtExpr(body) => self.stmt(body),
            _ if self.effects.of(id).is_safe() => {}
            _ => {
                if matches!(self.bare(node.ty), rt::TypeKind::Record(_)) {
                    self.record_value(id);
                } else {
                    self.value(id);
                }
            }
        }
    }

    /// Evaluates all but the last operand of a chain of commas, and gives back the last.
    pub(super) fn comma(&mut self, id: sema::ExprId) -> sema::ExprId {
        let mut chain = Vec::new();
        let mut at = id;
        let mut last = None;
        // The chain leans to the left: follow it down without recursion.
        while let sema::ExprKind::Comma { lhs, rhs } = self.unit.tree[at].kind {
            match last {
                None => last = Some(rhs),
                Some(_) => chain.push(rhs),
            }
            at = lhs;
        }
        self.effect(at);
        for expr in chain.into_iter().rev() {
            self.effect(expr);
        }
        last.unwrap_or(id)
    }

    /// Reads a place.
    fn read(&mut self, id: sema::ExprId, ty: rt::TypeId) -> ExprId {
        let place = self.place(id);
        let ty = self.ty(ty);
        if self.is_record_or_array(self.place_ty(place)) && self.b.types.is_scalar(ty) {
            return self.b.address_of(place, ty);
        }
        self.check_place(id, place);
        let value = self.b.load(place);
        if self.b.types.is_scalar(ty) {
            self.b.convert(value, ty)
        } else {
            value
        }
    }

    fn conversion(
        &mut self,
        id: sema::ExprId,
        kind: Conversion,
        operand: sema::ExprId,
        ty: rt::TypeId,
    ) -> ExprId {
        match kind {
            Conversion::Lvalue => {
                let operand_ty = self.unit.tree[operand].ty;
                if matches!(self.bare(operand_ty), rt::TypeKind::Void) {
                    self.place(operand);
                    return self.void_value();
                }
                self.read(operand, ty)
            }
            Conversion::ArrayDecay => {
                let place = self.place(operand);
                let ty = self.ty(ty);
                self.b.address_of(place, ty)
            }
            Conversion::FunctionDecay => self.function_pointer(operand, ty),
            Conversion::Arithmetic
            | Conversion::Pointer
            | Conversion::Bool
            | Conversion::NullPointer => {
                let to = self.ty(ty);
                let operand_ty = self.unit.tree[operand].ty;
                if matches!(self.bare(operand_ty), rt::TypeKind::Complex(_)) {
                    self.at_expr(id);
                    return self.unsupported_value("a complex number", to);
                }
                let value = self.value(operand);
                self.check_conversion(id, value, to, Written::Nowhere);
                self.convert_scalar(value, to)
            }
            Conversion::Void => {
                self.effect(operand);
                self.void_value()
            }
            Conversion::Broadcast | Conversion::Hardbool => {
                self.at_expr(id);
                let ty = self.ty(ty);
                self.unsupported_value("a vector or a hardened boolean", ty)
            }
        }
    }

    /// Converts, where both types must be scalar for it to mean something.
    pub(super) fn convert_scalar(&mut self, value: ExprId, to: TypeId) -> ExprId {
        let from = self.b.ty_of(value);
        if self.b.types.is_scalar(from) && self.b.types.is_scalar(to) {
            return self.b.convert(value, to);
        }
        if from == to {
            return value;
        }
        self.unsupported_value("a conversion of something that is not a scalar", to)
    }

    /// The address of a function designator: a name, or what a pointer points to.
    fn function_pointer(&mut self, operand: sema::ExprId, ty: rt::TypeId) -> ExprId {
        let to = self.ty(ty);
        match self.unit.tree[operand].kind {
            sema::ExprKind::Decl(decl) => {
                let func = self.func(decl);
                self.used(func);
                let address = self.b.expr(ExprKind::Function(func), to);
                self.unless_absent(decl, address)
            }
            sema::ExprKind::Unary {
                op: AstUnary::Deref,
                operand,
            } => {
                let pointer = self.value(operand);
                self.b.convert(pointer, to)
            }
            _ => {
                let pointer = self.value(operand);
                self.b.convert(pointer, to)
            }
        }
    }

    fn cast(&mut self, id: sema::ExprId, operand: sema::ExprId, ty: rt::TypeId) -> ExprId {
        self.evaluate_lengths(ty);
        if matches!(self.bare(ty), rt::TypeKind::Void) {
            self.effect(operand);
            return self.void_value();
        }
        let to = self.ty(ty);
        let from = self.unit.tree[operand].ty;
        if !self.is_supported(from) {
            self.at_expr(id);
            return self.unsupported_value("a conversion from a vector or complex number", to);
        }
        let value = self.value(operand);
        self.check_conversion(id, value, to, Written::AsCast);
        self.convert_scalar(value, to)
    }

    fn unary(
        &mut self,
        id: sema::ExprId,
        op: AstUnary,
        operand: sema::ExprId,
        ty: rt::TypeId,
    ) -> ExprId {
        let to = self.ty(ty);
        match op {
            AstUnary::Plus => {
                let value = self.value(operand);
                self.convert_scalar(value, to)
            }
            AstUnary::Minus => {
                let value = self.value(operand);
                let value = self.convert_scalar(value, to);
                self.at_expr(id);
                self.check_negation(value, to);
                self.b.unary(UnaryOp::Negate, value, to)
            }
            AstUnary::BitNot => {
                let value = self.value(operand);
                let value = self.convert_scalar(value, to);
                self.b.unary(UnaryOp::BitNot, value, to)
            }
            AstUnary::Not => {
                let truth = self.truth(operand);
                let not = self.b.not(truth);
                self.b.convert(not, to)
            }
            AstUnary::Deref => self.read(id, ty),
            AstUnary::AddrOf => {
                if self.unit.tree[operand].category == sema::Category::Function {
                    return self.function_pointer(operand, ty);
                }
                let place = self.place(operand);
                self.b.address_of(place, to)
            }
            AstUnary::PreInc | AstUnary::PreDec | AstUnary::PostInc | AstUnary::PostDec => {
                self.step(id, op, operand)
            }
            AstUnary::Real | AstUnary::Imag => {
                self.at_expr(id);
                self.unsupported_value("a complex number", to)
            }
        }
    }

    /// A scalar that is nonzero where the expression is true: no conversion to `_Bool` is
    /// needed.
    pub(super) fn truth(&mut self, id: sema::ExprId) -> ExprId {
        match self.unit.tree[id].kind {
            sema::ExprKind::Convert {
                kind: Conversion::Bool,
                operand,
            } if self.is_supported(self.unit.tree[operand].ty) && self.known(id).is_none() => {
                self.truth(operand)
            }
            _ => self.value(id),
        }
    }

    /// `&&` or `||` as a value.
    pub(super) fn logical(&mut self, id: sema::ExprId) -> ExprId {
        let node_ty = self.unit.tree[id].ty;
        let ty = self.ty(node_ty);
        // The chain of one operator, left to right.
        let sema::ExprKind::Binary { op, .. } = self.unit.tree[id].kind else {
            return self.value(id);
        };
        let mut operands = Vec::new();
        let mut at = id;
        while let sema::ExprKind::Binary { op: here, lhs, rhs } = self.unit.tree[at].kind
            && here == op
        {
            operands.push(rhs);
            at = lhs;
        }
        operands.push(at);
        operands.reverse();
        if operands[1..].iter().all(|&e| self.effects.of(e).is_safe()) {
            let int = self.int_ty();
            let ours = if op == AstBinary::LogAnd {
                BinaryOp::And
            } else {
                BinaryOp::Or
            };
            let mut value = self.truth(operands[0]);
            for &operand in &operands[1..] {
                let right = self.truth(operand);
                value = self.b.binary(ours, value, right, int);
            }
            return self.b.convert(value, ty);
        }
        let result = self.temporary(ty);
        let (yes, no, join) = (self.location(), self.location(), self.location());
        self.branch(id, yes, no);
        for (location, truth) in [(yes, 1), (no, 0)] {
            self.f().cur = location;
            let value = self.b.int(truth, ty);
            self.assign(result, value);
            self.continue_at(join);
        }
        self.b.load(result)
    }

    fn conditional(
        &mut self,
        _id: sema::ExprId,
        cond: sema::ExprId,
        then: sema::ExprId,
        otherwise: sema::ExprId,
        ty: rt::TypeId,
    ) -> ExprId {
        if matches!(self.bare(ty), rt::TypeKind::Void) {
            let (yes, no, join) = (self.location(), self.location(), self.location());
            self.branch_on_condition(cond, then, yes, no);
            self.f().cur = yes;
            self.effect(then);
            self.continue_at(join);
            self.f().cur = no;
            self.effect(otherwise);
            self.continue_at(join);
            return self.void_value();
        }
        let to = self.ty(ty);
        let shared = self.shared_operand(cond, then);
        if self.effects.of(then).is_safe() && self.effects.of(otherwise).is_safe() {
            let condition = self.truth(cond);
            if let Some(bits) = self.b.constant(condition) {
                let chosen = if bits != 0 { then } else { otherwise };
                let value = self.value(chosen);
                return self.convert_scalar(value, to);
            }
            let then = self.value(then);
            let then = self.convert_scalar(then, to);
            let otherwise = self.value(otherwise);
            let otherwise = self.convert_scalar(otherwise, to);
            return self.b.conditional(condition, then, otherwise);
        }
        if let Some(shared) = shared {
            self.share(shared);
        }
        let result = self.temporary(to);
        let (yes, no, join) = (self.location(), self.location(), self.location());
        self.branch(cond, yes, no);
        for (location, arm) in [(yes, then), (no, otherwise)] {
            self.f().cur = location;
            let value = self.value(arm);
            let value = self.convert_scalar(value, to);
            self.assign(result, value);
            self.continue_at(join);
        }
        self.b.load(result)
    }

    /// `a ?: b` uses the node of `a` twice: the node that both the condition and the first arm
    /// are made from.
    fn shared_operand(&self, cond: sema::ExprId, then: sema::ExprId) -> Option<sema::ExprId> {
        let mut at = then;
        loop {
            let mut other = cond;
            loop {
                if at == other {
                    return Some(at);
                }
                match self.unit.tree[other].kind {
                    sema::ExprKind::Convert { operand, .. } => other = operand,
                    _ => break,
                }
            }
            match self.unit.tree[at].kind {
                sema::ExprKind::Convert { operand, .. } => at = operand,
                _ => return None,
            }
        }
    }

    /// Evaluates a node once, for all its uses.
    fn share(&mut self, id: sema::ExprId) {
        if self.effects.of(id).is_pure() {
            return;
        }
        let value = self.value(id);
        let value = self.keep(value);
        self.f().shared.insert(id, value);
    }

    /// Branches on a condition whose operand the first arm may share.
    pub(super) fn branch_on_condition(
        &mut self,
        cond: sema::ExprId,
        then: sema::ExprId,
        yes: u32,
        no: u32,
    ) {
        if let Some(shared) = self.shared_operand(cond, then) {
            self.share(shared);
        }
        self.branch(cond, yes, no);
    }

    /// `({ ... })`: the value is that of the last statement.
    fn statement_expression(
        &mut self,
        _id: sema::ExprId,
        body: sema::StmtId,
        ty: rt::TypeId,
    ) -> ExprId {
        if matches!(self.bare(ty), rt::TypeKind::Void) {
            self.stmt(body);
            return self.void_value();
        }
        let to = self.ty(ty);
        let result = self.temporary(to);
        self.statement_value(body, result);
        self.b.load(result)
    }

    pub(super) fn is_float(&self, ty: TypeId) -> Option<FloatKind> {
        match self.b.types.get(ty) {
            Type::Float(kind) => Some(*kind),
            _ => None,
        }
    }
}
