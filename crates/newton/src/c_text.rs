//! Formulas in machine terms as C expressions with the same meaning.
//!
//! A bit-vector has no sign, a C expression has a type. So every bit-vector term is written as an
//! expression whose *mathematical* value is known to lie in a range, and which is either the
//! signed or the unsigned reading of the bits; casts appear where C's own conversions would change
//! a value. What C has no words for (memory as a whole, values at a procedure's entry) is either
//! left out of a conjunction or makes the translation fail, as the reader wants it.

use hardbop_cfront::ids::FuncId;
use hardbop_cfront::program::VarKind;
use hardbop_cfront::types::Type;
use hardbop_logic::{Op, TermId, Terms};
use hardbop_semantics::Semantics;
use hardbop_semantics::constants::{Constants, Meaning};
use hardbop_semantics::layout::{StateKind, StateVarId};
use std::collections::HashMap;

/// What a text may speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// The variables of C only. Of a conjunction, what C can say is kept.
    Plain,
    /// Also `old(x)` for values at the procedure's entry, and `$return` for its result.
    Contract,
    /// The variables of C at the procedure's entry, where `old(x)` is `x`.
    Entry,
}

/// Whose variables a text may name.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// The function, as the user wrote it, in which the text is to be read.
    pub function: FuncId,
    /// Whether the state has that function's own frame.
    pub frame: Frame,
    /// The number of variables that the user's program has; later ones are copies.
    pub variables: usize,
}

/// Whose frame the variables of a state are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The function's own.
    Own,
    /// That of a function into which it was inlined: only globals can be named.
    Caller,
}

/// Longer texts help nobody.
const LONGEST: usize = 4_000;

/// A formula at a location of a function as a C expression. With [`Words::Plain`] the text may
/// say less than the formula; `None` if nothing can be said.
pub fn c_text(
    semantics: &Semantics<'_>,
    constants: &Constants,
    terms: &Terms,
    scope: Scope,
    formula: TermId,
    words: Words,
) -> Option<String> {
    let mut writer = Writer {
        semantics,
        constants,
        terms,
        scope,
        words,
        numbers: HashMap::new(),
        truths: HashMap::new(),
    };
    for term in terms.postorder(&[formula]) {
        writer.term(term);
    }
    let conjuncts = match terms.op(formula) {
        Op::And if words != Words::Contract => terms.args(formula).to_vec(),
        _ => vec![formula],
    };
    let mut known: Vec<Text> = Vec::new();
    let mut trivial = None;
    for conjunct in conjuncts {
        match writer.truths.get(&conjunct).cloned().flatten() {
            Some(text) if text.text == TRUE => trivial = Some(text.text),
            Some(text) if known.iter().any(|other| other.text == text.text) => {}
            Some(text) => known.push(text),
            None if words == Words::Plain => {}
            None => return None,
        }
    }
    let text = match known.as_slice() {
        [] => return trivial,
        [one] => one.text.clone(),
        many => joined(many, " && ", AND).text,
    };
    (text.len() <= LONGEST).then_some(text)
}

/// What always holds.
const TRUE: &str = "1";

/// How tightly C's operators bind.
type Level = u8;
const ATOM: Level = 16;
const UNARY: Level = 14;
const PRODUCT: Level = 13;
const SUM: Level = 12;
const SHIFT: Level = 11;
const ORDER: Level = 10;
const EQUALITY: Level = 9;
const BIT_AND: Level = 8;
const BIT_XOR: Level = 7;
const BIT_OR: Level = 6;
const AND: Level = 5;
const OR: Level = 4;
const CONDITIONAL: Level = 3;

#[derive(Clone, Debug)]
struct Text {
    text: String,
    level: Level,
}

impl Text {
    fn new(text: String, level: Level) -> Text {
        Text { text, level }
    }

    fn at(&self, level: Level) -> String {
        if self.level < level {
            format!("({})", self.text)
        } else {
            self.text.clone()
        }
    }
}

fn joined(parts: &[Text], operator: &str, level: Level) -> Text {
    // `&&` inside `||` gets parentheses, too: readers need them.
    let inner = if level == OR { EQUALITY } else { level + 1 };
    let parts: Vec<String> = parts.iter().map(|part| part.at(inner)).collect();
    Text::new(parts.join(operator), level)
}

