//! Compiles a function's control-flow graph to the machine's code.

use super::code::{
    Argument, Cmp, ExprCode, FunctionCode, Instr, Rare, Shape, Site, Storage, Target,
};
use super::expression::{Address, Emitter, Operand};
use super::layout::Layout;
use super::scalar::Kind;
use crate::ids::{EdgeId, ExprId, FuncId, LocId, PlaceId, VarId};
use crate::program::{Callee, Edge, ExprKind, Gap, LocationKind, Op, Program, UnaryOp};
use crate::unwritten::read_unwritten;

/// Compiles a function.
pub(super) fn function(program: &Program, layout: &Layout, id: FuncId) -> FunctionCode {
    let frame = &layout.frames[id.index()];
    let source = program.function(id);
    let emitter = Emitter::new(program, &layout.storage, frame.variables);
    let first = source.locations.start;
    let mut compiler = Compiler {
        emitter,
        layout,
        first,
        positions: vec![0; source.locations.len()],
        jumps: Vec::new(),
        first_temporary: frame.variables,
    };
    // A call enters at the first instruction.
    compiler.jump(source.entry);
    for location in source.locations.clone() {
        compiler.location(LocId(location));
    }
    for (position, target) in std::mem::take(&mut compiler.jumps) {
        let target = compiler.positions[(target.0 - first) as usize];
        compiler.emitter.set_target(position, target);
    }
    let storage = |variable: VarId| {
        let shape = compiler.emitter.shape(program.variable(variable).ty);
        (layout.storage[variable.index()], shape)
    };
    let open = read_unwritten(program, id)
        .into_iter()
        .filter_map(|variable| match storage(variable) {
            (Storage::Register(r), Shape::Scalar(kind)) => Some((r, kind, variable)),
            _ => None,
        });
    FunctionCode {
        function: id,
        variables: frame.variables,
        open: open.collect(),
        slots: frame.slots.clone(),
        frame_size: frame.frame_size,
        frame_align: frame.align,
        formals: source
            .formals
            .iter()
            .map(|&formal| storage(formal))
            .collect(),
        result: source.result.map(storage),
        code: compiler.emitter.code,
    }
}

/// Compiles an expression, whose temporaries are the registers from `first` on.
pub(super) fn expression(program: &Program, layout: &Layout, first: u32, id: ExprId) -> ExprCode {
    let mut emitter = Emitter::new(program, &layout.storage, first);
    let value = emitter.expr(id, None);
    let result = emitter.register(value);
    emitter.emit(Instr::Stop);
    let shape = emitter.shape(program.expr(id).ty);
    ExprCode {
        code: emitter.code,
        result,
        shape,
    }
}

struct Compiler<'p> {
    emitter: Emitter<'p>,
    layout: &'p Layout,
    first: u32,
    /// Where the code of each location starts.
    positions: Vec<u32>,
    /// Jumps and the locations that they lead to.
    jumps: Vec<(usize, LocId)>,
    first_temporary: u32,
}

impl<'p> Compiler<'p> {
    fn location(&mut self, id: LocId) {
        let program = self.emitter.program;
        let location = &program.locations[id.index()];
        self.positions[(id.0 - self.first) as usize] = self.emitter.here();
        match location.kind {
            LocationKind::Exit => {
                self.emitter.emit(Instr::Return);
                return;
            }
            LocationKind::Error(check) => {
                self.emitter.emit(Instr::Error { check: check.0 });
                return;
            }
            LocationKind::Halt => {
                self.emitter.emit(Instr::Halt);
                return;
            }
            LocationKind::Plain | LocationKind::LoopHead => {}
        }
        let edges: Vec<(EdgeId, &Edge)> = program.edges_from(id).collect();
        for (i, &(edge_id, edge)) in edges.iter().enumerate() {
            self.emitter.next = self.first_temporary;
            self.emitter.code.edges.push((self.emitter.here(), edge_id));
            let Op::Assume { condition, holds } = edge.op else {
                self.emitter.emit(Instr::Edge { edge: edge_id });
                self.operation(edge);
                self.go(id, edge.to);
                // An edge that can always be taken leaves nothing to the ones behind it.
                return;
            };
            let fail = self.branch_unless(condition, holds);
            self.take(edge_id, edge.to);
            self.emitter.patch(fail);
            if let [(other_id, other)] = &edges[i + 1..]
                && other.op
                    == (Op::Assume {
                        condition,
                        holds: !holds,
                    })
            {
                self.emitter
                    .code
                    .edges
                    .push((self.emitter.here(), *other_id));
                self.take(*other_id, other.to);
                return;
            }
        }
        self.emitter.emit(Instr::Stuck);
    }

    fn jump(&mut self, to: LocId) {
        let position = self.emitter.emit(Instr::Jump { to: 0 });
        self.jumps.push((position, to));
    }

