//! Runs a circuit on machine words, for operands by the million.

use crate::float::Template;
use crate::sort::Sort;
use crate::term::{Op, TermId, Terms};
use num_traits::ToPrimitive;

/// A circuit ready to run: terms in the order in which they are computed. Wider results than 128
/// bits do not occur below the precision of 64.
pub(super) struct Words {
    terms: Terms,
    inputs: Vec<TermId>,
    output: TermId,
    order: Vec<TermId>,
    values: Vec<u128>,
}

fn mask(width: u32) -> u128 {
    if width >= 128 {
        u128::MAX
    } else {
        (1 << width) - 1
    }
}

fn signed(value: u128, width: u32) -> i128 {
    (value << (128 - width)) as i128 >> (128 - width)
}

impl Words {
    pub(super) fn new(template: &Template) -> Words {
        let terms = template.terms.clone();
        let order = terms.postorder(&[template.output]);
        Words {
            values: vec![0; terms.len()],
            inputs: template.inputs.clone(),
            output: template.output,
            order,
            terms,
        }
    }

    /// The result for arguments; those that are missing are zero.
    pub(super) fn run(&mut self, args: &[u128]) -> u128 {
        for (at, input) in self.inputs.iter().enumerate() {
            self.values[input.index()] = args.get(at).copied().unwrap_or(0);
        }
        for &term in &self.order {
            if !matches!(self.terms.op(term), Op::Constant(_)) {
                self.values[term.index()] = self.node(term);
            }
        }
        self.values[self.output.index()]
    }

    fn node(&self, term: TermId) -> u128 {
        let args = self.terms.args(term);
        let v = |at: usize| self.values[args[at].index()];
        let width_of = |at: usize| self.terms.width(args[at]);
        let width = match self.terms.sort(term) {
            Sort::BitVec(width) => width,
            _ => 1,
        };
        assert!(width <= 128, "too wide for words");
        let all = || (0..args.len()).map(v);
        let truth = u128::from;
        let result = match self.terms.op(term) {
            Op::Bool(value) => truth(*value),
            Op::BitVec(bits) => bits.to_u128().unwrap(),
            Op::Not => 1 - v(0),
            Op::And => truth(all().all(|value| value == 1)),
            Op::Or => truth(all().any(|value| value == 1)),
            Op::Xor => v(0) ^ v(1),
            Op::Implies => truth(v(0) == 0 || v(1) == 1),
            Op::Ite => v(if v(0) == 1 { 1 } else { 2 }),
            Op::Eq => truth(v(0) == v(1)),
            Op::BvNot => !v(0),
            Op::BvNeg => v(0).wrapping_neg(),
            Op::BvAnd => v(0) & v(1),
            Op::BvOr => v(0) | v(1),
            Op::BvXor => v(0) ^ v(1),
            Op::BvAdd => v(0).wrapping_add(v(1)),
            Op::BvSub => v(0).wrapping_sub(v(1)),
            Op::BvMul => v(0).wrapping_mul(v(1)),
            Op::BvShl => match v(1) < u128::from(width) {
                true => v(0) << v(1),
                false => 0,
            },
            Op::BvLshr => match v(1) < u128::from(width) {
                true => v(0) >> v(1),
                false => 0,
            },
            Op::BvAshr => {
                let by = v(1).min(u128::from(width - 1));
                (signed(v(0), width) >> by) as u128
            }
            Op::BvUlt => truth(v(0) < v(1)),
            Op::BvUle => truth(v(0) <= v(1)),
            Op::BvSlt => truth(signed(v(0), width_of(0)) < signed(v(1), width_of(1))),
            Op::BvSle => truth(signed(v(0), width_of(0)) <= signed(v(1), width_of(1))),
            Op::Concat => v(0) << width_of(1) | v(1),
            Op::Extract { low, .. } => v(0) >> low,
            Op::ZeroExtend(_) => v(0),
            Op::SignExtend(_) => signed(v(0), width_of(0)) as u128,
            op => panic!("{op:?} is in no circuit"),
        };
        result & mask(width)
    }
}
