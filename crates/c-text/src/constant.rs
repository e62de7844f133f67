//! The values of constant expressions.

use crate::ast::{Ast, NodeId, NodeKind, UnaryWord};
use hardbop_cfront::program::BinaryOp;

/// The value, if the expression is made of numbers and of names that have one.
pub fn constant(ast: &Ast, root: NodeId, named: impl Fn(&str) -> Option<i128>) -> Option<i128> {
    let first = *ast.stretch(root).start() as usize;
    let mut values: Vec<Option<i128>> = Vec::new();
    for id in ast.within(root) {
        let value = value(&ast.node(id).kind, &named, |operand| {
            values[operand.index() - first]
        });
        values.push(value);
    }
    *values.last()?
}

fn value(
    kind: &NodeKind,
    named: &impl Fn(&str) -> Option<i128>,
    of: impl Fn(NodeId) -> Option<i128>,
) -> Option<i128> {
    Some(match kind {
        NodeKind::Number(number) => number.signed(),
        NodeKind::Name(name) => named(name)?,
        NodeKind::Unary(op, operand) => {
            let value = of(*operand)?;
            match op {
                UnaryWord::Minus => value.checked_neg()?,
                UnaryWord::Plus => value,
                UnaryWord::BitNot => !value,
                UnaryWord::Not => i128::from(value == 0),
                UnaryWord::Deref | UnaryWord::AddressOf => return None,
            }
        }
        NodeKind::Binary(op, left, right) => {
            let (left, right) = (of(*left)?, of(*right)?);
            let shift = u32::try_from(right).ok().filter(|&shift| shift < 64);
            match op {
                BinaryOp::Add => left.checked_add(right)?,
                BinaryOp::Sub => left.checked_sub(right)?,
                BinaryOp::Mul => left.checked_mul(right)?,
                BinaryOp::Div => left.checked_div(right)?,
                BinaryOp::Rem => left.checked_rem(right)?,
                BinaryOp::Shl => left.checked_mul(1i128 << shift?)?,
                BinaryOp::Shr => left >> shift?,
                BinaryOp::BitAnd => left & right,
                BinaryOp::BitOr => left | right,
                BinaryOp::BitXor => left ^ right,
                _ => return None,
            }
        }
        _ => return None,
    })
}
