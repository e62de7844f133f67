//! Refinement: predicates that rule an infeasible path out, from a solution of Horn clauses.
//!
//! Every point of the path is a relation over the procedure's entry values and current values; a
//! call is a rule with the callee's exit relation in its body, so that procedures keep summaries
//! of their own. In a *path program* all visits of one cut point share a relation, and a solution
//! is an inductive invariant for every unrolling; in a *path* each visit has its own, and a
//! solution is a sequence of interpolants.

use crate::Segment;
use crate::atoms::{Constants, Meaning, Predicate, predicates};
use hardbop_budget::Budget;
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::VarKind;
use hardbop_logic::{
    FuncId as Relation, Horn, HornAnswer, Limits, Op, Sort, TermId, Terms, Unknown,
};
use hardbop_semantics::block::{Block, block};
use hardbop_semantics::effects::Effects;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::{Execution, Semantics, State, Unmodelled};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Which points of a path share a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All visits of one cut point: loops stay loops.
    PathProgram,
    /// None: the path as it is.
    Path,
}

/// What refinement found.
#[derive(Clone, Debug)]
pub enum Refinement {
    /// Predicates over which there is no such path, each with the cut point where it helps.
    Predicates(Vec<(LocId, Predicate)>),
    /// Over this encoding there is an error path of this shape.
    Reachable,
    /// The solver gave up.
    Unknown(Unknown),
    /// An edge on the way has no meaning.
    Unmodelled(Unmodelled),
}

/// What a refinement works with.
pub struct Refiner<'a, 'p> {
    /// How the program is read: usually over the integers.
    pub semantics: &'a Semantics<'p>,
    /// What functions may change.
    pub effects: &'a Effects,
    /// The cut points.
    pub cuts: &'a BTreeSet<LocId>,
    /// The constants of state variables.
    pub constants: &'a Constants,
}

/// The key of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Location(LocId),
    Position(usize),
}

/// A rule before its relations are applied: from which points, to which, and what happens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    Start {
        to: Key,
        function: FuncId,
    },
    Block {
        from: Key,
        to: Key,
        function: FuncId,
        start: LocId,
        end: LocId,
    },
    Enter {
        from: Key,
        to: Key,
        caller: FuncId,
        call: EdgeId,
        callee: FuncId,
    },
    Leave {
        from: Key,
        exit: Key,
        to: Key,
        caller: FuncId,
        call: EdgeId,
        callee: FuncId,
    },
}

/// A path as rules.
struct Path {
    /// Each once.
    rules: Vec<Rule>,
    /// The function and the cut point of every relation.
    points: BTreeMap<Key, (FuncId, LocId)>,
    /// The last point and its function.
    goal: Option<(Key, FuncId)>,
}

/// The symbolic effect of a rule over the constants of state variables.
struct Effect {
    condition: TermId,
    /// The callee's state when it was entered, for calls.
    entered: Option<State>,
    /// What stands for the callee's exit values, for returns.
    returned: BTreeMap<StateVarId, TermId>,
    /// The state at the end.
    state: State,
}

