//! Terms as text in the manner of C, for people.
//!
//! Signedness is in the operator: `<=` compares signed numbers and mathematical integers, `<=u`
//! compares bit-vectors without a sign. Text that would grow beyond all measure, because a term
//! shares a lot, is cut and ends in `...`.

use std::fmt;
use std::rc::Rc;

use num_bigint::BigInt;
use num_traits::Signed;
use rustc_hash::FxHashMap;

use crate::float::{FloatOp, FloatOperation, Rounding};
use crate::term::{Op, TermId, Terms};
use crate::value::BitVec;

/// Longer texts are cut: no one reads them.
const LIMIT: usize = 1 << 11;

/// How tightly an operator binds, as in C; higher binds tighter.
type Level = u8;
const ATOM: Level = 16;
const UNARY: Level = 14;

/// A term that displays itself in the manner of C.
pub struct Infix<'t> {
    terms: &'t Terms,
    term: TermId,
}

impl Terms {
    /// The term as text in the manner of C.
    pub fn infix(&self, term: TermId) -> Infix<'_> {
        Infix { terms: self, term }
    }
}

impl fmt::Display for Infix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut known: FxHashMap<TermId, (Rc<str>, Level)> = FxHashMap::default();
        for term in self.terms.postorder(&[self.term]) {
            let (mut text, mut level) = render(self.terms, term, &known);
            if text.len() > LIMIT {
                (text, level) = ("...".to_owned(), ATOM);
            }
            known.insert(term, (text.into(), level));
        }
        f.write_str(&known[&self.term].0)
    }
}

/// How a literal among the arguments is to be read.
#[derive(Clone, Copy, PartialEq)]
enum Reading {
    Signed,
    Unsigned,
}

