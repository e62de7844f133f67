//! The strongest invariants that can be made of guesses.
//!
//! Nothing is reached at first. A step from what is known to something that is not yet covered has
//! a model; its last state refutes guesses there and joins the affine hull, and what is new there
//! is followed in turn. When no step has such a model, what is left is an invariant.

mod follow;
mod needed;

use crate::candidates::{Hints, Variable, guesses, left, magnitudes, variables};
use crate::cells::Cells;
use crate::modes::{Mode, arguments};
use crate::objects::{frontier, numbers, rooms, widened};
use crate::place::Place;
use crate::polynomials::{multiplied, polynomials, products_of_arguments};
use crate::powers::{Powers, doubles, powers};
use crate::questions::{Multiplied, Questions};
use crate::remembered::Remembered;
use crate::solvers::{First, Solvers};
use crate::texts::Texts;
use crate::words::{Words, new_variables};
use follow::Search;
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::LocId;
use hardbop_cfront::program::LocationKind;
use hardbop_logic::{Limits, TermId, Terms, multiplies};
use hardbop_semantics::folds::Fold;
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::{End, Ground, Step};
use needed::needed;
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

/// What a query may cost, in the solver's own steps, so that it is the same on every machine.
pub(crate) const QUERY: Limits = Limits {
    time: None,
    steps: Some(5_000_000),
};

/// The same where circuits were asked before, and did not know.
const AFTER_CIRCUITS: Limits = Limits {
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
    /// What invariants may speak of besides what is live.
    pub besides: Besides,
    /// Of how much invariants speak at one point.
    pub breadth: Breadth,
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
    /// Products of the arguments of recursive functions; the same.
    OfArguments,
}

/// What invariants may speak of besides what is live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Besides {
    /// Nothing.
    Nothing,
    /// What the program has forgotten, and what it was told once; where there is nothing such,
    /// nothing is guessed at all.
    Remembered,
    /// Powers of two; where nothing is doubled, nothing is guessed at all.
    Powers,
    /// How much room there is in what was allocated, as numbers beside it say, and nothing by affine
    /// relations: the questions are hard enough. Where nothing is allocated, nothing is guessed at all.
    Rooms,
    /// Where texts end, numbers that memory holds byte by byte, and how much room there is; where no
    /// zero is written or looked for, and there are no such numbers, nothing is guessed at all.
    Texts,
}

impl Guessed {
    /// Whether much is said of what is allocated: it may be null, and it may have grown.
    fn is_about_rooms(&self) -> bool {
        matches!(self.besides, Besides::Rooms | Besides::Texts) || self.breadth == Breadth::Touched
    }
}

/// Of how much invariants speak at one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breadth {
    /// Of what is live, as far as that is not too much, and told apart by what holds few values.
    Live,
    /// Of what is live and the function there has to do with, however much that is, and nothing is
    /// told apart: for programs whose calls are kept.
    Touched,
}

