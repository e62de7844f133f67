//! Sets of slots, one row of bits for each vertex or procedure.

use crate::space::Slot;

/// Rows of bits, all of the same length.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    words: usize,
    bits: Vec<u64>,
}

impl Rows {
    pub(crate) fn new(rows: usize, slots: u32) -> Rows {
        let words = (slots as usize).div_ceil(64).max(1);
        Rows {
            words,
            bits: vec![0; rows * words],
        }
    }

    pub(crate) fn row(&self, row: usize) -> &[u64] {
        &self.bits[row * self.words..(row + 1) * self.words]
    }

    pub(crate) fn row_mut(&mut self, row: usize) -> &mut [u64] {
        &mut self.bits[row * self.words..(row + 1) * self.words]
    }

    /// A row that is one word.
    #[inline]
    pub(crate) fn word(&self, row: usize) -> u64 {
        debug_assert_eq!(self.words, 1);
        self.bits[row]
    }

    #[inline]
    pub(crate) fn word_mut(&mut self, row: usize) -> &mut u64 {
        debug_assert_eq!(self.words, 1);
        &mut self.bits[row]
    }

    pub(crate) fn insert(&mut self, row: usize, slot: Slot) {
        insert(self.row_mut(row), slot);
    }

    pub(crate) fn words(&self) -> usize {
        self.words
    }
}

pub(crate) fn has(row: &[u64], slot: Slot) -> bool {
    row[slot.index() / 64] >> (slot.0 % 64) & 1 != 0
}

pub(crate) fn insert(row: &mut [u64], slot: Slot) {
    row[slot.index() / 64] |= 1 << (slot.0 % 64);
}

pub(crate) fn remove(row: &mut [u64], slot: Slot) {
    row[slot.index() / 64] &= !(1 << (slot.0 % 64));
}

/// Adds the other row's slots; says whether that changed anything.
pub(crate) fn unite(row: &mut [u64], other: &[u64]) -> bool {
    let mut changed = false;
    for (word, other) in row.iter_mut().zip(other) {
        changed |= *other & !*word != 0;
        *word |= other;
    }
    changed
}

/// Takes the other row's slots out.
pub(crate) fn subtract(row: &mut [u64], other: &[u64]) {
    for (word, other) in row.iter_mut().zip(other) {
        *word &= !other;
    }
}

/// Takes all but the other row's slots out.
pub(crate) fn intersect(row: &mut [u64], other: &[u64]) {
    for (word, other) in row.iter_mut().zip(other) {
        *word &= other;
    }
}

/// The slots of a row, in order.
pub(crate) fn slots(row: &[u64]) -> impl Iterator<Item = Slot> + '_ {
    row.iter().enumerate().flat_map(|(index, &word)| {
        std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)))
            .take_while(|&word| word != 0)
            .map(move |word| Slot(index as u32 * 64 + word.trailing_zeros()))
    })
}
