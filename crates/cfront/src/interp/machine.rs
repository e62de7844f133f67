//! The state of a run, and what every instruction may do to it.

use super::addresses::{FUNCTIONS, stack_bottom, stack_top};
use super::code::{ExprCode, FunctionCode, R};
use super::environment::{Environment, Request, Wanted};
use super::memory::{Access, Life, Memory, Provenance};
use super::scalar::{Kind, Reg};
use super::{ConsumedInput, Interpreter, Outcome, TraceMode, TrapKind, compile};
use crate::ids::{EdgeId, ExprId, FuncId, VarId};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// A slot of a frame whose object does not live.
pub(super) const NO_OBJECT: u32 = 0;

/// An active call.
pub(super) struct Frame<'i> {
    pub code: &'i FunctionCode,
    /// Where the caller goes on.
    pub return_to: usize,
    /// Its first register.
    pub base: usize,
    /// Its first entry in the table of slots.
    pub slots: usize,
    /// Its first entry in the list of objects that live until it returns.
    pub allocated: usize,
    /// The lowest address of its own objects, and the address above which its callers' are.
    pub bottom: u64,
    pub top: u64,
}

/// Why a run ends.
pub(super) enum End {
    Outcome(Outcome),
    Trap(TrapKind),
    OutOfInputs,
}

impl From<TrapKind> for End {
    fn from(kind: TrapKind) -> End {
        End::Trap(kind)
    }
}

/// The state of a run.
pub(super) struct Machine<'i> {
    pub interpreter: &'i Interpreter<'i>,
    pub environment: &'i mut dyn Environment,
    pub memory: Memory,
    pub registers: Vec<Reg>,
    pub frames: Vec<Frame<'i>>,
    /// The first register and slot of the active call.
    pub base: usize,
    pub slot_base: usize,
    /// The object of each slot of each active call.
    pub slots: Vec<u32>,
    /// Objects made by `alloca`.
    pub allocated: Vec<u32>,
    pub stack_pointer: u64,
    /// The object of a record that was just returned.
    pub returned: Option<u32>,
    pub zero_unknowns: bool,
    pub inputs: Vec<ConsumedInput>,
    pub unknowns: Vec<Vec<u8>>,
    /// The edge that is being executed, for requests to the environment.
    pub edge: Option<EdgeId>,
    /// Expressions that were asked for from outside.
    pub expressions: HashMap<(u32, ExprId), Rc<ExprCode>>,
    pub trace: Trace,
}

pub(super) struct Trace {
    pub mode: TraceMode,
    pub edges: VecDeque<EdgeId>,
}

impl Trace {
    #[inline]
    pub(super) fn push(&mut self, edge: EdgeId) {
        match self.mode {
            TraceMode::Off => {}
            TraceMode::First(most) => {
                if self.edges.len() < most {
                    self.edges.push_back(edge);
                }
            }
            TraceMode::Last(most) => {
                if self.edges.len() >= most {
                    self.edges.pop_front();
                }
                if most > 0 {
                    self.edges.push_back(edge);
                }
            }
        }
    }
}

