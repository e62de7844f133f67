//! Floating point on bit-vectors: formats, roundings and operators.
//!
//! A float is a bit-vector of its storage width everywhere. An operator has one meaning on values
//! (`exact`, by integers of any size), which the evaluator and the constant folding use, and one
//! circuit made of bit-vector terms (`circuit`), which is what solvers see. Both know any format
//! with an exponent and a significand; the tests compare them on all operands of small formats.
//!
//! Which NaN an operation gives, IEEE 754 leaves open, and compilers and machines differ. An
//! operator that may give one has a last argument that tells its sign and payload; operators
//! never look at those of their operands.

mod build;
mod circuit;
mod exact;
#[cfg(test)]
mod tests;

pub use circuit::Template;
pub(crate) use exact::apply;

use std::fmt;

use num_bigint::BigUint;

use crate::sort::Sort;

/// A binary floating-point format: sign, exponent, significand from the top bit down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FloatFormat {
    /// The bits of the exponent.
    pub exponent: u32,
    /// The bits of the significand, the one before the point among them.
    pub precision: u32,
    /// Whether the bit before the point is stored.
    pub leading: LeadingBit,
}

/// Whether a format stores the bit before the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeadingBit {
    /// It follows from the exponent, as in IEEE 754's interchange formats.
    Implied,
    /// It is stored, as in the x87's extended format. Where it contradicts the exponent, the
    /// value is a NaN; a subnormal that has it counts as the smallest exponent's.
    Stored,
}

/// To which of the two neighbours a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rounding {
    /// To the nearest one, and in the middle to the even one.
    NearestEven,
    /// To the nearest one, and in the middle away from zero.
    NearestAway,
    /// Up.
    Up,
    /// Down.
    Down,
    /// Towards zero.
    Zero,
}

/// An operator on floats. What it takes is in the comment; `nan` tells which NaN a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FloatOp {
    /// The sum: `a b nan`.
    Add,
    /// The product: `a b nan`.
    Mul,
    /// The quotient: `a b nan`.
    Div,
    /// `fmod`, with the sign of the dividend: `a b nan`. It is exact. Only formats with up to 15
    /// bits of exponent have it.
    Rem,
    /// `a * b + c`, rounded once: `a b c nan`.
    Fma,
    /// The square root: `a nan`.
    Sqrt,
    /// The integer next to it, as a float: `a nan`.
    Integral,
    /// The same number in another format: `a nan`, the last one of that format.
    Convert(FloatFormat),
    /// The float next to a number in two's complement of that width: `a`.
    FromInt(u32),
    /// The number without its fraction in two's complement of that width: `a`. What does not fit
    /// gives the smallest number, as x86's instructions do.
    ToInt(u32),
    /// Whether two numbers are equal; never for a NaN: `a b`.
    Eq,
    /// Whether the first number is smaller; never for a NaN: `a b`.
    Lt,
    /// Whether the first number is not larger; never for a NaN: `a b`.
    Le,
}

/// An operator with the format of its operands (of its result, for [`FloatOp::FromInt`]) and its
/// rounding, which is to the nearest even number where the result is never rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FloatOperation {
    /// What is done.
    pub op: FloatOp,
    /// On which format.
    pub format: FloatFormat,
    /// How the result is rounded.
    pub rounding: Rounding,
}

impl FloatFormat {
    /// Whether bits of a width are a NaN of this format.
    pub(crate) fn is_nan(self, bits: &BigUint, width: u32) -> bool {
        let one = BigUint::from(1u8);
        let digits = bits % (&one << (self.precision - 1));
        let stored = match self.leading {
            LeadingBit::Implied => self.precision - 1,
            LeadingBit::Stored => self.precision,
        };
        let exponent = (bits >> stored) % (&one << self.exponent);
        width == self.width()
            && digits != BigUint::ZERO
            && exponent == (&one << self.exponent) - &one
    }

    /// C's `_Float16`.
    pub const HALF: FloatFormat = FloatFormat::new(5, 11);
    /// C's `float`.
    pub const SINGLE: FloatFormat = FloatFormat::new(8, 24);
    /// C's `double`.
    pub const DOUBLE: FloatFormat = FloatFormat::new(11, 53);
    /// C's `long double` on x86.
    pub const EXTENDED: FloatFormat = FloatFormat {
        exponent: 15,
        precision: 64,
        leading: LeadingBit::Stored,
    };
    /// `__float128`.
    pub const QUAD: FloatFormat = FloatFormat::new(15, 113);

