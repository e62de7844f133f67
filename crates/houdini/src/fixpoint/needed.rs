//! Which of the facts about elements that hold are needed: those that exclude violations, those that
//! facts about plain variables depend on, and those that these follow from, step by step.
//!
//! Of facts about elements many hold that nothing depends on. Whoever checks a claim asks about each
//! of them, which may take longer than to find them, and whoever reads it has to read them.

use super::follow::Search;
use crate::place::Part;
use hardbop_budget::Stopped;
use hardbop_cfront::ids::LocId;
use hardbop_circuit::CircuitSolver;
use hardbop_logic::{Answer, Limits, Session, TermId, Terms, Unknown};
use hardbop_semantics::steps::{End, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What one question may cost: it was answered before.
const AGAIN: Limits = Limits {
    time: Some(Duration::from_secs(3)),
    steps: None,
};
/// How often a set of facts that suffices is asked for a smaller one. The smallest are not looked for:
/// what says the same in another way helps whoever checks.
const SMALLER: usize = 2;

/// A point with all that is known there.
struct Point {
    /// What is known, part by part, in the names that guesses use.
    parts: Vec<TermId>,
    /// The same as steps from there may use it: plainly, and each instance of it.
    used: Vec<Use>,
    /// What holds there anyway.
    given: Vec<TermId>,
    /// The uses that are needed.
    needed: BTreeSet<usize>,
}

/// How a part is used.
struct Use {
    part: usize,
    /// For which terms in the places of words, by number.
    instance: Option<usize>,
    formula: TermId,
}

/// What is needed at a point.
#[derive(Debug, Default)]
pub(super) struct Needed {
    pub(super) parts: Vec<TermId>,
    /// The instances, by number.
    pub(super) instances: BTreeSet<usize>,
}

/// The search for what is needed.
struct Needs<'s, 'a, 'g, 'p> {
    search: &'s mut Search<'a, 'g, 'p>,
    session: Session<'static>,
    points: BTreeMap<LocId, Point>,
    /// The parts that steps have to lead to, and that was not asked yet.
    open: BTreeMap<LocId, BTreeSet<usize>>,
}

/// What is needed at each point that may be reached; `None` if that is not known.
pub(super) fn needed(
    search: &mut Search<'_, '_, '_>,
    terms: &mut Terms,
    steps: &[Step],
) -> Result<Option<BTreeMap<LocId, Needed>>, Stopped> {
    if steps.iter().any(|step| step.returned.is_some()) {
        return Ok(None);
    }
    let budget = search.questions.session.counting().budget().clone();
    let mut session = Session::new(Box::new(CircuitSolver::new()), budget);
    session.set_limits(AGAIN);
    for axiom in search.ground.semantics.axioms(terms) {
        session.assert(terms, axiom);
    }
    let reached: Vec<LocId> = search.reached().collect();
    let mut points = BTreeMap::new();
    let mut open = BTreeMap::new();
    for location in reached {
        let point = Point::new(search, terms, location);
        let parts = point.needed.iter().map(|&at| point.used[at].part);
        open.insert(location, parts.collect());
        points.insert(location, point);
    }
    let needs = Needs {
        search,
        session,
        points,
        open,
    };
    needs.found(terms, steps)
}

impl Point {
    fn new(search: &Search<'_, '_, '_>, terms: &mut Terms, location: LocId) -> Point {
        let place = &search.places[&location];
        // What is known of plain variables is easily checked, and helps with all else.
        let mut parts = place.conjuncts(terms, Part::Plain);
        let plain = parts.len();
        parts.extend(place.conjuncts(terms, Part::Elements));
        let instances = search.instances_at(location);
        let mut given = search.given.get(&location).cloned().unwrap_or_default();
        let nothing = terms.bool(true);
        for map in [BTreeMap::new()].iter().chain(&instances) {
            given.push(search.cells.put_in(terms, location, nothing, map));
        }
        let mut used: Vec<Use> = Vec::new();
        let mut seen = BTreeSet::new();
        let maps = instances.iter().enumerate();
        let maps = maps.map(|(number, map)| (Some(number), map));
        let plainly = BTreeMap::new();
        for (instance, map) in [(None, &plainly)].into_iter().chain(maps) {
            for (part, &formula) in parts.iter().enumerate() {
                let formula = place.spelt_out(terms, formula);
                let formula = match instance {
                    Some(_) => search.cells.put_in(terms, location, formula, map),
                    None => formula,
                };
                let formula = search.questions.said(terms, &[formula])[0];
                // What does not speak of words is the same for all of them.
                if seen.insert(formula) {
                    used.push(Use {
                        part,
                        instance,
                        formula,
                    });
                }
            }
        }
        let is_plain = |at: &usize| used[*at].part < plain;
        let needed = (0..used.len()).filter(is_plain).collect();
        Point {
            parts,
            used,
            given: search.questions.said(terms, &given),
            needed,
        }
    }
}

impl Needs<'_, '_, '_, '_> {
    fn found(
        mut self,
        terms: &mut Terms,
        steps: &[Step],
    ) -> Result<Option<BTreeMap<LocId, Needed>>, Stopped> {
        let nowhere = terms.bool(true);
        for step in steps {
            let reached = match step.to {
                End::At(to) => self.points.contains_key(&to),
                End::Unsupported(_) => false,
            };
            if !reached && !self.ask(terms, step, nowhere)? {
                return Ok(None);
            }
        }
        while let Some((location, parts)) = self.open.pop_first() {
            for step in steps.iter().filter(|step| step.to == End::At(location)) {
                let ends = self.search.ends(terms, step, location);
                let parts: Vec<TermId> = parts
                    .iter()
                    .map(|&part| self.points[&location].parts[part])
                    .collect();
                let all = terms.and(&parts);
                let after = terms.substitute(all, &ends);
                let fails = terms.not(after);
                if !self.ask(terms, step, fails)? {
                    return Ok(None);
                }
            }
        }
        let mut found = BTreeMap::new();
        for (&location, point) in &self.points {
            let place = &self.search.places[&location];
            let used = point.needed.iter().map(|&used| &point.used[used]);
            let instances = used.clone().filter_map(|used| used.instance).collect();
            let parts: BTreeSet<usize> = used.map(|used| used.part).collect();
            let parts = parts.into_iter().map(|part| point.parts[part]);
            let parts = parts.map(|part| place.spelt_out(terms, part)).collect();
            found.insert(location, Needed { parts, instances });
        }
        Ok(Some(found))
    }

    /// Finds what excludes that a step ends where something fails. Says whether that is known.
    fn ask(&mut self, terms: &mut Terms, step: &Step, fails: TermId) -> Result<bool, Stopped> {
        // What holds at the start of the program was asked, and needs nothing.
        let Some(from) = step.from else {
            return Ok(true);
        };
        let Some(point) = self.points.get(&from) else {
            return Ok(true);
        };
        let mut question = self.search.questions.said(terms, &[step.condition, fails]);
        question.extend(&point.given);
        let known: Vec<TermId> = point
            .needed
            .iter()
            .map(|&at| point.used[at].formula)
            .collect();
        let enough = [&question[..], &known].concat();
        match self.session.check(terms, &enough) {
            Answer::Unsat => return Ok(true),
            Answer::Unknown(Unknown::Stopped(stopped)) => return Err(stopped),
            Answer::Sat | Answer::Unknown(_) => {}
        }
        let mut used: Vec<TermId> = point.used.iter().map(|used| used.formula).collect();
        for _ in 0..=SMALLER {
            let all = [&question[..], &used].concat();
            match self.session.check(terms, &all) {
                Answer::Unsat => {}
                Answer::Unknown(Unknown::Stopped(stopped)) => return Err(stopped),
                Answer::Sat | Answer::Unknown(_) => return Ok(false),
            }
            let core: BTreeSet<TermId> = self.session.core().into_iter().collect();
            let before = used.len();
            used.retain(|formula| core.contains(formula));
            if used.len() == before {
                break;
            }
        }
        let used: BTreeSet<TermId> = used.into_iter().collect();
        if let Some(point) = self.points.get_mut(&from) {
            for (number, here) in point.used.iter().enumerate() {
                if !used.contains(&here.formula) {
                    continue;
                }
                let known = point
                    .needed
                    .iter()
                    .any(|&it| point.used[it].part == here.part);
                point.needed.insert(number);
                if !known {
                    self.open.entry(from).or_default().insert(here.part);
                }
            }
        }
        Ok(true)
    }
}
