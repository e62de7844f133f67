//! The statements of an abstract procedure, before they are text.

use crate::cube::{Cube, Dnf};
use crate::predicate::PredicateId;
use hardbop_cfront::ids::{EdgeId, FuncId};
use std::collections::BTreeMap;

/// The abstraction of one function.
#[derive(Clone, Debug)]
pub(crate) struct Procedure {
    pub function: FuncId,
    /// The predicates that its cubes speak of, by position: the global ones, then its own.
    pub visible: Vec<PredicateId>,
    /// The minimal cubes that hold in no state and that may be enforced everywhere.
    pub enforced: Vec<Cube>,
    /// What its edges become.
    pub edges: BTreeMap<EdgeId, EdgeCode>,
}

/// What an edge becomes.
#[derive(Clone, Debug)]
pub(crate) enum EdgeCode {
    /// Nothing that the predicates see: the edge leaves no trace.
    Nothing,
    /// A statement of the user that the predicates do not see.
    Skip,
    /// These statements in turn.
    Statements(Vec<Statement>),
    /// One of these sequences: a call through a pointer.
    Choice(Vec<Vec<Statement>>),
    /// A construct without a meaning.
    Unsupported(u32),
}

/// A statement. Positions in cubes beyond the visible predicates are those of return values of
/// the call before.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    /// Passes where none of the cubes holds.
    Exclude(Dnf),
    /// A parallel assignment to visible predicates.
    Assign(Vec<(u32, Choose)>),
    /// A call; the callee's return predicates go to temporaries.
    Call {
        callee: FuncId,
        arguments: Vec<Choose>,
    },
    /// A parallel assignment that may read the temporaries of a call to the function.
    Update {
        callee: FuncId,
        assignments: Vec<(u32, Choose)>,
    },
}

/// `choose(F(wp), F(!wp))`: true if the first holds, false if the second does, else either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choose {
    pub positive: Dnf,
    pub negative: Dnf,
}