    /// The IEEE 754 format with that many bits in exponent and significand.
    pub const fn new(exponent: u32, precision: u32) -> FloatFormat {
        FloatFormat {
            exponent,
            precision,
            leading: LeadingBit::Implied,
        }
    }

    /// The bits of a float.
    pub fn width(self) -> u32 {
        let leading = match self.leading {
            LeadingBit::Implied => 0,
            LeadingBit::Stored => 1,
        };
        self.exponent + self.precision + leading
    }

    /// The same numbers with the leading bit implied.
    pub(crate) fn implied(self) -> FloatFormat {
        FloatFormat::new(self.exponent, self.precision)
    }

    /// What is added to an exponent to store it; also the largest exponent of a number.
    pub(crate) fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The bits of two to some power, if it is a normal number; of infinity for a larger one.
    pub fn power_of_two(self, exponent: i64) -> BigUint {
        let stored = exponent.min(self.bias() + 1) + self.bias();
        assert!(stored > 0, "a number too small to be normal");
        let stored = BigUint::from(stored as u64);
        match self.leading {
            LeadingBit::Implied => stored << (self.precision - 1),
            LeadingBit::Stored => ((stored << 1u8) + 1u8) << (self.precision - 1),
        }
    }

    /// The bits of infinity.
    pub fn infinity(self) -> BigUint {
        self.power_of_two(self.bias() + 1)
    }

    /// The bits of the smallest normal number.
    pub fn least_normal(self) -> BigUint {
        self.power_of_two(1 - self.bias())
    }

    /// A float as people write it; where this machine has no such floats, its bits.
    pub fn text(self, bits: &BigUint) -> String {
        match self {
            FloatFormat::SINGLE => {
                let bits = u32::try_from(bits).unwrap_or_default();
                format!("{:?}", f32::from_bits(bits))
            }
            FloatFormat::DOUBLE => {
                let bits = u64::try_from(bits).unwrap_or_default();
                format!("{:?}", f64::from_bits(bits))
            }
            _ => format!("{bits:#x}"),
        }
    }

    /// Whether operators on it are defined: small enough to compute with, large enough to make
    /// sense.
    fn is_sound(self) -> bool {
        (3..=30).contains(&self.exponent) && (2..=4096).contains(&self.precision)
    }
}

impl FloatOperation {
    /// An operation that rounds to the nearest even number, or does not round.
    pub fn nearest(op: FloatOp, format: FloatFormat) -> FloatOperation {
        FloatOperation {
            op,
            format,
            rounding: Rounding::NearestEven,
        }
    }

    /// The widths of the arguments, and the sort of the result.
    pub(crate) fn signature(self) -> Option<(Vec<u32>, Sort)> {
        let width = self.format.width();
        let sound = self.format.is_sound()
            && match self.op {
                FloatOp::Convert(to) => to.is_sound(),
                FloatOp::FromInt(width) | FloatOp::ToInt(width) => (2..=4096).contains(&width),
                // To compute it takes numbers with a digit for each exponent.
                FloatOp::Rem => self.format.exponent <= 15,
                _ => true,
            };
        let own = Sort::BitVec(width);
        let signature = match self.op {
            FloatOp::Add | FloatOp::Mul | FloatOp::Div | FloatOp::Rem => (vec![width; 3], own),
            FloatOp::Fma => (vec![width; 4], own),
            FloatOp::Sqrt | FloatOp::Integral => (vec![width; 2], own),
            FloatOp::Convert(to) => (vec![width, to.width()], Sort::BitVec(to.width())),
            FloatOp::FromInt(from) => (vec![from], own),
            FloatOp::ToInt(to) => (vec![width], Sort::BitVec(to)),
            FloatOp::Eq | FloatOp::Lt | FloatOp::Le => (vec![width; 2], Sort::Bool),
        };
        sound.then_some(signature)
    }

