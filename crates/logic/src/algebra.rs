//! Questions about products of words, decided by algebra where that is enough.
//!
//! `x == n * n` and `y == 2 * n + 1` before a step give `x + y == (n + 1) * (n + 1)` after it. A
//! solver that works bit by bit has to multiply for that, which it cannot do for more than a few
//! bits; as polynomials modulo a power of two both sides are the same. In comes a question, a list
//! of formulas that are to hold together; out comes a question that has a model if and only if the
//! first one has one, in which the cases that algebra excludes are missing.
//!
//! Algebra knows no order of numbers: what else may be told of an atom (that the sum of two words
//! does not overflow when it is widened, say) is asked of whoever asks ([`Lemmas`]).
//!
//! What is known is used in three ways: an equation that tells an atom replaces it, the others
//! reduce polynomials by their largest products (as a Gröbner basis would), and two comparisons of
//! the same polynomials may contradict each other. Choices between values are followed case by
//! case, as long as the cases are few.

mod facts;
mod polynomial;

use crate::{Op, PutIn, Sort, TermId, Terms};
use facts::{Facts, may_be_same};
use polynomial::{Polynomial, literal};
use std::collections::{BTreeMap, BTreeSet};

/// At most so many cases of one disjunct of a question are looked at, ...
const CASES: usize = 96;
/// ... and of all of them.
const ALL_CASES: usize = 600;
/// Questions with more different subterms than this are left to solvers.
const LARGE: usize = 4_000;

/// Tells whether a formula follows from others, of which it may leave some out.
pub type Lemmas<'l> = dyn FnMut(&mut Terms, &[TermId], TermId) -> bool + 'l;

/// Whether anything is multiplied that is not known: else algebra has nothing to say that solvers
/// do not see at once.
pub fn multiplies(terms: &Terms, formulas: &[TermId]) -> bool {
    let all = terms.postorder(formulas);
    all.into_iter().any(|term| is_product(terms, term))
}

fn is_product(terms: &Terms, term: TermId) -> bool {
    let unknown = |&&arg: &&TermId| literal(terms, arg).is_none();
    *terms.op(term) == Op::BvMul && terms.args(term).iter().filter(unknown).count() > 1
}

/// The question without the cases of its last formula that algebra excludes. It has a model if and
/// only if the question has one.
///
/// ```
/// use hardbop_logic::{Sort, TermId, Terms, without_refuted};
/// let mut nothing = |_: &mut Terms, _: &[TermId], _: TermId| false;
/// let mut terms = Terms::new();
/// let [x, y] = ["x", "y"].map(|name| terms.constant(name, Sort::BitVec(64)));
/// let one = terms.bv(1, 64);
/// let (above, below) = (terms.bv_add(x, one), terms.bv_sub(x, one));
/// let (product, square) = (terms.bv_mul(above, below), terms.bv_mul(x, x));
/// let less = terms.bv_sub(square, one);
/// let (is_y, is_less) = (terms.eq(y, product), terms.eq(y, less));
/// let differs = terms.not(is_less);
/// let no = terms.bool(false);
/// assert_eq!(without_refuted(&mut terms, &[is_y, differs], &mut nothing), [no]);
/// ```
pub fn without_refuted(
    terms: &mut Terms,
    formulas: &[TermId],
    lemmas: &mut Lemmas<'_>,
) -> Vec<TermId> {
    let size = terms.postorder(formulas).len();
    let Some((&last, facts)) = formulas.split_last() else {
        return Vec::new();
    };
    if size > LARGE || !multiplies(terms, formulas) {
        return formulas.to_vec();
    }
    let mut left = Vec::new();
    let mut all = ALL_CASES;
    let cases = disjuncts(terms, last);
    let only = cases.len() == 1;
    for case in cases {
        let mut search = Cases {
            left: CASES.min(all),
            lemmas,
        };
        let begun = search.left;
        let mut question = facts.to_vec();
        question.push(case);
        let tried = only || is_for_algebra(terms, case);
        if !tried || !search.refuted(terms, question) {
            left.push(case);
        }
        all -= begun - search.left;
    }
    let left = terms.or(&left);
    match terms.op(left) {
        Op::Bool(false) => vec![left],
        _ => [facts, &[left]].concat(),
    }
}

/// Whether algebra tells that formulas have no model, products or not.
pub fn refuted_by_algebra(terms: &mut Terms, formulas: &[TermId], lemmas: &mut Lemmas<'_>) -> bool {
    let left = CASES;
    terms.postorder(formulas).len() <= LARGE
        && Cases { left, lemmas }.refuted(terms, formulas.to_vec())
}

/// Whether algebra may exclude a case: it speaks of products, or says that words differ.
fn is_for_algebra(terms: &Terms, case: TermId) -> bool {
    let differ = terms.negated(case);
    differ.is_some_and(|same| *terms.op(same) == Op::Eq) || multiplies(terms, &[case])
}

