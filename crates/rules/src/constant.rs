//! The values of constant expressions, for initial values and enums.

use crate::ast::{BinaryWord, Constant, Expr, ExprWord, UnaryWord};

/// The value, if the expression is made of numbers and of the constants known so far.
pub(crate) fn constant(expr: &Expr, constants: &[Constant]) -> Option<i128> {
    let of = |expr: &Expr| constant(expr, constants);
    Some(match &expr.kind {
        ExprWord::Number { value, .. } => i128::try_from(*value).ok()?,
        ExprWord::Name(name) => {
            let known = constants.iter().find(|known| known.name.text == *name)?;
            known.value
        }
        ExprWord::Unary(op, operand) => {
            let value = of(operand)?;
            match op {
                UnaryWord::Minus => value.checked_neg()?,
                UnaryWord::Plus => value,
                UnaryWord::BitNot => !value,
                UnaryWord::Not => i128::from(value == 0),
                UnaryWord::Deref | UnaryWord::AddressOf => return None,
            }
        }
        ExprWord::Binary(op, left, right) => {
            let (left, right) = (of(left)?, of(right)?);
            let shift = u32::try_from(right).ok().filter(|&shift| shift < 64);
            match op {
                BinaryWord::Add => left.checked_add(right)?,
                BinaryWord::Sub => left.checked_sub(right)?,
                BinaryWord::Mul => left.checked_mul(right)?,
                BinaryWord::Div => left.checked_div(right)?,
                BinaryWord::Rem => left.checked_rem(right)?,
                BinaryWord::Shl => left.checked_mul(1i128 << shift?)?,
                BinaryWord::Shr => left >> shift?,
                BinaryWord::BitAnd => left & right,
                BinaryWord::BitOr => left | right,
                BinaryWord::BitXor => left ^ right,
                _ => return None,
            }
        }
        _ => return None,
    })
}
