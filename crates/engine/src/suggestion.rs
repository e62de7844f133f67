//! What one engine has to say to another.

use hardbop_cfront::ids::{CheckId, LocId};
use std::collections::BTreeSet;

/// An abstract path to the violation of a check, through loops that refinement can only count
/// through. An engine that leaps loops may find out whether there is such a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Suggestion {
    /// The check.
    pub check: CheckId,
    /// The locations that the path passes.
    pub through: BTreeSet<LocId>,
}
