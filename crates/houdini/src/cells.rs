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

mod accesses;
pub(crate) mod address;
pub(crate) mod facts;
mod folds;
mod guesses;
mod limits;
mod others;
mod pairs;
mod pointers;
mod ranges;
mod together;
mod versions;
mod walking;

pub(crate) use versions::{root, stores, version_of};

use crate::candidates::{Hints, Variable, is_literal};
use hardbop_cfront::ids::LocId;
use hardbop_logic::{Op, Sort, TermId, Terms, atoms_of};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::folds::Fold;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::{Ground, Step};
use std::collections::{BTreeMap, BTreeSet};
use walking::Walks;

/// The most arrays that are looked at.
const ARRAYS: usize = 12;
/// The most bounds of ranges at one point, for one array.
const BOUNDS: usize = 10;
/// The most indices of one array of whose elements something is guessed by themselves.
const POINTS: usize = 4;
/// The most properties of one array.
const PROPERTIES: usize = 16;
/// The most conditions that rounds of loops are told apart by.
const ROUNDS: usize = 1;
/// The most elements at fixed addresses.
const FIXED: usize = 3;
/// The most instances of one point.
const INSTANCES: usize = 12;

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
    strides: Vec<u64>,
    /// Which element, as words as wide as an address: one for each dimension.
    index: Vec<TermId>,
    /// The element as it is read.
    read: Option<TermId>,
    /// The value that is written.
    written: Option<TermId>,
}

/// All about the elements of a program's arrays.
#[derive(Debug, Default)]
pub struct Cells {
    arrays: Vec<Array>,
    /// The arrays, by the memory that they lie in and where they begin.
    found: BTreeMap<(TermId, TermId), ArrayId>,
    /// The arbitrary words: the indices of all arrays.
    pub words: Vec<TermId>,
    /// The arrays of which elements are told apart by their places in tiles, with how far the tiles
    /// lie apart.
    tiles: BTreeMap<(TermId, TermId), i128>,
    /// The pointers that are only ever set to one thing, and what that is.
    copies: BTreeMap<TermId, TermId>,
    /// The pointers that walk through arrays.
    walks: Walks,
    /// Elements at fixed addresses that are computed with: they are like variables.
    fixed: Vec<TermId>,
    /// Sums over elements that the program computes.
    folds: Vec<folds::Found>,
    /// Conditions that some rounds of a loop over an array are told apart by.
    rounds: Vec<TermId>,
    /// What loops count with that end at an element.
    searching: BTreeSet<TermId>,
    /// What is added to, ...
    accumulators: BTreeSet<TermId>,
    /// ... and how much that may be in each round.
    rates: BTreeSet<i128>,
    /// For which words steps from a point use what is known there, ...
    instances: BTreeMap<Option<LocId>, BTreeSet<Vec<(usize, TermId)>>>,
    /// ... and for which numbers of elements it is used what one more adds to a sum.
    counts: BTreeMap<Option<LocId>, BTreeSet<(ArrayId, TermId)>>,
}

/// What is guessed at a point.
pub struct Guessed {
    /// The guesses.
    pub guesses: Vec<TermId>,
    /// The variables that they speak of beside the plain ones, ...
    pub variables: Vec<Variable>,
    /// ... and those of them that are sums: they may be in affine relations with others.
    pub sums: Vec<Variable>,
}

/// An array.
#[derive(Clone, Debug, Default)]
struct Array {
    /// How far rows and elements lie apart, one distance for each dimension.
    strides: Vec<u64>,
    /// The arbitrary indices, by their positions among all words.
    words: Vec<usize>,
    /// The arbitrary index of an element behind that one, if anything may hold of two.
    other: Option<usize>,
    /// What may hold of the element there, ...
    properties: Vec<TermId>,
    /// ... and of both.
    relations: Vec<TermId>,
    /// Indices that ranges may end with, for each dimension.
    bounds: Vec<BTreeSet<TermId>>,
    /// Those of them that the program accesses elements by.
    counters: Vec<BTreeSet<TermId>>,
    /// Indices that are written: something may be known of one element.
    points: BTreeSet<TermId>,
    /// Whether it is accessed by indices between two others.
    halved: bool,
}

