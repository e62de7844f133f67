//! Rules between points of a program, and the Horn clauses that they become.
//!
//! Every point is a relation over the procedure's entry values and current values; a call is a rule
//! with the callee's exit relation in its body, so that procedures keep summaries of their own. A
//! relation speaks only of what is live at its point: what can still decide whether the goal is
//! reached.

use crate::forget::forget_functions;
use crate::refine::Refiner;
use hardbop_budget::Budget;
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_logic::{
    FuncId as Relation, Horn, HornAnswer, Limits, Solution, Sort, TermId, Terms, Unknown,
};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::segment::Blocks;
use hardbop_semantics::skeleton::SkeletonEdgeKind;
use hardbop_semantics::steps::{Returned, Step};
use hardbop_semantics::{State, Unmodelled};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The key of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    Location(LocId),
    Position(usize),
}

/// A rule before its relations are applied: from which points, to which, and what happens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    Start {
        to: Key,
    },
    Block {
        from: Key,
        to: Key,
        start: LocId,
        end: LocId,
    },
    Enter {
        from: Key,
        to: Key,
        call: EdgeId,
        callee: FuncId,
    },
    Leave {
        from: Key,
        entry: Key,
        exit: Key,
        to: Key,
        call: EdgeId,
        callee: FuncId,
    },
}

/// Rules with their points and goals.
pub(crate) struct Rules {
    /// Each once.
    pub rules: Vec<Rule>,
    /// The function and the cut point of every relation.
    pub points: BTreeMap<Key, (FuncId, LocId)>,
    /// The points that are asked about.
    pub goals: Vec<Key>,
}

impl Rules {
    /// What can lead to a goal.
    fn leading_to_goals(&self) -> Rules {
        let mut leading: BTreeMap<Key, Vec<Key>> = BTreeMap::new();
        for rule in &self.rules {
            match *rule {
                Rule::Start { .. } => {}
                Rule::Block { from, to, .. } | Rule::Enter { from, to, .. } => {
                    leading.entry(to).or_default().push(from);
                }
                Rule::Leave {
                    from,
                    entry,
                    exit,
                    to,
                    ..
                } => leading.entry(to).or_default().extend([from, entry, exit]),
            }
        }
        let mut useful: BTreeSet<Key> = self.goals.iter().copied().collect();
        let mut work = self.goals.clone();
        while let Some(key) = work.pop() {
            for &before in leading.get(&key).into_iter().flatten() {
                if useful.insert(before) {
                    work.push(before);
                }
            }
        }
        let to = |rule: &&Rule| match **rule {
            Rule::Start { to }
            | Rule::Block { to, .. }
            | Rule::Enter { to, .. }
            | Rule::Leave { to, .. } => useful.contains(&to),
        };
        Rules {
            rules: self.rules.iter().filter(to).cloned().collect(),
            points: self
                .points
                .iter()
                .filter(|(key, _)| useful.contains(key))
                .map(|(&key, &point)| (key, point))
                .collect(),
            goals: self.goals.clone(),
        }
    }
}

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

/// What is live at a point: what can still decide whether a goal is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// The state variables whose values now matter.
    pub now: BTreeSet<StateVarId>,
    /// Those whose values at the procedure's entry matter.
    pub old: BTreeSet<StateVarId>,
}

impl Live {
    fn size(&self) -> usize {
        self.now.len() + self.old.len()
    }
}

/// The constants of terms, each term looked at once.
#[derive(Default)]
struct Spoken(HashMap<TermId, Vec<TermId>>);

impl Spoken {
    fn of(&mut self, terms: &Terms, term: TermId) -> &[TermId] {
        let constants = || terms.free_constants(&[term]).into_iter().collect();
        self.0.entry(term).or_insert_with(constants)
    }
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
        let effects = match self.effects(terms, &mut rules, budget) {
            Ok(effects) => effects,
            Err(solved) => return solved,
        };
        let live = self.live_keys(terms, &rules, &effects);
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

    /// What is live at the points that can lead to a goal.
    pub(crate) fn live_points(
        &self,
        terms: &mut Terms,
        rules: &Rules,
        budget: &Budget,
    ) -> Option<BTreeMap<Key, Live>> {
        let mut rules = rules.leading_to_goals();
        let effects = self.effects(terms, &mut rules, budget).ok()?;
        Some(self.live_keys(terms, &rules, &effects))
    }

