//! Checks of pointers and numbers beyond whether an access is inside of its object: alignment,
//! arithmetic that leaves the object, copies that overlap, operations that give no number.

use super::{Lower, TEXT};
use crate::ids::{ExprId, PlaceId, TypeId};
use crate::program::*;
use crate::types::Type;
use rucc_ast::{BinaryOp as AstBinary, UnaryOp as AstUnary};
use rucc_sema as sema;
use rucc_types as rt;

/// Objects of the heap lie at multiples of this many bytes, so more than that is not known.
const OBJECTS: u64 = 16;

impl Lower<'_> {
    /// Checks that what a pointer points to is aligned as its type says.
    pub(super) fn check_alignment(&mut self, id: sema::ExprId, place: PlaceId) {
        if !self.b.options.wants(CheckKind::Alignment) {
            return;
        }
        let mut at = place;
        let pointer = loop {
            match self.b.places[at.index()].kind {
                PlaceKind::Var(_) => return,
                PlaceKind::Deref(pointer) => break pointer,
                PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => at = base,
            }
        };
        let align = self.alignment_behind(id);
        if align <= 1 {
            return;
        }
        self.at_expr(id);
        self.b.assume_model(
            "objects of the heap lie at multiples of 16 bytes: an access that only this makes aligned \
             is not seen",
        );
        let (int, size) = (self.int_ty(), self.size_ty());
        let address = self.b.convert(pointer, size);
        let mask = self.b.int(i128::from(align.min(OBJECTS) - 1), size);
        let low = self.b.binary(BinaryOp::BitAnd, address, mask, size);
        let zero = self.b.zero(size);
        let bad = self.b.binary(BinaryOp::Ne, low, zero, int);
        let message = format!("misaligned access in {TEXT}");
        self.check(CheckKind::Alignment, bad, message);
        if align > OBJECTS {
            self.unsupported("an alignment of more than 16 bytes");
        }
    }

    /// The alignment of what the pointer points to through which an lvalue is reached.
    fn alignment_behind(&self, mut id: sema::ExprId) -> u64 {
        let decayed = |id: sema::ExprId| match self.unit.tree[id].kind {
            sema::ExprKind::Convert {
                kind: sema::Conversion::ArrayDecay,
                operand,
            } => Some(operand),
            _ => None,
        };
        loop {
            let node = self.unit.tree[id];
            let inside = match node.kind {
                sema::ExprKind::Member { base, .. } => Some(base),
                sema::ExprKind::Subscript { base, .. } => decayed(base),
                sema::ExprKind::Unary {
                    op: AstUnary::Deref,
                    operand,
                } => match self.unit.tree[operand].kind {
                    sema::ExprKind::Binary {
                        op: AstBinary::Add,
                        lhs,
                        ..
                    } => decayed(lhs),
                    _ => decayed(operand),
                },
                sema::ExprKind::Convert { operand, .. } | sema::ExprKind::Cast(operand) => {
                    Some(operand)
                }
                _ => return 1,
            };
            match inside {
                Some(inside) => id = inside,
                None => {
                    let align = rt::align(&self.unit.types, node.ty, &self.unit.target);
                    return align.unwrap_or(1);
                }
            }
        }
    }

    /// Checks that a pointer that was moved still points into its object, or to its end.
    pub(super) fn check_movement(&mut self, index: ExprId, element: rt::TypeId, moved: ExprId) {
        let asks = self.b.options.wants(CheckKind::PointerArithmetic);
        if !asks
            || self.origin != Origin::User
            || self.function.is_none()
            || self.b.constant(index) == Some(0)
        {
            return;
        }
        let (int, size) = (self.int_ty(), self.size_ty());
        let nothing = self.b.zero(size);
        let inside = ExprKind::ValidAccess {
            pointer: moved,
            size: nothing,
        };
        let inside = self.b.expr(inside, int);
        let message = format!("pointer moved out of its object in {TEXT}");
        let mut good = inside;
        if self.b.constant(index).is_none() {
            // Nothing is moved by 0, not even a null pointer.
            let zero = self.b.zero(self.b.ty_of(index));
            let stays = self.b.binary(BinaryOp::Eq, index, zero, int);
            good = self.b.binary(BinaryOp::Or, stays, inside, int);
            // A distance that does not fit may come around to the object again.
            if !self.is_variable_size(element) {
                let intptr = self.b.types.intptr();
                let ty = self.ty(element);
                let scale = self.b.types.size_of(ty);
                let scale = self.b.int(i128::from(scale), intptr);
                let far = self.b.overflows(BinaryOp::Mul, index, scale, intptr);
                let near = self.b.not(far);
                good = self.b.binary(BinaryOp::And, near, good, int);
            }
        }
        self.require(CheckKind::PointerArithmetic, good, message);
    }

    /// Checks that an index names an element of an array, or its end.
    pub(super) fn check_index(&mut self, array: PlaceId, index: ExprId) {
        let asks = self.b.options.wants(CheckKind::PointerArithmetic);
        if !asks || self.origin != Origin::User || self.function.is_none() {
            return;
        }
        let Type::Array { length, .. } = *self.b.types.get(self.place_ty(array)) else {
            return;
        };
        let (int, size) = (self.int_ty(), self.size_ty());
        let message = format!("pointer moved out of its object in {TEXT}");
        let good = if length == 0 || is_flexible(&self.b.places, &self.b.types, array) {
            // The object decides how long it is.
            let place = self.index_place(array, index);
            let pointer = self.address(place);
            let nothing = self.b.zero(size);
            let inside = ExprKind::ValidAccess {
                pointer,
                size: nothing,
            };
            self.b.expr(inside, int)
        } else {
            let unsigned = self.b.convert(index, size);
            let length = self.b.int(i128::from(length), size);
            self.b.binary(BinaryOp::Le, unsigned, length, int)
        };
        self.require(CheckKind::PointerArithmetic, good, message);
    }

    /// Checks that two ranges of so many bytes do not overlap.
    pub(super) fn check_disjoint(&mut self, to: ExprId, from: ExprId, bytes: ExprId) {
        if !self.b.options.wants(CheckKind::Overlap) || self.b.constant(bytes) == Some(0) {
            return;
        }
        let (int, size) = (self.int_ty(), self.size_ty());
        let (to, from) = (self.b.convert(to, size), self.b.convert(from, size));
        let bytes = self.b.convert(bytes, size);
        // One of them begins in the other.
        let ahead = self.b.binary(BinaryOp::Sub, to, from, size);
        let behind = self.b.binary(BinaryOp::Sub, from, to, size);
        let ahead = self.b.binary(BinaryOp::Lt, ahead, bytes, int);
        let behind = self.b.binary(BinaryOp::Lt, behind, bytes, int);
        let bad = self.b.binary(BinaryOp::Or, ahead, behind, int);
        let message = match self.origin {
            Origin::Model => "memory copied to where it overlaps itself".to_owned(),
            _ => format!("memory copied to where it overlaps itself in {TEXT}"),
        };
        self.check(CheckKind::Overlap, bad, message);
    }

    /// Checks that an operation whose operands are numbers gives one.
    pub(super) fn check_nan(&mut self, value: ExprId, operands: &[ExprId]) {
        let float = matches!(self.b.types.get(self.b.ty_of(value)), Type::Float(_));
        let asks = self.b.options.wants(CheckKind::Nan) && self.origin == Origin::User;
        if !float || !asks || self.function.is_none() {
            return;
        }
        let int = self.int_ty();
        let is_nan =
            |this: &mut Self, value| this.b.expr(ExprKind::Unary(UnaryOp::IsNan, value), int);
        let mut bad = is_nan(self, value);
        for &operand in operands {
            let nan = is_nan(self, operand);
            let number = self.b.not(nan);
            bad = self.b.binary(BinaryOp::And, bad, number, int);
        }
        let message = format!("no number in {TEXT}");
        self.check(CheckKind::Nan, bad, message);
    }

    /// Whether a check may be passed where it is violated: what happens then has a meaning here.
    pub(super) fn goes_on_behind(&self, kind: CheckKind) -> bool {
        self.b.options.violations == crate::options::Violations::Pass
            && !matches!(
                kind,
                CheckKind::DivisionByZero
                    | CheckKind::Pointer
                    | CheckKind::Bounds
                    | CheckKind::Free
                    | CheckKind::Leak
                    | CheckKind::Cleanup
            )
    }

    /// Comes here where a check is violated: some executions stop at the error, others go on.
    pub(super) fn violate(&mut self, kind: CheckKind, error: u32, next: u32) {
        if !self.goes_on_behind(kind) {
            self.jump_to(error);
            return;
        }
        let passes = self.passes();
        self.split(passes, next, error);
    }

    /// Any truth value: whether an execution goes on behind a violation.
    fn passes(&mut self) -> ExprId {
        let int: TypeId = self.int_ty();
        let place = self.temporary(int);
        self.emit(Op::Havoc { place });
        self.b.load(place)
    }
}
