//! What is counted from a base means the same: random formulas about words and memory, by
//! evaluation, with the distances and arrays that belong to a model.

use super::{Counted, rebased, with_places};
use crate::eval::{Assignment, eval};
use crate::sort::Sort;
use crate::term::{Op, TermId, Terms};
use crate::value::{ArrayValue, BitVec, Value};

const WIDTH: u32 = 4;
const WORDS: u64 = 1 << WIDTH;

/// A constant, what stands in its place, and how that is counted.
type Place = (TermId, TermId, Counted);

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

/// The constants of a random formula: the base comes first.
struct Leaves {
    words: Vec<TermId>,
    /// Of words, and of bits of half the width.
    arrays: [Vec<TermId>; 2],
}

impl Leaves {
    fn new(terms: &mut Terms) -> Leaves {
        let word = Sort::BitVec(WIDTH);
        let names = ["base", "p", "q", "x"];
        let words = names.map(|name| terms.constant(name, word)).to_vec();
        let arrays = [word, Sort::BitVec(WIDTH / 2)].map(|element| {
            let sort = terms.array_sort(word, element);
            let names = ["memory", "other"];
            let named = names.map(|name| terms.constant(&format!("{name}{element:?}"), sort));
            named.to_vec()
        });
        Leaves { words, arrays }
    }
}

fn pick(random: &mut Random, from: &[TermId]) -> TermId {
    from[random.below(from.len() as u64) as usize]
}

fn word(terms: &mut Terms, random: &mut Random, leaves: &Leaves, depth: u32) -> TermId {
    if depth == 0 || random.below(5) == 0 {
        return match random.below(3) {
            0 => terms.bv(random.below(WORDS) as i128, WIDTH),
            1 => leaves.words[0],
            _ => pick(random, &leaves.words),
        };
    }
    let a = word(terms, random, leaves, depth - 1);
    let b = word(terms, random, leaves, depth - 1);
    match random.below(9) {
        0 | 1 => terms.bv_add(a, b),
        2 => terms.bv_sub(a, b),
        3 => terms.bv_mul(a, b),
        4 => terms.bv_and(a, b),
        5 => {
            let narrow = array(terms, random, leaves, 1, depth - 1);
            let read = terms.select(narrow, a);
            terms.zero_extend(read, WIDTH / 2)
        }
        6 | 7 => {
            let memory = array(terms, random, leaves, 0, depth - 1);
            terms.select(memory, a)
        }
        _ => {
            let condition = truth(terms, random, leaves, depth - 1);
            terms.ite(condition, a, b)
        }
    }
}

/// An array of words (0) or of half words (1).
fn array(
    terms: &mut Terms,
    random: &mut Random,
    leaves: &Leaves,
    kind: usize,
    depth: u32,
) -> TermId {
    if depth == 0 || random.below(4) == 0 {
        return pick(random, &leaves.arrays[kind]);
    }
    let value = word(terms, random, leaves, depth - 1);
    let value = match kind {
        0 => value,
        _ => terms.extract(value, WIDTH / 2 - 1, 0),
    };
    match random.below(4) {
        0 => {
            let sort = terms.sort(leaves.arrays[kind][0]);
            terms.const_array(sort, value)
        }
        1 => {
            let condition = truth(terms, random, leaves, depth - 1);
            let one = array(terms, random, leaves, kind, depth - 1);
            let other = array(terms, random, leaves, kind, depth - 1);
            terms.ite(condition, one, other)
        }
        _ => {
            let below = array(terms, random, leaves, kind, depth - 1);
            let at = word(terms, random, leaves, depth - 1);
            terms.store(below, at, value)
        }
    }
}

fn truth(terms: &mut Terms, random: &mut Random, leaves: &Leaves, depth: u32) -> TermId {
    let a = word(terms, random, leaves, depth);
    let b = word(terms, random, leaves, depth);
    match random.below(6) {
        0..=2 => terms.eq(a, b),
        3 => terms.bv_ult(a, b),
        4 if depth > 0 => {
            let one = array(terms, random, leaves, 0, depth - 1);
            let other = array(terms, random, leaves, 0, depth - 1);
            terms.eq(one, other)
        }
        _ if depth > 0 => {
            let one = truth(terms, random, leaves, depth - 1);
            let other = truth(terms, random, leaves, depth - 1);
            terms.and(&[one, other])
        }
        _ => terms.bv_ule(a, b),
    }
}

fn number(value: u64, width: u32) -> Value {
    let value = value & ((1 << width) - 1);
    Value::BitVec(BitVec::from_int(&value.into(), width))
}

