//! Remainders of formats with wide exponents, whose circuits square instead of counting steps.

use super::words::Words;
use super::{Random, SINGLE, compare, draw, meaning, special};
use crate::float::circuit::{Moves, Template};
use crate::float::{FloatFormat, FloatOp, FloatOperation};
use crate::sort::Sort;
use crate::value::{BitVec, Value};
use crate::{Assignment, Terms, eval};
use num_bigint::BigUint;

/// The circuit that squares, of a format that would have another one.
fn by_squares(operation: FloatOperation) -> Words {
    let mut terms = Terms::new();
    let width = operation.format.width();
    let input = |at: u32| terms.constant(&format!("in{at}"), Sort::BitVec(width));
    let inputs = [0, 1, 2].map(input);
    let output = operation.rem_moving(&mut terms, inputs, Moves::BySquares);
    Words::new(&Template {
        terms,
        inputs: inputs.to_vec(),
        output,
    })
}

#[test]
fn remainders_by_squares_on_all_operands_of_small_formats() {
    for (exponent, precision) in [(3, 2), (3, 4), (4, 3), (5, 2)] {
        let format = FloatFormat::new(exponent, precision);
        let operation = FloatOperation::nearest(FloatOp::Rem, format);
        let mut circuit = by_squares(operation);
        for a in 0..1 << format.width() {
            for b in 0..1 << format.width() {
                compare(operation, &mut circuit, &[a, b]);
            }
        }
    }
}

#[test]
fn remainders_by_squares_of_float() {
    let operation = FloatOperation::nearest(FloatOp::Rem, SINGLE);
    let mut circuit = by_squares(operation);
    let special = special(SINGLE);
    let mut random = Random(15);
    for _ in 0..2_000 {
        let a = draw(&mut random, SINGLE, &special, 0);
        let b = draw(&mut random, SINGLE, &special, a);
        compare(operation, &mut circuit, &[a, b]);
    }
}

/// `long double` is compared by `circuits_of_the_machines_formats_on_special_and_random_operands`;
/// products of `__float128`'s digits are wider than the words of that test.
#[test]
fn remainders_of_the_widest_format() {
    let format = FloatFormat::QUAD;
    let operation = FloatOperation::nearest(FloatOp::Rem, format);
    let circuit = Template::of(operation);
    let special = special(format);
    let mut random = Random(16);
    for _ in 0..100 {
        let a = draw(&mut random, format, &special, 0);
        let args = [a, draw(&mut random, format, &special, a), 0];
        let mut values = Assignment::new();
        for (&input, bits) in circuit.inputs.iter().zip(args) {
            let bits = BitVec::new(BigUint::from(bits), format.width());
            values.set(input, Value::BitVec(bits));
        }
        let result = eval(&circuit.terms, circuit.output, &values).expect("all inputs are given");
        let expected = BitVec::new(BigUint::from(meaning(operation, &args)), format.width());
        assert_eq!(result, Value::BitVec(expected), "{operation} of {args:#x?}");
    }
}
