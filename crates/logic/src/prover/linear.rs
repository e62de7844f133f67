//! Makes a question easier before a solver sees it: sums in one normal form, and constants that an
//! equation tells replaced everywhere else.
//!
//! The questions about a loop speak of one iteration at a time, and half of their conjuncts are equations
//! between its counters, like `x == 3 * y`. A solver that works bit by bit proves
//! `x + 3 == 3 * (y + 1)` from that with an effort that grows with the width of the numbers that
//! matter; over normal forms it is the same term twice. Everything is modulo a power of two, as the
//! machine counts, so nothing is lost on the way.

use crate::{Assignment, Op, Sort, TermId, Terms, Value, eval};
use num_traits::ToPrimitive;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// At most so many constants are replaced in one question.
const MOST: usize = 48;
/// Questions with more different subterms than this are left as they are.
const LARGE: usize = 6_000;

/// A question made easier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eased {
    /// What is left to ask. It has a model if and only if the question has one.
    pub formulas: Vec<TermId>,
    /// The constants that were replaced, each with its value over those that were not yet.
    solved: Vec<(TermId, TermId)>,
}

impl Eased {
    /// The question as it is.
    pub fn unchanged(formulas: &[TermId]) -> Eased {
        Eased {
            formulas: formulas.to_vec(),
            solved: Vec::new(),
        }
    }

    /// A model of the question, from one of what was left to ask.
    pub fn complete(&self, terms: &Terms, mut model: Assignment) -> Option<Assignment> {
        // The last value found mentions no constant that was replaced.
        for &(constant, value) in self.solved.iter().rev() {
            let value = eval(terms, value, &model).ok()?;
            model.set(constant, value);
        }
        Some(model)
    }
}

/// Makes questions easier; remembers the normal forms that it has met.
#[derive(Clone, Debug, Default)]
pub struct Easing {
    normal: HashMap<TermId, TermId>,
}

impl Easing {
    /// The question that the formulas hold together, made easier.
    pub fn ease(&mut self, terms: &mut Terms, formulas: &[TermId]) -> Eased {
        let mut eased = Eased::unchanged(formulas);
        if terms.postorder(formulas).len() > LARGE {
            return eased;
        }
        let mut conjuncts = BTreeSet::new();
        for &formula in formulas {
            let formula = self.normal(terms, formula);
            flatten(terms, formula, &mut conjuncts);
        }
        while eased.solved.len() < MOST {
            let found = conjuncts
                .iter()
                .find_map(|&conjunct| Some((conjunct, solve(terms, conjunct)?)));
            let Some((equation, (constant, value))) = found else {
                break;
            };
            conjuncts.remove(&equation);
            let map = [(constant, value)].into();
            let mut next = BTreeSet::new();
            for conjunct in conjuncts {
                let replaced = terms.substitute(conjunct, &map);
                let replaced = self.normal(terms, replaced);
                flatten(terms, replaced, &mut next);
            }
            conjuncts = next;
            eased.solved.push((constant, value));
        }
        eased.formulas = propagated(terms, &conjuncts);
        eased
    }

    /// A formula with every sum in normal form. What stands below a quantifier stays as it is.
    fn normal(&mut self, terms: &mut Terms, formula: TermId) -> TermId {
        let mut stack = vec![(formula, false)];
        while let Some((term, done)) = stack.pop() {
            if self.normal.contains_key(&term) {
                continue;
            }
            if matches!(terms.op(term), Op::Forall(_) | Op::Exists(_)) {
                self.normal.insert(term, term);
                continue;
            }
            if !done {
                stack.push((term, true));
                stack.extend(terms.args(term).iter().map(|&arg| (arg, false)));
                continue;
            }
            // With all arguments replaced at once, this builds the term anew.
            let map = terms
                .args(term)
                .iter()
                .map(|&arg| (arg, self.normal[&arg]))
                .collect();
            let built = terms.substitute(term, &map);
            let built = match terms.op(built) {
                Op::BvAdd | Op::BvSub | Op::BvNeg | Op::BvMul | Op::BvShl => {
                    match Linear::of(terms, built) {
                        Some(sum) => sum.term(terms),
                        None => built,
                    }
                }
                Op::Eq => equation(terms, built),
                _ => built,
            };
            self.normal.insert(term, built);
        }
        self.normal[&formula]
    }
}

/// Adds the conjuncts of a formula to a set.
fn flatten(terms: &Terms, formula: TermId, into: &mut BTreeSet<TermId>) {
    let mut work = vec![formula];
    while let Some(formula) = work.pop() {
        match terms.op(formula) {
            Op::And => work.extend(terms.args(formula)),
            Op::Bool(true) => {}
            _ => {
                into.insert(formula);
            }
        }
    }
}

