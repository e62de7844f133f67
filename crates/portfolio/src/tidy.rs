//! Invariants cut down to what a proof needs, in the words that people use.
//!
//! In comes a claim that was accepted, out comes one that says less. A fact of an invariant is
//! needed if something unwanted is kept away by it, or if it keeps up a fact that is needed, one
//! step later; which ones these are, the unsatisfiable cores of the steps tell. What is left is put
//! as equations where it amounts to such: `0 <= held && held <= 0` is `held == 0`. The result is a
//! claim like any other, so what users are shown is what the gate has checked.

use hardbop_budget::Budget;
use hardbop_cfront::ids::LocId;
use hardbop_engine::claim::{Ghosts, Invariants};
use hardbop_engine::{Claim, Desk, Ended, Engine, Event, Reason, Task};
use hardbop_logic::{Answer, Limits, Op, Session, Sort, TermId, Terms, Value, Z3Options, Z3Solver};
use hardbop_model::View;
use hardbop_semantics::constants::{Constants, Spelling};
use hardbop_semantics::steps::{End, Ground, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Cuts accepted claims down.
pub(crate) struct Tidy {
    /// The claims.
    pub claims: Vec<Invariants>,
}

impl Engine for Tidy {
    fn name(&self) -> &'static str {
        "tidy"
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        for claim in &self.claims {
            desk.event(Event {
                doing: "looking for what the proof needs".into(),
                open: claim.checks.len(),
                figures: Vec::new(),
            });
            let shorter = match claim.ghosts {
                Ghosts::Nothing => tidied(&task.model.flat, claim, task.budget),
                Ghosts::Births => tidied(&task.model.flat.with_births(), claim, task.budget),
            };
            if let Some(shorter) = shorter.filter(|shorter| shorter != claim) {
                // If it is refused, what was claimed before is shown.
                let _ = desk.submit(Claim::Invariants(shorter));
            }
        }
        Ended::open(task, &Reason::Guesses)
    }
}

/// What one question may take: there are many, and nothing depends on the answers.
const QUERY: Limits = Limits {
    time: Some(Duration::from_millis(200)),
    steps: None,
};

/// The most facts at one cut point that are looked at: more help no reader.
const MOST_FACTS: usize = 200;
/// How often less is tried: the last of the facts may say more than they must.
const MOST_TRIALS: usize = 200;
/// The most variables at one cut point of which equations are looked for.
const MOST_VARIABLES: usize = 12;

/// The claim with what is needed of it; `None` if it is not of a form that can be looked at, or
/// time is over.
fn tidied(view: &View<'_>, claim: &Invariants, budget: &Budget) -> Option<Invariants> {
    let cuts: BTreeSet<LocId> = claim.cuts.iter().copied().collect();
    // Else it is about a program that is prepared in another way.
    if cuts != view.skeleton.cuts || !claim.is_usual() {
        return None;
    }
    // What steps do to sums over arrays is not looked at here.
    if !claim.folds.is_empty() {
        return None;
    }
    let mut terms = Terms::new();
    let constants = Constants::new(&view.semantics, &mut terms);
    let mut spelling = Spelling::new(&view.semantics, &mut terms);
    let words = spelling.arbitrary(&mut terms, &claim.arbitrary)?;
    let mut instances: BTreeMap<LocId, Vec<BTreeMap<TermId, TermId>>> = BTreeMap::new();
    for instance in &claim.instances {
        let mut map = BTreeMap::new();
        for (word, term) in instance.terms() {
            let term = spelling.read_term(&mut terms, term).ok()?;
            map.insert(*words.get(word)?, term);
        }
        instances.entry(instance.at).or_default().push(map);
    }
    let mut facts = BTreeMap::new();
    for (&location, text) in &claim.at {
        let formula = spelling.read(&mut terms, text).ok()?;
        let here = facts_of(&mut terms, formula);
        if here.len() > MOST_FACTS {
            return None;
        }
        facts.insert(location, here);
    }
    let ground = view.ground(&constants);
    let steps = ground.steps(&mut terms)?;
    let solver = Box::new(Z3Solver::new(Z3Options::default()));
    let mut session = Session::new(solver, budget.clone());
    session.set_limits(QUERY);
    for axiom in view.semantics.axioms(&mut terms) {
        session.assert(&terms, axiom);
    }
    let mut needs = Needs {
        ground,
        session,
        facts,
        instances,
        needed: BTreeMap::new(),
        work: Vec::new(),
    };
    needs.find(&mut terms, &steps, budget)?;
    needs.keep();
    needs.weaken(&mut terms, &steps, budget);
    let mut at = BTreeMap::new();
    let mut of_all = false;
    for (location, kept) in needs.facts.clone() {
        budget.check().ok()?;
        let kept = terms.and(&kept);
        let kept = facts_of(&mut terms, kept);
        let neat = needs.neat(&mut terms, kept);
        let formula = terms.and(&neat);
        let spoken_of = terms.free_constants(&[formula]);
        of_all |= words.iter().any(|word| spoken_of.contains(word));
        at.insert(location, spelling.write(&mut terms, formula)?);
    }
    let mut shorter = Invariants {
        at,
        ..claim.clone()
    };
    if !of_all {
        shorter.arbitrary.clear();
        shorter.instances.clear();
    }
    Some(shorter)
}

