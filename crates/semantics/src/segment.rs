//! Paths through the skeleton, segment by segment: the one place that says what a segment does to
//! a symbolic state. What begins in an arbitrary state is a [step](crate::steps); what follows
//! other segments is a path.

use crate::block::{Block, block_from};
use crate::{Execution, Unmodelled};
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_logic::{TermId, Terms};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// A part of a path through the skeleton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// Static storage gets its initial value and the entry function is entered.
    Start(FuncId),
    /// The block from one cut point to another.
    Block(LocId, LocId),
    /// A call enters a function.
    Enter(EdgeId, FuncId),
    /// The function entered last returns.
    Leave(EdgeId, FuncId),
}

/// The blocks that were met in one state: several segments may leave a cut point, and their block
/// is made once.
pub type Blocks = BTreeMap<LocId, Block>;

impl Execution<'_, '_> {
    /// Goes on over a segment. Gives the condition under which it is taken, with the facts that
    /// were met on the way; `None` if the block does not end there. `blocks` are those of this
    /// state.
    pub fn segment(
        &mut self,
        terms: &mut Terms,
        segment: Segment,
        cuts: &BTreeSet<LocId>,
        blocks: &mut Blocks,
    ) -> Result<Option<TermId>, Unmodelled> {
        let condition = match segment {
            Segment::Start(_) => {
                self.start(terms);
                terms.bool(true)
            }
            Segment::Block(from, to) => {
                let block = match blocks.entry(from) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => {
                        let entered = self.state.clone();
                        place.insert(block_from(self.semantics, terms, from, cuts, entered)?)
                    }
                };
                let Some(exit) = block.exits.iter().find(|exit| exit.location == to) else {
                    return Ok(None);
                };
                self.exact &= block.exact;
                self.state = exit.state.clone();
                exit.condition
            }
            Segment::Enter(call, callee) => self.enter(terms, call, callee),
            Segment::Leave(..) => {
                self.leave(terms);
                terms.bool(true)
            }
        };
        let mut conjuncts = std::mem::take(&mut self.facts);
        conjuncts.push(condition);
        Ok(Some(terms.and(&conjuncts)))
    }
}
