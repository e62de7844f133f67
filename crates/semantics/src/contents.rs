//! What new objects hold: the unknown bytes that a replay must begin with.

use crate::exec::Execution;
use crate::expr::Evaluated;
use crate::layout::StateKind;
use crate::leaves::all_leaves;
use crate::memory::Scalar;
use hardbop_cfront::ids::{EdgeId, ExprId, PlaceId, VarId};
use hardbop_cfront::program::{ExprKind, Op};
use hardbop_logic::{TermId, Terms};

/// An object that has just begun its life.
#[derive(Clone, Debug)]
pub struct NewObject {
    /// Its size in bytes.
    pub size: u64,
    /// Its scalars: distance from the start and size in bytes, and the value.
    pub cells: Vec<(u64, u64, TermId)>,
}

/// Larger objects begin with zeros in a replay.
const MAX_SIZE: u64 = 4096;

impl Execution<'_, '_> {
    /// The object that an edge made, right after it was executed; `None` if it made none, or one
    /// that is too large.
    pub fn new_object(&mut self, terms: &mut Terms, edge: EdgeId) -> Option<NewObject> {
        let program = self.semantics.program;
        let (size, scalars) = match program.edges[edge.index()].op {
            Op::Declare { variable } => return self.contents_of(terms, variable),
            Op::Allocate { place, size, .. } => {
                let size = self.constant_size(terms, size)?;
                if size > MAX_SIZE {
                    return None;
                }
                let pointer = self.load_of(place)?;
                (size, self.offset_parts(terms, pointer, size)?)
            }
            _ => return None,
        };
        Some(self.object(terms, size, scalars))
    }

    /// What a variable holds now; `None` if it is too large.
    pub fn contents_of(&mut self, terms: &mut Terms, variable: VarId) -> Option<NewObject> {
        let program = self.semantics.program;
        let ty = program.variable(variable).ty;
        let size = program.types.size_of(ty);
        if size > MAX_SIZE {
            return None;
        }
        let spot = self.semantics.points_to.variable(variable)?;
        let leaves = all_leaves(self.semantics, ty)?;
        let address = self.variable_address(terms, variable);
        let offsets: Vec<u64> = leaves.iter().map(|leaf| leaf.offset).collect();
        let parts = self.parts_at(terms, spot, address, leaves);
        let scalars = offsets.into_iter().zip(parts).collect();
        Some(self.object(terms, size, scalars))
    }

    fn object(&mut self, terms: &mut Terms, size: u64, scalars: Vec<(u64, Scalar)>) -> NewObject {
        let program = self.semantics.program;
        let mut cells = Vec::new();
        for (offset, scalar) in scalars {
            if scalar.bits.is_none() {
                let bytes = program.types.size_of(scalar.ty);
                let value = self.read(terms, scalar);
                cells.push((offset, bytes, value));
            }
        }
        // What reading them would conclude is not what the program concluded.
        self.facts.clear();
        NewObject { size, cells }
    }

    /// The scalars in `size` bytes from a pointer on, as the program reads them.
    fn offset_parts(
        &mut self,
        terms: &mut Terms,
        pointer: ExprId,
        size: u64,
    ) -> Option<Vec<(u64, Scalar)>> {
        let spot = self.semantics.points_to.pointer(pointer)?;
        let address = self.pointer(terms, pointer, Evaluated::Perhaps);
        let mut parts = Vec::new();
        let mut at = 0;
        while at < size {
            let part = self.semantics.points_to.part(spot, at as i64);
            let unit = match self.kind_at(part) {
                Some((_, StateKind::Memory { unit })) => unit,
                Some((_, StateKind::Cell { bytes })) => bytes,
                _ => 0,
            };
            match self.plain_type(unit) {
                Some(ty) if unit > 0 && at + unit <= size => {
                    let offset = self.bytes(terms, i128::from(at));
                    let scalar = Scalar {
                        spot: part,
                        address: Some(self.advance(terms, address, offset)),
                        ty,
                        bits: None,
                    };
                    parts.push((at, scalar));
                    at += unit;
                }
                _ => at += 1,
            }
        }
        Some(parts)
    }

    /// An expression that loads a place, if the program has one.
    fn load_of(&self, place: PlaceId) -> Option<ExprId> {
        let exprs = &self.semantics.program.exprs;
        let places = &self.semantics.program.places;
        let wanted = &places[place.index()];
        exprs
            .iter()
            .position(|expr| match expr.kind {
                ExprKind::Load(at) => at == place || places[at.index()] == *wanted,
                _ => false,
            })
            .map(|index| ExprId(index as u32))
    }
}
