//! What is guessed of elements and sums at a point.

use super::address::Address;
use super::{ArrayId, BOUNDS, Cells, Guessed, POINTS, folds, is_known, pairs, ranges};
use crate::candidates::{Variable, is_literal};
use hardbop_budget::Budget;
use hardbop_logic::{
    Answer, Limits, Op, Session, Sort, TermId, Terms, Z3Options, Z3Solver, multiplies,
};
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// What a question about a range may cost.
const EMPTY: Limits = Limits {
    time: None,
    steps: Some(200_000),
};

impl Guessed {
    /// Leaves out what is said of ranges that are empty as far as plain variables tell: it is no
    /// news, and every question would speak of it.
    pub fn drop_empty(&mut self, terms: &mut Terms, known: TermId, budget: &Budget) {
        let solver = Box::new(Z3Solver::new(Z3Options::default()));
        let mut session = Session::new(solver, budget.clone());
        session.set_limits(EMPTY);
        session.assert(terms, known);
        let places: BTreeMap<TermId, TermId> = self
            .variables
            .iter()
            .map(|at| (at.constant, at.term))
            .collect();
        let mut empty: BTreeMap<TermId, bool> = BTreeMap::new();
        self.guesses.retain(|&guess| {
            let parts = match terms.op(guess) {
                Op::Or => terms.args(guess).to_vec(),
                _ => Vec::new(),
            };
            // One side is the range: no index is in it.
            !parts.into_iter().any(|part| {
                let Some(range) = terms.negated(part) else {
                    return false;
                };
                *empty.entry(range).or_insert_with(|| {
                    let range = terms.substitute(range, &places);
                    session.check(terms, &[range]) == Answer::Unsat
                })
            })
        });
    }
}

