//! Questions about floats, decided by intervals: a box of values for the inputs is split until
//! each part contradicts the formulas, or some point in it is a model. Of products of words that
//! were widened for them, as overflows are asked about, the box of all values is only shrunk.
//!
//! Rounded operations are monotone, so the bounds of a result are the results of bounds, exactly.
//! That decides in a moment what a solver takes hours for as bits: the range of a polynomial, say.
//! Only C's `float` and `double` are followed, rounded to nearest; everything else may be anything.

mod range;
mod shrink;
mod steps;
#[cfg(test)]
mod tests;

use crate::eval::{Assignment, eval};
use crate::float::FloatOp;
use crate::sort::Sort;
use crate::term::{Op, TermId, Terms};
use crate::value::{BitVec, Value};
use range::{Format, Range};
use rustc_hash::FxHashMap;

/// What intervals tell.
pub(crate) enum Decision {
    /// There is no model.
    Unsat,
    /// There is this one.
    Sat(Assignment),
    /// There is one at a point that was asked about.
    SatAtPoint,
}

/// Larger questions are left to the solver.
const LARGEST: usize = 4000;
/// How many terms are computed before the solver is asked.
const PATIENCE: usize = 3_000_000;
/// How often formulas are evaluated at points.
const POINTS: usize = 200;
/// How often the solver is asked about a point.
const QUESTIONS: usize = 4;
/// How often a box shrinks before it is split.
const ROUNDS: usize = 4;

/// What is known of one term in a box: whatever fits its sort.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// The values of a formula that are possible.
    truth: Truth,
    /// The numbers of a bit-vector, read as a float.
    float: Range,
    /// The numbers of a bit-vector of up to [`WIDEST`] bits in two's complement.
    int: (i128, i128),
}

/// The truth values that are possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Truth {
    yes: bool,
    no: bool,
}

impl Truth {
    const OPEN: Truth = Truth {
        yes: true,
        no: true,
    };

    fn of(value: bool) -> Truth {
        Truth {
            yes: value,
            no: !value,
        }
    }

    fn not(self) -> Truth {
        Truth {
            yes: self.no,
            no: self.yes,
        }
    }
}

/// A term of the question, with its arguments as positions.
struct Node {
    term: TermId,
    op: Op,
    args: Vec<usize>,
    width: u32,
    format: Option<Format>,
    /// The position among the leaves, for those that a box bounds.
    leaf: Option<usize>,
}

/// A question as a list of terms, arguments before users.
struct Question<'t> {
    terms: &'t Terms,
    formulas: Vec<TermId>,
    nodes: Vec<Node>,
    roots: Vec<usize>,
    /// The positions of the leaves.
    leaves: Vec<usize>,
    /// Whether anything is computed with floats.
    floats: bool,
}

/// The bounds of the leaves.
#[derive(Clone, Debug)]
struct Bounds {
    floats: Vec<Range>,
    ints: Vec<(i128, i128)>,
}

/// A box is empty: no values of the leaves are in it that make the formulas true.
struct Empty;

/// Asks whether there is a model with these values of the floats.
type Asked<'a> = &'a mut dyn FnMut(&[(TermId, Value)]) -> bool;

/// Decides whether the formulas have a model, if intervals are enough for it; the rest of a model
/// may be asked for, at points where the floats of one may be.
pub(crate) fn decide(terms: &Terms, formulas: &[TermId], asked: Asked<'_>) -> Option<Decision> {
    let question = Question::new(terms, formulas)?;
    question.search(asked)
}

fn computes(op: &Op) -> bool {
    matches!(op, Op::Float(operation) if matches!(
        operation.op,
        FloatOp::Add | FloatOp::Mul | FloatOp::Div | FloatOp::Sqrt | FloatOp::Rem
    ))
}