/// The conjuncts, each simplified by what the plain ones among them say.
fn propagated(terms: &mut Terms, conjuncts: &BTreeSet<TermId>) -> Vec<TermId> {
    let (truth, falsehood) = (terms.bool(true), terms.bool(false));
    if conjuncts.contains(&falsehood) {
        return vec![falsehood];
    }
    let mut map = BTreeMap::new();
    let mut plain = Vec::new();
    let mut others = Vec::new();
    for &conjunct in conjuncts {
        let inner = terms.negated(conjunct).unwrap_or(conjunct);
        if matches!(
            terms.op(inner),
            Op::And | Op::Or | Op::Ite | Op::Forall(_) | Op::Exists(_)
        ) {
            others.push(conjunct);
        } else {
            plain.push(conjunct);
            map.insert(conjunct, truth);
            let not = terms.not(conjunct);
            map.insert(not, falsehood);
        }
    }
    if plain.iter().any(|&conjunct| map[&conjunct] == falsehood) {
        return vec![falsehood];
    }
    for other in others {
        let simpler = terms.substitute(other, &map);
        match terms.op(simpler) {
            Op::Bool(true) => {}
            Op::Bool(false) => return vec![falsehood],
            _ => plain.push(simpler),
        }
    }
    plain
}

/// The constant that a conjunct tells, with its value.
fn solve(terms: &mut Terms, conjunct: TermId) -> Option<(TermId, TermId)> {
    if !matches!(terms.op(conjunct), Op::Eq) {
        return None;
    }
    let &[a, b] = terms.args(conjunct) else {
        return None;
    };
    let is_constant = |terms: &Terms, term| matches!(terms.op(term), Op::Constant(_));
    let Some(difference) = Linear::difference(terms, a, b) else {
        // Truth values, arrays and wide words, only where they are told directly.
        return [(a, b), (b, a)].into_iter().find(|&(constant, value)| {
            is_constant(terms, constant) && !terms.free_constants(&[value]).contains(&constant)
        });
    };
    for (&atom, &factor) in &difference.factors {
        if factor % 2 == 0 || !is_constant(terms, atom) {
            continue;
        }
        let elsewhere: Vec<TermId> = difference
            .factors
            .keys()
            .copied()
            .filter(|&other| other != atom)
            .collect();
        if terms.free_constants(&elsewhere).contains(&atom) {
            continue;
        }
        let value = difference.solved_for(atom);
        return Some((atom, value.term(terms)));
    }
    None
}

/// An equation of words with everything on one side that cancels out taken away.
fn equation(terms: &mut Terms, built: TermId) -> TermId {
    let &[a, b] = terms.args(built) else {
        return built;
    };
    let Some(difference) = Linear::difference(terms, a, b) else {
        return built;
    };
    if difference.factors.is_empty() {
        return terms.bool(difference.offset == 0);
    }
    let odd = difference
        .factors
        .iter()
        .find(|&(_, factor)| factor % 2 == 1);
    match odd.map(|(&atom, _)| atom) {
        Some(atom) => {
            let value = difference.solved_for(atom).term(terms);
            terms.eq(atom, value)
        }
        None => {
            let offset = difference.offset;
            let sum = Linear {
                offset: 0,
                ..difference
            };
            let against = Linear {
                width: sum.width,
                factors: BTreeMap::new(),
                offset: sum.wrap(offset.wrapping_neg()),
            };
            let (sum, against) = (sum.term(terms), against.term(terms));
            terms.eq(sum, against)
        }
    }
}

/// A sum of multiples of terms and a number, modulo a power of two.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Linear {
    width: u32,
    /// The factor of every term, none of them zero.
    factors: BTreeMap<TermId, u64>,
    offset: u64,
}

