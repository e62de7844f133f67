//! What is known of a cut point: for every combination of modes that was met there, the guesses
//! that no state refuted and the affine hull of the states.
//!
//! A *mode* is a variable that holds one of the program's literals whatever happens: the state of
//! a state machine, a flag; or an argument of a recursive function (see [`crate::modes`]).
//! Invariants of programs that have such are different in every mode, so modes are told apart as
//! long as they are not too many.

use crate::affine::{Equation, Hull};
use crate::candidates::Variable;
use crate::modes::{Key, Mode, distinct, without};
use hardbop_logic::{Assignment, TermId, Terms, Value, eval};
use std::collections::{BTreeMap, BTreeSet};

/// The most points that a hull takes before it is given up: words have many bits.
const POINTS: u32 = 48;
/// The most variables of a hull.
const DIMENSIONS: usize = 16;
/// So many combinations of modes are asked about one by one where it is not known what comes.
const FEW: usize = 4;
/// The most combinations of modes.
const CELLS: usize = 160;

/// What is known of a cut point.
#[derive(Debug)]
pub struct Place {
    variables: Vec<Variable>,
    /// The variables that are told apart by their values.
    modes: Vec<Mode>,
    /// The others, and those of which not every value counts.
    others: Vec<Variable>,
    /// The guesses that speak of elements at arbitrary indices, or of sums.
    about_elements: BTreeSet<TermId>,
    /// What is guessed before any state comes.
    guesses: Vec<TermId>,
    /// What is known of each combination of modes that was met.
    cells: BTreeMap<Vec<Key>, Cell>,
    /// How often anything changed.
    changes: u64,
}

/// A part of what is known of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    All,
    /// What is said of plain variables, and by affine relations.
    Plain,
    /// What is said of elements at arbitrary indices, and of sums.
    Elements,
}

impl Part {
    /// Whether it has the guesses that are about elements, or those that are not.
    fn has(self, about_elements: bool) -> bool {
        match self {
            Part::All => true,
            Part::Plain => !about_elements,
            Part::Elements => about_elements,
        }
    }
}

/// What is known of one combination of modes.
#[derive(Clone, Debug)]
struct Cell {
    /// The guesses that no state refuted.
    guesses: Vec<TermId>,
    /// The hulls of the variables of one width each.
    hulls: Vec<(u32, Vec<TermId>, Hull)>,
    points: u32,
    /// Whether steps from here are still to be followed.
    new: bool,
    /// The change of its place that was its last one.
    changed: u64,
}

impl Place {
    /// A point that nothing has reached.
    pub fn new(
        variables: Vec<Variable>,
        modes: Vec<Mode>,
        others: Vec<Variable>,
        guesses: Vec<TermId>,
        about_elements: BTreeSet<TermId>,
    ) -> Place {
        Place {
            about_elements,
            variables,
            modes,
            others,
            guesses,
            cells: BTreeMap::new(),
            changes: 0,
        }
    }

    /// What is spoken of.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Whether anything came here.
    pub fn is_reached(&self) -> bool {
        !self.cells.is_empty()
    }

    /// Whether anything is said of elements at arbitrary indices.
    pub fn is_quantified(&self) -> bool {
        !self.about_elements.is_empty()
    }

    /// Whether arguments of a recursive function are told apart.
    pub fn has_arguments(&self) -> bool {
        self.modes.iter().any(Mode::has_window)
    }

    /// How many guesses are left.
    pub fn left(&self) -> usize {
        self.cells.values().map(|cell| cell.guesses.len()).sum()
    }

    /// What holds of all states that came here.
    pub fn invariant(&self, terms: &mut Terms) -> TermId {
        let formula = self.known(terms, Part::All);
        self.spelt_out(terms, formula)
    }

    /// The same in the names that guesses use.
    pub fn known(&self, terms: &mut Terms, part: Part) -> TermId {
        if part == Part::All {
            return self.some(terms, |_| true);
        }
        let mut parts = Vec::new();
        for (keys, cell) in &self.cells {
            let mode = in_modes(terms, &self.modes, keys);
            let of_elements = part == Part::Elements;
            let wanted = |guess: &&TermId| self.about_elements.contains(guess) == of_elements;
            let mut conjuncts: Vec<TermId> = cell.guesses.iter().filter(wanted).copied().collect();
            if of_elements {
                let all = terms.and(&conjuncts);
                parts.push(terms.implies(mode, all));
                continue;
            }
            conjuncts.extend(cell.equations(terms));
            conjuncts.push(mode);
            parts.push(terms.and(&conjuncts));
        }
        match part {
            Part::Elements => terms.and(&parts),
            Part::Plain | Part::All => terms.or(&parts),
        }
    }

