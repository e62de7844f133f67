//! Whole questions counted from a base.
//!
//! In come formulas in which addresses are sums of one unknown word, the base, and distances from
//! it. Out come formulas that have a model exactly if the others have one, in which every address is
//! its distance: what is stored in memory, what it is stored at, and words of which nothing is
//! known. For an unknown word `p` there is an unknown distance `d` with `p = base + d`, and for an
//! unknown array `a` an array `b` with `a(base + i) = base + b(i)`; both take every value as often
//! as before. So the base is left only where a word meets one that is not counted from it: where an
//! address is compared with 0, say, or is a product.
//!
//! Which words are counted from the base is a guess that follows the sums; whatever it is, the
//! result means the same, since a word is brought back to what it was wherever two guesses meet.

use crate::sort::Sort;
use crate::term::{Op, TermId, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

/// So often the guesses are looked at again; whatever they are then, they are good enough.
const ROUNDS: usize = 16;

/// For each unknown word and array that is counted from the base, the distance or the array in its
/// place.
type Places = Vec<(TermId, TermId, Counted)>;

/// What is counted from the base: of an array its indices, and of an array or a word its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    index: bool,
    value: bool,
}

/// What is guessed.
struct Guess {
    base: TermId,
    sort: Sort,
    /// Unknown words that are counted from the base.
    words: FxHashSet<TermId>,
    /// Arrays by the group that they are in: what is made of each other is counted alike.
    groups: FxHashMap<TermId, usize>,
    parents: Vec<usize>,
    counted: Vec<Counted>,
}

/// Counts formulas from a base that is a word. `None` where a quantifier, an array of arrays, or an
/// array that is an argument or the value of a function is in them.
pub fn rebased(terms: &mut Terms, base: TermId, formulas: &[TermId]) -> Option<Vec<TermId>> {
    Some(with_places(terms, base, formulas)?.0)
}

/// The same, and what stands in whose place.
fn with_places(
    terms: &mut Terms,
    base: TermId,
    formulas: &[TermId],
) -> Option<(Vec<TermId>, Places)> {
    if !matches!(terms.sort(base), Sort::BitVec(_)) {
        return None;
    }
    let order = terms.postorder(formulas);
    let mut guess = Guess {
        base,
        sort: terms.sort(base),
        words: FxHashSet::default(),
        groups: FxHashMap::default(),
        parents: Vec::new(),
        counted: Vec::new(),
    };
    for &term in &order {
        guess.group(terms, term)?;
    }
    for group in 0..guess.parents.len() {
        guess.parents[group] = guess.root(group);
    }
    for _ in 0..ROUNDS {
        if !guess.again(terms, &order) {
            break;
        }
    }
    let mut count = Count {
        done: FxHashMap::default(),
        places: Places::new(),
    };
    for &term in &order {
        let (new, is_counted) = count.counted(terms, &guess, term);
        count.done.insert(term, (new, is_counted));
    }
    let formulas = formulas.iter().map(|formula| count.done[formula].0);
    Some((formulas.collect(), count.places))
}

impl Guess {
    /// Puts arrays that are made of each other into one group. `None` for what is not taken.
    fn group(&mut self, terms: &Terms, term: TermId) -> Option<()> {
        let is_array = |term: TermId| matches!(terms.sort(term), Sort::Array(_));
        let args = terms.args(term);
        let arrays = args.iter().copied().filter(|&arg| is_array(arg));
        match terms.op(term) {
            Op::Forall(_) | Op::Exists(_) => return None,
            Op::Select | Op::Store | Op::Ite | Op::Eq => {}
            _ if arrays.clone().next().is_some() => return None,
            _ => {}
        }
        if let Sort::Array(array) = terms.sort(term) {
            let (index, element) = terms.array_parts(array);
            let made = matches!(
                terms.op(term),
                Op::Constant(_) | Op::ConstArray(_) | Op::Store | Op::Ite
            );
            if !made || matches!(index, Sort::Array(_)) || matches!(element, Sort::Array(_)) {
                return None;
            }
            self.groups.insert(term, self.parents.len());
            self.parents.push(self.parents.len());
            self.counted.push(Counted::default());
        }
        let mut arrays: Vec<TermId> = arrays.collect();
        arrays.extend(is_array(term).then_some(term));
        for pair in arrays.windows(2) {
            let [one, other] = [pair[0], pair[1]].map(|array| self.groups[&array]);
            let (one, other) = (self.root(one), self.root(other));
            self.parents[one] = other;
        }
        Some(())
    }