/// A C integer type after promotion, or before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CType {
    width: u32,
    signed: bool,
}

impl CType {
    fn promoted(self) -> CType {
        if self.width < 32 { INT } else { self }
    }

    fn name(self) -> &'static str {
        match (self.width, self.signed) {
            (8, true) => "signed char",
            (8, false) => "unsigned char",
            (16, true) => "short",
            (16, false) => "unsigned short",
            (32, true) => "int",
            (32, false) => "unsigned int",
            (64, true) => "long long",
            (64, false) => "unsigned long long",
            (_, true) => "__int128",
            (_, false) => "unsigned __int128",
        }
    }

    fn holds(self, low: i128, high: i128) -> bool {
        let (least, most) = bounds(self.width, self.signed);
        least <= low && high <= most
    }
}

const INT: CType = CType {
    width: 32,
    signed: true,
};

/// The range of a width up to 126 bits; wider ones are cut to that.
fn bounds(width: u32, signed: bool) -> (i128, i128) {
    let width = width.min(126);
    if signed {
        (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1)
    } else {
        (0, (1i128 << width) - 1)
    }
}

/// An expression that is a reading of a bit-vector term.
#[derive(Clone, Debug)]
struct Number {
    text: Text,
    /// Its type in C.
    ty: CType,
    /// The range of its value.
    low: i128,
    high: i128,
}

impl Number {
    fn cast(&self, ty: CType) -> Text {
        Text::new(format!("({}){}", ty.name(), self.text.at(UNARY)), UNARY)
    }

    /// The same value in an expression of this type, which holds it.
    fn as_type(&self, ty: CType) -> Text {
        if self.ty.promoted() == ty {
            self.text.clone()
        } else if let Ok(value) = self.text.text.parse::<i128>()
            && ty == INT
            && INT.holds(value, value)
        {
            self.text.clone()
        } else {
            self.cast(ty)
        }
    }
}

fn is_standard(width: u32) -> bool {
    matches!(width, 8 | 16 | 32 | 64)
}

/// The narrowest signed type that holds a range.
fn signed_type(low: i128, high: i128) -> CType {
    let width = [32, 64]
        .into_iter()
        .find(|&width| {
            CType {
                width,
                signed: true,
            }
            .holds(low, high)
        })
        .unwrap_or(128);
    CType {
        width,
        signed: true,
    }
}

/// Two numbers in one type in which C compares or combines them by their values.
fn together(a: &Number, b: &Number, low: i128, high: i128) -> (String, String, CType, Level) {
    let (low, high) = (low.min(a.low).min(b.low), high.max(a.high).max(b.high));
    let plain = a.ty.promoted();
    let ty = if plain == b.ty.promoted() && plain.holds(low, high) {
        plain
    } else {
        signed_type(low, high)
    };
    // A signed operand of a narrower type is converted by C itself, if the other one is cast.
    let (left, right) = (a.as_type(ty), b.as_type(ty));
    let narrow = |number: &Number| {
        let own = number.ty.promoted();
        own.signed && own.width < ty.width && ty.signed
    };
    let (left, right) = if narrow(b) {
        (left, b.text.clone())
    } else if narrow(a) {
        (a.text.clone(), right)
    } else {
        (left, right)
    };
    (left.at(UNARY), right.at(UNARY), ty, UNARY)
}

struct Writer<'a, 'p> {
    semantics: &'a Semantics<'p>,
    constants: &'a Constants,
    terms: &'a Terms,
    scope: Scope,
    words: Words,
    numbers: HashMap<TermId, Option<Number>>,
    truths: HashMap<TermId, Option<Text>>,
}

impl Writer<'_, '_> {
    fn term(&mut self, term: TermId) {
        match self.terms.sort(term) {
            hardbop_logic::Sort::Bool => {
                let text = self.truth(term).filter(|text| text.text.len() <= LONGEST);
                self.truths.insert(term, text);
            }
            hardbop_logic::Sort::BitVec(_) => {
                let number = self.number(term);
                let number = number.filter(|number| number.text.text.len() <= LONGEST);
                self.numbers.insert(term, number);
            }
            _ => {}
        }
    }

    fn known(&self, term: TermId) -> Option<&Number> {
        self.numbers.get(&term)?.as_ref()
    }

    fn known_truth(&self, term: TermId) -> Option<Text> {
        self.truths.get(&term)?.clone()
    }