    /// The same conjunct by conjunct.
    pub fn conjuncts(&self, terms: &mut Terms, part: Part) -> Vec<TermId> {
        let mut found = BTreeSet::new();
        if part.has(false) {
            found.insert(self.met(terms));
        }
        for (keys, cell) in &self.cells {
            let mode = in_modes(terms, &self.modes, keys);
            let guesses = cell.guesses.iter().copied();
            let guesses = guesses.filter(|guess| part.has(self.about_elements.contains(guess)));
            let mut conjuncts: Vec<TermId> = guesses.collect();
            if part.has(false) {
                conjuncts.extend(cell.equations(terms));
            }
            for conjunct in conjuncts {
                found.insert(terms.implies(mode, conjunct));
            }
        }
        found.into_iter().collect()
    }

    /// A formula with names of guesses replaced by what they stand for.
    pub fn spelt_out(&self, terms: &mut Terms, formula: TermId) -> TermId {
        let named = self.variables.iter().filter(|v| v.constant != v.term);
        let named = named.map(|variable| (variable.constant, variable.term));
        terms.substitute(formula, &named.collect())
    }

    /// What holds of the states that are new since this was asked last; `None` if there are none.
    pub fn take_new(&mut self, terms: &mut Terms) -> Option<TermId> {
        if !self.cells.values().any(|cell| cell.new) {
            return None;
        }
        let formula = self.some(terms, |cell| cell.new);
        let formula = self.spelt_out(terms, formula);
        for cell in self.cells.values_mut() {
            cell.new = false;
        }
        Some(formula)
    }

    /// How often anything changed so far.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// What holds of the states of cells that changed since then.
    pub fn since(&self, terms: &mut Terms, changes: u64) -> TermId {
        let formula = self.some(terms, |cell| cell.changed > changes);
        self.spelt_out(terms, formula)
    }

    /// All that is known is to be followed again.
    pub fn follow_again(&mut self) {
        for cell in self.cells.values_mut() {
            cell.new = true;
        }
    }

    fn some(&self, terms: &mut Terms, wanted: impl Fn(&Cell) -> bool) -> TermId {
        let mut disjuncts = Vec::new();
        // Elements of arrays and floating-point numbers are in no hull.
        let floats = self.others.iter().any(|other| other.float.is_some());
        let all_words = !floats && !self.is_quantified();
        for (keys, cell) in &self.cells {
            if wanted(cell) {
                let mut conjuncts = vec![in_modes(terms, &self.modes, keys)];
                conjuncts.push(cell.formula(terms, all_words));
                disjuncts.push(terms.and(&conjuncts));
            }
        }
        terms.or(&disjuncts)
    }

    /// It is not known what comes here: what is hardest to decide is given up first.
    pub fn give_up(&mut self) {
        self.changes += 1;
        let mut any = false;
        for cell in self
            .cells
            .values_mut()
            .filter(|cell| !cell.hulls.is_empty())
        {
            cell.hulls.clear();
            cell.touch(self.changes);
            any = true;
        }
        if !any {
            self.modes.clear();
            self.others.clear();
            self.guesses.clear();
            let nothing = Cell {
                guesses: Vec::new(),
                hulls: Vec::new(),
                points: 0,
                new: true,
                changed: self.changes,
            };
            self.cells = BTreeMap::from([(Vec::new(), nothing)]);
        }
    }

    /// For each combination of modes that was met, what is known of its states, if there are several
    /// and not many: that a state is of these and the rest does not hold of it.
    pub fn apart(&self, terms: &mut Terms) -> Vec<(Vec<Key>, TermId)> {
        if !(2..=FEW).contains(&self.cells.len()) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (keys, cell) in &self.cells {
            let mode = in_modes(terms, &self.modes, keys);
            let known = cell.formula(terms, false);
            found.push((keys.clone(), terms.implies(mode, known)));
        }
        found
    }

    /// It is not known which states of one combination of modes come here: of its guesses those are
    /// kept that hold by themselves, and if that are all, affine relations are given up.
    pub fn give_up_of(
        &mut self,
        terms: &mut Terms,
        keys: &[Key],
        holds: &mut dyn FnMut(&mut Terms, TermId) -> bool,
    ) {
        self.changes += 1;
        let mode = in_modes(terms, &self.modes, keys);
        if let Some(cell) = self.cells.get_mut(keys) {
            let before = cell.guesses.len();
            cell.guesses.retain(|&guess| {
                let claim = terms.implies(mode, guess);
                holds(terms, claim)
            });
            let all = cell.guesses.len() == before;
            match cell.hulls.is_empty() {
                true if all => cell.guesses.clear(),
                false if all => cell.hulls.clear(),
                _ => {}
            }
            cell.touch(self.changes);
        }
    }

