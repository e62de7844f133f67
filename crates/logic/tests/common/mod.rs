//! XorShift terms, the same for the same seed.
#![allow(dead_code, reason = "each test file uses its part")]

use hardbop_logic::{ArrayValue, Assignment, BitVec, Op, Sort, TermId, Terms, Value};
use hardbop_test_support::random::XorShift;

/// The numbers of a seed.
pub fn numbers(seed: u64) -> XorShift {
    XorShift(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
}

/// What kinds of terms to make.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Bits,
    Integers,
    Arrays,
}

/// Makes plain terms: nothing is simplified on the way.
pub struct Generator<'t> {
    pub terms: &'t mut Terms,
    pub random: XorShift,
    pub kind: Kind,
    /// The width of the bit-vectors that everything starts from.
    pub width: u32,
}

impl Generator<'_> {
    pub fn constants(&mut self) -> Vec<TermId> {
        let mut all = Vec::new();
        for name in ["p", "q"] {
            all.push(self.terms.constant(name, Sort::Bool));
        }
        for name in ["x", "y", "z"] {
            all.push(self.terms.constant(name, Sort::BitVec(self.width)));
            if self.kind == Kind::Integers {
                all.push(self.terms.constant(&format!("i{name}"), Sort::Int));
            }
        }
        if self.kind == Kind::Arrays {
            let sort = self.array_sort();
            all.push(self.terms.constant("a", sort));
            all.push(self.terms.constant("b", sort));
        }
        all
    }

    fn array_sort(&mut self) -> Sort {
        self.terms
            .array_sort(Sort::BitVec(self.width), Sort::BitVec(self.width))
    }

    pub fn bool(&mut self, depth: u32) -> TermId {
        if depth == 0 {
            return match self.random.below(6) {
                0 => self.terms.plain(Op::Bool(true), &[]),
                1 => self.terms.plain(Op::Bool(false), &[]),
                at => self
                    .terms
                    .constant(if at % 2 == 0 { "p" } else { "q" }, Sort::Bool),
            };
        }
        let d = depth - 1;
        match self.random.below(16) {
            0 => {
                let a = self.bool(d);
                self.terms.plain(Op::Not, &[a])
            }
            at @ 1..=3 => {
                let args: Vec<TermId> = (0..2 + self.random.below(2))
                    .map(|_| self.bool(d))
                    .collect();
                self.terms
                    .plain(if at == 1 { Op::Or } else { Op::And }, &args)
            }
            at @ 4..=6 => {
                let (a, b) = (self.bool(d), self.bool(d));
                self.terms.plain(
                    [Op::Xor, Op::Implies, Op::Eq][at as usize - 4].clone(),
                    &[a, b],
                )
            }
            7 => {
                let (c, a, b) = (self.bool(d), self.bool(d), self.bool(d));
                self.terms.plain(Op::Ite, &[c, a, b])
            }
            8 | 9 if self.kind == Kind::Integers => {
                let (a, b) = (self.int(d), self.int(d));
                let op = [Op::IntLe, Op::IntLt, Op::Eq][self.random.below(3) as usize].clone();
                self.terms.plain(op, &[a, b])
            }
            8 if self.kind == Kind::Arrays => {
                let (a, b) = (self.array(d), self.array(d));
                self.terms.plain(Op::Eq, &[a, b])
            }
            9 => {
                let args: Vec<TermId> = (0..3).map(|_| self.bits(self.width, d)).collect();
                self.terms.plain(Op::Distinct, &args)
            }
            _ => {
                let width = self.some_width();
                let (a, b) = (self.bits(width, d), self.bits(width, d));
                let ops = [Op::BvUlt, Op::BvUle, Op::BvSlt, Op::BvSle, Op::Eq, Op::Eq];
                let op = ops[self.random.below(6) as usize].clone();
                self.terms.plain(op, &[a, b])
            }
        }
    }

    fn some_width(&mut self) -> u32 {
        match self.random.below(3) {
            0 => 1 + self.random.below(2 * u64::from(self.width)) as u32,
            _ => self.width,
        }
    }

    pub fn bits(&mut self, width: u32, depth: u32) -> TermId {
        if depth == 0 || (width == 1 && self.random.below(4) == 0) {
            if width == self.width && self.random.below(3) > 0 {
                let name = self.random.pick(&["x", "y", "z"]);
                return self.terms.constant(name, Sort::BitVec(width));
            }
            let edge = self.random.pick(&[0i128, 1, -1, 2, 3, -2]);
            let value = match self.random.below(4) {
                0 => i128::from(self.random.bits()),
                1 => 1i128 << self.random.below(u64::from(width.min(120))),
                _ => edge,
            };
            return self.terms.bv(value, width);
        }
        let d = depth - 1;
        match self.random.below(24) {
            0 | 1 => {
                let a = self.bits(width, d);
                let op = if self.random.below(2) == 0 {
                    Op::BvNot
                } else {
                    Op::BvNeg
                };
                self.terms.plain(op, &[a])
            }
            2 if width >= 2 => {
                let low = 1 + self.random.below(u64::from(width) - 1) as u32;
                let (a, b) = (self.bits(width - low, d), self.bits(low, d));
                self.terms.plain(Op::Concat, &[a, b])
            }
            3 | 4 => {
                let wide = width + self.random.below(4) as u32;
                let low = self.random.below(u64::from(wide - width) + 1) as u32;
                let a = self.bits(wide, d);
                self.terms.plain(
                    Op::Extract {
                        high: low + width - 1,
                        low,
                    },
                    &[a],
                )
            }
            at @ 5..=8 if width >= 2 => {
                let by = 1 + self.random.below(u64::from(width) - 1) as u32;
                let a = self.bits(width - by, d);
                self.terms.plain(
                    if at < 7 {
                        Op::ZeroExtend(by)
                    } else {
                        Op::SignExtend(by)
                    },
                    &[a],
                )
            }
            9 | 10 => {
                let c = self.bool(d);
                let (a, b) = (self.bits(width, d), self.bits(width, d));
                self.terms.plain(Op::Ite, &[c, a, b])
            }
            11 if self.kind == Kind::Integers => {
                let a = self.int(d);
                self.terms.plain(Op::IntToBv(width), &[a])
            }
            11 | 12 if self.kind == Kind::Arrays && width == self.width => {
                let (a, i) = (self.array(d), self.bits(width, d));
                self.terms.plain(Op::Select, &[a, i])
            }
            _ => {
                let ops = [
                    Op::BvAnd,
                    Op::BvOr,
                    Op::BvXor,
                    Op::BvAdd,
                    Op::BvAdd,
                    Op::BvSub,
                    Op::BvSub,
                    Op::BvMul,
                    Op::BvUdiv,
                    Op::BvSdiv,
                    Op::BvUrem,
                    Op::BvSrem,
                    Op::BvSmod,
                    Op::BvShl,
                    Op::BvLshr,
                    Op::BvAshr,
                ];
                let op = ops[self.random.below(16) as usize].clone();
                let (a, b) = (self.bits(width, d), self.bits(width, d));
                self.terms.plain(op, &[a, b])
            }
        }
    }

    pub fn int(&mut self, depth: u32) -> TermId {
        if depth == 0 {
            return match self.random.below(3) {
                0 => {
                    let value = self.random.pick(&[0i128, 1, -1, 2, -3, 7, 1 << 70]);
                    self.terms.int(value)
                }
                _ => {
                    let name = self.random.pick(&["ix", "iy", "iz"]);
                    self.terms.constant(name, Sort::Int)
                }
            };
        }
        let d = depth - 1;
        match self.random.below(10) {
            0..=3 => {
                let args: Vec<TermId> =
                    (0..2 + self.random.below(2)).map(|_| self.int(d)).collect();
                self.terms.plain(Op::IntAdd, &args)
            }
            // Products are linear, and divisors are numbers: else the solver may not know.
            at @ 4..=6 => {
                let value = self.random.pick(&[0i128, 1, -1, 2, -3, 4]);
                let number = self.terms.int(value);
                let a = self.int(d);
                match at {
                    4 => self.terms.plain(Op::IntMul, &[a, number]),
                    _ if value == 0 => a,
                    5 => self.terms.plain(Op::IntDiv, &[a, number]),
                    _ => self.terms.plain(Op::IntMod, &[a, number]),
                }
            }
            7 => {
                let (c, a, b) = (self.bool(d), self.int(d), self.int(d));
                self.terms.plain(Op::Ite, &[c, a, b])
            }
            8 => {
                let width = self.some_width();
                let a = self.bits(width, d);
                self.terms.plain(Op::BvToInt, &[a])
            }
            _ => self.int(d),
        }
    }

    pub fn array(&mut self, depth: u32) -> TermId {
        let sort = self.array_sort();
        if depth == 0 {
            let name = self.random.pick(&["a", "b"]);
            return self.terms.constant(name, sort);
        }
        let d = depth - 1;
        match self.random.below(6) {
            0 => {
                let Sort::Array(array) = sort else {
                    unreachable!()
                };
                let value = self.bits(self.width, d);
                self.terms.plain(Op::ConstArray(array), &[value])
            }
            1 => {
                let (c, a, b) = (self.bool(d), self.array(d), self.array(d));
                self.terms.plain(Op::Ite, &[c, a, b])
            }
            _ => {
                let (a, i, v) = (
                    self.array(d),
                    self.bits(self.width, d),
                    self.bits(self.width, d),
                );
                self.terms.plain(Op::Store, &[a, i, v])
            }
        }
    }

    /// XorShift values for all constants.
    pub fn assignment(&mut self) -> Assignment {
        let mut assignment = Assignment::new();
        for constant in self.constants() {
            let value = self.value(self.terms.sort(constant));
            assignment.set(constant, value);
        }
        assignment
    }

    fn value(&mut self, sort: Sort) -> Value {
        match sort {
            Sort::Bool => Value::Bool(self.random.below(2) == 0),
            Sort::Int => Value::Int((self.random.below(41) as i64 - 20).into()),
            Sort::BitVec(width) => {
                let value = match self.random.below(3) {
                    0 => self.random.below(4),
                    1 => u64::MAX - self.random.below(4),
                    _ => self.random.bits(),
                };
                Value::BitVec(BitVec::new(value.into(), width))
            }
            Sort::Array(array) => {
                let (index, element) = self.terms.array_parts(array);
                let mut value = ArrayValue::constant(index, self.value(element));
                for _ in 0..self.random.below(4) {
                    value = value.set(self.value(index), self.value(element));
                }
                Value::Array(value)
            }
        }
    }
}
