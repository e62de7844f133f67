//! The strongest invariants that can be made of guesses.
//!
//! Nothing is reached at first. A step from what is known to something that is not yet covered has
//! a model; its last state refutes guesses there and joins the affine hull, and what is new there
//! is followed in turn. When no step has such a model, what is left is an invariant.

use crate::candidates::{Hints, Variable, guesses, left, magnitudes, variables};
use crate::cells::Cells;
use crate::modes::{Mode, arguments};
use crate::objects::widened;
use crate::place::{Part, Place};
use crate::polynomials::{multiplied, polynomials};
use crate::questions::Questions;
use crate::solvers::{First, Solvers};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::LocId;
use hardbop_logic::{Answer, Limits, TermId, Terms, Unknown, Value, multiplies};
use hardbop_semantics::folds::Fold;
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::{End, Ground, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What is known when nothing changes any more.
#[derive(Debug)]
pub struct Fixpoint {
    /// The invariants of all points that may be reached.
    pub invariants: BTreeMap<LocId, TermId>,
    /// The arbitrary words that they speak of, ...
    pub words: Vec<TermId>,
    /// ... and for which terms, in the places of words, they are used besides.
    pub instances: Vec<(LocId, Vec<(usize, TermId)>)>,
    /// The sums that they speak of, and where and for which numbers of elements it is used what one
    /// more adds to them.
    pub folds: Vec<(Fold, Vec<(LocId, TermId)>)>,
    /// What is not supported and may be reached.
    pub unsupported: Option<u32>,
    /// How many questions were asked.
    pub questions: u64,
    /// How many guesses there were, and how many are left.
    pub guesses: (usize, usize),
}

/// So many steps from a point are told to the solver together: each of its models speaks of all
/// that it was told.
const TOLD: usize = 64;

/// What a query may cost, in the solver's own steps, so that it is the same on every machine.
const QUERY: Limits = Limits {
    time: None,
    steps: Some(5_000_000),
};

/// What a query about one guess may cost, where all of them together are too much.
const ONE: Limits = Limits {
    time: None,
    steps: Some(1_000_000),
};

/// What is guessed, and how invariants are made of it.
#[derive(Clone, Copy, Debug)]
pub struct Guessed {
    /// Whether anything is guessed of elements of arrays.
    pub elements: Elements,
    /// Whether arguments of recursive functions are told apart by their values.
    pub arguments: Arguments,
    /// Whether equations between products are guessed.
    pub products: Products,
    /// The most steps of the solver in all.
    pub steps: u64,
}

/// Why there are no invariants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoInvariants {
    /// The budget ended.
    Stopped(Stopped),
    /// The solver has taken as many steps as it may.
    Steps,
    /// Nothing is to be guessed.
    Nothing,
}

impl From<Stopped> for NoInvariants {
    fn from(stopped: Stopped) -> NoInvariants {
        NoInvariants::Stopped(stopped)
    }
}

/// Whether anything is guessed of elements of arrays: more power for programs that have such, and
/// more work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// Nothing.
    Left,
    /// What the program suggests.
    Also,
    /// The same, and where it suggests nothing, nothing is guessed at all.
    Needed,
}

/// Whether what a recursive function does is guessed for each of the first values of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// For all at once.
    Together,
    /// For each; where there is no recursive function, nothing is guessed at all.
    ToldApart,
}

/// Whether equations between products are guessed, from runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Products {
    /// Nothing.
    Left,
    /// What runs suggest; where that is nothing, nothing is guessed at all.
    Needed,
}

