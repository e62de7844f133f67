//! The space of states: slots, their copies, and the manager that holds relations between them.
//!
//! One pool of slots serves the whole program: the globals, then as many as the largest frame
//! needs. Each slot has three neighbouring BDD variables: its value at the procedure's entry, now
//! and next. So the manager's size depends on what is in scope at once and not on the program,
//! and renaming moves a variable by one or two levels. This is what makes the checker linear in
//! the size of the program, where the paper's was quadratic (section 4).

use crate::bdd::{Bdd, Built, Manager, Var};
use hardbop_budget::Budget;

/// A place for a boolean value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

impl Slot {
    /// The position in a table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which value of a slot a BDD variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Copy {
    /// The value when the procedure was entered.
    Entry,
    /// The value now.
    Current,
    /// The value after the step.
    Next,
}

/// The BDD variables of all slots.
#[derive(Debug)]
pub struct Space {
    /// The diagrams.
    pub bdds: Manager,
}

impl Space {
    /// A space whose slots stand in this order; it must name each of `0..n` once.
    pub fn new(order: &[Slot], budget: Budget) -> Space {
        let vars = order.iter().flat_map(|slot| (0..3).map(|copy| Var(slot.0 * 3 + copy)));
        Space { bdds: Manager::with_order(vars.collect(), budget) }
    }

    /// The number of slots.
    pub fn slots(&self) -> u32 {
        self.bdds.variable_count() / 3
    }

    /// Adds slots at the end of the order, so that there are at least this many.
    pub fn reserve(&mut self, slots: u32) {
        if let Some(missing) = slots.checked_sub(self.slots()) {
            self.bdds.add_variables(missing * 3);
        }
    }

    /// The BDD variable of a slot's copy.
    pub fn var(slot: Slot, copy: Copy) -> Var {
        Var(slot.0 * 3 + copy as u32)
    }

    /// The slot and the copy that a BDD variable stands for.
    pub fn slot(var: Var) -> (Slot, Copy) {
        let copy = match var.0 % 3 {
            0 => Copy::Entry,
            1 => Copy::Current,
            _ => Copy::Next,
        };
        (Slot(var.0 / 3), copy)
    }

    /// True where the slot's copy is true.
    pub fn value(&mut self, slot: Slot, copy: Copy) -> Built {
        self.bdds.literal(Space::var(slot, copy), true)
    }

    /// True where two copies have the same value.
    pub fn same(&mut self, a: (Slot, Copy), b: (Slot, Copy)) -> Built {
        let a = self.value(a.0, a.1)?;
        let b = self.value(b.0, b.1)?;
        self.bdds.iff(a, b)
    }

    /// True where the entry value of each slot is its current value: SelfLoop of section 3.1.
    pub fn self_loop(&mut self, slots: impl IntoIterator<Item = Slot>) -> Built {
        let mut all = Bdd::TRUE;
        for slot in slots {
            let same = self.same((slot, Copy::Entry), (slot, Copy::Current))?;
            all = self.bdds.and(all, same)?;
        }
        Ok(all)
    }
}
