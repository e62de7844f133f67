//! The meaning of a C program's edges in logic.
//!
//! In comes a `Program` with its points-to classes; out come terms: the symbolic effect of an
//! edge, of a loop-free block, and what functions may change (TR 2000-14, sections 4.1 and 4.2). The
//! memory model is described in [`layout`]; the two encodings of machine integers in [`scalar`].
//!
//! Everything is built on one operation: running an edge on a symbolic [`State`] (see
//! [`Execution`]). A weakest precondition is a substitution by what an edge does to the constants;
//! a path is a run edge by edge; a block is a run with merges.

pub mod births;
pub mod block;
pub mod c_terms;
pub mod constants;
pub mod contents;
pub mod effects;
mod exec;
mod expr;
mod float;
pub mod folds;
pub mod frontier;
mod initial;
pub mod layout;
mod leaves;
pub mod live;
mod memory;
mod nan;
mod once;
pub mod ownership;
pub mod path;
pub mod places;
pub mod replay;
pub mod rules;
pub mod scalar;
pub mod segment;
pub mod skeleton;
pub mod state;
pub mod steps;
pub mod touched;

pub use exec::{Execution, Unmodelled};
pub use initial::PAGE_BITS;
pub use state::{Fresh, FreshOrigin, State};

use hardbop_cfront::ids::{FuncId, TypeId};
use hardbop_cfront::points_to::PointsTo;
use hardbop_cfront::program::Program;
use hardbop_cfront::types::Type;
use layout::{Layout, StateVar, StateVarId};
use std::collections::BTreeMap;

/// How the scalars of a program are encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Exactly, as bit-vectors.
    Bits,
    /// As mathematical integers.
    Integers {
        /// What becomes of signed results that do not fit.
        overflow: Overflow,
    },
}

/// What becomes of a result over the integers that its machine type cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// It is kept where the machine's would only wrap for signed types or products: simple, but
    /// invariants found this way need not hold for the machine.
    Ignored,
    /// It wraps as the machine's does.
    Wraps,
}

/// A program and how it is read in logic.
#[derive(Clone, Debug)]
pub struct Semantics<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its points-to classes.
    pub points_to: &'a PointsTo,
    /// Where its data lives.
    pub layout: Layout,
    /// How its scalars are encoded.
    pub encoding: Encoding,
    frames: BTreeMap<FuncId, Vec<StateVarId>>,
    /// An unsigned type for every size in bytes that scalars have.
    plain_types: BTreeMap<u64, TypeId>,
    /// Whether somebody may look at which NaN an operation gave.
    sees_nans: bool,
}

impl<'a> Semantics<'a> {
    /// The SMT-LIB logic of the program's formulas, if there is a solver that is faster for it:
    /// bits alone, without memory and unknown functions.
    pub fn logic(&self) -> Option<&'static str> {
        let memory = |variable: &StateVar| variable.kind.is_array();
        let bits = self.encoding == Encoding::Bits
            && !self.layout.variables().iter().any(memory)
            && !self.sees_nans;
        bits.then_some("QF_BV")
    }

    /// The meaning of a program under an encoding.
    pub fn new(program: &'a Program, points_to: &'a PointsTo, encoding: Encoding) -> Semantics<'a> {
        let layout = Layout::new(program, points_to);
        let frames = Semantics::frames_of(&layout);
        let mut plain_types = BTreeMap::new();
        for (id, ty) in program.types.all() {
            if let Type::Int {
                width,
                signed: false,
            } = ty
            {
                plain_types.entry(u64::from(width / 8)).or_insert(id);
            }
        }
        let mut semantics = Semantics {
            program,
            points_to,
            layout,
            encoding,
            frames,
            plain_types,
            sees_nans: false,
        };
        semantics.sees_nans = semantics.sees_nans();
        semantics
    }

    /// The same under another encoding.
    pub fn encoded(&self, encoding: Encoding) -> Semantics<'a> {
        Semantics {
            encoding,
            ..self.clone()
        }
    }

    /// The same with ghosts that note where objects are taken and who refers to them.
    pub fn with_births(&self) -> Semantics<'a> {
        Semantics {
            layout: self.layout.with_births(self.program, self.points_to),
            ..self.clone()
        }
    }

    /// The meaning of a program that has the tables of this one, and more executions: data live
    /// where they live in this one.
    pub fn of_wider(&self, program: &'a Program) -> Semantics<'a> {
        Semantics {
            program,
            ..self.clone()
        }
    }
}