/// The question with products of unknown words replaced by unknown words: if it has no model, then
/// the question has none. Tells which words stand for which products.
pub fn without_products(
    terms: &mut Terms,
    formulas: &[TermId],
) -> (Vec<TermId>, BTreeMap<TermId, TermId>) {
    let mut unknown = BTreeMap::new();
    for term in terms.postorder(formulas) {
        if is_product(terms, term) {
            let sort = terms.sort(term);
            // The same product is the same word, whoever asks.
            let name = format!("product of {}", term.index());
            unknown.insert(term, terms.constant(&name, sort));
        }
    }
    let replaced = formulas
        .iter()
        .map(|&formula| terms.substitute(formula, &unknown));
    (replaced.collect(), unknown)
}

/// The question with products of unknown words as values of a function of which nothing more is
/// known than that it is one: if it has no model, then the question has none.
///
/// ```
/// use hardbop_logic::{Sort, Terms, products_as_functions};
/// let mut terms = Terms::new();
/// let [x, y] = ["x", "y"].map(|name| terms.constant(name, Sort::BitVec(64)));
/// let (square, other) = (terms.bv_mul(x, x), terms.bv_mul(y, y));
/// let same = terms.eq(square, other);
/// let question = products_as_functions(&mut terms, &[same]);
/// assert!(terms.infix(question[0]).to_string().contains("product"));
/// ```
pub fn products_as_functions(terms: &mut Terms, formulas: &[TermId]) -> Vec<TermId> {
    let mut applied = BTreeMap::new();
    for term in terms.postorder(formulas) {
        if is_product(terms, term) {
            let sort = terms.sort(term);
            // Factors may have products in them.
            let factors = terms.args(term).to_vec();
            let mut factors: Vec<TermId> = factors
                .into_iter()
                .map(|factor| terms.substitute(factor, &applied))
                .collect();
            factors.sort();
            let function = terms.function("product", &vec![sort; factors.len()], sort);
            applied.insert(term, terms.apply(function, &factors));
        }
    }
    let replaced = formulas
        .iter()
        .map(|&formula| terms.substitute(formula, &applied));
    replaced.collect()
}

/// What a formula is the disjunction of.
fn disjuncts(terms: &mut Terms, formula: TermId) -> Vec<TermId> {
    match (terms.op(formula).clone(), terms.args(formula).to_vec()) {
        (Op::Or, args) => args,
        (Op::Not, args) if *terms.op(args[0]) == Op::And => {
            let parts = terms.args(args[0]).to_vec();
            parts.into_iter().map(|part| terms.not(part)).collect()
        }
        _ => vec![formula],
    }
}

/// Looks at a question case by case.
struct Cases<'l, 'm> {
    /// How many more may be looked at.
    left: usize,
    lemmas: &'l mut Lemmas<'m>,
}

impl Cases<'_, '_> {
    /// Whether it is known that formulas have no model.
    fn refuted(&mut self, terms: &mut Terms, formulas: Vec<TermId>) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let Some(facts) = propagated(terms, formulas) else {
            return true;
        };
        if Facts::new(terms, &facts).contradict() {
            return true;
        }
        let Some(condition) = choice(terms, &facts) else {
            return self.refuted_with_lemmas(terms, &facts);
        };
        let opposite = terms.not(condition);
        [condition, opposite].into_iter().all(|side| {
            let mut formulas = facts.clone();
            formulas.push(side);
            self.refuted(terms, formulas)
        })
    }
}

impl Cases<'_, '_> {
    /// Whether what follows from facts, though not by algebra, contradicts them.
    fn refuted_with_lemmas(&mut self, terms: &mut Terms, facts: &[TermId]) -> bool {
        let mut known = Facts::new(terms, facts);
        let atoms: BTreeSet<TermId> = known.all().flat_map(Polynomial::atoms).collect();
        let mut any = false;
        for (a, b) in may_be_same(terms, &atoms) {
            let lemma = terms.eq(a, b);
            let follows = match terms.op(lemma) {
                Op::Bool(same) => *same,
                _ => (self.lemmas)(terms, facts, lemma),
            };
            if follows {
                known.zero.extend(Polynomial::difference(terms, a, b));
                any = true;
            }
        }
        any && known.contradict()
    }
}

