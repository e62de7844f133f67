//! Is there an execution along this trace? The judge of what a model checker prints.
//!
//! A trace is a sequence of vertices with what is known of the state at each. The replay follows
//! it with the set of all states that agree with it so far. A variable whose value does not
//! matter yet is kept open in a state, and split into its two values when something reads it.

use crate::program::{Action, EdgeId, ExprId, ProcId, Program, VarId, VertexId, VertexKind};
use crate::values::{Layout, ValueSet, possible_values, support};
use std::collections::{BTreeMap, BTreeSet};

/// One step of a trace: the state before the statement of a vertex.
#[derive(Clone, Debug)]
pub struct TraceStep {
    /// Where execution is.
    pub vertex: VertexId,
    /// What is known of the variables in scope.
    pub values: Vec<(VarId, bool)>,
}

/// Why a trace is not one of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayError {
    /// The trace does not start at the entry of `main`.
    Start,
    /// A variable of this step is not in scope at its vertex.
    Scope(usize),
    /// No execution along the steps before goes on to this one with these values.
    NoExecution(usize),
    /// Too many states agree with the trace up to this step; more known values would help.
    TooManyStates(usize),
}

/// More states than this at one step (a stack of calls is part of a state), or more open variables read at once than can be split
/// within this number, are too many.
const MOST_STATES: usize = 1 << 14;

/// A value that may be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    False,
    True,
    Open,
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        if value { Value::True } else { Value::False }
    }
}

type State = Vec<Value>;

/// A state and, in the table of frames, the call that it has to return from.
type Config = (VertexId, State, Option<u32>);

/// A procedure that waits for a call to return.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Frame {
    call: EdgeId,
    state: State,
    caller: Option<u32>,
}

/// Whether the program has an execution that visits exactly these vertices with these values.
///
/// A trace shows either all vertices of kind `Exit` that it passes, or none of them but perhaps
/// the one at which it ends.
pub fn replay(program: &Program, trace: &[TraceStep]) -> Result<(), ReplayError> {
    let is_exit = |step: &TraceStep| program.vertices[step.vertex.index()].kind == VertexKind::Exit;
    let exits = match trace.split_last() {
        Some((_, before)) if before.iter().any(is_exit) => Exits::Shown,
        _ => Exits::Hidden,
    };
    let mut replay = Replay {
        program,
        layout: Layout::new(program),
        exits,
        frames: Vec::new(),
        known_frames: BTreeMap::new(),
    };
    let Some(first) = trace.first() else {
        return Ok(());
    };
    let main = &program.procedures[program.main.index()];
    if first.vertex != main.entry {
        return Err(ReplayError::Start);
    }
    let mut state = vec![Value::Open; replay.layout.size(program.main)];
    replay.known(first, 0)?;
    let agrees = replay.restrict(&mut state, first);
    let mut configs = BTreeSet::new();
    if agrees {
        for state in replay
            .allowed(program.main, state)
            .ok_or(ReplayError::TooManyStates(0))?
        {
            configs.insert((first.vertex, state, None));
        }
    }
    for (index, step) in trace.iter().enumerate() {
        if index > 0 {
            replay.known(step, index)?;
            configs = replay
                .step(configs, step)
                .ok_or(ReplayError::TooManyStates(index))?;
        }
        if configs.is_empty() {
            return Err(ReplayError::NoExecution(index));
        }
    }
    Ok(())
}

/// Whether a trace shows the ends of the procedures that it leaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exits {
    Shown,
    Hidden,
}

struct Replay<'p> {
    program: &'p Program,
    layout: Layout,
    exits: Exits,
    frames: Vec<Frame>,
    /// The position of each frame in the table, so that equal stacks are one stack.
    known_frames: BTreeMap<Frame, u32>,
}

