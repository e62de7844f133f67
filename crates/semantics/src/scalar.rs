//! Scalar values in logic: machine integers as bit-vectors (exact) or as mathematical integers.
//!
//! The two encodings meet here: every operation takes operands in either and says what it gives.
//! Over integers, unsigned addition and subtraction wrap as they must, signed arithmetic is taken
//! not to overflow, and what is not linear becomes an uninterpreted function of its operands with
//! the bounds of its type. That is a guess, good enough to find invariants and paths by; verdicts
//! come from the exact encoding.

use crate::float;
use hardbop_cfront::ids::TypeId;
use hardbop_cfront::program::{BinaryOp, UnaryOp};
use hardbop_cfront::types::{Type, Types};
use hardbop_logic::{FloatFormat, Sign, Sort, TermId, Terms, Value};

/// How machine integers are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arithmetic {
    /// As bit-vectors: exact.
    Bits,
    /// As mathematical integers: fast, a guess.
    Integers,
}

/// The shape of a scalar type: all that arithmetic needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The width in bits.
    pub width: u32,
    /// Whether it is two's complement.
    pub signed: bool,
    /// The format, if it is a floating-point type.
    pub float: Option<FloatFormat>,
}

impl Shape {
    /// The shape of a scalar type.
    pub fn of(types: &Types, ty: TypeId) -> Shape {
        Shape {
            width: types.bit_width(ty).unwrap_or(8),
            signed: types.is_signed(ty),
            float: match types.get(ty) {
                Type::Float(kind) => Some(float::format(*kind)),
                _ => None,
            },
        }
    }

    fn sign(self) -> Sign {
        if self.signed {
            Sign::Signed
        } else {
            Sign::Unsigned
        }
    }

    /// The smallest value.
    pub fn low(self) -> i128 {
        if self.signed && self.width <= 127 {
            -(1i128 << (self.width - 1))
        } else {
            0
        }
    }

    /// The largest value, for widths up to 126.
    pub fn high(self) -> i128 {
        let bits = if self.signed {
            self.width - 1
        } else {
            self.width
        };
        (1i128 << bits.min(126)) - 1
    }

    /// Whether values of this shape may be encoded as integers at all.
    pub fn fits_integers(self) -> bool {
        self.float.is_none() && self.width <= 64
    }
}

/// Whether a term is a mathematical integer.
pub fn is_int(terms: &Terms, term: TermId) -> bool {
    terms.sort(term) == Sort::Int
}

/// The sort of values of a shape under an encoding.
pub fn sort(shape: Shape, arithmetic: Arithmetic) -> Sort {
    match arithmetic {
        Arithmetic::Integers if shape.fits_integers() => Sort::Int,
        _ => Sort::BitVec(shape.width),
    }
}

/// A constant with these bits.
pub fn literal(terms: &mut Terms, bits: u128, shape: Shape, arithmetic: Arithmetic) -> TermId {
    match sort(shape, arithmetic) {
        Sort::Int => {
            let shift = 128 - shape.width;
            let value = if shape.signed {
                ((bits << shift) as i128) >> shift
            } else {
                ((bits << shift) >> shift) as i128
            };
            terms.int(value)
        }
        _ => terms.bv(bits as i128, shape.width),
    }
}

/// That a value lies in the range of its shape; `true` for bit-vectors.
pub fn in_range(terms: &mut Terms, value: TermId, shape: Shape) -> TermId {
    if !is_int(terms, value) {
        return terms.bool(true);
    }
    let low = terms.int(shape.low());
    let high = terms.int(shape.high());
    let above = terms.int_le(low, value);
    let below = terms.int_le(value, high);
    terms.and(&[above, below])
}

/// The value as a bit-vector of its shape.
pub fn to_bits(terms: &mut Terms, value: TermId, shape: Shape) -> TermId {
    if is_int(terms, value) {
        terms.int_to_bv(value, shape.width)
    } else {
        value
    }
}

/// The value as a mathematical integer.
pub fn to_int(terms: &mut Terms, value: TermId, shape: Shape) -> TermId {
    if is_int(terms, value) {
        value
    } else if shape.signed {
        terms.bv_to_int_signed(value)
    } else {
        terms.bv_to_int(value)
    }
}

