//! Concrete values and what the operators do to them, after the SMT-LIB standard.
//!
//! The evaluator and the constant folding of the simplifier share this file, so that there is one
//! place where the meaning of an operator on values is written down.

use std::collections::BTreeMap;
use std::fmt;

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

use crate::sort::Sort;
use crate::term::{Op, Terms};

/// A value of some sort.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(BigInt),
    /// A bit-vector.
    BitVec(BitVec),
    /// An array.
    Array(ArrayValue),
}

/// The bits of a bit-vector, as an unsigned number below 2^width.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitVec {
    width: u32,
    bits: BigUint,
}

/// An array value: finitely many entries, and one value everywhere else.
///
/// No entry repeats the default. Compare arrays with [`Value::same`]: `==` also sees a default that
/// no index has, because the entries cover a finite index sort.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrayValue {
    index: IndexRange,
    entries: BTreeMap<Value, Value>,
    default: Box<Value>,
}

/// How many indices an array has, as far as it matters for equality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum IndexRange {
    Bool,
    Bits(u32),
    /// Infinitely many, or too many to be ever covered by entries.
    Endless,
}

impl BitVec {
    /// The lowest `width` bits of a number.
    pub fn new(bits: BigUint, width: u32) -> BitVec {
        let bits = if bits.bits() > u64::from(width) {
            bits % (BigUint::one() << width)
        } else {
            bits
        };
        BitVec { width, bits }
    }

    /// The bits of a signed number in two's complement.
    pub fn from_int(value: &BigInt, width: u32) -> BitVec {
        let modulus = BigInt::one() << width;
        let (_, bits) = value.mod_floor(&modulus).into_parts();
        BitVec { width, bits }
    }

    /// How many bits there are.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The bits as an unsigned number.
    pub fn unsigned(&self) -> &BigUint {
        &self.bits
    }

    /// The bits as a number in two's complement.
    pub fn signed(&self) -> BigInt {
        let value = BigInt::from(self.bits.clone());
        if self.sign() {
            value - (BigInt::one() << self.width)
        } else {
            value
        }
    }

    fn sign(&self) -> bool {
        self.bits.bit(u64::from(self.width) - 1)
    }

    fn map(&self, bits: BigUint) -> BitVec {
        BitVec::new(bits, self.width)
    }

    fn not(&self) -> BitVec {
        BitVec {
            width: self.width,
            bits: ones(self.width) - &self.bits,
        }
    }

    fn neg(&self) -> BitVec {
        self.map((BigUint::one() << self.width) - &self.bits)
    }

    fn sub(&self, other: &BitVec) -> BitVec {
        self.map(&self.bits + (BigUint::one() << self.width) - &other.bits)
    }

    fn udiv(&self, other: &BitVec) -> BitVec {
        let bits = if other.bits.is_zero() {
            ones(self.width)
        } else {
            &self.bits / &other.bits
        };
        self.map(bits)
    }

    fn urem(&self, other: &BitVec) -> BitVec {
        if other.bits.is_zero() {
            self.clone()
        } else {
            self.map(&self.bits % &other.bits)
        }
    }

    fn magnitude(&self) -> BitVec {
        if self.sign() {
            self.neg()
        } else {
            self.clone()
        }
    }

    // The three signed divisions are written as the standard defines them, by the unsigned ones.
    fn sdiv(&self, other: &BitVec) -> BitVec {
        let quotient = self.magnitude().udiv(&other.magnitude());
        if self.sign() == other.sign() {
            quotient
        } else {
            quotient.neg()
        }
    }

    fn srem(&self, other: &BitVec) -> BitVec {
        let rest = self.magnitude().urem(&other.magnitude());
        if self.sign() { rest.neg() } else { rest }
    }

    fn smod(&self, other: &BitVec) -> BitVec {
        let rest = self.magnitude().urem(&other.magnitude());
        if rest.bits.is_zero() {
            return rest;
        }
        match (self.sign(), other.sign()) {
            (false, false) => rest,
            (true, false) => other.sub(&rest),
            (false, true) => self.map(&rest.bits + &other.bits),
            (true, true) => rest.neg(),
        }
    }

    /// The shift distance, if it is below the width.
    fn distance(&self) -> Option<u32> {
        self.bits.to_u32().filter(|&by| by < self.width)
    }

    fn shl(&self, by: &BitVec) -> BitVec {
        self.map(by.distance().map_or(BigUint::zero(), |by| &self.bits << by))
    }