    /// The position of the argument that tells which NaN a result is.
    pub(crate) fn nan_argument(self) -> Option<usize> {
        match self.op {
            FloatOp::Add | FloatOp::Mul | FloatOp::Div | FloatOp::Rem => Some(2),
            FloatOp::Fma => Some(3),
            FloatOp::Sqrt | FloatOp::Integral | FloatOp::Convert(_) => Some(1),
            FloatOp::FromInt(_) | FloatOp::ToInt(_) => None,
            FloatOp::Eq | FloatOp::Lt | FloatOp::Le => None,
        }
    }

    /// Whether the argument at a position is a float of which only the number counts.
    pub(crate) fn is_operand(self, at: usize) -> bool {
        self.nan_argument() != Some(at) && !matches!(self.op, FloatOp::FromInt(_))
    }

    /// The operation of that name.
    pub(crate) fn of_name(name: &str) -> Option<FloatOperation> {
        let mut parts = name.strip_prefix("float.")?.split('.');
        let mut word = || parts.next();
        let operator = word()?;
        let format = FloatFormat::of_name(word()?)?;
        let rounding = Rounding::of_name(word()?)?;
        let number = |text: Option<&str>| text.and_then(|text| text.parse().ok());
        let op = match operator {
            "add" => FloatOp::Add,
            "mul" => FloatOp::Mul,
            "div" => FloatOp::Div,
            "rem" => FloatOp::Rem,
            "fma" => FloatOp::Fma,
            "sqrt" => FloatOp::Sqrt,
            "integral" => FloatOp::Integral,
            "convert" => FloatOp::Convert(FloatFormat::of_name(word()?)?),
            "from_int" => FloatOp::FromInt(number(word())?),
            "to_int" => FloatOp::ToInt(number(word())?),
            "eq" => FloatOp::Eq,
            "lt" => FloatOp::Lt,
            "le" => FloatOp::Le,
            _ => return None,
        };
        let known = FloatOperation {
            op,
            format,
            rounding,
        };
        // One name for each operation.
        (known.to_string() == name && known.signature().is_some()).then_some(known)
    }
}

impl FloatFormat {
    fn of_name(name: &str) -> Option<FloatFormat> {
        let (rest, leading) = match name.strip_suffix('x') {
            Some(rest) => (rest, LeadingBit::Stored),
            None => (name, LeadingBit::Implied),
        };
        let (exponent, precision) = rest.split_once('_')?;
        Some(FloatFormat {
            exponent: exponent.parse().ok()?,
            precision: precision.parse().ok()?,
            leading,
        })
    }
}

impl Rounding {
    /// All roundings.
    pub const ALL: [Rounding; 5] = [
        Rounding::NearestEven,
        Rounding::NearestAway,
        Rounding::Up,
        Rounding::Down,
        Rounding::Zero,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Rounding::NearestEven => "rne",
            Rounding::NearestAway => "rna",
            Rounding::Up => "rtp",
            Rounding::Down => "rtn",
            Rounding::Zero => "rtz",
        }
    }

    fn of_name(name: &str) -> Option<Rounding> {
        Rounding::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

impl fmt::Display for FloatFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.exponent, self.precision)?;
        match self.leading {
            LeadingBit::Implied => Ok(()),
            LeadingBit::Stored => f.write_str("x"),
        }
    }
}

/// The name in formulas: `float.add.8_24.rne`.
impl fmt::Display for FloatOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = match self.op {
            FloatOp::Add => "add",
            FloatOp::Mul => "mul",
            FloatOp::Div => "div",
            FloatOp::Rem => "rem",
            FloatOp::Fma => "fma",
            FloatOp::Sqrt => "sqrt",
            FloatOp::Integral => "integral",
            FloatOp::Convert(_) => "convert",
            FloatOp::FromInt(_) => "from_int",
            FloatOp::ToInt(_) => "to_int",
            FloatOp::Eq => "eq",
            FloatOp::Lt => "lt",
            FloatOp::Le => "le",
        };
        write!(
            f,
            "float.{operator}.{}.{}",
            self.format,
            self.rounding.name()
        )?;
        match self.op {
            FloatOp::Convert(to) => write!(f, ".{to}"),
            FloatOp::FromInt(width) | FloatOp::ToInt(width) => write!(f, ".{width}"),
            _ => Ok(()),
        }
    }
}
