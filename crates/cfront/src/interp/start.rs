//! Sets a run up: the static objects, the entry call; and closes it.

use super::code::{Shape, Storage};
use super::compile;
use super::environment::Environment;
use super::expression::access;
use super::inputs::Script;
use super::layout::first_address;
use super::machine::{End, Machine};
use super::memory::Memory;
use super::open::Watch;
use super::state::State;
use super::{Contents, Interpreter, Limits, Observer, Outcome, Run, TraceMode, TrapKind};
use crate::ids::EdgeId;
use crate::program::{Initial, InitialValue};

/// Runs a program.
pub(super) fn run<O: Observer>(
    interpreter: &Interpreter<'_>,
    environment: &mut dyn Environment,
    limits: &Limits,
    observer: &mut O,
) -> Run {
    let program = interpreter.program;
    let model = program.types.model();
    let image = interpreter
        .image
        .get_or_init(|| initial_memory(interpreter));
    let empty = || Memory::new(model, first_address(program), limits.memory);
    let memory = image.as_ref().map_or_else(|_| empty(), Clone::clone);
    let mut machine = Machine::new(interpreter, environment, memory, limits.trace);
    machine.memory.set_limit(limits.memory);
    machine.memory.place(limits.heap);
    if limits.contents == Contents::Watched {
        machine.memory.watch = Watch::Determined;
    } else if interpreter.asks {
        // What is never written must be known; nobody wants to hear of the rest.
        machine.memory.watch = Watch::Open;
    }
    let mut steps = 0;
    let end = match image {
        Ok(_) => machine.start(limits, observer, &mut steps),
        Err(kind) => End::Trap(*kind),
    };
    let edge = machine.edge.unwrap_or(EdgeId(0));
    let outcome = match end {
        End::Outcome(outcome) => outcome,
        End::Trap(kind) => Outcome::Trapped { kind, edge },
        End::OutOfInputs => Outcome::OutOfInputs(edge),
    };
    observer.end(
        &outcome,
        &mut State {
            machine: &mut machine,
        },
    );
    Run {
        outcome,
        steps,
        inputs: machine.inputs,
        unknowns: machine.unknowns,
        trace: machine.trace.edges.into(),
        determined: machine.memory.watch == Watch::Determined,
        compared_gone: machine.memory.compared_gone,
    }
}

/// The most bytes of static objects: a run holds all of them, written or not.
const MOST: u64 = 1 << 30;

/// The static objects with their initial values.
fn initial_memory(interpreter: &Interpreter<'_>) -> Result<Memory, TrapKind> {
    let program = interpreter.program;
    let mut memory = Memory::new(program.types.model(), first_address(program), u64::MAX);
    let mut all = 0u64;
    for &(_, base, size) in &interpreter.layout.statics {
        all = all.saturating_add(size);
        if all > MOST {
            return Err(TrapKind::OutOfMemory);
        }
        memory.add_static(base, size)?;
    }
    let mut nothing = Script::new(Vec::new());
    let mut machine = Machine::new(interpreter, &mut nothing, memory, TraceMode::Off);
    for (i, &(variable, _, size)) in interpreter.layout.statics.iter().enumerate() {
        let object = i as u32 + 1;
        let variable = program.variable(variable);
        let Initial::Data(parts) = &variable.initial else {
            continue;
        };
        for part in parts {
            let offset = (part.offset_bits / 8) as usize;
            match &part.value {
                InitialValue::Bytes(bytes) => {
                    let room = (size as usize).saturating_sub(offset).min(bytes.len());
                    machine
                        .memory
                        .bytes_mut(object, offset, room)
                        .copy_from_slice(&bytes[..room]);
                }
                InitialValue::Scalar(expr) => {
                    let code = compile::expression(program, &interpreter.layout, 0, *expr);
                    let value = machine.compute(&code)?;
                    if let Shape::Scalar(kind) = code.shape {
                        let (access, _) = access(kind);
                        machine.memory.locate(
                            machine.memory.pointer(object, offset as u64),
                            access.size() as u64,
                        )?;
                        machine.memory.store(object, offset, access, value);
                    }
                }
                InitialValue::Bits(expr, width) => {
                    let code = compile::expression(program, &interpreter.layout, 0, *expr);
                    let value = machine.compute(&code)?;
                    let pointer = machine.memory.pointer(object, 0);
                    machine.store_bits(pointer, part.offset_bits, *width, value)?;
                }
            }
        }
        if variable.read_only {
            machine.memory.protect(object);
        }
    }
    Ok(machine.memory)
}

impl Machine<'_> {
    fn start<O: Observer>(&mut self, limits: &Limits, observer: &mut O, steps: &mut u64) -> End {
        let program = self.interpreter.program;
        if !self.zero_unknowns {
            for (i, &(variable, ..)) in self.interpreter.layout.statics.iter().enumerate() {
                if program.variable(variable).initial == Initial::Unknown {
                    self.fill_variable(i as u32 + 1, variable);
                }
            }
        }
        let entry = self.code(program.entry);
        if let Err(kind) = self.enter(entry, 0, 0, limits) {
            return End::Trap(kind);
        }
        for (storage, shape) in &entry.formals {
            match (*storage, *shape) {
                (Storage::Register(r), Shape::Scalar(kind)) => {
                    let value = self.unknown_scalar(kind, None);
                    self.set(r, value);
                }
                (Storage::Slot(slot), _) => {
                    if let Err(kind) = self.declare(slot) {
                        return End::Trap(kind);
                    }
                }
                _ => {}
            }
        }
        self.execute(entry, limits, observer, steps)
    }
}
