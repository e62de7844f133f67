//! Powers of two as words that invariants may speak of.
//!
//! What is doubled in every round of a loop, or done twice by a function that calls itself twice, is
//! a power of two: the moves of a tower are `(1 << n) - 1`. In come the steps of a program and the
//! variables at a point; out come words `1 << n` and `1 << (n - 1)`, which hulls relate to others,
//! and guesses that one may be added to a variable without an overflow.

use crate::candidates::{Hints, Variable};
use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_logic::{Op, TermId, Terms, Value};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::steps::{Ground, Step};
use std::collections::BTreeMap;

/// The most exponents at a point.
const EXPONENTS: usize = 3;
/// The most variables that powers may be added to.
const SUMS: usize = 8;

/// What is spoken of at a point.
#[derive(Debug, Default)]
pub struct Powers {
    /// The powers, under names.
    pub variables: Vec<Variable>,
    /// What may hold of them.
    pub guesses: Vec<TermId>,
}

/// Whether a program doubles anything, or a function of it calls itself twice.
pub fn doubles(ground: &Ground<'_, '_>, terms: &Terms, steps: &[Step]) -> bool {
    let function_of = |at: LocId| ground.semantics.program.locations[at.index()].function;
    let mut calls: BTreeMap<FuncId, Vec<LocId>> = BTreeMap::new();
    for step in steps {
        if let (Some(returned), Some(from)) = (&step.returned, step.from)
            && function_of(returned.exit) == function_of(from)
        {
            let of = calls.entry(function_of(from)).or_default();
            of.extend((!of.contains(&from)).then_some(from));
        }
    }
    let doubled = |term: TermId| match (terms.op(term), terms.args(term)) {
        (Op::BvAdd, &[a, b]) => a == b,
        (Op::BvMul, &[a, b]) => is_two(terms, a) || is_two(terms, b),
        (Op::BvShl, &[_, by]) => is_one(terms, by),
        _ => false,
    };
    let written = |step: &Step| {
        step.state
            .written()
            .any(|(_, value)| is_found(terms, value, doubled))
    };
    calls.values().any(|of| of.len() > 1) || steps.iter().any(written)
}

/// Whether a term holds one of a kind near its top.
fn is_found(terms: &Terms, value: TermId, wanted: impl Fn(TermId) -> bool) -> bool {
    let mut work = vec![(value, 0)];
    while let Some((term, depth)) = work.pop() {
        if wanted(term) {
            return true;
        }
        if depth < DEPTH {
            work.extend(terms.args(term).iter().map(|&arg| (arg, depth + 1)));
        }
    }
    false
}

/// How far from the top of a term a product is looked for.
const DEPTH: usize = 4;

fn is_number(terms: &Terms, term: TermId, number: u32) -> bool {
    matches!(terms.value_of(term), Some(Value::BitVec(bits)) if *bits.unsigned() == number.into())
}

fn is_one(terms: &Terms, term: TermId) -> bool {
    is_number(terms, term, 1)
}

fn is_two(terms: &Terms, term: TermId) -> bool {
    is_number(terms, term, 2)
}

/// The powers at a point with these variables: exponents are local ones that the program compares.
pub fn powers(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    hints: &Hints,
    variables: &[Variable],
) -> Powers {
    let plain = |variable: &&Variable| {
        variable.float.is_none() && variable.width >= 16 && variable.constant == variable.term
    };
    let words: Vec<Variable> = variables.iter().filter(plain).copied().collect();
    let mut exponents = Vec::new();
    for &word in &words {
        let (Some(Meaning::Now(id)) | Some(Meaning::Old(id))) =
            ground.constants.meaning(word.constant)
        else {
            continue;
        };
        let now = ground.semantics.constant(terms, id);
        let compared = hints.compared_to(now).next().is_some();
        let known = compared || hints.literals_of(now).next().is_some();
        if known && ground.semantics.layout.get(id).owner.is_some() {
            exponents.push(word);
        }
    }
    let mut found = Powers::default();
    for exponent in exponents.iter().take(EXPONENTS) {
        let width = exponent.width;
        let one = terms.bv(1, width);
        let less = terms.bv_sub(exponent.term, one);
        let power = terms.bv_shl(one, exponent.term);
        let half = terms.bv_shl(one, less);
        let name = terms.infix(exponent.constant).to_string();
        for (term, name) in [
            (power, format!("#power {name}")),
            (half, format!("#half {name}")),
        ] {
            let constant = terms.constant(&name, terms.sort(term));
            found
                .variables
                .push(Variable::unsigned(terms, constant, term));
        }
        let width_itself = terms.bv(width.into(), width);
        found
            .guesses
            .push(terms.bv_ult(exponent.term, width_itself));
        let most = terms.bv_sub(power, one);
        for other in words
            .iter()
            .filter(|other| other.width == width && other != &exponent)
            .take(SUMS)
        {
            let sum = terms.bv_add(other.term, most);
            let fits = match other.signed {
                true => terms.bv_sle(other.term, sum),
                false => terms.bv_ule(other.term, sum),
            };
            found.guesses.push(fits);
        }
    }
    found
}
