//! The strongest invariants that can be made of guesses.
//!
//! Nothing is reached at first. A step from what is known to something that is not yet covered has
//! a model; its last state refutes guesses there and joins the affine hull, and whatever begins
//! there is looked at again. When no step has such a model, what is left is an invariant.

use crate::affine::{Equation, Hull};
use crate::candidates::{Hints, Variable, guesses, variables};
use crate::steps::{End, Ground, Step};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::LocId;
use hardbop_logic::{
    Answer, Assignment, Limits, Session, TermId, Terms, Unknown, Value, Z3Options, Z3Solver, eval,
};
use hardbop_newton::refine::Live;
use std::collections::{BTreeMap, BTreeSet};

/// The most points that a hull takes before it is given up: words have many bits.
const POINTS: u32 = 48;
/// The most variables of a hull.
const DIMENSIONS: usize = 10;

/// What is known of a cut point.
#[derive(Debug)]
struct Place {
    variables: Vec<Variable>,
    /// The guesses that no state refuted.
    guesses: Vec<TermId>,
    /// The affine hulls of the variables of one width each, once a state came here.
    hulls: Vec<(u32, Vec<TermId>, Hull)>,
    points: u32,
    reached: bool,
}

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// The invariants of all points that may be reached.
    pub invariants: BTreeMap<LocId, TermId>,
    /// What is not supported and may be reached.
    pub unsupported: Option<u32>,
    /// How many questions were asked.
    pub questions: u64,
    /// How many guesses there were, and how many are left.
    pub guesses: (usize, usize),
}

/// What an invariant is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conjuncts {
    /// All guesses that hold.
    #[default]
    All,
    /// No guess that follows from the others: shorter for readers, and more work.
    Needed,
}

/// What a query may cost, in the solver's own steps, so that it is the same on every machine.
const QUERY: Limits = Limits {
    time: None,
    steps: Some(1_000_000),
};

/// Finds invariants; `live` says what they may speak of.
pub fn fixpoint(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
    live: &BTreeMap<LocId, Live>,
    conjuncts: Conjuncts,
    budget: &Budget,
    tell: &mut dyn FnMut(&Found),
) -> Result<Found, Stopped> {
    let hints = Hints::new(ground, terms, steps);
    let mut places: BTreeMap<LocId, Place> = BTreeMap::new();
    let mut found = Found {
        invariants: BTreeMap::new(),
        unsupported: None,
        questions: 0,
        guesses: (0, 0),
    };
    let nothing = Live::default();
    for step in steps {
        if let End::At(location) = step.to {
            places.entry(location).or_insert_with(|| {
                let live = live.get(&location).unwrap_or(&nothing);
                let variables = variables(ground, terms, location, live);
                let guesses = guesses(terms, &hints, &variables);
                found.guesses.0 += guesses.len();
                Place {
                    variables,
                    guesses,
                    hulls: Vec::new(),
                    points: 0,
                    reached: false,
                }
            });
        }
    }
    let mut session = Session::new(
        Box::new(Z3Solver::new(Z3Options::default())),
        budget.clone(),
    );
    session.set_limits(QUERY);
    for axiom in ground.semantics.axioms(terms) {
        session.assert(terms, axiom);
    }
    let readers = Readers::new(steps);
    let mut search = Search {
        ground,
        session,
        places,
        found,
    };
    let mut work: BTreeSet<(usize, Option<LocId>)> = BTreeSet::from([(0, None)]);
    while let Some((_, from)) = work.pop_first() {
        budget.check()?;
        for changed in search.follow(terms, from, readers.steps_from(from))? {
            work.extend(readers.of(changed));
        }
        tell(&search.found);
        if search.found.unsupported.is_some() {
            break;
        }
    }
    if conjuncts == Conjuncts::Needed {
        search.shorten(terms);
    }
    Ok(search.ended(terms))
}

/// Which steps begin where, and in which order the points are looked at.
struct Readers<'s> {
    from: BTreeMap<Option<LocId>, Vec<&'s Step>>,
    /// Where a call is made whose callee ends here.
    calls: BTreeMap<LocId, BTreeSet<Option<LocId>>>,
    /// Points that are nearer to the start come first, loops aside.
    ranks: BTreeMap<Option<LocId>, usize>,
}