    /// Goes on at a location, which may be the next one anyway.
    fn go(&mut self, from: LocId, to: LocId) {
        if to.0 != from.0 + 1 {
            self.jump(to);
        }
    }

    fn take(&mut self, edge: EdgeId, to: LocId) {
        let position = self.emitter.emit(Instr::EdgeJump { edge, to: 0 });
        self.jumps.push((position, to));
    }

    /// Jumps (to be patched) unless the condition has a truth value.
    fn branch_unless(&mut self, condition: ExprId, holds: bool) -> usize {
        let program = self.emitter.program;
        let (mut condition, mut holds) = (condition, holds);
        while let ExprKind::Unary(UnaryOp::Not, inner) = program.expr(condition).kind {
            (condition, holds) = (inner, !holds);
        }
        let kind = |emitter: &Emitter<'_>, id: ExprId| {
            emitter.kind(program.expr(id).ty).unwrap_or(Kind::Int {
                width: 64,
                signed: false,
            })
        };
        if let ExprKind::Binary(op, left, right) = program.expr(condition).kind
            && let Some(cmp) = Cmp::of(op)
        {
            let left_kind = kind(&self.emitter, left);
            if left_kind.narrow() && !matches!(left_kind, Kind::Float(_)) {
                let a = self.emitter.expr(left, None);
                let b = self.emitter.expr(right, None);
                let (cmp, a, b) = match (a, b) {
                    (Operand::Imm(_), Operand::Reg(_)) => (cmp.mirrored(), b, a),
                    _ => (cmp, a, b),
                };
                let op = if holds { cmp.negated() } else { cmp };
                let signed = left_kind.signed();
                let a = self.emitter.register(a);
                return self.emitter.emit(match b {
                    Operand::Imm(imm) => Instr::BranchCmpImm {
                        op,
                        signed,
                        a,
                        imm,
                        to: 0,
                    },
                    Operand::Reg(b) => Instr::BranchCmp {
                        op,
                        signed,
                        a,
                        b,
                        to: 0,
                    },
                });
            }
        }
        let condition_kind = kind(&self.emitter, condition);
        let value = self.emitter.expr(condition, None);
        self.emitter.branch_on(value, condition_kind, !holds)
    }

    fn operation(&mut self, edge: &'p Edge) {
        let program = self.emitter.program;
        match &edge.op {
            Op::Skip | Op::Assume { .. } => {}
            Op::Assign { place, value } => self.assign(*place, *value),
            Op::Input { place, .. } => {
                let ty = program.place(*place).ty;
                if let Some(kind) = self.emitter.kind(ty) {
                    let d = self.emitter.temporary();
                    self.emitter.rare(Rare::Input { ty, kind, d });
                    self.write(*place, kind, d);
                }
            }
            Op::Havoc { place } => {
                let ty = program.place(*place).ty;
                match self.emitter.shape(ty) {
                    Shape::Scalar(kind) => {
                        let d = self.emitter.temporary();
                        self.emitter.rare(Rare::Unknown { kind, d });
                        self.write(*place, kind, d);
                    }
                    Shape::Record(size) => {
                        let (address, _) = self.emitter.place(*place);
                        let pointer = self.emitter.pointer_to(address);
                        self.emitter.rare(Rare::HavocRecord { pointer, size });
                    }
                }
            }
            Op::HavocMemory {
                pointer,
                size,
                input,
            } => {
                let pointer = self.value(*pointer);
                let size = size.map(|size| self.value(size));
                self.emitter.rare(Rare::HavocMemory {
                    pointer,
                    size,
                    input: *input,
                });
            }
            Op::Call {
                callee,
                arguments,
                result,
            } => self.call(callee, arguments, *result),
            Op::Declare { variable } => match self.layout.storage[variable.index()] {
                Storage::Slot(slot) => self.emitter.rare(Rare::Declare { slot }),
                Storage::Register(d) => {
                    if let Some(kind) = self.emitter.kind(program.variable(*variable).ty) {
                        self.emitter.rare(Rare::Unknown { kind, d });
                    }
                }
                Storage::Static(_) => {}
            },
            Op::EndScope { variables } => {
                let slots: Vec<u32> = variables
                    .iter()
                    .filter_map(|variable| match self.layout.storage[variable.index()] {
                        Storage::Slot(slot) => Some(slot),
                        _ => None,
                    })
                    .collect();
                if !slots.is_empty() {
                    self.emitter.rare(Rare::EndScope { slots });
                }
            }
            Op::Allocate {
                place,
                size,
                lifetime,
            } => {
                let size = self.value(*size);
                let d = self.emitter.temporary();
                self.emitter.rare(Rare::Allocate {
                    d,
                    size,
                    lifetime: *lifetime,
                });
                let kind = self.pointer_kind();
                self.write(*place, kind, d);
            }
            Op::Free { pointer } => {
                let pointer = self.value(*pointer);
                self.emitter.rare(Rare::Free { pointer });
            }
            Op::CopyMemory { to, from, size } => {
                let (to, from, size) = (self.value(*to), self.value(*from), self.value(*size));
                self.emitter.rare(Rare::CopyMemory { to, from, size });
            }
            Op::FillMemory { to, byte, size } => {
                let (to, byte, size) = (self.value(*to), self.value(*byte), self.value(*size));
                self.emitter.rare(Rare::FillMemory { to, byte, size });
            }
            Op::SetOpen { pointer, bits } => {
                let size = program.types.size_of(program.expr(*bits).ty);
                let (pointer, bits) = (self.value(*pointer), self.value(*bits));
                self.emitter.rare(Rare::SetOpen {
                    pointer,
                    bits,
                    size,
                });
            }
            Op::Unsupported { construct } => {
                let construct = &self.emitter.program.unsupported[*construct as usize];
                if construct.gap != Gap::Logic {
                    self.emitter.emit(Instr::Unsupported);
                }
            }
        }
    }

    fn pointer_kind(&self) -> Kind {
        Kind::Pointer {
            width: self.emitter.program.types.model().pointer_size() as u32 * 8,
        }
    }

    fn value(&mut self, expr: ExprId) -> u32 {
        let value = self.emitter.expr(expr, None);
        self.emitter.register(value)
    }

    /// Writes a register that holds a value of a kind to a scalar place.
    fn write(&mut self, place: PlaceId, from: Kind, value: u32) {
        let ty = self.emitter.program.place(place).ty;
        let Some(kind) = self.emitter.kind(ty) else {
            return;
        };
        let (address, path) = self.emitter.place(place);
        let mark = self.emitter.next;
        let converted = self
            .emitter
            .convert(Operand::Reg(value), from, kind, None, mark);
        let a = self.emitter.register(converted);
        self.emitter.store(address, kind, path.bits, a);
    }

    fn assign(&mut self, place: PlaceId, value: ExprId) {
        let program = self.emitter.program;
        let ty = program.place(place).ty;
        let from = self.emitter.kind(program.expr(value).ty);
        let Some(kind) = self
            .emitter
            .kind(ty)
            .filter(|_| program.types.is_scalar(ty))
        else {
            let from = self.value(value);
            let (address, _) = self.emitter.place(place);
            let to = self.emitter.pointer_to(address);
            let size = program.types.size_of(ty);
            self.emitter.rare(Rare::CopyRecord { to, from, size });
            return;
        };
        let (address, path) = self.emitter.place(place);
        match address {
            Address::Register(d) if from == Some(kind) => {
                self.emitter.expr(value, Some(d));
            }
            _ => {
                let operand = self.emitter.expr(value, None);
                let mark = self.emitter.next;
                let operand = self
                    .emitter
                    .convert(operand, from.unwrap_or(kind), kind, None, mark);
                let a = self.emitter.register(operand);
                self.emitter.store(address, kind, path.bits, a);
            }
        }
    }

    fn call(&mut self, callee: &Callee, arguments: &[ExprId], result: Option<PlaceId>) {
        let program = self.emitter.program;
        let callee = match callee {
            Callee::Direct(function) => Target::Direct(*function),
            Callee::Indirect { pointer, targets } => Target::Indirect {
                pointer: self.value(*pointer),
                targets: targets.clone(),
            },
        };
        let arguments = arguments
            .iter()
            .map(|&argument| {
                let shape = self.emitter.shape(program.expr(argument).ty);
                Argument {
                    reg: self.value(argument),
                    shape,
                }
            })
            .collect();
        let wanted = result.map(|place| {
            let kind = match self.emitter.shape(program.place(place).ty) {
                Shape::Scalar(kind) => Some(kind),
                Shape::Record(_) => None,
            };
            (self.emitter.temporary(), kind)
        });
        self.emitter.code.sites.push(Site {
            callee,
            arguments,
            result: wanted,
        });
        self.emitter.emit(Instr::Call {
            site: self.emitter.code.sites.len() as u32 - 1,
        });
        if let (Some(place), Some((value, kind))) = (result, wanted) {
            // The place is found after the call: what the callee changed counts.
            match kind {
                Some(kind) => self.write(place, kind, value),
                None => {
                    let (address, _) = self.emitter.place(place);
                    let to = self.emitter.pointer_to(address);
                    let size = program.types.size_of(program.place(place).ty);
                    self.emitter.rare(Rare::CopyRecord {
                        to,
                        from: value,
                        size,
                    });
                    self.emitter.emit(Instr::DropReturned);
                }
            }
        }
    }
}