fn render(
    terms: &Terms,
    term: TermId,
    known: &FxHashMap<TermId, (Rc<str>, Level)>,
) -> (String, Level) {
    let args = terms.args(term);
    let read = |at: usize, level: Level, reading: Reading| -> String {
        let arg = args[at];
        let (text, own) = match terms.op(arg) {
            Op::BitVec(bits) => {
                let bits = BitVec::new(bits.clone(), terms.width(arg));
                match reading {
                    Reading::Signed => number(&bits.signed()),
                    Reading::Unsigned => (bits.unsigned().to_string(), ATOM),
                }
            }
            _ => (known[&arg].0.to_string(), known[&arg].1),
        };
        if own < level {
            format!("({text})")
        } else {
            text
        }
    };
    let infix = |symbol: &str, level: Level, reading: Reading| {
        let left = read(0, level, reading);
        let right = read(1, level + 1, reading);
        (format!("{left} {symbol} {right}"), level)
    };
    let many = |symbol: &str, level: Level, inner: Level| {
        let parts: Vec<String> = (0..args.len())
            .map(|at| read(at, inner, Reading::Signed))
            .collect();
        (parts.join(symbol), level)
    };
    let call = |name: &str| {
        let parts: Vec<String> = (0..args.len())
            .map(|at| read(at, 0, Reading::Signed))
            .collect();
        (format!("{name}({})", parts.join(", ")), ATOM)
    };
    use Reading::{Signed as S, Unsigned as U};
    match terms.op(term) {
        Op::Constant(symbol) => (terms.symbol_name(*symbol).to_owned(), ATOM),
        Op::Apply(function) => call(terms.function_name(*function)),
        Op::Bool(value) => (value.to_string(), ATOM),
        Op::BitVec(bits) => {
            let width = terms.width(term);
            number(&BitVec::new(bits.clone(), width).signed())
        }
        Op::Int(value) => number(value),
        Op::Not => match terms.op(args[0]) {
            Op::Eq => {
                let text = &known[&args[0]].0;
                // The equality was rendered with its own sides; only its sign changes, and that is
                // found by rendering it again rather than by looking for `==` in the text.
                let sides = terms.args(args[0]);
                let side = |at: usize, level: Level| side_text(terms, sides[at], level, known);
                if text.len() > LIMIT {
                    return ("...".to_owned(), ATOM);
                }
                (format!("{} != {}", side(0, 8), side(1, 9)), 8)
            }
            _ => (format!("!{}", read(0, UNARY, S)), UNARY),
        },
        Op::And => many(" && ", 4, 5),
        // C needs no parentheses around `&&` in `||`, but readers do.
        Op::Or => many(" || ", 3, 5),
        Op::Xor => infix("^^", 3, S),
        Op::Implies => (format!("{} ==> {}", read(0, 3, S), read(1, 2, S)), 2),
        Op::Ite => (
            format!("{} ? {} : {}", read(0, 3, S), read(1, 3, S), read(2, 2, S)),
            2,
        ),
        Op::Eq => infix("==", 8, S),
        Op::Distinct => call("distinct"),
        Op::BvNot => (format!("~{}", read(0, UNARY, S)), UNARY),
        Op::BvNeg => (format!("-{}", read(0, UNARY + 1, S)), UNARY),
        Op::BvAnd => infix("&", 7, U),
        Op::BvXor => infix("^", 6, U),
        Op::BvOr => infix("|", 5, U),
        Op::BvAdd => sum(terms, term, known),
        Op::BvSub => infix("-", 12, S),
        Op::BvMul => infix("*", 13, S),
        Op::BvUdiv => infix("/u", 13, U),
        Op::BvSdiv => infix("/", 13, S),
        Op::BvUrem => infix("%u", 13, U),
        Op::BvSrem => infix("%", 13, S),
        Op::BvSmod => call("smod"),
        Op::BvShl => infix("<<", 11, U),
        Op::BvLshr => infix(">>u", 11, U),
        Op::BvAshr => infix(">>", 11, U),
        Op::BvUlt => comparison(terms, term, known, ["<u", ">u"], U),
        Op::BvUle => comparison(terms, term, known, ["<=u", ">=u"], U),
        Op::BvSlt => comparison(terms, term, known, ["<", ">"], S),
        Op::BvSle => comparison(terms, term, known, ["<=", ">="], S),
        Op::IntLt => comparison(terms, term, known, ["<", ">"], S),
        Op::IntLe => comparison(terms, term, known, ["<=", ">="], S),
        Op::Concat => call("concat"),
        Op::Extract { high, low } => (format!("{}[{high}:{low}]", read(0, ATOM, S)), ATOM),
        Op::ZeroExtend(_) => (
            format!("(u{}) {}", terms.width(term), read(0, UNARY, U)),
            UNARY,
        ),
        Op::SignExtend(_) => (
            format!("(s{}) {}", terms.width(term), read(0, UNARY, S)),
            UNARY,
        ),
        Op::IntAdd => sum(terms, term, known),
        Op::IntMul => many(" * ", 13, 14),
        Op::IntDiv => call("div"),
        Op::IntMod => call("mod"),
        Op::BvToInt => call("int"),
        Op::IntToBv(width) => call(&format!("bits{width}")),
        Op::Select => (format!("{}[{}]", read(0, ATOM, S), read(1, 0, U)), ATOM),
        Op::Store => (
            format!(
                "{}{{{} := {}}}",
                read(0, ATOM, S),
                read(1, 0, U),
                read(2, 0, S)
            ),
            ATOM,
        ),
        Op::Float(operation) => float(terms, term, *operation, known),
        Op::ConstArray(_) => (format!("{{{}}}", read(0, 0, S)), ATOM),
        Op::Forall(bound) | Op::Exists(bound) => {
            let word = if matches!(terms.op(term), Op::Forall(_)) {
                "forall"
            } else {
                "exists"
            };
            let names: Vec<&str> = bound
                .iter()
                .map(|&at| match terms.op(at) {
                    Op::Constant(symbol) => terms.symbol_name(*symbol),
                    _ => unreachable!("only constants are bound"),
                })
                .collect();
            (format!("{word} {}. {}", names.join(", "), read(0, 0, S)), 0)
        }
    }
}

fn number(value: &BigInt) -> (String, Level) {
    (
        value.to_string(),
        if value.is_negative() { UNARY } else { ATOM },
    )
}

fn side_text(
    terms: &Terms,
    term: TermId,
    level: Level,
    known: &FxHashMap<TermId, (Rc<str>, Level)>,
) -> String {
    let _ = terms;
    let (text, own) = &known[&term];
    if *own < level {
        format!("({text})")
    } else {
        text.to_string()
    }
}

