//! The strongest invariants that can be made of clauses about nodes.
//!
//! As with the guesses of `fixpoint.rs`: nothing is reached at first, and a step to something that
//! is not covered has a model, which refutes clauses where it ends.

use super::clauses::{Pool, Set, Size};
use super::guesses::Guesses;
use super::heap::{Heap, KindId};
use super::memory::session;
use super::properties::{Apart, leaves, left, of_state, properties};
use super::traces::counted;
use crate::candidates::{Hints, variables};
use crate::cells::{root, stores, version_of};
use crate::fixpoint::Breadth;
use crate::fixpoint::{NoInvariants, Readers};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::LocId;
use hardbop_cfront::program::LocationKind;
use hardbop_logic::{Answer, Op, Session, TermId, Terms, Unknown, Value};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::{End, Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// The most nodes for which what is known of all is used in the steps from one point.
const INSTANCES: usize = 10;
/// Larger terms for nodes are not looked at.
const LARGE: usize = 30;

/// What is known when nothing changes any more.
#[derive(Clone)]
pub struct Found {
    /// The invariants of all points that may be reached, as facts.
    pub invariants: BTreeMap<LocId, Vec<TermId>>,
    /// The clauses that are left of each pool.
    pub clauses: Known,
    /// The arbitrary addresses that they speak of, ...
    pub words: Vec<TermId>,
    /// ... and for which terms they are used besides.
    pub instances: Vec<(LocId, KindId, TermId)>,
    /// What is not supported and may be reached.
    pub unsupported: Option<u32>,
    /// How many questions were asked.
    pub questions: u64,
}

/// Clauses of the pools of each point.
pub type Known = BTreeMap<LocId, Vec<Vec<Set>>>;

/// What is searched for.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// How large clauses are.
    pub size: Size,
    /// By what they tell nodes apart.
    pub apart: Apart,
    /// What is known to be an invariant by itself.
    pub given: &'a BTreeMap<LocId, Vec<TermId>>,
    /// The clauses of each pool that this is made of.
    pub known: &'a Known,
    /// The most questions.
    pub most: u64,
}

/// Finds invariants; `live` says what they may speak of. The state has ghosts.
pub fn search(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
    live: &BTreeMap<LocId, Live>,
    (heap, sizes): (&Heap, &[Vec<TermId>]),
    asked: Asked<'_>,
    budget: &Budget,
) -> Result<Found, NoInvariants> {
    let Asked {
        size,
        apart,
        given,
        known,
        most,
    } = asked;
    let hints = Hints::new(ground, terms, steps);
    let properties = properties(ground, terms, heap, steps, apart);
    let counted = match apart {
        Apart::Traces => counted(ground, terms, steps),
        _ => Vec::new(),
    };
    let left = left(ground, terms, steps);
    let guesses = Guesses {
        ground,
        heap,
        properties: &properties,
        sizes,
        hints: &hints,
        left: &left,
        counted: &counted,
        size,
    };
    let mut places: BTreeMap<LocId, Place> = BTreeMap::new();
    let nothing = Live::default();
    for step in steps {
        if let End::At(location) = step.to {
            places.entry(location).or_insert_with(|| {
                let live = live.get(&location).unwrap_or(&nothing);
                let plain = variables(ground, terms, location, live, Breadth::Live);
                let kind = ground.semantics.program.locations[location.index()].kind;
                let mut pools = match kind {
                    // Where a check is violated, nothing more matters.
                    LocationKind::Error(_) => Vec::new(),
                    _ => guesses.at(terms, live, &plain),
                };
                let known = known.get(&location).into_iter().flatten();
                for (pool, known) in pools.iter_mut().zip(known) {
                    pool.leave_out_all(known);
                }
                Place {
                    pools,
                    given: given.get(&location).cloned().unwrap_or_default(),
                    reached: false,
                    known: None,
                }
            });
        }
    }
    let session = session(ground, terms, heap, sizes, budget);
    let readers = Readers::new(&steps.iter().collect::<Vec<_>>());
    let mut search = Search {
        ground,
        instances: instances(ground, terms, heap, steps, apart),
        heap,
        session,
        places,
        unsupported: None,
        questions: 0,
    };
    let mut work: BTreeSet<(usize, Option<LocId>)> = BTreeSet::from([(0, None)]);
    while let Some((_, from)) = work.pop_first() {
        budget.check()?;
        if search.questions > most {
            return Err(NoInvariants::Steps);
        }
        for changed in search.follow(terms, from, readers.steps_from(from))? {
            work.extend(readers.ranked(Some(changed)));
            for &call in readers.calls.get(&changed).into_iter().flatten() {
                work.extend(readers.ranked(Some(call)));
            }
        }
        if search.unsupported.is_some() {
            break;
        }
    }
    Ok(search.ended(terms))
}

