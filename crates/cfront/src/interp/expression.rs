//! Compiles expressions and places to the machine's code.
//!
//! Expressions may be very deep, so the walk keeps its own stack. A temporary register is free
//! again as soon as the operator that uses it has been emitted.

mod arithmetic;
mod place;

use super::addresses::function_address;
use super::code::{Cmp, Code, Instr, Norm, R, Rare, Shape, Storage};
use super::layout::{Path, Root, path};
use super::scalar::Kind;
use crate::ids::{ExprId, TypeId};
use crate::program::{BinaryOp, ExprKind, Program, UnaryOp};

pub(super) use place::access;

/// An operand: a register, or a small number that stands for a register with that low half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Reg(R),
    Imm(i32),
}

/// Where a place is, once its parts are computed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Address {
    Register(R),
    Static { object: u32, offset: u32 },
    Slot { slot: u32, offset: u32 },
    Pointer { pointer: R, offset: u32 },
}

/// Emits code for one function or expression.
pub(super) struct Emitter<'p> {
    pub program: &'p Program,
    pub storage: &'p [Storage],
    pub code: Code,
    /// The next free temporary.
    pub next: R,
}

enum Work {
    Expr {
        id: ExprId,
        dest: Option<R>,
    },
    Finish {
        id: ExprId,
        dest: Option<R>,
        mark: R,
    },
    FinishPlace {
        id: ExprId,
        path: Box<Path>,
        dest: Option<R>,
        mark: R,
    },
    Branch {
        id: ExprId,
        dest: Option<R>,
        mark: R,
    },
    Otherwise {
        d: R,
        otherwise: ExprId,
        patch: usize,
    },
    Join {
        d: R,
        patch: usize,
    },
    LogicRight {
        id: ExprId,
        dest: Option<R>,
        mark: R,
    },
    LogicJoin {
        id: ExprId,
        d: R,
        patch: usize,
    },
}