/// The value in the wanted encoding.
pub fn encode(terms: &mut Terms, value: TermId, shape: Shape, arithmetic: Arithmetic) -> TermId {
    match sort(shape, arithmetic) {
        Sort::Int => to_int(terms, value, shape),
        _ => to_bits(terms, value, shape),
    }
}

/// Converts an integer or pointer value to another integer or pointer type.
pub fn convert(terms: &mut Terms, value: TermId, from: Shape, to: Shape) -> TermId {
    if is_int(terms, value) {
        if !to.fits_integers() {
            let wide = terms.int_to_bv(value, to.width);
            return wide;
        }
        return wrap(terms, value, from, to);
    }
    terms.resize(value, to.width, from.sign())
}

/// The number that a value of one shape becomes in another: modulo 2^width.
fn wrap(terms: &mut Terms, value: TermId, from: Shape, to: Shape) -> TermId {
    if to.low() <= from.low() && from.high() <= to.high() {
        return value;
    }
    let modulus = terms.int(1i128 << to.width);
    if from.width <= to.width {
        // One turn is enough: a sign bit changes its meaning.
        let zero = terms.int(0);
        return if to.signed {
            let high = terms.int(to.high());
            let over = terms.int_lt(high, value);
            let turned = terms.int_sub(value, modulus);
            terms.ite(over, turned, value)
        } else {
            let negative = terms.int_lt(value, zero);
            let turned = terms.int_add(&[value, modulus]);
            terms.ite(negative, turned, value)
        };
    }
    if to.signed {
        let half = terms.int(1i128 << (to.width - 1));
        let moved = terms.int_add(&[value, half]);
        let reduced = terms.int_mod(moved, modulus);
        terms.int_sub(reduced, half)
    } else {
        terms.int_mod(value, modulus)
    }
}

/// Arithmetic on two values of one shape (shifts: the right one has a shape of its own).
pub fn binary(
    terms: &mut Terms,
    op: BinaryOp,
    left: TermId,
    right: TermId,
    shape: Shape,
    right_shape: Shape,
) -> TermId {
    if let Some(format) = shape.float {
        return float::binary(terms, op, left, right, format);
    }
    let ints = is_int(terms, left) && (is_int(terms, right));
    if ints {
        return integer_binary(terms, op, left, right, shape);
    }
    let left = to_bits(terms, left, shape);
    let right = to_bits(terms, right, right_shape);
    match op {
        BinaryOp::Add => terms.bv_add(left, right),
        BinaryOp::Sub => terms.bv_sub(left, right),
        BinaryOp::Mul => terms.bv_mul(left, right),
        BinaryOp::Div if shape.signed => terms.bv_sdiv(left, right),
        BinaryOp::Div => terms.bv_udiv(left, right),
        BinaryOp::Rem if shape.signed => terms.bv_srem(left, right),
        BinaryOp::Rem => terms.bv_urem(left, right),
        BinaryOp::BitAnd => terms.bv_and(left, right),
        BinaryOp::BitOr => terms.bv_or(left, right),
        BinaryOp::BitXor => terms.bv_xor(left, right),
        BinaryOp::Shl | BinaryOp::Shr => {
            let amount = shift_amount(terms, right, right_shape, shape.width);
            match op {
                BinaryOp::Shl => terms.bv_shl(left, amount),
                _ if shape.signed => terms.bv_ashr(left, amount),
                _ => terms.bv_lshr(left, amount),
            }
        }
        _ => {
            let sort = Sort::BitVec(shape.width);
            uninterpreted(terms, &format!("op_{op:?}"), &[left, right], sort)
        }
    }
}

/// A shift amount at another width: amounts from the width on stay such amounts.
fn shift_amount(terms: &mut Terms, amount: TermId, shape: Shape, width: u32) -> TermId {
    if shape.width <= width {
        // A negative amount is an amount beyond the width, read as unsigned.
        return terms.resize(amount, width, shape.sign());
    }
    let bound = terms.bv(i128::from(width), shape.width);
    let small = terms.bv_ult(amount, bound);
    let low = terms.extract(amount, width - 1, 0);
    let all = terms.bv(-1, width);
    terms.ite(small, low, all)
}

