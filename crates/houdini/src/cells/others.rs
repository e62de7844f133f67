//! Which elements of other arrays something is used of where an element of one is accessed.

use super::{Access, ArrayId, Cells, INSTANCES, is_state};
use hardbop_logic::{Op, TermId, Terms};
use hardbop_semantics::steps::Ground;
use std::collections::BTreeSet;

impl Cells {
    /// A step that accesses an element of one array uses what is known of that of another one that
    /// it is compared with, and of those that it was copied from, along a chain of copies.
    pub(super) fn instances_of_others(
        &mut self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        accesses: &[Access],
    ) {
        let compared: Vec<BTreeSet<usize>> = (0..self.arrays.len())
            .map(|array| self.compared_with(ground, terms, array))
            .collect();
        for array in 0..self.arrays.len() {
            let &[word] = &self.arrays[array].words[..] else {
                continue;
            };
            let others = &compared[array];
            let behind = |access: &&Access| {
                let from = access.array.index();
                others.contains(&from) || chain(&compared, from).contains(&array)
            };
            for access in accesses.iter().filter(behind) {
                let [at] = access.index[..] else { continue };
                let here = self.instances.entry(access.from).or_default();
                if is_state(ground, terms, at) && here.len() < INSTANCES {
                    here.insert(vec![(word, at)]);
                }
            }
        }
    }

    /// The arrays whose elements properties of an array speak of, at the same index.
    fn compared_with(
        &self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        array: usize,
    ) -> BTreeSet<usize> {
        let index: Vec<TermId> = self.index(ArrayId(array as u32));
        let mut others = BTreeSet::new();
        for &property in &self.arrays[array].properties {
            for part in terms.postorder(&[property]) {
                let args = terms.args(part).to_vec();
                if *terms.op(part) == Op::Select
                    && let Some((other, at)) = self.element_at(ground, terms, args[0], args[1])
                    && other.index() != array
                    && at == index
                {
                    others.insert(other.index());
                }
            }
        }
        others
    }
}

/// The arrays that one is compared with, and those that they are compared with, and so on.
fn chain(compared: &[BTreeSet<usize>], from: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut work: Vec<usize> = compared[from].iter().copied().collect();
    while let Some(array) = work.pop() {
        if found.insert(array) {
            work.extend(&compared[array]);
        }
    }
    found
}
