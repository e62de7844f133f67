//! Follows a concrete run in the boolean program: every step of the run must be a step of the
//! boolean program in which every variable has the truth value of its predicate.

use hardbop_boolean_program::program::{
    Action, ExprId as BoolExpr, ProcId, Program, VarId, VertexId,
};
use hardbop_boolean_program::values::{Layout, possible_values};
use hardbop_boolean_program::{Dialect, load};
use hardbop_c2bp::BooleanProgram;
use hardbop_c2bp::predicate::{Analysed, PredicateId, Scope};
use hardbop_cfront::ids::{EdgeId, ExprId, FuncId, LocId};
use hardbop_cfront::interp::{Interpreter, Limits, Observer, Run, Script, State};
use hardbop_cfront::program::{BinaryOp, Callee, ExprKind, Op, PlaceKind};
use hardbop_diagnostics::Sources;
use std::collections::{BTreeMap, BTreeSet};

type Values = Vec<bool>;

struct Simulator<'a> {
    analysed: &'a Analysed,
    made: &'a BooleanProgram,
    program: &'a Program,
    layout: Layout,
    lines: BTreeMap<u32, VertexId>,
    line_of: BTreeMap<VertexId, u32>,
    procedures: BTreeMap<FuncId, ProcId>,
    /// The boolean variable of a predicate in a procedure.
    variables: BTreeMap<(FuncId, PredicateId), VarId>,
    frames: Vec<Frame>,
    /// The states that the current procedure may be in.
    current: BTreeSet<Values>,
    /// A call whose callee has not been seen yet.
    pending: Option<EdgeId>,
    started: bool,
    failure: Option<String>,
    pub steps: usize,
    pub known: usize,
}

struct Frame {
    function: FuncId,
    /// The call that is waiting, with the vertex and the states in which it waits.
    call: Option<(EdgeId, Vec<(VertexId, Values)>)>,
    /// What `old(e)` was at the entry.
    olds: BTreeMap<ExprId, Option<i64>>,
}

/// Runs the program on inputs and follows the run. Gives the number of steps that were compared
/// and the number of truth values that were known, or what went wrong.
pub fn follow(
    analysed: &Analysed,
    made: &BooleanProgram,
    script: Script,
) -> Result<(usize, usize, Run), String> {
    let mut sources = Sources::new();
    let file = sources.add("x.bp", made.text.clone());
    let program = load(&sources, file, Dialect::Auto)
        .program
        .ok_or("does not load")?;
    let layout = Layout::new(&program);
    let mut lines = BTreeMap::new();
    let mut line_of = BTreeMap::new();
    for (index, vertex) in program.vertices.iter().enumerate() {
        let line = sources.line(vertex.span.file, vertex.span.start);
        let id = VertexId(index as u32);
        lines.entry(line).or_insert(id);
        line_of.insert(id, line);
    }
    let mut procedures = BTreeMap::new();
    let mut variables = BTreeMap::new();
    for (&function, name) in &made.procedures {
        let index = program
            .procedures
            .iter()
            .position(|p| p.name == *name)
            .ok_or("no procedure")?;
        let id = ProcId(index as u32);
        procedures.insert(function, id);
        for predicate in analysed.visible(function) {
            let text = &analysed.predicates[predicate.index()].text;
            let found = program
                .in_scope(id)
                .find(|v| *program.variables[v.index()].name == **text)
                .ok_or_else(|| format!("no variable for {text}"))?;
            variables.insert((function, predicate), found);
        }
    }
    let entry = analysed.program.entry;
    let mut simulator = Simulator {
        analysed,
        made,
        program: &program,
        layout,
        lines,
        line_of,
        procedures,
        variables,
        frames: vec![Frame {
            function: entry,
            call: None,
            olds: BTreeMap::new(),
        }],
        current: BTreeSet::new(),
        pending: None,
        started: false,
        failure: None,
        steps: 0,
        known: 0,
    };
    let interpreter = Interpreter::new(&analysed.program);
    let limits = Limits {
        steps: 400,
        ..Limits::default()
    };
    let mut script = script;
    let run = interpreter.run_observed(&mut script, &limits, &mut simulator);
    match simulator.failure {
        Some(failure) => Err(failure),
        None => Ok((simulator.steps, simulator.known, run)),
    }
}