/// Finds invariants; `live` says what they may speak of, and `told` what holds at points as far as
/// anybody knows.
#[allow(clippy::too_many_arguments)]
pub fn fixpoint(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
    live: &BTreeMap<LocId, Live>,
    guessed: Guessed,
    told: BTreeMap<LocId, Vec<TermId>>,
    budget: &Budget,
    tell: &mut dyn FnMut(&Fixpoint),
) -> Result<Fixpoint, NoInvariants> {
    let mut told = told;
    let mut known = BTreeMap::new();
    if guessed.products == Products::Left && has_arrays(ground, terms, steps, guessed) {
        // What holds of plain variables is found first: it tells which ranges of elements are
        // empty, and need not be found again among what is harder.
        let plain = Guessed {
            elements: Elements::Left,
            ..guessed
        };
        let (first, nothing) = (told.clone(), BTreeMap::new());
        let first = fixpoint_given(
            ground, terms, steps, live, plain, first, &nothing, budget, tell,
        );
        match first {
            Ok(found) if found.unsupported.is_none() => known = found.invariants,
            Ok(_) | Err(NoInvariants::Steps | NoInvariants::Nothing) => {}
            Err(stopped) => return Err(stopped),
        }
        for (&location, &invariant) in &known {
            told.entry(location).or_default().push(invariant);
        }
    }
    let mut given = |terms: &mut Terms, given: BTreeMap<LocId, Vec<TermId>>| {
        fixpoint_given(
            ground, terms, steps, live, guessed, given, &known, budget, tell,
        )
    };
    match guessed.products {
        Products::Left => given(terms, told),
        Products::OfArguments => {
            if !steps.iter().any(|step| step.returned.is_some()) {
                return Err(NoInvariants::Nothing);
            }
            let bounds = given(terms, BTreeMap::new())?.invariants;
            let found = products_of_arguments(ground, terms, steps, live, &bounds, budget)?;
            match found.is_empty() {
                true => Err(NoInvariants::Nothing),
                false => given(terms, found),
            }
        }
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

/// Whether anything is to be guessed of elements of arrays, and there are any.
fn has_arrays(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
    guessed: Guessed,
) -> bool {
    if guessed.elements == Elements::Left {
        return false;
    }
    let hints = Hints::new(ground, terms, steps);
    Cells::new(ground, terms, steps, &hints).has_arrays()
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
    known: &BTreeMap<LocId, TermId>,
    budget: &Budget,
    tell: &mut dyn FnMut(&Fixpoint),
) -> Result<Fixpoint, NoInvariants> {
    let products = guessed.products != Products::Left;
    let mut hints = Hints::new(ground, terms, steps);
    if guessed.besides == Besides::Remembered {
        hints.share_literals(terms);
    }
    if guessed.breadth == Breadth::Touched {
        hints.broaden(ground, terms, steps);
    }
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
    let remembered = match guessed.besides {
        Besides::Remembered => Remembered::new(ground, terms, steps, live, &hints),
        _ => Remembered::default(),
    };
    if guessed.besides == Besides::Remembered && remembered.is_empty() {
        return Err(NoInvariants::Nothing);
    }
    let ownership = ground.semantics.layout.ownership();
    let allocates = ownership.is_some_and(|known| known.all_extents().next().is_some());
    if guessed.besides == Besides::Rooms && !allocates {
        return Err(NoInvariants::Nothing);
    }
    if guessed.besides == Besides::Powers && !doubles(ground, terms, steps) {
        return Err(NoInvariants::Nothing);
    }
    let texts = match guessed.besides {
        Besides::Texts => Texts::new(ground, terms, steps),
        _ => Texts::default(),
    };
    let words = match guessed.besides {
        Besides::Texts => Words::new(ground, terms, steps),
        _ => Words::default(),
    };
    if guessed.besides == Besides::Texts && texts.is_empty() && words.is_empty() {
        return Err(NoInvariants::Nothing);
    }
    let nothing = Live::default();
    let mut limits = cells.limits(ground, terms);
    limits.extend(texts.limits(ground, terms));
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
                    live.now.extend(remembered.at(ground, location));
                }
                let live = &live;
                let mut variables = variables(ground, terms, location, live, guessed.breadth);
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
                let (held, mut others): (Vec<Variable>, Vec<Variable>) =
                    variables.iter().partition(|variable| {
                        guessed.breadth == Breadth::Live && hints.modes.contains(&variable.constant)
                    });
                // What is told of an input is mostly all that matters of it.
                others.retain(|variable| !remembered.is_told(terms, variable.constant));
                let mut modes: Vec<Mode> = held.iter().map(Mode::exact).collect();
                let mut told = cells.told_apart(ground, terms, live);
                told.extend(remembered.told_apart(ground, terms, live));
                modes.extend(told.iter().map(Mode::exact));
                // Beside what is said of rooms, how addresses compare says nothing.
                let compared = match guessed.besides {
                    Besides::Rooms | Besides::Texts => {
                        numbers(ground, terms, &others, live, guessed.breadth)
                    }
                    _ => others.clone(),
                };
                let mut guesses = guesses(terms, &hints, &variables, &compared);
                let about_rooms = guessed.is_about_rooms();
                let looked = (guessed.breadth, about_rooms);
                guesses.extend(rooms(ground, terms, &others, live, looked));
                if guessed.arguments == Arguments::ToldApart {
                    modes.extend(arguments(ground, terms, &hints, location, live, &others));
                    guesses.extend(magnitudes(terms, &others));
                }
                let powers = match guessed.besides {
                    Besides::Powers => powers(ground, terms, &hints, &others),
                    _ => Powers::default(),
                };
                guesses.extend(powers.guesses);
                variables.extend(&powers.variables);
                let in_words = words.guesses(ground, terms, live);
                for of_memory in [texts.guesses(ground, terms, live), in_words] {
                    guesses.extend(of_memory.guesses);
                    let more = new_variables(&variables, of_memory.variables);
                    variables.extend(more);
                }
                let mut more = cells.guesses(ground, terms, live, &variables);
                if let Some(&known) = known.get(&location) {
                    more.drop_empty(terms, known, budget);
                }
                let about_elements = more.guesses.iter().copied().collect();
                guesses.extend(more.guesses);
                variables.extend(more.variables);
                // It is compared with, but in no affine relation.
                if about_rooms
                    && let Some(end) = frontier(ground, terms, live)
                    && !variables.contains(&end)
                {
                    variables.push(end);
                }
                variables.extend(told);
                // First what only hulls relate to others: a hull has few dimensions.
                let mut related = [powers.variables, more.sums, others].concat();
                if products {
                    // Those that hold are given, as far as anybody knows, and so are equations.
                    guesses.retain(|&guess| !multiplies(terms, &[guess]));
                    guesses.extend(left(terms, &hints, &variables));
                    related.clear();
                }
                if about_rooms {
                    // Hulls take many questions, and ranges are known.
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
    let of_texts = guessed.besides == Besides::Texts;
    let first = match !products && (of_texts || places.values().any(Place::is_quantified)) {
        true => First::Circuits,
        false => First::Nobody,
    };
    let multiplied = match (products, first) {
        (true, _) => Multiplied::Equations,
        // Elements are mostly what they were computed as.
        (false, First::Circuits) => Multiplied::Functions,
        (false, First::Nobody) => Multiplied::Bits,
    };
    let mut session = Solvers::new(first, budget);
    let limits = match products {
        false if first == First::Circuits => AFTER_CIRCUITS,
        false => QUERY,
        // Steps deceive where there are many wide words.
        true => Limits {
            time: Some(Duration::from_secs(2)),
            ..QUERY
        },
    };
    let begun = session.steps();
    for axiom in ground.semantics.axioms(terms) {
        session.assert(terms, axiom);
    }
    // Nothing follows from where a check is violated, so that is asked when all else is known.
    let program = ground.semantics.program;
    let begins: BTreeSet<LocId> = steps.iter().filter_map(|step| step.from).collect();
    let is_violation = |step: &Step| match step.to {
        End::At(at) => {
            let kind = program.locations[at.index()].kind;
            matches!(kind, LocationKind::Error(_)) && !begins.contains(&at)
        }
        End::Unsupported(_) => false,
    };
    let (violations, others): (Vec<&Step>, Vec<&Step>) =
        steps.iter().partition(|step| is_violation(step));
    let readers = Readers::new(&others);
    let mut search = Search {
        ground,
        cells,
        questions: Questions::new(terms, session, limits, multiplied),
        by_itself: guessed.is_about_rooms(),
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
    if search.found.unsupported.is_none() {
        for (from, steps) in by_beginning(&violations) {
            budget.check()?;
            search.follow_all(terms, from, &steps)?;
            tell(&search.found);
        }
    }
    let mut needs = None;
    if search.found.unsupported.is_none() && search.places.values().any(Place::is_quantified) {
        needs = needed(&mut search, terms, steps)?;
    }
    Ok(search.ended(terms, needs))
}

/// Steps by where they begin.
fn by_beginning<'s>(steps: &[&'s Step]) -> BTreeMap<Option<LocId>, Vec<&'s Step>> {
    let mut from: BTreeMap<Option<LocId>, Vec<&Step>> = BTreeMap::new();
    for step in steps {
        from.entry(step.from).or_default().push(step);
    }
    from
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
    pub(crate) fn new(steps: &[&'s Step]) -> Readers<'s> {
        let mut readers = Readers {
            from: by_beginning(steps),
            calls: BTreeMap::new(),
            ranks: BTreeMap::new(),
        };
        for step in steps {
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
