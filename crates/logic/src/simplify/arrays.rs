//! Arrays: reads over writes.

use crate::sort::Sort;
use crate::term::{Op, TermId, Terms};

/// How two indices relate, as far as it can be seen without a solver.
enum Indices {
    Same,
    Different,
    Unknown,
}

impl Terms {
    fn compare_indices(&mut self, a: TermId, b: TermId) -> Indices {
        let same = self.eq(a, b);
        match self.op(same) {
            Op::Bool(true) => Indices::Same,
            Op::Bool(false) => Indices::Different,
            _ => Indices::Unknown,
        }
    }

    /// The array of that sort which holds `value` everywhere.
    ///
    /// # Panics
    /// When `sort` is not an array sort with elements of the sort of `value`.
    pub fn const_array(&mut self, sort: Sort, value: TermId) -> TermId {
        match sort {
            Sort::Array(array) => self.plain(Op::ConstArray(array), &[value]),
            other => panic!("{other:?} is not an array sort"),
        }
    }

    /// The element at an index. Writes to indices that surely differ are skipped.
    pub fn select(&mut self, array: TermId, index: TermId) -> TermId {
        let mut at = array;
        loop {
            match self.op(at) {
                Op::Store => {
                    let [below, written, value] = [0, 1, 2].map(|arg| self.args(at)[arg]);
                    match self.compare_indices(written, index) {
                        Indices::Same => return value,
                        Indices::Different => at = below,
                        Indices::Unknown => break,
                    }
                }
                Op::ConstArray(_) => return self.args(at)[0],
                _ => break,
            }
        }
        self.plain(Op::Select, &[at, index])
    }

    /// The array with the element at an index replaced.
    pub fn store(&mut self, array: TermId, index: TermId, value: TermId) -> TermId {
        let mut below = array;
        if *self.op(array) == Op::Store && self.args(array)[1] == index {
            below = self.args(array)[0];
        }
        // Writing back what is there changes nothing.
        if *self.op(value) == Op::Select && self.args(value) == [below, index] {
            return below;
        }
        if matches!(self.op(below), Op::ConstArray(_)) && self.args(below)[0] == value {
            return below;
        }
        self.plain(Op::Store, &[below, index, value])
    }
}
