//! What rules leave behind in a program that they were woven into.

use crate::ids::{TypeId, VarId};
use hardbop_diagnostics::FileId;

/// A rule that was woven into the program: what its edges and variables are. An edge or a check
/// whose source lies in the rule's file belongs to the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WovenRule {
    /// Its name.
    pub name: String,
    /// Its text.
    pub file: FileId,
    /// The variables of its state that change.
    pub state: Vec<RuleVariable>,
    /// The objects that it watches: variables that hold an arbitrary address or number, the same
    /// throughout an execution ([`Initial::Unknown`](crate::program::Initial)), and are only compared for equality.
    pub objects: Vec<VarId>,
    /// For each object of which all candidates are known, truth values that choose one of them,
    /// the same throughout an execution ([`Initial::Unknown`](crate::program::Initial)): the first that is set chooses the
    /// candidate at its own position; if none is, the one after the last is chosen.
    pub choices: Vec<Vec<VarId>>,
    /// The objects that it watches, each with how to tell in an execution which one it is.
    pub watched: Vec<WatchedObject>,
}

/// An object that a rule watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedObject {
    /// Its name in the rule; none where the rule says `watch` or `track`.
    pub name: Option<String>,
    /// Which one it is.
    pub which: WhichObject,
    /// What pointers to it point to, where that is known: an object may begin with another one.
    pub ty: Option<TypeId>,
}

/// Which object is watched in an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhichObject {
    /// The one whose address or number a variable holds.
    In {
        /// The variable.
        variable: VarId,
        /// Says whether there is one yet, if there may be none.
        exists: Option<VarId>,
    },
    /// The candidate at the position of the first of these that is set, else the last one.
    OneOf {
        /// One fewer than there are candidates.
        flags: Vec<VarId>,
        /// The objects.
        candidates: Vec<ObjectCandidate>,
    },
}

/// An object that is known before the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectCandidate {
    /// A variable of static storage, or the part of one that begins so many bytes after its start.
    Part(VarId, u64),
    /// A number, by its bits as one of the widest type.
    Number(u128),
}

/// A variable of a rule's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleVariable {
    /// Its name in the rule.
    pub name: String,
    /// The variable.
    pub variable: VarId,
    /// The values that have a name.
    pub values: Vec<(i128, String)>,
}
