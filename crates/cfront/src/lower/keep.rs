//! Values that are kept where what is evaluated later may change what they depend on.

use super::Lower;
use super::body::Storage;
use super::effects::{Effect, Writes};
use crate::ids::{ExprId, PlaceId, VarId};
use crate::program::*;

impl Lower<'_> {
    /// Keeps a value in a temporary if evaluating something with that effect may change it.
    pub(super) fn keep_for(&mut self, value: ExprId, effect: Effect) -> ExprId {
        if self.depends_on(value, effect) {
            self.keep(value)
        } else {
            value
        }
    }

    /// Keeps what a place depends on, if evaluating something with that effect may change it.
    pub(super) fn keep_place(&mut self, place: PlaceId, effect: Effect) -> PlaceId {
        if effect.is_pure() {
            return place;
        }
        let ty = self.place_ty(place);
        match self.b.places[place.index()].kind {
            PlaceKind::Var(_) => place,
            PlaceKind::Deref(pointer) => {
                let kept = self.keep_for(pointer, effect);
                self.b.place(PlaceKind::Deref(kept), ty)
            }
            PlaceKind::Field(base, field) => {
                let base = self.keep_place(base, effect);
                self.b.place(PlaceKind::Field(base, field), ty)
            }
            PlaceKind::Index(base, index) => {
                let base = self.keep_place(base, effect);
                let index = self.keep_for(index, effect);
                self.b.place(PlaceKind::Index(base, index), ty)
            }
        }
    }

    /// Whether a value may change when something with that effect happens.
    pub(super) fn depends_on(&self, value: ExprId, effect: Effect) -> bool {
        if effect.is_pure() {
            return false;
        }
        let mut exprs = vec![value];
        while let Some(expr) = exprs.pop() {
            match self.b.exprs[expr.index()].kind {
                ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Function(_) => {}
                ExprKind::Load(place) => {
                    if self.place_changes(place, effect, &mut exprs) {
                        return true;
                    }
                }
                ExprKind::AddressOf(mut place) => loop {
                    match self.b.places[place.index()].kind {
                        PlaceKind::Var(_) => break,
                        PlaceKind::Deref(pointer) => {
                            exprs.push(pointer);
                            break;
                        }
                        PlaceKind::Field(base, _) => place = base,
                        PlaceKind::Index(base, index) => {
                            exprs.push(index);
                            place = base;
                        }
                    }
                },
                ExprKind::Unary(_, a) | ExprKind::Convert(a) => exprs.push(a),
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
                } => exprs.extend([a, b]),
                ExprKind::Rounded { mode, operands, .. } => {
                    exprs.push(mode);
                    exprs.extend(operands);
                }
                ExprKind::Conditional {
                    condition,
                    then,
                    otherwise,
                } => {
                    exprs.extend([condition, then, otherwise]);
                }
                ExprKind::ValidAccess { .. }
                | ExprKind::ValidFree { .. }
                | ExprKind::PointsToConstant { .. }
                | ExprKind::HeapIs { .. }
                | ExprKind::ObjectSize { .. }
                | ExprKind::Open { .. } => return true,
            }
        }
        false
    }

    /// Whether what a place holds may change; adds what the place itself depends on.
    pub(super) fn place_changes(
        &self,
        mut place: PlaceId,
        effect: Effect,
        exprs: &mut Vec<ExprId>,
    ) -> bool {
        loop {
            match self.b.places[place.index()].kind {
                PlaceKind::Var(var) => return self.variable_changes(var, effect),
                PlaceKind::Deref(pointer) => {
                    let untouched = match effect.writes {
                        Writes::Nothing => true,
                        Writes::One(decl) => !self.effects.is_taken(decl),
                        Writes::Many => false,
                    };
                    if effect.memory || !untouched {
                        return true;
                    }
                    exprs.push(pointer);
                    return false;
                }
                PlaceKind::Field(base, _) => place = base,
                PlaceKind::Index(base, index) => {
                    exprs.push(index);
                    place = base;
                }
            }
        }
    }

    pub(super) fn variable_changes(&self, var: VarId, effect: Effect) -> bool {
        let Some(function) = &self.function else {
            return true;
        };
        match self.b.variables[var.index()].kind {
            // Temporaries are written once; those of conditionals before they are read.
            VarKind::Temporary(_) => return false,
            VarKind::Literal | VarKind::Global | VarKind::Static(_) | VarKind::Result(_) => {
                if effect.memory {
                    return true;
                }
            }
            VarKind::Formal(_) | VarKind::Local(_) => {
                if effect.memory && function.taken.contains(&var) {
                    return true;
                }
            }
        }
        match effect.writes {
            Writes::Nothing => false,
            Writes::Many => true,
            Writes::One(decl) => match function.variables.get(&decl) {
                Some(Storage::Variable(v)) => *v == var,
                Some(Storage::Behind(_)) => false,
                None => self.globals.get(&decl).is_none_or(|&v| v == var),
            },
        }
    }
}