impl Refiner<'_, '_> {
    /// Looks for predicates that rule out an infeasible path to a violated check.
    pub fn refine(
        &self,
        terms: &mut Terms,
        segments: &[Segment],
        shape: Shape,
        limits: Limits,
        budget: &Budget,
    ) -> Refinement {
        let Path {
            rules,
            points,
            goal,
        } = self.rules(segments, shape);
        let mut blocks: BTreeMap<LocId, Block> = BTreeMap::new();
        let mut effects = Vec::with_capacity(rules.len());
        for rule in &rules {
            if let Err(stopped) = budget.check() {
                return Refinement::Unknown(Unknown::Stopped(stopped));
            }
            match self.effect(terms, rule, &mut blocks) {
                Ok(effect) => effects.push(effect),
                Err(unmodelled) => return Refinement::Unmodelled(unmodelled),
            }
        }
        let relevant = self.relevant(terms, &rules, &effects);
        let mut system = Horn::new();
        let mut relations: BTreeMap<Key, Relation> = BTreeMap::new();
        for (&key, &(function, _)) in &points {
            let arguments = self.arguments(terms, &relevant, function, key);
            let domain: Vec<Sort> = arguments.iter().map(|&(_, t)| terms.sort(t)).collect();
            let relation = terms.function(&name(key), &domain, Sort::Bool);
            system.relation(terms, relation);
            relations.insert(key, relation);
        }
        let context = Context {
            refiner: self,
            relevant: &relevant,
            relations: &relations,
        };
        for (rule, effect) in rules.iter().zip(&effects) {
            context.add_rule(terms, &mut system, rule, effect);
        }
        if let Some((key, function)) = goal {
            let body = context.applied(terms, key, function);
            system.query(&[body]);
        }
        match system.solve(terms, limits, budget) {
            HornAnswer::Reachable { .. } => Refinement::Reachable,
            HornAnswer::Unknown(why) => Refinement::Unknown(why),
            HornAnswer::Unreachable(solution) => {
                let mut found = BTreeSet::new();
                for (&key, &(function, location)) in &points {
                    let arguments: Vec<TermId> = self
                        .arguments(terms, &relevant, function, key)
                        .into_iter()
                        .map(|(_, term)| term)
                        .collect();
                    if let Some(formula) = solution.at(terms, relations[&key], &arguments) {
                        let atoms =
                            predicates(self.semantics, self.constants, terms, function, formula);
                        found.extend(atoms.into_iter().map(|atom| (location, atom)));
                    }
                }
                Refinement::Predicates(found.into_iter().collect())
            }
        }
    }

    /// The rules of a path, its points, and the last point.
    fn rules(&self, segments: &[Segment], shape: Shape) -> Path {
        let program = self.semantics.program;
        let mut rules = BTreeSet::new();
        let mut points = BTreeMap::new();
        let mut at: Option<(Key, FuncId)> = None;
        let mut open: Vec<(Key, FuncId)> = Vec::new();
        let key = |position: usize, location: LocId| match shape {
            Shape::PathProgram => Key::Location(location),
            Shape::Path => Key::Position(position),
        };
        for (position, segment) in segments.iter().enumerate() {
            let (to, function, location) = match *segment {
                Segment::Start(function) => {
                    let location = program.function(function).entry;
                    let to = key(position, location);
                    rules.insert(Rule::Start { to, function });
                    (to, function, location)
                }
                Segment::Block(start, end) => {
                    let Some((from, function)) = at else { continue };
                    let to = key(position, end);
                    rules.insert(Rule::Block {
                        from,
                        to,
                        function,
                        start,
                        end,
                    });
                    (to, function, end)
                }
                Segment::Enter(call, callee) => {
                    let Some((from, caller)) = at else { continue };
                    open.push((from, caller));
                    let location = program.function(callee).entry;
                    let to = key(position, location);
                    rules.insert(Rule::Enter {
                        from,
                        to,
                        caller,
                        call,
                        callee,
                    });
                    (to, callee, location)
                }
                Segment::Leave(call, callee) => {
                    let (Some((exit, _)), Some((from, caller))) = (at, open.pop()) else {
                        continue;
                    };
                    let location = program.edges[call.index()].to;
                    let to = key(position, location);
                    rules.insert(Rule::Leave {
                        from,
                        exit,
                        to,
                        caller,
                        call,
                        callee,
                    });
                    (to, caller, location)
                }
            };
            points.insert(to, (function, location));
            at = Some((to, function));
        }
        Path {
            rules: rules.into_iter().collect(),
            points,
            goal: at,
        }
    }

