//! Whether the edges from a location are a step, or alternatives of which one is taken.

use super::Verifier;
use crate::ids::{ExprId, LocId};
use crate::program::*;

impl Verifier<'_> {
    /// One edge leaves a location, or assumes that exclude each other.
    pub(super) fn branching(&mut self, at: LocId) {
        let program = self.program;
        let edges: Vec<&Op> = program.edges_from(at).map(|(_, e)| &e.op).collect();
        let assumes: Vec<(ExprId, bool)> = edges
            .iter()
            .filter_map(|op| match op {
                Op::Assume { condition, holds } => Some((*condition, *holds)),
                _ => None,
            })
            .collect();
        let function = &program
            .function(program.locations[at.index()].function)
            .name;
        if edges.len() <= 1 && assumes.is_empty() {
            return;
        }
        if assumes.len() != edges.len() {
            self.wrong(format!(
                "a choice in `{function}` that is not made by conditions"
            ));
            return;
        }
        // All but the last hold one alternative each; the last holds where none of them does.
        let Some((&(last, last_holds), others)) = assumes.split_last() else {
            return;
        };
        let mut parts = Vec::new();
        self.alternatives(last, &mut parts);
        let mut given = Vec::new();
        for &(condition, holds) in others {
            if !holds {
                given.clear();
                break;
            }
            self.alternatives(condition, &mut given);
        }
        let two = others.len() == 1 && others[0] == (last, !last_holds);
        let rest = !last_holds && parts == given && !given.is_empty();
        if !two && !rest {
            self.wrong(format!(
                "the conditions at a location of `{function}` do not add up"
            ));
            return;
        }
        if !two && !self.is_exclusive(&given) {
            self.wrong(format!(
                "the conditions at a location of `{function}` overlap"
            ));
        }
    }

    /// The operands of a chain of `||`.
    pub(super) fn alternatives(&self, expr: ExprId, found: &mut Vec<ExprId>) {
        let mut work = vec![expr];
        while let Some(expr) = work.pop() {
            match self.program.expr(expr).kind {
                ExprKind::Binary(BinaryOp::Or, left, right) => work.extend([right, left]),
                _ => found.push(expr),
            }
        }
    }

    /// Whether these tests of one value are of ranges that do not overlap.
    pub(super) fn is_exclusive(&self, tests: &[ExprId]) -> bool {
        let mut ranges = Vec::new();
        let mut tested = None;
        for &test in tests {
            let ExprKind::Binary(op, left, right) = self.program.expr(test).kind else {
                return false;
            };
            let ExprKind::Int(bits) = self.program.expr(right).kind else {
                return false;
            };
            let (value, low, high) = match (op, self.program.expr(left).kind) {
                (BinaryOp::Eq, _) => (left, bits, bits),
                (BinaryOp::Le, ExprKind::Binary(BinaryOp::Sub, value, start)) => {
                    let ExprKind::Int(low) = self.program.expr(start).kind else {
                        return false;
                    };
                    (value, low, low.wrapping_add(bits))
                }
                // A range that starts at 0.
                (BinaryOp::Le, _) => (left, 0, bits),
                _ => return false,
            };
            let value = match self.program.expr(value).kind {
                ExprKind::Convert(inner) if op == BinaryOp::Le => inner,
                _ => value,
            };
            // A conversion to the unsigned type of the same width may stand under the range.
            let stripped = match self.program.expr(value).kind {
                ExprKind::Convert(inner) => inner,
                _ => value,
            };
            match tested {
                None => tested = Some(value),
                Some(known) if known == value || known == stripped => {}
                Some(known) => {
                    let known = match self.program.expr(known).kind {
                        ExprKind::Convert(inner) => inner,
                        _ => known,
                    };
                    if known != value && known != stripped {
                        return false;
                    }
                }
            }
            ranges.push((low, high));
        }
        ranges.sort_unstable();
        ranges
            .windows(2)
            .all(|pair| pair[0].1 < pair[1].0 || pair[0].1 < pair[0].0)
    }
}
