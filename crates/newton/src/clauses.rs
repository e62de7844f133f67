//! The Horn clauses that the rules between points of a program become.
//!
//! Every point is a relation over the procedure's entry values and current values; a call is a rule
//! with the callee's exit relation in its body, so that procedures keep summaries of their own. A
//! relation speaks only of what is live at its point: what can still decide whether the goal is
//! reached.

use crate::forget::forget_functions;
use crate::refine::Refiner;
use hardbop_budget::Budget;
use hardbop_logic::{
    FuncId as Relation, Horn, HornAnswer, Limits, Solution, Sort, TermId, Terms, Unknown,
};
use hardbop_semantics::Unmodelled;
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::live::Live;
use hardbop_semantics::rules::{Key, NoSteps, Rule, Rules};
use hardbop_semantics::steps::{Returned, Step};
use std::collections::BTreeMap;

/// What became of the clauses.
pub(crate) enum Solved {
    /// A formula at every point: together they show that no goal is reached.
    Unreachable(BTreeMap<Key, TermId>),
    /// Over this encoding a goal is reached.
    Reachable,
    /// The solver gave up.
    Unknown(Unknown),
    /// An edge has no meaning.
    Unmodelled(Unmodelled),
}

/// Whether relations speak of the origin of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// Something depends on it.
    Passed,
    /// Nothing does.
    LeftOut,
}

impl Refiner<'_, '_> {
    /// Solves the rules.
    pub(crate) fn solve(
        &self,
        terms: &mut Terms,
        rules: &Rules,
        limits: Limits,
        budget: &Budget,
    ) -> Solved {
        let mut rules = rules.leading_to_goals();
        let effects = match self.ground.rule_steps(terms, &mut rules, budget) {
            Ok(effects) => effects,
            Err(NoSteps::Stopped(stopped)) => return Solved::Unknown(Unknown::Stopped(stopped)),
            Err(NoSteps::Unmodelled(edge)) => return Solved::Unmodelled(edge),
        };
        let live = self.ground.live_at(terms, &rules, &effects);
        let origin = self.speaks_of_origin(terms, &rules, &effects, &live);
        let mut system = Horn::new();
        let mut relations: BTreeMap<Key, Relation> = BTreeMap::new();
        for (&key, live) in &live {
            let arguments = self.arguments(terms, live, origin);
            let domain: Vec<Sort> = arguments.iter().map(|&(_, t)| terms.sort(t)).collect();
            let relation = terms.function(&name(key), &domain, Sort::Bool);
            system.relation(terms, relation);
            relations.insert(key, relation);
        }
        let context = Context {
            refiner: self,
            live: &live,
            origin,
            relations: &relations,
        };
        for (rule, effect) in rules.rules.iter().zip(&effects) {
            context.add_rule(terms, &mut system, rule, effect);
        }
        for &goal in &rules.goals {
            let body = context.applied(terms, goal);
            system.query(&[body]);
        }
        match system.solve(terms, limits, budget) {
            HornAnswer::Reachable { .. } => Solved::Reachable,
            HornAnswer::Unknown(why) => Solved::Unknown(why),
            HornAnswer::Unreachable(solution) => {
                let formulas = self.formulas(terms, &live, origin, &relations, &solution);
                Solved::Unreachable(formulas)
            }
        }
    }

    fn formulas(
        &self,
        terms: &mut Terms,
        live: &BTreeMap<Key, Live>,
        origin: Origin,
        relations: &BTreeMap<Key, Relation>,
        solution: &Solution,
    ) -> BTreeMap<Key, TermId> {
        let mut formulas = BTreeMap::new();
        for (&key, &relation) in relations {
            let arguments = self.arguments(terms, &live[&key], origin);
            let arguments: Vec<TermId> = arguments.into_iter().map(|(_, term)| term).collect();
            if let Some(formula) = solution.at(terms, relation, &arguments) {
                formulas.insert(key, formula);
            }
        }
        formulas
    }

    fn speaks_of_origin(
        &self,
        terms: &mut Terms,
        rules: &Rules,
        effects: &[Step],
        live: &BTreeMap<Key, Live>,
    ) -> Origin {
        let origin = self.ground.semantics.origin(terms);
        for (rule, effect) in rules.rules.iter().zip(effects) {
            let to = match *rule {
                // What holds of it at the start is no reason to speak of it.
                Rule::Start { to } => {
                    for &id in &live[&to].now {
                        let value = effect.state.get(self.ground.semantics, terms, id);
                        if terms.free_constants(&[value]).contains(&origin) {
                            return Origin::Passed;
                        }
                    }
                    continue;
                }
                Rule::Block { to, .. } | Rule::Enter { to, .. } | Rule::Leave { to, .. } => to,
            };
            let mut spoken = vec![effect.condition];
            for &id in &live[&to].now {
                spoken.push(effect.state.get(self.ground.semantics, terms, id));
            }
            let returned = effect.returned.as_ref().map(|callee| &callee.entered);
            if let Some(entered) = effect.entered.as_ref().or(returned) {
                spoken.extend(entered.written().map(|(_, term)| term));
            }
            if terms.free_constants(&spoken).contains(&origin) {
                return Origin::Passed;
            }
        }
        Origin::LeftOut
    }