    /// Keeps the guesses of which it is known that they hold, and tells whether any is dropped.
    /// The question is about a formula in the names that guesses use.
    pub fn keep(
        &mut self,
        terms: &mut Terms,
        part: Part,
        holds: &mut dyn FnMut(&mut Terms, TermId) -> bool,
    ) -> bool {
        let mut dropped = false;
        self.changes += 1;
        for (keys, cell) in &mut self.cells {
            let mode = in_modes(terms, &self.modes, keys);
            let before = cell.guesses.len();
            let about_elements = &self.about_elements;
            cell.guesses.retain(|&guess| {
                if !part.has(about_elements.contains(&guess)) {
                    return true;
                }
                let claim = terms.implies(mode, guess);
                holds(terms, claim)
            });
            if cell.guesses.len() < before {
                cell.touch(self.changes);
                dropped = true;
            }
        }
        dropped
    }

    /// That the state is in one of the modes that were met.
    pub fn met(&self, terms: &mut Terms) -> TermId {
        let keys: Vec<&Vec<Key>> = self.cells.keys().collect();
        let mut modes = Vec::with_capacity(keys.len());
        for keys in keys {
            modes.push(in_modes(terms, &self.modes, keys));
        }
        terms.or(&modes)
    }

    /// Affine relations become guesses like others: they hold or not, and get no weaker.
    pub fn freeze(&mut self, terms: &mut Terms) {
        for cell in self.cells.values_mut() {
            let equations = cell.equations(terms);
            cell.guesses.extend(equations);
            cell.hulls.clear();
        }
    }

    /// Whether anything is said of floating-point numbers, and nothing that is harder to decide.
    pub fn is_about_floats(&self) -> bool {
        self.variables
            .iter()
            .any(|variable| variable.float.is_some())
            && self.cells.values().all(|cell| cell.hulls.is_empty())
    }

    /// A state comes here. If it is not known which, nothing is known any more. Says whether less is
    /// known than before.
    pub fn add(&mut self, terms: &Terms, point: &[(TermId, Option<Value>)]) -> bool {
        let mut state = Assignment::new();
        let mut words: BTreeMap<TermId, u64> = BTreeMap::new();
        for (constant, value) in point {
            if let Some(Value::BitVec(bits)) = value {
                let word = bits.unsigned().iter_u64_digits().next().unwrap_or(0);
                words.insert(*constant, word);
                state.set(*constant, Value::BitVec(bits.clone()));
            }
        }
        if words.len() < self.variables.len() {
            for cell in self.cells.values_mut() {
                cell.hulls.clear();
            }
            self.give_up();
            return true;
        }
        let modes = self.modes.iter();
        let values: Vec<Key> = modes.map(|mode| mode.key(words[&mode.constant])).collect();
        let holds = |guess: TermId| eval(terms, guess, &state) == Ok(Value::Bool(true));
        self.changes += 1;
        match self.cells.get_mut(&values) {
            Some(cell) => {
                let before = (cell.guesses.len(), cell.hulls.len());
                cell.guesses.retain(|&guess| holds(guess));
                cell.touch(self.changes);
                cell.points += 1;
                if cell.points > POINTS {
                    cell.hulls.clear();
                }
                let mut less = before != (cell.guesses.len(), cell.hulls.len());
                for (_, constants, hull) in &mut cell.hulls {
                    let point: Vec<u64> = constants.iter().map(|c| words[c]).collect();
                    less |= hull.add(&point);
                }
                less
            }
            None => {
                let guesses = self.guesses.iter().copied();
                let cell = Cell {
                    guesses: guesses.filter(|&guess| holds(guess)).collect(),
                    hulls: first_hulls(&self.others, &words),
                    points: 0,
                    new: true,
                    changed: self.changes,
                };
                self.cells.insert(values, cell);
                if self.cells.len() > CELLS {
                    self.merge();
                }
                true
            }
        }
    }

    /// Stops to tell modes apart until there is room again: first numbers of arguments, of the
    /// argument that takes the most; then the modes by which the number of cells shrinks the most.
    fn merge(&mut self) {
        while self.cells.len() > CELLS {
            let windows = (0..self.modes.len()).filter(|&at| self.modes[at].has_window());
            let widest = windows.max_by_key(|&at| distinct(self.cells.keys(), at));
            let Some(at) = widest.filter(|&at| self.modes[at].narrow()) else {
                break;
            };
            let mode = self.modes[at];
            self.rekey(|mut keys| {
                keys[at] = mode.narrowed(keys[at]);
                keys
            });
        }
        if self.cells.len() <= CELLS {
            return;
        }
        while self.cells.len() > CELLS / 2 {
            let left = |at: usize| {
                let left = self.cells.keys().map(|keys| without(keys, at));
                left.collect::<BTreeSet<Vec<Key>>>().len()
            };
            let Some(at) = (0..self.modes.len()).min_by_key(|&at| left(at)) else {
                return;
            };
            self.modes.remove(at);
            self.rekey(|keys| without(&keys, at));
        }
    }

