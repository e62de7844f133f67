//! Sums over arrays in invariants: read from a claim, known at the start of a step by what the
//! claim names, and at its end by what its writes do to them.

use hardbop_cfront::ids::LocId;
use hardbop_engine::Reason;
use hardbop_engine::claim::{self, Invariants};
use hardbop_logic::{Sort, TermId, Terms};
use hardbop_semantics::constants::{Constants, Meaning, Spelling};
use hardbop_semantics::folds::{Adding, Fold, element};
use hardbop_semantics::{Semantics, State};
use std::collections::{BTreeMap, BTreeSet};

/// The most bits of an element.
const MOST_BITS: u32 = 128;

/// The folds of a claim.
#[derive(Default)]
pub(crate) struct Folds {
    all: Vec<Read>,
}

struct Read {
    fold: Fold,
    /// For which numbers of elements it is used that one more is one summand more.
    steps: BTreeMap<LocId, Vec<TermId>>,
}

impl Folds {
    /// The folds that a claim names. From then on their sums have names in texts.
    pub(crate) fn read(
        claim: &Invariants,
        constants: &Constants,
        spelling: &mut Spelling,
        terms: &mut Terms,
        words: &[TermId],
    ) -> Result<Folds, Reason> {
        let mut all = Vec::new();
        for (number, text) in claim.folds.iter().enumerate() {
            let read = read(text, number, constants, spelling, terms, words);
            all.push(read.ok_or(Reason::Certificate)?);
        }
        Ok(Folds { all })
    }

    /// Refuses formulas that speak of sums in ways that are not looked at.
    pub(crate) fn check(&self, terms: &Terms, formula: TermId) -> Result<(), Reason> {
        let mut all = self.all.iter();
        match all.all(|read| read.fold.is_well_used(terms, formula)) {
            true => Ok(()),
            false => Err(Reason::Certificate),
        }
    }

    /// A formula with terms in the places of arbitrary words: sums that depend on these words are
    /// other ones then.
    pub(crate) fn put_in(
        &self,
        terms: &mut Terms,
        formula: TermId,
        map: &BTreeMap<TermId, TermId>,
    ) -> TermId {
        let mut all = map.clone();
        for read in &self.all {
            all.insert(read.fold.sums, read.fold.with(terms, map).sums);
        }
        terms.substitute(formula, &all)
    }

    /// What is known of the sums at a point, with terms in the places of words.
    pub(crate) fn facts(
        &self,
        terms: &mut Terms,
        at: LocId,
        map: &BTreeMap<TermId, TermId>,
    ) -> Vec<TermId> {
        let mut facts = Vec::new();
        for read in &self.all {
            let fold = read.fold.with(terms, map);
            for &count in read.steps.get(&at).into_iter().flatten() {
                facts.push(fold.next(terms, count));
            }
        }
        facts
    }

    /// A formula that was moved to another state, with that state's sums.
    pub(crate) fn moved(
        &self,
        semantics: &Semantics<'_>,
        constants: &Constants,
        terms: &mut Terms,
        mut formula: TermId,
        now: &State,
    ) -> TermId {
        for read in &self.all {
            let mut map = BTreeMap::new();
            for constant in terms.free_constants(&[read.fold.memory, read.fold.base]) {
                if let Some(Meaning::Now(id)) = constants.meaning(constant) {
                    map.insert(constant, now.get(semantics, terms, id));
                }
            }
            let there = [read.fold.memory, read.fold.base].map(|at| terms.substitute(at, &map));
            formula = read.fold.moved(terms, formula, there);
        }
        formula
    }
}

fn read(
    text: &claim::Fold,
    number: usize,
    constants: &Constants,
    spelling: &mut Spelling,
    terms: &mut Terms,
    words: &[TermId],
) -> Option<Read> {
    let memory = spelling.read_term(terms, &text.memory).ok()?;
    let base = spelling.read_term(terms, &text.base).ok()?;
    // Memory is a part of the state, and where an array begins is a matter of the state.
    if !matches!(constants.meaning(memory), Some(Meaning::Now(_))) {
        return None;
    }
    let state = |&at: &TermId| {
        let meaning = constants.meaning(at);
        matches!(meaning, Some(Meaning::Now(_) | Meaning::Origin))
    };
    if !terms.free_constants(&[base]).iter().all(state) || !(1..=MOST_BITS).contains(&text.bits) {
        return None;
    }
    let standing = element(terms, number, Sort::BitVec(text.bits));
    spelling.spell(terms, standing, &format!("element{number}#"));
    let summand = spelling.read_term(terms, &text.summand).ok()?;
    let known: BTreeSet<TermId> = words.iter().copied().chain([standing]).collect();
    let constants = terms.free_constants(&[summand]);
    if !constants.iter().all(|constant| known.contains(constant)) {
        return None;
    }
    let adding = match text.adding {
        claim::Adding::Sum => Adding::Sum,
        claim::Adding::Xor => Adding::Xor,
    };
    let fold = Fold::new(terms, number, [memory, base], text.stride, summand, adding)?;
    if fold.element != standing {
        return None;
    }
    spelling.spell(terms, fold.sums, &format!("sums{number}#"));
    let mut steps: BTreeMap<LocId, Vec<TermId>> = BTreeMap::new();
    for (at, count) in &text.steps {
        let count = spelling.read_term(terms, count).ok()?;
        let spoken_of = terms.free_constants(&[count]);
        if terms.sort(count) != terms.sort(base) || spoken_of.contains(&fold.sums) {
            return None;
        }
        steps.entry(*at).or_default().push(count);
    }
    Some(Read { fold, steps })
}