impl<'s> Readers<'s> {
    fn new(steps: &'s [Step]) -> Readers<'s> {
        let mut readers = Readers {
            from: BTreeMap::new(),
            calls: BTreeMap::new(),
            ranks: BTreeMap::new(),
        };
        for step in steps {
            readers.from.entry(step.from).or_default().push(step);
            if let Some(returned) = &step.returned {
                let calls = readers.calls.entry(returned.exit).or_default();
                calls.insert(step.from);
            }
        }
        readers.rank();
        readers
    }

    fn steps_from(&self, from: Option<LocId>) -> &[&'s Step] {
        self.from.get(&from).map_or(&[], Vec::as_slice)
    }

    /// The points that are looked at when something changed here, with their ranks.
    fn of(&self, changed: LocId) -> impl Iterator<Item = (usize, Option<LocId>)> + '_ {
        let calls = self.calls.get(&changed).into_iter().flatten().copied();
        let points = std::iter::once(Some(changed)).chain(calls);
        points.filter_map(|point| self.ranks.get(&point).map(|&rank| (rank, point)))
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
    session: Session<'static>,
    places: BTreeMap<LocId, Place>,
    found: Found,
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
        let mut before = terms.bool(true);
        if let Some(from) = from {
            match self.places.get(&from) {
                Some(place) if place.reached => before = place.invariant(terms),
                _ => return Ok(changed),
            }
        }
        // What the steps share is told to the solver once.
        self.session.push();
        self.session.assert(terms, before);
        for step in steps {
            if let Some(taken) = self.taken(terms, step)
                && self.cover(terms, step, taken)?
                && let End::At(location) = step.to
            {
                changed.push(location);
            }
        }
        self.session.pop();
        Ok(changed)
    }

    /// When a step is taken, with what is known of the callee for a return; `None` if never.
    fn taken(&self, terms: &mut Terms, step: &Step) -> Option<TermId> {
        let Some(returned) = &step.returned else {
            return Some(step.condition);
        };
        let place = self.places.get(&returned.exit)?;
        if !place.reached {
            return None;
        }
        let formula = place.invariant(terms);
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
                if self.session.check(terms, &[taken]) != Answer::Unsat {
                    self.found.unsupported = Some(construct);
                }
                return Ok(false);
            }
        };
        let Some(place) = self.places.get_mut(&location) else {
            return Ok(false);
        };
        let ends: BTreeMap<TermId, TermId> = place
            .variables
            .iter()
            .map(|variable| {
                let constant = variable.constant;
                (constant, self.ground.at_end(terms, step, constant))
            })
            .collect();
        let mut changed = false;
        loop {
            let invariant = place.invariant(terms);
            if place.reached && invariant == terms.bool(true) {
                return Ok(changed);
            }
            let uncovered = match place.reached {
                true => {
                    let after = terms.substitute(invariant, &ends);
                    terms.not(after)
                }
                false => terms.bool(true),
            };
            self.found.questions += 1;
            let point: Vec<(TermId, Option<Value>)> =
                match self.session.check(terms, &[taken, uncovered]) {
                    Answer::Unsat => return Ok(changed),
                    Answer::Sat => {
                        let asked: Vec<TermId> = ends.values().copied().collect();
                        let values = self.session.values(terms, &asked).unwrap_or_default();
                        ends.keys().copied().zip(values).collect()
                    }
                    Answer::Unknown(Unknown::Stopped(stopped)) => return Err(stopped),
                    Answer::Unknown(_) => {
                        changed = true;
                        place.give_up();
                        continue;
                    }
                };
            changed = true;
            place.add(terms, &point);
        }
    }

    /// Drops guesses that follow from the others, for those who read the invariants.
    fn shorten(&mut self, terms: &mut Terms) {
        for place in self.places.values_mut().filter(|place| place.reached) {
            // From the end, where the guesses are that say the least to a reader.
            for at in (0..place.guesses.len()).rev() {
                let guess = place.guesses.remove(at);
                let rest = place.invariant(terms);
                let missing = terms.not(guess);
                self.session.push();
                self.session.assert(terms, rest);
                self.session.assert(terms, missing);
                let answer = self.session.check(terms, &[]);
                self.session.pop();
                if answer != Answer::Unsat {
                    place.guesses.insert(at, guess);
                }
            }
        }
    }

    fn ended(mut self, terms: &mut Terms) -> Found {
        for (&location, place) in &self.places {
            if place.reached {
                let invariant = place.invariant(terms);
                self.found.invariants.insert(location, invariant);
                self.found.guesses.1 += place.guesses.len();
            }
        }
        self.found
    }
}