    /// The first of a group; what was passed on the way is made shorter.
    fn root(&mut self, mut group: usize) -> usize {
        while self.parents[group] != group {
            self.parents[group] = self.parents[self.parents[group]];
            group = self.parents[group];
        }
        group
    }

    /// The group of an array, when all are known.
    fn of(&self, array: TermId) -> usize {
        self.parents[self.groups[&array]]
    }

    /// Which words are counted from the base, as far as is guessed; more guesses come of it. Says
    /// whether there are any.
    fn again(&mut self, terms: &Terms, order: &[TermId]) -> bool {
        let mut is_counted: FxHashSet<TermId> = FxHashSet::default();
        let before = (self.words.len(), self.how_many());
        for &term in order {
            let args = terms.args(term);
            let has = |arg: &TermId| is_counted.contains(arg);
            let here = match (terms.op(term), args) {
                _ if term == self.base => true,
                (Op::Constant(_), _) => self.words.contains(&term),
                (Op::BvAdd, args) => args.iter().filter(|arg| has(arg)).count() == 1,
                (Op::BvSub, [a, b]) => has(a) && !has(b),
                (Op::Ite, [_, a, b]) => has(a) || has(b),
                (Op::Select, &[array, at]) => {
                    let index = has(&at);
                    let group = self.of(array);
                    self.counted[group].index |= index;
                    self.counted[group].value && terms.sort(term) == self.sort
                }
                (Op::Store, &[array, at, value]) => {
                    let (index, value) = (has(&at), has(&value));
                    let group = self.of(array);
                    self.counted[group].index |= index;
                    self.counted[group].value |= value;
                    false
                }
                (Op::ConstArray(_), &[value]) => {
                    let value = has(&value);
                    let group = self.of(term);
                    self.counted[group].value |= value;
                    false
                }
                (Op::Eq, &[a, b]) if has(&a) != has(&b) => {
                    let other = if has(&a) { b } else { a };
                    match (terms.op(other), terms.args(other)) {
                        (Op::Constant(_), _) => {
                            self.words.insert(other);
                        }
                        (Op::Select, &[array, _]) => {
                            let group = self.of(array);
                            self.counted[group].value = true;
                        }
                        _ => {}
                    }
                    false
                }
                _ => false,
            };
            if here {
                is_counted.insert(term);
            }
        }
        before != (self.words.len(), self.how_many())
    }

    fn how_many(&self) -> usize {
        let count = |counted: &Counted| usize::from(counted.index) + usize::from(counted.value);
        self.counted.iter().map(count).sum()
    }
}

/// What became of terms: for a word, whether it is counted from the base now.
struct Count {
    done: FxHashMap<TermId, (TermId, bool)>,
    places: Places,
}

impl Count {
    /// A word as its distance from the base.
    fn distance(&self, terms: &mut Terms, base: TermId, word: TermId) -> TermId {
        match self.done[&word] {
            (new, true) => new,
            (new, false) => terms.bv_sub(new, base),
        }
    }

    /// A word, or whatever is not one, as it was.
    fn plain(&self, terms: &mut Terms, base: TermId, word: TermId) -> TermId {
        match self.done[&word] {
            (new, true) => terms.bv_add(base, new),
            (new, false) => new,
        }
    }

