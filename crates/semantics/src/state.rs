//! Symbolic states: what every state variable holds, as a term over the values at the start.

use crate::births::born;
use crate::layout::{StateKind, StateVarId};
use crate::ownership::IDENTITY;
use crate::scalar::{self, Arithmetic, Shape};
use crate::{Encoding, Semantics};
use hardbop_cfront::ids::{EdgeId, VarId};
use hardbop_logic::{FloatFormat, Sort, TermId, Terms};
use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use std::collections::BTreeMap;

/// A symbolic state. What was not written holds the state variable's own constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// States of neighbouring edges share most of what they hold, so copies share it, too.
    values: OrdMap<StateVarId, TermId>,
}

/// A symbol that execution made up: something that the program does not determine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fresh {
    /// The symbol.
    pub term: TermId,
    /// Where it comes from.
    pub origin: FreshOrigin,
}

/// Where an unknown value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FreshOrigin {
    /// An input that the edge reads.
    Input(EdgeId),
    /// What the edge leaves open: the result of an undefined function, say.
    Havoc(EdgeId),
    /// The contents of a local before anything was written to it.
    Uninitialised(VarId),
    /// What an object that the program did not make holds at an address.
    Outside(u64),
    /// What this encoding does not tell: the model may choose a value that no run has.
    Imprecise,
}

impl State {
    /// The state at the start of a block: every state variable holds its own constant.
    pub fn new() -> State {
        State::default()
    }

    /// What a state variable holds.
    pub fn get(&self, semantics: &Semantics<'_>, terms: &mut Terms, id: StateVarId) -> TermId {
        match self.values.get(&id) {
            Some(&term) => term,
            None => semantics.constant(terms, id),
        }
    }

    /// Writes a state variable.
    pub fn set(&mut self, id: StateVarId, term: TermId) {
        self.values.insert(id, term);
    }

    /// What was written, in order.
    pub fn written(&self) -> impl Iterator<Item = (StateVarId, TermId)> + '_ {
        self.values.iter().map(|(&id, &term)| (id, term))
    }

    /// What was written here and not in another state, at no cost for what the two share.
    pub fn written_beside<'a>(
        &'a self,
        other: &'a State,
    ) -> impl Iterator<Item = (StateVarId, TermId)> + 'a {
        other
            .values
            .diff(&self.values)
            .filter_map(|item| match item {
                DiffItem::Add(&id, &term) => Some((id, term)),
                DiffItem::Update {
                    new: (&id, &term), ..
                } => Some((id, term)),
                DiffItem::Remove(..) => None,
            })
    }

    /// What was written to one state variable.
    pub fn written_to(&self, id: StateVarId) -> Option<TermId> {
        self.values.get(&id).copied()
    }

    /// Forgets what was written to a state variable: it holds its own constant again.
    pub fn reset(&mut self, id: StateVarId) {
        self.values.remove(&id);
    }

    /// The state that is `self` where the condition holds and `other` where it does not.
    pub fn merge(
        &self,
        other: &State,
        condition: TermId,
        semantics: &Semantics<'_>,
        terms: &mut Terms,
    ) -> State {
        let differing: Vec<StateVarId> = self
            .values
            .diff(&other.values)
            .map(|item| match item {
                DiffItem::Add(&id, _) | DiffItem::Remove(&id, _) => id,
                DiffItem::Update { new: (&id, _), .. } => id,
            })
            .collect();
        let mut merged = self.clone();
        for id in differing {
            let then = self.get(semantics, terms, id);
            let otherwise = other.get(semantics, terms, id);
            let value = terms.ite(condition, then, otherwise);
            merged.values.insert(id, value);
        }
        merged
    }

    /// Replaces the constants of state variables in a term by what they hold here: a formula
    /// about this state becomes one about the start.
    pub fn apply(&self, semantics: &Semantics<'_>, terms: &mut Terms, term: TermId) -> TermId {
        let map: BTreeMap<TermId, TermId> = self
            .values
            .iter()
            .map(|(&id, &value)| (semantics.constant(terms, id), value))
            .collect();
        terms.substitute(term, &map)
    }
}