    fn lshr(&self, by: &BitVec) -> BitVec {
        self.map(by.distance().map_or(BigUint::zero(), |by| &self.bits >> by))
    }

    fn ashr(&self, by: &BitVec) -> BitVec {
        let by = by.distance().unwrap_or(self.width - 1);
        BitVec::from_int(&(self.signed() >> by), self.width)
    }
}

fn ones(width: u32) -> BigUint {
    (BigUint::one() << width) - BigUint::one()
}

impl ArrayValue {
    /// The array that has the same value everywhere.
    pub fn constant(index: Sort, default: Value) -> ArrayValue {
        let index = match index {
            Sort::Bool => IndexRange::Bool,
            Sort::BitVec(width) if width <= 20 => IndexRange::Bits(width),
            _ => IndexRange::Endless,
        };
        ArrayValue {
            index,
            entries: BTreeMap::new(),
            default: Box::new(default),
        }
    }

    /// The entries that differ from the default, in order of their index.
    pub fn entries(&self) -> &BTreeMap<Value, Value> {
        &self.entries
    }

    /// The value at all other indices.
    pub fn default_value(&self) -> &Value {
        &self.default
    }

    /// The value at an index.
    pub fn get(&self, index: &Value) -> &Value {
        self.entries.get(index).unwrap_or(&self.default)
    }

    /// The array with one value replaced.
    pub fn set(mut self, index: Value, value: Value) -> ArrayValue {
        if value == *self.default {
            self.entries.remove(&index);
        } else {
            self.entries.insert(index, value);
        }
        self
    }

    /// Whether both arrays hold the same values at all indices.
    fn same(&self, other: &ArrayValue) -> bool {
        if self == other {
            return true;
        }
        let agree = |index: &Value| self.get(index).same(other.get(index));
        let touched: std::collections::BTreeSet<&Value> =
            self.entries.keys().chain(other.entries.keys()).collect();
        let covered = match self.index {
            IndexRange::Bool => touched.len() == 2,
            IndexRange::Bits(width) => touched.len() == 1usize << width,
            IndexRange::Endless => false,
        };
        touched.into_iter().all(agree) && (covered || self.default.same(&other.default))
    }
}

impl Value {
    /// Zero, false, or an array of those: what an unconstrained constant of the sort may be.
    pub fn default_of(terms: &Terms, sort: Sort) -> Value {
        match sort {
            Sort::Bool => Value::Bool(false),
            Sort::Int => Value::Int(BigInt::zero()),
            Sort::BitVec(width) => Value::BitVec(BitVec::new(BigUint::zero(), width)),
            Sort::Array(array) => {
                let (index, element) = terms.array_parts(array);
                Value::Array(ArrayValue::constant(
                    index,
                    Value::default_of(terms, element),
                ))
            }
        }
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether two values of one sort are the same.
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Array(left), Value::Array(right)) => left.same(right),
            _ => self == other,
        }
    }
}

