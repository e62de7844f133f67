//! The reference: tabulation over concrete states, one at a time (Reps, Horwitz, Sagiv).
//!
//! It shares nothing with the checker: states are bit masks over the variables in scope,
//! expressions are evaluated by going through all outcomes of their choices, there are no slots,
//! no live ranges and no MOD/REF.

use hardbop_boolean_program::program::{
    Action, EdgeId, ExprId, Node, ProcId, Program, VarId, VertexId,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

type State = u64;

/// A path edge: the state in which the procedure was entered, where execution is, the state now.
type PathEdge = (State, VertexId, State);

/// What tabulation found out.
pub struct Tabulation {
    /// The length of the shortest hierarchical trajectory to each reachable vertex: edges within
    /// procedures, entries into callees and steps over whole calls each count one.
    pub distance: BTreeMap<VertexId, u32>,
    /// The states in which each vertex is reached.
    pub states: BTreeMap<VertexId, BTreeSet<State>>,
}

struct Machine<'p> {
    program: &'p Program,
    /// The bit of each variable.
    bit: HashMap<VarId, u32>,
}

/// Tabulates a program; `None` if it has more path edges than `most`.
pub fn tabulate(program: &Program, most: usize) -> Option<Tabulation> {
    let mut bit = HashMap::new();
    for procedure in 0..program.procedures.len() {
        for (place, var) in program.in_scope(ProcId(procedure as u32)).enumerate() {
            bit.insert(var, place as u32);
        }
    }
    let machine = Machine { program, bit };
    let summaries = machine.summaries(most)?;
    Some(machine.distances(&summaries))
}

/// By callee and entry state, the exit states.
type Summaries = HashMap<(ProcId, State), BTreeSet<State>>;