/// The conjuncts of a formula, each once.
fn conjuncts(terms: &Terms, formula: TermId) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut work = vec![formula];
    while let Some(term) = work.pop() {
        match terms.op(term) {
            Op::And => work.extend(terms.args(term).iter().rev()),
            Op::Bool(true) => {}
            _ if found.contains(&term) => {}
            _ => found.push(term),
        }
    }
    found
}

/// The conjuncts of a formula; what all cases of one say is said once, before the cases.
fn facts_of(terms: &mut Terms, formula: TermId) -> Vec<TermId> {
    let mut facts = Vec::new();
    for fact in conjuncts(terms, formula) {
        let mut rest = fact;
        if *terms.op(fact) == Op::Or {
            for part in parts_of_cases(terms, fact) {
                let mut cases = terms.args(fact).iter();
                if cases.all(|&case| conjuncts(terms, case).contains(&part)) {
                    facts.push(part);
                    rest = without(terms, rest, part);
                }
            }
        }
        facts.push(rest);
    }
    let mut once = Vec::new();
    for fact in facts {
        if *terms.op(fact) != Op::Bool(true) && !once.contains(&fact) {
            once.push(fact);
        }
    }
    once
}

/// What the cases of a fact say, each part once.
fn parts_of_cases(terms: &Terms, fact: TermId) -> Vec<TermId> {
    let mut parts = Vec::new();
    if *terms.op(fact) == Op::Or {
        for &case in terms.args(fact) {
            for part in conjuncts(terms, case) {
                if *terms.op(case) == Op::And && !parts.contains(&part) {
                    parts.push(part);
                }
            }
        }
    }
    parts
}

/// A fact whose cases do not say something any more.
fn without(terms: &mut Terms, fact: TermId, part: TermId) -> TermId {
    let cases = match terms.op(fact) {
        Op::Or => terms.args(fact).to_vec(),
        _ => return fact,
    };
    let mut weaker = Vec::with_capacity(cases.len());
    for case in cases {
        let mut parts = conjuncts(terms, case);
        parts.retain(|&other| other != part);
        weaker.push(terms.and(&parts));
    }
    terms.or(&weaker)
}

/// What is known, each with the facts that say it and where.
type Sources = BTreeMap<TermId, Vec<(LocId, TermId)>>;

/// Which facts are needed where.
struct Needs<'a, 'p> {
    ground: Ground<'a, 'p>,
    session: Session<'static>,
    /// What is known at cut points. Control does not come to others.
    facts: BTreeMap<LocId, Vec<TermId>>,
    /// For which terms, in the place of which arbitrary words, they are used besides.
    instances: BTreeMap<LocId, Vec<BTreeMap<TermId, TermId>>>,
    needed: BTreeMap<LocId, BTreeSet<TermId>>,
    /// Facts that were found to be needed, of which it is not yet known why they hold.
    work: Vec<(LocId, TermId)>,
}

