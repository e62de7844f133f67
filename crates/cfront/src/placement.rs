//! How objects with names are aligned: as C asks and no more, both in runs and in logic.
//!
//! A `char` lies at an odd address and an `int` never at a multiple of 8, so that what happens to
//! hold of one compiler's layout is not taken for what holds of all.

use crate::ids::{TypeId, VarId};
use crate::program::Program;
use crate::types::{DataModel, FloatKind, Type, Types};

/// What is known of the addresses of objects of the heap: they are multiples of this.
pub const UNIT: u64 = 16;
/// More than the size of a page is not kept: where a program begins is not known better.
const MOST: u64 = 4096;

/// The alignment of a variable in bytes: that of its type, or what its declaration asks for.
pub fn alignment(program: &Program, id: VarId) -> u64 {
    let variable = program.variable(id);
    let own = of_variable(&program.types, variable.ty);
    own.max(variable.align).min(MOST)
}

/// The alignment that a variable of the type has.
fn of_variable(types: &Types, ty: TypeId) -> u64 {
    let own = of_type(types, ty);
    // So says the processor's supplement of the ABI, and compilers rely on it.
    let large = types.model() == DataModel::Lp64
        && matches!(types.get(ty), Type::Array { .. })
        && types.size_of(ty) >= UNIT;
    if large { own.max(UNIT) } else { own }
}

/// The alignment of a type.
fn of_type(types: &Types, mut ty: TypeId) -> u64 {
    while let Type::Array { element, .. } = types.get(ty) {
        ty = *element;
    }
    let size = types.size_of(ty);
    match (types.get(ty), types.model()) {
        (Type::Record(record), _) => types.record(*record).align.max(1),
        (Type::Float(FloatKind::F128), _) => size,
        (_, DataModel::Ilp32) => size.min(4),
        (_, DataModel::Lp64) => size.min(UNIT),
    }
}

/// The first address at or after another at which an object of that alignment is placed: `align`
/// behind a multiple of the period.
pub fn placed(address: u64, align: u64) -> u64 {
    address
        .saturating_sub(align)
        .checked_next_multiple_of(period(align))
        .map_or(u64::MAX, |start| start.saturating_add(align))
}

/// What has to be known of where a place begins at which objects of that alignment are placed: it
/// is a multiple of this.
pub fn period(align: u64) -> u64 {
    (2 * align).max(UNIT)
}

#[cfg(test)]
mod tests {
    use super::placed;

    #[test]
    fn objects_are_no_more_aligned_than_asked_for() {
        let places = |align| [0, 1, 5, 16, 17, 64].map(|address| placed(address, align));
        assert_eq!(places(1), [1, 1, 17, 17, 17, 65]);
        assert_eq!(places(4), [4, 4, 20, 20, 20, 68]);
        assert_eq!(places(16), [16, 16, 16, 16, 48, 80]);
        assert_eq!(places(32), [32, 32, 32, 32, 32, 96]);
    }
}
