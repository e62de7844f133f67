//! C's typing of expressions: promotions and the usual arithmetic conversions.

use hardbop_cfront::ids::TypeId;
use hardbop_cfront::types::{FloatKind, Type, Types};

/// The type after integer promotion.
pub(crate) fn promoted(ty: &Type) -> Type {
    match *ty {
        Type::Bool => Type::Int {
            width: 32,
            signed: true,
        },
        Type::Int { width, .. } if width < 32 => Type::Int {
            width: 32,
            signed: true,
        },
        _ => ty.clone(),
    }
}

fn rank(kind: FloatKind) -> u32 {
    match kind {
        FloatKind::F16 => 0,
        FloatKind::F32 => 1,
        FloatKind::F64 => 2,
        FloatKind::X87 => 3,
        FloatKind::F128 => 4,
    }
}

/// The type in which two arithmetic operands meet; `None` if one is not arithmetic.
pub(crate) fn usual(types: &Types, left: TypeId, right: TypeId) -> Option<Type> {
    let (left, right) = (promoted(types.get(left)), promoted(types.get(right)));
    match (&left, &right) {
        (Type::Float(a), Type::Float(b)) => {
            Some(Type::Float(if rank(*a) >= rank(*b) { *a } else { *b }))
        }
        (Type::Float(_), Type::Int { .. }) => Some(left),
        (Type::Int { .. }, Type::Float(_)) => Some(right),
        (
            Type::Int {
                width: a,
                signed: s,
            },
            Type::Int {
                width: b,
                signed: t,
            },
        ) => Some(match a.cmp(b) {
            std::cmp::Ordering::Greater => left,
            std::cmp::Ordering::Less => right,
            std::cmp::Ordering::Equal => Type::Int {
                width: *a,
                signed: *s && *t,
            },
        }),
        _ => None,
    }
}
