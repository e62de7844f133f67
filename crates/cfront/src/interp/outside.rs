//! Objects that the program did not make: what pointers from outside lead to.
//!
//! A range of addresses belongs to nobody's variable, heap or stack. A pointer into it, which only
//! the environment can hand in, leads to an object of the outside: one a page, that comes to be when
//! it is touched and holds what the environment says, asked for when it is read.

use super::TrapKind;
use super::addresses::{OUTSIDE_OBJECT, outside};
use super::environment::Wanted;
use super::machine::Machine;
use super::memory::{Access, Life, Memory};
use super::scalar::Reg;
use crate::types::DataModel;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The objects of the outside that were touched, by their addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outside {
    objects: BTreeMap<u64, OutsideObject>,
    /// The addresses of those that the program freed.
    gone: BTreeSet<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct OutsideObject {
    slot: u32,
    /// Which bytes were neither asked for nor written.
    open: Vec<bool>,
}

impl Outside {
    /// The slots of the objects.
    pub(super) fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.objects.values().map(|object| object.slot)
    }

    /// The bytes of a range that are open. They are not any more.
    fn close(&mut self, base: u64, range: Range<usize>) -> Vec<bool> {
        match self.objects.get_mut(&base) {
            Some(object) => {
                let was = object.open[range.clone()].to_vec();
                object.open[range].fill(false);
                was
            }
            None => Vec::new(),
        }
    }
}

impl Memory {
    /// Where an access goes that leads to the outside; `None` if it does not.
    fn locate_outside(&mut self, pointer: Reg, size: u64) -> Result<Option<Found>, TrapKind> {
        let model = match self.word {
            4 => DataModel::Ilp32,
            _ => DataModel::Lp64,
        };
        if pointer.high != 0 || !outside(model).contains(&pointer.low) {
            return Ok(None);
        }
        let base = pointer.low - pointer.low % OUTSIDE_OBJECT;
        let offset = (pointer.low - base) as usize;
        if size > OUTSIDE_OBJECT - offset as u64 {
            return Err(TrapKind::OutOfBounds);
        }
        if self.outside.gone.contains(&base) {
            return Err(TrapKind::Dangling);
        }
        let slot = match self.outside.objects.get(&base) {
            Some(object) => object.slot,
            None => {
                let slot = self.create(base, OUTSIDE_OBJECT, Life::Static)?;
                let open = vec![true; OUTSIDE_OBJECT as usize];
                let object = OutsideObject { slot, open };
                self.outside.objects.insert(base, object);
                slot
            }
        };
        Ok(Some(Found { base, slot, offset }))
    }

    /// Frees an object of the outside: whoever handed it in may have allocated it, and where it
    /// starts only they know. `false` if the pointer does not lead to one that is there.
    pub(super) fn free_outside(&mut self, pointer: Reg) -> bool {
        let Ok(Some(found)) = self.locate_outside(pointer, 1) else {
            return false;
        };
        self.leave_open();
        self.kill(found.slot);
        self.outside.objects.remove(&found.base);
        self.outside.gone.insert(found.base);
        true
    }
}

/// A place in an object of the outside.
struct Found {
    base: u64,
    slot: u32,
    offset: usize,
}

impl Machine<'_> {
    /// Where some bytes are read, or why they cannot be.
    #[inline(always)]
    pub(super) fn locate(
        &mut self,
        pointer: Reg,
        size: u64,
        wanted: Wanted,
    ) -> Result<(u32, usize), TrapKind> {
        match self.memory.locate(pointer, size) {
            Ok(found) => Ok(found),
            Err(kind) => self.read_outside(pointer, size, wanted, kind),
        }
    }

    /// Where some bytes are written, or why they cannot be.
    #[inline(always)]
    pub(super) fn locate_to_write(
        &mut self,
        pointer: Reg,
        size: u64,
    ) -> Result<(u32, usize), TrapKind> {
        match self.memory.locate_to_write(pointer, size) {
            Ok(found) => Ok(found),
            Err(kind) => self.write_outside(pointer, size, kind),
        }
    }

    #[cold]
    fn write_outside(
        &mut self,
        pointer: Reg,
        size: u64,
        kind: TrapKind,
    ) -> Result<(u32, usize), TrapKind> {
        let found = self.memory.locate_outside(pointer, size)?.ok_or(kind)?;
        let range = found.offset..found.offset + size as usize;
        self.memory.outside.close(found.base, range);
        Ok((found.slot, found.offset))
    }

    /// Asks the environment for what is read for the first time.
    #[cold]
    fn read_outside(
        &mut self,
        pointer: Reg,
        size: u64,
        wanted: Wanted,
        kind: TrapKind,
    ) -> Result<(u32, usize), TrapKind> {
        let found = self.memory.locate_outside(pointer, size)?.ok_or(kind)?;
        self.memory.leave_open();
        let range = found.offset..found.offset + size as usize;
        let open = self.memory.outside.close(found.base, range);
        if !self.zero_unknowns && open.contains(&true) {
            let mut bytes = vec![0; size as usize];
            let request = self.request(wanted);
            self.environment.outside(request, pointer.low, &mut bytes);
            for (index, _) in open.iter().enumerate().filter(|(_, open)| **open) {
                let at = found.offset + index;
                self.memory.bytes_mut(found.slot, at, 1)[0] = bytes[index];
            }
            self.unknowns.push(bytes);
        }
        Ok((found.slot, found.offset))
    }
}

/// What the environment should know of a scalar that is read.
#[inline(always)]
pub(super) fn wanted_by(access: Access) -> Wanted {
    match access {
        Access::P32 | Access::P64 => Wanted::Pointer,
        _ => Wanted::Number,
    }
}
