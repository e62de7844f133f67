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

/// A random word of a width over some leaves.
fn word(
    random: &mut Random,
    terms: &mut Terms,
    leaves: &[TermId],
    width: u32,
    depth: u32,
) -> TermId {
    let of_width: Vec<TermId> = leaves
        .iter()
        .copied()
        .filter(|&leaf| terms.width(leaf) == width)
        .collect();
    if depth == 0 || random.below(6u64) == 0 {
        return match (random.below(3u64), of_width.is_empty()) {
            (1 | 2, false) => random.pick(&of_width),
            _ => {
                let literal = i128::from(random.below(40u64)) - 20;
                terms.bv(literal, width)
            }
        };
    }
    let sign = match random.below(2u64) {
        0 => Sign::Signed,
        _ => Sign::Unsigned,
    };
    match random.below(6u64) {
        0 => {
            let a = word(random, terms, leaves, width, depth - 1);
            let b = word(random, terms, leaves, width, depth - 1);
            terms.bv_add(a, b)
        }
        1 => {
            let a = word(random, terms, leaves, width, depth - 1);
            let b = word(random, terms, leaves, width, depth - 1);
            terms.bv_sub(a, b)
        }
        2 | 3 => {
            let other = random.pick(&[8, 16, 32]).min(width);
            let a = word(random, terms, leaves, other, depth - 1);
            let b = word(random, terms, leaves, other, depth - 1);
            let (a, b) = (terms.resize(a, width, sign), terms.resize(b, width, sign));
            terms.bv_mul(a, b)
        }
        _ => {
            let other = random.pick(&[8, 16, 32, 66]);
            let a = word(random, terms, leaves, other, depth - 1);
            terms.resize(a, width, sign)
        }
    }
}

/// A random formula: mostly what overflows are said by, and orders.
fn about_words(random: &mut Random, terms: &mut Terms, leaves: &[TermId], depth: u32) -> TermId {
    let width = random.pick(&[8, 16, 32, 66]);
    match random.below(if depth == 0 { 5u64 } else { 8 }) {
        0 | 1 => {
            let whole = word(random, terms, leaves, width, 3);
            let kept = random.pick(&[4, 8, 16, 32]).min(width);
            let sign = match random.below(2u64) {
                0 => Sign::Signed,
                _ => Sign::Unsigned,
            };
            let cut = terms.resize(whole, kept, Sign::Signed);
            let back = terms.resize(cut, width, sign);
            terms.eq(whole, back)
        }
        order @ 2..5 => {
            let a = word(random, terms, leaves, width, 2);
            let b = word(random, terms, leaves, width, 2);
            match order {
                2 => terms.bv_sle(a, b),
                3 => terms.bv_ule(a, b),
                _ => terms.bv_ult(a, b),
            }
        }
        5 => {
            let a = about_words(random, terms, leaves, depth - 1);
            terms.not(a)
        }
        both => {
            let a = about_words(random, terms, leaves, depth - 1);
            let b = about_words(random, terms, leaves, depth - 1);
            match both {
                6 => terms.and(&[a, b]),
                _ => terms.or(&[a, b]),
            }
        }
    }
}

