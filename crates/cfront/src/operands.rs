//! What edges, expressions and places refer to: visiting it, and renumbering it.

use crate::ids::{ExprId, PlaceId, VarId};
use crate::program::*;

/// Something that an edge, an expression or a place refers to.
#[derive(Clone, Copy, Debug)]
pub enum Operand {
    /// An expression.
    Expr(ExprId),
    /// A place.
    Place(PlaceId),
}

/// Calls a function with each operand of an edge.
pub fn each_operand(op: &Op, see: &mut impl FnMut(Operand)) {
    use Operand::{Expr, Place};
    match op {
        Op::Skip | Op::Declare { .. } | Op::EndScope { .. } | Op::Unsupported { .. } => {}
        Op::Assume { condition, .. } => see(Expr(*condition)),
        Op::Assign { place, value } => {
            see(Place(*place));
            see(Expr(*value));
        }
        Op::Input { place, .. } | Op::Havoc { place } => see(Place(*place)),
        Op::HavocMemory { pointer, size, .. } => {
            see(Expr(*pointer));
            if let Some(size) = size {
                see(Expr(*size));
            }
        }
        Op::Call {
            callee,
            arguments,
            result,
        } => {
            if let Callee::Indirect { pointer, .. } = callee {
                see(Expr(*pointer));
            }
            arguments.iter().for_each(|a| see(Expr(*a)));
            if let Some(result) = result {
                see(Place(*result));
            }
        }
        Op::Allocate { place, size, .. } => {
            see(Place(*place));
            see(Expr(*size));
        }
        Op::Free { pointer } => see(Expr(*pointer)),
        Op::CopyMemory { to, from, size } => {
            [to, from, size].into_iter().for_each(|e| see(Expr(*e)));
        }
        Op::FillMemory { to, byte, size } => {
            [to, byte, size].into_iter().for_each(|e| see(Expr(*e)));
        }
        Op::SetOpen { pointer, bits } => {
            see(Expr(*pointer));
            see(Expr(*bits));
        }
    }
}

/// Calls a function with each operand of an expression.
pub fn operands_of(kind: &ExprKind, see: &mut impl FnMut(Operand)) {
    use Operand::{Expr, Place};
    match *kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Function(_) | ExprKind::HeapIs { .. } => {
        }
        ExprKind::Load(p) | ExprKind::AddressOf(p) => see(Place(p)),
        ExprKind::Unary(_, a) | ExprKind::Convert(a) => see(Expr(a)),
        ExprKind::Binary(_, a, b)
        | ExprKind::PointerAdd {
            pointer: a,
            index: b,
            ..
        }
        | ExprKind::PointerDifference {
            left: a, right: b, ..
        }
        | ExprKind::Overflows {
            left: a, right: b, ..
        }
        | ExprKind::ValidAccess {
            pointer: a,
            size: b,
        } => {
            see(Expr(a));
            see(Expr(b));
        }
        ExprKind::Rounded { op, mode, operands } => {
            see(Expr(mode));
            operands[..op.arity()].iter().for_each(|&a| see(Expr(a)));
        }
        ExprKind::Conditional {
            condition,
            then,
            otherwise,
        } => {
            see(Expr(condition));
            see(Expr(then));
            see(Expr(otherwise));
        }
        ExprKind::ValidFree { pointer }
        | ExprKind::PointsToConstant { pointer }
        | ExprKind::ObjectSize { pointer }
        | ExprKind::Open { pointer } => see(Expr(pointer)),
    }
}

/// Calls a function with each operand of a place.
pub fn operands_of_place(kind: &PlaceKind, see: &mut impl FnMut(Operand)) {
    match *kind {
        PlaceKind::Var(_) => {}
        PlaceKind::Deref(pointer) => see(Operand::Expr(pointer)),
        PlaceKind::Field(base, _) => see(Operand::Place(base)),
        PlaceKind::Index(base, index) => {
            see(Operand::Place(base));
            see(Operand::Expr(index));
        }
    }
}

