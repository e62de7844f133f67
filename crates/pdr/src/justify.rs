//! Why some bits have the values that they have in a model: which bits of the state are enough.

use crate::system::{Cube, Literal};
use hardbop_circuit::{Bit, Graph, Node, NodeId, Sat};
use rustc_hash::{FxHashMap, FxHashSet};

/// The part of the model's state from which all of `hold` follow, the inputs as they are in the
/// model. All of them hold there.
pub fn justify(
    graph: &Graph,
    sat: &Sat,
    hold: &[Bit],
    positions: &FxHashMap<NodeId, usize>,
) -> Cube {
    let mut seen: FxHashSet<NodeId> = FxHashSet::default();
    let mut stack: Vec<NodeId> = hold.iter().map(|bit| bit.node()).collect();
    let value = |bit: Bit| sat.value(bit).unwrap_or(false);
    let mut cube = Cube::new();
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        if let Some(&position) = positions.get(&id) {
            cube.push(Literal::new(position, value(id.bit())));
            continue;
        }
        if let Some((condition, then, otherwise)) = graph.choice(id) {
            let (taken, other) = match value(condition) {
                true => (then, otherwise),
                false => (otherwise, then),
            };
            stack.push(taken.node());
            // Where both sides say the same, and the other one was looked at anyway, nobody needs
            // to know which one was taken.
            let known = |bit: Bit| seen.contains(&bit.node()) || bit.known().is_some();
            if !(value(then) == value(otherwise) && known(other) && other.known().is_some()) {
                stack.push(condition.node());
            }
            continue;
        }
        let Node::And(left, right) = graph.node(id) else {
            continue;
        };
        if value(id.bit()) {
            stack.extend([left.node(), right.node()]);
            continue;
        }
        let one = match (value(left), value(right)) {
            (false, true) => left,
            (true, false) => right,
            _ if seen.contains(&left.node()) => left,
            _ if seen.contains(&right.node()) => right,
            _ => left,
        };
        stack.push(one.node());
    }
    cube.sort_unstable();
    cube
}