impl Cells {
    /// What is guessed at a point, and the variables that the guesses speak of beside the plain ones.
    pub fn guesses(
        &self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        live: &Live,
        plain: &[Variable],
    ) -> Guessed {
        let mut guesses = Vec::new();
        let mut sums = Vec::new();
        let mut variables: BTreeMap<TermId, Variable> = BTreeMap::new();
        for &word in &self.words {
            variables.insert(word, Variable::unsigned(terms, word, word));
        }
        // Objects that are there lie below where memory ends.
        let frontier = ground.semantics.layout.frontier();
        if self.has_arrays() && live.now.contains(&frontier) {
            let frontier = ground.semantics.constant(terms, frontier);
            variables.insert(frontier, Variable::unsigned(terms, frontier, frontier));
        }
        // What arrays are reached by is what it was set to.
        let arrays = self.has_arrays();
        for (&pointer, &base) in self.copies.iter().filter(|_| arrays) {
            let sort = terms.sort(base);
            let constant = terms.constant(&format!("#base {base:?}"), sort);
            variables.insert(constant, Variable::unsigned(terms, constant, base));
            if self.speaks_of(ground, terms, live, plain, constant, &variables)
                && self.speaks_of(ground, terms, live, plain, pointer, &variables)
            {
                guesses.push(terms.eq(pointer, constant));
            }
        }
        let places = self.places(ground, terms, live, &mut variables);
        // Arrays do not go around the end of memory.
        for (&(_, from), array) in self
            .found
            .iter()
            .filter(|_| !places.is_empty() || !self.walks.is_empty())
        {
            let array = &self.arrays[array.index()];
            if !plain.iter().any(|variable| variable.constant == from) || array.words.len() != 1 {
                continue;
            }
            for &bound in &array.bounds[0] {
                let stride = terms.bv(array.strides[0].into(), terms.width(bound));
                let bytes = terms.bv_mul(stride, bound);
                let end = terms.bv_add(from, bytes);
                let inside = terms.bv_ule(from, end);
                if self.speaks_of(ground, terms, live, plain, inside, &variables) {
                    guesses.push(inside);
                }
            }
        }
        for (index, place) in &places {
            guesses.extend(self.between_no_elements(terms, *index, place, &mut variables));
        }
        sums.extend(places.values().copied());
        let places: BTreeMap<TermId, TermId> = places
            .into_iter()
            .map(|(index, variable)| (index, variable.constant))
            .collect();
        for (id, array) in self.arrays.iter().enumerate() {
            let index = self.index(ArrayId(id as u32));
            let array = &array.with(terms, &places);
            let spoken_of = |terms: &mut Terms, all: &BTreeSet<TermId>| {
                let mut here = Vec::new();
                for &bound in all.iter().take(BOUNDS) {
                    if self.speaks_of(ground, terms, live, plain, bound, &variables) {
                        here.push(bound);
                    }
                }
                here
            };
            let mut holes = spoken_of(terms, &array.points);
            holes.retain(|&hole| !is_literal(terms, hole));
            let bounds: Vec<Vec<TermId>> = array
                .bounds
                .iter()
                .map(|bounds| spoken_of(terms, bounds))
                .collect();
            let ranges = match index[..] {
                [index] => {
                    let zero = terms.bv(0, terms.width(index));
                    let first = terms.bv_sle(zero, index);
                    let mut ranges =
                        ranges::of_one(terms, index, first, &bounds[0], &array.counters[0]);
                    for &point in array.points.iter().take(POINTS) {
                        if !self.speaks_of(ground, terms, live, plain, point, &variables) {
                            continue;
                        }
                        ranges.push(terms.eq(index, point));
                        // A search comes no further than to what it looks for.
                        for &bound in bounds[0].iter().filter(|&&bound| bound != point) {
                            if !is_literal(terms, bound) {
                                guesses.push(terms.bv_sle(bound, point));
                                guesses.push(terms.bv_ule(bound, point));
                            }
                        }
                    }
                    ranges
                }
                _ => ranges::of_rows(terms, &index, &bounds, &array.counters),
            };
            // A pointer comes no further than to where its array ends.
            for &place in bounds[0]
                .iter()
                .filter(|place| index.len() == 1 && places.values().any(|at| at == *place))
            {
                let zero = terms.bv(0, terms.width(place));
                guesses.push(terms.bv_sle(zero, place));
                for &bound in bounds[0].iter().filter(|&&bound| bound != place) {
                    guesses.push(terms.bv_sle(place, bound));
                    guesses.push(terms.bv_slt(place, bound));
                }
            }
            for &property in &array.properties {
                let mut ranges = ranges.clone();
                for (other, at) in self.other_indices(ground, terms, property, &index) {
                    let zero = terms.bv(0, terms.width(index[0]));
                    let first = terms.bv_sle(zero, index[0]);
                    for &bound in self.arrays[other.index()].bounds[0].iter().take(BOUNDS) {
                        let bound = terms.substitute(bound, &places);
                        if self.speaks_of(ground, terms, live, plain, bound, &variables) {
                            ranges.push(ranges::inside(terms, first, [at, index[0]], bound));
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
            if let (&[index], Some(other)) = (&index[..], array.other) {
                let both = [index, self.words[other]];
                let ranges = pairs::ranges(terms, both, &bounds[0], &array.counters[0], &holes);
                for &relation in &array.relations {
                    let relation = self.named(terms, relation, &mut variables);
                    if self.speaks_of(ground, terms, live, plain, relation, &variables) {
                        let all = ranges.iter();
                        guesses.extend(all.map(|&range| terms.implies(range, relation)));
                    }
                }
            }
        }
        guesses.extend(folds::rates(terms, self, plain));
        for found in &self.folds {
            let array = &self.arrays[found.array.index()];
            let (mut counts, mut counters) = (Vec::new(), Vec::new());
            let one = terms.bv(1, terms.width(found.fold.base));
            let array = &array.with(terms, &places);
            let bounds: Vec<TermId> = array.bounds[0].iter().take(BOUNDS).copied().collect();
            for bound in bounds {
                if !self.speaks_of(ground, terms, live, plain, bound, &variables) {
                    continue;
                }
                counts.push(bound);
                if array.counters[0].contains(&bound) {
                    counters.push(bound);
                    // What a loop that counts down has not come to.
                    counts.push(terms.bv_add(bound, one));
                }
            }
            for guess in found.guesses(terms, &self.words, &counts, &counters, plain) {
                let guess = self.named(terms, guess, &mut variables);
                if self.speaks_of(ground, terms, live, plain, guess, &variables) {
                    guesses.push(guess);
                }
            }
            // Others are in no affine relation with anything.
            for &count in counts.iter().filter(|_| found.is_linear()) {
                let sum = found.fold.first(terms, count);
                let name = self.named(terms, sum, &mut variables);
                if let Some(&sum) = variables.get(&name)
                    && !sums.contains(&sum)
                    && self.speaks_of(ground, terms, live, plain, name, &variables)
                {
                    sums.push(sum);
                }
            }
        }
        let used: BTreeSet<TermId> = guesses
            .iter()
            .flat_map(|&guess| terms.free_constants(&[guess]))
            .chain(sums.iter().map(|sum| sum.constant))
            .collect();
        let known: BTreeSet<TermId> = plain.iter().map(|variable| variable.constant).collect();
        let variables = variables
            .into_values()
            .filter(|v| used.contains(&v.constant) && !known.contains(&v.constant));
        Guessed {
            guesses,
            variables: variables.collect(),
            sums,
        }
    }

    /// That a pointer that walks is at an element, and not between two.
    fn between_no_elements(
        &self,
        terms: &mut Terms,
        index: TermId,
        place: &Variable,
        variables: &mut BTreeMap<TermId, Variable>,
    ) -> Option<TermId> {
        let (pointer, walk) = self.walks.all().find(|(_, walk)| walk.index == index)?;
        if walk.step == 1 {
            return None;
        }
        let bytes = terms.bv_sub(pointer, walk.from);
        let low = terms.bv(walk.step - 1, place.width);
        let rest = terms.bv_and(bytes, low);
        let constant = terms.constant(&format!("#rest {pointer:?}"), terms.sort(rest));
        variables.insert(constant, Variable::unsigned(terms, constant, rest));
        let zero = terms.bv(0, place.width);
        Some(terms.eq(constant, zero))
    }

    /// The places of pointers that walk and are known at a point, with their names.
    fn places(
        &self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        live: &Live,
        variables: &mut BTreeMap<TermId, Variable>,
    ) -> BTreeMap<TermId, Variable> {
        let mut found = BTreeMap::new();
        for (_, place) in self.walks.named(terms) {
            if self.has_arrays() && is_known(ground, terms, live, place.term) {
                variables.insert(place.constant, place);
                found.insert(place.term, place);
            }
        }
        found
    }

    /// An address, as one in the array of those elements that have its place in their tiles.
    pub(super) fn told_apart_in_tiles(
        &self,
        terms: &mut Terms,
        memory: TermId,
        address: Address,
    ) -> Address {
        match self.tiles.get(&(memory, address.base)) {
            Some(&tile) => address.apart(terms, tile),
            None => address,
        }
    }

    /// Which element of which array lies at an address.
    pub(super) fn element_at(
        &self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        memory: TermId,
        address: TermId,
    ) -> Option<(ArrayId, Vec<TermId>)> {
        let address = Address::new(ground, terms, memory, address, &self.walks)?;
        let address = self.told_apart_in_tiles(terms, memory, address);
        let &array = self.found.get(&(memory, address.base))?;
        let strides = &self.arrays[array.index()].strides;
        let index = address.indices(terms, strides)?;
        Some((array, index))
    }

    /// Where else a property looks than at the element at an index, if that depends on it; for
    /// arrays of one dimension.
    fn other_indices(
        &self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        property: TermId,
        index: &[TermId],
    ) -> Vec<(ArrayId, TermId)> {
        let mut found = Vec::new();
        let &[index] = index else { return found };
        for part in terms.postorder(&[property]) {
            let args = terms.args(part).to_vec();
            if *terms.op(part) == Op::Select
                && let Some((array, at)) = self.element_at(ground, terms, args[0], args[1])
                && let [other] = at[..]
                && other != index
                && terms.free_constants(&[other]).contains(&index)
                && !found.contains(&(array, other))
            {
                found.push((array, other));
            }
        }
        found
    }

    /// A property with names for the elements in it, and for products: solvers that do not look
    /// into these say what they are, too.
    fn named(
        &self,
        terms: &mut Terms,
        property: TermId,
        variables: &mut BTreeMap<TermId, Variable>,
    ) -> TermId {
        let mut map = BTreeMap::new();
        for (_, place) in self.walks.named(terms) {
            if variables.contains_key(&place.constant) {
                map.insert(place.term, place.constant);
            }
        }
        for term in terms.postorder(&[property]) {
            if *terms.op(term) == Op::Select {
                let sort = terms.sort(term);
                let constant = terms.constant(&format!("#element {term:?}"), sort);
                if let Sort::BitVec(1..=64) = sort {
                    variables.insert(constant, Variable::unsigned(terms, constant, term));
                }
                map.insert(term, constant);
            } else if *terms.op(term) == Op::BvMul && multiplies(terms, &[term]) {
                let sort = terms.sort(term);
                let constant = terms.constant(&format!("#product {term:?}"), sort);
                if let Sort::BitVec(1..=64) = sort {
                    variables.insert(constant, Variable::unsigned(terms, constant, term));
                    map.insert(term, constant);
                }
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
                if is_known(ground, terms, live, variable.term) {
                    continue;
                }
                return false;
            }
            return false;
        }
        true
    }
}
