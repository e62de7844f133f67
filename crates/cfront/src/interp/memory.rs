//! The memory of a running program: objects with addresses.
//!
//! A pointer is an address together with the object that it was made from ([`Provenance`]), so
//! that an access is checked against the one object that it may touch, even where the address
//! happens to lie in another. Bytes in memory are plain bytes; beside them an object remembers
//! which object a pointer stored in it belongs to, and forgets it when the bytes are overwritten
//! by something else. A pointer that comes from an integer belongs to the live object that its
//! address lies in, the end included.

use super::addresses::{after, outside};
use super::open::Watch;
use super::outside::Outside;
use super::scalar::Reg;
use super::{Heap, TrapKind};
use crate::types::DataModel;
use std::collections::BTreeMap;

/// Which object a pointer belongs to, as it stands in the high half of a register: the slot of
/// the object in the low 32 bits, the slot's generation above. 0 for none.
pub(super) type Provenance = u64;

/// How a scalar stands in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// `_Bool`: a byte of which the lowest bit counts.
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    /// 8 bytes, signed or not.
    W64,
    /// The 10 bytes of `long double`.
    X87,
    /// 16 bytes.
    W128,
    P32,
    P64,
}

impl Access {
    /// The number of bytes that are read or written.
    pub(super) fn size(self) -> usize {
        match self {
            Access::Bool | Access::I8 | Access::U8 => 1,
            Access::I16 | Access::U16 => 2,
            Access::I32 | Access::U32 | Access::P32 => 4,
            Access::W64 | Access::P64 => 8,
            Access::X87 => 10,
            Access::W128 => 16,
        }
    }
}

/// How long an object lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// As long as the program.
    Static,
    /// Until its frame or its scope ends.
    Frame,
    /// Until it is freed.
    Heap,
    /// Over.
    Dead,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub base: u64,
    generation: u32,
    life: Life,
    /// Whether nobody may write it.
    read_only: bool,
    pub data: Vec<u8>,
    /// The provenance of the pointer at each aligned word; empty if no pointer was stored.
    pub pointers: Vec<Provenance>,
    /// Which bytes were never written; empty if all were, or if nobody watches.
    pub unwritten: Vec<u8>,
}

/// The memory.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub objects: Vec<Object>,
    /// Slots of dead objects.
    free: Vec<u32>,
    /// The live heap objects by address.
    pub heap: BTreeMap<u64, u32>,
    /// The static objects are the slots from 1 up to this one, in the order of their addresses.
    pub statics: u32,
    next_heap: u64,
    heap_range: (u64, u64),
    /// Where objects were that were freed, by their size, if such places are used again.
    left: Option<BTreeMap<u64, Vec<u64>>>,
    /// The size of a pointer in bytes.
    pub word: usize,
    /// What is open in the run, if somebody watches.
    pub watch: Watch,
    /// Whether a pointer to a local that is gone was compared with another one.
    pub compared_gone: bool,
    /// What the program did not make.
    pub outside: Outside,
    used: u64,
    limit: u64,
}

/// What the program's future can depend on is the same: the live objects, and where the next one
/// on the heap will be.
impl PartialEq for Memory {
    fn eq(&self, other: &Memory) -> bool {
        let same = |one: &Object, other: &Object| match (one.life, other.life) {
            (Life::Dead, Life::Dead) => true,
            _ => one == other,
        };
        let shared = self.objects.len().min(other.objects.len());
        let (left, right) = (&self.objects[shared..], &other.objects[shared..]);
        let mut rest = left.iter().chain(right);
        self.next_heap == other.next_heap
            && self.left == other.left
            && self.heap == other.heap
            && self.outside == other.outside
            && rest.all(|object| object.life == Life::Dead)
            && self
                .objects
                .iter()
                .zip(&other.objects)
                .all(|(one, other)| same(one, other))
    }
}

impl Eq for Memory {}

