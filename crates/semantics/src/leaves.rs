//! The scalars that an object is made of, and what lies between them.

use crate::Semantics;
use hardbop_cfront::ids::TypeId;
use hardbop_cfront::types::{Type, Types};

/// Objects of up to this many scalars are copied and filled one by one.
pub(crate) const MAX_PARTS: usize = 1024;

/// A scalar part of a type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// Its distance from the start in bytes.
    pub offset: u64,
    /// Its type.
    pub ty: TypeId,
    /// For a bit-field, its first bit in its first byte and its width.
    pub bits: Option<(u32, u32)>,
}

/// Every scalar part of a type, all elements of arrays too; `None` if there are too many.
pub(crate) fn all_leaves(semantics: &Semantics<'_>, ty: TypeId) -> Option<Vec<Leaf>> {
    let types = &semantics.program.types;
    let mut out = Vec::new();
    let mut pending = vec![(0, ty)];
    while let Some((offset, ty)) = pending.pop() {
        match types.get(ty) {
            Type::Array { element, length } => {
                let size = types.size_of(*element);
                if *length as usize + pending.len() > MAX_PARTS {
                    return None;
                }
                pending.extend((0..*length).rev().map(|i| (offset + i * size, *element)));
            }
            Type::Record(record) => {
                for field in types.record(*record).fields.iter().rev() {
                    let at = offset + field.offset();
                    match field.bit_width {
                        Some(width) => out.push(Leaf {
                            offset: at,
                            ty: field.ty,
                            bits: Some(((field.offset_bits % 8) as u32, width)),
                        }),
                        None => pending.push((at, field.ty)),
                    }
                }
            }
            // A `_Bool` in an object is a byte, and is copied as one, whatever it holds.
            Type::Bool => out.push(Leaf {
                offset,
                ty: semantics.plain_types.get(&1).copied().unwrap_or(ty),
                bits: None,
            }),
            _ if types.is_scalar(ty) => out.push(Leaf {
                offset,
                ty,
                bits: None,
            }),
            _ => {}
        }
        if out.len() > MAX_PARTS {
            return None;
        }
    }
    out.sort_by_key(|leaf| (leaf.offset, leaf.bits, leaf.ty));
    Some(out)
}

/// The bytes of a type of which some bits belong to none of its scalars, as distances from its
/// start.
pub(crate) fn padding(types: &Types, ty: TypeId) -> Vec<u64> {
    let size = types.size_of(ty);
    if size > 8 * MAX_PARTS as u64 {
        return Vec::new();
    }
    // One mask of bits a byte.
    let mut used = vec![0u8; size as usize];
    let mut pending = vec![(0, ty)];
    while let Some((offset, ty)) = pending.pop() {
        match types.get(ty) {
            Type::Array { element, length } => {
                let step = types.size_of(*element);
                pending.extend((0..*length).map(|i| (offset + i * step, *element)));
            }
            Type::Record(record) => {
                for field in &types.record(*record).fields {
                    let Some(width) = field.bit_width else {
                        pending.push((offset + field.offset(), field.ty));
                        continue;
                    };
                    let first = offset * 8 + field.offset_bits;
                    for bit in first..first + u64::from(width) {
                        if let Some(mask) = used.get_mut((bit / 8) as usize) {
                            *mask |= 1 << (bit % 8);
                        }
                    }
                }
            }
            _ => {
                let end = (offset + types.size_of(ty)).min(size);
                used[offset.min(end) as usize..end as usize].fill(u8::MAX);
            }
        }
    }
    (0..size)
        .filter(|&byte| used[byte as usize] != u8::MAX)
        .collect()
}