    fn truth(&self, term: TermId) -> Option<Text> {
        let args = self.terms.args(term);
        let all =
            || -> Option<Vec<Text>> { args.iter().map(|&arg| self.known_truth(arg)).collect() };
        Some(match self.terms.op(term) {
            Op::Bool(value) => Text::new(if *value { "1" } else { "0" }.to_owned(), ATOM),
            Op::And => joined(&all()?, " && ", AND),
            Op::Or => joined(&all()?, " || ", OR),
            Op::Not => {
                let inner = args[0];
                if *self.terms.op(inner) == Op::Eq
                    && matches!(
                        self.terms.sort(self.terms.args(inner)[0]),
                        hardbop_logic::Sort::BitVec(_)
                    )
                {
                    return self.equality(self.terms.args(inner), "!=");
                }
                let text = self.known_truth(inner)?;
                Text::new(format!("!{}", text.at(UNARY)), UNARY)
            }
            Op::Implies => {
                let (a, b) = (self.known_truth(args[0])?, self.known_truth(args[1])?);
                let no = Text::new(format!("!{}", a.at(UNARY)), UNARY);
                joined(&[no, b], " || ", OR)
            }
            Op::Xor => {
                let (a, b) = (self.known_truth(args[0])?, self.known_truth(args[1])?);
                Text::new(format!("!{} != !{}", a.at(UNARY), b.at(UNARY)), EQUALITY)
            }
            Op::Ite => {
                let [c, a, b] = [0, 1, 2].map(|at| self.known_truth(args[at]));
                let (c, a, b) = (c?, a?, b?);
                let text = format!("{} ? {} : {}", c.at(OR), a.at(OR), b.at(OR));
                Text::new(text, CONDITIONAL)
            }
            Op::Eq => match self.terms.sort(args[0]) {
                hardbop_logic::Sort::Bool => {
                    let (a, b) = (self.known_truth(args[0])?, self.known_truth(args[1])?);
                    Text::new(format!("!{} == !{}", a.at(UNARY), b.at(UNARY)), EQUALITY)
                }
                hardbop_logic::Sort::BitVec(_) => return self.equality(args, "=="),
                _ => return None,
            },
            Op::BvSlt => self.order(args, ["<", ">"], true)?,
            Op::BvSle => self.order(args, ["<=", ">="], true)?,
            Op::BvUlt => self.order(args, ["<", ">"], false)?,
            Op::BvUle => self.order(args, ["<=", ">="], false)?,
            _ => return None,
        })
    }

    fn equality(&self, args: &[TermId], sign: &str) -> Option<Text> {
        let width = self.terms.width(args[0]);
        let (first, second) = (self.known(args[0])?, self.known(args[1])?);
        // Either reading will do, as long as it is the same on both sides.
        let unsigned = |number: &Number| number.low >= 0 && number.high > bounds(width, true).1;
        let signed = !(unsigned(first) || unsigned(second));
        let a = self.reading(args[0], signed)?;
        let b = self.reading(args[1], signed)?;
        let (left, right, ..) = together(&a, &b, a.low, a.high);
        // At a procedure's entry, values there are the values now.
        if left == right && sign == "==" {
            return Some(Text::new(TRUE.to_owned(), ATOM));
        }
        let literal = |term: TermId| matches!(self.terms.op(term), Op::BitVec(_));
        let text = if literal(args[0]) && !literal(args[1]) {
            format!("{right} {sign} {left}")
        } else {
            format!("{left} {sign} {right}")
        };
        Some(Text::new(text, EQUALITY))
    }

    fn order(&self, args: &[TermId], signs: [&str; 2], signed: bool) -> Option<Text> {
        let a = self.reading(args[0], signed)?;
        let b = self.reading(args[1], signed)?;
        let (left, right, ..) = together(&a, &b, a.low, a.high);
        let literal = |term: TermId| matches!(self.terms.op(term), Op::BitVec(_));
        let text = if literal(args[0]) && !literal(args[1]) {
            format!("{right} {} {left}", signs[1])
        } else {
            format!("{left} {} {right}", signs[0])
        };
        Some(Text::new(text, ORDER))
    }

