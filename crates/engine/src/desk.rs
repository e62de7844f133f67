//! Where an engine hands in what it finds.

use crate::{Claim, Event, Reason, Suggestion};

/// Takes what an engine has to say while it works. An engine of several threads may share it among
/// them.
pub trait Desk: Send {
    /// How far it is.
    fn event(&mut self, event: Event);

    /// Takes a claim to the gate. What is accepted is known from then on; the engine need not say
    /// it again.
    fn submit(&mut self, claim: Claim) -> Answer;

    /// What another engine might look at.
    fn suggest(&mut self, _suggestion: Suggestion) {}
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was checked, and holds.
    Accepted,
    /// It does not count.
    Refused(Reason),
}

impl Answer {
    /// Why it does not count, if it does not.
    pub fn refused(self) -> Option<Reason> {
        match self {
            Answer::Accepted => None,
            Answer::Refused(reason) => Some(reason),
        }
    }
}