impl Semantics<'_> {
    /// How the scalars of a state variable are encoded.
    pub fn arithmetic(&self, id: StateVarId) -> Arithmetic {
        let variable = self.layout.get(id);
        let whole = match (variable.kind, variable.ty) {
            (StateKind::Cell { bytes }, Some(ty)) => self.program.types.size_of(ty) == bytes,
            (StateKind::Memory { unit }, Some(ty)) => self.program.types.size_of(ty) == unit,
            (StateKind::Cell { .. } | StateKind::Memory { .. }, None) => false,
            (StateKind::Births { .. }, _) => return Arithmetic::Bits,
            _ => return self.pointer_arithmetic(),
        };
        let integer = variable
            .ty
            .is_some_and(|ty| Shape::of(&self.program.types, ty).fits_integers());
        match &self.encoding {
            Encoding::Integers { .. } if whole && integer => Arithmetic::Integers,
            _ => Arithmetic::Bits,
        }
    }

    /// How addresses are encoded.
    pub fn pointer_arithmetic(&self) -> Arithmetic {
        match self.encoding {
            Encoding::Bits => Arithmetic::Bits,
            Encoding::Integers { .. } => Arithmetic::Integers,
        }
    }

    /// The shape of an address.
    pub fn pointer_shape(&self) -> Shape {
        let width = self.program.types.model().pointer_size() as u32 * 8;
        Shape {
            width,
            signed: false,
            float: None,
        }
    }

    /// The shape of the scalars in a state variable: that of the C type where there is one, else
    /// plain bits.
    pub fn shape(&self, id: StateVarId) -> Shape {
        let variable = self.layout.get(id);
        let bytes = match variable.kind {
            StateKind::Cell { bytes } => bytes,
            StateKind::Memory { unit } => unit,
            StateKind::Frontier | StateKind::Address | StateKind::References => {
                return self.pointer_shape();
            }
            StateKind::Identity | StateKind::Identities | StateKind::Extents => {
                return IDENTITY;
            }
            StateKind::Births { bits } => return born(bits),
        };
        // A `_Bool` in memory is a byte: other accesses may see it as a part of something larger.
        let in_memory = matches!(variable.kind, StateKind::Memory { .. });
        let typed = variable
            .ty
            .filter(|&ty| self.program.types.size_of(ty) == bytes)
            .map(|ty| Shape::of(&self.program.types, ty))
            .filter(|shape| !(shape.float.is_some() || in_memory && shape.width == 1));
        typed.unwrap_or(Shape {
            width: bytes as u32 * 8,
            signed: false,
            float: None,
        })
    }

    /// The format of a state variable that is a floating-point number and nothing else.
    pub fn float(&self, id: StateVarId) -> Option<FloatFormat> {
        let variable = self.layout.get(id);
        let shape = Shape::of(&self.program.types, variable.ty?);
        let whole = variable.kind
            == StateKind::Cell {
                bytes: u64::from(shape.width / 8),
            };
        shape.float.filter(|_| whole)
    }

    /// The sort of a state variable.
    pub fn sort(&self, terms: &mut Terms, id: StateVarId) -> Sort {
        let value = scalar::sort(self.shape(id), self.arithmetic(id));
        match self.layout.get(id).kind {
            StateKind::Memory { .. }
            | StateKind::Identities
            | StateKind::Births { .. }
            | StateKind::References => {
                let address = scalar::sort(self.pointer_shape(), self.pointer_arithmetic());
                terms.array_sort(address, value)
            }
            StateKind::Extents => terms.array_sort(value, value),
            _ => value,
        }
    }

    /// The constant that stands for a state variable's value in the current state.
    pub fn constant(&self, terms: &mut Terms, id: StateVarId) -> TermId {
        let sort = self.sort(terms, id);
        terms.constant(&self.layout.get(id).name, sort)
    }

    /// The constant that stands for a state variable's value when its procedure was entered.
    pub fn old_constant(&self, terms: &mut Terms, id: StateVarId) -> TermId {
        let sort = self.sort(terms, id);
        terms.constant(&format!("old({})", self.layout.get(id).name), sort)
    }

    /// What always holds of a state variable's constant: the range of its type.
    pub fn typing(&self, terms: &mut Terms, id: StateVarId) -> TermId {
        match self.layout.get(id).kind {
            kind if kind.is_array() => terms.bool(true),
            _ => {
                let constant = self.constant(terms, id);
                scalar::in_range(terms, constant, self.shape(id))
            }
        }
    }
}