impl Machine<'_> {
    fn value(&self, state: State, var: VarId) -> bool {
        state >> self.bit[&var] & 1 != 0
    }

    fn with(&self, state: State, var: VarId, value: bool) -> State {
        let mask = 1 << self.bit[&var];
        if value { state | mask } else { state & !mask }
    }

    /// The values that an expression may have: the outcome for every string of choices.
    fn outcomes(&self, expr: ExprId, now: State, next: &dyn Fn(VarId) -> bool) -> BTreeSet<bool> {
        let mut found = BTreeSet::new();
        let mut script: Vec<bool> = Vec::new();
        loop {
            let mut used = 0;
            found.insert(self.evaluate(expr, now, next, &mut script, &mut used));
            script.truncate(used);
            while script.last() == Some(&true) {
                script.pop();
            }
            match script.last_mut() {
                Some(last) => *last = true,
                None => return found,
            }
        }
    }

    fn evaluate(
        &self,
        expr: ExprId,
        now: State,
        next: &dyn Fn(VarId) -> bool,
        script: &mut Vec<bool>,
        used: &mut usize,
    ) -> bool {
        let mut choose = |script: &mut Vec<bool>| {
            if *used == script.len() {
                script.push(false);
            }
            *used += 1;
            script[*used - 1]
        };
        match self.program.exprs.node(expr) {
            Node::Const(value) => value,
            Node::Var(var) => self.value(now, var),
            Node::Next(var) => next(var),
            Node::Choice => choose(script),
            Node::Not(a) => !self.evaluate(a, now, next, script, used),
            Node::Binary(op, a, b) => {
                let a = self.evaluate(a, now, next, script, used);
                let b = self.evaluate(b, now, next, script, used);
                op.apply(a, b)
            }
            Node::Choose(a, b) => {
                let a = self.evaluate(a, now, next, script, used);
                let b = self.evaluate(b, now, next, script, used);
                if a {
                    true
                } else if b {
                    false
                } else {
                    if *used == script.len() {
                        script.push(false);
                    }
                    *used += 1;
                    script[*used - 1]
                }
            }
        }
    }

    fn may(&self, expr: ExprId, state: State) -> BTreeSet<bool> {
        self.outcomes(expr, state, &|_| unreachable!("no next values here"))
    }

    /// Whether the state is one that `enforce` allows.
    fn allowed(&self, procedure: ProcId, state: State) -> bool {
        let own = self.program.procedures[procedure.index()].enforce;
        let all = [self.program.enforce, own];
        all.into_iter()
            .flatten()
            .all(|enforce| self.may(enforce, state).contains(&true))
    }

    /// All ways to give these variables values that the expressions may have.
    fn assign(&self, onto: State, from: State, pairs: &[(VarId, ExprId)]) -> Vec<State> {
        let mut states = vec![onto];
        for &(var, expr) in pairs {
            let values = self.may(expr, from);
            let each = |state: State| {
                values
                    .iter()
                    .map(move |&value| (state, value))
                    .collect::<Vec<_>>()
            };
            states = states
                .into_iter()
                .flat_map(each)
                .map(|(state, value)| self.with(state, var, value))
                .collect();
        }
        states
    }

    fn procedure_of(&self, vertex: VertexId) -> ProcId {
        self.program.vertices[vertex.index()].procedure
    }

    /// Where an edge that is no call leads.
    fn successors(&self, edge: EdgeId, state: State) -> Vec<State> {
        let edge = &self.program.edges[edge.index()];
        let procedure = self.procedure_of(edge.from);
        let mut states = match self.program.action(edge) {
            Action::Skip => vec![state],
            Action::Assume { condition, holds } => {
                if self.may(condition, state).contains(&holds) {
                    vec![state]
                } else {
                    Vec::new()
                }
            }
            Action::Assign {
                assignments,
                constrain,
            } => {
                let mut states = self.assign(state, state, assignments);
                if let Some(constrain) = constrain {
                    states.retain(|&after| {
                        let next = |var| self.value(after, var);
                        self.outcomes(constrain, state, &next).contains(&true)
                    });
                }
                states
            }
            Action::Call { .. } => unreachable!("calls are not followed here"),
        };
        states.retain(|&state| self.allowed(procedure, state));
        states
    }

    fn globals_mask(&self) -> State {
        self.program
            .globals
            .iter()
            .fold(0, |mask, var| mask | 1 << self.bit[var])
    }

    /// All values for variables that have none yet.
    fn any(&self, state: State, vars: &[VarId]) -> Vec<State> {
        let mut states = vec![state];
        for &var in vars {
            let more: Vec<State> = states.iter().map(|&s| self.with(s, var, true)).collect();
            states.extend(more);
        }
        states
    }

    /// The states in which a procedure starts, given its globals and formals.
    fn starts(&self, procedure: ProcId, state: State) -> Vec<State> {
        let own = &self.program.procedures[procedure.index()];
        let unset: Vec<VarId> = own.locals.iter().chain(&own.returns).copied().collect();
        let mut states = self.any(state, &unset);
        states.retain(|&state| self.allowed(procedure, state));
        states
    }

    fn main_starts(&self) -> Vec<State> {
        let main = &self.program.procedures[self.program.main.index()];
        let inputs: Vec<VarId> = self
            .program
            .globals
            .iter()
            .chain(&main.formals)
            .copied()
            .collect();
        self.any(0, &inputs)
    }

    /// The globals and formals with which a call enters its callee.
    fn entries(&self, edge: EdgeId, state: State) -> (ProcId, Vec<State>) {
        let Action::Call {
            callee, arguments, ..
        } = self.program.action(&self.program.edges[edge.index()])
        else {
            unreachable!("only for calls")
        };
        let formals = &self.program.procedures[callee.index()].formals;
        let pairs: Vec<_> = formals
            .iter()
            .copied()
            .zip(arguments.iter().copied())
            .collect();
        (
            callee,
            self.assign(state & self.globals_mask(), state, &pairs),
        )
    }

    /// The state after a call that ended in `exit`, if `enforce` allows it.
    fn returned(&self, edge: EdgeId, before: State, exit: State) -> Option<State> {
        let edge = &self.program.edges[edge.index()];
        let Action::Call {
            callee, results, ..
        } = self.program.action(edge)
        else {
            unreachable!("only for calls")
        };
        let globals = self.globals_mask();
        let mut after = before & !globals | exit & globals;
        let returns = &self.program.procedures[callee.index()].returns;
        for (target, &value) in results.iter().zip(returns) {
            if let Some(target) = target {
                after = self.with(after, *target, self.value(exit, value));
            }
        }
        self.allowed(self.procedure_of(edge.from), after)
            .then_some(after)
    }

    fn is_call(&self, edge: EdgeId) -> bool {
        self.program
            .callee(&self.program.edges[edge.index()])
            .is_some()
    }

    fn summaries(&self, most: usize) -> Option<Summaries> {
        let mut seen: HashSet<PathEdge> = HashSet::new();
        let mut work: Vec<PathEdge> = Vec::new();
        let mut summaries = Summaries::new();
        let mut waiting: HashMap<(ProcId, State), Vec<(PathEdge, EdgeId)>> = HashMap::new();
        let entry = |procedure: ProcId| self.program.procedures[procedure.index()].entry;
        for key in self.main_starts() {
            for state in self.starts(self.program.main, key) {
                work.push((key, entry(self.program.main), state));
            }
        }
        while let Some(path_edge) = work.pop() {
            if !seen.insert(path_edge) {
                continue;
            }
            if seen.len() > most {
                return None;
            }
            let (key, vertex, state) = path_edge;
            let procedure = self.procedure_of(vertex);
            if vertex == self.program.procedures[procedure.index()].exit
                && summaries.entry((procedure, key)).or_default().insert(state)
            {
                for &((key, _, before), call) in
                    waiting.get(&(procedure, key)).into_iter().flatten()
                {
                    let to = self.program.edges[call.index()].to;
                    work.extend(
                        self.returned(call, before, state)
                            .map(|after| (key, to, after)),
                    );
                }
            }
            for (edge, _) in self.program.edges_from(vertex) {
                let to = self.program.edges[edge.index()].to;
                if !self.is_call(edge) {
                    let states = self.successors(edge, state);
                    work.extend(states.into_iter().map(|state| (key, to, state)));
                    continue;
                }
                let (callee, entries) = self.entries(edge, state);
                for callee_key in entries {
                    for start in self.starts(callee, callee_key) {
                        work.push((callee_key, entry(callee), start));
                    }
                    waiting
                        .entry((callee, callee_key))
                        .or_default()
                        .push((path_edge, edge));
                    for &exit in summaries.get(&(callee, callee_key)).into_iter().flatten() {
                        work.extend(self.returned(edge, state, exit).map(|s| (key, to, s)));
                    }
                }
            }
        }
        Some(summaries)
    }

    /// Breadth first, with all summaries known.
    fn distances(&self, summaries: &Summaries) -> Tabulation {
        let mut seen: HashSet<PathEdge> = HashSet::new();
        let mut queue: VecDeque<(PathEdge, u32)> = VecDeque::new();
        let mut result = Tabulation {
            distance: BTreeMap::new(),
            states: BTreeMap::new(),
        };
        let entry = |procedure: ProcId| self.program.procedures[procedure.index()].entry;
        for key in self.main_starts() {
            for state in self.starts(self.program.main, key) {
                queue.push_back(((key, entry(self.program.main), state), 0));
            }
        }
        while let Some((path_edge, distance)) = queue.pop_front() {
            if !seen.insert(path_edge) {
                continue;
            }
            let (key, vertex, state) = path_edge;
            result.distance.entry(vertex).or_insert(distance);
            result.states.entry(vertex).or_default().insert(state);
            let next = distance + 1;
            for (edge, _) in self.program.edges_from(vertex) {
                let to = self.program.edges[edge.index()].to;
                if !self.is_call(edge) {
                    for state in self.successors(edge, state) {
                        queue.push_back(((key, to, state), next));
                    }
                    continue;
                }
                let (callee, entries) = self.entries(edge, state);
                for callee_key in entries {
                    for start in self.starts(callee, callee_key) {
                        queue.push_back(((callee_key, entry(callee), start), next));
                    }
                    for &exit in summaries.get(&(callee, callee_key)).into_iter().flatten() {
                        if let Some(state) = self.returned(edge, state, exit) {
                            queue.push_back(((key, to, state), next));
                        }
                    }
                }
            }
        }
        result
    }
}
