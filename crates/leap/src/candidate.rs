//! Predicates that might hold all along a loop: bounds, relations between counters, congruences,
//! conditions of the program and their relaxations.
//!
//! They come from the program's own conditions and from the first states of a run; all of them are
//! guesses that `strengthen` proves or drops.

use crate::sample::{Sample, assign, holds, number, words};
use crate::system::System;
use hardbop_logic::{Assignment, Op, Sign, Sort, TermId, Terms};
use std::collections::BTreeSet;

/// What candidates are made for.
pub struct Seeds<'a> {
    /// The loop.
    pub system: &'a System,
    /// The values of the variables on entry, over the rigid constants.
    pub entry: &'a [TermId],
    /// The conditions of the program around the loop, over variables and rigid constants.
    pub conditions: &'a BTreeSet<TermId>,
    /// The first states of a run.
    pub samples: &'a [Sample],
    /// The values of the rigid constants in that run.
    pub rigid: &'a Assignment,
    /// The variable that counts iterations, if there is one.
    pub counter: Option<usize>,
}

/// Differences up to this are worth a predicate.
const SMALL: i128 = 16;
/// No more candidates than this at one node.
const MOST: usize = 160;

/// The candidates at a node that hold in the states that the run had there.
pub fn candidates(terms: &mut Terms, seeds: &Seeds<'_>, node: usize) -> Vec<TermId> {
    let mut found: Vec<TermId> = Vec::new();
    let states: Vec<&Sample> = seeds.samples.iter().filter(|s| s.node == node).collect();
    let places = words(terms, seeds.system);
    for &at in &places {
        bounds(terms, seeds, at, &states, &mut found);
        congruences(terms, seeds, at, &states, &mut found);
    }
    for (index, &a) in places.iter().enumerate() {
        for &b in &places[index + 1..] {
            if Some(a) == seeds.counter || Some(b) == seeds.counter {
                continue;
            }
            pairs(terms, seeds, (a, b), &states, &mut found);
            for &c in &places {
                if c != a && c != b && Some(c) != seeds.counter && places.len() <= 6 {
                    triples(terms, seeds, (a, b, c), &states, &mut found);
                }
            }
        }
    }
    if let Some(counter) = seeds.counter {
        for &at in places.iter().filter(|&&at| at != counter) {
            counted(terms, seeds, counter, at, &states, &mut found);
        }
    }
    conditions(terms, seeds, &mut found);
    let assignments: Vec<Assignment> = states
        .iter()
        .map(|sample| assign(seeds.system, seeds.rigid, &sample.values))
        .collect();
    let mut known = BTreeSet::new();
    found.retain(|&candidate| {
        !matches!(terms.op(candidate), Op::Bool(_))
            && known.insert(candidate)
            && assignments.iter().all(|a| holds(terms, candidate, a))
    });
    found.truncate(MOST);
    found
}

fn le(terms: &mut Terms, signed: bool, a: TermId, b: TermId) -> TermId {
    if signed {
        terms.bv_sle(a, b)
    } else {
        terms.bv_ule(a, b)
    }
}

fn values(seeds: &Seeds<'_>, at: usize, states: &[&Sample]) -> Vec<i128> {
    let signed = seeds.system.variables[at].signed;
    let value = |sample: &&Sample| number(&sample.values[at], signed);
    states.iter().filter_map(value).collect()
}

/// The value of a variable on entry in the run.
fn first(seeds: &Seeds<'_>, at: usize) -> Option<i128> {
    let signed = seeds.system.variables[at].signed;
    number(&seeds.samples.first()?.values[at], signed)
}

