//! Claims about the ends of executions: that all come, or that one never does.
//!
//! Ranks are after R. W. Floyd (*Assigning Meanings to Programs*, 1967), in lexicographic order as
//! C. Alias, A. Darte, P. Feautrier and L. Gonnord have them (SAS 2010). Here they are machine
//! words: there are finitely many, so whatever falls with every step has an end. Recurrent sets are
//! after A. Gupta, T. Henzinger, R. Majumdar, A. Rybalchenko and R.-G. Xu (*Proving
//! Non-termination*, POPL 2008).

use super::{Invariants, Script};
use hardbop_cfront::ids::{CheckId, EdgeId, FuncId, LocId};
use serde::{Deserialize, Serialize};

/// Every execution of the prepared program ends. Where a step leads from one cut point to another
/// one of the same function, calls that return among the steps, the rank falls. Where a function
/// calls another one, so does the rank of the call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ranking {
    /// The checks that say so.
    pub checks: Vec<CheckId>,
    /// What holds at the cut points. Of its own checks there are none.
    pub invariants: Invariants,
    /// The ranks of cut points.
    pub ranks: Vec<Rank>,
    /// The ranks of calls.
    pub calls: Vec<CallRank>,
}

/// The rank of a cut point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    /// The cut point.
    pub at: LocId,
    /// No step leads to a higher level. One that leads to a lower level needs no more reasons.
    pub level: u32,
    /// What falls with a step on one level, in lexicographic order: terms over the state now and at
    /// the procedure's entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<Component>,
}

/// The rank of the calls of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRank {
    /// The function.
    pub function: FuncId,
    /// No call leads to a higher level.
    pub level: u32,
    /// What falls with a call on one level: terms over the state at the function's entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<Component>,
}

/// A component of a rank: a machine word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Component {
    /// How its values are compared.
    pub order: Order,
    /// The word.
    pub term: String,
}

/// How words are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// By their signed readings.
    Signed,
    /// By their unsigned readings.
    Unsigned,
}

/// An execution that never ends: given what the script says, it comes back to a state that it was
/// in, so what it was given since can be given again, for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lasso {
    /// The check that says that every execution ends.
    pub check: CheckId,
    /// What the program is given.
    pub script: Script,
    /// The number of steps before it is in that state, ...
    pub stem: u64,
    /// ... and of those until it is in it again.
    pub cycle: u64,
}

/// An execution that never ends: given what the script says, it comes to a state of a set, and from
/// every state of the set, given what is chosen, it comes to one again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recurrence {
    /// The check that says that every execution ends.
    pub check: CheckId,
    /// What the program is given at first.
    pub script: Script,
    /// The number of steps before it is in the set.
    pub stem: u64,
    /// The cut point of the prepared program where it is then.
    pub at: LocId,
    /// The locations where the prepared program is cut: at least one in every loop.
    pub cuts: Vec<LocId>,
    /// The set: for some cut points, a formula about the state there.
    pub sets: Vec<(LocId, String)>,
    /// What is chosen from then on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<Chosen>,
}

/// What is chosen for something that the program leaves open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// The edge of the prepared program that asks for it, ...
    pub edge: EdgeId,
    /// ... and which of the values that it asks for.
    pub part: usize,
    /// The value: a term over the state at the cut point before.
    pub value: String,
}
