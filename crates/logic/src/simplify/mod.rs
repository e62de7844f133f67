//! Builders that simplify while they build: the only way most callers make terms.
//!
//! Every rule keeps the meaning exactly (SMT-LIB's, division by zero included). The tests build
//! random terms both plainly and through these functions and ask the solver for a difference.

mod arrays;
mod bits;
mod bools;
mod ints;
mod reordered;

pub use bits::Sign;
use num_bigint::{BigInt, BigUint};

use crate::sort::Sort;
use crate::term::{FuncId, Op, TermId, Terms};
use crate::value::{BitVec, Value, apply};

impl Terms {
    /// An interpreted operator applied to arguments, simplified. `sort` matters for literals only.
    pub(crate) fn build(&mut self, op: Op, args: &[TermId], sort: Sort) -> TermId {
        match (&op, args) {
            (Op::BitVec(value), _) => self.bv_value(value.clone(), sort.width()),
            (Op::Not, &[a]) => self.not(a),
            (Op::And, args) => self.and(args),
            (Op::Or, args) => self.or(args),
            (Op::Xor, &[a, b]) => self.xor(a, b),
            (Op::Implies, &[a, b]) => self.implies(a, b),
            (Op::Ite, &[c, a, b]) => self.ite(c, a, b),
            (Op::Eq, &[a, b]) => self.eq(a, b),
            (Op::Distinct, args) => self.distinct(args),
            (Op::BvNot, &[a]) => self.bv_not(a),
            (Op::BvNeg, &[a]) => self.bv_neg(a),
            (Op::BvAnd, &[a, b]) => self.bv_and(a, b),
            (Op::BvOr, &[a, b]) => self.bv_or(a, b),
            (Op::BvXor, &[a, b]) => self.bv_xor(a, b),
            (Op::BvAdd, &[a, b]) => self.bv_add(a, b),
            (Op::BvSub, &[a, b]) => self.bv_sub(a, b),
            (Op::BvMul, &[a, b]) => self.bv_mul(a, b),
            (Op::BvUdiv | Op::BvSdiv | Op::BvUrem | Op::BvSrem | Op::BvSmod, &[a, b]) => {
                self.bv_division(op, a, b)
            }
            (Op::BvShl | Op::BvLshr | Op::BvAshr, &[a, b]) => self.bv_shift(op, a, b),
            (Op::BvUlt, &[a, b]) => self.bv_ult(a, b),
            (Op::BvUle, &[a, b]) => self.bv_ule(a, b),
            (Op::BvSlt, &[a, b]) => self.bv_slt(a, b),
            (Op::BvSle, &[a, b]) => self.bv_sle(a, b),
            (Op::Concat, &[a, b]) => self.concat(a, b),
            (&Op::Extract { high, low }, &[a]) => self.extract(a, high, low),
            (&Op::ZeroExtend(by), &[a]) => self.zero_extend(a, by),
            (&Op::SignExtend(by), &[a]) => self.sign_extend(a, by),
            (Op::IntAdd, args) => self.int_add(args),
            (Op::IntMul, args) => self.int_mul(args),
            (Op::IntDiv, &[a, b]) => self.int_div(a, b),
            (Op::IntMod, &[a, b]) => self.int_mod(a, b),
            (Op::IntLe, &[a, b]) => self.int_le(a, b),
            (Op::IntLt, &[a, b]) => self.int_lt(a, b),
            (Op::BvToInt, &[a]) => self.bv_to_int(a),
            (&Op::IntToBv(width), &[a]) => self.int_to_bv(a, width),
            (Op::Select, &[a, i]) => self.select(a, i),
            (Op::Store, &[a, i, v]) => self.store(a, i, v),
            (Op::Forall(bound), &[body]) => self.forall(bound, body),
            (Op::Exists(bound), &[body]) => self.exists(bound, body),
            (&Op::Float(operation), args) => self.float(operation, args),
            _ => self.plain(op, args),
        }
    }

    /// The literal of a value. Arrays become stores into a constant array of that sort.
    pub fn literal(&mut self, value: &Value, sort: Sort) -> TermId {
        match (value, sort) {
            (Value::Bool(value), _) => self.bool(*value),
            (Value::Int(value), _) => self.int_value(value.clone()),
            (Value::BitVec(value), _) => self.bv_value(value.unsigned().clone(), value.width()),
            (Value::Array(array), Sort::Array(array_sort)) => {
                let (index_sort, element_sort) = self.array_parts(array_sort);
                let default = self.literal(array.default_value(), element_sort);
                let mut term = self.const_array(sort, default);
                for (index, value) in array.entries() {
                    let index = self.literal(index, index_sort);
                    let value = self.literal(value, element_sort);
                    term = self.store(term, index, value);
                }
                term
            }
            (Value::Array(_), sort) => panic!("{sort:?} is not the sort of an array"),
        }
    }

    /// The value of a literal that is not an array.
    pub fn value_of(&self, term: TermId) -> Option<Value> {
        match (self.op(term), self.sort(term)) {
            (Op::Bool(value), _) => Some(Value::Bool(*value)),
            (Op::Int(value), _) => Some(Value::Int(value.clone())),
            (Op::BitVec(value), Sort::BitVec(width)) => {
                Some(Value::BitVec(BitVec::new(value.clone(), width)))
            }
            _ => None,
        }
    }

    /// A bit-vector value from a machine integer in two's complement.
    pub fn bv(&mut self, value: i128, width: u32) -> TermId {
        let bits = BitVec::from_int(&BigInt::from(value), width);
        self.bv_value(bits.unsigned().clone(), width)
    }

    /// An integer value from a machine integer.
    pub fn int(&mut self, value: i128) -> TermId {
        self.int_value(BigInt::from(value))
    }

    /// An integer value.
    pub fn int_value(&mut self, value: BigInt) -> TermId {
        self.plain(Op::Int(value), &[])
    }

    /// An uninterpreted function applied to its arguments.
    ///
    /// # Panics
    /// When the arguments do not have the sorts that the function was declared with.
    pub fn apply(&mut self, function: FuncId, args: &[TermId]) -> TermId {
        self.plain(Op::Apply(function), args)
    }

    /// Folds an operator over literals; arrays are never folded here.
    pub(crate) fn fold(&mut self, op: &Op, args: &[TermId]) -> Option<TermId> {
        let values: Option<Vec<Value>> = args.iter().map(|&arg| self.value_of(arg)).collect();
        let value = apply(self, op, &values?)?;
        let sort = self.sort_of(op, args).ok()?;
        match value {
            Value::Array(_) => None,
            value => Some(self.literal(&value, sort)),
        }
    }

    pub(crate) fn bits_of(&self, term: TermId) -> Option<&BigUint> {
        match self.op(term) {
            Op::BitVec(value) => Some(value),
            _ => None,
        }
    }

    fn int_of(&self, term: TermId) -> Option<&BigInt> {
        match self.op(term) {
            Op::Int(value) => Some(value),
            _ => None,
        }
    }
}