fn integer_binary(
    terms: &mut Terms,
    op: BinaryOp,
    left: TermId,
    right: TermId,
    shape: Shape,
) -> TermId {
    let exact = |terms: &mut Terms, value: TermId| {
        if shape.signed {
            value
        } else {
            // Unsigned sums and differences leave the range by one turn at most.
            let zero = terms.int(0);
            let modulus = terms.int(1i128 << shape.width);
            let negative = terms.int_lt(value, zero);
            let over = terms.int_le(modulus, value);
            let up = terms.int_add(&[value, modulus]);
            let down = terms.int_sub(value, modulus);
            let kept = terms.ite(over, down, value);
            terms.ite(negative, up, kept)
        }
    };
    match op {
        BinaryOp::Add => {
            let sum = terms.int_add(&[left, right]);
            exact(terms, sum)
        }
        BinaryOp::Sub => {
            let difference = terms.int_sub(left, right);
            exact(terms, difference)
        }
        BinaryOp::Mul
            if constant_int(terms, left).is_some() || constant_int(terms, right).is_some() =>
        {
            terms.int_mul(&[left, right])
        }
        BinaryOp::Div | BinaryOp::Rem => match constant_int(terms, right) {
            Some(divisor) if divisor != 0 => {
                let quotient = truncated_division(terms, left, divisor, shape);
                if op == BinaryOp::Div {
                    quotient
                } else {
                    let back = terms.int_mul(&[quotient, right]);
                    terms.int_sub(left, back)
                }
            }
            _ => integer_unknown(terms, op, left, right),
        },
        BinaryOp::Shl => match constant_int(terms, right) {
            Some(by) if (0..64).contains(&by) => {
                let factor = terms.int(1i128 << by);
                terms.int_mul(&[left, factor])
            }
            _ => integer_unknown(terms, op, left, right),
        },
        BinaryOp::Shr => match constant_int(terms, right) {
            Some(by) if (0..64).contains(&by) => {
                let divisor = terms.int(1i128 << by);
                terms.int_div(left, divisor)
            }
            _ => integer_unknown(terms, op, left, right),
        },
        BinaryOp::BitAnd => {
            let mask = |value: Option<i128>| {
                value.filter(|v| *v >= 0 && *v < i128::from(u64::MAX) && (v & (v + 1)) == 0)
            };
            let (one, other) = match (
                mask(constant_int(terms, left)),
                mask(constant_int(terms, right)),
            ) {
                (Some(mask), _) => (Some(mask), right),
                (None, Some(mask)) => (Some(mask), left),
                _ => (None, left),
            };
            match one {
                Some(mask) => {
                    let modulus = terms.int(mask + 1);
                    terms.int_mod(other, modulus)
                }
                None => integer_unknown(terms, op, left, right),
            }
        }
        _ => integer_unknown(terms, op, left, right),
    }
}

/// A result over the integers, brought back into the range of its type as the machine does it.
pub fn settled(terms: &mut Terms, op: BinaryOp, value: TermId, shape: Shape) -> TermId {
    if !is_int(terms, value) || matches!(terms.op(value), hardbop_logic::Op::Apply(_)) {
        return value;
    }
    let [low, high, modulus] =
        [shape.low(), shape.high(), 1i128 << shape.width].map(|number| terms.int(number));
    match op {
        // Unsigned sums and differences are in range already.
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Div if shape.signed => {
            let over = terms.int_lt(high, value);
            let under = terms.int_lt(value, low);
            let down = terms.int_sub(value, modulus);
            let up = terms.int_add(&[value, modulus]);
            let kept = terms.ite(under, up, value);
            terms.ite(over, down, kept)
        }
        BinaryOp::Mul | BinaryOp::Shl => {
            let fits = in_range(terms, value, shape);
            let moved = terms.int_sub(value, low);
            let reduced = terms.int_mod(moved, modulus);
            let back = terms.int_add(&[reduced, low]);
            terms.ite(fits, value, back)
        }
        _ => value,
    }
}

