//! Sets of states as small formulas that people can read.
//!
//! A formula is a conjunction: values that are fixed, pairs of variables that always agree or
//! always differ, and a remainder that is written as a disjunction of cubes or as a conjunction
//! of clauses, whichever is shorter.

use crate::bdd::{Bdd, Cube, Literal, Manager, Var};
use hardbop_budget::Stopped;

/// A set of assignments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula<V> {
    /// The empty set.
    False,
    /// A conjunction; with no parts at all it is true.
    And {
        /// Variables with a fixed value.
        fixed: Vec<(V, bool)>,
        /// Pairs of variables: equal, or (with `false`) different.
        equal: Vec<(V, V, bool)>,
        /// What else must hold.
        rest: Rest<V>,
    },
}

/// The remainder of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rest<V> {
    /// Nothing.
    True,
    /// One of these conjunctions.
    AnyOf(Vec<Vec<(V, bool)>>),
    /// All of these disjunctions.
    AllOf(Vec<Vec<(V, bool)>>),
    /// A formula with too many parts to be worth printing.
    TooLong,
}

/// Formulas with more cubes than this are not written out.
const MOST_CUBES: usize = 4096;

/// Writes a set over these variables as a formula.
pub(crate) fn formula(
    bdds: &mut Manager,
    set: Bdd,
    variables: &[Var],
) -> Result<Formula<Var>, Stopped> {
    if set.is_false() {
        return Ok(Formula::False);
    }
    let mut rest = set;
    let mut fixed = Vec::new();
    let mut open = Vec::new();
    let implied = bdds.implied(set);
    for &var in variables {
        match implied.iter().find(|(other, _)| *other == var) {
            Some(&literal) => fixed.push(literal),
            None => open.push(var),
        }
    }
    let known: Vec<Var> = fixed.iter().map(|&(var, _)| var).collect();
    let pass = bdds.pass(&known, &[]);
    rest = bdds.project(rest, pass)?;
    let mut equal = Vec::new();
    let support = bdds.support(rest);
    open.retain(|var| support.contains(var));
    let mut index = 0;
    while index < open.len() {
        let a = open[index];
        index += 1;
        let mut other = index;
        while other < open.len() {
            let b = open[other];
            let (x, y) = (bdds.literal(a, true)?, bdds.literal(b, true)?);
            let different = bdds.xor(x, y)?;
            let can_differ = bdds.intersects(rest, different)?;
            let same = bdds.not(different)?;
            if can_differ && bdds.intersects(rest, same)? {
                other += 1;
                continue;
            }
            equal.push((a, b, !can_differ));
            rest = without(bdds, rest, b)?;
            open.remove(other);
        }
    }
    let rest = remainder(bdds, rest)?;
    Ok(Formula::And { fixed, equal, rest })
}

/// Forgets a variable whose value was written down.
fn without(bdds: &mut Manager, set: Bdd, var: Var) -> Result<Bdd, Stopped> {
    let pass = bdds.pass(&[var], &[]);
    bdds.project(set, pass)
}

fn remainder(bdds: &mut Manager, set: Bdd) -> Result<Rest<Var>, Stopped> {
    if set.is_true() {
        return Ok(Rest::True);
    }
    let cubes = bdds.cubes(set, set, MOST_CUBES)?;
    let complement = bdds.not(set)?;
    let clauses = bdds.cubes(complement, complement, MOST_CUBES)?;
    let size = |cubes: &Option<Vec<Cube>>| {
        let size = |cubes: &Vec<Cube>| cubes.iter().map(|cube| cube.len() + 1).sum();
        cubes.as_ref().map_or(usize::MAX, size)
    };
    let use_clauses = size(&clauses) < size(&cubes);
    Ok(match (cubes, clauses) {
        (_, Some(clauses)) if use_clauses => Rest::AllOf(pairs(clauses, Negated::Yes)),
        (Some(cubes), _) => Rest::AnyOf(pairs(cubes, Negated::No)),
        _ => Rest::TooLong,
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Negated {
    Yes,
    No,
}

fn pairs(cubes: Vec<Cube>, negated: Negated) -> Vec<Vec<(Var, bool)>> {
    let pair = |literal: Literal| (literal.var, literal.value != (negated == Negated::Yes));
    cubes
        .into_iter()
        .map(|cube| cube.into_iter().map(pair).collect())
        .collect()
}

impl<V> Formula<V> {
    /// The same formula with other names.
    pub fn map<W>(self, name: impl Fn(V) -> W) -> Formula<W> {
        let cubes = |cubes: Vec<Vec<(V, bool)>>| -> Vec<Vec<(W, bool)>> {
            let cube = |cube: Vec<(V, bool)>| {
                cube.into_iter()
                    .map(|(var, value)| (name(var), value))
                    .collect()
            };
            cubes.into_iter().map(cube).collect()
        };
        match self {
            Formula::False => Formula::False,
            Formula::And { fixed, equal, rest } => Formula::And {
                fixed: fixed
                    .into_iter()
                    .map(|(var, value)| (name(var), value))
                    .collect(),
                equal: equal
                    .into_iter()
                    .map(|(a, b, same)| (name(a), name(b), same))
                    .collect(),
                rest: match rest {
                    Rest::True => Rest::True,
                    Rest::AnyOf(all) => Rest::AnyOf(cubes(all)),
                    Rest::AllOf(all) => Rest::AllOf(cubes(all)),
                    Rest::TooLong => Rest::TooLong,
                },
            },
        }
    }
}

impl<V: std::fmt::Display> std::fmt::Display for Formula<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Formula::And { fixed, equal, rest } = self else {
            return f.write_str("false");
        };
        let literal = |(var, value): &(V, bool)| {
            if *value {
                var.to_string()
            } else {
                format!("!{var}")
            }
        };
        let mut parts: Vec<String> = fixed.iter().map(literal).collect();
        parts.extend(equal.iter().map(|(a, b, same)| {
            if *same {
                format!("{a} = {b}")
            } else {
                format!("{a} != {b}")
            }
        }));
        let joined = |cube: &Vec<(V, bool)>, sign: &str| {
            cube.iter().map(literal).collect::<Vec<_>>().join(sign)
        };
        match rest {
            Rest::True => {}
            Rest::TooLong => parts.push("...".to_string()),
            Rest::AllOf(clauses) => {
                let several = parts.len() + clauses.len() > 1;
                parts.extend(clauses.iter().map(|clause| {
                    let text = joined(clause, " | ");
                    if several && clause.len() > 1 {
                        format!("({text})")
                    } else {
                        text
                    }
                }));
            }
            Rest::AnyOf(cubes) => {
                let texts: Vec<String> = cubes.iter().map(|cube| joined(cube, " & ")).collect();
                let text = texts.join(" | ");
                let several = !parts.is_empty() && cubes.len() > 1;
                parts.push(if several { format!("({text})") } else { text });
            }
        }
        if parts.is_empty() {
            f.write_str("true")
        } else {
            f.write_str(&parts.join(" & "))
        }
    }
}