impl Memory {
    /// A memory without objects. The heap lies behind an address, behind which the statics
    /// push it further.
    pub(super) fn new(model: DataModel, start: u64, limit: u64) -> Memory {
        let reserved = Object {
            base: 0,
            generation: 0,
            life: Life::Dead,
            read_only: false,
            data: Vec::new(),
            pointers: Vec::new(),
            unwritten: Vec::new(),
        };
        Memory {
            objects: vec![reserved],
            free: Vec::new(),
            heap: BTreeMap::new(),
            statics: 1,
            next_heap: start,
            heap_range: (start, outside(model).start),
            left: None,
            word: model.pointer_size() as usize,
            watch: Watch::Nobody,
            compared_gone: false,
            outside: Outside::default(),
            used: 0,
            limit,
        }
    }

    /// Sets the limit on the bytes of live objects, beside those that there are.
    pub(super) fn set_limit(&mut self, limit: u64) {
        self.limit = self.used.saturating_add(limit);
    }

    /// Says where objects on the heap are put.
    pub(super) fn place(&mut self, heap: Heap) {
        self.left = (heap == Heap::Again).then(BTreeMap::new);
    }

    /// Adds a static object; they must come in the order of their addresses, before any other.
    pub(super) fn add_static(&mut self, base: u64, size: u64) -> Result<u32, TrapKind> {
        if after(base, size) >= self.heap_range.1 / 2 {
            return Err(TrapKind::OutOfMemory);
        }
        let slot = self.create(base, size, Life::Static)?;
        self.statics = slot + 1;
        self.heap_range.0 = after(base, size).next_multiple_of(0x1_0000) + 0x10_0000;
        self.next_heap = self.heap_range.0;
        Ok(slot)
    }

    /// Lets nobody write a static object from now on.
    pub(super) fn protect(&mut self, slot: u32) {
        self.objects[slot as usize].read_only = true;
    }

    /// Whether an object may be written.
    #[inline]
    pub(super) fn writable(&self, slot: u32) -> Result<(), TrapKind> {
        match self.objects[slot as usize].read_only {
            false => Ok(()),
            true => Err(TrapKind::ReadOnly),
        }
    }

