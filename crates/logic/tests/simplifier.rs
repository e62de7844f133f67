//! The simplifier keeps the meaning: random plain terms against their simplified form, by
//! evaluation and by the solver; and the text forms say the same as the term.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{Generator, Kind, numbers};
use expect_test::{Expect, expect};
use hardbop_budget::Budget;
use hardbop_logic::{
    Answer, BitVec, Names, Op, Session, Sort, TermId, Terms, Value, Z3Options, Z3Solver, eval,
    parse_term, smtlib_text,
};

fn prove_equal(session: &mut Session<'_>, terms: &mut Terms, a: TermId, b: TermId, what: &str) {
    // Plainly, so that the simplifier has no part in its own proof.
    let differ = terms.plain(Op::Distinct, &[a, b]);
    session.push();
    session.assert(terms, differ);
    match session.check(terms, &[]) {
        Answer::Unsat => {}
        // Nonlinear bits of 64 and more may take too long; evaluation has looked at them.
        Answer::Unknown(_) => {}
        Answer::Sat => panic!(
            "{what}\n  plain      {}\n  simplified {}",
            smtlib_text(terms, a),
            smtlib_text(terms, b)
        ),
    }
    session.pop();
}

fn campaign(kind: Kind, width: u32, cases: u64, depth: u32) {
    let mut unknown = 0;
    let mut proved = 0;
    for block in 0..cases.div_ceil(50) {
        let mut terms = Terms::new();
        let solver = Z3Solver::new(Z3Options::default());
        let mut session = Session::new(Box::new(solver), Budget::unlimited());
        session.set_limits(hardbop_logic::Limits {
            time: None,
            steps: Some(400_000),
        });
        for case in 0..50 {
            let seed = block * 50 + case;
            let random = numbers(seed ^ (u64::from(width) << 32));
            let mut generator = Generator {
                terms: &mut terms,
                random,
                kind,
                width,
            };
            let plain = generator.bool(depth);
            let assignments: Vec<_> = (0..8).map(|_| generator.assignment()).collect();
            let simple = terms.simplify(plain);
            for assignment in &assignments {
                assert_eq!(
                    eval(&terms, plain, assignment),
                    eval(&terms, simple, assignment),
                    "case {seed}\n  plain      {}\n  simplified {}",
                    smtlib_text(&terms, plain),
                    smtlib_text(&terms, simple),
                );
            }
            let before = session.statistics().unknown;
            prove_equal(
                &mut session,
                &mut terms,
                plain,
                simple,
                &format!("case {seed}"),
            );
            match session.statistics().unknown - before {
                0 => proved += 1,
                _ => unknown += 1,
            }
            // Simplifying is done once: nothing changes the second time.
            assert_eq!(terms.simplify(simple), simple, "case {seed}");
            let names = Names::of(&terms, &[simple]);
            let text = smtlib_text(&terms, simple);
            assert_eq!(
                parse_term(&mut terms, &names, &text),
                Ok(simple),
                "case {seed}: {text}"
            );
        }
    }
    assert!(
        unknown * 4 <= proved,
        "too many open: {unknown} of {}",
        unknown + proved
    );
}

#[test]
fn random_terms_over_single_bits() {
    campaign(Kind::Bits, 1, 1500, 4);
}

#[test]
fn random_terms_over_narrow_bits() {
    campaign(Kind::Bits, 4, 2000, 4);
}

#[test]
fn random_terms_over_bytes() {
    campaign(Kind::Bits, 8, 600, 3);
}

#[test]
fn random_terms_over_wide_bits() {
    campaign(Kind::Bits, 130, 200, 2);
}

#[test]
fn random_terms_over_integers() {
    campaign(Kind::Integers, 3, 800, 3);
}

#[test]
fn random_terms_over_arrays() {
    campaign(Kind::Arrays, 2, 800, 4);
}

