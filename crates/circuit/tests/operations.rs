//! Circuits against the logic's evaluator: every operation, all operands of few bits, random ones
//! of many; memory against a map; floats of a small format.

use hardbop_budget::Budget;
use hardbop_circuit::{Bit, Blaster, CircuitSolver, Graph, Outcome, Sat, TOO_LARGE};
use hardbop_logic::{
    Answer, Assignment, BitVec, FloatFormat, FloatOp, FloatOperation, Limits, Op, Rounding,
    Session, Solver, Sort, TermId, Terms, Unknown, Value, eval,
};
use hardbop_test_support::random::Random;
use num_bigint::BigUint;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const BINARY: [Op; 18] = [
    Op::BvAnd,
    Op::BvOr,
    Op::BvXor,
    Op::BvAdd,
    Op::BvSub,
    Op::BvMul,
    Op::BvUdiv,
    Op::BvSdiv,
    Op::BvUrem,
    Op::BvSrem,
    Op::BvSmod,
    Op::BvShl,
    Op::BvLshr,
    Op::BvAshr,
    Op::BvUlt,
    Op::BvUle,
    Op::BvSlt,
    Op::BvSle,
];

/// The value of a bit of each term when the constants have these values.
fn simulated(
    blaster: &mut Blaster,
    terms: &Terms,
    term: TermId,
    given: &[(TermId, BigUint)],
) -> BigUint {
    let word = blaster.word(terms, term).expect("it has a circuit");
    let mut inputs = BTreeMap::new();
    for (constant, value) in given {
        let bits = blaster.word(terms, *constant).expect("it has a circuit");
        for (at, bit) in bits.iter().enumerate() {
            inputs.insert(bit.node(), value.bit(at as u64));
        }
    }
    let holds = |node| inputs.get(&node).copied().unwrap_or(false);
    let mut number = BigUint::default();
    for (at, value) in blaster.graph.simulate(holds, &word).into_iter().enumerate() {
        number.set_bit(at as u64, value);
    }
    number
}

fn evaluated(terms: &Terms, term: TermId, given: &[(TermId, BigUint)]) -> BigUint {
    let mut assignment = Assignment::new();
    for (constant, value) in given {
        let width = terms.width(*constant);
        assignment.set(*constant, Value::BitVec(BitVec::new(value.clone(), width)));
    }
    match eval(terms, term, &assignment).expect("it has a value") {
        Value::Bool(value) => BigUint::from(u8::from(value)),
        Value::BitVec(bits) => bits.unsigned().clone(),
        other => panic!("no bits: {other:?}"),
    }
}

/// Terms of one operation over two words: with both unknown, and with one of them known.
fn operations(terms: &mut Terms, x: TermId, y: TermId) -> Vec<TermId> {
    let width = terms.width(x);
    let mut all: Vec<TermId> = BINARY
        .iter()
        .map(|op| terms.plain(op.clone(), &[x, y]))
        .collect();
    all.push(terms.plain(Op::Eq, &[x, y]));
    all.push(terms.plain(Op::Distinct, &[x, y]));
    all.push(terms.plain(Op::BvNot, &[x]));
    all.push(terms.plain(Op::BvNeg, &[x]));
    all.push(terms.plain(Op::Concat, &[x, y]));
    all.push(terms.plain(Op::ZeroExtend(3), &[x]));
    all.push(terms.plain(Op::SignExtend(3), &[x]));
    for low in 0..width {
        let high = width - 1;
        all.push(terms.plain(Op::Extract { high, low }, &[x]));
    }
    let less = terms.plain(Op::BvUlt, &[x, y]);
    let same = terms.plain(Op::Eq, &[x, y]);
    for op in [Op::And, Op::Or, Op::Xor, Op::Implies] {
        all.push(terms.plain(op, &[less, same]));
    }
    all.push(terms.plain(Op::Not, &[less]));
    all.push(terms.plain(Op::Ite, &[less, x, y]));
    all
}

