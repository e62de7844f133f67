//! Sifting (Rudell): moving blocks of variables to where the diagrams are smallest.
//!
//! Blocks of neighbouring variables, such as the copies of one slot, move as one. Nodes are
//! changed in place, so that diagrams keep their indices and their meaning. During the work
//! every level has its own table of nodes and every node a count of its references.

use super::table::LEAF;
use super::{Bdd, Manager, Var};
use crate::hash::FastMap;
use hardbop_budget::Stopped;

/// A block may make the diagrams grow by this factor on its way to a better place.
const MAX_GROWTH: f64 = 1.2;

/// Above this many nodes nothing is sifted.
const MOST_LIVE: usize = 1 << 29;

/// The nodes of a manager, by level, while their order changes.
struct Levels<'m> {
    manager: &'m mut Manager,
    /// By level: the nodes, by their children.
    nodes: Vec<FastMap<(u32, u32), u32>>,
    /// By node: how many nodes and roots point to it.
    references: Vec<u32>,
    live: usize,
}

impl Manager {
    /// Reorders the variables by sifting blocks of `block` neighbouring ones. Collects garbage
    /// first: only diagrams that the roots reach survive. Gives the number of nodes after.
    ///
    /// When the budget is used up on the way, the order is whatever it is then, and everything
    /// else is as it should be.
    pub fn sift(
        &mut self,
        block: u32,
        roots: impl IntoIterator<Item = Bdd>,
    ) -> Result<usize, Stopped> {
        let roots: Vec<Bdd> = roots.into_iter().collect();
        self.collect(roots.iter().copied());
        let levels = self.level_of.len();
        let mut work = Levels {
            nodes: vec![FastMap::default(); levels],
            references: Vec::new(),
            live: 0,
            manager: self,
        };
        work.count(&roots);
        let result = work.sift_all(block as usize);
        let Levels { manager, .. } = work;
        manager.table.rebuild();
        manager.cache.clear();
        let level_of = std::mem::take(&mut manager.level_of);
        manager.passes.reorder(&level_of);
        manager.level_of = level_of;
        manager.collect(roots);
        result.map(|()| manager.nodes())
    }
}

