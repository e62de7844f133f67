//! Formulas in machine terms as C expressions with the same meaning, for other tools to read.
//! (For people there is [`Terms::infix`], which does without casts.)
//!
//! A bit-vector has no sign, a C expression has a type. So every bit-vector term is written as an
//! expression whose *mathematical* value is known to lie in a range, and which is either the
//! signed or the unsigned reading of the bits; casts appear where C's own conversions would change
//! a value. What C has no words for (memory as a whole, values at a procedure's entry) is either
//! left out of a conjunction or makes the translation fail, as the reader wants it.

mod arithmetic;
mod names;
mod number;

use crate::Semantics;
use crate::constants::Constants;
use hardbop_cfront::ids::FuncId;
use hardbop_logic::{Op, Sort, TermId, Terms};
use number::{AND, ATOM, CONDITIONAL, EQUALITY, Number, OR, Text, UNARY, bounds, joined};
use number::{CType, is_standard, literal, together};
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
            Sort::Bool => {
                let text = self.truth(term).filter(|text| text.text.len() <= LONGEST);
                self.truths.insert(term, text);
            }
            Sort::BitVec(_) => {
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
                    && matches!(self.terms.sort(self.terms.args(inner)[0]), Sort::BitVec(_))
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
                Sort::Bool => {
                    let (a, b) = (self.known_truth(args[0])?, self.known_truth(args[1])?);
                    Text::new(format!("!{} == !{}", a.at(UNARY), b.at(UNARY)), EQUALITY)
                }
                Sort::BitVec(_) => return self.equality(args, "=="),
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
        Some(if literal(args[0]) && !literal(args[1]) {
            Text::lower(right, [signs[1], signs[0]], &left)
        } else {
            Text::upper(left, signs[0], &right)
        })
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
}
