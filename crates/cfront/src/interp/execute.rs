//! The machine's inner loop.

use super::code::{Code, ExprCode, Instr, IntOp};
use super::code::{FunctionCode, Shape};
use super::machine::{End, Machine};
use super::memory::Access;
use super::outside::wanted_by;
use super::scalar::Reg;
use super::state::State;
use super::{Limits, Observer, Outcome, TrapKind, Value, float};
use crate::ids::{CheckId, EdgeId};

/// How many edges are executed between two looks at the budget.
const SLICE: u64 = 1 << 16;

/// An operator on the low halves of registers.
#[inline(always)]
fn int(op: IntOp, signed: bool, a: u64, b: u64) -> Result<u64, TrapKind> {
    Ok(match op {
        IntOp::Add => a.wrapping_add(b),
        IntOp::Sub => a.wrapping_sub(b),
        IntOp::Mul => a.wrapping_mul(b),
        IntOp::Div | IntOp::Rem if b == 0 => return Err(TrapKind::DivisionByZero),
        IntOp::Div if signed => (a as i64).wrapping_div(b as i64) as u64,
        IntOp::Rem if signed => (a as i64).wrapping_rem(b as i64) as u64,
        IntOp::Div => a / b,
        IntOp::Rem => a % b,
        IntOp::Shl => {
            if b < 64 {
                a << b
            } else {
                0
            }
        }
        IntOp::Shr if signed => ((a as i64) >> b.min(63)) as u64,
        IntOp::Shr => {
            if b < 64 {
                a >> b
            } else {
                0
            }
        }
        IntOp::And => a & b,
        IntOp::Or => a | b,
        IntOp::Xor => a ^ b,
    })
}

impl<'i> Machine<'i> {
    /// Executes an instruction that does not change the flow of control.
    #[inline(always)]
    fn simple(&mut self, code: &Code, instr: Instr) -> Result<(), End> {
        match instr {
            Instr::ConstImm { d, imm } => self.set_low(d, imm as u64),
            Instr::Const { d, index } => {
                let bits = code.consts[index as usize];
                self.set(
                    d,
                    Reg {
                        low: bits as u64,
                        high: (bits >> 64) as u64,
                    },
                );
            }
            Instr::Move { d, a } => {
                let value = self.get(a);
                self.set(d, value);
            }
            Instr::Int { op, norm, d, a, b } => {
                let value = int(op, norm.signed, self.low(a), self.low(b))?;
                self.set_low(d, norm.apply(value));
            }
            Instr::IntImm {
                op,
                norm,
                d,
                a,
                imm,
            } => {
                let value = int(op, norm.signed, self.low(a), imm as u64)?;
                self.set_low(d, norm.apply(value));
            }
            Instr::Cmp {
                op,
                signed,
                d,
                a,
                b,
            } => {
                self.note_comparison(self.get(a), self.get(b));
                let holds = op.holds(signed, self.low(a), self.low(b));
                self.set_low(d, u64::from(holds));
            }
            Instr::CmpImm {
                op,
                signed,
                d,
                a,
                imm,
            } => {
                let holds = op.holds(signed, self.low(a), imm as u64);
                self.set_low(d, u64::from(holds));
            }
            Instr::Float { op, kind, d, a, b } => {
                let value = float::binary(op, kind, self.low(a).into(), self.low(b).into());
                self.set_low(d, value as u64);
            }
            Instr::Norm { norm, d, a } => {
                let value = norm.apply(self.low(a));
                self.set_low(d, value);
            }
            Instr::Negate { norm, d, a } => {
                let value = norm.apply(self.low(a).wrapping_neg());
                self.set_low(d, value);
            }
            Instr::BitNot { norm, d, a } => {
                let value = norm.apply(!self.low(a));
                self.set_low(d, value);
            }
            Instr::ToPointer { d, a } => {
                let low = self.low(a);
                let high = self.resolve(low);
                self.set(d, Reg { low, high });
            }
            Instr::PointerAdd { scale, d, a, b } => {
                let pointer = self.get(a);
                let distance = self.low(b).wrapping_mul(scale.into());
                let low = self.memory.wrap(pointer.low.wrapping_add(distance));
                self.set(
                    d,
                    Reg {
                        low,
                        high: pointer.high,
                    },
                );
            }
            Instr::PointerAddImm { d, a, imm } => {
                let pointer = self.get(a);
                let low = self.memory.wrap(pointer.low.wrapping_add(imm as u64));
                self.set(
                    d,
                    Reg {
                        low,
                        high: pointer.high,
                    },
                );
            }
            Instr::AddressStatic { d, object, offset } => {
                let pointer = self.memory.pointer(object, offset.into());
                self.set(d, pointer);
            }
            Instr::AddressSlot { d, slot, offset } => {
                let object = self.slot_object(slot)?;
                let pointer = self.memory.pointer(object, offset.into());
                self.set(d, pointer);
            }
            Instr::Load {
                access,
                d,
                pointer,
                offset,
            } => {
                let mut pointer = self.get(pointer);
                pointer.low = self.memory.wrap(pointer.low.wrapping_add(offset.into()));
                let (object, offset) =
                    self.locate(pointer, access.size() as u64, wanted_by(access))?;
                self.memory.note_read(object, offset, access);
                let value = self.memory.load(object, offset, access);
                self.set(d, self.loaded(access, value));
            }
            Instr::LoadStatic {
                access,
                d,
                object,
                offset,
            } => {
                self.bounds(object, offset, access)?;
                self.memory.note_read(object, offset as usize, access);
                let value = self.memory.load(object, offset as usize, access);
                self.set(d, self.loaded(access, value));
            }
            Instr::LoadSlot {
                access,
                d,
                slot,
                offset,
            } => {
                let object = self.slot_object(slot)?;
                self.bounds(object, offset, access)?;
                self.memory.note_read(object, offset as usize, access);
                let value = self.memory.load(object, offset as usize, access);
                self.set(d, self.loaded(access, value));
            }
            Instr::Store {
                access,
                a,
                pointer,
                offset,
            } => {
                let mut pointer = self.get(pointer);
                pointer.low = self.memory.wrap(pointer.low.wrapping_add(offset.into()));
                let size = access.size() as u64;
                let (object, offset) = self.locate_to_write(pointer, size)?;
                let value = self.get(a);
                self.memory.store(object, offset, access, value);
            }
            Instr::StoreStatic {
                access,
                a,
                object,
                offset,
            } => {
                self.bounds(object, offset, access)?;
                self.memory.writable(object)?;
                let value = self.get(a);
                self.memory.store(object, offset as usize, access, value);
            }
            Instr::StoreSlot {
                access,
                a,
                slot,
                offset,
            } => {
                let object = self.slot_object(slot)?;
                self.bounds(object, offset, access)?;
                let value = self.get(a);
                self.memory.store(object, offset as usize, access, value);
            }
            Instr::Rare { index } => self.rare(&code.rare[index as usize])?,
            Instr::DropReturned => {
                if let Some(object) = self.returned.take() {
                    self.memory.kill(object);
                }
            }
            // Control flow is the caller's business.
            _ => {}
        }
        Ok(())
    }

