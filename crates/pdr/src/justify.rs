//! Why some bits have the values that they have in a model: which bits of the state are enough.

use crate::constants::Constants;
use crate::system::{Cube, Literal, PointId, System};
use hardbop_circuit::{Bit, Graph, Node, NodeId, Sat};
use rustc_hash::{FxHashMap, FxHashSet};

/// What it costs, in bits of the state, to know that a node is false and that it is true: an
/// estimate, by which reasons are chosen.
pub struct Costs(Vec<[u32; 2]>);

/// So much is a lot.
const MOST: u32 = 1 << 24;

impl Costs {
    /// The costs of all nodes of a system. Bits that have one value everywhere cost nothing.
    pub fn new(system: &System, constants: &Constants) -> Costs {
        let mut state: FxHashSet<NodeId> = FxHashSet::default();
        for (index, point) in system.points.iter().enumerate() {
            let id = PointId(index as u32);
            for (position, bit) in point.state.iter().enumerate() {
                if constants.value(id, position).is_none() {
                    state.insert(bit.node());
                }
            }
        }
        let mut costs: Vec<[u32; 2]> = Vec::with_capacity(system.graph.len());
        for id in system.graph.ids() {
            let of = |bit: Bit, value: bool| {
                costs[bit.node().index()][usize::from(value != bit.is_negated())]
            };
            let here = match system.graph.node(id) {
                Node::False => [0, 0],
                Node::Input => [u32::from(state.contains(&id)); 2],
                Node::And(left, right) => [
                    of(left, false).min(of(right, false)),
                    (of(left, true) + of(right, true)).min(MOST),
                ],
            };
            costs.push(here);
        }
        Costs(costs)
    }

    fn of(&self, bit: Bit, value: bool) -> u32 {
        self.0[bit.node().index()][usize::from(value != bit.is_negated())]
    }
}

/// Why some bits hold.
pub struct Because {
    /// The part of the model's state that they follow from, ...
    pub state: Cube,
    /// ... with these inputs, which hold in the model.
    pub inputs: Vec<Bit>,
}

/// The part of the model's state and inputs from which all of `hold` follow. All of them hold
/// there.
pub fn justify(
    graph: &Graph,
    costs: &Costs,
    sat: &Sat,
    hold: &[Bit],
    positions: &FxHashMap<NodeId, usize>,
) -> Because {
    let mut seen: FxHashSet<NodeId> = FxHashSet::default();
    let mut stack: Vec<NodeId> = hold.iter().map(|bit| bit.node()).collect();
    let value = |bit: Bit| sat.value(bit).unwrap_or(false);
    let mut cube = Cube::new();
    let mut inputs = Vec::new();
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        if let Some(&position) = positions.get(&id) {
            cube.push(Literal::new(position, value(id.bit())));
            continue;
        }
        // What is known already costs nothing.
        let cost = |bit: Bit| match seen.contains(&bit.node()) {
            true => 0,
            false => costs.of(bit, value(bit)),
        };
        if let Some((condition, then, otherwise)) = graph.choice(id) {
            let taken = match value(condition) {
                true => then,
                false => otherwise,
            };
            let by_choice = cost(condition).saturating_add(cost(taken));
            let by_both = cost(then).saturating_add(cost(otherwise));
            if value(then) == value(otherwise) && by_both < by_choice {
                stack.extend([then.node(), otherwise.node()]);
            } else {
                stack.extend([condition.node(), taken.node()]);
            }
            continue;
        }
        let Node::And(left, right) = graph.node(id) else {
            inputs.push(id.bit().is(value(id.bit())));
            continue;
        };
        if value(id.bit()) {
            stack.extend([left.node(), right.node()]);
            continue;
        }
        let one = match (value(left), value(right)) {
            (false, true) => left,
            (true, false) => right,
            _ if cost(right) < cost(left) => right,
            _ => left,
        };
        stack.push(one.node());
    }
    cube.sort_unstable();
    Because {
        state: cube,
        inputs,
    }
}
