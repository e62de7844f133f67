//! A path as Newton reads it: assignments and conditions over plain variables.
//!
//! Calls are gone (TR 2000-14, section 4.5): every activation of a function has its own instances
//! of the function's variables, entering it assigns the arguments to the parameters, and leaving
//! it assigns the result. What a statement reads and writes is told by running it on its own.

use hardbop_cfront::ids::FuncId;
use hardbop_logic::{Op, TermId, Terms};
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::path::PathStep;
use hardbop_semantics::{Execution, Fresh, FreshOrigin, Semantics, Unmodelled};
use std::collections::{BTreeMap, BTreeSet};

/// A variable of one activation of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instance {
    /// The state variable.
    pub variable: StateVarId,
    /// Which activation of its function, from 1 on; 0 for what belongs to none.
    pub activation: u32,
}

/// Where a statement comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Static storage gets its initial value.
    Start,
    /// The step of the path at this position.
    Step(usize),
}

/// A statement: first the condition must hold, then all writes happen at once.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Where it comes from.
    pub origin: Origin,
    /// The condition, over instances.
    pub condition: TermId,
    /// What is written, over instances.
    pub writes: BTreeMap<Instance, TermId>,
    /// The instances that it reads.
    pub uses: BTreeSet<Instance>,
}

impl Statement {
    /// Whether it reads or writes an instance.
    pub fn mentions(&self, instance: Instance) -> bool {
        self.uses.contains(&instance) || self.writes.contains_key(&instance)
    }
}

/// A path of statements. Steps that do nothing are left out.
#[derive(Clone, Debug)]
pub struct Statements {
    /// The statements.
    pub list: Vec<Statement>,
    /// The unknown values met on the way, each with its statement.
    pub fresh: Vec<(usize, Fresh)>,
    /// Whether every model is a run.
    pub exact: bool,
    /// What holds of the unknown values and of addresses, whatever the path is.
    pub(crate) background: Vec<TermId>,
    instances: BTreeMap<TermId, Instance>,
    names: BTreeMap<Instance, String>,
}

impl Statements {
    /// The instance that a constant stands for.
    pub fn instance(&self, constant: TermId) -> Option<Instance> {
        self.instances.get(&constant).copied()
    }

    /// The name of an instance, as short as it can be on this path.
    pub fn name(&self, instance: Instance) -> &str {
        self.names.get(&instance).map_or("?", String::as_str)
    }
}

/// The statements of a path from the start of the program.
pub fn statements(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    steps: &[PathStep],
) -> Result<Statements, Unmodelled> {
    let mut maker = Maker::new(semantics, terms);
    maker.start(terms);
    for (index, &step) in steps.iter().enumerate() {
        maker.step(terms, index, step)?;
    }
    Ok(maker.finish(terms))
}

struct Maker<'s, 'p> {
    semantics: &'s Semantics<'p>,
    /// Runs one step at a time: between steps every state variable holds its instance.
    run: Execution<'s, 'p>,
    /// How often each function has been entered.
    entered: BTreeMap<FuncId, u32>,
    /// The present activation of each function.
    current: BTreeMap<FuncId, u32>,
    /// The functions entered and not left, each with the activation that was present before.
    stack: Vec<(FuncId, u32)>,
    mentioned: BTreeSet<Instance>,
    list: Vec<Statement>,
    fresh: Vec<(usize, Fresh)>,
    background: Vec<TermId>,
    instances: BTreeMap<TermId, Instance>,
}

impl<'s, 'p> Maker<'s, 'p> {
    fn new(semantics: &'s Semantics<'p>, terms: &mut Terms) -> Maker<'s, 'p> {
        let mut maker = Maker {
            semantics,
            run: Execution::new(semantics),
            entered: BTreeMap::from([(semantics.program.entry, 1)]),
            current: BTreeMap::from([(semantics.program.entry, 1)]),
            stack: Vec::new(),
            mentioned: BTreeSet::new(),
            list: Vec::new(),
            fresh: Vec::new(),
            background: Vec::new(),
            instances: BTreeMap::new(),
        };
        for index in 0..semantics.layout.variables().len() {
            let variable = StateVarId(index as u32);
            let owned = semantics.layout.get(variable).owner.is_some();
            let activation = u32::from(owned);
            maker.constant(
                terms,
                Instance {
                    variable,
                    activation,
                },
            );
        }
        maker
    }