#[test]
fn every_operation_on_all_operands_of_few_bits() {
    for width in 1..=5u32 {
        let mut terms = Terms::new();
        let x = terms.constant("x", Sort::BitVec(width));
        let y = terms.constant("y", Sort::BitVec(width));
        let all = operations(&mut terms, x, y);
        let mut blaster = Blaster::new();
        for a in 0..1u32 << width {
            for b in 0..1u32 << width {
                let given = [(x, a.into()), (y, b.into())];
                for &term in &all {
                    let expected = evaluated(&terms, term, &given);
                    let found = simulated(&mut blaster, &terms, term, &given);
                    assert_eq!(found, expected, "{:?} of {a} and {b}", terms.op(term));
                }
            }
        }
    }
}

#[test]
fn every_binary_operation_on_all_operands_of_six_bits() {
    let mut terms = Terms::new();
    let x = terms.constant("x", Sort::BitVec(6));
    let y = terms.constant("y", Sort::BitVec(6));
    let mut blaster = Blaster::new();
    for op in BINARY {
        let term = terms.plain(op.clone(), &[x, y]);
        for a in 0..64u32 {
            for b in 0..64u32 {
                let given = [(x, a.into()), (y, b.into())];
                let expected = evaluated(&terms, term, &given);
                let found = simulated(&mut blaster, &terms, term, &given);
                assert_eq!(found, expected, "{op:?} of {a} and {b}");
            }
        }
    }
}

#[test]
fn operations_with_a_known_operand_are_folded_rightly() {
    for a in 0..16u32 {
        let mut terms = Terms::new();
        let x = terms.bv(a.into(), 4);
        let y = terms.constant("y", Sort::BitVec(4));
        let mut all = operations(&mut terms, x, y);
        all.extend(operations(&mut terms, y, x));
        let mut blaster = Blaster::new();
        for b in 0..16u32 {
            let given = [(y, b.into())];
            for &term in &all {
                let expected = evaluated(&terms, term, &given);
                let found = simulated(&mut blaster, &terms, term, &given);
                assert_eq!(found, expected, "{:?} of {a} and {b}", terms.op(term));
            }
        }
    }
}

/// A number of so many bits, often an extreme one.
fn number(random: &mut Random, width: u32) -> BigUint {
    let ones = (BigUint::from(1u8) << width) - 1u8;
    match random.below(6) {
        0 => BigUint::default(),
        1 => ones,
        2 => BigUint::from(1u8) << random.below(u64::from(width)),
        _ => {
            let mut number = BigUint::default();
            for at in 0..width {
                number.set_bit(at.into(), random.below(2) == 1);
            }
            number
        }
    }
}

#[test]
fn every_operation_on_random_wide_operands() {
    let mut random = Random(17);
    for width in [7, 8, 13, 16, 32, 33, 64, 65, 128] {
        let mut terms = Terms::new();
        let x = terms.constant("x", Sort::BitVec(width));
        let y = terms.constant("y", Sort::BitVec(width));
        let all = operations(&mut terms, x, y);
        let mut blaster = Blaster::new();
        for _ in 0..8 {
            let mut given = [
                (x, number(&mut random, width)),
                (y, number(&mut random, width)),
            ];
            if random.below(2) == 0 {
                given[1].1 = BigUint::from(random.below(u64::from(width) + 2));
            }
            for &term in &all {
                let expected = evaluated(&terms, term, &given);
                let found = simulated(&mut blaster, &terms, term, &given);
                let op = terms.op(term);
                assert_eq!(
                    found, expected,
                    "{op:?} of {} and {}",
                    given[0].1, given[1].1
                );
            }
        }
    }
}

#[test]
fn floats_of_a_small_format_on_all_operands() {
    let format = FloatFormat::new(3, 3);
    let width = format.width();
    for op in [
        FloatOp::Add,
        FloatOp::Mul,
        FloatOp::Div,
        FloatOp::Eq,
        FloatOp::Lt,
        FloatOp::Le,
    ] {
        let operation = FloatOperation {
            op,
            format,
            rounding: Rounding::NearestEven,
        };
        let mut terms = Terms::new();
        let x = terms.constant("x", Sort::BitVec(width));
        let y = terms.constant("y", Sort::BitVec(width));
        let nan = format.infinity() + 1u8;
        let nan = terms.bv_value(nan, width);
        let args = match op {
            FloatOp::Add | FloatOp::Mul | FloatOp::Div => vec![x, y, nan],
            _ => vec![x, y],
        };
        let term = terms.plain(Op::Float(operation), &args);
        let mut blaster = Blaster::new();
        for a in 0..1u32 << width {
            for b in 0..1u32 << width {
                let given = [(x, a.into()), (y, b.into())];
                let expected = evaluated(&terms, term, &given);
                let found = simulated(&mut blaster, &terms, term, &given);
                assert_eq!(found, expected, "{operation} of {a} and {b}");
            }
        }
    }
}

