//! The cache of results: direct-mapped, and it grows with the number of nodes.

use super::table::Marks;

/// An operation applied to two nodes, and its result.
#[derive(Clone, Copy, Debug)]
struct Entry {
    operation: u32,
    a: u32,
    b: u32,
    result: u32,
}

const EMPTY: Entry = Entry {
    operation: u32::MAX,
    a: 0,
    b: 0,
    result: 0,
};
const FIRST_BITS: u32 = 13;
/// 2^24 entries are 256 MiB; beyond that a larger cache costs more misses in memory than it
/// saves recomputations.
const MOST_BITS: u32 = 24;

/// Remembers results; forgets any of them at any time.
#[derive(Debug)]
pub(super) struct Cache {
    entries: Vec<Entry>,
    bits: u32,
    most_bits: u32,
}

impl Cache {
    pub(super) fn new() -> Cache {
        Cache {
            entries: vec![EMPTY; 1 << FIRST_BITS],
            bits: FIRST_BITS,
            most_bits: MOST_BITS,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }

    #[inline]
    fn place(&self, operation: u32, a: u32, b: u32) -> usize {
        let key = (u64::from(a) << 32 | u64::from(b)) ^ u64::from(operation).rotate_right(13);
        let mixed = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((mixed ^ mixed >> 31).wrapping_mul(0x94D0_49BB_1331_11EB) >> (64 - self.bits)) as usize
    }

    #[inline]
    pub(super) fn get(&self, operation: u32, a: u32, b: u32) -> Option<u32> {
        let entry = &self.entries[self.place(operation, a, b)];
        (entry.a == a && entry.b == b && entry.operation == operation).then_some(entry.result)
    }

    #[inline]
    pub(super) fn put(&mut self, operation: u32, a: u32, b: u32, result: u32) {
        let place = self.place(operation, a, b);
        self.entries[place] = Entry {
            operation,
            a,
            b,
            result,
        };
    }

    pub(super) fn can_grow(&self) -> bool {
        self.bits < self.most_bits
    }

    /// The bytes that growing takes; those of the old entries are freed only afterwards.
    pub(super) fn growth(&self) -> u64 {
        2 * self.bytes() as u64
    }

    /// Stays as large as it is.
    pub(super) fn stop_growing(&mut self) {
        self.most_bits = self.bits;
    }

    #[cold]
    pub(super) fn grow(&mut self) {
        self.bits += 1;
        let old = std::mem::replace(&mut self.entries, vec![EMPTY; 1 << self.bits]);
        for entry in old {
            if entry.operation != EMPTY.operation {
                let place = self.place(entry.operation, entry.a, entry.b);
                self.entries[place] = entry;
            }
        }
    }

    /// Forgets the results that speak of dead nodes.
    pub(super) fn keep_live(&mut self, marks: &Marks) {
        for entry in &mut self.entries {
            let live = |node| marks.has(node);
            if entry.operation != EMPTY.operation
                && !(live(entry.a) && live(entry.b) && live(entry.result))
            {
                *entry = EMPTY;
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.entries.fill(EMPTY);
    }
}
