//! Newton's data structures: a path simulated, with its store, its history and its conditions,
//! each with what it depends on, and an explanation of why the path cannot be run.
//!
//! In comes a path of [`Statements`]; out comes a [`Context`] (TR 2000-14, sections 4.1 and 4.2).
//! A variable that is read before it is written gets a *symbolic constant* θ. A condition that
//! says nothing new makes Newton forget the values in it: they become symbolic constants of their
//! own, so that the explanation is about the relation between the variables and not about how
//! they got their values.

use crate::icpp::{Projection, greedy_icpp};
use crate::statements::{Instance, Statements};
use hardbop_logic::{Answer, Op, Session, TermId, Terms, Unknown, Value};
use hardbop_semantics::{Fresh, Semantics};
use std::collections::{BTreeMap, BTreeSet};

/// A value that a variable gets on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The statement at which it gets the value.
    pub statement: usize,
    /// The variable.
    pub instance: Instance,
    /// The value, over symbolic constants.
    pub value: TermId,
    /// The entries that were read for it, by their positions in [`Context::entries`].
    pub dependencies: BTreeSet<usize>,
    /// Whether the value was computed.
    pub kind: EntryKind,
    /// What has become of it at the end of the path.
    pub state: EntryState,
}

/// Where the value of an entry comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// The statement assigns it.
    Assigned,
    /// It is a symbolic constant, made up in front of the statement: an annotation.
    Symbolic,
}

/// What has become of an entry at the end of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// The variable still holds the value.
    Store,
    /// A later assignment has replaced it.
    History,
    /// A symbolic constant stands for it from some point on.
    Forgotten,
}

/// A condition that the path passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The statement that demands it.
    pub statement: usize,
    /// The condition, over symbolic constants.
    pub formula: TermId,
    /// The entries that were read for it.
    pub dependencies: BTreeSet<usize>,
}

/// What Newton knows after simulating a path.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The store and the history, in the order in which they were made.
    pub entries: Vec<Entry>,
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// What holds of the symbolic constants by their types.
    background: Vec<TermId>,
}

impl Context {
    /// All entries that some conditions (by position) depend on, however indirectly.
    pub fn support(&self, conditions: &[usize]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut work: Vec<usize> = conditions
            .iter()
            .flat_map(|&condition| self.conditions[condition].dependencies.iter().copied())
            .collect();
        while let Some(entry) = work.pop() {
            if found.insert(entry) {
                work.extend(&self.entries[entry].dependencies);
            }
        }
        found
    }
}

/// Which variables get a new symbolic constant in front of which statement.
pub(crate) type Forgotten = BTreeMap<usize, BTreeSet<Instance>>;

/// What explanations are made with.
pub struct Explainer<'a, 'p, 's> {
    /// How the program is read.
    pub semantics: &'a Semantics<'p>,
    /// The solver.
    pub session: &'a mut Session<'s>,
}

/// What there is to say about a path.
#[derive(Clone, Debug)]
pub enum Explanation {
    /// It cannot be run.
    Infeasible(Box<Infeasible>),
    /// It can be run, as far as the encoding tells.
    Feasible(Box<Feasible>),
    /// The solver does not know.
    Unknown(Unknown),
}

/// Why a path cannot be run.
#[derive(Clone, Debug)]
pub struct Infeasible {
    /// How many of its statements cannot be run already.
    pub length: usize,
    /// The simulation of these statements.
    pub context: Context,
    /// The conditions, by position, that contradict each other; none can be left out.
    pub core: Vec<usize>,
    /// The statements that cannot be run on their own.
    pub projection: Projection,
}

/// How a path can be run.
#[derive(Clone, Debug)]
pub struct Feasible {
    /// The simulation.
    pub context: Context,
    /// The unknown values that the path meets, each with its statement and a value that does it.
    pub values: Vec<(usize, Fresh, Option<Value>)>,
}

