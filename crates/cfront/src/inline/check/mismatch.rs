//! How a program and its inlined form differ.

use crate::ids::{EdgeId, FuncId, LocId, VarId};
use std::fmt;

/// Something by which a program and its inlined form differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Where in the inlined program.
    pub at: Where,
    /// What is wrong.
    pub what: String,
}

/// A part of an inlined program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// What it shares with the program.
    Tables,
    /// A function.
    Function(FuncId),
    /// A location.
    Location(LocId),
    /// An edge.
    Edge(EdgeId),
    /// A variable.
    Variable(VarId),
}

impl Mismatch {
    pub(super) fn new(at: Where, what: impl Into<String>) -> Mismatch {
        Mismatch {
            at,
            what: what.into(),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Where::Tables => f.write_str("the inlined program")?,
            Where::Function(id) => write!(f, "function {}", id.0)?,
            Where::Location(id) => write!(f, "location {}", id.0)?,
            Where::Edge(id) => write!(f, "edge {}", id.0)?,
            Where::Variable(id) => write!(f, "variable {}", id.0)?,
        }
        write!(f, ": {}", self.what)
    }
}

impl std::error::Error for Mismatch {}
