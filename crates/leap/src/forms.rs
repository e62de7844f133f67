//! What a variable holds after so many rounds of a loop, in closed form: `start + slope * k +
//! bend * k (k - 1) / 2`, modulo the size of its word. Cells of arrays have forms of their own.
//!
//! A form is a guess from four values; whoever uses it says what it rests on.

use hardbop_logic::{ArrayValue, BitVec, Sign, Sort, TermId, Terms, Value};
use num_traits::ToPrimitive;
use std::collections::{BTreeMap, BTreeSet};

/// The form of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordForm {
    /// How many bits it has.
    pub width: u32,
    /// What it holds at first.
    pub start: u128,
    /// By how much it grows in the first round.
    pub slope: u128,
    /// By how much that grows from round to round.
    pub bend: u128,
}

/// The form of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// It stays what it is.
    Same(Value),
    /// A word.
    Word(WordForm),
    /// An array in which some cells have forms, and the others stay what they are.
    Cells(ArrayValue, BTreeMap<Value, WordForm>),
}

fn bits(value: &Value) -> Option<(u128, u32)> {
    match value {
        Value::BitVec(bits) if bits.width() <= 64 => {
            Some((bits.unsigned().to_u128()?, bits.width()))
        }
        _ => None,
    }
}

fn word(bits: u128, width: u32) -> Value {
    Value::BitVec(BitVec::new(bits.into(), width))
}

fn masked(bits: u128, width: u32) -> u128 {
    bits & (u128::MAX >> (128 - width))
}

/// `k (k - 1) / 2`.
fn pairs(k: u64) -> u128 {
    let k = u128::from(k);
    if k == 0 { 0 } else { k * (k - 1) / 2 }
}

impl WordForm {
    /// The form through four values in a row.
    pub fn through(values: [&Value; 4]) -> Option<WordForm> {
        let (start, width) = bits(values[0])?;
        let mut steps = [0u128; 3];
        for (at, step) in steps.iter_mut().enumerate() {
            let (a, b) = (bits(values[at])?.0, bits(values[at + 1])?.0);
            *step = masked(b.wrapping_sub(a), width);
        }
        let bend = |at: usize| masked(steps[at + 1].wrapping_sub(steps[at]), width);
        // An odd bend would need halves; twice the period has none.
        (bend(0) == bend(1) && bend(0) % 2 == 0).then_some(WordForm {
            width,
            start,
            slope: steps[0],
            bend: bend(0),
        })
    }

    /// What it holds after so many rounds.
    pub fn bits_at(&self, k: u64) -> u128 {
        let moved = self.slope.wrapping_mul(k.into());
        let bent = self.bend.wrapping_mul(pairs(k));
        masked(
            self.start.wrapping_add(moved).wrapping_add(bent),
            self.width,
        )
    }

    /// The slope as a number with a sign.
    pub fn signed_slope(&self) -> i128 {
        let unused = 128 - self.width;
        (self.slope << unused) as i128 >> unused
    }

    /// The same as a term over a count of rounds.
    pub fn term(&self, terms: &mut Terms, count: TermId) -> TermId {
        let width = self.width;
        let number =
            |terms: &mut Terms, bits: u128| terms.literal(&word(bits, width), Sort::BitVec(width));
        let mut sum = number(terms, self.start);
        let short = terms.resize(count, width, Sign::Unsigned);
        if self.slope != 0 {
            let slope = number(terms, self.slope);
            let moved = terms.bv_mul(slope, short);
            sum = terms.bv_add(sum, moved);
        }
        if self.bend != 0 {
            let one = terms.bv(1, width);
            let before = terms.bv_sub(short, one);
            let product = terms.bv_mul(short, before);
            let half = number(terms, self.bend / 2);
            let bent = terms.bv_mul(half, product);
            sum = terms.bv_add(sum, bent);
        }
        sum
    }
}

impl Form {
    /// The form through four values in a row; `touched` are the indices of the cells that may
    /// matter.
    pub fn through(values: [&Value; 4], touched: &BTreeSet<Value>) -> Option<Form> {
        if let [
            Value::Array(first),
            Value::Array(second),
            Value::Array(third),
            Value::Array(fourth),
        ] = values
        {
            let all = [first, second, third, fourth];
            if !all
                .iter()
                .all(|array| array.default_value() == first.default_value())
            {
                return None;
            }
            let mut cells = BTreeMap::new();
            let known = all.iter().flat_map(|array| array.entries().keys());
            for index in known.chain(touched) {
                let form = WordForm::through(all.map(|array| array.get(index)))?;
                cells.insert(index.clone(), form);
            }
            return Some(Form::Cells(first.clone(), cells));
        }
        if values.iter().all(|value| value == &values[0]) {
            return Some(Form::Same(values[0].clone()));
        }
        WordForm::through(values).map(Form::Word)
    }

    /// What it holds after so many rounds.
    pub fn at(&self, k: u64) -> Value {
        match self {
            Form::Same(value) => value.clone(),
            Form::Word(form) => word(form.bits_at(k), form.width),
            Form::Cells(array, cells) => {
                let mut array = array.clone();
                for (index, form) in cells {
                    array = array.set(index.clone(), word(form.bits_at(k), form.width));
                }
                Value::Array(array)
            }
        }
    }

    /// That a variable has the form after so many rounds, as facts.
    pub fn facts(&self, terms: &mut Terms, variable: TermId, count: TermId) -> Vec<TermId> {
        match self {
            Form::Same(value) => {
                let sort = terms.sort(variable);
                let literal = terms.literal(value, sort);
                vec![terms.eq(variable, literal)]
            }
            Form::Word(form) => {
                let there = form.term(terms, count);
                vec![terms.eq(variable, there)]
            }
            Form::Cells(_, cells) => {
                let mut facts = Vec::new();
                for (index, form) in cells {
                    let there = form.term(terms, count);
                    facts.extend(cell_fact(terms, variable, index, there));
                }
                facts
            }
        }
    }
}

/// That a cell of an array holds a value.
fn cell_fact(terms: &mut Terms, array: TermId, index: &Value, value: TermId) -> Option<TermId> {
    let Sort::Array(sort) = terms.sort(array) else {
        return None;
    };
    let (index_sort, element) = terms.array_parts(sort);
    let index = terms.literal(index, index_sort);
    let cell = terms.select(array, index);
    (terms.sort(value) == element).then(|| terms.eq(cell, value))
}