    #[inline(always)]
    fn bounds(&self, object: u32, offset: u32, access: Access) -> Result<(), End> {
        let (size, _) = self.memory.describe(object);
        if u64::from(offset) + access.size() as u64 > size {
            return Err(End::Trap(TrapKind::OutOfBounds));
        }
        Ok(())
    }

    /// Computes an expression in the active call.
    pub(super) fn compute(&mut self, expr: &ExprCode) -> Result<Reg, TrapKind> {
        let end = self.base + expr.code.registers as usize + 1;
        if self.registers.len() < end {
            self.registers.resize(end, Reg::default());
        }
        let mut pc = 0;
        loop {
            let instr = expr.code.instrs[pc];
            pc += 1;
            match instr {
                Instr::Stop => return Ok(self.get(expr.result)),
                Instr::Jump { to } => pc = to as usize,
                Instr::BranchZero { a, to } => {
                    if self.low(a) == 0 {
                        pc = to as usize;
                    }
                }
                Instr::BranchNonZero { a, to } => {
                    if self.low(a) != 0 {
                        pc = to as usize;
                    }
                }
                instr => match self.simple(&expr.code, instr) {
                    Ok(()) => {}
                    Err(End::Trap(kind)) => return Err(kind),
                    // An expression neither asks for inputs nor ends a run.
                    Err(_) => return Err(TrapKind::Stuck),
                },
            }
        }
    }

    /// Runs from the start of the entry function to the end of the run.
    pub(super) fn execute<O: Observer>(
        &mut self,
        entry: &'i FunctionCode,
        limits: &Limits,
        observer: &mut O,
        steps: &mut u64,
    ) -> End {
        let mut function = entry;
        let mut pc = 0;
        let mut fuel = Fuel {
            slice: 0,
            left: limits.steps,
        };
        let end = loop {
            match self.go(&mut function, &mut pc, &mut fuel, limits, observer) {
                Ok(()) => {}
                Err(end) => break end,
            }
        };
        *steps = limits.steps - fuel.left - fuel.slice;
        // A location's own end says nothing new about the edge that led to it.
        if !matches!(end, End::Outcome(_)) || self.edge.is_none() {
            self.edge = function.code.edge_at(pc.saturating_sub(1)).or(self.edge);
        }
        end
    }