impl Linear {
    /// A word as a sum; none for words of more than 64 bits, and for other things.
    fn of(terms: &Terms, root: TermId) -> Option<Linear> {
        let Sort::BitVec(width @ 1..=64) = terms.sort(root) else {
            return None;
        };
        let mut sum = Linear {
            width,
            factors: BTreeMap::new(),
            offset: 0,
        };
        let literal = |term: TermId| match terms.value_of(term) {
            Some(Value::BitVec(bits)) => bits.unsigned().to_u64(),
            _ => None,
        };
        let mut work = vec![(root, 1u64)];
        while let Some((term, factor)) = work.pop() {
            if let Some(value) = literal(term) {
                sum.offset = sum.wrap(sum.offset.wrapping_add(factor.wrapping_mul(value)));
                continue;
            }
            let args = terms.args(term);
            match (terms.op(term), args) {
                (Op::BvAdd, _) => work.extend(args.iter().map(|&arg| (arg, factor))),
                (Op::BvSub, &[a, b]) => work.extend([(a, factor), (b, factor.wrapping_neg())]),
                (Op::BvNeg, &[a]) => work.push((a, factor.wrapping_neg())),
                (Op::BvMul, &[a, b]) => match (literal(a), literal(b)) {
                    (Some(times), _) => work.push((b, factor.wrapping_mul(times))),
                    (_, Some(times)) => work.push((a, factor.wrapping_mul(times))),
                    _ => sum.add(term, factor),
                },
                (Op::BvShl, &[a, by]) => match literal(by) {
                    Some(by) if by < u64::from(width) => {
                        work.push((a, factor.wrapping_mul(1 << by)));
                    }
                    _ => sum.add(term, factor),
                },
                _ => sum.add(term, factor),
            }
        }
        Some(sum)
    }

    /// `a - b`.
    fn difference(terms: &Terms, a: TermId, b: TermId) -> Option<Linear> {
        let mut sum = Linear::of(terms, a)?;
        let other = Linear::of(terms, b)?;
        for (&atom, factor) in &other.factors {
            sum.add(atom, factor.wrapping_neg());
        }
        sum.offset = sum.wrap(sum.offset.wrapping_sub(other.offset));
        Some(sum)
    }

    fn wrap(&self, number: u64) -> u64 {
        match self.width {
            64 => number,
            width => number & ((1 << width) - 1),
        }
    }

    fn add(&mut self, atom: TermId, factor: u64) {
        let known = self.factors.get(&atom).copied().unwrap_or(0);
        match self.wrap(known.wrapping_add(factor)) {
            0 => self.factors.remove(&atom),
            factor => self.factors.insert(atom, factor),
        };
    }