    fn effect(
        &self,
        terms: &mut Terms,
        rule: &Rule,
        blocks: &mut BTreeMap<LocId, Block>,
    ) -> Result<Effect, Unmodelled> {
        let mut run = Execution::new(self.semantics);
        let mut entered = None;
        let mut returned = BTreeMap::new();
        let mut condition = terms.bool(true);
        match *rule {
            Rule::Start { .. } => run.start(terms),
            Rule::Block { start, end, .. } => {
                let made = match blocks.entry(start) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => {
                        place.insert(block(self.semantics, terms, start, self.cuts)?)
                    }
                };
                match made.exits.iter().find(|exit| exit.location == end) {
                    Some(exit) => {
                        condition = exit.condition;
                        run.state = exit.state.clone();
                    }
                    None => condition = terms.bool(false),
                }
            }
            Rule::Enter { call, callee, .. } => {
                condition = run.enter(terms, call, callee);
                entered = Some(run.state.clone());
            }
            Rule::Leave { call, callee, .. } => {
                condition = run.enter(terms, call, callee);
                entered = Some(run.state.clone());
                for id in self.exit_variables(callee) {
                    let sort = self.semantics.sort(terms, id);
                    let name = format!("{}'", self.semantics.layout.get(id).name);
                    let after = terms.constant(&name, sort);
                    run.state.set(id, after);
                    returned.insert(id, after);
                }
                run.leave(terms);
            }
        }
        let mut conjuncts = std::mem::take(&mut run.facts);
        conjuncts.push(condition);
        let condition = terms.and(&conjuncts);
        Ok(Effect {
            condition,
            entered,
            returned,
            state: run.state,
        })
    }

    /// What a call may change and what holds its result.
    fn exit_variables(&self, callee: FuncId) -> Vec<StateVarId> {
        let mut variables: Vec<StateVarId> =
            self.effects.modified(callee).iter().copied().collect();
        variables.extend(
            self.semantics
                .frame_variables(callee)
                .into_iter()
                .filter(|&id| {
                    self.semantics
                        .layout
                        .get(id)
                        .variable
                        .is_some_and(|variable| {
                            matches!(
                                self.semantics.program.variable(variable).kind,
                                VarKind::Result(_)
                            )
                        })
                }),
        );
        variables
    }

    /// The state variables on which the conditions depend, directly or not.
    fn relevant(
        &self,
        terms: &mut Terms,
        rules: &[Rule],
        effects: &[Effect],
    ) -> BTreeSet<StateVarId> {
        let _ = rules;
        let mut relevant = BTreeSet::new();
        let now = |terms: &Terms, term: TermId| -> Vec<StateVarId> {
            terms
                .free_constants(&[term])
                .into_iter()
                .filter_map(|constant| match self.constants.meaning(constant) {
                    Some(Meaning::Now(id)) => Some(id),
                    _ => None,
                })
                .collect()
        };
        // What flows into each state variable, over all effects.
        let mut sources: BTreeMap<StateVarId, BTreeSet<StateVarId>> = BTreeMap::new();
        for effect in effects {
            relevant.extend(now(terms, effect.condition));
            let ids: HashMap<TermId, StateVarId> = effect
                .returned
                .iter()
                .map(|(&id, &term)| (term, id))
                .collect();
            for state in [Some(&effect.state), effect.entered.as_ref()]
                .into_iter()
                .flatten()
            {
                for (id, term) in state.written() {
                    let entry = sources.entry(id).or_default();
                    entry.extend(now(terms, term));
                    let through = terms
                        .free_constants(&[term])
                        .into_iter()
                        .filter_map(|c| ids.get(&c));
                    entry.extend(through.copied());
                }
            }
        }
        let mut work: Vec<StateVarId> = relevant.iter().copied().collect();
        while let Some(id) = work.pop() {
            for &source in sources.get(&id).into_iter().flatten() {
                if relevant.insert(source) {
                    work.push(source);
                }
            }
        }
        relevant
    }

    /// The arguments of a point's relation: the origin, entry values, current values.
    fn arguments(
        &self,
        terms: &mut Terms,
        relevant: &BTreeSet<StateVarId>,
        function: FuncId,
        key: Key,
    ) -> Vec<(Meaning, TermId)> {
        let layout = &self.semantics.layout;
        let program = self.semantics.program;
        let exit = match key {
            Key::Location(location) => location == program.function(function).exit,
            Key::Position(_) => false,
        };
        let mut arguments = vec![(Meaning::Origin, self.semantics.origin(terms))];
        let modified = self.effects.modified(function);
        for &id in relevant {
            let variable = layout.get(id);
            let kind = variable.variable.map(|v| program.variable(v).kind);
            let old = match variable.owner {
                None => modified.contains(&id),
                Some(owner) => owner == function && matches!(kind, Some(VarKind::Formal(_))),
            };
            if old && function != program.entry {
                arguments.push((Meaning::Old(id), self.semantics.old_constant(terms, id)));
            }
        }
        for &id in relevant {
            let variable = layout.get(id);
            let kind = variable.variable.map(|v| program.variable(v).kind);
            let now = match variable.owner {
                None => true,
                Some(owner) if exit => {
                    owner == function && matches!(kind, Some(VarKind::Result(_)))
                }
                Some(owner) => owner == function,
            };
            if now {
                arguments.push((Meaning::Now(id), self.semantics.constant(terms, id)));
            }
        }
        arguments
    }
}

