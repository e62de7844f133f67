//! Steps are followed from what is known of their beginnings, and what is known of their ends is
//! weakened until it covers them.

use super::Fixpoint;
use super::needed::Needed;
use crate::cells::Cells;
use crate::place::{Part, Place};
use crate::questions::Questions;
use hardbop_budget::Stopped;
use hardbop_cfront::ids::LocId;
use hardbop_logic::{Answer, Limits, TermId, Terms, Unknown, Value};
use hardbop_semantics::steps::{End, Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// So many steps from a point are told to the solver together: each of its models speaks of all
/// that it was told.
const TOLD: usize = 64;

/// What a query about one guess may cost, where all of them together are too much.
const ONE: Limits = Limits {
    time: None,
    steps: Some(1_000_000),
};

/// What is easily decided.
const EASY: Limits = Limits {
    time: None,
    steps: Some(200_000),
};

/// What comes of asking about each combination of modes by itself.
enum Apart {
    /// There is one, or there are many.
    One,
    /// An answer for all of them.
    Decided(Answer),
    /// Something that cannot be decided is no longer known of one of them.
    GivenUp,
}

/// Asks about each combination of modes whether all that comes there is covered, and whether
/// another one is met.
fn of_each_mode(
    terms: &mut Terms,
    questions: &mut Questions,
    place: &mut Place,
    taken: TermId,
    ends: &BTreeMap<TermId, TermId>,
) -> Apart {
    let apart = place.apart(terms);
    if apart.is_empty() {
        return Apart::One;
    }
    let met = place.met(terms);
    let mut given_up = false;
    let all = apart.into_iter().map(|(keys, claim)| (Some(keys), claim));
    for (keys, claim) in all.chain([(None, met)]) {
        let after = terms.substitute(claim, ends);
        let fails = terms.not(after);
        match (questions.ask(terms, taken, fails), keys) {
            (Answer::Unsat, _) => {}
            (Answer::Unknown(Unknown::Time | Unknown::Steps), Some(keys)) => {
                questions.session.set_limits(EASY);
                place.give_up_of(terms, &keys, &mut |terms, claim| {
                    let after = terms.substitute(claim, ends);
                    let fails = terms.not(after);
                    questions.ask(terms, taken, fails) == Answer::Unsat
                });
                questions.session.set_limits(questions.limits);
                given_up = true;
            }
            (answer, _) => return Apart::Decided(answer),
        }
    }
    match given_up {
        true => Apart::GivenUp,
        false => Apart::Decided(Answer::Unsat),
    }
}

/// What is known while steps are followed.
pub(super) struct Search<'a, 'g, 'p> {
    pub(super) ground: &'a Ground<'g, 'p>,
    pub(super) cells: Cells,
    pub(super) questions: Questions,
    /// Whether so much is said of each point that one guess that is hard is no reason to know nothing.
    pub(super) by_itself: bool,
    /// What is known to hold at points before anything is guessed.
    pub(super) given: BTreeMap<LocId, Vec<TermId>>,
    pub(super) places: BTreeMap<LocId, Place>,
    /// For every call and the end of its callee, how much of what is known there was followed for
    /// all that is known at the call.
    pub(super) returned: BTreeMap<(LocId, LocId), u64>,
    pub(super) found: Fixpoint,
}