/// C's division by a constant: towards zero.
fn truncated_division(terms: &mut Terms, value: TermId, divisor: i128, shape: Shape) -> TermId {
    let magnitude = terms.int(divisor.abs());
    let down = terms.int_div(value, magnitude);
    let quotient = if shape.signed {
        let zero = terms.int(0);
        let negative = terms.int_lt(value, zero);
        let opposite = terms.int_neg(value);
        let up = terms.int_div(opposite, magnitude);
        let up = terms.int_neg(up);
        terms.ite(negative, up, down)
    } else {
        down
    };
    if divisor < 0 {
        terms.int_neg(quotient)
    } else {
        quotient
    }
}

fn integer_unknown(terms: &mut Terms, op: BinaryOp, left: TermId, right: TermId) -> TermId {
    uninterpreted(terms, &format!("int_{op:?}"), &[left, right], Sort::Int)
}

/// A unary operator on a value of a shape; `None` for those that give a truth value.
pub fn unary(terms: &mut Terms, op: UnaryOp, value: TermId, shape: Shape) -> TermId {
    if is_int(terms, value) {
        match op {
            UnaryOp::Negate if shape.signed => return terms.int_neg(value),
            UnaryOp::BitNot if shape.signed => {
                let opposite = terms.int_neg(value);
                let one = terms.int(1);
                return terms.int_sub(opposite, one);
            }
            UnaryOp::BitNot => {
                let top = terms.int(shape.high());
                return terms.int_sub(top, value);
            }
            UnaryOp::Negate => {
                let zero = terms.int(0);
                return integer_binary(terms, BinaryOp::Sub, zero, value, shape);
            }
            _ => {}
        }
    }
    if let Some(format) = shape.float {
        return float::unary(terms, op, value, format);
    }
    let value = to_bits(terms, value, shape);
    let width = shape.width;
    match op {
        UnaryOp::Negate => terms.bv_neg(value),
        UnaryOp::BitNot => terms.bv_not(value),
        UnaryOp::PopCount => {
            let mut sum = terms.bv(0, width);
            for bit in 0..width {
                let one = terms.extract(value, bit, bit);
                let wide = terms.zero_extend(one, width - 1);
                sum = terms.bv_add(sum, wide);
            }
            sum
        }
        UnaryOp::LeadingZeros | UnaryOp::TrailingZeros => {
            // From the bit that is looked at last to the one that is looked at first.
            let mut count = terms.bv(i128::from(width), width);
            for step in (0..width).rev() {
                let bit = if op == UnaryOp::LeadingZeros {
                    width - 1 - step
                } else {
                    step
                };
                let one = terms.extract(value, bit, bit);
                let set = terms.bv(1, 1);
                let hit = terms.eq(one, set);
                let here = terms.bv(i128::from(step), width);
                count = terms.ite(hit, here, count);
            }
            count
        }
        UnaryOp::ByteSwap => {
            let mut out = terms.extract(value, 7, 0);
            for byte in 1..width / 8 {
                let next = terms.extract(value, byte * 8 + 7, byte * 8);
                out = terms.concat(out, next);
            }
            out
        }
        // What is left is for floats.
        _ => uninterpreted(terms, &format!("op_{op:?}"), &[value], Sort::BitVec(width)),
    }
}

/// A comparison of two values of one shape.
pub fn compare(
    terms: &mut Terms,
    op: BinaryOp,
    left: TermId,
    right: TermId,
    shape: Shape,
) -> TermId {
    if let Some(format) = shape.float {
        return float::compare(terms, op, left, right, format);
    }
    let (left, right) = if is_int(terms, left) && is_int(terms, right) {
        (left, right)
    } else {
        (to_bits(terms, left, shape), to_bits(terms, right, shape))
    };
    let int = is_int(terms, left);
    let mut less = |a, b| match (int, shape.signed) {
        (true, _) => terms.int_lt(a, b),
        (false, true) => terms.bv_slt(a, b),
        (false, false) => terms.bv_ult(a, b),
    };
    match op {
        BinaryOp::Lt => less(left, right),
        BinaryOp::Gt => less(right, left),
        BinaryOp::Le => {
            let greater = less(right, left);
            terms.not(greater)
        }
        BinaryOp::Ge => {
            let smaller = less(left, right);
            terms.not(smaller)
        }
        BinaryOp::Ne => {
            let same = terms.eq(left, right);
            terms.not(same)
        }
        _ => terms.eq(left, right),
    }
}

