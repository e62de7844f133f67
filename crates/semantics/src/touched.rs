//! What a step touches through pointers: where it must lead if the step is to be run.

use crate::exec::Execution;
use crate::expr::Evaluated;
use crate::memory::Scalar;
use hardbop_cfront::ids::{EdgeId, ExprId, PlaceId};
use hardbop_cfront::operands::{Operand, each_load, each_operand};
use hardbop_cfront::program::{Op, Root};
use hardbop_logic::{TermId, Terms};

/// What a step touches through pointers.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// The pointers that it follows, in order.
    pub pointers: Vec<TermId>,
    /// What it reads behind them: the address, the size in bytes, the value.
    pub read: Vec<(TermId, u64, TermId)>,
}

impl Execution<'_, '_> {
    /// What an edge touches when it is executed now.
    pub fn touched(&mut self, terms: &mut Terms, edge: EdgeId) -> Touched {
        let program = self.semantics.program;
        let op = &program.edges[edge.index()].op;
        let (facts, fresh, exact) = (self.facts.len(), self.fresh.len(), self.exact);
        let mut loads: Vec<PlaceId> = Vec::new();
        each_load(program, op, &mut |place| loads.push(place));
        let mut writes: Vec<PlaceId> = Vec::new();
        each_operand(op, &mut |operand| {
            if let Operand::Place(place) = operand {
                writes.push(place);
            }
        });
        let mut touched = Touched::default();
        for place in loads {
            let Root::Pointer(pointer) = program.root(place) else {
                continue;
            };
            touched.pointers.push(self.followed(terms, pointer));
            for scalar in self.scalars_at(terms, place) {
                if let (Some(address), None) = (scalar.address, scalar.bits) {
                    let size = program.types.size_of(scalar.ty);
                    let value = self.read(terms, scalar);
                    touched.read.push((address, size, value));
                }
            }
        }
        for place in writes {
            if let Root::Pointer(pointer) = program.root(place) {
                touched.pointers.push(self.followed(terms, pointer));
            }
        }
        if let Op::CopyMemory { to, from, .. } = *op {
            touched.pointers.push(self.followed(terms, from));
            touched.pointers.push(self.followed(terms, to));
        }
        if let Op::FillMemory { to, .. } = *op {
            touched.pointers.push(self.followed(terms, to));
        }
        // Looking is not executing.
        self.facts.truncate(facts);
        self.fresh.truncate(fresh);
        self.exact = exact;
        touched
    }

    fn followed(&mut self, terms: &mut Terms, pointer: ExprId) -> TermId {
        self.pointer(terms, pointer, Evaluated::Perhaps)
    }

    fn scalars_at(&mut self, terms: &mut Terms, place: PlaceId) -> Vec<Scalar> {
        let ty = self.semantics.program.place(place).ty;
        if self.semantics.program.types.is_scalar(ty) {
            let scalar = self.scalar(terms, place, Evaluated::Perhaps);
            scalar.into_iter().collect()
        } else {
            self.parts(terms, place, ty).unwrap_or_default()
        }
    }

    /// Whether a pointer is an address, as a condition.
    pub fn is_at(&self, terms: &mut Terms, pointer: TermId, address: u64) -> TermId {
        let address = self.bytes(terms, i128::from(address));
        terms.eq(pointer, address)
    }
}
