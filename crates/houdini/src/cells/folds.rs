//! Accumulators over arrays: which sums over elements a program computes, and what is guessed of
//! them.
//!
//! A variable to which each round of a loop adds something of an element is a sum over the first
//! elements, or what is left of one. What is joined (`&`, `|`, the largest, the least) cannot be
//! undone, so it is said by a count: for any word `y`, the join with `y` is `y` if and only if no
//! element has another one.

use super::address::literal;
use super::{Access, ArrayId, Cells, is_state};
use crate::candidates::{Variable, is_literal};
use hardbop_cfront::program::LocationKind;
use hardbop_logic::{Op, Sign, Sort, TermId, Terms};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::folds::{Adding, Fold, element};
use hardbop_semantics::layout::StateKind;
use hardbop_semantics::steps::{End, Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// The most folds of a program.
const FOLDS: usize = 4;
/// Larger updates are not looked at.
const LARGE: usize = 60;
/// The most numbers of elements whose sums are spoken of at one point.
const COUNTS: usize = 6;
/// The most variables that are compared with one sum.
const COMPARED: usize = 8;

/// The most numbers by which an accumulator may grow, ...
const RATES: usize = 8;
/// ... and how large they are at most.
const SMALL: i128 = 64;

/// A fold that a program computes.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) fold: Fold,
    pub(super) array: ArrayId,
    /// For what is joined: how, and the position of the word that it is compared with.
    join: Option<(Join, usize)>,
    /// Whether elements move within the array.
    moves: bool,
}

/// How two words become one that contains both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Join {
    And,
    Or,
    Least(Sign),
    Largest(Sign),
}

impl Join {
    /// Whether a word adds nothing to another one.
    fn is_in(self, terms: &mut Terms, word: TermId, other: TermId) -> TermId {
        match self {
            Join::And => {
                let both = terms.bv_and(word, other);
                terms.eq(both, other)
            }
            Join::Or => {
                let both = terms.bv_or(word, other);
                terms.eq(both, other)
            }
            Join::Least(Sign::Signed) => terms.bv_sle(other, word),
            Join::Least(Sign::Unsigned) => terms.bv_ule(other, word),
            Join::Largest(Sign::Signed) => terms.bv_sle(word, other),
            Join::Largest(Sign::Unsigned) => terms.bv_ule(word, other),
        }
    }
}

/// What an update does to an accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Update {
    Adds(Adding, TermId),
    Joins(Join, TermId),
}

/// Finds the folds of a program.
pub(super) fn find(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
    accesses: &[Access],
    cells: &mut Cells,
) {
    let fixed_cells = cells.fixed.clone();
    let mut updates: Vec<Update> = Vec::new();
    let mut note = |terms: &mut Terms, accumulator: TermId, value: TermId| {
        let update = update(terms, accumulator, value);
        if let Some(Update::Adds(Adding::Sum, added)) = update
            && !is_literal(terms, added)
        {
            cells.accumulators.insert(accumulator);
        }
        updates.extend(update);
    };
    for step in steps {
        for (id, value) in step.state.written() {
            let variable = ground.semantics.constant(terms, id);
            let cell = matches!(ground.semantics.layout.get(id).kind, StateKind::Cell { .. });
            if cell {
                note(terms, variable, value);
            }
        }
        for &fixed in &fixed_cells {
            let mut map = BTreeMap::new();
            for constant in terms.free_constants(&[fixed]) {
                map.insert(constant, ground.at_end(terms, step, constant));
            }
            let value = terms.substitute(fixed, &map);
            note(terms, fixed, value);
        }
    }
    for update in updates {
        let (Update::Adds(_, value) | Update::Joins(_, value)) = update;
        let Some(read) = only_read(terms, value) else {
            continue;
        };
        let access = accesses.iter().find(|access| access.read == Some(read));
        let Some(access) = access.filter(|access| access.index.len() == 1) else {
            continue;
        };
        add(ground, terms, accesses, cells, access, update, read);
    }
    let joined: Vec<(usize, u32)> = cells
        .folds
        .iter()
        .filter_map(|found| Some((found.join?.1, terms.width(found.fold.element))))
        .collect();
    if !joined.is_empty() {
        compare_at_violations(ground, terms, steps, cells, &joined);
    }
}

