//! Steps as diagrams: relations between the bits that vary before and after them.
//!
//! Every bit of the state has two variables that stand side by side, for what it is now and for what
//! it is after the step. Inputs of a step, and bits whose diagrams would be too large, get variables
//! of their own, which are quantified as soon as the step is made.

use crate::order::{Order, Place};
use hardbop_bebop::bdd::{Bdd, Manager, PassId, Var};
use hardbop_budget::Stopped;
use hardbop_circuit::{Bit, Graph, Node, NodeId};
use hardbop_pdr::constants::Constants;
use hardbop_pdr::system::{PointId, StepId, System, Transition};
use rustc_hash::{FxHashMap, FxHashSet};

/// An operation that makes more nodes than this has become too large, ...
const GROWTH: usize = 4_000;
/// ... and so has every one that makes any after a step has taken so many.
const STEP: usize = 60_000;
/// A relation with more nodes takes no more bits up.
const RELATION: usize = 200_000;

/// A step between sets of states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relation {
    pub(crate) step: StepId,
    pub(crate) from: PointId,
    pub(crate) to: PointId,
    pub(crate) diagram: Bdd,
    /// From states before to states after.
    image: PassId,
    /// What changes, from what it is now to what it is after ...
    later: PassId,
    /// ... and that forgotten.
    before: PassId,
}

impl Relation {
    /// The states that it leads to from some.
    pub(crate) fn after(&self, manager: &mut Manager, set: Bdd) -> Result<Bdd, Stopped> {
        manager.image(set, self.diagram, self.image)
    }

    /// The states from which it leads to some.
    pub(crate) fn before(&self, manager: &mut Manager, set: Bdd) -> Result<Bdd, Stopped> {
        let later = manager.project(set, self.later)?;
        manager.image(later, self.diagram, self.before)
    }
}

/// The variable of a bit as it is now.
pub(crate) fn now(place: Place) -> Var {
    Var(2 * place.0)
}

/// The variable of a bit as it is after a step.
fn then(place: Place) -> Var {
    Var(2 * place.0 + 1)
}

/// The place of a bit, from its variable as it is now.
pub(crate) fn place(var: Var) -> Place {
    Place(var.0 / 2)
}

/// All relations of a system.
pub(crate) struct Made {
    pub(crate) relations: Vec<Relation>,
    /// How many bits may be anything because their diagrams would be too large.
    pub(crate) left: u64,
    /// How many nodes were made.
    pub(crate) work: usize,
}

/// Makes the relations of a system.
pub(crate) struct Maker<'a> {
    system: &'a System,
    fixed: &'a Constants,
    order: &'a Order,
    manager: &'a mut Manager,
    /// The diagrams of nodes, for steps from one point.
    known: FxHashMap<NodeId, Bdd>,
    /// Variables of inputs: they are used for every step anew.
    free: Vec<Var>,
    used: usize,
    /// What the step has taken so far.
    taken: usize,
    /// How many bits may be anything because their diagrams would be too large.
    left: u64,
}

