//! The address space of a run: where functions, the heap, the outside and the stack lie.

use crate::ids::FuncId;
use crate::types::DataModel;
use std::ops::Range;

/// The address of the first function; each takes [`FUNCTION_SIZE`] bytes.
pub(super) const FUNCTIONS: u64 = 0x1_0000;
/// The distance between two functions.
pub(super) const FUNCTION_SIZE: u64 = 16;
/// The unused bytes behind every object, which keep the end of one apart from the next one.
const GAP: u64 = 16;

/// Where the stack begins; it grows towards smaller addresses.
pub(super) fn stack_top(model: DataModel) -> u64 {
    match model {
        DataModel::Ilp32 => 0xf000_0000,
        DataModel::Lp64 => 0x7fff_0000_0000,
    }
}

/// Where the stack must not grow to.
pub(super) fn stack_bottom(model: DataModel) -> u64 {
    match model {
        DataModel::Ilp32 => 0xa000_0000,
        DataModel::Lp64 => 0x7000_0000_0000,
    }
}

/// The first address after an object and its gap.
pub(super) fn after(base: u64, size: u64) -> u64 {
    base.saturating_add(size).saturating_add(GAP)
}

/// The address of a function.
pub fn function_address(function: FuncId) -> u64 {
    FUNCTIONS + FUNCTION_SIZE * u64::from(function.0)
}

/// The room that an object of the outside has.
pub const OUTSIDE_OBJECT: u64 = 1 << 14;

/// The addresses of the outside. Each multiple of [`OUTSIDE_OBJECT`] in it is the address of an
/// object of its own.
pub fn outside(model: DataModel) -> Range<u64> {
    // Where nothing of a real process lies either, so that a harness can put objects there.
    match model {
        DataModel::Ilp32 => 0x9000_0000..0xa000_0000,
        DataModel::Lp64 => 0x6000_0000_0000..0x6000_4000_0000,
    }
}