/// For which nodes steps from a point use what is known there: those that they access, and those
/// that variables point to behind them.
fn instances(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    heap: &Heap,
    steps: &[Step],
    apart: Apart,
) -> BTreeMap<LocId, Vec<(KindId, TermId)>> {
    let mut found: BTreeMap<LocId, BTreeSet<(usize, KindId, TermId)>> = BTreeMap::new();
    for step in steps {
        let Some(from) = step.from else { continue };
        let mut nodes = Vec::new();
        let mut roots = vec![step.condition];
        roots.extend(step.state.written().map(|(_, value)| value));
        for term in terms.postorder(&roots) {
            if *terms.op(term) == Op::Select
                && let Some(memory) = root(ground, terms, terms.args(term)[0])
            {
                nodes.push((memory, terms.args(term)[1]));
            }
        }
        for (id, value) in step.state.written() {
            let written = ground.semantics.constant(terms, id);
            for (address, _) in stores(terms, value) {
                nodes.push((written, address));
            }
        }
        let mut freed = Vec::new();
        for term in terms.postorder(&roots) {
            if *terms.op(term) == Op::Select {
                freed.push((terms.args(term)[0], terms.args(term)[1]));
            }
        }
        let here = found.entry(from).or_default();
        for (array, identity) in freed {
            let extents = version_of(ground, terms, array);
            if !extents.is_some_and(|extents| heap.has_extents(extents)) {
                continue;
            }
            for identity in leaves(terms, identity) {
                if let Some((kind, node)) = heap.identified(ground, terms, identity) {
                    here.extend(of_start(ground, terms, kind, node, apart));
                }
            }
        }
        for (memory, address) in nodes {
            for address in leaves(terms, address) {
                if let Some(owner) = heap.owner(terms, memory, address) {
                    let more = terms.bv(owner.more, terms.width(owner.base));
                    let node = terms.bv_add(owner.base, more);
                    here.extend(of_start(ground, terms, owner.kind, node, apart));
                }
            }
        }
        for (id, value) in step.state.written() {
            let written = ground.semantics.constant(terms, id);
            let Some(target) = heap.target(ground, written) else {
                continue;
            };
            let values = match heap.field_of(written) {
                Some(_) => stores(terms, value).into_iter().map(|(_, v)| v).collect(),
                None if terms.sort(value) == terms.sort(heap.frontier) => leaves(terms, value),
                None => Vec::new(),
            };
            for value in values {
                let node = heap.start(terms, value, target);
                here.extend(of_start(ground, terms, target.kind, node, apart));
            }
        }
    }
    let short = |nodes: BTreeSet<(usize, KindId, TermId)>| {
        let nodes = nodes.into_iter().take(INSTANCES);
        nodes.map(|(_, kind, node)| (kind, node)).collect()
    };
    found
        .into_iter()
        .map(|(at, all)| (at, short(all)))
        .collect()
}

/// A node as a term over the state, with its size.
fn of_start(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    kind: KindId,
    node: TermId,
    apart: Apart,
) -> Option<(usize, KindId, TermId)> {
    let node = of_state(ground, terms, node, BTreeMap::new())?;
    let size = terms.size(node);
    let mut constants = terms.free_constants(&[node]).into_iter();
    let known = constants.all(|constant| {
        match ground.constants.meaning(constant) {
            Some(Meaning::Now(_)) => true,
            // What a variable in memory holds makes the gate's questions harder, and is mostly
            // needed where its address is a cursor.
            Some(Meaning::Origin) => apart == Apart::Traces,
            _ => false,
        }
    });
    (known && size <= LARGE && !terms.free_constants(&[node]).is_empty())
        .then_some((size, kind, node))
}

