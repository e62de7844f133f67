//! Where objects were taken: ghosts, for facts about all nodes of linked structures.
//!
//! Such a fact speaks of every object of a class that was ever allocated. Which addresses these are
//! no program says, so the state has it beside what the program has: for each class with
//! allocations an array from addresses to a bit. It is 0 everywhere at the start, an allocation sets
//! the bit at the address that it takes, and nothing else writes or reads it. So every execution of
//! the program is one with ghosts, in one way only, and what is proved of those is proved of these.
//!
//! Nobody has them who does not ask ([`Semantics::with_births`](crate::Semantics::with_births)).

use crate::exec::Execution;
use crate::scalar::Shape;
use hardbop_cfront::ids::EdgeId;
use hardbop_logic::{TermId, Terms};

/// The shape of the bit.
pub const BORN: Shape = Shape {
    width: 1,
    signed: false,
    float: None,
};

impl Execution<'_, '_> {
    /// Before the program starts, nothing is taken.
    pub(crate) fn start_births(&mut self, terms: &mut Terms) {
        let ghosts: Vec<_> = self.semantics.layout.births().values().copied().collect();
        for ghost in ghosts {
            let nowhere = self.zero(terms, ghost);
            self.state.set(ghost, nowhere);
        }
    }

    /// An object was taken from the frontier.
    pub(crate) fn note_birth(&mut self, terms: &mut Terms, edge: EdgeId, address: TermId) {
        let semantics = self.semantics;
        let spot = semantics.points_to.allocation(edge);
        let ghost = spot.and_then(|spot| semantics.layout.births().get(&spot.class));
        if let Some(&ghost) = ghost {
            let before = self.state.get(semantics, terms, ghost);
            let one = terms.bv(1, BORN.width);
            let after = terms.store(before, address, one);
            self.state.set(ghost, after);
        }
    }
}