impl Place {
    fn invariant(&self, terms: &mut Terms) -> TermId {
        let mut conjuncts = self.guesses.clone();
        for (width, constants, hull) in &self.hulls {
            for equation in hull.equations() {
                conjuncts.push(equation_term(terms, equation, constants, *width));
            }
        }
        terms.and(&conjuncts)
    }

    /// It is not known what comes here: what is hardest to decide is given up first.
    fn give_up(&mut self) {
        self.reached = true;
        if self.hulls.is_empty() {
            self.guesses.clear();
        }
        self.hulls.clear();
    }

    /// A state comes here. If it is not known which, nothing is known any more.
    fn add(&mut self, terms: &Terms, point: &[(TermId, Option<Value>)]) {
        let mut state = Assignment::new();
        let mut words: BTreeMap<TermId, u64> = BTreeMap::new();
        for (constant, value) in point {
            let Some(Value::BitVec(bits)) = value else {
                continue;
            };
            let word = bits.unsigned().iter_u64_digits().next().unwrap_or(0);
            words.insert(*constant, word);
            state.set(*constant, Value::BitVec(bits.clone()));
        }
        if words.len() < self.variables.len() || self.variables.is_empty() {
            self.reached = true;
            self.guesses.clear();
            self.hulls.clear();
            return;
        }
        self.guesses
            .retain(|&guess| eval(terms, guess, &state) == Ok(Value::Bool(true)));
        if !self.reached {
            self.reached = true;
            self.hulls = first_hulls(&self.variables, &words);
            return;
        }
        self.points += 1;
        if self.points > POINTS {
            self.hulls.clear();
        }
        for (_, constants, hull) in &mut self.hulls {
            let point: Vec<u64> = constants.iter().map(|constant| words[constant]).collect();
            hull.add(&point);
        }
    }
}

/// An equation as a formula, with what is negative on the other side. If all of it is even, it
/// speaks of the lower bits only.
fn equation_term(
    terms: &mut Terms,
    equation: &Equation,
    constants: &[TermId],
    width: u32,
) -> TermId {
    let all = equation
        .factors
        .iter()
        .fold(equation.constant, |a, b| a | b);
    let twos = all.trailing_zeros().min(width - 1);
    let bits = width - twos;
    let one = terms.bv(1, width);
    let mut sides = [terms.bv(0, width); 2];
    let factors = equation.factors.iter().chain([&equation.constant]);
    for (&factor, &term) in factors.zip(constants.iter().chain([&one])) {
        let factor = i128::from(factor >> twos);
        let negative = factor >> (bits - 1) != 0;
        let size = if negative {
            (1 << bits) - factor
        } else {
            factor
        };
        let size = terms.bv(size, width);
        let product = terms.bv_mul(size, term);
        let side = &mut sides[usize::from(negative)];
        *side = terms.bv_add(*side, product);
    }
    let low = terms.bv((1i128 << bits) - 1, width);
    let sides = sides.map(|side| terms.bv_and(side, low));
    terms.eq(sides[0], sides[1])
}

/// A hull for the variables of every width.
fn first_hulls(
    variables: &[Variable],
    words: &BTreeMap<TermId, u64>,
) -> Vec<(u32, Vec<TermId>, Hull)> {
    let mut widths: BTreeMap<u32, Vec<TermId>> = BTreeMap::new();
    for variable in variables {
        let known = widths.entry(variable.width).or_default();
        if known.len() < DIMENSIONS {
            known.push(variable.constant);
        }
    }
    let hull = |(width, constants): (u32, Vec<TermId>)| {
        let point: Vec<u64> = constants.iter().map(|constant| words[constant]).collect();
        let hull = Hull::of(width, &point);
        (width, constants, hull)
    };
    widths.into_iter().map(hull).collect()
}