    /// The signed or the unsigned reading of a term.
    fn reading(&self, term: TermId, signed: bool) -> Option<Number> {
        let width = self.terms.width(term);
        if let Op::BitVec(bits) = self.terms.op(term) {
            let bits = u128::try_from(bits.clone()).ok()?;
            let value = i128::try_from(bits).ok()?;
            let (_, most) = bounds(width, true);
            let value = if signed && width <= 126 && value > most {
                value - (1i128 << width)
            } else {
                value
            };
            return Some(literal(value));
        }
        let number = self.known(term)?;
        let (low, high) = bounds(width, signed);
        if number.low >= low && number.high <= high {
            return Some(number.clone());
        }
        if !is_standard(width) {
            return None;
        }
        let ty = CType { width, signed };
        Some(Number {
            text: number.cast(ty),
            ty,
            low,
            high,
        })
    }

    fn number(&self, term: TermId) -> Option<Number> {
        let args = self.terms.args(term);
        let width = self.terms.width(term);
        Some(match self.terms.op(term) {
            Op::BitVec(_) => self.reading(term, true)?,
            Op::Constant(_) => self.variable(term)?,
            Op::SignExtend(_) => self.reading(args[0], true)?,
            Op::ZeroExtend(_) => self.reading(args[0], false)?,
            Op::BvAdd => self.fold(args, width, "+", SUM, |a, b| {
                Some((a.low.checked_add(b.low)?, a.high.checked_add(b.high)?))
            })?,
            Op::BvSub => self.fold(args, width, "-", SUM, |a, b| {
                Some((a.low.checked_sub(b.high)?, a.high.checked_sub(b.low)?))
            })?,
            Op::BvMul => self.fold(args, width, "*", PRODUCT, |a, b| {
                let products = [
                    a.low.checked_mul(b.low)?,
                    a.low.checked_mul(b.high)?,
                    a.high.checked_mul(b.low)?,
                    a.high.checked_mul(b.high)?,
                ];
                Some((*products.iter().min()?, *products.iter().max()?))
            })?,
            Op::BvNeg => {
                let zero = literal(0);
                let a = self.reading(args[0], true)?;
                let range = (a.high.checked_neg()?, a.low.checked_neg()?);
                combine(&zero, &a, width, "-", SUM, range)?
            }
            Op::BvSdiv | Op::BvSrem => {
                let (a, b) = (self.reading(args[0], true)?, self.reading(args[1], true)?);
                if b.low != b.high || b.low == 0 || b.low == -1 {
                    return None;
                }
                let most = a.low.checked_abs()?.max(a.high.checked_abs()?);
                let sign = if matches!(self.terms.op(term), Op::BvSdiv) {
                    "/"
                } else {
                    "%"
                };
                combine(&a, &b, width, sign, PRODUCT, (-most, most))?
            }
            Op::BvUdiv | Op::BvUrem => {
                let (a, b) = (self.reading(args[0], false)?, self.reading(args[1], false)?);
                if b.low != b.high || b.low == 0 {
                    return None;
                }
                let sign = if matches!(self.terms.op(term), Op::BvUdiv) {
                    "/"
                } else {
                    "%"
                };
                combine(&a, &b, width, sign, PRODUCT, (0, a.high))?
            }
            Op::BvSmod => {
                let (a, b) = (self.reading(args[0], true)?, self.reading(args[1], true)?);
                if b.low != b.high || b.low <= 0 || b.low > i128::from(i32::MAX / 2) {
                    return None;
                }
                let modulus = b.low;
                let rest = combine(&a, &b, width, "%", PRODUCT, (1 - modulus, modulus - 1))?;
                let positive = combine(&rest, &b, width, "+", SUM, (1, 2 * modulus - 1))?;
                combine(&positive, &b, width, "%", PRODUCT, (0, modulus - 1))?
            }
            Op::BvAnd => self.bitwise(args, width, "&", BIT_AND)?,
            Op::BvXor => self.bitwise(args, width, "^", BIT_XOR)?,
            Op::BvOr => self.bitwise(args, width, "|", BIT_OR)?,
            Op::BvNot if is_standard(width) => {
                let a = self.reading(args[0], false)?;
                let ty = CType {
                    width,
                    signed: false,
                };
                let inverted = Number {
                    text: Text::new(format!("~{}", a.as_type(ty.promoted()).at(UNARY)), UNARY),
                    ty: ty.promoted(),
                    low: 0,
                    high: 0,
                };
                self.wrapped(&inverted, width)
            }
            Op::BvLshr | Op::BvAshr => {
                let signed = matches!(self.terms.op(term), Op::BvAshr);
                let (a, by) = (
                    self.reading(args[0], signed)?,
                    self.reading(args[1], false)?,
                );
                if by.low != by.high || by.low >= i128::from(width) {
                    return None;
                }
                Number {
                    text: Text::new(format!("{} >> {}", a.text.at(SHIFT), by.low), SHIFT),
                    ty: a.ty.promoted(),
                    low: a.low >> by.low,
                    high: a.high >> by.low,
                }
            }
            Op::Extract { high, low } => {
                let to = high - low + 1;
                if !is_standard(to) {
                    return None;
                }
                let a = self.reading(args[0], false)?;
                let part = if *low == 0 {
                    a
                } else {
                    Number {
                        text: Text::new(format!("{} >> {low}", a.text.at(SHIFT)), SHIFT),
                        ..a
                    }
                };
                self.wrapped(&part, to)
            }
            Op::Ite => {
                let condition = self.known_truth(args[0])?;
                let (a, b) = (self.reading(args[1], true)?, self.reading(args[2], true)?);
                let (low, high) = (a.low.min(b.low), a.high.max(b.high));
                let (left, right, ty, _) = together(&a, &b, low, high);
                let text = format!("{} ? {left} : {right}", condition.at(OR));
                Number {
                    text: Text::new(text, CONDITIONAL),
                    ty,
                    low,
                    high,
                }
            }
            _ => return None,
        })
    }

