//! What algebra excludes has no model: all words of few bits are tried.

use super::*;
use crate::{Assignment, Value, eval};
use hardbop_test_support::random::Random;

fn nothing(_: &mut Terms, _: &[TermId], _: TermId) -> bool {
    false
}

/// A random word over constants.
fn word(terms: &mut Terms, random: &mut Random, words: &[TermId], depth: u64) -> TermId {
    let width = terms.width(words[0]);
    if depth == 0 {
        return match random.below(4) {
            0 => terms.bv(i128::from(random.below(8)), width),
            _ => words[random.below(words.len() as u64) as usize],
        };
    }
    let a = word(terms, random, words, depth - 1);
    let b = word(terms, random, words, depth - 1);
    let by = terms.bv(i128::from(random.below(3)), width);
    match random.below(11) {
        0..2 => terms.bv_add(a, b),
        2 => terms.bv_sub(a, b),
        3..6 => terms.bv_mul(a, b),
        6 => terms.bv_not(a),
        7 => terms.bv_udiv(a, b),
        8 => terms.bv_srem(a, b),
        9 => terms.bv_lshr(a, by),
        _ => {
            let same = terms.eq(a, b);
            terms.ite(same, b, a)
        }
    }
}

/// A random fact about words; equations of which one side is a word are what programs have most.
fn fact(terms: &mut Terms, random: &mut Random, words: &[TermId]) -> TermId {
    let a = match random.below(2) {
        0 => words[random.below(words.len() as u64) as usize],
        _ => word(terms, random, words, 1),
    };
    let b = word(terms, random, words, 2);
    let formula = match random.below(6) {
        0..3 => terms.eq(a, b),
        3 => terms.bv_ult(a, b),
        4 => terms.bv_sle(a, b),
        _ => {
            let width = terms.width(a);
            let one = terms.bv(1, width);
            let low = terms.bv_and(a, one);
            terms.eq(low, one)
        }
    };
    match random.below(4) {
        0 => terms.not(formula),
        _ => formula,
    }
}

/// Whether formulas hold together for some words of three bits.
fn has_model(terms: &Terms, formulas: &[TermId], words: &[TermId]) -> bool {
    (0..512u32).any(|values| {
        let mut model = Assignment::new();
        for (at, &word) in words.iter().enumerate() {
            let value = crate::BitVec::new((values >> (3 * at) & 7).into(), 3);
            model.set(word, Value::BitVec(value));
        }
        let holds = |&formula: &TermId| eval(terms, formula, &model) == Ok(Value::Bool(true));
        formulas.iter().all(holds)
    })
}

#[test]
fn what_is_excluded_has_no_model() {
    let mut random = Random(3);
    let (mut excluded, mut eased) = (0, 0);
    for _ in 0..1_500 {
        let mut terms = Terms::new();
        let words = ["x", "y", "z"].map(|name| terms.constant(name, Sort::BitVec(3)));
        let count = 2 + random.below(3);
        let mut question: Vec<TermId> = (0..count)
            .map(|_| fact(&mut terms, &mut random, &words))
            .collect();
        let other = fact(&mut terms, &mut random, &words);
        if let Some(last) = question.last_mut() {
            *last = terms.or(&[*last, other]);
        }
        // A solver that knows everything tells lemmas.
        let mut lemmas = |terms: &mut Terms, facts: &[TermId], lemma: TermId| {
            let fails = terms.not(lemma);
            !has_model(terms, &[facts, &[fails]].concat(), &words)
        };
        let model = has_model(&terms, &question, &words);
        let left = without_refuted(&mut terms, &question, &mut lemmas);
        assert_eq!(has_model(&terms, &left, &words), model);
        let refuted = refuted_by_algebra(&mut terms, &question, &mut lemmas);
        assert!(!refuted || !model);
        excluded += u32::from(refuted);
        eased += u32::from(left != question);
    }
    assert!(excluded > 60 && eased > 60, "{excluded} {eased}");
}

#[test]
fn equations_between_products_are_kept_by_steps() {
    let mut terms = Terms::new();
    let [x, y, n] = ["x", "y", "n"].map(|name| terms.constant(name, Sort::BitVec(64)));
    let (one, two) = (terms.bv(1, 64), terms.bv(2, 64));
    let square = terms.bv_mul(n, n);
    let double = terms.bv_mul(two, n);
    let odd = terms.bv_add(double, one);
    let before = [terms.eq(x, square), terms.eq(y, odd)];
    let (next_n, next_x) = (terms.bv_add(n, one), terms.bv_add(x, y));
    let next_square = terms.bv_mul(next_n, next_n);
    let after = terms.eq(next_x, next_square);
    let fails = terms.not(after);
    let question = [before[0], before[1], fails];
    assert!(refuted_by_algebra(&mut terms, &question, &mut nothing));
    let question = [before[0], fails];
    assert!(!refuted_by_algebra(&mut terms, &question, &mut nothing));
}

/// What is read from memory is a word like others, though it has two arguments.
#[test]
fn words_of_memory_are_multiplied() {
    let mut terms = Terms::new();
    let word = Sort::BitVec(8);
    let sort = terms.array_sort(word, word);
    let memory = terms.constant("memory", sort);
    let [x, y] = ["x", "y"].map(|name| terms.constant(name, word));
    let read = terms.select(memory, x);
    let (square, product) = (terms.bv_mul(read, read), terms.bv_mul(read, y));
    let (same, equal) = (terms.eq(read, y), terms.eq(square, product));
    let differ = terms.not(equal);
    assert!(refuted_by_algebra(
        &mut terms,
        &[same, differ],
        &mut nothing
    ));
    assert!(!refuted_by_algebra(&mut terms, &[differ], &mut nothing));
}

#[test]
fn products_as_unknown_words_have_more_models() {
    let mut terms = Terms::new();
    let [x, y] = ["x", "y"].map(|name| terms.constant(name, Sort::BitVec(8)));
    let product = terms.bv_mul(x, y);
    let (small, large) = (terms.bv(3, 8), terms.bv(5, 8));
    let question = [terms.bv_ult(product, small), terms.bv_ult(large, product)];
    let (left, unknown) = without_products(&mut terms, &question);
    assert_eq!(unknown.len(), 1);
    assert!(!multiplies(&terms, &left));
    assert_eq!(terms.free_constants(&left).len(), 1);
}
