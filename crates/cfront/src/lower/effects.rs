//! What each expression of a unit does when it is evaluated, found in one pass over the tree's
//! arena: operands stand before what uses them, so no recursion is needed.
//!
//! Lowering asks this to decide where a value must be kept in a temporary, and whether `&&` and
//! `?:` can stay expressions.

use crate::options::LowerOptions;
use crate::parse::ParsedUnit;
use crate::program::CheckKind;
use rucc_ast::{BinaryOp, UnaryOp};
use rucc_sema::{Conversion, DeclId, ExprId, ExprKind};
use rucc_types::{ArrayLen, TypeId, TypeKind};

/// What evaluating an expression does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    /// Whether memory is written that is not named: by calls, through pointers.
    pub memory: bool,
    /// The variables that are written by name.
    pub writes: Writes,
    /// Whether it may go wrong: a division, a dereference, a call, a check that was asked for.
    pub traps: bool,
    /// Whether evaluating it takes control flow of its own (a statement expression).
    pub control: bool,
}

/// The variables that an expression writes by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writes {
    /// None.
    Nothing,
    /// Just this one.
    One(DeclId),
    /// Several.
    Many,
}

impl Effect {
    const NONE: Effect = Effect {
        memory: false,
        writes: Writes::Nothing,
        traps: false,
        control: false,
    };

    /// Whether nothing is written.
    pub fn is_pure(self) -> bool {
        !self.memory && self.writes == Writes::Nothing && !self.control
    }

    /// Whether it can stand where it is not sure to be evaluated.
    pub fn is_safe(self) -> bool {
        self.is_pure() && !self.traps
    }

    pub fn and(self, other: Effect) -> Effect {
        let writes = match (self.writes, other.writes) {
            (Writes::Nothing, w) | (w, Writes::Nothing) => w,
            (Writes::One(a), Writes::One(b)) if a == b => Writes::One(a),
            _ => Writes::Many,
        };
        Effect {
            memory: self.memory || other.memory,
            writes,
            traps: self.traps || other.traps,
            control: self.control || other.control,
        }
    }
}

/// What counts as doing anything.
const ANYTHING: Effect = Effect {
    memory: true,
    writes: Writes::Many,
    traps: true,
    control: true,
};

/// Whether a type mentions a length that is computed.
fn is_variable(unit: &ParsedUnit, ty: TypeId) -> bool {
    let mut at = ty;
    loop {
        at = match unit.types.kind(unit.types.canonical(at)) {
            TypeKind::Pointer(to) => to,
            TypeKind::Array { elem, len } => match len {
                ArrayLen::Variable(_) => return true,
                _ => elem,
            },
            _ => return false,
        }
    }
}

/// What is known about the expressions and variables of a unit.
pub(super) struct Effects {
    effects: Vec<Effect>,
    taken: Vec<bool>,
}

impl Effects {
    /// What evaluating an expression does.
    pub fn of(&self, expr: ExprId) -> Effect {
        self.effects[expr.index()]
    }

    /// Whether a variable's address may be taken.
    pub fn is_taken(&self, decl: DeclId) -> bool {
        self.taken[decl.index()]
    }
}

