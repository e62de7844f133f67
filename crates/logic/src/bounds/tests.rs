//! Bounds against points: what a term is at any point of a box lies in what is known of it there.

use super::{Bounds, Decision, Question, all_ints, decide};
use crate::bounds::range::{Format, Range};
use crate::eval::{Assignment, eval};
use crate::float::{FloatFormat, FloatOp, FloatOperation, Rounding};
use crate::simplify::Sign;
use crate::sort::Sort;
use crate::term::{TermId, Terms};
use crate::value::{BitVec, Value};
use hardbop_test_support::random::Random;
use num_traits::ToPrimitive;

/// Floats at which something happens.
const SPECIAL: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    3.0,
    -7.25,
    1e-40,
    -1e-45,
    3.4e38,
    f64::INFINITY,
    f64::NEG_INFINITY,
    1e10,
    0.1,
];

struct Maker {
    random: Random,
    terms: Terms,
    leaves: Vec<TermId>,
    format: FloatFormat,
}

impl Maker {
    fn literal(&mut self) -> TermId {
        let value = self.random.pick(&SPECIAL);
        let format = Format::of(self.format).unwrap();
        let bits = format.bits(value);
        self.terms.bv(i128::from(bits), self.format.width())
    }

    fn nearest(&mut self, op: FloatOp, args: &[TermId]) -> TermId {
        let operation = FloatOperation::nearest(op, self.format);
        self.terms.float(operation, args)
    }

    fn float(&mut self, depth: u32) -> TermId {
        let width = self.format.width();
        let zero = self.terms.bv(0, width);
        if depth == 0 {
            return match self.random.below(3u64) {
                0 => self.literal(),
                _ => self.random.pick(&self.leaves.clone()),
            };
        }
        let a = self.float(depth - 1);
        let b = self.float(depth - 1);
        match self.random.below(12u64) {
            0 | 1 => self.nearest(FloatOp::Add, &[a, b, zero]),
            2 => self.nearest(FloatOp::Mul, &[a, b, zero]),
            3 => self.nearest(FloatOp::Mul, &[a, a, zero]),
            4 => self.nearest(FloatOp::Div, &[a, b, zero]),
            5 => self.nearest(FloatOp::Rem, &[a, b, zero]),
            6 => self.nearest(FloatOp::Sqrt, &[a, zero]),
            7 => {
                let rounding = self.random.pick(&Rounding::ALL);
                let operation = FloatOperation {
                    op: FloatOp::Integral,
                    format: self.format,
                    rounding,
                };
                self.terms.float(operation, &[a, zero])
            }
            8 => {
                let sign = self.terms.bv(1 << (width - 1), width);
                self.terms.bv_xor(a, sign)
            }
            9 => {
                let rest = self.terms.bv((1 << (width - 1)) - 1, width);
                self.terms.bv_and(a, rest)
            }
            10 => {
                let condition = self.formula(depth - 1);
                self.terms.ite(condition, a, b)
            }
            _ => {
                let to = self.nearest(FloatOp::ToInt(16), &[a]);
                let wide = self.terms.resize(to, 20, Sign::Unsigned);
                self.nearest(FloatOp::FromInt(20), &[wide])
            }
        }
    }

    fn formula(&mut self, depth: u32) -> TermId {
        let a = self.float(depth);
        let b = self.float(depth.min(1));
        let op = self.random.pick(&[FloatOp::Eq, FloatOp::Lt, FloatOp::Le]);
        let truth = self.nearest(op, &[a, b]);
        match self.random.below(4u64) {
            0 => self.terms.not(truth),
            1 if depth > 0 => {
                let other = self.formula(depth - 1);
                self.terms.or(&[truth, other])
            }
            _ => truth,
        }
    }

    fn range(&mut self) -> Range {
        let format = Format::of(self.format).unwrap();
        let mut end = || {
            let value = self.random.pick(&SPECIAL);
            format.nearest(match self.random.below(2u64) {
                0 => value,
                _ => value * (self.random.below(1000u64) as f64 / 500.0),
            })
        };
        let (a, b) = (end(), end());
        let (a, b) = if a.is_nan() || b.is_nan() {
            (0.0, 1.0)
        } else {
            (a, b)
        };
        let (low, high) = if a.total_cmp(&b).is_le() {
            (a, b)
        } else {
            (b, a)
        };
        Range {
            low,
            high,
            nan: self.random.one_in(4),
        }
    }

    fn point(&mut self, range: Range) -> f64 {
        let format = Format::of(self.format).unwrap();
        let part = self.random.below(1001u64) as f64 / 1000.0;
        let inner = format.nearest(range.low * (1.0 - part) + range.high * part);
        match self.random.below(4u64) {
            0 => range.low,
            1 => range.high,
            2 if range.nan => f64::NAN,
            _ if range.low.total_cmp(&inner).is_le() && inner.total_cmp(&range.high).is_le() => {
                inner
            }
            _ => range.low,
        }
    }
}