#[test]
fn the_evaluator_agrees_with_the_solver() {
    for seed in 0..400 {
        let mut terms = Terms::new();
        let random = numbers(seed);
        let kind = [Kind::Bits, Kind::Integers, Kind::Arrays][seed as usize % 3];
        let mut generator = Generator {
            terms: &mut terms,
            random,
            kind,
            width: 5,
        };
        let term = generator.bool(3);
        let assignment = generator.assignment();
        let constants = generator.constants();
        let value = eval(&terms, term, &assignment).unwrap();
        let solver = Z3Solver::new(Z3Options::default());
        let mut session = Session::new(Box::new(solver), Budget::unlimited());
        for constant in constants {
            let literal = terms.literal(assignment.get(constant).unwrap(), terms.sort(constant));
            let fixed = terms.eq(constant, literal);
            session.assert(&terms, fixed);
        }
        let wrong = match value {
            Value::Bool(true) => terms.plain(Op::Not, &[term]),
            _ => term,
        };
        session.assert(&terms, wrong);
        assert_eq!(session.check(&terms, &[]), Answer::Unsat, "seed {seed}");
    }
}

#[test]
fn models_satisfy_their_formulas() {
    let mut sat = 0;
    for seed in 0..300 {
        let mut terms = Terms::new();
        let random = numbers(seed);
        let kind = [Kind::Bits, Kind::Integers, Kind::Arrays][seed as usize % 3];
        let mut generator = Generator {
            terms: &mut terms,
            random,
            kind,
            width: 6,
        };
        let plain = generator.bool(4);
        let term = terms.simplify(plain);
        let solver = Z3Solver::new(Z3Options::default());
        let mut session = Session::new(Box::new(solver), Budget::unlimited());
        session.assert(&terms, term);
        if session.check(&terms, &[]) == Answer::Sat {
            let model = session.model(&mut terms).unwrap();
            assert_eq!(
                eval(&terms, term, &model),
                Ok(Value::Bool(true)),
                "seed {seed}"
            );
            sat += 1;
        }
    }
    assert!(sat > 100, "only {sat} formulas had models");
}

#[test]
fn substitution_commutes_with_evaluation() {
    for seed in 0..500 {
        let mut terms = Terms::new();
        let random = numbers(seed);
        let mut generator = Generator {
            terms: &mut terms,
            random,
            kind: Kind::Bits,
            width: 4,
        };
        let term = generator.bool(4);
        let replacement = generator.bits(4, 3);
        let mut assignment = generator.assignment();
        let x = terms.constant("x", Sort::BitVec(4));
        let replaced = terms.substitute(term, &BTreeMap::from([(x, replacement)]));
        let left = eval(&terms, replaced, &assignment);
        assignment.set(x, eval(&terms, replacement, &assignment).unwrap());
        assert_eq!(left, eval(&terms, term, &assignment), "seed {seed}");
    }
}

#[test]
fn substitution_does_not_capture() {
    let mut terms = Terms::new();
    let [x, y] = ["x", "y"].map(|name| terms.constant(name, Sort::Int));
    let less = terms.int_lt(x, y);
    let some = terms.exists(&[y], less);
    let one = terms.int(1);
    let next = terms.int_add(&[y, one]);
    let replaced = terms.substitute(some, &BTreeMap::from([(x, next)]));
    expect!["exists y!. y + 2 <= y!"].assert_eq(&terms.infix(replaced).to_string());
    let untouched = terms.substitute(some, &BTreeMap::from([(y, one)]));
    assert_eq!(untouched, some);
    assert_eq!(terms.free_constants(&[some]), [x].into());
}