/// Whether the exact result of an operation on mathematical numbers leaves a type.
pub fn overflows(
    terms: &mut Terms,
    op: BinaryOp,
    left: (TermId, Shape),
    right: (TermId, Shape),
    at: Shape,
) -> TermId {
    if is_int(terms, left.0) && is_int(terms, right.0) {
        let exact = match op {
            BinaryOp::Add => terms.int_add(&[left.0, right.0]),
            BinaryOp::Sub => terms.int_sub(left.0, right.0),
            BinaryOp::Mul => terms.int_mul(&[left.0, right.0]),
            BinaryOp::Div => {
                // Only the smallest number by -1 leaves the type.
                let low = terms.int(at.low());
                let minus = terms.int(-1);
                let a = terms.eq(left.0, low);
                let b = terms.eq(right.0, minus);
                return terms.and(&[a, b]);
            }
            _ => integer_unknown(terms, op, left.0, right.0),
        };
        let inside = in_range(terms, exact, at);
        return terms.not(inside);
    }
    // Wide enough for every exact result of the operands.
    let wide = 2 * left.1.width.max(right.1.width).max(at.width) + 2;
    let widen = |terms: &mut Terms, (value, shape): (TermId, Shape)| {
        let bits = to_bits(terms, value, shape);
        terms.resize(bits, wide, shape.sign())
    };
    let a = widen(terms, left);
    let b = widen(terms, right);
    let exact = match op {
        BinaryOp::Add => terms.bv_add(a, b),
        BinaryOp::Sub => terms.bv_sub(a, b),
        BinaryOp::Mul => terms.bv_mul(a, b),
        BinaryOp::Div | BinaryOp::Rem => terms.bv_sdiv(a, b),
        BinaryOp::Shl => {
            // A shift by the width or more of a number other than 0 leaves every type.
            let zero = terms.bv(0, wide);
            let bound = terms.bv(i128::from(at.width), wide);
            let far = terms.bv_ule(bound, b);
            let some = terms.eq(a, zero);
            let some = terms.not(some);
            let beyond = terms.and(&[far, some]);
            let shifted = terms.bv_shl(a, b);
            let leaves = leaves_type(terms, shifted, at, wide);
            return terms.or(&[beyond, leaves]);
        }
        _ => a,
    };
    leaves_type(terms, exact, at, wide)
}

fn leaves_type(terms: &mut Terms, exact: TermId, at: Shape, wide: u32) -> TermId {
    let kept = terms.resize(exact, at.width, Sign::Signed);
    let back = terms.resize(kept, wide, at.sign());
    let same = terms.eq(back, exact);
    terms.not(same)
}

/// An uninterpreted function of its arguments: a value about which only that much is known.
pub fn uninterpreted(terms: &mut Terms, name: &str, args: &[TermId], range: Sort) -> TermId {
    let domain: Vec<Sort> = args.iter().map(|&arg| terms.sort(arg)).collect();
    // The widths are part of the name, so that it is the same whoever came first.
    let mut name = name.to_owned();
    for sort in domain.iter().chain([&range]) {
        if let Sort::BitVec(width) = sort {
            name.push_str(&format!("_{width}"));
        }
    }
    let function = terms.function(&name, &domain, range);
    terms.apply(function, args)
}

/// The value of a term that is an integer constant.
pub fn constant_int(terms: &Terms, term: TermId) -> Option<i128> {
    match terms.value_of(term)? {
        Value::Int(value) => i128::try_from(value).ok(),
        _ => None,
    }
}

/// The value of a term that is a constant, as a signed number of its own width.
pub fn constant_signed(terms: &Terms, term: TermId) -> Option<i128> {
    match terms.value_of(term)? {
        Value::Int(value) => i128::try_from(value).ok(),
        Value::BitVec(bits) => i128::try_from(bits.signed()).ok(),
        _ => None,
    }
}