    /// Makes an object at an address, with zeros in it.
    pub(super) fn create(&mut self, base: u64, size: u64, life: Life) -> Result<u32, TrapKind> {
        if size > self.limit.saturating_sub(self.used) {
            return Err(TrapKind::OutOfMemory);
        }
        self.used += size;
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                let slot = u32::try_from(self.objects.len()).map_err(|_| TrapKind::OutOfMemory)?;
                self.objects.push(Object {
                    base,
                    generation: 1,
                    life,
                    read_only: false,
                    data: Vec::new(),
                    pointers: Vec::new(),
                    unwritten: Vec::new(),
                });
                slot
            }
        };
        let object = &mut self.objects[slot as usize];
        object.base = base;
        object.life = life;
        if object.data.capacity() < size as usize {
            // A fresh zeroed vector is not touched before it is used, however large.
            object.data = vec![0; size as usize];
        } else {
            object.data.resize(size as usize, 0);
        }
        if self.watch != Watch::Nobody {
            object.unwritten = vec![u8::MAX; size as usize];
        }
        Ok(slot)
    }

    /// Makes an object among those on the heap at a fresh address, unless places are used again as
    /// soon as possible. Otherwise they are as late as possible: when all have been used.
    pub(super) fn allocate(&mut self, size: u64, life: Life) -> Result<u32, TrapKind> {
        let (first, last) = self.heap_range;
        if size > last - first {
            return Err(TrapKind::OutOfMemory);
        }
        let left = self.left.as_mut().and_then(|left| left.get_mut(&size));
        if let Some(base) = left.and_then(Vec::pop) {
            let slot = self.create(base, size, life)?;
            self.heap.insert(base, slot);
            return Ok(slot);
        }
        let mut base = self.next_heap.next_multiple_of(16);
        let mut wrapped = false;
        loop {
            let end = after(base, size);
            if end > last {
                if wrapped {
                    return Err(TrapKind::OutOfMemory);
                }
                wrapped = true;
                base = first;
                continue;
            }
            match self.heap.range(..end).next_back() {
                Some((&start, &slot)) if after(start, self.size(slot)) > base => {
                    base = after(start, self.size(slot)).next_multiple_of(16);
                }
                _ => break,
            }
        }
        let slot = self.create(base, size, life)?;
        self.next_heap = after(base, size);
        self.heap.insert(base, slot);
        Ok(slot)
    }

    fn size(&self, slot: u32) -> u64 {
        self.objects[slot as usize].data.len() as u64
    }

    /// Ends an object's life.
    pub(super) fn kill(&mut self, slot: u32) {
        let object = &mut self.objects[slot as usize];
        if object.life == Life::Heap {
            self.heap.remove(&object.base);
            if let Some(left) = &mut self.left {
                let places = left.entry(object.data.len() as u64).or_default();
                places.push(object.base);
            }
        }
        self.used -= object.data.len() as u64;
        object.life = Life::Dead;
        if object.data.capacity() > 4096 {
            object.data = Vec::new();
        }
        object.data.clear();
        object.pointers.clear();
        object.unwritten.clear();
        // A slot whose generations are used up is not used again.
        if object.generation < u32::MAX {
            object.generation += 1;
            self.free.push(slot);
        }
    }

    /// The pointer to a byte of an object.
    pub(super) fn pointer(&self, slot: u32, offset: u64) -> Reg {
        let object = &self.objects[slot as usize];
        let low = self.wrap(object.base.wrapping_add(offset));
        Reg {
            low,
            high: u64::from(object.generation) << 32 | u64::from(slot),
        }
    }

    /// An address cut to the width of a pointer.
    pub(super) fn wrap(&self, address: u64) -> u64 {
        if self.word == 4 {
            address & 0xffff_ffff
        } else {
            address
        }
    }

    /// The live object that a pointer belongs to, and the distance from its start.
    pub(super) fn object(&self, pointer: Reg) -> Option<(u32, u64)> {
        let slot = pointer.high as u32;
        let object = &self.objects[slot as usize];
        (pointer.high != 0 && u64::from(object.generation) == pointer.high >> 32)
            .then(|| (slot, pointer.low.wrapping_sub(object.base)))
    }

    /// The size of a live object and how long it lives.
    pub(super) fn describe(&self, slot: u32) -> (u64, Life) {
        let object = &self.objects[slot as usize];
        (object.data.len() as u64, object.life)
    }

    /// The address of an object's first byte.
    pub(super) fn base(&self, slot: u32) -> u64 {
        self.objects[slot as usize].base
    }

    /// Where an access of some bytes goes, or why it cannot be made.
    #[inline]
    pub(super) fn locate(&self, pointer: Reg, size: u64) -> Result<(u32, usize), TrapKind> {
        let slot = pointer.high as u32;
        let object = &self.objects[slot as usize];
        if u64::from(object.generation) != pointer.high >> 32 || pointer.high == 0 {
            return Err(self.why_not(pointer));
        }
        let offset = pointer.low.wrapping_sub(object.base);
        let length = object.data.len() as u64;
        if offset > length || size > length - offset {
            return Err(TrapKind::OutOfBounds);
        }
        Ok((slot, offset as usize))
    }

    /// Whether a pointer belongs to an object that nobody may write.
    pub(super) fn is_constant(&self, pointer: Reg) -> bool {
        let object = &self.objects[pointer.high as u32 as usize];
        let lives = pointer.high != 0 && u64::from(object.generation) == pointer.high >> 32;
        lives && object.read_only
    }

    /// Where a write of some bytes goes, or why it cannot be made.
    #[inline]
    pub(super) fn locate_to_write(
        &self,
        pointer: Reg,
        size: u64,
    ) -> Result<(u32, usize), TrapKind> {
        let (slot, offset) = self.locate(pointer, size)?;
        self.writable(slot)?;
        Ok((slot, offset))
    }

    #[cold]
    fn why_not(&self, pointer: Reg) -> TrapKind {
        if pointer.high != 0 {
            TrapKind::Dangling
        } else if pointer.low < 4096 {
            TrapKind::NullPointer
        } else {
            TrapKind::WildPointer
        }
    }

    /// The provenance of an address that comes from an integer, where heap and static objects
    /// are concerned; the machine looks for the stack's itself.
    pub(super) fn resolve(&self, address: u64) -> Provenance {
        let inside = |slot: u32| {
            let object = &self.objects[slot as usize];
            let fits = address.wrapping_sub(object.base) <= object.data.len() as u64;
            fits.then(|| self.pointer(slot, 0).high)
        };
        if let Some((_, &slot)) = self.heap.range(..=address).next_back()
            && let Some(provenance) = inside(slot)
        {
            return provenance;
        }
        let statics = &self.objects[1..self.statics as usize];
        let position = statics.partition_point(|object| object.base <= address);
        inside(position as u32)
            .filter(|_| position > 0)
            .unwrap_or(0)
    }

    /// The provenance of an address if it lies in this object.
    pub(super) fn resolve_in(&self, slot: u32, address: u64) -> Option<Provenance> {
        let object = &self.objects[slot as usize];
        (address.wrapping_sub(object.base) <= object.data.len() as u64)
            .then(|| self.pointer(slot, 0).high)
    }

    /// Some bytes of an object.
    pub(super) fn bytes(&self, slot: u32, offset: usize, size: usize) -> &[u8] {
        &self.objects[slot as usize].data[offset..offset + size]
    }

    /// Some bytes of an object, to be overwritten: pointers in them are forgotten.
    pub(super) fn bytes_mut(&mut self, slot: u32, offset: usize, size: usize) -> &mut [u8] {
        self.forget(slot, offset, size);
        self.written(slot, offset, size);
        &mut self.objects[slot as usize].data[offset..offset + size]
    }

    fn forget(&mut self, slot: u32, offset: usize, size: usize) {
        self.note_overwrite(slot, offset, size);
        let word = self.word;
        let pointers = &mut self.objects[slot as usize].pointers;
        if !pointers.is_empty() && size > 0 {
            let end = (offset + size).div_ceil(word).min(pointers.len());
            let start = (offset / word).min(end);
            pointers[start..end].fill(0);
        }
    }

    /// Reads a scalar. The bytes must lie in the object. A pointer whose object is not known
    /// comes back with the provenance 0 although its address may not be 0.
    #[inline]
    pub(super) fn load(&self, slot: u32, offset: usize, access: Access) -> Reg {
        let object = &self.objects[slot as usize];
        let data = &object.data[offset..];
        let low = match access {
            Access::Bool => u64::from(data[0] & 1),
            Access::I8 => data[0] as i8 as u64,
            Access::U8 => u64::from(data[0]),
            Access::I16 => i16::from_le_bytes(array(data)) as u64,
            Access::U16 => u64::from(u16::from_le_bytes(array(data))),
            Access::I32 => i32::from_le_bytes(array(data)) as u64,
            Access::U32 => u64::from(u32::from_le_bytes(array(data))),
            Access::W64 => u64::from_le_bytes(array(data)),
            Access::X87 => {
                let high = u64::from(u16::from_le_bytes(array(&data[8..])));
                return Reg {
                    low: u64::from_le_bytes(array(data)),
                    high,
                };
            }
            Access::W128 => {
                let high = u64::from_le_bytes(array(&data[8..]));
                return Reg {
                    low: u64::from_le_bytes(array(data)),
                    high,
                };
            }
            Access::P32 => {
                let low = u64::from(u32::from_le_bytes(array(data)));
                return Reg {
                    low,
                    high: self.stored(object, offset),
                };
            }
            Access::P64 => {
                let low = u64::from_le_bytes(array(data));
                return Reg {
                    low,
                    high: self.stored(object, offset),
                };
            }
        };
        Reg { low, high: 0 }
    }

    fn stored(&self, object: &Object, offset: usize) -> Provenance {
        if offset.is_multiple_of(self.word) {
            object
                .pointers
                .get(offset / self.word)
                .copied()
                .unwrap_or(0)
        } else {
            0
        }
    }

    /// Writes a scalar. The bytes must lie in the object.
    #[inline]
    pub(super) fn store(&mut self, slot: u32, offset: usize, access: Access, value: Reg) {
        if !self.objects[slot as usize].pointers.is_empty() {
            self.forget(slot, offset, access.size());
        }
        self.written(slot, offset, access.size());
        let object = &mut self.objects[slot as usize];
        let data = &mut object.data[offset..offset + access.size()];
        match access {
            Access::Bool => data[0] = value.low as u8 & 1,
            Access::I8 | Access::U8 => data[0] = value.low as u8,
            Access::I16 | Access::U16 => data.copy_from_slice(&(value.low as u16).to_le_bytes()),
            Access::I32 | Access::U32 => data.copy_from_slice(&(value.low as u32).to_le_bytes()),
            Access::W64 => data.copy_from_slice(&value.low.to_le_bytes()),
            Access::X87 => {
                data[..8].copy_from_slice(&value.low.to_le_bytes());
                data[8..].copy_from_slice(&(value.high as u16).to_le_bytes());
            }
            Access::W128 => {
                data[..8].copy_from_slice(&value.low.to_le_bytes());
                data[8..].copy_from_slice(&value.high.to_le_bytes());
            }
            Access::P32 => {
                data.copy_from_slice(&(value.low as u32).to_le_bytes());
                remember(object, offset, 4, value.high);
            }
            Access::P64 => {
                data.copy_from_slice(&value.low.to_le_bytes());
                remember(object, offset, 8, value.high);
            }
        }
    }

    /// Copies bytes, and the pointers that lie in them whole; the ranges may overlap.
    pub(super) fn copy(&mut self, to: (u32, usize), from: (u32, usize), size: usize) {
        if size == 0 || to == from {
            return;
        }
        self.note_copy(to, from, size);
        let word = self.word;
        // The pointers are read before anything is overwritten.
        let aligned = to.1 % word == from.1 % word;
        let pointers: Vec<(usize, Provenance)> = if aligned {
            let source = &self.objects[from.0 as usize].pointers;
            let first = from.1.div_ceil(word);
            let last = ((from.1 + size) / word).min(source.len());
            (first..last.max(first))
                .filter(|&i| source[i] != 0)
                .map(|i| (i * word - from.1, source[i]))
                .collect()
        } else {
            Vec::new()
        };
        self.forget(to.0, to.1, size);
        self.copy_unwritten(to, from, size);
        if to.0 == from.0 {
            self.objects[to.0 as usize]
                .data
                .copy_within(from.1..from.1 + size, to.1);
        } else if let Ok([target, source]) = self
            .objects
            .get_disjoint_mut([to.0 as usize, from.0 as usize])
        {
            target.data[to.1..to.1 + size].copy_from_slice(&source.data[from.1..from.1 + size]);
        }
        for (offset, provenance) in pointers {
            remember(
                &mut self.objects[to.0 as usize],
                to.1 + offset,
                word,
                provenance,
            );
        }
    }

    /// The objects that pointers stored in an object belong to.
    pub(super) fn pointees(&self, slot: u32) -> impl Iterator<Item = u32> {
        let pointers = &self.objects[slot as usize].pointers;
        pointers
            .iter()
            .filter_map(|&high| Some(self.object(Reg { low: 0, high })?.0))
    }
}

fn array<const N: usize>(data: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&data[..N]);
    bytes
}

fn remember(object: &mut Object, offset: usize, word: usize, provenance: Provenance) {
    if provenance == 0 || !offset.is_multiple_of(word) {
        return;
    }
    if object.pointers.is_empty() {
        object.pointers.resize(object.data.len() / word, 0);
    }
    object.pointers[offset / word] = provenance;
}