/// Calls a function with some operands and all that is below them, places before expressions.
pub fn each_below(
    program: &Program,
    roots: impl IntoIterator<Item = Operand>,
    see: &mut impl FnMut(Operand),
) {
    let (mut exprs, mut places) = (Vec::new(), Vec::new());
    let sort = |operand, exprs: &mut Vec<ExprId>, places: &mut Vec<PlaceId>| match operand {
        Operand::Expr(id) => exprs.push(id),
        Operand::Place(id) => places.push(id),
    };
    for operand in roots {
        sort(operand, &mut exprs, &mut places);
    }
    loop {
        if let Some(id) = places.pop() {
            see(Operand::Place(id));
            let kind = &program.place(id).kind;
            operands_of_place(kind, &mut |below| sort(below, &mut exprs, &mut places));
        } else if let Some(id) = exprs.pop() {
            see(Operand::Expr(id));
            let kind = &program.expr(id).kind;
            operands_of(kind, &mut |below| sort(below, &mut exprs, &mut places));
        } else {
            return;
        }
    }
}

/// Visits every place that an operation reads as a value, in all its expressions.
pub fn each_load(program: &Program, op: &Op, visit: &mut impl FnMut(PlaceId)) {
    let mut roots = Vec::new();
    each_operand(op, &mut |operand| roots.push(operand));
    each_below(program, roots, &mut |operand| {
        if let Operand::Expr(id) = operand
            && let ExprKind::Load(place) = program.expr(id).kind
        {
            visit(place);
        }
    });
}

/// What an operation does to storage, apart from what a called function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// A place gets a value.
    Place(PlaceId),
    /// Bytes behind a pointer get values.
    Memory(ExprId),
    /// Anything that a pointer can reach gets any value.
    Everything,
    /// A variable begins its life, with any value.
    Begin(VarId),
    /// A variable's life ends.
    End(VarId),
    /// A block of memory is allocated.
    Allocate,
    /// The block behind a pointer is given back.
    Free(ExprId),
}

/// Visits all that an operation writes: the one place that says so. What counts as a change is
/// for the caller to say; ends of lives, say, change no value.
pub fn each_write(op: &Op, see: &mut impl FnMut(Write)) {
    match op {
        Op::Assign { place, .. } | Op::Input { place, .. } | Op::Havoc { place } => {
            see(Write::Place(*place));
        }
        Op::HavocMemory { pointer, size, .. } => {
            see(Write::Memory(*pointer));
            if size.is_none() {
                see(Write::Everything);
            }
        }
        Op::Call { result, .. } => result.iter().for_each(|&place| see(Write::Place(place))),
        Op::Declare { variable } => see(Write::Begin(*variable)),
        Op::EndScope { variables } => variables.iter().for_each(|&v| see(Write::End(v))),
        Op::Allocate { place, .. } => {
            see(Write::Place(*place));
            see(Write::Allocate);
        }
        Op::Free { pointer } => see(Write::Free(*pointer)),
        Op::CopyMemory { to, .. } | Op::FillMemory { to, .. } => see(Write::Memory(*to)),
        // What has no value is not a part of what has one.
        Op::Skip | Op::Assume { .. } | Op::SetOpen { .. } | Op::Unsupported { .. } => {}
    }
}

/// The new number of each live item.
pub(crate) fn positions(live: &[bool]) -> Vec<u32> {
    let mut next = 0;
    live.iter()
        .map(|&live| {
            let at = next;
            next += u32::from(live);
            at
        })
        .collect()
}

/// Old ids to new ones.
pub(crate) trait Renumber {
    fn expr(&self, id: ExprId) -> ExprId;

    fn place(&self, id: PlaceId) -> PlaceId;

