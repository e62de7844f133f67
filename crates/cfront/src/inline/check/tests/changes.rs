//! Changes of an inlined program, and who could see them.

use super::super::*;
use crate::operands::{Operand, Renumber, each_below, each_operand};
use std::collections::{HashMap, HashSet};

/// What a change is about: it cannot matter if no execution sees that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum About {
    Location(LocId),
    Edge(EdgeId),
    Expr(ExprId),
    Place(PlaceId),
    Variable(VarId),
    /// It always matters.
    All,
}

/// What the executions of an inlined program can see.
pub(super) fn seen(program: &Program) -> HashSet<About> {
    let mut seen = HashSet::new();
    let mut work: Vec<LocId> = program.functions.iter().map(|f| f.entry).collect();
    while let Some(at) = work.pop() {
        if !seen.insert(About::Location(at)) {
            continue;
        }
        for (id, edge) in program.edges_from(at) {
            seen.insert(About::Edge(id));
            work.push(edge.to);
            let mut roots = Vec::new();
            each_operand(&edge.op, &mut |operand| roots.push(operand));
            each_below(program, roots, &mut |operand| {
                match operand {
                    Operand::Expr(id) => seen.insert(About::Expr(id)),
                    Operand::Place(id) => {
                        if let PlaceKind::Var(variable) = program.place(id).kind {
                            seen.insert(About::Variable(variable));
                        }
                        seen.insert(About::Place(id))
                    }
                };
            });
            match &edge.op {
                Op::Declare { variable } => {
                    seen.insert(About::Variable(*variable));
                }
                Op::EndScope { variables } => {
                    seen.extend(variables.iter().map(|&variable| About::Variable(variable)));
                }
                _ => {}
            }
        }
    }
    seen
}

/// Whether a copy is written as a whole on each way from an edge before it is read: what it held
/// before does not matter.
pub(super) fn is_written_first(program: &Program, declared: EdgeId, variable: VarId) -> bool {
    let mut seen = HashSet::new();
    let mut work = vec![program.edges[declared.index()].to];
    while let Some(at) = work.pop() {
        if !seen.insert(at) {
            continue;
        }
        for (id, edge) in program.edges_from(at) {
            if id == declared || matches!(edge.op, Op::Declare { variable: v } if v == variable) {
                continue;
            }
            let mut whole = None;
            let mut reads = false;
            let mut roots = Vec::new();
            each_operand(&edge.op, &mut |operand| roots.push(operand));
            if let Op::Assign { place, .. }
            | Op::Input { place, .. }
            | Op::Havoc { place }
            | Op::Allocate { place, .. }
            | Op::Call {
                result: Some(place),
                ..
            } = edge.op
                && program.place(place).kind == PlaceKind::Var(variable)
            {
                whole = Some(place);
            }
            roots.retain(|root| !matches!(root, Operand::Place(place) if Some(*place) == whole));
            each_below(program, roots, &mut |operand| {
                if let Operand::Place(place) = operand {
                    reads |= program.place(place).kind == PlaceKind::Var(variable);
                }
            });
            if reads {
                return false;
            }
            if whole.is_none() {
                work.push(edge.to);
            }
        }
    }
    true
}

/// Expressions and places by the first of those that look just like them: taking one for the
/// other changes nothing.
pub(super) struct Firsts {
    exprs: Vec<ExprId>,
    places: Vec<PlaceId>,
}

impl Firsts {
    pub fn new(program: &Program) -> Firsts {
        let (mut exprs, mut places) = (HashMap::new(), HashMap::new());
        Firsts {
            exprs: (0..)
                .zip(&program.exprs)
                .map(|(id, expr)| *exprs.entry(expr).or_insert(ExprId(id)))
                .collect(),
            places: (0..)
                .zip(&program.places)
                .map(|(id, place)| *places.entry(place).or_insert(PlaceId(id)))
                .collect(),
        }
    }
}

impl Renumber for Firsts {
    fn expr(&self, id: ExprId) -> ExprId {
        self.exprs.get(id.index()).copied().unwrap_or(id)
    }

    fn place(&self, id: PlaceId) -> PlaceId {
        self.places.get(id.index()).copied().unwrap_or(id)
    }
}

/// Expressions that differ a little.
pub(super) fn other_kinds(kind: ExprKind) -> Vec<ExprKind> {
    let less = |id: ExprId| ExprId(id.0.wrapping_sub(1));
    match kind {
        ExprKind::Int(bits) => vec![ExprKind::Int(bits ^ 1)],
        ExprKind::Float(bits) => vec![ExprKind::Float(bits ^ 1)],
        ExprKind::Function(f) => vec![ExprKind::Function(FuncId(f.0 ^ 1))],
        ExprKind::Load(p) => vec![
            ExprKind::Load(PlaceId(p.0.wrapping_sub(1))),
            ExprKind::AddressOf(p),
        ],
        ExprKind::AddressOf(p) => vec![
            ExprKind::AddressOf(PlaceId(p.0.wrapping_sub(1))),
            ExprKind::Load(p),
        ],
        ExprKind::Unary(op, a) => {
            let other = match op {
                UnaryOp::Negate => UnaryOp::BitNot,
                _ => UnaryOp::Negate,
            };
            vec![ExprKind::Unary(other, a), ExprKind::Unary(op, less(a))]
        }
        ExprKind::Binary(op, a, b) => {
            let other = match op {
                BinaryOp::Add => BinaryOp::Sub,
                _ => BinaryOp::Add,
            };
            let mut kinds = vec![
                ExprKind::Binary(other, a, b),
                ExprKind::Binary(op, less(a), b),
                ExprKind::Binary(op, a, less(b)),
            ];
            if a != b {
                kinds.push(ExprKind::Binary(op, b, a));
            }
            kinds
        }
        ExprKind::PointerAdd {
            pointer,
            index,
            scale,
        } => vec![
            ExprKind::PointerAdd {
                pointer,
                index,
                scale: scale + 1,
            },
            ExprKind::PointerAdd {
                pointer,
                index: less(index),
                scale,
            },
        ],
        ExprKind::Convert(a) => vec![
            ExprKind::Convert(less(a)),
            ExprKind::Unary(UnaryOp::Negate, a),
        ],
        ExprKind::Conditional {
            condition,
            then,
            otherwise,
        } => vec![ExprKind::Conditional {
            condition,
            then: otherwise,
            otherwise: then,
        }],
        _ => vec![ExprKind::Int(0)],
    }
}

/// Takes an edge out.
pub(super) fn remove(inlined: &mut Derived, index: usize) {
    inlined.program.edges.remove(index);
    inlined.edges.remove(index);
    for location in &mut inlined.program.locations {
        if location.edges.start as usize > index {
            location.edges.start -= 1;
        }
        if location.edges.end as usize > index {
            location.edges.end -= 1;
        }
    }
}

/// Puts an edge in twice.
pub(super) fn insert(inlined: &mut Derived, index: usize) {
    let edge = inlined.program.edges[index].clone();
    inlined.program.edges.insert(index, edge);
    inlined.edges.insert(index, inlined.edges[index]);
    for location in &mut inlined.program.locations {
        if location.edges.start as usize > index {
            location.edges.start += 1;
        }
        if location.edges.end as usize > index {
            location.edges.end += 1;
        }
    }
}
