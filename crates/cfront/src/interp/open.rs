//! What a run leaves open: whether it depends on anything but its inputs.
//!
//! Where somebody watches, an object knows which of its bits were never written. Reading one of
//! them, the bytes of a pointer as a number, or comparing a pointer that dangles or points behind
//! its object with another one, makes the run depend on what the program does not say. That is only
//! noted: the run goes on.

use super::addresses::{FUNCTIONS, stack_bottom};
use super::machine::Machine;
use super::memory::{Access, Memory};
use super::scalar::Reg;

/// Whether somebody watches what a run leaves open, and whether it left anything open so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    /// Nobody wants to know.
    Nobody,
    /// All that was done so far follows from the inputs.
    Determined,
    /// Something does not.
    Open,
}

impl Memory {
    /// Something does not follow from the inputs.
    #[cold]
    pub(super) fn leave_open(&mut self) {
        if self.watch != Watch::Nobody {
            self.watch = Watch::Open;
        }
    }

    /// Before a scalar is read.
    #[inline(always)]
    pub(super) fn note_read(&mut self, slot: u32, offset: usize, access: Access) {
        if self.watch != Watch::Nobody {
            let pointer = matches!(access, Access::P32 | Access::P64);
            self.look(slot, offset, access.size(), pointer);
        }
    }

    /// Before some bytes are read as numbers.
    pub(super) fn note_bytes(&mut self, slot: u32, offset: usize, size: usize) {
        if self.watch != Watch::Nobody {
            self.look(slot, offset, size, false);
        }
    }

    fn look(&mut self, slot: u32, offset: usize, size: usize, pointer: bool) {
        let object = &self.objects[slot as usize];
        let end = offset + size;
        let unwritten = object.unwritten.get(offset..end);
        let unwritten = unwritten.is_some_and(|bytes| bytes.iter().any(|&bits| bits != 0));
        let words = offset / self.word..end.div_ceil(self.word).min(object.pointers.len());
        let whole = pointer && offset.is_multiple_of(self.word);
        let numbers = object.pointers.get(words).unwrap_or_default();
        // A pointer that no object gave, and that is not a function's, is a number.
        let wild = pointer && numbers.iter().all(|&high| high == 0) && {
            let access = if size == 4 { Access::U32 } else { Access::W64 };
            let address = self.load(slot, offset, access).low;
            let first = self.objects.get(1).map_or(u64::MAX, |object| object.base);
            address != 0 && !(FUNCTIONS..first).contains(&address)
        };
        if wild || unwritten || !whole && numbers.iter().any(|&high| high != 0) {
            self.leave_open();
        }
    }

    /// Some bytes were written.
    #[inline(always)]
    pub(super) fn written(&mut self, slot: u32, offset: usize, size: usize) {
        let unwritten = &mut self.objects[slot as usize].unwritten;
        if !unwritten.is_empty() {
            unwritten[offset..offset + size].fill(0);
        }
    }

    /// Some bytes hold anything again.
    pub(super) fn unwrite(&mut self, slot: u32, offset: usize, size: usize) {
        if self.watch == Watch::Nobody {
            return;
        }
        let object = &mut self.objects[slot as usize];
        if object.unwritten.is_empty() {
            object.unwritten = vec![0; object.data.len()];
        }
        object.unwritten[offset..offset + size].fill(u8::MAX);
    }

    /// The bits that were never written, of at most 16 bytes.
    pub(super) fn open_bits(&self, slot: u32, offset: usize, size: usize) -> u128 {
        let unwritten = &self.objects[slot as usize].unwritten;
        let bytes = unwritten.get(offset..offset + size).unwrap_or_default();
        let sum = |word: u128, &byte: &u8| word << 8 | u128::from(byte);
        bytes.iter().rev().fold(0, sum)
    }

    /// Says which bits of at most 16 bytes were never written.
    pub(super) fn set_open_bits(&mut self, slot: u32, offset: usize, size: usize, bits: u128) {
        let object = &mut self.objects[slot as usize];
        if self.watch == Watch::Nobody || object.unwritten.is_empty() && bits == 0 {
            return;
        }
        if object.unwritten.is_empty() {
            object.unwritten = vec![0; object.data.len()];
        }
        let bytes = bits.to_le_bytes();
        object.unwritten[offset..offset + size].copy_from_slice(&bytes[..size]);
    }

    /// Before bytes are copied: a part of a pointer, and one that is moved by a part of a word, are
    /// numbers from then on.
    pub(super) fn note_copy(&mut self, to: (u32, usize), from: (u32, usize), size: usize) {
        if self.watch == Watch::Nobody {
            return;
        }
        let aligned = to.1 % self.word == from.1 % self.word;
        let any = |_: bool| true;
        if self.has_pointer(from, size, |cut| cut) || !aligned && self.has_pointer(from, size, any)
        {
            self.leave_open();
        }
    }

    /// Before bytes are overwritten: what is left of a pointer is a number.
    pub(super) fn note_overwrite(&mut self, slot: u32, offset: usize, size: usize) {
        if self.watch != Watch::Nobody && self.has_pointer((slot, offset), size, |cut| cut) {
            self.leave_open();
        }
    }

    /// Whether a pointer lies in some bytes, in whole or cut by their ends as is wanted.
    fn has_pointer(&self, from: (u32, usize), size: usize, wanted: fn(bool) -> bool) -> bool {
        let word = self.word;
        let end = from.1 + size;
        let pointers = &self.objects[from.0 as usize].pointers;
        let mut words = from.1 / word..end.div_ceil(word).min(pointers.len());
        words.any(|i| pointers[i] != 0 && wanted(i * word < from.1 || (i + 1) * word > end))
    }

    /// What was not written is copied along.
    pub(super) fn copy_unwritten(&mut self, to: (u32, usize), from: (u32, usize), size: usize) {
        if self.watch == Watch::Nobody {
            return;
        }
        let source = self.objects[from.0 as usize]
            .unwritten
            .get(from.1..from.1 + size);
        let source = source.map_or_else(|| vec![0; size], <[u8]>::to_vec);
        let target = &mut self.objects[to.0 as usize];
        if target.unwritten.is_empty() {
            if source.iter().all(|&bits| bits == 0) {
                return;
            }
            target.unwritten = vec![0; target.data.len()];
        }
        target.unwritten[to.1..to.1 + size].copy_from_slice(&source);
    }
}

impl Machine<'_> {
    /// Before two values are compared, of which both may be pointers.
    #[inline(always)]
    pub(super) fn note_comparison(&mut self, left: Reg, right: Reg) {
        if left.high != right.high {
            self.compare_pointers(left, right);
        }
    }

    fn compare_pointers(&mut self, left: Reg, right: Reg) {
        if left.low == 0 || right.low == 0 {
            return;
        }
        // Where the next local lies is the machine's choice, and the logic makes another one.
        let bottom = stack_bottom(self.interpreter.program.types.model());
        let gone = |pointer: Reg| {
            let local = pointer.high != 0 && pointer.low >= bottom;
            local && self.memory.object(pointer).is_none()
        };
        if gone(left) || gone(right) {
            self.memory.compared_gone = true;
        }
        let inside = |pointer: Reg| match self.memory.object(pointer) {
            Some((object, offset)) => offset < self.memory.describe(object).0,
            // A function, or a number: whether an object lies there is not for the program to say.
            None => false,
        };
        if !inside(left) || !inside(right) {
            self.memory.leave_open();
        }
    }
}