    fn go<O: Observer>(
        &mut self,
        function: &mut &'i FunctionCode,
        position: &mut usize,
        fuel: &mut Fuel,
        limits: &Limits,
        observer: &mut O,
    ) -> Result<(), End> {
        let mut code = &function.code;
        let mut pc = *position;
        // The position is written back wherever the run may end.
        macro_rules! attempt {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(end) => {
                        *position = pc;
                        return Err(end.into());
                    }
                }
            };
        }
        loop {
            let instr = code.instrs[pc];
            pc += 1;
            match instr {
                Instr::Edge { edge } => {
                    attempt!(self.step(edge, fuel, limits, observer));
                }
                Instr::EdgeJump { edge, to } => {
                    attempt!(self.step(edge, fuel, limits, observer));
                    pc = to as usize;
                }
                Instr::Jump { to } => pc = to as usize,
                Instr::BranchZero { a, to } => {
                    if self.low(a) == 0 {
                        pc = to as usize;
                    }
                }
                Instr::BranchNonZero { a, to } => {
                    if self.low(a) != 0 {
                        pc = to as usize;
                    }
                }
                Instr::BranchCmp {
                    op,
                    signed,
                    a,
                    b,
                    to,
                } => {
                    self.note_comparison(self.get(a), self.get(b));
                    if op.holds(signed, self.low(a), self.low(b)) {
                        pc = to as usize;
                    }
                }
                Instr::BranchCmpImm {
                    op,
                    signed,
                    a,
                    imm,
                    to,
                } => {
                    if op.holds(signed, self.low(a), imm as u64) {
                        pc = to as usize;
                    }
                }
                Instr::Call { site } => {
                    let site = &code.sites[site as usize];
                    let callee = attempt!(self.call(function, site, pc, limits));
                    *function = callee;
                    code = &callee.code;
                    pc = 0;
                }
                Instr::Return => {
                    let Some((value, shape, return_to)) = self.leave() else {
                        return Err(End::Trap(TrapKind::Stuck));
                    };
                    let Some(caller) = self.frames.last() else {
                        let ty = function_result(self, function);
                        let value = match (shape, ty) {
                            (Shape::Scalar(kind), Some(ty)) => Some(Value {
                                ty,
                                bits: kind.bits(value),
                            }),
                            _ => None,
                        };
                        return Err(End::Outcome(Outcome::Returned(value)));
                    };
                    *function = caller.code;
                    code = &function.code;
                    pc = return_to;
                    let Instr::Call { site } = code.instrs[pc - 1] else {
                        return Err(End::Trap(TrapKind::Stuck));
                    };
                    attempt!(self.receive(&code.sites[site as usize], value, shape));
                }
                Instr::Error { check } => {
                    return Err(End::Outcome(Outcome::Violated(CheckId(check))));
                }
                Instr::Halt => {
                    let edge = self.edge.unwrap_or(EdgeId(0));
                    return Err(End::Outcome(Outcome::Halted(edge)));
                }
                Instr::Unsupported => {
                    let edge = self.edge.unwrap_or(EdgeId(0));
                    return Err(End::Outcome(Outcome::Unsupported(edge)));
                }
                Instr::Stuck | Instr::Stop => {
                    *position = pc;
                    return Err(End::Trap(TrapKind::Stuck));
                }
                instr => attempt!(self.simple(code, instr)),
            }
        }
    }

    /// Counts an edge.
    #[inline(always)]
    fn step<O: Observer>(
        &mut self,
        edge: EdgeId,
        fuel: &mut Fuel,
        limits: &Limits,
        observer: &mut O,
    ) -> Result<(), End> {
        if fuel.slice == 0 {
            fuel.refill(limits)?;
        }
        fuel.slice -= 1;
        self.edge = Some(edge);
        self.trace.push(edge);
        if O::ACTIVE {
            observer.edge(edge, &mut State { machine: self });
        }
        Ok(())
    }
}

/// The edges that may still be executed.
struct Fuel {
    /// Before the budget is looked at.
    slice: u64,
    /// After that.
    left: u64,
}

impl Fuel {
    #[cold]
    fn refill(&mut self, limits: &Limits) -> Result<(), End> {
        limits
            .budget
            .check()
            .map_err(|stopped| End::Outcome(Outcome::Stopped(stopped)))?;
        if self.left == 0 {
            return Err(End::Outcome(Outcome::StepLimit));
        }
        self.slice = SLICE.min(self.left);
        self.left -= self.slice;
        Ok(())
    }
}

fn function_result(machine: &Machine<'_>, code: &FunctionCode) -> Option<crate::ids::TypeId> {
    let program = machine.interpreter.program;
    Some(program.variable(program.function(code.function).result?).ty)
}
