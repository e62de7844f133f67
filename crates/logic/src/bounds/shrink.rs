//! Boxes shrink by what the formulas demand of the leaves.

use super::range::{Format, Range};
use super::steps::{SignChange, sign_change};
use super::{Bounds, Empty, Known, Question, ROUNDS, Truth};
use crate::float::FloatOp;
use crate::term::Op;

/// What a term has to be.
#[derive(Clone, Copy)]
enum Demand {
    Truth(bool),
    Float(Range),
    Int(i128, i128),
}

impl Question<'_> {
    /// Shrinks a box to where the formulas may hold, and tells what is known of all terms then.
    pub(super) fn shrink(&self, bounds: &mut Bounds, known: &mut Vec<Known>) -> Result<(), Empty> {
        for _ in 0..ROUNDS {
            self.compute(bounds, known);
            let mut changed = false;
            for &root in &self.roots {
                changed |= self.demand(root, bounds, known)?;
            }
            if !changed {
                return Ok(());
            }
        }
        self.compute(bounds, known);
        let holds = |&root: &usize| known[root].truth.yes;
        match self.roots.iter().all(holds) {
            true => Ok(()),
            false => Err(Empty),
        }
    }

    /// Demands that a formula holds. Tells whether the box has shrunk.
    fn demand(&self, root: usize, bounds: &mut Bounds, known: &[Known]) -> Result<bool, Empty> {
        let mut changed = false;
        let mut stack = vec![(root, Demand::Truth(true))];
        while let Some((at, demand)) = stack.pop() {
            match demand {
                Demand::Truth(wanted) => self.demand_truth(at, wanted, known, &mut stack)?,
                Demand::Float(range) => {
                    changed |= self.demand_float(at, range, bounds, known, &mut stack)?;
                }
                Demand::Int(low, high) => {
                    let (least, most) = known[at].int;
                    if least.max(low) > most.min(high) {
                        return Err(Empty);
                    }
                    if let Some(leaf) = self.nodes[at].leaf {
                        let old = bounds.ints[leaf];
                        let new = (old.0.max(low), old.1.min(high));
                        if new.0 > new.1 {
                            return Err(Empty);
                        }
                        changed |= new != old;
                        bounds.ints[leaf] = new;
                    }
                }
            }
        }
        Ok(changed)
    }

    fn demand_truth(
        &self,
        at: usize,
        wanted: bool,
        known: &[Known],
        stack: &mut Vec<(usize, Demand)>,
    ) -> Result<(), Empty> {
        let node = &self.nodes[at];
        let truth = known[at].truth;
        if !(if wanted { truth.yes } else { truth.no }) {
            return Err(Empty);
        }
        let args = &node.args;
        let all = |wanted: bool, stack: &mut Vec<(usize, Demand)>| {
            stack.extend(args.iter().map(|&arg| (arg, Demand::Truth(wanted))));
        };
        // The only argument that can still be what one of them has to be.
        let only = |wanted: bool, stack: &mut Vec<(usize, Demand)>| {
            let can = |truth: Truth| if wanted { truth.yes } else { truth.no };
            let mut possible = args.iter().filter(|&&arg| can(known[arg].truth));
            if let (Some(&one), None) = (possible.next(), possible.next()) {
                stack.push((one, Demand::Truth(wanted)));
            }
        };
        match &node.op {
            Op::Not => all(!wanted, stack),
            Op::And if wanted => all(true, stack),
            Op::And => only(false, stack),
            Op::Or if wanted => only(true, stack),
            Op::Or => all(false, stack),
            Op::Implies if !wanted => {
                stack.push((args[0], Demand::Truth(true)));
                stack.push((args[1], Demand::Truth(false)));
            }
            Op::Implies if !known[args[0]].truth.no => stack.push((args[1], Demand::Truth(true))),
            Op::Implies if !known[args[1]].truth.yes => {
                stack.push((args[0], Demand::Truth(false)));
            }
            Op::Ite => match known[args[0]].truth {
                Truth { no: false, .. } => stack.push((args[1], Demand::Truth(wanted))),
                Truth { yes: false, .. } => stack.push((args[2], Demand::Truth(wanted))),
                _ => {}
            },
            Op::Eq if wanted => {
                let (a, b) = (known[args[0]], known[args[1]]);
                if self.nodes[args[0]].width > 0 {
                    stack.push((args[0], Demand::Float(b.float)));
                    stack.push((args[1], Demand::Float(a.float)));
                    stack.push((args[0], Demand::Int(b.int.0, b.int.1)));
                    stack.push((args[1], Demand::Int(a.int.0, a.int.1)));
                }
            }
            Op::BvSlt | Op::BvSle | Op::BvUlt | Op::BvUle => {
                self.demand_order(at, wanted, known, stack)
            }
            Op::Float(operation) => {
                if let Some(format) = Format::of(operation.format) {
                    self.demand_comparison(at, operation.op, format, wanted, known, stack);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn demand_order(
        &self,
        at: usize,
        wanted: bool,
        known: &[Known],
        stack: &mut Vec<(usize, Demand)>,
    ) {
        let node = &self.nodes[at];
        let (left, right) = (node.args[0], node.args[1]);
        let (a, b) = (known[left].int, known[right].int);
        let unsigned = matches!(node.op, Op::BvUlt | Op::BvUle);
        if a.0 == i128::MIN || b.0 == i128::MIN {
            return;
        }
        let strict = matches!(node.op, Op::BvSlt | Op::BvUlt) == wanted;
        let gap = i128::from(strict);
        let (low, high) = if wanted { (left, right) } else { (right, left) };
        if unsigned && known[high].int.0 >= 0 {
            // Below a number whose first bit is 0, the first bit is 0.
            stack.push((low, Demand::Int(0, known[high].int.1 - gap)));
        }
        if unsigned && (a.0 < 0 || b.0 < 0) {
            return;
        }
        stack.push((low, Demand::Int(i128::MIN, known[high].int.1 - gap)));
        stack.push((high, Demand::Int(known[low].int.0 + gap, i128::MAX)));
    }

    fn demand_comparison(
        &self,
        at: usize,
        op: FloatOp,
        format: Format,
        wanted: bool,
        known: &[Known],
        stack: &mut Vec<(usize, Demand)>,
    ) {
        let node = &self.nodes[at];
        let (left, right) = (node.args[0], node.args[1]);
        let (a, b) = (known[left].float, known[right].float);
        // What is false of NaNs says nothing of numbers.
        if !wanted && (a.nan || b.nan || op == FloatOp::Eq) {
            return;
        }
        let numbers = Range {
            nan: false,
            ..Range::all(format)
        };
        let (a, b) = (a.with_both_zeros(), b.with_both_zeros());
        let strict = (op == FloatOp::Lt) == wanted;
        let mut ordered = |low: usize, high: usize, a: Range, b: Range| {
            let (most, least) = match strict {
                true => (format.below(b.high), format.above(a.low)),
                false => (b.high, a.low),
            };
            stack.push((
                low,
                Demand::Float(Range {
                    high: most,
                    ..numbers
                }),
            ));
            stack.push((
                high,
                Demand::Float(Range {
                    low: least,
                    ..numbers
                }),
            ));
        };
        match (op, wanted) {
            (FloatOp::Eq, _) => {
                stack.push((left, Demand::Float(Range { nan: false, ..b })));
                stack.push((right, Demand::Float(Range { nan: false, ..a })));
            }
            (FloatOp::Lt | FloatOp::Le, true) => ordered(left, right, a, b),
            (FloatOp::Lt | FloatOp::Le, false) => ordered(right, left, b, a),
            _ => {}
        }
    }

    fn demand_float(
        &self,
        at: usize,
        range: Range,
        bounds: &mut Bounds,
        known: &[Known],
        stack: &mut Vec<(usize, Demand)>,
    ) -> Result<bool, Empty> {
        let node = &self.nodes[at];
        if node.format.is_none() {
            return Ok(false);
        }
        let met = known[at].float.meet(range);
        if met.is_empty() {
            return Err(Empty);
        }
        if let Some(leaf) = node.leaf {
            let old = bounds.floats[leaf];
            let new = old.meet(range);
            if new.is_empty() {
                return Err(Empty);
            }
            bounds.floats[leaf] = new;
            return Ok(new != old);
        }
        let args = &node.args;
        match &node.op {
            Op::Ite => match known[args[0]].truth {
                Truth { no: false, .. } => stack.push((args[1], Demand::Float(range))),
                Truth { yes: false, .. } => stack.push((args[2], Demand::Float(range))),
                _ => {}
            },
            Op::BvXor => {
                if let Some((SignChange::Flipped, arg)) = sign_change(node, known) {
                    stack.push((arg, Demand::Float(range.negated())));
                }
            }
            Op::Float(operation) => {
                // Going to the wider format is exact, so there is a way back.
                let widened = operation.op == FloatOp::Convert(crate::FloatFormat::DOUBLE)
                    && Format::of(operation.format) == Some(Format::Single);
                if widened && met.has_number() {
                    let (mut low, mut high) = (
                        Format::Single.nearest(met.low),
                        Format::Single.nearest(met.high),
                    );
                    if low < met.low {
                        low = Format::Single.above(low);
                    }
                    if high > met.high {
                        high = Format::Single.below(high);
                    }
                    let back = Range {
                        low,
                        high,
                        nan: met.nan,
                    };
                    stack.push((args[0], Demand::Float(back)));
                }
            }
            _ => {}
        }
        Ok(false)
    }
}