    /// The low bits of a number, by a cast to an unsigned type.
    fn wrapped(&self, number: &Number, width: u32) -> Number {
        let ty = CType {
            width,
            signed: false,
        };
        let (low, high) = bounds(width, false);
        Number {
            text: number.cast(ty),
            ty,
            low,
            high,
        }
    }

    fn bitwise(&self, args: &[TermId], width: u32, sign: &str, level: Level) -> Option<Number> {
        if !is_standard(width) {
            return None;
        }
        let parts: Option<Vec<Number>> = args.iter().map(|&arg| self.reading(arg, false)).collect();
        let parts = parts?;
        let most = parts.iter().map(|part| part.high).max()?;
        let limit = match sign {
            "&" => parts.iter().map(|part| part.high).min()?,
            _ => (most as u128 + 1).next_power_of_two() as i128 - 1,
        };
        let ty = CType {
            width: width.max(32),
            signed: false,
        };
        let texts: Vec<String> = parts
            .iter()
            .map(|part| part.as_type(ty).at(level + 1))
            .collect();
        Some(Number {
            text: Text::new(texts.join(&format!(" {sign} ")), level),
            ty,
            low: 0,
            high: limit,
        })
    }

    fn fold(
        &self,
        args: &[TermId],
        width: u32,
        sign: &str,
        level: Level,
        range: fn(&Number, &Number) -> Option<(i128, i128)>,
    ) -> Option<Number> {
        let mut result = self.reading(args[0], true)?;
        for &arg in &args[1..] {
            let next = self.reading(arg, true)?;
            let exact = range(&result, &next)?;
            result = combine(&result, &next, width, sign, level, exact)?;
            let (low, high) = bounds(width, true);
            if result.low < low || result.high > high {
                // It may have wrapped: go on with the signed reading of the bits.
                let ty = CType {
                    width,
                    signed: true,
                };
                result = Number {
                    text: result.cast(ty),
                    ty,
                    low,
                    high,
                };
            }
        }
        Some(result)
    }

    /// A state variable by its name in C.
    fn variable(&self, term: TermId) -> Option<Number> {
        let (id, old) = match self.constants.meaning(term)? {
            Meaning::Now(id) => (id, false),
            Meaning::Old(id) => (id, true),
            Meaning::Origin => return None,
        };
        if old && self.words == Words::Plain {
            return None;
        }
        let (name, exact) = self.name(id)?;
        let shape = self.semantics.shape(id);
        if shape.float || !(is_standard(shape.width) || shape.width == 1) {
            return None;
        }
        let name = match self.words {
            Words::Contract if old => format!("old({name})"),
            _ => name,
        };
        let (low, high) = bounds(shape.width, shape.signed);
        let ty = CType {
            width: shape.width.max(8),
            signed: shape.signed,
        };
        let plain = Number {
            text: Text::new(name, ATOM),
            ty,
            low,
            high,
        };
        Some(if exact {
            plain
        } else {
            Number {
                text: plain.cast(ty),
                ..plain
            }
        })
    }

