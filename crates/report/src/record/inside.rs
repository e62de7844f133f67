//! Which part of an object lies at a distance from its start.

use hardbop_cfront::ids::TypeId;
use hardbop_cfront::types::{RecordKind, Type, Types};

/// The part of an object at an offset, as C writes it: `.b[2]`; by the bytes where C has no name.
pub(super) fn inside(
    types: &Types,
    mut ty: TypeId,
    mut offset: u64,
    wanted: Option<TypeId>,
) -> String {
    let mut path = String::new();
    loop {
        // Without a wanted type, the largest part that begins here.
        if offset == 0 && wanted.is_none_or(|wanted| ty == wanted || types.is_scalar(ty)) {
            return path;
        }
        match types.get(ty) {
            Type::Array { element, length } if *length > 0 => {
                let stride = types.size_of(*element).max(1);
                path.push_str(&format!("[{}]", offset / stride));
                offset %= stride;
                ty = *element;
            }
            Type::Record(record) => {
                let record = types.record(*record);
                let field = record.fields.iter().find(|field| {
                    let start = field.offset();
                    field.bit_width.is_none()
                        && start <= offset
                        && offset < start + types.size_of(field.ty).max(1)
                });
                match field {
                    Some(field) if record.kind == RecordKind::Struct || offset > 0 => {
                        if let Some(name) = &field.name {
                            path.push('.');
                            path.push_str(name);
                        }
                        offset -= field.offset();
                        ty = field.ty;
                    }
                    _ if offset == 0 => return path,
                    _ => return format!("{path} + {offset} bytes"),
                }
            }
            _ if offset == 0 => return path,
            _ => return format!("{path} + {offset} bytes"),
        }
    }
}