    /// What a term with an odd factor is where this sum is zero.
    fn solved_for(&self, atom: TermId) -> Linear {
        let factor = self.factors[&atom];
        // Newton's iteration: each step doubles the number of right bits, from three on.
        let mut inverse = factor;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(inverse)));
        }
        let times = inverse.wrapping_neg();
        let mut value = Linear {
            width: self.width,
            factors: BTreeMap::new(),
            offset: self.wrap(self.offset.wrapping_mul(times)),
        };
        for (&other, factor) in &self.factors {
            if other != atom {
                value.add(other, factor.wrapping_mul(times));
            }
        }
        value
    }

    /// The sum as a term, always the same one for the same sum.
    fn term(&self, terms: &mut Terms) -> TermId {
        let half = 1u64 << (self.width - 1);
        let mut added: Option<TermId> = None;
        let mut taken: Option<TermId> = None;
        for (&atom, &factor) in &self.factors {
            // Of a factor and its opposite the smaller one is written.
            let negative = self.width > 1 && factor > half;
            let size = if negative {
                self.wrap(factor.wrapping_neg())
            } else {
                factor
            };
            let size = terms.bv(i128::from(size), self.width);
            let part = terms.bv_mul(atom, size);
            let side = if negative { &mut taken } else { &mut added };
            *side = Some(match *side {
                Some(sum) => terms.bv_add(sum, part),
                None => part,
            });
        }
        let offset = terms.bv(i128::from(self.offset), self.width);
        let sum = match (added, taken) {
            (Some(added), Some(taken)) => terms.bv_sub(added, taken),
            (Some(added), None) => added,
            (None, Some(taken)) => terms.bv_neg(taken),
            (None, None) => return offset,
        };
        terms.bv_add(sum, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use hardbop_test_support::random::Random;

    /// Shows what is left of a question about the words `x`, `y`, `z` of a width.
    #[track_caller]
    fn check(
        width: u32,
        question: impl Fn(&mut Terms, [TermId; 3]) -> Vec<TermId>,
        expected: Expect,
    ) {
        let mut terms = Terms::new();
        let words = ["x", "y", "z"].map(|name| terms.constant(name, Sort::BitVec(width)));
        let question = question(&mut terms, words);
        let eased = Easing::default().ease(&mut terms, &question);
        let mut shown = String::new();
        for &formula in &eased.formulas {
            shown += &format!("{}\n", terms.infix(formula));
        }
        for &(constant, value) in &eased.solved {
            shown += &format!("{} is {}\n", terms.infix(constant), terms.infix(value));
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn a_relation_between_counters_is_kept_by_their_steps() {
        check(
            32,
            |terms, [x, y, _]| {
                let (three, one) = (terms.bv(3, 32), terms.bv(1, 32));
                let triple = terms.bv_mul(y, three);
                let before = terms.eq(x, triple);
                let (next_x, next_y) = (terms.bv_add(x, three), terms.bv_add(y, one));
                let next_triple = terms.bv_mul(next_y, three);
                let after = terms.eq(next_x, next_triple);
                vec![before, terms.not(after)]
            },
            expect![[r#"
                false
                x is y * 3
            "#]],
        );
    }

    #[test]
    fn odd_factors_are_divided_by() {
        check(
            8,
            |terms, [x, y, _]| {
                let (three, hundred) = (terms.bv(3, 8), terms.bv(100, 8));
                let triple = terms.bv_mul(x, three);
                let shifted = terms.bv_add(y, hundred);
                vec![terms.eq(triple, shifted), terms.bv_ult(x, y)]
            },
            expect![[r#"
                -52 - y * 85 <u y
                x is -52 - y * 85
            "#]],
        );
    }

    #[test]
    fn even_factors_stay() {
        check(
            8,
            |terms, [x, y, _]| {
                let (two, six) = (terms.bv(2, 8), terms.bv(6, 8));
                let (a, b) = (terms.bv_mul(x, two), terms.bv_mul(y, six));
                let b = terms.bv_add(b, two);
                vec![terms.eq(a, b)]
            },
            expect![[r#"
                x * 2 - y * 6 == 2
            "#]],
        );
    }

    #[test]
    fn what_is_said_once_is_not_asked_again() {
        check(
            8,
            |terms, [x, y, z]| {
                let below = terms.bv_ult(x, y);
                let above = terms.bv_ult(y, z);
                let both = terms.and(&[below, above]);
                vec![below, terms.not(both)]
            },
            expect![[r#"
                x <u y
                z <=u y
            "#]],
        );
    }

    /// A question and what is left of it have a model for the same values of what is left.
    #[test]
    fn easing_keeps_models() {
        let mut random = Random(7);
        let mut below = |bound: u64| random.below(bound);
        let (mut kept, mut lost) = (0, 0);
        for _ in 0..600 {
            let mut terms = Terms::new();
            let words = ["x", "y", "z"].map(|name| terms.constant(name, Sort::BitVec(3)));
            let mut question = Vec::new();
            for _ in 0..1 + below(3) {
                let mut sides = [0, 1].map(|_| {
                    let mut sum = terms.bv(i128::from(below(8)), 3);
                    for &word in &words {
                        let factor = terms.bv(i128::from(below(8)), 3);
                        let part = match below(3) {
                            0 => terms.bv_mul(word, factor),
                            1 => terms.bv_shl(word, factor),
                            _ => terms.bv_and(word, factor),
                        };
                        sum = match below(2) {
                            0 => terms.bv_add(sum, part),
                            _ => terms.bv_sub(sum, part),
                        };
                    }
                    sum
                });
                if below(4) == 0 {
                    sides[1] = words[below(3) as usize];
                }
                let atoms = [
                    terms.eq(sides[0], sides[1]),
                    terms.bv_ult(sides[0], sides[1]),
                ];
                let atom = atoms[below(2) as usize];
                let other = terms.bv_sle(sides[1], sides[0]);
                question.push(match below(3) {
                    0 => terms.or(&[atom, other]),
                    _ => atom,
                });
            }
            let eased = Easing::default().ease(&mut terms, &question);
            let holds = |terms: &Terms, formulas: &[TermId], model: &Assignment| {
                formulas
                    .iter()
                    .all(|&f| eval(terms, f, model) == Ok(Value::Bool(true)))
            };
            let (mut before, mut after) = (false, false);
            for values in 0..512i128 {
                let mut model = Assignment::new();
                for (at, &word) in words.iter().enumerate() {
                    let value = terms.bv(values >> (3 * at), 3);
                    model.set(word, terms.value_of(value).expect("a literal"));
                }
                before |= holds(&terms, &question, &model);
                if holds(&terms, &eased.formulas, &model) {
                    after = true;
                    let model = eased.complete(&terms, model).expect("values");
                    assert!(holds(&terms, &question, &model));
                }
            }
            assert_eq!(before, after);
            if before {
                kept += 1;
            } else {
                lost += 1;
            }
        }
        assert!(kept > 100 && lost > 20, "{kept} {lost}");
    }
}
