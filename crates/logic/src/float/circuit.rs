//! The circuit of an operation: bit-vector terms that compute its result.
//!
//! Circuits know formats whose leading bit is implied; the bits of other formats are brought into
//! such a form at the borders. Numbers are taken apart, computed with two or three bits more than
//! the format has, of which the last one stands for all that follows, and rounded by one piece of
//! circuit (`round`). What is not a number, or infinite, or zero, is chosen at the end.

mod arithmetic;
mod convert;
mod digits;
mod fused;
mod parts;
mod round;

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

#[cfg(test)]
pub(super) use arithmetic::Moves;

use rustc_hash::FxHashMap;

use crate::float::{FloatFormat, FloatOp, FloatOperation, LeadingBit};
use crate::sort::Sort;
use crate::term::{TermId, Terms};

/// A circuit with names for its inputs, in an arena of its own: made once for each operation, and
/// copied into formulas.
#[derive(Debug)]
pub struct Template {
    /// The arena of the circuit.
    pub terms: Terms,
    /// The constants that stand for the arguments.
    pub inputs: Vec<TermId>,
    /// The result.
    pub output: TermId,
}

/// The circuits that were made so far.
static KNOWN: LazyLock<Mutex<FxHashMap<FloatOperation, Arc<Template>>>> =
    LazyLock::new(Mutex::default);

impl Template {
    /// The circuit of an operation, the same one for everybody.
    pub(crate) fn of(operation: FloatOperation) -> Arc<Template> {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = known.entry(operation);
        Arc::clone(entry.or_insert_with(|| Arc::new(Template::new(operation))))
    }

    /// The circuit of an operation.
    fn new(operation: FloatOperation) -> Template {
        let mut terms = Terms::new();
        let (widths, _) = operation
            .signature()
            .expect("operations of terms were checked");
        let inputs: Vec<TermId> = widths
            .iter()
            .enumerate()
            .map(|(at, &width)| terms.constant(&format!("in{at}"), Sort::BitVec(width)))
            .collect();
        let output = circuit(&mut terms, operation, &inputs);
        Template {
            terms,
            inputs,
            output,
        }
    }
}

impl FloatOperation {
    /// What the operation is made of: bit-vector terms over its arguments, the same for everybody.
    pub fn circuit(self) -> Arc<Template> {
        Template::of(self)
    }
}

/// The result of an operation on terms, in bit-vector terms.
pub(crate) fn circuit(terms: &mut Terms, operation: FloatOperation, args: &[TermId]) -> TermId {
    let format = operation.format;
    // All floats with their leading bit implied.
    let mut plain = Vec::with_capacity(args.len());
    for (at, &arg) in args.iter().enumerate() {
        let from = match operation.op {
            FloatOp::Convert(to) if operation.nan_argument() == Some(at) => to,
            _ => format,
        };
        plain.push(if operation.is_operand(at) {
            imply(terms, from, arg)
        } else if operation.nan_argument() == Some(at) {
            without_leading(terms, from, arg)
        } else {
            arg
        });
    }
    let operation = FloatOperation {
        format: format.implied(),
        ..operation
    };
    let result = operation.on_plain(terms, &plain);
    match operation.op {
        FloatOp::Convert(to) => store_leading(terms, to, result),
        FloatOp::ToInt(_) | FloatOp::Eq | FloatOp::Lt | FloatOp::Le => result,
        _ => store_leading(terms, format, result),
    }
}

impl FloatOperation {
    fn on_plain(self, terms: &mut Terms, args: &[TermId]) -> TermId {
        match (self.op, args) {
            (FloatOp::Add, &[a, b, nan]) => self.add(terms, a, b, nan),
            (FloatOp::Mul, &[a, b, nan]) => self.mul(terms, a, b, nan),
            (FloatOp::Div, &[a, b, nan]) => self.div(terms, a, b, nan),
            (FloatOp::Rem, &[a, b, nan]) => self.rem(terms, a, b, nan),
            (FloatOp::Fma, &[a, b, c, nan]) => self.fma(terms, [a, b, c], nan),
            (FloatOp::Sqrt, &[a, nan]) => self.sqrt(terms, a, nan),
            (FloatOp::Integral, &[a, nan]) => self.integral(terms, a, nan),
            (FloatOp::Convert(to), &[a, nan]) => self.convert(terms, to.implied(), a, nan),
            (FloatOp::FromInt(width), &[a]) => self.int_to_float(terms, width, a),
            (FloatOp::ToInt(width), &[a]) => self.float_to_int(terms, width, a),
            (FloatOp::Eq | FloatOp::Lt | FloatOp::Le, &[a, b]) => self.compare(terms, a, b),
            (op, args) => unreachable!("{op:?} does not take {} arguments", args.len()),
        }
    }
}

/// A float of a format that stores the leading bit as one that implies it.
fn imply(terms: &mut Terms, format: FloatFormat, bits: TermId) -> TermId {
    if format.leading == LeadingBit::Implied {
        return bits;
    }
    let (precision, width) = (format.precision, format.width());
    let sign = terms.extract(bits, width - 1, width - 1);
    let exponent = terms.extract(bits, width - 2, precision);
    let leading = terms.extract(bits, precision - 1, precision - 1);
    let fraction = terms.extract(bits, precision - 2, 0);
    let one = terms.bv(1, 1);
    let has_leading = terms.eq(leading, one);
    let zero = terms.bv(0, format.exponent);
    let low = terms.eq(exponent, zero);
    // A subnormal with the leading bit is the number with the smallest exponent.
    let first = terms.bv(1, format.exponent);
    let higher = terms.ite(has_leading, first, exponent);
    let exponent_of = terms.ite(low, higher, exponent);
    let number = terms.concat(exponent_of, fraction);
    // Where the leading bit is missing, nothing is a number.
    let nan = terms.bv(-1, width - 2);
    let lacks = terms.not(has_leading);
    let high = terms.not(low);
    let invalid = terms.and(&[lacks, high]);
    let magnitude = terms.ite(invalid, nan, number);
    terms.concat(sign, magnitude)
}

/// The bits without the one before the point.
fn without_leading(terms: &mut Terms, format: FloatFormat, bits: TermId) -> TermId {
    if format.leading == LeadingBit::Implied {
        return bits;
    }
    let high = terms.extract(bits, format.width() - 1, format.precision);
    let low = terms.extract(bits, format.precision - 2, 0);
    terms.concat(high, low)
}

/// A float whose leading bit is implied as one that stores it, if the format does.
fn store_leading(terms: &mut Terms, format: FloatFormat, bits: TermId) -> TermId {
    if format.leading == LeadingBit::Implied {
        return bits;
    }
    let plain = format.implied();
    let (precision, width) = (plain.precision, plain.width());
    let high = terms.extract(bits, width - 1, precision - 1);
    let exponent = terms.extract(bits, width - 2, precision - 1);
    let fraction = terms.extract(bits, precision - 2, 0);
    let zero = terms.bv(0, plain.exponent);
    let low = terms.eq(exponent, zero);
    let (off, on) = (terms.bv(0, 1), terms.bv(1, 1));
    let leading = terms.ite(low, off, on);
    let high = terms.concat(high, leading);
    terms.concat(high, fraction)
}
