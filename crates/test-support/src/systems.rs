//! Random little systems, and what they reach, state by state.

use crate::random::Random;
use hardbop_circuit::{Bit, Graph, NodeId};
use hardbop_pdr::system::{Point, PointId, StepId, System, Transition};
use std::collections::{BTreeMap, BTreeSet};

/// The bits of a state.
pub const BITS: usize = 3;

/// What clauses may speak of besides the state.
fn derived(graph: &mut Graph, state: &[Bit]) -> Vec<Bit> {
    vec![
        graph.xor(state[0], state[1]),
        graph.and(state[1], !state[2]),
    ]
}

/// A system with some points, of which the last one is the target, over three bits and two inputs.
pub fn system(random: &mut Random) -> (System, Vec<Bit>, Vec<Bit>) {
    let mut system = System::default();
    let state = system.graph.inputs(BITS);
    let inputs = system.graph.inputs(2);
    let points = 3 + random.below(4u32);
    for at in 0..points {
        let state = match at {
            0 => Vec::new(),
            _ => state.clone(),
        };
        system.points.push(Point {
            state,
            ..Point::default()
        });
    }
    for point in &mut system.points[1..] {
        point.derived = derived(&mut system.graph, &state);
    }
    let steps = points + random.below(2 * points);
    for number in 0..steps {
        let from = match number {
            0 => 0,
            _ => random.below(points),
        };
        let to = 1 + random.below(points - 1);
        let mut pool: Vec<Bit> = inputs.clone();
        if from != 0 {
            pool.extend(&state);
        }
        for _ in 0..8 {
            let (left, right) = (random.pick(&pool), random.pick(&pool));
            let (left, right) = (left.is(random.one_in(2)), right.is(random.one_in(2)));
            let new = match random.below(3u32) {
                0 => system.graph.and(left, right),
                1 => system.graph.xor(left, right),
                _ => system.graph.ite(random.pick(&pool), left, right),
            };
            pool.push(new);
        }
        // Where it begins, little is open, so that not everything is reached at once.
        let next = (0..BITS).map(|at| match (from, random.below(3u32)) {
            (0, _) => Bit::constant(random.one_in(2)),
            (_, 0) => state[at],
            (_, 1) => Bit::constant(random.one_in(2)),
            _ => random.pick(&pool),
        });
        let next: Vec<Bit> = next.collect();
        let derived = derived(&mut system.graph, &next);
        let guard = [random.pick(&pool), random.pick(&pool)];
        let condition = system.graph.all(&guard);
        system.add(Transition {
            from: PointId(from),
            to: PointId(to),
            condition,
            next,
            derived,
        });
    }
    (system, state, inputs)
}

/// The steps that can be taken in a state, with where they lead.
pub fn successors(
    system: &System,
    state: &[Bit],
    inputs: &[Bit],
    at: (PointId, u8),
) -> Vec<(StepId, (PointId, u8))> {
    let mut found = Vec::new();
    for given in 0..1u8 << inputs.len() {
        let mut values: BTreeMap<NodeId, bool> = BTreeMap::new();
        for (number, bit) in state.iter().enumerate() {
            values.insert(bit.node(), at.1 >> number & 1 == 1);
        }
        for (number, bit) in inputs.iter().enumerate() {
            values.insert(bit.node(), given >> number & 1 == 1);
        }
        let holds = |node| values.get(&node).copied().unwrap_or(false);
        for (number, step) in system.steps.iter().enumerate() {
            if step.from != at.0 || !system.graph.simulate(holds, &[step.condition])[0] {
                continue;
            }
            let next = system.graph.simulate(holds, &step.next);
            let mut after = 0u8;
            for (number, &value) in next.iter().enumerate() {
                after |= u8::from(value) << number;
            }
            found.push((StepId(number as u32), (step.to, after)));
        }
    }
    found
}

/// All states that are reached.
pub fn reached(system: &System, state: &[Bit], inputs: &[Bit]) -> BTreeSet<(PointId, u8)> {
    let mut seen = BTreeSet::from([(System::START, 0)]);
    let mut work = vec![(System::START, 0)];
    while let Some(at) = work.pop() {
        for (_, next) in successors(system, state, inputs, at) {
            if seen.insert(next) {
                work.push(next);
            }
        }
    }
    seen
}