impl Cells {
    /// Finds the arrays in the steps of a program.
    pub fn new(ground: &Ground<'_, '_>, terms: &mut Terms, steps: &[Step], hints: &Hints) -> Cells {
        let mut cells = Cells::default();
        let width = ground.semantics.pointer_shape().width;
        let accesses = cells.accesses(ground, terms, steps);
        for array in &mut cells.arrays {
            for _ in &array.strides {
                let name = format!(" any{}", cells.words.len());
                array.words.push(cells.words.len());
                cells.words.push(terms.constant(&name, Sort::BitVec(width)));
                array.bounds.push(BTreeSet::new());
                array.counters.push(BTreeSet::new());
            }
        }
        let starts = limits::starts(ground, terms, steps);
        for access in &accesses {
            if !access.index.iter().all(|&at| is_state(ground, terms, at)) {
                continue;
            }
            let instances = cells.instances.entry(access.from).or_default();
            let array = &mut cells.arrays[access.array.index()];
            if instances.len() < INSTANCES {
                let words = array.words.iter().copied();
                instances.insert(words.zip(access.index.iter().copied()).collect());
            }
            if let [index] = access.index[..] {
                let counts = cells.counts.entry(access.from).or_default();
                counts.insert((access.array, index));
            }
            for (dimension, &index) in access.index.iter().enumerate() {
                let first = is_literal(terms, index);
                if (access.written.is_some() || first) && access.index.len() == 1 {
                    array.points.insert(index);
                }
                if first {
                    continue;
                }
                // Of an index between two others, as a search has it that halves, these matter.
                let ends = limits::between(ground, terms, index);
                array.counters[dimension].extend(&ends);
                array.bounds[dimension].extend(&ends);
                array.halved |= !ends.is_empty();
                if ends.is_empty() {
                    array.counters[dimension].insert(index);
                    array.bounds[dimension].insert(index);
                }
                let ends = limits::ends(ground, terms, hints, &starts, &cells.walks, index);
                array.bounds[dimension].extend(ends);
                // What a loop that counts down has done begins behind its counter.
                let constants = terms.free_constants(&[index]);
                if access.written.is_some() && constants.iter().any(|at| starts.contains_key(at)) {
                    let one = terms.bv(1, terms.width(index));
                    array.bounds[dimension].insert(terms.bv_add(index, one));
                }
            }
        }
        cells.searching = limits::searching(ground, terms, steps, &accesses);
        let values = facts::values(ground, terms, &accesses, &cells);
        for (array, values) in values.iter().enumerate() {
            let id = ArrayId(array as u32);
            let index = cells.index(id);
            let here = (id, &index[..]);
            let objects = pointers::properties(ground, terms, steps, &accesses, here);
            let most = PROPERTIES + objects.len();
            let mut found = objects;
            let given = (&cells.walks, &values[..]);
            found.extend(facts::properties(
                ground, terms, steps, &accesses, here, given,
            ));
            for property in &mut found {
                *property = terms.substitute(*property, &cells.copies);
            }
            let mut seen = BTreeSet::new();
            found.retain(|&property| seen.insert(property));
            found.truncate(most);
            cells.arrays[array].properties = found;
        }
        cells.hand_back(terms, &accesses);
        cells.instances_of_others(ground, terms, &accesses);
        let violations = facts::violations(ground, terms, steps);
        cells.relate(ground, terms, steps, &violations, &accesses);
        if cells.has_arrays() {
            folds::find(ground, terms, steps, &accesses, &mut cells);
            cells.rates = folds::numbers(terms, steps);
            cells.rounds = cells.rounds_apart(terms, steps);
        }
        cells
    }