impl Needs<'_, '_> {
    /// Marks what is needed. `None` if time is over.
    fn find(&mut self, terms: &mut Terms, steps: &[Step], budget: &Budget) -> Option<()> {
        for step in steps {
            budget.check().ok()?;
            let comes = match step.to {
                End::At(location) => self.facts.contains_key(&location),
                End::Unsupported(_) => false,
            };
            if !comes {
                let never = terms.bool(true);
                self.ask(terms, step, never);
            }
        }
        while let Some((location, fact)) = self.work.pop() {
            let into = |step: &&Step| step.to == End::At(location);
            for step in steps.iter().filter(into) {
                budget.check().ok()?;
                let then = self.at_end(terms, step, fact);
                let fails = terms.not(then);
                self.ask(terms, step, fails);
            }
        }
        Some(())
    }

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
    fn sources(&self, terms: &mut Terms, step: &Step) -> Option<Sources> {
        let from = step.from?;
        let mut source = Sources::new();
        for &fact in self.facts.get(&from)? {
            source.entry(fact).or_default().push((from, fact));
            let instances = self.instances.get(&from);
            for map in instances.into_iter().flatten() {
                let instance = terms.substitute(fact, map);
                source.entry(instance).or_default().push((from, fact));
            }
        }
        if let Some(returned) = &step.returned {
            for &fact in self.facts.get(&returned.exit)? {
                let here = self.ground.at_exit(terms, returned, fact);
                source.entry(here).or_default().push((returned.exit, fact));
            }
        }
        Some(source)
    }

    /// Marks what keeps a step from being taken with an unwanted end.
    fn ask(&mut self, terms: &mut Terms, step: &Step, unwanted: TermId) {
        let Some(source) = self.sources(terms, step) else {
            return;
        };
        // What is needed anyway costs nothing.
        let is_marked = |needs: &Self, fact: &TermId| {
            source[fact]
                .iter()
                .all(|(at, fact)| needs.needed.get(at).is_some_and(|here| here.contains(fact)))
        };
        let (given, open): (Vec<TermId>, Vec<TermId>) =
            source.keys().partition(|fact| is_marked(self, fact));
        self.session.push();
        for &fact in given.iter().chain([&step.condition, &unwanted]) {
            self.session.assert(terms, fact);
        }
        let core = match self.session.check(terms, &open) {
            Answer::Unsat => self.session.minimal_core(terms),
            // The gate had more time for it.
            Answer::Sat | Answer::Unknown(_) => open,
        };
        self.session.pop();
        for fact in core {
            for &(at, fact) in source.get(&fact).into_iter().flatten() {
                if self.needed.entry(at).or_default().insert(fact) {
                    self.work.push((at, fact));
                }
            }
        }
    }

    /// Forgets what is not needed.
    fn keep(&mut self) {
        for (location, facts) in &mut self.facts {
            let needed = self.needed.get(location);
            facts.retain(|fact| needed.is_some_and(|needed| needed.contains(fact)));
        }
    }

    /// Takes out of cases what the proof does without. A weaker fact still holds wherever it is
    /// come to; so it is enough to ask about the steps that leave.
    fn weaken(&mut self, terms: &mut Terms, steps: &[Step], budget: &Budget) {
        let mut trials = 0;
        for location in self.facts.keys().copied().collect::<Vec<_>>() {
            for at in 0..self.facts[&location].len() {
                for part in parts_of_cases(terms, self.facts[&location][at]) {
                    trials += 1;
                    if trials > MOST_TRIALS || budget.check().is_err() {
                        return;
                    }
                    let before = self.facts[&location][at];
                    let weaker = without(terms, before, part);
                    self.set(location, at, weaker);
                    if !self.is_kept_up_from(terms, steps, location) {
                        self.set(location, at, before);
                    }
                }
            }
        }
    }

    fn set(&mut self, location: LocId, at: usize, fact: TermId) {
        if let Some(facts) = self.facts.get_mut(&location) {
            facts[at] = fact;
        }
    }

