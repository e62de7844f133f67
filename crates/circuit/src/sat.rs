//! Questions about bits of a graph, to an incremental SAT solver.
//!
//! Of a graph the solver is told what it is asked about, and what that depends on, when it is
//! first asked about it.

use crate::graph::{Bit, Graph, Node, NodeId};
use hardbop_budget::Budget;
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// What the solver says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There is a model.
    Sat,
    /// There is none.
    Unsat,
    /// It was stopped before it knew.
    Stopped,
}

/// An incremental SAT solver over the bits of one graph.
pub struct Sat {
    solver: cadical::Solver<Watch>,
    variables: FxHashMap<NodeId, i32>,
    last: i32,
    assumed: Vec<(i32, Bit)>,
    /// An assumption that is never true, alone or with another one.
    contradiction: Option<Vec<Bit>>,
}

/// Looks at the clock while the solver works.
struct Watch {
    deadline: Option<Instant>,
    budget: Budget,
    calls: u32,
}

impl cadical::Callbacks for Watch {
    fn terminate(&mut self) -> bool {
        self.calls = self.calls.wrapping_add(1);
        self.calls.is_multiple_of(16)
            && (self.budget.check().is_err()
                || self.deadline.is_some_and(|end| Instant::now() >= end))
    }
}

impl Default for Sat {
    fn default() -> Sat {
        Sat {
            solver: cadical::Solver::new(),
            variables: FxHashMap::default(),
            last: 0,
            assumed: Vec::new(),
            contradiction: None,
        }
    }
}

impl Sat {
    /// A solver that knows nothing.
    pub fn new() -> Sat {
        Sat::default()
    }

    fn fresh(&mut self) -> i32 {
        self.last += 1;
        self.last
    }

    /// A truth value that belongs to no graph: a switch for clauses.
    pub fn switch(&mut self) -> Switch {
        Switch(self.fresh())
    }

    /// The solver's literal for a bit that is not constant.
    fn literal(&mut self, graph: &Graph, bit: Bit) -> i32 {
        self.encode(graph, bit.node());
        let variable = self.variables[&bit.node()];
        if bit.is_negated() { -variable } else { variable }
    }

    /// Tells the solver what a node depends on.
    fn encode(&mut self, graph: &Graph, root: NodeId) {
        if self.variables.contains_key(&root) {
            return;
        }
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            if self.variables.contains_key(&id) {
                continue;
            }
            let node = graph.node(id);
            let choice = graph.choice(id);
            let parts: [Option<Bit>; 3] = match (node, choice) {
                (_, Some((condition, then, otherwise))) => {
                    [Some(condition), Some(then), Some(otherwise)]
                }
                (Node::And(left, right), _) => [Some(left), Some(right), None],
                _ => [None; 3],
            };
            let before = stack.len();
            stack.push(id);
            let open = parts.iter().flatten().map(|bit| bit.node());
            stack.extend(open.filter(|part| !self.variables.contains_key(part)));
            if stack.len() > before + 1 {
                continue;
            }
            stack.pop();
            let own = self.fresh();
            self.variables.insert(id, own);
            let of = |bit: Bit| {
                let variable = self.variables[&bit.node()];
                if bit.is_negated() { -variable } else { variable }
            };
            match (node, choice) {
                (_, Some((condition, then, otherwise))) => {
                    let (c, t, e) = (of(condition), of(then), of(otherwise));
                    self.solver.add_clause([-own, -c, t]);
                    self.solver.add_clause([own, -c, -t]);
                    self.solver.add_clause([-own, c, e]);
                    self.solver.add_clause([own, c, -e]);
                    if t != -e {
                        self.solver.add_clause([-own, t, e]);
                        self.solver.add_clause([own, -t, -e]);
                    }
                }
                (Node::And(left, right), _) => {
                    let (a, b) = (of(left), of(right));
                    self.solver.add_clause([-own, a]);
                    self.solver.add_clause([-own, b]);
                    self.solver.add_clause([own, -a, -b]);
                }
                (Node::False, _) => self.solver.add_clause([-own]),
                (Node::Input, _) => {}
            }
        }
    }

    /// At least one of these holds, always.
    pub fn clause(&mut self, graph: &Graph, bits: &[Bit]) {
        self.clause_under(graph, bits, &[]);
    }

    /// At least one of these holds when all of the switches are on.
    pub fn clause_under(&mut self, graph: &Graph, bits: &[Bit], switches: &[Switch]) {
        if bits.contains(&Bit::TRUE) {
            return;
        }
        let mut clause: Vec<i32> = switches.iter().map(|switch| -switch.0).collect();
        for &bit in bits {
            if bit != Bit::FALSE {
                clause.push(self.literal(graph, bit));
            }
        }
        self.solver.add_clause(clause);
    }

    /// Turns a switch off for ever.
    pub fn drop_switch(&mut self, switch: Switch) {
        self.solver.add_clause([-switch.0]);
    }

    /// Whether all of these can hold together, with the switches on.
    pub fn check(
        &mut self,
        graph: &Graph,
        bits: &[Bit],
        switches: &[Switch],
        time: Option<Duration>,
        budget: &Budget,
    ) -> Outcome {
        self.assumed.clear();
        self.contradiction = None;
        for &bit in bits {
            match bit.known() {
                Some(true) => {}
                Some(false) => {
                    self.contradiction = Some(vec![bit]);
                    return Outcome::Unsat;
                }
                None => {
                    let literal = self.literal(graph, bit);
                    self.assumed.push((literal, bit));
                }
            }
        }
        if budget.check().is_err() {
            return Outcome::Stopped;
        }
        self.solver.set_callbacks(Some(Watch {
            deadline: time.map(|time| Instant::now() + time),
            budget: budget.clone(),
            calls: 0,
        }));
        let own = self.assumed.iter().map(|&(literal, _)| literal);
        let assumptions: Vec<i32> = switches.iter().map(|switch| switch.0).chain(own).collect();
        match self.solver.solve_with(assumptions) {
            Some(true) => Outcome::Sat,
            Some(false) => Outcome::Unsat,
            None => Outcome::Stopped,
        }
    }

    /// After [`Outcome::Unsat`]: those of the assumed bits that suffice for it.
    pub fn core(&self) -> Vec<Bit> {
        if let Some(core) = &self.contradiction {
            return core.clone();
        }
        let failed = self
            .assumed
            .iter()
            .filter(|(literal, _)| self.solver.failed(*literal));
        failed.map(|&(_, bit)| bit).collect()
    }

    /// After [`Outcome::Sat`]: the value of a bit in the model, if the solver was told of it.
    pub fn value(&self, bit: Bit) -> Option<bool> {
        if let Some(known) = bit.known() {
            return Some(known);
        }
        let variable = *self.variables.get(&bit.node())?;
        let value = self.solver.value(variable).unwrap_or(false);
        Some(value != bit.is_negated())
    }
}

/// A truth value that belongs to no graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Switch(i32);