    /// Finds what may hold of two elements of one array.
    fn relate(
        &mut self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        steps: &[Step],
        violations: &[TermId],
        accesses: &[Access],
    ) {
        let atoms = pairs::conditions(terms, steps);
        for array in 0..self.arrays.len() {
            let id = ArrayId(array as u32);
            let own: Vec<&Access> = accesses.iter().filter(|a| a.array == id).collect();
            let [index] = self.index(id)[..] else {
                continue;
            };
            let word = self.words.len();
            let other = terms.constant(&format!(" any{word}"), terms.sort(index));
            let into = others::copied_into(terms, accesses, id);
            let read = accesses
                .iter()
                .filter(|a| a.array == id || into.contains(&a.array));
            let read: Vec<&Access> = read.collect();
            let indices = [index, other];
            let mut relations = pairs::relations(terms, violations, &own, &read, indices);
            // A search that halves relies on the order that its array was asked for.
            if relations.is_empty() && self.arrays[array].halved {
                relations = pairs::relations(terms, &atoms, &own, &own, indices);
            }
            if let Some(access) = own.first() {
                relations.extend(pointers::relations(ground, terms, access, [index, other]));
            }
            if !relations.is_empty() {
                self.words.push(other);
                self.arrays[array].other = Some(word);
                self.arrays[array].relations = relations;
            }
        }
        self.instances_of_two();
    }

    /// The arbitrary indices of an array.
    fn index(&self, array: ArrayId) -> Vec<TermId> {
        let words = self.arrays[array.index()].words.iter();
        words.map(|&word| self.words[word]).collect()
    }

    /// Conditions that say of a counter that it is a number.
    fn rounds_apart(&self, terms: &mut Terms, steps: &[Step]) -> Vec<TermId> {
        let mut counters = BTreeSet::new();
        for &counter in self.arrays.iter().flat_map(|a| a.counters.iter().flatten()) {
            counters.extend(terms.free_constants(&[counter]));
        }
        let conditions: Vec<TermId> = steps.iter().map(|step| step.condition).collect();
        let mut found = Vec::new();
        for atom in atoms_of(terms, &conditions) {
            let args = terms.args(atom);
            if *terms.op(atom) == Op::Eq
                && args.iter().any(|arg| counters.contains(arg))
                && args.iter().any(|&arg| is_literal(terms, arg))
                && found.len() < ROUNDS
            {
                found.push(atom);
            }
        }
        found
    }

    /// The conditions that are told apart at a point, as variables that are one or zero.
    pub fn told_apart(
        &self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        live: &Live,
    ) -> Vec<Variable> {
        told_apart(ground, terms, live, &self.rounds)
    }

    /// What loops over arrays count to, or found: it may be spoken of where the program has forgotten
    /// it.
    pub fn limits(&self, ground: &Ground<'_, '_>, terms: &Terms) -> BTreeSet<StateVarId> {
        let mut found = BTreeSet::new();
        for &counter in &self.searching {
            if let Some(Meaning::Now(id)) = ground.constants.meaning(counter) {
                found.insert(id);
            }
        }
        // What is known of an array that pointers lead to is said of where they all come from.
        let walks = self.walks.all().map(|(_, walk)| walk.from);
        for base in self.copies.values().copied().chain(walks) {
            if let Some(Meaning::Now(id)) = ground.constants.meaning(base)
                && self.found.keys().any(|&(_, start)| start == base)
            {
                found.insert(id);
            }
        }
        for array in &self.arrays {
            for (bounds, counters) in array.bounds.iter().zip(&array.counters) {
                for &bound in bounds.difference(counters) {
                    for constant in terms.free_constants(&[bound]) {
                        if let Some(Meaning::Now(id)) = ground.constants.meaning(constant) {
                            found.insert(id);
                        }
                    }
                }
            }
        }
        found
    }

    /// Whether there are arrays that are accessed by an index.
    pub fn has_arrays(&self) -> bool {
        !self.arrays.is_empty()
    }