impl Replay<'_> {
    /// Whether the values of a step are of variables in scope.
    fn known(&self, step: &TraceStep, index: usize) -> Result<(), ReplayError> {
        use crate::program::VarKind::*;
        let procedure = self.procedure(step.vertex);
        let in_scope = |v: VarId| match self.program.variables[v.index()].kind {
            Global => true,
            Formal(owner) | Local(owner) | Return(owner) => owner == procedure,
        };
        match step.values.iter().all(|&(v, _)| in_scope(v)) {
            true => Ok(()),
            false => Err(ReplayError::Scope(index)),
        }
    }

    fn procedure(&self, vertex: VertexId) -> ProcId {
        self.program.vertices[vertex.index()].procedure
    }

    /// Enters what a step knows into a state; false if they contradict each other.
    fn restrict(&self, state: &mut State, step: &TraceStep) -> bool {
        step.values.iter().all(|&(variable, value)| {
            let slot = &mut state[self.layout.slot(variable)];
            if *slot == Value::Open {
                *slot = value.into();
            }
            *slot == value.into()
        })
    }

    /// All ways from a set of configurations to a step; `None` if they are too many.
    fn step(&mut self, configs: BTreeSet<Config>, step: &TraceStep) -> Option<BTreeSet<Config>> {
        let mut result = BTreeSet::new();
        for config in configs {
            let mut next = Vec::new();
            let (vertex, state, frame) = &config;
            match (self.program.vertices[vertex.index()].kind, frame) {
                (VertexKind::Exit, None) => {}
                (VertexKind::Exit, Some(frame)) => next = self.leave(*vertex, state, *frame)?,
                _ => next = self.successors(&config)?,
            }
            if self.exits == Exits::Hidden {
                self.add_returns(&mut next)?;
            }
            for (vertex, mut state, frame) in next {
                if vertex == step.vertex && self.restrict(&mut state, step) {
                    result.insert((vertex, state, frame));
                }
            }
            if result.len() > MOST_STATES {
                return None;
            }
        }
        Some(result)
    }

    /// Adds where configurations get by returning only.
    fn add_returns(&self, configs: &mut Vec<Config>) -> Option<()> {
        let mut done = 0;
        while done < configs.len() {
            let (vertex, state, frame) = &configs[done];
            done += 1;
            if self.program.vertices[vertex.index()].kind == VertexKind::Exit
                && let Some(frame) = *frame
            {
                let further = self.leave(*vertex, state, frame)?;
                configs.extend(further);
            }
        }
        Some(())
    }

    fn leave(&self, exit: VertexId, state: &State, frame: u32) -> Option<Vec<Config>> {
        let callee = self.procedure(exit);
        let Frame {
            call,
            state: before,
            caller,
        } = &self.frames[frame as usize];
        let edge = &self.program.edges[call.index()];
        let mut after = before.clone();
        let globals = self.layout.globals();
        after[..globals].clone_from_slice(&state[..globals]);
        let Action::Call { results, .. } = self.program.action(edge) else {
            return Some(Vec::new());
        };
        let returns = &self.program.procedures[callee.index()].returns;
        // What is read here must not stay open: both copies would be open, but equal.
        let read: Vec<_> = results
            .iter()
            .zip(returns)
            .filter_map(|(t, &r)| t.and(Some(r)))
            .collect();
        let mut configs = Vec::new();
        for state in self.split(state, &read)? {
            let mut after = after.clone();
            after[..globals].clone_from_slice(&state[..globals]);
            for (target, &value) in results.iter().zip(returns) {
                if let Some(target) = target {
                    after[self.layout.slot(*target)] = state[self.layout.slot(value)];
                }
            }
            for after in self.allowed(self.procedure(edge.to), after)? {
                configs.push((edge.to, after, *caller));
            }
        }
        Some(configs)
    }

    fn successors(&mut self, (vertex, state, frame): &Config) -> Option<Vec<Config>> {
        let program = self.program;
        let mut configs = Vec::new();
        for (id, edge) in program.edges_from(*vertex) {
            let mut next = Vec::new();
            match program.action(edge) {
                Action::Skip => next.push(state.clone()),
                Action::Assume { condition, holds } => {
                    let read = self.support_of(state, &[condition]);
                    for state in self.split(state, &read)? {
                        if self.values(condition, &state, &state).contains(holds) {
                            next.push(state);
                        }
                    }
                }
                Action::Assign {
                    assignments,
                    constrain,
                } => {
                    next = self.assign(state, assignments, constrain)?;
                }
                Action::Call {
                    callee, arguments, ..
                } => {
                    configs.extend(self.enter(id, callee, arguments, state, *frame)?);
                    continue;
                }
            }
            for state in next {
                for state in self.allowed(self.procedure(edge.to), state)? {
                    configs.push((edge.to, state, *frame));
                }
            }
        }
        Some(configs)
    }

    fn enter(
        &mut self,
        call: EdgeId,
        callee: ProcId,
        arguments: &[ExprId],
        state: &State,
        frame: Option<u32>,
    ) -> Option<Vec<Config>> {
        let program = self.program;
        let procedure = &program.procedures[callee.index()];
        let mut configs = Vec::new();
        for before in self.split(state, &self.support_of(state, arguments))? {
            let mut entry = vec![Value::Open; self.layout.size(callee)];
            let globals = self.layout.globals();
            entry[..globals].clone_from_slice(&before[..globals]);
            for (&formal, &argument) in procedure.formals.iter().zip(arguments) {
                entry[self.layout.slot(formal)] = open(self.values(argument, &before, &before));
            }
            let frame = Some(self.frame(Frame {
                call,
                state: before,
                caller: frame,
            }));
            for entry in self.allowed(callee, entry)? {
                configs.push((procedure.entry, entry, frame));
            }
        }
        Some(configs)
    }

    fn frame(&mut self, frame: Frame) -> u32 {
        let next = self.frames.len() as u32;
        let id = *self.known_frames.entry(frame.clone()).or_insert(next);
        if id == next {
            self.frames.push(frame);
        }
        id
    }

    fn assign(
        &self,
        state: &State,
        assignments: &[(VarId, ExprId)],
        constrain: Option<ExprId>,
    ) -> Option<Vec<State>> {
        let exprs = &self.program.exprs;
        let values: Vec<_> = assignments.iter().map(|&(_, e)| e).collect();
        let mut read = self.support_of(state, &values);
        let mut related = Vec::new();
        if let Some(relation) = constrain {
            let (now, next) = support(exprs, relation);
            read.extend(now);
            // The next value of what is not assigned is its current one.
            let assigned = |v: &VarId| assignments.iter().any(|(target, _)| target == v);
            read.extend(next.iter().filter(|v| !assigned(v)));
            related = next;
        }
        let mut result = Vec::new();
        for before in self.split(state, &read)? {
            let mut after = before.clone();
            for &(variable, e) in assignments {
                after[self.layout.slot(variable)] = open(self.values(e, &before, &before));
            }
            // The choices of different values are independent, so any combination is possible
            // that the relation lets pass.
            for after in self.split(&after, &related)? {
                if constrain.is_none_or(|r| self.values(r, &before, &after).contains(true)) {
                    result.push(after);
                }
            }
        }
        Some(result)
    }

    /// The part of a state that meets every `enforce`.
    fn allowed(&self, procedure: ProcId, state: State) -> Option<Vec<State>> {
        let own = self.program.procedures[procedure.index()].enforce;
        let mut states = vec![state];
        for condition in [self.program.enforce, own].into_iter().flatten() {
            let read = states
                .first()
                .map(|state| self.support_of(state, &[condition]));
            let read = read.unwrap_or_default();
            let mut rest = Vec::new();
            for state in states {
                let parts = self.split(&state, &read)?;
                let holds = |s: &State| self.values(condition, s, s).contains(true);
                rest.extend(parts.into_iter().filter(holds));
            }
            states = rest;
        }
        Some(states)
    }

    /// The variables that expressions read and that may be open in a state.
    fn support_of(&self, state: &State, exprs: &[ExprId]) -> Vec<VarId> {
        // Traces say nearly everything.
        if !state.contains(&Value::Open) {
            return Vec::new();
        }
        exprs
            .iter()
            .flat_map(|&e| support(&self.program.exprs, e).0)
            .collect()
    }

    /// The states in which the given variables are no longer open.
    fn split(&self, state: &State, variables: &[VarId]) -> Option<Vec<State>> {
        let mut states = vec![state.clone()];
        for &variable in variables {
            let slot = self.layout.slot(variable);
            if states[0][slot] != Value::Open {
                continue;
            }
            if states.len() > MOST_STATES / 2 {
                return None;
            }
            let mut others = states.clone();
            states.iter_mut().for_each(|s| s[slot] = Value::False);
            others.iter_mut().for_each(|s| s[slot] = Value::True);
            states.append(&mut others);
        }
        Some(states)
    }

    /// What an expression can be. Whatever it reads must have been split.
    fn values(&self, expr: ExprId, now: &State, next: &State) -> ValueSet {
        let read = |state: &State, v: VarId| {
            let value = state[self.layout.slot(v)];
            debug_assert_ne!(value, Value::Open);
            value == Value::True
        };
        possible_values(
            &self.program.exprs,
            expr,
            |v| read(now, v),
            |v| read(next, v),
        )
    }
}

fn open(set: ValueSet) -> Value {
    match (set.contains(false), set.contains(true)) {
        (true, true) => Value::Open,
        (_, value) => value.into(),
    }
}