impl<'i> Machine<'i> {
    /// A machine at rest.
    pub(super) fn new(
        interpreter: &'i Interpreter<'i>,
        environment: &'i mut dyn Environment,
        memory: Memory,
        trace: TraceMode,
    ) -> Machine<'i> {
        let zero_unknowns = environment.unknown_is_zero();
        Machine {
            interpreter,
            environment,
            memory,
            registers: Vec::new(),
            frames: Vec::new(),
            base: 0,
            slot_base: 0,
            slots: Vec::new(),
            allocated: Vec::new(),
            stack_pointer: stack_top(interpreter.program.types.model()),
            returned: None,
            zero_unknowns,
            inputs: Vec::new(),
            unknowns: Vec::new(),
            edge: None,
            expressions: HashMap::new(),
            trace: Trace {
                mode: trace,
                edges: VecDeque::new(),
            },
        }
    }

    #[inline(always)]
    pub(super) fn get(&self, r: R) -> Reg {
        self.registers[self.base + r as usize]
    }

    #[inline(always)]
    pub(super) fn set(&mut self, r: R, value: Reg) {
        self.registers[self.base + r as usize] = value;
    }

    #[inline(always)]
    pub(super) fn low(&self, r: R) -> u64 {
        self.registers[self.base + r as usize].low
    }

    #[inline(always)]
    pub(super) fn set_low(&mut self, r: R, low: u64) {
        self.registers[self.base + r as usize] = Reg { low, high: 0 };
    }

    /// Asks the environment for unknown contents of a new object.
    pub(super) fn fill_unknown(&mut self, object: u32) {
        let (size, _) = self.memory.describe(object);
        self.unknown_range(object, 0, size as usize);
    }

    /// Asks the environment for what a variable holds before the program starts.
    pub(super) fn fill_variable(&mut self, object: u32, variable: VarId) {
        let (size, _) = self.memory.describe(object);
        let request = self.request(Wanted::Bytes);
        let bytes = self.memory.bytes_mut(object, 0, size as usize);
        self.environment.unknown_variable(request, variable, bytes);
        self.unknowns.push(bytes.to_vec());
        self.memory.unwrite(object, 0, size as usize);
    }

    /// Asks the environment for unknown contents of some bytes.
    pub(super) fn unknown_range(&mut self, object: u32, offset: usize, size: usize) {
        let request = self.request(Wanted::Bytes);
        let bytes = self.memory.bytes_mut(object, offset, size);
        bytes.fill(0);
        if !self.zero_unknowns {
            self.environment.unknown(request, bytes);
            self.unknowns.push(bytes.to_vec());
        }
        self.memory.unwrite(object, offset, size);
    }

    /// An unknown scalar; what a variable holds before it is written, if there is one.
    pub(super) fn unknown_scalar(&mut self, kind: Kind, variable: Option<VarId>) -> Reg {
        self.memory.leave_open();
        if self.zero_unknowns {
            return Reg::default();
        }
        let mut bytes = [0; 16];
        let size = kind.width().div_ceil(8) as usize;
        let request = self.request(match kind {
            Kind::Pointer { .. } => Wanted::Pointer,
            _ => Wanted::Number,
        });
        let asked = &mut bytes[..size];
        match variable {
            Some(variable) => self.environment.unknown_variable(request, variable, asked),
            None => self.environment.unknown(request, asked),
        }
        self.unknowns.push(bytes[..size].to_vec());
        self.received(kind, u128::from_le_bytes(bytes))
    }

    /// A request of the edge that is being executed.
    pub(super) fn request(&self, wanted: Wanted) -> Request<'i> {
        Request {
            program: self.interpreter.program,
            edge: self.edge,
            wanted,
        }
    }

    /// The register for bits that come from outside.
    pub(super) fn received(&self, kind: Kind, bits: u128) -> Reg {
        let mut reg = kind.reg(bits);
        if let Kind::Pointer { .. } = kind {
            reg.high = self.resolve(reg.low);
        }
        reg
    }

    /// The object that an address belongs to which comes from an integer.
    pub(super) fn resolve(&self, address: u64) -> Provenance {
        if address < FUNCTIONS {
            return 0;
        }
        if address < self.stack_pointer {
            return self.memory.resolve(address);
        }
        // Frames have smaller and smaller addresses.
        let position = self.frames.partition_point(|frame| frame.bottom > address);
        for i in position.saturating_sub(1)..self.frames.len().min(position + 1) {
            let frame = &self.frames[i];
            let slots_end = self.frames.get(i + 1).map_or(self.slots.len(), |f| f.slots);
            let allocated_end = self
                .frames
                .get(i + 1)
                .map_or(self.allocated.len(), |f| f.allocated);
            let slots = &self.slots[frame.slots..slots_end];
            let allocated = &self.allocated[frame.allocated..allocated_end];
            for &object in slots
                .iter()
                .chain(allocated)
                .filter(|&&object| object != NO_OBJECT)
            {
                if let Some(provenance) = self.memory.resolve_in(object, address) {
                    return provenance;
                }
            }
        }
        0
    }

    /// Makes an object on the stack that lives until the active call returns.
    pub(super) fn allocate_on_stack(&mut self, size: u64) -> Result<u32, TrapKind> {
        let room = size.saturating_add(16 + 15) & !15;
        let bottom = stack_bottom(self.interpreter.program.types.model());
        if room > self.stack_pointer - bottom {
            return Err(TrapKind::StackOverflow);
        }
        self.stack_pointer -= room;
        let object = self.memory.create(self.stack_pointer, size, Life::Frame)?;
        self.allocated.push(object);
        if let Some(frame) = self.frames.last_mut() {
            frame.bottom = self.stack_pointer;
        }
        Ok(object)
    }

    /// The object of a slot. Its life begins now if a jump went past its declaration.
    #[inline(always)]
    pub(super) fn slot_object(&mut self, slot: u32) -> Result<u32, TrapKind> {
        let object = self.slots[self.slot_base + slot as usize];
        if object != NO_OBJECT {
            Ok(object)
        } else {
            self.declare(slot)
        }
    }

    /// Begins the life of a slot's object.
    pub(super) fn declare(&mut self, slot: u32) -> Result<u32, TrapKind> {
        let object = self.begin(slot)?;
        if !self.zero_unknowns {
            self.fill_unknown(object);
        }
        Ok(object)
    }

    /// Begins the life of the object of a slot that lives from the call on.
    pub(super) fn declare_at_entry(&mut self, slot: u32) -> Result<(), TrapKind> {
        let object = self.begin(slot)?;
        if let Some(frame) = self.frames.last()
            && !self.zero_unknowns
        {
            let layout = &self.interpreter.layout.frames[frame.code.function.index()];
            self.fill_variable(object, layout.slot_variables[slot as usize]);
        }
        Ok(())
    }

    fn begin(&mut self, slot: u32) -> Result<u32, TrapKind> {
        self.end_scope(slot);
        let Some(frame) = self.frames.last() else {
            return Err(TrapKind::WildPointer);
        };
        let described = &frame.code.slots[slot as usize];
        let start = (frame.top - frame.code.frame_size).next_multiple_of(frame.code.frame_align);
        let (base, size) = (start + described.offset, described.size);
        let object = self.memory.create(base, size, Life::Frame)?;
        self.slots[self.slot_base + slot as usize] = object;
        self.memory.unwrite(object, 0, size as usize);
        Ok(object)
    }

    /// Ends the life of a slot's object.
    pub(super) fn end_scope(&mut self, slot: u32) {
        let object = std::mem::replace(&mut self.slots[self.slot_base + slot as usize], NO_OBJECT);
        if object != NO_OBJECT {
            self.memory.kill(object);
        }
    }

    pub(super) fn code(&self, function: FuncId) -> &'i FunctionCode {
        let interpreter = self.interpreter;
        interpreter.functions[function.index()]
            .get_or_init(|| compile::function(interpreter.program, &interpreter.layout, function))
    }

    /// The pointer that a load gives: one that was stored without its object belongs to the
    /// object that its address lies in.
    #[inline(always)]
    pub(super) fn loaded(&self, access: Access, value: Reg) -> Reg {
        if value.high == 0 && value.low != 0 && matches!(access, Access::P32 | Access::P64) {
            Reg {
                low: value.low,
                high: self.resolve(value.low),
            }
        } else {
            value
        }
    }
}