/// A sum, with negative parts as differences.
fn sum(
    terms: &Terms,
    term: TermId,
    known: &FxHashMap<TermId, (Rc<str>, Level)>,
) -> (String, Level) {
    let mut text = String::new();
    for (at, &arg) in terms.args(term).iter().enumerate() {
        let (part, level) = &known[&arg];
        let literal = terms.value_of(arg).is_some();
        let scaled = *terms.op(arg) == Op::IntMul
            && terms.args(arg).len() == 2
            && terms.value_of(terms.args(arg)[0]).is_some();
        match part.strip_prefix('-') {
            // `x + -1` reads better as `x - 1`, and `x + -1 * y` as `x - y`.
            Some(rest) if at > 0 && (literal || scaled) => {
                text.push_str(" - ");
                text.push_str(if scaled {
                    rest.strip_prefix("1 * ").unwrap_or(rest)
                } else {
                    rest
                });
            }
            _ => {
                if at > 0 {
                    text.push_str(" + ");
                }
                let level_needed = if at > 0 { 13 } else { 12 };
                if *level < level_needed {
                    text.push_str(&format!("({part})"));
                } else {
                    text.push_str(part);
                }
            }
        }
    }
    (text, 12)
}

/// A comparison; one with a literal on the left is turned round: `3 < x` is `x > 3`.
fn comparison(
    terms: &Terms,
    term: TermId,
    known: &FxHashMap<TermId, (Rc<str>, Level)>,
    [forward, backward]: [&str; 2],
    reading: Reading,
) -> (String, Level) {
    let args = terms.args(term);
    let read = |arg: TermId| match terms.op(arg) {
        Op::BitVec(bits) if reading == Reading::Unsigned => bits.to_string(),
        _ => side_text(terms, arg, 10, known),
    };
    let literal_first = terms.value_of(args[0]).is_some() && terms.value_of(args[1]).is_none();
    let text = if literal_first {
        format!("{} {backward} {}", read(args[1]), read(args[0]))
    } else {
        format!("{} {forward} {}", read(args[0]), read(args[1]))
    };
    (text, 9)
}

/// An operation on floats, in the manner of C: which NaN it may give is not told.
fn float(
    terms: &Terms,
    term: TermId,
    operation: FloatOperation,
    known: &FxHashMap<TermId, (Rc<str>, Level)>,
) -> (String, Level) {
    let args = terms.args(term);
    let read = |at: usize, level: Level| match terms.op(args[at]) {
        Op::BitVec(bits) if operation.is_operand(at) => operation.format.text(bits),
        _ => side_text(terms, args[at], level, known),
    };
    let infix = |symbol: &str, level: Level| {
        let text = format!("{} {symbol} {}", read(0, level), read(1, level + 1));
        (text, level)
    };
    let nearest = operation.rounding == Rounding::NearestEven;
    let (name, count) = match operation.op {
        FloatOp::Add if !nearest => ("add", 2),
        FloatOp::Mul if !nearest => ("mul", 2),
        FloatOp::Div if !nearest => ("div", 2),
        FloatOp::Fma => ("fma", 3),
        FloatOp::Add => return infix("+", 12),
        FloatOp::Mul => return infix("*", 13),
        FloatOp::Div => return infix("/", 13),
        FloatOp::Eq => return infix("==", 8),
        FloatOp::Lt => return infix("<", 9),
        FloatOp::Le => return infix("<=", 9),
        FloatOp::Rem => ("fmod", 2),
        FloatOp::Sqrt => ("sqrt", 1),
        FloatOp::Integral => ("rint", 1),
        FloatOp::Convert(_) | FloatOp::FromInt(_) => ("float", 1),
        FloatOp::ToInt(_) => ("int", 1),
    };
    let parts: Vec<String> = (0..count).map(|at| read(at, 0)).collect();
    let mode = match operation.op {
        FloatOp::Integral => String::new(),
        _ if nearest => String::new(),
        _ => format!("_{}", operation.rounding.name()),
    };
    (format!("{name}{mode}({})", parts.join(", ")), ATOM)
}