/// Bounds by the value on entry, by zero, and by what the run has seen.
fn bounds(
    terms: &mut Terms,
    seeds: &Seeds<'_>,
    at: usize,
    states: &[&Sample],
    found: &mut Vec<TermId>,
) {
    let variable = &seeds.system.variables[at];
    let (constant, entry) = (variable.constant, seeds.entry[at]);
    let width = terms.width(constant);
    found.push(le(terms, variable.signed, entry, constant));
    found.push(le(terms, variable.signed, constant, entry));
    if variable.signed {
        let zero = terms.bv(0, width);
        found.push(terms.bv_sle(zero, constant));
    }
    let seen = values(seeds, at, states);
    let (Some(&low), Some(&high), Some(first)) =
        (seen.iter().min(), seen.iter().max(), first(seeds, at))
    else {
        return;
    };
    for edge in [low, high] {
        let distance = edge - first;
        if distance == 0 || distance.abs() > SMALL {
            continue;
        }
        let by = terms.bv(distance, width);
        let there = terms.bv_add(entry, by);
        if edge == low {
            found.push(le(terms, variable.signed, there, constant));
        } else {
            found.push(le(terms, variable.signed, constant, there));
        }
        // Two values that take turns.
        if seen.iter().all(|&value| value == low || value == high) {
            let one = terms.eq(constant, there);
            let other = terms.eq(constant, entry);
            found.push(terms.or(&[one, other]));
        }
    }
}

/// Residues modulo powers of two: other moduli are the iteration counter's business, since
/// division costs the solver dearly.
fn congruences(
    terms: &mut Terms,
    seeds: &Seeds<'_>,
    at: usize,
    states: &[&Sample],
    found: &mut Vec<TermId>,
) {
    let seen = values(seeds, at, states);
    let Some(first) = first(seeds, at).filter(|_| seen.len() >= 4) else {
        return;
    };
    let variable = &seeds.system.variables[at];
    let (constant, entry) = (variable.constant, seeds.entry[at]);
    let distance = terms.bv_sub(constant, entry);
    for bits in 1..=3u32 {
        if bits > terms.width(constant) {
            break;
        }
        let modulus = 1i128 << bits;
        let residues: BTreeSet<i128> = seen
            .iter()
            .map(|value| (value - first).rem_euclid(modulus))
            .collect();
        if residues.len() as i128 == modulus {
            continue;
        }
        let low = terms.extract(distance, bits - 1, 0);
        let choices: Vec<TermId> = residues
            .into_iter()
            .map(|residue| {
                let residue = terms.bv(residue, bits);
                terms.eq(low, residue)
            })
            .collect();
        found.push(terms.or(&choices));
    }
}

/// Relations between two variables.
fn pairs(
    terms: &mut Terms,
    seeds: &Seeds<'_>,
    (a, b): (usize, usize),
    states: &[&Sample],
    found: &mut Vec<TermId>,
) {
    let (x, y) = (&seeds.system.variables[a], &seeds.system.variables[b]);
    let (seen_x, seen_y) = (values(seeds, a, states), values(seeds, b, states));
    let width = terms.width(x.constant);
    if width == terms.width(y.constant) {
        found.push(le(terms, x.signed || y.signed, x.constant, y.constant));
        found.push(le(terms, x.signed || y.signed, y.constant, x.constant));
        let difference = terms.bv_sub(x.constant, y.constant);
        let gaps: Vec<i128> = seen_x.iter().zip(&seen_y).map(|(x, y)| x - y).collect();
        if let (Some(&low), Some(&high)) = (gaps.iter().min(), gaps.iter().max())
            && low.abs() <= SMALL
            && high.abs() <= SMALL
            && high - low <= SMALL
        {
            let (low, high) = (terms.bv(low, width), terms.bv(high, width));
            found.push(terms.bv_sle(low, difference));
            found.push(terms.bv_sle(difference, high));
        }
        // The sum stays what it was on entry.
        let sum = terms.bv_add(x.constant, y.constant);
        let first = terms.bv_add(seeds.entry[a], seeds.entry[b]);
        found.push(terms.eq(sum, first));
    }
    slope(terms, seeds, (a, b), (&seen_x, &seen_y), found);
    slope(terms, seeds, (b, a), (&seen_y, &seen_x), found);
}

