//! Sorts: what kind of value a term has.

/// The sort of a term. Array sorts are interned in the [`Terms`](crate::Terms) that made them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sort {
    /// Truth values.
    Bool,
    /// Mathematical integers.
    Int,
    /// Bit-vectors of a width of at least one bit.
    BitVec(u32),
    /// Total maps; [`Terms::array_parts`](crate::Terms::array_parts) tells from what to what.
    Array(ArraySort),
}

/// An interned pair of index and element sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArraySort(pub(crate) u32);

impl Sort {
    /// The width of a bit-vector sort.
    ///
    /// # Panics
    /// When the sort is not a bit-vector.
    pub fn width(self) -> u32 {
        match self {
            Sort::BitVec(width) => width,
            other => panic!("{other:?} is not a bit-vector sort"),
        }
    }
}