/// One more fold, if it is a new one.
fn add(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    accesses: &[Access],
    cells: &mut Cells,
    access: &Access,
    update: Update,
    read: TermId,
) {
    let number = cells.folds.len();
    if number >= FOLDS || !is_state(ground, terms, access.base) {
        return;
    }
    let standing = element(terms, number, terms.sort(read));
    let (summand, adding, join) = match update {
        Update::Adds(adding, value) => {
            let summand = terms.substitute(value, &BTreeMap::from([(read, standing)]));
            (summand, adding, None)
        }
        Update::Joins(join, value) => {
            // What is widened before it is joined may be joined as it is.
            let widened = matches!(terms.op(value), Op::SignExtend(_) | Op::ZeroExtend(_));
            if value != read && !(widened && terms.args(value)[0] == read) {
                return;
            }
            let word = cells.words.len();
            let name = format!(" any{word}");
            let other = terms.constant(&name, terms.sort(read));
            let bits = terms.width(access.base);
            let inside = join.is_in(terms, standing, other);
            let (zero, one) = (terms.bv(0, bits), terms.bv(1, bits));
            let summand = terms.ite(inside, zero, one);
            (summand, Adding::Sum, Some((join, word)))
        }
    };
    if terms.free_constants(&[summand]).len() > 1 + usize::from(join.is_some()) {
        return;
    }
    let stride = access.strides[0];
    let place = [access.memory, access.base];
    let Some(fold) = Fold::new(terms, number, place, stride, summand, adding) else {
        return;
    };
    let known = cells.folds.iter().any(|found| {
        let same = found.array == access.array && found.fold.adding == adding;
        let kind = found.join.map(|(join, _)| join) == join.map(|(join, _)| join);
        if !same || !kind || join.is_some() {
            return same && kind;
        }
        // Elements of another width cannot stand for these.
        terms.sort(found.fold.element) == terms.sort(standing) && {
            let map = BTreeMap::from([(found.fold.element, standing)]);
            terms.substitute(found.fold.summand, &map) == summand
        }
    });
    if known {
        return;
    }
    if let Some((_, word)) = join {
        let name = format!(" any{word}");
        let other = terms.constant(&name, terms.sort(read));
        cells.words.push(other);
    }
    let moves = accesses.iter().any(|other| {
        other.array == access.array
            && other
                .written
                .is_some_and(|value| only_read(terms, value) == Some(value))
    });
    cells.folds.push(Found {
        fold,
        array: access.array,
        join,
        moves,
    });
}

/// What is joined is compared with each word that a violation depends on.
fn compare_at_violations(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
    cells: &mut Cells,
    joined: &[(usize, u32)],
) {
    for step in steps {
        let End::At(to) = step.to else { continue };
        let location = &ground.semantics.program.locations[to.index()];
        if !matches!(location.kind, LocationKind::Error(_)) {
            continue;
        }
        for constant in terms.free_constants(&[step.condition]) {
            if !matches!(ground.constants.meaning(constant), Some(Meaning::Now(_))) {
                continue;
            }
            for &(word, bits) in joined {
                if let Sort::BitVec(width) = terms.sort(constant)
                    && width >= bits
                {
                    let low = terms.resize(constant, bits, Sign::Unsigned);
                    let here = cells.instances.entry(step.from).or_default();
                    here.insert(vec![(word, low)]);
                }
            }
        }
    }
}

/// What a value adds to a variable that it is made of.
fn update(terms: &mut Terms, variable: TermId, value: TermId) -> Option<Update> {
    if value == variable || !matches!(terms.sort(value), Sort::BitVec(_)) {
        return None;
    }
    if terms.postorder(&[value]).len() > LARGE {
        return None;
    }
    let joins = joins(terms, variable, value);
    let found = joins.or_else(|| {
        let sum = added(terms, variable, value, Adding::Sum);
        let sum = sum.map(|sum| Update::Adds(Adding::Sum, sum));
        sum.or_else(|| {
            let xor = added(terms, variable, value, Adding::Xor)?;
            Some(Update::Adds(Adding::Xor, xor))
        })
    })?;
    let (Update::Adds(_, of) | Update::Joins(_, of)) = found;
    let apart = !terms.postorder(&[of]).contains(&variable);
    apart.then_some(found)
}

