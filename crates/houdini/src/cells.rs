//! Facts about all elements of an array, by one element that is any of them.
//!
//! The index of the element is an arbitrary word: what is guessed of it, and survives, holds for
//! every index (Monniaux and Gonnord: An encoding of array verification problems into array-free
//! Horn clauses, 2016; guesses from the program's own text as in FreqHorn, CAV 2019). A guess says
//! that all elements below or from an index on have a property: the indices are those that the
//! program accesses, the properties are its conditions and what it stores, said of that element.
//!
//! A step may use what is known of a point for each element that it accesses: these are the
//! *instances*, which the claim names and the gate takes as well.

pub(crate) mod address;
pub(crate) mod facts;

use crate::candidates::{Hints, Variable, is_literal};
use address::Address;
use hardbop_cfront::ids::LocId;
use hardbop_logic::{Op, Sign, Sort, TermId, Terms, Value};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::{Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// The most arrays that are looked at.
const ARRAYS: usize = 6;
/// The most bounds of ranges at one point, for one array.
const BOUNDS: usize = 10;
/// With so many bounds, ranges are between two of them, too.
const FEW: usize = 5;
/// The most indices of one array of whose elements something is guessed by themselves.
const POINTS: usize = 4;
/// The most properties of one array.
const PROPERTIES: usize = 16;
/// The most instances of one point.
const INSTANCES: usize = 8;

/// An array, by its number: that of its arbitrary word in claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArrayId(pub u32);

impl ArrayId {
    /// Its position among the arrays.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An access in a step.
#[derive(Clone, Debug)]
struct Access {
    /// Where the step begins.
    from: Option<LocId>,
    /// Which array, ...
    array: ArrayId,
    /// ... and where it lies.
    memory: TermId,
    base: TermId,
    stride: u64,
    /// Which element, as a word as wide as an address.
    index: TermId,
    /// The element as it is read.
    read: Option<TermId>,
    /// The value that is written.
    written: Option<TermId>,
}

/// All about the elements of a program's arrays.
#[derive(Debug, Default)]
pub struct Cells {
    /// How far the elements of each array lie apart.
    strides: Vec<u64>,
    /// The arrays, by the memory that they lie in and where they begin.
    arrays: BTreeMap<(TermId, TermId), ArrayId>,
    /// The arbitrary index of each array.
    pub indices: Vec<TermId>,
    /// What may hold of the element at that index.
    properties: Vec<Vec<TermId>>,
    /// Indices that ranges may end with.
    bounds: Vec<BTreeSet<TermId>>,
    /// Indices that are written: something may be known of one element.
    points: Vec<BTreeSet<TermId>>,
    /// For which indices steps from a point use what is known there.
    instances: BTreeMap<Option<LocId>, BTreeSet<(ArrayId, TermId)>>,
}

impl Cells {
    /// Finds the arrays in the steps of a program.
    pub fn new(ground: &Ground<'_, '_>, terms: &mut Terms, steps: &[Step], hints: &Hints) -> Cells {
        let mut cells = Cells::default();
        let width = ground.semantics.pointer_shape().width;
        let accesses = cells.accesses(ground, terms, steps);
        for array in 0..cells.strides.len() {
            let index = terms.constant(&format!(" any{array}"), Sort::BitVec(width));
            cells.indices.push(index);
            cells.properties.push(Vec::new());
            cells.bounds.push(BTreeSet::new());
            cells.points.push(BTreeSet::new());
        }
        for access in &accesses {
            if !is_state(ground, terms, access.index) {
                continue;
            }
            let instances = cells.instances.entry(access.from).or_default();
            if instances.len() < INSTANCES {
                instances.insert((access.array, access.index));
            }
            if access.written.is_some() {
                cells.points[access.array.index()].insert(access.index);
            }
            if is_literal(terms, access.index) {
                continue;
            }
            let bounds = &mut cells.bounds[access.array.index()];
            bounds.insert(access.index);
            for constant in terms.free_constants(&[access.index]) {
                for &literal in hints.literals_of(constant) {
                    if let Some(Value::BitVec(bits)) = terms.value_of(literal)
                        && let Ok(number) = i128::try_from(bits.signed())
                    {
                        bounds.insert(terms.bv(number, width));
                    }
                }
                for other in hints.compared_to(constant) {
                    if let Sort::BitVec(narrow) = terms.sort(other)
                        && narrow <= width
                        && is_state(ground, terms, other)
                        && !is_literal(terms, other)
                    {
                        bounds.insert(terms.resize(other, width, Sign::Signed));
                    }
                }
            }
        }
        for (array, found) in cells.properties.iter_mut().enumerate() {
            let index = cells.indices[array];
            let array = ArrayId(array as u32);
            *found = facts::properties(ground, terms, steps, &accesses, array, index);
            found.truncate(PROPERTIES);
        }
        cells
    }

    /// The accesses of all steps to arrays by an index, and which arrays these are.
    fn accesses(
        &mut self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        steps: &[Step],
    ) -> Vec<Access> {
        let copies = address::copies(ground, terms, steps);
        // Where memory is accessed: the step, the memory, the address, and what is read or written.
        let mut touched = Vec::new();
        for step in steps {
            let mut roots = vec![step.condition];
            roots.extend(step.state.written().map(|(_, value)| value));
            for term in terms.postorder(&roots) {
                let args = terms.args(term).to_vec();
                if *terms.op(term) == Op::Select
                    && let Some(memory) = root(ground, terms, args[0])
                    && let Some(address) = Address::new(ground, terms, memory, args[1])
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
                for (address, value) in stores(terms, value) {
                    if let Some(address) = Address::new(ground, terms, memory, address) {
                        let address = address.based(terms, &copies);
                        touched.push((step.from, memory, address, None, Some(value)));
                    }
                }
            }
        }
        let mut groups: BTreeMap<(TermId, TermId), Vec<&Address>> = BTreeMap::new();
        for (_, memory, address, ..) in &touched {
            groups
                .entry((*memory, address.base))
                .or_default()
                .push(address);
        }
        for ((memory, base), addresses) in groups {
            if let Some(stride) = address::stride(&addresses)
                && self.strides.len() < ARRAYS
            {
                let array = ArrayId(self.strides.len() as u32);
                self.arrays.insert((memory, base), array);
                self.strides.push(stride);
            }
        }
        let mut accesses = Vec::new();
        for (from, memory, address, read, written) in touched {
            let Some(&array) = self.arrays.get(&(memory, address.base)) else {
                continue;
            };
            let stride = self.strides[array.index()];
            if let Some(index) = address.index(terms, stride) {
                accesses.push(Access {
                    from,
                    array,
                    memory,
                    base: address.base,
                    stride,
                    index,
                    read,
                    written,
                });
            }
        }
        accesses
    }

    /// What is guessed at a point, and the variables that the guesses speak of beside the plain ones.
    pub fn guesses(
        &self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        live: &Live,
        plain: &[Variable],
    ) -> (Vec<TermId>, Vec<Variable>) {
        let mut guesses = Vec::new();
        let mut variables: BTreeMap<TermId, Variable> = BTreeMap::new();
        for (array, properties) in self.properties.iter().enumerate() {
            let index = self.indices[array];
            variables.insert(index, Variable::unsigned(terms, index, index));
            let zero = terms.bv(0, terms.width(index));
            let first = terms.bv_sle(zero, index);
            let mut bounds = Vec::new();
            for &bound in self.bounds[array].iter().take(BOUNDS) {
                if self.speaks_of(ground, terms, live, plain, bound, &variables) {
                    bounds.push(bound);
                }
            }
            let mut ranges = ranges(terms, index, first, &bounds);
            for &point in self.points[array].iter().take(POINTS) {
                if !self.speaks_of(ground, terms, live, plain, point, &variables) {
                    continue;
                }
                ranges.push(terms.eq(index, point));
                // A search comes no further than to what it looks for.
                for &bound in bounds.iter().filter(|&&bound| bound != point) {
                    if !is_literal(terms, bound) {
                        guesses.push(terms.bv_sle(bound, point));
                    }
                }
            }
            for &property in properties {
                let mut ranges = ranges.clone();
                for (other, at) in self.other_indices(ground, terms, property, index) {
                    for &bound in self.bounds[other.index()].iter().take(BOUNDS) {
                        if self.speaks_of(ground, terms, live, plain, bound, &variables) {
                            ranges.push(inside(terms, first, [at, index], bound));
                        }
                    }
                }
                let property = self.named(terms, property, &mut variables);
                if !self.speaks_of(ground, terms, live, plain, property, &variables) {
                    continue;
                }
                for &range in &ranges {
                    guesses.push(terms.implies(range, property));
                }
            }
        }
        let used: BTreeSet<TermId> = guesses
            .iter()
            .flat_map(|&guess| terms.free_constants(&[guess]))
            .collect();
        let known: BTreeSet<TermId> = plain.iter().map(|variable| variable.constant).collect();
        let variables = variables
            .into_values()
            .filter(|v| used.contains(&v.constant) && !known.contains(&v.constant));
        (guesses, variables.collect())
    }

    /// Where else a property looks than at the element at an index, if that depends on it.
    fn other_indices(
        &self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        property: TermId,
        index: TermId,
    ) -> Vec<(ArrayId, TermId)> {
        let mut found = Vec::new();
        for part in terms.postorder(&[property]) {
            let args = terms.args(part).to_vec();
            if *terms.op(part) == Op::Select
                && let Some(address) = Address::new(ground, terms, args[0], args[1])
                && let Some(&array) = self.arrays.get(&(args[0], address.base))
                && let Some(other) = address.index(terms, self.strides[array.index()])
                && other != index
                && terms.free_constants(&[other]).contains(&index)
                && !found.contains(&(array, other))
            {
                found.push((array, other));
            }
        }
        found
    }

    /// A property with names for the elements in it.
    fn named(
        &self,
        terms: &mut Terms,
        property: TermId,
        variables: &mut BTreeMap<TermId, Variable>,
    ) -> TermId {
        let mut map = BTreeMap::new();
        for term in terms.postorder(&[property]) {
            if *terms.op(term) == Op::Select {
                let sort = terms.sort(term);
                let constant = terms.constant(&format!("#element {term:?}"), sort);
                if let Sort::BitVec(1..=64) = sort {
                    variables.insert(constant, Variable::unsigned(terms, constant, term));
                }
                map.insert(term, constant);
            }
        }
        terms.substitute(property, &map)
    }

    /// Whether all that a formula speaks of is known at a point: plain variables, elements, indices.
    fn speaks_of(
        &self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        live: &Live,
        plain: &[Variable],
        formula: TermId,
        variables: &BTreeMap<TermId, Variable>,
    ) -> bool {
        for constant in terms.free_constants(&[formula]) {
            if plain.iter().any(|variable| variable.constant == constant) {
                continue;
            }
            if let Some(variable) = variables.get(&constant) {
                let term = variable.term;
                let here = terms.free_constants(&[term]);
                let lives = |&at: &TermId| match ground.constants.meaning(at) {
                    Some(Meaning::Now(id)) => live.now.contains(&id),
                    Some(Meaning::Origin) | None => true,
                    Some(Meaning::Old(_)) => false,
                };
                if here.iter().all(lives) {
                    continue;
                }
                return false;
            }
            return false;
        }
        true
    }

    /// For which indices what is known of a point is used besides.
    pub fn instances(&self, at: LocId) -> impl Iterator<Item = (ArrayId, TermId)> + '_ {
        self.instances.get(&Some(at)).into_iter().flatten().copied()
    }
}

/// The ranges of indices that guesses speak of: below an index, from one on, and between two.
fn ranges(terms: &mut Terms, index: TermId, first: TermId, bounds: &[TermId]) -> Vec<TermId> {
    let mut found = vec![first];
    for &bound in bounds {
        let below = terms.bv_slt(index, bound);
        found.push(terms.and(&[first, below]));
    }
    for &bound in bounds {
        if is_literal(terms, bound) {
            continue;
        }
        let above = terms.bv_sle(bound, index);
        if bounds.len() > FEW {
            found.push(terms.and(&[first, above]));
            continue;
        }
        for &end in bounds.iter().filter(|&&end| end != bound) {
            let below = terms.bv_slt(index, end);
            found.push(terms.and(&[first, above, below]));
        }
    }
    found
}

/// The range in which two indices are below a bound.
fn inside(terms: &mut Terms, first: TermId, indices: [TermId; 2], bound: TermId) -> TermId {
    let below = indices.map(|index| terms.bv_slt(index, bound));
    terms.and(&[first, below[0], below[1]])
}

/// What is written on the way to a version of an array: addresses and values.
pub(crate) fn stores(terms: &Terms, array: TermId) -> Vec<(TermId, TermId)> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut work = vec![array];
    while let Some(array) = work.pop() {
        if !seen.insert(array) {
            continue;
        }
        let args = terms.args(array);
        match terms.op(array) {
            Op::Store => {
                found.push((args[1], args[2]));
                work.push(args[0]);
            }
            Op::Ite => work.extend(&args[1..]),
            _ => {}
        }
    }
    found
}