    /// Whether all steps that build on what is known at a location lead to what is known.
    fn is_kept_up_from(&mut self, terms: &mut Terms, steps: &[Step], location: LocId) -> bool {
        let builds = |step: &&Step| {
            let returned = step.returned.as_ref();
            step.from == Some(location) || returned.is_some_and(|r| r.exit == location)
        };
        steps.iter().filter(builds).all(|step| {
            let known = match step.to {
                End::At(to) => self.facts.get(&to).cloned(),
                End::Unsupported(_) => None,
            };
            let unwanted = match known {
                Some(facts) => {
                    let all = terms.and(&facts);
                    let then = self.at_end(terms, step, all);
                    terms.not(then)
                }
                None => terms.bool(true),
            };
            let Some(source) = self.sources(terms, step) else {
                return true;
            };
            let mut asked: Vec<TermId> = source.into_keys().collect();
            asked.extend([step.condition, unwanted]);
            self.session.check(terms, &asked) == Answer::Unsat
        })
    }

    /// The same facts, with equations in the place of bounds that meet, and without what follows
    /// from the others.
    fn neat(&mut self, terms: &mut Terms, facts: Vec<TermId>) -> Vec<TermId> {
        let facts: Vec<TermId> = facts
            .into_iter()
            .map(|fact| match terms.op(fact) {
                Op::Or => self.neat_cases(terms, fact),
                _ => fact,
            })
            .collect();
        if facts.len() < 2 {
            return facts;
        }
        let mut neat = self.equations(terms, &facts);
        neat.extend(facts);
        self.without_the_rest(terms, neat)
    }

    /// Without what follows from the others.
    fn without_the_rest(&mut self, terms: &mut Terms, mut neat: Vec<TermId>) -> Vec<TermId> {
        let mut at = neat.len();
        // From the end: equations say most.
        while at > 0 {
            at -= 1;
            let fact = neat.remove(at);
            if !self.follows(terms, &neat, fact) {
                neat.insert(at, fact);
            }
        }
        neat
    }

    /// The same cases, each by itself without what follows from the rest of it.
    fn neat_cases(&mut self, terms: &mut Terms, cases: TermId) -> TermId {
        let cases = terms.args(cases).to_vec();
        let mut neat = Vec::with_capacity(cases.len());
        for case in cases {
            let facts = conjuncts(terms, case);
            let mut all = self.equations(terms, &facts);
            all.extend(facts);
            let facts = self.without_the_rest(terms, all);
            neat.push(terms.and(&facts));
        }
        terms.or(&neat)
    }

    /// Which variables have one value, or that of another one, by what is known.
    fn equations(&mut self, terms: &mut Terms, facts: &[TermId]) -> Vec<TermId> {
        let is_word = |terms: &Terms, term: TermId| matches!(terms.sort(term), Sort::BitVec(_));
        let constants = terms.free_constants(facts);
        let variables: Vec<TermId> = constants
            .into_iter()
            .filter(|&constant| is_word(terms, constant))
            .collect();
        let mut equations = Vec::new();
        if variables.len() > MOST_VARIABLES || self.session.check(terms, facts) != Answer::Sat {
            return equations;
        }
        let Ok(values) = self.session.values(terms, &variables) else {
            return equations;
        };
        let values: Vec<TermId> = values
            .into_iter()
            .zip(&variables)
            .map(|(value, &variable)| match value {
                Some(Value::BitVec(bits)) => terms.bv_value(bits.unsigned().clone(), bits.width()),
                _ => variable,
            })
            .collect();
        for (at, (&variable, &value)) in variables.iter().zip(&values).enumerate() {
            let fixed = terms.eq(variable, value);
            if self.follows(terms, facts, fixed) {
                equations.push(fixed);
                continue;
            }
            for before in 0..at {
                if values[before] == value {
                    let same = terms.eq(variables[before], variable);
                    if self.follows(terms, facts, same) {
                        equations.push(same);
                        break;
                    }
                }
            }
        }
        equations
    }

    fn follows(&mut self, terms: &mut Terms, from: &[TermId], fact: TermId) -> bool {
        let mut asked = from.to_vec();
        asked.push(terms.not(fact));
        self.session.check(terms, &asked) == Answer::Unsat
    }
}