/// What is added, branch by branch.
fn added(terms: &mut Terms, variable: TermId, value: TermId, adding: Adding) -> Option<TermId> {
    let mut known: BTreeMap<TermId, TermId> = BTreeMap::new();
    let mut work = vec![value];
    while let Some(&at) = work.last() {
        let branches = match *terms.op(at) == Op::Ite && at != variable {
            true => terms.args(at)[1..].to_vec(),
            false => Vec::new(),
        };
        let open: Vec<TermId> = branches
            .iter()
            .copied()
            .filter(|branch| !known.contains_key(branch))
            .collect();
        if !open.is_empty() {
            work.extend(open);
            continue;
        }
        let sum = match branches[..] {
            [then, otherwise] => {
                let condition = terms.args(at)[0];
                terms.ite(condition, known[&then], known[&otherwise])
            }
            _ => added_at_once(terms, variable, at, adding)?,
        };
        known.insert(at, sum);
        work.pop();
    }
    known.get(&value).copied()
}

/// What is added by a value that has no branches.
fn added_at_once(
    terms: &mut Terms,
    variable: TermId,
    value: TermId,
    adding: Adding,
) -> Option<TermId> {
    let zero = terms.bv(0, terms.width(value));
    if value == variable {
        return Some(zero);
    }
    let args = terms.args(value).to_vec();
    match (terms.op(value).clone(), adding) {
        (Op::BvAdd, Adding::Sum) | (Op::BvXor, Adding::Xor) => {
            let at = args.iter().position(|&arg| arg == variable)?;
            let mut sum = zero;
            for (_, &arg) in args.iter().enumerate().filter(|&(other, _)| other != at) {
                sum = match adding {
                    Adding::Sum => terms.bv_add(sum, arg),
                    Adding::Xor => terms.bv_xor(sum, arg),
                };
            }
            Some(sum)
        }
        (Op::BvSub, Adding::Sum) if args[0] == variable => Some(terms.bv_neg(args[1])),
        _ => None,
    }
}

/// What is joined to a variable.
fn joins(terms: &Terms, variable: TermId, value: TermId) -> Option<Update> {
    let args = terms.args(value);
    let other = |args: &[TermId]| match *args {
        [a, b] if a == variable => Some(b),
        [a, b] if b == variable => Some(a),
        _ => None,
    };
    match terms.op(value) {
        Op::BvAnd => Some(Update::Joins(Join::And, other(args)?)),
        Op::BvOr => Some(Update::Joins(Join::Or, other(args)?)),
        Op::Ite => {
            let added = other(&args[1..])?;
            let (condition, kept) = match terms.negated(args[0]) {
                Some(inner) => (inner, args[2]),
                None => (args[0], args[1]),
            };
            // The word that is kept where the comparison holds.
            let sides = terms.args(condition);
            let sign = match terms.op(condition) {
                Op::BvSlt | Op::BvSle => Sign::Signed,
                Op::BvUlt | Op::BvUle => Sign::Unsigned,
                _ => return None,
            };
            let join = match (other(sides)? == added, kept == sides[0]) {
                (true, true) => Join::Least(sign),
                (true, false) => Join::Largest(sign),
                (false, _) => return None,
            };
            Some(Update::Joins(join, added))
        }
        _ => None,
    }
}

/// The only element that a term reads, if it depends on nothing else.
fn only_read(terms: &Terms, term: TermId) -> Option<TermId> {
    let mut read = None;
    let mut seen = BTreeSet::new();
    let mut work = vec![term];
    while let Some(part) = work.pop() {
        if !seen.insert(part) {
            continue;
        }
        match terms.op(part) {
            Op::Select if read.is_none_or(|other| other == part) => read = Some(part),
            Op::Select | Op::Constant(_) => return None,
            _ => work.extend(terms.args(part)),
        }
    }
    read
}