/// One rounding at the end, in all modes, on some of the operands.
#[test]
fn fused_floats_of_a_small_format() {
    let format = FloatFormat::new(3, 3);
    let width = format.width();
    for rounding in Rounding::ALL {
        let operation = FloatOperation {
            op: FloatOp::Fma,
            format,
            rounding,
        };
        let mut terms = Terms::new();
        let [x, y, z] = ["x", "y", "z"].map(|name| terms.constant(name, Sort::BitVec(width)));
        let nan = terms.bv_value(format.infinity() + 1u8, width);
        let term = terms.plain(Op::Float(operation), &[x, y, z, nan]);
        let mut blaster = Blaster::new();
        for a in 0..1u32 << width {
            for b in (a % 3..1u32 << width).step_by(3) {
                for c in ((a + b) % 5..1u32 << width).step_by(5) {
                    let given = [(x, a.into()), (y, b.into()), (z, c.into())];
                    let expected = evaluated(&terms, term, &given);
                    let found = simulated(&mut blaster, &terms, term, &given);
                    assert_eq!(found, expected, "{operation} of {a}, {b} and {c}");
                }
            }
        }
    }
}

fn session() -> Session<'static> {
    Session::new(Box::new(CircuitSolver::new()), Budget::unlimited())
}

/// Random formulas: what has a model has one that the evaluator agrees with, and what has none is
/// refuted by trying all values.
#[test]
fn answers_models_and_cores_agree_with_the_evaluator() {
    let mut random = Random(4);
    for _ in 0..300 {
        let mut terms = Terms::new();
        let x = terms.constant("x", Sort::BitVec(3));
        let y = terms.constant("y", Sort::BitVec(3));
        let mut words = vec![x, y];
        for _ in 0..6 {
            let op = BINARY[random.below(14) as usize].clone();
            let pick = |random: &mut Random| random.below(words.len() as u64) as usize;
            let (left, right) = (words[pick(&mut random)], words[pick(&mut random)]);
            words.push(terms.plain(op, &[left, right]));
        }
        let mut asked = Vec::new();
        for &word in &words[2..] {
            let value = terms.bv(random.below(8).into(), 3);
            let equal = terms.plain(Op::Eq, &[word, value]);
            asked.push(match random.below(3) {
                0 => equal,
                _ => terms.not(equal),
            });
        }
        let mut session = session();
        let holds = |terms: &Terms, formulas: &[TermId], a: u32, b: u32| {
            let given = [(x, a.into()), (y, b.into())];
            let one = BigUint::from(1u8);
            formulas
                .iter()
                .all(|&it| evaluated(terms, it, &given) == one)
        };
        let any = |terms: &Terms, formulas: &[TermId]| {
            (0..64).any(|at| holds(terms, formulas, at / 8, at % 8))
        };
        match session.check(&terms, &asked) {
            Answer::Sat => {
                let values = session
                    .values(&mut terms, &asked)
                    .expect("there is a model");
                assert!(values.iter().all(|value| *value == Some(Value::Bool(true))));
                assert!(any(&terms, &asked));
            }
            Answer::Unsat => {
                let core = session.core();
                assert!(!any(&terms, &core), "a core that has a model");
            }
            Answer::Unknown(why) => panic!("{why}"),
        }
    }
}