/// Finds the effects of every expression.
pub(super) fn find(unit: &ParsedUnit, options: &LowerOptions) -> Effects {
    let tree = &unit.tree;
    let counts = tree.counts();
    let mut found = Effects {
        effects: Vec::with_capacity(counts.exprs),
        taken: vec![false; counts.decls],
    };
    let mut decays = vec![None; counts.exprs];
    let arithmetic = [
        CheckKind::Overflow,
        CheckKind::Unsigned,
        CheckKind::Nan,
        CheckKind::PointerArithmetic,
    ];
    let overflow = arithmetic.into_iter().any(|kind| options.wants(kind));
    let converts = options.wants(CheckKind::Conversion) || options.wants(CheckKind::FloatCast);
    for index in 0..counts.exprs {
        let id = ExprId::from_usize(index);
        let node = tree[id];
        let get = |e: ExprId| {
            found
                .effects
                .get(e.index())
                .copied()
                .unwrap_or(Effect::NONE)
        };
        let all = |list: &[ExprId]| list.iter().fold(Effect::NONE, |a, &e| a.and(get(e)));
        let trap = |e: Effect| Effect { traps: true, ..e };
        let write = |e: Effect, place: ExprId| {
            let to = match root(unit, place) {
                Some(decl) => Effect {
                    writes: Writes::One(decl),
                    ..Effect::NONE
                },
                None => Effect {
                    memory: true,
                    ..Effect::NONE
                },
            };
            e.and(to)
        };
        let call = Effect {
            memory: true,
            writes: Writes::Nothing,
            traps: true,
            control: false,
        };
        let effect = match node.kind {
            // A value that is read may have to be a value.
            ExprKind::Decl(_) if options.wants(CheckKind::Uninit) => trap(Effect::NONE),
            ExprKind::Decl(_) | ExprKind::Const(_) | ExprKind::Str(_) | ExprKind::LabelAddr(_) => {
                Effect::NONE
            }
            ExprKind::Member { base, .. } => get(base),
            ExprKind::Subscript { base, index } => {
                if let ExprKind::Convert {
                    kind: Conversion::ArrayDecay,
                    ..
                } = tree[base].kind
                {
                    decays[base.index()] = None;
                }
                trap(get(base).and(get(index)))
            }
            ExprKind::Unary { op, operand } => match op {
                UnaryOp::Deref => trap(get(operand)),
                UnaryOp::AddrOf => {
                    if let Some(decl) = root(unit, operand) {
                        found.taken[decl.index()] = true;
                    }
                    get(operand)
                }
                UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec => {
                    let e = write(get(operand), operand);
                    if overflow || converts { trap(e) } else { e }
                }
                UnaryOp::Minus if overflow => trap(get(operand)),
                _ => get(operand),
            },
            ExprKind::Binary { op, lhs, rhs } => {
                let both = get(lhs).and(get(rhs));
                match op {
                    BinaryOp::Div | BinaryOp::Rem => trap(both),
                    BinaryOp::Add
                    | BinaryOp::Sub
                    | BinaryOp::Mul
                    | BinaryOp::Shl
                    | BinaryOp::Shr
                        if overflow =>
                    {
                        trap(both)
                    }
                    _ => both,
                }
            }
            ExprKind::Assign { op, lhs, rhs, .. } => {
                let e = write(get(lhs).and(get(rhs)), lhs);
                if op.is_some() { trap(e) } else { e }
            }
            ExprKind::Cond {
                cond,
                then,
                otherwise,
            } => get(cond).and(get(then)).and(get(otherwise)),
            ExprKind::Comma { lhs, rhs } => get(lhs).and(get(rhs)),
            // The lengths in the type are evaluated too.
            ExprKind::Cast(_) if is_variable(unit, node.ty) => ANYTHING,
            ExprKind::Cast(e) if converts => trap(get(e)),
            ExprKind::Cast(e)
            | ExprKind::ByteSwap { operand: e }
            | ExprKind::BitCount { operand: e, .. }
            | ExprKind::Abs { operand: e }
            | ExprKind::ConstantP { value: e } => get(e),
            ExprKind::Convert { kind, operand } => {
                if kind == Conversion::ArrayDecay {
                    decays[index] = root(unit, operand);
                }
                match kind {
                    Conversion::Arithmetic if converts => trap(get(operand)),
                    _ => get(operand),
                }
            }
            ExprKind::Classify { lhs, rhs, .. } | ExprKind::Sign { lhs, rhs, .. } => {
                rhs.map_or(get(lhs), |rhs| get(lhs).and(get(rhs)))
            }
            ExprKind::Expect { value, hint, .. } => get(value).and(get(hint)),
            ExprKind::Call { callee, args } => call.and(get(callee)).and(all(&tree[args])),
            ExprKind::CompoundLiteral(_) => Effect {
                memory: true,
                writes: Writes::Many,
                traps: true,
                control: false,
            },
            // Everything else is rare: it counts as doing anything.
            _ => ANYTHING,
        };
        found.effects.push(effect);
    }
    for decl in decays.into_iter().flatten() {
        found.taken[decl.index()] = true;
    }
    // The handler of `__attribute__((cleanup))` gets the variable's address.
    for index in 0..counts.decls {
        if tree[DeclId::from_usize(index)].cleanup.is_some() {
            found.taken[index] = true;
        }
    }
    found
}

/// The variable that a place is part of, if it is reached without a pointer.
pub(super) fn root(unit: &ParsedUnit, mut place: ExprId) -> Option<DeclId> {
    loop {
        match unit.tree[place].kind {
            ExprKind::Decl(decl) | ExprKind::CompoundLiteral(decl) => return Some(decl),
            ExprKind::Member { base, .. } => place = base,
            ExprKind::Subscript { base, .. } => match unit.tree[base].kind {
                ExprKind::Convert {
                    kind: Conversion::ArrayDecay,
                    operand,
                } => place = operand,
                _ => return None,
            },
            ExprKind::Unary {
                op: UnaryOp::Real | UnaryOp::Imag,
                operand,
            } => place = operand,
            _ => return None,
        }
    }
}
