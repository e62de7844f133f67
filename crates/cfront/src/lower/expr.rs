//! Rvalues become expressions; their side effects become edges.

use super::{Lower, TEXT};
use crate::ids::{ExprId, PlaceId, TypeId};
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
            sema::ExprKind::LabelAddr(_) => {
                self.at_expr(id);
                let ty = self.ty(node.ty);
                self.unsupported_value("the address of a label", ty)
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
    fn known(&mut self, id: sema::ExprId) -> Option<ExprId> {
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
            sema::ExprKind::Binary { op: op @ (AstBinary::LogAnd | AstBinary::LogOr), lhs, rhs } => {
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
    fn comma(&mut self, id: sema::ExprId) -> sema::ExprId {
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

    fn constant(&mut self, id: sema::ExprId, constant: sema::Const, ty: rt::TypeId) -> ExprId {
        let ty = self.ty(ty);
        match self.constant_expr(constant, ty) {
            Some(expr) => expr,
            None => {
                self.at_expr(id);
                self.unsupported_value("a constant of this kind", ty)
            }
        }
    }

    /// A folded constant as an expression; `None` for what is not supported.
    pub(super) fn constant_expr(&mut self, constant: sema::Const, ty: TypeId) -> Option<ExprId> {
        match constant {
            sema::Const::Int(value) => Some(match self.b.types.get(ty) {
                Type::Float(_) => {
                    let int = self.b.types.int(128, true);
                    let value = self.b.int(value, int);
                    self.b.convert(value, ty)
                }
                _ => self.b.int(value, ty),
            }),
            sema::Const::Float(float) => Some(self.b.expr(ExprKind::Float(float.to_bits()), ty)),
            sema::Const::Address(address) => self.address_constant(address, ty),
            sema::Const::Complex { .. }
            | sema::Const::ComplexInt { .. }
            | sema::Const::Apart { .. } => None,
        }
    }

    fn address_constant(&mut self, address: sema::Address, ty: TypeId) -> Option<ExprId> {
        let intptr = self.b.types.intptr();
        let base = match address.base {
            sema::Base::Decl(decl) if self.unit.tree[decl].kind == sema::DeclKind::Function => {
                let func = self.func(decl);
                self.used(func);
                let function = self.b.functions[func.index()].ty;
                let pointer = self.b.types.pointer(function);
                self.b.expr(ExprKind::Function(func), pointer)
            }
            sema::Base::Decl(decl) => {
                let storage = self.storage(decl);
                let place = self.storage_place(storage);
                self.part_address(place, &mut 0)
            }
            sema::Base::Str(string) => {
                let source = self
                    .b
                    .variables
                    .last()
                    .map_or_else(|| self.unit.source(rucc_diag::Span::DUMMY), |v| v.source);
                let source = self.function.as_ref().map_or(source, |f| f.source);
                let var = self.string(string, source);
                let place = self.b.var_place(var);
                self.part_address(place, &mut 0)
            }
            sema::Base::Label(_) => return None,
            sema::Base::Absolute => {
                let value = self.b.int(address.offset, intptr);
                return Some(self.b.convert(value, ty));
            }
        };
        let mut address_expr = base;
        if address.offset != 0 {
            // Prefer a path of members and elements to a number of bytes.
            if let ExprKind::AddressOf(place) = self.b.exprs[base.index()].kind
                && let Ok(offset) = u64::try_from(address.offset)
                && let Some(part) = self.part_at(place, offset, ty)
            {
                return Some(self.b.address_of(part, ty));
            }
            let bytes = self.char_pointer();
            let moved = self.b.convert(base, bytes);
            let index = self.b.int(address.offset, intptr);
            address_expr = self.b.pointer_add(moved, index, 1);
        } else if let ExprKind::AddressOf(place) = self.b.exprs[base.index()].kind
            && let Some(part) = self.part_at(place, 0, ty)
        {
            return Some(self.b.address_of(part, ty));
        }
        Some(self.b.convert(address_expr, ty))
    }

    fn part_address(&mut self, place: PlaceId, _offset: &mut u64) -> ExprId {
        self.address(place)
    }

    /// The part of a place at that offset to which a pointer of that type can point.
    fn part_at(&mut self, mut place: PlaceId, mut offset: u64, ty: TypeId) -> Option<PlaceId> {
        let Type::Pointer(wanted) = *self.b.types.get(ty) else {
            return None;
        };
        loop {
            let at = self.place_ty(place);
            if offset == 0 && at == wanted {
                return Some(place);
            }
            match self.b.types.get(at).clone() {
                Type::Array { element, length } => {
                    let size = self.b.types.size_of(element);
                    // One past the end is no element.
                    if size == 0 || (length > 0 && offset / size >= length) {
                        return None;
                    }
                    // A pointer to the first element is how the array decays.
                    if offset == 0 && element == wanted {
                        return Some(place);
                    }
                    let intptr = self.b.types.intptr();
                    let index = self.b.int(i128::from(offset / size), intptr);
                    offset %= size;
                    place = self.b.place(PlaceKind::Index(place, index), element);
                }
                Type::Record(record) => {
                    let fields = &self.b.types.record(record).fields;
                    let found = fields.iter().enumerate().rev().find(|(_, f)| {
                        f.bit_width.is_none()
                            && f.offset() <= offset
                            && offset < f.offset() + self.b.types.size_of(f.ty).max(1)
                    });
                    let (position, field) = found?;
                    let (field_ty, start) = (field.ty, field.offset());
                    offset -= start;
                    place = self
                        .b
                        .place(PlaceKind::Field(place, position as u32), field_ty);
                }
                _ => return None,
            }
        }
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
        if self.b.types.is_scalar(ty) { self.b.convert(value, ty) } else { value }
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
                self.b.expr(ExprKind::Function(func), to)
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

    fn binary(
        &mut self,
        id: sema::ExprId,
        op: AstBinary,
        lhs: sema::ExprId,
        rhs: sema::ExprId,
    ) -> ExprId {
        if matches!(op, AstBinary::LogAnd | AstBinary::LogOr) {
            return self.logical(id);
        }
        // Chains of operators lean to the left and can be long: follow them down first.
        let mut spine = vec![(id, op, lhs, rhs)];
        let mut at = lhs;
        while let sema::ExprKind::Binary { op, lhs, rhs } = self.unit.tree[at].kind
            && !matches!(op, AstBinary::LogAnd | AstBinary::LogOr)
            && self.is_supported(self.unit.tree[at].ty)
            && self.known(at).is_none()
        {
            spine.push((at, op, lhs, rhs));
            at = lhs;
        }
        let mut value = self.value(at);
        while let Some((id, op, lhs, rhs)) = spine.pop() {
            let left = self.keep_for(value, self.effects.of(rhs));
            let right = self.value(rhs);
            self.at_expr(id);
            value = self.operator(id, op, left, right, lhs, rhs);
        }
        value
    }

    /// Applies an operator whose operands are evaluated.
    fn operator(
        &mut self,
        id: sema::ExprId,
        op: AstBinary,
        left: ExprId,
        right: ExprId,
        lhs: sema::ExprId,
        rhs: sema::ExprId,
    ) -> ExprId {
        let node_ty = self.unit.tree[id].ty;
        let ty = self.ty(node_ty);
        let (lhs_ty, rhs_ty) = (self.unit.tree[lhs].ty, self.unit.tree[rhs].ty);
        let left_pointer = rt::pointee(&self.unit.types, lhs_ty);
        let right_pointer = rt::pointee(&self.unit.types, rhs_ty);
        let intptr = self.b.types.intptr();
        match (op, left_pointer, right_pointer) {
            (AstBinary::Add | AstBinary::Sub, Some(element), None) => {
                let index = self.b.convert(right, intptr);
                let moved = self.moved_by(left, index, element, op);
                self.b.convert(moved, ty)
            }
            (AstBinary::Add, None, Some(element)) => {
                let index = self.b.convert(left, intptr);
                let moved = self.moved_by(right, index, element, op);
                self.b.convert(moved, ty)
            }
            (AstBinary::Sub, Some(element), Some(_)) => {
                let right = self.b.convert(right, self.b.ty_of(left));
                if self.is_variable_size(element) {
                    let bytes = ExprKind::PointerDifference {
                        left,
                        right,
                        scale: 1,
                    };
                    let bytes = self.b.expr(bytes, intptr);
                    let size = self.size_of_type(element);
                    let size = self.b.convert(size, intptr);
                    let difference = self.b.binary(BinaryOp::Div, bytes, size, intptr);
                    return self.b.convert(difference, ty);
                }
                let element = self.ty(element);
                let scale = self.b.types.size_of(element);
                if scale == 0 {
                    return self.unsupported_value("a difference of pointers to nothing", ty);
                }
                let kind = ExprKind::PointerDifference { left, right, scale };
                let difference = self.b.expr(kind, intptr);
                self.b.convert(difference, ty)
            }
            _ => self.arithmetic(op, left, right, ty),
        }
    }

    /// An arithmetic, bitwise or comparing operator on two scalars, with its checks.
    pub(super) fn arithmetic(
        &mut self,
        op: AstBinary,
        left: ExprId,
        right: ExprId,
        ty: TypeId,
    ) -> ExprId {
        let ours = match op {
            AstBinary::Mul => BinaryOp::Mul,
            AstBinary::Div => BinaryOp::Div,
            AstBinary::Rem => BinaryOp::Rem,
            AstBinary::Add => BinaryOp::Add,
            AstBinary::Sub => BinaryOp::Sub,
            AstBinary::Shl => BinaryOp::Shl,
            AstBinary::Shr => BinaryOp::Shr,
            AstBinary::Lt => BinaryOp::Lt,
            AstBinary::Gt => BinaryOp::Gt,
            AstBinary::Le => BinaryOp::Le,
            AstBinary::Ge => BinaryOp::Ge,
            AstBinary::Eq => BinaryOp::Eq,
            AstBinary::Ne => BinaryOp::Ne,
            AstBinary::BitAnd => BinaryOp::BitAnd,
            AstBinary::BitXor => BinaryOp::BitXor,
            AstBinary::BitOr => BinaryOp::BitOr,
            AstBinary::LogAnd => BinaryOp::And,
            AstBinary::LogOr => BinaryOp::Or,
        };
        let comparison = matches!(
            ours,
            BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Le | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne
        );
        if comparison {
            let right = self.b.convert(right, self.b.ty_of(left));
            let int = self.int_ty();
            let value = self.b.binary(ours, left, right, int);
            return self.convert_scalar(value, ty);
        }
        let left = self.convert_scalar(left, ty);
        let right = match ours {
            BinaryOp::Shl | BinaryOp::Shr => right,
            _ => self.convert_scalar(right, ty),
        };
        self.check_arithmetic(ours, left, right, ty);
        self.b.binary(ours, left, right, ty)
    }

    fn check_arithmetic(&mut self, op: BinaryOp, left: ExprId, right: ExprId, ty: TypeId) {
        let int = self.int_ty();
        let integral = matches!(self.b.types.get(ty), Type::Int { .. } | Type::Bool);
        if !integral {
            return;
        }
        if matches!(op, BinaryOp::Div | BinaryOp::Rem)
            && self.b.options.wants(CheckKind::DivisionByZero)
        {
            let zero = self.b.zero(ty);
            let bad = self.b.binary(BinaryOp::Eq, right, zero, int);
            let message = format!("division by zero in {TEXT}");
            self.check(CheckKind::DivisionByZero, bad, message);
        }
        if !self.b.options.wants(CheckKind::Overflow) {
            return;
        }
        let signed = self.b.types.is_signed(ty);
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul if signed => {
                let bad = self.b.overflows(op, left, right, ty);
                let message = format!("signed overflow in {TEXT}");
                self.check(CheckKind::Overflow, bad, message);
            }
            // The remainder of the smallest number by -1 is undefined because the quotient is.
            BinaryOp::Div | BinaryOp::Rem if signed => {
                let bad = self.b.overflows(BinaryOp::Div, left, right, ty);
                let message = format!("signed overflow in {TEXT}");
                self.check(CheckKind::Overflow, bad, message);
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                let width = self.b.types.bit_width(ty).unwrap_or(128);
                let amount_ty = self.b.ty_of(right);
                let amount_width = self.b.types.bit_width(amount_ty).unwrap_or(32);
                let unsigned = self.b.types.int(amount_width, false);
                // A negative amount is a large one.
                let amount = self.b.convert(right, unsigned);
                let limit = self.b.int(i128::from(width), unsigned);
                let bad = self.b.binary(BinaryOp::Ge, amount, limit, int);
                let message = format!("shift by a wrong amount in {TEXT}");
                self.check(CheckKind::Overflow, bad, message);
                if op == BinaryOp::Shl && signed {
                    let zero = self.b.zero(ty);
                    let negative = self.b.binary(BinaryOp::Lt, left, zero, int);
                    let message = format!("left shift of a negative number in {TEXT}");
                    self.check(CheckKind::Overflow, negative, message);
                    let bad = self.b.overflows(BinaryOp::Shl, left, right, ty);
                    let message = format!("signed overflow in {TEXT}");
                    self.check(CheckKind::Overflow, bad, message);
                }
            }
            _ => {}
        }
    }

    fn check_negation(&mut self, value: ExprId, ty: TypeId) {
        if self.b.types.is_signed(ty) && self.b.options.wants(CheckKind::Overflow) {
            let zero = self.b.zero(ty);
            let bad = self.b.overflows(BinaryOp::Sub, zero, value, ty);
            let message = format!("signed overflow in {TEXT}");
            self.check(CheckKind::Overflow, bad, message);
        }
    }

    /// `&&` or `||` as a value.
    fn logical(&mut self, id: sema::ExprId) -> ExprId {
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
                let list = self.va_list(list);
                self.at_expr(id);
                self.emit(Op::VaArg { list, place: to });
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

    pub(super) fn is_float(&self, ty: TypeId) -> Option<FloatKind> {
        match self.b.types.get(ty) {
            Type::Float(kind) => Some(*kind),
            _ => None,
        }
    }
}