/// The conjuncts of formulas, each simplified by what the plain ones among them say; `None` if that
/// is a contradiction.
fn propagated(terms: &mut Terms, formulas: Vec<TermId>) -> Option<Vec<TermId>> {
    let (yes, no) = (terms.bool(true), terms.bool(false));
    let mut conjuncts = flattened(terms, &formulas);
    // A value may show only when another one was put in.
    for _ in 0..4 {
        if conjuncts.contains(&no) {
            return None;
        }
        let mut values = Vec::new();
        let mut plain = BTreeSet::new();
        for &conjunct in &conjuncts {
            let inner = terms.negated(conjunct).unwrap_or(conjunct);
            if matches!(
                terms.op(inner),
                Op::And | Op::Or | Op::Ite | Op::Xor | Op::Implies
            ) {
                continue;
            }
            plain.insert(conjunct);
            let opposite = terms.not(conjunct);
            if conjuncts.contains(&opposite) {
                return None;
            }
            values.extend([(conjunct, yes), (opposite, no)]);
            if let (Op::Eq, &[a, b]) = (terms.op(conjunct), terms.args(conjunct)) {
                match (literal(terms, a), literal(terms, b)) {
                    (None, Some(_)) => values.push((a, b)),
                    (Some(_), None) => values.push((b, a)),
                    _ => {}
                }
            }
        }
        let mut put_in = PutIn::new(values);
        let mut next = Vec::new();
        for &conjunct in &conjuncts {
            match plain.contains(&conjunct) {
                // It would make itself true.
                true => next.push(conjunct),
                false => next.push(terms.put_in(conjunct, &mut put_in)),
            }
        }
        let next = flattened(terms, &next);
        if next == conjuncts {
            // Values in what is plain, too: of arguments, not of the whole.
            let mut shallow = Vec::new();
            for &conjunct in &conjuncts {
                let inner = terms.negated(conjunct).unwrap_or(conjunct);
                let mut args = BTreeMap::new();
                for arg in terms.args(inner).to_vec() {
                    if literal(terms, arg).is_none() {
                        args.insert(arg, terms.put_in(arg, &mut put_in));
                    }
                }
                // What tells a value stays.
                let tells = *terms.op(inner) == Op::Eq
                    && terms
                        .args(inner)
                        .iter()
                        .any(|&arg| literal(terms, arg).is_some());
                if tells && inner == conjunct {
                    shallow.push(conjunct);
                    continue;
                }
                let built = terms.substitute(inner, &args);
                shallow.push(if inner == conjunct {
                    built
                } else {
                    terms.not(built)
                });
            }
            let shallow = flattened(terms, &shallow);
            if shallow == conjuncts {
                break;
            }
            conjuncts = shallow;
            continue;
        }
        conjuncts = next;
    }
    (!conjuncts.contains(&no)).then(|| conjuncts.into_iter().collect())
}

/// The conjuncts of formulas.
fn flattened(terms: &mut Terms, formulas: &[TermId]) -> BTreeSet<TermId> {
    let mut found = BTreeSet::new();
    let mut work = formulas.to_vec();
    while let Some(formula) = work.pop() {
        match (terms.op(formula), terms.args(formula)) {
            (Op::And, args) => work.extend(args),
            (Op::Bool(true), _) => {}
            (Op::Not, &[inner]) if *terms.op(inner) == Op::Or => {
                for part in terms.args(inner).to_vec() {
                    work.push(terms.not(part));
                }
            }
            _ => {
                found.insert(formula);
            }
        }
    }
    found
}

/// A condition that values or whole facts depend on, if there is one.
fn choice(terms: &Terms, facts: &[TermId]) -> Option<TermId> {
    // What is said last is asked for: the choices in equations count before the others.
    let is_plain = |&&fact: &&TermId| {
        let inner = terms.negated(fact).unwrap_or(fact);
        !matches!(
            terms.op(inner),
            Op::And | Op::Or | Op::Ite | Op::Xor | Op::Implies
        )
    };
    let plain: Vec<TermId> = facts.iter().filter(is_plain).copied().collect();
    let others: Vec<TermId> = facts
        .iter()
        .filter(|fact| !is_plain(fact))
        .copied()
        .collect();
    let in_values = terms.postorder(&plain);
    let choices = in_values
        .iter()
        .rev()
        .filter(|&&term| *terms.op(term) == Op::Ite);
    let conditions = choices.map(|&choice| terms.args(choice)[0]);
    conditions
        .chain(others)
        .find_map(|formula| atom_of(terms, formula))
}

/// Something in a formula that is true or false and has no parts that are.
fn atom_of(terms: &Terms, formula: TermId) -> Option<TermId> {
    let mut work = vec![formula];
    let mut seen = BTreeSet::new();
    while let Some(formula) = work.pop() {
        if !seen.insert(formula) {
            continue;
        }
        match (terms.op(formula), terms.args(formula)) {
            (Op::Bool(_), _) => {}
            (Op::Not | Op::And | Op::Or | Op::Xor | Op::Implies, args) => work.extend(args),
            (Op::Ite, args) => work.push(args[0]),
            (Op::Eq, &[a, b]) if terms.sort(a) == Sort::Bool => work.extend([a, b]),
            (Op::Forall(_) | Op::Exists(_), _) => {}
            _ => return Some(formula),
        }
    }
    None
}

#[cfg(test)]
mod tests;
