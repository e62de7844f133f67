//! The nodes and the table that makes each of them unique.

use super::Bdd;
use hardbop_budget::Stopped;

/// One node: 12 bytes.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The level of its variable; [`LEAF`] for the two constants, [`FREE`] for a free place.
    level: u32,
    /// Where the variable is false; for a free place, the next one.
    lo: u32,
    /// Where the variable is true.
    hi: u32,
}

/// The level of the constants: below all others.
pub(super) const LEAF: u32 = u32::MAX;
const FREE: u32 = u32::MAX - 1;
const NONE: u32 = u32::MAX;
const MOST_NODES: usize = (u32::MAX - 16) as usize;

/// All nodes, and an open-addressing hash table of their indices.
#[derive(Debug)]
pub(super) struct Table {
    nodes: Vec<Node>,
    /// Indices of nodes, 0 for an empty place (the constants are never looked up).
    slots: Vec<u32>,
    shift: u32,
    free: u32,
    used: usize,
    peak: usize,
}

/// One bit a node.
pub(super) struct Marks(Vec<u64>);

impl Marks {
    #[inline]
    pub(super) fn has(&self, node: u32) -> bool {
        self.0[(node >> 6) as usize] >> (node & 63) & 1 != 0
    }

    #[inline]
    fn set(&mut self, node: u32) -> bool {
        let word = &mut self.0[(node >> 6) as usize];
        let bit = 1 << (node & 63);
        let fresh = *word & bit == 0;
        *word |= bit;
        fresh
    }
}

impl Table {
    pub(super) fn new() -> Table {
        let leaf = |value| Node {
            level: LEAF,
            lo: value,
            hi: value,
        };
        let bits = 12;
        Table {
            nodes: vec![leaf(0), leaf(1)],
            slots: vec![0; 1 << bits],
            shift: 64 - bits,
            free: NONE,
            used: 2,
            peak: 2,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.used
    }

    pub(super) fn peak(&self) -> usize {
        self.peak
    }

    pub(super) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.slots.capacity() * size_of::<u32>()
    }

    /// Whether one more node makes the hash table grow.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        (self.used + 1) * 3 > self.slots.len() * 2
    }

    /// The bytes that growing takes.
    pub(super) fn growth(&self) -> u64 {
        2 * (self.slots.len() * size_of::<u32>()) as u64
    }

    #[inline]
    pub(super) fn level(&self, node: u32) -> u32 {
        self.nodes[node as usize].level
    }

    /// The level and the two children.
    #[inline]
    pub(super) fn get(&self, node: u32) -> (u32, u32, u32) {
        let Node { level, lo, hi } = self.nodes[node as usize];
        (level, lo, hi)
    }

    #[inline]
    fn home(&self, level: u32, lo: u32, hi: u32) -> usize {
        let key = (u64::from(lo) << 32 | u64::from(hi)) ^ u64::from(level).rotate_right(9);
        let mixed = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> self.shift) as usize
    }

    #[inline]
    pub(super) fn find_or_add(&mut self, level: u32, lo: u32, hi: u32) -> Result<u32, Stopped> {
        let mask = self.slots.len() - 1;
        let mut at = self.home(level, lo, hi);
        loop {
            let index = self.slots[at];
            if index == 0 {
                break;
            }
            let node = &self.nodes[index as usize];
            if node.lo == lo && node.hi == hi && node.level == level {
                return Ok(index);
            }
            at = (at + 1) & mask;
        }
        self.add(at, Node { level, lo, hi })
    }

    #[inline(never)]
    fn add(&mut self, at: usize, node: Node) -> Result<u32, Stopped> {
        let index = if self.free != NONE {
            let index = self.free;
            self.free = self.nodes[index as usize].lo;
            self.nodes[index as usize] = node;
            index
        } else {
            if self.nodes.len() >= MOST_NODES {
                return Err(Stopped::Memory);
            }
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        };
        self.slots[at] = index;
        self.used += 1;
        self.peak = self.peak.max(self.used);
        if self.used * 3 > self.slots.len() * 2 {
            self.shift -= 1;
            self.slots = vec![0; self.slots.len() * 2];
            self.rehash();
        }
        Ok(index)
    }

    fn rehash(&mut self) {
        let mask = self.slots.len() - 1;
        for index in 2..self.nodes.len() {
            let Node { level, lo, hi } = self.nodes[index];
            if level == FREE {
                continue;
            }
            let mut at = self.home(level, lo, hi);
            while self.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = index as u32;
        }
    }

    /// Marks all that the roots reach. Iterative, so that depth does not matter.
    pub(super) fn mark(&self, roots: impl Iterator<Item = u32>) -> Marks {
        let mut marks = Marks(vec![0; self.nodes.len().div_ceil(64)]);
        marks.set(Bdd::FALSE.0);
        marks.set(Bdd::TRUE.0);
        let mut stack = Vec::new();
        for root in roots {
            if marks.set(root) {
                stack.push(root);
            }
            while let Some(index) = stack.pop() {
                let node = self.nodes[index as usize];
                debug_assert!(node.level != FREE, "a root that was collected before");
                for child in [node.lo, node.hi] {
                    if marks.set(child) {
                        stack.push(child);
                    }
                }
            }
        }
        marks
    }

    /// Frees what is not marked.
    pub(super) fn sweep(&mut self, marks: &Marks) {
        self.free = NONE;
        self.used = 2;
        for index in (2..self.nodes.len()).rev() {
            if marks.has(index as u32) {
                self.used += 1;
            } else {
                self.nodes[index] = Node {
                    level: FREE,
                    lo: self.free,
                    hi: 0,
                };
                self.free = index as u32;
            }
        }
        self.slots.fill(0);
        self.rehash();
    }

    /// Every node in use, the constants left out: index, level, children.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32, u32, u32)> + '_ {
        let inner = self.nodes.iter().enumerate().skip(2);
        inner
            .filter(|(_, n)| n.level != FREE)
            .map(|(i, n)| (i as u32, n.level, n.lo, n.hi))
    }

    /// Changes a node in place. The table of unique nodes is wrong until
    /// [`Table::rebuild`].
    pub(super) fn overwrite(&mut self, index: u32, level: u32, lo: u32, hi: u32) {
        self.nodes[index as usize] = Node { level, lo, hi };
    }

    /// Adds a node without looking for an equal one.
    pub(super) fn push_raw(&mut self, level: u32, lo: u32, hi: u32) -> Result<u32, Stopped> {
        let node = Node { level, lo, hi };
        self.used += 1;
        self.peak = self.peak.max(self.used);
        if self.free != NONE {
            let index = self.free;
            self.free = self.nodes[index as usize].lo;
            self.nodes[index as usize] = node;
            return Ok(index);
        }
        if self.nodes.len() >= MOST_NODES {
            return Err(Stopped::Memory);
        }
        self.nodes.push(node);
        Ok(self.nodes.len() as u32 - 1)
    }

    /// Frees one node. The table of unique nodes is wrong until [`Table::rebuild`].
    pub(super) fn free_raw(&mut self, index: u32) {
        self.nodes[index as usize] = Node {
            level: FREE,
            lo: self.free,
            hi: 0,
        };
        self.free = index;
        self.used -= 1;
    }

    /// Makes the table of unique nodes anew after changes in place.
    pub(super) fn rebuild(&mut self) {
        while self.used * 3 > self.slots.len() * 2 {
            self.shift -= 1;
            self.slots = vec![0; self.slots.len() * 2];
        }
        self.slots.fill(0);
        self.rehash();
    }
}
