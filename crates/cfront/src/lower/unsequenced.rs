//! Operands that C evaluates in any order, where the order may matter: what each of them calls,
//! reads and writes is noted here, and judged when the whole program is known
//! (`crate::conventions`).

use super::Lower;
use super::effects::root;
use crate::ids::{FuncId, VarId};
use crate::program::Source;
use rucc_ast::{BinaryOp, UnaryOp};
use rucc_sema as sema;
use std::collections::BTreeSet;

/// Two operands of which one may do what the other one sees.
#[derive(Clone, Debug)]
pub(crate) struct Unsequenced {
    pub source: Source,
    pub left: Operand,
    pub right: Operand,
}

/// What evaluating an operand does, apart from what stays inside of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operand {
    pub calls: BTreeSet<FuncId>,
    pub reads: BTreeSet<VarId>,
    pub writes: BTreeSet<VarId>,
    /// Variables of the function itself whose address is not taken.
    own_reads: BTreeSet<u32>,
    own_writes: BTreeSet<u32>,
    pub reads_memory: bool,
    pub writes_memory: bool,
    /// Something that is not looked into.
    pub anything: bool,
}

impl Operand {
    /// Whether nothing outside of it can tell that it was evaluated.
    fn only_reads(&self) -> bool {
        self.calls.is_empty()
            && self.writes.is_empty()
            && self.own_writes.is_empty()
            && !self.writes_memory
            && !self.anything
    }

    /// Whether the other one sees what this one does to the function's own variables.
    pub(crate) fn disturbs(&self, other: &Operand) -> bool {
        let meets = |set: &BTreeSet<u32>| !set.is_disjoint(&self.own_writes);
        meets(&other.own_reads) || meets(&other.own_writes)
    }
}

/// Larger operands are not looked at: they count as doing anything.
const LARGEST: usize = 2_000;

/// What of the environment writes memory.
const WRITERS: [&str; 6] = [
    "free",
    "cfree",
    "memcpy",
    "memmove",
    "memset",
    "__VERIFIER_nondet_memory",
];