/// What is known of a point.
struct Place {
    pools: Vec<Pool>,
    /// What is known anyway.
    given: Vec<TermId>,
    reached: bool,
    /// The facts that are left, until that changes.
    known: Option<Vec<TermId>>,
}

impl Place {
    fn facts(&mut self, terms: &mut Terms) -> Vec<TermId> {
        if let Some(known) = &self.known {
            return known.clone();
        }
        let pools = self.pools.iter();
        let mut facts: Vec<TermId> = pools.flat_map(|pool| pool.facts(terms)).collect();
        facts.extend(&self.given);
        self.known = Some(facts.clone());
        facts
    }

    /// A state comes: that of the session's model.
    fn meet(&mut self, terms: &mut Terms, session: &mut Session<'static>, ends: &Ends) {
        self.known = None;
        for (pool, ends) in self.pools.iter_mut().zip(&ends.of) {
            let values = session.values(terms, ends).unwrap_or_default();
            let mut true_there: Set = 0;
            for (at, value) in values.iter().enumerate() {
                if *value == Some(Value::Bool(true)) {
                    // The last one is what all clauses have.
                    match at < pool.literals.len() {
                        true => true_there |= 1 << at,
                        false => true_there = Set::MAX,
                    }
                }
            }
            pool.meet(true_there);
        }
    }

    fn leave_out(&mut self, pool: usize, clause: Set) {
        self.known = None;
        self.pools[pool].leave_out(clause);
    }

    fn known(&mut self, terms: &mut Terms) -> TermId {
        if !self.reached {
            return terms.bool(false);
        }
        let facts = self.facts(terms);
        terms.and(&facts)
    }
}

/// What holds at the end of a step: what constants stand for there, and the literals of each pool.
struct Ends {
    map: BTreeMap<TermId, TermId>,
    of: Vec<Vec<TermId>>,
}

