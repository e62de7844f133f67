//! Float terms that are simplified as they are built.

use super::circuit::circuit;
use super::{FloatFormat, FloatOp, FloatOperation, LeadingBit};
use crate::term::{Op, TermId, Terms};
use num_bigint::BigUint;
use num_traits::{One, Zero};
use std::collections::{BTreeMap, BTreeSet};

impl Terms {
    /// An operation on floats, as bit-vectors of their storage width.
    ///
    /// ```
    /// use hardbop_logic::{FloatFormat, FloatOp, FloatOperation, Terms};
    /// let mut terms = Terms::new();
    /// let [x, y] = [1.5f32, 0.25].map(|x| i128::from(x.to_bits())).map(|x| terms.bv(x, 32));
    /// let nan = terms.bv(0, 32);
    /// let add = FloatOperation::nearest(FloatOp::Add, FloatFormat::SINGLE);
    /// let sum = terms.float(add, &[x, y, nan]);
    /// assert_eq!(sum, terms.bv(i128::from(1.75f32.to_bits()), 32));
    /// ```
    ///
    /// # Panics
    /// When the arguments do not have the widths that the operation takes.
    pub fn float(&mut self, mut operation: FloatOperation, args: &[TermId]) -> TermId {
        let mut args = args.to_vec();
        if let Some((product, factor)) = self.as_product(operation, &args) {
            operation = product;
            args[1] = factor;
        }
        for (at, arg) in args.iter_mut().enumerate() {
            if operation.is_operand(at) {
                *arg = self.any_nan(*arg);
            }
        }
        if matches!(
            operation.op,
            FloatOp::Add | FloatOp::Mul | FloatOp::Fma | FloatOp::Eq
        ) && args[1] < args[0]
        {
            args.swap(0, 1);
        }
        let operands = args.iter().enumerate();
        let literal = operands
            .filter(|&(at, _)| operation.nan_argument() != Some(at))
            .all(|(_, &arg)| self.value_of(arg).is_some());
        if literal {
            // Whatever the NaN would be, the circuit of literals is one.
            return match self.fold(&Op::Float(operation), &args) {
                Some(folded) => folded,
                None => circuit(self, operation, &args),
            };
        }
        self.plain(Op::Float(operation), &args)
    }

    /// The same float, except that it may be another NaN: for those who do not look at which.
    fn any_nan(&mut self, term: TermId) -> TermId {
        let Op::Float(operation) = *self.op(term) else {
            return term;
        };
        let Some(at) = operation.nan_argument() else {
            return term;
        };
        let mut args = self.args(term).to_vec();
        args[at] = self.bv_value(BigUint::zero(), self.width(args[at]));
        self.plain(Op::Float(operation), &args)
    }

    /// A float for those who look at which NaN it is. Each operation that it may be the result of,
    /// and whose NaN nobody has told yet, gets the sign and the payload of what `nan` gives for it;
    /// so does a NaN that is a literal, since it may be what became of an operation.
    pub fn with_nan(
        &mut self,
        term: TermId,
        format: FloatFormat,
        nan: &mut dyn FnMut(&mut Terms, TermId) -> TermId,
    ) -> TermId {
        let mut told = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut stack = vec![term];
        while let Some(term) = stack.pop() {
            if !seen.insert(term) {
                continue;
            }
            match (self.op(term).clone(), self.args(term).to_vec()) {
                (Op::Float(operation), mut args) => {
                    if let Some(at) = operation.nan_argument()
                        && self.value_of(args[at]).is_some()
                    {
                        args[at] = nan(self, term);
                        let plain = self.plain(Op::Float(operation), &args);
                        told.insert(term, plain);
                    }
                }
                (Op::Ite, args) => stack.extend(&args[1..]),
                // Signs are changed by these.
                (Op::BvXor | Op::BvAnd | Op::BvOr | Op::Concat | Op::Extract { .. }, args) => {
                    stack.extend(args);
                }
                _ => {}
            }
        }
        let term = match told.is_empty() {
            true => term,
            false => self.substitute(term, &told),
        };
        self.with_literal_nan(term, format, nan)
    }

    /// The same for NaNs that are literals, where they are the float itself and no mask of it.
    fn with_literal_nan(
        &mut self,
        term: TermId,
        format: FloatFormat,
        nan: &mut dyn FnMut(&mut Terms, TermId) -> TermId,
    ) -> TermId {
        let mut opened: BTreeMap<TermId, TermId> = BTreeMap::new();
        let mut stack = vec![term];
        while let Some(&top) = stack.last() {
            if opened.contains_key(&top) {
                stack.pop();
                continue;
            }
            let (op, args) = (self.op(top).clone(), self.args(top).to_vec());
            let new = match op {
                Op::Ite => match (opened.get(&args[1]), opened.get(&args[2])) {
                    (Some(&yes), Some(&no)) => self.ite(args[0], yes, no),
                    _ => {
                        stack.extend(&args[1..]);
                        continue;
                    }
                },
                Op::BitVec(bits) if format.is_nan(&bits, self.width(top)) => {
                    let told_by = nan(self, top);
                    let any = FloatOperation::nearest(FloatOp::Add, format);
                    circuit(self, any, &[top, top, told_by])
                }
                _ => top,
            };
            opened.insert(top, new);
            stack.pop();
        }
        opened[&term]
    }

    /// A quotient by a power of two as a product with its inverse, if that is a normal number,
    /// and so exact.
    fn as_product(
        &mut self,
        operation: FloatOperation,
        args: &[TermId],
    ) -> Option<(FloatOperation, TermId)> {
        let format = operation.format;
        if operation.op != FloatOp::Div || format.leading == LeadingBit::Stored {
            return None;
        }
        let bits = self.bits_of(args[1])?;
        let fraction = u64::from(format.precision - 1);
        let stored = (bits >> fraction) % (BigUint::one() << format.exponent);
        let digits = bits % (BigUint::one() << fraction);
        let sign = bits.bit(u64::from(format.width()) - 1);
        // The exponents of a number and its inverse are opposite.
        let twice = BigUint::from(2 * format.bias() as u64);
        if !digits.is_zero() || stored.is_zero() || stored >= twice {
            return None;
        }
        let sign = BigUint::from(u8::from(sign)) << (format.width() - 1);
        let inverse = sign + ((twice - stored) << fraction);
        let product = FloatOperation {
            op: FloatOp::Mul,
            ..operation
        };
        Some((product, self.bv_value(inverse, format.width())))
    }
}