    /// Joins the cells whose keys become the same.
    fn rekey(&mut self, key: impl Fn(Vec<Key>) -> Vec<Key>) {
        self.changes += 1;
        for (keys, cell) in std::mem::take(&mut self.cells) {
            let keys = key(keys);
            match self.cells.get_mut(&keys) {
                Some(known) => known.join(&cell, self.changes),
                None => {
                    self.cells.insert(keys, cell);
                }
            }
        }
    }
}

/// That every mode has a value of its key.
fn in_modes(terms: &mut Terms, modes: &[Mode], keys: &[Key]) -> TermId {
    let modes = modes.iter().zip(keys);
    let all: Vec<TermId> = modes.map(|(mode, &key)| mode.is(terms, key)).collect();
    terms.and(&all)
}

impl Cell {
    /// It holds more states now.
    fn touch(&mut self, change: u64) {
        self.new = true;
        self.changed = change;
    }

    /// What holds of its states. Of a single one whose hulls speak of all that guesses speak of,
    /// these say everything.
    fn formula(&self, terms: &mut Terms, all_words: bool) -> TermId {
        let bounded = |(_, constants, _): &(u32, Vec<TermId>, Hull)| constants.len() < DIMENSIONS;
        let point = self.points == 0 && all_words && !self.hulls.is_empty();
        let mut conjuncts = match point && self.hulls.iter().all(bounded) {
            true => Vec::new(),
            false => self.guesses.clone(),
        };
        conjuncts.extend(self.equations(terms));
        terms.and(&conjuncts)
    }

    /// The affine relations.
    fn equations(&self, terms: &mut Terms) -> Vec<TermId> {
        let mut found = Vec::new();
        for (width, constants, hull) in &self.hulls {
            for equation in hull.equations() {
                found.push(equation_term(terms, equation, constants, *width));
            }
        }
        found
    }

    /// Knows only what another one knows, too.
    fn join(&mut self, other: &Cell, change: u64) {
        self.guesses.retain(|guess| other.guesses.contains(guess));
        self.points += other.points + 1;
        self.touch(change);
        if self.hulls.len() != other.hulls.len() {
            self.hulls.clear();
        }
        for ((_, _, hull), (_, _, more)) in self.hulls.iter_mut().zip(&other.hulls) {
            hull.join(more);
        }
    }
}

/// An equation as a formula, with what is negative on the other side. If all of it is even, it
/// speaks of the lower bits only.
fn equation_term(
    terms: &mut Terms,
    equation: &Equation,
    constants: &[TermId],
    width: u32,
) -> TermId {
    let all = equation
        .factors
        .iter()
        .fold(equation.constant, |a, b| a | b);
    let twos = all.trailing_zeros().min(width - 1);
    let bits = width - twos;
    let one = terms.bv(1, width);
    let mut sides = [terms.bv(0, width); 2];
    let factors = equation.factors.iter().chain([&equation.constant]);
    for (&factor, &term) in factors.zip(constants.iter().chain([&one])) {
        let factor = i128::from(factor >> twos);
        let negative = factor >> (bits - 1) != 0;
        let size = if negative {
            (1 << bits) - factor
        } else {
            factor
        };
        let size = terms.bv(size, width);
        let product = terms.bv_mul(size, term);
        let side = &mut sides[usize::from(negative)];
        *side = terms.bv_add(*side, product);
    }
    let low = terms.bv((1i128 << bits) - 1, width);
    let sides = sides.map(|side| terms.bv_and(side, low));
    terms.eq(sides[0], sides[1])
}

/// A hull for the variables of every width.
fn first_hulls(
    variables: &[Variable],
    words: &BTreeMap<TermId, u64>,
) -> Vec<(u32, Vec<TermId>, Hull)> {
    let mut widths: BTreeMap<u32, Vec<TermId>> = BTreeMap::new();
    // The bits of floating-point numbers are in no affine relation.
    for variable in variables.iter().filter(|variable| variable.float.is_none()) {
        let known = widths.entry(variable.width).or_default();
        if known.len() < DIMENSIONS {
            known.push(variable.constant);
        }
    }
    let hull = |(width, constants): (u32, Vec<TermId>)| {
        let point: Vec<u64> = constants.iter().map(|constant| words[constant]).collect();
        let hull = Hull::of(width, &point);
        (width, constants, hull)
    };
    widths.into_iter().map(hull).collect()
}
