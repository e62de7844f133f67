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
    reorder: Reorder,
    /// Collections that leave more nodes than this are followed by sifting.
    sift_above: usize,
}

/// Whether the order of slots changes during the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reorder {
    /// It stays.
    #[default]
    Never,
    /// Slots are sifted when the diagrams have more nodes than this after a collection, and again
    /// whenever they have become several times larger.
    Above(usize),
}

impl Reorder {
    /// Sifting with a threshold below which it costs more than it saves.
    pub const WHEN_LARGE: Reorder = Reorder::Above(1 << 16);
}

impl Space {
    /// A space whose slots stand in this order; it must name each of `0..n` once.
    pub fn new(order: &[Slot], budget: Budget) -> Space {
        let vars = order
            .iter()
            .flat_map(|slot| (0..3).map(|copy| Var(slot.0 * 3 + copy)));
        Space {
            bdds: Manager::with_order(vars.collect(), budget),
            reorder: Reorder::Never,
            sift_above: usize::MAX,
        }
    }

    /// Says whether the order of slots may change.
    pub fn set_reorder(&mut self, reorder: Reorder) {
        self.reorder = reorder;
        self.sift_above = match reorder {
            Reorder::Never => usize::MAX,
            Reorder::Above(nodes) => nodes,
        };
    }

    /// Frees all diagrams but these, and reorders the slots if that is due.
    pub fn collect(&mut self, roots: &[Bdd]) {
        self.bdds.collect(roots.iter().copied());
        if let Reorder::Above(floor) = self.reorder
            && self.bdds.nodes() > self.sift_above
        {
            // An order that is only half improved is as right as any other; whoever asks the
            // budget next will hear that it is used up.
            let _ = self.bdds.sift(3, roots.iter().copied());
            self.sift_above = floor.max(self.bdds.nodes() * 4);
        }
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