impl Lower<'_> {
    /// Notes the operands of the unit's expressions, and the values of its initialisers, whose
    /// order may matter.
    pub(super) fn note_unsequenced(&mut self) {
        let counts = self.unit.tree.counts();
        for index in 0..counts.exprs {
            let group = self.unsequenced_in(sema::ExprId::from_usize(index));
            self.note_group(group);
        }
        for index in 0..counts.decls {
            let decl = &self.unit.tree[sema::DeclId::from_usize(index)];
            if let (Some(init), sema::StorageDuration::Automatic) = (decl.init, decl.duration) {
                let entries = self.unit.tree[init].iter();
                let group = entries.map(|entry| (entry.value, Seen::Value)).collect();
                self.note_group(group);
            }
        }
    }

    fn note_group(&mut self, mut group: Vec<(sema::ExprId, Seen)>) {
        let pure = |&(e, _): &(sema::ExprId, Seen)| self.effects.of(e).is_pure();
        let Some(&(first, _)) = group.iter().find(|&part| !pure(part)) else {
            return;
        };
        // Of long lists of values only those count that do something.
        if group.len() > 100 {
            group.retain(|part| !pure(part));
        }
        let source = self.unit.source(self.unit.tree.expr_span(first));
        let operands: Vec<Operand> = group
            .iter()
            .map(|&(e, seen)| self.operand(e, seen))
            .collect();
        for (i, left) in operands.iter().enumerate() {
            for right in &operands[i + 1..] {
                if left.only_reads() && right.only_reads() {
                    continue;
                }
                self.b.unsequenced.push(Unsequenced {
                    source,
                    left: left.clone(),
                    right: right.clone(),
                });
            }
        }
    }

    /// The operands of an expression that are evaluated in any order, with whether their own
    /// value is read.
    fn unsequenced_in(&self, id: sema::ExprId) -> Vec<(sema::ExprId, Seen)> {
        match self.unit.tree[id].kind {
            sema::ExprKind::Binary { op, lhs, rhs }
                if !matches!(op, BinaryOp::LogAnd | BinaryOp::LogOr) =>
            {
                vec![(lhs, Seen::Value), (rhs, Seen::Value)]
            }
            sema::ExprKind::Subscript { base, index } => {
                vec![(base, Seen::Value), (index, Seen::Value)]
            }
            sema::ExprKind::Assign { op, lhs, rhs, .. } => {
                let seen = if op.is_some() {
                    Seen::Value
                } else {
                    Seen::Place
                };
                vec![(lhs, seen), (rhs, Seen::Value)]
            }
            sema::ExprKind::Call { callee, args } => {
                let mut list = vec![(callee, Seen::Value)];
                list.extend(self.unit.tree[args].iter().map(|&e| (e, Seen::Value)));
                list
            }
            _ => Vec::new(),
        }
    }

    fn operand(&self, id: sema::ExprId, seen: Seen) -> Operand {
        let mut out = Operand::default();
        let mut work = vec![(id, seen)];
        let mut left = LARGEST;
        while let Some((id, seen)) = work.pop() {
            if left == 0 {
                out.anything = true;
                break;
            }
            left -= 1;
            match self.unit.tree[id].kind {
                sema::ExprKind::Const(_)
                | sema::ExprKind::Str(_)
                | sema::ExprKind::LabelAddr(_)
                | sema::ExprKind::ConstantP { .. } => {}
                sema::ExprKind::Decl(decl) => {
                    if seen == Seen::Value {
                        self.touch(decl, &mut out, Access::Read);
                    }
                }
                sema::ExprKind::Member { base, .. } => {
                    // Behind a pointer, or a part of what the base is.
                    work.push((base, seen));
                }
                sema::ExprKind::Subscript { base, index } => {
                    out.reads_memory |= seen == Seen::Value && root(self.unit, id).is_none();
                    work.push((index, Seen::Value));
                    let through = root(self.unit, id).is_none();
                    work.push((base, if through { Seen::Value } else { seen }));
                }
                sema::ExprKind::Unary { op, operand } => match op {
                    UnaryOp::Deref => {
                        out.reads_memory |= seen == Seen::Value;
                        work.push((operand, Seen::Value));
                    }
                    UnaryOp::AddrOf => work.push((operand, Seen::Place)),
                    UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec => {
                        self.written(operand, &mut out);
                        work.push((operand, Seen::Value));
                    }
                    _ => work.push((operand, Seen::Value)),
                },
                sema::ExprKind::Binary { lhs, rhs, .. } | sema::ExprKind::Comma { lhs, rhs } => {
                    work.push((lhs, Seen::Value));
                    work.push((rhs, Seen::Value));
                }
                sema::ExprKind::Assign { op, lhs, rhs, .. } => {
                    self.written(lhs, &mut out);
                    let seen = if op.is_some() {
                        Seen::Value
                    } else {
                        Seen::Place
                    };
                    work.push((lhs, seen));
                    work.push((rhs, Seen::Value));
                }
                sema::ExprKind::Cond {
                    cond,
                    then,
                    otherwise,
                } => work.extend([cond, then, otherwise].map(|e| (e, Seen::Value))),
                sema::ExprKind::Cast(e)
                | sema::ExprKind::ByteSwap { operand: e }
                | sema::ExprKind::BitCount { operand: e, .. }
                | sema::ExprKind::Abs { operand: e } => work.push((e, Seen::Value)),
                sema::ExprKind::Convert { kind, operand } => {
                    let decays = matches!(
                        kind,
                        sema::Conversion::ArrayDecay | sema::Conversion::FunctionDecay
                    );
                    work.push((operand, if decays { Seen::Place } else { Seen::Value }));
                }
                sema::ExprKind::Classify { lhs, rhs, .. }
                | sema::ExprKind::Sign { lhs, rhs, .. } => {
                    work.push((lhs, Seen::Value));
                    work.extend(rhs.map(|rhs| (rhs, Seen::Value)));
                }
                sema::ExprKind::Expect { value, hint, .. } => {
                    work.push((value, Seen::Value));
                    work.push((hint, Seen::Value));
                }
                sema::ExprKind::Call { callee, args } => {
                    match self.named_callee(callee) {
                        Some(decl) => match self.functions.get(&decl) {
                            Some(&func) => {
                                out.calls.insert(func);
                            }
                            None => {
                                out.writes_memory |= WRITERS.contains(&self.name_of(decl));
                            }
                        },
                        None => {
                            out.anything = true;
                            work.push((callee, Seen::Value));
                        }
                    }
                    work.extend(self.unit.tree[args].iter().map(|&e| (e, Seen::Value)));
                }
                _ => out.anything = true,
            }
        }
        out
    }

    fn written(&self, place: sema::ExprId, out: &mut Operand) {
        match root(self.unit, place) {
            Some(decl) => self.touch(decl, out, Access::Write),
            None => out.writes_memory = true,
        }
    }

    fn touch(&self, decl: sema::DeclId, out: &mut Operand, access: Access) {
        if self.unit.tree[decl].kind != sema::DeclKind::Object {
            return;
        }
        if let Some(&variable) = self.globals.get(&decl) {
            match access {
                Access::Read => out.reads.insert(variable),
                Access::Write => out.writes.insert(variable),
            };
            return;
        }
        match access {
            Access::Read => out.own_reads.insert(decl.index() as u32),
            Access::Write => out.own_writes.insert(decl.index() as u32),
        };
        if self.effects.is_taken(decl) {
            match access {
                Access::Read => out.reads_memory = true,
                Access::Write => out.writes_memory = true,
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// What of an expression is of interest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// The value that it has.
    Value,
    /// Where it is.
    Place,
}