impl Explainer<'_, '_, '_> {
    /// Explains a path.
    pub fn explain(&mut self, terms: &mut Terms, path: &Statements) -> Explanation {
        let all: Vec<usize> = (0..path.list.len()).collect();
        let context = self.simulate(terms, path, &all, &Forgotten::new());
        let core = match self.decide(terms, path, &context) {
            Decided::Unknown(why) => return Explanation::Unknown(why),
            Decided::Feasible => {
                let values = self.values(terms, path, &context);
                return Explanation::Feasible(Box::new(Feasible { context, values }));
            }
            Decided::Infeasible(core) => core,
        };
        let length = self.shortest_prefix(terms, path, core, &context);
        let prefix: Vec<usize> = (0..length).collect();
        let forgotten = self.forget(terms, path, &prefix);
        let context = self.simulate(terms, path, &prefix, &forgotten);
        let core = self.minimal(terms, path, &context);
        let projection = greedy_icpp(self, terms, path, &prefix);
        Explanation::Infeasible(Box::new(Infeasible {
            length,
            context,
            core,
            projection,
        }))
    }

    /// Simulates some statements of a path, in order, as if they were all of it.
    pub fn simulate(
        &self,
        terms: &mut Terms,
        path: &Statements,
        kept: &[usize],
        forgotten: &BTreeMap<usize, BTreeSet<Instance>>,
    ) -> Context {
        let mut simulation = Simulation {
            semantics: self.semantics,
            path,
            context: Context::default(),
            store: BTreeMap::new(),
            symbols: BTreeMap::new(),
        };
        for &index in kept {
            if let Some(instances) = forgotten.get(&index) {
                for &instance in instances {
                    simulation.introduce(terms, index, instance, EntryState::Forgotten);
                }
            }
            simulation.statement(terms, index);
        }
        simulation.context
    }

    /// Whether some statements of a path cannot be run on their own. Not to know is not to know
    /// that they cannot.
    pub fn is_infeasible(&mut self, terms: &mut Terms, path: &Statements, kept: &[usize]) -> bool {
        let context = self.simulate(terms, path, kept, &Forgotten::new());
        matches!(self.decide(terms, path, &context), Decided::Infeasible(_))
    }

    fn assert_background(&mut self, terms: &mut Terms, path: &Statements, context: &Context) {
        for axiom in self.semantics.axioms(terms) {
            self.session.assert(terms, axiom);
        }
        for &fact in path.background.iter().chain(&context.background) {
            self.session.assert(terms, fact);
        }
    }

    fn decide(&mut self, terms: &mut Terms, path: &Statements, context: &Context) -> Decided {
        let formulas: Vec<TermId> = context.conditions.iter().map(|c| c.formula).collect();
        self.session.push();
        self.assert_background(terms, path, context);
        let decided = match self.session.check(terms, &formulas) {
            Answer::Sat => Decided::Feasible,
            Answer::Unsat => Decided::Infeasible(positions(&formulas, &self.session.core())),
            Answer::Unknown(why) => Decided::Unknown(why),
        };
        self.session.pop();
        decided
    }

    fn values(
        &mut self,
        terms: &mut Terms,
        path: &Statements,
        context: &Context,
    ) -> Vec<(usize, Fresh, Option<Value>)> {
        let formulas: Vec<TermId> = context.conditions.iter().map(|c| c.formula).collect();
        let asked: Vec<TermId> = path.fresh.iter().map(|(_, fresh)| fresh.term).collect();
        self.session.push();
        self.assert_background(terms, path, context);
        let values = match self.session.check(terms, &formulas) {
            Answer::Sat => self.session.values(terms, &asked).ok(),
            _ => None,
        };
        self.session.pop();
        let values = values.unwrap_or_else(|| vec![None; asked.len()]);
        let fresh = path.fresh.iter().cloned();
        fresh
            .zip(values)
            .map(|((at, fresh), value)| (at, fresh, value))
            .collect()
    }

    /// The number of statements up to the first condition that contradicts those before it.
    fn shortest_prefix(
        &mut self,
        terms: &mut Terms,
        path: &Statements,
        core: Vec<usize>,
        context: &Context,
    ) -> usize {
        let end = |core: &[usize]| core.iter().max().copied().unwrap_or(0);
        let mut last = end(&core);
        while last > 0 {
            let shorter = Context {
                conditions: context.conditions[..last].to_vec(),
                ..context.clone()
            };
            match self.decide(terms, path, &shorter) {
                Decided::Infeasible(core) => last = end(&core),
                _ => break,
            }
        }
        context
            .conditions
            .get(last)
            .map_or(path.list.len(), |condition| condition.statement + 1)
    }

    /// The core of an infeasible simulation.
    fn minimal(&mut self, terms: &mut Terms, path: &Statements, context: &Context) -> Vec<usize> {
        let formulas: Vec<TermId> = context.conditions.iter().map(|c| c.formula).collect();
        self.session.push();
        self.assert_background(terms, path, context);
        let core = match self.session.check(terms, &formulas) {
            Answer::Unsat => self.session.minimal_core(terms),
            _ => formulas.clone(),
        };
        self.session.pop();
        positions(&formulas, &core)
    }

    /// Newton's abstraction: where a condition follows from those before it, the variables in it
    /// get symbolic constants, provided that the path still cannot be run.
    fn forget(&mut self, terms: &mut Terms, path: &Statements, prefix: &[usize]) -> Forgotten {
        let mut forgotten = Forgotten::new();
        let mut context = self.simulate(terms, path, prefix, &forgotten);
        for at in 0..context.conditions.len() {
            if self.session.budget().check().is_err() {
                break;
            }
            let condition = context.conditions[at].clone();
            let computed: BTreeSet<Instance> = condition
                .dependencies
                .iter()
                .map(|&entry| &context.entries[entry])
                .filter(|entry| !matches!(terms.op(entry.value), Op::Constant(_)))
                .map(|entry| entry.instance)
                .collect();
            if computed.is_empty() || !self.is_redundant(terms, path, &context, at) {
                continue;
            }
            let mut more = forgotten.clone();
            more.insert(condition.statement, computed);
            let weaker = self.simulate(terms, path, prefix, &more);
            if let Decided::Infeasible(_) = self.decide(terms, path, &weaker) {
                (forgotten, context) = (more, weaker);
            }
        }
        forgotten
    }

    /// Whether a condition follows from those before it.
    fn is_redundant(
        &mut self,
        terms: &mut Terms,
        path: &Statements,
        context: &Context,
        at: usize,
    ) -> bool {
        let mut formulas: Vec<TermId> = context.conditions[..at]
            .iter()
            .map(|condition| condition.formula)
            .collect();
        formulas.push(terms.not(context.conditions[at].formula));
        self.session.push();
        self.assert_background(terms, path, context);
        let answer = self.session.check(terms, &formulas);
        self.session.pop();
        matches!(answer, Answer::Unsat)
    }
}

