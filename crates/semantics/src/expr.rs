//! The value of an expression in a symbolic state.

use crate::exec::Execution;
use crate::float;
use crate::scalar::{self, Shape};
use crate::state::FreshOrigin;
use crate::{Encoding, Overflow};
use hardbop_cfront::ids::{ExprId, TypeId};
use hardbop_cfront::program::{BinaryOp, ExprKind, RoundedOp, UnaryOp, rounding};
use hardbop_logic::{Rounding, Sort, TermId, Terms};

/// Whether an expression is surely evaluated, or only on one side of `?:`, `&&`, `||`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evaluated {
    Always,
    Perhaps,
}

/// How much stack an expression may need before more is fetched; trees may be deep.
pub(crate) const RED_ZONE: usize = 64 * 1024;
pub(crate) const STACK_CHUNK: usize = 4 * 1024 * 1024;

impl Execution<'_, '_> {
    pub(crate) fn shape_of(&self, ty: TypeId) -> Shape {
        Shape::of(&self.semantics.program.types, ty)
    }

    /// The value of a scalar expression: a number.
    pub(crate) fn number(
        &mut self,
        terms: &mut Terms,
        expr: ExprId,
        evaluated: Evaluated,
    ) -> TermId {
        let term = self.eval(terms, expr, evaluated);
        self.as_number(terms, term, self.semantics.program.expr(expr).ty)
    }

    /// Whether a scalar expression is not zero: a formula.
    pub(crate) fn truth(
        &mut self,
        terms: &mut Terms,
        expr: ExprId,
        evaluated: Evaluated,
    ) -> TermId {
        let term = self.eval(terms, expr, evaluated);
        if terms.sort(term) == Sort::Bool {
            return term;
        }
        let shape = self.shape_of(self.semantics.program.expr(expr).ty);
        self.is_nonzero(terms, term, shape)
    }

    fn as_number(&self, terms: &mut Terms, term: TermId, ty: TypeId) -> TermId {
        if terms.sort(term) != Sort::Bool {
            return term;
        }
        let shape = self.shape_of(ty);
        let arithmetic = self.semantics.pointer_arithmetic();
        let one = scalar::literal(terms, 1, shape, arithmetic);
        let zero = scalar::literal(terms, 0, shape, arithmetic);
        terms.ite(term, one, zero)
    }