    /// The arguments of a point's relation: the origin, entry values, current values.
    fn arguments(&self, terms: &mut Terms, live: &Live, origin: Origin) -> Vec<(Meaning, TermId)> {
        let mut arguments = Vec::new();
        if origin == Origin::Passed {
            arguments.push((Meaning::Origin, self.ground.semantics.origin(terms)));
        }
        for &id in &live.old {
            arguments.push((
                Meaning::Old(id),
                self.ground.semantics.old_constant(terms, id),
            ));
        }
        for &id in &live.now {
            arguments.push((Meaning::Now(id), self.ground.semantics.constant(terms, id)));
        }
        arguments
    }
}

struct Context<'c, 'a, 'p> {
    refiner: &'c Refiner<'a, 'p>,
    live: &'c BTreeMap<Key, Live>,
    origin: Origin,
    relations: &'c BTreeMap<Key, Relation>,
}

impl Context<'_, '_, '_> {
    /// A point's relation, applied to its own constants.
    fn applied(&self, terms: &mut Terms, key: Key) -> TermId {
        let arguments = self.refiner.arguments(terms, &self.live[&key], self.origin);
        let arguments: Vec<TermId> = arguments.into_iter().map(|(_, term)| term).collect();
        terms.apply(self.relations[&key], &arguments)
    }

    /// A point's relation, applied to what `old` and `now` say.
    fn applied_to(
        &self,
        terms: &mut Terms,
        key: Key,
        old: &mut dyn FnMut(&mut Terms, StateVarId) -> TermId,
        now: &mut dyn FnMut(&mut Terms, StateVarId) -> TermId,
    ) -> TermId {
        let mut arguments = Vec::new();
        for (meaning, term) in self.refiner.arguments(terms, &self.live[&key], self.origin) {
            arguments.push(match meaning {
                Meaning::Origin => term,
                Meaning::Old(id) => old(terms, id),
                Meaning::Now(id) => now(terms, id),
            });
        }
        terms.apply(self.relations[&key], &arguments)
    }

    fn add_rule(&self, terms: &mut Terms, system: &mut Horn, rule: &Rule, effect: &Step) {
        let semantics = self.refiner.ground.semantics;
        let mut body = vec![effect.condition];
        let mut same_old = |terms: &mut Terms, id| semantics.old_constant(terms, id);
        let mut after = |terms: &mut Terms, id| effect.state.get(semantics, terms, id);
        let head = match *rule {
            Rule::Start { to } => {
                body.extend(semantics.axioms(terms));
                let mut old = |terms: &mut Terms, id| effect.state.get(semantics, terms, id);
                self.applied_to(terms, to, &mut old, &mut after)
            }
            Rule::Block { from, to, .. } => {
                body.push(self.applied(terms, from));
                self.applied_to(terms, to, &mut same_old, &mut after)
            }
            Rule::Enter { from, to, .. } => {
                body.push(self.applied(terms, from));
                let mut old = |terms: &mut Terms, id| effect.state.get(semantics, terms, id);
                self.applied_to(terms, to, &mut old, &mut after)
            }
            Rule::Leave { from, exit, to, .. } => {
                body.push(self.applied(terms, from));
                if let Some(Returned { state, entered, .. }) = &effect.returned {
                    let mut old = |terms: &mut Terms, id| entered.get(semantics, terms, id);
                    let mut now = |terms: &mut Terms, id| state.get(semantics, terms, id);
                    body.push(self.applied_to(terms, exit, &mut old, &mut now));
                }
                self.applied_to(terms, to, &mut same_old, &mut after)
            }
        };
        // Relations hold constants as they are; whatever else is a function of its arguments is
        // an unknown value to the Horn solver.
        let mut all = body;
        all.push(head);
        let all = forget_functions(terms, self.relations, &all);
        if let Some((head, body)) = all.split_last() {
            system.rule(body, *head);
        }
    }
}

fn name(key: Key) -> String {
    match key {
        Key::Location(location) => format!("at{}", location.0),
        Key::Position(position) => format!("step{position}"),
    }
}