fn points_lie_in_bounds(format: FloatFormat, count: u64) {
    for seed in 0..count {
        let mut terms = Terms::new();
        let sort = Sort::BitVec(format.width());
        let leaves = ["x", "y"].map(|name| terms.constant(name, sort)).to_vec();
        let mut maker = Maker {
            random: Random(seed + 1),
            terms,
            leaves: leaves.clone(),
            format,
        };
        let formula = maker.formula(3);
        let copy = maker.terms.clone();
        let Some(question) = Question::new(&copy, &[formula]) else {
            continue;
        };
        let ranges: Vec<Range> = question.leaves.iter().map(|_| maker.range()).collect();
        let bounds = Bounds {
            floats: ranges.clone(),
            ints: ranges.iter().map(|_| all_ints(format.width())).collect(),
        };
        let mut known = Vec::new();
        question.compute(&bounds, &mut known);
        let mut shrunk = bounds.clone();
        let mut unused = Vec::new();
        let outcome = question.shrink(&mut shrunk, &mut unused);
        for _ in 0..20 {
            let mut point = Assignment::new();
            let mut chosen = Vec::new();
            for (leaf, &position) in question.leaves.iter().enumerate() {
                let value = maker.point(ranges[leaf]);
                let bits = Format::of(format).unwrap().bits(value);
                let bits = BitVec::new(bits.into(), format.width());
                point.set(question.nodes[position].term, Value::BitVec(bits));
                chosen.push(value);
            }
            for (node, known) in question.nodes.iter().zip(&known) {
                let told = || format!("{} at {chosen:?}", copy.infix(node.term));
                match eval(&copy, node.term, &point).unwrap() {
                    Value::Bool(truth) => {
                        assert!(
                            if truth {
                                known.truth.yes
                            } else {
                                known.truth.no
                            },
                            "{}",
                            told()
                        );
                    }
                    Value::BitVec(bits) => {
                        if let Some(format) = node.format {
                            let value = format.float(bits.unsigned().to_u64().unwrap());
                            let range = known.float;
                            let inside = match value.is_nan() {
                                true => range.nan,
                                false => !Range::point_of(value).meet(range).is_empty(),
                            };
                            assert!(inside, "{}: {value:?} is not in {range:?}", told());
                        }
                        let number = bits.signed().to_i128().unwrap();
                        let (low, high) = known.int;
                        assert!(low <= number && number <= high, "{}: {number}", told());
                    }
                    other => panic!("{other}"),
                }
            }
            // No model is lost when the box shrinks.
            if eval(&copy, formula, &point) == Ok(Value::Bool(true)) {
                assert!(outcome.is_ok(), "{} at {chosen:?}", copy.infix(formula));
                for (value, range) in chosen.iter().zip(&shrunk.floats) {
                    let inside = match value.is_nan() {
                        true => range.nan,
                        false => !Range::point_of(*value).meet(*range).is_empty(),
                    };
                    assert!(inside, "{}: {value:?} was lost", copy.infix(formula));
                }
            }
        }
    }
}

#[test]
fn points_of_boxes_lie_in_the_bounds() {
    points_lie_in_bounds(FloatFormat::SINGLE, 1000);
    points_lie_in_bounds(FloatFormat::DOUBLE, 1000);
}

/// A longer campaign.
#[test]
#[ignore = "minutes"]
fn points_of_many_boxes_lie_in_the_bounds() {
    points_lie_in_bounds(FloatFormat::SINGLE, 300_000);
    points_lie_in_bounds(FloatFormat::DOUBLE, 300_000);
}

/// A polynomial on an interval, of which no solver of bits tells the range.
#[test]
fn polynomials_have_bounds() {
    let mut terms = Terms::new();
    let x = terms.constant("x", Sort::BitVec(32));
    let nan = terms.bv(0, 32);
    let mut float = |value: f32| terms.bv(i128::from(value.to_bits()), 32);
    let (zero, one) = (float(0.0), float(1.0));
    let limits = [float(1.39844), float(1.3984375)];
    let factors = [0.5f32, -0.125, 0.0625, -0.0390625].map(&mut float);
    let nearest = |op| FloatOperation::nearest(op, FloatFormat::SINGLE);
    let mut result = one;
    for (power, factor) in factors.into_iter().enumerate() {
        let mut part = factor;
        for _ in 0..=power {
            part = terms.float(nearest(FloatOp::Mul), &[part, x, nan]);
        }
        result = terms.float(nearest(FloatOp::Add), &[result, part, nan]);
    }
    let low = terms.float(nearest(FloatOp::Le), &[zero, x]);
    let high = terms.float(nearest(FloatOp::Lt), &[x, one]);
    let [never, once] = limits.map(|limit| terms.float(nearest(FloatOp::Le), &[limit, result]));
    assert!(matches!(
        decide(&terms, &[low, high, never], &mut |_| false),
        Some(Decision::Unsat)
    ));
    // The largest value is one that is rounded up to.
    match decide(&terms, &[low, high, once], &mut |_| false) {
        Some(Decision::Sat(model)) => {
            assert_eq!(eval(&terms, once, &model), Ok(Value::Bool(true)));
        }
        _ => panic!("there is a point"),
    }
}
