//! Code for operators and conversions.

use super::super::code::{Cmp, Instr, IntOp, Norm, R, Rare};
use super::super::scalar::Kind;
use super::{Emitter, Operand, pop};
use crate::program::{BinaryOp, RoundedOp};

impl Emitter<'_> {
    pub(super) fn two(&mut self, values: &mut Vec<Operand>) -> (R, R) {
        let b = pop(values);
        let a = pop(values);
        (self.register(a), self.register(b))
    }

    /// The register for a result: the one asked for, or the first that was free before the
    /// operands were computed (an instruction reads its operands before it writes).
    pub(super) fn target(&mut self, dest: Option<R>, mark: R) -> R {
        self.next = mark;
        dest.unwrap_or_else(|| self.temporary())
    }

    /// An operation on floats whose operands and mode were computed.
    pub(super) fn rounded(
        &mut self,
        op: RoundedOp,
        from: Kind,
        to: Kind,
        dest: Option<R>,
        mark: R,
        values: &mut Vec<Operand>,
    ) -> Operand {
        let mut operands = [0; 3];
        for at in (0..op.arity()).rev() {
            let value = pop(values);
            operands[at] = self.register(value);
        }
        for at in op.arity()..operands.len() {
            operands[at] = operands[op.arity() - 1];
        }
        let mode = pop(values);
        let mode = self.register(mode);
        let d = self.target(dest, mark);
        if let Kind::Float(to) = to {
            self.rare(Rare::Rounded {
                op,
                from,
                to,
                d,
                mode,
                operands,
            });
        }
        Operand::Reg(d)
    }

    pub(super) fn pointer_add(
        &mut self,
        a: R,
        index: Operand,
        scale: u64,
        dest: Option<R>,
        mark: R,
    ) -> R {
        if let Operand::Imm(index) = index
            && let Some(imm) = i64::try_from(scale)
                .ok()
                .and_then(|s| s.checked_mul(index.into()))
            && let Ok(imm) = i32::try_from(imm)
        {
            let d = self.target(dest, mark);
            self.emit(Instr::PointerAddImm { d, a, imm });
            return d;
        }
        let mut b = self.register(index);
        let scale = match u16::try_from(scale) {
            Ok(scale) => scale,
            Err(_) => {
                let kind = Kind::Int {
                    width: 64,
                    signed: false,
                };
                let factor = self.constant(kind, u128::from(scale), None);
                let factor = self.register(factor);
                let product = self.temporary();
                let norm = Norm {
                    unused: 0,
                    signed: false,
                };
                self.emit(Instr::Int {
                    op: IntOp::Mul,
                    norm,
                    d: product,
                    a: b,
                    b: factor,
                });
                b = product;
                1
            }
        };
        let d = self.target(dest, mark);
        self.emit(Instr::PointerAdd { scale, d, a, b });
        d
    }

    /// Converts a value, with no instruction where the register stays as it is.
    pub(in crate::interp) fn convert(
        &mut self,
        value: Operand,
        from: Kind,
        to: Kind,
        dest: Option<R>,
        mark: R,
    ) -> Operand {
        let float = |kind| matches!(kind, Kind::Float(_));
        let pointer = |kind| matches!(kind, Kind::Pointer { .. });
        if from == to || pointer(from) && pointer(to) {
            return self.deliver(value, dest);
        }
        if float(from) || float(to) || !from.narrow() || !to.narrow() {
            let a = self.register(value);
            let d = self.target(dest, mark);
            self.rare(Rare::Convert { from, to, d, a });
            if pointer(to) {
                self.emit(Instr::ToPointer { d, a: d });
            }
            return Operand::Reg(d);
        }
        if to == Kind::Bool {
            let a = self.register(value);
            let d = self.target(dest, mark);
            self.truth(Operand::Reg(a), from, d);
            return Operand::Reg(d);
        }
        if let Operand::Imm(imm) = value {
            let low = Norm::of(to).apply(imm as u64);
            self.next = mark;
            return self.constant(to, u128::from(low), dest);
        }
        // The bits above the width are already right if every value of the old type is one of
        // the new type, or if the new type uses the whole register.
        let keeps = match (from.signed(), to.signed()) {
            (false, true) => to.width() > from.width(),
            (true, false) => to.width() == 64,
            _ => to.width() >= from.width(),
        } || to.width() == 64;
        let a = self.register(value);
        if keeps && !pointer(to) {
            return self.deliver(Operand::Reg(a), dest);
        }
        let d = self.target(dest, mark);
        let mut source = a;
        if !keeps {
            self.emit(Instr::Norm {
                norm: Norm::of(to),
                d,
                a,
            });
            source = d;
        }
        if pointer(to) {
            self.emit(Instr::ToPointer { d, a: source });
        }
        Operand::Reg(d)
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        (left, right): (Kind, Kind),
        to: Kind,
        (a, b): (Operand, Operand),
        dest: Option<R>,
        mark: R,
    ) -> Operand {
        let float = matches!(left, Kind::Float(_));
        if float || !left.narrow() || !right.narrow() {
            let (a, b) = (self.register(a), self.register(b));
            let d = self.target(dest, mark);
            match left {
                Kind::Float(kind) if left.narrow() && op != BinaryOp::Rem => {
                    self.emit(Instr::Float { op, kind, d, a, b });
                }
                _ => self.rare(Rare::Binary {
                    op,
                    left,
                    right,
                    to,
                    d,
                    a,
                    b,
                }),
            }
            return Operand::Reg(d);
        }
        let signed = left.signed();
        if let Some(cmp) = Cmp::of(op) {
            let (cmp, a, b) = match (a, b) {
                (Operand::Imm(_), Operand::Reg(_)) => (cmp.mirrored(), b, a),
                _ => (cmp, a, b),
            };
            let a = self.register(a);
            match b {
                Operand::Imm(imm) => {
                    let d = self.target(dest, mark);
                    self.emit(Instr::CmpImm {
                        op: cmp,
                        signed,
                        d,
                        a,
                        imm,
                    });
                    return Operand::Reg(d);
                }
                Operand::Reg(b) => {
                    let d = self.target(dest, mark);
                    self.emit(Instr::Cmp {
                        op: cmp,
                        signed,
                        d,
                        a,
                        b,
                    });
                    return Operand::Reg(d);
                }
            }
        }
        let int_op = match op {
            BinaryOp::Add => IntOp::Add,
            BinaryOp::Sub => IntOp::Sub,
            BinaryOp::Mul => IntOp::Mul,
            BinaryOp::Div => IntOp::Div,
            BinaryOp::Rem => IntOp::Rem,
            BinaryOp::Shl => IntOp::Shl,
            BinaryOp::Shr => IntOp::Shr,
            BinaryOp::BitAnd => IntOp::And,
            BinaryOp::BitOr => IntOp::Or,
            _ => IntOp::Xor,
        };
        let commutes = matches!(
            int_op,
            IntOp::Add | IntOp::Mul | IntOp::And | IntOp::Or | IntOp::Xor
        );
        let (a, b) = match (a, b) {
            (Operand::Imm(_), Operand::Reg(_)) if commutes => (b, a),
            _ => (a, b),
        };
        let a = self.register(a);
        let norm = Norm::of(left);
        let d = match b {
            Operand::Imm(imm) => {
                let d = self.target(dest, mark);
                self.emit(Instr::IntImm {
                    op: int_op,
                    norm,
                    d,
                    a,
                    imm,
                });
                d
            }
            Operand::Reg(b) => {
                let d = self.target(dest, mark);
                self.emit(Instr::Int {
                    op: int_op,
                    norm,
                    d,
                    a,
                    b,
                });
                d
            }
        };
        Operand::Reg(d)
    }
}
