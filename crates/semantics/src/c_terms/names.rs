//! State variables by their names in C.

use super::number::{ATOM, CType, Number, Text, bounds, is_standard};
use super::{Frame, Scope, Words, Writer};
use crate::constants::Meaning;
use crate::layout::{StateKind, StateVarId};
use hardbop_cfront::program::VarKind;
use hardbop_cfront::types::Type;
use hardbop_logic::TermId;

impl Writer<'_, '_> {
    /// A state variable by its name in C.
    pub(super) fn variable(&self, term: TermId) -> Option<Number> {
        let (id, old) = match self.constants.meaning(term)? {
            Meaning::Now(id) => (id, false),
            Meaning::Old(id) => (id, true),
            Meaning::Origin => return None,
        };
        if old && self.words == Words::Plain {
            return None;
        }
        let (name, exact) = self.name(id)?;
        let shape = self.semantics.shape(id);
        if shape.float.is_some() || !(is_standard(shape.width) || shape.width == 1) {
            return None;
        }
        let name = match self.words {
            Words::Contract if old => format!("old({name})"),
            _ => name,
        };
        let (low, high) = bounds(shape.width, shape.signed);
        let ty = CType {
            width: shape.width.max(8),
            signed: shape.signed,
        };
        let plain = Number {
            text: Text::new(name, ATOM),
            ty,
            low,
            high,
        };
        Some(if exact {
            plain
        } else {
            Number {
                text: plain.cast(ty),
                ..plain
            }
        })
    }

    /// The name of a state variable, and whether it has the type of its shape.
    fn name(&self, id: StateVarId) -> Option<(String, bool)> {
        let program = self.semantics.program;
        let state = self.semantics.layout.get(id);
        if !matches!(state.kind, StateKind::Cell { .. }) {
            return None;
        }
        let Scope {
            function,
            frame,
            variables,
        } = self.scope;
        if state.variable?.index() >= variables {
            return None;
        }
        let variable = program.variable(state.variable?);
        let ty = program.types.get(state.ty.unwrap_or(variable.ty));
        let pointer = matches!(ty, Type::Pointer(_));
        let owner = match variable.kind {
            VarKind::Formal(f) | VarKind::Local(f) | VarKind::Static(f) => Some(f),
            VarKind::Result(f)
                if f == function && frame == Frame::Own && self.words == Words::Contract =>
            {
                return Some(("$return".to_owned(), !pointer));
            }
            VarKind::Global => None,
            VarKind::Result(_) | VarKind::Temporary(_) | VarKind::Literal => return None,
        };
        if owner.is_some_and(|owner| owner != function || frame == Frame::Caller) {
            return None;
        }
        // Where a name stands for two variables, it stands for neither here.
        let namesakes = program.variables.iter().take(variables).filter(|other| {
            let visible = match other.kind {
                VarKind::Formal(f) | VarKind::Local(f) | VarKind::Static(f) => f == function,
                VarKind::Global => true,
                _ => false,
            };
            visible && other.name == variable.name
        });
        if namesakes.count() != 1 {
            return None;
        }
        let name = match state.name.rsplit_once("::") {
            Some((_, name)) => name,
            None => &state.name,
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']');
        if name.is_empty() || !name.chars().all(plain) {
            return None;
        }
        Some((name.to_owned(), !pointer))
    }
}