impl<'a> Maker<'a> {
    pub(crate) fn new(
        system: &'a System,
        fixed: &'a Constants,
        order: &'a Order,
        manager: &'a mut Manager,
    ) -> Maker<'a> {
        Maker {
            system,
            fixed,
            order,
            manager,
            known: FxHashMap::default(),
            free: Vec::new(),
            used: 0,
            taken: 0,
            left: 0,
        }
    }

    /// The relations of all steps that can be taken, or of some where there is too much to do.
    pub(crate) fn all(mut self, most: usize) -> Result<Made, Stopped> {
        let mut relations: Vec<Relation> = Vec::with_capacity(self.system.steps.len());
        let mut work = 0;
        for index in 0..self.system.steps.len() as u32 {
            let step = StepId(index);
            if self.manager.wants_collection() {
                self.manager.collect(relations.iter().map(|it| it.diagram));
            }
            if work <= most && self.fixed.is_reached(self.system.step(step).from) {
                let before = self.manager.nodes();
                let made = self.relation(step)?;
                relations.extend(made.filter(|it| !it.diagram.is_false()));
                work += self.manager.nodes() - before;
            }
        }
        Ok(Made {
            relations,
            left: self.left,
            work,
        })
    }

    fn relation(&mut self, id: StepId) -> Result<Option<Relation>, Stopped> {
        let system = self.system;
        let step = system.step(id);
        self.begin(step.from)?;
        self.taken = 0;
        self.take_inputs(step)?;
        let mut diagram = self.diagram(step.condition)?;
        if diagram.is_false() {
            return Ok(None);
        }
        let mut changed = Vec::new();
        let mut here: FxHashSet<Place> = FxHashSet::default();
        for (&bit, &next) in system.point(step.to).state.iter().zip(&step.next) {
            let Some(place) = self.order.place(bit.node()) else {
                continue;
            };
            here.insert(place);
            if next == bit {
                continue;
            }
            changed.push(place);
            let value = self.diagram(next)?;
            let var = self.manager.literal(then(place), true)?;
            let same = self.manager.iff(var, value)?;
            let with = self.manager.and(diagram, same)?;
            match self.manager.node_count([with]) > RELATION {
                true => self.left += 1,
                false => diagram = with,
            }
        }
        let mut gone: Vec<Var> = changed.iter().map(|&place| now(place)).collect();
        let before = &system.point(step.from).state;
        let forgotten = before
            .iter()
            .filter_map(|bit| self.order.place(bit.node()))
            .filter(|place| !here.contains(place));
        gone.extend(forgotten.map(now));
        let inputs = self.manager.pass(&self.free[..self.used], &[]);
        let diagram = self.manager.project(diagram, inputs)?;
        let moved = |to: fn(Place) -> Var, from: fn(Place) -> Var| -> Vec<(Var, Var)> {
            changed.iter().map(|&at| (from(at), to(at))).collect()
        };
        let after: Vec<Var> = changed.iter().map(|&place| then(place)).collect();
        Ok(Some(Relation {
            step: id,
            from: step.from,
            to: step.to,
            diagram,
            image: self.manager.pass(&gone, &moved(now, then)),
            later: self.manager.pass(&[], &moved(then, now)),
            before: self.manager.pass(&after, &[]),
        }))
    }

    /// An input that becomes a bit of the state is that bit after the step: to say that two far
    /// apart are the same, for all bits of a word, would be a large diagram.
    fn take_inputs(&mut self, step: &Transition) -> Result<(), Stopped> {
        let graph = &self.system.graph;
        for (&bit, &next) in self.system.point(step.to).state.iter().zip(&step.next) {
            if let Some(place) = self.order.place(bit.node())
                && next != bit
                && graph.node(next.node()) == Node::Input
                && !self.known.contains_key(&next.node())
            {
                let value = self.manager.literal(then(place), !next.is_negated())?;
                self.known.insert(next.node(), value);
            }
        }
        Ok(())
    }

    /// Forgets what was made for another point, and takes up the bits that have one value here.
    fn begin(&mut self, from: PointId) -> Result<(), Stopped> {
        self.known.clear();
        self.used = 0;
        for (position, bit) in self.system.point(from).state.iter().enumerate() {
            let known = match self.fixed.value(from, position) {
                Some(true) => Bdd::TRUE,
                Some(false) => Bdd::FALSE,
                None => match self.order.place(bit.node()) {
                    Some(place) => self.manager.literal(now(place), true)?,
                    None => continue,
                },
            };
            self.known.insert(bit.node(), known);
        }
        Ok(())
    }

    /// A variable that may be anything.
    fn input(&mut self) -> Result<Bdd, Stopped> {
        if self.used == self.free.len() {
            // In pairs, as the others are.
            let first = self.manager.add_variables(2);
            self.free.extend([first, Var(first.0 + 1)]);
        }
        self.used += 1;
        self.manager.literal(self.free[self.used - 1], true)
    }

    /// The diagram of a bit.
    fn diagram(&mut self, bit: Bit) -> Result<Bdd, Stopped> {
        let graph = &self.system.graph;
        let mut stack = vec![bit.node()];
        while let Some(&node) = stack.last() {
            if self.known.contains_key(&node) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let open = parts(graph, node);
            stack.extend(open.filter(|part| !self.known.contains_key(part)));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let made = self.node(graph, node)?;
            self.known.insert(node, made);
        }
        self.value(bit)
    }

    /// The diagram of a bit whose node has one.
    fn value(&mut self, bit: Bit) -> Result<Bdd, Stopped> {
        let value = self.known[&bit.node()];
        match bit.is_negated() {
            true => self.manager.not(value),
            false => Ok(value),
        }
    }

    /// The diagram of a node whose parts have diagrams.
    fn node(&mut self, graph: &Graph, node: NodeId) -> Result<Bdd, Stopped> {
        let before = self.manager.nodes();
        let made = match (graph.node(node), graph.choice(node)) {
            (_, Some((condition, one, other))) => {
                let condition = self.value(condition)?;
                let (one, other) = (self.value(one)?, self.value(other)?);
                self.manager.ite(condition, one, other)?
            }
            (Node::And(left, right), None) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.manager.and(left, right)?
            }
            (Node::False, None) => Bdd::FALSE,
            (Node::Input, None) => return self.input(),
        };
        let grown = self.manager.nodes() - before;
        self.taken += grown;
        if grown > GROWTH || grown > 0 && self.taken > STEP {
            self.left += 1;
            return self.input();
        }
        Ok(made)
    }
}

/// What a node is made of.
fn parts(graph: &Graph, node: NodeId) -> impl Iterator<Item = NodeId> + use<> {
    let parts = match (graph.node(node), graph.choice(node)) {
        (_, Some((condition, one, other))) => [Some(condition), Some(one), Some(other)],
        (Node::And(left, right), None) => [Some(left), Some(right), None],
        (Node::False | Node::Input, None) => [None; 3],
    };
    parts.into_iter().flatten().map(Bit::node)
}
