//! The circuits of the logic's operators.

use crate::graph::{Bit, Graph};
use crate::words::{Word, inverted, sign};
use hardbop_logic::Op;

/// What an operator gives for some words; `None` if it is none of bits. The result has `width`
/// bits.
pub(crate) fn operator(graph: &mut Graph, op: &Op, args: &[&[Bit]], width: usize) -> Option<Word> {
    let bits = |args: &[&[Bit]]| args.iter().map(|arg| arg[0]).collect::<Word>();
    let zipped = |graph: &mut Graph, join: fn(&mut Graph, Bit, Bit) -> Bit| -> Word {
        let pairs = args[0].iter().zip(args[1]);
        pairs.map(|(&a, &b)| join(graph, a, b)).collect()
    };
    let word = match op {
        Op::Bool(value) => vec![Bit::constant(*value)],
        Op::BitVec(value) => (0..width)
            .map(|at| Bit::constant(value.bit(at as u64)))
            .collect(),
        Op::Not => vec![!args[0][0]],
        Op::And => vec![graph.all(&bits(args))],
        Op::Or => vec![graph.any(&bits(args))],
        Op::Xor => vec![graph.xor(args[0][0], args[1][0])],
        Op::Implies => vec![graph.or(!args[0][0], args[1][0])],
        Op::Ite => graph.choose(args[0][0], args[1], args[2]),
        Op::Eq => vec![graph.same(args[0], args[1])],
        Op::Distinct => {
            let mut different = Vec::new();
            for (at, left) in args.iter().enumerate() {
                for right in &args[at + 1..] {
                    different.push(!graph.same(left, right));
                }
            }
            vec![graph.all(&different)]
        }
        Op::BvNot => inverted(args[0]),
        Op::BvNeg => graph.neg(args[0]),
        Op::BvAnd => zipped(graph, Graph::and),
        Op::BvOr => zipped(graph, Graph::or),
        Op::BvXor => zipped(graph, Graph::xor),
        Op::BvAdd => graph.add(args[0], args[1]),
        Op::BvSub => graph.sub(args[0], args[1]),
        Op::BvMul => graph.mul(args[0], args[1]),
        Op::BvUdiv => graph.divide(args[0], args[1]).0,
        Op::BvUrem => graph.divide(args[0], args[1]).1,
        Op::BvSdiv => graph.signed_quotient(args[0], args[1]),
        Op::BvSrem => graph.signed_remainder(args[0], args[1]),
        Op::BvSmod => graph.signed_modulus(args[0], args[1]),
        Op::BvShl => graph.shift_left(args[0], args[1]),
        Op::BvLshr => graph.shift_right(args[0], args[1], Bit::FALSE),
        Op::BvAshr => graph.shift_right(args[0], args[1], sign(args[0])),
        Op::BvUlt => vec![graph.less(args[0], args[1])],
        Op::BvUle => vec![!graph.less(args[1], args[0])],
        Op::BvSlt => vec![graph.signed_less(args[0], args[1])],
        Op::BvSle => vec![!graph.signed_less(args[1], args[0])],
        Op::Concat => args[1].iter().chain(args[0]).copied().collect(),
        Op::Extract { high, low } => args[0][*low as usize..=*high as usize].to_vec(),
        Op::ZeroExtend(_) => extended(args[0], width, Bit::FALSE),
        Op::SignExtend(_) => extended(args[0], width, sign(args[0])),
        Op::Constant(_)
        | Op::Apply(_)
        | Op::Int(_)
        | Op::IntAdd
        | Op::IntMul
        | Op::IntDiv
        | Op::IntMod
        | Op::IntLe
        | Op::IntLt
        | Op::BvToInt
        | Op::IntToBv(_)
        | Op::Select
        | Op::Store
        | Op::ConstArray(_)
        | Op::Forall(_)
        | Op::Exists(_)
        | Op::Float(_) => return None,
    };
    Some(word)
}

fn extended(word: &[Bit], width: usize, by: Bit) -> Word {
    let mut word = word.to_vec();
    word.resize(width, by);
    word
}
