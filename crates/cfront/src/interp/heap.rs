//! Looks at the heap where a program ends: what lives, and what can be reached from variables.
//!
//! An object is reached if a pointer to it lies in a variable or in an object that is reached. It
//! may be reached if a word that lies there is an address in it, whatever the bytes went through,
//! or if a variable in a register holds one, of which it is not known whether it is in its scope.
//! What is not even that is lost; where the two differ, nothing is said.

use super::Outcome;
use super::machine::{End, Machine, NO_OBJECT};
use super::memory::{Life, Memory};
use super::scalar::Reg;
use crate::ids::EdgeId;
use crate::program::{HeapFact, Origin, ProgramEnd};

/// What counts as a pointer to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    /// Pointers.
    Pointers,
    /// All words that are an address in it, its end included.
    Words,
}

impl Memory {
    /// The object on the heap in which an address lies, its end included.
    fn heap_object_at(&self, address: u64) -> Option<u32> {
        let (&base, &slot) = self.heap.range(..=address).next_back()?;
        (address - base <= self.describe(slot).0).then_some(slot)
    }

    /// The objects that the program allocated and did not free; the library has its own.
    fn allocated(&self) -> impl Iterator<Item = u32> + '_ {
        let slots = self.heap.values().copied();
        slots.filter(|&slot| self.describe(slot).1 == Life::Heap)
    }

    /// The objects on the heap that cannot be reached from some objects.
    fn unreached_from(&self, mut work: Vec<u32>, sight: Sight) -> Vec<u32> {
        let mut reached = vec![false; self.objects.len()];
        while let Some(slot) = work.pop() {
            if std::mem::replace(&mut reached[slot as usize], true) {
                continue;
            }
            match sight {
                Sight::Pointers => work.extend(self.pointees(slot)),
                Sight::Words => {
                    for word in self.objects[slot as usize].data.windows(self.word) {
                        let mut bytes = [0; 8];
                        bytes[..self.word].copy_from_slice(word);
                        work.extend(self.heap_object_at(u64::from_le_bytes(bytes)));
                    }
                }
            }
        }
        let unreached = |&object: &u32| !reached[object as usize];
        self.allocated().filter(unreached).collect()
    }
}

impl Machine<'_> {
    /// Whether a fact holds of the heap.
    pub(super) fn heap_is(&self, fact: HeapFact, end: ProgramEnd) -> Result<bool, End> {
        if end == ProgramEnd::Return && self.frames.len() > 1 {
            return Ok(true);
        }
        match fact {
            HeapFact::Freed => Ok(self.memory.allocated().next().is_none()),
            HeapFact::Reached => self.all_reached(end),
        }
    }

    /// The objects of which a fact does not hold.
    pub(super) fn left_behind(&self, fact: HeapFact, end: ProgramEnd) -> Vec<u32> {
        match fact {
            HeapFact::Freed => self.memory.allocated().collect(),
            HeapFact::Reached => {
                let roots = self.held(self.roots(end), end);
                self.memory.unreached_from(roots, Sight::Words)
            }
        }
    }

    /// The objects that need not be reached from others where the program ends.
    fn roots(&self, end: ProgramEnd) -> Vec<u32> {
        let program = self.interpreter.program;
        let mut roots: Vec<u32> = (1..self.memory.statics).collect();
        let own = |&slot: &u32| self.memory.describe(slot).1 == Life::Static;
        roots.extend(self.memory.heap.values().copied().filter(own));
        roots.extend(self.memory.outside.slots());
        // The texts that `main` is given live as long as the program.
        let texts = program.function(program.entry).origin == Origin::Model;
        if end == ProgramEnd::Stop || texts {
            let stack = self.slots.iter().chain(&self.allocated);
            roots.extend(stack.copied().filter(|&object| object != NO_OBJECT));
        }
        roots
    }

    /// The same with what variables in registers may hold.
    fn held(&self, mut roots: Vec<u32>, end: ProgramEnd) -> Vec<u32> {
        if end == ProgramEnd::Stop {
            let held = |register: &Reg| self.memory.heap_object_at(register.low);
            roots.extend(self.registers.iter().filter_map(held));
        }
        roots
    }

    fn all_reached(&self, end: ProgramEnd) -> Result<bool, End> {
        let roots = self.roots(end);
        let unreached = self.memory.unreached_from(roots.clone(), Sight::Pointers);
        if unreached.is_empty() {
            return Ok(true);
        }
        let unreached = self
            .memory
            .unreached_from(self.held(roots, end), Sight::Words);
        match unreached.is_empty() {
            false => Ok(false),
            true => {
                let edge = self.edge.unwrap_or(EdgeId(0));
                Err(End::Outcome(Outcome::Unsupported(edge)))
            }
        }
    }
}