/// Writes and reads at unknown indices: a model's array is the map that the reads say.
#[test]
fn memory_is_a_map() {
    let mut random = Random(9);
    for _ in 0..200 {
        let mut terms = Terms::new();
        let sort = terms.array_sort(Sort::BitVec(2), Sort::BitVec(2));
        let memory = terms.constant("m", sort);
        let indices: Vec<TermId> = (0..3)
            .map(|at| terms.constant(&format!("i{at}"), Sort::BitVec(2)))
            .collect();
        let mut now = memory;
        let mut asked = Vec::new();
        for _ in 0..5 {
            let index = indices[random.below(3) as usize];
            let value = terms.bv(random.below(4).into(), 2);
            if random.below(2) == 0 {
                now = terms.plain(Op::Store, &[now, index, value]);
            } else {
                let read = terms.plain(Op::Select, &[now, index]);
                asked.push(terms.plain(Op::Eq, &[read, value]));
            }
        }
        // All maps of four words, and all indices.
        let mut any = false;
        for at in 0..256u32 * 64 {
            let mut assignment = Assignment::new();
            let word = |value: u32| Value::BitVec(BitVec::new((value % 4).into(), 2));
            let index = Sort::BitVec(2);
            let mut array = hardbop_logic::ArrayValue::constant(index, word(0));
            for cell in 0..4 {
                array = array.set(word(cell), word(at >> (2 * cell)));
            }
            assignment.set(memory, Value::Array(array));
            for (number, &it) in indices.iter().enumerate() {
                assignment.set(it, word(at >> (8 + 2 * number)));
            }
            let holds = |&it: &TermId| eval(&terms, it, &assignment) == Ok(Value::Bool(true));
            any |= asked.iter().all(holds);
            if any {
                break;
            }
        }
        let mut session = session();
        match session.check(&terms, &asked) {
            Answer::Sat => {
                assert!(any);
                let values = session
                    .values(&mut terms, &asked)
                    .expect("there is a model");
                assert!(values.iter().all(|value| *value == Some(Value::Bool(true))));
            }
            Answer::Unsat => assert!(!any),
            Answer::Unknown(why) => panic!("{why}"),
        }
    }
}

#[test]
fn functions_give_the_same_for_the_same() {
    let mut terms = Terms::new();
    let word = Sort::BitVec(8);
    let (x, y) = (terms.constant("x", word), terms.constant("y", word));
    let f = terms.function("f", &[word], word);
    let (fx, fy) = (
        terms.plain(Op::Apply(f), &[x]),
        terms.plain(Op::Apply(f), &[y]),
    );
    let same = terms.eq(x, y);
    let different = terms.plain(Op::Distinct, &[fx, fy]);
    let mut session = session();
    assert_eq!(session.check(&terms, &[same, different]), Answer::Unsat);
    assert_eq!(session.check(&terms, &[different]), Answer::Sat);
    let values = session
        .values(&mut terms, &[different])
        .expect("there is a model");
    assert_eq!(values, [Some(Value::Bool(true))]);
}

#[test]
fn levels_are_forgotten() {
    let mut terms = Terms::new();
    let p = terms.constant("p", Sort::Bool);
    let not = terms.not(p);
    let mut session = session();
    session.assert(&terms, p);
    session.push();
    session.assert(&terms, not);
    assert_eq!(session.check(&terms, &[]), Answer::Unsat);
    session.pop();
    assert_eq!(session.check(&terms, &[]), Answer::Sat);
}

#[test]
fn what_has_no_circuit_is_not_known() {
    let mut terms = Terms::new();
    let n = terms.constant("n", Sort::Int);
    let zero = terms.int(0);
    let positive = terms.plain(Op::IntLt, &[zero, n]);
    let mut session = session();
    assert!(matches!(
        session.check(&terms, &[positive]),
        Answer::Unknown(_)
    ));
}

/// What two levels decide needs no node.
#[test]
fn little_circuits_are_rewritten() {
    let mut graph = Graph::default();
    let (a, b) = (graph.input(), graph.input());
    let both = graph.and(a, b);
    assert_eq!(graph.and(both, a), both);
    assert_eq!(graph.and(both, !a), Bit::FALSE);
    assert_eq!(graph.and(!both, !a), !a);
    let left = graph.and(a, !b);
    assert_eq!(graph.and(!both, a), left);
    assert_eq!(graph.and(both, left), Bit::FALSE);
    assert_eq!(graph.and(!both, !left), !a);
    assert_eq!(graph.xor(!a, b), !graph.clone().xor(a, b));
}