impl Search<'_, '_, '_> {
    /// Follows the steps from a point. Says which of their ends changed.
    pub(super) fn follow(
        &mut self,
        terms: &mut Terms,
        from: Option<LocId>,
        steps: &[&Step],
    ) -> Result<Vec<LocId>, Stopped> {
        let mut changed = Vec::new();
        let Some(from) = from else {
            let anything = terms.bool(true);
            self.follow_from(terms, anything, steps, None, &mut changed)?;
            return Ok(changed);
        };
        // What was followed before need not be followed again: its ends only grow.
        let place = self.places.get_mut(&from);
        if let Some(new) = place.and_then(|place| place.take_new(terms)) {
            let instances = self.instances(terms, from);
            let before = terms.and(&[&[new][..], &instances].concat());
            self.follow_from(terms, before, steps, None, &mut changed)?;
        }
        // What callees give back since then, to all who called them.
        let exits = steps.iter().filter_map(|step| step.returned.as_ref());
        let exits: BTreeSet<LocId> = exits.map(|returned| returned.exit).collect();
        for exit in exits {
            let changes = self.places.get(&exit).map_or(0, Place::changes);
            let seen = self.returned.insert((from, exit), changes).unwrap_or(0);
            if seen < changes
                && let Some(place) = self.places.get(&from)
            {
                let known = place.invariant(terms);
                let instances = self.instances(terms, from);
                let before = terms.and(&[&[known][..], &instances].concat());
                let returns = steps.iter().copied().filter(|step| {
                    let returned = step.returned.as_ref();
                    returned.is_some_and(|returned| returned.exit == exit)
                });
                let returns: Vec<&Step> = returns.collect();
                self.follow_from(terms, before, &returns, Some(seen), &mut changed)?;
            }
        }
        Ok(changed)
    }

    /// Follows steps from all that is known of where they begin.
    pub(super) fn follow_all(
        &mut self,
        terms: &mut Terms,
        from: Option<LocId>,
        steps: &[&Step],
    ) -> Result<(), Stopped> {
        let before = match from {
            None => terms.bool(true),
            Some(from) => {
                let Some(place) = self.places.get(&from).filter(|at| at.is_reached()) else {
                    return Ok(());
                };
                let known = place.invariant(terms);
                let instances = self.instances(terms, from);
                terms.and(&[&[known][..], &instances].concat())
            }
        };
        self.follow_from(terms, before, steps, None, &mut Vec::new())
    }

    /// Follows steps from what holds before them; those that return from a callee with what is
    /// known of it, or only with what is new since then.
    fn follow_from(
        &mut self,
        terms: &mut Terms,
        before: TermId,
        steps: &[&Step],
        since: Option<u64>,
        changed: &mut Vec<LocId>,
    ) -> Result<(), Stopped> {
        for steps in steps.chunks(TOLD) {
            // What the steps share is told to the solver once.
            self.questions.push(terms, before);
            self.follow_some(terms, steps, since, changed)?;
            self.questions.pop();
        }
        Ok(())
    }

    fn follow_some(
        &mut self,
        terms: &mut Terms,
        steps: &[&Step],
        since: Option<u64>,
        changed: &mut Vec<LocId>,
    ) -> Result<(), Stopped> {
        for step in steps {
            if let Some(taken) = self.taken(terms, step, since)
                && self.cover(terms, step, taken)?
                && let End::At(location) = step.to
            {
                // Instances of what was known before are no longer known.
                if let Some(place) = self.places.get_mut(&location)
                    && place.is_quantified()
                {
                    place.follow_again();
                }
                changed.push(location);
            }
        }
        Ok(())
    }

    /// What is known of a point for the elements that steps from there access, and what was known
    /// before.
    fn instances(&self, terms: &mut Terms, at: LocId) -> Vec<TermId> {
        let mut found = self.given.get(&at).cloned().unwrap_or_default();
        if let Some(place) = self.places.get(&at).filter(|place| place.is_quantified()) {
            let invariant = place.invariant(terms);
            let nothing = terms.bool(true);
            found.push(self.cells.put_in(terms, at, nothing, &BTreeMap::new()));
            for map in self.instances_at(at) {
                found.push(self.cells.put_in(terms, at, invariant, &map));
            }
        }
        found
    }

    /// When a step is taken, with what is known of the callee for a return; `None` if never.
    fn taken(&self, terms: &mut Terms, step: &Step, since: Option<u64>) -> Option<TermId> {
        let Some(returned) = &step.returned else {
            return Some(step.condition);
        };
        let place = self.places.get(&returned.exit)?;
        if !place.is_reached() {
            return None;
        }
        let formula = match since {
            // Facts about all elements are used as a whole.
            Some(changes) if !place.is_quantified() => place.since(terms, changes),
            _ => place.invariant(terms),
        };
        let mut facts = vec![formula];
        facts.extend(self.given.get(&returned.exit).into_iter().flatten());
        let all = terms.and(&facts);
        let left = self.ground.at_exit(terms, returned, all);
        Some(terms.and(&[step.condition, left]))
    }

    /// Weakens what is known of a point until it covers all ends of a step. Says whether that
    /// changed anything.
    fn cover(&mut self, terms: &mut Terms, step: &Step, taken: TermId) -> Result<bool, Stopped> {
        let location = match step.to {
            End::At(location) => location,
            End::Unsupported(construct) => {
                self.found.questions += 1;
                let reached = terms.bool(true);
                if self.questions.ask(terms, taken, reached) != Answer::Unsat {
                    self.found.unsupported = Some(construct);
                }
                return Ok(false);
            }
        };
        let Some(place) = self.places.get(&location) else {
            return Ok(false);
        };
        let quantified = place.is_quantified();
        let ends = self.ends(terms, step, location);
        // What is said of elements is asked by itself: it is hard, and the rest mostly is not.
        let parts: &[Part] = match quantified {
            true => &[Part::Plain, Part::Elements],
            false => &[Part::All],
        };
        let mut changed = false;
        for &part in parts {
            changed |= self.cover_part(terms, location, part, taken, &ends)?;
        }
        Ok(changed)
    }

    /// What the variables of a point are at the end of a step.
    pub(super) fn ends(
        &self,
        terms: &mut Terms,
        step: &Step,
        location: LocId,
    ) -> BTreeMap<TermId, TermId> {
        let at_end = |terms: &mut Terms, term: TermId| {
            let mut map = BTreeMap::new();
            for constant in terms.free_constants(&[term]) {
                map.insert(constant, self.ground.at_end(terms, step, constant));
            }
            terms.substitute(term, &map)
        };
        let mut ends: BTreeMap<TermId, TermId> = BTreeMap::new();
        let place = self.places.get(&location);
        for variable in place.map(Place::variables).unwrap_or_default() {
            let mut end = at_end(terms, variable.term);
            for fold in self.cells.folds() {
                let there = [fold.memory, fold.base].map(|at| at_end(terms, at));
                end = fold.moved(terms, end, there);
            }
            ends.insert(variable.constant, end);
        }
        ends
    }

    /// The points that may be reached.
    pub(super) fn reached(&self) -> impl Iterator<Item = LocId> + '_ {
        let reached = self.places.iter().filter(|(_, place)| place.is_reached());
        reached.map(|(&location, _)| location)
    }

    /// For which terms in the places of words what is known of a point is used besides.
    pub(super) fn instances_at(&self, at: LocId) -> Vec<BTreeMap<TermId, TermId>> {
        if !self.places.get(&at).is_some_and(Place::is_quantified) {
            return Vec::new();
        }
        let instances = self.cells.instances(at).map(|instance| {
            let words = instance.iter();
            words.map(|&(word, term)| (self.cells.words[word], term))
        });
        instances.map(Iterator::collect).collect()
    }

    /// The same for a part of what is known.
    fn cover_part(
        &mut self,
        terms: &mut Terms,
        location: LocId,
        part: Part,
        taken: TermId,
        ends: &BTreeMap<TermId, TermId>,
    ) -> Result<bool, Stopped> {
        let Some(place) = self.places.get_mut(&location) else {
            return Ok(false);
        };
        let mut changed = false;
        loop {
            let known = place.known(terms, part);
            if known == terms.bool(true) {
                return Ok(changed);
            }
            let after = terms.substitute(known, ends);
            let uncovered = terms.not(after);
            self.found.questions += 1;
            let mut answer = self.questions.ask(terms, taken, uncovered);
            let unknown = matches!(answer, Answer::Unknown(Unknown::Time | Unknown::Steps));
            if unknown && part == Part::All {
                match of_each_mode(terms, &mut self.questions, place, taken, ends) {
                    Apart::Decided(apart) => answer = apart,
                    Apart::GivenUp => {
                        changed = true;
                        continue;
                    }
                    Apart::One => {}
                }
            }
            let point: Vec<(TermId, Option<Value>)> = match answer {
                Answer::Unsat => return Ok(changed),
                Answer::Sat => {
                    let asked: Vec<TermId> = ends.values().copied().collect();
                    let values = self.questions.values(terms, &asked);
                    let session = &mut self.questions.session;
                    if values.iter().any(Option::is_none) && session.leave_circuits() {
                        continue;
                    }
                    ends.keys().copied().zip(values).collect()
                }
                Answer::Unknown(Unknown::Stopped(stopped)) => return Err(stopped),
                Answer::Unknown(_) => {
                    let floats = place.is_about_floats();
                    let session = &self.questions.session;
                    let dropped = floats
                        && place.keep(terms, part, &mut |terms, claim| {
                            let after = terms.substitute(claim, ends);
                            let fails = terms.not(after);
                            session.contradicts_bounds(terms, &[taken, fails])
                        });
                    let by_itself = place.is_quantified() || self.by_itself;
                    if !dropped && by_itself {
                        break;
                    }
                    if !dropped {
                        place.give_up();
                    }
                    changed = true;
                    continue;
                }
            };
            if !place.add(terms, &point) {
                // The model says nothing that the guesses understand.
                break;
            }
            changed = true;
        }
        changed |= self.cover_guesses(terms, location, part, taken, ends)?;
        Ok(changed)
    }

    /// The same where it is not known whether all is covered, and much is said: it is
    /// asked of each guess by itself, and what cannot be decided is left out. Says whether anything
    /// is: where each holds by itself, nothing has changed, and a loop need not be followed again.
    fn cover_guesses(
        &mut self,
        terms: &mut Terms,
        location: LocId,
        part: Part,
        taken: TermId,
        ends: &BTreeMap<TermId, TermId>,
    ) -> Result<bool, Stopped> {
        let Some(place) = self.places.get_mut(&location) else {
            return Ok(false);
        };
        if part == Part::Plain {
            place.freeze(terms);
        }
        self.questions.session.set_limits(ONE);
        let mut stopped = None;
        let (questions, count) = (&mut self.questions, &mut self.found.questions);
        let mut ask = |terms: &mut Terms, claim: TermId| {
            let after = terms.substitute(claim, ends);
            let fails = terms.not(after);
            *count += 1;
            match questions.ask(terms, taken, fails) {
                Answer::Unsat => true,
                Answer::Unknown(Unknown::Stopped(why)) => {
                    stopped = Some(why);
                    false
                }
                Answer::Sat | Answer::Unknown(_) => false,
            }
        };
        let mut changed = place.keep(terms, part, &mut ask);
        // Guesses hold in the modes that were met; whether others are met is one more question.
        let modes = place.met(terms);
        if part == Part::Plain && modes != terms.bool(true) && !ask(terms, modes) {
            place.give_up();
            changed = true;
        }
        self.questions.session.set_limits(self.questions.limits);
        stopped.map_or(Ok(changed), Err)
    }

    /// What was found; `needed` says what is needed of it, if anybody knows.
    pub(super) fn ended(
        mut self,
        terms: &mut Terms,
        needed: Option<BTreeMap<LocId, Needed>>,
    ) -> Fixpoint {
        for (&location, place) in &self.places {
            if place.is_reached() {
                let mut known = self.given.get(&location).cloned().unwrap_or_default();
                match needed.as_ref().and_then(|all| all.get(&location)) {
                    Some(needed) => known.extend(&needed.parts),
                    None => known.push(place.invariant(terms)),
                }
                let invariant = terms.and(&known);
                self.found.invariants.insert(location, invariant);
                if place.is_quantified() {
                    let needed = needed.as_ref().and_then(|all| all.get(&location));
                    // One is kept: with it the gate asks about each fact by itself.
                    let is_needed = |number| {
                        needed.is_none_or(|it| match it.instances.is_empty() {
                            true => number == 0,
                            false => it.instances.contains(&number),
                        })
                    };
                    let instances = self.cells.instances(location).enumerate();
                    let instances = instances.filter(|&(number, _)| is_needed(number));
                    let here = instances.map(|(_, instance)| (location, instance.clone()));
                    self.found.instances.extend(here);
                }
                self.found.guesses.1 += place.left();
            }
        }
        if self.places.values().any(Place::is_quantified) {
            for (number, fold) in self.cells.folds().enumerate() {
                let mut steps = Vec::new();
                for (&at, place) in &self.places {
                    if place.is_reached() && place.is_quantified() {
                        steps.extend(self.cells.counts(number, at).map(|count| (at, count)));
                    }
                }
                self.found.folds.push((fold.clone(), steps));
            }
            self.found.words = self.cells.words;
        }
        self.found
    }
}
