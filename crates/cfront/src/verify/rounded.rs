//! The types of operations on floats that are rounded as a mode says.

use super::Verifier;
use crate::ids::{ExprId, TypeId};
use crate::program::RoundedOp;

impl Verifier<'_> {
    /// All operands have the type of the result, except where that is what changes.
    pub(super) fn rounded_types(
        &self,
        op: RoundedOp,
        mode: ExprId,
        operands: [ExprId; 3],
        ty: TypeId,
    ) -> Result<(), String> {
        let mut operands = operands[..op.arity()].iter().map(|&a| self.ty(a));
        let fit = match op {
            RoundedOp::Convert => operands.all(|a| self.is_integer(a) || self.is_float(a)),
            _ => operands.all(|a| a == ty),
        };
        match self.is_float(ty) && self.is_int(self.ty(mode)) && fit {
            true => Ok(()),
            false => Err("a rounded operation of wrong types".to_owned()),
        }
    }
}