    fn expr_kind(&self, kind: ExprKind) -> ExprKind {
        match kind {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Function(_)
            | ExprKind::HeapIs { .. } => kind,
            ExprKind::Load(p) => ExprKind::Load(self.place(p)),
            ExprKind::AddressOf(p) => ExprKind::AddressOf(self.place(p)),
            ExprKind::Unary(op, a) => ExprKind::Unary(op, self.expr(a)),
            ExprKind::Convert(a) => ExprKind::Convert(self.expr(a)),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(op, self.expr(a), self.expr(b)),
            ExprKind::PointerAdd {
                pointer,
                index,
                scale,
            } => ExprKind::PointerAdd {
                pointer: self.expr(pointer),
                index: self.expr(index),
                scale,
            },
            ExprKind::PointerDifference { left, right, scale } => ExprKind::PointerDifference {
                left: self.expr(left),
                right: self.expr(right),
                scale,
            },
            ExprKind::Rounded { op, mode, operands } => ExprKind::Rounded {
                op,
                mode: self.expr(mode),
                operands: operands.map(|a| self.expr(a)),
            },
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => ExprKind::Conditional {
                condition: self.expr(condition),
                then: self.expr(then),
                otherwise: self.expr(otherwise),
            },
            ExprKind::Overflows {
                op,
                left,
                right,
                at,
            } => ExprKind::Overflows {
                op,
                left: self.expr(left),
                right: self.expr(right),
                at,
            },
            ExprKind::ValidAccess { pointer, size } => ExprKind::ValidAccess {
                pointer: self.expr(pointer),
                size: self.expr(size),
            },
            ExprKind::ValidFree { pointer } => ExprKind::ValidFree {
                pointer: self.expr(pointer),
            },
            ExprKind::PointsToConstant { pointer } => ExprKind::PointsToConstant {
                pointer: self.expr(pointer),
            },
            ExprKind::Open { pointer } => ExprKind::Open {
                pointer: self.expr(pointer),
            },
            ExprKind::ObjectSize { pointer } => ExprKind::ObjectSize {
                pointer: self.expr(pointer),
            },
        }
    }

    fn place_kind(&self, kind: PlaceKind) -> PlaceKind {
        match kind {
            PlaceKind::Var(_) => kind,
            PlaceKind::Deref(e) => PlaceKind::Deref(self.expr(e)),
            PlaceKind::Field(p, field) => PlaceKind::Field(self.place(p), field),
            PlaceKind::Index(p, e) => PlaceKind::Index(self.place(p), self.expr(e)),
        }
    }

    fn op(&self, op: &mut Op) {
        match op {
            Op::Skip | Op::Declare { .. } | Op::EndScope { .. } | Op::Unsupported { .. } => {}
            Op::Assume { condition, .. } => *condition = self.expr(*condition),
            Op::Assign { place, value } => {
                *place = self.place(*place);
                *value = self.expr(*value);
            }
            Op::Input { place, .. } | Op::Havoc { place } => *place = self.place(*place),
            Op::HavocMemory { pointer, size, .. } => {
                *pointer = self.expr(*pointer);
                *size = size.map(|s| self.expr(s));
            }
            Op::Call {
                callee,
                arguments,
                result,
            } => {
                if let Callee::Indirect { pointer, .. } = callee {
                    *pointer = self.expr(*pointer);
                }
                for argument in arguments {
                    *argument = self.expr(*argument);
                }
                *result = result.map(|r| self.place(r));
            }
            Op::Allocate { place, size, .. } => {
                *place = self.place(*place);
                *size = self.expr(*size);
            }
            Op::Free { pointer } => *pointer = self.expr(*pointer),
            Op::CopyMemory { to, from, size } => {
                for e in [to, from, size] {
                    *e = self.expr(*e);
                }
            }
            Op::FillMemory { to, byte, size } => {
                for e in [to, byte, size] {
                    *e = self.expr(*e);
                }
            }
            Op::SetOpen { pointer, bits } => {
                *pointer = self.expr(*pointer);
                *bits = self.expr(*bits);
            }
        }
    }
}

/// New ids by position.
pub(crate) struct Positions<'a> {
    pub exprs: &'a [u32],
    pub places: &'a [u32],
}

impl Renumber for Positions<'_> {
    fn expr(&self, id: ExprId) -> ExprId {
        ExprId(self.exprs[id.index()])
    }

    fn place(&self, id: PlaceId) -> PlaceId {
        PlaceId(self.places[id.index()])
    }
}
