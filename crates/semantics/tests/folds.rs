//! Sums over arrays, against adding up: memories of a few bytes, every number of elements.

use hardbop_logic::{Sort, TermId, Terms, Value};
use hardbop_semantics::folds::{Adding, Fold, element};
use hardbop_test_support::random::Random;
use std::collections::BTreeMap;

/// Addresses and elements have so many bits.
const BITS: u32 = 5;

fn number(terms: &Terms, term: TermId) -> u64 {
    match terms.value_of(term) {
        Some(Value::BitVec(bits)) => bits.unsigned().iter_u64_digits().next().unwrap_or(0),
        other => panic!("{other:?} is no word"),
    }
}

/// What is added for an element.
fn summand(terms: &mut Terms, value: TermId, counts: bool) -> TermId {
    if !counts {
        return value;
    }
    let five = terms.bv(5, BITS);
    let large = terms.bv_ult(five, value);
    let (zero, one) = (terms.bv(0, BITS), terms.bv(1, BITS));
    terms.ite(large, one, zero)
}

/// After any writes, the sums are those of what is there then.
#[test]
fn what_writes_do_to_sums() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let mut terms = Terms::new();
        let word = Sort::BitVec(BITS);
        let sort = terms.array_sort(word, word);
        let memory = terms.constant("memory", sort);
        let stride = [1, 2, 4][random.below(3) as usize];
        let first = random.below(1 << BITS);
        let base = terms.bv(first.into(), BITS);
        let standing = element(&mut terms, 0, word);
        let summand = summand(&mut terms, standing, random.below(2) == 0);
        let adding = [Adding::Sum, Adding::Xor][random.below(2) as usize];
        let fold = Fold::new(&mut terms, 0, [memory, base], stride, summand, adding).unwrap();
        // All is zero at first, and so are the sums.
        let zero = terms.bv(0, BITS);
        let zeros = terms.const_array(sort, zero);
        let nothing = BTreeMap::from([(memory, zeros), (fold.sums, zeros)]);
        let (mut bytes, mut written) = ([0u64; 1 << BITS], memory);
        for _ in 0..random.below(6) {
            let (at, value) = (random.below(1 << BITS), random.below(1 << BITS));
            bytes[at as usize] = value;
            let (at, value) = (terms.bv(at.into(), BITS), terms.bv(value.into(), BITS));
            written = terms.store(written, at, value);
        }
        let limit = ((1 << BITS) / stride).min(1 << (BITS - 1));
        let mut sum = 0;
        for count in 0..1u64 << BITS {
            let expected = if count <= limit { sum } else { 0 };
            let term = terms.bv(count.into(), BITS);
            let found = fold.of(&mut terms, [written, base], term);
            let found = terms.substitute(found, &nothing);
            assert_eq!(
                number(&terms, found),
                expected,
                "seed {seed}, {count} elements"
            );
            let at = (first + count * stride) % (1 << BITS);
            let value = terms.bv(bytes[at as usize].into(), BITS);
            let added = terms.substitute(summand, &BTreeMap::from([(standing, value)]));
            let added = number(&terms, added);
            sum = match adding {
                Adding::Sum => (sum + added) % (1 << BITS),
                Adding::Xor => sum ^ added,
            };
        }
    }
}

/// Where elements may lie at the same address, nothing is known.
#[test]
fn a_distance_that_is_no_power_of_two_is_no_fold() {
    let mut terms = Terms::new();
    let word = Sort::BitVec(BITS);
    let sort = terms.array_sort(word, word);
    let memory = terms.constant("memory", sort);
    let base = terms.constant("base", word);
    let standing = element(&mut terms, 0, word);
    for stride in [0, 3, 6, 64] {
        let fold = Fold::new(&mut terms, 0, [memory, base], stride, standing, Adding::Sum);
        assert_eq!(fold, None, "{stride}");
    }
}
