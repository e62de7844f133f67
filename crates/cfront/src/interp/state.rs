//! What an observer sees of a running program.

use super::code::{Shape, Storage};
use super::compile;
use super::expression::access;
use super::machine::{Machine, NO_OBJECT};
use super::memory::Life;
use super::scalar::{Kind, Reg};
use super::{TrapKind, Value};
use crate::ids::{ExprId, FuncId, VarId};
use crate::program::{HeapFact, ProgramEnd, VarKind};
use std::rc::Rc;

/// An object that lives at some moment of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveObject {
    /// Its address.
    pub base: u64,
    /// Its size in bytes.
    pub size: u64,
    /// The variable that it is; `None` for one that was allocated.
    pub variable: Option<VarId>,
}

/// What an observer sees of a run.
pub struct State<'m, 'i> {
    pub(super) machine: &'m mut Machine<'i>,
}

impl State<'_, '_> {
    /// The function that is running.
    pub fn function(&self) -> FuncId {
        self.machine
            .frames
            .last()
            .map_or(self.machine.interpreter.program.entry, |frame| {
                frame.code.function
            })
    }

    /// The functions of the active calls, the outermost first.
    pub fn functions(&self) -> Vec<FuncId> {
        self.calls().map(|(function, _)| function).collect()
    }

    /// The functions of the active calls, the outermost first, each with a number that tells its
    /// caller's calls apart.
    pub fn calls(&self) -> impl Iterator<Item = (FuncId, usize)> {
        let frames = self.machine.frames.iter();
        frames.map(|frame| (frame.code.function, frame.return_to))
    }

    /// How many inputs the run was given so far.
    pub fn inputs(&self) -> usize {
        self.machine.inputs.len()
    }

    /// The number of active calls.
    pub fn depth(&self) -> usize {
        self.machine.frames.len()
    }

    /// The value of a scalar variable: of static storage, or of the function that is running.
    /// `None` if it is not alive here or not a scalar.
    pub fn variable(&mut self, variable: VarId) -> Option<Value> {
        let program = self.machine.interpreter.program;
        let described = program.variable(variable);
        let kind = Kind::of(&program.types, described.ty)?;
        if let VarKind::Formal(function)
        | VarKind::Local(function)
        | VarKind::Temporary(function)
        | VarKind::Result(function) = described.kind
            && function != self.function()
        {
            return None;
        }
        let reg = match self.machine.interpreter.layout.storage[variable.index()] {
            Storage::Register(r) => self.machine.get(r),
            Storage::Static(object) => self.machine.memory.load(object, 0, access(kind).0),
            Storage::Slot(slot) => {
                let object = self.machine.slots[self.machine.slot_base + slot as usize];
                if object == NO_OBJECT {
                    return None;
                }
                self.machine.memory.load(object, 0, access(kind).0)
            }
        };
        Some(Value {
            ty: described.ty,
            bits: kind.bits(reg),
        })
    }

    /// The value of a scalar expression over static variables and those of the function that is
    /// running, or what has no meaning in it.
    pub fn eval(&mut self, expr: ExprId) -> Result<Option<Value>, TrapKind> {
        let program = self.machine.interpreter.program;
        let ty = program.expr(expr).ty;
        let (first, function) = match self.machine.frames.last() {
            Some(frame) => (frame.code.code.registers, frame.code.function.0),
            None => (0, u32::MAX),
        };
        let code = match self.machine.expressions.get(&(function, expr)) {
            Some(code) => Rc::clone(code),
            None => {
                let layout = &self.machine.interpreter.layout;
                let code = Rc::new(compile::expression(program, layout, first, expr));
                self.machine
                    .expressions
                    .insert((function, expr), Rc::clone(&code));
                code
            }
        };
        let reg = self.machine.compute(&code)?;
        Ok(match code.shape {
            Shape::Scalar(kind) => Some(Value {
                ty,
                bits: kind.bits(reg),
            }),
            Shape::Record(_) => None,
        })
    }

    /// Where a variable lives in memory: one of static storage, or one of the function that is
    /// running. `None` if it is not alive here or lives in no memory.
    pub fn address(&self, variable: VarId) -> Option<u64> {
        let described = self.machine.interpreter.program.variable(variable);
        if let VarKind::Formal(function)
        | VarKind::Local(function)
        | VarKind::Temporary(function)
        | VarKind::Result(function) = described.kind
            && function != self.function()
        {
            return None;
        }
        let object = match *self
            .machine
            .interpreter
            .layout
            .storage
            .get(variable.index())?
        {
            Storage::Register(_) => return None,
            Storage::Static(object) => object,
            Storage::Slot(slot) => self.machine.slots[self.machine.slot_base + slot as usize],
        };
        (object != NO_OBJECT).then(|| self.machine.memory.base(object))
    }

    /// The live object that a pointer belongs to, wherever it points now, and the distance from its
    /// first byte.
    pub fn pointee(&mut self, pointer: ExprId) -> Option<(LiveObject, i64)> {
        let program = self.machine.interpreter.program;
        let first = self.machine.frames.last();
        let first = first.map_or(0, |frame| frame.code.code.registers);
        let layout = &self.machine.interpreter.layout;
        let code = compile::expression(program, layout, first, pointer);
        let value = self.machine.compute(&code).ok()?;
        let (object, offset) = self.machine.memory.object(value)?;
        let found = self.object_at(self.machine.memory.base(object))?;
        Some((found, offset as i64))
    }

    /// The live object that an address lies in.
    pub fn object_at(&self, address: u64) -> Option<LiveObject> {
        let object = self.machine.resolve(address) as u32;
        if object == NO_OBJECT {
            return None;
        }
        let layout = &self.machine.interpreter.layout;
        let (size, life) = self.machine.memory.describe(object);
        let variable = match life {
            Life::Static => {
                let position = (object as usize).checked_sub(1)?;
                layout.statics.get(position).map(|&(id, _, _)| id)
            }
            Life::Frame => self.machine.frames.iter().rev().find_map(|frame| {
                let variables = &layout.frames[frame.code.function.index()].slot_variables;
                let slots = &self.machine.slots[frame.slots..][..variables.len()];
                let slot = slots.iter().position(|&slot| slot == object)?;
                Some(variables[slot])
            }),
            Life::Heap | Life::Dead => None,
        };
        Some(LiveObject {
            base: self.machine.memory.base(object),
            size,
            variable,
        })
    }

    /// The objects of the heap of which a fact does not hold.
    pub fn left_behind(&self, fact: HeapFact, end: ProgramEnd) -> Vec<LiveObject> {
        let memory = &self.machine.memory;
        let objects = self.machine.left_behind(fact, end).into_iter();
        let described = objects.map(|object| LiveObject {
            base: memory.base(object),
            size: memory.describe(object).0,
            variable: None,
        });
        described.collect()
    }

    /// Some bytes of memory, if they lie in the live object that the address lies in.
    pub fn bytes(&self, address: u64, size: usize) -> Option<&[u8]> {
        let pointer = Reg {
            low: address,
            high: self.machine.resolve(address),
        };
        let (object, offset) = self.machine.memory.locate(pointer, size as u64).ok()?;
        Some(self.machine.memory.bytes(object, offset, size))
    }

    /// The bytes of a variable of static storage.
    pub fn static_bytes(&self, variable: VarId) -> Option<&[u8]> {
        let storage = *self
            .machine
            .interpreter
            .layout
            .storage
            .get(variable.index())?;
        let Storage::Static(object) = storage else {
            return None;
        };
        let (size, _) = self.machine.memory.describe(object);
        Some(self.machine.memory.bytes(object, 0, size as usize))
    }
}