    /// The instance of a state variable in the present activation.
    fn present(&self, variable: StateVarId) -> Instance {
        let owner = self.semantics.layout.get(variable).owner;
        let activation = match owner {
            Some(function) => self.current.get(&function).copied().unwrap_or(1),
            None => 0,
        };
        Instance {
            variable,
            activation,
        }
    }

    fn constant(&mut self, terms: &mut Terms, instance: Instance) -> TermId {
        let variable = instance.variable;
        let constant = if instance.activation <= 1 {
            self.semantics.constant(terms, variable)
        } else {
            let name = &self.semantics.layout.get(variable).name;
            let name = format!("{name}.{}", instance.activation);
            let sort = self.semantics.sort(terms, variable);
            terms.constant(&name, sort)
        };
        self.instances.insert(constant, instance);
        constant
    }

    /// Every variable of static storage gets its value in a statement of its own, so that each
    /// can be left out of a projection.
    fn start(&mut self, terms: &mut Terms) {
        self.run.start(terms);
        let (condition, writes) = self.effect(terms, Vec::new(), 0);
        let pass = terms.bool(true);
        if condition != pass {
            self.add(terms, Origin::Start, condition, BTreeMap::new());
        }
        for (instance, value) in writes {
            let write = BTreeMap::from([(instance, value)]);
            self.add(terms, Origin::Start, pass, write);
        }
    }

    fn step(&mut self, terms: &mut Terms, index: usize, step: PathStep) -> Result<(), Unmodelled> {
        let before: Vec<(StateVarId, TermId)> = self.run.state.written().collect();
        let known = self.run.fresh.len();
        let condition = match step {
            PathStep::Edge(edge) => self.run.edge(terms, edge)?,
            PathStep::Enter(call, callee) => {
                let condition = self.run.enter(terms, call, callee);
                let count = self.entered.entry(callee).or_insert(0);
                *count += 1;
                let outer = self.current.insert(callee, *count).unwrap_or(0);
                self.stack.push((callee, outer));
                condition
            }
            PathStep::Leave => {
                self.run.leave(terms);
                if let Some((callee, outer)) = self.stack.pop() {
                    self.current.insert(callee, outer.max(1));
                }
                terms.bool(true)
            }
        };
        self.run.facts.push(condition);
        let (condition, writes) = self.effect(terms, before, known);
        if let PathStep::Enter(_, callee) = step {
            // What entering does not write is unknown in the new activation.
            for variable in self.semantics.frame_variables(callee) {
                let instance = self.present(variable);
                let constant = self.constant(terms, instance);
                self.run.state.set(variable, constant);
            }
        }
        self.add(terms, Origin::Step(index), condition, writes);
        Ok(())
    }

    /// What the run has just done, taken out of it: the condition and the writes.
    fn effect(
        &mut self,
        terms: &mut Terms,
        before: Vec<(StateVarId, TermId)>,
        known: usize,
    ) -> (TermId, BTreeMap<Instance, TermId>) {
        let before: BTreeMap<StateVarId, TermId> = before.into_iter().collect();
        let fresh: Vec<Fresh> = self.run.fresh[known..].to_vec();
        let uninitialised: BTreeSet<TermId> = fresh
            .iter()
            .filter(|fresh| matches!(fresh.origin, FreshOrigin::Uninitialised(_)))
            .map(|fresh| fresh.term)
            .collect();
        let after: Vec<(StateVarId, TermId)> = self.run.state.written().collect();
        let mut writes = BTreeMap::new();
        for (variable, value) in after {
            if before.get(&variable) == Some(&value) {
                continue;
            }
            let instance = self.present(variable);
            let constant = self.constant(terms, instance);
            self.run.state.set(variable, constant);
            // Unknown contents say nothing of an instance that nobody has mentioned.
            let news = !uninitialised.contains(&value) || self.mentioned.contains(&instance);
            if value != constant && news {
                writes.insert(instance, value);
            }
        }
        let mut conjuncts = Vec::new();
        for fact in std::mem::take(&mut self.run.facts) {
            let constants = terms.free_constants(&[fact]);
            // A fact of unknown values alone is their type's range: true on every path.
            if !constants.is_empty()
                && constants
                    .iter()
                    .all(|constant| fresh.iter().any(|fresh| fresh.term == *constant))
                && matches!(terms.op(fact), Op::And | Op::IntLe)
            {
                self.background.push(fact);
            } else {
                conjuncts.push(fact);
            }
        }
        let at = self.list.len();
        self.fresh
            .extend(fresh.into_iter().map(|fresh| (at, fresh)));
        (terms.and(&conjuncts), writes)
    }