impl<'p> Emitter<'p> {
    pub(super) fn new(program: &'p Program, storage: &'p [Storage], first: R) -> Emitter<'p> {
        let code = Code {
            registers: first,
            ..Code::default()
        };
        Emitter {
            program,
            storage,
            code,
            next: first,
        }
    }

    pub(super) fn emit(&mut self, instr: Instr) -> usize {
        self.code.instrs.push(instr);
        self.code.instrs.len() - 1
    }

    pub(super) fn rare(&mut self, rare: Rare) {
        self.code.rare.push(rare);
        self.emit(Instr::Rare {
            index: self.code.rare.len() as u32 - 1,
        });
    }

    pub(super) fn temporary(&mut self) -> R {
        self.next += 1;
        self.code.registers = self.code.registers.max(self.next);
        self.next - 1
    }

    pub(super) fn here(&self) -> u32 {
        self.code.instrs.len() as u32
    }

    /// Makes a jump that was emitted earlier lead here.
    pub(super) fn patch(&mut self, position: usize) {
        let target = self.here();
        self.set_target(position, target);
    }

    pub(super) fn set_target(&mut self, position: usize, target: u32) {
        match &mut self.code.instrs[position] {
            Instr::Jump { to }
            | Instr::EdgeJump { to, .. }
            | Instr::BranchZero { to, .. }
            | Instr::BranchNonZero { to, .. }
            | Instr::BranchCmp { to, .. }
            | Instr::BranchCmpImm { to, .. } => *to = target,
            _ => {}
        }
    }

    pub(super) fn kind(&self, ty: TypeId) -> Option<Kind> {
        Kind::of(&self.program.types, ty)
    }

    /// The kind of an expression's value; records count as the pointer that stands for them.
    fn expr_kind(&self, id: ExprId) -> Kind {
        self.kind(self.program.expr(id).ty)
            .unwrap_or(self.pointer_kind())
    }

    fn pointer_kind(&self) -> Kind {
        Kind::Pointer {
            width: self.program.types.model().pointer_size() as u32 * 8,
        }
    }

    /// What an expression's value is passed as.
    pub(super) fn shape(&self, ty: TypeId) -> Shape {
        match self.kind(ty) {
            Some(kind) => Shape::Scalar(kind),
            None => Shape::Record(self.program.types.size_of(ty)),
        }
    }

    pub(super) fn register(&mut self, operand: Operand) -> R {
        match operand {
            Operand::Reg(r) => r,
            Operand::Imm(imm) => {
                let d = self.temporary();
                self.emit(Instr::ConstImm { d, imm });
                d
            }
        }
    }

    /// Computes an expression. The value of a record is the address of the place that holds it.
    pub(super) fn expr(&mut self, root: ExprId, dest: Option<R>) -> Operand {
        let mut values: Vec<Operand> = Vec::new();
        let mut work = vec![Work::Expr { id: root, dest }];
        while let Some(item) = work.pop() {
            match item {
                Work::Expr { id, dest } => self.start(id, dest, &mut work, &mut values),
                Work::Finish { id, dest, mark } => {
                    let value = self.finish(id, dest, mark, &mut values);
                    values.push(value);
                }
                Work::FinishPlace {
                    id,
                    path,
                    dest,
                    mark,
                } => {
                    let value = self.finish_place(id, &path, dest, mark, &mut values);
                    values.push(value);
                }
                Work::Branch { id, dest, mark } => {
                    let ExprKind::Conditional {
                        condition,
                        then,
                        otherwise,
                    } = self.program.expr(id).kind
                    else {
                        continue;
                    };
                    let value = pop(&mut values);
                    let kind = self.expr_kind(condition);
                    let patch = self.branch_on(value, kind, false);
                    self.next = mark;
                    let d = dest.unwrap_or_else(|| self.temporary());
                    work.push(Work::Otherwise {
                        d,
                        otherwise,
                        patch,
                    });
                    work.push(Work::Expr {
                        id: then,
                        dest: Some(d),
                    });
                }
                Work::Otherwise {
                    d,
                    otherwise,
                    patch,
                } => {
                    values.pop();
                    let end = self.emit(Instr::Jump { to: 0 });
                    self.patch(patch);
                    work.push(Work::Join { d, patch: end });
                    work.push(Work::Expr {
                        id: otherwise,
                        dest: Some(d),
                    });
                }
                Work::Join { d, patch } => {
                    values.pop();
                    self.patch(patch);
                    values.push(Operand::Reg(d));
                }
                Work::LogicRight { id, dest, mark } => {
                    let ExprKind::Binary(op, left, right) = self.program.expr(id).kind else {
                        continue;
                    };
                    let value = pop(&mut values);
                    let kind = self.expr_kind(left);
                    let patch = self.branch_on(value, kind, op == BinaryOp::Or);
                    self.next = mark;
                    let d = dest.unwrap_or_else(|| self.temporary());
                    work.push(Work::LogicJoin { id, d, patch });
                    work.push(Work::Expr {
                        id: right,
                        dest: None,
                    });
                }
                Work::LogicJoin { id, d, patch } => {
                    let ExprKind::Binary(op, _, right) = self.program.expr(id).kind else {
                        continue;
                    };
                    let value = pop(&mut values);
                    let kind = self.expr_kind(right);
                    self.truth(value, kind, d);
                    let end = self.emit(Instr::Jump { to: 0 });
                    self.patch(patch);
                    self.emit(Instr::ConstImm {
                        d,
                        imm: i32::from(op == BinaryOp::Or),
                    });
                    self.patch(end);
                    values.push(Operand::Reg(d));
                }
            }
        }
        pop(&mut values)
    }

    fn start(
        &mut self,
        id: ExprId,
        dest: Option<R>,
        work: &mut Vec<Work>,
        values: &mut Vec<Operand>,
    ) {
        let mark = self.next;
        let operand = |id| Work::Expr { id, dest: None };
        match self.program.expr(id).kind {
            ExprKind::Int(bits) => {
                let kind = self.expr_kind(id);
                let value = self.constant(kind, bits, dest);
                values.push(value);
            }
            ExprKind::Float(bits) => {
                let kind = self.expr_kind(id);
                let value = self.constant(kind, bits, dest);
                values.push(value);
            }
            ExprKind::Function(function) => {
                let address = function_address(function);
                let kind = Kind::Int {
                    width: 64,
                    signed: false,
                };
                let value = self.constant(kind, u128::from(address), dest);
                values.push(value);
            }
            ExprKind::HeapIs { fact, end } => {
                let d = self.target(dest, mark);
                self.rare(Rare::HeapIs { d, fact, end });
                values.push(Operand::Reg(d));
            }
            ExprKind::Load(place) | ExprKind::AddressOf(place) => {
                let path = Box::new(path(self.program, place));
                let (root, indices) = (path.root, path.indices.clone());
                work.push(Work::FinishPlace {
                    id,
                    path,
                    dest,
                    mark,
                });
                // Computed in this order: the root, then the indices from the last one back.
                work.extend(indices.iter().map(|&(index, _)| operand(index)));
                if let Root::Deref(pointer) = root {
                    work.push(operand(pointer));
                }
            }
            ExprKind::Unary(_, a) | ExprKind::Convert(a) => {
                work.push(Work::Finish { id, dest, mark });
                work.push(operand(a));
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, _) => {
                work.push(Work::LogicRight { id, dest, mark });
                work.push(operand(left));
            }
            ExprKind::Conditional { condition, .. } => {
                work.push(Work::Branch { id, dest, mark });
                work.push(operand(condition));
            }
            ExprKind::Rounded { op, mode, operands } => {
                work.push(Work::Finish { id, dest, mark });
                work.extend(operands[..op.arity()].iter().rev().map(|&a| operand(a)));
                work.push(operand(mode));
            }
            ExprKind::ValidFree { pointer }
            | ExprKind::PointsToConstant { pointer }
            | ExprKind::ObjectSize { pointer }
            | ExprKind::Open { pointer } => {
                work.push(Work::Finish { id, dest, mark });
                work.push(operand(pointer));
            }
            ExprKind::Binary(_, left, right)
            | ExprKind::PointerAdd {
                pointer: left,
                index: right,
                ..
            }
            | ExprKind::PointerDifference { left, right, .. }
            | ExprKind::Overflows { left, right, .. }
            | ExprKind::ValidAccess {
                pointer: left,
                size: right,
            } => {
                work.push(Work::Finish { id, dest, mark });
                work.push(operand(right));
                work.push(operand(left));
            }
        }
    }

    fn constant(&mut self, kind: Kind, bits: u128, dest: Option<R>) -> Operand {
        let reg = kind.reg(bits);
        if reg.high == 0
            && let Ok(imm) = i32::try_from(reg.low as i64)
        {
            return self.deliver(Operand::Imm(imm), dest);
        }
        let d = dest.unwrap_or_else(|| self.temporary());
        self.code
            .consts
            .push(u128::from(reg.low) | u128::from(reg.high) << 64);
        self.emit(Instr::Const {
            d,
            index: self.code.consts.len() as u32 - 1,
        });
        if let Kind::Pointer { .. } = kind {
            self.emit(Instr::ToPointer { d, a: d });
        }
        Operand::Reg(d)
    }

    /// Moves an operand to where it is wanted, if it is wanted anywhere.
    fn deliver(&mut self, operand: Operand, dest: Option<R>) -> Operand {
        match (operand, dest) {
            (Operand::Reg(a), Some(d)) if a != d => {
                self.emit(Instr::Move { d, a });
            }
            (Operand::Imm(imm), Some(d)) => {
                self.emit(Instr::ConstImm { d, imm });
            }
            _ => return operand,
        }
        dest.map_or(operand, Operand::Reg)
    }

    /// Jumps (to be patched) if the value's truth is `when`.
    pub(super) fn branch_on(&mut self, value: Operand, kind: Kind, when: bool) -> usize {
        let value = self.register(value);
        let a = if matches!(kind, Kind::Float(_)) || !kind.narrow() {
            let d = self.temporary();
            self.rare(Rare::Convert {
                from: kind,
                to: Kind::Bool,
                d,
                a: value,
            });
            d
        } else {
            value
        };
        self.emit(match when {
            true => Instr::BranchNonZero { a, to: 0 },
            false => Instr::BranchZero { a, to: 0 },
        })
    }

    /// Puts 1 into a register if the value is not zero, else 0.
    fn truth(&mut self, value: Operand, kind: Kind, d: R) {
        match value {
            Operand::Imm(imm) => {
                self.emit(Instr::ConstImm {
                    d,
                    imm: i32::from(imm != 0),
                });
            }
            Operand::Reg(a) if matches!(kind, Kind::Float(_)) || !kind.narrow() => {
                self.rare(Rare::Convert {
                    from: kind,
                    to: Kind::Bool,
                    d,
                    a,
                });
            }
            Operand::Reg(a) => {
                self.emit(Instr::CmpImm {
                    op: Cmp::Ne,
                    signed: false,
                    d,
                    a,
                    imm: 0,
                });
            }
        }
    }

    fn finish(
        &mut self,
        id: ExprId,
        dest: Option<R>,
        mark: R,
        values: &mut Vec<Operand>,
    ) -> Operand {
        let expr = self.program.expr(id);
        let kind = self.expr_kind(id);
        match expr.kind {
            ExprKind::Convert(a) => {
                let value = pop(values);
                self.convert(value, self.expr_kind(a), kind, dest, mark)
            }
            ExprKind::Unary(op, a) => {
                let from = self.expr_kind(a);
                let value = pop(values);
                let a = self.register(value);
                let d = self.target(dest, mark);
                let fast = from.narrow() && !matches!(from, Kind::Float(_));
                let norm = Norm::of(from);
                match op {
                    UnaryOp::Not if fast => {
                        self.emit(Instr::CmpImm {
                            op: Cmp::Eq,
                            signed: false,
                            d,
                            a,
                            imm: 0,
                        });
                    }
                    UnaryOp::Negate if fast => {
                        self.emit(Instr::Negate { norm, d, a });
                    }
                    UnaryOp::BitNot if fast => {
                        self.emit(Instr::BitNot { norm, d, a });
                    }
                    _ => self.rare(Rare::Unary {
                        op,
                        kind: from,
                        to: kind,
                        d,
                        a,
                    }),
                }
                Operand::Reg(d)
            }
            ExprKind::Binary(op, left, right) => {
                let b = pop(values);
                let a = pop(values);
                let kinds = (self.expr_kind(left), self.expr_kind(right));
                self.binary(op, kinds, kind, (a, b), dest, mark)
            }
            ExprKind::Rounded { op, operands, .. } => {
                let from = self.expr_kind(operands[0]);
                self.rounded(op, from, kind, dest, mark, values)
            }
            ExprKind::PointerAdd { scale, .. } => {
                let b = pop(values);
                let a = pop(values);
                let a = self.register(a);
                let d = self.pointer_add(a, b, scale, dest, mark);
                Operand::Reg(d)
            }
            ExprKind::PointerDifference { scale, .. } => {
                let (a, b) = self.two(values);
                let d = self.target(dest, mark);
                self.rare(Rare::Difference {
                    d,
                    a,
                    b,
                    scale: scale.max(1),
                });
                Operand::Reg(d)
            }
            ExprKind::Overflows {
                op,
                left,
                right,
                at,
            } => {
                let (a, b) = self.two(values);
                let d = self.target(dest, mark);
                let at = self.kind(at).unwrap_or(kind);
                let (left, right) = (self.expr_kind(left), self.expr_kind(right));
                self.rare(Rare::Overflows {
                    op,
                    left,
                    right,
                    at,
                    d,
                    a,
                    b,
                });
                Operand::Reg(d)
            }
            ExprKind::ValidAccess { .. } => {
                let (pointer, size) = self.two(values);
                let d = self.target(dest, mark);
                self.rare(Rare::ValidAccess { d, pointer, size });
                Operand::Reg(d)
            }
            ExprKind::ValidFree { .. } => {
                let value = pop(values);
                let pointer = self.register(value);
                let d = self.target(dest, mark);
                self.rare(Rare::ValidFree { d, pointer });
                Operand::Reg(d)
            }
            ExprKind::PointsToConstant { .. } => {
                let value = pop(values);
                let pointer = self.register(value);
                let d = self.target(dest, mark);
                self.rare(Rare::PointsToConstant { d, pointer });
                Operand::Reg(d)
            }
            ExprKind::Open { .. } => {
                let value = pop(values);
                let pointer = self.register(value);
                let d = self.target(dest, mark);
                self.rare(Rare::Open {
                    d,
                    pointer,
                    to: kind,
                });
                Operand::Reg(d)
            }
            ExprKind::ObjectSize { .. } => {
                let value = pop(values);
                let pointer = self.register(value);
                let d = self.target(dest, mark);
                self.rare(Rare::ObjectSize {
                    d,
                    pointer,
                    to: kind,
                });
                Operand::Reg(d)
            }
            // These never wait for operands.
            _ => Operand::Imm(0),
        }
    }
}

fn pop(values: &mut Vec<Operand>) -> Operand {
    // Every operator finds the operands that it asked for.
    values.pop().unwrap_or(Operand::Imm(0))
}