    /// What every rule does. Those that are never taken go.
    fn effects(
        &self,
        terms: &mut Terms,
        rules: &mut Rules,
        budget: &Budget,
    ) -> Result<Vec<Step>, Solved> {
        let mut blocks = Blocks::new();
        let mut effects = Vec::with_capacity(rules.rules.len());
        for rule in std::mem::take(&mut rules.rules) {
            if let Err(stopped) = budget.check() {
                return Err(Solved::Unknown(Unknown::Stopped(stopped)));
            }
            let kind = match rule {
                Rule::Start { .. } => SkeletonEdgeKind::Start,
                Rule::Block { start, end, .. } => SkeletonEdgeKind::Block(start, end),
                Rule::Enter { call, callee, .. } => SkeletonEdgeKind::Call(Some(call), callee),
                Rule::Leave { call, callee, .. } => SkeletonEdgeKind::Return(call, callee),
            };
            let step = self.ground.step(terms, &mut blocks, kind);
            if let Some(step) = step.map_err(Solved::Unmodelled)? {
                rules.rules.push(rule);
                effects.push(step);
            }
        }
        Ok(effects)
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

    /// What is live at every point: what conditions on the way to a goal depend on. Of a
    /// procedure's entry values, those of what is live at its entry.
    fn live_keys(&self, terms: &mut Terms, rules: &Rules, effects: &[Step]) -> BTreeMap<Key, Live> {
        let mut live: BTreeMap<Key, Live> = rules
            .points
            .keys()
            .map(|&key| (key, Live::default()))
            .collect();
        // A rule is looked at again when more is live at a point that it reads.
        let mut readers: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (index, rule) in rules.rules.iter().enumerate() {
            match *rule {
                Rule::Start { .. } => {}
                Rule::Block { to, .. } | Rule::Enter { to, .. } => {
                    readers.entry(to).or_default().push(index);
                }
                Rule::Leave {
                    exit, entry, to, ..
                } => {
                    for key in [exit, entry, to] {
                        readers.entry(key).or_default().push(index);
                    }
                }
            }
        }
        let mut spoken = Spoken::default();
        // From the end, since what is live flows backwards.
        let mut work: BTreeSet<usize> = (0..rules.rules.len()).collect();
        while let Some(index) = work.pop_last() {
            let rule = &rules.rules[index];
            let written = match *rule {
                Rule::Start { .. } => continue,
                Rule::Block { from, .. } | Rule::Enter { from, .. } => vec![from],
                Rule::Leave { from, exit, .. } => vec![from, exit],
            };
            let sizes: Vec<usize> = written.iter().map(|key| live[key].size()).collect();
            self.propagate(terms, &mut spoken, rule, &effects[index], &mut live);
            for (key, size) in written.iter().zip(sizes) {
                if live[key].size() > size {
                    work.extend(readers.get(key).into_iter().flatten());
                }
            }
        }
        live
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

    fn propagate(
        &self,
        terms: &mut Terms,
        spoken: &mut Spoken,
        rule: &Rule,
        effect: &Step,
        live: &mut BTreeMap<Key, Live>,
    ) {
        let returned = match (rule, &effect.returned) {
            (Rule::Leave { callee, .. }, Some(returned)) => Some((*callee, returned)),
            _ => None,
        };
        let mut ids: HashMap<TermId, StateVarId> = HashMap::new();
        if let Some((callee, returned)) = returned {
            for id in self.ground.given_back(callee) {
                ids.insert(returned.state.get(self.ground.semantics, terms, id), id);
            }
        }
        let mut needed = BTreeSet::new();
        let mut given = BTreeSet::new();
        let mut mention = |terms: &Terms, term: TermId| {
            for constant in spoken.of(terms, term) {
                if let Some(&id) = ids.get(constant) {
                    given.insert(id);
                } else if let Some(Meaning::Now(id)) = self.ground.constants.meaning(*constant) {
                    needed.insert(id);
                }
            }
        };
        mention(terms, effect.condition);
        let mut need = |state: &State, wanted: &BTreeSet<StateVarId>, terms: &mut Terms| {
            for &id in wanted {
                let term = state.get(self.ground.semantics, terms, id);
                mention(terms, term);
            }
        };
        match *rule {
            Rule::Start { .. } => {}
            Rule::Block { from, to, .. } => {
                let after = live[&to].clone();
                need(&effect.state, &after.now, terms);
                let here = live.entry(from).or_default();
                here.now.extend(needed);
                here.old.extend(after.old);
            }
            Rule::Enter { from, to, .. } => {
                let after = live[&to].clone();
                need(&effect.state, &after.now, terms);
                need(&effect.state, &after.old, terms);
                live.entry(from).or_default().now.extend(needed);
            }
            Rule::Leave {
                from,
                exit,
                entry,
                to,
                callee,
                ..
            } => {
                let after = live[&to].clone();
                need(&effect.state, &after.now, terms);
                let inside = live[&exit].clone();
                if let Some((_, returned)) = returned {
                    let back: BTreeSet<StateVarId> = self.ground.given_back(callee).collect();
                    let passed = inside.now.difference(&back).copied().collect();
                    need(&returned.entered, &inside.old, terms);
                    need(&returned.entered, &passed, terms);
                }
                // Nothing is asked of the callee if nothing that it gives back is used.
                let modified = self.ground.effects.modified(callee);
                let at_entry = live[&entry].now.clone();
                let end = live.entry(exit).or_default();
                end.now.extend(given);
                for id in at_entry {
                    let variable = self.ground.semantics.layout.get(id);
                    if variable.owner.is_some() || modified.contains(&id) {
                        end.old.insert(id);
                    } else {
                        end.now.insert(id);
                    }
                }
                let here = live.entry(from).or_default();
                here.now.extend(needed);
                here.old.extend(after.old);
            }
        }
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
