//! Invariants about all elements as people write them: ACSL's `\forall integer k; ... ==> ...`.
//!
//! In come formulas with arbitrary words; what is said of any word becomes a quantified part of the
//! text, and where memory is an array of the program, an element is called by the array's name and
//! its index.

mod nodes;

use hardbop_logic::{Op, Sort, TermId, Terms, Value};
use hardbop_semantics::Semantics;
use hardbop_semantics::constants::{Constants, Meaning};
use std::collections::BTreeMap;

/// Longer sums are no addresses that anybody reads.
const LARGE: usize = 40;

/// A formula as text; `words` are arbitrary.
pub(crate) fn text(
    semantics: &Semantics<'_>,
    constants: &Constants,
    terms: &mut Terms,
    words: &[TermId],
    formula: TermId,
) -> String {
    if !semantics.layout.births().is_empty() {
        return nodes::text(semantics, constants, terms, words, formula);
    }
    let is_spoken_of = |terms: &Terms, term: TermId, word: &TermId| {
        let constants = terms.free_constants(&[term]);
        constants.contains(word)
    };
    if !words.iter().any(|word| is_spoken_of(terms, formula, word)) {
        return terms.infix(formula).to_string();
    }
    let mut parts = Vec::new();
    for part in flattened(terms, &Op::And, formula) {
        let about: Vec<TermId> = words
            .iter()
            .filter(|word| is_spoken_of(terms, part, word))
            .copied()
            .collect();
        let named = named(semantics, constants, terms, words, part);
        let text = implication(terms, named);
        parts.push(match about.as_slice() {
            [] => match terms.op(named) {
                Op::Or | Op::Ite => format!("({text})"),
                _ => text,
            },
            about => {
                let names: Vec<String> = about.iter().map(|&word| name(words, word)).collect();
                format!("(\\forall integer {}; {text})", names.join(", "))
            }
        });
    }
    parts.join(" && ")
}

/// What an arbitrary word is called.
fn name(words: &[TermId], word: TermId) -> String {
    match words.iter().position(|&other| other == word) {
        Some(at) if words.len() > 1 => format!("k{at}"),
        _ => "k".to_owned(),
    }
}

/// The operands of nested conjunctions or disjunctions.
fn flattened(terms: &Terms, op: &Op, formula: TermId) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut work = vec![formula];
    while let Some(term) = work.pop() {
        match terms.op(term) == op {
            true => work.extend(terms.args(term).iter().rev()),
            false => found.push(term),
        }
    }
    found
}

/// A disjunction with what it says of indices, the other way round, in front of an arrow.
fn implication(terms: &mut Terms, formula: TermId) -> String {
    let (mut given, mut then) = (Vec::new(), Vec::new());
    let mut work = vec![formula];
    while let Some(part) = work.pop() {
        let inner = terms.negated(part);
        match (terms.op(part).clone(), inner) {
            (Op::Or, _) => work.extend(terms.args(part).to_vec()),
            (_, Some(inner)) if *terms.op(inner) == Op::And => {
                for conjunct in terms.args(inner).to_vec() {
                    work.push(terms.not(conjunct));
                }
            }
            _ if is_about_elements(terms, part) => then.push(part),
            _ => given.push(terms.not(part)),
        }
    }
    if given.is_empty() || then.is_empty() {
        return terms.infix(formula).to_string();
    }
    given.sort_unstable();
    given.dedup();
    let given = terms.and(&given);
    let then = terms.or(&then);
    format!("{} ==> {}", terms.infix(given), terms.infix(then))
}

/// Whether a formula looks into memory; elements have names by now.
fn is_about_elements(terms: &Terms, formula: TermId) -> bool {
    terms
        .postorder(&[formula])
        .into_iter()
        .any(|term| match terms.op(term) {
            Op::Select => true,
            Op::Constant(symbol) => terms.symbol_name(*symbol).ends_with(']'),
            _ => false,
        })
}

