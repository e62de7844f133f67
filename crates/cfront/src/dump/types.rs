//! Types and declarations as C writes them.

use crate::ids::TypeId;
use crate::types::{FloatKind, Type, Types, Variadic};
use std::fmt::Write;

/// The name of a type, in C.
pub fn type_name(types: &Types, id: TypeId) -> String {
    declare(types, id, "")
}

/// A declaration of a name with a type, in C.
pub fn declare(types: &Types, id: TypeId, name: &str) -> String {
    let mut declarator = name.to_owned();
    let mut at = id;
    loop {
        match types.get(at) {
            Type::Pointer(to) => {
                declarator.insert(0, '*');
                if matches!(types.get(*to), Type::Array { .. } | Type::Function { .. }) {
                    declarator = format!("({declarator})");
                }
                at = *to;
            }
            Type::Array { element, length } => {
                if *length == 0 {
                    declarator.push_str("[]");
                } else {
                    let _ = write!(declarator, "[{length}]");
                }
                at = *element;
            }
            Type::Function {
                result,
                parameters,
                variadic,
            } => {
                let mut names: Vec<String> =
                    parameters.iter().map(|&p| type_name(types, p)).collect();
                if *variadic == Variadic::Yes {
                    names.push("...".to_owned());
                }
                let _ = write!(declarator, "({})", names.join(", "));
                at = *result;
            }
            other => {
                let base = match other {
                    Type::Void => "void".to_owned(),
                    Type::Bool => "_Bool".to_owned(),
                    Type::Int { width, signed } => int_name(types, *width, *signed),
                    Type::Float(FloatKind::F16) => "_Float16".to_owned(),
                    Type::Float(FloatKind::F32) => "float".to_owned(),
                    Type::Float(FloatKind::F64) => "double".to_owned(),
                    Type::Float(FloatKind::X87) => "long double".to_owned(),
                    Type::Float(FloatKind::F128) => "__float128".to_owned(),
                    Type::Record(record) => types.record(*record).name.clone(),
                    _ => String::new(),
                };
                let space = if declarator.is_empty() { "" } else { " " };
                return format!("{base}{space}{declarator}");
            }
        }
    }
}

fn int_name(types: &Types, width: u32, signed: bool) -> String {
    let long = types.model().pointer_size() == 8;
    let name = match width {
        8 => return if signed { "char" } else { "unsigned char" }.to_owned(),
        16 => "short",
        32 => "int",
        64 if long => "long",
        64 => "long long",
        128 => "__int128",
        _ => {
            let sign = if signed { "" } else { "unsigned " };
            return format!("{sign}_BitInt({width})");
        }
    };
    if signed {
        name.to_owned()
    } else {
        format!("unsigned {name}")
    }
}