/// Finds invariants; `live` says what they may speak of.
pub fn fixpoint(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
    live: &BTreeMap<LocId, Live>,
    guessed: Guessed,
    budget: &Budget,
    tell: &mut dyn FnMut(&Fixpoint),
) -> Result<Fixpoint, NoInvariants> {
    let nothing = BTreeMap::new();
    let mut given = |terms: &mut Terms, given: BTreeMap<LocId, Vec<TermId>>| {
        fixpoint_given(ground, terms, steps, live, guessed, given, budget, tell)
    };
    match guessed.products {
        Products::Left => given(terms, nothing),
        Products::Needed if !multiplied(terms, steps) => Err(NoInvariants::Nothing),
        Products::Needed => {
            let first = polynomials(ground, terms, steps, live, &BTreeMap::new(), budget)?;
            let found = given(terms, first.clone())?;
            // Bounds say where sums overflow, which products may depend on.
            let bounds = &found.invariants;
            let second = polynomials(ground, terms, steps, live, bounds, budget)?;
            match second == first {
                true if first.is_empty() => Err(NoInvariants::Nothing),
                true => Ok(found),
                false => given(terms, second),
            }
        }
    }
}

/// The same, where something is known of points.
#[allow(clippy::too_many_arguments)]
fn fixpoint_given(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
    live: &BTreeMap<LocId, Live>,
    guessed: Guessed,
    given: BTreeMap<LocId, Vec<TermId>>,
    budget: &Budget,
    tell: &mut dyn FnMut(&Fixpoint),
) -> Result<Fixpoint, NoInvariants> {
    let products = guessed.products == Products::Needed;
    let hints = Hints::new(ground, terms, steps);
    let cells = match guessed.elements {
        Elements::Left => Cells::default(),
        Elements::Also | Elements::Needed => Cells::new(ground, terms, steps, &hints),
    };
    let mut places: BTreeMap<LocId, Place> = BTreeMap::new();
    let mut found = Fixpoint {
        invariants: BTreeMap::new(),
        words: Vec::new(),
        instances: Vec::new(),
        folds: Vec::new(),
        unsupported: None,
        questions: 0,
        guesses: (0, 0),
    };
    let nothing = Live::default();
    let limits = cells.limits(ground, terms);
    let recursive = steps.iter().any(|step| step.returned.is_some());
    for step in steps {
        if let End::At(location) = step.to {
            if !places.contains_key(&location) {
                budget.check()?;
            }
            places.entry(location).or_insert_with(|| {
                let live = live.get(&location).unwrap_or(&nothing);
                let mut live = live.clone();
                if !live.now.is_empty() {
                    live.now.extend(&limits);
                }
                let live = &live;
                let mut variables = variables(ground, terms, location, live);
                let fixed = cells.fixed(ground, terms, live);
                let elements = !fixed.is_empty() || cells.has_arrays();
                variables.extend(fixed);
                if (recursive || elements) && variables.iter().any(|variable| variable.width == 64)
                {
                    // What a function of 64 bits gives back is related to what it is given.
                    let mut wide = widened(terms, &variables);
                    wide.retain(|wide| !variables.contains(wide));
                    variables.extend(wide);
                }
                let (held, others): (Vec<Variable>, Vec<Variable>) = variables
                    .iter()
                    .partition(|variable| hints.modes.contains(&variable.constant));
                let mut modes: Vec<Mode> = held.iter().map(Mode::exact).collect();
                let told = cells.told_apart(ground, terms, live);
                modes.extend(told.iter().map(Mode::exact));
                let mut guesses = guesses(terms, &hints, &variables, &others);
                if guessed.arguments == Arguments::ToldApart {
                    modes.extend(arguments(ground, terms, &hints, location, live, &others));
                    guesses.extend(magnitudes(terms, &others));
                }
                let more = cells.guesses(ground, terms, live, &variables);
                let about_elements = more.guesses.iter().copied().collect();
                guesses.extend(more.guesses);
                variables.extend(more.variables);
                variables.extend(told);
                // First what only hulls relate to others: a hull has few dimensions.
                let mut related = [more.sums, others].concat();
                if products {
                    // Those that hold are given, as far as anybody knows, and so are equations.
                    guesses.retain(|&guess| !multiplies(terms, &[guess]));
                    guesses.extend(left(terms, &hints, &variables));
                    related.clear();
                }
                found.guesses.0 += guesses.len();
                Place::new(variables, modes, related, guesses, about_elements)
            });
        }
    }
    if guessed.arguments == Arguments::ToldApart && !places.values().any(Place::has_arguments)
        || guessed.elements == Elements::Needed && !places.values().any(Place::is_quantified)
    {
        return Err(NoInvariants::Nothing);
    }
    let first = match !products && places.values().any(Place::is_quantified) {
        true => First::Circuits,
        false => First::Nobody,
    };
    let mut session = Solvers::new(first, budget);
    session.set_limits(match products {
        false => QUERY,
        // Steps deceive where there are many wide words.
        true => Limits {
            time: Some(Duration::from_secs(2)),
            ..QUERY
        },
    });
    let begun = session.steps();
    for axiom in ground.semantics.axioms(terms) {
        session.assert(terms, axiom);
    }
    let readers = Readers::new(steps);
    let mut search = Search {
        ground,
        cells,
        questions: Questions::new(terms, session, products),
        given,
        places,
        returned: BTreeMap::new(),
        found,
    };
    let mut work: BTreeSet<(usize, Option<LocId>)> = BTreeSet::from([(0, None)]);
    while let Some((_, from)) = work.pop_first() {
        budget.check()?;
        if search.questions.session.steps().saturating_sub(begun) > guessed.steps {
            return Err(NoInvariants::Steps);
        }
        for changed in search.follow(terms, from, readers.steps_from(from))? {
            work.extend(readers.ranked(Some(changed)));
            // What a callee gives back changes what follows from all that is known at its calls.
            for &call in readers.calls.get(&changed).into_iter().flatten() {
                work.extend(readers.ranked(Some(call)));
            }
        }
        tell(&search.found);
        if search.found.unsupported.is_some() {
            break;
        }
    }
    Ok(search.ended(terms))
}