/// `y - y0 = c * (x - x0)`, if that was so in the run.
fn slope(
    terms: &mut Terms,
    seeds: &Seeds<'_>,
    (a, b): (usize, usize),
    (seen_x, seen_y): (&[i128], &[i128]),
    found: &mut Vec<TermId>,
) {
    let steps = || seen_x.iter().zip(seen_y);
    let Some((x0, y0)) = first(seeds, a).zip(first(seeds, b)) else {
        return;
    };
    let Some((&x1, &y1)) = steps().find(|&(&x, _)| x != x0) else {
        return;
    };
    let (dx, dy) = (x1 - x0, y1 - y0);
    if dy % dx != 0 || (dy / dx).abs() > 1 << 16 || dy == 0 {
        return;
    }
    let factor = dy / dx;
    if !steps().all(|(x, y)| y - y0 == factor * (x - x0)) {
        return;
    }
    let (x, y) = (&seeds.system.variables[a], &seeds.system.variables[b]);
    let width = terms.width(y.constant);
    let moved = terms.bv_sub(x.constant, seeds.entry[a]);
    let sign = if x.signed {
        Sign::Signed
    } else {
        Sign::Unsigned
    };
    let moved = terms.resize(moved, width, sign);
    let factor = terms.bv(factor, width);
    let scaled = terms.bv_mul(factor, moved);
    let there = terms.bv_add(seeds.entry[b], scaled);
    found.push(terms.eq(y.constant, there));
}

/// `x + y - z` stays what it was on entry.
fn triples(
    terms: &mut Terms,
    seeds: &Seeds<'_>,
    (a, b, c): (usize, usize, usize),
    states: &[&Sample],
    found: &mut Vec<TermId>,
) {
    let seen: Vec<Vec<i128>> = [a, b, c]
        .iter()
        .map(|&at| values(seeds, at, states))
        .collect();
    let sums: BTreeSet<i128> = (0..seen[0].len())
        .map(|i| seen[0][i] + seen[1][i] - seen[2][i])
        .collect();
    let variables = &seeds.system.variables;
    let width = terms.width(variables[a].constant);
    let same = [b, c]
        .iter()
        .all(|&at| terms.width(variables[at].constant) == width);
    if !same || sums.len() != 1 {
        return;
    }
    let mut side = |values: [TermId; 3]| {
        let sum = terms.bv_add(values[0], values[1]);
        terms.bv_sub(sum, values[2])
    };
    let now = side([a, b, c].map(|at| variables[at].constant));
    let first = side([a, b, c].map(|at| seeds.entry[at]));
    found.push(terms.eq(now, first));
}

/// What a variable is after so many iterations: exactly, if it moves by the same amount each time,
/// and between two lines in any case. The lines are drawn at a width at which nothing overflows.
fn counted(
    terms: &mut Terms,
    seeds: &Seeds<'_>,
    counter: usize,
    at: usize,
    states: &[&Sample],
    found: &mut Vec<TermId>,
) {
    let variable = &seeds.system.variables[at];
    let count = seeds.system.variables[counter].constant;
    let width = terms.width(variable.constant);
    let mut deltas = BTreeSet::new();
    for step in &seeds.system.steps {
        deltas.insert(terms.bv_sub(step.post[at], variable.constant));
    }
    let rigid = |terms: &Terms, term: TermId| {
        let free = terms.free_constants(&[term]);
        seeds
            .system
            .variables
            .iter()
            .all(|v| !free.contains(&v.constant))
    };
    if let [delta] = deltas.iter().copied().collect::<Vec<_>>()[..]
        && rigid(terms, delta)
    {
        let times = terms.resize(count, width, Sign::Unsigned);
        let moved = terms.bv_mul(delta, times);
        let there = terms.bv_add(seeds.entry[at], moved);
        found.push(terms.eq(variable.constant, there));
    }
    let seen = values(seeds, at, states);
    let jumps: Vec<i128> = seen.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (Some(&low), Some(&high)) = (jumps.iter().min(), jumps.iter().max()) else {
        return;
    };
    let wide = width + terms.width(count) + 2;
    let sign = if variable.signed {
        Sign::Signed
    } else {
        Sign::Unsigned
    };
    let now = terms.resize(variable.constant, wide, sign);
    let first = terms.resize(seeds.entry[at], wide, sign);
    let times = terms.resize(count, wide, Sign::Unsigned);
    let mut line = |slope: i128| {
        let slope = terms.bv(slope, wide);
        let moved = terms.bv_mul(slope, times);
        terms.bv_add(first, moved)
    };
    if low.abs().max(high.abs()) > 1 << 20 {
        return;
    }
    if low == high {
        let there = line(low);
        found.push(terms.eq(now, there));
    } else {
        let (lowest, highest) = (line(low), line(high));
        found.push(terms.bv_sle(lowest, now));
        found.push(terms.bv_sle(now, highest));
        // The run may not have seen the smallest step yet.
        if low > 1 {
            let slow = terms.bv_add(first, times);
            found.push(terms.bv_sle(slow, now));
        }
        if high < -1 {
            let slow = terms.bv_sub(first, times);
            found.push(terms.bv_sle(now, slow));
        }
    }
}

