//! Instructions that are executed seldom or do much at once.

use super::code::Rare;
use super::environment::Wanted;
use super::float;
use super::machine::{End, Machine};
use super::memory::Life;
use super::scalar::{self, Kind, Reg, extend, mask};
use super::{Consumed, ConsumedInput, TrapKind, Value};
use crate::ids::EdgeId;
use crate::program::Lifetime;
use std::collections::BTreeSet;

impl Machine<'_> {
    /// Executes a rare instruction.
    pub(super) fn rare(&mut self, rare: &Rare) -> Result<(), End> {
        match *rare {
            Rare::Unary { op, kind, to, d, a } => {
                let bits = scalar::unary(op, kind, kind.bits(self.get(a)));
                self.set(d, to.reg(bits));
            }
            Rare::Binary {
                op,
                left,
                right,
                to,
                d,
                a,
                b,
            } => {
                let (a, b) = (left.bits(self.get(a)), right.bits(self.get(b)));
                let bits =
                    scalar::binary(op, left, right, a, b).map_err(|_| TrapKind::DivisionByZero)?;
                self.set(d, to.reg(bits));
            }
            Rare::Convert { from, to, d, a } => {
                let bits = scalar::convert(from, to, from.bits(self.get(a)));
                self.set(d, to.reg(bits));
            }
            Rare::Rounded {
                op,
                from,
                to,
                d,
                mode,
                operands,
            } => {
                let mode = u128::from(self.get(mode).low);
                let operands = operands.map(|a| from.bits(self.get(a)));
                let bits = float::rounded(op, mode, from, to, operands);
                self.set(d, Kind::Float(to).reg(bits));
            }
            Rare::Overflows {
                op,
                left,
                right,
                at,
                d,
                a,
                b,
            } => {
                let (a, b) = (left.bits(self.get(a)), right.bits(self.get(b)));
                let overflows = scalar::overflows(op, (left, a), (right, b), at);
                self.set(
                    d,
                    Reg {
                        low: u64::from(overflows),
                        high: 0,
                    },
                );
            }
            Rare::Difference { d, a, b, scale } => {
                let word = self.interpreter.program.types.model().pointer_size() as u32 * 8;
                let distance = self.get(a).low.wrapping_sub(self.get(b).low);
                let distance = extend(distance.into(), word);
                let kind = Kind::Int {
                    width: word,
                    signed: true,
                };
                self.set(d, kind.reg((distance / i128::from(scale)) as u128));
            }
            Rare::LoadBits {
                kind,
                d,
                pointer,
                offset,
                width,
            } => {
                let bits = self.load_bits(self.get(pointer), offset, width)?;
                let bits = if kind.signed() {
                    extend(bits, width) as u128
                } else {
                    bits
                };
                self.set(d, kind.reg(bits));
            }
            Rare::StoreBits {
                a,
                pointer,
                offset,
                width,
            } => {
                self.store_bits(self.get(pointer), offset, width, self.get(a))?;
            }
            Rare::ValidAccess { d, pointer, size } => {
                let valid = self
                    .memory
                    .locate(self.get(pointer), self.get(size).low)
                    .is_ok();
                self.set(
                    d,
                    Reg {
                        low: u64::from(valid),
                        high: 0,
                    },
                );
            }
            Rare::ValidFree { d, pointer } => {
                let valid = self.freed_object(self.get(pointer)).is_ok();
                self.set(
                    d,
                    Reg {
                        low: u64::from(valid),
                        high: 0,
                    },
                );
            }
            Rare::PointsToConstant { d, pointer } => {
                let constant = self.memory.is_constant(self.get(pointer));
                self.set(
                    d,
                    Reg {
                        low: u64::from(constant),
                        high: 0,
                    },
                );
            }
            Rare::HeapIs { d, fact, end } => {
                let holds = self.heap_is(fact, end)?;
                self.set(
                    d,
                    Reg {
                        low: u64::from(holds),
                        high: 0,
                    },
                );
            }
            Rare::Open { d, pointer, to } => {
                let size = u64::from(to.width().div_ceil(8));
                // Whoever asks makes the access next, and is told there what is wrong with it.
                let open = match self.memory.locate(self.get(pointer), size) {
                    Ok((object, offset)) => self.memory.open_bits(object, offset, size as usize),
                    Err(_) => 0,
                };
                self.set(d, to.reg(open));
            }
            Rare::SetOpen {
                pointer,
                bits,
                size,
            } => {
                let value = self.get(bits);
                let bits = u128::from(value.low) | u128::from(value.high) << 64;
                if let Ok((object, offset)) = self.memory.locate(self.get(pointer), size) {
                    self.memory
                        .set_open_bits(object, offset, size as usize, bits);
                }
            }
            Rare::ObjectSize { d, pointer, to } => {
                let size = match self.memory.object(self.get(pointer)) {
                    Some((object, offset)) => {
                        u128::from(self.memory.describe(object).0.saturating_sub(offset))
                    }
                    // What `__builtin_object_size` says of what it does not know.
                    None => mask(to.width()),
                };
                self.set(d, to.reg(size));
            }
            Rare::CopyRecord { to, from, size } => {
                let from = self.locate(self.get(from), size, Wanted::Bytes)?;
                let to = self.locate_to_write(self.get(to), size)?;
                self.memory.copy(to, from, size as usize);
            }
            Rare::Input { ty, kind, d } => {
                let request = self.request(match kind {
                    Kind::Pointer { .. } => Wanted::Pointer,
                    _ => Wanted::Number,
                });
                let Some(bits) = self.environment.input(request, ty) else {
                    return Err(End::OutOfInputs);
                };
                let bits = bits & mask(kind.width());
                let value = Consumed::Scalar(Value { ty, bits });
                self.inputs.push(ConsumedInput {
                    edge: self.edge.unwrap_or(EdgeId(0)),
                    value,
                });
                self.set(d, self.received(kind, bits));
            }
            Rare::Unknown { kind, d } => {
                let value = self.unknown_scalar(kind, None);
                self.set(d, value);
            }
            Rare::HavocRecord { pointer, size } => {
                let (object, offset) = self.locate_to_write(self.get(pointer), size)?;
                self.memory.leave_open();
                self.unknown_range(object, offset, size as usize);
            }
            Rare::HavocMemory {
                pointer,
                size: Some(size),
                input,
            } => {
                self.memory.leave_open();
                self.havoc_range(self.get(pointer), self.get(size).low, input)?;
            }
            Rare::HavocMemory {
                pointer,
                size: None,
                ..
            } => {
                // More may be written than is found here.
                self.memory.leave_open();
                self.havoc_reachable(self.get(pointer));
            }
            Rare::Declare { slot } => {
                self.declare(slot)?;
            }
            Rare::EndScope { ref slots } => {
                for &slot in slots {
                    self.end_scope(slot);
                }
            }
            Rare::Allocate { d, size, lifetime } => {
                let size = self.get(size).low;
                let object = match lifetime {
                    Lifetime::Heap => self.memory.allocate(size, Life::Heap)?,
                    Lifetime::Library => self.memory.allocate(size, Life::Static)?,
                    Lifetime::Frame => self.allocate_on_stack(size)?,
                };
                match self.zero_unknowns {
                    true => self.memory.unwrite(object, 0, size as usize),
                    false => self.unknown_range(object, 0, size as usize),
                }
                let pointer = self.memory.pointer(object, 0);
                self.set(d, pointer);
            }
            Rare::Free { pointer } => {
                let pointer = self.get(pointer);
                match self.freed_object(pointer) {
                    Ok(Some(object)) => self.memory.kill(object),
                    Ok(None) => {}
                    Err(_) if self.memory.free_outside(pointer) => {}
                    Err(kind) => return Err(kind.into()),
                }
            }
            Rare::CopyMemory { to, from, size } => {
                let size = self.get(size).low;
                if size > 0 {
                    let from = self.locate(self.get(from), size, Wanted::Bytes)?;
                    let to = self.locate_to_write(self.get(to), size)?;
                    self.memory.copy(to, from, size as usize);
                }
            }
            Rare::FillMemory { to, byte, size } => {
                let size = self.get(size).low;
                if size > 0 {
                    let byte = self.get(byte).low as u8;
                    let (object, offset) = self.locate_to_write(self.get(to), size)?;
                    self.memory
                        .bytes_mut(object, offset, size as usize)
                        .fill(byte);
                }
            }
        }
        Ok(())
    }

    /// The object that `free` ends, `None` for null.
    fn freed_object(&self, pointer: Reg) -> Result<Option<u32>, TrapKind> {
        if pointer.low == 0 {
            return Ok(None);
        }
        match self.memory.object(pointer) {
            Some((object, 0)) if self.memory.describe(object).1 == Life::Heap => Ok(Some(object)),
            _ => Err(TrapKind::BadFree),
        }
    }

    /// The bits of a bit-field, which starts so many bits after the pointer.
    fn load_bits(&mut self, pointer: Reg, offset: u64, width: u32) -> Result<u128, TrapKind> {
        let (object, first, size, shift) = self.bit_range(pointer, offset, width)?;
        self.memory.note_bytes(object, first, size);
        let bytes = self.memory.bytes(object, first, size);
        let mut bits = 0;
        for i in 0..width {
            let position = i + shift;
            let bit = bytes[position as usize / 8] >> (position % 8) & 1;
            bits |= u128::from(bit) << i;
        }
        Ok(bits)
    }

    /// Writes the bits of a bit-field; the others stay as they are.
    pub(super) fn store_bits(
        &mut self,
        pointer: Reg,
        offset: u64,
        width: u32,
        value: Reg,
    ) -> Result<(), TrapKind> {
        let (object, first, size, shift) = self.bit_range(pointer, offset, width)?;
        self.memory.writable(object)?;
        let bits = u128::from(value.low) | u128::from(value.high) << 64;
        let mut open = self.memory.open_bits(object, first, size);
        let bytes = self.memory.bytes_mut(object, first, size);
        for i in 0..width {
            let position = i + shift;
            open &= !(1 << position);
            let mask = 1u8 << (position % 8);
            let byte = &mut bytes[position as usize / 8];
            if bits >> i & 1 == 1 {
                *byte |= mask
            } else {
                *byte &= !mask
            }
        }
        // The other bits of the bytes are as they were.
        self.memory.set_open_bits(object, first, size, open);
        Ok(())
    }

    /// The object, first byte and number of bytes that hold a bit-field, and where it starts in
    /// the first byte.
    fn bit_range(
        &mut self,
        pointer: Reg,
        offset: u64,
        width: u32,
    ) -> Result<(u32, usize, usize, u32), TrapKind> {
        let low = self.memory.wrap(pointer.low.wrapping_add(offset / 8));
        let shift = (offset % 8) as u32;
        let size = u64::from((shift + width).div_ceil(8));
        let pointer = Reg {
            low,
            high: pointer.high,
        };
        let (object, first) = self.locate(pointer, size, Wanted::Number)?;
        Ok((object, first, size as usize, shift))
    }

    fn havoc_range(&mut self, pointer: Reg, size: u64, input: bool) -> Result<(), End> {
        if size == 0 {
            return Ok(());
        }
        let (object, offset) = self.locate_to_write(pointer, size)?;
        let size = size as usize;
        if !input {
            self.unknown_range(object, offset, size);
            return Ok(());
        }
        let request = self.request(Wanted::Bytes);
        let bytes = self.memory.bytes_mut(object, offset, size);
        bytes.fill(0);
        if !self.environment.input_bytes(request, bytes) {
            return Err(End::OutOfInputs);
        }
        let value = Consumed::Bytes(bytes.to_vec());
        self.inputs.push(ConsumedInput {
            edge: self.edge.unwrap_or(EdgeId(0)),
            value,
        });
        Ok(())
    }

    /// Havocs the pointer's object and all that can be reached from it through stored pointers.
    fn havoc_reachable(&mut self, pointer: Reg) {
        let Some((first, _)) = self.memory.object(pointer) else {
            return;
        };
        let mut reached = BTreeSet::from([first]);
        let mut waiting = vec![first];
        while let Some(object) = waiting.pop() {
            for next in self.memory.pointees(object) {
                if reached.insert(next) {
                    waiting.push(next);
                }
            }
        }
        // Whoever can be reached and written: the others would end the run.
        reached.retain(|&object| self.memory.writable(object).is_ok());
        for object in reached {
            let (size, _) = self.memory.describe(object);
            self.unknown_range(object, 0, size as usize);
        }
    }
}