/// Applies an interpreted operator to values of the right sorts. `None` where the standard leaves
/// the result open (integer division by zero) and for operators that need more than values.
pub(crate) fn apply(terms: &Terms, op: &Op, args: &[Value]) -> Option<Value> {
    use Value as V;
    let bool_of = |value: &Value| value.as_bool();
    let result = match (op, args) {
        (Op::Bool(value), []) => V::Bool(*value),
        (Op::Int(value), []) => V::Int(value.clone()),
        (Op::Not, [a]) => V::Bool(!bool_of(a)?),
        (Op::And, args) => {
            let values: Option<Vec<bool>> = args.iter().map(bool_of).collect();
            V::Bool(values?.into_iter().all(|value| value))
        }
        (Op::Or, args) => {
            let values: Option<Vec<bool>> = args.iter().map(bool_of).collect();
            V::Bool(values?.into_iter().any(|value| value))
        }
        (Op::Xor, [a, b]) => V::Bool(bool_of(a)? != bool_of(b)?),
        (Op::Implies, [a, b]) => V::Bool(!bool_of(a)? || bool_of(b)?),
        (Op::Ite, [c, a, b]) => {
            if bool_of(c)? {
                a.clone()
            } else {
                b.clone()
            }
        }
        (Op::Eq, [a, b]) => V::Bool(a.same(b)),
        (Op::Distinct, args) => V::Bool(
            args.iter()
                .enumerate()
                .all(|(at, a)| args[at + 1..].iter().all(|b| !a.same(b))),
        ),
        (Op::Float(operation), args) => crate::float::apply(*operation, args)?,
        (op, [V::BitVec(a)]) => match op {
            Op::BvNot => V::BitVec(a.not()),
            Op::BvNeg => V::BitVec(a.neg()),
            Op::Extract { high, low } => V::BitVec(BitVec::new(&a.bits >> *low, high - low + 1)),
            Op::ZeroExtend(by) => V::BitVec(BitVec::new(a.bits.clone(), a.width + by)),
            Op::SignExtend(by) => V::BitVec(BitVec::from_int(&a.signed(), a.width + by)),
            Op::BvToInt => V::Int(BigInt::from(a.bits.clone())),
            Op::ConstArray(sort) => const_array(terms, *sort, &args[0]),
            _ => return None,
        },
        (op, [V::BitVec(a), V::BitVec(b)]) => bit_vectors(op, a, b)?,
        (Op::IntAdd, args) => V::Int(args.iter().map(int_of).sum::<Option<BigInt>>()?),
        (Op::IntMul, args) => V::Int(args.iter().map(int_of).product::<Option<BigInt>>()?),
        (op, [V::Int(a), V::Int(b)]) => match op {
            Op::IntDiv if !b.is_zero() => V::Int(euclid(a, b).0),
            Op::IntMod if !b.is_zero() => V::Int(euclid(a, b).1),
            Op::IntLe => V::Bool(a <= b),
            Op::IntLt => V::Bool(a < b),
            _ => return None,
        },
        (Op::IntToBv(width), [V::Int(a)]) => V::BitVec(BitVec::from_int(a, *width)),
        (Op::Select, [V::Array(array), index]) => array.get(index).clone(),
        (Op::Store, [V::Array(array), index, value]) => {
            V::Array(array.clone().set(index.clone(), value.clone()))
        }
        (Op::ConstArray(sort), [value]) => const_array(terms, *sort, value),
        _ => return None,
    };
    Some(result)
}

fn const_array(terms: &Terms, sort: crate::sort::ArraySort, value: &Value) -> Value {
    Value::Array(ArrayValue::constant(
        terms.array_parts(sort).0,
        value.clone(),
    ))
}

fn int_of(value: &Value) -> Option<BigInt> {
    match value {
        Value::Int(value) => Some(value.clone()),
        _ => None,
    }
}

/// Quotient and remainder with a remainder that is never negative, as SMT-LIB has them.
pub(crate) fn euclid(a: &BigInt, b: &BigInt) -> (BigInt, BigInt) {
    let (quotient, rest) = a.div_mod_floor(b);
    // Flooring leaves a remainder with the divisor's sign.
    if rest.sign() == Sign::Minus {
        (quotient + 1, rest - b)
    } else {
        (quotient, rest)
    }
}

fn bit_vectors(op: &Op, a: &BitVec, b: &BitVec) -> Option<Value> {
    let bits = match op {
        Op::BvAnd => a.map(&a.bits & &b.bits),
        Op::BvOr => a.map(&a.bits | &b.bits),
        Op::BvXor => a.map(&a.bits ^ &b.bits),
        Op::BvAdd => a.map(&a.bits + &b.bits),
        Op::BvSub => a.sub(b),
        Op::BvMul => a.map(&a.bits * &b.bits),
        Op::BvUdiv => a.udiv(b),
        Op::BvSdiv => a.sdiv(b),
        Op::BvUrem => a.urem(b),
        Op::BvSrem => a.srem(b),
        Op::BvSmod => a.smod(b),
        Op::BvShl => a.shl(b),
        Op::BvLshr => a.lshr(b),
        Op::BvAshr => a.ashr(b),
        Op::Concat => BitVec::new((&a.bits << b.width) | &b.bits, a.width + b.width),
        Op::BvUlt => return Some(Value::Bool(a.bits < b.bits)),
        Op::BvUle => return Some(Value::Bool(a.bits <= b.bits)),
        Op::BvSlt => return Some(Value::Bool(a.signed() < b.signed())),
        Op::BvSle => return Some(Value::Bool(a.signed() <= b.signed())),
        _ => return None,
    };
    Some(Value::BitVec(bits))
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::BitVec(value) => write!(f, "{}", value.bits),
            Value::Array(array) => {
                f.write_str("{")?;
                for (index, value) in &array.entries {
                    write!(f, "{index}: {value}, ")?;
                }
                write!(f, "else: {}}}", array.default)
            }
        }
    }
}
