//! Where objects were taken, and who refers to them: ghosts, for facts about all nodes of linked
//! structures.
//!
//! Such a fact speaks of every object of a class that was ever allocated. Which addresses these are
//! no program says, so the state has it beside what the program has: for each class with
//! allocations an array from addresses to numbers. It is 0 everywhere at the start, an allocation
//! writes its own number at the address that it takes (the first of the class is 1), and nothing
//! else writes or reads it. So nodes of two lists of one type can be told apart. Another such array
//! notes where objects were freed. So every execution of
//! the program is one with ghosts, in one way only, and what is proved of those is proved of these.
//!
//! That no two nodes point to the same one is a fact about two nodes. It is one about each node by
//! itself if the state has, beside each region of pointers in such objects, an array from addresses
//! to where a pointer to there was written last: what the node points to was referred to last by
//! the node itself. What the array holds before anything is written is anything; only whole pointers
//! are noted, and nothing reads it, so again every execution is one with ghosts.
//!
//! Nobody has them who does not ask ([`Semantics::with_births`](crate::Semantics::with_births)).

use crate::exec::Execution;
use crate::expr::Evaluated;
use crate::memory::Scalar;
use crate::scalar::Shape;
use hardbop_cfront::ids::{EdgeId, ExprId};
use hardbop_logic::{TermId, Terms};

/// The shape of the number of an allocation.
pub(crate) fn born(bits: u32) -> Shape {
    Shape {
        width: bits,
        signed: false,
        float: None,
    }
}

impl Execution<'_, '_> {
    /// Before the program starts, nothing is taken.
    pub(crate) fn start_births(&mut self, terms: &mut Terms) {
        let ghosts: Vec<_> = self.semantics.layout.births().values().copied().collect();
        let classes = self.semantics.layout.births().keys();
        let freed = classes.filter_map(|&class| self.semantics.layout.freed(class));
        for ghost in freed.chain(ghosts).collect::<Vec<_>>() {
            let nowhere = self.zero(terms, ghost);
            self.state.set(ghost, nowhere);
        }
    }

    /// An object was taken from the frontier.
    pub(crate) fn note_birth(&mut self, terms: &mut Terms, edge: EdgeId, address: TermId) {
        let semantics = self.semantics;
        let spot = semantics.points_to.allocation(edge);
        let Some(spot) = spot else { return };
        if let Some(&ghost) = semantics.layout.births().get(&spot.class) {
            let allocations = &semantics.points_to.classes()[spot.class.0 as usize].allocations;
            let place = allocations.iter().position(|&other| other == edge);
            let number = place.map_or(0, |place| place as i128 + 1);
            let before = self.state.get(semantics, terms, ghost);
            let number = terms.bv(number, semantics.shape(ghost).width);
            let after = terms.store(before, address, number);
            self.state.set(ghost, after);
        }
    }

    /// The object at an address is freed.
    pub(crate) fn note_end(&mut self, terms: &mut Terms, pointer: ExprId) {
        let semantics = self.semantics;
        let spot = semantics.points_to.pointer(pointer);
        if let Some(ghost) = spot.and_then(|spot| semantics.layout.freed(spot.class)) {
            let address = self.pointer(terms, pointer, Evaluated::Always);
            let before = self.state.get(semantics, terms, ghost);
            let one = terms.bv(1, semantics.shape(ghost).width);
            let after = terms.store(before, address, one);
            self.state.set(ghost, after);
        }
    }

    /// A pointer was written: its place is the last that refers to where it points.
    pub(crate) fn note_reference(&mut self, terms: &mut Terms, scalar: &Scalar, value: TermId) {
        let semantics = self.semantics;
        let Some((region, _)) = self.kind_at(scalar.spot) else {
            return;
        };
        let (Some(ghost), Some(address)) = (semantics.layout.references(region), scalar.address)
        else {
            return;
        };
        let (shape, from) = (semantics.pointer_shape(), self.shape_of(scalar.ty));
        if scalar.bits.is_some() || from.width != shape.width {
            return;
        }
        let to = self.stored(terms, value, from, shape, semantics.pointer_arithmetic());
        let before = self.state.get(semantics, terms, ghost);
        let after = terms.store(before, to, address);
        self.state.set(ghost, after);
    }
}
