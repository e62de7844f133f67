//! Words that are followed as cases against the logic's evaluator: random terms in which words are
//! one of a few, and memory that is read and written at such words.

use hardbop_circuit::Blaster;
use hardbop_logic::{ArrayValue, Assignment, BitVec, Op, Sort, TermId, Terms, Value, eval};
use hardbop_test_support::random::Random;
use num_bigint::BigUint;
use std::collections::BTreeMap;

const WIDTH: u32 = 4;

/// What the terms are made of.
struct Made {
    conditions: Vec<TermId>,
    unknown: Vec<TermId>,
    words: Vec<TermId>,
    flags: Vec<TermId>,
    memories: Vec<TermId>,
}

fn pick(random: &mut Random, of: &[TermId]) -> TermId {
    of[random.below(of.len() as u64) as usize]
}

/// More terms, without simplification, made of those that there are.
fn grow(random: &mut Random, terms: &mut Terms, made: &mut Made) {
    const PLAIN: [Op; 8] = [
        Op::BvAdd,
        Op::BvSub,
        Op::BvMul,
        Op::BvAnd,
        Op::BvOr,
        Op::BvUdiv,
        Op::BvShl,
        Op::BvXor,
    ];
    let (x, y) = (pick(random, &made.words), pick(random, &made.words));
    let condition = match random.below(2) {
        0 => pick(random, &made.conditions),
        _ => pick(random, &made.flags),
    };
    let memory = pick(random, &made.memories);
    match random.below(10) {
        0..=2 => made.words.push(terms.plain(Op::Ite, &[condition, x, y])),
        3 => {
            let op = &PLAIN[random.below(PLAIN.len() as u64) as usize];
            made.words.push(terms.plain(op.clone(), &[x, y]));
        }
        4 => {
            let low = terms.plain(Op::Extract { high: 1, low: 0 }, &[x]);
            let high = terms.plain(Op::Extract { high: 3, low: 2 }, &[y]);
            made.words.push(terms.plain(Op::Concat, &[low, high]));
        }
        5 => {
            let op = [Op::Eq, Op::BvUlt, Op::BvSle][random.below(3) as usize].clone();
            made.flags.push(terms.plain(op, &[x, y]));
        }
        6 => made.memories.push(terms.plain(Op::Store, &[memory, x, y])),
        7 => {
            let other = pick(random, &made.memories);
            let chosen = terms.plain(Op::Ite, &[condition, memory, other]);
            made.memories.push(chosen);
        }
        _ => made.words.push(terms.plain(Op::Select, &[memory, x])),
    }
}

/// The values of some terms in the circuit, when its inputs are what constants and memory are.
fn simulated(blaster: &mut Blaster, terms: &Terms, of: &[TermId], given: &Assignment) -> Vec<u64> {
    let words: Vec<_> = of
        .iter()
        .map(|&term| blaster.word(terms, term).expect("it has a circuit"))
        .collect();
    let bits: Vec<_> = words.iter().flatten().copied().collect();
    let mut inputs = BTreeMap::new();
    let mut note = |bits: &[hardbop_circuit::Bit], value: u64| {
        for (at, bit) in bits.iter().enumerate() {
            inputs.insert(bit.node(), value >> at & 1 == 1);
        }
    };
    for constant in terms.free_constants(of) {
        if let Some(bits) = blaster.known(constant) {
            note(bits, number(&eval(terms, constant, given).unwrap()));
        }
    }
    // What is read of memory is an input, and where that is may depend on earlier ones.
    let reads: Vec<_> = blaster.reads().iter().collect();
    let mut all: Vec<(TermId, &hardbop_circuit::Read)> = Vec::new();
    for (array, reads) in reads {
        all.extend(reads.iter().map(|read| (*array, read)));
    }
    all.sort_by_key(|(_, read)| read.value[0]);
    for (array, read) in all {
        let holds = |node| inputs.get(&node).copied().unwrap_or(false);
        let at = blaster.graph.simulate(holds, &read.at);
        let at = (0..)
            .zip(at)
            .map(|(bit, on)| u64::from(on) << bit)
            .sum::<u64>();
        let Ok(Value::Array(memory)) = eval(terms, array, given) else {
            panic!("memory has a value");
        };
        let value = number(memory.get(&Value::BitVec(word(at))));
        for (bit, input) in read.value.iter().enumerate() {
            inputs.insert(input.node(), value >> bit & 1 == 1);
        }
    }
    let holds = |node| inputs.get(&node).copied().unwrap_or(false);
    let mut values = blaster.graph.simulate(holds, &bits).into_iter();
    let mut take = |word: &Vec<_>| {
        let bits = values.by_ref().take(word.len());
        (0..).zip(bits).map(|(bit, on)| u64::from(on) << bit).sum()
    };
    words.iter().map(&mut take).collect()
}

fn word(value: u64) -> BitVec {
    BitVec::new(BigUint::from(value), WIDTH)
}

fn number(value: &Value) -> u64 {
    match value {
        Value::Bool(value) => (*value).into(),
        Value::BitVec(bits) => bits.unsigned().iter_u64_digits().next().unwrap_or(0),
        other => panic!("no bits: {other:?}"),
    }
}

#[test]
fn words_as_cases_are_what_they_are_as_bits() {
    let mut random = Random(7);
    for _ in 0..300 {
        let mut terms = Terms::new();
        let sort = Sort::BitVec(WIDTH);
        let conditions: Vec<TermId> = (0..4).map(|_| terms.fresh("c", Sort::Bool)).collect();
        let unknown: Vec<TermId> = (0..2).map(|_| terms.fresh("x", sort)).collect();
        let array = terms.array_sort(sort, sort);
        let memory = terms.fresh("m", array);
        let mut words = unknown.clone();
        for value in [0u64, 1, 5, 8, 15] {
            words.push(terms.bv(value.into(), WIDTH));
        }
        let flags = conditions.clone();
        let memories = vec![memory];
        let mut made = Made {
            conditions,
            unknown,
            words,
            flags,
            memories,
        };
        for _ in 0..40 {
            grow(&mut random, &mut terms, &mut made);
        }
        let of: Vec<TermId> = made.words.iter().chain(&made.flags).copied().collect();
        let mut blaster = Blaster::new();
        blaster.follow_cases();
        for _ in 0..8 {
            let mut given = Assignment::new();
            for &condition in &made.conditions {
                given.set(condition, Value::Bool(random.below(2) == 0));
            }
            for &unknown in &made.unknown {
                given.set(unknown, Value::BitVec(word(random.below(16))));
            }
            let mut held = ArrayValue::constant(sort, Value::BitVec(word(3)));
            for _ in 0..6 {
                let (at, value) = (word(random.below(16)), word(random.below(16)));
                held = held.set(Value::BitVec(at), Value::BitVec(value));
            }
            given.set(memory, Value::Array(held));
            let found = simulated(&mut blaster, &terms, &of, &given);
            for (&term, found) in of.iter().zip(found) {
                let expected = number(&eval(&terms, term, &given).unwrap());
                assert_eq!(found, expected, "{:?}", terms.op(term));
            }
        }
    }
}