fn an_array(values: &[u64], width: u32) -> Value {
    let start = ArrayValue::constant(Sort::BitVec(WIDTH), number(0, width));
    let filled = values
        .iter()
        .enumerate()
        .fold(start, |array, (at, &value)| {
            array.set(number(at as u64, WIDTH), number(value, width))
        });
    Value::Array(filled)
}

/// Random values of all constants, and of what stands in their places.
fn assignment(random: &mut Random, leaves: &Leaves, places: &[Place]) -> Assignment {
    let mut state = Assignment::new();
    let base = random.below(WORDS);
    let instead = |leaf: TermId| {
        let mut places = places.iter();
        places.find(|place| place.0 == leaf).copied()
    };
    for &leaf in &leaves.words {
        let value = match leaf == leaves.words[0] {
            true => base,
            false => random.below(WORDS),
        };
        state.set(leaf, number(value, WIDTH));
        if let Some((_, distance, _)) = instead(leaf) {
            state.set(distance, number(value.wrapping_sub(base), WIDTH));
        }
    }
    for (arrays, width) in leaves.arrays.iter().zip([WIDTH, WIDTH / 2]) {
        for &leaf in arrays {
            let values: Vec<u64> = (0..WORDS).map(|_| random.below(1 << width)).collect();
            state.set(leaf, an_array(&values, width));
            if let Some((_, array, counted)) = instead(leaf) {
                let from = if counted.index { base } else { 0 };
                let less = if counted.value { base } else { 0 };
                let moved = (0..WORDS).map(|at| {
                    let at = (at + from) % WORDS;
                    values[at as usize].wrapping_sub(less)
                });
                let moved: Vec<u64> = moved.collect();
                state.set(array, an_array(&moved, width));
            }
        }
    }
    state
}

#[test]
fn random_formulas_mean_the_same() {
    let (mut words, mut arrays) = (0, 0);
    for seed in 1..3_000u64 {
        let mut random = Random(seed * 0x9E37_79B9);
        let mut terms = Terms::new();
        let leaves = Leaves::new(&mut terms);
        let plain = [0; 3].map(|_| truth(&mut terms, &mut random, &leaves, 4));
        let counted = with_places(&mut terms, leaves.words[0], &plain);
        let (formulas, places) = counted.expect("nothing is refused");
        let is_array = |place: &&Place| leaves.arrays.concat().contains(&place.0);
        let of_arrays = places.iter().filter(is_array).count();
        arrays += of_arrays;
        words += places.len() - of_arrays;
        for _ in 0..12 {
            let state = assignment(&mut random, &leaves, &places);
            for (&plain, &seen) in plain.iter().zip(&formulas) {
                let (a, b) = (eval(&terms, plain, &state), eval(&terms, seen, &state));
                assert_eq!(a, b, "{}\n{}", terms.infix(plain), terms.infix(seen));
            }
        }
    }
    assert!(words > 1_000 && arrays > 1_000, "{words} {arrays}");
}

#[test]
fn the_base_is_left_only_where_null_is() {
    let mut terms = Terms::new();
    let sort = Sort::BitVec(64);
    let [base, condition] = ["base", "x"].map(|name| terms.constant(name, sort));
    let memory = terms.array_sort(sort, sort);
    let memory = terms.constant("memory", memory);
    let null = terms.bv(0, 64);
    let [first, second] = [16, 32].map(|at| {
        let at = terms.bv(at, 64);
        terms.bv_add(base, at)
    });
    // A list of two nodes, the first of which points to the second or to nowhere known.
    let linked = terms.store(memory, first, second);
    let which = terms.eq(condition, null);
    let heap = terms.ite(which, linked, memory);
    let next = terms.select(heap, first);
    let is_second = terms.eq(next, second);
    let seen = rebased(&mut terms, base, &[is_second]).unwrap()[0];
    assert!(!terms.free_constants(&[seen]).contains(&base));
    let is_null = terms.eq(next, null);
    let seen = rebased(&mut terms, base, &[is_null]).unwrap()[0];
    assert!(terms.free_constants(&[seen]).contains(&base));
}

#[test]
fn quantifiers_and_functions_of_arrays_are_not_taken() {
    let mut terms = Terms::new();
    let sort = Sort::BitVec(8);
    let [base, x] = ["base", "x"].map(|name| terms.constant(name, sort));
    let same = terms.eq(base, x);
    let some = terms.plain(Op::Exists(vec![x].into()), &[same]);
    assert!(rebased(&mut terms, base, &[some]).is_none());
    let integer = terms.constant("i", Sort::Int);
    assert!(rebased(&mut terms, integer, &[same]).is_none());
}
