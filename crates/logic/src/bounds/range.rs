//! Ranges of floats, and what operations do to them.

use crate::float::{FloatFormat, FloatOp, FloatOperation, Rounding};

/// The formats that are followed. Numbers of both are held as `f64`, which has all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Single,
    Double,
}

/// All numbers from one to another (-0 lies below 0), and perhaps NaNs. There is no number in it
/// if the first one is above the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) nan: bool,
}

impl Format {
    pub(super) fn of_width(width: u32) -> Option<Format> {
        match width {
            32 => Some(Format::Single),
            64 => Some(Format::Double),
            _ => None,
        }
    }

    pub(super) fn of(format: FloatFormat) -> Option<Format> {
        match format {
            FloatFormat::SINGLE => Some(Format::Single),
            FloatFormat::DOUBLE => Some(Format::Double),
            _ => None,
        }
    }

    /// The float of some bits.
    pub(super) fn float(self, bits: u64) -> f64 {
        match self {
            Format::Single => f64::from(f32::from_bits(bits as u32)),
            Format::Double => f64::from_bits(bits),
        }
    }

    /// The bits of a float.
    pub(super) fn bits(self, value: f64) -> u64 {
        match self {
            Format::Single => u64::from((value as f32).to_bits()),
            Format::Double => value.to_bits(),
        }
    }

    /// The float next to a number.
    pub(super) fn nearest(self, value: f64) -> f64 {
        match self {
            Format::Single => f64::from(value as f32),
            Format::Double => value,
        }
    }

    /// The float next to an integer.
    fn nearest_to_int(self, value: i128) -> f64 {
        match self {
            Format::Single => f64::from(value as f32),
            Format::Double => value as f64,
        }
    }

    /// The next smaller float.
    pub(super) fn below(self, value: f64) -> f64 {
        match self {
            Format::Single => f64::from((value as f32).next_down()),
            Format::Double => value.next_down(),
        }
    }

    /// The next larger float.
    pub(super) fn above(self, value: f64) -> f64 {
        -self.below(-value)
    }

    fn compute(self, op: FloatOp, a: f64, b: f64) -> f64 {
        match self {
            Format::Single => {
                let (a, b) = (a as f32, b as f32);
                f64::from(match op {
                    FloatOp::Add => a + b,
                    FloatOp::Mul => a * b,
                    FloatOp::Div => a / b,
                    _ => a.sqrt(),
                })
            }
            Format::Double => match op {
                FloatOp::Add => a + b,
                FloatOp::Mul => a * b,
                FloatOp::Div => a / b,
                _ => a.sqrt(),
            },
        }
    }

    /// A number for floats in their order, without gaps.
    fn rank(self, value: f64) -> i64 {
        let (bits, sign) = match self {
            Format::Single => (self.bits(value) as i64, 1i64 << 31),
            Format::Double => (value.to_bits() as i64, i64::MIN),
        };
        if value.is_sign_negative() {
            -1 - (bits & !sign)
        } else {
            bits
        }
    }

    fn of_rank(self, rank: i64) -> f64 {
        if rank < 0 {
            -self.float((-1 - rank) as u64)
        } else {
            self.float(rank as u64)
        }
    }
}

fn smaller(a: f64, b: f64) -> f64 {
    if a.total_cmp(&b).is_le() { a } else { b }
}

fn larger(a: f64, b: f64) -> f64 {
    if a.total_cmp(&b).is_ge() { a } else { b }
}

impl Range {
    const NAN: Range = Range {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
        nan: true,
    };

    /// Every float, NaNs too. (Both formats have the same infinities.)
    pub(super) fn all(_: Format) -> Range {
        Range {
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            nan: true,
        }
    }

    pub(super) fn point_of(value: f64) -> Range {
        if value.is_nan() {
            return Range::NAN;
        }
        Range {
            low: value,
            high: value,
            nan: false,
        }
    }

    pub(super) fn has_number(self) -> bool {
        self.low.total_cmp(&self.high).is_le()
    }

    pub(super) fn is_empty(self) -> bool {
        !self.nan && !self.has_number()
    }