/// Which steps begin where, and in which order the points are looked at.
pub(crate) struct Readers<'s> {
    from: BTreeMap<Option<LocId>, Vec<&'s Step>>,
    /// Where a call is made whose callee ends here.
    pub(crate) calls: BTreeMap<LocId, BTreeSet<LocId>>,
    /// Points that are nearer to the start come first, loops aside.
    ranks: BTreeMap<Option<LocId>, usize>,
}

impl<'s> Readers<'s> {
    pub(crate) fn new(steps: &'s [Step]) -> Readers<'s> {
        let mut readers = Readers {
            from: BTreeMap::new(),
            calls: BTreeMap::new(),
            ranks: BTreeMap::new(),
        };
        for step in steps {
            readers.from.entry(step.from).or_default().push(step);
            if let Some(returned) = &step.returned {
                let calls = readers.calls.entry(returned.exit).or_default();
                calls.extend(step.from);
            }
        }
        readers.rank();
        readers
    }

    pub(crate) fn steps_from(&self, from: Option<LocId>) -> &[&'s Step] {
        self.from.get(&from).map_or(&[], Vec::as_slice)
    }

    /// A point with its rank.
    pub(crate) fn ranked(&self, point: Option<LocId>) -> Option<(usize, Option<LocId>)> {
        self.ranks.get(&point).map(|&rank| (rank, point))
    }

    fn rank(&mut self) {
        let mut after = Vec::new();
        let mut seen = BTreeSet::from([None]);
        let mut stack: Vec<(Option<LocId>, usize)> = vec![(None, 0)];
        while let Some((point, next)) = stack.last_mut() {
            let Some(step) = self.steps_from(*point).get(*next) else {
                after.push(*point);
                stack.pop();
                continue;
            };
            *next += 1;
            if let End::At(location) = step.to
                && seen.insert(Some(location))
            {
                stack.push((Some(location), 0));
            }
        }
        let ranked = after.into_iter().rev().enumerate();
        self.ranks = ranked.map(|(rank, point)| (point, rank)).collect();
    }
}

struct Search<'a, 'g, 'p> {
    ground: &'a Ground<'g, 'p>,
    cells: Cells,
    questions: Questions,
    /// What is known to hold at points before anything is guessed.
    given: BTreeMap<LocId, Vec<TermId>>,
    places: BTreeMap<LocId, Place>,
    /// For every call and the end of its callee, how much of what is known there was followed for
    /// all that is known at the call.
    returned: BTreeMap<(LocId, LocId), u64>,
    found: Fixpoint,
}