/// The program's conditions, their negations, and what is a little weaker.
fn conditions(terms: &mut Terms, seeds: &Seeds<'_>, found: &mut Vec<TermId>) {
    let mut conditions = seeds.conditions.clone();
    for &condition in seeds.conditions {
        conditions.extend(without_offset(terms, seeds, condition));
    }
    for &condition in &conditions {
        found.push(condition);
        found.push(terms.not(condition));
        let args = terms.args(condition).to_vec();
        match terms.op(condition).clone() {
            Op::BvSlt => {
                found.push(terms.bv_sle(args[0], args[1]));
                found.push(terms.bv_sle(args[1], args[0]));
            }
            Op::BvUlt => {
                found.push(terms.bv_ule(args[0], args[1]));
                found.push(terms.bv_ule(args[1], args[0]));
            }
            Op::BvSle => {
                found.push(terms.bv_slt(args[0], args[1]));
                found.push(terms.bv_slt(args[1], args[0]));
                found.push(terms.eq(args[0], args[1]));
            }
            Op::BvUle => {
                found.push(terms.bv_ult(args[0], args[1]));
                found.push(terms.bv_ult(args[1], args[0]));
                found.push(terms.eq(args[0], args[1]));
            }
            // A loop that runs until two words are equal may pass the end of the numbers: the way
            // from the entry to the goal is counted round the circle.
            Op::Eq if matches!(terms.sort(args[0]), Sort::BitVec(_)) => {
                for (one, other) in [(args[0], args[1]), (args[1], args[0])] {
                    let position = seeds
                        .system
                        .variables
                        .iter()
                        .position(|variable| variable.constant == one);
                    if let Some(at) = position {
                        let entry = seeds.entry[at];
                        let (up, far) = (terms.bv_sub(one, entry), terms.bv_sub(other, entry));
                        found.push(terms.bv_ule(up, far));
                        let (down, far) = (terms.bv_sub(entry, one), terms.bv_sub(entry, other));
                        found.push(terms.bv_ule(down, far));
                    }
                }
                found.push(terms.bv_sle(args[0], args[1]));
                found.push(terms.bv_sle(args[1], args[0]));
                found.push(terms.bv_ule(args[0], args[1]));
                found.push(terms.bv_ule(args[1], args[0]));
            }
            _ => {}
        }
    }
}

/// A comparison of `x + 1` as one of `x`: an outer loop's condition is tested one step later than
/// where its inner loop stands.
fn without_offset(terms: &mut Terms, seeds: &Seeds<'_>, condition: TermId) -> Option<TermId> {
    let compares = matches!(
        terms.op(condition),
        Op::BvSle | Op::BvSlt | Op::BvUle | Op::BvUlt
    );
    if !compares {
        return None;
    }
    let mut changed = false;
    let mut sides = terms.args(condition).to_vec();
    for side in &mut sides {
        if !matches!(terms.op(*side), Op::BvAdd) {
            continue;
        }
        let args = terms.args(*side);
        let variable = args.iter().copied().find(|arg| {
            let same = |v: &crate::system::Variable| v.constant == *arg;
            seeds.system.variables.iter().any(same)
        });
        let literals = args
            .iter()
            .filter(|&&arg| terms.value_of(arg).is_some())
            .count();
        if let (Some(variable), 1, 2) = (variable, literals, args.len()) {
            *side = variable;
            changed = true;
        }
    }
    changed.then(|| match terms.op(condition).clone() {
        Op::BvSle => terms.bv_sle(sides[0], sides[1]),
        Op::BvSlt => terms.bv_slt(sides[0], sides[1]),
        Op::BvUle => terms.bv_ule(sides[0], sides[1]),
        _ => terms.bv_ult(sides[0], sides[1]),
    })
}