/// The memory of the state that an array term is a version of.
pub(crate) fn root(ground: &Ground<'_, '_>, terms: &Terms, array: TermId) -> Option<TermId> {
    let constant = version_of(ground, terms, array)?;
    let Some(Meaning::Now(id)) = ground.constants.meaning(constant) else {
        return None;
    };
    is_memory(ground, id).then_some(constant)
}

/// The array of the state that an array term is a version of.
pub(crate) fn version_of(
    ground: &Ground<'_, '_>,
    terms: &Terms,
    mut array: TermId,
) -> Option<TermId> {
    loop {
        match terms.op(array) {
            Op::Store => array = terms.args(array)[0],
            Op::Ite => array = terms.args(array)[1],
            Op::Constant(_) => {
                let meaning = ground.constants.meaning(array);
                return matches!(meaning, Some(Meaning::Now(_))).then_some(array);
            }
            _ => return None,
        }
    }
}

fn is_memory(ground: &Ground<'_, '_>, id: StateVarId) -> bool {
    use hardbop_semantics::layout::StateKind;
    matches!(
        ground.semantics.layout.get(id).kind,
        StateKind::Memory { .. }
    )
}

/// Whether a term speaks of nothing but single values of the state.
fn is_state(ground: &Ground<'_, '_>, terms: &Terms, term: TermId) -> bool {
    terms.free_constants(&[term]).into_iter().all(|constant| {
        match ground.constants.meaning(constant) {
            Some(Meaning::Now(id)) => !ground.semantics.layout.get(id).kind.is_array(),
            Some(Meaning::Origin) => true,
            _ => false,
        }
    })
}