impl Levels<'_> {
    fn count(&mut self, roots: &[Bdd]) {
        let all: Vec<(u32, u32, u32, u32)> = self.manager.table.iter().collect();
        for &(index, level, lo, hi) in &all {
            self.nodes[level as usize].insert((lo, hi), index);
            for node in [index, lo, hi] {
                if self.references.len() <= node as usize {
                    self.references.resize(node as usize + 1, 0);
                }
            }
            self.references[lo as usize] += 1;
            self.references[hi as usize] += 1;
        }
        for root in roots {
            if self.references.len() <= root.0 as usize {
                self.references.resize(root.0 as usize + 1, 0);
            }
            self.references[root.0 as usize] += 1;
        }
        self.live = all.len();
    }

    /// Sifts every block once, those with the most nodes first.
    fn sift_all(&mut self, block: usize) -> Result<(), Stopped> {
        let blocks = self.nodes.len() / block;
        // Blocks are known by their first variable, since their places change.
        let mut order: Vec<(usize, Var)> = (0..blocks)
            .map(|place| {
                let levels = place * block..(place + 1) * block;
                let size = levels.map(|level| self.nodes[level].len()).sum();
                (size, self.manager.var_at[place * block])
            })
            .collect();
        order.sort_by_key(|&(size, var)| (std::cmp::Reverse(size), var));
        for (size, var) in order {
            if size == 0 {
                break;
            }
            self.manager.budget.check()?;
            // A swap must not run out of indices halfway: stay far away from the last one.
            if self.live > MOST_LIVE {
                return Err(Stopped::Memory);
            }
            let place = self.manager.level_of[var.0 as usize] as usize / block;
            self.sift_block(place, block, blocks)?;
        }
        Ok(())
    }

    /// Moves one block down to the end, then up to the top, then to the best place seen.
    fn sift_block(&mut self, start: usize, block: usize, blocks: usize) -> Result<(), Stopped> {
        let limit = (self.live as f64 * MAX_GROWTH) as usize + 16;
        let mut best = (self.live, start);
        let mut place = start;
        // The nearer end first: the way back over the start is then short.
        let directions = if start * 2 > blocks { [1, -1] } else { [-1, 1] };
        for direction in directions {
            loop {
                let next = place as isize + direction;
                if next < 0 || next >= blocks as isize || self.live > limit.max(best.0) {
                    break;
                }
                self.swap_blocks(place.min(next as usize), block)?;
                place = next as usize;
                if self.live < best.0 {
                    best = (self.live, place);
                }
            }
        }
        while place != best.1 {
            let next = if place < best.1 { place + 1 } else { place - 1 };
            self.swap_blocks(place.min(next), block)?;
            place = next;
        }
        Ok(())
    }

    /// Swaps a block with the one below it.
    fn swap_blocks(&mut self, upper: usize, block: usize) -> Result<(), Stopped> {
        for moved in 0..block {
            let from = (upper + 1) * block + moved;
            let to = upper * block + moved;
            for level in (to..from).rev() {
                self.swap(level)?;
            }
        }
        Ok(())
    }

    /// Swaps a level with the next one. Afterwards every node has the function it had.
    fn swap(&mut self, level: usize) -> Result<(), Stopped> {
        let upper = std::mem::take(&mut self.nodes[level]);
        let lower = std::mem::take(&mut self.nodes[level + 1]);
        let below = level as u32 + 1;
        let manager = &mut *self.manager;
        // Nodes of the lower variable move up as they are.
        let mut at_level: FastMap<(u32, u32), u32> = FastMap::default();
        for (&children, &node) in &lower {
            manager
                .table
                .overwrite(node, level as u32, children.0, children.1);
            at_level.insert(children, node);
        }
        self.nodes[level] = at_level;
        let mut stays: Vec<(u32, u32, u32)> = Vec::new();
        let mut splits: Vec<(u32, u32, u32)> = Vec::new();
        for ((lo, hi), node) in upper {
            // The lower variable's nodes stand on `level` by now.
            let tests = |child: u32| manager.table.level(child) == level as u32;
            if tests(lo) || tests(hi) {
                &mut splits
            } else {
                &mut stays
            }
            .push((node, lo, hi));
        }
        for (node, lo, hi) in stays {
            self.manager.table.overwrite(node, below, lo, hi);
            self.nodes[level + 1].insert((lo, hi), node);
        }
        // In a fixed order, so that runs are alike.
        splits.sort_unstable();
        for (node, lo, hi) in splits {
            let (lo_lo, lo_hi) = self.cofactors(lo, level as u32);
            let (hi_lo, hi_hi) = self.cofactors(hi, level as u32);
            let new_lo = self.node(below, lo_lo, hi_lo)?;
            let new_hi = self.node(below, lo_hi, hi_hi)?;
            self.references[new_lo as usize] += 1;
            self.references[new_hi as usize] += 1;
            self.manager
                .table
                .overwrite(node, level as u32, new_lo, new_hi);
            self.nodes[level].insert((new_lo, new_hi), node);
            self.release(lo);
            self.release(hi);
        }
        let manager = &mut *self.manager;
        manager.var_at.swap(level, level + 1);
        for place in [level, level + 1] {
            manager.level_of[manager.var_at[place].0 as usize] = place as u32;
        }
        Ok(())
    }

    fn cofactors(&self, node: u32, level: u32) -> (u32, u32) {
        let (node_level, lo, hi) = self.manager.table.get(node);
        if node_level == level {
            (lo, hi)
        } else {
            (node, node)
        }
    }

    fn node(&mut self, level: u32, lo: u32, hi: u32) -> Result<u32, Stopped> {
        if lo == hi {
            return Ok(lo);
        }
        if let Some(&node) = self.nodes[level as usize].get(&(lo, hi)) {
            return Ok(node);
        }
        let node = self.manager.table.push_raw(level, lo, hi)?;
        if self.references.len() <= node as usize {
            self.references.resize(node as usize + 1, 0);
        }
        self.references[node as usize] = 0;
        self.references[lo as usize] += 1;
        self.references[hi as usize] += 1;
        self.nodes[level as usize].insert((lo, hi), node);
        self.live += 1;
        Ok(node)
    }

    /// Takes back one reference, and frees what nobody refers to any more.
    fn release(&mut self, node: u32) {
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            self.references[node as usize] -= 1;
            let (level, lo, hi) = self.manager.table.get(node);
            if level == LEAF || self.references[node as usize] > 0 {
                continue;
            }
            let known = self.nodes[level as usize].get(&(lo, hi));
            if known == Some(&node) {
                self.nodes[level as usize].remove(&(lo, hi));
            }
            self.manager.table.free_raw(node);
            self.live -= 1;
            stack.extend([lo, hi]);
        }
    }
}