    /// The name of a state variable, and whether it has the type of its shape.
    fn name(&self, id: StateVarId) -> Option<(String, bool)> {
        let program = self.semantics.program;
        let state = self.semantics.layout.get(id);
        if !matches!(state.kind, StateKind::Cell { .. }) {
            return None;
        }
        let Scope {
            function,
            frame,
            variables,
        } = self.scope;
        if state.variable?.index() >= variables {
            return None;
        }
        let variable = program.variable(state.variable?);
        let scalar = program.types.is_scalar(variable.ty);
        let pointer = matches!(
            program.types.get(state.ty.unwrap_or(variable.ty)),
            Type::Pointer(_)
        );
        let owner = match variable.kind {
            VarKind::Formal(f) | VarKind::Local(f) | VarKind::Static(f) => Some(f),
            VarKind::Result(f)
                if f == function && frame == Frame::Own && self.words == Words::Contract =>
            {
                return Some(("$return".to_owned(), !pointer));
            }
            VarKind::Global => None,
            VarKind::Result(_) | VarKind::Temporary(_) | VarKind::Literal => return None,
        };
        if owner.is_some_and(|owner| owner != function || frame == Frame::Caller) {
            return None;
        }
        // Where a name stands for two variables, it stands for neither here.
        let namesakes = program.variables.iter().take(variables).filter(|other| {
            let visible = match other.kind {
                VarKind::Formal(f) | VarKind::Local(f) | VarKind::Static(f) => f == function,
                VarKind::Global => true,
                _ => false,
            };
            visible && other.name == variable.name
        });
        if namesakes.count() != 1 {
            return None;
        }
        let name = match state.name.rsplit_once("::") {
            Some((_, name)) => name,
            None => &state.name,
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']');
        if name.is_empty() || !name.chars().all(plain) {
            return None;
        }
        let exact = scalar && !pointer && state.ty == Some(variable.ty);
        Some((name.to_owned(), exact))
    }
}

fn literal(value: i128) -> Number {
    let ty = signed_type(value, value);
    let (text, level) = match ty.width {
        32 if value == i128::from(i32::MIN) => ("(-2147483647 - 1)".to_owned(), ATOM),
        32 => (value.to_string(), if value < 0 { UNARY } else { ATOM }),
        64 if value == i128::from(i64::MIN) => ("(-9223372036854775807LL - 1)".to_owned(), ATOM),
        64 => (format!("{value}LL"), if value < 0 { UNARY } else { ATOM }),
        // Only unsigned 64-bit values come this far.
        _ => (format!("(__int128){value}ULL"), UNARY),
    };
    Number {
        text: Text::new(text, level),
        ty,
        low: value,
        high: value,
    }
}

/// An operation whose exact result lies in a range; wraps around like the bits where it must.
fn combine(
    a: &Number,
    b: &Number,
    width: u32,
    sign: &str,
    level: Level,
    (low, high): (i128, i128),
) -> Option<Number> {
    let (least, most) = bounds(width, true);
    let (_, unsigned) = bounds(width, false);
    let exact = (low >= least && high <= most) || (low >= 0 && high <= unsigned);
    if exact {
        let (left, right, ty, _) = together(a, b, low, high);
        if ty.width > 64 && !ty.signed {
            return None;
        }
        return Some(Number {
            text: Text::new(format!("{left} {sign} {right}"), level),
            ty,
            low,
            high,
        });
    }
    if !is_standard(width) {
        return None;
    }
    // Unsigned arithmetic of C wraps around; a cast cuts what is narrower than `int`.
    let ty = CType {
        width: width.max(32),
        signed: false,
    };
    let text = format!(
        "{} {sign} {}",
        a.cast(ty).at(level),
        b.cast(ty).at(level + 1)
    );
    let sum = Number {
        text: Text::new(text, level),
        ty,
        low: 0,
        high: bounds(ty.width, false).1,
    };
    let to = CType {
        width,
        signed: true,
    };
    Some(Number {
        text: sum.cast(to),
        ty: to,
        low: least,
        high: most,
    })
}
