//! Expressions with their constants folded: the constructors that lowering uses.
//!
//! Only what is exact is folded: integers of any width, wrapping as the machine does. A division
//! by zero stays as it is.

use crate::builder::Builder;
use crate::ids::{ExprId, TypeId};
use crate::program::{BinaryOp, ExprKind, PlaceKind, UnaryOp};
use crate::types::{DataModel, Type};

/// The low `width` bits of a number.
pub(crate) fn truncate(value: u128, width: u32) -> u128 {
    if width >= 128 {
        value
    } else {
        value & ((1u128 << width) - 1)
    }
}

/// A number of `width` bits as a signed one.
pub(crate) fn sign_extend(value: u128, width: u32) -> i128 {
    if width == 0 || width >= 128 {
        return value as i128;
    }
    let unused = 128 - width;
    ((value << unused) as i128) >> unused
}

impl Builder {
    /// A constant of an integer or pointer type.
    pub(crate) fn int(&mut self, value: i128, ty: TypeId) -> ExprId {
        let width = match self.types.get(ty) {
            Type::Bool => return self.expr(ExprKind::Int(u128::from(value != 0)), ty),
            _ => self.types.bit_width(ty).unwrap_or(128),
        };
        self.expr(ExprKind::Int(truncate(value as u128, width)), ty)
    }

    /// The zero of a scalar type.
    pub(crate) fn zero(&mut self, ty: TypeId) -> ExprId {
        match self.types.get(ty) {
            Type::Float(_) => self.expr(ExprKind::Float(0), ty),
            _ => self.expr(ExprKind::Int(0), ty),
        }
    }

    /// The bits of an integer or pointer constant.
    pub(crate) fn constant(&self, expr: ExprId) -> Option<u128> {
        match self.exprs[expr.index()].kind {
            ExprKind::Int(bits) => Some(bits),
            _ => None,
        }
    }

    /// The number that an integer constant stands for.
    pub(crate) fn number(&self, expr: ExprId) -> Option<i128> {
        let bits = self.constant(expr)?;
        let ty = self.exprs[expr.index()].ty;
        if self.types.is_signed(ty) {
            Some(sign_extend(bits, self.types.bit_width(ty)?))
        } else {
            i128::try_from(bits).ok()
        }
    }

    pub(crate) fn ty_of(&self, expr: ExprId) -> TypeId {
        self.exprs[expr.index()].ty
    }

    pub(crate) fn load(&mut self, place: crate::ids::PlaceId) -> ExprId {
        let ty = self.places[place.index()].ty;
        self.expr(ExprKind::Load(place), ty)
    }

    /// The address of a place, as a pointer of that type.
    pub(crate) fn address_of(&mut self, place: crate::ids::PlaceId, ty: TypeId) -> ExprId {
        if let PlaceKind::Deref(pointer) = self.places[place.index()].kind {
            return self.convert(pointer, ty);
        }
        let at = self.places[place.index()].ty;
        let fits = match *self.types.get(ty) {
            Type::Pointer(to) => {
                to == at
                    || matches!(self.types.get(at), Type::Array { element, .. } if *element == to)
            }
            _ => false,
        };
        if fits {
            return self.expr(ExprKind::AddressOf(place), ty);
        }
        let exact = self.types.pointer(at);
        let address = self.expr(ExprKind::AddressOf(place), exact);
        self.convert(address, ty)
    }

    /// The value as another scalar type.
    pub(crate) fn convert(&mut self, expr: ExprId, to: TypeId) -> ExprId {
        let from = self.ty_of(expr);
        if from == to {
            return expr;
        }
        let integral = |ty: &Type| matches!(ty, Type::Bool | Type::Int { .. } | Type::Pointer(_));
        if let Some(bits) = self.constant(expr)
            && integral(self.types.get(to))
        {
            let value = match self.types.get(from) {
                Type::Int {
                    width,
                    signed: true,
                } => sign_extend(bits, *width),
                _ => bits as i128,
            };
            return self.int(value, to);
        }
        // A pointer cast of a pointer cast is the outer one; so is widening an address twice.
        if let ExprKind::Convert(inner) = self.exprs[expr.index()].kind {
            let innermost = self.ty_of(inner);
            let pointer = |ty: &Type| matches!(ty, Type::Pointer(_));
            if pointer(self.types.get(from))
                && pointer(self.types.get(to))
                && pointer(self.types.get(innermost))
            {
                return self.convert(inner, to);
            }
        }
        self.expr(ExprKind::Convert(expr), to)
    }

    /// `!x`, with double negations and negated comparisons of integers simplified.
    pub(crate) fn not(&mut self, operand: ExprId) -> ExprId {
        let int = self.types.int(32, true);
        if let Some(bits) = self.constant(operand) {
            return self.int(i128::from(bits == 0), int);
        }
        self.expr(ExprKind::Unary(UnaryOp::Not, operand), int)
    }

    /// A unary operator on a scalar; the result has the given type.
    pub(crate) fn unary(&mut self, op: UnaryOp, operand: ExprId, ty: TypeId) -> ExprId {
        let operand_ty = self.ty_of(operand);
        if let (Some(bits), Type::Int { width, .. }) =
            (self.constant(operand), self.types.get(operand_ty))
        {
            let width = *width;
            let folded = match op {
                UnaryOp::Negate => Some(bits.wrapping_neg()),
                UnaryOp::BitNot => Some(!bits),
                UnaryOp::PopCount => Some(u128::from(bits.count_ones())),
                UnaryOp::LeadingZeros => Some(u128::from(bits.leading_zeros() + width - 128)),
                UnaryOp::TrailingZeros => Some(u128::from(bits.trailing_zeros().min(width))),
                UnaryOp::ByteSwap if width % 8 == 0 => Some(bits.swap_bytes() >> (128 - width)),
                _ => None,
            };
            if let Some(folded) = folded {
                return self.int(folded as i128, ty);
            }
        }
        if op == UnaryOp::Not {
            return self.not(operand);
        }
        self.expr(ExprKind::Unary(op, operand), ty)
    }

