//! All models of the assertions, as far as a list of formulas can tell them apart (AllSMT).
//!
//! This is the engine of lazy predicate abstraction: the formulas are predicates over the next
//! state, and the models are the abstract successors.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::solver::{Answer, Session, Unknown};
use crate::sort::Sort;
use crate::term::{TermId, Terms};
use crate::value::Value;

/// A conjunction of literals over a list of formulas: the value of each, or `None` for either.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cube(pub Vec<Option<bool>>);

/// How an enumeration ended, when nothing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enumeration {
    /// All models were told.
    Complete,
    /// The callback wanted no more.
    Broken,
}

impl Cube {
    /// The cube as a formula.
    pub fn term(&self, terms: &mut Terms, formulas: &[TermId]) -> TermId {
        let mut literals = Vec::new();
        for (&formula, value) in formulas.iter().zip(&self.0) {
            match value {
                Some(true) => literals.push(formula),
                Some(false) => literals.push(terms.not(formula)),
                None => {}
            }
        }
        terms.and(&literals)
    }

    /// Whether the cube holds for these values.
    pub fn covers(&self, values: &[bool]) -> bool {
        self.0
            .iter()
            .zip(values)
            .all(|(mine, value)| mine.is_none_or(|mine| mine == *value))
    }
}

/// Tells every combination of truth values that the formulas have in some model of the session's
/// assertions and the assumptions, each once. A combination is told as a cube with every value given;
/// [`merge_cubes`] makes few of many.
///
/// An error means that the solver did not know: what was told until then holds, but there may be
/// more.
///
/// ```
/// use std::ops::ControlFlow;
/// use hardbop_budget::Budget;
/// use hardbop_logic::{Session, Sort, Terms, Z3Options, Z3Solver, all_models, merge_cubes};
///
/// let mut terms = Terms::new();
/// let x = terms.constant("x", Sort::Int);
/// let (one, three) = (terms.int(1), terms.int(3));
/// let predicates = [terms.eq(x, one), terms.int_le(x, three)];
/// let mut session = Session::new(Box::new(Z3Solver::new(Z3Options::default())), Budget::unlimited());
/// let mut cubes = Vec::new();
/// all_models(&mut session, &mut terms, &predicates, &[], &mut |cube| {
///     cubes.push(cube.clone());
///     ControlFlow::Continue(())
/// })
/// .unwrap();
/// // x == 1 without x <= 3 is impossible; the other three combinations merge into two cubes.
/// assert_eq!(cubes.len(), 3);
/// assert_eq!(merge_cubes(&cubes).len(), 2);
/// ```
pub fn all_models(
    session: &mut Session<'_>,
    terms: &mut Terms,
    formulas: &[TermId],
    assumptions: &[TermId],
    tell: &mut dyn FnMut(&Cube) -> ControlFlow<()>,
) -> Result<Enumeration, Unknown> {
    // The blocking clauses hang on a literal of their own and are dead afterwards, so that the one
    // incremental solver can go on without push and pop, which cost more than the query.
    let blocking = terms.fresh("blocking", Sort::Bool);
    let unblocked = terms.not(blocking);
    let mut assumed = assumptions.to_vec();
    assumed.push(blocking);
    let ended = loop {
        match session.check_uncached(terms, &assumed) {
            Answer::Unsat => break Ok(Enumeration::Complete),
            Answer::Unknown(why) => break Err(why),
            Answer::Sat => {}
        }
        let mut cube = Vec::with_capacity(formulas.len());
        for value in session.values(terms, formulas)? {
            match value {
                Some(Value::Bool(value)) => cube.push(Some(value)),
                // The solver could not decide the formula in its own model; without a value there
                // is nothing sound to tell or to block.
                _ => cube.push(None),
            }
        }
        if cube.iter().any(Option::is_none) {
            break Err(Unknown::GaveUp(
                "a formula has no value in the model".to_owned(),
            ));
        }
        let cube = Cube(cube);
        let here = cube.term(terms, formulas);
        let elsewhere = terms.not(here);
        let clause = terms.or(&[unblocked, elsewhere]);
        session.assert_definition(terms, clause);
        if tell(&cube).is_break() {
            break Ok(Enumeration::Broken);
        }
    };
    session.assert_definition(terms, unblocked);
    ended
}

/// The same set of combinations in fewer, shorter cubes: two cubes that differ in one value become
/// one, as long as there are such. The cubes of the result do not overlap if the given ones do not.
pub fn merge_cubes(cubes: &[Cube]) -> Vec<Cube> {
    let mut set: BTreeSet<Cube> = cubes.iter().cloned().collect();
    let width = cubes.first().map_or(0, |cube| cube.0.len());
    loop {
        let mut changed = false;
        for at in 0..width {
            let low: Vec<Cube> = set
                .iter()
                .filter(|cube| cube.0[at] == Some(false))
                .cloned()
                .collect();
            for cube in low {
                let mut twin = cube.clone();
                twin.0[at] = Some(true);
                if set.contains(&twin) {
                    set.remove(&twin);
                    set.remove(&cube);
                    twin.0[at] = None;
                    set.insert(twin);
                    changed = true;
                }
            }
        }
        if !changed {
            return set.into_iter().collect();
        }
    }
}
