//! Polynomial equations as invariants: guessed from runs, proved by algebra.
//!
//! Squares by differences, sums of numbers, products by additions: what such loops keep are
//! equations between products. In come the program's steps; runs ([`crate::samples`]) tell which
//! equations of a small degree may hold at each cut point ([`crate::relations`]); the program's own
//! conditions about products are guessed, too. Those that do not follow from the others at the
//! start of a step are dropped until all do: what is left is an invariant, and comes out.

use crate::candidates::{Hints, Variable, variables};
use crate::fixpoint::Breadth;
use crate::objects::widened_to;
use crate::questions::follows;
use crate::relations::{Relation, relations};
use crate::samples::Samples;
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_logic::{Assignment, TermId, Terms, Value, eval, multiplies, refuted_by_algebra};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::{End, Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// The most variables of equations.
const VARIABLES: usize = 10;
/// The most products of each degree that are looked at.
const PRODUCTS: usize = 130;
/// The largest degree.
const DEGREE: u32 = 4;
/// So many equations a point has at most.
const EQUATIONS: usize = 24;

/// Whether a program multiplies what it does not know: else equations between products hardly help.
pub fn multiplied(terms: &Terms, steps: &[Step]) -> bool {
    let conditions: Vec<TermId> = steps.iter().map(|step| step.condition).collect();
    let recursive = steps.iter().any(|step| step.returned.is_some());
    !recursive && multiplies(terms, &conditions)
}

/// Equations, and other facts about products, that hold whenever control comes to a point. Each
/// follows from the others by algebra.
pub fn polynomials(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
    live: &BTreeMap<LocId, Live>,
    known: &BTreeMap<LocId, TermId>,
    budget: &Budget,
) -> Result<BTreeMap<LocId, Vec<TermId>>, Stopped> {
    let hints = Hints::new(ground, terms, steps);
    let samples = Samples::new(ground, terms, steps, live, &hints, budget)?;
    let nothing = Live::default();
    let mut found: BTreeMap<LocId, Vec<TermId>> = BTreeMap::new();
    for step in steps {
        let End::At(location) = step.to else {
            continue;
        };
        if found.contains_key(&location) {
            continue;
        }
        let states = samples.at(location);
        let live = live.get(&location).unwrap_or(&nothing);
        let plain = variables(ground, terms, location, live, Breadth::Live);
        let mut guesses = guessed(terms, &plain, states);
        let spoken: BTreeSet<TermId> = plain.iter().map(|variable| variable.constant).collect();
        for condition in hints.conditions_about(&spoken).collect::<Vec<_>>() {
            let opposite = terms.not(condition);
            for guess in [condition, opposite] {
                let holds = |state: &Assignment| eval(terms, guess, state) == Ok(Value::Bool(true));
                if multiplies(terms, &[guess]) && !states.is_empty() && states.iter().all(holds) {
                    guesses.push(guess);
                }
            }
        }
        guesses.truncate(EQUATIONS);
        found.insert(location, guesses);
    }
    weaken(ground, terms, steps, known, &mut found, budget)?;
    found.retain(|_, facts| !facts.is_empty());
    Ok(found)
}

/// What recursive functions may give back: products of two of their arguments. Those are left that
/// follow by algebra, where this is known of the points that are reached.
pub fn products_of_arguments(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
    live: &BTreeMap<LocId, Live>,
    known: &BTreeMap<LocId, TermId>,
    budget: &Budget,
) -> Result<BTreeMap<LocId, Vec<TermId>>, Stopped> {
    let function_of = |at: LocId| ground.semantics.program.locations[at.index()].function;
    let exits = steps.iter().filter_map(|step| step.returned.as_ref());
    let functions: BTreeSet<FuncId> = exits.map(|returned| function_of(returned.exit)).collect();
    let nothing = Live::default();
    let mut found: BTreeMap<LocId, Vec<TermId>> = BTreeMap::new();
    for &at in known
        .keys()
        .filter(|&&at| functions.contains(&function_of(at)))
    {
        let live = live.get(&at).unwrap_or(&nothing);
        let words = variables(ground, terms, at, live, Breadth::Live);
        let plain = |v: &&Variable| v.float.is_none() && v.width >= 16 && v.constant == v.term;
        let words: Vec<Variable> = words.iter().filter(plain).copied().collect();
        let old =
            |v: &&Variable| matches!(ground.constants.meaning(v.constant), Some(Meaning::Old(_)));
        let (given, held): (Vec<&Variable>, Vec<&Variable>) = words.iter().partition(old);
        let mut guesses = Vec::new();
        for (number, a) in given.iter().enumerate() {
            for b in &given[number + 1..] {
                let product = match a.width == b.width {
                    true => terms.bv_mul(a.term, b.term),
                    false => continue,
                };
                // What a call gives back is one less of something.
                let less = [a, b].map(|word| terms.bv_sub(product, word.term));
                for word in held.iter().filter(|word| word.width == a.width) {
                    for product in [product, less[0], less[1]] {
                        guesses.push(terms.eq(word.term, product));
                    }
                }
            }
        }
        guesses.truncate(EQUATIONS);
        found.insert(at, guesses);
    }
    let reached = |step: &&Step| step.from.is_none_or(|from| known.contains_key(&from));
    let reached: Vec<Step> = steps.iter().filter(reached).cloned().collect();
    weaken(ground, terms, &reached, known, &mut found, budget)?;
    found.retain(|_, facts| !facts.is_empty());
    Ok(found)
}

/// The equations that hold of all states of a point, between variables of one width and what is
/// widened to it.
fn guessed(terms: &mut Terms, plain: &[Variable], states: &[Assignment]) -> Vec<TermId> {
    let words: Vec<Variable> = plain
        .iter()
        .filter(|v| v.float.is_none() && v.width >= 8)
        .copied()
        .collect();
    let widths: BTreeSet<u32> = words.iter().map(|variable| variable.width).collect();
    let mut found = Vec::new();
    for &width in &widths {
        let mut of_width: Vec<Variable> =
            words.iter().filter(|v| v.width == width).copied().collect();
        let narrow: Vec<Variable> = words.iter().filter(|v| v.width < width).copied().collect();
        of_width.extend(widened_to(terms, &narrow, width));
        of_width.truncate(VARIABLES);
        let mut points = Vec::new();
        for state in states {
            let point: Option<Vec<i64>> = of_width
                .iter()
                .map(|variable| number(terms, variable, state))
                .collect();
            points.extend(point.filter(|point| !points.contains(point)));
        }
        let degree = (1..=DEGREE)
            .rev()
            .find(|&degree| products(of_width.len(), degree) <= PRODUCTS);
        for relation in relations(&points, degree.unwrap_or(1)) {
            found.push(equation(terms, &relation, &of_width));
        }
    }
    found
}

/// How many products of so many variables there are of at most a degree.
fn products(variables: usize, degree: u32) -> usize {
    let degree = degree as usize;
    (1..=degree).fold(1, |count, at| count * (variables + at) / at)
}

/// The value of a variable in a state, as the program reads it.
fn number(terms: &Terms, variable: &Variable, state: &Assignment) -> Option<i64> {
    match eval(terms, variable.term, state).ok()? {
        Value::BitVec(bits) => {
            let word = bits.unsigned().iter_u64_digits().next().unwrap_or(0);
            let unused = 64 - variable.width.min(64);
            let shifted = word << unused;
            // A small negative number is what unsigned arithmetic makes of it, too.
            Some(shifted as i64 >> unused)
        }
        _ => None,
    }
}

/// A relation as an equation, with what is negative on the other side.
fn equation(terms: &mut Terms, relation: &Relation, variables: &[Variable]) -> TermId {
    let width = variables.first().map_or(1, |variable| variable.width);
    let mut sides = [terms.bv(0, width); 2];
    for (factor, product) in &relation.products {
        let mut term = terms.bv(i128::from(factor.abs()), width);
        for (variable, &often) in variables.iter().zip(product) {
            for _ in 0..often {
                term = terms.bv_mul(term, variable.term);
            }
        }
        let side = &mut sides[usize::from(*factor < 0)];
        *side = terms.bv_add(*side, term);
    }
    terms.eq(sides[0], sides[1])
}

/// Drops what does not follow until everything does.
fn weaken(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
    known: &BTreeMap<LocId, TermId>,
    found: &mut BTreeMap<LocId, Vec<TermId>>,
    budget: &Budget,
) -> Result<(), Stopped> {
    let mut changed = true;
    while changed {
        changed = false;
        for step in steps {
            let End::At(to) = step.to else {
                continue;
            };
            let mut before = step
                .from
                .and_then(|from| found.get(&from))
                .cloned()
                .unwrap_or_default();
            before.extend(step.from.and_then(|from| known.get(&from)));
            if let Some(returned) = &step.returned {
                let mut callee = found.get(&returned.exit).cloned().unwrap_or_default();
                callee.extend(known.get(&returned.exit));
                for fact in callee {
                    before.push(ground.at_exit(terms, returned, fact));
                }
            }
            let claimed = found.get(&to).cloned().unwrap_or_default();
            let mut kept = Vec::new();
            for &fact in &claimed {
                budget.check()?;
                let mut ends = BTreeMap::new();
                for constant in terms.free_constants(&[fact]) {
                    ends.insert(constant, ground.at_end(terms, step, constant));
                }
                let after = terms.substitute(fact, &ends);
                let fails = terms.not(after);
                let mut question = before.clone();
                question.extend([step.condition, fails]);
                if refuted_by_algebra(terms, &question, &mut |terms, facts, lemma| {
                    follows(terms, facts, lemma, budget)
                }) {
                    kept.push(fact);
                }
            }
            if kept.len() < claimed.len() {
                found.insert(to, kept);
                changed = true;
            }
        }
    }
    Ok(())
}
