//! Bits of the state that have one value whenever control is at a point.
//!
//! All executions are followed at once with three values for a bit: no, yes and either. What is
//! found is inductive by itself: a step from states that agree with it leads to such states. Words
//! that hold few small numbers lose most of their bits here, before anything is searched.

use crate::system::{Cube, Literal, PointId, StepId, System};
use hardbop_budget::{Budget, Stopped};
use hardbop_circuit::{Bit, Graph, Node, NodeId};
use std::collections::BTreeSet;

/// The value of every bit of the state at a point, where it has only one.
#[derive(Clone, Debug, Default)]
pub struct Constants {
    at: Vec<Vec<Option<bool>>>,
    /// Whether control may come there.
    reached: Vec<bool>,
}

impl Constants {
    /// The bits that have one value, as far as three values tell.
    pub fn new(system: &System, budget: &Budget) -> Result<Constants, Stopped> {
        let mut leaving: Vec<Vec<StepId>> = vec![Vec::new(); system.points.len()];
        for (index, step) in system.steps.iter().enumerate() {
            leaving[step.from.index()].push(StepId(index as u32));
        }
        let mut at: Vec<Option<Vec<Option<bool>>>> = vec![None; system.points.len()];
        at[System::START.index()] = Some(Vec::new());
        let mut values = Values::new(&system.graph);
        let mut work = BTreeSet::from([System::START]);
        while let Some(point) = work.pop_first() {
            budget.check()?;
            let Some(here) = at[point.index()].clone() else {
                continue;
            };
            values.forget();
            let state = &system.point(point).state;
            for (bit, value) in state.iter().zip(here) {
                values.set(bit.node(), value);
            }
            for &step in &leaving[point.index()] {
                let step = system.step(step);
                if values.of(step.condition) == Some(false) {
                    continue;
                }
                let next = step.next.iter().map(|&bit| values.of(bit)).collect();
                if meet(&mut at[step.to.index()], next) {
                    work.insert(step.to);
                }
            }
        }
        let reached = at.iter().map(Option::is_some).collect();
        let all = at.into_iter().zip(&system.points);
        let at = all.map(|(at, point)| at.unwrap_or_else(|| vec![None; point.state.len()]));
        Ok(Constants {
            at: at.collect(),
            reached,
        })
    }

    /// Nothing is known.
    pub fn none(system: &System) -> Constants {
        let points = system.points.iter();
        Constants {
            at: points.map(|point| vec![None; point.state.len()]).collect(),
            reached: vec![true; system.points.len()],
        }
    }

    /// Whether control may come to a point.
    pub fn is_reached(&self, point: PointId) -> bool {
        self.reached[point.index()]
    }

    /// The value of the bit at a position of a point, if it has only one.
    pub fn value(&self, point: PointId, position: usize) -> Option<bool> {
        let here = &self.at[point.index()];
        here.get(position).copied().flatten()
    }

    /// All bits that have one value at a point.
    pub fn cube(&self, point: PointId) -> Cube {
        let here = self.at[point.index()].iter().enumerate();
        here.filter_map(|(position, value)| Some(Literal::new(position, (*value)?)))
            .collect()
    }
}

/// Takes up another state. Says whether anything is new.
fn meet(known: &mut Option<Vec<Option<bool>>>, next: Vec<Option<bool>>) -> bool {
    let Some(known) = known else {
        *known = Some(next);
        return true;
    };
    let mut changed = false;
    for (known, next) in known.iter_mut().zip(next) {
        if known.is_some() && *known != next {
            *known = None;
            changed = true;
        }
    }
    changed
}

/// The values of nodes, as far as they follow from those of some inputs.
pub(crate) struct Values<'a> {
    graph: &'a Graph,
    values: Vec<Option<bool>>,
    /// In which turn a value was found.
    found: Vec<u32>,
    turn: u32,
}

impl<'a> Values<'a> {
    pub(crate) fn new(graph: &'a Graph) -> Values<'a> {
        Values {
            graph,
            values: vec![None; graph.len()],
            found: vec![0; graph.len()],
            turn: 0,
        }
    }

    /// Begins anew: of no input anything is known.
    pub(crate) fn forget(&mut self) {
        self.turn += 1;
    }

    pub(crate) fn set(&mut self, node: NodeId, value: Option<bool>) {
        self.values[node.index()] = value;
        self.found[node.index()] = self.turn;
    }

    fn is_found(&self, node: NodeId) -> bool {
        self.found[node.index()] == self.turn
    }

    /// The value of a bit that was found.
    fn known(&self, bit: Bit) -> Option<bool> {
        let value = self.values[bit.node().index()]?;
        Some(value != bit.is_negated())
    }

    pub(crate) fn of(&mut self, bit: Bit) -> Option<bool> {
        let mut stack = vec![bit.node()];
        while let Some(&node) = stack.last() {
            if self.is_found(node) {
                stack.pop();
                continue;
            }
            let choice = self.graph.choice(node);
            let parts: [Option<Bit>; 3] = match (self.graph.node(node), choice) {
                (_, Some((condition, then, otherwise))) => {
                    [Some(condition), Some(then), Some(otherwise)]
                }
                (Node::And(left, right), None) => [Some(left), Some(right), None],
                (Node::False | Node::Input, None) => [None; 3],
            };
            let before = stack.len();
            let parts = parts.iter().flatten().map(|bit| bit.node());
            stack.extend(parts.filter(|&part| !self.is_found(part)));
            if stack.len() > before {
                continue;
            }
            let value = match (self.graph.node(node), choice) {
                (_, Some((condition, then, otherwise))) => match self.known(condition) {
                    Some(true) => self.known(then),
                    Some(false) => self.known(otherwise),
                    None => {
                        let (then, otherwise) = (self.known(then), self.known(otherwise));
                        then.filter(|_| then == otherwise)
                    }
                },
                (Node::And(left, right), None) => match (self.known(left), self.known(right)) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                },
                (Node::False, None) => Some(false),
                (Node::Input, None) => None,
            };
            self.set(node, value);
            stack.pop();
        }
        self.known(bit)
    }
}