fn words_lie_in_bounds(seeds: std::ops::Range<u64>) {
    let mut asked = 0;
    for seed in seeds {
        let mut random = Random(seed + 1);
        let mut terms = Terms::new();
        let mut leaves = Vec::new();
        for (name, width) in [("a", 8), ("b", 8), ("c", 16), ("d", 32), ("e", 32)] {
            leaves.push(terms.constant(name, Sort::BitVec(width)));
        }
        let formulas: Vec<TermId> = (0..3)
            .map(|_| about_words(&mut random, &mut terms, &leaves, 2))
            .collect();
        let Some(question) = Question::new(&terms, &formulas) else {
            continue;
        };
        asked += 1;
        let mut bounds = Bounds {
            floats: Vec::new(),
            ints: Vec::new(),
        };
        for &leaf in &question.leaves {
            let width = question.nodes[leaf].width;
            let format = question.nodes[leaf].format.unwrap_or(Format::Double);
            bounds.floats.push(Range::all(format));
            let all = all_ints(width);
            let mut ends = [0, 0].map(|_| all.0 + i128::from(random.below(1u64 << width)));
            if random.below(2u64) == 0 {
                ends = ends.map(|end| end % 100);
            }
            bounds
                .ints
                .push((ends[0].min(ends[1]), ends[0].max(ends[1])));
        }
        let mut known = Vec::new();
        question.compute(&bounds, &mut known);
        let mut shrunk = bounds.clone();
        let outcome = question.shrink(&mut shrunk, &mut Vec::new());
        for _ in 0..20 {
            let mut point = Assignment::new();
            let mut chosen = Vec::new();
            for (&leaf, &(low, high)) in question.leaves.iter().zip(&bounds.ints) {
                let width = question.nodes[leaf].width;
                let number = match random.below(4u64) {
                    0 => low,
                    1 => high,
                    _ => low + i128::from(random.below((high - low) as u64 + 1)),
                };
                let bits = BitVec::from_int(&number.into(), width);
                point.set(question.nodes[leaf].term, Value::BitVec(bits));
                chosen.push(number);
            }
            for (node, known) in question.nodes.iter().zip(&known) {
                let told = || format!("{} at {chosen:?}", terms.infix(node.term));
                match eval(&terms, node.term, &point).unwrap() {
                    Value::Bool(true) => assert!(known.truth.yes, "{}", told()),
                    Value::Bool(false) => assert!(known.truth.no, "{}", told()),
                    Value::BitVec(bits) => {
                        let number = bits.signed().to_i128().unwrap();
                        let (low, high) = known.int;
                        assert!(low <= number && number <= high, "{}: {number}", told());
                    }
                    other => panic!("{other}"),
                }
            }
            let holds = |&formula: &TermId| eval(&terms, formula, &point) == Ok(Value::Bool(true));
            if formulas.iter().all(holds) {
                assert!(outcome.is_ok(), "{chosen:?} was lost (seed {seed})");
                for (number, (low, high)) in chosen.iter().zip(&shrunk.ints) {
                    assert!(
                        low <= number && number <= high,
                        "{chosen:?} was lost (seed {seed})"
                    );
                }
            }
        }
    }
    assert!(asked > 0);
}

#[test]
fn points_of_boxes_of_words_lie_in_the_bounds() {
    words_lie_in_bounds(0..3_000);
}

/// A longer campaign.
#[test]
#[ignore = "minutes"]
fn points_of_many_boxes_of_words_lie_in_the_bounds() {
    words_lie_in_bounds(0..1_000_000);
}

/// Numbers below the root of the largest one can be multiplied, and no larger ones.
#[test]
fn products_have_bounds() {
    for (most, expected) in [(46_340, true), (46_341, false)] {
        let mut terms = Terms::new();
        let numbers = ["x", "y"].map(|name| terms.constant(name, Sort::BitVec(32)));
        let (zero, bound) = (terms.bv(0, 32), terms.bv(most, 32));
        let mut question = Vec::new();
        for number in numbers {
            question.push(terms.bv_sle(zero, number));
            question.push(terms.bv_sle(number, bound));
        }
        let [x, y] = numbers.map(|number| terms.resize(number, 66, Sign::Signed));
        let product = terms.bv_mul(x, y);
        let cut = terms.resize(product, 32, Sign::Signed);
        let back = terms.resize(cut, 66, Sign::Signed);
        let fits = terms.eq(back, product);
        question.push(terms.not(fits));
        let decision = decide(&terms, &question, &mut |_| false);
        assert_eq!(matches!(decision, Some(Decision::Unsat)), expected);
        assert_eq!(decision.is_none(), !expected);
    }
}
