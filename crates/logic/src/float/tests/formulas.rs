//! Float terms as formulas: simplified, written, read, asked.

use crate::float::{FloatFormat, FloatOp, FloatOperation};
use crate::{
    Answer, Names, Session, Sort, Terms, Z3Options, Z3Solver, eval, parse_term, script, smtlib_text,
};
use expect_test::expect;
use hardbop_budget::Budget;

const SINGLE: FloatFormat = FloatFormat::SINGLE;

fn nearest(op: FloatOp) -> FloatOperation {
    FloatOperation::nearest(op, SINGLE)
}

/// `x == 1` and `x / 2 == 0.5`, and their terms.
fn halves(terms: &mut Terms) -> (crate::TermId, crate::TermId) {
    let x = terms.constant("x", Sort::BitVec(32));
    let mut float = |value: f32| terms.bv(i128::from(value.to_bits()), 32);
    let (one, two, half) = (float(1.0), float(2.0), float(0.5));
    let nan = terms.bv(0, 32);
    let is_one = terms.float(nearest(FloatOp::Eq), &[x, one]);
    let quotient = terms.float(nearest(FloatOp::Div), &[x, two, nan]);
    let is_half = terms.float(nearest(FloatOp::Eq), &[quotient, half]);
    (is_one, is_half)
}

#[test]
fn a_quotient_by_two_is_a_product() {
    let mut terms = Terms::new();
    let (_, is_half) = halves(&mut terms);
    expect!["0.5 == x * 0.5"].assert_eq(&terms.infix(is_half).to_string());
    expect!["(float.eq.8_24.rne #x3f000000 (float.mul.8_24.rne x #x3f000000 #x00000000))"]
        .assert_eq(&smtlib_text(&terms, is_half));
    let names = Names::of(&terms, &[is_half]);
    let text = smtlib_text(&terms, is_half);
    assert_eq!(parse_term(&mut terms, &names, &text), Ok(is_half));
}

#[test]
fn the_solver_knows_floats() {
    let mut terms = Terms::new();
    let (is_one, is_half) = halves(&mut terms);
    let solver = Z3Solver::new(Z3Options::default());
    let mut session = Session::new(Box::new(solver), Budget::unlimited());
    session.assert(&terms, is_half);
    let other = terms.not(is_one);
    assert_eq!(session.check(&terms, &[other]), Answer::Unsat);
    assert_eq!(session.check(&terms, &[]), Answer::Sat);
    let model = session.model(&mut terms).unwrap();
    assert!(eval(&terms, is_half, &model).unwrap().as_bool().unwrap());
    // The text for other solvers stands alone.
    let text = script(&terms, &[is_half], &[]);
    assert!(text.contains("(define-fun float.mul.8_24.rne ("), "{text}");
}

#[test]
fn which_nan_matters_only_to_those_who_look() {
    let mut terms = Terms::new();
    let [x, y, n, m] = ["x", "y", "n", "m"].map(|name| terms.constant(name, Sort::BitVec(32)));
    let first = terms.float(nearest(FloatOp::Add), &[x, y, n]);
    let second = terms.float(nearest(FloatOp::Add), &[y, x, m]);
    assert_ne!(first, second);
    let [one, other] = [first, second].map(|sum| terms.float(nearest(FloatOp::Lt), &[sum, x]));
    assert_eq!(one, other);
    let infinite = terms.bv(0x7f80_0000, 32);
    let opposite = terms.bv(0xff80_0000, 32);
    let nan = terms.float(nearest(FloatOp::Add), &[infinite, opposite, n]);
    expect!["(concat (concat ((_ extract 31 31) n) #b111111111) ((_ extract 21 0) n))"]
        .assert_eq(&smtlib_text(&terms, nan));
}