impl Search<'_, '_, '_> {
    /// Follows the steps from a point. Says which of their ends changed.
    fn follow(
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
            for instance in self.cells.instances(at) {
                let words = instance.iter();
                let map = words.map(|&(word, term)| (self.cells.words[word], term));
                found.push(self.cells.put_in(terms, at, invariant, &map.collect()));
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
        let left = self.ground.at_exit(terms, returned, formula);
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
        let Some(place) = self.places.get_mut(&location) else {
            return Ok(false);
        };
        let at_end = |terms: &mut Terms, term: TermId| {
            let mut map = BTreeMap::new();
            for constant in terms.free_constants(&[term]) {
                map.insert(constant, self.ground.at_end(terms, step, constant));
            }
            terms.substitute(term, &map)
        };
        let mut ends: BTreeMap<TermId, TermId> = BTreeMap::new();
        for variable in place.variables() {
            let mut end = at_end(terms, variable.term);
            for fold in self.cells.folds() {
                let there = [fold.memory, fold.base].map(|at| at_end(terms, at));
                end = fold.moved(terms, end, there);
            }
            ends.insert(variable.constant, end);
        }
        // What is said of elements is asked by itself: it is hard, and the rest mostly is not.
        let parts: &[Part] = match place.is_quantified() {
            true => &[Part::Plain, Part::Elements],
            false => &[Part::All],
        };
        let mut changed = false;
        for &part in parts {
            changed |= self.cover_part(terms, location, part, taken, &ends)?;
        }
        Ok(changed)
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
            let point: Vec<(TermId, Option<Value>)> =
                match self.questions.ask(terms, taken, uncovered) {
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
                        changed = true;
                        let floats = place.is_about_floats();
                        let session = &self.questions.session;
                        let dropped = floats
                            && place.keep(terms, part, &mut |terms, claim| {
                                let after = terms.substitute(claim, ends);
                                let fails = terms.not(after);
                                session.contradicts_bounds(terms, &[taken, fails])
                            });
                        if !dropped && place.is_quantified() {
                            break;
                        }
                        if !dropped {
                            place.give_up();
                        }
                        continue;
                    }
                };
            changed = true;
            place.add(terms, &point);
        }
        self.cover_guesses(terms, location, part, taken, ends)?;
        Ok(true)
    }

    /// The same where it is not known whether all is covered, and much is said of elements: it is
    /// asked of each guess by itself, and what cannot be decided is left out.
    fn cover_guesses(
        &mut self,
        terms: &mut Terms,
        location: LocId,
        part: Part,
        taken: TermId,
        ends: &BTreeMap<TermId, TermId>,
    ) -> Result<(), Stopped> {
        let Some(place) = self.places.get_mut(&location) else {
            return Ok(());
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
        place.keep(terms, part, &mut ask);
        // Guesses hold in the modes that were met; whether others are met is one more question.
        let modes = place.met(terms);
        if part == Part::Plain && modes != terms.bool(true) && !ask(terms, modes) {
            place.give_up();
        }
        self.questions.session.set_limits(QUERY);
        stopped.map_or(Ok(()), Err)
    }

    fn ended(mut self, terms: &mut Terms) -> Fixpoint {
        for (&location, place) in &self.places {
            if place.is_reached() {
                let mut known = self.given.get(&location).cloned().unwrap_or_default();
                known.push(place.invariant(terms));
                let invariant = terms.and(&known);
                self.found.invariants.insert(location, invariant);
                if place.is_quantified() {
                    let instances = self.cells.instances(location);
                    let here = instances.map(|instance| (location, instance.clone()));
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
