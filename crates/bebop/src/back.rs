//! Steps backward: which states before an edge lead to given ones after it.
//!
//! The relations here keep the next values, so that a caller can pick a whole step (the values
//! before, and what was passed to and from a callee) at once.

use crate::bdd::{Bdd, Built, Var};
use crate::hash::FastMap;
use crate::join::{Joins, PassLists};
use crate::slot_set as set;
use crate::space::{Copy, Slot, Space};
use crate::supergraph::{Edge, Frame, Proc, Supergraph};

/// Values of some slots.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Values(Vec<Option<bool>>);

impl Values {
    pub(crate) fn get(&self, slot: Slot) -> Option<bool> {
        self.0.get(slot.index()).copied().flatten()
    }

    pub(crate) fn set(&mut self, slot: Slot, value: bool) {
        if self.0.len() <= slot.index() {
            self.0.resize(slot.index() + 1, None);
        }
        self.0[slot.index()] = Some(value);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Slot, bool)> + '_ {
        let all = self.0.iter().enumerate();
        all.filter_map(|(slot, value)| value.map(|value| (Slot(slot as u32), value)))
    }
}

/// One path edge: the entry values of a procedure's inputs, and current values.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Point {
    pub(crate) entry: Values,
    pub(crate) current: Values,
}

/// An assignment picked from a relation; what it leaves open is false.
pub(crate) struct Picked(FastMap<Var, bool>);

impl Picked {
    pub(crate) fn value(&self, slot: Slot, copy: Copy) -> bool {
        self.0
            .get(&Space::var(slot, copy))
            .copied()
            .unwrap_or(false)
    }

    /// The values of these slots in one copy.
    pub(crate) fn values(&self, slots: impl Iterator<Item = Slot>, copy: Copy) -> Values {
        let mut values = Values::default();
        for slot in slots {
            values.set(slot, self.value(slot, copy));
        }
        values
    }
}

impl<G: Supergraph> Joins<'_, G> {
    /// Some assignment that meets the relation.
    pub(crate) fn pick(&self, relation: Bdd) -> Option<Picked> {
        let assignment = self.space.bdds.pick(relation)?;
        Some(Picked(assignment.into_iter().collect()))
    }

    /// The set that holds just this path edge.
    pub(crate) fn cube(&mut self, point: &Point) -> Built {
        let entry = point
            .entry
            .iter()
            .map(|(slot, value)| (Space::var(slot, Copy::Entry), value));
        let current = point
            .current
            .iter()
            .map(|(slot, value)| (Space::var(slot, Copy::Current), value));
        let literals: Vec<(Var, bool)> = entry.chain(current).collect();
        self.space.bdds.cube(&literals)
    }

    /// Steps along an edge that end in `after`: entry and current values before, and next values
    /// of what the edge writes.
    pub(crate) fn before_edge(&mut self, edge: Edge, from: Bdd, after: Bdd) -> Built {
        let relation = self.transfer(edge, from)?;
        let mut writes = Vec::new();
        self.graph.writes(edge, &mut writes);
        let mut lists = PassLists::default();
        for slot in writes {
            lists.shift(slot, Copy::Current, Copy::Next);
        }
        let pass = lists.intern(self.space);
        let after = self.space.bdds.project(after, pass)?;
        let step = self.space.bdds.and(relation, after)?;
        self.space.bdds.and(from, step)
    }

    /// A set at the return point of a call, in terms of the values before the call and of the
    /// next values of what the callee gives back. The caller's invariant is put in.
    pub(crate) fn before_return(&mut self, call: Edge, callee: Proc, after: Bdd) -> Built {
        let caller = self.graph.procedure_of(self.graph.ends(call).from);
        let invariant = self.invariant(caller)?;
        let after = self.space.bdds.and(after, invariant)?;
        let mut results = Vec::new();
        self.graph.results(call, &mut results);
        let mut lists = PassLists::default();
        let mut copy = Bdd::TRUE;
        for &(value, target) in &results {
            let same = self
                .space
                .same((target, Copy::Current), (value, Copy::Next))?;
            copy = self.space.bdds.and(copy, same)?;
            lists.quantify(target, Copy::Current);
        }
        for slot in set::slots(self.ranges.modified(callee)) {
            if !results.iter().any(|&(_, target)| target == slot) {
                lists.shift(slot, Copy::Current, Copy::Next);
            }
        }
        let pass = lists.intern(self.space);
        self.space.bdds.image(after, copy, pass)
    }

    /// Steps over a call by the callee's summary, in the caller's view: values before, arguments,
    /// values given back. `after` comes from [`Joins::before_return`].
    pub(crate) fn before_call(&mut self, call: Edge, from: Bdd, view: Bdd, after: Bdd) -> Built {
        let arguments = self.graph.arguments(call, from, self.space)?;
        let inner = self.space.bdds.and(arguments, view)?;
        let outer = self.space.bdds.and(from, after)?;
        self.space.bdds.and(outer, inner)
    }

    /// Steps into a callee that end in `states`, a set over the current values of its inputs.
    pub(crate) fn before_entry(
        &mut self,
        call: Edge,
        callee: Proc,
        from: Bdd,
        states: Bdd,
    ) -> Built {
        let formals = Frame::of(self.graph, callee).formals;
        let mut lists = PassLists::default();
        for slot in formals.map(Slot) {
            lists.shift(slot, Copy::Current, Copy::Next);
        }
        let pass = lists.intern(self.space);
        let states = self.space.bdds.project(states, pass)?;
        let arguments = self.graph.arguments(call, from, self.space)?;
        let step = self.space.bdds.and(arguments, states)?;
        self.space.bdds.and(from, step)
    }

    /// Forgets the next values of a step along an edge.
    pub(crate) fn forget_writes(&mut self, edge: Edge, steps: Bdd) -> Built {
        let mut writes = Vec::new();
        self.graph.writes(edge, &mut writes);
        self.forget_next(writes.into_iter(), steps)
    }

    /// Forgets the next values of a step into or over a call.
    pub(crate) fn forget_call(&mut self, callee: Proc, steps: Bdd) -> Built {
        let frame = Frame::of(self.graph, callee);
        let mut slots: Vec<Slot> = set::slots(self.ranges.modified(callee)).collect();
        slots.extend(frame.formals.chain(frame.returns).map(Slot));
        self.forget_next(slots.into_iter(), steps)
    }

    fn forget_next(&mut self, slots: impl Iterator<Item = Slot>, steps: Bdd) -> Built {
        let mut lists = PassLists::default();
        for slot in slots {
            lists.quantify(slot, Copy::Next);
        }
        let pass = lists.intern(self.space);
        self.space.bdds.project(steps, pass)
    }
}