    /// The value of a scalar expression; a truth value may come as a formula.
    fn eval(&mut self, terms: &mut Terms, expr: ExprId, evaluated: Evaluated) -> TermId {
        stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || {
            self.eval_node(terms, expr, evaluated)
        })
    }

    fn eval_node(&mut self, terms: &mut Terms, id: ExprId, evaluated: Evaluated) -> TermId {
        let semantics = self.semantics;
        let program = semantics.program;
        let expr = program.expr(id);
        let arithmetic = semantics.pointer_arithmetic();
        match expr.kind {
            ExprKind::Int(bits) => {
                let shape = self.shape_of(expr.ty);
                scalar::literal(terms, bits, shape, arithmetic)
            }
            ExprKind::Float(bits) => {
                let width = self.shape_of(expr.ty).width;
                terms.bv(bits as i128, width)
            }
            ExprKind::Load(place) => self.load(terms, place, evaluated),
            ExprKind::AddressOf(place) => self.address(terms, place, evaluated),
            ExprKind::Function(function) => {
                let distance = semantics.layout.function_distance(function);
                self.at_distance(terms, distance)
            }
            ExprKind::Unary(op, operand) => self.unary(terms, op, operand, expr.ty, evaluated),
            ExprKind::Binary(op, left, right) => self.binary(terms, op, left, right, evaluated),
            ExprKind::PointerAdd {
                pointer,
                index,
                scale,
            } => {
                let pointer = self.pointer(terms, pointer, evaluated);
                let moved = self.scaled(terms, index, scale, evaluated);
                self.advance(terms, pointer, moved)
            }
            ExprKind::PointerDifference { left, right, scale } => {
                let left = self.pointer(terms, left, evaluated);
                let right = self.pointer(terms, right, evaluated);
                if scalar::is_int(terms, left) {
                    let bytes = terms.int_sub(left, right);
                    let scale = terms.int(i128::from(scale));
                    terms.int_div(bytes, scale)
                } else {
                    let bytes = terms.bv_sub(left, right);
                    let scale = terms.bv(i128::from(scale), terms.width(bytes));
                    terms.bv_sdiv(bytes, scale)
                }
            }
            ExprKind::Convert(operand) => self.convert(terms, operand, expr.ty, evaluated),
            ExprKind::Rounded { op, mode, operands } => {
                let operands = &operands[..op.arity()];
                self.rounded(terms, op, mode, operands, expr.ty, evaluated)
            }
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.truth(terms, condition, evaluated);
                let then_term = self.eval(terms, then, Evaluated::Perhaps);
                let else_term = self.eval(terms, otherwise, Evaluated::Perhaps);
                let (a, b) = self.same_sort(terms, then_term, else_term, expr.ty);
                terms.ite(condition, a, b)
            }
            ExprKind::Overflows {
                op,
                left,
                right,
                at,
            } => {
                let a = self.number(terms, left, evaluated);
                let b = self.number(terms, right, evaluated);
                let left = (a, self.shape_of(program.expr(left).ty));
                let right = (b, self.shape_of(program.expr(right).ty));
                scalar::overflows(terms, op, left, right, self.shape_of(at))
            }
            ExprKind::ValidAccess { pointer, size } => {
                self.valid_access(terms, pointer, size, evaluated)
            }
            ExprKind::ValidFree { pointer } => self.valid_free(terms, pointer, evaluated),
            ExprKind::PointsToConstant { pointer } => {
                self.points_to_constant(terms, pointer, evaluated)
            }
            // Which objects live is not known here; a count of them may say that none does.
            ExprKind::HeapIs { .. } => self.imprecise(terms, "heap", Sort::Bool),
            // Which bits have a value is not a part of this state: any may have none.
            ExprKind::Open { .. } => {
                let shape = self.shape_of(expr.ty);
                let sort = scalar::sort(shape, arithmetic);
                let bits = self.imprecise(terms, "open", sort);
                let range = scalar::in_range(terms, bits, shape);
                self.facts.push(range);
                bits
            }
            ExprKind::ObjectSize { pointer } => {
                self.object_size(terms, pointer, expr.ty, evaluated)
            }
        }
    }

    fn same_sort(&self, terms: &mut Terms, a: TermId, b: TermId, ty: TypeId) -> (TermId, TermId) {
        if terms.sort(a) == terms.sort(b) {
            return (a, b);
        }
        let a = self.as_number(terms, a, ty);
        let b = self.as_number(terms, b, ty);
        if terms.sort(a) == terms.sort(b) {
            return (a, b);
        }
        let shape = self.shape_of(ty);
        (
            scalar::to_bits(terms, a, shape),
            scalar::to_bits(terms, b, shape),
        )
    }

    fn unary(
        &mut self,
        terms: &mut Terms,
        op: UnaryOp,
        operand: ExprId,
        ty: TypeId,
        evaluated: Evaluated,
    ) -> TermId {
        if op == UnaryOp::Not {
            let truth = self.truth(terms, operand, evaluated);
            return terms.not(truth);
        }
        let value = self.number(terms, operand, evaluated);
        let from = self.shape_of(self.semantics.program.expr(operand).ty);
        if let Some(format) = from.float {
            let value = match op {
                // The sign of a NaN that an operation gave may be any, each time.
                UnaryOp::SignBit => self.with_any_nan(terms, value, format),
                _ => value,
            };
            let test = float::test(terms, op, value, format);
            return test.unwrap_or_else(|| float::unary(terms, op, value, format));
        }
        let mut result = scalar::unary(terms, op, value, from);
        if self.wraps() && op == UnaryOp::Negate {
            result = scalar::settled(terms, BinaryOp::Sub, result, from);
        }
        let to = self.shape_of(ty);
        if from.width == to.width {
            result
        } else {
            scalar::convert(terms, result, from, to)
        }
    }

    fn binary(
        &mut self,
        terms: &mut Terms,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        evaluated: Evaluated,
    ) -> TermId {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            let a = self.truth(terms, left, evaluated);
            let b = self.truth(terms, right, Evaluated::Perhaps);
            return if op == BinaryOp::And {
                terms.and(&[a, b])
            } else {
                terms.or(&[a, b])
            };
        }
        let a = self.number(terms, left, evaluated);
        let b = self.number(terms, right, evaluated);
        let shape = self.shape_of(self.semantics.program.expr(left).ty);
        let b = match (op, shape.float) {
            (BinaryOp::CopySign, Some(format)) => self.with_any_nan(terms, b, format),
            _ => b,
        };
        let right_shape = self.shape_of(self.semantics.program.expr(right).ty);
        match op {
            BinaryOp::Eq | BinaryOp::Ne if scalar::constant_signed(terms, b) == Some(0) => {
                let nonzero = self.is_nonzero(terms, a, shape);
                match op {
                    BinaryOp::Ne => nonzero,
                    _ => terms.not(nonzero),
                }
            }
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => scalar::compare(terms, op, a, b, shape),
            _ => {
                if matches!(op, BinaryOp::Div | BinaryOp::Rem)
                    && evaluated == Evaluated::Always
                    && shape.float.is_none()
                {
                    // A run that goes on has not divided by zero.
                    let zero =
                        scalar::literal(terms, 0, shape, self.semantics.pointer_arithmetic());
                    let nonzero = scalar::compare(terms, BinaryOp::Ne, b, zero, shape);
                    self.facts.push(nonzero);
                }
                let mut result = scalar::binary(terms, op, a, b, shape, right_shape);
                if self.wraps() {
                    result = scalar::settled(terms, op, result, shape);
                }
                if self.is_guess(terms, result) {
                    let range = scalar::in_range(terms, result, shape);
                    self.facts.push(range);
                    self.exact = false;
                }
                result
            }
        }
    }

    /// Whether results over the integers wrap as the machine's do.
    fn wraps(&self) -> bool {
        matches!(
            self.semantics.encoding,
            Encoding::Integers {
                overflow: Overflow::Wraps,
                ..
            }
        )
    }

    /// Whether an integer term is an uninterpreted operation.
    fn is_guess(&self, terms: &Terms, term: TermId) -> bool {
        scalar::is_int(terms, term) && matches!(terms.op(term), hardbop_logic::Op::Apply(_))
    }

    fn convert(
        &mut self,
        terms: &mut Terms,
        operand: ExprId,
        ty: TypeId,
        evaluated: Evaluated,
    ) -> TermId {
        use hardbop_cfront::types::Type;
        let types = &self.semantics.program.types;
        let from_ty = self.semantics.program.expr(operand).ty;
        if matches!(types.get(ty), Type::Bool) {
            return self.truth(terms, operand, evaluated);
        }
        let (from, to) = (self.shape_of(from_ty), self.shape_of(ty));
        let value = self.number(terms, operand, evaluated);
        if from.float.is_none() && to.float.is_none() {
            return scalar::convert(terms, value, from, to);
        }
        let bits = scalar::to_bits(terms, value, from);
        let result = float::convert(terms, bits, from, to);
        scalar::encode(terms, result, to, self.semantics.pointer_arithmetic())
    }

    /// An operation on floats that is rounded as a mode says: one operation for each mode that
    /// it may be.
    fn rounded(
        &mut self,
        terms: &mut Terms,
        op: RoundedOp,
        mode: ExprId,
        operands: &[ExprId],
        ty: TypeId,
        evaluated: Evaluated,
    ) -> TermId {
        let program = self.semantics.program;
        let arithmetic = self.semantics.pointer_arithmetic();
        let mode_shape = self.shape_of(program.expr(mode).ty);
        let mode = self.number(terms, mode, evaluated);
        let from = self.shape_of(program.expr(operands[0]).ty);
        let to = self.shape_of(ty);
        let mut values = Vec::with_capacity(operands.len());
        for &operand in operands {
            let value = self.number(terms, operand, evaluated);
            values.push(scalar::to_bits(terms, value, from));
        }
        let mut result = float::rounded(terms, op, Rounding::NearestEven, &values, from, to);
        let never = terms.bool(false);
        for (bits, rounding) in [
            (rounding::DOWN, Rounding::Down),
            (rounding::UP, Rounding::Up),
            (rounding::ZERO, Rounding::Zero),
        ] {
            let literal = scalar::literal(terms, bits, mode_shape, arithmetic);
            let here = scalar::compare(terms, BinaryOp::Eq, mode, literal, mode_shape);
            if here != never {
                let other = float::rounded(terms, op, rounding, &values, from, to);
                result = terms.ite(here, other, result);
            }
        }
        result
    }

    /// A value that the encoding does not tell.
    pub(crate) fn imprecise(&mut self, terms: &mut Terms, name: &str, sort: Sort) -> TermId {
        self.exact = false;
        self.make_fresh(terms, name, sort, FreshOrigin::Imprecise)
    }
}
