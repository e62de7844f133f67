//! The meaning of floats against others: the machine's own, another library, an oracle that knows
//! nothing but fractions; and the circuits against the meaning.

mod formulas;
mod oracle;
mod remainders;
mod words;

use expect_test::expect;
use hardbop_test_support::random::Random;
use num_bigint::BigUint;
use rustc_apfloat::ieee::{Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, Round};

use super::circuit::Template;
use super::{FloatFormat, FloatOp, FloatOperation, LeadingBit, Rounding, exact};
use crate::sort::Sort;
use crate::value::{BitVec, Value};
use crate::{Assignment, eval};
use words::Words;

const SINGLE: FloatFormat = FloatFormat::SINGLE;
const DOUBLE: FloatFormat = FloatFormat::DOUBLE;

/// What an operation gives, by its meaning; NaN arguments are zero.
fn meaning(operation: FloatOperation, args: &[u128]) -> u128 {
    let (widths, _) = operation.signature().unwrap();
    let values: Vec<Value> = widths
        .iter()
        .enumerate()
        .map(|(at, &width)| {
            let bits = args.get(at).copied().unwrap_or(0);
            Value::BitVec(BitVec::new(BigUint::from(bits), width))
        })
        .collect();
    match exact::apply(operation, &values).unwrap() {
        Value::BitVec(bits) => bits.unsigned().try_into().unwrap(),
        Value::Bool(truth) => u128::from(truth),
        other => panic!("{other} is no float"),
    }
}

fn is_nan(format: FloatFormat, bits: u128) -> bool {
    meaning(FloatOperation::nearest(FloatOp::Eq, format), &[bits, bits]) == 0
}

