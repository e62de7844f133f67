//! Systems as plain sequential circuits, in the languages that hardware model checkers read.
//!
//! The point of control becomes some latches, and which step is taken where several could be, some
//! inputs. A chosen step that cannot be taken changes nothing. All latches begin with 0: that is
//! the start, where no other bit of the state means anything yet.

use crate::system::{PointId, System};
use hardbop_circuit::{Bit, Graph, Node, NodeId, Word};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A sequential circuit with a bit that must never hold.
pub struct Sequential {
    graph: Graph,
    inputs: Vec<Bit>,
    /// What holds now, and what holds after a step.
    latches: Vec<(Bit, Bit)>,
    bad: Bit,
}

impl Sequential {
    /// The circuit of a system that must not reach some points.
    pub fn new(system: &System, targets: &[PointId]) -> Sequential {
        let mut graph = system.graph.clone();
        let state: Vec<Bit> = {
            let mut seen = FxHashSet::default();
            let all = system.points.iter().flat_map(|point| &point.state);
            all.copied().filter(|&bit| seen.insert(bit)).collect()
        };
        let known: FxHashSet<NodeId> = state.iter().map(|bit| bit.node()).collect();
        let is_input = |&id: &NodeId| graph.node(id) == Node::Input && !known.contains(&id);
        let mut inputs: Vec<Bit> = graph.ids().filter(is_input).map(NodeId::bit).collect();
        let control = graph.inputs(digits(system.points.len()));
        let mut leaving: BTreeMap<PointId, u32> = BTreeMap::new();
        let numbers: Vec<u32> = system
            .steps
            .iter()
            .map(|step| {
                let number = leaving.entry(step.from).or_default();
                *number += 1;
                *number - 1
            })
            .collect();
        let most = leaving.values().copied().max().unwrap_or(0);
        let choice = graph.inputs(digits(most as usize));
        let mut next_control = control.clone();
        let mut next: FxHashMap<Bit, Bit> = state.iter().map(|&bit| (bit, bit)).collect();
        for (step, number) in system.steps.iter().zip(numbers) {
            let here = graph.same(&control, &constant(step.from.0, control.len()));
            let chosen = graph.same(&choice, &constant(number, choice.len()));
            let taken = graph.all(&[here, chosen, step.condition]);
            let there = constant(step.to.0, control.len());
            next_control = graph.choose(taken, &there, &next_control);
            for (&bit, &value) in system.point(step.to).state.iter().zip(&step.next) {
                let before = next[&bit];
                next.insert(bit, graph.ite(taken, value, before));
            }
        }
        let at: Vec<Bit> = targets
            .iter()
            .map(|target| graph.same(&control, &constant(target.0, control.len())))
            .collect();
        let bad = graph.any(&at);
        inputs.extend(&choice);
        let mut latches: Vec<(Bit, Bit)> = control.into_iter().zip(next_control).collect();
        latches.extend(state.into_iter().map(|bit| (bit, next[&bit])));
        Sequential {
            graph,
            inputs,
            latches,
            bad,
        }
    }

    /// The ands that anything depends on, arguments before users.
    fn ands(&self) -> Vec<(NodeId, Bit, Bit)> {
        let mut needed: FxHashSet<NodeId> = FxHashSet::default();
        let next = self.latches.iter().map(|latch| latch.1.node());
        let mut work: Vec<NodeId> = next.chain([self.bad.node()]).collect();
        while let Some(id) = work.pop() {
            if let Node::And(left, right) = self.graph.node(id)
                && needed.insert(id)
            {
                work.extend([left.node(), right.node()]);
            }
        }
        let all = self.graph.ids().filter(|id| needed.contains(id));
        all.filter_map(|id| match self.graph.node(id) {
            Node::And(left, right) => Some((id, left, right)),
            _ => None,
        })
        .collect()
    }

    /// The circuit in AIGER 1.9, as text.
    pub fn aiger(&self) -> String {
        let ands = self.ands();
        let mut numbers: FxHashMap<NodeId, usize> = FxHashMap::default();
        let inputs = self.inputs.iter().map(|bit| bit.node());
        let latches = self.latches.iter().map(|latch| latch.0.node());
        let gates = ands.iter().map(|and| and.0);
        for id in inputs.chain(latches).chain(gates) {
            let number = numbers.len() + 1;
            numbers.insert(id, number);
        }
        let literal = |bit: Bit| {
            let number = numbers.get(&bit.node()).copied().unwrap_or(0);
            2 * number + usize::from(bit.is_negated())
        };
        let (inputs, latches) = (self.inputs.len(), self.latches.len());
        let most = inputs + latches + ands.len();
        let mut text = format!("aag {most} {inputs} {latches} 0 {} 1\n", ands.len());
        for &bit in &self.inputs {
            let _ = writeln!(text, "{}", literal(bit));
        }
        for &(now, next) in &self.latches {
            let _ = writeln!(text, "{} {}", literal(now), literal(next));
        }
        let _ = writeln!(text, "{}", literal(self.bad));
        for (id, left, right) in ands {
            // The larger one first, as the format asks for.
            let (one, other) = (literal(left), literal(right));
            let (one, other) = (one.max(other), one.min(other));
            let _ = writeln!(text, "{} {one} {other}", literal(id.bit()));
        }
        text
    }

    /// The circuit in BTOR2.
    pub fn btor2(&self) -> String {
        let mut lines = Lines {
            text: String::new(),
            last: 0,
        };
        let sort = lines.add("sort bitvec 1");
        let zero = lines.add(&format!("zero {sort}"));
        let mut known: FxHashMap<Bit, u32> = FxHashMap::default();
        known.insert(Bit::FALSE, zero);
        for &bit in &self.inputs {
            let line = lines.add(&format!("input {sort}"));
            known.insert(bit, line);
        }
        for &(bit, _) in &self.latches {
            let line = lines.add(&format!("state {sort}"));
            known.insert(bit, line);
            lines.add(&format!("init {sort} {line} {zero}"));
        }
        // Negations are lines of their own, made where they are first used.
        let line_of = |lines: &mut Lines, known: &mut FxHashMap<Bit, u32>, bit: Bit| {
            if let Some(&line) = known.get(&bit) {
                return line;
            }
            let line = lines.add(&format!("not {sort} {}", known[&!bit]));
            known.insert(bit, line);
            line
        };
        for (id, left, right) in self.ands() {
            let one = line_of(&mut lines, &mut known, left);
            let other = line_of(&mut lines, &mut known, right);
            let line = lines.add(&format!("and {sort} {one} {other}"));
            known.insert(id.bit(), line);
        }
        for &(now, next) in &self.latches {
            let next = line_of(&mut lines, &mut known, next);
            lines.add(&format!("next {sort} {} {next}", known[&now]));
        }
        let bad = line_of(&mut lines, &mut known, self.bad);
        lines.add(&format!("bad {bad}"));
        lines.text
    }
}

/// Numbered lines.
struct Lines {
    text: String,
    last: u32,
}

impl Lines {
    fn add(&mut self, line: &str) -> u32 {
        self.last += 1;
        let _ = writeln!(self.text, "{} {line}", self.last);
        self.last
    }
}

/// How many bits numbers below a bound have; one at least.
fn digits(bound: usize) -> usize {
    let most = bound.saturating_sub(1).max(1);
    (usize::BITS - most.leading_zeros()) as usize
}

fn constant(value: u32, width: usize) -> Word {
    (0..width)
        .map(|at| Bit::constant(value >> at & 1 == 1))
        .collect()
}
