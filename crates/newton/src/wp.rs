//! Predicates by weakest preconditions, for paths whose Horn clauses nobody solves.
//!
//! At every cut point of the path, what the conditions of the core that come later in the same
//! procedure say of the state there: the conditions are run forwards from a symbolic state, which
//! is the weakest precondition of the rest of the path. Values that the path makes up on the way
//! are not spoken of: atoms that mention them are left out (TR 2000-14, section 4.2).

use crate::predicate::{Predicate, predicates};
use crate::refine::Refiner;
use hardbop_budget::Budget;
use hardbop_cfront::ids::LocId;
use hardbop_logic::{TermId, Terms};
use hardbop_semantics::Execution;
use hardbop_semantics::segment::{Blocks, Segment};
use std::collections::BTreeSet;

/// Of a long path only the end is looked at: preconditions over long distances are large.
const SEGMENTS: usize = 24;

impl Refiner<'_, '_> {
    /// Predicates for an infeasible path, given the positions of segments that contradict each
    /// other.
    pub fn preconditions(
        &self,
        terms: &mut Terms,
        segments: &[Segment],
        core: &[usize],
        budget: &Budget,
    ) -> Vec<(LocId, Predicate)> {
        let mut found = BTreeSet::new();
        for first in segments.len().saturating_sub(SEGMENTS)..segments.len() {
            if budget.check().is_err() {
                break;
            }
            let Segment::Block(location, _) = segments[first] else {
                continue;
            };
            let function = self.ground.semantics.program.locations[location.index()].function;
            for condition in self.later(terms, segments, first, core) {
                let atoms = predicates(
                    self.ground.semantics,
                    self.ground.constants,
                    terms,
                    function,
                    condition,
                );
                found.extend(atoms.into_iter().map(|atom| (location, atom)));
            }
        }
        found.into_iter().collect()
    }

    /// The conditions of the core from a segment on, over the state where it begins, as long as
    /// control stays in the procedure or what it calls.
    fn later(
        &self,
        terms: &mut Terms,
        segments: &[Segment],
        first: usize,
        core: &[usize],
    ) -> Vec<TermId> {
        let mut run = Execution::new(self.ground.semantics);
        let mut conditions = Vec::new();
        let mut depth = 0;
        for (at, segment) in segments.iter().enumerate().skip(first) {
            match *segment {
                Segment::Start(_) => break,
                Segment::Leave(..) if depth == 0 => break,
                Segment::Leave(..) => depth -= 1,
                Segment::Enter(..) => depth += 1,
                Segment::Block(..) => {}
            }
            let cuts = &self.ground.skeleton.cuts;
            let taken = run.segment(terms, *segment, cuts, &mut Blocks::new());
            let Ok(Some(condition)) = taken else { break };
            if core.contains(&at) {
                conditions.push(condition);
            }
        }
        conditions
    }
}