impl<'t> Question<'t> {
    fn new(terms: &'t Terms, formulas: &[TermId]) -> Option<Question<'t>> {
        let order = terms.postorder(formulas);
        let floats = order.iter().any(|&term| computes(terms.op(term)));
        let multiplies = |&term: &TermId| terms.is_wide_product(terms.op(term), terms.args(term));
        if order.len() > LARGEST || !floats && !order.iter().any(multiplies) {
            return None;
        }
        let mut at: FxHashMap<TermId, usize> = FxHashMap::default();
        let mut nodes = Vec::with_capacity(order.len());
        let mut leaves = Vec::new();
        for term in order {
            let op = terms.op(term).clone();
            if matches!(op, Op::Forall(_) | Op::Exists(_)) {
                return None;
            }
            let width = match terms.sort(term) {
                Sort::BitVec(width) => width,
                _ => 0,
            };
            let bounded = matches!(op, Op::Constant(_) | Op::Apply(_) | Op::Select)
                && (1..=64).contains(&width);
            let leaf = bounded.then(|| {
                leaves.push(nodes.len());
                leaves.len() - 1
            });
            at.insert(term, nodes.len());
            nodes.push(Node {
                term,
                args: terms.args(term).iter().map(|arg| at[arg]).collect(),
                op,
                width,
                format: Format::of_width(width),
                leaf,
            });
        }
        Some(Question {
            roots: formulas.iter().map(|formula| at[formula]).collect(),
            terms,
            formulas: formulas.to_vec(),
            nodes,
            leaves,
            floats,
        })
    }

    fn search(&self, asked: Asked<'_>) -> Option<Decision> {
        let widest = Bounds {
            floats: self
                .leaves
                .iter()
                .map(|&leaf| Range::all(self.nodes[leaf].format.unwrap_or(Format::Double)))
                .collect(),
            ints: self
                .leaves
                .iter()
                .map(|&leaf| all_ints(self.nodes[leaf].width))
                .collect(),
        };
        if !self.floats {
            let mut bounds = widest;
            let empty = self.shrink(&mut bounds, &mut Vec::new()).is_err();
            return empty.then_some(Decision::Unsat);
        }
        let pointed = !self.nodes.iter().any(|node| {
            matches!(
                node.op,
                Op::Apply(_) | Op::Select | Op::Store | Op::ConstArray(_)
            )
        });
        let split: Vec<usize> = self.float_leaves();
        let mut boxes = vec![(widest, 0usize)];
        let mut work = 0;
        let mut points = 0;
        let mut questions = 0;
        let mut known = Vec::new();
        while let Some((mut bounds, depth)) = boxes.pop() {
            work += self.nodes.len() * (ROUNDS + 1);
            if work > PATIENCE {
                return None;
            }
            if self.shrink(&mut bounds, &mut known).is_err() {
                continue;
            }
            let settled = self.roots.iter().all(|&root| !known[root].truth.no);
            if points < POINTS || settled {
                points += 1;
                if pointed && let Some(model) = self.model_in(&bounds, depth) {
                    return Some(Decision::Sat(model));
                }
                if questions < QUESTIONS
                    && let Some(point) = self.point_in(&bounds, &split, depth)
                {
                    questions += 1;
                    if asked(&point) {
                        return Some(Decision::SatAtPoint);
                    }
                }
            }
            let (left, right) = self.halves(&bounds, &split, depth)?;
            boxes.push((right, depth + 1));
            boxes.push((left, depth + 1));
        }
        Some(Decision::Unsat)
    }

    /// The leaves that are read as floats: others are not split.
    fn float_leaves(&self) -> Vec<usize> {
        let mut read = vec![false; self.nodes.len()];
        for (position, node) in self.nodes.iter().enumerate().rev() {
            let through = read[position];
            match &node.op {
                Op::Float(operation) => {
                    for (at, &arg) in node.args.iter().enumerate() {
                        read[arg] |= operation.is_operand(at);
                    }
                }
                Op::Ite | Op::BvXor | Op::BvAnd if through => {
                    node.args.iter().for_each(|&arg| read[arg] = true);
                }
                _ => {}
            }
        }
        let leaf = |&position: &usize| read[position].then(|| self.nodes[position].leaf)?;
        let positions: Vec<usize> = (0..self.nodes.len()).collect();
        positions.iter().filter_map(leaf).collect()
    }

    /// A point of a box, if it is a model: the middle of each range, or one of its ends.
    fn model_in(&self, bounds: &Bounds, depth: usize) -> Option<Assignment> {
        let mut model = Assignment::new();
        for (leaf, &position) in self.leaves.iter().enumerate() {
            let node = &self.nodes[position];
            if !matches!(node.op, Op::Constant(_)) {
                return None;
            }
            let range = &bounds.floats[leaf];
            let (low, high) = bounds.ints[leaf];
            let whole = all_ints(node.width);
            let bits = match node.format {
                Some(format) if (low, high) == whole => format.bits(range.point(depth)),
                _ => (if low <= 0 && 0 <= high { 0 } else { low }) as u64,
            };
            let bits = BitVec::from_int(&bits.into(), node.width);
            model.set(node.term, Value::BitVec(bits));
        }
        let holds = |&formula: &TermId| eval(self.terms, formula, &model) == Ok(Value::Bool(true));
        self.formulas.iter().all(holds).then_some(model)
    }

    /// Values of the floats in a box at which nothing speaks against a model.
    fn point_in(
        &self,
        bounds: &Bounds,
        floats: &[usize],
        depth: usize,
    ) -> Option<Vec<(TermId, Value)>> {
        let mut bounds = bounds.clone();
        let mut point = Vec::new();
        for &leaf in floats {
            let node = &self.nodes[self.leaves[leaf]];
            let format = node.format?;
            let value = bounds.floats[leaf].point(depth);
            bounds.floats[leaf] = Range::point_of(value);
            let bits = BitVec::new(format.bits(value).into(), node.width);
            point.push((node.term, Value::BitVec(bits)));
        }
        let mut known = Vec::new();
        match self.shrink(&mut bounds, &mut known) {
            Ok(()) => Some(point),
            Err(Empty) => None,
        }
    }

    /// The two halves of a box; none if it cannot be split.
    fn halves(&self, bounds: &Bounds, split: &[usize], depth: usize) -> Option<(Bounds, Bounds)> {
        for turn in 0..split.len() {
            let leaf = split[(depth + turn) % split.len()];
            let format = self.nodes[self.leaves[leaf]].format?;
            if let Some((low, high)) = bounds.floats[leaf].halves(format) {
                let (mut left, mut right) = (bounds.clone(), bounds.clone());
                left.floats[leaf] = low;
                right.floats[leaf] = high;
                return Some((left, right));
            }
        }
        None
    }
}

/// Wider words may be anything: sums of two numbers of this width are numbers of ours.
const WIDEST: u32 = 100;

/// All numbers of a width in two's complement.
fn all_ints(width: u32) -> (i128, i128) {
    match width {
        1..=WIDEST => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
        _ => (i128::MIN, i128::MAX),
    }
}