impl Observer for Simulator<'_> {
    fn edge(&mut self, edge: EdgeId, state: &mut State<'_, '_>) {
        if self.failure.is_none()
            && let Err(text) = self.see(edge, state)
        {
            self.failure = Some(text);
        }
    }
}

impl Simulator<'_> {
    fn see(&mut self, edge: EdgeId, state: &mut State<'_, '_>) -> Result<(), String> {
        let function = state.function();
        if !self.started {
            self.started = true;
            self.start(function)?;
        }
        if let Some(call) = self.pending.take() {
            self.enter(call, function)?;
        }
        let from = self.analysed.program.edges[edge.index()].from;
        let top = self.frames.len() - 1;
        if self.frames[top].function != function {
            return Err("the frames are out of step".to_owned());
        }
        if self.frames[top].olds.is_empty()
            && from == self.analysed.program.function(function).entry
        {
            for old in &self.analysed.olds {
                if old.function == function {
                    let value = number(self.analysed, state, old.value);
                    self.frames[top].olds.insert(old.value, value);
                }
            }
        }
        self.compare(function, state, edge)?;
        self.take(edge)
    }

    fn start(&mut self, function: FuncId) -> Result<(), String> {
        let procedure = self.procedures[&function];
        let vertex = self.program.procedures[procedure.index()].entry;
        let size = self.layout.size(procedure);
        let all = states(size)?;
        let entry = self.analysed.program.function(function).entry;
        let from: Vec<_> = all
            .into_iter()
            .filter(|values| self.allowed(procedure, values))
            .map(|values| (vertex, values))
            .collect();
        self.current = self.reach(from, self.made.locations[&entry], None);
        Ok(())
    }

    /// Keeps the states that have the truth values of the run.
    fn compare(
        &mut self,
        function: FuncId,
        state: &mut State<'_, '_>,
        edge: EdgeId,
    ) -> Result<(), String> {
        self.steps += 1;
        let mut seen = Vec::new();
        for predicate in self.analysed.visible(function) {
            if let Some(value) = self.truth(predicate, state) {
                self.known += 1;
                let variable = self.variables[&(function, predicate)];
                let slot = self.layout.slot(variable);
                self.current.retain(|values| values[slot] == value);
                seen.push(format!(
                    "{} is {value}",
                    self.analysed.predicates[predicate.index()].text
                ));
            }
        }
        if self.current.is_empty() {
            let described = &self.analysed.program.edges[edge.index()];
            return Err(format!(
                "no state of the boolean program fits before line {}: {}",
                described.source.line,
                seen.join(", ")
            ));
        }
        Ok(())
    }

    fn truth(&self, predicate: PredicateId, state: &mut State<'_, '_>) -> Option<bool> {
        let described = &self.analysed.predicates[predicate.index()];
        let program = &self.analysed.program;
        if let (Scope::Function(_), ExprKind::Binary(op, left, right)) =
            (described.scope, program.expr(described.expr).kind)
            && let ExprKind::Load(place) = program.expr(left).kind
            && let PlaceKind::Var(variable) = program.place(place).kind
            && let Some(old) = self
                .analysed
                .olds
                .iter()
                .find(|old| old.variable == variable)
        {
            let frame = self.frames.last()?;
            let left = (*frame.olds.get(&old.value)?)?;
            let right = number(self.analysed, state, right)?;
            return Some(match op {
                BinaryOp::Eq => left == right,
                BinaryOp::Le => left <= right,
                BinaryOp::Gt => left > right,
                _ => return None,
            });
        }
        if mentions_old(self.analysed, described.expr) {
            return None;
        }
        let value = state.eval(described.expr).ok()??;
        Some(value.bits != 0)
    }

    fn line(&self, location: LocId) -> u32 {
        self.made.locations[&location]
    }

    fn allowed(&self, procedure: ProcId, values: &[bool]) -> bool {
        let own = self.program.procedures[procedure.index()].enforce;
        [self.program.enforce, own]
            .into_iter()
            .flatten()
            .all(|e| self.can(e, values, true))
    }

    fn can(&self, expr: BoolExpr, values: &[bool], wanted: bool) -> bool {
        let read = |v: VarId| values[self.layout.slot(v)];
        possible_values(&self.program.exprs, expr, read, read).contains(wanted)
    }

    /// The ways on from a vertex that is no call.
    fn successors(&self, vertex: VertexId, values: &Values) -> Vec<(VertexId, Values)> {
        let procedure = self.program.vertices[vertex.index()].procedure;
        let mut out = Vec::new();
        for (_, edge) in self.program.edges_from(vertex) {
            let mut after = vec![values.clone()];
            match self.program.action(edge) {
                Action::Skip => {}
                Action::Assume { condition, holds } => {
                    if !self.can(condition, values, holds) {
                        continue;
                    }
                }
                Action::Assign { assignments, .. } => {
                    for &(variable, expr) in assignments {
                        let slot = self.layout.slot(variable);
                        let mut next = Vec::new();
                        for wanted in [false, true] {
                            if self.can(expr, values, wanted) {
                                next.extend(after.iter().cloned().map(|mut v| {
                                    v[slot] = wanted;
                                    v
                                }));
                            }
                        }
                        after = next;
                    }
                }
                Action::Call { .. } => continue,
            }
            after.retain(|v| self.allowed(procedure, v));
            out.extend(after.into_iter().map(|v| (edge.to, v)));
        }
        out
    }

    /// The states in which control arrives at a line by statements of an edge (of no edge if
    /// `None`); calls on the way are left to the caller.
    fn reach(
        &self,
        from: Vec<(VertexId, Values)>,
        line: u32,
        edge: Option<EdgeId>,
    ) -> BTreeSet<Values> {
        self.search(from, edge, |vertex| self.line_of[&vertex] == line)
            .into_iter()
            .map(|(_, values)| values)
            .collect()
    }

    fn search(
        &self,
        from: Vec<(VertexId, Values)>,
        edge: Option<EdgeId>,
        goal: impl Fn(VertexId) -> bool,
    ) -> Vec<(VertexId, Values)> {
        let mapped = |vertex: VertexId| self.made.edges.get(&self.line_of[&vertex]).copied();
        let printed = edge.is_some_and(|edge| self.made.edges.values().any(|&e| e == edge));
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        let mut pending: Vec<(VertexId, Values, bool)> = from
            .into_iter()
            .map(|(vertex, values)| (vertex, values, !printed))
            .collect();
        while let Some((vertex, values, passed)) = pending.pop() {
            if !seen.insert((vertex, values.clone(), passed)) {
                continue;
            }
            if passed && goal(vertex) {
                found.push((vertex, values));
                continue;
            }
            let own = mapped(vertex);
            if own.is_some() && own != edge {
                continue;
            }
            for (to, after) in self.successors(vertex, &values) {
                pending.push((to, after, passed || own == edge));
            }
        }
        found
    }

    /// Follows an edge.
    fn take(&mut self, edge: EdgeId) -> Result<(), String> {
        let described = &self.analysed.program.edges[edge.index()];
        let from: Vec<_> = self
            .current
            .iter()
            .map(|values| (self.lines[&self.line(described.from)], values.clone()))
            .collect();
        if let Op::Call { callee, .. } = &described.op {
            let waiting = self.calls(from, edge);
            if waiting.is_empty() {
                return Err(format!(
                    "no way to the call in line {}",
                    described.source.line
                ));
            }
            let top = self.frames.len() - 1;
            self.frames[top].call = Some((edge, waiting));
            self.pending = Some(edge);
            // A body without edges is never seen from inside.
            if let Callee::Direct(callee) = callee {
                let function = self.analysed.program.function(*callee);
                if function.entry == function.exit {
                    self.pending = None;
                    self.enter(edge, *callee)?;
                    return self.leave();
                }
            }
            return Ok(());
        }
        self.current = self.reach(from, self.line(described.to), Some(edge));
        if self.current.is_empty() {
            let text = hardbop_cfront::dump::op_text(&self.analysed.program, &described.op);
            return Err(format!(
                "no way along line {}: {text}",
                described.source.line
            ));
        }
        let function = self.analysed.program.locations[described.to.index()].function;
        if described.to == self.analysed.program.function(function).exit && self.frames.len() > 1 {
            return self.leave();
        }
        Ok(())
    }

    /// The call statements of an edge that can be reached, with their states.
    fn calls(&self, from: Vec<(VertexId, Values)>, edge: EdgeId) -> Vec<(VertexId, Values)> {
        let is_call = |vertex: VertexId| {
            self.program
                .edges_from(vertex)
                .any(|(_, edge)| self.program.callee(edge).is_some())
        };
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        let mut pending = from;
        while let Some((vertex, values)) = pending.pop() {
            if !seen.insert((vertex, values.clone())) {
                continue;
            }
            let own = self.made.edges.get(&self.line_of[&vertex]).copied();
            if own.is_some() && own != Some(edge) {
                continue;
            }
            if is_call(vertex) {
                found.push((vertex, values));
                continue;
            }
            pending.extend(self.successors(vertex, &values));
        }
        found
    }

    fn enter(&mut self, call: EdgeId, function: FuncId) -> Result<(), String> {
        let procedure = self.procedures[&function];
        let described = &self.program.procedures[procedure.index()];
        let top = self.frames.len() - 1;
        let Some((_, waiting)) = &mut self.frames[top].call else {
            return Err("a call without a caller".to_owned());
        };
        let program = self.program;
        let calls = |vertex: VertexId| {
            program
                .edges_from(vertex)
                .any(|(_, edge)| program.callee(edge) == Some(procedure))
        };
        waiting.retain(|(vertex, _)| calls(*vertex));
        let waiting = waiting.clone();
        let size = self.layout.size(procedure);
        let globals = self.layout.globals();
        let mut entered = BTreeSet::new();
        for (vertex, values) in &waiting {
            for (_, edge) in program.edges_from(*vertex) {
                let Action::Call { arguments, .. } = program.action(edge) else {
                    continue;
                };
                let mut partial = vec![values[..globals].to_vec()];
                for &argument in arguments {
                    let mut next = Vec::new();
                    for wanted in [false, true] {
                        if self.can(argument, values, wanted) {
                            next.extend(partial.iter().cloned().map(|mut v: Values| {
                                v.push(wanted);
                                v
                            }));
                        }
                    }
                    partial = next;
                }
                let rest = states(size - globals - arguments.len())?;
                for start in &partial {
                    for tail in &rest {
                        let mut all = start.clone();
                        all.extend(tail);
                        if self.allowed(procedure, &all) {
                            entered.insert(all);
                        }
                    }
                }
            }
        }
        let from: Vec<_> = entered
            .into_iter()
            .map(|values| (described.entry, values))
            .collect();
        let entry = self.analysed.program.function(function).entry;
        self.frames.push(Frame {
            function,
            call: None,
            olds: BTreeMap::new(),
        });
        self.current = self.reach(from, self.line(entry), None);
        if self.current.is_empty() {
            let line = self.analysed.program.edges[call.index()].source.line;
            return Err(format!("the call in line {line} cannot be entered"));
        }
        Ok(())
    }

    /// Returns from the current procedure; `current` is at its exit.
    fn leave(&mut self) -> Result<(), String> {
        let Some(frame) = self.frames.pop() else {
            return Err("no frame".to_owned());
        };
        let procedure = self.procedures[&frame.function];
        let exit = self.program.procedures[procedure.index()].exit;
        let location = self.analysed.program.function(frame.function).exit;
        let from: Vec<_> = self
            .current
            .iter()
            .map(|values| (self.lines[&self.line(location)], values.clone()))
            .collect();
        let left = self.search(from, None, |vertex| vertex == exit);
        let top = self.frames.len() - 1;
        let Some((call, waiting)) = self.frames[top].call.take() else {
            return Err("a return without a call".to_owned());
        };
        let globals = self.layout.globals();
        let returns = &self.program.procedures[procedure.index()].returns;
        let caller = self.procedures[&self.frames[top].function];
        let mut back = Vec::new();
        for (vertex, values) in &waiting {
            for (_, edge) in self.program.edges_from(*vertex) {
                let Action::Call { results, .. } = self.program.action(edge) else {
                    continue;
                };
                for (_, inside) in &left {
                    let mut after = values.clone();
                    after[..globals].copy_from_slice(&inside[..globals]);
                    for (target, &value) in results.iter().zip(returns) {
                        if let Some(target) = target {
                            after[self.layout.slot(*target)] = inside[self.layout.slot(value)];
                        }
                    }
                    if self.allowed(caller, &after) {
                        back.push((edge.to, after));
                    }
                }
            }
        }
        let described = &self.analysed.program.edges[call.index()];
        // The statements after the call are the edge's too, if there are any.
        let line = self.line(described.to);
        let arrived = self.arrive(back, line, call);
        if arrived.is_empty() {
            return Err(format!(
                "no way back from the call in line {}",
                described.source.line
            ));
        }
        self.current = arrived;
        let function = self.frames[top].function;
        if described.to == self.analysed.program.function(function).exit && self.frames.len() > 1 {
            return self.leave();
        }
        Ok(())
    }

    /// From right after a call to the location after it.
    fn arrive(&self, from: Vec<(VertexId, Values)>, line: u32, call: EdgeId) -> BTreeSet<Values> {
        let mut seen = BTreeSet::new();
        let mut found = BTreeSet::new();
        let mut pending = from;
        while let Some((vertex, values)) = pending.pop() {
            if !seen.insert((vertex, values.clone())) {
                continue;
            }
            if self.line_of[&vertex] == line {
                found.insert(values);
                continue;
            }
            let own = self.made.edges.get(&self.line_of[&vertex]).copied();
            if own.is_none() || own == Some(call) {
                pending.extend(self.successors(vertex, &values));
            }
        }
        found
    }
}

/// What is said of a procedure with more variables than all states can be listed of.
pub const TOO_LARGE: &str = "too many variables to list their states";

fn states(size: usize) -> Result<Vec<Values>, String> {
    if size > 14 {
        return Err(TOO_LARGE.to_owned());
    }
    Ok((0..1u32 << size)
        .map(|bits| (0..size).map(|i| bits >> i & 1 == 1).collect())
        .collect())
}

fn number(analysed: &Analysed, state: &mut State<'_, '_>, expr: ExprId) -> Option<i64> {
    let value = state.eval(expr).ok()??;
    let types = &analysed.program.types;
    let width = types.bit_width(value.ty)?;
    let shift = 128 - width;
    Some(match types.is_signed(value.ty) {
        true => (((value.bits << shift) as i128) >> shift) as i64,
        false => value.bits as i64,
    })
}

fn mentions_old(analysed: &Analysed, expr: ExprId) -> bool {
    hardbop_c_text::print::text(&analysed.program, expr).contains("old(")
}