/// Both solvers stop in the middle of a question that takes long, and say so.
/// What would need more nodes than are allowed is not known, and what needs fewer is answered.
#[test]
fn circuits_grow_no_larger_than_they_may() {
    let mut terms = Terms::new();
    let word = |terms: &mut Terms, name: &str| terms.constant(name, Sort::BitVec(32));
    let (x, y) = (word(&mut terms, "x"), word(&mut terms, "y"));
    let product = terms.bv_mul(x, y);
    let large = terms.eq(product, x);
    let small = terms.eq(x, y);
    let mut solver = CircuitSolver::new().within(1_000);
    let budget = Budget::unlimited();
    let mut ask = |formula| solver.check(&terms, &[formula], Limits::default(), &budget);
    assert_eq!(ask(small), Answer::Sat);
    let too_large = Answer::Unknown(Unknown::GaveUp(TOO_LARGE.to_owned()));
    assert_eq!(ask(large), too_large);
}

#[test]
fn a_hard_question_is_stopped_in_time() {
    for mut sat in [Sat::new(), Sat::quick()] {
        let mut graph = Graph::default();
        // That products do not depend on the order of their factors is hard for all SAT solvers.
        let (x, y) = (graph.inputs(32), graph.inputs(32));
        let (one, other) = (graph.mul(&x, &y), graph.mul(&y, &x));
        let differ = !graph.same(&one, &other);
        let start = Instant::now();
        let time = Some(Duration::from_millis(200));
        let outcome = sat.check(&graph, &[differ], &[], time, &Budget::unlimited());
        assert_eq!(outcome, Outcome::Stopped);
        assert!(start.elapsed() < Duration::from_secs(60));
    }
}

/// The quick solver's cores are enough, and its models are models.
#[test]
fn the_quick_solver_has_cores_and_models() {
    let mut graph = Graph::default();
    let (x, y) = (graph.inputs(4), graph.inputs(4));
    let sum = graph.add(&x, &y);
    let mut sat = Sat::quick();
    let budget = Budget::unlimited();
    // The lowest bits say that the sum is odd.
    let asked = [x[0], !y[0], x[3], y[2], !sum[0]];
    assert_eq!(
        sat.check(&graph, &asked, &[], None, &budget),
        Outcome::Unsat
    );
    let mut core = sat.core();
    core.sort_unstable();
    assert_eq!(core, [x[0], !y[0], !sum[0]]);
    let switch = sat.switch();
    sat.clause_under(&graph, &[!x[3]], &[switch]);
    let asked = [x[0], !y[0], x[3], sum[3]];
    assert_eq!(
        sat.check(&graph, &asked, &[switch], None, &budget),
        Outcome::Unsat
    );
    assert_eq!(sat.check(&graph, &asked, &[], None, &budget), Outcome::Sat);
    assert!(asked.iter().all(|&bit| sat.value(bit) == Some(true)));
}

/// Where an element lies need not matter for a question, and matters for what its model says.
#[test]
fn models_know_where_elements_lie() {
    let mut terms = Terms::new();
    let word = Sort::BitVec(8);
    let sort = terms.array_sort(word, word);
    let array = terms.constant("a", sort);
    let x = terms.constant("x", word);
    let four = terms.bv(4, 8);
    let at = terms.bv_add(x, four);
    let element = terms.select(array, at);
    let seven = terms.bv(7, 8);
    let question = terms.eq(element, seven);
    let mut session = Session::new(Box::new(CircuitSolver::new()), Budget::unlimited());
    assert_eq!(session.check(&terms, &[question]), Answer::Sat);
    let values = session.values(&mut terms, &[element]).unwrap();
    assert_eq!(values, [Some(Value::BitVec(BitVec::new(7u8.into(), 8)))]);
}

/// The lowest bits of a word that is said to be aligned are 0, and the others may be anything.
#[test]
fn a_word_that_is_aligned_has_multiples_only() {
    let mut terms = Terms::new();
    let x = terms.constant("x", Sort::BitVec(16));
    let mut solver = CircuitSolver::checked(None);
    solver.align(&terms, x, 4);
    let mut session = Session::new(Box::new(solver), Budget::unlimited());
    let mut may_be = |value: i128| {
        let value = terms.bv(value, 16);
        let same = terms.eq(x, value);
        session.check(&terms, &[same]) == Answer::Sat
    };
    for value in [0, 16, 0x1230, 0xfff0] {
        assert!(may_be(value), "{value}");
    }
    for value in [1, 8, 0x1238, 0xffff] {
        assert!(!may_be(value), "{value}");
    }
}