#[test]
fn the_larger_and_the_smaller_of_two_are_each_one_term() {
    let mut terms = Terms::new();
    let [x, y] = ["x", "y"].map(|name| terms.constant(name, Sort::BitVec(3)));
    let comparisons = [Op::BvUlt, Op::BvUle, Op::BvSlt, Op::BvSle];
    let mut found = [BTreeSet::new(), BTreeSet::new()];
    for (number, comparison) in comparisons.into_iter().enumerate() {
        for [left, right] in [[x, y], [y, x]] {
            for [then, otherwise] in [[x, y], [y, x]] {
                let condition = terms.plain(comparison.clone(), &[left, right]);
                let plain = terms.plain(Op::Ite, &[condition, then, otherwise]);
                let simple = terms.ite(condition, then, otherwise);
                found[number / 2].insert(simple);
                for values in 0..64 {
                    let mut assignment = hardbop_logic::Assignment::new();
                    let word = |value: u32| Value::BitVec(BitVec::new(value.into(), 3));
                    assignment.set(x, word(values & 7));
                    assignment.set(y, word(values >> 3));
                    assert_eq!(
                        eval(&terms, plain, &assignment),
                        eval(&terms, simple, &assignment)
                    );
                }
            }
        }
    }
    // With signs and without, the larger and the smaller one.
    assert_eq!(found.map(|kinds| kinds.len()), [2, 2]);
}

fn check(build: impl FnOnce(&mut Terms) -> TermId, expected: Expect) {
    let mut terms = Terms::new();
    let term = build(&mut terms);
    expected.assert_eq(&terms.infix(term).to_string());
}

fn x32(terms: &mut Terms) -> TermId {
    terms.constant("x", Sort::BitVec(32))
}

#[test]
fn predicates_read_like_c() {
    check(
        |t| {
            let (x, three) = (x32(t), t.bv(3, 32));
            t.bv_sle(x, three)
        },
        expect!["x <= 3"],
    );
    check(
        |t| {
            let (x, three) = (x32(t), t.bv(3, 32));
            let small = t.bv_sle(x, three);
            t.not(small)
        },
        expect!["x > 3"],
    );
    check(
        |t| {
            let (x, minus) = (x32(t), t.bv(-1, 32));
            let sum = t.bv_add(x, minus);
            let y = t.constant("y", Sort::BitVec(32));
            t.bv_ult(sum, y)
        },
        expect!["x - 1 <u y"],
    );
    check(
        |t| {
            let (x, minus) = (x32(t), t.bv(-1, 32));
            let same = t.eq(x, minus);
            t.not(same)
        },
        expect!["x != -1"],
    );
    check(
        |t| {
            let memory_sort = t.array_sort(Sort::BitVec(32), Sort::BitVec(32));
            let memory = t.constant("*p", memory_sort);
            let x = x32(t);
            let (one, two) = (t.bv(1, 32), t.bv(2, 32));
            let written = t.store(memory, one, x);
            t.select(written, two)
        },
        expect!["*p[2]"],
    );
    check(
        |t| {
            let [x, y] = ["x", "y"].map(|name| t.constant(name, Sort::Int));
            let two = t.int(2);
            let twice = t.int_mul(&[two, y]);
            let difference = t.int_sub(x, twice);
            let four = t.int(4);
            let scaled = t.int_mul(&[two, difference]);
            t.int_lt(scaled, four)
        },
        expect!["x <= 2 * y + 1"],
    );
    check(
        |t| {
            // C's `(x < 3) == 0`, as a front end lowers it.
            let (x, three) = (x32(t), t.bv(3, 32));
            let less = t.bv_slt(x, three);
            let (one, zero) = (t.bv(1, 32), t.bv(0, 32));
            let number = t.ite(less, one, zero);
            t.eq(number, zero)
        },
        expect!["x >= 3"],
    );
    check(
        |t| {
            let x = x32(t);
            let wide = t.sign_extend(x, 32);
            let low = t.extract(wide, 31, 0);
            let byte = t.extract(low, 7, 0);
            let (p, q) = (t.constant("p", Sort::Bool), t.constant("q", Sort::Bool));
            let zero = t.bv(0, 8);
            let is_zero = t.eq(byte, zero);
            let both = t.and(&[p, is_zero]);
            t.or(&[both, q])
        },
        expect!["(p && x[7:0] == 0) || q"],
    );
}