/// Bits of floats that are likely to go wrong: the borders of everything, and their neighbours.
fn special(format: FloatFormat) -> Vec<u128> {
    let fraction = format.precision - 1;
    let top = (1u128 << format.exponent) - 1;
    let bias = format.bias() as u128;
    let mut found = Vec::new();
    for exponent in [
        0,
        1,
        2,
        bias - 2,
        bias - 1,
        bias,
        bias + 1,
        top - 2,
        top - 1,
        top,
    ]
    .into_iter()
    .chain([bias + u128::from(fraction), bias + u128::from(fraction) + 1])
    {
        let all = (1u128 << fraction) - 1;
        for digits in [
            0,
            1,
            2,
            all / 2,
            all / 2 + 1,
            all / 2 + 2,
            all - 1,
            all,
            all / 3,
        ] {
            for sign in [0u128, 1] {
                let exponent = exponent.min(top);
                found.push(match format.leading {
                    LeadingBit::Implied => {
                        sign << (format.width() - 1) | exponent << fraction | digits
                    }
                    LeadingBit::Stored => {
                        let leading = u128::from(exponent > 0);
                        let high = exponent << 1 | leading;
                        sign << (format.width() - 1) | high << fraction | digits
                    }
                });
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// A float: special, anything, near one, or near another one.
fn draw(random: &mut Random, format: FloatFormat, special: &[u128], near: u128) -> u128 {
    let all = if format.width() == 128 {
        u128::MAX
    } else {
        (1 << format.width()) - 1
    };
    let any = u128::from(random.bits()) << 64 | u128::from(random.bits());
    let bits = match random.below(5u64) {
        0 => random.pick(special),
        1 => any,
        // The exponent close to the other one's, or the whole number.
        2 => near ^ any >> (128 - (format.precision - 1)),
        3 => near
            .wrapping_add(u128::from(random.below(7u64)))
            .wrapping_sub(3),
        _ => {
            let scale = 1u128 << random.below(u64::from(format.precision));
            let number = any >> 64 & (scale - 1);
            let from = FloatOperation::nearest(FloatOp::FromInt(70), format);
            meaning(from, &[number])
        }
    };
    bits & all
}

/// The operations that a processor has.
const BINARY: [FloatOp; 4] = [FloatOp::Add, FloatOp::Mul, FloatOp::Div, FloatOp::Rem];
const COMPARISONS: [FloatOp; 3] = [FloatOp::Eq, FloatOp::Lt, FloatOp::Le];

/// All operations of a format that a circuit is made for.
fn operations(format: FloatFormat, others: &[FloatFormat]) -> Vec<FloatOperation> {
    let mut found = Vec::new();
    for rounding in Rounding::ALL {
        let ops = BINARY.into_iter();
        let ops = ops.chain([FloatOp::Fma, FloatOp::Sqrt, FloatOp::Integral]);
        let ops = ops.chain(others.iter().map(|&to| FloatOp::Convert(to)));
        let ops = ops.chain([5, 8, 32, 64].map(FloatOp::FromInt));
        found.extend(ops.map(|op| FloatOperation {
            op,
            format,
            rounding,
        }));
    }
    let unrounded = COMPARISONS
        .into_iter()
        .chain([5, 8, 32, 64].map(FloatOp::ToInt));
    found.extend(unrounded.map(|op| FloatOperation::nearest(op, format)));
    found.retain(|operation| operation.signature().is_some());
    found
}

/// Compares meaning and circuit on arguments.
fn compare(operation: FloatOperation, circuit: &mut Words, args: &[u128]) {
    let by_meaning = meaning(operation, args);
    let by_circuit = circuit.run(args);
    assert_eq!(
        by_meaning, by_circuit,
        "{operation} of {args:#x?}: {by_meaning:#x} by its meaning, {by_circuit:#x} by its circuit"
    );
}

#[test]
fn circuits_of_small_formats_on_all_operands() {
    let others = [
        FloatFormat::new(4, 3),
        FloatFormat::new(3, 2),
        FloatFormat::new(3, 6),
    ];
    for format in [
        FloatFormat::new(3, 3),
        FloatFormat::new(3, 2),
        FloatFormat::new(4, 2),
    ] {
        all_operands(format, &others);
    }
}

/// The same for larger ones, which takes a minute.
#[test]
#[ignore = "a minute"]
fn circuits_of_larger_formats_on_all_operands() {
    let stored = FloatFormat {
        leading: LeadingBit::Stored,
        ..FloatFormat::new(3, 4)
    };
    let others = [FloatFormat::new(5, 3), stored, FloatFormat::new(3, 7)];
    for format in [FloatFormat::new(3, 4), FloatFormat::new(4, 4), stored] {
        all_operands(format, &others);
    }
}

fn all_operands(format: FloatFormat, others: &[FloatFormat]) {
    let all = 1u128 << format.width();
    for operation in operations(format, others) {
        let mut circuit = Words::new(&Template::of(operation));
        match operation.op {
            FloatOp::FromInt(width) if width > 8 => {}
            FloatOp::FromInt(width) => {
                for a in 0..1 << width {
                    compare(operation, &mut circuit, &[a]);
                }
            }
            op if BINARY.contains(&op) || COMPARISONS.contains(&op) => {
                for a in 0..all {
                    for b in 0..all {
                        compare(operation, &mut circuit, &[a, b]);
                    }
                }
            }
            FloatOp::Fma => {
                // All of them for the smallest formats; of the others, every seventh summand.
                let step = if format.width() <= 5 { 1 } else { 7 };
                for a in 0..all {
                    for b in 0..all {
                        for c in ((a + b) % step as u128..all).step_by(step) {
                            compare(operation, &mut circuit, &[a, b, c]);
                        }
                    }
                }
            }
            _ => {
                for a in 0..all {
                    compare(operation, &mut circuit, &[a]);
                }
            }
        }
    }
}

#[test]
fn circuits_of_the_machines_formats_on_special_and_random_operands() {
    let formats = [FloatFormat::HALF, SINGLE, DOUBLE, FloatFormat::EXTENDED];
    for format in formats {
        random_operands(format, &formats, 600);
    }
}

/// Some millions of operands.
#[test]
#[ignore = "many minutes"]
fn circuits_of_the_machines_formats_on_millions_of_operands() {
    let formats = [FloatFormat::HALF, SINGLE, DOUBLE, FloatFormat::EXTENDED];
    for format in formats {
        random_operands(format, &formats, 100_000);
    }
}

fn random_operands(format: FloatFormat, others: &[FloatFormat], count: u64) {
    let special = special(format);
    for operation in operations(format, others) {
        // The product of two of its significands is wider than the words of this test.
        if operation.op == FloatOp::Fma && format == FloatFormat::EXTENDED {
            continue;
        }
        // Its circuit has a step for each exponent.
        let count = match operation.op {
            FloatOp::Rem => count / 20 + 1,
            _ => count,
        };
        let mut circuit = Words::new(&Template::of(operation));
        let mut random = Random(7);
        for _ in 0..count {
            let a = match operation.op {
                FloatOp::FromInt(width) => u128::from(random.bits()) & ((1 << width) - 1),
                _ => draw(&mut random, format, &special, 0),
            };
            let b = draw(&mut random, format, &special, a);
            // A summand that is close to the product, or anything.
            let product = FloatOperation::nearest(FloatOp::Mul, format);
            let near = match operation.op {
                FloatOp::Fma => meaning(product, &[a, b]) ^ 1 << (format.width() - 1),
                _ => 0,
            };
            let c = draw(&mut random, format, &special, near);
            let args = match operation.op {
                FloatOp::Fma => &[a, b, c][..],
                op if BINARY.contains(&op) || COMPARISONS.contains(&op) => &[a, b][..],
                _ => &[a],
            };
            compare(operation, &mut circuit, args);
        }
    }
}

#[test]
fn fused_circuits_of_wide_formats() {
    let format = FloatFormat::EXTENDED;
    let special = special(format);
    let mut random = Random(9);
    for rounding in Rounding::ALL {
        let operation = FloatOperation {
            op: FloatOp::Fma,
            format,
            rounding,
        };
        let circuit = Template::of(operation);
        for _ in 0..200 {
            let a = draw(&mut random, format, &special, 0);
            let b = draw(&mut random, format, &special, a);
            let product = FloatOperation::nearest(FloatOp::Mul, format);
            let near = meaning(product, &[a, b]) ^ 1 << (format.width() - 1);
            let c = draw(&mut random, format, &special, near);
            let args = [a, b, c, 0];
            let mut values = Assignment::new();
            for (&input, bits) in circuit.inputs.iter().zip(args) {
                let bits = BitVec::new(BigUint::from(bits), format.width());
                values.set(input, Value::BitVec(bits));
            }
            let result = eval(&circuit.terms, circuit.output, &values).unwrap();
            let expected = BitVec::new(BigUint::from(meaning(operation, &args)), format.width());
            assert_eq!(result, Value::BitVec(expected), "{operation} of {args:#x?}");
        }
    }
}

/// The NaN that comes out has the sign and the payload that are asked for, and is quiet.
#[test]
fn nans_are_as_told() {
    let add = FloatOperation::nearest(FloatOp::Add, SINGLE);
    let mut circuit = Words::new(&Template::of(add));
    let (up, down) = (0x7f80_0000, 0xff80_0000);
    for nan in [0, 0x8000_0001, 0x007f_ffff] {
        compare(add, &mut circuit, &[up, down, nan]);
    }
    expect!["0xffc00001"].assert_eq(&format!("{:#x}", meaning(add, &[up, down, 0x8000_0001])));
    let widen = FloatOperation::nearest(FloatOp::Convert(FloatFormat::EXTENDED), SINGLE);
    let mut circuit = Words::new(&Template::of(widen));
    compare(widen, &mut circuit, &[0x7fc0_0000, 5 | 1 << 79]);
    expect!["0xffffc000000000000005"].assert_eq(&format!(
        "{:#x}",
        meaning(widen, &[0x7fc0_0000, 5 | 1 << 79])
    ));
}

#[test]
fn the_meaning_is_the_machines() {
    machine(10_000);
}

/// Some millions of operands.
#[test]
#[ignore = "minutes"]
fn the_meaning_is_the_machines_on_millions_of_operands() {
    machine(1_000_000);
}

fn machine(count: u64) {
    let same = |format, op, args: [u128; 2], machine: u128| {
        let ours = meaning(FloatOperation::nearest(op, format), &args);
        let nans = op != FloatOp::Eq && is_nan(format, ours) && is_nan(format, machine);
        assert!(
            ours == machine || nans,
            "{op:?} {format} of {args:#x?}: {ours:#x}, the machine says {machine:#x}"
        );
    };
    let mut random = Random(1);
    let specials = special(SINGLE);
    for _ in 0..count {
        let a = draw(&mut random, SINGLE, &specials, 0);
        let b = draw(&mut random, SINGLE, &specials, a);
        let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        for (op, result) in [
            (FloatOp::Add, x + y),
            (FloatOp::Mul, x * y),
            (FloatOp::Div, x / y),
            (FloatOp::Rem, x % y),
            (FloatOp::Sqrt, x.sqrt()),
            (FloatOp::Integral, x.round_ties_even()),
        ] {
            same(SINGLE, op, [a, b], u128::from(result.to_bits()));
        }
        for (op, truth) in [
            (FloatOp::Eq, x == y),
            (FloatOp::Lt, x < y),
            (FloatOp::Le, x <= y),
        ] {
            let ours = meaning(FloatOperation::nearest(op, SINGLE), &[a, b]);
            assert_eq!(ours, u128::from(truth), "{x} {op:?} {y}");
        }
        let wide = f64::from(x);
        let widen = FloatOperation::nearest(FloatOp::Convert(DOUBLE), SINGLE);
        let ours = meaning(widen, &[a]);
        assert!(ours == u128::from(wide.to_bits()) || x.is_nan());
        let number = random.bits();
        let from = |width, format, bits| {
            meaning(
                FloatOperation::nearest(FloatOp::FromInt(width), format),
                &[bits],
            )
        };
        assert_eq!(
            from(64, SINGLE, u128::from(number)),
            u128::from((number as i64 as f32).to_bits())
        );
        assert_eq!(
            from(65, DOUBLE, u128::from(number)),
            u128::from((number as f64).to_bits())
        );
        let to = FloatOperation::nearest(FloatOp::ToInt(32), SINGLE);
        if x > -2147483648.0 && x < 2147483648.0 {
            assert_eq!(meaning(to, &[a]), u128::from(x as i32 as u32), "{x}");
        } else {
            assert_eq!(meaning(to, &[a]), 0x8000_0000, "{x}");
        }
    }
    let specials = special(DOUBLE);
    for _ in 0..count {
        let a = draw(&mut random, DOUBLE, &specials, 0);
        let b = draw(&mut random, DOUBLE, &specials, a);
        let (x, y) = (f64::from_bits(a as u64), f64::from_bits(b as u64));
        for (op, result) in [
            (FloatOp::Add, x + y),
            (FloatOp::Mul, x * y),
            (FloatOp::Div, x / y),
            (FloatOp::Rem, x % y),
            (FloatOp::Sqrt, x.sqrt()),
            (FloatOp::Integral, x.round_ties_even()),
        ] {
            same(DOUBLE, op, [a, b], u128::from(result.to_bits()));
        }
        for (rounding, result) in [
            (Rounding::Up, x.ceil()),
            (Rounding::Down, x.floor()),
            (Rounding::Zero, x.trunc()),
            (Rounding::NearestAway, x.round()),
        ] {
            let integral = FloatOperation {
                op: FloatOp::Integral,
                format: DOUBLE,
                rounding,
            };
            let ours = meaning(integral, &[a]);
            assert!(
                ours == u128::from(result.to_bits()) || x.is_nan(),
                "{x} {rounding:?}"
            );
        }
        let narrow = FloatOperation::nearest(FloatOp::Convert(SINGLE), DOUBLE);
        let ours = meaning(narrow, &[a]);
        assert!(
            ours == u128::from((x as f32).to_bits()) || x.is_nan(),
            "{x}"
        );
    }
}

/// All formats, in all roundings, against a library.
#[test]
fn the_meaning_is_another_librarys() {
    library::<Half>(FloatFormat::HALF, 5_000);
    library::<Single>(FloatFormat::SINGLE, 5_000);
    library::<Double>(FloatFormat::DOUBLE, 5_000);
    library::<X87DoubleExtended>(FloatFormat::EXTENDED, 2_000);
    library::<Quad>(FloatFormat::QUAD, 2_000);
}

fn library<F: Float>(format: FloatFormat, count: u64) {
    let mut random = Random(3);
    let specials = special(format);
    for _ in 0..count {
        let a = draw(&mut random, format, &specials, 0);
        let b = draw(&mut random, format, &specials, a);
        let product = FloatOperation::nearest(FloatOp::Mul, format);
        let near = meaning(product, &[a, b]) ^ 1 << (format.width() - 1);
        let c = draw(&mut random, format, &specials, near);
        let (x, y, z) = (F::from_bits(a), F::from_bits(b), F::from_bits(c));
        for (rounding, round) in [
            (Rounding::NearestEven, Round::NearestTiesToEven),
            (Rounding::NearestAway, Round::NearestTiesToAway),
            (Rounding::Up, Round::TowardPositive),
            (Rounding::Down, Round::TowardNegative),
            (Rounding::Zero, Round::TowardZero),
        ] {
            for (op, result) in [
                (FloatOp::Add, x.add_r(y, round).value),
                (FloatOp::Mul, x.mul_r(y, round).value),
                (FloatOp::Div, x.div_r(y, round).value),
                (FloatOp::Fma, x.mul_add_r(y, z, round).value),
                (FloatOp::Integral, x.round_to_integral(round).value),
            ] {
                let ours = meaning(
                    FloatOperation {
                        op,
                        format,
                        rounding,
                    },
                    &[a, b, c],
                );
                assert!(
                    ours == result.to_bits() || is_nan(format, ours) && result.is_nan(),
                    "{op:?} {rounding:?} of {a:#x}, {b:#x}, {c:#x}: {ours:#x} and {:#x}",
                    result.to_bits()
                );
            }
        }
        let order = x.partial_cmp(&y);
        for (op, truth) in [
            (FloatOp::Eq, order.is_some_and(|order| order.is_eq())),
            (FloatOp::Lt, order.is_some_and(|order| order.is_lt())),
            (FloatOp::Le, order.is_some_and(|order| order.is_le())),
        ] {
            let ours = meaning(FloatOperation::nearest(op, format), &[a, b]);
            assert_eq!(ours, u128::from(truth), "{op:?} of {a:#x}, {b:#x}");
        }
    }
}

#[test]
fn names_are_read_again() {
    for format in [SINGLE, FloatFormat::EXTENDED] {
        for operation in operations(format, &[DOUBLE, FloatFormat::EXTENDED]) {
            let name = operation.to_string();
            assert_eq!(FloatOperation::of_name(&name), Some(operation), "{name}");
        }
    }
    expect!["float.convert.8_24.rne.15_64x"].assert_eq(
        &FloatOperation::nearest(FloatOp::Convert(FloatFormat::EXTENDED), SINGLE).to_string(),
    );
    for wrong in [
        "float.add.8_24",
        "float.add.08_24.rne",
        "float.add.0_0.rne",
        "float.add",
    ] {
        assert_eq!(FloatOperation::of_name(wrong), None, "{wrong}");
    }
    assert_eq!(
        FloatOperation::nearest(FloatOp::Lt, SINGLE).signature(),
        Some((vec![32, 32], Sort::Bool))
    );
}