    /// A binary operator; the result has the given type.
    pub(crate) fn binary(
        &mut self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        ty: TypeId,
    ) -> ExprId {
        if let Some(value) = self.folded(op, left, right) {
            return self.int(value, ty);
        }
        self.expr(ExprKind::Binary(op, left, right), ty)
    }

    fn folded(&self, op: BinaryOp, left: ExprId, right: ExprId) -> Option<i128> {
        let (a, b) = (self.constant(left)?, self.constant(right)?);
        let ty = self.ty_of(left);
        let width = self.types.bit_width(ty)?;
        let signed = self.types.is_signed(ty);
        let (x, y) = (sign_extend(a, width), sign_extend(b, width));
        let ordered = |less: bool, signed_less: bool| {
            Some(i128::from(if signed { signed_less } else { less }))
        };
        match op {
            BinaryOp::Add => Some(a.wrapping_add(b) as i128),
            BinaryOp::Sub => Some(a.wrapping_sub(b) as i128),
            BinaryOp::Mul => Some(a.wrapping_mul(b) as i128),
            BinaryOp::Div | BinaryOp::Rem if b == 0 => None,
            BinaryOp::Div if signed => Some(x.wrapping_div(y)),
            BinaryOp::Div => Some((a / b) as i128),
            BinaryOp::Rem if signed => Some(x.wrapping_rem(y)),
            BinaryOp::Rem => Some((a % b) as i128),
            BinaryOp::Shl | BinaryOp::Shr => {
                // The amount has a type of its own; a negative one counts as too much.
                let amount = self.number(right)?;
                let amount = u32::try_from(amount).ok().filter(|&n| n < width);
                match (op, amount) {
                    (BinaryOp::Shl, Some(n)) => Some((a << n) as i128),
                    (BinaryOp::Shl, None) => Some(0),
                    (_, Some(n)) if signed => Some(x >> n),
                    (_, None) if signed => Some(x >> (width - 1).min(127)),
                    (_, Some(n)) => Some((a >> n) as i128),
                    (_, None) => Some(0),
                }
            }
            BinaryOp::BitAnd => Some((a & b) as i128),
            BinaryOp::BitOr => Some((a | b) as i128),
            BinaryOp::BitXor => Some((a ^ b) as i128),
            BinaryOp::And => Some(i128::from(a != 0 && b != 0)),
            BinaryOp::Or => Some(i128::from(a != 0 || b != 0)),
            BinaryOp::Eq => Some(i128::from(a == b)),
            BinaryOp::Ne => Some(i128::from(a != b)),
            BinaryOp::Lt => ordered(a < b, x < y),
            BinaryOp::Le => ordered(a <= b, x <= y),
            BinaryOp::Gt => ordered(a > b, x > y),
            BinaryOp::Ge => ordered(a >= b, x >= y),
            BinaryOp::CopySign | BinaryOp::FloatMod => None,
        }
    }

    /// `condition ? then : otherwise`.
    pub(crate) fn conditional(
        &mut self,
        condition: ExprId,
        then: ExprId,
        otherwise: ExprId,
    ) -> ExprId {
        if let Some(bits) = self.constant(condition) {
            return if bits != 0 { then } else { otherwise };
        }
        if then == otherwise {
            return then;
        }
        let ty = self.ty_of(then);
        self.expr(
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            },
            ty,
        )
    }

    /// `pointer + index * scale`, in bytes scaled.
    pub(crate) fn pointer_add(&mut self, pointer: ExprId, index: ExprId, scale: u64) -> ExprId {
        if self.constant(index) == Some(0) || scale == 0 {
            return pointer;
        }
        let ty = self.ty_of(pointer);
        self.expr(
            ExprKind::PointerAdd {
                pointer,
                index,
                scale,
            },
            ty,
        )
    }

    /// Whether an operation does not fit a type; folded for numbers that are known and small.
    pub(crate) fn overflows(
        &mut self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        at: TypeId,
    ) -> ExprId {
        let int = self.types.int(32, true);
        if let (Some(a), Some(b)) = (self.number(left), self.number(right)) {
            let exact = match op {
                BinaryOp::Add => a.checked_add(b),
                BinaryOp::Sub => a.checked_sub(b),
                BinaryOp::Mul => a.checked_mul(b),
                BinaryOp::Div if b != 0 => a.checked_div(b),
                BinaryOp::Rem if b != 0 => a.checked_rem(b),
                BinaryOp::Shl if (0..64).contains(&b) && a.unsigned_abs() < 1 << 62 => Some(a << b),
                _ => None,
            };
            if let Some(exact) = exact {
                let width = self.types.bit_width(at).unwrap_or(128);
                let fits = if self.types.is_signed(at) {
                    sign_extend(truncate(exact as u128, width), width) == exact
                } else {
                    exact >= 0 && truncate(exact as u128, width) == exact as u128
                };
                return self.int(i128::from(!fits), int);
            }
        }
        self.expr(
            ExprKind::Overflows {
                op,
                left,
                right,
                at,
            },
            int,
        )
    }

    /// The width of a pointer in bits.
    pub(crate) fn pointer_width(&self) -> u32 {
        match self.types.model() {
            DataModel::Ilp32 => 32,
            DataModel::Lp64 => 64,
        }
    }
}