enum Decided {
    Feasible,
    /// With the positions of conditions that suffice.
    Infeasible(Vec<usize>),
    Unknown(Unknown),
}

/// Where the formulas of a core stand first.
fn positions(formulas: &[TermId], core: &[TermId]) -> Vec<usize> {
    let mut found: Vec<usize> = core
        .iter()
        .filter_map(|formula| formulas.iter().position(|other| other == formula))
        .collect();
    found.sort_unstable();
    found
}

/// A simulation in progress.
struct Simulation<'a, 'p> {
    semantics: &'a Semantics<'p>,
    path: &'a Statements,
    context: Context,
    store: BTreeMap<Instance, usize>,
    /// How many symbolic constants each variable has had.
    symbols: BTreeMap<Instance, usize>,
}

impl Simulation<'_, '_> {
    fn put(&mut self, entry: Entry, replaced: EntryState) {
        let position = self.context.entries.len();
        if let Some(old) = self.store.insert(entry.instance, position) {
            self.context.entries[old].state = replaced;
        }
        self.context.entries.push(entry);
    }

    /// Gives a variable a new symbolic constant.
    fn introduce(
        &mut self,
        terms: &mut Terms,
        statement: usize,
        instance: Instance,
        replaced: EntryState,
    ) {
        let count = self.symbols.entry(instance).or_insert(0);
        let name = format!("θ{}{}", self.path.name(instance), "'".repeat(*count));
        *count += 1;
        let sort = self.semantics.sort(terms, instance.variable);
        let value = terms.constant(&name, sort);
        let plain = self.semantics.constant(terms, instance.variable);
        let typing = self.semantics.typing(terms, instance.variable);
        let typing = terms.substitute(typing, &BTreeMap::from([(plain, value)]));
        self.context.background.push(typing);
        let entry = Entry {
            statement,
            instance,
            value,
            dependencies: BTreeSet::new(),
            kind: EntryKind::Symbolic,
            state: EntryState::Store,
        };
        self.put(entry, replaced);
    }

    fn statement(&mut self, terms: &mut Terms, index: usize) {
        let path = self.path;
        let statement = &path.list[index];
        for &instance in &statement.uses {
            if !self.store.contains_key(&instance) {
                self.introduce(terms, index, instance, EntryState::History);
            }
        }
        let (formula, dependencies) = self.evaluate(terms, statement.condition);
        if !matches!(terms.op(statement.condition), Op::Bool(true)) {
            self.context.conditions.push(Condition {
                statement: index,
                formula,
                dependencies,
            });
        }
        // All values are those before the statement.
        let written: Vec<Entry> = statement
            .writes
            .iter()
            .map(|(&instance, &value)| {
                let (value, dependencies) = self.evaluate(terms, value);
                Entry {
                    statement: index,
                    instance,
                    value,
                    dependencies,
                    kind: EntryKind::Assigned,
                    state: EntryState::Store,
                }
            })
            .collect();
        for entry in written {
            self.put(entry, EntryState::History);
        }
    }

    /// A term over instances, over symbolic constants, with the entries that were read for it.
    fn evaluate(&self, terms: &mut Terms, term: TermId) -> (TermId, BTreeSet<usize>) {
        let mut map = BTreeMap::new();
        let mut dependencies = BTreeSet::new();
        for constant in terms.free_constants(&[term]) {
            if let Some(instance) = self.path.instance(constant)
                && let Some(&entry) = self.store.get(&instance)
            {
                map.insert(constant, self.context.entries[entry].value);
                dependencies.insert(entry);
            }
        }
        (terms.substitute(term, &map), dependencies)
    }
}
