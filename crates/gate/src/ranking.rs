//! Ranks: they fall with every step, so no execution has infinitely many.
//!
//! Beside the invariants, which are checked as such, every cut point has a level and a tuple of
//! words over the state. A step to another cut point of the same function, or over a call that
//! returns, leads to a lower level, or on the same level to a tuple that is smaller in
//! lexicographic order. A call leads to a function of a lower level, or on the same level from the
//! tuple that the caller was entered with to a smaller one. Levels and words are finitely many, and
//! what lies between two cut points has no cycles (`steps.rs` sees to that). So neither can calls
//! be nested without an end, nor can one call have infinitely many steps: every execution ends.

use crate::invariants::Checker;
use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_engine::Reason;
use hardbop_engine::claim::{Component, Order, Ranking};
use hardbop_logic::{Sort, TermId, Terms};
use hardbop_semantics::State;
use hardbop_semantics::constants::{Constants, Meaning, Spelling};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The ranks of a claim, read.
pub(crate) struct Ranks {
    points: BTreeMap<LocId, Rank>,
    calls: BTreeMap<FuncId, Rank>,
}

/// A level, and what falls on it.
#[derive(Clone)]
struct Rank {
    level: u32,
    words: Vec<(Order, TermId)>,
}

impl Ranks {
    /// Reads the ranks of a claim.
    pub(crate) fn read(
        claim: &Ranking,
        spelling: &mut Spelling,
        constants: &Constants,
        terms: &mut Terms,
    ) -> Result<Ranks, Reason> {
        let mut words = |components: &[Component]| {
            let mut words = Vec::new();
            for Component { order, term } in components {
                let word = spelling.read_term(terms, term);
                let word = word.map_err(|_| Reason::Certificate)?;
                // Of finitely many values, and a function of the state.
                let finite = matches!(terms.sort(word), Sort::BitVec(_));
                if !finite || constants.support(terms, word).is_none() {
                    return Err(Reason::Certificate);
                }
                words.push((*order, word));
            }
            Ok(words)
        };
        let mut ranks = Ranks {
            points: BTreeMap::new(),
            calls: BTreeMap::new(),
        };
        for rank in &claim.ranks {
            let words = words(&rank.components)?;
            let level = rank.level;
            ranks.points.insert(rank.at, Rank { level, words });
        }
        for rank in &claim.calls {
            let words = words(&rank.components)?;
            let level = rank.level;
            ranks.calls.insert(rank.function, Rank { level, words });
        }
        Ok(ranks)
    }
}

impl Checker<'_, '_> {
    /// The rank must fall with a step between two cut points of one function.
    pub(crate) fn falls(
        &mut self,
        from: LocId,
        to: LocId,
        conditions: &[TermId],
        after: &State,
    ) -> Result<(), Reason> {
        let Some(ranks) = &self.ranks else {
            return Ok(());
        };
        // Where no edge leaves, nothing more happens in this call.
        if self.view.program.edges_from(to).next().is_none() {
            return Ok(());
        }
        let (Some(before), Some(next)) = (ranks.points.get(&from), ranks.points.get(&to)) else {
            return Err(Reason::Certificate);
        };
        let (before, mut next) = (before.clone(), next.clone());
        for (_, word) in &mut next.words {
            *word = self.moved(*word, after, None);
        }
        self.smaller(&before, &next, conditions)
    }

    /// The rank of the call must fall where a function calls another one.
    pub(crate) fn deepens(
        &mut self,
        caller: LocId,
        callee: FuncId,
        conditions: &[TermId],
        entered: &State,
    ) -> Result<(), Reason> {
        let Some(ranks) = &self.ranks else {
            return Ok(());
        };
        let caller = self.view.program.locations[caller.index()].function;
        let (Some(before), Some(next)) = (ranks.calls.get(&caller), ranks.calls.get(&callee))
        else {
            return Err(Reason::Certificate);
        };
        let (mut before, mut next) = (before.clone(), next.clone());
        for (_, word) in &mut before.words {
            *word = self.at_entry(*word);
        }
        for (_, word) in &mut next.words {
            *word = self.moved(*word, entered, Some(entered));
        }
        self.smaller(&before, &next, conditions)
    }

    /// What a word about the state at a procedure's entry is called later in that procedure.
    fn at_entry(&mut self, word: TermId) -> TermId {
        let mut map = BTreeMap::new();
        for constant in self.terms.free_constants(&[word]) {
            if let Some(Meaning::Now(id)) = self.constants.meaning(constant) {
                let old = self.view.semantics.old_constant(&mut self.terms, id);
                map.insert(constant, old);
            }
        }
        self.terms.substitute(word, &map)
    }

    fn smaller(&mut self, before: &Rank, next: &Rank, conditions: &[TermId]) -> Result<(), Reason> {
        match next.level.cmp(&before.level) {
            Ordering::Less => return Ok(()),
            Ordering::Greater => return self.never(conditions),
            Ordering::Equal => {}
        }
        let terms = &mut self.terms;
        let pairs = before.words.iter().zip(&next.words);
        // What cannot be compared does not fall; what is before it still may.
        let comparable = pairs
            .take_while(|&(&(one, a), &(other, b))| one == other && terms.sort(a) == terms.sort(b));
        let comparable: Vec<(Order, TermId, TermId)> = comparable
            .map(|(&(order, a), &(_, b))| (order, a, b))
            .collect();
        let mut falls = terms.bool(false);
        for (order, a, b) in comparable.into_iter().rev() {
            let less = match order {
                Order::Signed => terms.bv_slt(b, a),
                Order::Unsigned => terms.bv_ult(b, a),
            };
            let same = terms.eq(a, b);
            let later = terms.and(&[same, falls]);
            falls = terms.or(&[less, later]);
        }
        let stays = terms.not(falls);
        let mut question = conditions.to_vec();
        question.push(stays);
        self.never(&question)
    }
}
