//! An explicit-state tabulation: pairs of entry state and current state, to a fixpoint, by brute
//! force. Written for tests only, and sharing nothing with what it is to judge.

use hardbop_boolean_program::program::*;
use std::collections::{BTreeMap, BTreeSet};

/// The values of the variables in scope.
pub type State = Vec<bool>;

/// A vertex, the entry state of its procedure, and the current state.
type Pair = (u32, State, State);

struct Tabulation<'p> {
    program: &'p Program,
    slots: BTreeMap<VarId, usize>,
    pairs: BTreeSet<Pair>,
    /// By callee and entry state: who called it, from which entry and current state.
    callers: BTreeMap<(ProcId, State), BTreeSet<Pair>>,
    exits: BTreeMap<(ProcId, State), BTreeSet<State>>,
    work: Vec<Pair>,
}

/// The vertices that can be reached.
pub fn tabulate(program: &Program) -> BTreeSet<u32> {
    let mut slots = BTreeMap::new();
    for id in 0..program.procedures.len() {
        for (slot, variable) in program.in_scope(ProcId(id as u32)).enumerate() {
            slots.insert(variable, slot);
        }
    }
    let mut table = Tabulation {
        program,
        slots,
        pairs: BTreeSet::new(),
        callers: BTreeMap::new(),
        exits: BTreeMap::new(),
        work: Vec::new(),
    };
    let main = program.main;
    let entry = program.procedures[main.index()].entry.0;
    for state in all_states(program.in_scope(main).count()) {
        table.add(main, entry, state.clone(), state);
    }
    while let Some((vertex, entry, now)) = table.work.pop() {
        table.visit(vertex, entry, now);
    }
    table.pairs.into_iter().map(|(vertex, ..)| vertex).collect()
}

fn all_states(size: usize) -> Vec<State> {
    (0..1u32 << size)
        .map(|bits| (0..size).map(|i| bits >> i & 1 == 1).collect())
        .collect()
}

impl Tabulation<'_> {
    fn add(&mut self, procedure: ProcId, vertex: u32, entry: State, now: State) {
        let own = self.program.procedures[procedure.index()].enforce;
        for condition in [self.program.enforce, own].into_iter().flatten() {
            if !self.can_be(condition, &now, &now).contains(&true) {
                return;
            }
        }
        if self.pairs.insert((vertex, entry.clone(), now.clone())) {
            self.work.push((vertex, entry, now));
        }
    }

    fn visit(&mut self, vertex: u32, entry: State, now: State) {
        let program = self.program;
        let id = VertexId(vertex);
        let owner = program.vertices[id.index()].procedure;
        if program.vertices[id.index()].kind == VertexKind::Exit {
            let key = (owner, entry.clone());
            if self
                .exits
                .entry(key.clone())
                .or_default()
                .insert(now.clone())
            {
                for (call, entry, before) in self.callers.get(&key).cloned().unwrap_or_default() {
                    self.resume(call, entry, before, &now);
                }
            }
            return;
        }
        for (_, edge) in program.edges_from(id) {
            match program.action(edge) {
                Action::Skip => self.add(owner, edge.to.0, entry.clone(), now.clone()),
                Action::Assume { condition, holds } => {
                    if self.can_be(condition, &now, &now).contains(&holds) {
                        self.add(owner, edge.to.0, entry.clone(), now.clone());
                    }
                }
                Action::Assign {
                    assignments,
                    constrain,
                } => {
                    let mut results = vec![now.clone()];
                    for &(variable, e) in assignments {
                        let values = self.can_be(e, &now, &now);
                        results = results
                            .iter()
                            .flat_map(|state| {
                                values.iter().map(|&v| {
                                    let mut state = state.clone();
                                    state[self.slots[&variable]] = v;
                                    state
                                })
                            })
                            .collect();
                    }
                    for next in results {
                        let passes = |r| self.can_be(r, &now, &next).contains(&true);
                        if constrain.is_none_or(passes) {
                            self.add(owner, edge.to.0, entry.clone(), next);
                        }
                    }
                }
                Action::Call {
                    callee, arguments, ..
                } => {
                    let size = program.in_scope(callee).count();
                    let formals = &program.procedures[callee.index()].formals;
                    for start in all_states(size) {
                        let globals = program.globals.len();
                        let fits = start[..globals] == now[..globals]
                            && formals.iter().zip(arguments).all(|(f, &a)| {
                                self.can_be(a, &now, &now).contains(&start[self.slots[f]])
                            });
                        if !fits {
                            continue;
                        }
                        let caller = (vertex, entry.clone(), now.clone());
                        let key = (callee, start.clone());
                        if self.callers.entry(key.clone()).or_default().insert(caller) {
                            for exit in self.exits.get(&key).cloned().unwrap_or_default() {
                                self.resume(vertex, entry.clone(), now.clone(), &exit);
                            }
                        }
                        let first = program.procedures[callee.index()].entry.0;
                        self.add(callee, first, start.clone(), start);
                    }
                }
            }
        }
    }

    fn resume(&mut self, call: u32, entry: State, mut now: State, exit: &State) {
        let owner = self.program.vertices[call as usize].procedure;
        let edge = &self.program.edges[self.program.vertices[call as usize].edges.start as usize];
        let Action::Call {
            callee, results, ..
        } = self.program.action(edge)
        else {
            unreachable!()
        };
        let globals = self.program.globals.len();
        now[..globals].clone_from_slice(&exit[..globals]);
        for (target, value) in results
            .iter()
            .zip(&self.program.procedures[callee.index()].returns)
        {
            if let Some(target) = target {
                now[self.slots[target]] = exit[self.slots[value]];
            }
        }
        self.add(owner, edge.to.0, entry, now);
    }

    /// All values of an expression, by trying all choices.
    fn can_be(&self, e: ExprId, now: &State, next: &State) -> BTreeSet<bool> {
        let choices = self.count_choices(e);
        (0..1u64 << choices)
            .map(|bits| self.eval(e, now, next, &mut { bits }))
            .collect()
    }

    fn count_choices(&self, e: ExprId) -> u32 {
        match self.program.exprs.node(e) {
            Node::Choice => 1,
            Node::Not(a) => self.count_choices(a),
            Node::Binary(_, a, b) => self.count_choices(a) + self.count_choices(b),
            Node::Choose(a, b) => 1 + self.count_choices(a) + self.count_choices(b),
            _ => 0,
        }
    }

    fn eval(&self, e: ExprId, now: &State, next: &State, bits: &mut u64) -> bool {
        let choose = |bits: &mut u64| {
            let bit = *bits & 1 == 1;
            *bits >>= 1;
            bit
        };
        match self.program.exprs.node(e) {
            Node::Const(value) => value,
            Node::Var(v) => now[self.slots[&v]],
            Node::Next(v) => next[self.slots[&v]],
            Node::Choice => choose(bits),
            Node::Not(a) => !self.eval(a, now, next, bits),
            Node::Binary(op, a, b) => {
                let a = self.eval(a, now, next, bits);
                op.apply(a, self.eval(b, now, next, bits))
            }
            Node::Choose(a, b) => {
                let a = self.eval(a, now, next, bits);
                let b = self.eval(b, now, next, bits);
                let free = choose(bits);
                a || (!b && free)
            }
        }
    }
}
