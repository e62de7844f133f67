//! Numbers as C writes them.

use super::{View, type_name};
use crate::ids::TypeId;
use crate::types::Type;

impl View<'_> {
    pub(super) fn number(&self, bits: u128, ty: TypeId) -> String {
        match *self.types.get(ty) {
            Type::Int { width, signed } => {
                let suffix = match (width, signed) {
                    (64, true) => "L",
                    (64, false) => "UL",
                    (128, true) => "LL",
                    (128, false) => "ULL",
                    (_, false) => "U",
                    _ => "",
                };
                if signed {
                    format!("{}{suffix}", crate::fold::sign_extend(bits, width))
                } else {
                    format!("{bits}{suffix}")
                }
            }
            Type::Pointer(_) if bits == 0 => "NULL".to_owned(),
            Type::Pointer(_) => format!("({}){bits:#x}", type_name(self.types, ty)),
            _ => bits.to_string(),
        }
    }
}
