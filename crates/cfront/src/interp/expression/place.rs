//! Code for places: their addresses, loads and stores.

use super::super::code::{Instr, Norm, R, Rare, Storage};
use super::super::layout::{Path, Root, path};
use super::super::memory::Access;
use super::super::scalar::Kind;
use super::{Address, Emitter, Operand, pop};
use crate::ids::{ExprId, PlaceId};
use crate::program::ExprKind;

impl Emitter<'_> {
    pub(super) fn finish_place(
        &mut self,
        id: ExprId,
        path: &Path,
        dest: Option<R>,
        mark: R,
        values: &mut Vec<Operand>,
    ) -> Operand {
        let address = self.address(path, values);
        let expr = self.program.expr(id);
        match (expr.kind, self.kind(expr.ty)) {
            (ExprKind::Load(place), Some(kind)) if self.loads(place) => {
                self.load(address, kind, path.bits, dest, mark)
            }
            _ => self.address_value(address, dest, mark),
        }
    }

    /// Whether a place is read by value. A function is not: its value is its address.
    fn loads(&self, place: PlaceId) -> bool {
        self.program.types.is_scalar(self.program.place(place).ty)
    }

    /// The register that holds a place's address.
    pub(in crate::interp) fn address_value(
        &mut self,
        address: Address,
        dest: Option<R>,
        mark: R,
    ) -> Operand {
        match address {
            Address::Pointer { pointer, offset: 0 } => self.deliver(Operand::Reg(pointer), dest),
            Address::Pointer { pointer, offset } => {
                let d = self.pointer_add(pointer, Operand::Imm(1), offset.into(), dest, mark);
                Operand::Reg(d)
            }
            Address::Static { object, offset } => {
                let d = self.target(dest, mark);
                self.emit(Instr::AddressStatic { d, object, offset });
                Operand::Reg(d)
            }
            Address::Slot { slot, offset } => {
                let d = self.target(dest, mark);
                self.emit(Instr::AddressSlot { d, slot, offset });
                Operand::Reg(d)
            }
            // Variables whose address is taken are never registers.
            Address::Register(r) => self.deliver(Operand::Reg(r), dest),
        }
    }

    /// Computes a place's parts and says where it is. What it needs stays in temporaries.
    pub(in crate::interp) fn place(&mut self, place: PlaceId) -> (Address, Path) {
        let path = path(self.program, place);
        let mut values = Vec::new();
        if let Root::Deref(pointer) = path.root {
            values.push(self.expr(pointer, None));
        }
        for &(index, _) in path.indices.iter().rev() {
            values.push(self.expr(index, None));
        }
        (self.address(&path, &mut values), path)
    }

    pub(super) fn address(&mut self, path: &Path, values: &mut Vec<Operand>) -> Address {
        let first = values.len() - path.indices.len();
        let indices = values.split_off(first);
        let offset = u32::try_from(path.offset).ok();
        let mut address = match path.root {
            Root::Var(variable) => match self.storage[variable.index()] {
                Storage::Register(r) => return Address::Register(r),
                Storage::Static(object) => Address::Static {
                    object,
                    offset: offset.unwrap_or(0),
                },
                Storage::Slot(slot) => Address::Slot {
                    slot,
                    offset: offset.unwrap_or(0),
                },
            },
            Root::Deref(_) => {
                let pointer = pop(values);
                let pointer = self.register(pointer);
                Address::Pointer {
                    pointer,
                    offset: offset.unwrap_or(0),
                }
            }
        };
        // Indices were computed from the innermost base outwards.
        for (index, &(_, scale)) in indices.into_iter().zip(path.indices.iter().rev()) {
            let (pointer, rest) = self.split(address);
            let mark = self.next;
            let pointer = self.pointer_add(pointer, index, scale, None, mark);
            address = Address::Pointer {
                pointer,
                offset: rest,
            };
        }
        if offset.is_none() {
            let (pointer, rest) = self.split(address);
            let mark = self.next;
            let kind = Kind::Int {
                width: 64,
                signed: false,
            };
            let distance = self.constant(kind, u128::from(path.offset), None);
            let pointer = self.pointer_add(pointer, distance, 1, None, mark + 2);
            address = Address::Pointer {
                pointer,
                offset: rest,
            };
        }
        address
    }

    /// An address as a pointer and a rest.
    fn split(&mut self, address: Address) -> (R, u32) {
        match address {
            Address::Pointer { pointer, offset } => (pointer, offset),
            Address::Static { object, offset } => {
                let d = self.temporary();
                self.emit(Instr::AddressStatic { d, object, offset });
                (d, 0)
            }
            Address::Slot { slot, offset } => {
                let d = self.temporary();
                self.emit(Instr::AddressSlot { d, slot, offset });
                (d, 0)
            }
            Address::Register(r) => (r, 0),
        }
    }

    /// The pointer to a place, in a register.
    pub(in crate::interp) fn pointer_to(&mut self, address: Address) -> R {
        let mark = self.next;
        let value = self.address_value(address, None, mark);
        self.register(value)
    }

    fn load(
        &mut self,
        address: Address,
        kind: Kind,
        bits: Option<(u64, u32)>,
        dest: Option<R>,
        mark: R,
    ) -> Operand {
        if let Address::Register(r) = address {
            return self.deliver(Operand::Reg(r), dest);
        }
        if let Some((offset, width)) = bits {
            let pointer = self.pointer_to(address);
            let d = self.target(dest, mark);
            self.rare(Rare::LoadBits {
                kind,
                d,
                pointer,
                offset,
                width,
            });
            return Operand::Reg(d);
        }
        let d = self.target(dest, mark);
        let (access, exact) = access(kind);
        self.emit(match address {
            Address::Static { object, offset } => Instr::LoadStatic {
                access,
                d,
                object,
                offset,
            },
            Address::Slot { slot, offset } => Instr::LoadSlot {
                access,
                d,
                slot,
                offset,
            },
            Address::Pointer { pointer, offset } => Instr::Load {
                access,
                d,
                pointer,
                offset,
            },
            Address::Register(a) => Instr::Move { d, a },
        });
        if !exact {
            self.emit(Instr::Norm {
                norm: Norm::of(kind),
                d,
                a: d,
            });
        }
        Operand::Reg(d)
    }

    /// Writes a register to a place that is not a register.
    pub(in crate::interp) fn store(
        &mut self,
        address: Address,
        kind: Kind,
        bits: Option<(u64, u32)>,
        a: R,
    ) {
        if let Some((offset, width)) = bits {
            let pointer = self.pointer_to(address);
            self.rare(Rare::StoreBits {
                a,
                pointer,
                offset,
                width,
            });
            return;
        }
        let (access, _) = access(kind);
        self.emit(match address {
            Address::Static { object, offset } => Instr::StoreStatic {
                access,
                a,
                object,
                offset,
            },
            Address::Slot { slot, offset } => Instr::StoreSlot {
                access,
                a,
                slot,
                offset,
            },
            Address::Pointer { pointer, offset } => Instr::Store {
                access,
                a,
                pointer,
                offset,
            },
            Address::Register(d) => Instr::Move { d, a },
        });
    }
}

/// How values of a kind stand in memory, and whether what is read needs no further work.
pub(in crate::interp) fn access(kind: Kind) -> (Access, bool) {
    match kind {
        Kind::Bool => (Access::Bool, true),
        Kind::Int { width, signed } => {
            let access = match (width, signed) {
                (..=8, true) => Access::I8,
                (..=8, false) => Access::U8,
                (..=16, true) => Access::I16,
                (..=16, false) => Access::U16,
                (..=32, true) => Access::I32,
                (..=32, false) => Access::U32,
                (..=64, _) => Access::W64,
                _ => Access::W128,
            };
            (access, matches!(width, 8 | 16 | 32 | 64) || width > 64)
        }
        Kind::Float(kind) => match super::super::float::width(kind) {
            16 => (Access::U16, true),
            32 => (Access::U32, true),
            64 => (Access::W64, true),
            80 => (Access::X87, true),
            _ => (Access::W128, true),
        },
        Kind::Pointer { width: 32 } => (Access::P32, true),
        Kind::Pointer { .. } => (Access::P64, true),
    }
}