    /// The elements at fixed addresses that are known at a point, as variables.
    pub fn fixed(&self, ground: &Ground<'_, '_>, terms: &mut Terms, live: &Live) -> Vec<Variable> {
        let mut found = Vec::new();
        for &element in &self.fixed {
            if is_known(ground, terms, live, element) {
                let sort = terms.sort(element);
                let constant = terms.constant(&format!("#fixed {element:?}"), sort);
                let variable = Variable::unsigned(terms, constant, element);
                found.push(Variable {
                    signed: true,
                    ..variable
                });
            }
        }
        found
    }

    /// For which words what is known of a point is used besides: words by their positions, with the
    /// terms in their places.
    pub fn instances(&self, at: LocId) -> impl Iterator<Item = &Vec<(usize, TermId)>> + '_ {
        self.instances.get(&Some(at)).into_iter().flatten()
    }

    /// The sums that guesses speak of.
    pub fn folds(&self) -> impl Iterator<Item = &Fold> + '_ {
        self.folds.iter().map(|found| &found.fold)
    }

    /// For which numbers of elements it is used, in steps from a point, what one more adds to the
    /// sum of a fold.
    pub fn counts(&self, fold: usize, at: LocId) -> impl Iterator<Item = TermId> + '_ {
        let array = self.folds[fold].array;
        let here = self.counts.get(&Some(at)).into_iter().flatten();
        here.filter(move |of| of.0 == array).map(|of| of.1)
    }

    /// A formula with terms in the places of words, and what is known of the sums in it.
    pub fn put_in(
        &self,
        terms: &mut Terms,
        at: LocId,
        formula: TermId,
        map: &BTreeMap<TermId, TermId>,
    ) -> TermId {
        let mut all = map.clone();
        let mut facts = Vec::new();
        for (number, found) in self.folds.iter().enumerate() {
            let fold = found.fold.with(terms, map);
            if fold.sums != found.fold.sums || map.is_empty() {
                for count in self.counts(number, at) {
                    facts.push(fold.next(terms, count));
                }
            }
            all.insert(found.fold.sums, fold.sums);
        }
        facts.push(terms.substitute(formula, &all));
        terms.and(&facts)
    }
}

impl Array {
    /// The same, where indices have other names.
    fn with(&self, terms: &mut Terms, names: &BTreeMap<TermId, TermId>) -> Array {
        let mut named = |all: &BTreeSet<TermId>| -> BTreeSet<TermId> {
            let all = all.iter().map(|&at| terms.substitute(at, names));
            all.collect()
        };
        Array {
            bounds: self.bounds.iter().map(&mut named).collect(),
            counters: self.counters.iter().map(&mut named).collect(),
            points: named(&self.points),
            ..self.clone()
        }
    }
}

/// Conditions that are told apart where all that they speak of is live, as variables that are one or
/// zero.
pub(crate) fn told_apart(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    live: &Live,
    conditions: &[TermId],
) -> Vec<Variable> {
    let mut found = Vec::new();
    for &condition in conditions {
        if is_known(ground, terms, live, condition) {
            let (zero, one) = (terms.bv(0, 8), terms.bv(1, 8));
            let term = terms.ite(condition, one, zero);
            let name = format!("#told {condition:?}");
            let constant = terms.constant(&name, terms.sort(term));
            found.push(Variable::unsigned(terms, constant, term));
        }
    }
    found
}

/// Whether all of the state that a term speaks of is live.
pub(crate) fn is_known(ground: &Ground<'_, '_>, terms: &Terms, live: &Live, term: TermId) -> bool {
    let here = terms.free_constants(&[term]);
    here.iter().all(|&at| match ground.constants.meaning(at) {
        Some(Meaning::Now(id)) => live.now.contains(&id),
        Some(Meaning::Origin) | None => true,
        Some(Meaning::Old(_)) => false,
    })
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