/// Bounds of accumulators that grow by no more than a number in each round.
pub(super) fn rates(terms: &mut Terms, cells: &Cells, plain: &[Variable]) -> Vec<TermId> {
    let mut counters = BTreeSet::new();
    for array in &cells.arrays {
        for &counter in array.counters.iter().flatten() {
            counters.extend(terms.free_constants(&[counter]));
        }
    }
    let mut found = Vec::new();
    let grows = |variable: &&Variable| cells.accumulators.contains(&variable.term);
    for sum in plain.iter().filter(grows).take(COMPARED) {
        for count in plain.iter().filter(|count| count.width == sum.width) {
            let constants = terms.free_constants(&[count.term]);
            if constants.is_empty() || !constants.iter().all(|at| counters.contains(at)) {
                continue;
            }
            for &rate in &cells.rates {
                let rate = terms.bv(rate, sum.width);
                let most = terms.bv_mul(rate, count.constant);
                found.push(terms.bv_sle(sum.constant, most));
                found.push(terms.bv_sle(most, sum.constant));
            }
        }
    }
    found
}

/// The numbers by which accumulators may grow: small numbers of the program, and one less.
pub(super) fn numbers(terms: &Terms, steps: &[Step]) -> BTreeSet<i128> {
    let mut roots = Vec::new();
    for step in steps {
        roots.push(step.condition);
        roots.extend(step.state.written().map(|(_, value)| value));
    }
    let mut found = BTreeSet::from([1]);
    for part in terms.postorder(&roots) {
        if let Some(number) = literal(terms, part).filter(|number| (2..=SMALL).contains(number)) {
            found.extend([number, number - 1]);
        }
        if found.len() > RATES {
            break;
        }
    }
    found
}

impl Found {
    /// Whether a sum of several arrays' elements is the sum of their sums.
    pub(super) fn is_linear(&self) -> bool {
        self.join.is_none() && self.fold.adding == Adding::Sum
    }

    /// What is guessed of the sums at a point, over the elements themselves; `counts` are the
    /// numbers of elements that are spoken of.
    pub(super) fn guesses(
        &self,
        terms: &mut Terms,
        words: &[TermId],
        counts: &[TermId],
        counters: &[TermId],
        plain: &[Variable],
    ) -> Vec<TermId> {
        let mut sums = Vec::new();
        for &count in counts.iter().take(COUNTS) {
            let sum = self.fold.first(terms, count);
            sums.push(sum);
            if self.moves {
                sums.extend(self.moved(terms, sum, counters, plain));
            }
        }
        let element = terms.width(self.fold.element);
        let mut guesses = Vec::new();
        for variable in plain.iter().take(COMPARED) {
            let (word, width) = (variable.constant, variable.width);
            if variable.float.is_some() || width < element {
                continue;
            }
            if width > element && !self.is_linear() {
                // Words that were widened are so together, too.
                let low = terms.resize(word, element, Sign::Unsigned);
                for sign in [Sign::Signed, Sign::Unsigned] {
                    let wide = terms.resize(low, width, sign);
                    guesses.push(terms.eq(word, wide));
                }
            }
            for &sum in &sums {
                guesses.push(match self.join {
                    None if width > terms.width(sum) => continue,
                    None => {
                        let low = terms.resize(sum, width, Sign::Unsigned);
                        terms.eq(word, low)
                    }
                    Some((join, other)) => {
                        let other = words[other];
                        let other = terms.resize(other, width, Sign::Signed);
                        let inside = join.is_in(terms, word, other);
                        let zero = terms.bv(0, terms.width(sum));
                        let none = terms.eq(sum, zero);
                        terms.iff(inside, none)
                    }
                });
            }
        }
        guesses
    }

    /// The sum with a variable's summand in the place of that of an element at a counter: one
    /// element was taken out, and those behind it move up.
    fn moved(
        &self,
        terms: &mut Terms,
        sum: TermId,
        counters: &[TermId],
        plain: &[Variable],
    ) -> Vec<TermId> {
        let mut found = Vec::new();
        let element = terms.width(self.fold.element);
        let bits = terms.width(self.fold.base);
        for variable in plain.iter().filter(|v| v.width == element) {
            for &counter in counters {
                let stride = terms.bv(self.fold.stride.into(), bits);
                let offset = terms.bv_mul(stride, counter);
                let address = terms.bv_add(self.fold.base, offset);
                let value = terms.select(self.fold.memory, address);
                found.push(self.fold.exchanged(terms, sum, value, variable.constant));
            }
        }
        found.truncate(2 * COUNTS);
        found
    }
}
