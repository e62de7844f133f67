//! Where steps access elements of arrays, and which arrays these are.

use super::address::{self, Address};
use super::versions::{is_memory, merged, root, stores};
use super::walking::Walks;
use super::{ARRAYS, Access, Array, ArrayId, Cells, FIXED, is_state};
use crate::candidates::is_literal;
use hardbop_logic::{Op, Sort, TermId, Terms};
use hardbop_semantics::layout::StateKind;
use hardbop_semantics::steps::{Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

impl Cells {
    /// The accesses of all steps to arrays by an index, and which arrays these are.
    pub(super) fn accesses(
        &mut self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        steps: &[Step],
    ) -> Vec<Access> {
        let copies = address::copies(ground, terms, steps);
        let walks = Walks::new(ground, terms, steps, &copies);
        // Where memory is accessed: the step, the memory, the address, and what is read or written.
        let mut touched = Vec::new();
        // Where memory is written by what is new in the step.
        let mut nameless = Vec::new();
        for step in steps {
            let mut roots = vec![step.condition];
            roots.extend(step.state.written().map(|(_, value)| value));
            for term in terms.postorder(&roots) {
                let args = terms.args(term).to_vec();
                if *terms.op(term) == Op::Select
                    && let Some(memory) = root(ground, terms, args[0])
                    && let Some(address) = Address::new(ground, terms, memory, args[1], &walks)
                {
                    let address = address.based(terms, &copies);
                    touched.push((step.from, memory, address, Some(term), None));
                }
            }
            for (id, value) in step.state.written() {
                if !is_memory(ground, id) {
                    continue;
                }
                let memory = ground.semantics.constant(terms, id);
                let written = stores(terms, value);
                let merged = merged(terms, value, &written);
                for (at, value) in written.into_iter().chain(merged) {
                    let address = Address::new(ground, terms, memory, at, &walks);
                    if address.is_none() || !is_state(ground, terms, at) {
                        nameless.push((step, memory, at, value));
                    }
                    if let Some(address) = address {
                        let address = address.based(terms, &copies);
                        touched.push((step.from, memory, address, None, Some(value)));
                    }
                }
            }
        }
        let bases: BTreeSet<TermId> = touched.iter().map(|(_, _, at, ..)| at.base).collect();
        for (step, memory, at, value) in nameless {
            // It has a name at the end of the step.
            let names = names_at_end(ground, terms, step, &bases);
            let (at, value) = (
                terms.substitute(at, &names),
                terms.substitute(value, &names),
            );
            if is_state(ground, terms, at)
                && let Some(address) = Address::new(ground, terms, memory, at, &walks)
            {
                let address = address.based(terms, &copies);
                touched.push((None, memory, address, None, Some(value)));
            }
        }
        self.copies = copies;
        self.walks = walks;
        for (_, memory, address, _, written) in &touched {
            if let (Some(at), Some(value)) = (address.fixed(terms), written)
                && !is_literal(terms, *value)
            {
                let element = terms.select(*memory, at);
                if matches!(terms.sort(element), Sort::BitVec(8..=64))
                    && self.fixed.len() < FIXED
                    && !self.fixed.contains(&element)
                {
                    self.fixed.push(element);
                }
            }
        }
        let tiles = grouped(touched.iter().map(|touch| (touch.1, &touch.2)));
        let tiles = tiles.into_iter();
        self.tiles = tiles
            .filter_map(|(of, addresses)| Some((of, address::tile(&addresses)?)))
            .collect();
        for (_, memory, address, ..) in &mut touched {
            *address = self.told_apart_in_tiles(terms, *memory, address.clone());
        }
        let groups = grouped(touched.iter().map(|touch| (touch.1, &touch.2)));
        for ((memory, base), addresses) in groups {
            if let Some(strides) = address::strides(&addresses)
                && self.arrays.len() < ARRAYS
            {
                let array = ArrayId(self.arrays.len() as u32);
                self.found.insert((memory, base), array);
                self.arrays.push(Array {
                    strides,
                    ..Array::default()
                });
            }
        }
        let mut accesses = Vec::new();
        for (from, memory, address, read, written) in touched {
            let Some(&array) = self.found.get(&(memory, address.base)) else {
                continue;
            };
            let strides = &self.arrays[array.index()].strides;
            if let Some(index) = address.indices(terms, strides) {
                accesses.push(Access {
                    from,
                    array,
                    memory,
                    base: address.base,
                    strides: strides.clone(),
                    index,
                    read,
                    written,
                });
            }
        }
        accesses
    }
}

/// Addresses by the memory and the array that they lie in.
fn grouped<'a>(
    touched: impl Iterator<Item = (TermId, &'a Address)>,
) -> BTreeMap<(TermId, TermId), Vec<&'a Address>> {
    let mut groups: BTreeMap<(TermId, TermId), Vec<&Address>> = BTreeMap::new();
    for (memory, address) in touched {
        let group = groups.entry((memory, address.base)).or_default();
        group.push(address);
    }
    groups
}

/// The values that variables have at the end of a step and that are no part of the state at its
/// beginning, with the variables: where there are several, one that arrays begin at.
fn names_at_end(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    step: &Step,
    bases: &BTreeSet<TermId>,
) -> BTreeMap<TermId, TermId> {
    let mut names = BTreeMap::new();
    let frontier = ground.semantics.layout.frontier();
    let frontier = ground.semantics.constant(terms, frontier);
    for (id, value) in step.state.written() {
        let kind = ground.semantics.layout.get(id).kind;
        let new =
            !is_state(ground, terms, value) || terms.free_constants(&[value]).contains(&frontier);
        if matches!(kind, StateKind::Cell { .. }) && new {
            let constant = ground.semantics.constant(terms, id);
            if bases.contains(&constant) || !names.contains_key(&value) {
                names.insert(value, constant);
            }
        }
    }
    names
}