    fn add(
        &mut self,
        terms: &mut Terms,
        origin: Origin,
        condition: TermId,
        writes: BTreeMap<Instance, TermId>,
    ) {
        if writes.is_empty() && condition == terms.bool(true) {
            return;
        }
        let mut read: Vec<TermId> = writes.values().copied().collect();
        read.push(condition);
        let uses: BTreeSet<Instance> = terms
            .free_constants(&read)
            .iter()
            .filter_map(|constant| self.instances.get(constant).copied())
            .collect();
        self.mentioned.extend(uses.iter().chain(writes.keys()));
        self.list.push(Statement {
            origin,
            condition,
            writes,
            uses,
        });
    }

    fn finish(mut self, terms: &mut Terms) -> Statements {
        self.drop_unused_start(terms);
        let mentioned: BTreeSet<Instance> = self
            .list
            .iter()
            .flat_map(|statement| statement.uses.iter().chain(statement.writes.keys()))
            .copied()
            .collect();
        Statements {
            names: names(self.semantics, &mentioned),
            exact: self.run.exact,
            list: self.list,
            fresh: self.fresh,
            background: self.background,
            instances: self.instances,
        }
    }

    /// Leaves out the initial values that no step of the path asks for.
    fn drop_unused_start(&mut self, terms: &mut Terms) {
        let pass = terms.bool(true);
        let wanted: BTreeSet<Instance> = self
            .list
            .iter()
            .filter(|statement| statement.origin != Origin::Start || statement.condition != pass)
            .flat_map(|statement| statement.uses.iter().copied())
            .collect();
        let kept = |statement: &Statement| {
            statement.origin != Origin::Start
                || statement.condition != pass
                || statement.writes.keys().any(|to| wanted.contains(to))
        };
        let mut position = 0;
        let positions: Vec<Option<usize>> = self
            .list
            .iter()
            .map(|statement| {
                kept(statement).then(|| {
                    position += 1;
                    position - 1
                })
            })
            .collect();
        self.list.retain(kept);
        // A symbol of a step that became no statement belongs to no statement.
        self.fresh = std::mem::take(&mut self.fresh)
            .into_iter()
            .filter_map(|(at, fresh)| Some((positions.get(at).copied().flatten()?, fresh)))
            .collect();
    }
}

/// The names of instances: without the function where that is clear.
fn names(semantics: &Semantics<'_>, mentioned: &BTreeSet<Instance>) -> BTreeMap<Instance, String> {
    let full = |instance: &Instance| &semantics.layout.get(instance.variable).name;
    let short = |instance: &Instance| {
        let name = full(instance);
        name.rsplit("::").next().unwrap_or(name).to_owned()
    };
    let mut users: BTreeMap<String, BTreeSet<StateVarId>> = BTreeMap::new();
    for instance in mentioned {
        let users = users.entry(short(instance)).or_default();
        users.insert(instance.variable);
    }
    let name = |instance: &Instance| {
        let name = match users[&short(instance)].len() {
            1 => short(instance),
            _ => full(instance).clone(),
        };
        match instance.activation {
            0 | 1 => name,
            later => format!("{name}.{later}"),
        }
    };
    mentioned
        .iter()
        .map(|instance| (*instance, name(instance)))
        .collect()
}