    fn has_zero(self) -> bool {
        self.has_number() && self.low <= 0.0 && self.high >= 0.0
    }

    fn has_infinity(self) -> bool {
        self.has_number() && (self.low == f64::NEG_INFINITY || self.high == f64::INFINITY)
    }

    fn without_numbers(self) -> Range {
        Range {
            nan: self.nan,
            ..Range::NAN
        }
    }

    /// What is in both.
    pub(super) fn meet(self, other: Range) -> Range {
        Range {
            low: larger(self.low, other.low),
            high: smaller(self.high, other.high),
            nan: self.nan && other.nan,
        }
    }

    /// What is in one of them, and between them.
    pub(super) fn join(self, other: Range) -> Range {
        let nan = self.nan || other.nan;
        match (self.has_number(), other.has_number()) {
            (true, true) => Range {
                low: smaller(self.low, other.low),
                high: larger(self.high, other.high),
                nan,
            },
            (true, false) => Range { nan, ..self },
            _ => Range { nan, ..other },
        }
    }

    pub(super) fn negated(self) -> Range {
        Range {
            low: -self.high,
            high: -self.low,
            nan: self.nan,
        }
    }

    pub(super) fn magnitude(self) -> Range {
        if !self.has_number() {
            return self;
        }
        let (a, b) = (self.low.abs(), self.high.abs());
        Range {
            low: if self.has_zero() { 0.0 } else { smaller(a, b) },
            high: larger(a, b),
            nan: self.nan,
        }
    }

    /// Zeros of both signs where there is one at an end: they are equal.
    pub(super) fn with_both_zeros(self) -> Range {
        Range {
            low: if self.low == 0.0 { -0.0 } else { self.low },
            high: if self.high == 0.0 { 0.0 } else { self.high },
            nan: self.nan,
        }
    }

    /// A float of the range: the middle, or an end, by turns.
    pub(super) fn point(self, turn: usize) -> f64 {
        if !self.has_number() {
            return f64::NAN;
        }
        match turn % 3 {
            0 if self.low == f64::NEG_INFINITY && self.high == f64::INFINITY => 1.0,
            0 => {
                let middle = self.low / 2.0 + self.high / 2.0;
                let middle = middle as f32 as f64;
                if middle >= self.low && middle <= self.high {
                    middle
                } else {
                    self.low
                }
            }
            1 => self.low,
            _ => self.high,
        }
    }

    /// Two ranges that have everything of this one; none for a single float.
    pub(super) fn halves(self, format: Format) -> Option<(Range, Range)> {
        if self.nan && self.has_number() {
            let number = Range { nan: false, ..self };
            return Some((number, Range::NAN));
        }
        if !self.has_number() || self.low.total_cmp(&self.high).is_eq() {
            return None;
        }
        let (low, high) = (format.rank(self.low), format.rank(self.high));
        let half = self.low / 2.0 + self.high / 2.0;
        let half = format.nearest(half);
        // The middle of the numbers is better than that of the floats, most of which are tiny.
        let middle = match half.is_finite() && half > self.low && half < self.high {
            true => half,
            false => format.of_rank((i128::from(low) + i128::from(high)).div_euclid(2) as i64),
        };
        let next = format.of_rank(format.rank(middle) + 1);
        let left = Range {
            high: middle,
            ..self
        };
        let right = Range { low: next, ..self };
        Some((left, right))
    }

