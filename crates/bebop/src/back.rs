//! Steps backward: which states before an edge lead to given ones after it.
//!
//! The relations here keep the next values, so that a caller can pick a whole step (the values
//! before, and what was passed to and from a callee) at once.

use crate::bdd::{Bdd, Built, Var};
use crate::hash::FastSet;
use crate::join::{Joins, PassLists, Shape};
use crate::slot_set as set;
use crate::space::{Copy, Slot, Space};
use crate::supergraph::{Edge, Frame, Proc, Supergraph};

/// Values of some slots. Those of the first 64, which are all in most programs, are two words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Values {
    known: u64,
    /// The bits of unknown slots are zero.
    values: u64,
    rest: Vec<Option<bool>>,
}

impl Values {
    pub(crate) fn get(&self, slot: Slot) -> Option<bool> {
        let bit = slot.index();
        match bit.checked_sub(64) {
            None => (self.known >> bit & 1 != 0).then_some(self.values >> bit & 1 != 0),
            Some(place) => self.rest.get(place).copied().flatten(),
        }
    }

    pub(crate) fn set(&mut self, slot: Slot, value: bool) {
        let bit = slot.index();
        let Some(place) = bit.checked_sub(64) else {
            self.known |= 1 << bit;
            self.values = self.values & !(1 << bit) | u64::from(value) << bit;
            return;
        };
        if self.rest.len() <= place {
            self.rest.resize(place + 1, None);
        }
        self.rest[place] = Some(value);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Slot, bool)> + '_ {
        let mut left = self.known;
        let first = std::iter::from_fn(move || {
            let slot = (left != 0).then_some(Slot(left.trailing_zeros()));
            left &= left.wrapping_sub(1);
            slot
        });
        let rest = (64..).map(Slot).take(self.rest.len());
        first
            .chain(rest)
            .filter_map(|slot| self.get(slot).map(|value| (slot, value)))
    }
}

/// One path edge: the entry values of a procedure's inputs, and current values.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Point {
    pub(crate) entry: Values,
    pub(crate) current: Values,
}

/// An assignment picked from a relation: the variables that are true in it.
pub(crate) struct Picked {
    /// The first 192 variables, three of each slot.
    first: [u64; 3],
    rest: FastSet<Var>,
}

impl Picked {
    pub(crate) fn value(&self, slot: Slot, copy: Copy) -> bool {
        let var = Space::var(slot, copy);
        match self.first.get(var.0 as usize / 64) {
            Some(word) => word >> (var.0 % 64) & 1 != 0,
            None => self.rest.contains(&var),
        }
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
        let mut picked = Picked {
            first: [0; 3],
            rest: FastSet::default(),
        };
        let found = self.space.bdds.pick_with(relation, |var, value| {
            match picked.first.get_mut(var.0 as usize / 64) {
                _ if !value => {}
                Some(word) => *word |= 1 << (var.0 % 64),
                None => {
                    picked.rest.insert(var);
                }
            }
        });
        found.then_some(picked)
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
        let pass = self.written(Shape::Written, edge, |lists, slot| {
            lists.shift(slot, Copy::Current, Copy::Next);
        });
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
        let pass = self.written(Shape::Forgotten, edge, |lists, slot| {
            lists.quantify(slot, Copy::Next);
        });
        self.space.bdds.project(steps, pass)
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
