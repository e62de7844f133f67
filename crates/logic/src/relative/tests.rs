//! What is seen from a base means the same: random terms, by evaluation.

use super::Relative;
use crate::eval::{Assignment, eval};
use crate::sort::Sort;
use crate::term::{Op, TermId, Terms};
use crate::value::{BitVec, Value};
use std::collections::BTreeSet;

const WIDTH: u32 = 6;

/// A plain source of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

fn word(terms: &mut Terms, random: &mut Random, leaves: &[TermId], depth: u32) -> TermId {
    if depth == 0 || random.below(4) == 0 {
        return match random.below(3) {
            0 => terms.bv(random.below(1 << WIDTH) as i128, WIDTH),
            _ => leaves[random.below(leaves.len() as u64) as usize],
        };
    }
    let a = word(terms, random, leaves, depth - 1);
    let b = word(terms, random, leaves, depth - 1);
    // As they are, so that nothing is carried out before.
    match random.below(6) {
        0 | 1 => terms.plain(Op::BvAdd, &[a, b]),
        2 | 3 => terms.plain(Op::BvSub, &[a, b]),
        4 => {
            let by = terms.bv(random.below(1 << WIDTH) as i128, WIDTH);
            terms.plain(Op::BvMul, &[a, by])
        }
        _ => {
            let condition = truth(terms, random, leaves, depth - 1);
            terms.plain(Op::Ite, &[condition, a, b])
        }
    }
}

fn truth(terms: &mut Terms, random: &mut Random, leaves: &[TermId], depth: u32) -> TermId {
    let a = word(terms, random, leaves, depth);
    let b = word(terms, random, leaves, depth);
    match random.below(4) {
        0 | 1 => terms.plain(Op::Eq, &[a, b]),
        2 => terms.plain(Op::BvUlt, &[a, b]),
        _ if depth > 0 => {
            let (a, b) = (
                truth(terms, random, leaves, depth - 1),
                truth(terms, random, leaves, depth - 1),
            );
            terms.plain(Op::And, &[a, b])
        }
        _ => terms.plain(Op::BvUle, &[a, b]),
    }
}

/// The values of some words, and the distances of all from the first.
fn assignment(relative: &Relative, leaves: &[TermId], values: &[u64]) -> Assignment {
    let mut state = Assignment::new();
    for (&leaf, &value) in leaves.iter().zip(values) {
        let bits = BitVec::from_int(&value.into(), WIDTH);
        state.set(leaf, Value::BitVec(bits));
        if let Some(&distance) = relative.distances.get(&leaf) {
            let bits = value.wrapping_sub(values[0]) & ((1 << WIDTH) - 1);
            let bits = BitVec::from_int(&bits.into(), WIDTH);
            state.set(distance, Value::BitVec(bits));
        }
    }
    state
}

#[test]
fn random_terms_mean_the_same() {
    let mut changed = 0;
    for seed in 1..4_000u64 {
        let mut random = Random(seed * 0x9E37_79B9);
        let mut terms = Terms::new();
        let names = ["base", "p", "q", "x"];
        let leaves = names.map(|name| terms.constant(name, Sort::BitVec(WIDTH)));
        let mut relative = Relative::to(leaves[0], BTreeSet::new());
        // What was seen before must not matter.
        for _ in 0..3 {
            let plain = truth(&mut terms, &mut random, &leaves, 4);
            let seen = relative.seen(&mut terms, plain);
            changed += u32::from(
                terms
                    .free_constants(&[seen])
                    .iter()
                    .any(|c| !leaves.contains(c)),
            );
            for _ in 0..8 {
                let values = [0; 4].map(|_| random.below(1 << WIDTH));
                let state = assignment(&relative, &leaves, &values);
                let (a, b) = (eval(&terms, plain, &state), eval(&terms, seen, &state));
                assert_eq!(a, b, "{}\n{}", terms.infix(plain), terms.infix(seen));
            }
        }
    }
    assert!(
        changed > 3_000,
        "{changed} of them are counted from the base"
    );
}

#[test]
fn the_base_does_not_matter_where_two_are_counted_from_it() {
    let mut terms = Terms::new();
    let sort = Sort::BitVec(64);
    let [base, p, x] = ["base", "p", "x"].map(|name| terms.constant(name, sort));
    let (begin, size) = (terms.bv(144, 64), terms.bv(40, 64));
    let object = terms.bv_add(base, begin);
    let row = terms.bv_mul(x, size);
    let element = terms.bv_add(object, row);
    let null = terms.bv(0, 64);
    let is_null = terms.eq(p, null);
    let chosen = terms.ite(is_null, object, element);
    let offset = terms.bv_sub(chosen, object);
    let most = terms.bv(160, 64);
    let inside = terms.bv_ule(offset, most);
    let seen = Relative::to(base, BTreeSet::new()).seen(&mut terms, inside);
    assert!(
        !terms.free_constants(&[seen]).contains(&base),
        "{}",
        terms.infix(seen)
    );
}