struct Context<'c, 'a, 'p> {
    refiner: &'c Refiner<'a, 'p>,
    relevant: &'c BTreeSet<StateVarId>,
    relations: &'c BTreeMap<Key, Relation>,
}

impl Context<'_, '_, '_> {
    /// A point's relation, applied to its own constants.
    fn applied(&self, terms: &mut Terms, key: Key, function: FuncId) -> TermId {
        let arguments = self.refiner.arguments(terms, self.relevant, function, key);
        let arguments: Vec<TermId> = arguments.into_iter().map(|(_, term)| term).collect();
        terms.apply(self.relations[&key], &arguments)
    }

    /// A point's relation, applied to what `old` and `now` say.
    fn applied_to(
        &self,
        terms: &mut Terms,
        key: Key,
        function: FuncId,
        old: &mut dyn FnMut(&mut Terms, StateVarId) -> TermId,
        now: &mut dyn FnMut(&mut Terms, StateVarId) -> TermId,
    ) -> TermId {
        let mut arguments = Vec::new();
        for (meaning, term) in self.refiner.arguments(terms, self.relevant, function, key) {
            arguments.push(match meaning {
                Meaning::Origin => term,
                Meaning::Old(id) => old(terms, id),
                Meaning::Now(id) => now(terms, id),
            });
        }
        terms.apply(self.relations[&key], &arguments)
    }

    fn add_rule(&self, terms: &mut Terms, system: &mut Horn, rule: &Rule, effect: &Effect) {
        let semantics = self.refiner.semantics;
        let mut body = vec![effect.condition];
        let mut same_old = |terms: &mut Terms, id| semantics.old_constant(terms, id);
        let mut after = |terms: &mut Terms, id| effect.state.get(semantics, terms, id);
        let head = match *rule {
            Rule::Start { to, function } => {
                body.extend(semantics.axioms(terms));
                let mut old = |terms: &mut Terms, id| effect.state.get(semantics, terms, id);
                self.applied_to(terms, to, function, &mut old, &mut after)
            }
            Rule::Block {
                from, to, function, ..
            } => {
                body.push(self.applied(terms, from, function));
                self.applied_to(terms, to, function, &mut same_old, &mut after)
            }
            Rule::Enter {
                from,
                to,
                caller,
                callee,
                ..
            } => {
                body.push(self.applied(terms, from, caller));
                let mut old = |terms: &mut Terms, id| effect.state.get(semantics, terms, id);
                self.applied_to(terms, to, callee, &mut old, &mut after)
            }
            Rule::Leave {
                from,
                exit,
                to,
                caller,
                callee,
                ..
            } => {
                body.push(self.applied(terms, from, caller));
                let entered = effect.entered.clone().unwrap_or_default();
                let mut old = |terms: &mut Terms, id| entered.get(semantics, terms, id);
                // What the callee's own variables hold at its exit is nobody's business here.
                let mut now = |terms: &mut Terms, id| match effect.returned.get(&id) {
                    Some(&term) => term,
                    None if semantics.layout.get(id).owner == Some(callee) => {
                        let sort = semantics.sort(terms, id);
                        terms.fresh("own", sort)
                    }
                    None => entered.get(semantics, terms, id),
                };
                body.push(self.applied_to(terms, exit, callee, &mut old, &mut now));
                self.applied_to(terms, to, caller, &mut same_old, &mut after)
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

/// Replaces applications of uninterpreted functions, save relations, by fresh constants.
fn forget_functions(
    terms: &mut Terms,
    relations: &BTreeMap<Key, Relation>,
    formulas: &[TermId],
) -> Vec<TermId> {
    let mut map = BTreeMap::new();
    for term in terms.postorder(formulas) {
        if let Op::Apply(function) = *terms.op(term)
            && !relations.values().any(|&relation| relation == function)
        {
            let sort = terms.sort(term);
            let unknown = terms.fresh("any", sort);
            map.insert(term, unknown);
        }
    }
    if map.is_empty() {
        return formulas.to_vec();
    }
    formulas
        .iter()
        .map(|&formula| terms.substitute(formula, &map))
        .collect()
}

fn name(key: Key) -> String {
    match key {
        Key::Location(location) => format!("at{}", location.0),
        Key::Position(position) => format!("step{position}"),
    }
}