/// A formula in which arbitrary words and elements of arrays have names.
fn named(
    semantics: &Semantics<'_>,
    constants: &Constants,
    terms: &mut Terms,
    words: &[TermId],
    formula: TermId,
) -> TermId {
    let mut map = BTreeMap::new();
    for &word in words {
        let sort = terms.sort(word);
        let named = terms.constant(&name(words, word), sort);
        map.insert(word, named);
    }
    let formula = terms.substitute(formula, &map);
    let mut map = BTreeMap::new();
    for part in terms.postorder(&[formula]) {
        if *terms.op(part) != Op::Select {
            continue;
        }
        let (memory, address) = (terms.args(part)[0], terms.args(part)[1]);
        let address = terms.substitute(address, &map);
        if let Some(text) = element(semantics, constants, terms, memory, address)
            && let sort @ Sort::BitVec(_) = terms.sort(part)
        {
            let named = terms.constant(&text, sort);
            map.insert(part, named);
        }
    }
    terms.substitute(formula, &map)
}

/// An element of an array, in the words of the program; `None` if it is not clear which it is.
fn element(
    semantics: &Semantics<'_>,
    constants: &Constants,
    terms: &mut Terms,
    memory: TermId,
    address: TermId,
) -> Option<String> {
    let Some(Meaning::Now(id)) = constants.meaning(memory) else {
        return None;
    };
    let region = semantics.layout.region_of(id)?;
    let region = semantics.points_to.regions().get(region);
    let class = &semantics.points_to.classes()[region.class.0 as usize];
    let &[variable] = class.variables.as_slice() else {
        return None;
    };
    if !class.allocations.is_empty() || region.start != 0 {
        return None;
    }
    let origin = semantics.origin(terms);
    let (mut summands, mut bytes) = sum(terms, address)?;
    if let Some(distance) = semantics.layout.distance(variable) {
        if summands.remove(&origin) != Some(1) {
            return None;
        }
        bytes -= i128::from(distance);
    }
    let unit = i128::from(region.unit);
    let width = terms.width(address);
    if bytes % unit != 0 || summands.values().any(|factor| factor % unit != 0) {
        return None;
    }
    let mut index = terms.bv(bytes / unit, width);
    for (term, factor) in summands {
        let factor = terms.bv(factor / unit, width);
        let product = terms.bv_mul(factor, term);
        index = terms.bv_add(index, product);
    }
    let described = semantics.program.variable(variable);
    Some(format!("{}[{}]", described.name, terms.infix(index)))
}

/// A word as a sum of terms times numbers, and a number.
fn sum(terms: &Terms, word: TermId) -> Option<(BTreeMap<TermId, i128>, i128)> {
    let mut summands: BTreeMap<TermId, i128> = BTreeMap::new();
    let mut number = 0i128;
    let mut work = vec![(word, 1i128)];
    let mut seen = 0;
    while let Some((term, factor)) = work.pop() {
        seen += 1;
        if seen > LARGE {
            return None;
        }
        let args = terms.args(term);
        if let Some(value) = literal(terms, term) {
            number = number.checked_add(value.checked_mul(factor)?)?;
            continue;
        }
        match terms.op(term) {
            Op::BvAdd => work.extend(args.iter().map(|&arg| (arg, factor))),
            Op::BvMul if literal(terms, args[1]).is_some() => {
                let times = literal(terms, args[1])?;
                work.push((args[0], factor.checked_mul(times)?));
            }
            _ => *summands.entry(term).or_default() += factor,
        }
    }
    Some((summands, number))
}

fn literal(terms: &Terms, term: TermId) -> Option<i128> {
    match terms.value_of(term) {
        Some(Value::BitVec(bits)) => i128::try_from(bits.signed()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_indices_comes_first() {
        let mut terms = Terms::new();
        let word = Sort::BitVec(32);
        let [k, i] = ["k", "i"].map(|name| terms.constant(name, word));
        let element = terms.constant("a[k]", word);
        let (zero, two) = (terms.bv(0, 32), terms.bv(2, 32));
        let (first, below) = (terms.bv_sle(zero, k), terms.bv_slt(k, i));
        let same = terms.eq(element, two);
        let range = terms.and(&[first, below]);
        let fact = terms.implies(range, same);
        assert_eq!(
            implication(&mut terms, fact),
            "k >= 0 && k < i ==> a[k] == 2"
        );
    }
}
