//! The whole state of a run at a moment, to be compared with that at another one.
//!
//! Two moments before the same edge whose snapshots are equal have the same future, as long as the
//! environment gives the same answers: a run does nothing but what its memory, its registers and
//! its calls say. What a snapshot leaves out decides nothing: objects that are dead, the numbers
//! that slots of future objects will get (pointers to objects are only ever compared with the
//! objects that live), and what the limits have left.

use super::machine::Machine;
use super::memory::Memory;
use super::scalar::Reg;
use super::state::State;
use crate::ids::EdgeId;
use std::ops::Range;

/// The state of a run before an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    edge: Option<EdgeId>,
    frames: Vec<Call>,
    registers: Vec<Reg>,
    slots: Vec<u32>,
    allocated: Vec<u32>,
    stack_pointer: u64,
    returned: Option<u32>,
    memory: Memory,
}

/// An active call: the function, where its caller goes on, and where its things are.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    function: u32,
    return_to: usize,
    base: usize,
    slots: usize,
    allocated: usize,
    stack: Range<u64>,
}

impl Snapshot {
    fn calls(machine: &Machine<'_>) -> Vec<Call> {
        let calls = machine.frames.iter().map(|frame| Call {
            function: frame.code.function.0,
            return_to: frame.return_to,
            base: frame.base,
            slots: frame.slots,
            allocated: frame.allocated,
            stack: frame.bottom..frame.top,
        });
        calls.collect()
    }

    /// The registers of all active calls; what lies behind them belongs to nobody.
    fn registers<'m>(machine: &'m Machine<'_>) -> &'m [Reg] {
        let end = machine
            .frames
            .last()
            .map_or(0, |frame| frame.base + frame.code.code.registers as usize);
        &machine.registers[..end.min(machine.registers.len())]
    }
}

impl State<'_, '_> {
    /// The state before the edge that is about to be executed.
    pub fn snapshot(&self) -> Snapshot {
        let machine = &*self.machine;
        Snapshot {
            edge: machine.edge,
            frames: Snapshot::calls(machine),
            registers: Snapshot::registers(machine).to_vec(),
            slots: machine.slots.clone(),
            allocated: machine.allocated.clone(),
            stack_pointer: machine.stack_pointer,
            returned: machine.returned,
            memory: machine.memory.clone(),
        }
    }

    /// Whether the state is one that was before.
    pub fn is(&self, known: &Snapshot) -> bool {
        let machine = &*self.machine;
        machine.edge == known.edge
            && machine.stack_pointer == known.stack_pointer
            && machine.returned == known.returned
            && Snapshot::registers(machine) == known.registers
            && machine.slots == known.slots
            && machine.allocated == known.allocated
            && Snapshot::calls(machine) == known.frames
            && machine.memory == known.memory
    }
}
