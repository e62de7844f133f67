//! Inline assembly: what it writes is unknown, and may be computed from what it is given.

use super::Lower;
use crate::ids::{ExprId, PlaceId};
use crate::program::*;
use crate::types::Type;
use hardbop_diagnostics::Diagnostic;
use rucc_sema as sema;

impl Lower<'_> {
    /// An `asm` statement.
    pub(super) fn assembly(&mut self, id: sema::AsmId) {
        let asm = self.unit.tree[id];
        let source = self.f().source;
        let inputs = self.unit.tree[asm.inputs].to_vec();
        let outputs = self.unit.tree[asm.outputs].to_vec();
        if !self.unit.tree[asm.labels].is_empty() {
            self.unsupported("inline assembly that jumps");
            return;
        }
        // An empty template does nothing but hand on what is tied to its outputs.
        let empty = self.unit.tree[asm.template].elements.is_empty();
        let mut given = Vec::new();
        for input in &inputs {
            let constraint = self.constraint(input.constraint);
            if input.memory {
                // Only its address is computed.
                if self.unit.tree[input.value].category == sema::Category::Lvalue {
                    self.place(input.value);
                }
                continue;
            }
            if !self.is_supported(self.unit.tree[input.value].ty) {
                continue;
            }
            let value = self.value(input.value);
            if self.b.types.is_scalar(self.b.ty_of(value)) {
                let value = self.keep(value);
                given.push((constraint, value));
            }
        }
        // Its inputs are evaluated, whatever becomes of them.
        if empty && outputs.is_empty() {
            return;
        }
        let mut places = Vec::new();
        for output in &outputs {
            let place = self.access(output.value);
            self.f().source = source;
            let constraint = self.constraint(output.constraint);
            let scalar = self.b.types.is_scalar(self.place_ty(place));
            if constraint.contains('+') && scalar && !empty {
                let old = self.b.load(place);
                let old = self.keep(old);
                given.push((constraint.clone(), old));
            }
            places.push((place, constraint));
        }
        let mut guessed = !empty;
        for (index, (place, constraint)) in places.into_iter().enumerate() {
            if empty && constraint.contains('+') {
                continue;
            }
            let tie = index.to_string();
            let tied = given.iter().find(|(constraint, _)| *constraint == tie);
            match tied {
                Some(&(_, value)) if empty && self.b.types.is_scalar(self.place_ty(place)) => {
                    let value = self.convert_scalar(value, self.place_ty(place));
                    self.assign(place, value);
                }
                _ => {
                    guessed = true;
                    self.guess_output(place, &given);
                }
            }
        }
        if guessed {
            self.b.diagnostics.push(Diagnostic::warning(
                source.span,
                "inline assembly is taken to write anything to its outputs, and nothing else",
            ));
            self.b
                .assumptions
                .push(Assumption::InlineAssembly { source });
        }
    }

    fn constraint(&self, id: sema::StrId) -> String {
        let elements = self.unit.tree[id].elements.iter();
        elements
            .filter_map(|&element| char::from_u32(element))
            .collect()
    }

    /// Any value for an output. One that is computed from an address that was given is among
    /// them, and has to be said: what points where is found by following values.
    fn guess_output(&mut self, place: PlaceId, given: &[(String, ExprId)]) {
        let ty = self.place_ty(place);
        if matches!(self.b.types.get(ty), Type::Void) {
            return;
        }
        self.emit(Op::Havoc { place });
        let (int, intptr) = (self.int_ty(), self.b.types.intptr());
        let pointer = self.b.types.bit_width(intptr);
        let holds_addresses = |this: &Self, ty| this.b.types.bit_width(ty) >= pointer;
        if !self.b.types.is_scalar(ty) || !holds_addresses(self, ty) {
            return;
        }
        for &(_, value) in given {
            if !holds_addresses(self, self.b.ty_of(value)) {
                continue;
            }
            let choice = self.temporary(int);
            self.emit(Op::Havoc { place: choice });
            let choice = self.b.load(choice);
            let distance = self.temporary(intptr);
            self.emit(Op::Havoc { place: distance });
            let distance = self.b.load(distance);
            let (derived, join) = (self.location(), self.location());
            self.split(choice, derived, join);
            self.f().cur = derived;
            let number = self.convert_scalar(value, intptr);
            let moved = self.b.binary(BinaryOp::Add, number, distance, intptr);
            let moved = self.convert_scalar(moved, ty);
            self.assign(place, moved);
            self.continue_at(join);
        }
    }
}
