//! What is left of a program where parts of it do not matter, prepared for those who search.
//!
//! Functions that do not matter are not inlined, and their calls are passed over; the rest is
//! inlined, and then what does not matter there does nothing either. What is proved of the result is
//! claimed of the program as it is after inlining alone, with the functions that are
//! [`apart`](Sliced::apart) named in the claim.

use crate::passes::slice::{apart, can_answer, slice};
use crate::relevance::{Depth, Relevance};
use crate::size::Size;
use crate::{Model, Prepared};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::{CheckId, FuncId};
use hardbop_cfront::program::Program;
use hardbop_semantics::{Encoding, Semantics};

/// A slice of a program.
#[derive(Clone, Debug)]
pub struct Sliced {
    prepared: Prepared,
    program: Program,
    /// The functions that do not matter and are called.
    pub apart: Vec<FuncId>,
    /// The size of the program, ...
    pub whole: Size,
    /// ... and of the slice.
    pub size: Size,
    /// How many edges of the prepared program there are, ...
    pub edges: usize,
    /// ... and how many of them matter.
    pub kept: usize,
}

impl Sliced {
    /// What matters for some checks of a program, to a depth. `None` where a slice
    /// could not answer.
    pub fn new(
        model: &Model<'_>,
        checks: &[CheckId],
        depth: Depth,
        budget: &Budget,
    ) -> Result<Option<Sliced>, Stopped> {
        let plain = &model.plain;
        if !can_answer(&plain.semantics) {
            return Ok(None);
        }
        let flat = Relevance::new(&model.flat.semantics, checks, depth, budget)?;
        let inlined = model.inlined;
        let relevance = Relevance::but(&flat, inlined, &plain.semantics, checks, depth, budget)?;
        let left = apart(model.program, &relevance);
        let points_to = plain.points_to.clone();
        let prepared = Prepared::leaving(&left, model.program, points_to, budget)?;
        let derived = &prepared.derived.program;
        let semantics = Semantics::new(derived, &prepared.derived_points_to, Encoding::Bits);
        let relevance = Relevance::new(&semantics, checks, depth, budget)?;
        let program = slice(&semantics, &relevance);
        let kept = relevance.count();
        Ok(Some(Sliced {
            whole: Size::of(model.program),
            size: Size::of(&program),
            program,
            apart: left.into_iter().collect(),
            edges: derived.edges.len(),
            kept,
            prepared,
        }))
    }

    /// What is searched: the slice takes the place of the inlined program.
    pub fn model<'a>(&'a self, program: &'a Program) -> Model<'a> {
        let mut model = Model::new(program, &self.prepared);
        model.flat = model.flat.wider(&self.program);
        model
    }
}