    /// One of the two.
    fn as_is(&self, terms: &mut Terms, base: TermId, word: TermId, counted: bool) -> TermId {
        match counted {
            true => self.distance(terms, base, word),
            false => self.plain(terms, base, word),
        }
    }

    /// Something else in the place of a constant that is counted from the base.
    fn instead(&mut self, terms: &mut Terms, constant: TermId, counted: Counted) -> TermId {
        let new = terms.fresh("distance", terms.sort(constant));
        self.places.push((constant, new, counted));
        new
    }

    /// What becomes of a term whose arguments are done, and whether it is counted from the base.
    fn counted(&mut self, terms: &mut Terms, guess: &Guess, term: TermId) -> (TermId, bool) {
        let base = guess.base;
        let args = terms.args(term).to_vec();
        let (op, sort) = (terms.op(term).clone(), terms.sort(term));
        let is_counted = |count: &Count, arg: TermId| count.done[&arg].1;
        match (&op, &args[..]) {
            _ if term == base => {
                let width = terms.width(base);
                (terms.bv(0, width), true)
            }
            (Op::Constant(_), _) => {
                let counted = match sort {
                    Sort::Array(_) => guess.counted[guess.of(term)],
                    _ => Counted {
                        index: false,
                        value: guess.words.contains(&term),
                    },
                };
                if counted == Counted::default() {
                    return (term, false);
                }
                let is_word = !matches!(sort, Sort::Array(_));
                (self.instead(terms, term, counted), is_word)
            }
            (Op::BvAdd, summands) if sort == guess.sort => {
                let times = summands.iter().filter(|&&arg| is_counted(self, arg));
                let times = times.count();
                let mut sum = terms.bv(0, terms.width(base));
                for &arg in summands {
                    sum = terms.bv_add(sum, self.done[&arg].0);
                }
                if times > 1 {
                    let times = terms.bv(times as i128, terms.width(base));
                    let bases = terms.bv_mul(times, base);
                    sum = terms.bv_add(sum, bases);
                }
                (sum, times == 1)
            }
            (Op::BvSub, &[a, b]) if sort == guess.sort => {
                let (one, other) = (self.done[&a], self.done[&b]);
                let difference = terms.bv_sub(one.0, other.0);
                match (one.1, other.1) {
                    (true, false) => (difference, true),
                    (false, true) => (terms.bv_sub(difference, base), false),
                    _ => (difference, false),
                }
            }
            (Op::Ite, &[condition, a, b]) => {
                let counted = is_counted(self, a) || is_counted(self, b);
                let condition = self.done[&condition].0;
                let a = self.as_is(terms, base, a, counted);
                let b = self.as_is(terms, base, b, counted);
                (terms.ite(condition, a, b), counted)
            }
            (Op::Select, &[array, at]) => {
                let counted = guess.counted[guess.of(array)];
                let at = self.as_is(terms, base, at, counted.index);
                let array = self.done[&array].0;
                (terms.select(array, at), counted.value)
            }
            (Op::Store, &[array, at, value]) => {
                let counted = guess.counted[guess.of(array)];
                let at = self.as_is(terms, base, at, counted.index);
                let value = self.as_is(terms, base, value, counted.value);
                let array = self.done[&array].0;
                (terms.store(array, at, value), false)
            }
            (Op::ConstArray(_), &[value]) => {
                let counted = guess.counted[guess.of(term)];
                let value = self.as_is(terms, base, value, counted.value);
                (terms.const_array(sort, value), false)
            }
            (Op::Eq, &[a, b]) => {
                let counted = is_counted(self, a) || is_counted(self, b);
                let a = self.as_is(terms, base, a, counted);
                let b = self.as_is(terms, base, b, counted);
                (terms.eq(a, b), false)
            }
            _ => {
                let args: Vec<TermId> = args
                    .iter()
                    .map(|&arg| self.plain(terms, base, arg))
                    .collect();
                (terms.build(op, &args, sort), false)
            }
        }
    }
}

#[cfg(test)]
mod tests;