    /// The range of an operation's results; `same` tells that both operands are one term.
    pub(super) fn result(
        operation: FloatOperation,
        format: Format,
        [a, b]: [Range; 2],
        operands: Operands,
    ) -> Range {
        let integral = matches!(operation.op, FloatOp::Integral);
        if operation.rounding != Rounding::NearestEven && !integral {
            return Range::all(format);
        }
        let compute = |a, b| format.compute(operation.op, a, b);
        let given = a.nan || b.nan;
        match operation.op {
            FloatOp::Sqrt => a.root(compute),
            FloatOp::Integral => a.integral(operation.rounding),
            _ if !a.has_number() || !b.has_number() => Range {
                nan: given,
                ..Range::NAN
            },
            FloatOp::Add => {
                let up = a.high == f64::INFINITY && b.low == f64::NEG_INFINITY;
                let down = a.low == f64::NEG_INFINITY && b.high == f64::INFINITY;
                let (low, high) = (compute(a.low, b.low), compute(a.high, b.high));
                Range {
                    low: if low.is_nan() { f64::NEG_INFINITY } else { low },
                    high: if high.is_nan() { f64::INFINITY } else { high },
                    nan: given || up || down,
                }
            }
            FloatOp::Mul if operands == Operands::Same => {
                let a = a.magnitude();
                Range {
                    low: compute(a.low, a.low),
                    high: compute(a.high, a.high),
                    nan: given,
                }
            }
            FloatOp::Mul => {
                let mixed = a.has_zero() && b.has_infinity() || b.has_zero() && a.has_infinity();
                match mixed {
                    true => Range::all(format),
                    false => corners(a, b, given, compute),
                }
            }
            FloatOp::Div => match b.has_zero() || a.has_infinity() && b.has_infinity() {
                true => Range::all(format),
                false => corners(a, b, given, compute),
            },
            FloatOp::Rem => {
                // Smaller than the divisor, and not larger than the dividend.
                let divisor = match b.magnitude().high {
                    infinite if infinite == f64::INFINITY => infinite,
                    most => larger(format.below(most), 0.0),
                };
                let most = smaller(a.magnitude().high, divisor);
                let nan = given || a.has_infinity() || b.has_zero();
                Range {
                    low: if a.low.is_sign_negative() { -most } else { 0.0 },
                    high: if a.high.is_sign_positive() {
                        most
                    } else {
                        -0.0
                    },
                    nan,
                }
            }
            _ => Range::all(format),
        }
    }

    fn root(self, compute: impl Fn(f64, f64) -> f64) -> Range {
        if !self.has_number() {
            return self;
        }
        let nan = self.nan || self.low < 0.0;
        if self.high < 0.0 {
            return Range {
                nan,
                ..self.without_numbers()
            };
        }
        Range {
            low: compute(if self.low < 0.0 { -0.0 } else { self.low }, 0.0),
            high: compute(self.high, 0.0),
            nan,
        }
    }

    fn integral(self, rounding: Rounding) -> Range {
        if !self.has_number() {
            return self;
        }
        let round = |value: f64| match rounding {
            Rounding::NearestEven => value.round_ties_even(),
            Rounding::NearestAway => value.round(),
            Rounding::Up => value.ceil(),
            Rounding::Down => value.floor(),
            Rounding::Zero => value.trunc(),
        };
        Range {
            low: round(self.low),
            high: round(self.high),
            nan: self.nan,
        }
    }

    /// The same numbers in another format.
    pub(super) fn converted(self, to: Format) -> Range {
        if !self.has_number() {
            return self;
        }
        Range {
            low: to.nearest(self.low),
            high: to.nearest(self.high),
            nan: self.nan,
        }
    }

    /// The floats next to integers.
    pub(super) fn of_ints((low, high): (i128, i128), format: Format) -> Range {
        Range {
            low: format.nearest_to_int(low),
            high: format.nearest_to_int(high),
            nan: false,
        }
    }

    /// The integer parts, if all of them have a width.
    pub(super) fn ints(self, width: u32) -> Option<(i128, i128)> {
        let limit = 2f64.powi(width.min(120) as i32 - 1);
        let fits = !self.nan && self.has_number() && self.low > -limit && self.high < limit;
        fits.then(|| (self.low.trunc() as i128, self.high.trunc() as i128))
    }
}

/// Whether both operands of an operation are one and the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    Same,
    Different,
}

/// The range of results at the corners, none of which is a NaN.
fn corners(a: Range, b: Range, nan: bool, compute: impl Fn(f64, f64) -> f64) -> Range {
    let results = [
        compute(a.low, b.low),
        compute(a.low, b.high),
        compute(a.high, b.low),
        compute(a.high, b.high),
    ];
    Range {
        low: results.into_iter().fold(f64::INFINITY, smaller),
        high: results.into_iter().fold(f64::NEG_INFINITY, larger),
        nan,
    }
}
