//! Calls: frames, arguments, results.

use super::Limits;
use super::TrapKind;
use super::addresses::{FUNCTION_SIZE, FUNCTIONS, stack_bottom};
use super::code::{FunctionCode, Shape, Site, Storage, Target};
use super::environment::Wanted;
use super::expression::access;
use super::machine::{Frame, Machine, NO_OBJECT};
use super::scalar::{Kind, Reg};
use crate::ids::FuncId;

impl<'i> Machine<'i> {
    /// Makes a frame for a function, without its arguments.
    pub(super) fn enter(
        &mut self,
        code: &'i FunctionCode,
        base: usize,
        return_to: usize,
        limits: &Limits,
    ) -> Result<(), TrapKind> {
        let bottom = stack_bottom(self.interpreter.program.types.model());
        let registers = base + code.code.registers as usize;
        let too_large = registers as u64 * 16 > limits.memory;
        if self.frames.len() >= limits.depth
            || too_large
            || code.frame_size > self.stack_pointer - bottom
        {
            return Err(TrapKind::StackOverflow);
        }
        let top = self.stack_pointer;
        self.stack_pointer -= code.frame_size;
        let frame = Frame {
            code,
            return_to,
            base,
            slots: self.slots.len(),
            allocated: self.allocated.len(),
            bottom: self.stack_pointer,
            top,
        };
        self.base = base;
        self.slot_base = frame.slots;
        self.frames.push(frame);
        if self.registers.len() < registers {
            self.registers.resize(registers, Reg::default());
        }
        self.registers[base..base + code.variables as usize].fill(Reg::default());
        self.slots
            .resize(self.slot_base + code.slots.len(), NO_OBJECT);
        for (slot, described) in code.slots.iter().enumerate() {
            if described.at_entry {
                self.declare_at_entry(slot as u32)?;
            }
        }
        if !self.zero_unknowns {
            for &(r, kind, variable) in &code.open {
                let value = self.unknown_scalar(kind, Some(variable));
                self.set(r, value);
            }
        }
        Ok(())
    }

    /// Calls a function: makes its frame and passes the arguments.
    pub(super) fn call(
        &mut self,
        code: &'i FunctionCode,
        site: &Site,
        return_to: usize,
        limits: &Limits,
    ) -> Result<&'i FunctionCode, TrapKind> {
        let callee = match &site.callee {
            Target::Direct(function) => *function,
            Target::Indirect { pointer, targets } => {
                let address = self.low(*pointer).wrapping_sub(FUNCTIONS);
                let function = FuncId(u32::try_from(address / FUNCTION_SIZE).unwrap_or(u32::MAX));
                let known = function.index() < self.interpreter.functions.len();
                if !known || !address.is_multiple_of(FUNCTION_SIZE) || !targets.contains(&function)
                {
                    return Err(match self.low(*pointer) {
                        0 => TrapKind::NullPointer,
                        _ => TrapKind::BadCall,
                    });
                }
                function
            }
        };
        let callee = self.code(callee);
        let caller = self.base;
        self.enter(
            callee,
            caller + code.code.registers as usize,
            return_to,
            limits,
        )?;
        for (i, &(storage, shape)) in callee.formals.iter().enumerate() {
            let Some(argument) = site.arguments.get(i) else {
                // An argument that was not passed has an unknown value.
                match (storage, shape) {
                    (Storage::Register(r), Shape::Scalar(kind)) => {
                        let value = self.unknown_scalar(kind, None);
                        self.set(r, value);
                    }
                    (Storage::Slot(slot), _) => {
                        self.slot_object(slot)?;
                    }
                    _ => {}
                }
                continue;
            };
            let value = self.registers[caller + argument.reg as usize];
            match (shape, argument.shape) {
                (Shape::Scalar(kind), Shape::Scalar(from)) => {
                    let value = self.passed(value, from, kind);
                    match storage {
                        Storage::Register(r) => self.set(r, value),
                        Storage::Slot(slot) => {
                            let object = self.slot_object(slot)?;
                            self.memory.store(object, 0, access(kind).0, value);
                        }
                        Storage::Static(_) => {}
                    }
                }
                (Shape::Record(size), Shape::Record(given)) if size == given => {
                    if let Storage::Slot(slot) = storage {
                        let object = self.slot_object(slot)?;
                        let from = self.locate(value, size, Wanted::Bytes)?;
                        self.memory.copy((object, 0), from, size as usize);
                    }
                }
                _ => return Err(TrapKind::BadArguments),
            }
        }
        Ok(callee)
    }

    /// A value that is passed as one kind and received as another, which C allows only where
    /// both are alike.
    fn passed(&self, value: Reg, from: Kind, to: Kind) -> Reg {
        if from == to {
            value
        } else {
            self.received(to, from.bits(value))
        }
    }

    /// Leaves the active call, and gives back its result.
    pub(super) fn leave(&mut self) -> Option<(Reg, Shape, usize)> {
        let frame = self.frames.pop()?;
        let result = frame.code.result.map(|(storage, shape)| {
            let value = match (storage, shape) {
                (Storage::Register(r), _) => self.get(r),
                (Storage::Slot(slot), shape) => {
                    let object =
                        std::mem::replace(&mut self.slots[frame.slots + slot as usize], NO_OBJECT);
                    match shape {
                        Shape::Scalar(kind) if object != NO_OBJECT => {
                            self.memory.note_read(object, 0, access(kind).0);
                            let value = self.memory.load(object, 0, access(kind).0);
                            self.memory.kill(object);
                            self.loaded(access(kind).0, value)
                        }
                        Shape::Record(_) if object != NO_OBJECT => {
                            self.returned = Some(object);
                            self.memory.pointer(object, 0)
                        }
                        _ => Reg::default(),
                    }
                }
                (Storage::Static(_), _) => Reg::default(),
            };
            (value, shape)
        });
        for i in frame.slots..self.slots.len() {
            if self.slots[i] != NO_OBJECT {
                self.memory.kill(self.slots[i]);
            }
        }
        self.slots.truncate(frame.slots);
        for i in frame.allocated..self.allocated.len() {
            self.memory.kill(self.allocated[i]);
        }
        self.allocated.truncate(frame.allocated);
        self.stack_pointer = frame.top;
        if let Some(caller) = self.frames.last() {
            self.base = caller.base;
            self.slot_base = caller.slots;
        }
        let (value, shape) = result.unwrap_or((Reg::default(), Shape::Record(0)));
        Some((value, shape, frame.return_to))
    }

    /// Hands a result to the place of the call.
    pub(super) fn receive(
        &mut self,
        site: &Site,
        value: Reg,
        shape: Shape,
    ) -> Result<(), TrapKind> {
        match (site.result, shape) {
            (None, _) => {
                if let Some(object) = self.returned.take() {
                    self.memory.kill(object);
                }
            }
            (Some((d, Some(kind))), Shape::Scalar(from)) => {
                let value = self.passed(value, from, kind);
                self.set(d, value);
            }
            (Some((d, None)), Shape::Record(size)) if size > 0 || self.returned.is_some() => {
                self.set(d, value);
            }
            // The callee returns something else than the caller wants: it is unknown.
            (Some((d, Some(kind))), Shape::Record(_)) => {
                let value = self.unknown_scalar(kind, None);
                self.set(d, value);
            }
            (Some((_, None)), _) => return Err(TrapKind::BadArguments),
        }
        Ok(())
    }
}