struct Search<'a, 'g, 'p> {
    ground: &'a Ground<'g, 'p>,
    heap: &'a Heap,
    instances: BTreeMap<LocId, Vec<(KindId, TermId)>>,
    session: Session<'static>,
    places: BTreeMap<LocId, Place>,
    unsupported: Option<u32>,
    questions: u64,
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
        self.session.push();
        if let Some(from) = from {
            let facts = match self.places.get_mut(&from) {
                Some(place) => place.facts(terms),
                None => Vec::new(),
            };
            for &fact in &facts {
                self.session.assert(terms, fact);
            }
            for (kind, node) in self.instances.get(&from).cloned().unwrap_or_default() {
                let any = self.heap.kinds[kind.index()].any;
                let map = BTreeMap::from([(any, node)]);
                for &fact in &facts {
                    let instance = terms.substitute(fact, &map);
                    if instance != fact {
                        self.session.assert(terms, instance);
                    }
                }
            }
        }
        let mut ended = Ok(());
        for step in steps {
            let Some(taken) = self.taken(terms, step) else {
                continue;
            };
            match self.cover(terms, step, taken) {
                Ok(true) => {
                    if let End::At(location) = step.to {
                        changed.push(location);
                    }
                }
                Ok(false) => {}
                Err(stopped) => ended = Err(stopped),
            }
            if ended.is_err() {
                break;
            }
        }
        self.session.pop();
        ended.map(|()| changed)
    }

    /// When a step is taken, with what is known of the callee for a return; `None` if never.
    fn taken(&mut self, terms: &mut Terms, step: &Step) -> Option<TermId> {
        let Some(returned) = &step.returned else {
            return Some(step.condition);
        };
        let place = self.places.get_mut(&returned.exit)?;
        if !place.reached {
            return None;
        }
        let formula = place.known(terms);
        let left = self.ground.at_exit(terms, returned, formula);
        Some(terms.and(&[step.condition, left]))
    }

    /// Weakens what is known of a point until it covers all ends of a step. Says whether that
    /// changed anything.
    fn cover(&mut self, terms: &mut Terms, step: &Step, taken: TermId) -> Result<bool, Stopped> {
        let location = match step.to {
            End::At(location) => location,
            End::Unsupported(construct) => {
                self.questions += 1;
                if self.session.check(terms, &[taken]) != Answer::Unsat {
                    self.unsupported = Some(construct);
                }
                return Ok(false);
            }
        };
        let Some(place) = self.places.get_mut(&location) else {
            return Ok(false);
        };
        let mut map = BTreeMap::new();
        let mut ends = Vec::new();
        for pool in &place.pools {
            let mut here = Vec::new();
            for &literal in pool.literals.iter().chain(&pool.unless) {
                for constant in terms.free_constants(&[literal]) {
                    let ground = self.ground;
                    map.entry(constant)
                        .or_insert_with(|| ground.at_end(terms, step, constant));
                }
                here.push(terms.substitute(literal, &map));
            }
            ends.push(here);
        }
        let ends = Ends { map, of: ends };
        let mut changed = false;
        if !place.reached {
            self.questions += 1;
            match self.session.check(terms, &[taken]) {
                Answer::Unsat => return Ok(false),
                Answer::Sat => place.meet(terms, &mut self.session, &ends),
                Answer::Unknown(Unknown::Stopped(stopped)) => return Err(stopped),
                Answer::Unknown(_) => {}
            }
            place.reached = true;
            changed = true;
        }
        // Each pool by itself: together they are harder to decide.
        for pool in 0..place.pools.len() {
            changed |= self.cover_pool(terms, location, pool, taken, &ends)?;
        }
        Ok(changed)
    }

    /// The same of one pool. Where it is not known whether a step leads to states that all its
    /// clauses cover, that is asked of each clause.
    fn cover_pool(
        &mut self,
        terms: &mut Terms,
        location: LocId,
        pool: usize,
        taken: TermId,
        ends: &Ends,
    ) -> Result<bool, Stopped> {
        let Some(place) = self.places.get_mut(&location) else {
            return Ok(false);
        };
        let mut changed = false;
        let mut together = true;
        let mut settled: BTreeSet<Set> = BTreeSet::new();
        loop {
            let least = place.pools[pool].least();
            let asked: Vec<Set> = match together {
                true => least,
                false => least
                    .into_iter()
                    .find(|clause| !settled.contains(clause))
                    .into_iter()
                    .collect(),
            };
            let mut parts = Vec::new();
            for &clause in &asked {
                parts.push(place.pools[pool].fact(terms, clause));
            }
            let known = terms.and(&parts);
            let after = terms.substitute(known, &ends.map);
            let uncovered = terms.not(after);
            if uncovered == terms.bool(false) {
                if together || asked.is_empty() {
                    return Ok(changed);
                }
                settled.extend(asked);
                continue;
            }
            self.questions += 1;
            match self.session.check(terms, &[taken, uncovered]) {
                Answer::Unsat if together => return Ok(changed),
                Answer::Unsat => settled.extend(asked),
                Answer::Sat => {
                    changed = true;
                    place.meet(terms, &mut self.session, ends);
                    // A model need not tell what it refutes.
                    if place.pools[pool].least().iter().any(|c| asked == [*c]) {
                        place.leave_out(pool, asked[0]);
                    } else if together && place.pools[pool].least() == asked {
                        together = false;
                    }
                }
                Answer::Unknown(Unknown::Stopped(stopped)) => return Err(stopped),
                Answer::Unknown(_) if together => together = false,
                Answer::Unknown(_) => {
                    changed = true;
                    place.leave_out(pool, asked[0]);
                }
            }
        }
    }

    fn ended(mut self, terms: &mut Terms) -> Found {
        let mut found = Found {
            invariants: BTreeMap::new(),
            clauses: BTreeMap::new(),
            words: self.heap.kinds.iter().map(|kind| kind.any).collect(),
            instances: Vec::new(),
            unsupported: self.unsupported,
            questions: self.questions,
        };
        for (&location, place) in &mut self.places {
            if place.reached {
                found.invariants.insert(location, place.facts(terms));
                let clauses = place.pools.iter().map(Pool::least).collect();
                found.clauses.insert(location, clauses);
                for &(kind, node) in self.instances.get(&location).into_iter().flatten() {
                    found.instances.push((location, kind, node));
                }
            }
        }
        found
    }
}
