//! What a proof about nodes needs of all that is known of them.
//!
//! Of some hundred clauses that no state refutes, a dozen keep violations away. The gate asks about
//! all memories and for every claim at once, so a short claim is decided in a tenth of a second
//! where the long one takes a minute. What is needed, the unsatisfiable cores of the steps tell,
//! from the violations backward. They are found in a small memory: should a core be wrong for a
//! large one, the gate refuses the short claim, and is shown the long one.

use super::search::Found;
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::LocId;
use hardbop_logic::{Answer, Op, Session, TermId, Terms};
use hardbop_semantics::steps::{End, Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// How often a core is asked about again: it shrinks, and then hardly any more.
const AGAIN: usize = 4;
/// Of shorter cores it is asked what can be left out: the gate's questions are harder than these.
const SHORT: usize = 40;

/// A fact that is known at a point, of the arbitrary nodes or with one of the instances there in
/// their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    at: LocId,
    fact: TermId,
    /// The position among all instances.
    instance: Option<usize>,
}

/// Which facts are needed where.
struct Needs<'a, 'g, 'p> {
    ground: &'a Ground<'g, 'p>,
    session: Session<'static>,
    found: &'a Found,
    facts: BTreeSet<(LocId, TermId)>,
    instances: BTreeSet<usize>,
    /// Facts of which it is not yet known why they hold.
    work: Vec<(LocId, TermId)>,
}

/// What was found, cut down to what keeps control from where it was found not to come.
pub fn needed(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
    found: &Found,
    session: Session<'static>,
    budget: &Budget,
) -> Result<Found, Stopped> {
    let mut needs = Needs {
        ground,
        session,
        found,
        facts: BTreeSet::new(),
        instances: BTreeSet::new(),
        work: Vec::new(),
    };
    for step in steps {
        budget.check()?;
        let comes = match step.to {
            End::At(location) => found.invariants.contains_key(&location),
            End::Unsupported(_) => false,
        };
        if !comes {
            let never = terms.bool(true);
            needs.ask(terms, step, never);
        }
    }
    while let Some((location, fact)) = needs.work.pop() {
        let into = |step: &&Step| step.to == End::At(location);
        for step in steps.iter().filter(into) {
            budget.check()?;
            let then = needs.at_end(terms, step, fact);
            let fails = terms.not(then);
            if fails != terms.bool(false) {
                needs.ask(terms, step, fails);
            }
        }
    }
    let (facts, kept) = (needs.facts, needs.instances);
    let mut shorter = found.clone();
    for (at, known) in &mut shorter.invariants {
        known.retain(|&fact| facts.contains(&(*at, fact)));
    }
    let mut position = 0..;
    shorter
        .instances
        .retain(|_| position.next().is_some_and(|at| kept.contains(&at)));
    Ok(shorter)
}

impl Needs<'_, '_, '_> {
    /// What a fact about the end of a step says of its start.
    fn at_end(&self, terms: &mut Terms, step: &Step, fact: TermId) -> TermId {
        let mut map = BTreeMap::new();
        for constant in terms.free_constants(&[fact]) {
            let value = self.ground.at_end(terms, step, constant);
            map.insert(constant, value);
        }
        terms.substitute(fact, &map)
    }

    /// What is known when a step is taken, with the facts that say it; `None` if it is never taken.
    fn sources(&self, terms: &mut Terms, step: &Step) -> Option<BTreeMap<TermId, Use>> {
        let mut sources = BTreeMap::new();
        if let Some(at) = step.from {
            let known = self.found.invariants.get(&at)?;
            for &fact in known {
                let instance = None;
                sources.insert(fact, Use { at, fact, instance });
            }
            let all = self.found.instances.iter().enumerate();
            for (index, &(_, kind, node)) in all.filter(|(_, (here, ..))| *here == at) {
                let map = BTreeMap::from([(self.found.words[kind.index()], node)]);
                for &fact in known {
                    let said = terms.substitute(fact, &map);
                    let instance = Some(index);
                    sources.entry(said).or_insert(Use { at, fact, instance });
                }
            }
        }
        if let Some(returned) = &step.returned {
            for &fact in self.found.invariants.get(&returned.exit)? {
                let said = self.ground.at_exit(terms, returned, fact);
                let (at, instance) = (returned.exit, None);
                sources.entry(said).or_insert(Use { at, fact, instance });
            }
        }
        Some(sources)
    }

    /// A core without what can be left out, each by itself.
    fn without_superfluous(&mut self, terms: &mut Terms, mut core: Vec<TermId>) -> Vec<TermId> {
        let mut at = core.len();
        while at > 0 {
            at -= 1;
            let mut smaller = core.clone();
            smaller.remove(at);
            if self.session.check(terms, &smaller) == Answer::Unsat {
                core = smaller;
            }
        }
        core
    }

    /// Marks what keeps a step from being taken with an unwanted end.
    fn ask(&mut self, terms: &mut Terms, step: &Step, unwanted: TermId) {
        let Some(sources) = self.sources(terms, step) else {
            return;
        };
        let asked = [step.condition, unwanted];
        if asked.iter().any(|&part| *terms.op(part) == Op::Bool(false)) {
            return;
        }
        // What is needed anyway costs nothing.
        let is_marked = |known: &&TermId| {
            let used = sources[known];
            let instance = used.instance.is_none_or(|at| self.instances.contains(&at));
            instance && self.facts.contains(&(used.at, used.fact))
        };
        let (given, open): (Vec<TermId>, Vec<TermId>) = sources.keys().partition(is_marked);
        self.session.push();
        for &fact in given.iter().chain(&asked) {
            self.session.assert(terms, fact);
        }
        let mut core = open;
        for _ in 0..AGAIN {
            match self.session.check(terms, &core) {
                Answer::Unsat => {
                    let smaller = self.session.core();
                    let shrinks = smaller.len() < core.len();
                    core = smaller;
                    if !shrinks {
                        break;
                    }
                }
                Answer::Sat | Answer::Unknown(_) => break,
            }
        }
        if core.len() <= SHORT {
            core = self.without_superfluous(terms, core);
        }
        self.session.pop();
        for used in core.iter().filter_map(|said| sources.get(said)) {
            self.instances.extend(used.instance);
            if self.facts.insert((used.at, used.fact)) {
                self.work.push((used.at, used.fact));
            }
        }
    }
}
