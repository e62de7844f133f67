//! Which elements of other arrays something is used of where an element of one is accessed.

use super::{Access, ArrayId, Cells, INSTANCES, is_state};
use hardbop_logic::{Op, TermId, Terms};
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// The most properties of an array, with those of others that its elements come to.
const MOST: usize = 24;

/// The arrays that elements of one are copied into, along a chain of copies.
pub(super) fn copied_into(terms: &Terms, accesses: &[Access], from: ArrayId) -> BTreeSet<ArrayId> {
    let mut found = BTreeSet::new();
    let mut work = vec![from];
    while let Some(from) = work.pop() {
        let own = accesses.iter().filter(|access| access.array == from);
        // What is new and written to both is the same as well.
        let new = |value: &TermId| matches!(terms.op(*value), Op::Constant(_));
        let values = |access: &Access| access.read.or(access.written.filter(new));
        let reads: BTreeSet<TermId> = own.filter_map(values).collect();
        for access in accesses {
            if access.written.is_some_and(|value| reads.contains(&value))
                && access.array != from
                && found.insert(access.array)
            {
                work.push(access.array);
            }
        }
    }
    found
}

impl Cells {
    /// What may hold of all elements of an array, wherever they are, may hold of those that are
    /// copied into it.
    pub(super) fn hand_back(&mut self, terms: &mut Terms, accesses: &[Access]) {
        for array in 0..self.arrays.len() {
            let id = ArrayId(array as u32);
            let here = accesses.iter().find(|access| access.array == id);
            let Some(here) = here.filter(|access| access.strides.len() == 1) else {
                continue;
            };
            let index = self.index(id);
            let element = here.element(terms, &index);
            for into in copied_into(terms, accesses, id) {
                let there = accesses.iter().find(|access| access.array == into);
                let Some(there) = there.filter(|access| access.strides.len() == 1) else {
                    continue;
                };
                let words = self.index(into);
                let copied = there.element(terms, &words);
                if terms.sort(copied) != terms.sort(element) {
                    continue;
                }
                for property in self.arrays[into.index()].properties.clone() {
                    let map = BTreeMap::from([(copied, element)]);
                    let said = terms.substitute(property, &map);
                    let constants = terms.free_constants(&[said]);
                    let elsewhere = words.iter().any(|word| constants.contains(word));
                    let known = &mut self.arrays[array].properties;
                    if said != property
                        && !elsewhere
                        && !known.contains(&said)
                        && known.len() < MOST
                    {
                        known.push(said);
                    }
                }
            }
        }
    }

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
